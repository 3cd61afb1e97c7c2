package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/verify"
)

// choose gives a number below n.
type choose func(n int) int

// tree is a made-up session: entries that hang on earlier ones.
type tree struct {
	lines   []string
	parents []int       // -1 for roots
	forward map[int]int // roots that name an entry further down as their parent
}

// growTree makes a tree of n entries. One in forks entries hangs on another
// than the one before it; checkpoint tells whether compactions state tools.
func growTree(pick choose, n, forks int, checkpoint bool) tree {
	t := tree{forward: make(map[int]int)}
	for i := range n {
		parent := i - 1
		if i > 0 && pick(forks) == 0 {
			parent = pick(i)
			if pick(8) == 0 {
				parent = -1
			}
		}
		if parent < 0 && i > 0 && pick(2) == 0 {
			t.forward[i] = i + pick(min(n-i, 12))
		}
		t.add(parent, pick, checkpoint)
	}
	return t
}

func (t *tree) add(parent int, pick choose, checkpoint bool) {
	i := len(t.lines)
	head := fmt.Sprintf(`"id":"e%d","parentId":null`, i)
	switch {
	case parent >= 0:
		head = fmt.Sprintf(`"id":"e%d","parentId":"e%d"`, i, parent)
	case t.forward[i] > 0:
		head = fmt.Sprintf(`"id":"e%d","parentId":"e%d"`, i, t.forward[i])
	case i > 0 && pick(2) == 0:
		head = fmt.Sprintf(`"id":"e%d","parentId":"lost"`, i)
	}
	t.parents = append(t.parents, parent)
	if parent < 0 {
		t.lines = append(t.lines, message(head, `"role":"system","content":"p","toolsAdded":[`+tool("a", 0)+","+tool("b", 0)+`]`))
		return
	}
	t.lines = append(t.lines, randomEntry(head, i, pick, checkpoint))
}

func message(head, m string) string {
	return `{"type":"message",` + head + `,"message":{` + m + `}}`
}

func tool(name string, version int) string {
	return fmt.Sprintf(`{"name":%q,"description":"v%d","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}`, name, version)
}

