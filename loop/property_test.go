package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a random run: a script, tools that misbehave, queues, an abort.
type world struct {
	t        *rapid.T
	cancel   context.CancelFunc
	abortAt  int // event that aborts the run; 0 never
	breakAt  int // event whose Emit fails; 0 never
	fullAt   int // append that fails; 0 never
	steerAt  map[int]bool
	steering *loop.Queue
	followUp *loop.Queue

	events   []loop.Event
	entries  []transcript.Entry
	requests []replay.Request
	sets     [][]string // names of the executable tools at each request
}

var errDisk = errors.New("disk full")

func (w *world) emit(e loop.Event) error {
	w.events = append(w.events, e.Clone())
	n := len(w.events)
	if w.steerAt[n] {
		w.steering.Push(transcript.UserText(fmt.Sprint("steer ", n)))
	}
	if n == w.abortAt {
		w.cancel()
	}
	if n == w.breakAt {
		return errors.New("reader gone")
	}
	return nil
}

func (w *world) append(e *transcript.Entry) error {
	if len(w.entries)+1 == w.fullAt {
		return errDisk
	}
	e.Line = len(w.entries) + 1
	w.entries = append(w.entries, *e)
	return nil
}

// drawResponses makes a script of answers with calls to known and unknown tools.
func drawResponses(t *rapid.T) []scripted.Response {
	var raw []json.RawMessage
	id := 0
	for range rapid.IntRange(1, 6).Draw(t, "responses") {
		content := []object{{"type": "text", "text": rapid.SampledFrom([]string{"a text", "<b> & \u2028 \"q\"", ""}).Draw(t, "text")}}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			id++
			content = append(content, object{
				"type": "toolCall", "id": fmt.Sprint("c", id),
				"name":      rapid.SampledFrom([]string{"good", "bad", "panics", "slow", "alone", "nobody"}).Draw(t, "tool"),
				"arguments": rapid.SampledFrom([]any{object{}, object{"n": 1}, object{"n": "7"}, object{"n": "x"}}).Draw(t, "arguments"),
			})
		}
		r := object{"content": content}
		if stop := rapid.SampledFrom([]string{"", "", "", "length", "error"}).Draw(t, "stop"); stop != "" {
			r["stopReason"] = stop
		}
		if rapid.IntRange(0, 9).Draw(t, "throws") == 0 {
			r["throw"] = "no route"
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, b)
	}
	responses, err := scripted.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return responses
}

func randomTools(t *rapid.T) map[string]loop.Tool {
	parameters := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	run := func(f func(progress func(loop.Result)) (loop.Result, error)) func(context.Context, transcript.Call, func(loop.Result)) (loop.Result, error) {
		return func(_ context.Context, _ transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			return f(progress)
		}
	}
	text := func(s string) loop.Result { return loop.Result{Content: []transcript.Block{transcript.TextBlock(s)}} }
	terminate := rapid.Bool().Draw(t, "terminate")
	tools := map[string]loop.Tool{
		"good": {Run: run(func(func(loop.Result)) (loop.Result, error) {
			r := text("fine")
			r.Terminate = terminate
			return r, nil
		})},
		"bad":    {Run: run(func(func(loop.Result)) (loop.Result, error) { return loop.Result{}, errors.New("broken") })},
		"panics": {Run: run(func(func(loop.Result)) (loop.Result, error) { panic("oh") })},
		"slow": {Run: run(func(progress func(loop.Result)) (loop.Result, error) {
			progress(text("half"))
			return text("whole"), nil
		})},
		"alone": {Sequential: true, Run: run(func(func(loop.Result)) (loop.Result, error) { return text("alone"), nil })},
	}
	for name, tool := range tools {
		tool.Name, tool.Description, tool.Parameters = name, name, parameters
		tools[name] = tool
	}
	return tools
}

func drawSet(t *rapid.T, pool map[string]loop.Tool) []loop.Tool {
	names := rapid.Permutation([]string{"good", "bad", "panics", "slow", "alone"}).Draw(t, "order")
	set := []loop.Tool{}
	for _, name := range names[:rapid.IntRange(0, 5).Draw(t, "size")] {
		set = append(set, pool[name])
	}
	return set
}

