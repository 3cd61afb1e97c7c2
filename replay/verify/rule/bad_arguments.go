package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay/verify"
)

func badArguments() verify.Rule {
	return verify.Rule{
		ID:       "bad-arguments",
		Group:    groupArgs,
		Severity: verify.Error,
		Title:    "the arguments of a call are not one JSON object",
		Why: "Servers parse the arguments of the whole history: one broken call makes every later request fail with 400 or 500 " +
			"(vllm-project/vllm#19419, sgl-project/sglang#28035, aws-samples/bedrock-access-gateway#258); omnigent-ai/omnigent#2587 ran the tool with {}. An error if the call ran, a warning otherwise.",
		Fix:   "Store {} and the parse error beside it, and answer the call with an error result.",
		Quiet: "Arguments that could not be parsed and were answered with an error, as pi stores them; one object written as a string, as OpenAI does.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":["x"]}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{},"argumentsError":"Unterminated string in JSON at position 5"}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"bad arguments"}],"isError":true}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Turn.Failed || concatenated(c) {
				return
			}
			what, otherwise := faultOfArguments(c)
			if what == "" {
				return
			}
			f := c.Finding("the arguments of %s are %s", quote(c.Name), what)
			f.Subject = c.ID
			p.Suspect(c, verify.Error, otherwise, f, nil)
		}}),
	}
}

// faultOfArguments says what the arguments are instead of one object, and how
// bad it is as long as the call did not run.
func faultOfArguments(c *verify.Call) (what string, otherwise verify.Severity) {
	args := objectOf(c.Arguments)
	switch {
	case len(args) == 0:
		return "", ""
	case args[0] == '{':
		if c.ArgumentsError != "" {
			return "an empty object in place of what could not be parsed", ""
		}
		return "", ""
	case args[0] == '[':
		return "a list", verify.Warning
	case args[0] != '"':
		return "not an object but " + short(string(args)), verify.Warning
	}
	text := strings.TrimSpace(textOf(args))
	switch {
	case text == "":
		return "an empty string", verify.Warning
	case json.Valid([]byte(text)):
		return "a string of JSON that is no object", verify.Warning
	}
	return "a string that is not JSON", verify.Warning
}

// objectOf is the arguments, taken out of the string if they are one object
// written as a string.
func objectOf(args []byte) []byte {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || args[0] != '"' {
		return args
	}
	if text := bytes.TrimSpace([]byte(textOf(args))); json.Valid(text) && text[0] == '{' {
		return text
	}
	return args
}

func textOf(token []byte) string {
	var s string
	if json.Unmarshal(token, &s) != nil {
		return ""
	}
	return s
}

// concatenated reports whether the arguments are two or more values back to
// back.
func concatenated(c *verify.Call) bool {
	if c.ArgumentsError != "" && values(receivedArguments(c.ArgumentsError)) >= 2 {
		return true
	}
	args := bytes.TrimSpace(c.Arguments)
	return len(args) > 0 && args[0] == '"' && values(textOf(args)) >= 2
}

// receivedArguments is the raw text in an error that says what was received.
func receivedArguments(message string) string {
	if _, raw, ok := strings.Cut(message, "Received arguments:"); ok {
		return strings.TrimSpace(raw)
	}
	return message
}

// values counts the objects and lists that a text consists of, back to back; 0
// if there is anything else in it.
func values(text string) int {
	d := json.NewDecoder(strings.NewReader(text))
	for n := 0; ; n++ {
		var v json.RawMessage
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil || v[0] != '{' && v[0] != '[' {
			return 0
		}
	}
}
