package verify

import "github.com/turnlog/turnlog/replay/tree"

// uses remembers which entries of the path used a key: a call id, a response
// id. A walk takes back what it leaves, so the last use of a key is that of the
// path. A key costs 16 bytes for as long as the file is checked, a use 12.
type uses struct {
	keys []key
	list []use
	at   tree.Index
}

// key is a key of the file, on whatever path it was used.
type key struct {
	key         uint64
	last, first uint32 // its last use on the path; its first entry in the file
}

type use struct{ key, entry, before uint32 }

func newUses() *uses {
	u := new(uses)
	u.at.Key = func(i uint32) uint64 { return u.keys[i].key }
	return u
}

// add notes that an entry uses a key.
func (u *uses) add(k uint64, entry uint32) {
	i := u.at.Find(k)
	if i == none {
		i = uint32(len(u.keys))
		u.keys = append(u.keys, key{key: k, last: none, first: entry})
		u.at.Set(k, i)
	}
	at := &u.keys[i]
	u.list = append(u.list, use{i, entry, at.last})
	at.last, at.first = uint32(len(u.list)-1), min(at.first, entry)
}

// onPath returns the last entry of the path that used a key, or none.
func (u *uses) onPath(k uint64) uint32 {
	if i := u.at.Find(k); i != none && u.keys[i].last != none {
		return u.list[u.keys[i].last].entry
	}
	return none
}

// first returns the first entry of the file that is known to use a key, on
// whatever path, or none.
func (u *uses) first(k uint64) uint32 {
	if i := u.at.Find(k); i != none {
		return u.keys[i].first
	}
	return none
}

// rewind forgets all but the first n uses.
func (u *uses) rewind(n int) {
	for i := len(u.list) - 1; i >= n; i-- {
		u.keys[u.list[i].key].last = u.list[i].before
	}
	u.list = u.list[:n]
}
