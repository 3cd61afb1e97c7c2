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
				t.Errorf("%q is anchored at %q, which next does not look for", p.literal, rune(c))
			}
		}
	}
}

// TestNext compares both scans of blocks with that of bytes, on texts in which
// the stops and their neighbours stand at all places of a block.
func TestNext(t *testing.T) {
	const alphabet = "-_Iz\\u,.^`HJy{[]vt\x00\x80\xff\xadaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		b := make([]byte, rng.IntN(120))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		for from := range len(b) + 1 {
			want := from
			for want < len(b) && !isStop(b, want) {
				want++
			}
			if got := next(b, from); got != want {
				t.Fatalf("next(%q, %d) = %d, want %d", b, from, got, want)
			}
			if got := portableBlock(b, from); got > want || got < want && got+9 <= len(b) {
				t.Fatalf("portableBlock(%q, %d) = %d, want %d", b, from, got, want)
			}
		}
	}
}
