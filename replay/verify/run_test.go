package verify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

// TestErrors are the ends of a run that are no findings. What was found until
// then is in the result.
func TestErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	panics := verify.Rule{ID: "panics", New: func(verify.Values) verify.Checker {
		return verify.Checker{Entry: func(_ *verify.Pass, e *transcript.Entry) {
			if e.ID == "a4" {
				panic("oh")
			}
		}}
	}}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	long := session + strings.Repeat(`{"type":"label","id":"l","parentId":null,"targetId":"a1"}`+"\n", 2000)
	for _, c := range []struct {
		name string
		ctx  context.Context
		src  verify.Source
		opt  verify.Options
		want string
	}{
		{"I/O", t.Context(), verify.Source{Name: "f", Reader: io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken)), At: strings.NewReader(long)}, verify.Options{}, "disk is gone"},
		{"canceled", canceled, memory("f", []byte(long)), verify.Options{}, "context canceled"},
		{"long line", t.Context(), memory("f", []byte(session)), verify.Options{MaxLine: 120}, "line 2 is longer than the limit"},
		{"rule that panics", t.Context(), memory("f", []byte(session)), verify.Options{}, "rule panics failed at line 5: oh"},
		{"unknown format", t.Context(), memory("f", []byte(session)), verify.Options{Format: "word"}, `"word": want one of`},
		{"unknown option", t.Context(), memory("f", []byte(session)), verify.Options{Rules: map[string]verify.Values{"repeated-call": {"tims": 2}}}, `no option "tims" (options: times)`},
		{"unknown rule", t.Context(), memory("f", []byte(session)), verify.Options{Severities: map[string]verify.Severity{"torn-tall": verify.Note}}, "did you mean torn-tail?"},
		{"newer format", t.Context(), memory("f", []byte(strings.Replace(session, `"cwd"`, `"generator":{"name":"turnlog","version":"9","format":9},"cwd"`, 1))), verify.Options{}, "format 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := rules()
			if c.name == "rule that panics" {
				rules = append(rules, panics)
			}
			result, err := verify.Run(c.ctx, c.src, rules, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s; %+v", err, c.want, result)
			}
		})
	}
	var newer *replay.NewerFormatError
	_, err := verify.Run(t.Context(), memory("f", []byte(`{"type":"session","version":3,"id":"s","cwd":"/","generator":{"name":"turnlog","version":"9","format":9}}`)), rules(), verify.Options{})
	if !errors.As(err, &newer) {
		t.Errorf("%v is no NewerFormatError", err)
	}
}

// TestOptions are severities and the options of rules.
func TestOptions(t *testing.T) {
	const loop = "user go\nassistant toolUse | call c1 poll\nresult c1 poll ok x\nassistant toolUse | call c2 poll\nresult c2 poll ok x\n"
	text, _ := expand(t, loop)
	if found := check(t, "loop", []byte(text), verify.Options{}).Findings; len(found) > 0 {
		t.Errorf("twice is no loop by default: %v", found)
	}
	twice := verify.Options{Rules: map[string]verify.Values{"repeated-call": {"times": 2}}}
	fires(t, "repeated-call", check(t, "loop", []byte(text), twice).Findings)
	once := verify.Options{Rules: map[string]verify.Values{"repeated-call": {"times": 1}}}
	if _, err := verify.Run(t.Context(), memory("loop", []byte(text)), rules(), once); err == nil {
		t.Error("one call was taken for a loop")
	}

	note := verify.Options{Severities: map[string]verify.Severity{"undeclared-tool-call": verify.Note, "open-call": verify.Error}}
	result := check(t, "session", []byte(session), note)
	if verify.Worst(result.Findings) != verify.Note {
		t.Errorf("%v", result.Findings)
	}
}

