package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

// run writes transcripts as a run of turnlog does: each request with its
// digest, a seal at the end.
type run struct {
	t      testing.TB
	out    bytes.Buffer
	sealer transcript.Sealer
	state  *replay.State
	n      int
}

func newRun(t testing.TB, id string) *run {
	r := &run{t: t, state: new(replay.State)}
	r.write(&transcript.Entry{Type: transcript.TypeSession, Timestamp: "2031-05-06T07:00:00Z", Header: &transcript.Header{
		Version: 3, ID: id, CWD: "/tmp", Generator: &transcript.Generator{Name: "turnlog", Version: "test", Format: transcript.FormatVersion},
	}})
	r.custom(transcript.CustomRun, transcript.Run{Run: "r1", Session: id, Model: "m", Provider: "scripted", PID: 1, Host: "h"})
	return r
}

func (r *run) write(e *transcript.Entry) {
	line := append(transcript.AppendEntry(nil, e), '\n')
	r.out.Write(line)
	_, _ = r.sealer.Write(line)
	r.state.Apply(e)
}

func (r *run) next() *transcript.Entry {
	r.n++
	return &transcript.Entry{ID: fmt.Sprintf("e%d", r.n), ParentID: r.state.Leaf(), Timestamp: fmt.Sprintf("2031-05-06T07:%02d:%02dZ", r.n/60%60, r.n%60)}
}

func (r *run) custom(kind string, data any) {
	c, err := transcript.NewCustom(kind, data)
	if err != nil {
		r.t.Fatal(err)
	}
	e := r.next()
	e.Type, e.Custom = transcript.TypeCustom, c
	r.write(e)
}

func (r *run) message(m transcript.Message) {
	e := r.next()
	e.Type, e.Message = transcript.TypeMessage, &m
	r.write(e)
}

func (r *run) request() {
	q := transcript.Request{Run: "r1", N: r.state.Turn() + 1, Attempt: 1, Cause: "prompt", Mode: "none", Model: "m", Tools: []string{}}
	for _, t := range r.state.Tools() {
		q.Tools = append(q.Tools, t.Name)
	}
	var ok bool
	if q.Digest, q.Messages, ok = r.state.RequestDigest(&q); !ok {
		r.t.Fatal("no digest")
	}
	r.custom(transcript.CustomRequest, q)
}

func (r *run) end(session string) []byte {
	e := r.next()
	if err := r.sealer.Seal(e, transcript.End{Run: "r1", Session: session, Status: "ok", Turns: r.state.Turn()}); err != nil {
		r.t.Fatal(err)
	}
	r.write(e)
	return r.out.Bytes()
}

// sealedRun is a short run: turns tool calls, one user message each.
func sealedRun(t testing.TB, turns int) []byte {
	r := newRun(t, "s1")
	r.message(transcript.Message{
		Role: transcript.System, Content: []transcript.Block{transcript.TextBlock("help")}, Form: transcript.FormString,
		ToolsAdded: []transcript.Tool{{Name: "look", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}},
	})
	for i := range turns {
		r.message(transcript.UserText(fmt.Sprintf("go %d", i)))
		r.request()
		id := fmt.Sprintf("c%d", i)
		r.message(transcript.Message{Role: transcript.Assistant, Provider: "scripted", Model: "m", StopReason: transcript.StopToolUse, Content: []transcript.Block{
			{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: id, Name: "look", Arguments: json.RawMessage(`{"at":` + fmt.Sprint(i) + `}`)}},
		}})
		r.message(transcript.Message{Role: transcript.ToolResult, ToolCallID: id, ToolName: "look", Content: []transcript.Block{transcript.TextBlock("fine")}})
		r.request()
		r.message(transcript.Message{Role: transcript.Assistant, Provider: "scripted", Model: "m", StopReason: transcript.StopEnd, Content: []transcript.Block{transcript.TextBlock("done")}})
	}
	return r.end("s1")
}

