package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// reserved are the members of a request body that params may not set.
var reserved = []string{"model", "messages", "tools", "stream", "functions"}

// Params are the members of a request body that the caller wrote, in order.
type Params []transcript.Field

// ParseParams splits a JSON object into its members and keeps their bytes.
func ParseParams(raw json.RawMessage) (Params, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	var p Params
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		f := transcript.Field{Name: name.(string)}
		if err := dec.Decode(&f.Value); err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		if slices.Contains(reserved, f.Name) {
			return nil, fmt.Errorf("%q is written by turnlog itself, remove it", f.Name)
		}
		if p.has(f.Name) {
			return nil, fmt.Errorf("%q is set twice", f.Name)
		}
		p = append(p, f)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if dec.InputOffset() != int64(len(raw)) {
		return nil, errors.New("data after the JSON object")
	}
	return p, nil
}

// index is the place of the first member with one of the names, -1 if none.
func (p Params) index(names ...string) int {
	return slices.IndexFunc(p, func(f transcript.Field) bool { return slices.Contains(names, f.Name) })
}

func (p Params) has(names ...string) bool { return p.index(names...) >= 0 }

// bound gives p with the answer bounded by n tokens too (0 is no bound), and
// the bound in force: the smaller of what p states and n, because n is what
// the caller has reserved.
func (p Params) bound(n int64, model string) (Params, int64) {
	value := json.RawMessage(strconv.FormatInt(n, 10))
	i := p.index("max_completion_tokens", "max_tokens")
	if i < 0 {
		if n <= 0 {
			return p, 0
		}
		return append(slices.Clone(p), transcript.Field{Name: limitName(model), Value: value}), n
	}
	stated, _ := strconv.ParseInt(string(p[i].Value), 10, 64)
	if n <= 0 || stated > 0 && stated <= n {
		return p, stated
	}
	p = slices.Clone(p)
	p[i].Value = value
	return p, n
}

// limitName is how a model wants its bound called. OpenAI's reasoning models
// refuse max_tokens; other servers often know nothing else.
func limitName(model string) string {
	reasons := func(prefix string) bool { return strings.HasPrefix(model, prefix) }
	if slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5", "gpt-6"}, reasons) {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// effort gives p with the thinking level, unless p says something about it.
func (p Params) effort(level string) Params {
	if level == "" || level == "off" || p.has("reasoning_effort", "reasoning", "thinking") {
		return p
	}
	return append(slices.Clone(p), transcript.Field{Name: "reasoning_effort", Value: transcript.AppendString(nil, level)})
}

// append writes the members, each after a comma.
func (p Params) append(dst []byte) []byte {
	for _, f := range p {
		dst = append(transcript.AppendString(append(dst, ','), f.Name), ':')
		dst = append(dst, f.Value...)
	}
	return dst
}
