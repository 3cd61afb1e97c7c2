// Corpus writes a pi-style transcript of a given size, the same one for the
// same flags, for benchmarks:
//
//	go run ./scripts/corpus -size 100MiB > /tmp/100.jsonl
//
// It is one linear session: a header, a prompt with eight tools, then turns of
// thinking, text and zero to four tool calls, results of 0.3 to 30 KB, usage,
// and a change of the tool set every hundred turns. Texts have the density of
// escapes that recorded sessions have (5 to 8 % backslashes).
//
// With -shape it writes one of the shapes that cost more than their size says
// as soon as something is done once an entry that should be done once a file:
//
//	go run ./scripts/corpus -list
//	go run ./scripts/corpus -shape later-parents -n 40000 > /tmp/later.jsonl
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
)

func main() {
	size := flag.String("size", "1MiB", "bytes to write at least; KiB, MiB and GiB are known")
	seed := flag.Uint64("seed", 1, "seed of the random choices")
	name := flag.String("shape", "", "write this shape instead; -list names them")
	count := flag.Int("n", 0, "how much of the shape; 0 is the small size of the benchmark")
	list := flag.Bool("list", false, "list the shapes with their small size and exit")
	flag.Parse()
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	var err error
	switch {
	case *list:
		err = listShapes(w)
	case *name != "":
		var one shape
		if one, err = findShape(*name); err == nil {
			err = one.to(w, cmp.Or(*count, one.small), *seed)
		}
	default:
		var n int64
		if n, err = parseSize(*size); err != nil {
			fmt.Fprintln(os.Stderr, "corpus:", err)
			os.Exit(2)
		}
		err = write(w, n, *seed)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func parseSize(s string) (int64, error) {
	for unit, shift := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseInt(digits, 10, 64)
			return n << shift, err
		}
	}
	return strconv.ParseInt(s, 10, 64)
}

// session writes entries, each the child of the one before.
type session struct {
	w       io.Writer
	rng     *rand.Rand
	written int64
	n       int
	parent  string
	now     time.Time
	err     error
}

const sessionHeader = `{"type":"session","version":3,"id":"0195a0c0-0000-7000-8000-000000000001","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/home/user/project"}`

func newSession(w io.Writer, seed uint64) *session {
	return &session{w: w, rng: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)}
}

func write(w io.Writer, size int64, seed uint64) error {
	s := newSession(w, seed)
	s.line([]byte(sessionHeader))
	s.add(transcript.Entry{Type: transcript.TypeModelChange, Model: &transcript.ModelChange{Provider: "demo", ModelID: "demo-1"}})
	s.add(transcript.Entry{Type: transcript.TypeThinking, Thinking: "medium"})
	s.message(transcript.Message{
		Role: transcript.System, Form: transcript.FormString, Content: []transcript.Block{transcript.TextBlock("You keep a house of code in order.")},
		Sections: []transcript.Section{{Name: "rules", Text: s.prose(900)}, {Name: "cwd", Text: "/home/user/project"}}, ToolsAdded: s.tools(),
	})
	for turn := 0; s.written < size && s.err == nil; turn++ {
		s.turn(turn)
	}
	return s.err
}

func (s *session) line(b []byte) {
	if s.err != nil {
		return
	}
	n, err := s.w.Write(append(b, '\n'))
	s.written += int64(n)
	s.err = err
}

// add appends an entry as the child of the one before.
func (s *session) add(e transcript.Entry) {
	s.n++
	e.ID, e.ParentID = idOf(s.n), s.parent
	s.put(e)
}

// put appends an entry with links of its own; the next one is its child.
func (s *session) put(e transcript.Entry) {
	s.now = s.now.Add(time.Duration(s.rng.IntN(2000)) * time.Millisecond)
	e.Timestamp = s.now.Format("2006-01-02T15:04:05.000Z")
	s.parent = e.ID
	s.line(transcript.AppendEntry(nil, &e))
}

// idOf is the id of the n-th entry: no two below 2^32 are the same.
func idOf(n int) string { return fmt.Sprintf("%08x", n*2654435761&0xffffffff) }

