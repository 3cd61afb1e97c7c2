package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/loop/provider/wire/loose"
	"github.com/turnlog/turnlog/replay/text"
)

// Error is an error that an endpoint put into words.
type Error struct {
	Message string
	Type    string // e.g. rate_limit_error; "" if none
	Code    string // a word or a number; "" if none
	Param   string // what it is about, as messages.[3].content; "" if none
}

func (e *Error) Error() string {
	words := cmp.Or(e.Message, "error without a message")
	if e.Param != "" && !strings.Contains(words, e.Param) {
		words += " (at " + e.Param + ")"
	}
	if word := cmp.Or(e.Code, e.Type); word != "" && !strings.Contains(words, word) {
		words += " [" + word + "]"
	}
	return words
}

// shape is an error as endpoints write it, or what holds one.
type shape struct {
	Error    json.RawMessage
	Type     loose.String
	Object   loose.String
	Message  loose.String
	Code     loose.String
	Param    loose.String
	Metadata struct {
		Raw loose.String // OpenRouter: what the provider behind it said
	}
}

// ReadError gives the error that a JSON text is, or nil. Errors come as
// {"error":{…}} with other members before and beside it, as {"error":"text"},
// as {"type":"error",…} and {"object":"error",…}, and as anything at all in an
// event named error; name is the event's name.
func ReadError(raw []byte, name string) *Error {
	named := name == "error"
	if !named && !bytes.Contains(raw, []byte(`"error"`)) {
		return nil // almost every frame, without a parse
	}
	var list []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		raw = list[0] // Gemini
	}
	var s shape
	err := json.Unmarshal(raw, &s)
	switch {
	case !json.Valid(raw):
		if !named {
			return nil
		}
		return &Error{Message: Excerpt(raw)}
	case stated(s.Error):
		return readMember(s.Error, string(s.Code))
	case named, err == nil && (s.Type == "error" || s.Object == "error"):
		return s.read(raw)
	}
	return nil
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
	return !slices.Contains([]string{"", "null", "false", `""`, "{}", "[]"}, string(raw))
}

func readMember(raw json.RawMessage, code string) *Error {
	var s shape
	if json.Unmarshal(raw, &s) != nil && s.Message == "" {
		_ = s.Message.UnmarshalJSON(raw) // the text itself
	}
	s.Code = cmp.Or(s.Code, loose.String(code))
	return s.read(raw)
}

// read gives the error that s is, which was read from raw.
func (s *shape) read(raw []byte) *Error {
	words := cmp.Or(string(s.Message), Excerpt(raw))
	if s.Metadata.Raw != "" {
		words = string(s.Message) + ": " + Excerpt([]byte(s.Metadata.Raw))
	}
	return &Error{Message: text.Clip(words, maxWords), Type: string(s.Type), Code: string(s.Code), Param: string(s.Param)}
}

// status is the HTTP status that the code is, or 0.
func (e *Error) status() int {
	n, err := strconv.Atoi(e.Code)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// says reports whether the error's code or type is one of words.
func (e *Error) says(words ...string) bool {
	return slices.Contains(words, e.Code) || slices.Contains(words, e.Type)
}

// spent reports an account that is out of money: waiting does not fill it.
func (e *Error) spent() bool {
	if e.Code == "402" || e.says("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits", "insufficient_balance") {
		return true
	}
	words := strings.ToLower(e.Message)
	return slices.ContainsFunc([]string{
		"spend limit", "spending limit", "billing hard limit", "insufficient credits", "insufficient balance",
		"insufficient_quota", "credit balance is too low", "out of credits",
	}, func(s string) bool { return strings.Contains(words, s) })
}

// kind judges an error inside a stream by its code. Errors whose code says
// nothing are the endpoint's: it had taken the request.
func (e *Error) kind() Kind {
	switch status := e.status(); {
	case e.spent():
		return Fatal
	case status == http.StatusTooManyRequests || status >= 500:
		return Transient
	case status != 0, e.says(
		"invalid_request_error", "invalid_request", "authentication_error", "invalid_api_key", "permission_error", "permission_denied",
		"not_found_error", "model_not_found", "request_too_large", "context_length_exceeded", "content_filter", "invalid_prompt",
		"BadRequestError", "bad_request",
	):
		return Fatal
	}
	return Transient
}

// throttles reports an error that asks for fewer requests.
func (e *Error) throttles() bool {
	return !e.spent() && (e.status() == http.StatusTooManyRequests || e.Code == "rate_limit_exceeded" || e.Type == "rate_limit_error")
}
