package batch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/replay/transcript"
)

// A task that a policy ended ends the same way if its process dies before it
// could say so, at whichever entry. A request that was lost counts as a turn.
func TestResumeKeepsTheVerdict(t *testing.T) {
	const look = "{ name: look, arguments: { n: 1 } }"
	for _, test := range []struct {
		name, yaml string
		want       policy.Status
	}{
		{"denied", "permissions: { deny: [send], on_deny: stop }\nmodel: { provider: scripted, responses: [{ calls: [" + look + "] }, { calls: [{ name: send, arguments: { n: 2 } }, " + look + "] }, { text: done }] }\n", policy.Denied},
		{"denied in sequence", "tool_execution: { mode: sequential }\npermissions: { deny: [send], on_deny: stop }\nmodel: { provider: scripted, responses: [{ calls: [{ name: send, arguments: { n: 2 } }, " + look + "] }, { text: done }] }\n", policy.Denied},
		{"stuck", "finish: { limits: { repeated_call: 3 } }\n" + endless(look), policy.Stuck},
		{"turns", "finish: { limits: { turns: 2 } }\n" + endless("{ name: look, arguments: { n: N } }"), policy.Limit},
		{"answer", "finish: { output: { schema: { type: object, properties: { n: { type: integer } } } } }\nmodel: { provider: scripted, responses: [{ calls: [" + look + "] }, { calls: [{ name: submit_answer, arguments: { n: 1 } }] }, { text: done }] }\n", policy.OK},
		{"answer as text", "finish: { output: { schema: { type: object, required: [n] }, via: text, attempts: 3 } }\nmodel: { provider: scripted, responses: [{ text: not JSON }, { text: '{\"n\":1}' }] }\n", policy.OK},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := parse(t, "v", scriptedHead+test.yaml)
			out := filepath.Join(t.TempDir(), "out")
			w := &world{ran: map[string]int{}}
			whole, _, err := play(t, t.Context(), Options{Files: files, Out: out, Tools: w.tools})
			if err != nil || whole.Results[0].Status != test.want {
				t.Fatalf("%+v, %v", whole.Results, err)
			}
			data, err := os.ReadFile(filepath.Join(out, "v.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(data, []byte("\n"))
			for n := 1; n < len(lines); n++ { // the last one has its seal, and no result yet
				cut := filepath.Join(t.TempDir(), "out")
				if err := os.Mkdir(cut, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(cut, "v.jsonl"), bytes.Join(lines[:n], nil), 0o600); err != nil {
					t.Fatal(err)
				}
				w := &world{ran: map[string]int{}}
				sum, _, err := play(t, t.Context(), Options{Files: files, Out: cut, Tools: w.tools, Resume: true})
				res, want := sum.Results[0], whole.Results[0]
				if err != nil || res.Status != want.Status || res.Reason != want.Reason || res.Turns > want.Turns+1 || test.want == policy.OK && res.Answer != want.Answer {
					t.Errorf("cut behind line %d: %s (%s) after %d turns, answer %q, %v; want %s (%s) after %d, %q",
						n, res.Status, res.Reason, res.Turns, res.Answer, err, want.Status, want.Reason, want.Turns, want.Answer)
				}
				resumed, err := os.ReadFile(filepath.Join(cut, "v.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				request := []byte(`"turnlog.request"`)
				again := bytes.Contains(lines[n-1], request) // the request that was lost
				if more := bytes.Count(resumed, request) > bytes.Count(data, request); test.want == policy.Denied && more && !again {
					t.Errorf("cut behind line %d: the model was asked after a call had been denied", n)
				}
				if w.ran[`send{"n":2}`] > 0 {
					t.Errorf("cut behind line %d: a denied call ran", n)
				}
			}
		})
	}
}

// An answer that no transcript can hold is not in it; what follows it is.
func TestSealBehindAnAnswerThatIsTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("encodes a line of 64 MiB")
	}
	files := parse(t, "long", scriptedHead+"model: { provider: scripted, responses: [{ text: BIG }] }\n")
	files[0].Tasks[0].Model.Responses[0] = fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", transcript.DefaultMaxLine))
	out := filepath.Join(t.TempDir(), "out")
	sum, err := Run(t.Context(), Options{Files: files, Out: out})
	if err != nil || sum.Results[0].Status != policy.Error || !strings.Contains(sum.Results[0].Reason, "longer than") {
		t.Errorf("%s (%s), %v", sum.Results[0].Status, sum.Results[0].Reason, err)
	}
	for _, f := range findings(t, filepath.Join(out, "long.jsonl")) {
		t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
	}
}
