package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a row of a table from which a flag or an argument picks by name.
type choice[T any] struct {
	name  string
	value T
}

// pick returns the value of a row; an unknown name is a usage error that
// lists the known ones. kind says what is chosen.
func pick[T any](kind string, table []choice[T], name string) (T, error) {
	for _, c := range table {
		if c.name == name {
			return c.value, nil
		}
	}
	var zero T
	return zero, usagef("unknown %s %q", kind, name).hint("known: %s", join(table, ", "))
}

func names[T any](table []choice[T]) []string {
	out := make([]string, len(table))
	for i, c := range table {
		out[i] = c.name
	}
	return out
}

func join[T any](table []choice[T], sep string) string { return strings.Join(names(table), sep) }

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
