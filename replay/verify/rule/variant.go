package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay"
)

// variant finds the declared name that a called one was meant to be: equal
// after folding case and separators, without a prefix that some models add,
// as the last part of a server's tool, or written several times in a row. If
// two declared names fit, the name is "" and ok is true.
func variant(called string, tools replay.ToolSet) (name string, ok bool) {
	want := foldName(called)
	for _, d := range tools.Declared() {
		if d.Name == called || !sameName(want, foldName(d.Name)) {
			continue
		}
		if ok {
			return "", true
		}
		name, ok = d.Name, true
	}
	return name, ok
}

func foldName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", "_")
	for _, prefix := range []string{"functions.", "tool:", "default_api:", "default_api."} {
		s = strings.TrimPrefix(s, prefix)
	}
	return s
}

func sameName(called, declared string) bool {
	if called == "" || declared == "" {
		return false
	}
	if called == declared || lastPart(called) == declared || called == lastPart(declared) {
		return true
	}
	n := len(called) / len(declared)
	return n > 1 && called == strings.Repeat(declared, n)
}

// lastPart is the tool in a name such as mcp__server__tool.
func lastPart(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		return name[i+2:]
	}
	return name
}
