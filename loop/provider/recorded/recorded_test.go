package recorded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/recorded"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// session is a transcript in memory.
type session struct {
	bytes.Buffer
	state replay.State
	ids   int
}

func newSession() *session {
	s := new(session)
	s.WriteString(`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/"}` + "\n")
	return s
}

func (s *session) append(e *transcript.Entry) error {
	s.Write(append(transcript.AppendEntry(nil, e), '\n'))
	return nil
}

// begin marks the start of a run, as a runner does.
func (s *session) begin(t *testing.T, r transcript.Run) {
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	s.ids++
	e := &transcript.Entry{
		Type: transcript.TypeCustom, ID: "run" + string(rune('0'+s.ids)), ParentID: s.state.Leaf(), Timestamp: "2026-01-02T03:04:05.000Z",
		Custom: &transcript.Custom{CustomType: transcript.CustomRun, Data: data},
	}
	if err := s.append(e); err != nil {
		t.Fatal(err)
	}
	s.state.Apply(e)
}

func tool(name string, run func(call transcript.Call) (loop.Result, error)) loop.Tool {
	return loop.Tool{
		Tool: transcript.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		Run: func(_ context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			return run(call)
		},
	}
}

func text(s string) loop.Result {
	return loop.Result{Content: []transcript.Block{transcript.TextBlock(s)}, Details: json.RawMessage(`{}`)}
}

