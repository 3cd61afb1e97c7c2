package verify_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
)

// forked is a file of many branches: a stem, and forks of three entries that
// hang on places of it in turn.
func forked(stem, forks int) []byte {
	var b bytes.Buffer
	for i := range stem {
		head := fmt.Sprintf(`"id":"s%d","parentId":"s%d"`, i, i-1)
		if i == 0 {
			b.WriteString(message(`"id":"s0","parentId":null`, `"role":"system","content":"p","toolsAdded":[`+tool("a", 0)+`]`) + "\n")
			continue
		}
		b.WriteString(message(head, fmt.Sprintf(`"role":"user","content":"number %d"`, i)) + "\n")
	}
	for i := range forks {
		head := func(k int, parent string) string {
			return fmt.Sprintf(`"id":"f%d_%d","parentId":"%s"`, i, k, parent)
		}
		b.WriteString(message(head(0, fmt.Sprintf("s%d", i*7%(stem-1))), `"role":"user","content":"well?"`) + "\n")
		b.WriteString(message(head(1, fmt.Sprintf("f%d_0", i)), `"role":"assistant","content":[{"type":"toolCall","id":"k","name":"a","arguments":{"n":1}}],"stopReason":"toolUse"`) + "\n")
		b.WriteString(message(head(2, fmt.Sprintf("f%d_1", i)), `"role":"toolResult","toolCallId":"k","toolName":"a","content":[{"type":"text","text":"x"}],"isError":false`) + "\n")
	}
	return b.Bytes()
}

// heapAfter runs all rules and returns the live heap at the end of the file,
// while the engine still holds all it knows.
func heapAfter(t *testing.T, file []byte) (bytes uint64, entries int) {
	t.Helper()
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, after := live(), uint64(0)
	measure := verify.Rule{ID: "measure", New: func(verify.Values) verify.Checker {
		return verify.Checker{End: func(*verify.Pass) { after = live() }}
	}}
	result, err := verify.Run(t.Context(), memory("forks", file), append(rules(), measure), verify.Options{})
	if err != nil || len(result.Findings) > 0 {
		t.Fatal(err, result.Findings)
	}
	return max(after, before) - before, result.Summary.Entries
}

// TestMemory checks that what is kept of an entry is a few dozen bytes, however
// many branches there are: nothing of a branch that was left stays in memory.
func TestMemory(t *testing.T) {
	for name, make := range map[string]func(n int) []byte{
		"forks":  func(n int) []byte { return forked(400, n) },
		"linear": func(n int) []byte { return forked(3*n, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			small, few := heapAfter(t, make(1000))
			large, many := heapAfter(t, make(7000))
			perEntry := float64(large-min(small, large)) / float64(many-few)
			t.Logf("%d entries: %d KiB; %d entries: %d KiB; %.0f bytes an entry", few, small>>10, many, large>>10, perEntry)
			const limit = 100
			if perEntry > limit {
				t.Errorf("%.0f bytes an entry, at most %d are wanted", perEntry, limit)
			}
		})
	}
}
