package task

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
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

func executionTable() object[Execution] {
	return object[Execution]{
		name: "tool_execution",
		keys: []key[Execution]{
			to("mode", oneOf(Parallel, Sequential), func(e *Execution) *string { return &e.Mode }, "How the tool calls of one answer run; default parallel."),
			to("max_parallel", integer(1, 1024), func(e *Execution) *int { return &e.MaxParallel }, "How many of them run at once; default: all."),
		},
	}
}

func builtinTable(name string) object[Builtin] {
	return object[Builtin]{
		name: "the tool " + name,
		keys: []key[Builtin]{
			to("timeout", duration(), func(b *Builtin) *time.Duration { return &b.Timeout }, "How long a call may take."),
			to("max_output", size(), func(b *Builtin) *int64 { return &b.MaxOutput }, "How much of the output the model sees, 8MB at most; head and tail are kept."),
			to("sequential", boolean(), func(b *Builtin) *bool { return &b.Sequential }, "An answer that calls this tool has its calls run one after the other."),
		},
	}
}

// effects is what a call does to the world.
func effects() value[string] { return oneOf("none", "read", "write", "external") }

func programTable() object[Program] {
	return object[Program]{
		name: "a program as a tool",
		keys: []key[Program]{
			to("name", matching(`^[A-Za-z0-9_-]{1,64}$`, "a tool name of letters, digits, _ and -"), func(p *Program) *string { return &p.Name }, "What the model calls.").must(),
			to("description", filled(), func(p *Program) *string { return &p.Description }, "What the model reads about it.").must(),
			to("parameters", parameters(), func(p *Program) *json.RawMessage { return &p.Parameters }, "JSON Schema of the arguments; it reaches the model unchanged."),
			to("run", nonEmpty(list(text())), func(p *Program) *[]string { return &p.Run }, "The program and its arguments; there is no shell. {name} stands for the argument of that name; all of them come as JSON on stdin.").must(),
			to("effects", effects(), func(p *Program) *string { return &p.Effects }, "What a call does to the world, and so whether it may be repeated; default external."),
			to("paths", nonEmpty(list(filled())), func(p *Program) *[]string { return &p.Paths }, "Parameters that name files, one or a list of them: permissions match every spelling of such a path."),
			to("timeout", duration(), func(p *Program) *time.Duration { return &p.Timeout }, "How long a call may take."),
			to("max_output", size(), func(p *Program) *int64 { return &p.MaxOutput }, "How much of the output the model sees, 8MB at most."),
			to("sequential", boolean(), func(p *Program) *bool { return &p.Sequential }, "An answer that calls this tool has its calls run one after the other."),
		},
		check: checkArguments,
	}
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// checkArguments reports what is named as an argument of the tool and is none:
// a placeholder that fills its place in argv alone, or one with a near name
// (other braces are left to the program), and a path.
func checkArguments(d *decoder, n *yaml.Node, p *Program) {
	if placeholder.MatchString(p.Run[0]) {
		d.at(n, "", "run lets the model choose the program")
	}
	names, ok := propertyNames(p.Parameters)
	if !ok {
		d.at(n, "", "parameters: properties must be a mapping")
		return
	}
	for _, arg := range p.Run[1:] {
		for _, m := range placeholder.FindAllStringSubmatch(arg, -1) {
			_, near := nearest(m[1], names)
			if !slices.Contains(names, m[1]) && (near || arg == m[0]) {
				d.at(n, suggest(m[1], names, "parameters"), "run has {%s}, which is no parameter of %s", m[1], p.Name)
			}
		}
	}
	for i, name := range p.Paths {
		if !slices.Contains(names, name) {
			d.at(find(n, "paths").Content[i], suggest(name, names, "parameters"), "paths has %s, which is no parameter of %s", quoted(name), p.Name)
		}
	}
}

// propertyNames are the arguments that a JSON Schema declares.
func propertyNames(parameters json.RawMessage) ([]string, bool) {
	var known struct{ Properties map[string]json.RawMessage }
	ok := len(parameters) == 0 || json.Unmarshal(parameters, &known) == nil
	return slices.Sorted(maps.Keys(known.Properties)), ok
}

func mcpTable() object[MCP] {
	return object[MCP]{
		name: "an MCP server",
		keys: []key[MCP]{
			to("mcp", matching(`^[A-Za-z0-9-]([A-Za-z0-9_-]{0,30}[A-Za-z0-9-])?$`, "a server name of letters, digits, _ and -"), func(m *MCP) *string { return &m.Server }, "Name of the server; its tools are mcp__<name>__<tool>.").must(),
			to("command", nonEmpty(list(text())), func(m *MCP) *[]string { return &m.Command }, "Program and arguments of a server on stdio."),
			to("url", filled(), func(m *MCP) *string { return &m.URL }, "Address of a server over streamable HTTP."),
			to("headers_env", mapOf(envName()), func(m *MCP) *map[string]string { return &m.HeadersEnv }, "Headers of the requests, each with the environment variable that holds its value."),
			to("env", list(envPattern()), func(m *MCP) *[]string { return &m.Env }, "Environment variables that the server gets besides the usual ones."),
			to("tools", nonEmpty(list(filled())), func(m *MCP) *[]string { return &m.Tools }, "Patterns of the tools to take; default: all."),
			to("required", boolean(), func(m *MCP) *bool { return &m.Required }, "Without this server there is no run (exit 3); default true. False: run without it and say so."),
			to("effects", effects(), func(m *MCP) *string { return &m.Effects }, "What calls of its tools do to the world; default external."),
			to("paths", mapOf(nonEmpty(list(filled()))), func(m *MCP) *map[string][]string { return &m.Paths }, "Arguments that name files, by the name of the tool or a pattern: { move_file: [source, destination] }. Permissions match every spelling of such a path."),
			to("timeout", duration(), func(m *MCP) *time.Duration { return &m.Timeout }, "How long a call may take."),
		},
		check: func(d *decoder, n *yaml.Node, m *MCP) {
			switch {
			case strings.Contains(m.Server, "__"):
				d.at(n, "", "the server name %q has __, which ends it in the names of its tools", m.Server)
			case (len(m.Command) > 0) == (m.URL != ""):
				d.at(n, "", "an MCP server needs either command or url")
			case m.URL == "" && len(m.HeadersEnv) > 0:
				d.at(n, "", "headers_env belongs to a server with a url")
			case m.URL != "" && len(m.Env) > 0:
				d.at(n, "", "env belongs to a server with a command")
			case m.URL != "" && !isHTTP(m.URL):
				d.at(n, "", "url: want http:// or https:// and a host, without a password")
			case m.Paths != nil:
				for _, of := range members(find(n, "paths")) {
					if _, err := path.Match(of.name, ""); err != nil {
						d.at(of.key, "", "%s is no pattern", quoted(of.name))
					}
				}
			}
		},
	}
}

// envName is the name of an environment variable.
func envName() value[string] {
	return matching(`^[A-Za-z_][A-Za-z0-9_]*$`, "the name of an environment variable")
}

// envPattern is such a name, or its beginning with a star.
func envPattern() value[string] {
	return matching(`^[A-Za-z_][A-Za-z0-9_]*\*?$`, "the name of an environment variable, or its beginning and *")
}

// serverOf is the server in a tool name mcp__server__tool.
func serverOf(name string) string {
	server, _, _ := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	return server
}

// tool is one item of tools: a name, or a mapping in one of three shapes.
func tool() value[Tool] {
	return value[Tool]{
		schema: ref("tool"),
		decode: func(d *decoder, n *yaml.Node) (Tool, bool) {
			t, ok := decodeTool(d, n)
			if ok {
				ok = d.declare(n, t)
			}
			return t, ok
		},
	}
}

// addedTool is an item of add: as in tools, or the name of one of tools.
func addedTool() value[Tool] {
	return value[Tool]{
		schema: ref("tool"),
		decode: func(d *decoder, n *yaml.Node) (Tool, bool) {
			if n.Kind == yaml.ScalarNode && d.listed[n.Value] != nil {
				return *d.listed[n.Value], true
			}
			return tool().decode(d, n)
		},
	}
}

func decodeTool(d *decoder, n *yaml.Node) (Tool, bool) {
	t := Tool{Place: Place{n.Line, n.Column}}
	if n.Kind == yaml.ScalarNode {
		name, ok := decodeText(d, n)
		t.Builtin = &Builtin{Name: name}
		return t, ok && d.isBuiltin(n, name)
	}
	if n.Kind != yaml.MappingNode {
		d.at(n, "", "want a tool, found %s", kindName(n))
		return t, false
	}
	keys := members(n)
	has := func(name string) bool {
		return slices.ContainsFunc(keys, func(m member) bool { return m.name == name })
	}
	switch {
	case has("mcp"):
		t.MCP = &MCP{Required: true, Effects: "external"}
		return t, d.tables.mcp.decode(d, n, t.MCP)
	case has("name") || has("run"):
		t.Program = &Program{Effects: "external"}
		return t, d.tables.program.decode(d, n, t.Program)
	case len(keys) == 1:
		t.Builtin = &Builtin{Name: keys[0].name}
		return t, d.isBuiltin(keys[0].key, keys[0].name) && builtinTable(keys[0].name).decode(d, keys[0].value, t.Builtin)
	}
	d.at(n, "write - bash: {…}, or a mapping with name and run, or one with mcp", "a tool of no known shape")
	return t, false
}

// isBuiltin reports a name that no built-in tool has.
func (d *decoder) isBuiltin(n *yaml.Node, name string) bool {
	names := d.opts.Builtins.Names()
	if slices.Contains(names, name) {
		return true
	}
	d.at(n, suggest(name, names, "built-in tools"), "no built-in tool is called %s", quoted(name))
	return false
}

// declare notes the name of a tool; two with one name are an error.
func (d *decoder) declare(n *yaml.Node, t Tool) bool {
	name := ""
	switch {
	case t.MCP != nil:
		if d.servers[t.MCP.Server] {
			d.at(n, "", "the MCP server %q is here twice", t.MCP.Server)
			return false
		}
		d.servers[t.MCP.Server] = true
		d.listed[t.MCP.Server] = &t
		return true
	case t.Program != nil:
		name = t.Program.Name
	default:
		name = t.Builtin.Name
	}
	if d.tools[name] {
		d.at(n, "", "the tool %q is here twice", name)
		return false
	}
	d.tools[name] = true
	d.listed[name] = &t
	return true
}

// toolNames lists the tools that have been declared.
func (d *decoder) toolNames() []string { return slices.Sorted(maps.Keys(d.tools)) }
