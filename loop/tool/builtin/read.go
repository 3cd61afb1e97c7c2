package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"mime"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/transcript"
)

const readParameters = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to read, relative to the working directory."},
    "offset": {"type": "integer", "minimum": 1, "description": "First line to read; the first line of the file is 1."},
    "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read."}
  },
  "required": ["path"],
  "additionalProperties": false
}`

func read(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool: declared("read", fmt.Sprintf("Read a text file, or look at an image (PNG, JPEG, GIF, WebP). "+
			"At most %d bytes of whole lines are shown at once; the result says with which offset to go on.", o.MaxOutput), readParameters),
		Effects:   loop.Read,
		Arguments: tool.Paths("path"),
		Run:       inside(o, (*workdir).read),
	}
}

type readArguments struct {
	Path   string
	Offset whole
	Limit  whole
}

// sniffed is how much of a file decides what it is.
const sniffed = 8 << 10

func (w *workdir) read(ctx context.Context, args readArguments) (loop.Result, error) {
	f, info, err := w.open(args.Path)
	if err != nil {
		return loop.Result{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	r := bufio.NewReaderSize(f, 64<<10)
	start, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return loop.Result{}, w.explain(args.Path, err)
	}
	if mimeType := tool.ImageType(start); mimeType != "" {
		return readImage(args.Path, mimeType, r, info.Size())
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return loop.Result{}, fmt.Errorf("%s is a binary file of %d bytes; it cannot be shown as text", args.Path, info.Size())
	}
	return w.page(ctx, r, args)
}

func readImage(path, mimeType string, r io.Reader, size int64) (loop.Result, error) {
	if size > tool.MaxImage {
		return loop.Result{}, fmt.Errorf("%s is an image of %d bytes; at most %d can be shown", path, size, tool.MaxImage)
	}
	data, err := io.ReadAll(io.LimitReader(r, tool.MaxImage))
	if err != nil {
		return loop.Result{}, fmt.Errorf("read %s: %w", path, err)
	}
	note := fmt.Sprintf("%s: %s, %d bytes", path, mimeType, len(data))
	if named := mime.TypeByExtension(strings.ToLower(filepath.Ext(path))); strings.HasPrefix(named, "image/") && named != mimeType {
		note += "; its name says " + named
	}
	return loop.Result{Content: []transcript.Block{transcript.TextBlock(note), tool.ImageBlock(mimeType, data)}}, nil
}

// page shows whole lines of a file, except for a first line that is too long by
// itself.
func (w *workdir) page(ctx context.Context, r *bufio.Reader, args readArguments) (loop.Result, error) {
	first, limit := args.Offset.or(1), args.Limit.or(math.MaxInt)
	var text strings.Builder
	seen, shown, more := 0, 0, false
	for line, err := range lines(ctx, r, w.maximum) {
		if err != nil {
			return loop.Result{}, fmt.Errorf("read %s: %w", args.Path, err)
		}
		if seen++; seen < first {
			continue
		}
		s := line.Text()
		if more = shown == limit || shown > 0 && int64(text.Len()+len(s)) > w.maximum; more {
			break
		}
		text.WriteString(s)
		shown++
	}
	switch {
	case shown == 0 && first > 1:
		return loop.Result{}, fmt.Errorf("%s has %d lines; offset %d is behind its end", args.Path, seen, first)
	case shown == 0:
		return tool.Text("(the file is empty)", nil), nil
	case more && !strings.HasSuffix(text.String(), "\n"):
		text.WriteByte('\n')
	}
	if more {
		fmt.Fprintf(&text, "\n[lines %d to %d; more with offset %d]", first, first+shown-1, first+shown)
	}
	return tool.Text(text.String(), struct {
		First int  `json:"firstLine"`
		Lines int  `json:"lines"`
		More  bool `json:"more"`
	}{first, shown, more}), nil
}

// lines yields the lines of a file with their ends, of each at most so many
// bytes. A line may be of any length.
func lines(ctx context.Context, r *bufio.Reader, maximum int64) iter.Seq2[*tool.Capture, error] {
	return func(yield func(*tool.Capture, error) bool) {
		for n := 0; ; n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			line := &tool.Capture{Max: maximum}
			part, err := r.ReadSlice('\n')
			for ; errors.Is(err, bufio.ErrBufferFull); part, err = r.ReadSlice('\n') {
				_, _ = line.Write(part) // a capture takes everything
			}
			_, _ = line.Write(part)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			if line.Total == 0 || !yield(line, nil) || err != nil {
				return
			}
		}
	}
}
