package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/mask"
)

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
