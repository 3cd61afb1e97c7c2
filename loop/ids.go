package loop

import (
	"fmt"
	"math/rand/v2"

	"github.com/turnlog/turnlog/replay"
)

// ids makes entry ids of 8 hex digits: a walk through all of them from a
// random start, so that a run cannot meet an id of its own.
type ids struct {
	custom func() string
	at     uint32
	taken  map[string]bool // ids of the path; a file with other branches needs a NewID that knows them
}

func newIDs(c *Config, s *replay.State) ids {
	g := ids{custom: c.NewID, at: rand.Uint32()}
	if c.Append == nil || c.NewID != nil {
		return g
	}
	g.taken = make(map[string]bool)
	for id := range s.IDs() {
		g.taken[id] = true
	}
	return g
}

func (g *ids) next() string {
	if g.custom != nil {
		return g.custom()
	}
	for {
		// An odd step visits every number once; this one makes neighbours look unrelated.
		g.at += 0x9e3779b1
		if id := fmt.Sprintf("%08x", g.at); !g.taken[id] {
			return id
		}
	}
}
