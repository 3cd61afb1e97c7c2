package scripted_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

func parse(t testing.TB, responses ...string) []scripted.Response {
	t.Helper()
	raw := make([]json.RawMessage, len(responses))
	for i, r := range responses {
		raw[i] = json.RawMessage(r)
	}
	parsed, err := scripted.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// deltas renders an answer, one line per delta.
func deltas(t testing.TB, ctx context.Context, m loop.Model, r replay.Request) []string {
	t.Helper()
	var lines []string
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			lines = append(lines, "error "+err.Error())
			continue
		}
		line := string(d.Kind)
		if d.Text != "" {
			line += " " + d.Text
		}
		if d.Call != nil {
			line += " " + d.Call.ID + " " + string(d.Call.Arguments)
		}
		if d.Final != nil {
			line += " " + string(transcript.AppendMessage(nil, d.Final))
		}
		lines = append(lines, line)
	}
	return lines
}

func TestShortFormsAreTheLongForm(t *testing.T) {
	short := parse(t, `{"thinking":"hm","text":"hi","calls":[{"id":"a","name":"t","arguments":{"b":1,"a":2}},{"id":"b","name":"t"}]}`)
	long := parse(t, `{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"a","name":"t","arguments":{"b":1,"a":2}},{"type":"toolCall","id":"b","name":"t","arguments":{}}]}`)
	request := replay.Request{Model: replay.ModelRef{Provider: "p", ID: "m"}}
	want := deltas(t, t.Context(), scripted.New(long), request)
	if diff := cmp.Diff(want, deltas(t, t.Context(), scripted.New(short), request)); diff != "" {
		t.Errorf("deltas (-long +short):\n%s", diff)
	}
	last := `done {"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},` +
		`{"type":"toolCall","id":"a","name":"t","arguments":{"b":1,"a":2}},{"type":"toolCall","id":"b","name":"t","arguments":{}}],` +
		`"api":"scripted","provider":"p","model":"m","stopReason":"toolUse"}`
	if diff := cmp.Diff(last, want[len(want)-1]); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ raw, want string }{
		{`[]`, "read scripted response 2: "},
		{`{"calls":[{"arguments":{}}]}`, "read scripted response 2: call 1 has no name"},
		{`{"content":"text"}`, "read scripted response 2: "},
		{`{"content":[{"type":"text","text":"a","chunks":"a"}]}`, "read scripted response 2: "},
		{`{"text":1}`, "read scripted response 2: "},
		{`{`, "read scripted response 2: "},
	}
	for _, test := range tests {
		_, err := scripted.Parse([]json.RawMessage{[]byte(`{"text":"fine"}`), []byte(test.raw)})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s…", test.raw, err, test.want)
		}
	}
}

// TestPlace: which response comes next follows from the answers on the path.
func TestPlace(t *testing.T) {
	answer := func(stop string) transcript.Message {
		return transcript.Message{Role: transcript.Assistant, StopReason: stop}
	}
	tests := []struct {
		name    string
		history []transcript.Message
		want    string
	}{
		{"nothing yet", nil, "one"},
		{"two answers", []transcript.Message{answer("stop"), transcript.UserText("and?"), answer("toolUse")}, "three"},
		{"a failed one counts", []transcript.Message{answer("error")}, "two"},
		{"an aborted one was not given", []transcript.Message{answer("stop"), answer("aborted")}, "two"},
		{"unless the script says so", []transcript.Message{answer("stop"), answer("stop"), answer("stop"), answer("aborted")}, "five"},
		{"beyond the end", []transcript.Message{answer("stop"), answer("stop"), answer("stop"), answer("aborted"), answer("stop")}, scripted.Exhausted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := scripted.New(parse(t, `{"text":"one"}`, `{"text":"two"}`, `{"text":"three"}`, `{"text":"four","stopReason":"aborted"}`, `{"text":"five"}`))
			got := deltas(t, t.Context(), m, replay.Request{Messages: test.history})
			if last := got[len(got)-1]; !strings.Contains(last, test.want) {
				t.Errorf("got %s, want %s", last, test.want)
			}
		})
	}
}

// TestIDs: calls without an id get one that neither the script nor the history
// has, and a resumed run makes the same ones.
func TestIDs(t *testing.T) {
	responses := []string{`{"calls":[{"name":"t"},{"name":"t","id":"call_2_1"}]}`, `{"calls":[{"name":"t"},{"name":"t"}]}`}
	history := []transcript.Message{{
		Role: transcript.Assistant, StopReason: "toolUse",
		Content: []transcript.Block{{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: "call_2_2", Name: "t"}}},
	}}
	want := []string{"call_2_1_2", "call_2_2_2"}
	for range 2 {
		m := scripted.New(parse(t, responses...))
		var ids []string
		for d, err := range m.Stream(t.Context(), replay.Request{Messages: history}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind == loop.ToolCallEnd {
				ids = append(ids, d.Call.ID)
			}
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
	}
}

// TestAbort: what was streamed stays, what was not started is not there.
func TestAbort(t *testing.T) {
	tests := []struct {
		name  string
		after int // deltas
		want  string
	}{
		{"before the start", 0, `"content":[]`},
		{"between two chunks", 3, `"content":[{"type":"text","text":"one "}]`},
		{"inside a call", 6, `"content":[{"type":"text","text":"one two"},{"type":"toolCall","id":"a","name":"t","arguments":{}}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := scripted.New(parse(t, `{"content":[{"type":"text","text":"one two","chunks":["one ","two"]},{"type":"toolCall","id":"a","name":"t","arguments":{"n":1}}]}`))
			if test.after == 0 {
				cancel()
			}
			n := 0
			var final *transcript.Message
			for d := range m.Stream(ctx, replay.Request{}) {
				final = d.Final
				if n++; n == test.after {
					cancel()
				}
			}
			got := string(transcript.AppendMessage(nil, final))
			if !strings.Contains(got, test.want) || !strings.Contains(got, `"stopReason":"aborted","errorMessage":"Request was aborted"`) {
				t.Errorf("got %s, want %s, aborted", got, test.want)
			}
		})
	}
}

// FuzzParse: any script is read or refused, and what is read can be played.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","calls":[{"name":"t"}]}`, `{"content":[{"type":"text","text":"ab","chunks":["a","b"]}]}`,
		`{"throw":"x"}`, `{"content":[{"type":"toolCall"}]}`, `{"content":[null,1,{}]}`, `{"usage":{"input":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		responses, err := scripted.Parse([]json.RawMessage{raw})
		if err != nil {
			return
		}
		m := scripted.New(responses)
		for range 2 {
			if lines := deltas(t, t.Context(), m, replay.Request{}); len(lines) == 0 {
				t.Error("an answer without an end")
			}
		}
	})
}