func namesOf(tools []loop.Tool) []string {
	names := []string{}
	for _, t := range tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// TestRunProperties holds for every run, whatever the model, the tools, the
// queues, the seams, the disk and the reader do.
func TestRunProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, steerAt: map[int]bool{}}
		mode := rapid.SampledFrom([]loop.QueueMode{loop.OneAtATime, loop.All})
		w.steering, w.followUp = loop.NewQueue(mode.Draw(t, "steering")), loop.NewQueue(mode.Draw(t, "followUp"))
		for range rapid.IntRange(0, 3).Draw(t, "steered") {
			w.steerAt[rapid.IntRange(1, 60).Draw(t, "at")] = true
		}
		for range rapid.IntRange(0, 2).Draw(t, "followUps") {
			w.followUp.Push(transcript.UserText("and?"))
		}
		w.abortAt = rapid.SampledFrom([]int{0, 0, 3, 9, 17, 30}).Draw(t, "abortAt")
		w.breakAt = rapid.SampledFrom([]int{0, 0, 0, 0, 2, 11, 24}).Draw(t, "breakAt")
		w.fullAt = rapid.SampledFrom([]int{0, 0, 0, 0, 1, 4, 13}).Draw(t, "fullAt")
		withTranscript := rapid.Bool().Draw(t, "transcript")

		pool := randomTools(t)
		tools := drawSet(t, pool)
		current := tools
		script := scripted.New(drawResponses(t))
		var s replay.State
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		w.cancel = cancel
		c := loop.Config{
			Model: requestSpy{script, func(r replay.Request) {
				w.requests = append(w.requests, r)
				w.sets = append(w.sets, namesOf(current))
			}},
			ModelRef:     replay.ModelRef{Provider: "scripted", ID: "m"},
			Params:       json.RawMessage(`{"stop": ["<end>", "&"]}`),
			Tools:        tools,
			Execution:    rapid.SampledFrom([]loop.Execution{loop.Parallel, loop.Sequential}).Draw(t, "execution"),
			MaxParallel:  rapid.IntRange(0, 2).Draw(t, "maxParallel"),
			SteeringMode: rapid.SampledFrom([]loop.SteeringMode{loop.NextTurn, loop.SkipRemaining}).Draw(t, "mode"),
			Emit:         w.emit, Steering: w.steering.Poll, FollowUp: w.followUp.Poll,
			PrepareNextTurn: func(context.Context, loop.Turn) (loop.TurnUpdate, error) {
				switch rapid.IntRange(0, 9).Draw(t, "prepare") {
				case 0:
					return loop.TurnUpdate{}, errors.New("cannot prepare")
				case 1, 2, 3:
					current = drawSet(t, pool)
					return loop.TurnUpdate{Tools: current}, nil
				}
				return loop.TurnUpdate{}, nil
			},
			FinishTurn: func(context.Context, loop.Turn) (loop.Decision, error) {
				return rapid.SampledFrom([]loop.Decision{loop.Default, loop.Default, loop.Default, loop.End}).Draw(t, "finish"), nil
			},
		}
		if withTranscript {
			c.Append = w.append
		}
		outcome, err := loop.Run(ctx, c, &s, transcript.UserText("go"))
		w.check(outcome, err, c, &s)
	})
}

// requestSpy sees each request before the model does.
type requestSpy struct {
	loop.Model
	see func(replay.Request)
}

func (m requestSpy) Stream(ctx context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	m.see(r)
	return m.Model.Stream(ctx, r)
}

func (w *world) check(outcome loop.Outcome, err error, c loop.Config, s *replay.State) {
	t := w.t
	readerGone := w.breakAt > 0 && len(w.events) >= w.breakAt
	if readerGone != (err != nil && len(w.events) == w.breakAt) && w.fullAt == 0 {
		t.Fatalf("reader gone at %d of %d events, but error %v", w.breakAt, len(w.events), err)
	}
	w.checkResults(outcome.New, c.SteeringMode)
	w.checkToolSets()
	if diff := cmp.Diff(len(s.Messages()), len(outcome.New)); diff != "" {
		t.Fatalf("history and outcome: %s", diff)
	}
	if !readerGone {
		w.checkBalance(outcome)
	}
	if c.Append != nil && !errors.Is(err, errDisk) {
		w.checkTranscript(s)
		w.checkVerified()
	}
}

// checkResults: every call of an answer that arrived has exactly one result,
// before the next message of anyone else, in source order.
func (w *world) checkResults(messages []transcript.Message, mode loop.SteeringMode) {
	var owed []string
	for i := range messages {
		m := &messages[i]
		if m.Role == transcript.ToolResult {
			at := slices.Index(owed, m.ToolCallID)
			if at < 0 || at > 0 && mode != loop.SkipRemaining {
				w.t.Fatalf("message %d: result of %s, owed %v", i, m.ToolCallID, owed)
			}
			owed = slices.Delete(owed, at, at+1)
			continue
		}
		if len(owed) > 0 {
			w.t.Fatalf("message %d: %s although results of %v are owed", i, m.Role, owed)
		}
		if m.Role == transcript.Assistant && !m.Failed() {
			for _, call := range m.Calls() {
				owed = append(owed, call.ID)
			}
		}
	}
	if len(owed) > 0 {
		w.t.Fatalf("results of %v are missing", owed)
	}
}

