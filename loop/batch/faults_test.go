package batch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// The faults of tools that take a tool of the test's own. Those of endpoints
// and of programs are played against the command, in cmd.

// callsThree is a model that calls three tools in one message.
const callsThree = scriptedHead + `model:
  provider: scripted
  responses:
    - calls: [{ name: first }, { name: second }, { name: third }]
    - text: done
`

// three are tools of which the second does as it likes.
func three(second func(context.Context) (loop.Result, error)) func(*task.Task, []task.Tool) ([]loop.Tool, error) {
	named := func(name string, run func(context.Context) (loop.Result, error)) loop.Tool {
		return loop.Tool{
			Tool:       transcript.Tool{Name: name, Description: name, Parameters: []byte(`{"type":"object"}`)},
			Sequential: true,
			Run: func(ctx context.Context, _ transcript.Call, _ func(loop.Result)) (loop.Result, error) {
				return run(ctx)
			},
		}
	}
	fine := func(context.Context) (loop.Result, error) {
		return loop.Result{Content: []transcript.Block{transcript.TextBlock("real result")}}, nil
	}
	return func(*task.Task, []task.Tool) ([]loop.Tool, error) {
		return []loop.Tool{named("first", fine), named("second", second), named("third", fine)}, nil
	}
}

// resultTexts are the results of a transcript in order, errors with a mark.
func resultTexts(es []transcript.Entry) []string {
	var texts []string
	for i := range es {
		if m := es[i].Message; m != nil && m.Role == transcript.ToolResult {
			mark := ""
			if m.IsError {
				mark = "error: "
			}
			texts = append(texts, m.ToolName+" "+mark+m.Text())
		}
	}
	return texts
}

func TestFault43ToolPanics(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	tools := three(func(context.Context) (loop.Result, error) { panic("index out of range") })
	sum, _, err := play(t, t.Context(), Options{Files: parse(t, "p", callsThree), Out: out, Tools: tools})
	if err != nil || sum.ExitCode != 0 {
		t.Fatalf("%+v, %v", sum.Results, err)
	}
	got := resultTexts(entries(t, filepath.Join(out, "p.jsonl")))
	want := []string{"first real result", "second error: tool second panicked: index out of range", "third real result"}
	if !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
	for _, f := range findings(t, filepath.Join(out, "p.jsonl")) {
		t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
	}
}

// Aborted while the second of three calls runs: every call has one result
// before the run ends, the finished one keeps its own.
func TestFault44AbortInABatchAndFault45FinishedResultsStay(t *testing.T) {
	for _, mode := range []string{task.Sequential, task.Parallel} {
		t.Run(mode, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			out := filepath.Join(t.TempDir(), "out")
			tools := three(func(ctx context.Context) (loop.Result, error) {
				cancel(fakeSignal(143))
				<-ctx.Done()
				return loop.Result{}, context.Cause(ctx)
			})
			sum, c, err := play(t, ctx, Options{Files: parse(t, "p", callsThree+"tool_execution: { mode: "+mode+" }\n"), Out: out, Tools: tools})
			if !errors.Is(err, fakeSignal(143)) || sum.ExitCode != 143 || sum.Results[0].Status != policy.Aborted {
				t.Fatalf("%+v, %v", sum.Results, err)
			}
			got := resultTexts(entries(t, filepath.Join(out, "p.jsonl")))
			if len(got) != 3 || got[0] != "first real result" || !strings.HasPrefix(got[1], "second error: ") || !strings.HasPrefix(got[2], "third error: ") {
				t.Errorf("results %q", got)
			}
			ends := 0
			for _, r := range c.records(t) {
				if r.Type == "tool_execution_end" {
					ends++
				}
			}
			if ends != 3 {
				t.Errorf("%d of 3 executions were shown to end", ends)
			}
			for _, f := range findings(t, filepath.Join(out, "p.jsonl")) {
				t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
			}
		})
	}
}

// The same call again and again ends the task, with its own exit code; what
// only looks like it does not: other arguments, other results, a repetition
// with something in between.
func TestFault46SameCallRepeated(t *testing.T) {
	const same = "{ name: look, arguments: { n: 1 } }"
	polls := 0
	polling := func(*task.Task, []task.Tool) ([]loop.Tool, error) {
		return []loop.Tool{{
			Tool: transcript.Tool{Name: "look", Description: "a", Parameters: []byte(`{"type":"object"}`)},
			Run: func(context.Context, transcript.Call, func(loop.Result)) (loop.Result, error) {
				polls++
				return loop.Result{Content: []transcript.Block{transcript.TextBlock(fmt.Sprint("waiting ", polls))}}, nil
			},
		}}, nil
	}
	for _, test := range []struct {
		name   string
		calls  []string // one turn each
		tools  func(*task.Task, []task.Tool) ([]loop.Tool, error)
		status policy.Status
		code   int
	}{
		{"the same three times", []string{same, same, same}, nil, policy.Stuck, 5},
		{"keys and spaces do not make it another", []string{"{ name: look, arguments: {n: 1} }", same, "{ name: look, arguments: { n:   1 } }"}, nil, policy.Stuck, 5},
		{"three in one message", []string{same + ", " + same + ", " + same}, nil, policy.Stuck, 5},
		{"twice is not three times", []string{same, same}, nil, policy.OK, 0},
		{"something in between", []string{same, same, "{ name: look, arguments: { n: 2 } }", same, same}, nil, policy.OK, 0},
		{"another tool in between", []string{same, "{ name: send, arguments: { n: 1 } }", same, "{ name: send, arguments: { n: 1 } }", same}, nil, policy.OK, 0},
		{"polling something that moves", []string{same, same, same, same}, polling, policy.OK, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var yaml strings.Builder
			yaml.WriteString(scriptedHead + "finish: { limits: { repeated_call: 3 } }\nmodel:\n  provider: scripted\n  responses:\n")
			for _, c := range test.calls {
				yaml.WriteString("    - calls: [" + c + "]\n")
			}
			yaml.WriteString("    - text: done\n")
			tools := test.tools
			if tools == nil {
				tools = (&world{ran: map[string]int{}}).tools
			}
			out := filepath.Join(t.TempDir(), "out")
			sum, _, err := play(t, t.Context(), Options{Files: parse(t, "p", yaml.String()), Out: out, Tools: tools})
			if r := sum.Results[0]; err != nil || r.Status != test.status || sum.ExitCode != test.code {
				t.Errorf("%s (%s), exit %d, %v", r.Status, r.Reason, sum.ExitCode, err)
			}
			for _, f := range findings(t, filepath.Join(out, "p.jsonl")) {
				if !slices.Contains(expectedRules, f.Rule) {
					t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
				}
			}
		})
	}
}
