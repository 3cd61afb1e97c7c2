package diff

import (
	"hash/maphash"

	"github.com/turnlog/turnlog/replay/internal/pmap"
)

// listing follows the order in which two sides have what both of them have.
type listing struct {
	a, b   order
	places map[string][2]int
}

func newListing() listing {
	seed := maphash.MakeSeed()
	return listing{a: order{seed: seed}, b: order{seed: seed}, places: map[string][2]int{}}
}

// update takes what the sides say of a name now.
func (l *listing) update(name string, now [2]named) {
	if was, ok := l.places[name]; ok {
		l.a.drop(was[0])
		l.b.drop(was[1])
		delete(l.places, name)
	}
	if now[0].there && now[1].there {
		l.a.put(now[0].place, name)
		l.b.put(now[1].place, name)
		l.places[name] = [2]int{now[0].place, now[1].place}
	}
}

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

func (o *order) names() any {
	list := make([]any, 0, o.places.Len())
	for _, n := range o.places.All() {
		list = append(list, n.name)
	}
	return list
}
