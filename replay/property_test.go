package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// history draws a path of entries of every kind, sound or not.
func history(t *rapid.T) []transcript.Entry {
	n := rapid.IntRange(0, 40).Draw(t, "entries")
	entries := make([]transcript.Entry, 0, n)
	for i := range n {
		e := transcript.Entry{ID: fmt.Sprintf("e%d", i), Line: i + 2}
		if i > 0 {
			e.ParentID = entries[i-1].ID
		}
		drawKind(t, &e, i)
		entries = append(entries, e)
	}
	return entries
}

func drawKind(t *rapid.T, e *transcript.Entry, i int) {
	earlier := func(label string) string { return fmt.Sprintf("e%d", rapid.IntRange(-1, i).Draw(t, label)) }
	switch rapid.IntRange(0, 13).Draw(t, "kind") {
	case 0:
		e.Type, e.Compaction = transcript.TypeCompaction, &transcript.Compaction{Summary: "s", FirstKeptEntryID: earlier("kept")}
		if rapid.Bool().Draw(t, "checkpoint") {
			m := systemMessage(t)
			e.Compaction.SystemMessage = &m
		}
	case 1:
		e.Type, e.Edit = transcript.TypeContextEdit, &transcript.ContextEdit{TargetID: earlier("target")}
		if rapid.Bool().Draw(t, "replace") {
			e.Edit.Replacement = &transcript.Message{Content: []transcript.Block{transcript.TextBlock("edited")}}
		}
	case 2:
		e.Type, e.Branch = transcript.TypeBranchSummary, &transcript.BranchSummary{FromID: "root", Summary: "left"}
	case 3:
		e.Type = transcript.TypeCustom
		e.Custom = &transcript.Custom{CustomType: transcript.CustomRequest, Data: []byte(`{"attempt":1}`)}
	case 4:
		e.Type, e.Model = transcript.TypeModelChange, &transcript.ModelChange{Provider: "p", ModelID: "m2"}
	case 5, 6:
		e.Type = transcript.TypeMessage
		m := systemMessage(t)
		e.Message = &m
	default:
		e.Type = transcript.TypeMessage
		m := message(t)
		e.Message = &m
	}
}

func systemMessage(t *rapid.T) transcript.Message {
	m := transcript.Message{Role: transcript.System, Content: []transcript.Block{transcript.TextBlock(rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "content"))}}
	names := []string{"read", "bash", "grep"}
	for _, name := range names {
		if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
			m.ToolsRemoved = append(m.ToolsRemoved, transcript.ToolRef{Name: name})
		}
		if rapid.IntRange(0, 2).Draw(t, "add") == 0 {
			d := rapid.SampledFrom([]string{"d", "d2"}).Draw(t, "description")
			m.ToolsAdded = append(m.ToolsAdded, transcript.Tool{Name: name, Description: d, Parameters: []byte(`{"type":"object"}`)})
		}
	}
	if rapid.Bool().Draw(t, "section") {
		m.Sections = []transcript.Section{{Name: "s", Text: "t", Removed: rapid.Bool().Draw(t, "gone")}}
	}
	return m
}

func message(t *rapid.T) transcript.Message {
	id := rapid.SampledFrom([]string{"k1", "k2", "k3"})
	switch rapid.IntRange(0, 4).Draw(t, "role") {
	case 0:
		return transcript.UserText(rapid.SampledFrom([]string{"", "hi", "<b>&"}).Draw(t, "text"))
	case 1:
		return transcript.Message{Role: transcript.ToolResult, ToolCallID: id.Draw(t, "answers"), ToolName: "read", Content: []transcript.Block{transcript.TextBlock("ok")}}
	case 2:
		return transcript.Message{Role: transcript.CustomRole, Content: []transcript.Block{transcript.TextBlock("note")}}
	case 3:
		return transcript.Message{Role: transcript.BashExecution, Bash: &transcript.Bash{Command: "ls", ExcludeFromContext: rapid.Bool().Draw(t, "hidden")}}
	}
	m := transcript.Message{Role: transcript.Assistant, Provider: "p", Model: "m", StopReason: rapid.SampledFrom([]string{"stop", "toolUse", "error", "aborted"}).Draw(t, "stop")}
	for range rapid.IntRange(0, 2).Draw(t, "calls") {
		m.Content = append(m.Content, transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: id.Draw(t, "id"), Name: "read", Arguments: []byte(`{"path": "a"}`)}})
	}
	return m
}

func fold(entries []transcript.Entry) *replay.State {
	s := new(replay.State)
	for i := range entries {
		s.Apply(&entries[i])
	}
	return s
}

