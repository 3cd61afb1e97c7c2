package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/transcript"
)

func TestPrice(t *testing.T) {
	u := &transcript.Usage{Input: 2_000_000, Output: 500_000, CacheRead: 1_000_000}
	want := transcript.Cost{Input: 1, Output: 0.75, CacheRead: 0.05, Total: 1.8}
	if got := (Price{Input: 0.5, Output: 1.5, CacheRead: 0.05, CacheWrite: 9}).Cost(u); !cmp.Equal(got, want) {
		t.Errorf("cost %+v, want %+v", got, want)
	}
}
