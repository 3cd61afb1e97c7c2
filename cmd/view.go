package cmd

import (
	"encoding/json"
	"io"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// moment is the state of a session at one cut.
type moment struct {
	*session
	*replay.State
	at      replay.Position
	options *replayOptions // nil for every entry in turn
}

// view is a way to look at a moment: a record for machines and text for
// people. Views that list things have a record for each in ndjson.
type view struct {
	record func(*moment) any
	items  func(*moment) []any // nil for views that are one record
	text   func(io.Writer, *moment)
}

// views is the table of views.
func views() []choice[view] {
	return []choice[view]{
		{"summary", view{record: summaryRecord, text: summaryText}},
		{"state", view{record: stateRecordOf, text: stateText}},
		{"tools", view{record: toolsRecordOf, text: toolsText}},
		{"prompt", view{record: promptRecord, text: promptText}},
		{"messages", view{record: messagesRecord, items: messageItems, text: messagesText}},
		{"request", view{record: requestRecord, text: requestText}},
	}
}

// place is where something stands in a file.
type place struct {
	Line  int    `json:"line"`
	Entry string `json:"entry"`
}

// The records below are what scripts hold on to: fields are added, none
// changes its meaning.
type (
	toolsRecord struct {
		Cut       replay.Position  `json:"cut"`
		Knowledge replay.Knowledge `json:"knowledge"`
		Tools     []toolRecord     `json:"tools"`
		Removed   []removedRecord  `json:"removed"`
	}
	toolRecord struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Declared    place           `json:"declared"`
	}
	removedRecord struct {
		Name    string `json:"name"`
		Removed place  `json:"removed"`
	}
	stateRecord struct {
		toolsRecord
		System        string          `json:"system"`
		Sections      sections        `json:"sections"`
		Model         replay.ModelRef `json:"model"`
		ThinkingLevel string          `json:"thinkingLevel"`
		Messages      int             `json:"messages"`
		OpenCalls     []callRecord    `json:"openCalls"`
		Usage         usageRecord     `json:"usage"`
	}
	callRecord struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	usageRecord struct {
		Input       int64      `json:"input"`
		Output      int64      `json:"output"`
		CacheRead   int64      `json:"cacheRead"`
		CacheWrite  int64      `json:"cacheWrite"`
		Reasoning   int64      `json:"reasoning,omitempty"`
		TotalTokens int64      `json:"totalTokens"`
		Cost        costRecord `json:"cost"`
	}
	costRecord struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
		Total      float64 `json:"total"`
	}
)

func toolsRecordOf(m *moment) any { return newToolsRecord(m) }

func newToolsRecord(m *moment) toolsRecord {
	r := toolsRecord{Cut: m.at, Knowledge: m.knowledge, Tools: []toolRecord{}, Removed: []removedRecord{}}
	for _, t := range m.Tools() {
		r.Tools = append(r.Tools, toolRecord{t.Name, t.Description, t.Parameters, place{t.Line, t.Entry}})
	}
	for _, t := range m.Removed() {
		r.Removed = append(r.Removed, removedRecord{t.Name, place{t.Line, t.Entry}})
	}
	return r
}

func stateRecordOf(m *moment) any {
	u := m.Usage()
	r := stateRecord{
		toolsRecord: newToolsRecord(m), System: m.SystemPrompt(), Sections: m.Sections(), Model: m.Model(),
		ThinkingLevel: m.Thinking(), Messages: len(m.Context()), OpenCalls: []callRecord{},
		Usage: usageRecord{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.TotalTokens, costRecord{u.Cost.Input, u.Cost.Output, u.Cost.CacheRead, u.Cost.CacheWrite, u.Cost.Total}},
	}
	for _, c := range m.OpenCalls() {
		r.OpenCalls = append(r.OpenCalls, callRecord{c.ID, c.Name, c.Arguments})
	}
	return r
}

// sections are an object as in the file, in the order of the prompt.
type sections []transcript.Section

// MarshalJSON implements [json.Marshaler].
func (s sections) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, part := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(transcript.AppendString(b, part.Name), ':')
		b = transcript.AppendString(b, part.Text)
	}
	return append(b, '}'), nil
}

