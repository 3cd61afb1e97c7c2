package view

import (
	"encoding/json"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// The records here are what scripts hold on to: fields are added, none changes
// its meaning.

// place is where something stands in a file.
type place struct {
	Line  int    `json:"line"`
	Entry string `json:"entry"`
}

type (
	tools struct {
		Cut       replay.Position  `json:"cut"`
		Knowledge replay.Knowledge `json:"knowledge"`
		Tools     []declared       `json:"tools"`
		Removed   []removed        `json:"removed"`
	}
	declared struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Declared    place           `json:"declared"`
	}
	removed struct {
		Name    string `json:"name"`
		Removed place  `json:"removed"`
	}
	call struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
)

func toolsRecord(m *moment) any { return newTools(m) }

func newTools(m *moment) tools {
	r := tools{Cut: m.at, Knowledge: m.knowledge(), Tools: []declared{}, Removed: []removed{}}
	for _, t := range m.Tools() {
		r.Tools = append(r.Tools, declared{t.Name, t.Description, t.Parameters, place{t.Line, t.Entry}})
	}
	for _, t := range m.Removed() {
		r.Removed = append(r.Removed, removed{t.Name, place{t.Line, t.Entry}})
	}
	return r
}

func stateRecord(m *moment) any {
	open := []call{}
	for _, c := range m.OpenCalls() {
		open = append(open, call{c.ID, c.Name, c.Arguments})
	}
	u := m.Usage()
	u.Has = 0 // a sum has all counts, whichever the file states
	return struct {
		tools
		System        string          `json:"system"`
		Sections      sections        `json:"sections"`
		Model         replay.ModelRef `json:"model"`
		ThinkingLevel string          `json:"thinkingLevel"`
		Messages      int             `json:"messages"`
		OpenCalls     []call          `json:"openCalls"`
		Usage         json.RawMessage `json:"usage"`
	}{
		newTools(m), m.SystemPrompt(), m.Sections(), m.Model(), m.Thinking(), len(m.Context()), open,
		transcript.AppendUsage(nil, &u),
	}
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
	tools, open := []string{}, []string{}
	for _, t := range m.Tools() {
		tools = append(tools, t.Name)
	}
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
	}{m.Name, m.Format, m.knowledge(), len(m.Tree.Entries), m.at, m.Model(), m.Thinking(), tools, len(m.Context()), open}
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

// request is the one that would go out at the moment; it has a digest as it is
// sent.
func (m *moment) request() (r replay.Request, digest string) {
	r = m.Request()
	if !m.o.Wire {
		return r, ""
	}
	r = r.Project(m.o.Mode)
	return r, r.Digest()
}

func requestRecord(m *moment) any {
	r, digest := m.request()
	tools, messages := make([]json.RawMessage, len(r.Tools)), make([]json.RawMessage, len(r.Messages))
	for i := range r.Tools {
		tools[i] = transcript.AppendTool(nil, &r.Tools[i])
	}
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
		Digest   string            `json:"digest,omitempty"`
	}{m.at, r.Model, r.Thinking, r.System, tools, messages, digest}
}
