package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

func TestAppendEntry(t *testing.T) {
	exit := 3
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		name string
		e    Entry
		want string
	}{
		{
			"header",
			Entry{Type: TypeSession, Timestamp: "T", ID: "not written", Header: &Header{Version: 3, ID: "s", CWD: "/c", ParentSession: "p", Generator: &Generator{"turnlog", "1", 1}, Extra: []Field{{"x", raw(`1`)}}}},
			`{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/c","parentSession":"p","generator":{"name":"turnlog","version":"1","format":1},"x":1}`,
		},
		{
			"root",
			Entry{Type: TypeMessage, ID: "a", Timestamp: "T", Message: &Message{Role: User, Content: []Block{TextBlock("<a> & 'b' \u2028")}, Timestamp: 5}},
			`{"type":"message","id":"a","parentId":null,"timestamp":"T","message":{"role":"user","content":[{"type":"text","text":"<a> & 'b' ` + "\u2028" + `"}],"timestamp":5}}`,
		},
		{
			"answer",
			Entry{Type: TypeMessage, ID: "b", ParentID: "a", Message: &Message{
				Role: Assistant, API: "i", Provider: "p", Model: "m", StopReason: StopToolUse, ErrorMessage: "e", Timestamp: 6, ResponseID: "r", RawStopReason: "w", DurationMs: 7, ThinkingLevel: "off",
				Usage: &Usage{Input: 1, Cost: Cost{Total: 1e-7}},
				Content: []Block{
					{Type: BlockThinking, Text: "t", Signature: "s"},
					{Type: BlockToolCall, Call: &Call{ID: "c", Name: "n"}},
					{Type: BlockToolCall, Call: &Call{ID: "d", Name: "n", Arguments: raw(`{"z": 1}`), ArgumentsError: "e"}, Signature: "s"},
				},
			}},
			`{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"toolCall","id":"c","name":"n","arguments":{}},{"type":"toolCall","id":"d","name":"n","arguments":{"z": 1},"argumentsError":"e","thoughtSignature":"s"}],"api":"i","provider":"p","model":"m","usage":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":1e-7}},"stopReason":"toolUse","errorMessage":"e","timestamp":6,"responseId":"r","rawStopReason":"w","durationMs":7,"thinkingLevel":"off"}}`,
		},
		{
			"result",
			Entry{Type: TypeMessage, ID: "b", ParentID: "a", Message: &Message{Role: ToolResult, ToolCallID: "c", ToolName: "n", Details: raw(`{}`), ToolUsage: raw(`1`), HasDuration: true, Timestamp: 1}},
			`{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","toolCallId":"c","toolName":"n","content":[],"details":{},"usage":1,"isError":false,"durationMs":0,"timestamp":1}}`,
		},
		{
			"prompt",
			Entry{Type: TypeMessage, ID: "b", ParentID: "a", Message: &Message{
				Role: System, Form: FormString, Sections: []Section{{Name: "z", Text: "1"}, {Name: "a", Removed: true}},
				ToolsAdded: []Tool{{Name: "t", Description: "", Parameters: raw(`{"type":"object"}`)}, {Name: "u", Extra: []Field{{"k", raw(`[]`)}}}}, ToolsRemoved: []ToolRef{{"v"}, {"w"}},
			}},
			`{"type":"message","id":"b","parentId":"a","message":{"role":"system","content":"","sections":{"z":"1","a":null},"toolsAdded":[{"name":"t","description":"","parameters":{"type":"object"}},{"name":"u","description":"","k":[]}],"toolsRemoved":[{"name":"v"},{"name":"w"}]}}`,
		},
		{
			"bash",
			Entry{Type: TypeMessage, ID: "b", Message: &Message{Role: BashExecution, Timestamp: 2, Bash: &Bash{Command: "c", Output: "o", ExitCode: &exit, FullOutputPath: "f", ExcludeFromContext: true}}},
			`{"type":"message","id":"b","parentId":null,"message":{"role":"bashExecution","command":"c","output":"o","exitCode":3,"cancelled":false,"truncated":false,"fullOutputPath":"f","timestamp":2,"excludeFromContext":true}}`,
		},
		{
			"forms",
			Entry{Type: TypeMessage, ID: "b", Message: &Message{Role: User, Form: FormNull}},
			`{"type":"message","id":"b","parentId":null,"message":{"role":"user","content":null}}`,
		},
		{
			"a form that does not fit",
			Entry{Type: TypeMessage, ID: "b", Message: &Message{Role: User, Form: FormString, Content: []Block{TextBlock("a"), TextBlock("b")}}},
			`{"type":"message","id":"b","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`,
		},
		{"model", Entry{Type: TypeModelChange, ID: "b", Model: &ModelChange{"p", "m"}}, `{"type":"model_change","id":"b","parentId":null,"provider":"p","modelId":"m"}`},
		{"thinking", Entry{Type: TypeThinking, ID: "b", Thinking: "off"}, `{"type":"thinking_level_change","id":"b","parentId":null,"thinkingLevel":"off"}`},
		{
			"compaction",
			Entry{Type: TypeCompaction, ID: "b", Compaction: &Compaction{Summary: "s", FirstKeptEntryID: "k", TokensBefore: 9, SystemMessage: &Message{Role: System, Form: FormString}}},
			`{"type":"compaction","id":"b","parentId":null,"summary":"s","firstKeptEntryId":"k","tokensBefore":9,"systemMessage":{"role":"system","content":""}}`,
		},
		{"branch", Entry{Type: TypeBranchSummary, ID: "b", Branch: &BranchSummary{"root", "s"}}, `{"type":"branch_summary","id":"b","parentId":null,"fromId":"root","summary":"s"}`},
		{"custom", Entry{Type: TypeCustom, ID: "b", Custom: &Custom{CustomType: "c", Data: raw(`{"a":1}`)}}, `{"type":"custom","id":"b","parentId":null,"customType":"c","data":{"a":1}}`},
		{
			"custom message",
			Entry{Type: TypeCustomMessage, ID: "b", Custom: &Custom{CustomType: "c", Message: &Message{Role: CustomRole, Form: FormString, Content: []Block{TextBlock("x")}, Details: raw(`{}`), Extra: []Field{{"display", raw(`true`)}}}}},
			`{"type":"custom_message","id":"b","parentId":null,"customType":"c","content":"x","display":true,"details":{}}`,
		},
		{"drop", Entry{Type: TypeContextEdit, ID: "b", Edit: &ContextEdit{TargetID: "t"}}, `{"type":"context_edit","id":"b","parentId":null,"targetId":"t","replacement":null}`},
		{
			"edit",
			Entry{Type: TypeContextEdit, ID: "b", Edit: &ContextEdit{"t", &Message{Content: []Block{{Type: BlockImage, Data: "d", MimeType: "m"}}}}},
			`{"type":"context_edit","id":"b","parentId":null,"targetId":"t","replacement":{"content":[{"type":"image","data":"d","mimeType":"m"}]}}`,
		},
		{"label", Entry{Type: TypeLabel, ID: "b", Label: &Label{"t", "l"}}, `{"type":"label","id":"b","parentId":null,"targetId":"t","label":"l"}`},
		{"label taken off", Entry{Type: TypeLabel, ID: "b", Label: &Label{TargetID: "t"}}, `{"type":"label","id":"b","parentId":null,"targetId":"t"}`},
		{"raw", Entry{Type: TypeLabel, Raw: raw(` {"kept" : 1} `)}, ` {"kept" : 1} `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(AppendEntry([]byte("before"), &tt.e))
			if diff := cmp.Diff("before"+tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !json.Valid([]byte(tt.want)) {
				t.Error("no JSON")
			}
		})
	}
}

