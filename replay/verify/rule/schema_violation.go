package rule

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/schema"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func schemaViolation() verify.Rule {
	return verify.Rule{
		ID:       "schema-violation",
		Group:    groupArgs,
		Severity: verify.Error,
		Title:    "a call ran although its arguments break the schema declared at that point",
		Why: "Providers without a strict mode check nothing, so the tool got what it was not made for, or the runtime converted it unseen " +
			"(AtomicBot-ai/atomic-agent#182: 45 calls, earendil-works/pi#9569, dkmaker/hass-pi-agent#42: objects sent as strings). A warning; an error if the tool changes things.",
		Fix:   "Validate before executing and answer with the error; record arguments that were converted.",
		Quiet: "Calls that were answered with an error, conversions that the transcript records, schema keywords that nobody knows.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"drop","description":"d","parameters":{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"drop","arguments":{"row":3}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"drop","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"drop","description":"d","parameters":{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"drop","arguments":{"row":3}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"drop","content":[{"type":"text","text":"rows: missing"}],"isError":true}}
`,
		New: func(verify.Values) verify.Checker {
			s := schemas{}
			return verify.Checker{
				Memory: func() verify.Memory { return new(violations) },
				Call: func(p *verify.Pass, c *verify.Call) {
					m := p.Memory().(*violations)
					m.start(c)
					if why := s.violation(c); why != "" {
						m.add(c, why)
					}
				},
				Step:   func(p *verify.Pass, e *transcript.Entry) { p.Memory().(*violations).intent(e) },
				Answer: func(p *verify.Pass, a *verify.Answer) { p.Memory().(*violations).answer(p, a) },
			}
		},
	}
}

// schemas are the compiled parameters of the tools of a file, by declaration.
type schemas map[declarationKey]parameters

// parameters are what a declaration says of its arguments.
type parameters struct {
	plain *schema.Plain
	full  *schema.Schema // nil until it is needed
	bad   bool           // it does not compile, or refers to what is not there: nothing can be said
}

type declarationKey struct {
	name string
	line int
}

// maxSchemas is how many declarations are remembered.
const maxSchemas = 512

// violation says how the arguments of a call break the schema of its tool, ""
// if they do not or it cannot be known.
func (s schemas) violation(c *verify.Call) string {
	args := objectOf(c.Arguments)
	if c.Standing != verify.Declared || c.Turn.Failed || c.ArgumentsError != "" || len(args) == 0 || args[0] != '{' {
		return ""
	}
	key := declarationKey{c.Tool.Name, c.DeclaredAt}
	declared, ok := s[key]
	if !ok {
		if len(s) == maxSchemas {
			clear(s) // a file that declares anew all the time
		}
		declared.plain = schema.NewPlain(c.Tool.Parameters)
		s[key] = declared
	}
	if declared.plain.Accepts(args) {
		return ""
	}
	if declared.full == nil && !declared.bad {
		var err error
		declared.full, err = schema.Compile(c.Tool.Parameters)
		declared.bad = err != nil || declared.full.Unresolved()
		s[key] = declared
	}
	if declared.bad {
		return ""
	}
	var invalid *schema.ValidationError
	if err := declared.full.Validate(json.RawMessage(args)); errors.As(err, &invalid) {
		return invalid.Error()
	}
	return ""
}

// violations are the calls of the open exchange that break their schema.
type violations struct {
	turn  int                         // line of the assistant message
	calls pmap.Map[string, violation] // by id
}

type violation struct {
	at      verify.Place
	id, why string
	name    string
	changes bool // the tool is known to change things
	known   bool // the transcript has the arguments that it really got
}

func (v *violations) Clone() verify.Memory { c := *v; return &c }

// start forgets the calls of an earlier message.
func (v *violations) start(c *verify.Call) {
	if v.turn != c.Turn.Line {
		*v = violations{turn: c.Turn.Line}
	}
}

func (v *violations) add(c *verify.Call, why string) {
	if _, ok := v.calls.Get(c.ID); !ok {
		v.calls = v.calls.Set(c.ID, violation{at: c.Place, id: c.ID, name: c.Name, why: why})
	}
}

// intent reads what turnlog records before a tool starts.
func (v *violations) intent(e *transcript.Entry) {
	if v.calls.Len() == 0 || e.Custom == nil || e.Custom.CustomType != transcript.CustomCall {
		return
	}
	var intent transcript.CallIntent
	if e.Custom.Decode(&intent) != nil {
		return
	}
	if c, ok := v.calls.Get(intent.ToolCallID); ok {
		c.changes = intent.Effects == "write" || intent.Effects == "external"
		c.known = c.known || len(intent.Arguments) > 0
		v.calls = v.calls.Set(c.id, c)
	}
}

func (v *violations) answer(p *verify.Pass, a *verify.Answer) {
	if a.Call == nil || a.Kind == verify.Again || !a.Ran() {
		return
	}
	c, ok := v.calls.Get(a.Call.ID)
	if !ok || c.at.Line != a.Call.Line || c.known {
		return
	}
	f := c.at.Finding("%s ran with arguments that break its schema: %s", quote(c.name), oneLine(c.why))
	f.Subject = c.id
	f.Severity = verify.Warning
	if c.changes {
		f.Severity = verify.Error
	}
	f.Related = []verify.Related{
		{Line: a.Call.DeclaredAt, Message: "the declaration"},
		{Line: a.Line, Message: "it ran"},
	}
	p.Report(f)
}

// oneLine keeps the first problem of an explanation.
func oneLine(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "- ") {
			return short(strings.TrimPrefix(line, "- "))
		} else if line != "" {
			lines = append(lines, line)
		}
	}
	return short(strings.Join(lines, "; "))
}
