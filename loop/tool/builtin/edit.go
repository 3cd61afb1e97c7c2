package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
)

const editParameters = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to change, relative to the working directory."},
    "edits": {
      "type": "array",
      "minItems": 1,
      "description": "Replacements. Each old text is looked for in the file as it is now, not as an earlier replacement leaves it.",
      "items": {
        "type": "object",
        "properties": {
          "oldText": {"type": "string", "minLength": 1, "description": "Exact text that occurs once in the file, white space included."},
          "newText": {"type": "string", "description": "What takes its place."}
        },
        "required": ["oldText", "newText"],
        "additionalProperties": false
      }
    }
  },
  "required": ["path", "edits"],
  "additionalProperties": false
}`

func edit(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool: declared("edit", "Replace exact pieces of text in a file. Each old text must occur exactly once; "+
			"give more of its surroundings if it does not. Either all replacements are made or none.", editParameters),
		Effects:   loop.Write,
		Arguments: tool.Paths("path"),
		Run:       inside(o, (*workdir).edit),
	}
}

type editArguments struct {
	Path  string
	Edits []replacement
}

type replacement struct{ OldText, NewText string }

// maxEdited bounds what edit loads; a file is held in memory twice.
const maxEdited = 64 << 20

func (w *workdir) edit(_ context.Context, args editArguments) (loop.Result, error) {
	changing.Lock()
	defer changing.Unlock()
	old, err := w.load(args.Path)
	if err != nil {
		return loop.Result{}, err
	}
	spans, err := locate(args.Path, old, args.Edits)
	if err != nil {
		return loop.Result{}, err
	}
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(old[end:s.start])
		b.WriteString(s.text)
		end = s.end
	}
	b.WriteString(old[end:])
	if b.String() == old {
		return loop.Result{}, fmt.Errorf("nothing to change in %s: the new text is the old one", args.Path)
	}
	if err := w.write(args.Path, b.String()); err != nil {
		return loop.Result{}, err
	}
	first := 1 + strings.Count(old[:spans[0].start], "\n")
	return tool.Text(fmt.Sprintf("made %d replacements in %s, the first in line %d", len(spans), args.Path, first), struct {
		Replacements int `json:"replacements"`
		FirstLine    int `json:"firstChangedLine"`
	}{len(spans), first}), nil
}

func (w *workdir) load(path string) (string, error) {
	f, info, err := w.open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read from
	if info.Size() > maxEdited {
		return "", fmt.Errorf("%s has %d bytes; edit takes files of up to %d", path, info.Size(), maxEdited)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdited))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return string(data), nil
}

// span is a piece of a file and what takes its place.
type span struct {
	start, end int
	text       string
	edit       int // from 1
}

// locate finds the one place of each replacement, in file order. All that is
// wrong is reported at once.
func locate(path, old string, edits []replacement) ([]span, error) {
	var spans []span
	var errs []error
	for i, e := range edits {
		s, err := locateOne(old, e)
		if err != nil {
			errs = append(errs, fmt.Errorf("edit %d of %s: %w", i+1, path, err))
		}
		s.edit = i + 1
		spans = append(spans, s)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	for i := 1; i < len(spans); i++ {
		if spans[i].start < spans[i-1].end {
			return nil, fmt.Errorf("edits %d and %d of %s overlap; make one of them", spans[i-1].edit, spans[i].edit, path)
		}
	}
	return spans, nil
}

var errNoMatch = errors.New("the old text does not occur in the file; read it again and give the text exactly, with its white space")

// locateOne finds the only occurrence of the old text. Models write LF for line
// ends; in a file with CRLF both texts are meant with those.
func locateOne(old string, e replacement) (span, error) {
	if e.OldText == "" {
		return span{}, errors.New("the old text is empty")
	}
	if !strings.Contains(old, e.OldText) && strings.Contains(old, "\r\n") && !strings.Contains(e.OldText, "\r") {
		e.OldText = strings.ReplaceAll(e.OldText, "\n", "\r\n")
		e.NewText = strings.ReplaceAll(strings.ReplaceAll(e.NewText, "\r\n", "\n"), "\n", "\r\n")
	}
	start := strings.Index(old, e.OldText)
	if start < 0 {
		return span{}, errNoMatch
	}
	if lines := occurrences(old, e.OldText, start); len(lines) > 1 {
		return span{}, fmt.Errorf("the old text occurs more than once (lines %s); give more of its surroundings", strings.Join(lines, ", "))
	}
	return span{start: start, end: start + len(e.OldText), text: e.NewText}, nil
}

// occurrences lists the lines of the first few places where text is, from one
// that is known. They may overlap: aa is in aaa twice.
func occurrences(old, text string, at int) []string {
	var lines []string
	for len(lines) < 5 {
		lines = append(lines, strconv.Itoa(1+strings.Count(old[:at], "\n")))
		next := strings.Index(old[at+1:], text)
		if next < 0 {
			return lines
		}
		at += 1 + next
	}
	return append(lines, "...")
}
