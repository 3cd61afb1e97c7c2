package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	goopenai "github.com/sashabaranov/go-openai"
)

const benchTokens = 1000

// tokenStream is an answer of benchTokens pieces, in the shape that OpenAI
// sends them.
func tokenStream() string {
	piece := data(`{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"m","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}`)
	return strings.Repeat(piece, benchTokens) + fin("stop") + usageFrame(10, benchTokens) + done
}

// BenchmarkToken compares one token through this package with one through
// go-openai alone, its own decoding included. Both read from memory.
func BenchmarkToken(b *testing.B) {
	stream := tokenStream()
	b.Run("turnlog", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m, _ := (&endpoint{}).model(b, func(c *Config) { c.Transport = canned{strings.NewReader(stream)} })
			n := 0
			for d, err := range m.Stream(b.Context(), prompt("go")) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(d.Text)
			}
			if n < benchTokens {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTokens, "ns/token")
	})
	b.Run("go-openai", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := goopenai.DefaultConfig("k")
			c.BaseURL, c.HTTPClient = "http://h", doer{canned{strings.NewReader(stream)}}
			s, err := goopenai.NewClientWithConfig(c).CreateChatCompletionStream(b.Context(), goopenai.ChatCompletionRequest{Model: "m"})
			if err != nil {
				b.Fatal(err)
			}
			for {
				if _, err := s.Recv(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTokens, "ns/token")
	})
}

// doer is the transport as go-openai wants it.
type doer struct{ canned }

func (d doer) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }
