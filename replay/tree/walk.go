package tree

import "slices"

// Visitor follows paths. A tree is walked depth first, and of the children of
// an entry the one on the way to the live tip comes last, else the one with the
// most entries below it. So what is common to many paths is entered once, and
// at most as many marks are set at a time as the logarithm of the number of
// entries.
type Visitor interface {
	Mark()                // remember the state after the entry that was entered last
	Enter(i uint32) error // go on to an entry, whose parent was entered before or which is a root
	Leaf(i uint32)        // the entry that was entered last has no children
	Rewind()              // go back to the state of the last mark, and forget the mark
	Root()                // forget everything: another root comes next
}

// step is what is to be done next.
type step struct {
	entry uint32
	kind  stepKind
}

type stepKind uint8

const (
	visit  stepKind = iota
	branch          // mark, then visit
	rewind
	root // start anew, then visit
)

// Walk leads a visitor through the tree, after [Linker.Settle]. live is the
// entry whose path is walked last of all at every fork; [None] if there is
// none. Entries in and below a ring of parents have no root and are left out.
func (l *Linker) Walk(live uint32, v Visitor) error {
	c := l.children(live)
	var todo []step
	for i := l.rows.n; i > 0; i-- {
		if l.Parent(i-1) == None {
			todo = append(todo, step{i - 1, root})
		}
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch s.kind {
		case rewind:
			v.Rewind()
			continue
		case branch:
			v.Mark()
			todo = append(todo, step{None, rewind})
		case root:
			v.Root()
		case visit:
		}
		if err := v.Enter(s.entry); err != nil {
			return err
		}
		if c.first[s.entry] == None {
			v.Leaf(s.entry)
		}
		todo = c.push(todo, s.entry)
	}
	return nil
}

// children are the children of each entry in file order, as lists.
type children struct {
	first, next []uint32
	main        []uint32 // of each entry the child that is walked last
}

// push puts the children of an entry on the stack, the main one lowest.
func (c *children) push(todo []step, i uint32) []step {
	if c.first[i] == None {
		return todo
	}
	todo = append(todo, step{c.main[i], visit})
	at := len(todo)
	for k := c.first[i]; k != None; k = c.next[k] {
		if k != c.main[i] {
			todo = append(todo, step{k, branch})
		}
	}
	slices.Reverse(todo[at:])
	return todo
}

func (l *Linker) children(live uint32) *children {
	n := l.rows.n
	c := &children{first: make([]uint32, n), next: make([]uint32, n), main: make([]uint32, n)}
	for i := range n {
		c.first[i], c.main[i] = None, None
	}
	for i := n; i > 0; i-- {
		if p := l.Parent(i - 1); p != None {
			c.next[i-1], c.first[p] = c.first[p], i-1
		} else {
			c.next[i-1] = None
		}
	}
	size := l.sizes(c)
	for i := range n {
		for k := c.first[i]; k != None; k = c.next[k] {
			if m := c.main[i]; m == None || size[k] > size[m] {
				c.main[i] = k
			}
		}
	}
	if live != None && !l.InRing(live) {
		for _, i := range l.Path(live) {
			if p := l.Parent(i); p != None {
				c.main[p] = i
			}
		}
	}
	return c
}

// sizes counts the entries below each, itself included. A parent may stand
// behind its child, so the order is that of a walk from the roots.
func (l *Linker) sizes(c *children) []uint32 {
	order := make([]uint32, 0, l.rows.n)
	var todo []uint32
	for i := range l.rows.n {
		if l.Parent(i) != None {
			continue
		}
		for todo = append(todo, i); len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			order = append(order, at)
			for k := c.first[at]; k != None; k = c.next[k] {
				todo = append(todo, k)
			}
		}
	}
	size := make([]uint32, l.rows.n)
	for _, at := range slices.Backward(order) {
		size[at]++
		if p := l.Parent(at); p != None {
			size[p] += size[at]
		}
	}
	return size
}

// Enter notes that an entry is on the path that is being followed, at a place
// from 0.
func (l *Linker) Enter(i uint32, depth int) {
	r := l.rows.at(i)
	r.depth, r.flags = uint32(depth), r.flags|onPath
}

// Leave takes it back.
func (l *Linker) Leave(i uint32) { l.rows.at(i).flags &^= onPath }

// OnPath returns the place of an entry on the path that is being followed.
func (l *Linker) OnPath(i uint32) (depth int, ok bool) {
	if i == None {
		return 0, false
	}
	r := l.rows.at(i)
	return int(r.depth), r.flags&onPath != 0
}
