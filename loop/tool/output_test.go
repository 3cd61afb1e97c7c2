package tool

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCapture(t *testing.T) {
	whole := strings.Repeat("0123456789", 1000) + "äöü😀"
	for _, maximum := range []int64{0, 1, 2, 7, 100, 101, int64(len(whole)) - 1, int64(len(whole)), 1 << 20} {
		for _, step := range []int{1, 7, 4096, len(whole)} {
			c := Capture{Max: maximum}
			for rest := []byte(whole); len(rest) > 0; {
				n := min(step, len(rest))
				if _, err := c.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			checkCapture(t, &c, whole)
		}
	}
}

func checkCapture(t *testing.T, c *Capture, whole string) {
	t.Helper()
	got := c.Text()
	if c.Total != int64(len(whole)) || c.Cut() != (int64(len(whole)) > c.Max) || !utf8.ValidString(got) {
		t.Errorf("max %d: total %d, cut %v, %q", c.Max, c.Total, c.Cut(), got)
	}
	head, rest, marked := strings.Cut(got, "\n[... ")
	if !c.Cut() {
		if got != whole {
			t.Errorf("max %d: got %.50q", c.Max, got)
		}
		return
	}
	_, tail, _ := strings.Cut(rest, "bytes left out ...]\n")
	if !marked || !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || int64(len(head)+len(tail)) > c.Max {
		t.Errorf("max %d: head %q, tail %q", c.Max, head, tail)
	}
	if !strings.Contains(got, mark(int64(len(whole)-len(head)-len(tail)))) {
		t.Errorf("max %d: wrong mark in %q", c.Max, got)
	}
	if int64(cap(c.head)+cap(c.tail)) > 6*c.Max+64 {
		t.Errorf("max %d: keeps %d and %d bytes", c.Max, cap(c.head), cap(c.tail))
	}
}

// What a result shows is the same however the output came in.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("abc\xff\xf0\x9f\x98"), int64(4), 2)
	f.Fuzz(func(t *testing.T, data []byte, maximum int64, step int) {
		if maximum < 0 || maximum > 1<<16 || step < 1 {
			return
		}
		a, b := Capture{Max: maximum}, Capture{Max: maximum}
		_, _ = a.Write(data)
		for part := range slices.Chunk(data, step) {
			_, _ = b.Write(part)
		}
		if a.Text() != b.Text() || !utf8.ValidString(a.Text()) {
			t.Errorf("%q and %q", a.Text(), b.Text())
		}
	})
}

// BenchmarkCapture is a flood of 50 MiB.
func BenchmarkCapture(b *testing.B) {
	part := []byte(strings.Repeat("x", 32<<10))
	b.SetBytes(50 << 20)
	b.ReportAllocs()
	for b.Loop() {
		c := Capture{Max: DefaultMaxOutput}
		for range 50 << 20 / len(part) {
			_, _ = c.Write(part)
		}
	}
}
