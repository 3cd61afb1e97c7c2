package rule

import (
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/verify"
)

// Page describes rules in Markdown, by group: the contents of RULES.md.
func Page(rules []verify.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Rules\n\nGenerated from the table in rules.go (`go test ./replay/verify/rule -update`); do not edit.\n\n")
	fmt.Fprintf(&b, "%d rules. An error is a contradiction, or something for which a provider refuses the next request; a warning may be legal; a note is worth showing.\n", len(rules))
	group := ""
	for _, r := range rules {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n## %s\n\n| rule | severity | what is wrong |\n|---|---|---|\n", group)
			for _, o := range rules {
				if o.Group == group {
					fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", o.ID, o.ID, o.Severity, cell(o.Title))
				}
			}
		}
		fmt.Fprintf(&b, "\n%s", describe(r))
	}
	return b.String()
}

func describe(r verify.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s. **%s**, since %s", r.ID, capital(r.Title), r.Severity, r.Since)
	if r.Needs != 0 {
		fmt.Fprintf(&b, "; only in %s", strings.Join(foreign.Names(r.Needs), ", "))
	}
	fmt.Fprintf(&b, ".\n\n%s\n\n*What to do:* %s\n\n*Not reported:* %s\n\n", r.Why, r.Fix, r.Quiet)
	for _, o := range r.Options {
		fmt.Fprintf(&b, "*Option* `%s` (default %d): %s.\n\n", o.Name, o.Default, o.Doc)
	}
	fmt.Fprintf(&b, "Reported:\n\n%s\nNot reported:\n\n%s", fenced(r.Bad), fenced(r.Good))
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// fenced puts a sample into a code block. Bytes that would not survive in a
// page are written as escapes.
func fenced(sample string) string {
	fence := "```"
	for strings.Contains(sample, fence) {
		fence += "`"
	}
	shown := strings.NewReplacer("\x00", "<00>", "\xe9", "<E9>", "\xef\xbb\xbf", "<EF BB BF>").Replace(sample)
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return fence + "jsonl\n" + shown + fence + "\n"
}
