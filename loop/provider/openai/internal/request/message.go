package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// seeImage stands for the text of a tool result that has only images.
const seeImage = "(see attached image)"

// appendMessage writes m as chat messages, each after a comma: none for what
// the format cannot carry, else one. The images of tool results are left to
// appendImages.
func appendMessage(dst []byte, m *transcript.Message, to replay.ModelRef) []byte {
	switch m.Role {
	case transcript.User:
		return appendUser(dst, m)
	case transcript.Assistant:
		return appendAssistant(dst, m, m.Provider == to.Provider && m.Model == to.ID)
	case transcript.ToolResult:
		dst = append(dst, `,{"role":"tool","tool_call_id":`...)
		dst = append(transcript.AppendString(dst, m.ToolCallID), `,"content":`...)
		return append(transcript.AppendString(dst, resultText(m)), '}')
	case transcript.System:
		dst = append(dst, `,{"role":"system","content":`...)
		return append(transcript.AppendString(dst, m.Text()), '}')
	}
	return dst
}

// resultText is the text of a tool result. An empty one stays empty: the key
// is there, and the model sees what the history says.
func resultText(m *transcript.Message) string {
	text := m.Text()
	if strings.TrimSpace(text) == "" && hasImage(m) {
		return seeImage
	}
	return text
}

// appendUser writes text as a string, which every server takes, and parts only
// where there is an image.
func appendUser(dst []byte, m *transcript.Message) []byte {
	if hasImage(m) {
		return appendParts(dst, parts(m, true))
	}
	return append(transcript.AppendString(append(dst, `,{"role":"user","content":`...), m.Text()), '}')
}

// parts are the images of a message, and its text if wanted.
func parts(m *transcript.Message, text bool) (list []goopenai.ChatMessagePart) {
	for i := range m.Content {
		switch b := &m.Content[i]; {
		case b.Type == transcript.BlockImage:
			url := &goopenai.ChatMessageImageURL{URL: "data:" + b.MimeType + ";base64," + b.Data}
			list = append(list, goopenai.ChatMessagePart{Type: goopenai.ChatMessagePartTypeImageURL, ImageURL: url})
		case b.Type == transcript.BlockText && b.Text != "" && text:
			list = append(list, goopenai.ChatMessagePart{Type: goopenai.ChatMessagePartTypeText, Text: b.Text})
		}
	}
	return list
}

// appendParts writes a user message of parts.
func appendParts(dst []byte, list []goopenai.ChatMessagePart) []byte {
	b := bytes.NewBuffer(append(dst, `,{"role":"user","content":`...))
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(list) // strings have no errors
	return append(bytes.TrimRight(b.Bytes(), "\n"), '}')
}

func hasImage(m *transcript.Message) bool {
	return slices.ContainsFunc(m.Content, func(b transcript.Block) bool { return b.Type == transcript.BlockImage })
}

// appendImages writes the images of the tool results at the end of ms as one
// user message: the chat format has no images in tool messages, and nothing
// may stand between the results of one answer.
func appendImages(dst []byte, ms []transcript.Message) []byte {
	first := len(ms)
	for first > 0 && ms[first-1].Role == transcript.ToolResult {
		first--
	}
	list := []goopenai.ChatMessagePart{{Type: goopenai.ChatMessagePartTypeText, Text: "Images of the tool results above:"}}
	for i := range ms[first:] {
		list = append(list, parts(&ms[first+i], false)...)
	}
	if len(list) == 1 {
		return dst
	}
	return appendParts(dst, list)
}

// appendAssistant writes an answer. Its thinking goes back only to the model
// that thought it. An answer with nothing else in it is left out: servers
// refuse an assistant message without content and calls.
func appendAssistant(dst []byte, m *transcript.Message, same bool) []byte {
	var text, field string
	var thinking []string
	for i := range m.Content {
		switch b := &m.Content[i]; {
		case b.Type == transcript.BlockText:
			text += b.Text
		case b.Type == transcript.BlockThinking && same && b.Text != "" && slices.Contains(answer.ReasoningFields, b.Signature):
			thinking, field = append(thinking, b.Text), b.Signature // the name under which it came
		}
	}
	calls := m.Calls()
	if text == "" && len(calls) == 0 {
		return dst
	}
	dst = append(dst, `,{"role":"assistant","content":`...)
	if text != "" {
		dst = transcript.AppendString(dst, text)
	} else {
		dst = append(dst, "null"...)
	}
	if field != "" {
		dst = append(transcript.AppendString(append(dst, ','), field), ':')
		dst = transcript.AppendString(dst, strings.Join(thinking, "\n"))
	}
	return append(appendCalls(dst, calls), '}')
}

// appendCalls writes no index: it belongs to streams, and servers have refused
// it in a history. Arguments are never empty: they also insist on the key.
func appendCalls(dst []byte, calls []*transcript.Call) []byte {
	if len(calls) == 0 {
		return dst
	}
	dst = append(dst, `,"tool_calls":[`...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(transcript.AppendString(append(dst, `{"id":`...), c.ID), `,"type":"function","function":{"name":`...)
		dst = append(transcript.AppendString(dst, c.Name), `,"arguments":`...)
		dst = append(transcript.AppendString(dst, cmp.Or(string(c.Arguments), "{}")), "}}"...)
	}
	return append(dst, ']')
}

// appendTools writes declarations, the schema byte for byte.
func appendTools(dst []byte, tools []transcript.Tool) []byte {
	for i := range tools {
		t := &tools[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = append(transcript.AppendString(dst, t.Name), `,"description":`...)
		dst = append(transcript.AppendString(dst, t.Description), `,"parameters":`...)
		dst = append(append(dst, cmp.Or(string(t.Parameters), `{"type":"object","properties":{}}`)...), "}}"...)
	}
	return dst
}
