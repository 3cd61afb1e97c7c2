package tree_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// follower checks that a walk leads to every entry along its own path.
type follower struct {
	t       *rapid.T
	links   *tree.Linker
	path    []uint32
	marks   []int
	most    int
	entered map[uint32]bool
	last    uint32
}

func (f *follower) Root() { f.path = nil }

func (f *follower) Mark() {
	f.marks = append(f.marks, len(f.path))
	f.most = max(f.most, len(f.marks))
}

func (f *follower) Rewind() {
	f.path = f.path[:f.marks[len(f.marks)-1]]
	f.marks = f.marks[:len(f.marks)-1]
}

func (f *follower) Enter(i uint32) error {
	f.path = append(f.path, i)
	if f.entered[i] || !slices.Equal(f.path, f.links.Path(i)) {
		f.t.Fatalf("entry %d again (%v) or by %v, its path is %v", i, f.entered[i], f.path, f.links.Path(i))
	}
	f.entered[i], f.last = true, i
	return nil
}

func (f *follower) Leaf(i uint32) {
	if i != f.last || f.links.HasChild(i) {
		f.t.Fatalf("entry %d is no leaf", i)
	}
}

// TestWalk: every entry that has a root is entered once, along its own path,
// with few states to remember; those of rings are not. Parents may come later,
// be lost, or have an id that is used again.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(rt, "entries")
		links := tree.New()
		for i := range n {
			e := &transcript.Entry{ID: fmt.Sprintf("e%d", i), Line: i + 1}
			if i > 0 {
				e.ParentID = fmt.Sprintf("e%d", i-1)
			}
			switch rapid.IntRange(0, 11).Draw(rt, "kind") {
			case 0:
				e.ParentID = ""
			case 1:
				e.ParentID = "lost"
			case 2, 3, 4:
				e.ParentID = fmt.Sprintf("e%d", rapid.IntRange(0, n-1).Draw(rt, "parent"))
			case 5:
				e.ID = fmt.Sprintf("e%d", rapid.IntRange(0, i).Draw(rt, "id"))
			}
			links.Add(&tree.Record{Entry: e})
		}
		links.Settle()
		f := &follower{t: rt, links: links, entered: make(map[uint32]bool)}
		if err := links.Walk(uint32(n-1), f); err != nil {
			rt.Fatal(err)
		}
		for i := range uint32(n) {
			root := links.Path(i)[0]
			if rooted := links.Parent(root) == tree.None; f.entered[i] != rooted {
				rt.Fatalf("entry %d, with a root: %v, was entered: %v", i, rooted, f.entered[i])
			}
		}
		if len(f.marks) != 0 || f.most > 9 {
			rt.Fatalf("%d marks are left, there were up to %d of %d entries", len(f.marks), f.most, n)
		}
	})
}

// TestLinkIsWhatIsKnown: a stream says what it cannot know yet, a whole file
// corrects it.
func TestLinkIsWhatIsKnown(t *testing.T) {
	links := tree.New()
	add := func(id, parent string) tree.Link {
		return links.Add(&tree.Record{Entry: &transcript.Entry{ID: id, ParentID: parent}})
	}
	add("a", "")
	early, child := add("b", "c"), add("d", "a")
	again := add("a", "")
	add("c", "a")
	if !early.Lost || early.Parent != tree.None || child.Parent != 0 || again.Duplicate != 0 {
		t.Errorf("%+v %+v %+v", early, child, again)
	}
	if !links.Settle() {
		t.Error("nothing moved")
	}
	if got := []uint32{links.Parent(1), links.Parent(2), links.Parent(4)}; !slices.Equal(got, []uint32{4, 3, 3}) {
		t.Errorf("parents %v", got)
	}
}
