package request

import (
	"slices"
	"strings"

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
	dst = append(dst, `,{"role":"user","content":`...)
	if !hasImage(m) {
		return append(transcript.AppendString(dst, m.Text()), '}')
	}
	return append(appendParts(append(dst, '['), m, true), "]}"...)
}

func appendParts(dst []byte, m *transcript.Message, text bool) []byte {
	for i := range m.Content {
		b := &m.Content[i]
		if b.Type != transcript.BlockImage && (!text || b.Type != transcript.BlockText || b.Text == "") {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		if b.Type == transcript.BlockText {
			dst = append(dst, `{"type":"text","text":`...)
			dst = append(transcript.AppendString(dst, b.Text), '}')
			continue
		}
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		dst = append(transcript.AppendString(dst, "data:"+b.MimeType+";base64,"+b.Data), "}}"...)
	}
	return dst
}

func hasImage(m *transcript.Message) bool {
	for i := range m.Content {
		if m.Content[i].Type == transcript.BlockImage {
			return true
		}
	}
	return false
}

// appendImages writes the images of the tool results at the end of ms as one
// user message: the chat format has no images in tool messages, and nothing
// may stand between the results of one answer.
func appendImages(dst []byte, ms []transcript.Message) []byte {
	first := len(ms)
	found := false
	for first > 0 && ms[first-1].Role == transcript.ToolResult {
		first--
		found = found || hasImage(&ms[first])
	}
	if !found {
		return dst
	}
	dst = append(dst, `,{"role":"user","content":[{"type":"text","text":"Images of the tool results above:"}`...)
	for i := first; i < len(ms); i++ {
		dst = appendParts(dst, &ms[i], false)
	}
	return append(dst, "]}"...)
}

// appendAssistant writes an answer. Its thinking goes back only to the model
// that thought it. An answer with nothing else in it is left out: servers
// refuse an assistant message without content and calls.
func appendAssistant(dst []byte, m *transcript.Message, same bool) []byte {
	var text, thinking strings.Builder
	field := ""
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case transcript.BlockText:
			text.WriteString(b.Text)
		case transcript.BlockThinking:
			if name := reasoningField(b.Signature); same && name != "" && b.Text != "" {
				if field != "" {
					thinking.WriteByte('\n')
				}
				field = name
				thinking.WriteString(b.Text)
			}
		}
	}
	calls := m.Calls()
	if text.Len() == 0 && len(calls) == 0 {
		return dst
	}
	dst = append(dst, `,{"role":"assistant","content":`...)
	if text.Len() > 0 {
		dst = transcript.AppendString(dst, text.String())
	} else {
		dst = append(dst, "null"...)
	}
	if field != "" {
		dst = append(transcript.AppendString(append(dst, ','), field), ':')
		dst = transcript.AppendString(dst, thinking.String())
	}
	return append(appendCalls(dst, calls), '}')
}

// reasoningField gives the field under which a thinking block goes back, ""
// if it did not come over this wire.
func reasoningField(signature string) string {
	if slices.Contains(answer.ReasoningFields, signature) {
		return signature
	}
	return ""
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
		arguments := string(c.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		dst = append(transcript.AppendString(append(dst, `{"id":`...), c.ID), `,"type":"function","function":{"name":`...)
		dst = append(transcript.AppendString(dst, c.Name), `,"arguments":`...)
		dst = append(transcript.AppendString(dst, arguments), "}}"...)
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
		if len(t.Parameters) == 0 {
			dst = append(dst, `{"type":"object","properties":{}}`...)
		} else {
			dst = append(dst, t.Parameters...)
		}
		dst = append(dst, "}}"...)
	}
	return dst
}
