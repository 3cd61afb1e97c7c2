// Package pmap is an ordered map that keeps its old versions: a change gives a
// new map that shares all but O(log n) of its memory with the old one, so a
// fold can hold the map of every entry of a history.
//
// It is a treap whose priorities are hashes of the keys. Its shape depends
// only on which keys are in it, not on the order in which they came, so what
// two versions share is found from their roots (see [Changes]). The hash has a
// seed of the process, so no file can unbalance it.
package pmap

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
)

// seed keeps the shapes of this process from being guessed.
var seed = maphash.MakeSeed()

// most is the number of keys up to which a map is a list, which is copied
// faster than a path in a tree.
const most = 16

// Map is a version of a map. It is a value that never changes and may be used
// by several goroutines; the zero Map is empty.
type Map[K cmp.Ordered, V any] struct {
	list []entry[K, V] // in order; nil where there is a tree
	root *node[K, V]
}

type entry[K cmp.Ordered, V any] struct {
	key   K
	value V
}

// node is never changed once it is part of a map.
type node[K cmp.Ordered, V any] struct {
	left, right *node[K, V]
	key         K
	value       V
	rank        uint64 // no child has a higher one
	size        int
}

// Len is the number of keys.
func (m Map[K, V]) Len() int { return len(m.list) + m.root.len() }

func (n *node[K, V]) len() int {
	if n == nil {
		return 0
	}
	return n.size
}

// place finds a key in the list, or where it belongs there.
func (m Map[K, V]) place(key K) (int, bool) {
	return slices.BinarySearchFunc(m.list, key, func(e entry[K, V], key K) int { return cmp.Compare(e.key, key) })
}

// Get finds the value of a key.
func (m Map[K, V]) Get(key K) (value V, ok bool) {
	if i, ok := m.place(key); ok {
		return m.list[i].value, true
	}
	for n := m.root; n != nil; {
		switch c := cmp.Compare(key, n.key); {
		case c < 0:
			n = n.left
		case c > 0:
			n = n.right
		default:
			return n.value, true
		}
	}
	return value, false
}

// Set returns the map with the value of a key set.
func (m Map[K, V]) Set(key K, value V) Map[K, V] {
	if m.root != nil {
		return Map[K, V]{root: m.root.set(newNode(key, value))}
	}
	i, ok := m.place(key)
	if ok {
		list := slices.Clone(m.list)
		list[i].value = value
		return Map[K, V]{list: list}
	}
	list := make([]entry[K, V], len(m.list)+1)
	copy(list, m.list[:i])
	list[i] = entry[K, V]{key, value}
	copy(list[i+1:], m.list[i:])
	if len(list) > most {
		return Map[K, V]{root: treeOf(list)}
	}
	return Map[K, V]{list: list}
}

func newNode[K cmp.Ordered, V any](key K, value V) *node[K, V] {
	return &node[K, V]{key: key, value: value, rank: maphash.Comparable(seed, key)}
}

func treeOf[K cmp.Ordered, V any](list []entry[K, V]) (root *node[K, V]) {
	for _, e := range list {
		root = root.set(newNode(e.key, e.value))
	}
	return root
}

// set takes over added.
func (n *node[K, V]) set(added *node[K, V]) *node[K, V] {
	switch {
	case n == nil || added.above(n): // so the key is not below n
		added.left, added.right = n.split(added.key)
		return added.sized()
	case added.key < n.key:
		return n.with(n.left.set(added), n.right)
	case added.key > n.key:
		return n.with(n.left, n.right.set(added))
	}
	added.left, added.right = n.left, n.right
	return added.sized()
}

// above reports whether n belongs above o wherever both are in one map.
func (n *node[K, V]) above(o *node[K, V]) bool {
	return n.rank > o.rank || n.rank == o.rank && n.key > o.key
}

// with is a copy of n with other children.
func (n *node[K, V]) with(left, right *node[K, V]) *node[K, V] {
	c := *n
	c.left, c.right = left, right
	return c.sized()
}

func (n *node[K, V]) sized() *node[K, V] {
	n.size = n.left.len() + 1 + n.right.len()
	return n
}

