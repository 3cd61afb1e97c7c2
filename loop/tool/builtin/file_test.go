package builtin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/internal/tooltest"
	"github.com/turnlog/turnlog/replay/transcript"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	tooltest.WriteFile(t, dir, "five.txt", "1\n2\n3\n4\n5")
	tooltest.WriteFile(t, dir, "empty.txt", "")
	tooltest.WriteFile(t, dir, "crlf.txt", "a\r\nb\r\n")
	tooltest.WriteFile(t, dir, "binary", "ab\x00c")
	tooltest.WriteFile(t, dir, "many.txt", strings.Repeat("0123456789\n", 20))
	tooltest.WriteFile(t, dir, "long.txt", strings.Repeat("ä", 200)+"\nsecond\n")
	tooltest.WriteFile(t, dir, "sub/x.txt", "x\n")
	read := builtIn(t, "read", tool.Options{Dir: dir, MaxOutput: 100})
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
			r, err := tooltest.Try(t, read, c.args)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("got %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, tooltest.OnlyText(t, r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FAULTS 49: the bytes say what an image is.
func TestFault49ImageWithAWrongName(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"photo.png": string(tooltest.JPEG), "a.jpg": "\x89PNG\r\n\x1a\nrest", "b.webp": "RIFF\x00\x00\x00\x00WEBPVP8 ", "c": "GIF89a",
		"page.png": "<html></html>",
	} {
		tooltest.WriteFile(t, dir, name, data)
	}
	tooltest.WriteFile(t, dir, "huge.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("x", tool.MaxImage))
	read := builtIn(t, "read", tool.Options{Dir: dir})
	for name, want := range map[string]string{"photo.png": "image/jpeg", "a.jpg": "image/png", "b.webp": "image/webp", "c": "image/gif"} {
		r := tooltest.Run(t, read, map[string]any{"path": name})
		if len(r.Content) != 2 || r.Content[1].Type != transcript.BlockImage || r.Content[1].MimeType != want {
			t.Errorf("%s: got %+v", name, r.Content)
			continue
		}
		data, err := base64.StdEncoding.DecodeString(r.Content[1].Data)
		if err != nil || tool.ImageType(data) != want {
			t.Errorf("%s: %v", name, err)
		}
		wrong := strings.Contains(r.Content[0].Text, "its name says")
		if wrong != (name == "photo.png" || name == "a.jpg") {
			t.Errorf("%s: %s", name, r.Content[0].Text)
		}
	}
	if got := tooltest.OnlyText(t, tooltest.Run(t, read, map[string]any{"path": "page.png"})); got != "<html></html>" {
		t.Errorf("text with the name of an image: %q", got)
	}
	if _, err := tooltest.Try(t, read, map[string]any{"path": "huge.png"}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("huge image: %v", err)
	}
}

// FAULTS 42: nothing but UTF-8 comes out, and no half of a character.
func TestFault42InvalidUTF8(t *testing.T) {
	dir := t.TempDir()
	surrogate := "\xed\xa0\xbd" // half of an emoji, as UTF-16 has it
	bad := "a\xff\xfeb" + surrogate + "c😀"[:3]
	tooltest.WriteFile(t, dir, "bad.txt", bad+"\n"+bad+"\n")
	tooltest.WriteFile(t, dir, "sub/na\xffme.txt", "x")
	for name, args := range map[string]map[string]any{
		"read": {"path": "bad.txt"},
		"grep": {"pattern": "a", "context": 1},
		"ls":   {"path": "sub"},
		"find": {"pattern": "*"},
		"bash": {"command": `printf 'a\377b\355\240\275c\360\237\230'`},
	} {
		r := tooltest.Run(t, builtIn(t, name, tool.Options{Dir: dir}), args)
		if got := tooltest.OnlyText(t, r); !utf8.ValidString(got) || !strings.Contains(got, "\uFFFD") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Paths that lead out of the working directory are denied, by whatever way.
func TestEscapes(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "work")
	tooltest.WriteFile(t, outer, "secret.txt", "secret")
	tooltest.WriteFile(t, dir, "in.txt", "in")
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
			r, err := tooltest.Try(t, builtIn(t, name, tool.Options{Dir: dir}), args(p))
			if err == nil || !strings.Contains(err.Error(), "access denied") {
				t.Errorf("%s %s: %v, %+v", name, p, err, r)
			}
		}
		if _, err := tooltest.Try(t, builtIn(t, name, tool.Options{Dir: dir}), args("loop")); err == nil {
			t.Errorf("%s: a link to itself was followed", name)
		}
	}
	if got, err := os.ReadFile(filepath.Join(outer, "secret.txt")); err != nil || string(got) != "secret" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(outer, "made.txt")); err == nil {
		t.Error("a file was made outside")
	}
	if got := tooltest.OnlyText(t, tooltest.Run(t, builtIn(t, "read", tool.Options{Dir: dir}), map[string]any{"path": "inside"})); got != "in" {
		t.Errorf("a link that stays inside: %q", got)
	}
	for _, name := range []string{"grep", "find"} {
		got := tooltest.OnlyText(t, tooltest.Run(t, builtIn(t, name, tool.Options{Dir: dir}), map[string]any{"pattern": "secret*"}))
		if strings.Contains(got, "secret.txt") {
			t.Errorf("%s followed a link: %s", name, got)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	write := builtIn(t, "write", tool.Options{Dir: dir})
	tooltest.Run(t, write, map[string]any{"path": "a/b/c.txt", "content": "one"})
	path := filepath.Join(dir, "a", "b", "c.txt")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	tooltest.Run(t, write, map[string]any{"path": "a/b/c.txt", "content": "two"})
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
		tooltest.Run(t, write, map[string]any{"path": "a/b/link", "content": "three"})
		if got, err := os.ReadFile(path); err != nil || string(got) != "three" {
			t.Errorf("through a link: %q, %v", got, err)
		}
	}
	for _, p := range []string{"a/b", "a/b/", ".", "a/b/c.txt/d"} {
		if _, err := tooltest.Try(t, write, map[string]any{"path": p, "content": "x"}); err == nil {
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
			tooltest.WriteFile(t, dir, "f", c.old)
			_, err := tooltest.Try(t, builtIn(t, "edit", tool.Options{Dir: dir}), map[string]any{"path": "f", "edits": []any(c.edits)})
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
	tooltest.WriteFile(t, dir, "f", old.String())
	var wait sync.WaitGroup
	for i := range 16 {
		edit := builtIn(t, "edit", tool.Options{Dir: dir})
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
		tooltest.WriteFile(t, dir, name, "")
	}
	ls := builtIn(t, "ls", tool.Options{Dir: dir})
	if diff := cmp.Diff(".hidden\nB\na/\nb.txt\n", tooltest.OnlyText(t, tooltest.Run(t, ls, map[string]any{}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(".hidden\nB\n\n[only the first 2 are shown]", tooltest.OnlyText(t, tooltest.Run(t, ls, map[string]any{"limit": 2}))); diff != "" {
		t.Error(diff)
	}
	if _, err := tooltest.Try(t, ls, map[string]any{"path": "b.txt"}); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := tooltest.OnlyText(t, tooltest.Run(t, ls, map[string]any{"path": "none"})); got != "(the directory is empty)" {
		t.Errorf("got %q", got)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main.go", "cmd/a.go", "cmd/sub/b_test.go", "cmd/sub/c.txt", ".git/x.go", "z.md"} {
		tooltest.WriteFile(t, dir, name, "")
	}
	find := builtIn(t, "find", tool.Options{Dir: dir})
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
		if diff := cmp.Diff(want, tooltest.OnlyText(t, tooltest.Run(t, find, map[string]any{"pattern": pattern}))); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
	if diff := cmp.Diff("cmd/sub/b_test.go\n", tooltest.OnlyText(t, tooltest.Run(t, find, map[string]any{"pattern": "sub/*.go", "path": "cmd"}))); diff != "" {
		t.Error(diff)
	}
	for _, pattern := range []string{"[a", "{a", "[z-a]"} {
		if _, err := tooltest.Try(t, find, map[string]any{"pattern": pattern}); err == nil {
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
	tooltest.WriteFile(t, dir, "b.go", "one\ntwo\nthree\nfour\nTWO\n")
	tooltest.WriteFile(t, dir, "a/c.txt", "two (2)\r\n")
	tooltest.WriteFile(t, dir, "binary", "two\x00\n")
	tooltest.WriteFile(t, dir, ".git/x", "two\n")
	tooltest.WriteFile(t, dir, "min.js", strings.Repeat("x", 10000)+"NEEDLE"+strings.Repeat("y", 10000))
	grep := builtIn(t, "grep", tool.Options{Dir: dir})
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
			if diff := cmp.Diff(c.want, tooltest.OnlyText(t, tooltest.Run(t, grep, c.args))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := tooltest.OnlyText(t, tooltest.Run(t, grep, map[string]any{"pattern": "NEEDLE"})); !strings.Contains(got, "NEEDLE") || len(got) > 700 {
		t.Errorf("long line: %d bytes, %.100s", len(got), got)
	}
	for _, args := range []map[string]any{{"pattern": "("}, {"pattern": "x", "path": "none"}, {"pattern": `(?=x)`}} {
		if _, err := tooltest.Try(t, grep, args); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

// A call never waits for what is no file.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	makePipe(t, filepath.Join(dir, "pipe"))
	tooltest.WriteFile(t, dir, "x", "needle\n")
	for name, args := range map[string]map[string]any{
		"read":  {"path": "pipe"},
		"write": {"path": "pipe", "content": "x"},
		"edit":  {"path": "pipe", "edits": []any{map[string]any{"oldText": "a", "newText": "b"}}},
		"grep":  {"path": "pipe", "pattern": "x"},
	} {
		if _, err := tooltest.Try(t, builtIn(t, name, tool.Options{Dir: dir}), args); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := tooltest.OnlyText(t, tooltest.Run(t, builtIn(t, "grep", tool.Options{Dir: dir}), map[string]any{"pattern": "needle"})); got != "x:1: needle\n" {
		t.Errorf("got %q", got)
	}
}
