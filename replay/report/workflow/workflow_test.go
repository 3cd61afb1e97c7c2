package workflow_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/report/workflow"
)

func TestAnnotation(t *testing.T) {
	for _, c := range []struct {
		name string
		in   workflow.Annotation
		want string
	}{
		{"place", workflow.Annotation{Kind: workflow.Error, File: "a.yaml", Line: 7, Title: "t", Message: "m"}, "::error file=a.yaml,line=7,col=1,title=t::m"},
		{"file", workflow.Annotation{Kind: workflow.Notice, File: "a.yaml", Title: "t", Message: "m"}, "::notice file=a.yaml,title=t::m"},
		{
			"values that would end a command or begin another",
			workflow.Annotation{Kind: workflow.Warning, File: "a,line=1:b", Line: 2, Column: 3, Title: "x::y,z=1%", Message: "100%\n::error::forged\r"},
			"::warning file=a%2Cline=1%3Ab,line=2,col=3,title=x%3A%3Ay%2Cz=1%25::100%25%0A::error::forged%0D",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.in.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A cell stays one cell of plain text.
func TestCell(t *testing.T) {
	got := workflow.Cell("a|b\n| [x](http://evil) @octocat <img src=x> `c` \\| ~~s~~ &amp;")
	if strings.ContainsAny(got, "|\n<>[]()@`\\~:") {
		t.Errorf("markup is left in %q", got)
	}
	if rest := regexp.MustCompile(`&(#\d+|lt|gt|amp|#34|#39);`).ReplaceAllString(got, ""); strings.Contains(rest, "&") {
		t.Errorf("a bare & in %q", got)
	}
}
