package answer

import (
	"testing"

	"github.com/turnlog/turnlog/loop/provider/wire/loose"
)

func TestArgumentsThatCannotBeKept(t *testing.T) {
	for in, want := range map[string]struct{ arguments, reason string }{
		``:                                {`{}`, ``},
		"  \n":                            {`{}`, ``},
		`{"a":12345678901234567890123}`:   {`{"a":12345678901234567890123}`, ``},
		`{"a":1e999}`:                     {`{"a":1e999}`, ``},
		`[1]`:                             {`{}`, `not a JSON object: [1]`},
		`null`:                            {`{}`, `not a JSON object: null`},
		`"x"`:                             {`{}`, `not a JSON object: "x"`},
		`{`:                               {`{}`, `not valid JSON: unexpected end of JSON input: {`},
		`{"a":1,"a":2}`:                   {`{}`, `key "a" stands twice: {"a":1,"a":2}`},
		`{"b":{"a":1,"a":2}}`:             {`{}`, `key "a" stands twice: {"b":{"a":1,"a":2}}`},
		`{"a":[{"b":1},{"b":1}],"b":"b"}`: {`{"a":[{"b":1},{"b":1}],"b":"b"}`, ``},
		`{"a":"\ud99c"}`:                  {`{"a":"\ufffd"}`, ``},
		`{"a":"\\ud99c"}`:                 {`{"a":"\\ud99c"}`, ``},
		`{"a":"\ud83d\ude00"}`:            {`{"a":"\ud83d\ude00"}`, ``},
		`{"a":"\ude00\ud83d"}`:            {`{"a":"\ufffd\ufffd"}`, ``},
		`{"a":1} x`:                       {`{}`, `two argument texts for one call: {"a":1} and then x`},
	} {
		var a arguments
		for _, b := range []byte(in) {
			a.push(loose.Quote(string(b)))
		}
		raw, reason, _ := a.finish()
		if string(raw) != want.arguments || reason != want.reason {
			t.Errorf("%s: got %s, %q, want %s, %q", in, raw, reason, want.arguments, want.reason)
		}
	}
}
