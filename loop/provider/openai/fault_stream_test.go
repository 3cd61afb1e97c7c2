package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/replay/transcript"
)

// The tests of this file play the faults of stream assembly, FAULTS 1 to 19.

var (
	readOne = call{"a", "read", `{"p":1}`, ""}
	readTwo = call{"b", "read", `{}`, ""}
)

func TestFault01IndexMissing(t *testing.T) {
	r := serve(t, stream(
		tc(`{"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`),
		tc(`{"function":{"arguments":"1}"}}`),
		tc(`{"id":"b","function":{"name":"read","arguments":"{}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne, readTwo)
}

func TestFault01NameAloneOpensTheFirstCall(t *testing.T) {
	r := serve(t, stream(
		tc(`{"function":{"name":"read"}}`), tc(`{"function":{"arguments":"{\"p\":1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, call{"own_1", "read", `{"p":1}`, ""})
}

func TestFault02IndexZeroForAll(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`),
		tc(`{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne, readTwo)
}

func TestFault03NewIDOnEveryFragment(t *testing.T) {
	frames := []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`)}
	for i, c := range `{"p":"ab"}` {
		q := string(transcript.AppendString(nil, string(c)))
		frames = append(frames, tc(fmt.Sprintf(`{"index":0,"id":"x%d","function":{"name":"","arguments":%s}}`, i+1, q)))
	}
	r := serve(t, stream(append(frames, fin("tool_calls"), done)...)).ask(t, nil)
	r.wantCalls(t, call{"a", "read", `{"p":"ab"}`, ""})
}

func TestFault03NewIDAndNameOnEveryFragment(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`),
		tc(`{"index":0,"id":"x1","function":{"name":"read","arguments":"1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
}

func TestFault04IndexJumps(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":7,"id":"a","function":{"name":"read","arguments":"{"}}`),
		tc(`{"index":7,"function":{"arguments":"\"p\":1}"}}`),
		tc(`{"index":3,"id":"b","function":{"name":"read","arguments":"{}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne, readTwo)
}

func TestFault05ArgumentsOnAnotherIndex(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":7,"id":"a","function":{"name":"read","arguments":"{"}}`),
		tc(`{"index":8,"function":{"arguments":"\"p\":1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
	if !noted(&r.message, answer.NoteFragmentMoved) {
		t.Error("no diagnostic")
	}
}

func TestFault06IDNullLater(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`),
		tc(`{"index":0,"id":null,"function":{"name":null,"arguments":":1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
}

func TestFault07NameRepeated(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read_file","arguments":""}}`),
		tc(`{"index":0,"function":{"name":"read_file","arguments":"{\"p\""}}`),
		tc(`{"index":0,"function":{"name":"read_file","arguments":":1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, call{"a", "read_file", `{"p":1}`, ""})
}

func TestFault07NameSplit(t *testing.T) {
	for _, id := range []string{"", `"id":"a",`} {
		r := serve(t, stream(
			tc(`{"index":0,"id":"a","function":{"name":"edit_ex"}}`),
			tc(`{"index":0,`+id+`"function":{"name":"isting_file"}}`),
			tc(`{"index":0,"function":{"arguments":"{}"}}`),
			fin("tool_calls"), done)).ask(t, nil)
		r.wantCalls(t, call{"a", "edit_existing_file", `{}`, ""})
	}
}

func TestFault08TwoObjectsUnderOneCall(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"q\":1}"}}`),
		tc(`{"index":0,"function":{"arguments":"{\"q\":2}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, call{"a", "read", `{}`, `two argument texts for one call: {"q":1} and then {"q":2}`})
}

func TestFault08SecondObjectWithName(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`),
		tc(`{"index":0,"function":{"name":"read","arguments":"{\"p\":2}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne, call{"own_1", "read", `{"p":2}`, ""})
}

func TestFault09DuplicateIndexInOneChunk(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`, `{"index":0,"function":{"arguments":":1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
}

func TestFault10Interleaved(t *testing.T) {
	r := serve(t, stream(
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`),
		tc(`{"index":1,"id":"b","function":{"name":"read","arguments":"{"}}`),
		tc(`{"index":0,"function":{"arguments":":1}"}}`),
		tc(`{"index":1,"function":{"arguments":"}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne, readTwo)
}

func TestFault11SameIDOnTwoIndexes(t *testing.T) {
	one := tc(`{"index":0,"id":"dup","function":{"name":"read","arguments":"{\"p\":1}"}}`)
	for name, c := range map[string]struct {
		frames []string
		want   call
	}{
		"equal":   {[]string{one, strings.Replace(one, `"index":0,"id`, `"index":1,"id`, 1)}, call{"dup", "read", `{"p":1}`, ""}},
		"differs": {[]string{one, tc(`{"index":1,"id":"dup","function":{"name":"read","arguments":"{\"p\":2}"}}`)}, call{"dup", "read", `{}`, `the call id came twice with different arguments: {"p":1} and {"p":2}`}},
		"in pieces": {[]string{
			one, tc(`{"index":1,"id":"dup","function":{"name":"read","arguments":"{\"p\""}}`), tc(`{"index":1,"function":{"arguments":":1}"}}`),
		}, call{"dup", "read", `{"p":1}`, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, stream(append(c.frames, fin("tool_calls"), done)...)).ask(t, nil)
			r.wantCalls(t, c.want)
			if c.want.Error == "" && !noted(&r.message, answer.NoteCallMerged) {
				t.Error("no diagnostic")
			}
		})
	}
}

func TestFault12Snapshots(t *testing.T) {
	r := serve(t, stream(content("a"), content("ab"), content("abc"), fin("stop"), done)).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "aababc")
	if !noted(&r.message, answer.NoteSnapshots) {
		t.Error("no diagnostic")
	}
	r = serve(t, stream(content("ha"), content("ha"), content("ha"), fin("stop"), done)).ask(t, nil)
	if noted(&r.message, answer.NoteSnapshots) {
		t.Error("a repeated word is no snapshot")
	}
}

func TestFault13EmptyID(t *testing.T) {
	e := serve(t, stream(tc(`{"index":0,"id":"","function":{"name":"read","arguments":"{}"}}`), fin("tool_calls"), done))
	m, _ := e.model(t, nil)
	first := collect(m, t.Context(), prompt("go"))
	second := collect(m, t.Context(), prompt("go"))
	first.wantCalls(t, call{"own_1", "read", `{}`, ""})
	second.wantCalls(t, call{"own_2", "read", `{}`, ""})
}

func TestFault13IDOfAnEarlierTurn(t *testing.T) {
	e := serve(t, stream(tc(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{}"}}`), fin("tool_calls"), done))
	m, _ := e.model(t, nil)
	q := prompt("go")
	r := collect(m, t.Context(), q)
	r.wantCalls(t, call{"call_0", "read", `{}`, ""})
	q.Messages = append(q.Messages, r.message, transcript.Message{Role: transcript.ToolResult, ToolCallID: "call_0"})
	r = collect(m, t.Context(), q)
	r.wantCalls(t, call{"own_1", "read", `{}`, ""})
	if !noted(&r.message, answer.NoteIDReplaced) {
		t.Error("no diagnostic")
	}
}

func TestFault13ResponseIDOfAnEarlierTurn(t *testing.T) {
	e := serve(t, stream(content("a"), fin("stop"), done))
	m, _ := e.model(t, nil)
	q := prompt("go")
	r := collect(m, t.Context(), q)
	q.Messages = append(q.Messages, r.message, transcript.UserText("more"))
	again := collect(m, t.Context(), q)
	if r.message.ResponseID != "r1" || again.message.ResponseID != "" || !noted(&again.message, answer.NoteResponseID) {
		t.Errorf("response ids %q and %q", r.message.ResponseID, again.message.ResponseID)
	}
}

func TestFault14UsageAfterFinish(t *testing.T) {
	whole := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}]},"finish_reason":"stop"}]}`
	r := serve(t, stream(data(whole), data(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6}}}`), done)).ask(t, nil)
	r.wantCalls(t, readOne)
	u := r.message.Usage
	if u.Input != 4 || u.CacheRead != 6 || u.Output != 4 || u.TotalTokens != 14 {
		t.Errorf("usage %+v", *u)
	}
}

