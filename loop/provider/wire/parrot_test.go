package wire_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/loop/provider/wire/loose"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// parrot is a format that nobody speaks. Its request is words, its answer
// says them one by one and then why it ends. It shows what a format has to
// bring: nothing but this.
type parrot struct {
	text wire.Text
	said strings.Builder
	why  loose.String
}

func ask(words string) *wire.Request {
	return &wire.Request{
		API: "parrot", Model: replay.ModelRef{Provider: "zoo", ID: "polly"},
		Size:   int64(len(words)),
		Body:   func() io.ReadCloser { return io.NopCloser(strings.NewReader(words)) },
		Header: func(h http.Header, key string) { h.Set("X-Seed", key) },
		Answer: func(s wire.Secret) wire.Answer { return &parrot{text: wire.Text{Secret: s}} },
	}
}

func (p *parrot) Add(e wire.Event) ([]loop.Delta, bool, error) {
	var o struct {
		Word loose.Text
		Why  loose.String
	}
	if err := json.Unmarshal(e.Data, &o); err != nil {
		return nil, false, err
	}
	if e.Name == "end" {
		p.why = o.Why
		return nil, true, nil
	}
	return p.say(p.text.Push(o.Word)), true, nil
}

func (p *parrot) say(word string) []loop.Delta {
	p.said.WriteString(word)
	return []loop.Delta{{Kind: loop.TextDelta, Text: word}}
}

func (p *parrot) Finish(broken error, _ int64) (transcript.Message, []loop.Delta, error) {
	last := p.say(p.text.Flush())
	m := transcript.Message{Content: []transcript.Block{transcript.TextBlock(p.said.String())}, RawStopReason: string(p.why)}
	switch {
	case broken != nil:
		return m, nil, broken
	case p.why != "tired":
		return m, nil, &wire.Fault{Text: "the parrot flew away", Kind: wire.Transient}
	}
	m.StopReason = transcript.StopEnd
	return m, last, nil
}

// cage is a server that gives one answer after the other.
type cage struct {
	answers []string // "429" is a refusal, "|" a pause

	sync.Mutex
	bodies []string
	keys   []string
}

func (c *cage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.Lock()
	defer c.Unlock()
	answer := c.answers[min(len(c.bodies), len(c.answers)-1)]
	c.bodies, c.keys = append(c.bodies, string(body)), append(c.keys, r.Header.Get("X-Seed"))
	if r.URL.Path != "/v9/squawk" {
		http.NotFound(w, r)
		return
	}
	if answer == "429" {
		w.Header().Set("Retry-After", "7")
		http.Error(w, `{"error":"hush, seed-0123456789"}`, http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for piece := range strings.SplitSeq(answer, "|") {
		_, _ = io.WriteString(w, piece)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
	}
}

func word(text string) string { return `data: {"word":"` + text + `"}` + "\n\n" }

const end = "event: end\ndata: {\"why\":\"tired\"}\n\n"

func TestAnotherWire(t *testing.T) {
	const seed = "seed-0123456789"
	for name, c := range map[string]struct {
		answers  []string
		text     string // of the message, "" if it failed
		fail     string
		requests int
		delays   []time.Duration
	}{
		"good":                {[]string{word("hel") + "|" + word(`lo \ud83d`) + word(`\ude00`) + end}, "hello 😀", "", 1, nil},
		"the key is kept out": {[]string{word("seed-012") + "|" + word("3456789!") + end}, "[redacted]!", "", 1, nil},
		"bad framing":         {[]string{"\xef\xbb\xbf: hi\r\n\r\ndata: {\"word\":|\r\ndata: \"a\"}\r\n\r\n" + strings.TrimSpace(end)}, "a", "", 1, nil},
		"refused, then good":  {[]string{"429", word("a") + end}, "a", "", 2, []time.Duration{7 * time.Second}},
		"error inside 200":    {[]string{word("b") + "event: error\ndata: boom\n\n", word("a") + end}, "a", "", 2, []time.Duration{time.Second / 2}},
		"final error":         {[]string{`{"error":{"message":"bad seed","code":401}}`}, "", "bad seed", 1, nil},
		"cut":                 {[]string{word("b")}, "", "the parrot flew away (attempt 3)", 3, []time.Duration{time.Second / 2, time.Second}},
		"a page":              {[]string{"<html>"}, "", "what calls itself an event stream is none: <html>", 2, []time.Duration{time.Second / 2}},
	} {
		t.Run(name, func(t *testing.T) {
			cage := &cage{answers: c.answers}
			server := httptest.NewServer(cage)
			defer server.Close()
			var delays []time.Duration
			e, err := wire.New("/squawk", wire.Config{
				BaseURL: server.URL + "/v9/", Transport: server.Client().Transport, Retry: wire.RetryPolicy{Attempts: 3},
				APIKey: func(context.Context) (string, error) { return seed, nil },
				Sleep:  func(_ context.Context, d time.Duration) error { delays = append(delays, d); return nil },
				Rand:   func() float64 { return 0 },
			})
			if err != nil {
				t.Fatal(err)
			}
			var m *transcript.Message
			e.Stream(t.Context(), ask("say something"), func(d loop.Delta, err error) bool {
				if err != nil || strings.Contains(d.Text, seed) {
					t.Errorf("delta %+v, %v", d, err)
				}
				m = d.Final
				return true
			})
			if m.StopReason == transcript.StopEnd && (m.Text() != c.text || m.API != "parrot" || m.Provider != "zoo" || m.Model != "polly" || m.RawStopReason != "tired") {
				t.Errorf("got %+v, want the text %q", *m, c.text)
			}
			if (m.StopReason == transcript.StopEnd) != (c.fail == "") || !strings.Contains(m.ErrorMessage, c.fail) {
				t.Errorf("stop reason %q: %s, want %q", m.StopReason, m.ErrorMessage, c.fail)
			}
			cage.Lock()
			defer cage.Unlock()
			if len(cage.bodies) != c.requests || cage.bodies[0] != "say something" || cage.keys[0] != seed || !slices.Equal(delays, c.delays) {
				t.Errorf("requests %q with %q after %v, want %d after %v", cage.bodies, cage.keys, delays, c.requests, c.delays)
			}
		})
	}
}

// What all wires share has no word of one of them.
func TestKnowsNoFormat(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"choices", "chat/completions", "go-openai", "tool_calls", "finish_reason", "message_start", "content_block", "output_item"} {
			if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(source), word) {
				t.Errorf("%s speaks of %s", name, word)
			}
		}
	}
}
