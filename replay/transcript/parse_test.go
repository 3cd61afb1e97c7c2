package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sampleLines are the lines of the package's own transcripts.
func sampleLines(t testing.TB) [][]byte {
	data := append(testdata(t, "session.jsonl"), testdata(t, "v1.jsonl")...)
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func TestParseEntryRejects(t *testing.T) {
	for _, tt := range []struct {
		in     string
		column int
		msg    string
	}{
		{``, 1, "the line ends, expected a value"},
		{`{"a":1,}`, 8, "expected a quoted key"},
		{`[1,]`, 4, "expected a value"},
		{`{'a':1}`, 2, "expected a quoted key"},
		{`{a:1}`, 2, "expected a quoted key"},
		{`{"a" 1}`, 6, "expected a colon"},
		{`{"a":1 "b":2}`, 8, "expected a comma or }"},
		{`[1 2]`, 4, "expected a comma or ]"},
		{`{"a":NaN}`, 6, "expected a value"},
		{`{"a":Infinity}`, 6, "expected a value"},
		{`{"a":01}`, 7, "expected a comma or }"},
		{`{"a":+1}`, 6, "expected a value"},
		{`{"a":.5}`, 6, "expected a value"},
		{`{"a":1.}`, 8, "expected a digit"},
		{`{"a":1e}`, 8, "expected a digit"},
		{`{"a":-}`, 7, "expected a digit"},
		{`{"a":"\x"}`, 8, "no such escape"},
		{`{"a":"\u12g4"}`, 11, "no hexadecimal digit"},
		{"{\"a\":\"\t\"}", 7, "control character in a string"},
		{"{\"a\":\"\x00\"}", 7, "control character in a string"},
		{`{"a":"b}`, 9, "the line ends inside a string"},
		{`{"a":"b\`, 9, "the line ends inside a string"},
		{`{"a":"b\u00`, 12, "the line ends inside a string"},
		{`{"a":{`, 7, "the line ends, expected a quoted key"},
		{`{"a":[`, 7, "the line ends, expected a value"},
		{`{"a":tru`, 9, "the line ends, expected true"},
		{`{"a":trux}`, 9, "expected true"},
		{`{"a":TRUE}`, 6, "expected a value"},
		{`{"a":1}}`, 8, "more bytes after the value"},
		{`{"a":1} {"b":2}`, 9, "more bytes after the value"},
		{`{"a":1}x`, 8, "more bytes after the value"},
		{`{"a":/**/1}`, 6, "expected a value"},
		{"\xEF\xBB\xBF{}", 1, "expected a value"},
		{"{}\x00", 3, "more bytes after the value"},
		{"{\v}", 2, "expected a quoted key"},
	} {
		_, err := ParseEntry([]byte(tt.in))
		want := fmt.Sprintf("column %d: %s", tt.column, tt.msg)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", tt.in, err, want)
		}
		if json.Valid([]byte(tt.in)) {
			t.Errorf("%q: encoding/json accepts it", tt.in)
		}
	}
}

func TestParseEntryNesting(t *testing.T) {
	for _, depth := range []int{jsonx.MaxDepth, jsonx.MaxDepth + 1} {
		for _, brackets := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
			in := []byte(strings.Repeat(brackets[0], depth) + "1" + strings.Repeat(brackets[1], depth))
			_, err := ParseEntry(in)
			if ok := depth <= jsonx.MaxDepth; (err == nil) != ok || json.Valid(in) != ok {
				t.Errorf("%d × %s: %v, encoding/json says %v", depth, brackets[0], err, json.Valid(in))
			}
		}
	}
}

// TestParseEntryLikeEncodingJSON changes sample lines at random: the parser
// accepts what encoding/json accepts, and decodes what it decodes.
func TestParseEntryLikeEncodingJSON(t *testing.T) {
	lines := sampleLines(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	valid := 0
	for range 20000 {
		in := mutate(rnd, lines[rnd.IntN(len(lines))])
		_, err := ParseEntry(in)
		if ok := json.Valid(in); ok != (err == nil) {
			t.Fatalf("%q\nencoding/json: %v, parser: %v", in, ok, err)
		} else if ok {
			valid++
		}
	}
	if valid < 2000 {
		t.Errorf("only %d of 20000 lines are valid, the test tells little", valid)
	}
}

// mutate changes a few bytes of line, mostly to bytes that matter in JSON.
func mutate(rnd *rand.Rand, line []byte) []byte {
	const bits = "{}[]:,\"\\u0123456789eE+-.truefalsn \t\r\n\x00\x1f\x7f\xed\xa0\x80\xff"
	out := bytes.Clone(line)
	for range 1 + rnd.IntN(3) {
		if len(out) == 0 {
			break
		}
		i, j := rnd.IntN(len(out)), rnd.IntN(len(out))
		switch rnd.IntN(6) {
		case 0:
			out[i] = bits[rnd.IntN(len(bits))]
		case 1:
			out = append(out[:i:i], out[i+1:]...)
		case 2:
			out = append(out[:i:i], append([]byte{bits[rnd.IntN(len(bits))]}, out[i:]...)...)
		case 3:
			out[i], out[j] = out[j], out[i]
		case 4:
			out = append(out[:max(i, j):max(i, j)], out[min(i, j):]...)
		case 5:
			out[i] ^= 1 << rnd.IntN(8)
		}
	}
	return out
}

// TestMemberOrder shuffles the members of the sample lines: the entries stay
// the same.
func TestMemberOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, line := range sampleLines(t) {
		want, err := ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			shuffled := shuffle(t, rnd, line)
			got, err := ParseEntry(shuffled)
			if err != nil {
				t.Fatalf("%s: %v", shuffled, err)
			}
			if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
				t.Errorf("%s\nmembers in another order (-want +got):\n%s", shuffled, diff)
			}
		}
	}
}

