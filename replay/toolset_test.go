package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// plainSet does what a ToolSet does with lists that it copies.
type plainSet struct {
	declared []replay.Declaration
	removed  []replay.Removal
}

func (s plainSet) index(name string) int {
	return slices.IndexFunc(s.declared, func(d replay.Declaration) bool { return d.Name == name })
}

func (s plainSet) apply(m *transcript.Message, line int, entry string) plainSet {
	s.declared, s.removed = slices.Clone(s.declared), slices.Clone(s.removed)
	for _, ref := range m.ToolsRemoved {
		if i := s.index(ref.Name); i >= 0 {
			s.declared = slices.Delete(s.declared, i, i+1)
			s.removed = append(s.removed, replay.Removal{Name: ref.Name, Line: line, Entry: entry})
		}
	}
	for _, tool := range m.ToolsAdded {
		s.removed = slices.DeleteFunc(s.removed, func(r replay.Removal) bool { return r.Name == tool.Name })
		d := replay.Declaration{Tool: tool, Line: line, Entry: entry}
		if i := s.index(tool.Name); i >= 0 {
			s.declared[i] = d
		} else {
			s.declared = append(s.declared, d)
		}
	}
	return s
}

func (s plainSet) replace(m *transcript.Message, line int, entry string) plainSet {
	next := plainSet{}
	if m != nil {
		next = next.apply(m, line, entry)
	}
	for _, r := range s.removed {
		if next.index(r.Name) < 0 {
			next.removed = append(next.removed, r)
		}
	}
	for _, d := range s.declared {
		if next.index(d.Name) < 0 {
			next.removed = append(next.removed, replay.Removal{Name: d.Name, Line: line, Entry: entry})
		}
	}
	return next
}

// TestToolSet: every version of a set is what copied lists would be, also after
// others were made of it, and Changes names what the lists say.
func TestToolSet(t *testing.T) {
	type version struct {
		set  replay.ToolSet
		want plainSet
	}
	names := func(n int) string { return fmt.Sprintf("tool_%d", n) }
	rapid.Check(t, func(t *rapid.T) {
		versions := []version{{}}
		for i := range rapid.IntRange(1, 40).Draw(t, "changes") {
			from := versions[rapid.IntRange(max(0, i-2), i).Draw(t, "from")]
			m := new(transcript.Message)
			for range rapid.IntRange(0, 12).Draw(t, "removed") {
				m.ToolsRemoved = append(m.ToolsRemoved, transcript.ToolRef{Name: names(rapid.IntRange(0, 30).Draw(t, "name"))})
			}
			for range rapid.IntRange(0, 12).Draw(t, "added") {
				m.ToolsAdded = append(m.ToolsAdded, transcript.Tool{Name: names(rapid.IntRange(0, 30).Draw(t, "name")), Description: fmt.Sprint(i)})
			}
			line, entry := i+1, fmt.Sprint("e", i)
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				versions = append(versions, version{from.set.Replace(m, line, entry), from.want.replace(m, line, entry)})
			case 1:
				versions = append(versions, version{from.set.Replace(nil, line, entry), from.want.replace(nil, line, entry)})
			default:
				versions = append(versions, version{from.set.Apply(m, line, entry), from.want.apply(m, line, entry)})
			}
		}
		for i, v := range versions {
			if diff := cmp.Diff(v.want.declared, v.set.Declared(), cmpopts.EquateEmpty()); diff != "" || v.set.Len() != len(v.want.declared) {
				t.Fatalf("version %d declares %d, -want +got:\n%s", i, v.set.Len(), diff)
			}
			if diff := cmp.Diff(v.want.removed, v.set.Removed(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("version %d removed, -want +got:\n%s", i, diff)
			}
			last := -1
			for _, d := range v.want.declared {
				got, ok := v.set.Lookup(d.Name)
				place, also := v.set.Place(d.Name)
				if !ok || !also || place <= last || !cmp.Equal(got, d) {
					t.Fatalf("version %d: %s is %+v at %d behind %d", i, d.Name, got, place, last)
				}
				last = place
			}
			for _, r := range v.want.removed {
				_, declared := v.set.Lookup(r.Name)
				if got, ok := v.set.LookupRemoved(r.Name); !ok || got != r || declared {
					t.Fatalf("version %d: %+v, want %+v", i, got, r)
				}
			}
		}
		a, b := rapid.SampledFrom(versions).Draw(t, "a"), rapid.SampledFrom(versions).Draw(t, "b")
		changes := a.set.Changes(b.set)
		for n := range 31 {
			x, inA := a.set.Lookup(names(n))
			y, inB := b.set.Lookup(names(n))
			if (inA != inB || !cmp.Equal(x, y)) && !slices.Contains(changes, names(n)) {
				t.Fatalf("%s is not among the changes %v", names(n), changes)
			}
		}
	})
}

