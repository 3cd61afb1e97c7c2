package verify_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

const session = `{"type":"session","version":3,"id":"s1","timestamp":"2031-05-06T07:00:00Z","cwd":"/tmp"}
{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"read","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"clean up"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"delete","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"delete","content":[{"type":"text","text":"gone"}],"isError":false}}
`

func ExampleRun() {
	src := verify.Source{Name: "session.jsonl", Reader: strings.NewReader(session), At: strings.NewReader(session)}
	result, err := verify.Run(context.Background(), src, rule.All(), verify.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Summary.Format, result.Summary.Knowledge, result.Summary.Entries)
	for _, f := range result.Findings {
		fmt.Printf("%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
	}
	// Output:
	// pi exact 4
	// session.jsonl:4:86: error: the tool "delete" was never declared here [undeclared-tool-call]
}

// A rule of one's own is a value like those of the table.
func ExampleRule() {
	politeness := verify.Rule{
		ID: "no-thanks", Severity: verify.Note, Title: "nobody said thanks",
		New: func(verify.Values) verify.Checker {
			thanked := false
			return verify.Checker{
				Message: func(_ *verify.Pass, m *transcript.Message) {
					thanked = thanked || m.Role == transcript.User && strings.Contains(m.Text(), "thanks")
				},
				End: func(p *verify.Pass) {
					if !thanked {
						p.Report(verify.Finding{Message: "nobody said thanks"})
					}
				},
			}
		},
	}
	src := verify.Source{Name: "session.jsonl", Reader: strings.NewReader(session)}
	result, err := verify.Run(context.Background(), src, []verify.Rule{politeness}, verify.Options{})
	fmt.Println(result.Findings[0].Message, err)
	// Output: nobody said thanks <nil>
}

func ExampleSelect() {
	rules, err := verify.Select(rule.All(), []string{"torn-tail", "torn-line"})
	fmt.Println(len(rules), err)
	_, err = verify.Select(rule.All(), []string{"-torn-lines"})
	fmt.Println(err)
	// Output:
	// 2 <nil>
	// no rule is called "torn-lines": did you mean torn-line?
}
