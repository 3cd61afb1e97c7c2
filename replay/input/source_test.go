package input

import (
	"bytes"
	"io"
	"os"
	"testing"
	"testing/iotest"
)

// TestSpool reads inputs in small pieces and again, below and beyond what is
// kept in memory.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, size := range []int{0, 1000, spoolSize, spoolSize + 1, spoolSize + 70000} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		s := &spool{r: iotest.HalfReader(bytes.NewReader(want)), of: io.NopCloser(nil)}
		got, err := io.ReadAll(s)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: read %d, %v", size, len(got), err)
		}
		again, err := io.ReadAll(io.NewSectionReader(s, 0, int64(size)))
		if err != nil || !bytes.Equal(again, want) {
			t.Fatalf("%d bytes: read %d again, %v", size, len(again), err)
		}
		if (s.file != nil) != (size > spoolSize) {
			t.Errorf("%d bytes: file %v", size, s.file)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSpoolWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere/at/all")
	s := &spool{r: bytes.NewReader(make([]byte, 2*spoolSize)), of: io.NopCloser(nil)}
	if _, err := io.ReadAll(s); err == nil {
		t.Error("what could not be kept was not missed")
	}
}
