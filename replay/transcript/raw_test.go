package transcript

import (
	"bytes"
	"testing"
)

func TestAppendRawStaysOnOneLine(t *testing.T) {
	for in, want := range map[string]string{
		`{ "b": 1, "a": 12345678901234567890 }`:     `{ "b": 1, "a": 12345678901234567890 }`,
		"{\n  \"b\": 1,\r\n  \"a\": \"<x> \\n\"\n}": `{"b":1,"a":"<x> \n"}`,
		"{\"open\":\n":                   `"{\"open\":\n"`,
		"[1,\n12345678901234567890.5e3]": `[1,12345678901234567890.5e3]`,
	} {
		got := AppendRaw([]byte("x"), []byte(in))
		if string(got) != "x"+want || bytes.ContainsAny(got, "\r\n") {
			t.Errorf("%q: got %q, want %q", in, got[1:], want)
		}
	}
}
