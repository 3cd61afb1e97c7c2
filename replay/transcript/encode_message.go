package transcript

import (
	"slices"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// AppendMessage appends m as one JSON object, fields in the order that pi
// writes them, without HTML escaping. What it writes, [ParseMessage] reads as
// an equal message.
func AppendMessage(dst []byte, m *Message) []byte {
	w := writer{dst}
	w.open()
	w.text("role", string(m.Role))
	if m.Role == ToolResult {
		w.text("toolCallId", m.ToolCallID)
		w.text("toolName", m.ToolName)
	}
	if m.Role == BashExecution && m.Bash != nil {
		w.bash(m.Bash, m.Extra)
	}
	w.content(m)
	w.prompt(m)
	w.answer(m)
	w.result(m)
	if m.Timestamp != 0 {
		w.integer("timestamp", m.Timestamp)
	}
	w.text("responseId", m.ResponseID)
	w.text("responseModel", m.ResponseModel)
	w.text("rawStopReason", m.RawStopReason)
	if m.hasDuration() && m.Role != ToolResult {
		w.integer("durationMs", m.DurationMs)
	}
	w.text("thinkingLevel", m.ThinkingLevel)
	if m.Bash != nil && m.Bash.ExcludeFromContext {
		w.bool("excludeFromContext", true)
	}
	w.extra(m.Extra)
	w.close()
	return w.b
}

// MarshalJSON implements [encoding/json.Marshaler] with [AppendMessage].
func (m Message) MarshalJSON() ([]byte, error) { return AppendMessage(nil, &m), nil }

// UnmarshalJSON implements [encoding/json.Unmarshaler] with [ParseMessage]. It
// copies b.
func (m *Message) UnmarshalJSON(b []byte) (err error) {
	*m, err = ParseMessage(slices.Clone(b))
	return err
}

func (m *Message) hasDuration() bool { return m.HasDuration || m.DurationMs > 0 }

// message writes a member that is a message.
func (w *writer) message(name string, m *Message) {
	w.key(name)
	w.b = AppendMessage(w.b, m)
}

// answer writes what assistant messages have before their time.
func (w *writer) answer(m *Message) {
	w.text("api", m.API)
	w.text("provider", m.Provider)
	w.text("model", m.Model)
	if m.Usage != nil {
		w.usage(m.Usage)
	}
	w.text("stopReason", m.StopReason)
	w.text("errorMessage", m.ErrorMessage)
}

// result writes what results have before their time.
func (w *writer) result(m *Message) {
	w.raw("details", m.Details)
	if m.Role != ToolResult {
		if m.IsError || m.HasIsError {
			w.bool("isError", m.IsError)
		}
		return
	}
	w.raw("usage", m.ToolUsage)
	if !has(m.Extra, "isError") {
		w.bool("isError", m.IsError)
	}
	if m.hasDuration() {
		w.integer("durationMs", m.DurationMs)
	}
}

// prompt writes what system messages change.
func (w *writer) prompt(m *Message) {
	if len(m.Sections) > 0 {
		w.key("sections")
		w.open()
		for _, s := range m.Sections {
			w.foreignKey(s.Name)
			if s.Removed {
				w.b = append(w.b, "null"...)
			} else {
				w.b = jsonx.AppendString(w.b, s.Text)
			}
		}
		w.close()
	}
	if len(m.ToolsAdded) > 0 {
		w.key("toolsAdded")
		for i := range m.ToolsAdded {
			w.b = append(w.b, separator(i))
			w.b = AppendTool(w.b, &m.ToolsAdded[i])
		}
		w.b = append(w.b, ']')
	}
	if len(m.ToolsRemoved) > 0 {
		w.key("toolsRemoved")
		for i, t := range m.ToolsRemoved {
			w.b = append(w.b, separator(i), '{')
			w.string("name", t.Name)
			w.close()
		}
		w.b = append(w.b, ']')
	}
}

// separator stands before item i of an array.
func separator(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

// AppendTool appends a declaration: name, description, parameters, the rest.
// Two declarations are equal if and only if these bytes are.
func AppendTool(dst []byte, t *Tool) []byte {
	w := writer{dst}
	w.open()
	w.unlessExtra("name", t.Name, t.Extra)
	w.unlessExtra("description", t.Description, t.Extra)
	w.raw("parameters", t.Parameters)
	w.extra(t.Extra)
	w.close()
	return w.b
}

func (w *writer) bash(b *Bash, extra []Field) {
	w.unlessExtra("command", b.Command, extra)
	w.unlessExtra("output", b.Output, extra)
	if b.ExitCode != nil {
		w.integer("exitCode", int64(*b.ExitCode))
	}
	if !has(extra, "cancelled") {
		w.bool("cancelled", b.Cancelled)
	}
	if !has(extra, "truncated") {
		w.bool("truncated", b.Truncated)
	}
	w.text("fullOutputPath", b.FullOutputPath)
}

// content writes content in its form, as far as it still fits.
func (w *writer) content(m *Message) {
	switch {
	case len(m.Content) == 0 && (m.Form == FormAbsent || m.Bash != nil && m.Form == FormBlocks):
		return
	case len(m.Content) == 0 && m.Form == FormNull:
		w.raw("content", []byte("null"))
		return
	case m.Form == FormString && (len(m.Content) == 0 || len(m.Content) == 1 && isPlain(&m.Content[0])):
		w.string("content", m.Text())
		return
	case len(m.Content) == 0:
		w.raw("content", []byte("[]"))
		return
	}
	w.key("content")
	for i := range m.Content {
		w.b = append(w.b, separator(i))
		w.b = AppendBlock(w.b, &m.Content[i])
	}
	w.b = append(w.b, ']')
}

func isPlain(b *Block) bool {
	return b.Type == BlockText && b.Signature == "" && len(b.Extra) == 0
}

// AppendBlock appends one block of content as JSON.
func AppendBlock(dst []byte, b *Block) []byte {
	if len(b.Extra) == 1 && b.Extra[0].Name == noObject {
		return append(dst, b.Extra[0].Value...)
	}
	w := writer{dst}
	w.open()
	if b.Type != "" {
		w.string("type", b.Type)
	}
	switch b.Type {
	case BlockText:
		w.unlessExtra("text", b.Text, b.Extra)
		w.text("textSignature", b.Signature)
	case BlockThinking:
		w.unlessExtra("thinking", b.Text, b.Extra)
		w.text("thinkingSignature", b.Signature)
	case BlockImage:
		w.unlessExtra("data", b.Data, b.Extra)
		w.unlessExtra("mimeType", b.MimeType, b.Extra)
	case BlockToolCall:
		if b.Call != nil {
			w.call(b.Call, b.Extra)
		}
		w.text("thoughtSignature", b.Signature)
	}
	w.extra(b.Extra)
	w.close()
	return w.b
}

func (w *writer) call(c *Call, extra []Field) {
	w.unlessExtra("id", c.ID, extra)
	w.unlessExtra("name", c.Name, extra)
	if c.Arguments == nil {
		w.raw("arguments", []byte("{}"))
	} else {
		w.raw("arguments", c.Arguments)
	}
	w.text("argumentsError", c.ArgumentsError)
}

// unlessExtra writes a string that is always there, except where the file had
// a value of another type, which is passed through.
func (w *writer) unlessExtra(name, s string, extra []Field) {
	if s != "" || !has(extra, name) {
		w.string(name, s)
	}
}

func has(fields []Field, name string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name })
}