func randomEntry(head string, i int, pick choose, checkpoint bool) string {
	name := func() string { return string(rune('a' + pick(4))) }
	id := func() string { return fmt.Sprintf("k%d", pick(6)) }
	switch pick(14) {
	case 0, 1:
		return message(head, fmt.Sprintf(`"role":"user","content":"say %d"`, pick(3)))
	case 2:
		return message(head, `"role":"system","content":"","toolsAdded":[`+tool(name(), pick(2))+`]`)
	case 3:
		return message(head, `"role":"system","content":"","toolsRemoved":[{"name":"`+name()+`"}]`)
	case 4, 5, 6:
		var calls []string
		for range 1 + pick(2) {
			calls = append(calls, fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":{"n":%s}}`, id(), name(), []string{"1", "2", `"x"`}[pick(3)]))
		}
		return message(head, `"role":"assistant","content":[`+strings.Join(calls, ",")+`],"stopReason":"`+[]string{"toolUse", "toolUse", "length", "error"}[pick(4)]+`"`)
	case 7, 8, 9:
		return message(head, fmt.Sprintf(`"role":"toolResult","toolCallId":%q,"toolName":%q,"content":[{"type":"text","text":"r%d"}],"isError":%v`, id(), name(), pick(2), pick(3) == 0))
	case 10:
		return message(head, fmt.Sprintf(`"role":"assistant","content":[{"type":"text","text":"t%d"}],"stopReason":"%s"`, pick(3), []string{"stop", "toolUse", "aborted"}[pick(3)]))
	case 11:
		system := ""
		if checkpoint {
			system = `,"systemMessage":{"role":"system","content":"p","toolsAdded":[` + tool("a", 0) + `]}`
		}
		return fmt.Sprintf(`{"type":"compaction",%s,"summary":"s","firstKeptEntryId":"e%d","tokensBefore":9%s}`, head, pick(i+1), system)
	case 12:
		return fmt.Sprintf(`{"type":"context_edit",%s,"targetId":"e%d","replacement":null}`, head, pick(i))
	}
	return fmt.Sprintf(`{"type":"label",%s,"targetId":"e%d","label":"l"}`, head, pick(i))
}

// file is the whole tree, or the entries of one path at their own lines.
func (t *tree) file(path []int) []byte {
	var b bytes.Buffer
	for i, line := range t.lines {
		if path == nil || slices.Contains(path, i) {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// parent is that of the whole file: it may stand further down.
func (t *tree) parent(i int) int {
	if at, ok := t.forward[i]; ok {
		return at
	}
	return t.parents[i]
}

func (t *tree) leaves() []int {
	inner := make(map[int]bool)
	for i := range t.parents {
		inner[t.parent(i)] = true
	}
	var leaves []int
	for i := range t.parents {
		if !inner[i] {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// path leads from the root to a leaf; ring is the lowest entry of the ring of
// parents that it comes from, -1 if it comes from a root.
func (t *tree) path(leaf int) (path []int, ring int) {
	at := leaf
	for ; at >= 0 && !slices.Contains(path, at); at = t.parent(at) {
		path = append(path, at)
	}
	if ring = -1; at >= 0 {
		ring = slices.Min(path[slices.Index(path, at):])
	}
	slices.Reverse(path)
	return path, ring
}

// rings gives the lowest line of each ring.
func (t *tree) rings() []int {
	lowest := make(map[int]bool)
	for i := range t.parents {
		if _, ring := t.path(i); ring >= 0 {
			lowest[ring+1] = true
		}
	}
	return slices.Sorted(maps.Keys(lowest))
}

// said is what two ways to check a tree must agree on.
type said struct {
	Rule, Subject string
	Line          int
	Severity      verify.Severity
}

// ofPaths keeps the findings that depend on the path alone: not those about
// links, nor those that a stronger finding on another path explains.
func ofPaths(findings []verify.Finding, active bool, into map[said]bool) {
	for _, f := range findings {
		switch f.Rule {
		case "parent-cycle", "interleaved-branches", "dangling-parent", "dangling-reference", "role-alternation", "empty-content",
			"reused-call-id", "executed-failed-turn", "stop-reason-mismatch":
			continue
		case "open-call":
			if !active {
				continue
			}
		case "missing-result":
			continue // see compareMissing
		}
		into[said{f.Rule, f.Subject, f.Line, f.Severity}] = true
	}
}

// worst drops what a worse finding about the same covers.
func worst(all map[said]bool) []said {
	var out []said
	for s := range all {
		covered := false
		for o := range all {
			covered = covered || o.Rule == s.Rule && o.Line == s.Line && o.Subject == s.Subject && o.Severity.Rank() > s.Severity.Rank()
		}
		if !covered {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b said) int {
		return strings.Compare(fmt.Sprintf("%06d %s %s", a.Line, a.Rule, a.Subject), fmt.Sprintf("%06d %s %s", b.Line, b.Rule, b.Subject))
	})
	return out
}

// compareWithPaths checks a tree as a whole and each of its paths alone.
func compareWithPaths(t testing.TB, tr tree) {
	t.Helper()
	whole, apart := make(map[said]bool), make(map[said]bool)
	result := check(t, "tree", tr.file(nil), verify.Options{})
	ofPaths(result.Findings, true, whole)
	leaves := tr.leaves()
	missing := make(map[int]map[string]bool) // by leaf
	for _, leaf := range leaves {
		path, ring := tr.path(leaf)
		if ring >= 0 {
			continue // no sequence can be checked in a ring
		}
		alone := check(t, "path", tr.file(path), verify.Options{}).Findings
		ofPaths(alone, leaf == len(tr.lines)-1, apart)
		missing[leaf] = missingOf(alone)
	}
	if diff := cmp.Diff(worst(apart), worst(whole)); diff != "" {
		t.Fatalf("paths one by one (-), the tree at once (+):\n%s\n%s", diff, numbered(tr))
	}
	compareMissing(t, tr, missing, missingOf(result.Findings))
	var found []int
	for _, f := range result.Findings {
		if f.Rule == "parent-cycle" {
			found = append(found, f.Line)
		}
	}
	if rings := tr.rings(); !slices.Equal(found, rings) {
		t.Fatalf("rings at lines %v, want %v\n%s", found, rings, numbered(tr))
	}
	if result.Summary.Branches != len(leaves) || result.Summary.Entries != len(tr.lines) {
		t.Fatalf("summary %+v of a tree with %d leaves", result.Summary, len(leaves))
	}
}

// missingOf gives the calls without a result, by line and id.
func missingOf(findings []verify.Finding) map[string]bool {
	calls := make(map[string]bool)
	for _, f := range findings {
		if f.Rule == "missing-result" {
			calls[fmt.Sprintf("%d %s", f.Line, f.Subject)] = true
		}
	}
	return calls
}

// compareMissing: what is missing on the live path is missing, and what is
// missing on every path that has the call; nothing that no path misses. A call
// that is answered on one abandoned branch and not on another may be either.
func compareMissing(t testing.TB, tr tree, missing map[int]map[string]bool, whole map[string]bool) {
	t.Helper()
	live := len(tr.lines) - 1
	some := make(map[string]bool)
	for _, calls := range missing {
		maps.Copy(some, calls)
	}
	for call := range whole {
		if !some[call] {
			t.Fatalf("call %s is missing in the tree and on no path\n%s", call, numbered(tr))
		}
	}
	for call := range some {
		var line int
		fmt.Sscan(call, &line)
		all, onLive := true, false
		for leaf, calls := range missing {
			if path, _ := tr.path(leaf); slices.Contains(path, line-1) {
				all = all && calls[call]
				onLive = onLive || leaf == live
			}
		}
		want := all
		if onLive {
			want = missing[live][call]
		} else if !all {
			continue
		}
		if whole[call] != want {
			t.Fatalf("call %s is missing in the tree: %v, want %v\n%s", call, whole[call], want, numbered(tr))
		}
	}
}

func numbered(tr tree) string {
	var b strings.Builder
	for i, line := range tr.lines {
		if i < 80 {
			fmt.Fprintf(&b, "%d\t%s\n", i+1, line)
		}
	}
	return b.String()
}

// TestTree compares the engine, which follows the file and takes branches up
// again, with a walk along every path of its own.
func TestTree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "pick") }
		n := rapid.IntRange(2, 40).Draw(rt, "entries")
		tr := growTree(pick, n, 1+pick(6), pick(2) == 0)
		compareWithPaths(t, tr)
	})
}

// TestLongTree does the same where paths are longer than the distance of two
// snapshots and leaves more than are kept.
func TestLongTree(t *testing.T) {
	rings := 0
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		tr := growTree(r.IntN, 700, 12, seed%2 == 0)
		compareWithPaths(t, tr)
		rings += len(tr.rings())
	}
	if rings == 0 {
		t.Error("no tree has a ring")
	}
}

// TestTreeIsJSON makes sure that the trees are what they seem to be.
func TestTreeIsJSON(t *testing.T) {
	tr := growTree(rand.New(rand.NewPCG(1, 2)).IntN, 300, 4, true)
	for i, line := range tr.lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("line %d: %s", i+1, line)
		}
	}
}

