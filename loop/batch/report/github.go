package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/report/workflow"
	"github.com/turnlog/turnlog/replay/text"
)

// writeGitHub writes an annotation for each assertion that failed, at its line
// of the task file, and for each task that did not end ok for another reason;
// then the summary of the step.
func writeGitHub(w io.Writer, sum *batch.Summary, o *Options) error {
	var out bytes.Buffer
	left := 0
	seen := map[string]int{}
	for i := range sum.Results {
		for _, a := range annotations(&sum.Results[i], o) {
			if seen[a.Kind]++; seen[a.Kind] > workflow.MaxAnnotations {
				left++
				continue
			}
			fmt.Fprintln(&out, a)
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "%s without an annotation: GitHub shows %d of each kind for a step\n", text.Plural(left, "problem"), workflow.MaxAnnotations)
	}
	if _, err := out.WriteTo(w); err != nil {
		return err
	}
	if o.StepSummary == nil {
		return nil
	}
	_, err := o.StepSummary.Write(summary(sum, o, cmp.Or(o.Room, workflow.MaxSummaryBytes)))
	return err
}

func annotations(r *results.Result, o *Options) []workflow.Annotation {
	file, id := o.text(r.File), o.text(r.ID)
	var out []workflow.Annotation
	for i := range r.Assertions {
		a := &r.Assertions[i]
		if a.OK {
			continue
		}
		kind := workflow.Error
		if !a.Fails() {
			kind = workflow.Warning
		}
		out = append(out, workflow.Annotation{
			Kind: kind, File: file, Line: a.Line, Title: fmt.Sprintf("%s: %s", id, o.text(a.Name)),
			Message: cmp.Or(o.text(a.Message), "does not hold"),
		})
	}
	if r.Status == policy.OK || r.Status == policy.Skipped || judged(r) {
		return out
	}
	return append(out, workflow.Annotation{
		Kind: workflow.Error, File: file, Title: fmt.Sprintf("%s: %s", id, r.Status),
		Message: cmp.Or(o.text(r.Reason), "no reason given"),
	})
}

// longestReason bounds a row of the summary, in runes.
const longestReason = 400

// summary is the Markdown of a step, at most room bytes: tasks that did not
// end ok come first, those that do not fit are counted.
func summary(sum *batch.Summary, o *Options, room int) []byte {
	const tail = 128 // the closing line
	var b bytes.Buffer
	fmt.Fprintf(&b, "### turnlog run\n\n%d of %s ok, %d tokens, $%.4f\n",
		sum.Counts[string(policy.OK)], text.Plural(len(sum.Results), "task"), sum.Usage.TotalTokens, sum.CostUSD)
	rows := 0
	for _, well := range []bool{false, true} {
		for i := range sum.Results {
			r := &sum.Results[i]
			if (r.Status == policy.OK) != well {
				continue
			}
			row := summaryRow(r, o)
			if rows == 0 {
				row = "\n| status | task | turns | tokens | time | reason |\n|---|---|--:|--:|--:|---|\n" + row
			}
			if b.Len()+len(row)+tail > room {
				return closeSummary(&b, len(sum.Results)-rows, room)
			}
			b.WriteString(row)
			rows++
		}
	}
	return closeSummary(&b, 0, room)
}

func closeSummary(b *bytes.Buffer, beyond, room int) []byte {
	if beyond > 0 {
		fmt.Fprintf(b, "\n%s more in results.ndjson.\n", text.Plural(beyond, "task"))
	}
	if b.Len() > room {
		return nil
	}
	return b.Bytes()
}

func summaryRow(r *results.Result, o *Options) string {
	return fmt.Sprintf("| %s | %s | %d | %d | %d.%d s | %s |\n", r.Status, workflow.Cell(o.text(r.ID)), r.Turns,
		r.Usage.TotalTokens, r.DurationMs/1000, r.DurationMs%1000/100, workflow.Cell(text.Shorten(o.text(r.Reason), longestReason)))
}
