package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// canned is a transport whose answer is a reader, without any network.
type canned struct{ body io.Reader }

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(c.body), ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// answerTo runs body through everything, in one attempt.
func answerTo(t testing.TB, body io.Reader) result {
	m, _ := (&endpoint{}).model(t, func(c *Config) { c.Transport = canned{body}; c.Retry.Attempts = 1 })
	return collect(m, t.Context(), prompt("go"))
}

// A stream that is cut at any byte, cleanly or not, is a success only if the
// line with the finish_reason is complete; else it finishes no call.
func TestCutAtEveryByte(t *testing.T) {
	stream := content("so é") + tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`) +
		tc(`{"index":0,"function":{"arguments":"1}"}}`) + strings.TrimSuffix(fin("tool_calls"), "\n\n")
	whole := len(stream)
	stream += "\n\n" + usageFrame(3, 4) + done
	want := answerTo(t, strings.NewReader(stream))
	want.wantStop(t, transcript.StopToolUse, "so é")
	for n := range len(stream) + 1 {
		for name, end := range map[string]error{"closed": io.EOF, "reset": io.ErrUnexpectedEOF} {
			r := answerTo(t, io.MultiReader(strings.NewReader(stream[:n]), iotest.ErrReader(end)))
			success := r.err == nil && !r.message.Failed()
			// A reset in the line that ends the answer leaves open whether it ended.
			complete := n >= whole && name == "closed" || n > whole
			if success != complete {
				t.Fatalf("%s after %d of %d bytes (finish_reason complete at %d): success %v: %s", name, n, len(stream), whole, success, r.message.ErrorMessage)
			}
			if !success && r.count(loop.ToolCallEnd) > 0 {
				t.Fatalf("%s after %d bytes: a call of a cut stream was finished", name, n)
			}
			if diff := cmp.Diff(want.message.Content, r.message.Content); success && diff != "" {
				t.Fatalf("%s after %d bytes (-whole +cut):\n%s", name, n, diff)
			}
		}
	}
}

// The same two calls in the ten styles of the fault list give equal messages.
func TestTenStyles(t *testing.T) {
	type f = []string
	styles := map[string]f{
		"by the book": {
			tc(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`), tc(`{"index":0,"function":{"arguments":"{\"p\":"}}`), tc(`{"index":0,"function":{"arguments":"1}"}}`),
			tc(`{"index":1,"id":"b","type":"function","function":{"name":"read_file","arguments":""}}`), tc(`{"index":1,"function":{"arguments":"{}"}}`),
		},
		"1 no index": {
			tc(`{"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), tc(`{"function":{"arguments":"1}"}}`), tc(`{"id":"b","function":{"name":"read_file","arguments":"{}"}}`),
		},
		"2 index zero": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), tc(`{"index":0,"id":"b","function":{"name":"read_file","arguments":"{}"}}`),
		},
		"3 new ids": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), tc(`{"index":0,"id":"x1","function":{"name":"","arguments":"{\"p\""}}`), tc(`{"index":0,"id":"x2","function":{"name":"","arguments":":1}"}}`),
			tc(`{"index":0,"id":"b","function":{"name":"read_file","arguments":""}}`), tc(`{"index":0,"id":"x3","function":{"arguments":"{}"}}`),
		},
		"4 jumping index": {
			tc(`{"index":7,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), tc(`{"index":7,"function":{"arguments":"1}"}}`), tc(`{"index":3,"id":"b","function":{"name":"read_file","arguments":"{}"}}`),
		},
		"5 other index": {
			tc(`{"index":0,"id":"a","function":{"name":"read"}}`), tc(`{"index":1,"function":{"arguments":"{\"p\":1}"}}`), tc(`{"index":2,"id":"b","function":{"name":"read_file"}}`), tc(`{"index":3,"function":{"arguments":"{}"}}`),
		},
		"6 null ids": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), tc(`{"index":0,"id":null,"function":{"name":null,"arguments":":1}"}}`), tc(`{"index":1,"id":"b","function":{"name":"read_file","arguments":null}}`), tc(`{"index":1,"id":null,"function":{"arguments":"{}"}}`),
		},
		"7 names repeated": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), tc(`{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}`), tc(`{"index":1,"id":"b","function":{"name":"read_","arguments":""}}`), tc(`{"index":1,"id":"b","function":{"name":"file","arguments":"{}"}}`),
		},
		"9 one chunk": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"id":"b","function":{"name":"read_file","arguments":"{}"}}`),
		},
		"10 interleaved": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), tc(`{"index":1,"id":"b","function":{"name":"read_file","arguments":"{"}}`), tc(`{"index":0,"function":{"arguments":":1}"}}`), tc(`{"index":1,"function":{"arguments":"}"}}`),
		},
		"11 sent twice": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), tc(`{"index":1,"id":"b","function":{"name":"read_file","arguments":"{}"}}`),
			tc(`{"index":2,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), tc(`{"index":3,"id":"b","function":{"name":"read_file","arguments":"{}"}}`),
		},
		"objects": {
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}}`), tc(`{"index":1,"id":"b","function":{"name":"read_file","arguments":{}}}`),
		},
	}
	want := answerTo(t, strings.NewReader(strings.Join(styles["by the book"], "")+fin("tool_calls")+done))
	want.wantCalls(t, readOne, call{"b", "read_file", "{}", ""})
	for name, frames := range styles {
		r := answerTo(t, strings.NewReader(strings.Join(frames, "")+fin("tool_calls")+done))
		got := r.message
		got.Extra, got.Timestamp = want.message.Extra, want.message.Timestamp // diagnostics say how it came
		if diff := cmp.Diff(want.message, got); diff != "" {
			t.Errorf("%s (-by the book +got):\n%s", name, diff)
		}
	}
}

// However the bytes of arguments are cut into pieces and written as JSON, they
// arrive as they were.
func TestArgumentsSurvivePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{
			"text": rapid.String().Draw(t, "text"), "n": rapid.Int64().Draw(t, "n"),
			"list": rapid.SliceOfN(rapid.StringMatching(`[{}"\\\[\], a-é😀]*`), 0, 3).Draw(t, "list"),
		}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Skip()
		}
		var frames strings.Builder
		frames.WriteString(tc(`{"index":0,"id":"a","function":{"name":"read"}}`))
		for rest := string(raw); rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			piece := escapeBytes(rest[:n])
			frames.WriteString(tc(`{"index":0,"function":{"arguments":"` + piece + `"}}`))
			rest = rest[n:]
		}
		stream := frames.String() + fin("tool_calls")
		var m transcript.Message
		for d := range newTestModel(t, strings.NewReader(stream)).Stream(t.Context(), prompt("go")) {
			if d.Final != nil {
				m = *d.Final
			}
		}
		c := calls(&m)
		if len(c) != 1 || c[0].Arguments != string(raw) {
			t.Fatalf("got %q, want %q", c, raw)
		}
	})
}