// shuffle writes the members of all objects in another order, except inside
// arguments and the like, whose bytes are kept.
func shuffle(t *testing.T, rnd *rand.Rand, in []byte) []byte {
	var o map[string]json.RawMessage
	if len(in) == 0 || in[0] != '{' || json.Unmarshal(in, &o) != nil {
		var list []json.RawMessage
		if len(in) == 0 || in[0] != '[' || json.Unmarshal(in, &list) != nil {
			return in
		}
		out := []byte("[")
		for i, v := range list {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, shuffle(t, rnd, v)...)
		}
		return append(out, ']')
	}
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := []byte("{")
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendString(out, name), ':')
		switch v := o[name]; name {
		case "message", "systemMessage", "replacement", "content", "usage", "cost", "generator", "toolsAdded":
			out = append(out, shuffle(t, rnd, v)...)
		default:
			out = append(out, v...)
		}
	}
	return append(out, '}')
}

// sorted removes what depends on the order of members.
func sorted(e Entry) string {
	e.Raw = nil
	b, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	v = sortFields(v)
	b, err = json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// sortFields turns lists of fields into objects and forgets raw layouts.
func sortFields(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "Column")
		for name := range v {
			v[name] = sortFields(v[name])
		}
	case []any:
		fields := map[string]any{}
		for i := range v {
			v[i] = sortFields(v[i])
			if f, ok := v[i].(map[string]any); ok && len(f) == 2 && f["Name"] != nil && f["Value"] != nil {
				fields[fmt.Sprint(f["Name"])] = f["Value"]
			}
		}
		if len(fields) == len(v) && len(v) > 0 {
			return fields
		}
	}
	return v
}

