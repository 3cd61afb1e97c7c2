package assertion_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/assertion"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

func made(calls ...string) *assertion.Subject {
	s := &assertion.Subject{Path: func(name string) string { return name }}
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		call := transcript.Call{Name: name}
		if args != "" {
			call.Arguments = json.RawMessage(args)
		}
		s.Calls = append(s.Calls, call)
	}
	return s
}

func TestSequences(t *testing.T) {
	subject := made(`read {"path":"a","limit":20}`, `grep {"pattern":"x"}`, `read {"path":"b"}`)
	step := func(name, args string) task.Step {
		s := task.Step{Name: name}
		if args != "" {
			s.Args = json.RawMessage(args)
		}
		return s
	}
	tests := []struct {
		name    string
		a       task.Assertion
		ok      bool
		message string // part of it
	}{
		{"in order", sequence("in_order", step("read", ""), step("read", "")), true, "the calls were: read, grep, read"},
		{"with arguments", sequence("in_order", step("read", `{"path":"a"}`), step("read", `{"path":"b"}`)), true, ""},
		{"arguments in another order", sequence("in_order", step("read", `{"path":"b"}`), step("read", `{"path":"a"}`)), false, `was not called`},
		{"number written otherwise", sequence("superset", step("read", `{"limit":2e1}`)), true, ""},
		{"exact", sequence("exact", step("read", ""), step("grep", "")), false, `call 3, read {"path":"b"}, is not wanted`},
		{"subset", sequence("subset", step("read", ""), step("read", ""), step("grep", ""), step("ls", "")), true, ""},
		{"partial arguments", arguments("read", "partial", `{"path":"b"}`), true, ""},
		{"exact arguments", arguments("read", "exact", `{"path":"a"}`), false, `$.limit is 20`},
		{"no such tool", arguments("ls", "partial", `{}`), false, "ls {} was not called (the calls were: read, grep, read)"},
		{"the opposite", task.Assertion{Kind: "not", Not: new(arguments("ls", "partial", `{}`))}, true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := assertion.Check(t.Context(), &test.a, subject)
			if o.OK != test.ok || !strings.Contains(o.Message, test.message) {
				t.Errorf("%v, %q; want %v, %q", o.OK, o.Message, test.ok, test.message)
			}
		})
	}
}

func sequence(mode string, steps ...task.Step) task.Assertion {
	return task.Assertion{Kind: "tool_sequence", ToolSequence: &task.ToolSequence{Mode: mode, Steps: steps}}
}

func arguments(name, match, args string) task.Assertion {
	return task.Assertion{Kind: "tool_args", ToolArgs: &task.ToolArgs{Name: name, Match: match, Args: json.RawMessage(args)}}
}

const earlier = `{"type":"session","version":3,"id":"s","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/"}
{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"?"}}
{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}}],"stopReason":"toolUse"}}
`

func TestMatches(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.jsonl", earlier)
	like := func(path, mode, args string) *task.Assertion {
		return &task.Assertion{Kind: "matches", Matches: &task.Baseline{Transcript: path, Mode: mode, Args: args}}
	}
	tests := []struct {
		name    string
		a       *task.Assertion
		s       *assertion.Subject
		ok      bool
		message string
	}{
		{"the same", like(good, "exact", "compare"), made(`read {"path":"a"}`), true, ""},
		{"other arguments", like(good, "exact", "compare"), made(`read {"path":"b"}`), false, `$.path is "b" and not "a"`},
		{"other arguments do not count", like(good, "exact", "ignore"), made(`read {"path":"b"}`), true, ""},
		{"more calls", like(good, "exact", "ignore"), made(`read {}`, `grep {}`), false, "call 2, grep {}, is not wanted"},
		{"more calls may be", like(good, "superset", "ignore"), made(`read {}`, `grep {}`), true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := assertion.Supported(test.a, test.s.Path); err != nil {
				t.Fatal(err)
			}
			o := assertion.Check(t.Context(), test.a, test.s)
			if o.OK != test.ok || !strings.Contains(o.Message, test.message) {
				t.Errorf("%v, %q; want %v, %q", o.OK, o.Message, test.ok, test.message)
			}
		})
	}
	for name, path := range map[string]string{
		"missing": filepath.Join(dir, "no-such.jsonl"), "damaged": write("torn.jsonl", earlier+`{"type":"mess`), "no transcript": write("notes.txt", "notes\n"),
	} {
		if err := assertion.Supported(like(path, "exact", "compare"), func(s string) string { return s }); err == nil {
			t.Errorf("a baseline that is %s is accepted", name)
		}
	}
}
