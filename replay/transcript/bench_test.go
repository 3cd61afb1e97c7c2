package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// corpus makes about size bytes of a transcript in pi's style: answers with
// thinking, text and calls, results between 0.3 and 30 KB, tools redeclared
// now and then, code and prose with as many escapes as real files have.
func corpus(size int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the file returns an error when path := range of the \"config\" value\nis set\tand \\d+ if err != nil {\n return quoted for i func() true x = 12; // comment")
	prose := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[rnd.IntN(len(words))])
			b.WriteByte("  \n   \t "[rnd.IntN(8)])
			switch rnd.IntN(60) {
			case 0:
				b.WriteString("“é” 日本 ")
			case 1, 2:
				b.WriteString("\n    \"")
			}
		}
		return b.String()
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	n, parent := 0, ""
	add := func(m Message) {
		n++
		m.Timestamp = 1796055344883 + int64(n)
		e := Entry{Type: TypeMessage, ID: fmt.Sprintf("%08x", n), ParentID: parent, Timestamp: "2030-01-02T03:04:05.678Z", Message: &m}
		if err := w.Append(&e); err != nil {
			panic(err)
		}
		parent = e.ID
	}
	header := Entry{Type: TypeSession, Timestamp: "2030-01-02T03:04:05.678Z", Header: &Header{Version: 3, ID: "s", CWD: "/home/user/project"}}
	if err := w.Append(&header); err != nil {
		panic(err)
	}
	for turn := 0; out.Len() < size; turn++ {
		if turn%100 == 0 {
			m := Message{Role: System, Form: FormString, Sections: []Section{{Name: "preamble", Text: prose(2000)}}}
			for i := range 8 {
				m.ToolsAdded = append(m.ToolsAdded, Tool{
					Name: fmt.Sprintf("tool%d", i), Description: prose(200),
					Parameters: AppendString([]byte(`{"type":"object","properties":{"path":{"type":"string","description":`), prose(1000)),
				})
				t := &m.ToolsAdded[i]
				t.Parameters = append(t.Parameters, `}},"required":["path"]}`...)
			}
			add(m)
		}
		if turn%8 == 0 {
			add(UserText(prose(300)))
		}
		answer := Message{
			Role: Assistant, API: "openai-completions", Provider: "mock", Model: "mock-a", StopReason: StopToolUse, RawStopReason: "tool_calls",
			Usage:      &Usage{Input: 1200, Output: 345, CacheRead: 100, TotalTokens: 1645, Cost: Cost{Input: 0.00009999999999999999, Output: 0.000019999999999999998, Total: 0.00012}},
			ResponseID: "chatcmpl-1", DurationMs: 1234, ThinkingLevel: "off",
			Content: []Block{{Type: BlockThinking, Text: prose(600), Signature: strings.Repeat("QUJD", 100)}, TextBlock(prose(200))},
		}
		calls := rnd.IntN(5)
		for c := range calls {
			args := AppendString([]byte(`{"path":"a/b/c.go","limit":12,"pattern":`), prose(150))
			answer.Content = append(answer.Content, Block{Type: BlockToolCall, Call: &Call{ID: fmt.Sprintf("call_%d_%d", turn, c), Name: "tool1", Arguments: append(args, '}')}})
		}
		add(answer)
		for c := range calls {
			add(Message{
				Role: ToolResult, ToolCallID: fmt.Sprintf("call_%d_%d", turn, c), ToolName: "tool1", DurationMs: 4,
				Content: []Block{TextBlock(prose(int(300 * math.Pow(100, rnd.Float64()))))},
			})
		}
	}
	return out.Bytes()
}

func BenchmarkLines(b *testing.B) {
	data := corpus(16 << 20)
	b.Logf("%d lines, %.1f %% backslashes", bytes.Count(data, []byte("\n")), 100*float64(bytes.Count(data, []byte(`\`)))/float64(len(data)))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for l, err := range Lines(bytes.NewReader(data), Options{Workers: workers}) {
					if err != nil || l.Damage != Intact {
						b.Fatal(l.No, l.Err, err)
					}
				}
			}
		})
	}
}

func BenchmarkAppendEntry(b *testing.B) {
	data := corpus(1 << 20)
	var entries []Entry
	for _, l := range collect(b, data, Options{}) {
		for _, e := range l.Records {
			e.Raw = nil
			entries = append(entries, e)
		}
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		for i := range entries {
			buf = AppendEntry(buf[:0], &entries[i])
		}
	}
}

// BenchmarkValid is the yardstick: what encoding/json needs to validate the
// same lines, without reading, decoding or keeping anything.
func BenchmarkValid(b *testing.B) {
	data := corpus(16 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				b.Fatal("no JSON")
			}
		}
	}
}
