package tool

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/transcript"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "five.txt", "1\n2\n3\n4\n5")
	writeFile(t, dir, "empty.txt", "")
	writeFile(t, dir, "crlf.txt", "a\r\nb\r\n")
	writeFile(t, dir, "binary", "ab\x00c")
	writeFile(t, dir, "many.txt", strings.Repeat("0123456789\n", 20))
	writeFile(t, dir, "long.txt", strings.Repeat("ä", 200)+"\nsecond\n")
	writeFile(t, dir, "sub/x.txt", "x\n")
	read := builtIn(t, "read", Options{Dir: dir, MaxOutput: 100})
	for name, c := range map[string]struct {
		args map[string]any
		want string
		fail string
	}{
		"whole":          {args: map[string]any{"path": "five.txt"}, want: "1\n2\n3\n4\n5"},
		"page":           {args: map[string]any{"path": "five.txt", "offset": 2, "limit": 2}, want: "2\n3\n\n[lines 2 to 3; more with offset 4]"},
		"last page":      {args: map[string]any{"path": "five.txt", "offset": 4, "limit": 2}, want: "4\n5"},
		"behind the end": {args: map[string]any{"path": "five.txt", "offset": 6}, fail: "has 5 lines"},
		"empty":          {args: map[string]any{"path": "empty.txt"}, want: "(the file is empty)"},
		"crlf":           {args: map[string]any{"path": "crlf.txt"}, want: "a\r\nb\r\n"},
		"bounded":        {args: map[string]any{"path": "many.txt"}, want: strings.Repeat("0123456789\n", 9) + "\n[lines 1 to 9; more with offset 10]"},
		"long line":      {args: map[string]any{"path": "long.txt"}, want: strings.Repeat("ä", 25) + "\n[... 302 bytes left out ...]\n" + strings.Repeat("ä", 24) + "\n\n[lines 1 to 1; more with offset 2]"},
		"binary":         {args: map[string]any{"path": "binary"}, fail: "binary file of 4 bytes"},
		"directory":      {args: map[string]any{"path": "sub"}, fail: "is a directory"},
		"absent":         {args: map[string]any{"path": "none.txt"}, fail: "no such file"},
		"absolute":       {args: map[string]any{"path": filepath.Join(dir, "sub/x.txt")}, want: "x\n"},
		"dots inside":    {args: map[string]any{"path": "sub/../five.txt", "limit": 1}, want: "1\n\n[lines 1 to 1; more with offset 2]"},
		"offset 2.0":     {args: map[string]any{"path": "five.txt", "offset": 2.0, "limit": 1}, want: "2\n\n[lines 2 to 2; more with offset 3]"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := try(t, read, c.args)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("got %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, onlyText(t, r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FAULTS 49: the bytes say what an image is.
func TestFault49ImageWithAWrongName(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"photo.png": string(jpeg), "a.jpg": "\x89PNG\r\n\x1a\nrest", "b.webp": "RIFF\x00\x00\x00\x00WEBPVP8 ", "c": "GIF89a",
		"page.png": "<html></html>",
	} {
		writeFile(t, dir, name, data)
	}
	writeFile(t, dir, "huge.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("x", maxImage))
	read := builtIn(t, "read", Options{Dir: dir})
	for name, want := range map[string]string{"photo.png": "image/jpeg", "a.jpg": "image/png", "b.webp": "image/webp", "c": "image/gif"} {
		r := run(t, read, map[string]any{"path": name})
		if len(r.Content) != 2 || r.Content[1].Type != transcript.BlockImage || r.Content[1].MimeType != want {
			t.Errorf("%s: got %+v", name, r.Content)
			continue
		}
		data, err := base64.StdEncoding.DecodeString(r.Content[1].Data)
		if err != nil || imageType(data) != want {
			t.Errorf("%s: %v", name, err)
		}
		wrong := strings.Contains(r.Content[0].Text, "its name says")
		if wrong != (name == "photo.png" || name == "a.jpg") {
			t.Errorf("%s: %s", name, r.Content[0].Text)
		}
	}
	if got := onlyText(t, run(t, read, map[string]any{"path": "page.png"})); got != "<html></html>" {
		t.Errorf("text with the name of an image: %q", got)
	}
	if _, err := try(t, read, map[string]any{"path": "huge.png"}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("huge image: %v", err)
	}
}

// FAULTS 42: nothing but UTF-8 comes out, and no half of a character.
func TestFault42InvalidUTF8(t *testing.T) {
	dir := t.TempDir()
	surrogate := "\xed\xa0\xbd" // half of an emoji, as UTF-16 has it
	bad := "a\xff\xfeb" + surrogate + "c😀"[:3]
	writeFile(t, dir, "bad.txt", bad+"\n"+bad+"\n")
	writeFile(t, dir, "sub/na\xffme.txt", "x")
	for name, args := range map[string]map[string]any{
		"read": {"path": "bad.txt"},
		"grep": {"pattern": "a", "context": 1},
		"ls":   {"path": "sub"},
		"find": {"pattern": "*"},
		"bash": {"command": `printf 'a\377b\355\240\275c\360\237\230'`},
	} {
		r := run(t, builtIn(t, name, Options{Dir: dir}), args)
		if got := onlyText(t, r); !utf8.ValidString(got) || !strings.Contains(got, "\uFFFD") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Paths that lead out of the working directory are denied, by whatever way.
func TestEscapes(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "work")
	writeFile(t, outer, "secret.txt", "secret")
	writeFile(t, dir, "in.txt", "in")
	for link, to := range map[string]string{
		"up": "..", "file": "../secret.txt", "absolute": filepath.Join(outer, "secret.txt"), "inside": "in.txt", "loop": "loop",
		"dangling": "../made.txt",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	paths := []string{
		"../secret.txt", "up/secret.txt", "file", "absolute", filepath.Join(outer, "secret.txt"), "sub/../../secret.txt",
		"/etc/passwd", dir + "/../secret.txt", "up", "dangling", "..",
	}
	tools := map[string]func(path string) map[string]any{
		"read":  func(p string) map[string]any { return map[string]any{"path": p} },
		"write": func(p string) map[string]any { return map[string]any{"path": p, "content": "x"} },
		"edit": func(p string) map[string]any {
			return map[string]any{"path": p, "edits": []any{map[string]any{"oldText": "secret", "newText": "x"}}}
		},
		"ls":   func(p string) map[string]any { return map[string]any{"path": p} },
		"find": func(p string) map[string]any { return map[string]any{"path": p, "pattern": "*"} },
		"grep": func(p string) map[string]any { return map[string]any{"path": p, "pattern": "secret"} },
	}
	for name, args := range tools {
		for _, p := range paths {
			r, err := try(t, builtIn(t, name, Options{Dir: dir}), args(p))
			if err == nil || !strings.Contains(err.Error(), "access denied") {
				t.Errorf("%s %s: %v, %+v", name, p, err, r)
			}
		}
		if _, err := try(t, builtIn(t, name, Options{Dir: dir}), args("loop")); err == nil {
			t.Errorf("%s: a link to itself was followed", name)
		}
	}
	if got, err := os.ReadFile(filepath.Join(outer, "secret.txt")); err != nil || string(got) != "secret" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(outer, "made.txt")); err == nil {
		t.Error("a file was made outside")
	}
	if got := onlyText(t, run(t, builtIn(t, "read", Options{Dir: dir}), map[string]any{"path": "inside"})); got != "in" {
		t.Errorf("a link that stays inside: %q", got)
	}
	for _, name := range []string{"grep", "find"} {
		got := onlyText(t, run(t, builtIn(t, name, Options{Dir: dir}), map[string]any{"pattern": "secret*"}))
		if strings.Contains(got, "secret.txt") {
			t.Errorf("%s followed a link: %s", name, got)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	write := builtIn(t, "write", Options{Dir: dir})
	run(t, write, map[string]any{"path": "a/b/c.txt", "content": "one"})
	path := filepath.Join(dir, "a", "b", "c.txt")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	run(t, write, map[string]any{"path": "a/b/c.txt", "content": "two"})
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "two" {
		t.Errorf("got %q, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := os.Symlink("c.txt", filepath.Join(dir, "a", "b", "link")); err == nil {
		run(t, write, map[string]any{"path": "a/b/link", "content": "three"})
		if got, err := os.ReadFile(path); err != nil || string(got) != "three" {
			t.Errorf("through a link: %q, %v", got, err)
		}
	}
	for _, p := range []string{"a/b", "a/b/", ".", "a/b/c.txt/d"} {
		if _, err := try(t, write, map[string]any{"path": p, "content": "x"}); err == nil {
			t.Errorf("%s was written", p)
		}
	}
}

func TestEdit(t *testing.T) {
	const old = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	type edits []any
	one := func(o, n string) any { return map[string]any{"oldText": o, "newText": n} }
	for name, c := range map[string]struct {
		old   string
		edits edits
		want  string
		fail  string
	}{
		"one":           {old, edits{one("func a", "func c")}, strings.Replace(old, "func a", "func c", 1), ""},
		"several":       {old, edits{one("func b", "func a"), one("func a", "func b")}, "func b() {\n\treturn 1\n}\n\nfunc a() {\n\treturn 1\n}\n", ""},
		"twice":         {old, edits{one("return 1", "return 2")}, "", "more than once (lines 2, 6)"},
		"overlapping":   {"aaa", edits{one("aa", "b")}, "", "more than once (lines 1, 1)"},
		"none":          {old, edits{one("return 3", "return 2")}, "", "does not occur"},
		"both wrong":    {old, edits{one("return 3", "x"), one("return 1", "x")}, "", "edit 2 of f: the old text occurs more"},
		"on each other": {old, edits{one("func a() {\n", "x"), one("{\n\treturn 1\n}\n\n", "y")}, "", "edits 1 and 2 of f overlap"},
		"same":          {old, edits{one("func a", "func a")}, "", "nothing to change"},
		"crlf":          {"a\r\nb\r\nc\r\n", edits{one("a\nb", "x\ny")}, "x\r\ny\r\nc\r\n", ""},
		"dollar":        {"a", edits{one("a", "$1\\n")}, "$1\\n", ""},
		"bytes":         {"\xff a \xfe", edits{one(" a ", "b")}, "\xffb\xfe", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "f", c.old)
			_, err := try(t, builtIn(t, "edit", Options{Dir: dir}), map[string]any{"path": "f", "edits": []any(c.edits)})
			got, readErr := os.ReadFile(filepath.Join(dir, "f"))
			if readErr != nil {
				t.Fatal(readErr)
			}
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("got %v, want %q", err, c.fail)
				}
				c.want = c.old
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Edits of one file that run at once do not undo each other.
func TestEditsAtOnce(t *testing.T) {
	dir := t.TempDir()
	var old, want strings.Builder
	for i := range 16 {
		fmt.Fprintf(&old, "line %02d\n", i)
		fmt.Fprintf(&want, "LINE %02d\n", i)
	}
	writeFile(t, dir, "f", old.String())
	var wait sync.WaitGroup
	for i := range 16 {
		edit := builtIn(t, "edit", Options{Dir: dir})
		wait.Go(func() {
			args := fmt.Sprintf(`{"path":"f","edits":[{"oldText":"line %02d","newText":"LINE %02d"}]}`, i, i)
			if _, err := edit.Run(t.Context(), transcript.Call{Arguments: json.RawMessage(args)}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got, err := os.ReadFile(filepath.Join(dir, "f"))
	if diff := cmp.Diff(want.String(), string(got)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestLs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a/x", ".hidden", "B"} {
		writeFile(t, dir, name, "")
	}
	ls := builtIn(t, "ls", Options{Dir: dir})
	if diff := cmp.Diff(".hidden\nB\na/\nb.txt\n", onlyText(t, run(t, ls, map[string]any{}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(".hidden\nB\n\n[only the first 2 are shown]", onlyText(t, run(t, ls, map[string]any{"limit": 2}))); diff != "" {
		t.Error(diff)
	}
	if _, err := try(t, ls, map[string]any{"path": "b.txt"}); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := onlyText(t, run(t, ls, map[string]any{"path": "none"})); got != "(the directory is empty)" {
		t.Errorf("got %q", got)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main.go", "cmd/a.go", "cmd/sub/b_test.go", "cmd/sub/c.txt", ".git/x.go", "z.md"} {
		writeFile(t, dir, name, "")
	}
	find := builtIn(t, "find", Options{Dir: dir})
	for pattern, want := range map[string]string{
		"*.go":             "cmd/a.go\ncmd/sub/b_test.go\nmain.go\n",
		"cmd/*.go":         "cmd/a.go\n",
		"cmd/**/*.go":      "cmd/a.go\ncmd/sub/b_test.go\n",
		"**/*_test.go":     "cmd/sub/b_test.go\n",
		"**/main.go":       "main.go\n",
		"*.{md,txt}":       "cmd/sub/c.txt\nz.md\n",
		"[!a-m]*.md":       "z.md\n",
		"sub":              "cmd/sub/\n",
		"*.none":           "(nothing matches *.none)",
		"./cmd/a.g?":       "cmd/a.go\n",
		"cmd/**":           "cmd/a.go\ncmd/sub/\ncmd/sub/b_test.go\ncmd/sub/c.txt\n",
		"m(ain|x)+.go":     "(nothing matches m(ain|x)+.go)",
		"{main,none}.{go}": "main.go\n",
	} {
		if diff := cmp.Diff(want, onlyText(t, run(t, find, map[string]any{"pattern": pattern}))); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
	if diff := cmp.Diff("cmd/sub/b_test.go\n", onlyText(t, run(t, find, map[string]any{"pattern": "sub/*.go", "path": "cmd"}))); diff != "" {
		t.Error(diff)
	}
	for _, pattern := range []string{"[a", "{a", "[z-a]"} {
		if _, err := try(t, find, map[string]any{"pattern": pattern}); err == nil {
			t.Errorf("%s was taken", pattern)
		}
	}
}

// A pattern never panics, and one without special characters matches itself.
func FuzzGlob(f *testing.F) {
	for _, pattern := range []string{"**/*.go", "{a,b{c,d}}", "[!a-z]\\*", "a/**", "[]", "}"} {
		f.Add(pattern)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		g, err := compileGlob(pattern)
		if err != nil || strings.ContainsAny(pattern, `*?[]{},\\`) || strings.HasPrefix(pattern, "./") || !utf8.ValidString(pattern) {
			return
		}
		if !g.match(pattern) || g.match(pattern+"x") {
			t.Errorf("%q", pattern)
		}
	})
}

func TestGrep(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "b.go", "one\ntwo\nthree\nfour\nTWO\n")
	writeFile(t, dir, "a/c.txt", "two (2)\r\n")
	writeFile(t, dir, "binary", "two\x00\n")
	writeFile(t, dir, ".git/x", "two\n")
	writeFile(t, dir, "min.js", strings.Repeat("x", 10000)+"NEEDLE"+strings.Repeat("y", 10000))
	grep := builtIn(t, "grep", Options{Dir: dir})
	for name, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"all files":   {map[string]any{"pattern": "two"}, "a/c.txt:1: two (2)\nb.go:2: two\n"},
		"ignore case": {map[string]any{"pattern": "TWO", "ignoreCase": true, "glob": "*.go"}, "b.go:2: two\nb.go:5: TWO\n"},
		"context":     {map[string]any{"pattern": "t[wh]", "context": 1, "path": "b.go"}, "b.go-1- one\nb.go:2: two\nb.go:3: three\nb.go-4- four\n"},
		"literal":     {map[string]any{"pattern": "(2)", "literal": true}, "a/c.txt:1: two (2)\n"},
		"directory":   {map[string]any{"pattern": "two", "path": "a"}, "a/c.txt:1: two (2)\n"},
		"nothing":     {map[string]any{"pattern": "five"}, "(no line matches five)"},
		"limit":       {map[string]any{"pattern": "o", "limit": 2}, "a/c.txt:1: two (2)\nb.go:1: one\n\n[only the first 2 matches are shown; narrow the search]"},
		"anchors":     {map[string]any{"pattern": `\)$`}, "a/c.txt:1: two (2)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, onlyText(t, run(t, grep, c.args))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := onlyText(t, run(t, grep, map[string]any{"pattern": "NEEDLE"})); !strings.Contains(got, "NEEDLE") || len(got) > 700 {
		t.Errorf("long line: %d bytes, %.100s", len(got), got)
	}
	for _, args := range []map[string]any{{"pattern": "("}, {"pattern": "x", "path": "none"}, {"pattern": `(?=x)`}} {
		if _, err := try(t, grep, args); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

// A call never waits for what is no file.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	makePipe(t, filepath.Join(dir, "pipe"))
	writeFile(t, dir, "x", "needle\n")
	for name, args := range map[string]map[string]any{
		"read":  {"path": "pipe"},
		"write": {"path": "pipe", "content": "x"},
		"edit":  {"path": "pipe", "edits": []any{map[string]any{"oldText": "a", "newText": "b"}}},
		"grep":  {"path": "pipe", "pattern": "x"},
	} {
		if _, err := try(t, builtIn(t, name, Options{Dir: dir}), args); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := onlyText(t, run(t, builtIn(t, "grep", Options{Dir: dir}), map[string]any{"pattern": "needle"})); got != "x:1: needle\n" {
		t.Errorf("got %q", got)
	}
}

func TestCapture(t *testing.T) {
	whole := strings.Repeat("0123456789", 1000) + "äöü😀"
	for _, maximum := range []int64{0, 1, 2, 7, 100, 101, int64(len(whole)) - 1, int64(len(whole)), 1 << 20} {
		for _, step := range []int{1, 7, 4096, len(whole)} {
			c := capture{max: maximum}
			for rest := []byte(whole); len(rest) > 0; {
				n := min(step, len(rest))
				if _, err := c.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			checkCapture(t, &c, whole)
		}
	}
}

func checkCapture(t *testing.T, c *capture, whole string) {
	t.Helper()
	got := c.text()
	if c.total != int64(len(whole)) || c.cut() != (int64(len(whole)) > c.max) || !utf8.ValidString(got) {
		t.Errorf("max %d: total %d, cut %v, %q", c.max, c.total, c.cut(), got)
	}
	head, rest, marked := strings.Cut(got, "\n[... ")
	if !c.cut() {
		if got != whole {
			t.Errorf("max %d: got %.50q", c.max, got)
		}
		return
	}
	_, tail, _ := strings.Cut(rest, "bytes left out ...]\n")
	if !marked || !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || int64(len(head)+len(tail)) > c.max {
		t.Errorf("max %d: head %q, tail %q", c.max, head, tail)
	}
	if !strings.Contains(got, mark(int64(len(whole)-len(head)-len(tail)))) {
		t.Errorf("max %d: wrong mark in %q", c.max, got)
	}
	if int64(cap(c.head)+cap(c.tail)) > 6*c.max+64 {
		t.Errorf("max %d: keeps %d and %d bytes", c.max, cap(c.head), cap(c.tail))
	}
}

// What a result shows is the same however the output came in.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("abc\xff\xf0\x9f\x98"), int64(4), 2)
	f.Fuzz(func(t *testing.T, data []byte, maximum int64, step int) {
		if maximum < 0 || maximum > 1<<16 || step < 1 {
			return
		}
		a, b := capture{max: maximum}, capture{max: maximum}
		_, _ = a.Write(data)
		for part := range slices.Chunk(data, step) {
			_, _ = b.Write(part)
		}
		if a.text() != b.text() || !utf8.ValidString(a.text()) {
			t.Errorf("%q and %q", a.text(), b.text())
		}
	})
}