// checkToolSets: what a request declares is what can run.
func (w *world) checkToolSets() {
	for i, r := range w.requests {
		names := []string{}
		for _, d := range r.Project(replay.ModeNone).Tools {
			names = append(names, d.Name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(w.sets[i], names); diff != "" {
			w.t.Fatalf("request %d: declared tools differ from the executable ones:\n%s", i+1, diff)
		}
	}
}

// checkBalance: every start has its end, and turns are requests, but for one
// that a failing seam opened.
func (w *world) checkBalance(outcome loop.Outcome) {
	open := map[string]int{}
	turns, failed := 0, 0
	for _, e := range w.events {
		key := string(e.Type)
		if e.Call != nil {
			key += e.Call.ID
		}
		switch e.Type {
		case loop.AgentStart:
			open["agent"]++
		case loop.AgentEnd:
			open["agent"]--
		case loop.TurnStart:
			open["turn"]++
			turns++
		case loop.TurnEnd:
			open["turn"]--
		case loop.MessageStart:
			open["message"]++
		case loop.MessageEnd:
			open["message"]--
		case loop.ToolExecutionStart:
			open["call "+e.Call.ID]++
		case loop.ToolExecutionEnd:
			open["call "+e.Call.ID]--
		}
		for what, n := range open {
			if n < 0 || n > 1 {
				w.t.Fatalf("%s: %s is open %d times", key, what, n)
			}
		}
	}
	for what, n := range open {
		if n != 0 {
			w.t.Fatalf("%s was not ended", what)
		}
	}
	answer := new(loop.AnswerError)
	if outcome.Err != nil && !errors.As(outcome.Err, &answer) {
		failed = 1 // its turn may have come without a request
	}
	if unsent := turns - len(w.requests); unsent < 0 || unsent > failed && w.fullAt == 0 {
		w.t.Fatalf("%d turns, %d requests", turns, len(w.requests))
	}
}

// checkTranscript: folding what was appended gives what the run had, request
// by request, and each digest can be recomputed.
func (w *world) checkTranscript(s *replay.State) {
	var fold, read replay.State // of the entries, and of what a file of them says
	parent := ""
	intents := map[string]bool{}
	for i := range w.entries {
		e := &w.entries[i]
		if e.Custom != nil && e.Custom.CustomType == transcript.CustomCall {
			var intent transcript.CallIntent
			if err := json.Unmarshal(e.Custom.Data, &intent); err != nil {
				w.t.Fatal(err)
			}
			intents[intent.ToolCallID] = true
		}
		if m := e.Message; m != nil && m.Role == transcript.ToolResult && m.HasDuration != intents[m.ToolCallID] {
			w.t.Fatalf("call %s: ran %v, intent recorded %v", m.ToolCallID, m.HasDuration, intents[m.ToolCallID])
		}
		if e.ParentID != parent {
			w.t.Fatalf("entry %d hangs below %q, not %q", i, e.ParentID, parent)
		}
		parent = e.ID
		if e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest {
			var r transcript.Request
			if err := json.Unmarshal(e.Custom.Data, &r); err != nil {
				w.t.Fatal(err)
			}
			if digest, n, ok := read.RequestDigest(&r); !ok || digest != r.Digest || n != r.Messages {
				w.t.Fatalf("request %d: digest %s over %d messages, recomputed %s over %d", r.N, r.Digest, r.Messages, digest, n)
			}
		}
		fold.Apply(e)
		parsed, err := transcript.ParseEntry(transcript.AppendEntry(nil, e))
		if err != nil {
			w.t.Fatal(err)
		}
		read.Apply(&parsed)
	}
	if diff := cmp.Diff(s.Messages(), fold.Messages()); diff != "" {
		w.t.Fatalf("the transcript folds to something else:\n%s", diff)
	}
}

// ofTheModel are rules that a model breaks, not a loop.
var ofTheModel = []string{"removed-tool-call", "undeclared-tool-call", "schema-violation"}

// checkVerified: the checker finds no contradiction in what a run wrote.
func (w *world) checkVerified() {
	file := []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/"}` + "\n")
	for i := range w.entries {
		file = append(transcript.AppendEntry(file, &w.entries[i]), '\n')
	}
	result, err := verify.Run(context.Background(), verify.Source{Name: "run.jsonl", Reader: bytes.NewReader(file)}, rule.All(), verify.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range result.Findings {
		if f.Severity == verify.Error && !slices.Contains(ofTheModel, f.Rule) {
			w.t.Fatalf("line %d: %s [%s]\n%s", f.Line, f.Message, f.Rule, file)
		}
	}
}
