package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// account is what an observer says of a state, by name: tools, prompt, model,
// thinking, count, messages. What it cannot tell is not there.
type account map[string]string

// sighting is what an observer saw at the entry on a line: the state that the
// entry as leaf implies, or the state before it, which is that of its parent.
type sighting struct {
	line   int
	before bool
	facts  account

	// partial says that the observer takes the path for one whose beginning is
	// lost. It may do so only where replay sees that, too.
	partial bool
}

// observer is one way to compute the state at every entry of a file. An entry
// of which it says nothing is not compared.
type observer struct {
	name    string
	observe func(file []byte) ([]sighting, error)

	// passesOver says of which entries it has nothing to say, nil if it always has.
	passesOver func(f *knownFile, i int) bool
}

// comparison collects where an observer disagrees.
type comparison struct {
	observer observer
	files    int
	sights   int
	open     int // of them not compared
	wrong    int
	kinds    map[string]int // of small files that show it
}

type comparisons []*comparison

func newComparisons(t *testing.T) comparisons {
	t.Helper()
	var all comparisons
	for _, o := range observers(t) {
		all = append(all, &comparison{observer: o, kinds: make(map[string]int)})
	}
	return all
}

func (all comparisons) compare(t *testing.T, name string, file []byte) {
	t.Helper()
	f, err := readFile(file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, c := range all {
		c.files++
		d, err := c.disagreement(f)
		if err != nil {
			t.Fatalf("%s, %s: %v", name, c.observer.name, err)
		}
		if d != nil {
			c.show(t, name, file)
		}
	}
}

func (all comparisons) finish(t *testing.T) {
	t.Helper()
	for _, c := range all {
		t.Logf("%s: %d sights of %d files, %d of them open", c.observer.name, c.sights, c.files, c.open)
		if c.wrong > 0 {
			t.Errorf("%s disagrees with State in %d files", c.observer.name, c.wrong)
		}
		for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
			t.Logf("%4d %s", c.kinds[kind], kind)
		}
	}
}

// shownDisagreements is how many files of an observer are shown, unless all
// are written to a folder.
const shownDisagreements = 5

