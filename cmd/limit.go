package cmd

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// limitFlag has a flag of c take only limits that can be kept; holds says it of
// the value that was just set. Zero is what the flag has when nobody gave it:
// given, it would be no limit at all, and who writes 0 USD does not mean that.
func limitFlag(c *cobra.Command, name string, holds func() bool) {
	f := c.Flags().Lookup(name)
	f.Value = limitValue{f.Value, holds}
	f.DefValue = "" // no limit: help says nothing of a default
}

type limitValue struct {
	pflag.Value
	holds func() bool
}

func (l limitValue) Set(s string) error {
	if err := l.Value.Set(s); err != nil {
		return err
	}
	if !l.holds() {
		return errors.New("want a limit above zero; leave it out for none")
	}
	return nil
}
