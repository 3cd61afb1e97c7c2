package task

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/task/internal/table"
	builtins "github.com/turnlog/turnlog/loop/tool/builtin"
)

// Tool is one item of tools. Exactly one of the pointers is set.
type Tool struct {
	Builtin *Builtin `json:"builtin,omitempty"`
	Program *Program `json:"program,omitempty"`
	MCP     *MCP     `json:"mcp,omitempty"`

	Place Place `json:"-"`
}

// Place is where something stands in the task file, for problems that only
// show when it is put to use.
type Place struct{ Line, Column int }

func place(n *table.Node) Place { return Place{n.Line, n.Column} }

// Builtin is a tool of turnlog's own.
type Builtin struct {
	Name       string        `json:"name"`
	Timeout    time.Duration `json:"timeout,omitempty"`    // 0: the tool's default
	MaxOutput  int64         `json:"max_output,omitempty"` // bytes; 0: the tool's default
	Sequential bool          `json:"sequential,omitempty"`
}

// Program is a program as a tool. It gets the arguments as JSON on stdin and
// in Run, where {name} stands for the argument of that name.
type Program struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema of the arguments; nil: there are none
	Run         []string        `json:"run"`                  // argv, see Task.Argv; there is no shell
	Effects     string          `json:"effects"`              // none read write external; default external
	Paths       []string        `json:"paths,omitempty"`      // arguments that name files, for permissions
	Timeout     time.Duration   `json:"timeout,omitempty"`
	MaxOutput   int64           `json:"max_output,omitempty"` // bytes
	Sequential  bool            `json:"sequential,omitempty"`
}

// MCP is a server whose tools the agent gets, each as mcp__<server>__<tool>.
// Either Command or URL is set.
type MCP struct {
	Server     string              `json:"server"`
	Command    []string            `json:"command,omitempty"`
	URL        string              `json:"url,omitempty"`
	HeadersEnv map[string]string   `json:"headers_env,omitempty"` // header → environment variable
	Env        []string            `json:"env,omitempty"`         // names and patterns of what the server gets
	Tools      []string            `json:"tools,omitempty"`       // patterns of the server's tool names; none is all
	Required   bool                `json:"required"`              // without the server there is no run; default true
	Effects    string              `json:"effects"`               // of all its tools; default external
	Paths      map[string][]string `json:"paths,omitempty"`       // pattern of its tools' names → arguments that name files
	Timeout    time.Duration       `json:"timeout,omitempty"`     // of one call
}

// Execution is how the tool calls of one message run.
type Execution struct {
	Mode        string `json:"mode"`                   // parallel (default) or sequential
	MaxParallel int    `json:"max_parallel,omitempty"` // 0 is no bound
}

// The values of Execution.Mode.
const (
	Parallel   = "parallel"
	Sequential = "sequential"
)

func defaultExecution() Execution { return Execution{Mode: Parallel} }

func executionKeys(k *table.Keys, e *Execution) {
	table.To(k, "mode", table.OneOf(Parallel, Sequential), &e.Mode, "How the tool calls of one answer run; default parallel.")
	table.To(k, "max_parallel", table.Integer(1, 1024), &e.MaxParallel, "How many of them run at once; default: all.")
}

// maxOutput is how much of an output the model can see: as JSON, a byte takes up
// to six, and a line of a transcript has 64 MiB.
func maxOutput() table.Value[int64] {
	return table.Size().Then(func(d *table.Decoder, n *table.Node, size *int64) {
		if *size > 8<<20 {
			d.At(n, "", "want a size of at most 8MB, found %s", n.Value)
		}
	})
}

// builtin is the settings of a built-in tool.
func builtin(name string) table.Value[Builtin] {
	return table.Mapping("the tool "+name, Builtin{Name: name}, func(k *table.Keys, b *Builtin) {
		table.To(k, "timeout", table.Duration(), &b.Timeout, "How long a call may take.")
		table.To(k, "max_output", maxOutput(), &b.MaxOutput, "How much of the output the model sees, 8MB at most; head and tail are kept.")
		table.To(k, "sequential", table.Boolean(), &b.Sequential, "An answer that calls this tool has its calls run one after the other.")
	})
}

// effects is what a call does to the world.
func effects() table.Value[string] { return table.OneOf("none", "read", "write", "external") }

// argv is a program and its arguments.
func argv() table.Value[[]string] { return table.Some(table.Text()) }

var (
	toolNameShape   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	serverNameShape = regexp.MustCompile(`^[A-Za-z0-9-]([A-Za-z0-9_-]{0,30}[A-Za-z0-9-])?$`)
)

