package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/choice"
	"github.com/turnlog/turnlog/replay/report"
)

type schemaOptions struct {
	Streams
	Name string
}

// schemas is the table of JSON Schemas of what turnlog reads and writes.
func schemas() choice.Table[func() []byte] {
	return choice.Table[func() []byte]{
		{Name: "task", Value: task.Schema},
		{Name: "events", Value: batch.EventsSchema},
		{Name: "finding", Value: report.FindingSchema},
	}
}

func newSchema(s Streams, runF func(context.Context, *schemaOptions) error) *cobra.Command {
	o := &schemaOptions{Streams: s}
	return &cobra.Command{
		Use:         "schema " + strings.Join(schemas().Names(), "|"),
		Short:       "Print the JSON Schema of a task file, of events or of findings",
		Example:     "  turnlog schema task > task.schema.json\n  turnlog schema events",
		Annotations: map[string]string{"codes": codes()},
		Args:        cobra.ExactArgs(1),
		ValidArgs:   schemas().Names(),
		RunE: func(c *cobra.Command, args []string) error {
			o.Name = args[0]
			return runF(c.Context(), o)
		},
	}
}

func schemaRun(_ context.Context, o *schemaOptions) error {
	schema, err := pick("schema", schemas(), o.Name)
	if err != nil {
		return err
	}
	_, err = o.Out.Write(schema())
	return err
}
