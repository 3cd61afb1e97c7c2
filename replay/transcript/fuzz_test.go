package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzLines holds the reader to what is promised for any input: the lines are
// the file, records are what their bytes say, a cut changes the last line
// only, and workers change nothing.
func FuzzLines(f *testing.F) {
	for _, line := range sampleLines(f) {
		f.Add(line, 10)
	}
	f.Add(testdata(f, "session.jsonl"), 5000)
	f.Add([]byte("\uFEFF"+head+"\r\n\r\n"+recA+"\x00\x00"+recB[:80]+recC+"\n"+recB[:90]), 200)
	f.Add([]byte("{\"a\":\"\\ud83d\xed\xa0\x80\xff\",\"A\":1,\"a\":2}\n"), 12)
	f.Add([]byte(strings.Repeat(`{"`, 50)+recA), 60)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		lines := collect(t, in, Options{})
		checkLines(t, in, lines)
		for _, l := range lines {
			checkRecords(t, &l)
		}
		if diff := difference(lines, collect(t, in, Options{Workers: 2})); diff != "" {
			t.Errorf("two workers: -want +got:\n%s", diff)
		}
		if cut < 0 || cut > len(in) {
			return
		}
		part := collect(t, in[:cut], Options{})
		for i := range len(part) - 1 {
			if diff := difference(lines[i], part[i]); diff != "" {
				t.Errorf("cut at %d, line %d: -want +got:\n%s", cut, i+1, diff)
			}
		}
	})
}

// checkRecords compares the records of a line with encoding/json's view.
func checkRecords(t *testing.T, l *Line) {
	body := content(l.Raw)
	if l.Damage == Intact && len(l.Records) == 1 && len(l.Notes) == 0 && !json.Valid(body) {
		t.Errorf("%q is no JSON", body)
	}
	if l.Damage != Intact && json.Valid(body) {
		t.Errorf("%q is JSON, but damaged: %v", body, l.Err)
	}
	for i := range l.Records {
		e := l.Records[i]
		if !json.Valid(e.Raw) {
			t.Errorf("record %q is no JSON", e.Raw)
		}
		if got := AppendEntry(nil, &e); !bytes.Equal(got, e.Raw) {
			t.Errorf("record %q was written as %q", e.Raw, got)
		}
		e.Raw = nil
		if got := AppendEntry(nil, &e); !json.Valid(got) {
			t.Errorf("record %q, typed, was written as %q", l.Records[i].Raw, got)
		}
	}
}

// FuzzMessage reads a message, writes it and reads it again.
func FuzzMessage(f *testing.F) {
	for _, line := range sampleLines(f) {
		var e struct{ Message, SystemMessage json.RawMessage }
		if json.Unmarshal(line, &e) == nil && e.Message != nil {
			f.Add([]byte(e.Message))
		}
	}
	f.Add([]byte(`{"usage":{"input":1e3,"cost":{"total":1e-9}},"role":"toolResult","content":["x",{"type":"text","text":7}],"isError":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := ParseMessage(in)
		if (err == nil) != (json.Valid(in) && bytes.HasPrefix(bytes.TrimLeft(in, " \t\r\n"), []byte("{"))) {
			t.Fatalf("%q: %v", in, err)
		}
		if err != nil {
			return
		}
		written := AppendMessage(nil, &m)
		again, err := ParseMessage(written)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", in, written, err)
		}
		if second := AppendMessage(nil, &again); !bytes.Equal(written, second) {
			t.Errorf("%q was written as\n%q, then as\n%q", in, written, second)
		}
	})
}
