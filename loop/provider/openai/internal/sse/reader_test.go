package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Every trap of go-openai that was measured comes out right below it.
func TestEventShapes(t *testing.T) {
	for name, c := range map[string]struct{ in, out string }{
		"CRLF":            {"data: {\"a\":1}\r\n\r\n", "data: {\"a\":1}\n\n"},
		"CR":              {"data: {\"a\":1}\r\rdata: {\"a\":2}\r\r", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\n"},
		"no space":        {"data:{\"a\":1}\n\n", "data: {\"a\":1}\n\n"},
		"two data lines":  {"data: {\"a\":\ndata: 1}\n\n", "data: {\"a\": 1}\n\n"},
		"single newlines": {"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\ndata: [DONE]\n\n"},
		"byte order mark": {bom + "data: {\"a\":1}\n\n", "data: {\"a\":1}\n\n"},
		"fields":          {"id: 7\nretry: 5\nevent: message\ndata: {\"a\":1}\n: c\n\n", "data: {\"a\":1}\n\n"},
		"no last newline": {"data: {\"a\":1}", "data: {\"a\":1}\n\n"},
		"cut last line":   {"data: {\"a\":1}\n\ndata: {\"a\":", "data: {\"a\":1}\n\n"},
		"empty data":      {"data:\n\ndata: \n\n", ""},
		"null error":      {"data: {\"error\":null,\"a\":1}\n\n", "data: { \"error\":null,\"a\":1}\n\n"},
		"error":           {"data: {\"x\":1, \"error\" : \"boom\"}\n\ndata: {\"a\":1}\n\n", "data: {\"error\":{\"message\":\"boom\",\"type\":\"\",\"param\":\"\",\"code\":\"\"}}\n\n"},
		"after DONE":      {"data: [DONE]\n\ndata: {\"a\":1}\n\n", "data: [DONE]\n\n"},
	} {
		got, err := io.ReadAll(NewReader(strings.NewReader(c.in)))
		if err != nil || string(got) != c.out {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.out)
		}
	}
}

func TestTooLongLine(t *testing.T) {
	r := NewReader(strings.NewReader("data: " + strings.Repeat("x", 10<<10)))
	r.limit = 8 << 10
	_, err := io.ReadAll(r)
	var tooLong *TooLongError
	if !errors.As(err, &tooLong) {
		t.Errorf("got %v", err)
	}
	r = NewReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<10)+"\n", 20)))
	r.limit = 8 << 10
	if _, err = io.ReadAll(r); !errors.As(err, &tooLong) {
		t.Errorf("many lines: got %v", err)
	}
}

// FuzzEvents reads any bytes as a stream, in one piece and byte by byte. Both
// give the same frames, each of which go-openai takes for one.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: {\"a\":1}\n\n", ": c\r\ndata:{}\r\n\r\ndata: [DONE]\n\n", bom + "event: error\ndata: x\n\n", "data: {\"error\":null}\n\ndata: 1\rdata: 2\r\r",
		"0", "data: {\"a\":\ndata: 1}\n\n", "{\"error\":\"x\"}", "data: {\"a\":1}\ndata: {\"b\":2}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := io.ReadAll(NewReader(strings.NewReader(string(in))))
		var foreign *ForeignError // the only failure of a source that does not fail
		if err != nil && (len(whole) > 0 || !errors.As(err, &foreign)) {
			t.Fatalf("%q and %v", whole, err)
		}
		bytewise, again := io.ReadAll(NewReader(iotest.OneByteReader(strings.NewReader(string(in)))))
		if fmt.Sprint(err) != fmt.Sprint(again) || string(whole) != string(bytewise) {
			t.Fatalf("in one piece %q, %v; byte by byte %q, %v", whole, err, bytewise, again)
		}
		for frame := range strings.SplitSeq(strings.TrimSuffix(string(whole), "\n\n"), "\n\n") {
			if frame != "" && (!strings.HasPrefix(frame, "data: ") || strings.ContainsAny(frame, "\r\n")) {
				t.Fatalf("frame %q", frame)
			}
		}
	})
}
