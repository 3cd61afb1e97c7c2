package wire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readEvents gives the events of a stream, one a line, and what ended it, nil
// for its regular end.
func readEvents(src io.Reader, limit int) (string, error) {
	var out strings.Builder
	for r := newEvents(src, limit); ; {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			return out.String(), nil
		case err != nil:
			return out.String(), err
		}
		fmt.Fprintf(&out, "%s%s\n", e.Name, e.Data)
	}
}

// Every trap that was measured comes out right.
func TestEventShapes(t *testing.T) {
	for name, c := range map[string]struct{ in, out, fail string }{
		"CRLF":            {"data: {\"a\":1}\r\n\r\ndata: {\"a\":2}\r\n\r\n", "{\"a\":1}\n{\"a\":2}\n", ""},
		"CR":              {"data: {\"a\":1}\r\rdata: {\"a\":2}\r\r", "{\"a\":1}\n{\"a\":2}\n", ""},
		"no space":        {"data:{\"a\":1}\n\n", "{\"a\":1}\n", ""},
		"two data lines":  {"data: {\"a\":\ndata: 1}\n\n", "{\"a\": 1}\n", ""},
		"single newlines": {"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n", "{\"a\":1}\n{\"a\":2}\n", ""},
		"byte order mark": {bom + "data: {\"a\":1}\n\n", "{\"a\":1}\n", ""},
		"fields":          {"id: 7\nretry: 5\nevent: message\ndata: {\"a\":1}\n: c\n\n", "message{\"a\":1}\n", ""},
		"no last newline": {"data: {\"a\":1}", "{\"a\":1}\n", ""},
		"cut last line":   {"data: {\"a\":1}\n\ndata: {\"a\":", "{\"a\":1}\n", ""},
		"empty data":      {"data:\n\ndata: \n\n", "", ""},
		"null error":      {"data: {\"error\":null,\"a\":1}\n\n", "{\"error\":null,\"a\":1}\n", ""},
		"error":           {"data: {\"x\":1, \"error\" : \"boom\"}\n\ndata: {\"a\":1}\n\n", "", "boom"},
		"after the end":   {"data: [DONE]\n\ndata: {\"a\":1}\n\n", "", ""},
	} {
		got, err := readEvents(strings.NewReader(c.in), maxLine)
		if got != c.out || (err == nil) != (c.fail == "") || err != nil && err.Error() != c.fail {
			t.Errorf("%s: got %q, %v, want %q, %q", name, got, err, c.out, c.fail)
		}
	}
}

func TestTooLongLine(t *testing.T) {
	for name, in := range map[string]string{
		"one line":   "data: " + strings.Repeat("x", 10<<10),
		"many lines": strings.Repeat("data: "+strings.Repeat("x", 1<<10)+"\n", 20),
	} {
		_, err := readEvents(strings.NewReader(in), 8<<10)
		if err == nil || err.Error() != "read the stream: longer than 8192 bytes" || !Stated(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzEvents reads any bytes as a stream, in one piece and byte by byte. Both
// give the same events, each on one line.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: {\"a\":1}\n\n", ": c\r\ndata:{}\r\n\r\ndata: [DONE]\n\n", bom + "event: error\ndata: x\n\n", "data: {\"error\":null}\n\ndata: 1\rdata: 2\r\r",
		"0", "data: {\"a\":\ndata: 1}\n\n", "{\"error\":\"x\"}", "data: {\"a\":1}\ndata: {\"b\":2}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readEvents(strings.NewReader(string(in)), maxLine)
		_, stated := errors.AsType[*Error](err)
		if err != nil && !stated && (len(whole) > 0 || !Stated(err)) { // the only failures of a source that does not fail
			t.Fatalf("%q and %v", whole, err)
		}
		bytewise, again := readEvents(iotest.OneByteReader(strings.NewReader(string(in))), maxLine)
		if fmt.Sprint(err) != fmt.Sprint(again) || whole != bytewise {
			t.Fatalf("in one piece %q, %v; byte by byte %q, %v", whole, err, bytewise, again)
		}
		for r := newEvents(strings.NewReader(string(in)), maxLine); ; {
			e, err := r.Next()
			if err != nil {
				break
			}
			if len(e.Data) == 0 || strings.ContainsAny(string(e.Data), "\r\n") {
				t.Fatalf("event %q", e.Data)
			}
		}
	})
}
