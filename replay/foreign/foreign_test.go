package foreign_test

import (
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ head, name, seen string }{
		{`{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}`, "pi", ""},
		{`{"type":"session","id":"s","timestamp":"t","cwd":"/","provider":"p"}`, "pi", ""},
		{`{"type":"session","version":3,"id":"s","cwd":"/","generator":{"name":"turnlog"}}`, "turnlog", ""},
		{`{"type":"session","version":3,"id":"s","cwd":"/"}` + "\n" + `{"type":"custom","id":"a","parentId":null,"customType":"turnlog.run"}`, "turnlog", ""},
		{`{"type":"message","id":"a","parentId":null,"message":{"role":"us`, "pi", ""},
		{"\xef\xbb\xbf" + `{"type":"message","id":"a","parentId":null}`, "pi", ""},
		{"\x00\x00\n{\"type\":\"message\",\n" + `{"type":"label","id":"a","parentId":"b","targetId":"c"}`, "pi", ""},
		{`{"type":"session","version":3,"id":"s","cwd":"/"}` + "\n" + `{"type":"agent_start"}`, "events", ""},
		{`{"type":"batch_start","tasks":["a"]}`, "events", ""},
		{`{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{}}`, "claude-code", ""},
		{`{"type":"system","subtype":"init","session_id":"s","tools":[]}`, "claude-stream", ""},
		{`{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}`, "codex", ""},
		{`{"type":"thread.started","thread_id":"x"}`, "codex-exec", ""},
		{`{"type":"session_start","id":"s","cwd":"/"}` + "\n" + `{"type":"message","id":"a","parentId":"s","message":{}}`, "droid", ""},
		{`{"custom_id":"1","method":"POST","body":{}}`, "batch", ""},
		{`{"messages":[{"role":"user","content":"x"}]}`, "openai-chat", ""},
		{"{\n  \"a\": 1\n}\n", "json", ""},
		{"version: 1\ninteractions:\n- request: {}\n", "cassette", ""},
		{"", "", "an empty file"},
		{"PK\x03\x04", "", "a zip archive"},
		{"\x1f\x8b\x08", "", "gzip data"},
		{"hello\n", "", "no JSON lines"},
		{`{"b":1,"a":2}`, "", "JSON lines with the members a, b"},
		{"{}\n", "", "JSON lines of empty objects"},
		{`[1,2]`, "", "a JSON document"},
	} {
		f, seen, err := foreign.Detect([]byte(c.head), "")
		if err != nil || f.Name != c.name || c.seen != "" && seen != c.seen {
			t.Errorf("%.60q: format %q, seen %q, %v; want %q, %q", c.head, f.Name, seen, err, c.name, c.seen)
		}
		readable := c.name == "pi" || c.name == "turnlog" || c.name == "events"
		if f.Readable() != readable {
			t.Errorf("%.60q: readable %v", c.head, f.Readable())
		}
	}
}

func TestDetectByName(t *testing.T) {
	if f, _, err := foreign.Detect([]byte("anything"), "pi"); err != nil || f.Name != "pi" {
		t.Errorf("%q, %v", f.Name, err)
	}
	for _, name := range []string{"codex", "word"} {
		if _, _, err := foreign.Detect(nil, name); err == nil || !strings.Contains(err.Error(), "want one of events, turnlog, pi") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEventRecords(t *testing.T) {
	const log = `{"type":"task_start","task":"a"}
{"type":"message_end","task":"a","message":{"role":"user","content":"go"}}
{"type":"message_update","task":"a","assistantMessageEvent":{}}
{"type":"message_end","task":"b","message":{"role":"user","content":"on"}}
{"type":"message_end","task":"b","message":7}
`
	var got []string
	f, err := foreign.Open(strings.NewReader(log), "log", "", transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range f.Parts() {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Records {
			got = append(got, r.Chain+": "+r.Entry.Message.Text())
		}
	}
	if want := "a: go, b: on"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte(`{"type":"session","cwd":"`))
	f.Add([]byte("{\"a\":{\"b\":[1,2"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if _, _, err := foreign.Detect(head, ""); err != nil {
			t.Fatal(err)
		}
	})
}
