package diff_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// shapes are histories that grow in one respect; the second value is how many
// units are worth measuring.
var shapes = []struct {
	name string
	n    int
	make func(n int) []byte
}{
	{"growing tool set", 150, func(n int) []byte {
		return turns(n, func(i int) []transcript.Message {
			return []transcript.Message{{Role: transcript.System, ToolsAdded: []transcript.Tool{tool(i)}}}
		})
	}},
	{"churning tool set", 150, func(n int) []byte {
		return turns(n, func(i int) []transcript.Message {
			m := transcript.Message{Role: transcript.System, ToolsAdded: []transcript.Tool{tool(i)}}
			if i > 0 {
				m.ToolsRemoved = []transcript.ToolRef{{Name: tool(i - 1).Name}}
			}
			return []transcript.Message{m}
		})
	}},
	{"prompt of growing sections", 150, func(n int) []byte {
		return turns(n, func(i int) []transcript.Message {
			return []transcript.Message{{Role: transcript.System, Sections: []transcript.Section{{Name: fmt.Sprint("s", i), Text: "more to do"}}}}
		})
	}},
	{"prompt of growing text", 150, func(n int) []byte {
		return turns(n, func(i int) []transcript.Message {
			return []transcript.Message{{Role: transcript.System, Content: []transcript.Block{transcript.TextBlock(fmt.Sprint("rule ", i))}}}
		})
	}},
	{"turns", 300, func(n int) []byte {
		return turns(n, func(int) []transcript.Message { return nil })
	}},
	{"edits of messages", 300, func(n int) []byte {
		content := turns(n, func(int) []transcript.Message { return nil })
		parent := fmt.Sprint("m", 2*n-1)
		for i := range n {
			content = fmt.Appendf(content, `{"type":"context_edit","id":"e%d","parentId":%q,"targetId":"m%d"}`+"\n", i, parent, i)
			parent = fmt.Sprint("e", i)
		}
		return content
	}},
	{"compactions", 300, func(n int) []byte {
		content := turns(1, func(int) []transcript.Message { return nil })
		parent := "m1"
		for i := range n {
			content = fmt.Appendf(content, `{"type":"compaction","id":"k%d","parentId":%q,"summary":"so far","firstKeptEntryId":"m1","systemMessage":{"role":"system","content":"p","toolsAdded":[{"name":"t%d","description":"does"}]}}`+"\n", i, parent, i)
			parent = fmt.Sprint("k", i)
		}
		return content
	}},
	{"equal messages", 1000, func(n int) []byte {
		ms := make([]transcript.Message, n)
		for i := range ms {
			ms[i] = transcript.UserText("go on")
		}
		return file("m", ms)
	}},
	{"unanswered calls of one message", 400, func(n int) []byte {
		return file("m", []transcript.Message{manyCalls(n)})
	}},
	{"answered calls of one message", 400, func(n int) []byte {
		ms := []transcript.Message{manyCalls(n)}
		for i := range n {
			ms = append(ms, transcript.Message{Role: transcript.ToolResult, ToolCallID: fmt.Sprint("c", i), ToolName: "read", Content: []transcript.Block{transcript.TextBlock("same")}})
		}
		return file("m", ms)
	}},
	{"one long line", 5000, func(n int) []byte {
		return file("m", []transcript.Message{transcript.UserText(strings.Repeat("word word\n", n))})
	}},
	{"one line of many records", 1000, func(n int) []byte {
		var ms []transcript.Message
		for range n {
			ms = append(ms, transcript.UserText("glued"))
		}
		content := file("m", ms)
		first := bytes.IndexByte(content, '\n') + 1
		return append(content[:first:first], bytes.ReplaceAll(content[first:], []byte("\n"), nil)...)
	}},
	{"deep JSON", 200, func(n int) []byte {
		return file("m", []transcript.Message{{Role: transcript.Assistant, Content: []transcript.Block{{Type: transcript.BlockToolCall, Call: &transcript.Call{
			ID: "c", Name: "read", Arguments: []byte(strings.Repeat(`[{"x":`, n) + `"end"` + strings.Repeat(`}]`, n)),
		}}}}})
	}},
}

func tool(i int) transcript.Tool {
	return transcript.Tool{Name: fmt.Sprint("tool", i), Description: "does", Parameters: []byte(`{"type":"object"}`)}
}

func manyCalls(n int) transcript.Message {
	m := transcript.Message{Role: transcript.Assistant, StopReason: transcript.StopToolUse}
	for i := range n {
		m.Content = append(m.Content, transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: fmt.Sprint("c", i), Name: "read", Arguments: []byte(`{}`)}})
	}
	return m
}

// turns is a history of n turns, each of which begins with other messages.
func turns(n int, before func(i int) []transcript.Message) []byte {
	var ms []transcript.Message
	for i := range n {
		ms = append(ms, before(i)...)
		ms = append(ms, transcript.UserText(fmt.Sprint("question ", i)),
			transcript.Message{Role: transcript.Assistant, Model: "m", StopReason: transcript.StopEnd, Content: []transcript.Block{transcript.TextBlock(fmt.Sprint("answer ", i))}})
	}
	return file("m", ms)
}

// differing are ways to compare a history: with itself, and with others that
// differ in many places.
var differing = []struct {
	name string
	edit func(content []byte) []byte
}{
	{"with itself", func(content []byte) []byte { return content }},
	{"with small edits", func(content []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("er "), []byte("ers ")), []byte("does"), []byte("did"))
	}},
	{"with another beginning", func(content []byte) []byte {
		lines := bytes.SplitAfterN(content, []byte("\n"), 3)
		if len(lines) < 3 {
			return content
		}
		return bytes.Join([][]byte{lines[0], bytes.Replace(lines[1], []byte(`"role"`), []byte(`"zone":1,"role"`), 1), lines[2]}, nil)
	}},
}

// TestAllocationsAreLinear: four times as much of anything allocates about four
// times as much. It counts bytes and not seconds, so that it says the same on
// any machine.
func TestAllocationsAreLinear(t *testing.T) {
	for _, shape := range shapes {
		small, big := shape.make(shape.n), shape.make(4*shape.n)
		for _, d := range differing {
			t.Run(shape.name+" "+d.name, func(t *testing.T) {
				for _, mode := range diff.Modes() {
					one, four := allocated(t, small, d.edit(small), mode), allocated(t, big, d.edit(big), mode)
					if ratio := float64(four) / float64(one); ratio > 5 {
						t.Errorf("mode %s: %d bytes are allocated for %d of them, %.1f times as many for four times as many", mode, one, shape.n, ratio)
					}
				}
			})
		}
	}
}

// allocated counts the bytes that a comparison allocates.
func allocated(t *testing.T, a, b []byte, mode diff.Mode) uint64 {
	t.Helper()
	o := ignoring()
	o.Mode, o.Values = mode, 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := diff.Compare(t.Context(), readLent(t, a, o), readLent(t, b, o), o)
	if err == nil {
		err = r.WriteText(io.Discard, diff.TextOptions{Limit: 10})
	}
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return after.TotalAlloc - before.TotalAlloc
}