// split gives the keys before key and those after it.
func (n *node[K, V]) split(key K) (before, after *node[K, V]) {
	switch {
	case n == nil:
		return nil, nil
	case n.key < key:
		before, after = n.right.split(key)
		return n.with(n.left, before), after
	case n.key > key:
		before, after = n.left.split(key)
		return before, n.with(after, n.right)
	}
	return n.left, n.right
}

// Delete returns the map without a key.
func (m Map[K, V]) Delete(key K) Map[K, V] {
	if i, ok := m.place(key); ok {
		return Map[K, V]{list: slices.Concat(m.list[:i], m.list[i+1:])}
	}
	if _, ok := m.Get(key); !ok {
		return m
	}
	// A tree that has become small stays one until it is empty: a map at the
	// border would become one and the other at every change.
	return Map[K, V]{root: m.root.delete(key)}
}

func (n *node[K, V]) delete(key K) *node[K, V] {
	switch {
	case key < n.key:
		return n.with(n.left.delete(key), n.right)
	case key > n.key:
		return n.with(n.left, n.right.delete(key))
	}
	return join(n.left, n.right)
}

// join makes one tree of two, all keys of a being before those of b.
func join[K cmp.Ordered, V any](a, b *node[K, V]) *node[K, V] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.above(b):
		return a.with(a.left, join(a.right, b))
	}
	return b.with(join(a, b.left), b.right)
}

// All yields keys and values in the order of the keys.
func (m Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, e := range m.list {
			if !yield(e.key, e.value) {
				return
			}
		}
		m.root.all(yield)
	}
}

func (n *node[K, V]) all(yield func(K, V) bool) bool {
	return n == nil || n.left.all(yield) && yield(n.key, n.value) && n.right.all(yield)
}

// From is All without the keys before one.
func (m Map[K, V]) From(key K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		at, _ := m.place(key)
		for _, e := range m.list[at:] {
			if !yield(e.key, e.value) {
				return
			}
		}
		m.root.from(key, yield)
	}
}

func (n *node[K, V]) from(key K, yield func(K, V) bool) bool {
	switch {
	case n == nil:
		return true
	case n.key < key:
		return n.right.from(key, yield)
	}
	return n.left.from(key, yield) && yield(n.key, n.value) && n.right.all(yield)
}

// Around gives the values next to a key, whether or not the map has it; zero
// values at the ends.
func (m Map[K, V]) Around(key K) (before, after V) {
	i, found := m.place(key)
	if i > 0 {
		before = m.list[i-1].value
	}
	if found {
		i++
	}
	if i < len(m.list) {
		after = m.list[i].value
	}
	for n := m.root; n != nil; {
		if n.key < key {
			before, n = n.value, n.right
		} else {
			n = n.left
		}
	}
	for n := m.root; n != nil; {
		if n.key > key {
			after, n = n.value, n.left
		} else {
			n = n.right
		}
	}
	return before, after
}

// Min gives the first key.
func (m Map[K, V]) Min() (key K, value V, ok bool) {
	for key, value = range m.All() {
		return key, value, true
	}
	return key, value, false
}

// Changes yields, in order, the keys that only one of two maps has and those
// whose values are not the same. Of two versions of one map it takes O(log n)
// for each, as it passes over what they share.
func Changes[K cmp.Ordered, V comparable](a, b Map[K, V]) iter.Seq[K] {
	return func(yield func(K) bool) {
		if len(a.list) == len(b.list) && len(a.list) > 0 && &a.list[0] == &b.list[0] {
			return
		}
		if a.root == nil {
			a.root = treeOf(a.list)
		}
		if b.root == nil {
			b.root = treeOf(b.list)
		}
		changes(a.root, b.root, yield)
	}
}

func changes[K cmp.Ordered, V comparable](a, b *node[K, V], yield func(K) bool) bool {
	switch {
	case a == b:
		return true
	case a == nil || b != nil && b.above(a):
		a, b = b, a // to whom a change belongs does not matter
	}
	if b == nil || a.key != b.key {
		before, after := b.split(a.key)
		return changes(a.left, before, yield) && yield(a.key) && changes(a.right, after, yield)
	}
	return changes(a.left, b.left, yield) && (a.value == b.value || yield(a.key)) && changes(a.right, b.right, yield)
}
