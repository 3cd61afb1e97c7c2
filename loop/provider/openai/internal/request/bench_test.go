package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// BenchmarkRequestBody makes the bodies of all requests of a conversation of
// 3,000 turns, each with a call and its result, and reports the time of one.
func BenchmarkRequestBody(b *testing.B) {
	for _, turns := range []int{300, 3000} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			for b.Loop() {
				h := new(History)
				s := new(replay.State)
				s.Append(transcript.Message{Role: transcript.System, Content: []transcript.Block{transcript.TextBlock("Be brief.")}, ToolsAdded: prompt("").Tools})
				s.Append(transcript.UserText("go"))
				for i := range turns {
					r := s.Request()
					r.Model = replay.ModelRef{Provider: "openai", ID: "m"}
					q, err := New(r, defaults, h)
					if err != nil || q.Size() == 0 {
						b.Fatal(err)
					}
					id := fmt.Sprint("call_", i)
					s.Append(assistant(transcript.TextBlock("Looking at the next item."), callBlock(id, "read", `{"path":"src/main.go","limit":200}`)))
					s.Append(toolResult(id, transcript.TextBlock(strings.Repeat("one line of a file\n", 20))))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
		})
	}
}
