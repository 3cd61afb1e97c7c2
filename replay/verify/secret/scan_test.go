package secret

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLiteralsHaveAnchors(t *testing.T) {
	for c, patterns := range New().at {
		for _, p := range patterns {
			if !strings.Contains(anchorBytes, string(rune(c))) {
				t.Errorf("%q is anchored at %q, which the scan does not look for", p.literal, rune(c))
			}
		}
	}
}

// TestScan compares the scan with one that looks at each byte.
func TestScan(t *testing.T) {
	const alphabet = "-_Iz\\u,.^`HJy{[]vt\x00\x80\xff\xadaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		b := make([]byte, rng.IntN(120))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		s := newScan(b)
		for i, c := range b {
			if strings.IndexByte(anchorBytes, c) < 0 {
				continue
			}
			if got := s.next(); got != i {
				t.Fatalf("%q: next is %d, want %d", b, got, i)
			}
		}
		if got := s.next(); got != len(b) {
			t.Fatalf("%q: next is %d at the end", b, got)
		}
	}
}
