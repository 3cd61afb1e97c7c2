package loop_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// TestIDs: ids are 8 hex digits, and new ones however long the history is.
func TestIDs(t *testing.T) {
	var s replay.State
	seen := map[string]bool{}
	for i := range 20000 { // some of which a careless generator would meet again
		id := fmt.Sprintf("%08x", i*7)
		seen[id] = true
		s.Apply(&transcript.Entry{Type: transcript.TypeCustom, ID: id, ParentID: s.Leaf()})
	}
	form := regexp.MustCompile(`^[0-9a-f]{8}$`)
	c := loop.Config{
		Model: &turnsModel{turns: 2000, calls: 1}, Tools: []loop.Tool{echoTool()},
		Append: func(e *transcript.Entry) error {
			if !form.MatchString(e.ID) || seen[e.ID] {
				t.Errorf("id %q", e.ID)
			}
			seen[e.ID] = true
			return nil
		},
	}
	if _, err := loop.Run(t.Context(), c, &s, transcript.UserText("go")); err != nil {
		t.Fatal(err)
	}
}
