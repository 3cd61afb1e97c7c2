package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Faults of a runner that have their test elsewhere, or none:
//
//   - 55, 57, 61: TestFault55KillAtEveryWriteAndResume kills the process, here
//     is what each state in between becomes.
//   - 56, forks: there is no command that makes one yet.
//   - 58, 59, 60, 62: also in package journal, at the file.
//   - 64: readers that never write are tested in package cmd.
//   - 65, 66, 69: exit codes, stdin and signals of the process, in package cmd.
//   - 67: endpoints that never answer, in package openai.

// Words of the user enter only after all results of a batch; their order in
// the file is that on the wire.
func TestFault51SteeringWhileToolsRun(t *testing.T) {
	_, _, es := playTask(t, scriptedHead+"model: { provider: scripted, responses: [{ calls: [{ name: look, arguments: { n: 1 } }, { name: send, arguments: { n: 2 } }] }, { text: a }, { text: b }] }\n"+
		"tool_execution: { mode: sequential }\nsteering: { messages: [{ when: { after_tool: look }, text: first }, { when: { after_tool: send }, text: second }] }\n")
	var roles []string
	for i := range es {
		if m := es[i].Message; m != nil {
			roles = append(roles, string(m.Role)+":"+m.Text())
		}
	}
	got := strings.Join(roles[3:], " ")
	want := `toolResult:done {"n":1} toolResult:done {"n":2} user:first assistant:a user:second assistant:b`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A file that ends with a finished answer is not asked to go on by itself.
func TestFault52ResumeOfAFinishedRunAsksNothing(t *testing.T) {
	path := transcriptOf(t, &world{ran: map[string]int{}})
	before := content(t, path)
	unfinished(t, filepath.Dir(path))
	sum, _, err := play(t, t.Context(), Options{Files: parse(t, "e", eventful), Out: filepath.Dir(path), Resume: true, Tools: (&world{ran: map[string]int{}}).tools})
	if err != nil || sum.ExitCode != 0 {
		t.Fatalf("%+v, %v", sum.Results, err)
	}
	if content(t, path) != before {
		t.Error("a finished transcript grew")
	}
	if sum.Results[0].Answer != `{"sum":10}` {
		t.Errorf("answer %q", sum.Results[0].Answer)
	}
}

// A failed turn keeps its calls, which get no results, and is left out of the
// next request.
func TestFault53FailedTurnWithCalls(t *testing.T) {
	res, w, es := playTask(t, scriptedHead+"model: { provider: scripted, responses: [{ text: half, calls: [{ name: send, arguments: { n: 1 } }], stopReason: error, errorMessage: cut off }] }\n")
	if res.Status != policy.Error || res.ExitCode != 3 || !strings.Contains(res.Reason, "cut off") || len(w.ran) > 0 {
		t.Errorf("%s (%s), ran %v", res.Status, res.Reason, w.ran)
	}
	if ks := kinds(es); slices.Contains(ks, "toolResult") {
		t.Errorf("results in %v", ks)
	}
}

// Follow-ups that refill themselves, and checks that never pass, end at the
// task's limits.
func TestFault54EndlessContinuation(t *testing.T) {
	model := endless("")
	model = strings.ReplaceAll(model, ", calls: []", "")
	res, _, es := playTask(t, scriptedHead+model+"finish: { limits: { turns: 4 }, checks: [{ name: never, run: [\"false\"], on_fail: continue, rounds: 90 }] }\n")
	if n := strings.Count(strings.Join(kinds(es), " "), "turnlog.request"); n != 4 || res.Status != policy.Limit {
		t.Errorf("%d requests, %s (%s)", n, res.Status, res.Reason)
	}
}

// What an interrupted batch of calls becomes, for each state it can be left in.
func TestFault55OpenCallsAfterACrash(t *testing.T) {
	whole := content(t, transcriptOf(t, &world{ran: map[string]int{}}))
	lines := strings.SplitAfter(whole, "\n")
	// after is the transcript up to the n-th line that has what.
	after := func(what string, n int) string {
		for i, line := range lines {
			if strings.Contains(line, what) {
				if n--; n == 0 {
					return strings.Join(lines[:i+1], "")
				}
			}
		}
		t.Fatalf("no %s in the transcript", what)
		return ""
	}
	for _, test := range []struct {
		name, left string
		ran        string // by the resuming process
		result     string // of the call of send
	}{
		{"no call started", after(`"text":"two at once"`, 1), "look1 send2", `done {"n":2}`},
		{"one that reads started", after(`"tool":"look"`, 1), "look1 send2", `done {"n":2}`},
		{"one with effects started", after(`"tool":"send"`, 1), "look1", "Interrupted, outcome unknown"},
		{"both results are recorded", after("turnlog.result", 2), "", `done {"n":2}`},
		{"one result is written", after(`"role":"toolResult"`, 1), "", `done {"n":2}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir()
			path := filepath.Join(out, "e.jsonl")
			if err := os.WriteFile(path, []byte(test.left), 0o600); err != nil {
				t.Fatal(err)
			}
			w := &world{ran: map[string]int{}}
			sum, _, err := play(t, t.Context(), Options{Files: parse(t, "e", eventful), Out: out, Resume: true, Tools: w.tools})
			if err != nil || sum.ExitCode != 0 {
				t.Fatalf("%+v, %v", sum.Results, err)
			}
			delete(w.ran, `send{"n":3}`) // of later turns
			delete(w.ran, `look{"n":4}`)
			if test.ran == "look1" && strings.Contains(test.left, "turnlog.result") {
				test.ran = "" // both calls run at once: this time the other had ended before send began
			}
			if got := ran(w); got != test.ran {
				t.Errorf("ran %q, want %q", got, test.ran)
			}
			for _, e := range entries(t, path) {
				if m := e.Message; m != nil && m.Role == transcript.ToolResult && m.ToolName == "send" {
					if !strings.HasPrefix(m.Text(), test.result) {
						t.Errorf("result of send: %q", m.Text())
					}
					break
				}
			}
			for _, f := range findings(t, path) {
				t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
			}
		})
	}
}

// Ids stay unique however often a file is resumed within a second.
func TestFault57IDsAreUniqueOverResumes(t *testing.T) {
	whole := content(t, transcriptOf(t, &world{ran: map[string]int{}}))
	out := t.TempDir()
	path := filepath.Join(out, "e.jsonl")
	files := parse(t, "e", eventful)
	if err := os.WriteFile(path, []byte(whole[:strings.LastIndex(whole[:len(whole)/4], "\n")+1]), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		ctx, cancel := context.WithCancelCause(t.Context())
		turns := 0
		_, err := Run(ctx, Options{Files: files, Out: out, Resume: true, Tools: (&world{ran: map[string]int{}}).tools, Sink: sinkFunc(func(e *Event) error {
			if e.Type == "turn_start" {
				if turns++; turns == 2 {
					cancel(fakeSignal(143))
				}
			}
			return nil
		})})
		if err != nil && !errors.Is(err, fakeSignal(143)) {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, e := range entries(t, path) {
		if e.ID != "" && seen[e.ID] {
			t.Errorf("the id %s is there twice", e.ID)
		}
		seen[e.ID] = true
	}
	for _, f := range findings(t, path) {
		t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
	}
}

// When an event is shown, what it tells is in the file.
func TestFault61OnDiskBeforeItsEvent(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	path := filepath.Join(out, "e.jsonl")
	_, err := Run(t.Context(), Options{
		Files: parse(t, "e", eventful), Out: out, Tools: (&world{ran: map[string]int{}}).tools,
		Sink: sinkFunc(func(e *Event) error {
			var want string
			switch {
			case e.Loop == nil:
				return nil
			case e.Loop.Type == loop.MessageEnd:
				want = fmt.Sprintf(`"id":%q`, e.Loop.Entry.ID)
			case e.Loop.Type == loop.ToolExecutionEnd:
				want = fmt.Sprintf(`"toolCallId":%q`, e.Loop.Call.ID)
			default:
				return nil
			}
			if !strings.Contains(content(t, path), want) {
				t.Errorf("%s was shown before %s was on disk", e.Type, want)
			}
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A tool prints the key of the model; nobody gets to see it.
func TestFault63SecretsAreMasked(t *testing.T) {
	const key = `hunter2"\quoted`
	files := parse(t, "s", scriptedHead+"model: { provider: scripted, responses: [{ calls: [{ name: look, arguments: { n: 1 } }] }, { text: done }] }\n")
	files[0].Tasks[0].Model.APIKeyEnv = "MY_KEY"
	hidden, err := Secrets(files, func(name string) (string, bool) { return key, name == "MY_KEY" })
	if err != nil {
		t.Fatal(err)
	}
	const github = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	tools := func(*task.Task, []task.Tool) ([]loop.Tool, error) {
		return []loop.Tool{{
			Tool: transcript.Tool{Name: "look", Description: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			Run: func(_ context.Context, _ transcript.Call, progress func(loop.Result)) (loop.Result, error) {
				r := loop.Result{Content: []transcript.Block{transcript.TextBlock("KEY=" + key + " TOKEN=" + github)}, Details: json.RawMessage(`{"raw":"` + github + `"}`)}
				progress(r)
				return r, nil
			},
		}}, nil
	}
	out := filepath.Join(t.TempDir(), "out")
	c := &capture{}
	sum, err := Run(t.Context(), Options{Files: files, Out: out, Tools: tools, Mask: hidden, Sink: &NDJSON{W: c, Mask: hidden.Line}})
	if err != nil || sum.ExitCode != 0 {
		t.Fatalf("%+v, %v", sum.Results, err)
	}
	written := c.buf.String() + content(t, filepath.Join(out, "s.jsonl")) + content(t, filepath.Join(out, "results.ndjson"))
	for _, secret := range []string{"hunter2", "quoted", github} {
		if strings.Contains(written, secret) {
			t.Errorf("%q was written", secret)
		}
	}
	if !strings.Contains(written, "[secret:MY_KEY]") {
		t.Error("the key's placeholder is missing")
	}
	c.records(t) // what was masked is still JSON
	for _, f := range findings(t, filepath.Join(out, "s.jsonl")) {
		t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
	}
}

func TestMaskKeepsJSON(t *testing.T) {
	m := mask.New(map[string]string{"A": "12345678", "B": `a"b\c` + "\n", "SHORT": "abc"}, nil, false)
	for in, want := range map[string]string{
		`{"n":12345678,"s":"x12345678y"}`:              `{"n":12345678,"s":"x[secret:A]y"}`,
		`{"s":"a\"b\\c\n"}`:                            `{"s":"[secret:B]"}`,
		`{"s":"abc"}`:                                  `{"s":"abc"}`,
		`{"12345678":1,"args":"{\"k\":\"12345678\"}"}`: `{"[secret:A]":1,"args":"{\"k\":\"[secret:A]\"}"}`,
	} {
		if got := m.Line([]byte(in)); string(got) != want || !json.Valid(got) {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	var none *mask.Mask
	if got := none.Line([]byte("x")); string(got) != "x" {
		t.Errorf("a nil mask gave %q", got)
	}
}

// slowReader takes one event when it is told to.
type slowReader struct{ take chan struct{} }

func (s *slowReader) Write(p []byte) (int, error) { <-s.take; return len(p), nil }

// A reader that does not read stops the run; nothing piles up.
func TestFault68SlowReaderHoldsTheRun(t *testing.T) {
	r := &slowReader{take: make(chan struct{})}
	w := &world{ran: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, _, err := play(t, context.Background(), Options{Files: parse(t, "e", eventful), Tools: w.tools, Sink: &NDJSON{W: r}}); err != nil {
			t.Error(err)
		}
	}()
	for range 8 { // batch_start … message_end of the prompt
		r.take <- struct{}{}
	}
	w.mu.Lock()
	early := len(w.ran)
	w.mu.Unlock()
	if early > 0 {
		t.Errorf("tools ran ahead of the reader: %v", w.ran)
	}
	close(r.take)
	<-done
	if len(w.ran) == 0 {
		t.Error("no tool ran at all")
	}
}

// The same task asks the same requests, byte for byte: no clock in the head, no
// map order anywhere.
func TestFault72SameInputSameRequests(t *testing.T) {
	digests := func() (all []string) {
		for _, e := range entries(t, transcriptOf(t, &world{ran: map[string]int{}})) {
			if e.Custom == nil || e.Custom.CustomType != transcript.CustomRequest {
				continue
			}
			var r transcript.Request
			if err := e.Custom.Decode(&r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r.Digest)
		}
		return all
	}
	first, second := digests(), digests()
	if len(first) == 0 || !slices.Equal(first, second) {
		t.Errorf("digests %v and %v", first, second)
	}
}
