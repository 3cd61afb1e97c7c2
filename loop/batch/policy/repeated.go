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
func RepeatedCalls(times int, stop *Stop) Policy {
	if times <= 0 {
		return Policy{}
	}
	r := &repeats{times: times, stop: stop}
	return Policy{FinishTurn: r.finishTurn}
}

type repeats struct {
	times int
	stop  *Stop
	last  [sha256.Size]byte
	row   int
}

func (r *repeats) finishTurn(_ context.Context, t loop.Turn) (loop.Decision, error) {
	calls := t.Message.Calls()
	for i := range min(len(calls), len(t.Results)) {
		sum := fingerprint(calls[i], &t.Results[i])
		if sum != r.last {
			r.last, r.row = sum, 0
		}
		if r.row++; r.row >= r.times {
			r.stop.Set(Stuck, fmt.Sprintf("repeated_call: %s was called %d times in a row with the same arguments and the same result", calls[i].Name, r.row))
			return loop.End, nil
		}
	}
	return loop.Default, nil
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