func (w *writer) usage(u *Usage) {
	w.key("usage")
	w.b = AppendUsage(w.b, u)
}

// AppendUsage appends the counts that the file stated, or all of them for an
// answer made in memory, as one JSON object.
func AppendUsage(dst []byte, u *Usage) []byte {
	if u.unstated() {
		return append(dst, noUsage...)
	}
	w := writer{dst}
	w.open()
	states := func(name string, bit UsageFields) bool {
		return u.Has&bit != 0 || u.Has == 0 && bit != HasReasoning && !has(u.Extra, name)
	}
	count := func(name string, n int64, bit UsageFields) {
		if n != 0 || states(name, bit) {
			w.integer(name, n)
		}
	}
	count("input", u.Input, HasInput)
	count("output", u.Output, HasOutput)
	count("cacheRead", u.CacheRead, HasCacheRead)
	count("cacheWrite", u.CacheWrite, HasCacheWrite)
	count("reasoning", u.Reasoning, HasReasoning)
	count("totalTokens", u.TotalTokens, HasTotal)
	if states("cost", HasCost) {
		w.key("cost")
		w.cost(&u.Cost)
	}
	w.extra(u.Extra)
	w.close()
	return w.b
}

// noUsage is what an answer made in memory says before its counts are known:
// with every delta of it.
const noUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
	`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

func (u *Usage) unstated() bool {
	c := &u.Cost
	return u.Has == 0 && u.Extra == nil && c.Extra == nil &&
		u.Input == 0 && u.Output == 0 && u.CacheRead == 0 && u.CacheWrite == 0 && u.TotalTokens == 0 && u.Reasoning == 0 &&
		c.Input == 0 && c.Output == 0 && c.CacheRead == 0 && c.CacheWrite == 0 && c.Total == 0
}

func (w *writer) cost(c *Cost) {
	w.open()
	amount := func(name string, usd float64) {
		if usd != 0 || !has(c.Extra, name) {
			w.float(name, usd)
		}
	}
	amount("input", c.Input)
	amount("output", c.Output)
	amount("cacheRead", c.CacheRead)
	amount("cacheWrite", c.CacheWrite)
	amount("total", c.Total)
	w.extra(c.Extra)
	w.close()
}
