package openai

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/replay/transcript"
)

// What is odd, but no fault: the answer counts, and a diagnostic says how it
// was read.
func TestOddities(t *testing.T) {
	for name, c := range map[string]struct {
		frames string
		stop   string
		text   string
		note   string // "" for none
	}{
		"thinking only":         {d(`{"reasoning":"hm"}`) + fin("stop"), transcript.StopEnd, "", answer.NoteThinkingOnly},
		"refusal":               {d(`{"refusal":"No."}`) + fin("stop"), transcript.StopEnd, "No.", answer.NoteRefusal},
		"two finish reasons":    {content("a") + fin("length") + fin("stop"), transcript.StopLength, "a", answer.NoteFinishRepeated},
		"finish reason twice":   {content("a") + fin("stop") + fin("stop"), transcript.StopEnd, "a", ""},
		"two choices":           {content("a") + data(`{"choices":[{"index":1,"delta":{"content":"b"}}]}`) + fin("stop"), transcript.StopEnd, "a", answer.NoteChoice},
		"text parts":            {d(`{"content":[{"type":"text","text":"a"},{"type":"image","data":1}]}`) + fin("stop"), transcript.StopEnd, "a", ""},
		"both reasoning fields": {d(`{"reasoning":"hm","reasoning_content":"hm"}`) + content("a") + fin("stop"), transcript.StopEnd, "a", ""},
		"wrong types":           {data(`{"id":7,"model":{},"created":"x","choices":[{"index":"0","delta":{"content":"a","role":1,"tool_calls":{}}}]}`) + fin("stop"), transcript.StopEnd, "a", ""},
		"anthropic's word":      {content("a") + fin("end_turn"), transcript.StopEnd, "a", ""},
		"google's word":         {content("a") + fin("MAX_TOKENS"), transcript.StopLength, "a", ""},
		"text after a call":     {content("a") + tc(wholeCall) + content("b") + fin("tool_calls"), transcript.StopToolUse, "ab", ""},
		"old function call":     {d(`{"function_call":{"name":"read","arguments":"{\"p\""}}`) + d(`{"function_call":{"arguments":":1}"}}`) + fin("function_call"), transcript.StopToolUse, "", ""},
		"second name":           {tc(wholeCall, `{"index":0,"id":"a","function":{"name":"write"}}`) + fin("tool_calls"), transcript.StopToolUse, "", answer.NoteNameKept},
		"only the index jumps":  {tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`, `{"index":4,"id":"a","function":{"arguments":"1}"}}`) + fin("tool_calls"), transcript.StopToolUse, "", ""},
		"name after the id":     {tc(`{"index":0,"id":"a"}`, `{"index":0,"function":{"name":"read"}}`, `{"index":0,"function":{"arguments":"{\"p\":1}"}}`) + fin("tool_calls"), transcript.StopToolUse, "", ""},
		"id after the name":     {tc(`{"index":0,"function":{"name":"read"}}`, `{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`) + fin("tool_calls"), transcript.StopToolUse, "", ""},
		"usage of groq":         {content("a") + data(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5}}}`), transcript.StopEnd, "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := answerTo(t, strings.NewReader(c.frames+done))
			r.wantStop(t, c.stop, c.text)
			switch {
			case c.note != "" && !noted(&r.message, c.note):
				t.Errorf("no diagnostic %s in %v", c.note, r.message.Extra)
			case c.note == "" && len(r.message.Extra) > 0:
				t.Errorf("a diagnostic about nothing: %s", r.message.Extra[0].Value)
			}
			if got := calls(&r.message); c.stop == transcript.StopToolUse && (len(got) != 1 || got[0].Name != "read" || got[0].Arguments != `{"p":1}` || got[0].Error != "") {
				t.Errorf("calls %+v", got)
			}
		})
	}
}

// The connection of an answer carries the next request.
func TestConnectionsAreReused(t *testing.T) {
	e := serve(t, good)
	dials := 0
	dial := e.client.DialContext
	e.client = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		return dial(ctx, network, address)
	}}
	defer e.client.CloseIdleConnections()
	m, _ := e.model(t, nil)
	for range 3 {
		r := collect(m, t.Context(), prompt("go"))
		r.wantStop(t, transcript.StopEnd, "ok")
	}
	if dials != 1 {
		t.Errorf("%d connections for 3 requests", dials)
	}
}

func TestTapSeesTheBytes(t *testing.T) {
	var seen strings.Builder
	r := serve(t, stream(": hi\n\n", content("a"), fin("stop"), done)).ask(t, func(c *Config) { c.Tap = func(b []byte) { seen.Write(b) } })
	r.wantStop(t, transcript.StopEnd, "a")
	if want := ": hi\n\n" + content("a") + fin("stop") + done; seen.String() != want {
		t.Errorf("got %q", seen.String())
	}
}

func TestNewCallIDs(t *testing.T) {
	if a, b := newCallID(), newCallID(); a == b || len(a) != len("call_")+24 {
		t.Errorf("ids %q and %q", a, b)
	}
}

// An answer without end costs no more than its bounds.
func TestRunawayAnswers(t *testing.T) {
	var frames strings.Builder
	for i := range 5000 {
		frames.WriteString(tc(fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"read","arguments":"{}"}}`, i, i)))
	}
	r := answerTo(t, strings.NewReader(frames.String()+fin("tool_calls")))
	r.wantFailed(t, "more than 1000 tool calls")
	frames.Reset()
	for i := range 5000 {
		frames.WriteString(tc(fmt.Sprintf(`{"index":%d,"id":"c","function":{"name":"read","arguments":"{}"}}`, i)))
	}
	r = answerTo(t, strings.NewReader(fin("tool_calls")+frames.String()))
	r.wantFailed(t, "more than 1000 tool calls")
	r = answerTo(t, strings.NewReader(strings.Repeat(content(strings.Repeat("x", 64<<10)), 200)+fin("stop")))
	r.wantFailed(t, "the answer is longer than 8388608 bytes")
	if n := len(r.message.Text()); n > 8<<20 {
		t.Errorf("%d bytes were kept", n)
	}
	r = answerTo(t, strings.NewReader(data(`{"id":"`+strings.Repeat("i", 9<<20)+`","choices":[{"index":0,"delta":{"content":"a"}}]}`)+fin("stop")))
	r.wantFailed(t, "the answer is longer than 8388608 bytes")
	if r.message.ResponseID != "" {
		t.Error("the id was kept")
	}
}
