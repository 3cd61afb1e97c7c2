package task

import (
	"path"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/task/internal/table"
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

// defaultSecrets masks all that is known.
func defaultSecrets() Secrets {
	return Secrets{Redact: []string{RedactKnownEnv, RedactPatterns}}
}

func (r *reader) permissionsKeys(k *table.Keys, p *Permissions) {
	table.To(k, "default", table.OneOf(Allow, Deny), &p.Default, "allow (default): listing a tool grants it; deny: only what allow names. There is no ask, as nobody is there.")
	table.To(k, "allow", table.List(r.permission()), &p.Allow, "What is allowed.")
	table.To(k, "deny", table.List(r.permission()), &p.Deny, "What is not; it wins over allow.")
	table.To(k, "on_deny", table.OneOf(OnDenyResult, OnDenyStop), &p.OnDeny, "result (default): the model sees an error result; stop: the task ends as denied.")
	table.To(k, "env", table.List(table.EnvPattern()), &p.Env, "Environment variables that tools get besides PATH, HOME, LANG, LC_*, TMPDIR and TZ.")
}

// permission is a tool, or a mapping of a tool to a pattern for an argument.
func (r *reader) permission() table.Value[Permission] {
	return table.Value[Permission]{
		Schema: func() *table.Schema {
			text := &table.Schema{Type: "string", MinLength: 1}
			argument := (&table.Schema{Type: "object", AdditionalProperties: text}).OneKey()
			return &table.Schema{AnyOf: []*table.Schema{text, (&table.Schema{Type: "object", AdditionalProperties: argument}).OneKey()}}
		},
		Decode: func(_ *table.Decoder, n *table.Node) (Permission, bool) {
			p, ok := r.readPermission(n)
			p.Place = place(n)
			return p, ok
		},
	}
}

func (r *reader) readPermission(n *table.Node) (p Permission, ok bool) {
	if !n.IsMapping() {
		p.Tool, ok = table.Filled().Decode(r.Decoder, n)
		return p, ok && r.toolPattern(n, p.Tool)
	}
	var args []table.Member
	tools := n.Members()
	if len(tools) == 1 {
		args = tools[0].Value.Members()
	}
	if len(args) != 1 {
		r.At(n, `write bash, or { bash: { command: "git log *" } }`, "a permission names one tool and one argument")
		return p, false
	}
	p.Tool, p.Argument = tools[0].Name, args[0].Name
	p.Pattern, ok = table.Filled().Decode(r.Decoder, args[0].Value)
	if !r.toolPattern(tools[0].Key, p.Tool) {
		return p, false
	}
	r.later(func() { r.checkArgument(args[0].Key, p) })
	return p, ok
}

// toolPattern checks a tool name in a permission. A name without * that no
// tool has would deny nothing, quietly.
func (r *reader) toolPattern(n *table.Node, pattern string) bool {
	if _, err := path.Match(pattern, ""); err != nil {
		r.At(n, "", "%s is no pattern", table.Quote(pattern))
		return false
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		r.later(func() { r.checkToolName(n, pattern, r.opts.Builtins.Names()) })
	}
	return true
}

// checkArgument reports a misspelt argument of a built-in tool: it would deny
// nothing.
func (r *reader) checkArgument(n *table.Node, p Permission) {
	for _, t := range r.opts.Builtins.Facts() {
		if t.Name != p.Tool {
			continue
		}
		names, _ := propertyNames(t.Parameters)
		if _, near := table.Nearest(p.Argument, names); near && !slices.Contains(names, p.Argument) {
			r.At(n, table.Suggest(p.Argument, names, ""), "the tool %s has no argument %s", p.Tool, table.Quote(p.Argument))
		}
	}
}

func secretsKeys(k *table.Keys, s *Secrets) {
	table.To(k, "redact", table.List(table.OneOf(RedactKnownEnv, RedactPatterns)), &s.Redact, "What is masked: values of the variables that *_env keys name, and texts that look like keys. Default: both; [] masks nothing.")
	table.To(k, "extra_patterns", table.List(table.Regexp()), &s.ExtraPatterns, "Further regular expressions (RE2) of texts to mask.")
}