func summaryRecord(m *moment) any {
	tools := []string{}
	for _, t := range m.Tools() {
		tools = append(tools, t.Name)
	}
	open := []string{}
	for _, c := range m.OpenCalls() {
		open = append(open, c.ID)
	}
	return struct {
		File      string           `json:"file"`
		Format    string           `json:"format"`
		Knowledge replay.Knowledge `json:"knowledge"`
		Entries   int              `json:"entries"`
		Cut       replay.Position  `json:"cut"`
		Model     replay.ModelRef  `json:"model"`
		Thinking  string           `json:"thinkingLevel"`
		Tools     []string         `json:"tools"`
		Messages  int              `json:"messages"`
		OpenCalls []string         `json:"openCalls"`
	}{m.name, m.format, m.knowledge, len(m.tree.Entries), m.at, m.Model(), m.Thinking(), tools, len(m.Context()), open}
}

func promptRecord(m *moment) any {
	return struct {
		Cut      replay.Position `json:"cut"`
		System   string          `json:"system"`
		Sections sections        `json:"sections"`
	}{m.at, m.SystemPrompt(), m.Sections()}
}

func messagesRecord(m *moment) any {
	return struct {
		Cut      replay.Position `json:"cut"`
		Messages []any           `json:"messages"`
	}{m.at, messageItems(m)}
}

func messageItems(m *moment) []any {
	items := make([]any, 0, len(m.Context()))
	for _, i := range m.Context() {
		items = append(items, struct {
			place
			Message json.RawMessage `json:"message"`
		}{place{i.Line, i.Entry}, transcript.AppendMessage(nil, &i.Message)})
	}
	return items
}

// request is the one that would go out at the moment, as it is sent if asked for.
func (m *moment) request() (r replay.Request, digest string) {
	r = m.Request()
	if m.options == nil || !m.options.Wire {
		return r, ""
	}
	r = r.Project(m.options.Mode)
	return r, r.Digest()
}

func requestRecord(m *moment) any {
	r, digest := m.request()
	tools := make([]json.RawMessage, len(r.Tools))
	for i := range r.Tools {
		tools[i] = transcript.AppendTool(nil, &r.Tools[i])
	}
	messages := make([]json.RawMessage, len(r.Messages))
	for i := range r.Messages {
		messages[i] = transcript.AppendMessage(nil, &r.Messages[i])
	}
	return struct {
		Cut      replay.Position   `json:"cut"`
		Model    replay.ModelRef   `json:"model"`
		Thinking string            `json:"thinkingLevel"`
		System   string            `json:"system"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
		Digest   string            `json:"digest,omitempty"` // of a request as it is sent
	}{m.at, r.Model, r.Thinking, r.System, tools, messages, digest}
}

// viewWriter writes one moment, or one after the other.
type viewWriter struct {
	w      io.Writer
	format string
	view   view
	n      int
}

func (w *viewWriter) one(m *moment) error {
	switch {
	case w.format == "text":
		w.view.text(w.w, m)
		return nil
	case w.format == "ndjson" && w.view.items != nil:
		for _, item := range w.view.items(m) {
			if err := writeJSON(w.w, item); err != nil {
				return err
			}
		}
		return nil
	}
	return writeJSON(w.w, w.view.record(m))
}

// each writes one of several moments: lines of text or records, which make up
// one array in json.
func (w *viewWriter) each(m *moment) error {
	w.n++
	switch w.format {
	case "text":
		momentText(w.w, m)
		return nil
	case "json":
		sep := map[bool]string{true: "[", false: ","}[w.n == 1]
		if _, err := io.WriteString(w.w, sep); err != nil {
			return err
		}
	}
	return writeJSON(w.w, w.view.record(m))
}

func (w *viewWriter) close() error {
	if w.n == 0 || w.format != "json" {
		return nil
	}
	_, err := io.WriteString(w.w, "]\n")
	return err
}

// writeJSON writes v on one line. Embedded raw JSON keeps its key order and
// its digits; < > & stay as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
