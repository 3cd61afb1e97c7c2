package openai

import (
	"encoding/json"
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
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// canned is a transport whose answer is a reader, without any network.
type canned struct{ body io.Reader }

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = keepsContract(body)
	}
	if err != nil {
		return nil, err
	}
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
	m, err := New(Config{Model: "m", Config: wire.Config{BaseURL: "http://h", Transport: canned{body}, Retry: wire.RetryPolicy{Attempts: 1}}})
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
				if ids[c.ID] || c.ID == "" || !isObject(c.Arguments) || !utf8.ValidString(c.ArgumentsError) {
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

// 5,000 comments in a row are more than go-openai bears.
func TestManyComments(t *testing.T) {
	r := answerTo(t, strings.NewReader(content("a")+strings.Repeat(": ping\n\n", 5000)+fin("stop")))
	r.wantStop(t, transcript.StopEnd, "a")
}

func isObject(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}
