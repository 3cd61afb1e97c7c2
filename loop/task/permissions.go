package task

import (
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Permissions is what tools may do.
type Permissions struct {
	Default string       `json:"default"` // allow (default) or deny: only what Allow names
	Allow   []Permission `json:"allow,omitempty"`
	Deny    []Permission `json:"deny,omitempty"` // wins
	OnDeny  string       `json:"on_deny"`        // result (default) or stop
	Env     []string     `json:"env,omitempty"`  // names and beginnings (NPM_*) that tools get besides the usual ones
}

// Permission names tools and, if Argument is set, which calls of them.
type Permission struct {
	Tool     string `json:"tool"`               // name or pattern: mcp__files__read_*
	Argument string `json:"argument,omitempty"` // name of an argument: command of bash, path of a file tool
	Pattern  string `json:"pattern,omitempty"`  // what the argument looks like; * is any text
	Place    Place  `json:"-"`
}

// Secrets is what is masked in transcripts and events.
type Secrets struct {
	Redact        []string `json:"redact"`                   // default: known_env and patterns
	ExtraPatterns []string `json:"extra_patterns,omitempty"` // regular expressions (RE2)
}

// Batch is what the file says about the batch it runs in.
type Batch struct {
	Concurrency int    // tasks at once; 0 is not said
	Retries     int    // whole-task retries after a provider failure
	Budget      Budget // of all tasks together
}

// The values of Permissions and Secrets.
const (
	Allow          = "allow"
	Deny           = "deny"
	OnDenyResult   = "result"
	OnDenyStop     = "stop"
	RedactKnownEnv = "known_env"
	RedactPatterns = "patterns"
)

func defaultPermissions() Permissions { return Permissions{Default: Allow, OnDeny: OnDenyResult} }

func permissionsTable() object[Permissions] {
	return object[Permissions]{
		name: "permissions",
		keys: []key[Permissions]{
			to("default", oneOf(Allow, Deny), func(p *Permissions) *string { return &p.Default }, "allow (default): listing a tool grants it; deny: only what allow names. There is no ask, as nobody is there."),
			to("allow", list(permission()), func(p *Permissions) *[]Permission { return &p.Allow }, "What is allowed."),
			to("deny", list(permission()), func(p *Permissions) *[]Permission { return &p.Deny }, "What is not; it wins over allow."),
			to("on_deny", oneOf(OnDenyResult, OnDenyStop), func(p *Permissions) *string { return &p.OnDeny }, "result (default): the model sees an error result; stop: the task ends as denied."),
			to("env", list(envPattern()), func(p *Permissions) *[]string { return &p.Env }, "Environment variables that tools get besides PATH, HOME, LANG, LC_*, TMPDIR and TZ."),
		},
	}
}

// permission is a tool, or a mapping of a tool to a pattern for an argument.
func permission() value[Permission] {
	return value[Permission]{
		schema: &schemaNode{AnyOf: []*schemaNode{
			{Type: "string", MinLength: 1},
			{Type: "object", MinProperties: 1, MaxProperties: 1, AdditionalProperties: &schemaNode{
				Type: "object", MinProperties: 1, MaxProperties: 1, AdditionalProperties: &schemaNode{Type: "string", MinLength: 1},
			}},
		}},
		decode: decodePermission,
	}
}

func decodePermission(d *decoder, n *yaml.Node) (Permission, bool) {
	p := Permission{Place: Place{n.Line, n.Column}}
	if n.Kind != yaml.MappingNode {
		tool, ok := filled().decode(d, n)
		p.Tool = tool
		return p, ok && d.toolPattern(n, tool)
	}
	shape := func() (Permission, bool) {
		d.at(n, `write bash, or { bash: { command: "git log *" } }`, "a permission names one tool and one argument")
		return p, false
	}
	tools := members(n)
	if len(tools) != 1 || tools[0].value.Kind != yaml.MappingNode {
		return shape()
	}
	args := members(tools[0].value)
	if len(args) != 1 {
		return shape()
	}
	pattern, ok := filled().decode(d, args[0].value)
	p.Tool, p.Argument, p.Pattern = tools[0].name, args[0].name, pattern
	if !d.toolPattern(tools[0].key, p.Tool) {
		return p, false
	}
	d.later(func() { d.checkArgument(args[0].key, p) })
	return p, ok
}

// toolPattern checks a tool name in a permission. A name without * that no
// tool has would deny nothing, quietly.
func (d *decoder) toolPattern(n *yaml.Node, pattern string) bool {
	if _, err := path.Match(pattern, ""); err != nil {
		d.at(n, "", "%s is no pattern", quoted(pattern))
		return false
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		d.later(func() { d.checkToolName(n, pattern, d.opts.Builtins.Names()) })
	}
	return true
}

// checkArgument reports a misspelt argument of a built-in tool: it would deny
// nothing.
func (d *decoder) checkArgument(n *yaml.Node, p Permission) {
	for _, t := range d.opts.Builtins.Facts() {
		if t.Name != p.Tool {
			continue
		}
		names, _ := propertyNames(t.Parameters)
		if _, near := nearest(p.Argument, names); near && !slices.Contains(names, p.Argument) {
			d.at(n, suggest(p.Argument, names, ""), "the tool %s has no argument %s", p.Tool, quoted(p.Argument))
		}
	}
}

func secretsTable() object[Secrets] {
	return object[Secrets]{
		name: "secrets",
		keys: []key[Secrets]{
			to("redact", list(oneOf(RedactKnownEnv, RedactPatterns)), func(s *Secrets) *[]string { return &s.Redact }, "What is masked: values of the variables that *_env keys name, and texts that look like keys. Default: both; [] masks nothing."),
			to("extra_patterns", list(regex()), func(s *Secrets) *[]string { return &s.ExtraPatterns }, "Further regular expressions (RE2) of texts to mask."),
		},
	}
}

// defaultSecrets masks all that is known.
func defaultSecrets() Secrets {
	return Secrets{Redact: []string{RedactKnownEnv, RedactPatterns}}
}
