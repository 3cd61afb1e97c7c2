package transcript

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// The members of messages, and of what is inside of them except for content.
var (
	messageMembers = table[Message]{members: []member[Message]{
		text("toolCallId", func(m *Message) *string { return &m.ToolCallID }).when(isResult),
		text("toolName", func(m *Message) *string { return &m.ToolName }).when(isResult),
		{write: func(w writer, m *Message) writer {
			if m.Bash == nil || m.Role != BashExecution {
				return w
			}
			return bashMembers.write(w, m.Bash)
		}},
		{"content", (*parser).content, writer.content},
		of("sections", func(m *Message) *[]Section { return &m.Sections }, (*parser).sections, writer.sections),
		list("toolsAdded", func(m *Message) *[]Tool { return &m.ToolsAdded }, &toolMembers),
		list("toolsRemoved", func(m *Message) *[]ToolRef { return &m.ToolsRemoved }, &toolRefMembers),
		text("api", func(m *Message) *string { return &m.API }),
		text("provider", func(m *Message) *string { return &m.Provider }),
		text("model", func(m *Message) *string { return &m.Model }),
		{"usage", (*parser).usage, writer.usage},
		text("stopReason", func(m *Message) *string { return &m.StopReason }).then(func(m *Message) { m.StopReason = known(m.StopReason) }),
		text("errorMessage", func(m *Message) *string { return &m.ErrorMessage }),
		free("details", func(m *Message) *json.RawMessage { return &m.Details }),
		free("usage", func(m *Message) *json.RawMessage { return &m.ToolUsage }).when(isResult).writeOnly(),
		flag("isError", func(m *Message) *bool { return &m.IsError }).then(func(m *Message) { m.HasIsError = true }).
			when(func(m *Message) bool { return m.IsError || m.HasIsError || isResult(m) }),
		duration.when(func(m *Message) bool { return isResult(m) && m.hasDuration() }),
		number("timestamp", func(m *Message) *int64 { return &m.Timestamp }).when(func(m *Message) bool { return m.Timestamp != 0 }),
		text("responseId", func(m *Message) *string { return &m.ResponseID }),
		text("responseModel", func(m *Message) *string { return &m.ResponseModel }),
		text("rawStopReason", func(m *Message) *string { return &m.RawStopReason }),
		duration.when(func(m *Message) bool { return !isResult(m) && m.hasDuration() }).writeOnly(),
		text("thinkingLevel", func(m *Message) *string { return &m.ThinkingLevel }),
		flag("excludeFromContext", func(m *Message) *bool { return &m.Bash.ExcludeFromContext }).
			when(func(m *Message) bool { return m.Bash != nil && m.Bash.ExcludeFromContext }).writeOnly(),
	}}
	duration = number("durationMs", func(m *Message) *int64 { return &m.DurationMs }).then(func(m *Message) { m.HasDuration = true })

	bashMembers = table[Bash]{members: []member[Bash]{
		always("command", func(b *Bash) *string { return &b.Command }),
		always("output", func(b *Bash) *string { return &b.Output }),
		maybe("exitCode", func(b *Bash) **int { return &b.ExitCode }, (*parser).whole, writer.whole),
		flag("cancelled", func(b *Bash) *bool { return &b.Cancelled }),
		flag("truncated", func(b *Bash) *bool { return &b.Truncated }),
		text("fullOutputPath", func(b *Bash) *string { return &b.FullOutputPath }),
		// It is written at the end of the message.
		flag("excludeFromContext", func(b *Bash) *bool { return &b.ExcludeFromContext }).when(func(*Bash) bool { return false }),
	}}
	toolMembers = table[Tool]{func(t *Tool) *[]Field { return &t.Extra }, []member[Tool]{
		always("name", func(t *Tool) *string { return &t.Name }),
		always("description", func(t *Tool) *string { return &t.Description }),
		free("parameters", func(t *Tool) *json.RawMessage { return &t.Parameters }),
	}}
	toolRefMembers = table[ToolRef]{members: []member[ToolRef]{
		always("name", func(t *ToolRef) *string { return &t.Name }),
	}}
)

func isResult(m *Message) bool { return m.Role == ToolResult }

func (m *Message) hasDuration() bool { return m.HasDuration || m.DurationMs > 0 }