// TestPrompt: every version of a prompt is what copied texts and sections
// would be.
func TestPrompt(t *testing.T) {
	type version struct {
		prompt   replay.Prompt
		content  []string
		sections []transcript.Section
	}
	rapid.Check(t, func(t *rapid.T) {
		versions := []version{{}}
		for i := range rapid.IntRange(1, 20).Draw(t, "changes") {
			v := versions[rapid.IntRange(max(0, i-2), i).Draw(t, "from")]
			v.sections = slices.Clone(v.sections)
			m := new(transcript.Message)
			if text := rapid.SampledFrom([]string{"", "one", "two\n\nthree"}).Draw(t, "content"); text != "" {
				m.Content = []transcript.Block{transcript.TextBlock(text)}
				v.content = append(slices.Clip(v.content), text)
			}
			for range rapid.IntRange(0, 8).Draw(t, "sections") {
				s := transcript.Section{Name: fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "name")), Removed: rapid.Bool().Draw(t, "gone")}
				if !s.Removed {
					s.Text = rapid.SampledFrom([]string{"", "text", "other"}).Draw(t, "text")
				}
				m.Sections = append(m.Sections, s)
				at := slices.IndexFunc(v.sections, func(have transcript.Section) bool { return have.Name == s.Name })
				switch {
				case s.Removed && at >= 0:
					v.sections = slices.Delete(v.sections, at, at+1)
				case s.Removed:
				case at >= 0:
					v.sections[at] = s
				default:
					v.sections = append(v.sections, s)
				}
			}
			v.prompt = v.prompt.Apply(m)
			versions = append(versions, v)
		}
		for i, v := range versions {
			content := strings.Join(v.content, "\n\n")
			text := content
			for _, s := range v.sections {
				text = strings.TrimPrefix(text+"\n\n"+s.Text, "\n\n")
				text = strings.TrimSuffix(text, "\n\n")
			}
			if v.prompt.Content() != content || v.prompt.Text() != text {
				t.Fatalf("version %d: %q, want %q", i, v.prompt.Text(), text)
			}
			if diff := cmp.Diff(v.sections, v.prompt.Sections(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("version %d sections, -want +got:\n%s", i, diff)
			}
		}
		a, b := rapid.SampledFrom(versions).Draw(t, "a"), rapid.SampledFrom(versions).Draw(t, "b")
		if same := a.prompt.Content() == b.prompt.Content(); same != (a.prompt.ContentSum() == b.prompt.ContentSum()) {
			t.Fatalf("contents %q and %q, sums do not say whether they are the same", a.prompt.Content(), b.prompt.Content())
		}
		changes := a.prompt.Changes(b.prompt)
		for n := range 21 {
			x, _, inA := a.prompt.Section(fmt.Sprint(n))
			y, _, inB := b.prompt.Section(fmt.Sprint(n))
			if (inA != inB || x != y) && !slices.Contains(changes, fmt.Sprint(n)) {
				t.Fatalf("section %d is not among the changes %v", n, changes)
			}
		}
	})
}

// TestSetsShare: a change of a long history costs what changes, not what is
// there.
func TestSetsShare(t *testing.T) {
	const n = 1 << 13
	var set replay.ToolSet
	var prompt replay.Prompt
	message := func(i int) *transcript.Message {
		return &transcript.Message{
			Content:    []transcript.Block{transcript.TextBlock("more")},
			ToolsAdded: []transcript.Tool{{Name: fmt.Sprint(i)}},
			Sections:   []transcript.Section{{Name: fmt.Sprint(i), Text: "text"}},
		}
	}
	for i := range n {
		set, prompt = set.Apply(message(i), i, ""), prompt.Apply(message(i))
	}
	one := message(n / 2)
	for what, change := range map[string]func(){
		"a declaration": func() { set.Apply(one, n, "") },
		"a checkpoint":  func() { set.Replace(one, n, "") },
		"a section":     func() { prompt.Apply(one) },
	} {
		if cost := testing.AllocsPerRun(20, change); cost > 160 {
			t.Errorf("%s allocates %.0f times", what, cost)
		}
	}
}

func BenchmarkToolSet(b *testing.B) {
	all := new(transcript.Message)
	for i := range 8 {
		all.ToolsAdded = append(all.ToolsAdded, transcript.Tool{Name: fmt.Sprintf("tool_%d", i), Description: "d"})
	}
	change := &transcript.Message{ToolsRemoved: []transcript.ToolRef{{Name: "tool_3"}}, ToolsAdded: []transcript.Tool{{Name: "more"}}}
	set := replay.ToolSet{}.Apply(all, 1, "e")
	for name, apply := range map[string]func(){
		"declare 8":       func() { replay.ToolSet{}.Apply(all, 1, "e") },
		"change one of 8": func() { set.Apply(change, 2, "f") },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				apply()
			}
		})
	}
}
