// Package tool has the tools that turnlog brings: built-ins that work on files
// and run shell commands, programs that a task declares as tools, and the
// tools of MCP servers.
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
//
// A set for a run is put together with [New], [NewProgram] and [Connect], and
// checked with [Distinct].
package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// withDefaults fills in what is not set, and checks the working directory.
func (o Options) withDefaults() (Options, error) {
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
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	return o, nil
}

// builtin is a row of the table of built-in tools.
type builtin struct {
	name string
	make func(Options) loop.Tool
}

// builtins is the table, in the order in which tools are listed.
func builtins() []builtin {
	return []builtin{
		{"read", read},
		{"write", write},
		{"edit", edit},
		{"ls", ls},
		{"find", find},
		{"grep", grep},
		{"bash", bash},
	}
}

// Names lists the built-in tools.
func Names() []string {
	var names []string
	for _, b := range builtins() {
		names = append(names, b.name)
	}
	return names
}

// New makes a built-in tool. An unknown name is an error that lists the known
// ones; so is a working directory that is not there.
func New(name string, o Options) (loop.Tool, error) {
	table := builtins()
	i := slices.IndexFunc(table, func(b builtin) bool { return b.name == name })
	if i < 0 {
		return loop.Tool{}, fmt.Errorf("no built-in tool is called %q; there are %s", name, strings.Join(Names(), ", "))
	}
	o, err := o.withDefaults()
	if err != nil {
		return loop.Tool{}, err
	}
	t := table[i].make(o)
	t.Sequential = o.Sequential
	return t, nil
}

// ByName makes several built-in tools with the same options.
func ByName(names []string, o Options) ([]loop.Tool, error) {
	tools := make([]loop.Tool, 0, len(names))
	for _, name := range names {
		t, err := New(name, o)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, Distinct(tools)
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

// arguments decodes validated arguments. The schemas of built-ins have no room
// for other keys, which encoding/json would match to fields regardless of
// case: {"path": "a", "PATH": "b"} is b.
func arguments[T any](call transcript.Call) (T, error) {
	var args T
	d := json.NewDecoder(bytes.NewReader(call.Arguments))
	if err := d.Decode(&args); err != nil {
		return args, fmt.Errorf("read arguments of %s: %w", call.Name, err)
	}
	return args, nil
}

// answer is a result of one text.
func answer(text string) loop.Result {
	return loop.Result{Content: []transcript.Block{transcript.TextBlock(text)}}
}

// details encodes what a program may want to know of a result.
func details(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil // only structs of this package come here, of strings and numbers
	}
	return raw
}

// whole is an integer argument. JSON Schema counts 5.0 as one; encoding/json
// does not.
type whole int

func (n *whole) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(string(data), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<31-1 {
		return fmt.Errorf("%s is not a number of things", data)
	}
	*n = whole(f)
	return nil
}