// ParseMessage reads a message from JSON bytes, which the message shares. The
// error is a *SyntaxError.
func ParseMessage(raw []byte) (Message, error) {
	var p parser
	var m Message
	p.reset(raw, nil, !utf8.Valid(raw))
	if p.Peek() == '{' {
		p.message(&m)
		p.End()
	} else {
		p.Unexpected("an object")
	}
	if p.Failed {
		return Message{}, p.syntaxError()
	}
	for i := range m.Content {
		if c := m.Content[i].Call; c != nil {
			c.Column = 0 // it is not in a line
		}
	}
	return m, nil
}

// AppendMessage appends m as one JSON object, fields in the order that pi
// writes them, without HTML escaping. What it writes, [ParseMessage] reads as
// an equal message.
func AppendMessage(dst []byte, m *Message) []byte {
	w := writer{dst, m.Extra}.open().text("role", string(m.Role))
	return messageMembers.write(w, m).close().b
}

// MarshalJSON implements [encoding/json.Marshaler] with [AppendMessage].
func (m Message) MarshalJSON() ([]byte, error) { return AppendMessage(nil, &m), nil }

// UnmarshalJSON implements [encoding/json.Unmarshaler] with [ParseMessage]. It
// copies b.
func (m *Message) UnmarshalJSON(b []byte) (err error) {
	*m, err = ParseMessage(slices.Clone(b))
	return err
}

// AppendTool appends a declaration: name, description, parameters, the rest.
// Two declarations are equal if and only if these bytes are.
func AppendTool(dst []byte, t *Tool) []byte { return toolMembers.append(dst, t) }

// message reads the message object at the position.
func (p *parser) message(m *Message) {
	for o := p.open(); p.pass(o); {
		o.keeps = true
		*m = Message{Role: Role(o.kind), Form: FormAbsent}
		for p.Next(&o.Object) {
			switch {
			case o.Name == "role":
				m.Role = Role(p.kindField(o, func(kind string) bool {
					return kind == string(ToolResult) || kind == string(BashExecution)
				}))
			case messageMembers.member(p, o, m), p.bashMember(o, m):
			default:
				p.unknown(o)
			}
		}
		m.Extra = o.extra
	}
}

// bashMember reads what only bashExecution messages have.
func (p *parser) bashMember(o *object, m *Message) bool {
	if m.Role != BashExecution {
		return false
	}
	if m.Bash == nil {
		m.Bash = &Bash{}
	}
	return bashMembers.member(p, o, m.Bash)
}

// sections reads the named parts of a prompt. Their names are data, so names
// that differ by case are two sections. If one is neither text nor null, the
// member as a whole is passed through.
func (p *parser) sections(o *object, list *[]Section) bool {
	start, notes := p.Pos, len(p.notes)
	if p.Peek() != '{' {
		return p.misfit(o)
	}
	fits := true
	for in := p.open(); p.pass(in); {
		*list, fits = nil, true
		for p.Next(&in.Object) {
			s := Section{Name: in.Name}
			switch p.Peek() {
			case '"':
				s.Text = p.Str()
			case 'n':
				p.Literal("null")
				s.Removed = true
			default:
				p.Value()
				fits = false
			}
			*list = append(*list, s)
		}
	}
	if !fits && !p.Failed {
		*list = nil
		p.Pos, p.notes = start, p.notes[:notes]
		p.misfit(o)
	}
	return fits
}

func (w writer) sections(name string, list []Section) writer {
	if len(list) == 0 {
		return w
	}
	w = w.key(name).open()
	for _, s := range list {
		w = w.foreignKey(s.Name)
		if s.Removed {
			w.b = append(w.b, null...)
		} else {
			w.b = jsonx.AppendString(w.b, s.Text)
		}
	}
	w.b = append(w.b, '}')
	return w
}

// known returns the constant equal to s, so that the most common short
// strings do not keep their lines alive.
func known(s string) string {
	for _, k := range [...]string{
		TypeMessage, string(Assistant), string(ToolResult), BlockText, BlockToolCall, BlockThinking, StopToolUse, StopEnd,
		string(User), string(System), TypeCustom, TypeSession, TypeModelChange, TypeThinking, TypeCompaction, BlockImage,
		TypeBranchSummary, TypeCustomMessage, TypeContextEdit, TypeUsage, TypeLabel, TypeSessionInfo,
		string(BashExecution), StopLength, StopError, StopAborted,
	} {
		if s == k {
			return k
		}
	}
	return s
}