// record plays two runs with everything that a transcript can show.
func record(t *testing.T, marks bool) *session {
	s := newSession()
	responses, err := scripted.Parse([]json.RawMessage{
		[]byte(`{"thinking":"first both","text":"Looking.","calls":[{"name":"find","arguments":{"n":"7"}},{"name":"break"},{"name":"ghost"},{"name":"find","arguments":{"n":"x"}}]}`),
		[]byte(`{"text":"Then this.","calls":[{"name":"late"}]}`),
		[]byte(`{"text":"Found."}`),
		[]byte(`{"text":"Also done."}`),
		[]byte(`{"calls":[{"name":"find","arguments":{"n":1}},{"name":"stop"}]}`),
		[]byte(`{"stopReason":"error","errorMessage":"upstream failed"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	find := tool("find", func(c transcript.Call) (loop.Result, error) { return text("found " + string(c.Arguments)), nil })
	broken := tool("break", func(transcript.Call) (loop.Result, error) { return loop.Result{}, errors.New("broken") })
	late := tool("late", func(transcript.Call) (loop.Result, error) { return text("late"), nil })
	vote := func(name string) loop.Tool {
		return tool(name, func(transcript.Call) (loop.Result, error) {
			r := text(name)
			r.Terminate = true
			return r, nil
		})
	}
	steering, followUp := loop.NewQueue(loop.All), loop.NewQueue(loop.OneAtATime)
	c := loop.Config{
		Model: scripted.New(responses), ModelRef: replay.ModelRef{Provider: "p", ID: "m"}, Thinking: "low",
		Tools: []loop.Tool{find, broken}, Append: s.append, Steering: steering.Poll, FollowUp: followUp.Poll,
		PrepareNextTurn: func(_ context.Context, turn loop.Turn) (loop.TurnUpdate, error) {
			if turn.N == 1 {
				return loop.TurnUpdate{Tools: []loop.Tool{find, late}, ModelRef: &replay.ModelRef{Provider: "p", ID: "m2"}}, nil
			}
			return loop.TurnUpdate{}, nil
		},
		Emit: func(e loop.Event) error {
			if e.Type == loop.ToolExecutionEnd && e.Call.Name == "late" {
				steering.Push(transcript.UserText("hurry"), transcript.UserText("please"))
				followUp.Push(transcript.UserText("anything else?"))
			}
			return nil
		},
	}
	system := transcript.Message{Role: transcript.System, Form: transcript.FormString, Content: []transcript.Block{transcript.TextBlock("You find things.")}}
	if marks {
		s.begin(t, transcript.Run{Run: "r1", Session: "s1"})
	}
	if _, err := loop.Run(t.Context(), c, &s.state, system, transcript.UserText("find 7")); err != nil {
		t.Fatal(err)
	}
	c.PrepareNextTurn = nil
	c.Tools = []loop.Tool{vote("find"), vote("stop")}
	if marks {
		s.begin(t, transcript.Run{Run: "r2", Session: "s1"})
	}
	if _, err := loop.Run(t.Context(), c, &s.state, transcript.UserText("and 1")); err != nil {
		t.Fatal(err)
	}
	if marks {
		s.begin(t, transcript.Run{Run: "r3", Session: "s1", ToolExecution: "sequential"})
	}
	if _, err := loop.Run(t.Context(), c, &s.state, transcript.UserText("again")); err != nil {
		t.Fatal(err)
	}
	return s
}

func load(t *testing.T, raw []byte) *recorded.Recording {
	t.Helper()
	r, err := recorded.Load(transcript.Lines(bytes.NewReader(raw), transcript.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain are messages without what differs between two runs of the same thing.
func plain(ms []transcript.Message) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		m.Timestamp, m.DurationMs, m.HasDuration = 0, 0, false
		out[i] = string(transcript.AppendMessage(nil, &m))
	}
	return out
}

// TestPlay: a recording that is played again gives the same messages and
// leaves nothing unused, with and without turnlog's own entries.
func TestPlay(t *testing.T) {
	for _, marks := range []bool{true, false} {
		s := record(t, marks)
		raw := s.Bytes()
		if !marks {
			raw = withoutNotes(raw)
		}
		r := load(t, raw)
		if r.Turns() != 6 {
			t.Fatalf("marks %v: %d turns, want 6", marks, r.Turns())
		}
		var again replay.State
		if _, err := r.Play(t.Context(), loop.Config{}, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plain(s.state.Messages()), plain(again.Messages())); diff != "" {
			t.Errorf("marks %v: messages (-recorded +played):\n%s", marks, diff)
		}
		if unused := r.Unused(); len(unused) > 0 {
			t.Errorf("marks %v: unused: %v", marks, unused)
		}
	}
}

// withoutNotes drops turnlog's entries and hangs the others together again, as
// a transcript of pi would be.
func withoutNotes(raw []byte) []byte {
	var out []byte
	parent := ""
	for l := range transcript.Lines(bytes.NewReader(raw), transcript.Options{}) {
		e := l.Records[0]
		if e.Type == transcript.TypeSession {
			out = append(append(out, e.Raw...), '\n')
			continue
		}
		if e.Type == transcript.TypeCustom {
			continue
		}
		e.Raw, e.ParentID = nil, parent
		parent = e.ID
		out = append(transcript.AppendEntry(out, &e), '\n')
	}
	return out
}

// TestUnused names what a shorter run did not ask for.
func TestUnused(t *testing.T) {
	r := load(t, record(t, true).Bytes())
	c := loop.Config{
		Model: r.Model(), Tools: r.Tools([]transcript.Tool{{Name: "break", Parameters: json.RawMessage(`{}`)}}),
		FinishTurn: func(context.Context, loop.Turn) (loop.Decision, error) { return loop.End, nil },
	}
	if _, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"answer 2", "answer 3", "answer 4", "answer 5", "answer 6",
		"result of find call_1_3", "result of late call_2_2", "result of find call_5_1", "result of stop call_5_2",
	}
	if diff := cmp.Diff(want, r.Unused()); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
}

// TestModel: answers go on where a history stops, and end with an error.
func TestModel(t *testing.T) {
	raw := record(t, true).Bytes()
	var s replay.State
	s.Append(transcript.UserText("find 7"))
	for range 4 {
		s.Append(transcript.Message{Role: transcript.Assistant, StopReason: transcript.StopEnd})
	}
	out, err := loop.Run(t.Context(), loop.Config{Model: load(t, raw).Model()}, &s, transcript.UserText("go on"))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.New[1].Calls(); len(got) != 2 || got[1].Name != "stop" {
		t.Errorf("the fifth answer calls %v, want find and stop", got)
	}
	if out.Err == nil || out.Err.Error() != "upstream failed" {
		t.Errorf("outcome %v, want the recorded failure", out.Err)
	}
	r := load(t, raw)
	for range 6 {
		for range r.Model().Stream(t.Context(), replay.Request{}) {
		}
	}
	for d, err := range r.Model().Stream(t.Context(), replay.Request{}) {
		if err != nil || d.Kind != loop.Done || d.Final.ErrorMessage != recorded.Exhausted {
			t.Errorf("behind the end: %+v, %v", d, err)
		}
	}
}

// FuzzLoad: any file loads, and what it holds can be played.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"type":"message","id":"a","message":{"role":"user","content":"hi"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"c","toolName":"t","content":[]}}`))
	f.Add([]byte(`{"type":"custom","id":"a","customType":"turnlog.run","data":{"resumed":true}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":null,"stopReason":"error"}}
{"type":"context_edit","id":"c","parentId":"b","targetId":"b","replacement":null}
{"type":"custom","id":"d","parentId":"c","customType":"turnlog.turn","data":{"terminated":true}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := recorded.Load(transcript.Lines(bytes.NewReader(raw), transcript.Options{}))
		if err != nil {
			return
		}
		_, _ = r.Play(t.Context(), loop.Config{}, new(replay.State))
		_ = r.Unused()
	})
}