func TestParseEntry(t *testing.T) {
	exit := 0
	for _, tt := range []struct {
		name, in string
		want     Entry
	}{
		{"header", `{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/c","parentSession":"p","generator":{"name":"turnlog","version":"1","format":2,"x":0},"provider":"q"}`, Entry{
			Type: "session", Timestamp: "T",
			Header: &Header{
				Version: 3, ID: "s", CWD: "/c", ParentSession: "p", Generator: &Generator{"turnlog", "1", 2},
				Extra: []Field{{"provider", json.RawMessage(`"q"`)}},
			},
		}},
		{"header of version 1", `{"type":"session","id":"s"}`, Entry{Type: "session", Header: &Header{ID: "s"}}},
		{"header of a version not understood", `{"type":"session","version":"4","id":"s"}`, Entry{Type: "session", Header: &Header{ID: "s", Version: math.MaxInt}}},
		{"header of a huge version", `{"type":"session","version":1e99}`, Entry{Type: "session", Header: &Header{Version: math.MaxInt}}},
		{"no object", ` [1] `, Entry{}},
		{"number", `42`, Entry{}},
		{"type behind", `{"provider":"p","modelId":"m","id":"a","type":"model_change"}`, Entry{Type: "model_change", ID: "a", Model: &ModelChange{"p", "m"}}},
		{"escaped names", `{"t\u0079pe":"lab\u0065l","i\u0064":"a","targetId":"\u0062","label":"\"\\\/\b\f\n\r\té🍎"}`, Entry{
			Type: "label", ID: "a", Label: &Label{"b", "\"\\/\b\f\n\r\té🍎"},
		}},
		{"exact names", `{"type":"label","ID":"x","Id":"y","TargetId":"z"}`, Entry{Type: "label", Label: &Label{}}},
		{"wrong types", `{"type":"message","id":7,"parentId":[1],"timestamp":{},"message":3}`, Entry{Type: "message"}},
		{"type is no string", `{"type":["message"],"id":"a"}`, Entry{ID: "a"}},
		{"root", `{"type":"x","id":"a","parentId":null}`, Entry{Type: "x", ID: "a"}},
		{"last wins", `{"type":"message","id":"a","id":"b","type":"label","targetId":"t","message":{},"targetId":"u"}`, Entry{Type: "label", ID: "b", Label: &Label{TargetID: "u"}}},
		{"last wins although wrong", `{"type":"label","id":"a","id":7,"label":"l","label":null}`, Entry{Type: "label", Label: &Label{}}},
		{"last type is none", `{"type":"message","message":{"role":"user"},"type":7}`, Entry{}},
		{"edit", `{"type":"context_edit","targetId":"a","replacement":{"content":"x"}}`, Entry{Type: "context_edit", Edit: &ContextEdit{
			"a", &Message{Form: FormString, Content: []Block{TextBlock("x")}},
		}}},
		{"drop", `{"type":"context_edit","targetId":"a","replacement":null}`, Entry{Type: "context_edit", Edit: &ContextEdit{TargetID: "a"}}},
		{"v1 compaction", `{"type":"compaction","summary":"s","firstKeptEntryIndex":0,"tokensBefore":1.2e3}`, Entry{Type: "compaction", Compaction: &Compaction{Summary: "s", TokensBefore: 1200}}},
		{"compaction", `{"type":"compaction","firstKeptEntryId":"k","tokensBefore":1.5,"systemMessage":{"role":"system"}}`, Entry{Type: "compaction", Compaction: &Compaction{
			FirstKeptEntryID: "k", FirstKeptIndex: -1, SystemMessage: &Message{Role: System, Form: FormAbsent},
		}}},
		{"custom", `{"type":"custom","customType":"c","data":{"a" : 1},"content":"x"}`, Entry{Type: "custom", Custom: &Custom{CustomType: "c", Data: json.RawMessage(`{"a" : 1}`)}}},
		{"custom message", `{"type":"custom_message","customType":"c","content":[{"type":"text","text":"x"}],"display":true,"details":{}}`, Entry{Type: "custom_message", Custom: &Custom{
			CustomType: "c",
			Message: &Message{
				Role: CustomRole, Content: []Block{TextBlock("x")}, Details: json.RawMessage(`{}`),
				Extra: []Field{{"display", json.RawMessage(`true`)}},
			},
		}}},
		{"bash", `{"type":"message","message":{"command":"c","output":"o","exitCode":0,"cancelled":true,"truncated":true,"fullOutputPath":"f","excludeFromContext":true,"x":1,"role":"bashExecution"}}`, Entry{
			Type: "message", Message: &Message{
				Role: BashExecution, Form: FormAbsent, Bash: &Bash{"c", "o", &exit, true, true, "f", true},
				Extra: []Field{{"x", json.RawMessage(`1`)}},
			},
		}},
		{"thinking level", `{"type":"thinking_level_change","thinkingLevel":"high"}`, Entry{Type: "thinking_level_change", Thinking: "high"}},
		{"branch", `{"type":"branch_summary","fromId":"root","summary":"s"}`, Entry{Type: "branch_summary", Branch: &BranchSummary{"root", "s"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseEntry([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Raw = json.RawMessage(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
