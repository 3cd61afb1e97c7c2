package diff_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// history is a transcript of n turns whose results have 4 KB; edit may change
// a turn's result, or drop the turn by returning "".
func history(n int, edit func(turn int, result string) string) []byte {
	var ms []transcript.Message
	for i := range n {
		result := edit(i, strings.Repeat(fmt.Sprintf("line %d of the file\n", i), 200))
		if result == "" {
			continue
		}
		id := fmt.Sprintf("call-%d", i)
		ms = append(ms,
			transcript.Message{Role: transcript.Assistant, Model: "demo-1", StopReason: transcript.StopToolUse, Content: []transcript.Block{
				transcript.TextBlock(fmt.Sprintf("step %d", i)),
				{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: id, Name: "read", Arguments: fmt.Appendf(nil, `{"path":"file%d.go","limit":%d}`, i, i%7)}},
			}},
			transcript.Message{Role: transcript.ToolResult, ToolCallID: id, ToolName: "read", Content: []transcript.Block{transcript.TextBlock(result)}})
	}
	return file("m", ms)
}

// Compare reads both files, aligns them and describes what differs, in time
// near that of reading both lines by line.
func BenchmarkCompare(b *testing.B) {
	const turns = 2000
	base := history(turns, func(_ int, result string) string { return result })
	cases := []struct {
		name string
		edit func(turn int, result string) string
	}{
		{"one-message", func(turn int, result string) string {
			if turn == turns/2 {
				return strings.Replace(result, "line", "LINE", 1)
			}
			return result
		}},
		{"one-turn-dropped", func(turn int, result string) string {
			if turn == 10 {
				return ""
			}
			return result
		}},
		{"every-message", func(_ int, result string) string { return strings.ReplaceAll(result, "file", "page") }},
	}
	b.Run("read-only", func(b *testing.B) {
		b.SetBytes(2 * int64(len(base)))
		for b.Loop() {
			for range 2 {
				for _, err := range transcript.Lines(bytes.NewReader(base), transcript.Options{Lend: true}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
	for _, c := range cases {
		other := history(turns, c.edit)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(base) + len(other)))
			b.ReportAllocs()
			o := ignoring()
			o.Values = 10
			for b.Loop() {
				if r, err := diff.Compare(b.Context(), readLent(b, base, o), readLent(b, other, o), o); err != nil || r.Equal() {
					b.Fatal(err)
				}
			}
		})
	}
}

// readLent reads bytes as the command reads a file.
func readLent(tb testing.TB, content []byte, o diff.Options) *diff.History {
	tb.Helper()
	h, err := readAs(tb.Context(), "x", content, bytes.NewReader(content), transcript.Options{}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}
