package replay_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

func fixture(t testing.TB, name string) *replay.Tree {
	t.Helper()
	return readTree(t, filepath.Join("testdata", name+".jsonl"))
}

// outline is the context in one line: entry ids with the first letter of their
// messages' roles.
func outline(s *replay.State) string {
	var parts []string
	for _, item := range s.Context() {
		parts = append(parts, fmt.Sprintf("%s:%.1s", item.Entry, item.Message.Role))
	}
	return strings.Join(parts, " ")
}

func TestAt(t *testing.T) {
	for _, tt := range []struct{ file, cut, leaf, want string }{
		{"turns", "end", "", "line 12 entry a11 turn 3 tools [read] removed [bash]"},
		{"turns", "line:1", "", "line 0 entry  turn 0 tools [] removed []"},
		{"turns", "3", "", "line 3 entry a2 turn 0 tools [read bash] removed []"},
		{"turns", "turn:1", "", "line 4 entry a3 turn 1 tools [read bash] removed []"},
		{"turns", "turn:2", "", "line 7 entry a6 turn 2 tools [read bash] removed []"},
		{"turns", "turn:3", "", "line 11 entry a10 turn 2 tools [read] removed [bash]"},
		{"turns", "entry:a9", "", "line 10 entry a9 turn 2 tools [read] removed [bash]"},
		{"turns", "turn:4", "", "cut turn:4: the path has 3 turns"},
		{"turns", "line:13", "", "cut line:13: the file has 12 lines"},
		{"turns", "entry:zz", "", "cut entry:zz: no entry has this id"},
		{"forks", "end", "zz", "leaf zz: no entry has this id"},
		{"forks", "entry:b4", "b7", "cut entry:b4: the entry is not on the path to the leaf"},
		{"forks", "line:5", "b7", "line 4 entry b3 turn 1 tools [] removed []"},
		{"odd", "line:11", "", "line 10 entry r10 turn 1 tools [] removed []"},
	} {
		t.Run(tt.file+" "+tt.cut+" "+tt.leaf, func(t *testing.T) {
			cut, err := replay.ParseCut(tt.cut)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(fixture(t, tt.file).At(cut, tt.leaf)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func describe(s *replay.State, p replay.Position, err error) string {
	if err != nil {
		return err.Error()
	}
	var tools, removed []string
	for _, d := range s.Tools() {
		tools = append(tools, d.Name)
	}
	for _, r := range s.Removed() {
		removed = append(removed, r.Name)
	}
	return fmt.Sprintf("line %d entry %s turn %d tools %v removed %v", p.Line, p.Entry, p.Turn, tools, removed)
}

func TestParseCutRefuses(t *testing.T) {
	for _, s := range []string{"", "turn:", "turn:0", "line:-1", "entry:", "0", "x", "line:1x", "page:3"} {
		if c, err := replay.ParseCut(s); err == nil {
			t.Errorf("ParseCut(%q) = %v", s, c)
		}
	}
}

func TestBranches(t *testing.T) {
	tree := fixture(t, "forks")
	want := map[string]string{
		"b3": "b1:u b2:a b3:u",
		"b6": "b1:u b4:a b5:b b6:u",
		"b7": "b1:u b2:a b3:u b7:a",
		"b8": "b8:u",
	}
	got := map[string]string{}
	for i, s := range tree.All() {
		if _, ok := want[tree.Entries[i].ID]; ok {
			got[tree.Entries[i].ID] = outline(s)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A file may be wrong in every way: the fold ends and says what it implies.
func TestOddTree(t *testing.T) {
	tree := fixture(t, "odd")
	var got []string
	for i, s := range tree.All() {
		got = append(got, tree.Entries[i].ID+" = "+outline(s))
		if alone := outline(tree.State(i)); alone != outline(s) {
			t.Errorf("entry %s: alone %s", tree.Entries[i].ID, alone)
		}
	}
	want := []string{
		"r1 = r2:u r1:u", "r2 = r1:u r2:u", "r3 = r3:u", "r4 = r4:u",
		// r5's parent is below it and comes from the second r5: links go to
		// the last entry of an id, so the first r5 is reached by nothing.
		"r5 = r6:c r9:a r5:u", "r5 = r4:u r5:u", "r6 = r6:c", "r9 = r6:c r9:a", "r10 = r6:c r9:a", " = ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVersion1(t *testing.T) {
	tree := fixture(t, "version1")
	s := tree.State(len(tree.Entries) - 1)
	if got, want := outline(s), "line-5:c line-4:u line-6:c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if tree.Knowledge() != replay.Unknown {
		t.Errorf("knowledge %s", tree.Knowledge())
	}
}

func TestNewerFormat(t *testing.T) {
	lines := transcript.Lines(strings.NewReader(`{"type":"session","version":3,"id":"s","generator":{"name":"turnlog","version":"9","format":2}}`+"\n"), transcript.Options{})
	var newer *replay.NewerFormatError
	if _, err := replay.Read(lines); !errors.As(err, &newer) {
		t.Errorf("got %v, want a NewerFormatError", err)
	}
}

// The digest is written into files: it may never change for the same request.
func TestDigestIsStable(t *testing.T) {
	s := fixture(t, "turns").State(10)
	r := s.Request()
	r.Params, r.MaxTokens = []byte(`{"temperature": 0}`), 100
	const want = "v1:sha256:"
	got := r.Project(replay.ModeNone).Digest()
	if !strings.HasPrefix(got, want) {
		t.Fatalf("got %s", got)
	}
	record := &transcript.Request{Model: "m", Thinking: "off", Params: []byte(`{"temperature":0}`), MaxTokens: 100, Mode: "none"}
	if again, n, ok := s.RequestDigest(record); again != got || !ok || n != 6 {
		t.Errorf("recomputed %s over %d messages, %v", again, n, ok)
	}
	record.MaxTokens++
	if other, _, _ := s.RequestDigest(record); other == got {
		t.Error("another limit, same digest")
	}
}
