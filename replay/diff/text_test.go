package diff_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/diff"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// pairsShown are differences of every kind.
func pairsShown(t *testing.T) map[string]*diff.Result {
	long := strings.Repeat("the quick brown fox jumps over the lazy dog and goes on ", 12)
	lines := strings.Repeat(`one line of many\n`, 40)
	return map[string]*diff.Result{
		"argument":   compare(t, []byte(shop), edited(t, "apples", "pears"), ignoring()),
		"long-line":  compare(t, edited(t, `"text":"3"`, `"text":"`+long+`"`), edited(t, `"text":"3"`, `"text":"`+strings.Replace(long, "lazy dog and", "sleeping cat and", 1)+`"`), ignoring()),
		"long-text":  compare(t, edited(t, `"text":"3"`, `"text":"`+lines+`tail"`), edited(t, `"text":"3"`, `"text":"first\n`+lines+`end"`), ignoring()),
		"hostile":    compare(t, []byte(shop), edited(t, "Three.", `\u001b[2J\u0007 bell \u202e reversed`, "apples", `\u001b]0;title\u0007`, `"name":"count","description"`, `"name":"c\u001b[1mount","description"`), ignoring()),
		"ends-early": compare(t, []byte(shop), edited(t, strings.SplitAfter(shop, "\n")[5], ""), ignoring()),
		"calls":      compare(t, []byte(shop), edited(t, "apples", "pears"), diff.Options{Mode: diff.OnlyCalls}),
		"tools":      compare(t, []byte(shop), edited(t, `"name":"count","description"`, `"name":"look","description"`), diff.Options{Mode: diff.OnlyTools, Ignore: diff.Volatile()}),
	}
}

func TestText(t *testing.T) {
	for name, r := range pairsShown(t) {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", text(t, r, diff.TextOptions{Width: 80}))
			golden(t, name+".color.txt", strings.ReplaceAll(text(t, r, diff.TextOptions{Width: 80, Color: true}), "\x1b", "ESC"))
			golden(t, name+".stat.txt", text(t, r, diff.TextOptions{Stat: true}))
		})
	}
}

// Lines fit into the width that was asked for, and nothing reaches a terminal
// as it is.
func TestTextIsSafe(t *testing.T) {
	files := transcripts(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	results := pairsShown(t)
	for i, name := range names {
		results[name] = compare(t, files[name], files[names[(i+3)%len(names)]], ignoring())
	}
	for name, r := range results {
		for line := range strings.Lines(text(t, r, diff.TextOptions{Width: 60})) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q", name, line)
			}
			// Brackets around words come on top, and so do file names and places.
			if strings.HasPrefix(line, "      ") && utf8.RuneCountInString(line) > 60+40 {
				t.Errorf("%s: %d columns: %q", name, utf8.RuneCountInString(line), line)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	for name, r := range pairsShown(t) {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := r.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), ":null,\"kind\"") || strings.Count(b.String(), "\n") != 1 {
				t.Errorf("not one object on one line: %s", b.String())
			}
			var indented strings.Builder
			var v any
			if err := json.Unmarshal([]byte(b.String()), &v); err != nil {
				t.Fatal(err)
			}
			e := json.NewEncoder(&indented)
			e.SetIndent("", "  ")
			e.SetEscapeHTML(false)
			if err := e.Encode(v); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", indented.String())
		})
	}
}

// Limits hide changes and say so.
func TestTextLimit(t *testing.T) {
	r := compare(t, []byte(shop), edited(t, `"shelf":"apples","deep":true`, `"shelf":"pears","deep":false,"more":1`), ignoring())
	out := text(t, r, diff.TextOptions{Limit: 1})
	if !strings.Contains(out, "… 2 more\n") || strings.Contains(out, "pears") && strings.Contains(out, "$.arguments.more") {
		t.Errorf("limit 1 shows:\n%s", out)
	}
}

// A line of half a million words takes a moment to show, not hours.
func TestTextOfManyWords(t *testing.T) {
	long := strings.Repeat("word ", 500_000)
	r := compare(t, edited(t, "Three.", long+"x "+long), edited(t, "Three.", long+"y "+long), ignoring())
	if out := text(t, r, diff.TextOptions{}); !strings.Contains(out, "[-x-]") || len(out) > 4096 {
		t.Errorf("%d bytes: %.4096s", len(out), out)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte(shop), []byte(shop))
	f.Add([]byte(shop), edited(f, "apples", "pears", `"m4"`, `"m3"`))
	f.Add([]byte(shop[:len(shop)-40]), edited(f, `"toolCallId":"c1"`, `"toolCallId":"c9"`))
	f.Add(edited(f, `{"shelf":"apples","deep":true}`, `[1,{"x":[[]]},1e99999]`), []byte("\x00{}\n{\"type\":\"custom\"}"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > 1<<16 {
			return
		}
		for _, content := range [][]byte{a, b} {
			if r := compare(t, content, content, ignoring()); !r.Equal() {
				t.Fatalf("differs from itself:\n%s", text(t, r, diff.TextOptions{}))
			}
		}
		checkMirror(t, "two files", a, b)
		r := compare(t, a, b, ignoring())
		text(t, r, diff.TextOptions{})
		if err := r.WriteJSON(new(strings.Builder)); err != nil {
			t.Fatal(err)
		}
	})
}
