package input

import (
	"context"
	"io"
	"os"
)

// Open opens a file to read for as long as ctx lasts. Opening a pipe waits for
// its writer, and reading it for what that writes; a regular file cannot keep
// anybody waiting. at reads the same bytes again, nil where that is not
// possible.
func Open(ctx context.Context, name string) (f *os.File, r io.Reader, at io.ReaderAt, err error) {
	if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() || info.IsDir() {
		f, err := os.Open(name)
		return f, f, f, err
	}
	f, err = wait(ctx, func() (*os.File, error) { return os.Open(name) })
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := f.Seek(0, io.SeekCurrent); err == nil {
		at = f // a device, not a pipe
	}
	return f, Until(ctx, f), at, nil
}

// Until is r for as long as ctx lasts. A read from a terminal or a pipe cannot
// be interrupted, and a command that waits for one would not notice a signal.
func Until(ctx context.Context, r io.Reader) io.Reader { return &interruptible{ctx: ctx, r: r} }

type interruptible struct {
	ctx context.Context // of the one command that reads
	r   io.Reader
	buf []byte
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	// The read goes into a buffer of ours: when ctx ends first it may still
	// complete, and p belongs to the caller again by then.
	buf := i.buf[:len(p)]
	n, err := wait(i.ctx, func() (int, error) { return i.r.Read(buf) })
	return copy(p, buf[:n]), err
}

// wait is what f returns, unless ctx ends first. f goes on then.
func wait[T any](ctx context.Context, f func() (T, error)) (v T, err error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}
