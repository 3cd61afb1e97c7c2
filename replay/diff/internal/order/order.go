// Package order follows in which order two sides have the same names, at a cost
// that does not depend on how many there are.
package order

import (
	"hash/maphash"

	"github.com/turnlog/turnlog/replay/internal/pmap"
)

// Both are the orders in which two sides have the names that both of them have.
type Both struct {
	a, b   order
	places map[string][2]int
}

// New is the orders of no names.
func New() Both {
	seed := maphash.MakeSeed()
	return Both{a: order{seed: seed}, b: order{seed: seed}, places: map[string][2]int{}}
}

// Set gives a name its places on the two sides.
func (o *Both) Set(name string, a, b int) {
	o.Drop(name)
	o.a.put(a, name)
	o.b.put(b, name)
	o.places[name] = [2]int{a, b}
}

// Drop takes out a name that one side does not have.
func (o *Both) Drop(name string) {
	if was, ok := o.places[name]; ok {
		o.a.drop(was[0])
		o.b.drop(was[1])
		delete(o.places, name)
	}
}

// Same reports whether both sides have the names in one order.
func (o *Both) Same() bool { return o.a.sum == o.b.sum }

// Sums tell two orders of the same names from others.
func (o *Both) Sums() (a, b uint64) { return o.a.sum, o.b.sum }

// Names lists the names of either side, as decoded JSON.
func (o *Both) Names() (a, b any) { return o.a.names(), o.b.names() }

// order is a list of names in which one change costs the same however long it
// is. Which names are next to each other makes the order, so two orders are
// the same if the hashes of their neighbours have the same sum: by chance
// once in 2^64, and not by intent, as nobody knows the seed.
type order struct {
	seed   maphash.Seed
	places pmap.Map[int, neighbour]
	sum    uint64
}

// neighbour is a name, or with there unset the end of the list.
type neighbour struct {
	name  string
	there bool
}

func (o *order) put(place int, name string) {
	n := neighbour{name, true}
	before, after := o.places.Around(place)
	o.sum += o.link(before, n) + o.link(n, after) - o.link(before, after)
	o.places = o.places.Set(place, n)
}

func (o *order) drop(place int) {
	n, _ := o.places.Get(place)
	before, after := o.places.Around(place)
	o.sum += o.link(before, after) - o.link(before, n) - o.link(n, after)
	o.places = o.places.Delete(place)
}

func (o *order) link(x, y neighbour) uint64 {
	return maphash.Comparable(o.seed, [2]neighbour{x, y})
}

func (o *order) names() []any {
	list := make([]any, 0, o.places.Len())
	for _, n := range o.places.All() {
		list = append(list, n.name)
	}
	return list
}