// TestFingerprints are the same in a later version of the file, and differ
// within it.
func TestFingerprints(t *testing.T) {
	fingerprints := func(text string) []string {
		var all []string
		for _, f := range check(t, "f", []byte(text), verify.Options{}).Findings {
			all = append(all, f.Rule+" "+f.Fingerprint)
		}
		return all
	}
	torn := `{"type":"message","id":"t1","par` + "\n"
	once := fingerprints(session + torn)
	if len(once) != 2 {
		t.Fatal(once)
	}
	shifted := strings.Replace(session, "\n", "\n\n\n", 1)
	if diff := cmp.Diff(once, fingerprints(shifted+torn)); diff != "" {
		t.Errorf("they depend on line numbers:\n%s", diff)
	}
	again := fingerprints(session + torn + torn)
	if len(again) != 3 || again[1] == again[2] {
		t.Errorf("two equal lines share one: %v", again)
	}
}

// TestEvents reads event logs: of one task and of several at once.
func TestEvents(t *testing.T) {
	events := func(task string, messages ...string) []string {
		lines := []string{`{"type":"agent_start","task":"` + task + `"}`, `{"type":"turn_start","task":"` + task + `"}`}
		for _, m := range messages {
			lines = append(lines, `{"type":"message_start","task":"`+task+`","message":{"role":"user","content":"x"}}`, `{"type":"message_end","task":"`+task+`","message":{`+m+`}}`)
		}
		return append(lines, `{"type":"turn_end","task":"`+task+`"}`, `{"type":"agent_end","task":"`+task+`"}`)
	}
	declares := `"role":"system","content":"p","toolsAdded":[` + tool("a", 0) + `]`
	one := events("one", declares, `"role":"user","content":"go"`, assistant("toolUse | call c1 a"),
		`"role":"toolResult","toolCallId":"c1","toolName":"a","content":[],"isError":false`, assistant("stop | text ok"))
	two := events("two", declares, `"role":"user","content":"go"`, assistant("toolUse | call c1 b"),
		`"role":"toolResult","toolCallId":"c1","toolName":"b","content":[],"isError":false`, assistant("stop | text ok"))
	var mixed []string
	for i := range one {
		mixed = append(mixed, one[i], two[i])
	}
	result := check(t, "events", []byte(strings.Join(mixed, "\n")+"\n"), verify.Options{})
	if len(result.Findings) != 1 || result.Findings[0].Rule != "undeclared-tool-call" || result.Findings[0].Line != 16 {
		t.Errorf("%v", result.Findings)
	}
	if s := result.Summary; s.Format != "events" || s.Knowledge != verify.Exact || s.Entries != 10 || s.Branches != 2 {
		t.Errorf("%+v", s)
	}
	cut := check(t, "cut", []byte(strings.Join(one[:9], "\n")+"\n"), verify.Options{})
	if verify.Worst(cut.Findings) != verify.Note {
		t.Errorf("a log that was cut: %v", cut.Findings)
	}
	open := strings.Join(one[:8], "\n") + "\n" + `{"type":"turn_end","task":"one"}` + "\n" + `{"type":"agent_end","task":"one"}` + "\n"
	for text, want := range map[string]verify.Severity{
		open:                          verify.Warning, // open-call
		open + `{"type":"agent_settl`: verify.Error,   // torn-tail
	} {
		if got := check(t, "ended", []byte(text), verify.Options{}).Findings; len(got) != 1 || got[0].Severity != want {
			t.Errorf("a log that says its run ended: %v", got)
		}
	}
	last := len(one) - 1 // agent_end
	for name, log := range map[string][]string{
		"no agent_end before agent_settled":  append(slices.Clone(one[:last]), `{"type":"agent_settled","task":"one"}`),
		"no agent_end before task_end":       append(slices.Clone(one[:last]), `{"type":"task_end","task":"one"}`),
		"no agent_end before batch_end":      append(slices.Clone(one[:last]), `{"type":"batch_end"}`),
		"a tool is open when the agent ends": slices.Insert(slices.Clone(one), last, `{"type":"tool_execution_start","task":"one","toolCallId":"c9"}`),
		"agent_start inside a turn":          append([]string{one[1], one[0]}, one[2:]...),
	} {
		got := check(t, name, []byte(strings.Join(log, "\n")+"\n"), verify.Options{}).Findings
		if len(got) != 1 || got[0].Rule != "unbalanced-events" || got[0].Severity != verify.Error {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestReaders gives the same file in other ways.
func TestReaders(t *testing.T) {
	tr := growTreeFile(5)
	want := check(t, "f", tr, verify.Options{}).Findings
	for name, src := range map[string]verify.Source{
		"byte by byte":     {Name: "f", Reader: iotest.OneByteReader(bytes.NewReader(tr)), At: bytes.NewReader(tr)},
		"not to be reread": {Name: "f", Reader: iotest.HalfReader(bytes.NewReader(tr))},
	} {
		result, err := verify.Run(t.Context(), src, rules(), verify.Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, result.Findings, cmp.AllowUnexported(verify.Finding{})); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestManyRecordsOnALine takes up a branch at one of many records that were
// glued together.
func TestManyRecordsOnALine(t *testing.T) {
	var b strings.Builder
	for i := range 700 {
		parent := "null"
		if i > 0 {
			parent = `"g` + strconv.Itoa(i-1) + `"`
		}
		b.WriteString(`{"type":"message","id":"g` + strconv.Itoa(i) + `","parentId":` + parent + `,"message":{"role":"user","content":"go"}}`)
	}
	b.WriteString("\n" + `{"type":"message","id":"x1","parentId":"g699","message":{` + assistant("toolUse | call c1 a") + "}}\n")
	b.WriteString(`{"type":"message","id":"x2","parentId":"g300","message":{` + assistant("stop | text ok") + "}}\n")
	b.WriteString(`{"type":"message","id":"x3","parentId":"x1","message":{"role":"user","content":"on"}}` + "\n")
	got := places(check(t, "f", []byte(b.String()), verify.Options{}).Findings)
	want := []place{{"glued-records", 1}, {"missing-result", 2}, {"interleaved-branches", 4}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestGrowingFile reads a file that a run goes on writing: its open tail and its
// open call are no damage.
func TestGrowingFile(t *testing.T) {
	text, _ := expand(t, "user go\nassistant toolUse | call c1 poll\n")
	text += `{"type":"message","id":"x","par`
	src := memory("f", []byte(text))
	src.At = strings.NewReader(text + `entId":"e2"`)
	result, err := verify.Run(t.Context(), src, rules(), verify.Options{})
	if err != nil || len(result.Findings) > 0 || len(result.Summary.Notes) != 2 {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestRereadFails takes up a branch in a file that cannot be read again.
func TestRereadFails(t *testing.T) {
	file := forked(200, 3)
	src := memory("f", file)
	src.At = bytes.NewReader(nil)
	_, err := verify.Run(t.Context(), src, rules(), verify.Options{})
	if err == nil || !strings.Contains(err.Error(), "has changed while it was checked") {
		t.Error(err)
	}
}

// TestSecretsAreNotShown looks for a credential in all that a finding says.
func TestSecretsAreNotShown(t *testing.T) {
	key := "sk-" + "ant-0123456789abcdefghijKLMNOP"
	lines := `{"type":"message","id":"n1","parentId":"gone","message":{"role":"user","content":"` + key + `"}}` + "\n" +
		`{"type":"message","id":"n2","parentId":"n1","message":{"role":"user","content":"` + key + "\n" +
		`{"type":"message","id":"n1","parentId":"n1","message":{"content":" ","role":"user","also":"` + strings.Repeat("x", 30) + key + `"}}` + "\n"
	for _, f := range check(t, "f", []byte(lines), verify.Options{}).Findings {
		if all := f.Message + f.Snippet + f.Subject + f.Entry; strings.Contains(all, key[:14]) {
			t.Errorf("%+v", f)
		}
	}
}

// TestUntypedRecords says which lines are JSON and yet no entries.
func TestUntypedRecords(t *testing.T) {
	text := session + "\"x\"\n[{\"type\":\"message\"}]\n"
	result := check(t, "f", []byte(text), verify.Options{})
	n := strings.Count(session, "\n")
	want := fmt.Sprintf("records without a type, of which nothing could be checked: line %d %d", n+1, n+2)
	if !slices.Contains(result.Summary.Notes, want) {
		t.Errorf("%q", result.Summary.Notes)
	}
}
