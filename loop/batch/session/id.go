package session

import (
	"crypto/rand"
	"fmt"
	"time"
)

// NewID makes the id of a session or of a batch: a UUID of version 7 (RFC
// 9562), milliseconds and then random bits.
func NewID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	ms := now.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ids makes entry ids of 8 random hex digits, unique in one file over all its
// runs: a second entry under one id hides the first in pi's lookups, and a
// parent ring makes pi 1.6.0 hang.
type ids map[string]bool

func (u ids) next() string {
	for {
		var b [4]byte
		_, _ = rand.Read(b[:])
		if id := fmt.Sprintf("%x", b); !u[id] {
			u[id] = true
			return id
		}
	}
}