// TestEntriesWrittenAgain writes the sample entries from their typed parts and
// reads them again.
func TestEntriesWrittenAgain(t *testing.T) {
	for _, line := range sampleLines(t) {
		want, err := ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		e := want
		e.Raw = nil
		got, err := ParseEntry(AppendEntry(nil, &e))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", line, diff)
		}
	}
}

func TestMessagesWrittenAgain(t *testing.T) {
	n := 0
	for name, data := range transcripts(t) {
		for _, l := range collect(t, data, Options{}) {
			for _, e := range l.Records {
				if e.Message == nil {
					continue
				}
				n++
				written := AppendMessage(nil, e.Message)
				var got Message
				if err := json.Unmarshal(written, &got); err != nil {
					t.Fatalf("%s:%d: %v", name, l.No, err)
				}
				for i := range e.Message.Content {
					if c := e.Message.Content[i].Call; c != nil {
						c.Column = 0
					}
				}
				if diff := difference(stated(*e.Message), stated(got)); diff != "" {
					t.Errorf("%s:%d: -want +got:\n%s", name, l.No, diff)
				}
				var a, b map[string]any
				if json.Unmarshal(e.Raw, &a) == nil && json.Unmarshal(written, &b) == nil && l.Notes == nil {
					if diff := difference(a["message"], any(b)); diff != "" {
						t.Errorf("%s:%d: as plain JSON, -want +got:\n%s", name, l.No, diff)
					}
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d messages", n)
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                       `""`,
		"plain":                  `"plain"`,
		"\"\\/\b\f\n\r\t":        `"\"\\/\b\f\n\r\t"`,
		"\x00\x1b\x1f\x7f":       `"\u0000\u001b\u001f` + "\x7f" + `"`,
		"<&>\u2028é😀\uFFFD":      `"<&>` + "\u2028é😀\uFFFD" + `"`,
		"a\xffb\xed\xa0\x80\xe2": `"a` + "\uFFFDb\uFFFD\uFFFD\uFFFD\uFFFD" + `"`,
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// TestAppendStringAnywhere writes what needs a closer look at all places of a
// word, as encoding/json reads it.
func TestAppendStringAnywhere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		var s strings.Builder
		for range rnd.IntN(30) {
			s.WriteString([]string{"a", "b ", "plain text", `"`, `\`, "\n", "\x00", "\x1f", " ", "\x7f", "é", "日", "😀"}[rnd.IntN(13)])
		}
		var got string
		if err := json.Unmarshal(AppendString(nil, s.String()), &got); err != nil || got != s.String() {
			t.Fatalf("%q comes back as %q: %v", s.String(), got, err)
		}
	}
}

// TestAppendFloat writes numbers as encoding/json does.
func TestAppendFloat(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	floats := []float64{0, 1, -1, 1e21, 1e20, 1e-6, 9.99e-7, 1e-7, 1.5e-10, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1)}
	for range 20000 {
		if f := math.Float64frombits(rnd.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			floats = append(floats, f, rnd.NormFloat64(), float64(rnd.IntN(1e9))/1e6)
		}
	}
	for _, f := range floats {
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonx.AppendFloat(nil, f); !bytes.Equal(got, want) {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
	if got := string(jsonx.AppendFloat(jsonx.AppendFloat(nil, math.NaN()), math.Inf(1))); got != "nullnull" {
		t.Errorf("not a number and infinity: %s", got)
	}
}

// writes counts the calls of Write.
type writes struct {
	bytes.Buffer
	n     int
	short bool
	err   error
}

func (w *writes) Write(b []byte) (int, error) {
	w.n++
	if w.err != nil {
		return 0, w.err
	}
	if w.short {
		return len(b) / 2, nil
	}
	return w.Buffer.Write(b)
}

func TestWriter(t *testing.T) {
	var out writes
	w := NewWriter(&out)
	e := Entry{Type: TypeLabel, ID: "a", Label: &Label{TargetID: "t"}}
	multi := Entry{Raw: json.RawMessage("{\n \"type\": \"x\"\n}\n")}
	long := Entry{Type: TypeLabel, ID: "b", Label: &Label{Label: strings.Repeat("x", 2<<20)}}
	for _, e := range []*Entry{&e, &multi, &long, &e} {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if out.n != 4 || bytes.Count(out.Bytes(), []byte("\n")) != 4 {
		t.Errorf("%d writes, %d lines, want 4", out.n, bytes.Count(out.Bytes(), []byte("\n")))
	}
	if !bytes.Contains(out.Bytes(), []byte("\n{\"type\":\"x\"}\n")) {
		t.Errorf("a record of several lines was written as %.200q", out.String())
	}
	if err := NewWriter(&writes{short: true}).Append(&e); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("short write: %v", err)
	}
	full := errors.New("disk full")
	if err := NewWriter(&writes{err: full}).Append(&e); !errors.Is(err, full) || err.Error() != "append entry a: disk full" {
		t.Errorf("failed write: %v", err)
	}
}

// Embedders reach for encoding/json: it must write the format, not Go's names.
func TestEntryMarshalJSON(t *testing.T) {
	made := Entry{Type: TypeMessage, ID: "b", ParentID: "a", Timestamp: "2030-01-02T03:04:05.000Z", Message: &Message{Role: User, Content: []Block{TextBlock("two")}}}
	const want = `{"type":"message","id":"b","parentId":"a","timestamp":"2030-01-02T03:04:05.000Z","message":{"role":"user","content":[{"type":"text","text":"two"}]}}`
	for _, v := range []any{made, &made} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
	var read Entry
	if err := json.Unmarshal([]byte(want), &read); err != nil {
		t.Fatal(err)
	}
	if read.ID != "b" || read.Message == nil || read.Message.Text() != "two" || string(read.Raw) != want {
		t.Errorf("%+v", read)
	}
}
