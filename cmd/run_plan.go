package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/turnlog/turnlog/loop/batch"
)

// plan prints what would run.
func (o *runOptions) plan(opts batch.Options) error {
	tasks, bound, err := batch.Plan(opts)
	var plan *batch.PlanError
	if errors.As(err, &plan) {
		return usagef("%w", plan.Err)
	}
	if err != nil {
		return err
	}
	show := planNDJSON
	if o.Format == "text" {
		show = planText
	}
	var out bytes.Buffer
	if err := show(&out, tasks, bound); err != nil {
		return err
	}
	_, err = out.WriteTo(o.Out)
	return err
}

// planNDJSON writes a line for each task and one for all; bound is what they
// cost at most, nil if nothing bounds it.
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

// planText is the plan for people.
func planText(out *bytes.Buffer, tasks []batch.Planned, bound *float64) error {
	cost := func(usd *float64) string {
		if usd == nil {
			return "cost not bounded"
		}
		return fmt.Sprintf("at most $%.2f", *usd)
	}
	for _, t := range tasks {
		fmt.Fprintf(out, "%s %s (%s, %s %s, %s)\n", t.Action, t.ID, printable(t.File), t.Provider, printable(t.Model), cost(t.MaxCostUSD))
	}
	_, err := fmt.Fprintf(out, "%d tasks, %s\n", len(tasks), cost(bound))
	return err
}
