package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/verify"
)

// List writes which rules there are: as JSON, or as a table for people.
func List(out io.Writer, format string, rules []verify.Rule) error {
	if format == "json" {
		return listJSON(out, rules)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RULE\tSEVERITY\tSAYS")
	for _, r := range rules {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Severity, r.Title)
	}
	return w.Flush()
}

func listJSON(w io.Writer, rules []verify.Rule) error {
	type option struct {
		Name    string `json:"name"`
		Default int    `json:"default"`
		Least   int    `json:"least"`
		Doc     string `json:"doc"`
	}
	type record struct {
		ID       string          `json:"id"`
		Group    string          `json:"group"`
		Severity verify.Severity `json:"severity"`
		Title    string          `json:"title"`
		Since    string          `json:"since"`
		Options  []option        `json:"options"`
	}
	records := make([]record, len(rules))
	for i, r := range rules {
		records[i] = record{r.ID, r.Group, r.Severity, r.Title, r.Since, make([]option, len(r.Options))}
		for j, opt := range r.Options {
			records[i].Options[j] = option(opt)
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(records)
}

// Explain writes all that is known of a rule. config is the file that sets its
// options.
func Explain(w io.Writer, r verify.Rule, config string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %s)\n\n%s.\n", r.ID, r.Severity, r.Group, strings.TrimRight(r.Title, "."))
	for _, part := range []struct{ title, text string }{
		{"Why it matters", r.Why},
		{"What to do", r.Fix},
		{"What is not reported", r.Quiet},
		{"Formats that can know it", able(r)},
		{"A transcript with this finding", r.Bad},
		{"One without", r.Good},
	} {
		if text := strings.TrimSpace(part.text); text != "" {
			fmt.Fprintf(&b, "\n%s:\n  %s\n", part.title, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	if len(r.Options) > 0 {
		fmt.Fprintf(&b, "\nOptions, in %s under rules: %s:\n", config, r.ID)
	}
	for _, opt := range r.Options {
		fmt.Fprintf(&b, "  %s (%d): %s\n", opt.Name, opt.Default, opt.Doc)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// able names the formats that can tell what a rule needs, if not all can.
func able(r verify.Rule) string {
	if r.Needs == 0 {
		return ""
	}
	return strings.Join(foreign.Names(r.Needs), ", ")
}