func TestSealedRunIsClean(t *testing.T) {
	result := check(t, "run", sealedRun(t, 3), verify.Options{})
	if len(result.Findings) > 0 || result.Summary.Format != "turnlog" || result.Summary.Seal != verify.SealOK {
		t.Errorf("%+v", result)
	}
}

// TestFlippedByte changes each byte of a short run, and a sample of a long
// one: the seal or a stronger finding shows every change before it.
func TestFlippedByte(t *testing.T) {
	rules := rules()
	short := sealedRun(t, 1)
	seal := bytes.LastIndexByte(bytes.TrimSpace(short), '\n') + 1
	for i := range seal {
		flip(t, rules, short, i)
	}
	long := sealedRun(t, 60)
	seal = bytes.LastIndexByte(bytes.TrimSpace(long), '\n') + 1
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		flip(t, rules, long, r.IntN(seal))
	}
}

func flip(t *testing.T, rules []verify.Rule, file []byte, at int) {
	t.Helper()
	changed := bytes.Clone(file)
	changed[at] ^= 1
	result, err := verify.Run(t.Context(), memory("run", changed), rules, verify.Options{})
	if err == nil && verify.Worst(result.Findings) != verify.Error {
		t.Errorf("byte %d, %q for %q, was not found: %+v", at, changed[at], file[at], result)
	}
}

// TestSeals are the states of seals.
func TestSeals(t *testing.T) {
	sealed := string(sealedRun(t, 1))
	lines := strings.SplitAfter(sealed, "\n")
	open := strings.Join(lines[:len(lines)-2], "")
	forked := strings.Replace(sealed, `"id":"s1"`, `"id":"s2","parentSession":"/tmp/s1.jsonl"`, 1)
	byPi := strings.Replace(forked, `,"generator":{"name":"turnlog","version":"test","format":1}`, "", 1)
	for _, c := range []struct {
		name, file string
		want       verify.Seal
		worst      verify.Severity
	}{
		{"sealed", sealed, verify.SealOK, ""},
		{"cut before the seal", open, verify.SealMissing, ""},
		{"went on after the seal", sealed + `{"type":"message","id":"z","parentId":"e9","message":{"role":"user","content":"on"}}` + "\n", verify.SealMissing, ""},
		{"fork by pi", byPi, verify.SealInherited, ""},
		{"other id without a fork", strings.Replace(sealed, `"id":"s1"`, `"id":"s2"`, 1), verify.SealBroken, verify.Error},
		{"fork of ours without a run of its own", forked, verify.SealBroken, verify.Error},
		{"line taken out", strings.Replace(sealed, lines[3], "", 1), verify.SealBroken, verify.Error},
		{"pi session", session, verify.SealNone, verify.Error},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := check(t, c.name, []byte(c.file), verify.Options{})
			if result.Summary.Seal != c.want || verify.Worst(result.Findings) != c.worst {
				t.Errorf("seal %s, want %s; %v", result.Summary.Seal, c.want, result.Findings)
			}
		})
	}
}

func TestAnchor(t *testing.T) {
	file := sealedRun(t, 1)
	if result := check(t, "run", file, verify.Options{Anchor: transcript.Digest(file)}); len(result.Findings) > 0 {
		t.Errorf("%v", result.Findings)
	}
	// A cut at a line's end leaves nothing else to see.
	cut := file[:bytes.LastIndexByte(bytes.TrimSpace(file), '\n')+1]
	fires(t, "rewritten-history", check(t, "run", cut, verify.Options{Anchor: transcript.Digest(file)}).Findings)
}