// TestNotesOfAWalk: a branch does not change what the bytes of a line show, even
// where a rule has looked at another line in between.
func TestNotesOfAWalk(t *testing.T) {
	lines := []string{
		message(`"id":"e1","parentId":null`, `"role":"user","content":"go"`),
		message(`"id":"e2","parentId":"e1"`, `"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"a","arguments":{"n":1}}],"stopReason":"toolUse"`),
		message(`"id":"e3","parentId":"e2"`, `"role":"toolResult","toolCallId":"c1","toolName":"a","content":[{"type":"text","text":"x"}],"isError":false`),
		message(`"id":"e4","parentId":"e3"`, `"role":"user","content":"on"`),
		message(`"id":"e5","parentId":"e4"`, `"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"a","arguments":{"n":90071992547409931}}],"stopReason":"toolUse"`),
		message(`"id":"e6","parentId":"e5"`, `"role":"toolResult","toolCallId":"c1","toolName":"a","content":[{"type":"text","text":"y"}],"isError":false`),
	}
	branch := message(`"id":"e7","parentId":"e4"`, `"role":"user","content":"another way"`)
	for name, file := range map[string][]string{"straight": lines, "branched": append(lines, branch)} {
		var at []int
		for _, f := range check(t, name, []byte(strings.Join(file, "\n")+"\n"), verify.Options{}).Findings {
			if f.Rule == "unsafe-integer" {
				at = append(at, f.Line)
			}
		}
		if !slices.Equal(at, []int{5}) {
			t.Errorf("%s: unsafe integers on lines %v, want 5", name, at)
		}
	}
}
