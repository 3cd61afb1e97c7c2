// Package tool has what all tools of turnlog share: the options they run with,
// the bounds of what they show, and the form of their results. The tools
// themselves are in the packages below:
//
//   - builtin: tools that work on files or run shell commands, in one table.
//   - process: programs that a task declares as tools.
//   - mcp: the tools of MCP servers.
//
// What they have in common:
//
//   - File tools reach nothing outside of the working directory, neither by
//     "..", nor by an absolute path, nor through a symbolic link ([os.Root]).
//   - Programs are not confined. They run in a process group of their own,
//     without a terminal or input, with an environment of named variables
//     only, and for a limited time. What they leave behind is ended with them.
//   - Output is bounded, keeps its head and its tail, and is valid UTF-8.
//   - Order never depends on the file system or on a map.
//   - A failure is an error that says what to do differently; the loop makes
//     an error result of it.
//   - What a tool does and which of its arguments name files stands on the
//     [loop.Tool]; whoever judges its calls reads it there.
package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Options say where a tool works and what bounds it. The zero value works in
// the current directory with the defaults.
type Options struct {
	Dir        string        // working directory; "" is the current one
	Timeout    time.Duration // of one program; 0 is DefaultTimeout
	MaxOutput  int64         // bytes of text in a result; 0 is DefaultMaxOutput
	Sequential bool          // a batch with this tool runs one call after the other

	// Environ is the environment that programs may get something of, as
	// NAME=value; nil is os.Environ. AllowEnv names what they get besides
	// PATH HOME LANG LC_* TMPDIR TZ: names, or their beginning and a star.
	Environ  func() []string
	AllowEnv []string
}

// The defaults of [Options].
const (
	DefaultTimeout         = 2 * time.Minute
	DefaultMaxOutput int64 = 50 << 10
)

// WithDefaults fills in what is not set.
func (o Options) WithDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	return o
}

// Ready is the options with their defaults and an absolute working directory,
// which must be there.
func (o Options) Ready() (Options, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("find working directory %s: %w", o.Dir, err)
	}
	if info, err := os.Stat(dir); err != nil {
		return o, fmt.Errorf("open working directory: %w", err)
	} else if !info.IsDir() {
		return o, fmt.Errorf("open working directory: %s is not a directory", dir)
	}
	o.Dir = dir
	return o.WithDefaults(), nil
}

// Distinct reports the first name that two tools have: the model could not
// say which of them it means.
func Distinct(tools []loop.Tool) error {
	seen := make(map[string]bool, len(tools))
	for i := range tools {
		if seen[tools[i].Name] {
			return fmt.Errorf("two tools are called %q; rename or leave out one of them", tools[i].Name)
		}
		seen[tools[i].Name] = true
	}
	return nil
}

// Paths marks arguments as names of files, for [loop.Tool].Arguments.
func Paths(names ...string) map[string]loop.Argument {
	marked := make(map[string]loop.Argument, len(names))
	for _, name := range names {
		marked[name] = loop.Path
	}
	return marked
}

// Text is a result of one text, with what a program may want to know of it;
// details are a struct of strings and numbers, or nil.
func Text(text string, details any) loop.Result {
	r := loop.Result{Content: []transcript.Block{transcript.TextBlock(text)}}
	if details != nil {
		r.Details, _ = json.Marshal(details) // cannot fail
	}
	return r
}
