// Package workflow speaks to GitHub Actions: workflow commands that become
// annotations, and Markdown for the summary of a step.
//
// Both are read out of text that may hold anything, so values are made inert:
// nothing that comes from a transcript or a task can end a command, begin
// another one, or become a link or a mention. Control characters are the
// caller's to make visible.
package workflow

import (
	"fmt"
	"html"
	"strings"
)

// Limits of GitHub Actions for one step: annotations of each kind (more are
// dropped unsaid), and bytes of the step summary (more fails the upload).
const (
	MaxAnnotations  = 10
	MaxSummaryBytes = 1 << 20
)

// The kinds of annotations.
const (
	Error   = "error"
	Warning = "warning"
	Notice  = "notice"
)

// Annotation is shown beside a line of a file.
type Annotation struct {
	Kind    string // Error, Warning or Notice
	File    string // as seen from the root of the repository
	Line    int    // 0 is the file as a whole
	Column  int
	Title   string
	Message string
}

// String is the workflow command, without its line end. Values are escaped as
// in GitHub's own toolkit (actions/toolkit, packages/core/src/command.ts).
func (a Annotation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "::%s file=%s", a.Kind, property(a.File))
	if a.Line > 0 {
		fmt.Fprintf(&b, ",line=%d,col=%d", a.Line, max(a.Column, 1))
	}
	fmt.Fprintf(&b, ",title=%s::%s", property(a.Title), data(a.Message))
	return b.String()
}

func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// Cell makes text inert in a Markdown table: no markup, no mentions, no links,
// no row ends.
func Cell(s string) string {
	s = html.EscapeString(s)
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("|*_`[]()~@\\!:\r\n", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
