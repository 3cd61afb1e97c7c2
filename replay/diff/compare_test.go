package diff_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// A history does not differ from itself, damaged or not, read from a file or
// kept in memory, as a whole and at a cut.
func TestSelf(t *testing.T) {
	for name, content := range transcripts(t) {
		for _, mode := range diff.Modes() {
			for _, o := range []diff.Options{{Mode: mode, Ignore: diff.Volatile()}, {Mode: mode}, {Mode: mode, At: replay.Cut{Line: 3}}} {
				r := compare(t, content, content, o)
				if !r.Equal() || r.Divergence != nil {
					t.Errorf("%s differs from itself (%+v):\n%s", name, o, text(t, r, diff.TextOptions{}))
				}
				if out := text(t, r, diff.TextOptions{}); strings.Count(out, "\n") != 1 {
					t.Errorf("%s: equal files make %q, want one line", name, out)
				}
			}
		}
	}
}

// Reading again and keeping in memory give the same.
func TestSources(t *testing.T) {
	files := transcripts(t)
	names := slices.Sorted(maps.Keys(files))
	for i, name := range names {
		a, b := files[name], files[names[(i+1)%len(names)]]
		kept := func(content []byte) *diff.History {
			h, err := readAs(t.Context(), "x", content, nil, transcript.Options{}, ignoring())
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		again, err := diff.Compare(t.Context(), kept(a), kept(b), ignoring())
		if err != nil {
			t.Fatal(err)
		}
		once := compare(t, a, b, ignoring())
		if d := cmp.Diff(once.Changes, again.Changes); d != "" {
			t.Errorf("%s: changes (-read again +kept):\n%s", name, d)
		}
	}
}

// What differs between a and b differs between b and a, the other way round.
func TestMirror(t *testing.T) {
	files := transcripts(t)
	names := slices.Sorted(maps.Keys(files))
	for i, name := range names {
		for _, step := range []int{1, 2, 7} {
			other := names[(i+step)%len(names)]
			checkMirror(t, name+" and "+other, files[name], files[other])
		}
	}
}

func checkMirror(tb testing.TB, what string, a, b []byte) {
	tb.Helper()
	there, back := compare(tb, a, b, ignoring()), compare(tb, b, a, ignoring())
	want, got := sorted(there.Changes), sorted(mirrored(back.Changes))
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("%s do not mirror each other:\n%s", what, d)
	}
	if there.Common != back.Common {
		tb.Errorf("%s begin with %+v, mirrored with %+v", what, there.Common, back.Common)
	}
	if d := cmp.Diff(there.Causes, back.Causes); d != "" {
		tb.Errorf("%s: causes are not mirrored:\n%s", what, d)
	}
	if len(there.Edits) != len(back.Edits) {
		tb.Errorf("%s: %d edits, mirrored %d", what, len(there.Edits), len(back.Edits))
	}
}

func mirrored(list []diff.Change) []diff.Change {
	var out []diff.Change
	for _, c := range list {
		c.PlaceA, c.PlaceB, c.UntilA, c.UntilB, c.A, c.B = c.PlaceB, c.PlaceA, c.UntilB, c.UntilA, c.B, c.A
		switch c.Kind {
		case diff.Added:
			c.Kind = diff.Removed
		case diff.Removed:
			c.Kind = diff.Added
		}
		out = append(out, c)
	}
	return out
}

// sorted puts changes into one order, without the indexes of paths: items of
// arrays have those of their own side.
func sorted(list []diff.Change) []string {
	var out []string
	for _, c := range list {
		c.Path = index.ReplaceAllString(c.Path, "[]")
		raw, err := json.Marshal(c)
		if err != nil {
			panic(err)
		}
		out = append(out, string(raw))
	}
	slices.Sort(out)
	return out
}

// turns of a small history, one line each.
const shop = `{"type":"session","version":3,"id":"s","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/home/user/shop"}
{"type":"message","id":"m1","parentId":null,"message":{"role":"system","content":"You keep the stock.","toolsAdded":[{"name":"count","description":"Count","parameters":{"type":"object","properties":{"shelf":{"type":"string"}}}}]}}
{"type":"message","id":"m2","parentId":"m1","message":{"role":"user","content":"How many?"}}
{"type":"message","id":"m3","parentId":"m2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"count","arguments":{"shelf":"apples","deep":true}}],"model":"demo-1","stopReason":"toolUse","usage":{"input":10,"output":5}}}
{"type":"message","id":"m4","parentId":"m3","message":{"role":"toolResult","toolCallId":"c1","toolName":"count","content":[{"type":"text","text":"3"}],"isError":false}}
{"type":"message","id":"m5","parentId":"m4","message":{"role":"assistant","content":[{"type":"text","text":"Three."}],"model":"demo-1","stopReason":"stop","usage":{"input":20,"output":5}}}
`