func program() table.Value[Program] {
	return table.Mapping("a program as a tool", Program{Effects: "external"}, func(k *table.Keys, p *Program) {
		table.To(k, "name", table.Matching(toolNameShape, "a tool name of letters, digits, _ and -"), &p.Name, "What the model calls.").Must()
		table.To(k, "description", table.Filled(), &p.Description, "What the model reads about it.").Must()
		table.To(k, "parameters", table.Parameters(), &p.Parameters, "JSON Schema of the arguments; it reaches the model unchanged.")
		table.To(k, "run", argv(), &p.Run, "The program and its arguments; there is no shell. {name} stands for the argument of that name; all of them come as JSON on stdin.").Must()
		table.To(k, "effects", effects(), &p.Effects, "What a call does to the world, and so whether it may be repeated; default external.")
		table.To(k, "paths", table.Some(table.Filled()), &p.Paths, "Parameters that name files, one or a list of them: permissions match every spelling of such a path.")
		table.To(k, "timeout", table.Duration(), &p.Timeout, "How long a call may take.")
		table.To(k, "max_output", maxOutput(), &p.MaxOutput, "How much of the output the model sees, 8MB at most.")
		table.To(k, "sequential", table.Boolean(), &p.Sequential, "An answer that calls this tool has its calls run one after the other.")
	}).Then(checkArguments)
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// checkArguments reports what is named as an argument of the tool and is none:
// a placeholder that fills its place in argv alone, or one with a near name
// (other braces are left to the program), and a path.
func checkArguments(d *table.Decoder, n *table.Node, p *Program) {
	if placeholder.MatchString(p.Run[0]) {
		d.At(n, "", "run lets the model choose the program")
	}
	names, ok := propertyNames(p.Parameters)
	if !ok {
		d.At(n, "", "parameters: properties must be a mapping")
		return
	}
	for _, arg := range p.Run[1:] {
		for _, m := range placeholder.FindAllStringSubmatch(arg, -1) {
			_, near := table.Nearest(m[1], names)
			if !slices.Contains(names, m[1]) && (near || arg == m[0]) {
				d.At(n, table.Suggest(m[1], names, "parameters"), "run has {%s}, which is no parameter of %s", m[1], p.Name)
			}
		}
	}
	for i, name := range p.Paths {
		if !slices.Contains(names, name) {
			d.At(n.Find("paths").Items()[i], table.Suggest(name, names, "parameters"), "paths has %s, which is no parameter of %s", table.Quote(name), p.Name)
		}
	}
}

// propertyNames are the arguments that a JSON Schema declares.
func propertyNames(parameters json.RawMessage) ([]string, bool) {
	var known struct{ Properties map[string]json.RawMessage }
	ok := len(parameters) == 0 || json.Unmarshal(parameters, &known) == nil
	return slices.Sorted(maps.Keys(known.Properties)), ok
}

func mcp() table.Value[MCP] {
	return table.Mapping("an MCP server", MCP{Required: true, Effects: "external"}, func(k *table.Keys, m *MCP) {
		table.To(k, "mcp", table.Matching(serverNameShape, "a server name of letters, digits, _ and -"), &m.Server, "Name of the server; its tools are mcp__<name>__<tool>.").Must()
		table.To(k, "command", argv(), &m.Command, "Program and arguments of a server on stdio.")
		table.To(k, "url", table.Filled(), &m.URL, "Address of a server over streamable HTTP.")
		table.To(k, "headers_env", table.Map(table.EnvName()), &m.HeadersEnv, "Headers of the requests, each with the environment variable that holds its value.")
		table.To(k, "env", table.List(table.EnvPattern()), &m.Env, "Environment variables that the server gets besides the usual ones.")
		table.To(k, "tools", table.Some(table.Filled()), &m.Tools, "Patterns of the tools to take; default: all.")
		table.To(k, "required", table.Boolean(), &m.Required, "Without this server there is no run (exit 3); default true. False: run without it and say so.")
		table.To(k, "effects", effects(), &m.Effects, "What calls of its tools do to the world; default external.")
		table.To(k, "paths", table.Map(table.Some(table.Filled())), &m.Paths, "Arguments that name files, by the name of the tool or a pattern: { move_file: [source, destination] }. Permissions match every spelling of such a path.")
		table.To(k, "timeout", table.Duration(), &m.Timeout, "How long a call may take.")
	}).Then(func(d *table.Decoder, n *table.Node, m *MCP) {
		switch {
		case strings.Contains(m.Server, "__"):
			d.At(n, "", "the server name %q has __, which ends it in the names of its tools", m.Server)
		case (len(m.Command) > 0) == (m.URL != ""):
			d.At(n, "", "an MCP server needs either command or url")
		case m.URL == "" && len(m.HeadersEnv) > 0:
			d.At(n, "", "headers_env belongs to a server with a url")
		case m.URL != "" && len(m.Env) > 0:
			d.At(n, "", "env belongs to a server with a command")
		case m.URL != "" && !isHTTP(m.URL):
			d.At(n, "", "url: want http:// or https:// and a host, without a password")
		case m.Paths != nil:
			for _, of := range n.Find("paths").Members() {
				if _, err := path.Match(of.Name, ""); err != nil {
					d.At(of.Key, "", "%s is no pattern", table.Quote(of.Name))
				}
			}
		}
	})
}

// tool is one item of tools: a name, or a mapping in one of three shapes.
func (r *reader) tool() table.Value[Tool] {
	return table.Value[Tool]{Schema: table.Ref("tool"), Decode: func(_ *table.Decoder, n *table.Node) (Tool, bool) {
		t, ok := r.readTool(n)
		t.Place = place(n)
		return t, ok && r.declare(n, t)
	}}
}

// addedTool is an item of add: as in tools, or the name of one of tools.
func (r *reader) addedTool() table.Value[Tool] {
	v := r.tool()
	declare := v.Decode
	v.Decode = func(d *table.Decoder, n *table.Node) (Tool, bool) {
		if t := cmp.Or(r.tools[n.Value], r.servers[n.Value]); n.IsScalar() && t != nil {
			return *t, true
		}
		return declare(d, n)
	}
	return v
}

// readTool reads a tool by its shape.
func (r *reader) readTool(n *table.Node) (t Tool, ok bool) {
	keys := n.Members()
	switch {
	case n.IsScalar():
		name, ok := table.Text().Decode(r.Decoder, n)
		t.Builtin = &Builtin{Name: name}
		return t, ok && r.isBuiltin(n, name)
	case !n.IsMapping():
		r.At(n, "", "want a tool, found %s", n.Describe())
	case n.Find("mcp") != nil:
		t.MCP, ok = table.Optional(mcp()).Decode(r.Decoder, n)
	case n.Find("name") != nil || n.Find("run") != nil:
		t.Program, ok = table.Optional(program()).Decode(r.Decoder, n)
	case len(keys) != 1:
		r.At(n, "write - bash: {…}, or a mapping with name and run, or one with mcp", "a tool of no known shape")
	case r.isBuiltin(keys[0].Key, keys[0].Name):
		t.Builtin, ok = table.Optional(builtin(keys[0].Name)).Decode(r.Decoder, keys[0].Value)
	}
	return t, ok
}

// isBuiltin reports a name that no built-in tool has, or one that this
// program cannot offer.
func (r *reader) isBuiltin(n *table.Node, name string) bool {
	usable := r.opts.Builtins.Names()
	switch {
	case slices.Contains(usable, name):
		return true
	case slices.Contains(builtins.All().Names(), name):
		r.At(n, "there are: "+strings.Join(usable, ", "), "the tool %q is not available", name)
	default:
		r.At(n, table.Suggest(name, usable, "built-in tools"), "no built-in tool is called %s", table.Quote(name))
	}
	return false
}

// declare notes the name of a tool; two with one name are an error.
func (r *reader) declare(n *table.Node, t Tool) bool {
	kind, known, name := "tool", r.tools, ""
	switch {
	case t.MCP != nil:
		kind, known, name = "MCP server", r.servers, t.MCP.Server
	case t.Program != nil:
		name = t.Program.Name
	default:
		name = t.Builtin.Name
	}
	if known[name] != nil {
		r.At(n, "", "the %s %q is here twice", kind, name)
		return false
	}
	known[name] = &t
	return true
}

// toolName is the name of a tool that the task has at some time, or of one of
// others.
func (r *reader) toolName(others []string) table.Value[string] {
	return table.Filled().Then(func(_ *table.Decoder, n *table.Node, name *string) {
		r.later(func() { r.checkToolName(n, *name, others) })
	})
}

// checkToolName reports a name that no tool of the task can have, and that is
// none of others. What an MCP server offers is not known before it runs.
func (r *reader) checkToolName(n *table.Node, name string, others []string) {
	rest, ofServer := strings.CutPrefix(name, "mcp__")
	server, _, _ := strings.Cut(rest, "__")
	if r.tools[name] != nil || slices.Contains(others, name) || ofServer && r.servers[server] != nil {
		return
	}
	names := append(slices.Sorted(maps.Keys(r.tools)), others...)
	r.At(n, table.Suggest(name, names, "tools"), "the task has no tool %s", table.Quote(name))
}