// facts is everything that a state says.
type facts struct {
	Leaf, System, Thinking string
	Turn                   int
	Tools                  []replay.Declaration
	Removed                []replay.Removal
	Context                []replay.Item
	Open                   []transcript.Call
	Model                  replay.ModelRef
	Request                replay.Request
	Digest                 string
}

func factsOf(s *replay.State) facts {
	r := s.Request().Project(replay.ModeNone)
	return facts{
		Leaf: s.Leaf(), System: s.SystemPrompt(), Thinking: s.Thinking(), Turn: s.Turn(), Tools: s.Tools(), Removed: s.Removed(),
		Context: s.Context(), Open: s.OpenCalls(), Model: s.Model(), Request: r, Digest: r.Digest(),
	}
}

var equal = []cmp.Option{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(replay.Request{})}

// TestFoldOfPrefixes: folding a prefix, looking at it in every way, and folding
// the rest gives what folding all at once gives; and a clone of the prefix
// neither disturbs the original nor is disturbed by it.
func TestFoldOfPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := history(t)
		at := rapid.IntRange(0, len(entries)).Draw(t, "cut")
		want := factsOf(fold(entries))
		s := fold(entries[:at])
		prefix := factsOf(s)
		clone := s.Clone()
		for i := at; i < len(entries); i++ {
			s.Apply(&entries[i])
			factsOf(s)
		}
		if diff := cmp.Diff(want, factsOf(s), equal...); diff != "" {
			t.Fatalf("cut at %d (-all at once +in two steps):\n%s", at, diff)
		}
		if diff := cmp.Diff(prefix, factsOf(clone), equal...); diff != "" {
			t.Fatalf("clone at %d (-before +after):\n%s", at, diff)
		}
		for i := at; i < len(entries); i++ {
			clone.Apply(&entries[i])
		}
		if diff := cmp.Diff(want, factsOf(clone), equal...); diff != "" {
			t.Fatalf("clone from %d (-all at once +clone):\n%s", at, diff)
		}
	})
}

// TestProjectionIsIncremental: what the state keeps of a projection is what
// projecting the messages afresh gives, and no projected request leaves a call
// without a result.
func TestProjectionIsIncremental(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := history(t)
		s := new(replay.State)
		for i := range entries {
			s.Apply(&entries[i])
			r := s.Request()
			kept := r.Project(replay.ModeNone)
			fresh := replay.Request{Model: r.Model, Thinking: r.Thinking, Messages: slices.Clone(r.Messages)}.Project(replay.ModeNone)
			if diff := cmp.Diff(fresh, kept, equal...); diff != "" {
				t.Fatalf("entry %d (-fresh +kept):\n%s", i, diff)
			}
			if fresh.Digest() != kept.Digest() {
				t.Fatalf("entry %d: digests differ", i)
			}
			for _, m := range []replay.Mode{replay.ModeNone, replay.ModeAdditions, replay.ModeChanges} {
				checkAnswered(t, r.Project(m))
			}
		}
	})
}

func checkAnswered(t *rapid.T, r replay.Request) {
	open := map[string]bool{}
	for _, m := range r.Messages {
		switch m.Role {
		case transcript.Assistant, transcript.User:
			if len(open) > 0 {
				t.Fatalf("calls %v have no result before the next %s message", open, m.Role)
			}
			for _, c := range m.Calls() {
				open[c.ID] = true
			}
		case transcript.ToolResult:
			delete(open, m.ToolCallID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls %v have no result at the end", open)
	}
}

// TestSent: a chain of digests beside the facts knows the same request digests
// as a state that has the messages.
func TestSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := history(t)
		first := func(id string) (int, bool) {
			at := slices.IndexFunc(entries, func(e transcript.Entry) bool { return e.ID == id })
			return at, at >= 0
		}
		full, facts, sent := new(replay.State), replay.NewFacts(first), replay.Sent{}
		for i := range entries {
			full.Apply(&entries[i])
			facts.Apply(&entries[i])
			sent.Apply(&facts, &entries[i])
			if sent.Stale(&facts) {
				if err := sent.Again(&facts, func(at int) (*transcript.Entry, error) { return &entries[at], nil }); err != nil {
					t.Fatal(err)
				}
			}
			record := &transcript.Request{Model: "m", Mode: "none", MaxTokens: 5}
			want, n, _ := full.RequestDigest(record)
			got, m, ok := sent.Digest(&facts, record)
			if !ok || got != want || n != m {
				t.Fatalf("entry %d: %s of %d messages (known: %v), the state has %s of %d", i, got, m, ok, want, n)
			}
			if full.Turn() != facts.Turn() || full.SystemPrompt() != facts.SystemPrompt() || len(full.OpenCalls()) != len(facts.OpenCalls()) {
				t.Fatalf("entry %d: the facts say something else", i)
			}
		}
	})
}
