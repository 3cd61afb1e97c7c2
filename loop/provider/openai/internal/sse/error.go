package sse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/loop/provider/openai/internal/loose"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Error is an error that an endpoint put into words.
type Error struct {
	Message string
	Type    string // e.g. rate_limit_error; "" if none
	Code    string // a word or a number; "" if none
	Param   string // what it is about, as messages.[3].content; "" if none
}

func (e *Error) Error() string {
	text := cmp.Or(e.Message, "error without a message")
	if e.Param != "" && !strings.Contains(text, e.Param) {
		text += " (at " + e.Param + ")"
	}
	if word := cmp.Or(e.Code, e.Type); word != "" && !strings.Contains(text, word) {
		text += " [" + word + "]"
	}
	return text
}

// frame is the error in the shape that go-openai knows.
func (e *Error) frame() []byte {
	dst := transcript.AppendString([]byte(`{"error":{"message":`), e.Message)
	dst = transcript.AppendString(append(dst, `,"type":`...), e.Type)
	dst = transcript.AppendString(append(dst, `,"param":`...), e.Param)
	return append(transcript.AppendString(append(dst, `,"code":`...), e.Code), "}}"...)
}

// ReadError gives the error that a JSON text is, or nil. Errors come as
// {"error":{…}} with other members before and beside it, as {"error":"text"},
// as {"type":"error",…} and {"object":"error",…}, and as anything at all in an
// event named error; name is the event's name.
func ReadError(text []byte, name string) *Error {
	if name != "error" && !bytes.Contains(text, []byte(`"error"`)) {
		return nil // almost every frame, without a parse
	}
	var list []json.RawMessage
	if bytes.HasPrefix(text, []byte("[")) && json.Unmarshal(text, &list) == nil && len(list) == 1 {
		text = list[0] // Gemini
	}
	var o struct {
		Error   json.RawMessage
		Type    loose.String
		Object  loose.String
		Message loose.String
		Code    loose.String
		Param   loose.String
	}
	err := json.Unmarshal(text, &o)
	if !json.Valid(text) {
		if name != "error" {
			return nil
		}
		return &Error{Message: Excerpt(text)}
	}
	if stated(o.Error) {
		return readMember(o.Error, string(o.Code))
	}
	if name != "error" && o.Type != "error" && o.Object != "error" || err != nil && name != "error" {
		return nil
	}
	e := &Error{Message: string(o.Message), Type: string(o.Type), Code: string(o.Code), Param: string(o.Param)}
	if e.Message == "" {
		e.Message = Excerpt(text)
	}
	return e
}

// ErrorOf gives the error that an "error" member is, nil if it says nothing.
func ErrorOf(raw json.RawMessage) *Error {
	if !stated(raw) {
		return nil
	}
	return readMember(raw, "")
}

// stated reports whether a member says anything. Some servers send
// "error":null with every chunk.
func stated(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

func readMember(raw json.RawMessage, code string) *Error {
	var o struct {
		Message  loose.String
		Type     loose.String
		Code     loose.String
		Param    loose.String
		Metadata struct {
			Raw loose.String
		}
	}
	e := &Error{Code: code}
	if json.Unmarshal(raw, &o) != nil && o.Message == "" {
		var words loose.String
		_ = words.UnmarshalJSON(raw)
		e.Message = text.Clip(string(words), maxWords)
		return e
	}
	e.Message, e.Type, e.Param = string(o.Message), string(o.Type), string(o.Param)
	e.Code = cmp.Or(string(o.Code), code)
	if o.Metadata.Raw != "" { // OpenRouter: what the provider behind it said
		e.Message += ": " + Excerpt([]byte(o.Metadata.Raw))
	}
	if e.Message == "" {
		e.Message = Excerpt(raw)
	}
	e.Message = text.Clip(e.Message, maxWords)
	return e
}

// Status is the HTTP status that the code is, or 0.
func (e *Error) Status() int {
	n, err := strconv.Atoi(e.Code)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}