func (s *session) message(m transcript.Message) {
	m.Timestamp = s.now.UnixMilli()
	s.add(transcript.Entry{Type: transcript.TypeMessage, Message: &m})
}

func (s *session) turn(turn int) {
	switch {
	case turn > 0 && turn%200 == 100:
		s.message(transcript.Message{Role: transcript.System, Form: transcript.FormString, ToolsRemoved: []transcript.ToolRef{{Name: "fetch"}}})
	case turn > 0 && turn%200 == 0:
		tools := s.tools()
		s.message(transcript.Message{Role: transcript.System, Form: transcript.FormString, ToolsAdded: tools[len(tools)-1:]})
	}
	if turn%8 == 0 {
		s.message(transcript.UserText(s.prose(60 + s.rng.IntN(400))))
	}
	calls := s.rng.IntN(5)
	if turn%8 == 7 {
		calls = 0
	}
	s.answer(turn, calls)
	if calls == 0 && turn%8 != 7 {
		s.message(transcript.UserText(s.prose(40)))
	}
}

var toolNames = []string{"read", "write", "edit", "ls", "find", "grep", "bash", "fetch"}

func (s *session) answer(turn, calls int) {
	m := transcript.Message{
		Role: transcript.Assistant, API: "openai-completions", Provider: "demo", Model: "demo-1", StopReason: transcript.StopEnd,
		ResponseID: fmt.Sprintf("resp-%d", turn), RawStopReason: "stop", ThinkingLevel: "medium", DurationMs: int64(s.rng.IntN(9000)), HasDuration: true,
		Content: []transcript.Block{
			{Type: transcript.BlockThinking, Text: s.prose(200 + s.rng.IntN(1500)), Signature: s.opaque(256)},
			transcript.TextBlock(s.prose(40 + s.rng.IntN(600))),
		},
		Usage: &transcript.Usage{Input: 900, Output: 300, CacheRead: 12000, CacheWrite: 700, TotalTokens: 13900, Has: transcript.HasInput | transcript.HasOutput | transcript.HasCacheRead | transcript.HasCacheWrite | transcript.HasTotal},
	}
	for i := range calls {
		m.StopReason, m.RawStopReason = transcript.StopToolUse, "tool_calls"
		m.Content = append(m.Content, transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{
			ID: fmt.Sprintf("call_%d_%d", turn, i), Name: toolNames[s.rng.IntN(len(toolNames)-1)],
			Arguments: []byte(`{"path":` + strconv.Quote(fmt.Sprintf("src/part%d/file%d.go", s.rng.IntN(90), turn)) + `,"limit":` + strconv.Itoa(s.rng.IntN(4000)) + `}`),
		}})
	}
	s.message(m)
	for _, c := range m.Calls() {
		// Log-uniform between 0.3 and 30 KB.
		n := int(300 * math.Pow(100, s.rng.Float64()))
		s.message(transcript.Message{
			Role: transcript.ToolResult, ToolCallID: c.ID, ToolName: c.Name, DurationMs: int64(s.rng.IntN(900)), HasDuration: true,
			Content: []transcript.Block{transcript.TextBlock(s.code(n))},
		})
	}
}

func (s *session) tools() []transcript.Tool {
	var tools []transcript.Tool
	for i, name := range toolNames {
		tools = append(tools, transcript.Tool{
			Name: name, Description: s.prose(200 + 120*i),
			Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string","description":` + strconv.Quote(s.prose(300)) +
				`},"limit":{"type":"integer","minimum":0}},"required":["path"]}`),
		})
	}
	return tools
}

var words = strings.Fields("the a of to in file line test error value list reads writes branch result state turn tool call check path build house room door window light answer question number small large first last next")

func (s *session) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[s.rng.IntN(len(words))])
		b.WriteByte(" .\n  ,   "[s.rng.IntN(9)])
	}
	return b.String()
}

func (s *session) code(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "\tif %s == \"%s\" {\n\t\treturn %s(%d)\n\t}\n", words[s.rng.IntN(len(words))], words[s.rng.IntN(len(words))], words[s.rng.IntN(len(words))], s.rng.IntN(1000))
	}
	return b.String()
}

func (s *session) opaque(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[s.rng.IntN(64)]
	}
	return string(b)
}
