package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/loop/batch"
	show "github.com/turnlog/turnlog/replay/text"
)

// Plan writes what a batch would do: for people if the format is text, else a
// line of NDJSON for each task and one for all. maxCostUSD is what they cost at
// most, nil if nothing bounds it.
func Plan(format string, w io.Writer, tasks []batch.Planned, maxCostUSD *float64) error {
	write := planNDJSON
	if format == "text" {
		write = planText
	}
	var out bytes.Buffer
	if err := write(&out, tasks, maxCostUSD); err != nil {
		return err
	}
	_, err := out.WriteTo(w)
	return err
}

func planNDJSON(out *bytes.Buffer, tasks []batch.Planned, bound *float64) error {
	type line struct {
		Type string `json:"type"`
		batch.Planned
	}
	type end struct {
		Type       string   `json:"type"`
		Tasks      int      `json:"tasks"`
		MaxCostUSD *float64 `json:"maxCostUsd"` // null: nothing bounds it
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, t := range tasks {
		if err := enc.Encode(line{"plan", t}); err != nil {
			return err
		}
	}
	return enc.Encode(end{"plan_end", len(tasks), bound})
}

func planText(out *bytes.Buffer, tasks []batch.Planned, bound *float64) error {
	cost := func(usd *float64) string {
		if usd == nil {
			return "cost not bounded"
		}
		return fmt.Sprintf("at most $%.2f", *usd)
	}
	for _, t := range tasks {
		fmt.Fprintf(out, "%s %s (%s, %s %s, %s)\n", t.Action, t.ID, show.Printable(t.File), t.Provider, show.Printable(t.Model), cost(t.MaxCostUSD))
	}
	fmt.Fprintf(out, "%d tasks, %s\n", len(tasks), cost(bound))
	return nil
}
