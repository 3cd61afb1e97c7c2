package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/transcript"
)

var index = regexp.MustCompile(`\[\d+\]`)

// few texts, so that the same message occurs several times.
var words = rapid.SampledFrom([]string{"yes", "no", "go on", "what is in a.txt?", "3 files\n2 folders"})

// message draws a message; calls are numbered, results answer any of them.
func message(t *rapid.T) transcript.Message {
	text := []transcript.Block{transcript.TextBlock(words.Draw(t, "text"))}
	switch rapid.IntRange(0, 5).Draw(t, "role") {
	case 0:
		m := transcript.Message{Role: transcript.System, Content: text}
		tool := rapid.SampledFrom([]string{"read", "bash", "grep"}).Draw(t, "tool")
		if rapid.Bool().Draw(t, "add") {
			m.ToolsAdded = []transcript.Tool{{Name: tool, Description: words.Draw(t, "description")}}
		} else {
			m.ToolsRemoved = []transcript.ToolRef{{Name: tool}}
		}
		return m
	case 1:
		return transcript.Message{Role: transcript.User, Content: text}
	case 2, 3:
		m := transcript.Message{Role: transcript.Assistant, Content: text, StopReason: transcript.StopEnd, Model: rapid.SampledFrom([]string{"m1", "m2"}).Draw(t, "model")}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.StopReason = transcript.StopToolUse
			m.Content = append(m.Content, transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{
				ID: callID.Draw(t, "id"), Name: rapid.SampledFrom([]string{"read", "bash"}).Draw(t, "name"),
				Arguments: json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"path":"a"}`, `{"path":"b","n":[1,2,{"x":null}]}`}).Draw(t, "arguments")),
			}})
		}
		return m
	}
	return transcript.Message{Role: transcript.ToolResult, Content: text, ToolCallID: callID.Draw(t, "id"), ToolName: "read", IsError: rapid.Bool().Draw(t, "error")}
}

// renamed gives the calls of a history other ids.
func renamed(ms []transcript.Message) []transcript.Message {
	ms = slices.Clone(ms)
	for i := range ms {
		ms[i].Content = slices.Clone(ms[i].Content)
		for k := range ms[i].Content {
			if c := ms[i].Content[k].Call; c != nil {
				call := *c
				call.ID = "x" + c.ID
				ms[i].Content[k].Call = &call
			}
		}
		if ms[i].ToolCallID != "" {
			ms[i].ToolCallID = "x" + ms[i].ToolCallID
		}
	}
	return ms
}

var callID = rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("c%d", rapid.IntRange(1, 6).Draw(t, "n")) })

// change edits a history at random: insert, drop, swap, edit.
func change(t *rapid.T, ms []transcript.Message) []transcript.Message {
	ms = slices.Clone(ms)
	for range rapid.IntRange(0, 6).Draw(t, "edits") {
		i := rapid.IntRange(0, len(ms)).Draw(t, "at")
		op := rapid.IntRange(0, 3).Draw(t, "op")
		switch {
		case op == 0 || i == len(ms):
			ms = slices.Insert(ms, i, message(t))
		case op == 1:
			ms = slices.Delete(ms, i, i+1)
		case op == 2:
			j := rapid.IntRange(0, len(ms)-1).Draw(t, "with")
			ms[i], ms[j] = ms[j], ms[i]
		default:
			ms[i] = message(t)
		}
	}
	return ms
}

// file writes messages as a transcript, its entries named with a prefix.
func file(prefix string, ms []transcript.Message) []byte {
	out := []byte(`{"type":"session","version":3,"id":"` + prefix + `","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/"}` + "\n")
	parent := ""
	for i := range ms {
		e := transcript.Entry{Type: transcript.TypeMessage, ID: fmt.Sprintf("%s%d", prefix, i), ParentID: parent, Message: &ms[i]}
		out = append(transcript.AppendEntry(out, &e), '\n')
		parent = e.ID
	}
	return out
}

// said is what messages say, call ids by position. It shares no code with the
// package: entries are decoded as plain JSON.
func said(t *rapid.T, entries []*transcript.Entry) []any {
	var list []any
	calls := map[string]string{}
	for i, e := range entries {
		raw := e.Raw
		if raw == nil {
			raw = transcript.AppendEntry(nil, e)
		}
		var entry struct {
			Message map[string]any `json:"message"`
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&entry); err != nil {
			t.Fatalf("entry %s: %v", raw, err)
		}
		m := entry.Message
		if id, ok := m["toolCallId"].(string); ok {
			m["toolCallId"] = calls[id]
		}
		if blocks, ok := m["content"].([]any); ok {
			n := 0
			for _, b := range blocks {
				block := b.(map[string]any)
				if id, ok := block["id"].(string); ok {
					calls[id] = fmt.Sprintf("call %d of message %d", n, i)
					n++
					delete(block, "id")
				}
			}
		}
		list = append(list, m)
	}
	return list
}

// The reported edits, applied to a, give b; the same seen from b; and nothing
// is reported exactly if both say the same.
func TestEditsGiveTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.SliceOfN(rapid.Custom(message), 0, 25).Draw(t, "a")
		a, b := file("a", ms), file("b", renamed(change(t, ms)))
		x, y := readRapid(t, "a", a), readRapid(t, "b", b)
		r, err := diff.Compare(t.Context(), x, y, ignoring())
		if err != nil {
			t.Fatal(err)
		}
		from, to := path(t, x), path(t, y)
		patch, err := r.Patch()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(said(t, to), said(t, patch.Apply(from))); d != "" {
			t.Fatalf("edits %+v give another history (-b +applied):\n%s", r.Edits, d)
		}
		if same := cmp.Equal(said(t, from), said(t, to)); same != r.Equal() {
			t.Fatalf("histories are the same: %v, reported %v:\n%v", same, r.Equal(), r.Changes)
		}
		if len(r.Edits) > 0 && len(r.Changes) == 0 {
			t.Fatalf("edits %+v without a change that says what they are", r.Edits)
		}
	})
}

func TestMirrorOfEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.SliceOfN(rapid.Custom(message), 0, 25).Draw(t, "a")
		a, b := file("a", ms), file("b", change(t, ms))
		there, err := diff.Compare(t.Context(), readRapid(t, "a", a), readRapid(t, "b", b), ignoring())
		if err != nil {
			t.Fatal(err)
		}
		back, err := diff.Compare(t.Context(), readRapid(t, "b", b), readRapid(t, "a", a), ignoring())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(sorted(there.Changes), sorted(mirrored(back.Changes))); d != "" {
			t.Fatalf("not mirrored:\n%s", d)
		}
	})
}

func readRapid(t *rapid.T, name string, content []byte) *diff.History {
	h, err := readAs(t.Context(), name, content, bytes.NewReader(content), transcript.Options{Scribble: true}, ignoring())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func path(t *rapid.T, h *diff.History) []*transcript.Entry {
	list, err := h.Path()
	if err != nil {
		t.Fatal(err)
	}
	return list
}