// TestBase compares with an earlier copy.
func TestBase(t *testing.T) {
	const one = `{"type":"message","id":"n1","parentId":null,"message":{"role":"user","content":"stop at 5"}}` + "\n"
	const two = `{"type":"message","id":"n2","parentId":"n1","message":{"role":"user","content":"<now>"}}` + "\n"
	const token = `{"type":"message","id":"n2","parentId":"n1","message":{"role":"user","content":"it is AKIA0123456789ABCDEF ok"}}` + "\n"
	for _, c := range []struct {
		name, base, now string
		worst           verify.Severity
	}{
		{"same", one + two, one + two, ""},
		{"longer", one, one + two, ""},
		{"torn base", one + two[:20], one + two, ""},
		{"changed", one, strings.Replace(one, "5", "50", 1) + two, verify.Error},
		{"shorter", one + two, one, verify.Error},
		{"put in front", one, `{"type":"message","id":"n0","parentId":null,"message":{"role":"user","content":"x"}}` + "\n" + one, verify.Error},
		{"encoded anew", one + two, one + strings.Replace(two, "<now>", `\u003cnow\u003e`, 1), verify.Note},
		{"redacted", one + token, one + strings.Replace(token, "AKIA0123456789ABCDEF", "[REDACTED]", 1), verify.Note},
		{
			"migrated", `{"type":"session","version":2,"id":"s","timestamp":"2031-05-06T07:00:00Z","cwd":"/"}` + "\n" + two,
			`{"type":"session","version":3,"id":"s","timestamp":"2031-05-06T07:00:00Z","cwd":"/"}` + "\n" + one + two, verify.Note,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found []verify.Finding
			for _, f := range check(t, "now", []byte(c.now), verify.Options{Base: &verify.Source{Reader: strings.NewReader(c.base)}}).Findings {
				if f.Rule == "rewritten-history" {
					found = append(found, f)
				}
			}
			if verify.Worst(found) != c.worst {
				t.Errorf("%v, want %q", found, c.worst)
			}
		})
	}
}

// TestReplayMismatch changes what a recorded request was built from, or what
// it says.
func TestReplayMismatch(t *testing.T) {
	file := string(sealedRun(t, 2))
	for _, c := range []struct{ name, old, now string }{
		{"the prompt", `"help"`, `"helm"`},
		{"a schema", `{"type":"object"}`, `{"type": "object","x":1}`},
		{"an argument", `{"at":0}`, `{"at":7}`},
		{"a recorded tool", `"tools":["look"]`, `"tools":["look","hide"]`},
		{"a recorded count", `"messages":1`, `"messages":4`},
		{"a recorded digest", `"digest":"v1:sha256:`, `"digest":"v1:sha256:00`},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(file, c.old, c.now, 1)
			if changed == file {
				t.Fatalf("%s is not in the file", c.old)
			}
			found := false
			for _, f := range check(t, c.name, []byte(changed), verify.Options{}).Findings {
				found = found || f.Rule == "replay-mismatch"
			}
			if !found {
				t.Error("replay-mismatch does not fire")
			}
		})
	}
}

// What a line says that is too long to be read is not known: neither is it
// lost, nor was the file rewritten.
func TestLineTooLongIsNoContradiction(t *testing.T) {
	r := newRun(t, "s1")
	r.message(transcript.UserText(strings.Repeat("long ", 1000)))
	r.request()
	r.message(transcript.Message{Role: transcript.Assistant, Content: []transcript.Block{transcript.TextBlock("yes")}, StopReason: transcript.StopEnd})
	data := r.end("s1")
	whole := check(t, "t.jsonl", data, verify.Options{})
	if whole.Summary.Seal != verify.SealOK {
		t.Fatalf("seal %s, %v", whole.Summary.Seal, whole.Findings)
	}
	got, err := verify.Run(t.Context(), memory("t.jsonl", data), rules(), verify.Options{MaxLine: 2000, Anchor: whole.Summary.Digest})
	if err == nil || !strings.Contains(err.Error(), "line 3 is longer than the limit") {
		t.Errorf("error %v", err)
	}
	if len(got.Findings) > 0 || got.Summary.Seal != verify.SealMissing || got.Summary.Digest != "" {
		t.Errorf("seal %s, digest %q, findings %v", got.Summary.Seal, got.Summary.Digest, got.Findings)
	}
}
