package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Whatever a file holds, reading it to go on with it ends, and says of every
// open call what becomes of it.
func FuzzReadPast(f *testing.F) {
	whole, err := os.ReadFile(transcriptOf(f, &world{ran: map[string]int{}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"type":"custom","id":"a","parentId":"a","customType":"turnlog.run","data":[]}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readPast(transcript.Lines(bytes.NewReader(data), transcript.Options{}))
		if err != nil {
			return
		}
		for _, c := range p.state.OpenCalls() {
			p.recover(c)
		}
	})
}

// Commands of any shape get one answer a line and harm nothing.
func FuzzControl(f *testing.F) {
	f.Add([]byte(`{"id":"1","type":"steer","message":"x"}`))
	f.Add([]byte(`{"type":"abort"}` + "\n" + `{"id":{"a":[1]},"type":"follow_up","task":"t"}`))
	f.Add([]byte("\n\n{\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &capture{}
		control := NewControl(&NDJSON{W: c}, func(error) {})
		control.open()
		control.begun = true
		if err := control.Read(context.Background(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		for _, r := range c.records(t) {
			if r.Type != Response {
				t.Errorf("event %s", r.Type)
			}
		}
	})
}

// What was JSON stays JSON, with the same keys' structure and without the
// secret.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"a":"x hunter2 y","b":["hunter2",{"hunter2":1}]}`))
	f.Add([]byte(`"\u0068unter2\\"`))
	f.Add([]byte(`"`))
	m := mask.New(map[string]string{"S": "hunter2"}, nil, false)
	f.Fuzz(func(t *testing.T, data []byte) {
		masked := m.Line(data)
		if !json.Valid(data) {
			return
		}
		if !json.Valid(masked) {
			t.Fatalf("%q became %q", data, masked)
		}
		if bytes.Contains(masked, []byte("hunter2")) {
			t.Errorf("%q became %q", data, masked)
		}
	})
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"type":"task","id":"a","status":"ok","usage":{"input":1}}` + "\n"))
	f.Add([]byte(`{"type":"task","id":"a","status":"ok"` + "\n\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "results.ndjson")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readResults(name, map[string]Result{}); err != nil {
			t.Fatal(err)
		}
	})
}