func TestFault15EmptyContents(t *testing.T) {
	r := serve(t, stream(
		d(`{"role":"assistant","content":null}`), d(`{"content":""}`), d(`{"role":"assistant"}`),
		tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`),
		fin("tool_calls"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
	if len(r.message.Content) != 1 {
		t.Errorf("%d blocks, want the call only", len(r.message.Content))
	}
}

func TestFault16Reasoning(t *testing.T) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		e := serve(t, stream(d(`{"`+field+`":"hm","content":null}`), d(`{"`+field+`":"m"}`), content("yes"), fin("stop"), done))
		m, _ := e.model(t, nil)
		q := prompt("go")
		r := collect(m, t.Context(), q)
		r.wantStop(t, transcript.StopEnd, "yes")
		if b := r.message.Content[0]; b.Type != transcript.BlockThinking || b.Text != "hmm" || b.Signature != field {
			t.Errorf("thinking block %+v", b)
		}
		q.Messages = append(q.Messages, r.message, transcript.UserText("more"))
		collect(m, t.Context(), q)
		if want := `{"role":"assistant","content":"yes","` + field + `":"hmm"}`; !strings.Contains(e.body(1), want) {
			t.Errorf("the thinking does not go back to its model: %s", e.body(1))
		}
		q.Model.ID = "other"
		collect(m, t.Context(), q)
		if strings.Contains(e.body(2), "hmm") {
			t.Error("the thinking went to another model")
		}
	}
}

func TestFault17CallAsText(t *testing.T) {
	text := `<tool_call>{"name":"read"}`
	r := serve(t, stream(content(text), fin("stop"), done)).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, text)
	r.wantCalls(t)
	if !noted(&r.message, answer.NoteCallInText) {
		t.Error("no diagnostic")
	}
}

func TestFault18SplitCodePoints(t *testing.T) {
	var bytewise reply
	for _, b := range []byte(content("é漢😀") + fin("stop") + done) {
		bytewise.steps = append(bytewise.steps, step{bytes: string([]byte{b})})
	}
	for name, a := range map[string]reply{
		"over writes":     bytewise,
		"over chunks":     stream(d("{\"content\":\"é漢\xf0\x9f\"}"), d("{\"content\":\"\x98\x80\"}"), fin("stop"), done),
		"surrogate pair":  stream(d(`{"content":"é漢\ud83d"}`), d(`{"content":"\ude00"}`), fin("stop"), done),
		"with a pause":    stream(d(`{"content":"é漢\ud83d"}`), d(`{"content":""}`), d(`{"content":"\ude00"}`), fin("stop"), done),
		"escaped in one":  stream(d(`{"content":"\u00e9\u6f22\ud83d\ude00"}`), fin("stop"), done),
		"in three chunks": stream(d("{\"content\":\"é\xe6\"}"), d("{\"content\":\"\xbc\"}"), d("{\"content\":\"\xa2😀\"}"), fin("stop"), done),
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, a).ask(t, nil)
			r.wantStop(t, transcript.StopEnd, "é漢😀")
			var shown strings.Builder
			for _, d := range r.deltas {
				if d.Kind == loop.TextDelta {
					shown.WriteString(d.Text)
				}
			}
			if shown.String() != "é漢😀" {
				t.Errorf("deltas show %q", shown.String())
			}
		})
	}
	r := serve(t, stream(d(`{"content":"a\ud83d"}`), d(`{"content":"b"}`), d("{\"content\":\"\xff\"}"), fin("stop"), done)).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "a\uFFFDb\uFFFD")
}

func TestFault19LongLine(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	r := serve(t, stream(content(long), fin("stop"), done)).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, long)
}