func newTestModel(t *rapid.T, body io.Reader) *Model {
	m, err := New(Config{BaseURL: "http://h", Model: "m", Transport: canned{body}, Retry: RetryPolicy{Attempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// escapeBytes escapes only what JSON demands, so that characters that were cut
// apart stay cut apart.
func escapeBytes(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// FuzzEvents reads any bytes as a stream, in one piece and byte by byte. Both
// give the same frames, each of which go-openai takes for one.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: {\"a\":1}\n\n", ": c\r\ndata:{}\r\n\r\ndata: [DONE]\n\n", bom + "event: error\ndata: x\n\n", "data: {\"error\":null}\n\ndata: 1\rdata: 2\r\r",
		"data: {\"a\":\ndata: 1}\n\n", "{\"error\":\"x\"}", "data: {\"a\":1}\ndata: {\"b\":2}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := io.ReadAll(newEventReader(strings.NewReader(string(in))))
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := io.ReadAll(newEventReader(iotest.OneByteReader(strings.NewReader(string(in)))))
		if err != nil || string(whole) != string(bytewise) {
			t.Fatalf("in one piece %q, byte by byte %q, %v", whole, bytewise, err)
		}
		for frame := range strings.SplitSeq(strings.TrimSuffix(string(whole), "\n\n"), "\n\n") {
			if frame != "" && (!strings.HasPrefix(frame, "data: ") || strings.ContainsAny(frame, "\r\n")) {
				t.Fatalf("frame %q", frame)
			}
		}
	})
}

// FuzzAssemble makes a message out of any frames. It never panics, and what it
// gives can be kept: valid text, arguments that are objects, ids that differ,
// and a success only with a known finish_reason and content.
func FuzzAssemble(f *testing.F) {
	for _, s := range []string{
		content("a") + fin("stop"), tc(wholeCall) + tc(halfCall) + fin("tool_calls"), d(`{"content":"\ud83d","reasoning":1}`) + fin("length"),
		data(`{"choices":[{"delta":null},{"index":1,"delta":[]}],"usage":{"prompt_tokens":-1,"completion_tokens":"9e99"}}`) + fin("stop"),
		d(`{"function_call":{"name":"read","arguments":{"a":1}}}`) + fin("function_call"), d(`{"content":[{"type":"text","text":"x"}]}`) + fin("end_turn"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := answerTo(t, strings.NewReader(string(in)))
		m := r.message
		if r.err != nil || r.count(loop.Done) != 1 {
			t.Fatalf("%d done deltas, %v", r.count(loop.Done), r.err)
		}
		if reason, known := replay.StopReason(m.RawStopReason); !m.Failed() && (!known || reason == transcript.StopError || len(m.Content) == 0 && reason != transcript.StopLength) {
			t.Fatalf("success %q with raw %q and %d blocks", m.StopReason, m.RawStopReason, len(m.Content))
		}
		ids := map[string]bool{}
		for _, b := range m.Content {
			if !utf8.ValidString(b.Text) {
				t.Fatalf("text %q", b.Text)
			}
			if c := b.Call; c != nil {
				if ids[c.ID] || c.ID == "" || checkObject(c.Arguments) != nil || !utf8.ValidString(c.ArgumentsError) {
					t.Fatalf("call %+v", *c)
				}
				ids[c.ID] = true
			}
		}
		if u := m.Usage; u.Input < 0 || u.Output < 0 || u.TotalTokens < 0 {
			t.Fatalf("usage %+v", *u)
		}
	})
}

func TestTooLongLine(t *testing.T) {
	r := newEventReader(strings.NewReader("data: " + strings.Repeat("x", 10<<10)))
	r.limit = 8 << 10
	_, err := io.ReadAll(r)
	var tooLong *tooLongError
	if !errors.As(err, &tooLong) {
		t.Errorf("got %v", err)
	}
	r = newEventReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<10)+"\n", 20)))
	r.limit = 8 << 10
	if _, err = io.ReadAll(r); !errors.As(err, &tooLong) {
		t.Errorf("many lines: got %v", err)
	}
}