// show makes a file with a disagreement smaller and shows it.
func (c *comparison) show(t *testing.T, name string, file []byte) {
	t.Helper()
	c.wrong++
	if c.wrong > shownDisagreements && *oneFoldOut == "" {
		return
	}
	probe := &comparison{observer: c.observer} // counts for itself
	small := smallest(file, func(file []byte) bool { return probe.find(file) != nil })
	d := probe.find(small)
	kind := d.fact + ": " + shapeOf(small)
	c.kinds[kind]++
	if *oneFoldOut != "" && c.kinds[kind] == 1 {
		out := filepath.Join(*oneFoldOut, fmt.Sprintf("%s-%03d.jsonl", c.observer.name, len(c.kinds)))
		if err := os.WriteFile(out, small, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s\n%s", out, d, kind)
	}
	if c.wrong <= shownDisagreements {
		t.Errorf("%s and %s, made smaller: %s\n%s", name, c.observer.name, d, small)
	}
}

// find is disagreement for a file that may be anything.
func (c *comparison) find(file []byte) *disagreement {
	f, err := readFile(file)
	if err != nil {
		return nil
	}
	d, err := c.disagreement(f)
	if err != nil {
		return nil
	}
	return d
}

// disagreement is the first difference between State and an observer.
type disagreement struct {
	line      int
	before    bool
	fact      string
	want, got string
}

func (d *disagreement) String() string {
	where := "after"
	if d.before {
		where = "before"
	}
	return fmt.Sprintf("%s %s line %d:\n\tState %s\n\tother %s", d.fact, where, d.line, d.want, d.got)
}

// disagreement looks for a difference at every entry that the observer saw.
func (c *comparison) disagreement(f *knownFile) (*disagreement, error) {
	sights, err := c.observer.observe(f.file)
	if err != nil {
		return nil, err
	}
	for _, s := range sights {
		c.sights++
		i, ok := f.at[s.line]
		switch {
		case !ok: // of a line that holds several entries, or that only the observer can read
		case s.partial && f.whole(i):
			return &disagreement{line: s.line, before: s.before, fact: "partial", want: "the path is whole", got: "it is not"}, nil
		case c.observer.passesOver != nil && c.observer.passesOver(f, i):
			c.open++
		default:
			if d := f.differs(i, s); d != nil {
				return d, nil
			}
		}
	}
	return nil, nil
}

// knownFile is a file and what State says of it.
type knownFile struct {
	file    []byte
	tree    *replay.Tree
	at      map[int]int // place of the entry on a line, of lines with one entry
	facts   map[int]account
	damaged bool // what is lost may have declared something
}

func readFile(file []byte) (*knownFile, error) {
	f := &knownFile{file: file, at: make(map[int]int), facts: make(map[int]account)}
	tree, err := replay.Read(func(yield func(transcript.Line, error) bool) {
		for l, err := range transcript.Lines(bytes.NewReader(file), transcript.Options{}) {
			f.damaged = f.damaged || l.Damage != transcript.Intact
			if !yield(l, err) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	f.tree = tree
	glued := make(map[int]bool)
	for i := range tree.Entries {
		line := tree.Entries[i].Line
		if _, more := f.at[line]; more {
			glued[line] = true
		}
		f.at[line] = i
	}
	maps.DeleteFunc(f.at, func(line, _ int) bool { return glued[line] })
	return f, nil
}

func (f *knownFile) state(i int) account {
	if f.facts[i] == nil {
		f.facts[i] = factsAt(f.tree.State(i))
	}
	return f.facts[i]
}

// differs compares what was seen at entry i.
func (f *knownFile) differs(i int, s sighting) *disagreement {
	if s.before {
		i = f.tree.Parent(i)
	}
	want := f.state(i)
	for _, fact := range slices.Sorted(maps.Keys(s.facts)) {
		if got := s.facts[fact]; got != want[fact] && (fact != "tools" || sameJSON(got) != sameJSON(want[fact])) {
			return &disagreement{line: s.line, before: s.before, fact: fact, want: want[fact], got: got}
		}
	}
	return nil
}

// rootless reports whether the parents of entry i end in a ring.
func (f *knownFile) rootless(i int) bool {
	for range f.tree.Entries {
		if i < 0 {
			return false
		}
		i = f.tree.Parent(i)
	}
	return i >= 0
}

// whole reports whether nothing of a path is known to be lost.
func (f *knownFile) whole(i int) bool {
	if path := f.tree.Path(i); !f.damaged && len(path) > 0 {
		return f.tree.Parent(path[0]) < 0 && f.tree.Entries[path[0]].ParentID == ""
	}
	return false
}

func factsAt(s *replay.State) account {
	var messages []string
	for _, m := range s.Messages() {
		messages = append(messages, messageFact(string(m.Role), textOf(&m)))
	}
	a := factsOfPath(&s.Facts)
	a["count"], a["messages"] = fmt.Sprint(len(messages)), strings.Join(messages, " ")
	return a
}

func factsOfPath(f *replay.Facts) account {
	var model string
	if m := f.Model(); m != (replay.ModelRef{}) {
		model = m.Provider + "/" + m.ID
	}
	return account{"tools": toolsFact(f.ToolSet()), "prompt": f.SystemPrompt(), "model": model, "thinking": f.Thinking()}
}

func textOf(m *transcript.Message) string {
	if m.Bash != nil {
		return m.Bash.Command
	}
	return m.Text()
}

func messageFact(role, text string) string { return fmt.Sprintf("%s:%q", role, text) }

func toolsFact(set replay.ToolSet) string {
	b := []byte{'['}
	for i, tool := range set.Tools() {
		if i > 0 {
			b = append(b, ',')
		}
		b = transcript.AppendTool(b, &tool)
	}
	return string(append(b, ']'))
}

// sameJSON writes equal JSON values equally: the order of keys, escapes and
// white space are the writer's.
func sameJSON(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err.Error()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// smallest leaves out lines as long as the rest still fails.
func smallest(file []byte, fails func([]byte) bool) []byte {
	lines := bytes.SplitAfter(file, []byte("\n"))
	for size := len(lines) / 2; size > 0; {
		shorter := false
		for at := 1; at+size <= len(lines); { // the header stays
			if rest := slices.Concat(lines[:at], lines[at+size:]); fails(bytes.Join(rest, nil)) {
				lines, shorter = rest, true
			} else {
				at++
			}
		}
		if !shorter || size > 1 {
			size /= 2
		}
	}
	return bytes.Join(lines, nil)
}

// shapeOf lists the kinds of the entries of a file and how they are linked.
func shapeOf(file []byte) string {
	f, err := readFile(file)
	if err != nil {
		return err.Error()
	}
	var kinds []string
	for i := range f.tree.Entries {
		e := &f.tree.Entries[i]
		kind := e.Type
		if e.Message != nil {
			kind = string(e.Message.Role)
		}
		switch p := f.tree.Parent(i); {
		case p < 0 && e.ParentID != "":
			kind += "(dangling)"
		case p >= i:
			kind += "(forward)"
		case p < 0 && i > 0:
			kind += "(root)"
		case p != i-1:
			kind += "(branch)"
		}
		if e.ID == "" {
			kind += "(no id)"
		} else if last, _ := f.tree.Find(e.ID); last != i {
			kind += "(id taken later)"
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}
