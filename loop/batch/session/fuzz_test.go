package session

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Whatever a file holds, reading it to go on with it ends, and says of every
// open call what becomes of it.
func FuzzPast(f *testing.F) {
	whole, err := os.ReadFile(filepath.Join("..", "..", "..", "fixtures", "ok", "sealed.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"type":"custom","id":"a","parentId":"a","customType":"turnlog.run","data":[]}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Session
		if err := s.read(transcript.Lines(bytes.NewReader(data), transcript.Options{})); err != nil {
			return
		}
		for _, c := range s.history.OpenCalls() {
			s.past.Recover(c)
			s.past.Said(c.ID)
		}
	})
}