// Every trap of go-openai that was measured comes out right below it.
func TestEventShapes(t *testing.T) {
	for name, c := range map[string]struct{ in, out string }{
		"CRLF":            {"data: {\"a\":1}\r\n\r\n", "data: {\"a\":1}\n\n"},
		"CR":              {"data: {\"a\":1}\r\rdata: {\"a\":2}\r\r", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\n"},
		"no space":        {"data:{\"a\":1}\n\n", "data: {\"a\":1}\n\n"},
		"two data lines":  {"data: {\"a\":\ndata: 1}\n\n", "data: {\"a\": 1}\n\n"},
		"single newlines": {"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\ndata: [DONE]\n\n"},
		"byte order mark": {bom + "data: {\"a\":1}\n\n", "data: {\"a\":1}\n\n"},
		"fields":          {"id: 7\nretry: 5\nevent: message\ndata: {\"a\":1}\n: c\n\n", "data: {\"a\":1}\n\n"},
		"no last newline": {"data: {\"a\":1}", "data: {\"a\":1}\n\n"},
		"cut last line":   {"data: {\"a\":1}\n\ndata: {\"a\":", "data: {\"a\":1}\n\n"},
		"empty data":      {"data:\n\ndata: \n\n", ""},
		"null error":      {"data: {\"error\":null,\"a\":1}\n\n", "data: { \"error\":null,\"a\":1}\n\n"},
		"error":           {"data: {\"x\":1, \"error\" : \"boom\"}\n\ndata: {\"a\":1}\n\n", "data: {\"error\":{\"message\":\"boom\",\"type\":\"\",\"param\":\"\",\"code\":\"\"}}\n\n"},
		"after DONE":      {"data: [DONE]\n\ndata: {\"a\":1}\n\n", "data: [DONE]\n\n"},
	} {
		got, err := io.ReadAll(newEventReader(strings.NewReader(c.in)))
		if err != nil || string(got) != c.out {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.out)
		}
	}
	// 5,000 comments are more than go-openai bears.
	r := answerTo(t, strings.NewReader(content("a")+strings.Repeat(": ping\n\n", 5000)+fin("stop")))
	r.wantStop(t, transcript.StopEnd, "a")
}

func TestArgumentsThatCannotBeKept(t *testing.T) {
	for in, want := range map[string]struct{ arguments, reason string }{
		``:                                {`{}`, ``},
		"  \n":                            {`{}`, ``},
		`{"a":12345678901234567890123}`:   {`{"a":12345678901234567890123}`, ``},
		`{"a":1e999}`:                     {`{"a":1e999}`, ``},
		`[1]`:                             {`{}`, `not a JSON object: [1]`},
		`null`:                            {`{}`, `not a JSON object: null`},
		`"x"`:                             {`{}`, `not a JSON object: "x"`},
		`{`:                               {`{}`, `not valid JSON: unexpected end of JSON input: {`},
		`{"a":1,"a":2}`:                   {`{}`, `key "a" stands twice: {"a":1,"a":2}`},
		`{"b":{"a":1,"a":2}}`:             {`{}`, `key "a" stands twice: {"b":{"a":1,"a":2}}`},
		`{"a":[{"b":1},{"b":1}],"b":"b"}`: {`{"a":[{"b":1},{"b":1}],"b":"b"}`, ``},
		`{"a":"\ud99c"}`:                  {`{"a":"\ufffd"}`, ``},
		`{"a":"\\ud99c"}`:                 {`{"a":"\\ud99c"}`, ``},
		`{"a":"\ud83d\ude00"}`:            {`{"a":"\ud83d\ude00"}`, ``},
		`{"a":"\ude00\ud83d"}`:            {`{"a":"\ufffd\ufffd"}`, ``},
		`{"a":1} x`:                       {`{}`, `two argument texts for one call: {"a":1} and then x`},
	} {
		var a arguments
		for _, b := range []byte(in) {
			a.push(fragment([]byte{b}))
		}
		raw, reason, _ := a.finish()
		if string(raw) != want.arguments || reason != want.reason {
			t.Errorf("%s: got %s, %q, want %s, %q", in, raw, reason, want.arguments, want.reason)
		}
	}
}
