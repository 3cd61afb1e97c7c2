package builtin

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
)

const grepParameters = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "description": "Regular expression (RE2 syntax), matched within lines."},
    "path": {"type": "string", "description": "File or directory to search, relative to the working directory; default: the working directory."},
    "glob": {"type": "string", "description": "Only files that match this glob pattern, such as *.go."},
    "ignoreCase": {"type": "boolean", "description": "Upper and lower case are the same."},
    "literal": {"type": "boolean", "description": "The pattern is plain text."},
    "context": {"type": "integer", "minimum": 0, "maximum": 100, "description": "How many lines to show before and after each match."},
    "limit": {"type": "integer", "minimum": 1, "description": "How many matching lines to show; default 100."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

func grep(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool: declared("grep", "Search files for lines that match a regular expression, in the order of their paths. "+
			"Matches read path:line: text, lines around them path-line- text. Binary files, links and .git are passed over.", grepParameters),
		Effects:   loop.Read,
		Arguments: tool.Paths("path"),
		Run: inside(o, func(w *workdir, ctx context.Context, args grepArguments) (loop.Result, error) {
			s, err := args.search(w.maximum)
			if err == nil {
				err = w.grep(ctx, cmp.Or(args.Path, "."), s)
			}
			if err != nil {
				return loop.Result{}, err
			}
			return s.result(args.Pattern), nil
		}),
	}
}

type grepArguments struct {
	Pattern, Path, Glob string
	IgnoreCase, Literal bool
	Context, Limit      whole
}

// search is one search in many files.
type search struct {
	re     *regexp.Regexp
	glob   glob
	around int
	limit  int

	lines   listing
	matches int
	done    bool // limits are reached
}

func (a grepArguments) search(maximum int64) (*search, error) {
	pattern := a.Pattern
	if a.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if a.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w (set literal to search for plain text)", a.Pattern, err)
	}
	s := &search{re: re, around: a.Context.or(0), limit: a.Limit.or(100), lines: listing{limit: -1, max: maximum}}
	if a.Glob != "" {
		s.glob, err = compileGlob(a.Glob)
	}
	return s, err
}

func (w *workdir) grep(ctx context.Context, start string, s *search) error {
	local, err := w.local(start)
	if err != nil {
		return err
	}
	if info, err := w.root.Stat(local); err == nil && !info.IsDir() {
		f, _, err := w.open(start)
		if err != nil {
			return err
		}
		return s.file(ctx, filepath.ToSlash(local), f)
	}
	return w.walk(ctx, start, func(name, below string, e fs.DirEntry) error {
		if !e.Type().IsRegular() || !s.glob.match(below) {
			return nil
		}
		f, _, err := w.open(name)
		if err != nil {
			return nil // gone, or not ours to read
		}
		if err := s.file(ctx, name, f); err != nil || s.done {
			return cmp.Or(err, fs.SkipAll)
		}
		return nil
	})
}

// Minified files have lines of megabytes. So much of a line is searched, and
// so much of it is shown.
const (
	maxLineSearched = 1 << 20
	maxLineShown    = 500
)

// file searches one file and closes it.
func (s *search) file(ctx context.Context, name string, f io.ReadCloser) error {
	defer func() { _ = f.Close() }() // only read from
	r := bufio.NewReaderSize(f, 64<<10)
	if start, _ := r.Peek(sniffed); bytes.IndexByte(start, 0) >= 0 {
		return nil
	}
	var before []string // lines that were not shown
	after := 0          // lines to show yet
	no := 0
	for line, err := range lines(ctx, r, maxLineSearched) {
		if err != nil {
			return ctx.Err() // what could be read of it was searched
		}
		no++
		before, after = s.line(name, no, strings.TrimRight(line.Text(), "\r\n"), before, after)
		if s.done {
			break
		}
	}
	return nil
}

// line looks at one line and shows what is due.
func (s *search) line(name string, no int, text string, before []string, after int) (rest []string, due int) {
	switch {
	case s.re.MatchString(text):
		if s.matches == s.limit {
			s.done, s.lines.more = true, true
			return nil, 0
		}
		s.matches++
		for i, b := range before {
			s.show(name, '-', no-len(before)+i, b)
		}
		s.show(name, ':', no, text)
		return nil, s.around
	case after > 0:
		s.show(name, '-', no, text)
		return nil, after - 1
	case s.around > 0:
		before = append(before, text)
		if len(before) > s.around {
			before = before[1:]
		}
	}
	return before, 0
}

func (s *search) show(name string, separator byte, no int, text string) {
	if more := len(text) - maxLineShown; more > 0 {
		from := 0
		if at := s.re.FindStringIndex(text); at != nil {
			from = min(max(0, at[0]-maxLineShown/4), more)
		}
		text = fmt.Sprintf("%s [a part of %d bytes]", tool.WholeRunes(text[from:from+maxLineShown]), len(text))
	}
	line := fmt.Sprintf("%s%c%d%c %s", tool.Valid(name), separator, no, separator, text)
	if !s.done && !s.lines.add(line) {
		s.done = true
	}
}

func (s *search) result(pattern string) loop.Result {
	if s.matches == 0 {
		return tool.Text("(no line matches "+pattern+")", nil)
	}
	text := s.lines.text.String()
	if s.lines.more {
		text += fmt.Sprintf("\n[only the first %d matches are shown; narrow the search]", s.matches)
	}
	return tool.Text(text, struct {
		Matches int  `json:"matches"`
		More    bool `json:"more"`
	}{s.matches, s.lines.more})
}
