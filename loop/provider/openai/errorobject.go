package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// apiError is an error that an endpoint put into words.
type apiError struct {
	message string
	kind    string // e.g. rate_limit_error; "" if none
	code    string // a word or a number; "" if none
	param   string // what it is about, as messages.[3].content; "" if none
}

func (e *apiError) Error() string {
	text := cmp.Or(e.message, "error without a message")
	if e.param != "" && !strings.Contains(text, e.param) {
		text += " (at " + e.param + ")"
	}
	if word := cmp.Or(e.code, e.kind); word != "" && !strings.Contains(text, word) {
		text += " [" + word + "]"
	}
	return text
}

// frame is the error in the shape that go-openai knows.
func (e *apiError) frame() []byte {
	dst := transcript.AppendString([]byte(`{"error":{"message":`), e.message)
	dst = transcript.AppendString(append(dst, `,"type":`...), e.kind)
	dst = transcript.AppendString(append(dst, `,"param":`...), e.param)
	return append(transcript.AppendString(append(dst, `,"code":`...), e.code), "}}"...)
}

// errorObject gives the error that a JSON text is, or nil. Errors come as
// {"error":{…}} with other members before and beside it, as {"error":"text"},
// as {"type":"error",…} and {"object":"error",…}, and as anything at all in an
// event named error; name is the event's name.
func errorObject(text []byte, name string) *apiError {
	if name != "error" && !bytes.Contains(text, []byte(`"error"`)) {
		return nil // almost every frame, without a parse
	}
	var list []json.RawMessage
	if bytes.HasPrefix(text, []byte("[")) && json.Unmarshal(text, &list) == nil && len(list) == 1 {
		text = list[0] // Gemini
	}
	var o struct {
		Error   json.RawMessage
		Type    looseString
		Object  looseString
		Message looseString
		Code    looseString
		Param   looseString
	}
	err := json.Unmarshal(text, &o)
	if !json.Valid(text) {
		if name != "error" {
			return nil
		}
		return &apiError{message: excerpt(text)}
	}
	if stated(o.Error) {
		return readError(o.Error, string(o.Code))
	}
	if name != "error" && o.Type != "error" && o.Object != "error" || err != nil && name != "error" {
		return nil
	}
	e := &apiError{message: string(o.Message), kind: string(o.Type), code: string(o.Code), param: string(o.Param)}
	if e.message == "" {
		e.message = excerpt(text)
	}
	return e
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

func readError(raw json.RawMessage, code string) *apiError {
	var o struct {
		Message  looseString
		Type     looseString
		Code     looseString
		Param    looseString
		Metadata struct {
			Raw looseString
		}
	}
	e := &apiError{code: code}
	if json.Unmarshal(raw, &o) != nil && o.Message == "" {
		var text looseString
		_ = text.UnmarshalJSON(raw)
		e.message = clip(string(text), maxWords)
		return e
	}
	e.message, e.kind, e.param = string(o.Message), string(o.Type), string(o.Param)
	e.code = cmp.Or(string(o.Code), code)
	if o.Metadata.Raw != "" { // OpenRouter: what the provider behind it said
		e.message += ": " + excerpt([]byte(o.Metadata.Raw))
	}
	if e.message == "" {
		e.message = excerpt(raw)
	}
	e.message = clip(e.message, maxWords)
	return e
}

// status is the HTTP status that the code is, or 0.
func (e *apiError) status() int {
	n, err := strconv.Atoi(e.code)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}
