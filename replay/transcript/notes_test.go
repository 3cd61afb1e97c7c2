package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (n Note) String() string {
	kinds := [...]string{"", "bom", "nul", "utf8", "surrogate", "duplicate", "folded", "integer"}
	return strings.TrimSpace(fmt.Sprintf("%s ×%d %s", kinds[n.Kind], n.Count, n.Text))
}

func message(role, members string) string {
	return `{"type":"message","id":"a","message":{"role":"` + role + `",` + members + `}}`
}

func call(arguments string) string {
	return message("assistant", `"content":[{"type":"toolCall","id":"c","name":"n","arguments":`+arguments+`}]`)
}

// TestNotes reads lines in which a caret stands before each note.
func TestNotes(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", recA, nil},

		{"mark", "^\uFEFF" + recA, []string{"bom ×1"}},
		{"mark inside a string", `{"a":"` + "\uFEFF" + `"}`, nil},

		{"zeros", "^\x00\x00" + recA + "\x00", []string{"nul ×3"}},
		{"zeros in a string", `{"a":"` + "x^\x00y" + `"}`, []string{"nul ×1"}},
		{"escaped zero", `{"a":"\u0000"}`, nil},
		{"mark and zeros", "^\uFEFF^\x00{}", []string{"bom ×1", "nul ×1"}},

		{"bad byte", "{\"a\":\"Andr^\xe9\"}", []string{"utf8 ×1"}},
		{"bad bytes", "{\"a\":\"^\xff\",\"b\":\"\xc3(\xfe\"}", []string{"utf8 ×3"}},
		{"overlong", "{\"a\":\"^\xc0\xaf\"}", []string{"utf8 ×2"}},
		{"replacement character", `{"a":"` + "\uFFFD" + `"}`, nil},
		{"bad byte behind zeros", "^\x00\x00{\"a\":\"^\xff\"}", []string{"nul ×2", "utf8 ×1"}},
		{"bad byte in a key", "{\"^\xff\":1}", []string{"utf8 ×1"}},

		{"high half", `{"a":"half ^\ud83d"}`, []string{`surrogate ×1 \ud83d`}},
		{"low half", `{"a":"^\ude00x"}`, []string{`surrogate ×1 \ude00`}},
		{"high half and another escape", `{"a":"^\ud83d\n\ud83dude00"}`, []string{`surrogate ×2 \ud83d`}},
		{"pair the wrong way", `{"a":"^\ude00\ud83d"}`, []string{`surrogate ×2 \ude00`}},
		{"pair", `{"a":"\ud83d\ude00\uD83D\uDE00"}`, nil},
		{"escaped backslash", `{"a":"\\ud83d \\\\ude00"}`, nil},
		{"escaped backslash and half", `{"a":"\\^\ud83d"}`, []string{`surrogate ×1 \ud83d`}},
		{"pair in two blocks", message("user", `"content":[{"type":"text","text":"^\ud83d"},{"type":"text","text":"\ude00"}]`), []string{`surrogate ×2 \ud83d`}},
		{"half in arguments", call(`{"x":"^\ud83d"}`), []string{`surrogate ×1 \ud83d`}},
		{"half in a key", `{"^\udfff":1}`, []string{`surrogate ×1 \udfff`}},
		{"half as bytes", "{\"a\":\"^\xed\xa0\xbd\"}", []string{"surrogate ×1"}},
		{"pair as bytes", "{\"a\":\"^\xed\xa0\xbd\xed\xb8\x80\"}", []string{"surrogate ×2"}},
		{"characters near the halves", "{\"a\":\"\uD7FF\uE000\"}", nil},

		{"repeated key", `{"a":1,"b":2,^"a":3,"a":4}`, []string{"duplicate ×2 a"}},
		{"repeated key, escaped", `{"content":1,^"c\u006fntent":2}`, []string{"duplicate ×1 content"}},
		{"two repeated keys", `{"a":1,"b":2,^"a":3,^"b":4}`, []string{"duplicate ×1 a", "duplicate ×1 b"}},
		{"repeated deep in free data", call(`{"x":[{"k":1,^"k":2}]}`), []string{"duplicate ×1 k"}},
		{"repeated in a typed object", message("user", `"content":"a",^"content":"b"`), []string{"duplicate ×1 content"}},
		{"repeated inside what is superseded", `{"a":{"k":1,^"k":2},^"a":3}`, []string{"duplicate ×1 k", "duplicate ×1 a"}},
		{"same key in two objects", `{"a":{"k":1},"b":{"k":2},"k":3}`, nil},
		{"repeated while the type comes late", `{"id":"a",^"id":"b","type":"message"}`, []string{"duplicate ×1 id"}},
		{"repeated section", message("system", `"sections":{"a":"x",^"a":"y"}`), []string{"duplicate ×1 a"}},

		{"case", message("user", `"content":"a",^"Content":"b"`), []string{"folded ×1 Content"}},
		{"case in the entry", `{"type":"x","id":"a",^"ID":"b"}`, []string{"folded ×1 ID"}},
		{"case in the header", `{"type":"session","id":"a","Version":1,^"version":3}`, []string{"folded ×1 version"}},
		{"case by another letter", `{"type":"x","parentId":"a","parent` + "\u0130" + `d":"b","KIND":1,^"` + "\u212A" + `ind":2}`, []string{"folded ×1 \u212Aind"}},
		{"case in a block", message("user", `"content":[{"type":"text","text":"a",^"Text":"b"}]`), []string{"folded ×1 Text"}},
		{"case in a declaration", message("system", `"toolsAdded":[{"name":"a",^"NAME":"b"}]`), []string{"folded ×1 NAME"}},
		{"case in usage", message("assistant", `"usage":{"input":1,^"Input":2,"cost":{"total":1,^"Total":2}}`), []string{"folded ×1 Input", "folded ×1 Total"}},
		{"case in arguments", call(`{"a":1,"A":2}`), nil},
		{"case in parameters", message("system", `"toolsAdded":[{"name":"a","parameters":{"a":1,"A":2}}]`), nil},
		{"case in details", message("toolResult", `"details":{"a":1,"A":2},"usage":{"b":1,"B":2}`), nil},
		{"case in data", `{"type":"custom","data":{"a":1,"A":2}}`, nil},
		{"case in sections", message("system", `"sections":{"Rules":"a","rules":"b"}`), nil},
		{"case in what is unknown", message("user", `"diagnostics":{"a":1,"A":2}`), nil},

		{"integer", call(`{"n":^9007199254740993}`), []string{"integer ×1 9007199254740993"}},
		{"negative integer", call(`{"n":[{"m":^-9007199254740992}]}`), []string{"integer ×1 -9007199254740992"}},
		{"long integer", call(`{"n":^2512292042121000000,"m":2512292042121000000}`), []string{"integer ×2 2512292042121000000"}},
		{"largest safe integers", call(`{"n":[9007199254740991,-9007199254740991]}`), nil},
		{"fractions", call(`{"n":[9007199254740993.0,9007199254740993e0,1e400,123456789012345678.5]}`), nil},
		{"digits in a string", call(`{"n":"90071992547409931"}`), nil},
		{"integer in details", message("toolResult", `"details":{"n":9007199254740993}`), nil},
		{"integer in a schema", message("system", `"toolsAdded":[{"name":"a","parameters":{"maximum":9007199254740993}}]`), nil},
		{"integer in arguments that are a list", call(`[^9007199254740993]`), []string{"integer ×1 9007199254740993"}},
		{"arguments of another block", message("user", `"content":[{"type":"x","arguments":{"n":9007199254740993}}]`), nil},

		{"on a torn line", `{"a":1,"a":"\ud83d` + "^\xff" + `"`, []string{"utf8 ×1"}},
		{"on a line torn in a character", `{"a":"x` + "\xe2\x82", nil},
		{"on a glued line", `{"a":1,"a":2,"b":"` + "\xe2\x82" + strings.Replace(recC, "}{", `^\ud83d`, 1), []string{`surrogate ×1 \ud83d`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			marks := strings.Split(tt.in, "^")
			in, column := strings.Join(marks, ""), 1
			notes := collect(t, []byte(in+"\n"), Options{})[0].Notes
			for i, n := range notes {
				got = append(got, n.String())
				if i < len(marks)-1 {
					column += len(marks[i])
				}
				if n.Column != column {
					t.Errorf("%s is at column %d, want %d", n, n.Column, column)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", in, diff)
			}
		})
	}
}

// TestNotesOfATornTail has every kind of damage in a tail that is cut off:
// there, only the mark at its start is no part of the cut.
func TestNotesOfATornTail(t *testing.T) {
	l := collect(t, []byte("\uFEFF{\"a\":1,\"a\":\"\\ud83d\xff\xe9x\x00"), Options{})[0]
	if l.Damage != TornTail || len(l.Notes) != 1 || l.Notes[0].Kind != ByteOrderMark {
		t.Errorf("damage %d, notes %v", l.Damage, l.Notes)
	}
}
