package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// RepeatedCalls ends a task as stuck when the same tool was called with the
// same arguments and gave the same result times in a row. A tool that is
// polled gives another result some day; one that alternates with others is
// none in a row.
type RepeatedCalls struct {
	times int
	stop  *Stop
	last  [sha256.Size]byte
	row   int
}

// NewRepeatedCalls counts up to times; 0 counts nothing.
func NewRepeatedCalls(times int, stop *Stop) *RepeatedCalls {
	return &RepeatedCalls{times: times, stop: stop}
}

// Policy returns the seam; it is empty if nothing is counted.
func (r *RepeatedCalls) Policy() Policy {
	if r.times <= 0 {
		return Policy{}
	}
	return Policy{FinishTurn: r.finishTurn}
}

// Restore counts the calls of an interrupted process.
func (r *RepeatedCalls) Restore(history []transcript.Message) {
	if r.times <= 0 {
		return
	}
	for i := range history {
		calls := history[i].Calls()
		if results := history[i+1:]; len(calls) > 0 && !history[i].Failed() {
			n := 0
			for n < len(results) && results[n].Role == transcript.ToolResult {
				n++
			}
			r.count(calls, results[:n])
		}
	}
}

func (r *RepeatedCalls) finishTurn(_ context.Context, t loop.Turn) (loop.Decision, error) {
	if r.count(t.Message.Calls(), t.Results) {
		return loop.End, nil
	}
	return loop.Default, nil
}

// count reports whether the agent is stuck.
func (r *RepeatedCalls) count(calls []*transcript.Call, results []transcript.Message) bool {
	for i := range min(len(calls), len(results)) {
		sum := fingerprint(calls[i], &results[i])
		if sum != r.last {
			r.last, r.row = sum, 0
		}
		if r.row++; r.row >= r.times {
			r.stop.Set(Stuck, fmt.Sprintf("repeated_call: %s was called %d times in a row with the same arguments and the same result", calls[i].Name, r.row))
			return true
		}
	}
	return false
}

// fingerprint is what makes two calls the same. Details are not part of it:
// they may have durations.
func fingerprint(c *transcript.Call, result *transcript.Message) (sum [sha256.Size]byte) {
	var b bytes.Buffer
	b.WriteString(c.Name)
	b.WriteByte(0)
	if json.Compact(&b, c.Arguments) != nil {
		b.Write(c.Arguments)
	}
	b.WriteByte(0)
	for i := range result.Content {
		content := &result.Content[i]
		fmt.Fprintf(&b, "%s\x00%s\x00%s\x00", content.Type, content.Text, content.Data)
	}
	fmt.Fprint(&b, result.IsError)
	return sha256.Sum256(b.Bytes())
}
