package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestLongLine(t *testing.T) {
	long := `{"type":"label","id":"l","label":"` + strings.Repeat(`0123456789\n`, 2<<20) + `"}`
	lines := collect(t, []byte(recA+"\n"+long+"\n"+recC+"\n"), Options{})
	if len(lines) != 3 || len(lines[1].Records) != 1 || len(lines[1].Records[0].Label.Label) != 11*(2<<20) {
		t.Errorf("a line of %d bytes was not read whole", len(long))
	}
}

func TestMaxLine(t *testing.T) {
	long := `{"type":"label","id":"l","label":"` + strings.Repeat("x", 3<<20) + `"}`
	in := []byte(recA + "\n" + long + "\n" + recC + "\n")
	for _, workers := range []int{1, 2} {
		for _, max := range []int{1000, len(recA), len(long) - 1, len(long)} {
			want := []string{"intact a", "too long", "intact c"}
			if max == len(long) {
				want[1] = "intact l"
			}
			lines := collect(t, in, Options{MaxLine: max, Workers: workers})
			var got []string
			for _, l := range lines {
				got = append(got, summary(l))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("MaxLine %d: -want +got:\n%s", max, diff)
			}
			checkLines(t, in, lines)
			l := lines[1]
			if max == len(long) {
				continue
			}
			if len(l.Raw) != 4096 || !strings.HasPrefix(long, string(l.Raw)) {
				t.Errorf("MaxLine %d: kept %d bytes", max, len(l.Raw))
			}
			if want := fmt.Sprintf("line 2, column %d: longer than %d bytes", max+1, max); l.Err.Error() != want {
				t.Errorf("got %v, want %s", l.Err, want)
			}
		}
	}
}

func TestLineTooLongWithoutEnd(t *testing.T) {
	in := []byte(recA + "\n" + strings.Repeat("x", 3<<20))
	lines := collect(t, in, Options{MaxLine: 1 << 20})
	if len(lines) != 2 || lines[1].Damage != TooLong {
		t.Fatalf("%d lines", len(lines))
	}
	checkLines(t, in, lines)
}

// TestReaders reads the same lines whatever the reads look like.
func TestReaders(t *testing.T) {
	data := testdata(t, "session.jsonl")
	data = append(data, recB[:70]...)
	data = append(data, recA+"\n"+recB[:90]...)
	want := collect(t, data, Options{})
	big := bytes.Repeat(append(data, '\n'), 60)
	for _, workers := range []int{1, 2, 5} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
			"data and error": iotest.DataErrReader,
		} {
			var got []Line
			for l, err := range Lines(wrap(bytes.NewReader(data)), Options{Workers: workers}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, l)
			}
			if diff := difference(want, got); diff != "" {
				t.Errorf("%d workers, %s: -want +got:\n%s", workers, name, diff)
			}
		}
		got := collect(t, big, Options{Workers: workers})
		checkLines(t, big, got)
		if len(got) != 60*len(want) {
			t.Errorf("%d workers: %d lines, want %d", workers, len(got), 60*len(want))
		}
	}
}

func TestReadErrors(t *testing.T) {
	fault := errors.New("disk on fire")
	for _, workers := range []int{1, 3} {
		var lines int
		var got error
		r := io.MultiReader(strings.NewReader(recA+"\n"+recC+"\n"+recB[:30]), iotest.ErrReader(fault))
		for l, err := range Lines(r, Options{Workers: workers}) {
			if err != nil {
				got = err
			} else if lines++; l.Damage != Intact {
				t.Errorf("line %d: %v: what was read of a line before an I/O error is no torn tail", l.No, l.Err)
			}
		}
		if !errors.Is(got, fault) || lines != 2 {
			t.Errorf("%d workers: %d lines, error %v", workers, lines, got)
		}
		var stuck error
		for _, err := range Lines(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ab"))), Options{Workers: workers}) {
			stuck = err
		}
		if !errors.Is(stuck, iotest.ErrTimeout) {
			t.Errorf("%d workers: error %v", workers, stuck)
		}
	}
	for _, err := range Lines(lazyReader{}, Options{}) {
		if !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("a reader that never reads: %v", err)
		}
	}
}

type lazyReader struct{}

func (lazyReader) Read([]byte) (int, error) { return 0, nil }

// TestStopEarly leaves the loop: no goroutine stays behind.
func TestStopEarly(t *testing.T) {
	data := bytes.Repeat([]byte(recB+"\n"), 30000)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, stop := range []int{1, 2, 5000, 29999} {
		n := 0
		for range Lines(bytes.NewReader(data), Options{Workers: 4}) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d lines, want %d", n, stop)
		}
	}
}

// TestPanics lets the consumer and a worker panic.
func TestPanics(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	catch := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	data := bytes.Repeat([]byte(recB+"\n"), 20000)
	if v := catch(func() {
		for range Lines(bytes.NewReader(data), Options{Workers: 3}) {
			panic("consumer")
		}
	}); v != "consumer" {
		t.Errorf("recovered %v", v)
	}
	b := &batch{chunk: chunk{b: []byte("x\n")}, done: make(chan struct{}, 1)}
	b.parse(nil) // a worker without a reader panics
	if v := catch(func() { b.deliver(&numbering{}, Options{}, nil) }); v == nil {
		t.Error("the panic of a worker is lost")
	}
}

// TestLinesOwnTheirBytes reads on and changes the reader's data: earlier lines
// stay what they were.
func TestLinesOwnTheirBytes(t *testing.T) {
	data := testdata(t, "session.jsonl")
	want := collect(t, data, Options{})
	in := bytes.Clone(data)
	var got []Line
	for l, err := range Lines(bytes.NewReader(in), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
		clear(in[:l.Offset+int64(len(l.Raw))])
	}
	if diff := difference(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
