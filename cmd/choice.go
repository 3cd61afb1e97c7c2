package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/replay/choice"
)

// pick returns the value of a row; an unknown name is a usage error that lists
// the known ones. kind says what is chosen.
func pick[T any](kind string, table choice.Table[T], name string) (T, error) {
	value, ok := table.Get(name)
	if !ok {
		return value, usagef("unknown %s %q", kind, name).hint("known: %s", strings.Join(table.Names(), ", "))
	}
	return value, nil
}

// enum is a flag that takes one of several names. It is checked when flags
// are parsed, against the table that implements them.
type enum struct {
	value *string
	known []string
}

func (e enum) String() string {
	if e.value == nil {
		return ""
	}
	return *e.value
}

func (e enum) Type() string { return strings.Join(e.known, "|") }

func (e enum) Set(s string) error {
	if !slices.Contains(e.known, s) {
		return usagef("must be one of %s", strings.Join(e.known, ", "))
	}
	*e.value = s
	return nil
}

// enumFlag adds an enum flag with completion.
func enumFlag(c *cobra.Command, value *string, name, preset, usage string, known []string) {
	*value = preset
	c.Flags().Var(enum{value, known}, name, usage)
	// Fails only for a flag that does not exist or is registered twice.
	if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
