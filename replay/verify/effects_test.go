package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
)

// What a transcript records of a tool's effects counts for more than its name.
func TestRetriedSideEffectReadsRecordedEffects(t *testing.T) {
	for _, c := range []struct {
		tool, effects string
		want          bool
	}{
		{"send", "", true},
		{"send", "external", true},
		{"send", "write", true},
		{"send", "read", false},
		{"send", "none", false},
		{"search", "", false},
		{"search", "external", true},
		{"search", "read", false},
	} {
		var b strings.Builder
		parent := ""
		write := func(format string, args ...any) {
			id := fmt.Sprintf("e%d", strings.Count(b.String(), "\n"))
			fmt.Fprintf(&b, `{"id":%q,"parentId":%q,%s}`+"\n", id, parent, fmt.Sprintf(format, args...))
			parent = id
		}
		write(`"type":"message","message":{"role":"user","content":"go"}`)
		attempt(write, "c1", "error", c.tool, c.effects)
		attempt(write, "c2", "toolUse", c.tool, c.effects)
		found := check(t, "t.jsonl", []byte(strings.Replace(b.String(), `"parentId":""`, `"parentId":null`, 1)), verify.Options{}).Findings
		got := slices.ContainsFunc(found, func(f verify.Finding) bool { return f.Rule == "retried-side-effect" })
		if got != c.want {
			t.Errorf("%s with effects %q: found %v, want %v: %v", c.tool, c.effects, got, c.want, found)
		}
	}
}

// attempt writes a call that ran.
func attempt(write func(string, ...any), id, stop, tool, effects string) {
	write(`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":%q,"arguments":{}}],"stopReason":%q}`, id, tool, stop)
	if effects != "" {
		write(`"type":"custom","customType":"turnlog.call","data":{"toolCallId":%q,"tool":%q,"effects":%q}`, id, tool, effects)
	}
	write(`"type":"message","message":{"role":"toolResult","toolCallId":%q,"toolName":%q,"content":[{"type":"text","text":"ok"}],"isError":false}`, id, tool)
}