// edited replaces parts of shop: old, new, old, new.
func edited(tb testing.TB, pairs ...string) []byte {
	tb.Helper()
	out := shop
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(out, pairs[i]) {
			tb.Fatalf("%q is not in the transcript", pairs[i])
		}
		out = strings.ReplaceAll(out, pairs[i], pairs[i+1])
	}
	return []byte(out)
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name  string
		edits []string
		want  []string // category kind subject path
	}{
		{"other ids, times, usage", []string{`"id":"m`, `"id":"n`, `"parentId":"m`, `"parentId":"n`, `"c1"`, `"call-77"`, `"input":10`, `"input":11`, `03:00:00`, `04:00:00`}, nil},
		{"key order, numbers, spaces", []string{`{"shelf":"apples","deep":true}`, `{"deep": true, "shelf": "apples"}`}, nil},
		{"content as blocks", []string{`"content":"How many?"`, `"content":[{"type":"text","text":"How many?"}]`}, nil},
		{"an argument", []string{`apples`, `pears`}, []string{"arguments changed count $.arguments.shelf"}},
		{"an argument less", []string{`,"deep":true`, ``}, []string{"arguments removed count $.arguments.deep"}},
		{
			"another tool called",
			[]string{`"name":"count","arguments"`, `"name":"look","arguments"`, `"toolName":"count"`, `"toolName":"look"`},
			[]string{"calls removed count ", "calls added look ", "results removed count ", "results added look "},
		},
		{"a result", []string{`"text":"3"`, `"text":"4"`}, []string{"results changed count $.content[0].text"}},
		{"a result that fails", []string{`"isError":false`, `"isError":true`}, []string{"results added count $.isError"}},
		{"the answer", []string{`Three.`, `Four.`}, []string{"answer changed assistant $.content[0].text"}},
		{"a stop reason", []string{`"stopReason":"stop"`, `"stopReason":"length"`}, []string{"stop changed assistant $.stopReason"}},
		{"the question", []string{`How many?`, `How few?`}, []string{"input changed user $.content[0].text"}},
		{"the model", []string{`demo-1`, `demo-2`}, []string{"model changed model "}},
		{"the prompt", []string{`the stock`, `stock`}, []string{"prompt changed system text ", "entries changed system message "}},
		{
			"a schema",
			[]string{`{"type":"string"}`, `{"type":"number"}`},
			[]string{"tools changed count $.parameters.properties.shelf.type", "entries changed system message "},
		},
		{
			"a turn less",
			[]string{strings.SplitAfter(shop, "\n")[3], "", strings.SplitAfter(shop, "\n")[4], "", `"parentId":"m4"`, `"parentId":"m2"`},
			[]string{"calls removed count ", "results removed count "},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := compare(t, []byte(shop), edited(t, test.edits...), ignoring())
			var got []string
			for _, c := range r.Changes {
				got = append(got, strings.Join([]string{string(c.Category), string(c.Kind), c.Subject, c.Path}, " "))
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
			checkMirror(t, test.name, []byte(shop), edited(t, test.edits...))
		})
	}
}

// Each volatile member is compared when it is asked for.
func TestInclude(t *testing.T) {
	changes := map[string][]string{
		"id": {`"id":"m2","`, `"id":"n2","`, `"parentId":"m2"`, `"parentId":"n2"`}, "usage": {`"input":10`, `"input":11`},
		"timestamp": {`"id":"m2",`, `"id":"m2","timestamp":"2030-01-02T03:00:00.000Z",`}, "responseId": {`"model":"demo-1","stopReason":"stop"`, `"model":"demo-1","responseId":"r","stopReason":"stop"`},
		"durationMs": {`"isError":false`, `"isError":false,"durationMs":3`},
	}
	for name, edits := range changes {
		other := edited(t, edits...)
		if r := compare(t, []byte(shop), other, ignoring()); !r.Equal() {
			t.Errorf("%s counts although it is ignored:\n%s", name, text(t, r, diff.TextOptions{}))
		}
		o := diff.Options{Ignore: slices.DeleteFunc(diff.Volatile(), func(s string) bool { return s == name })}
		r := compare(t, []byte(shop), other, o)
		if r.Equal() || len(r.Changes) == 0 {
			t.Errorf("%s does not count: %d edits, %d changes", name, len(r.Edits), len(r.Changes))
		}
	}
}

// A damaged line is named, and counts unless the other side has it too.
func TestDamage(t *testing.T) {
	torn := []byte(shop[:len(shop)-30])
	r := compare(t, []byte(shop), torn, ignoring())
	if r.Equal() || len(r.B.Damage) != 1 || r.B.Damage[0].Kind != "torn_tail" || r.B.Damage[0].Line != 6 {
		t.Errorf("damage %+v, equal %v", r.B.Damage, r.Equal())
	}
	if r := compare(t, torn, torn, ignoring()); !r.Equal() || !strings.Contains(text(t, r, diff.TextOptions{}), "as far as they can be read") {
		t.Errorf("a damaged file and itself: %s", text(t, r, diff.TextOptions{}))
	}
	tail := append([]byte(shop), `{"type":"mess`...)
	if r := compare(t, []byte(shop), tail, ignoring()); r.Equal() || len(r.Edits) > 0 {
		t.Errorf("a torn tail is no difference, or more than that: %+v", r.Edits)
	}
}

// A file that changes while it is compared is an error, not a wrong answer.
func TestChangedMeanwhile(t *testing.T) {
	a := read(t, "a", []byte(shop), ignoring())
	content := edited(t, "Three.", "Four!.")
	at := bytes.NewReader(content)
	b, err := readAs(t.Context(), "b", content, at, transcript.Options{}, ignoring())
	if err != nil {
		t.Fatal(err)
	}
	at.Reset(content[:len(content)-20])
	if _, err := diff.Compare(t.Context(), a, b, ignoring()); err == nil || !strings.Contains(err.Error(), "has changed meanwhile") {
		t.Errorf("error %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	long := strings.Repeat("\n", 5000) + shop
	if _, err := readAs(ctx, "a", []byte(long), nil, transcript.Options{}, ignoring()); err == nil {
		t.Error("reading went on")
	}
}
