package verify

import (
	"hash/maphash"
	"testing"

	"pgregory.net/rapid"
)

// TestTable compares the questions about ancestors with a walk.
func TestTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := newTable(maphash.MakeSeed())
		uses := newOccurrences(table)
		parents := []uint32{}
		keys := []uint64{}
		n := rapid.IntRange(1, 200).Draw(rt, "entries")
		for i := range n {
			parent := none
			if i > 0 && rapid.IntRange(0, 9).Draw(rt, "root") > 0 {
				parent = uint32(rapid.IntRange(max(0, i-rapid.SampledFrom([]int{1, 1, 1, 50}).Draw(rt, "back")), i-1).Draw(rt, "parent"))
			}
			parents = append(parents, parent)
			keys = append(keys, uint64(rapid.IntRange(1, 5).Draw(rt, "key")))
			table.add(row{id: uint64(i) + 1, parent: parent})
			uses.add(keys[i], uint32(i))
		}
		for b := range uint32(n) {
			above := make(map[uint32]uint32) // ancestor to its child towards b
			last := make(map[uint64]uint32)  // key to its last use on the path
			child := none
			for i := b; i != none; child, i = i, parents[i] {
				above[i] = child
				if _, ok := last[keys[i]]; !ok {
					last[keys[i]] = i
				}
			}
			for a := range uint32(n) {
				towards, is := above[a]
				if got := table.isAncestor(a, b); got != is {
					rt.Fatalf("isAncestor(%d, %d) = %v", a, b, got)
				}
				if is && table.towards(a, b) != towards {
					rt.Fatalf("towards(%d, %d) = %d, want %d", a, b, table.towards(a, b), towards)
				}
			}
			for key := range uint64(7) {
				want, ok := last[key]
				if !ok {
					want = none
				}
				if got := uses.onPath(key, b); got != want {
					rt.Fatalf("onPath(%d, %d) = %d, want %d", key, b, got, want)
				}
			}
			if table.find(uint64(b)+1) != b {
				rt.Fatalf("find(%d) = %d", b+1, table.find(uint64(b)+1))
			}
		}
	})
}
