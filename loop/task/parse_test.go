package task_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/task"
)

const fixtures = "../../fixtures/tasks"

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob(fixtures + "/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, path := range files {
		_, err := task.Load(path, task.Options{})
		if broken := filepath.Base(path) == "broken.yaml"; broken != (err != nil) {
			t.Errorf("%s: %v", path, err)
		}
		data, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if broken := filepath.Base(path) == "broken.yaml"; broken != (validate(t, data) != nil) {
			t.Errorf("%s: the schema and Parse differ", path)
		}
	}
	if _, err := task.LoadAll(slices.DeleteFunc(files, func(s string) bool { return strings.HasSuffix(s, "broken.yaml") }), task.Options{}); err != nil {
		t.Errorf("all of them together: %v", err)
	}
}

func TestBrokenFixtureSaysAllAtOnce(t *testing.T) {
	_, err := task.Load(fixtures+"/broken.yaml", task.Options{})
	var all task.Errors
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	want := task.Errors{
		{File: fixtures + "/broken.yaml", Line: 8, Column: 1, Msg: `unknown key "promt" in the task`, Hint: `did you mean "prompt"?`},
		{File: fixtures + "/broken.yaml", Line: 11, Column: 9, Msg: `no built-in tool is called "raed"`, Hint: `did you mean "read"?`},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNoSuchFile(t *testing.T) {
	_, err := task.Load("no-such.yaml", task.Options{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "no-such.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestTaskIDs(t *testing.T) {
	tests := []struct{ path, yaml, want string }{
		{"hello.yaml", "", "hello"},
		{"a/b/hello.task.yml", "", "hello.task"},
		{"x.yaml", "name: My task", "My-task"},
		{"x.yaml", "name: ../../etc/passwd", "-.-..-etc-passwd"},
		{"x.yaml", "repeat: 2", "x.r1 x.r2"},
		{"x.yaml", "repeat: 1", "x"},
		{"x.yaml", "matrix: { axes: { b: [1, 2.5], a: [x y, ü] } }", "x.1.x-y x.1.- x.2-5.x-y x.2-5.-"},
		{"x.yaml", "matrix: { axes: { m: [a, b], n: [c, d] }, exclude: [{ m: a, n: d }, { n: c, m: b }] }\nrepeat: 2", "x.a.c.r1 x.a.c.r2 x.b.d.r1 x.b.d.r2"},
		{"x.yaml", "vars: { l: { type: list, default: [p, q] } }\nmatrix: { axes: { m: \"${{ vars.l }}\" } }", "x.p x.q"},
		{"x.yaml", "vars: { v: { default: w } }\nname: \"n-${{ vars.v }}\"", "n-w"},
	}
	for _, tt := range tests {
		f, err := task.Parse(tt.path, []byte(head+tt.yaml+"\n"), task.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.yaml, err)
			continue
		}
		var ids []string
		for _, one := range f.Tasks {
			ids = append(ids, one.ID)
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.path, tt.yaml, got, tt.want)
		}
	}
}

// files is a folder in memory.
func files(texts map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		text, ok := texts[path]
		if !ok {
			return nil, fmt.Errorf("open %s: %w", path, os.ErrNotExist)
		}
		return []byte(text), nil
	}
}

func TestLoadAll(t *testing.T) {
	read := files(map[string]string{
		"a/x.yaml":  head,
		"b/x.yaml":  head,
		"v.yaml":    head + "vars: { since: {} }\n",
		"bad1.yaml": head + "promt: a\n",
		"bad2.yaml": head + "promt: a\n",
	})
	tests := []struct {
		paths []string
		vars  map[string]string
		want  string
	}{
		{[]string{"a/x.yaml", "v.yaml"}, map[string]string{"since": "1"}, ""},
		{[]string{"a/x.yaml", "v.yaml"}, map[string]string{"sinc": "1"}, `a value is given to "sinc", which no task file declares under vars (did you mean "since"?)`},
		{[]string{"a/x.yaml", "b/x.yaml"}, nil, `b/x.yaml:1:1: the task id "x" is taken by a/x.yaml (give the tasks different names)`},
		{[]string{"bad2.yaml", "none.yaml", "bad1.yaml"}, nil, "read task file: open none.yaml: file does not exist\n" +
			"bad1.yaml:4:1: unknown key \"promt\" in the task (did you mean \"prompt\"?)\nbad2.yaml:4:1: unknown key \"promt\" in the task (did you mean \"prompt\"?)"},
	}
	for _, tt := range tests {
		_, err := task.LoadAll(tt.paths, task.Options{ReadFile: read, Vars: tt.vars})
		if got := errorText(err); got != tt.want {
			t.Errorf("%v\n got %s\nwant %s", tt.paths, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Attempt 2 of task a would write into the transcript of task a.try2.
func TestUniqueKnowsAttempts(t *testing.T) {
	a := &task.File{Path: "a.yaml", Tasks: []task.Task{{ID: "a"}, {ID: "b"}}}
	b := &task.File{Path: "b.yaml", Tasks: []task.Task{{ID: "a.try2"}, {ID: "c.try2"}}}
	want := `b.yaml:1:1: the task id "a.try2" is that of a later attempt of "a" (give the tasks different names)`
	if got := errorText(task.Unique(a, b)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := errorText(task.Unique(b, a)); !strings.Contains(got, "later attempt") {
		t.Errorf("in the other order: %s", got)
	}
}

func TestHostileFiles(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("x-a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n")
	for c := 'b'; c < 'k'; c++ {
		bomb.WriteString(fmt.Sprintf("x-%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", ")))
	}
	var keys strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	tests := []struct{ name, yaml, want string }{
		{"alias bomb", bomb.String(), "more than 200000 values"},
		{"many keys", keys.String(), "a mapping of 50000 keys"},
		{"deep", "x-a: " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "nested deeper"},
		{"large", strings.Repeat("# comment\n", 200_000), "the file has 2000000 bytes"},
		{"much work", head + "repeat: 10000\nx-a: [" + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + "]\n", "are too much"},
		{"binary", "\x00\x01\x02", "not YAML"},
		{"bad UTF-8", "version: 1\nprompt: \xff\n", "not YAML"},
	}
	for _, tt := range tests {
		_, err := task.Parse("t.yaml", []byte(tt.yaml), task.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

// Byte order marks, CRLF and merge keys are what editors and people write.
func TestLegitimateOddities(t *testing.T) {
	for _, yaml := range []string{
		"\ufeff" + head,
		strings.ReplaceAll(head, "\n", "\r\n"),
		"---\n" + head + "...\n",
		head + "tools: [{ mcp: a, url: \"http://b/\", headers_env: { X-Api-Key: A_NAME, Authorization: OTHER } }]\n",
		head + "tools: [{ name: login, description: log in, run: [./login], parameters: { type: object, properties: { api_key: { type: string } }, required: [api_key] } }]\n",
		head + "system: \"The package sk-learn-contrib-extras and a token like sk-… are no keys; neither is AKIA.\"\n",
		"x-base: &base { provider: scripted, responses: [] }\nversion: 1\nmodel: { <<: *base }\nprompt: a\n",
	} {
		if _, err := task.Parse("t.yaml", []byte(yaml), task.Options{}); err != nil {
			t.Errorf("%q: %v", yaml, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob(fixtures + "/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("version: 1\nvars: { a: { type: list, default: [b] } }\nmatrix: { axes: { x: \"${{ vars.a }}\" } }\nmodel: ${{ matrix.x }}\nmodels: { b: &m { provider: scripted, responses: [] }, c: { <<: *m } }\nprompt: \"${{ env.A ?? 'b' }}\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := task.Parse("t.yaml", data, task.Options{ReadFile: noFiles, Env: testEnv})
		if err != nil {
			checkErrors(t, err)
			return
		}
		for _, one := range file.Tasks {
			one.Digest()
			if strings.ContainsAny(one.ID, "/\\") || one.ID == "" || strings.HasPrefix(one.ID, ".") || len(one.ID) > 200 {
				t.Fatalf("task id %q", one.ID)
			}
		}
	})
}

// checkErrors wants errors that a person can act on: sorted, with a place,
// one line each.
func checkErrors(t *testing.T, err error) {
	t.Helper()
	var all task.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("an error without places: %v", err)
	}
	for i, e := range all {
		if e.Line < 1 || e.Column < 1 || e.Msg == "" || strings.Contains(e.Error(), "\n") {
			t.Fatalf("%+v", e)
		}
		if i > 0 && (all[i-1].Line > e.Line || all[i-1] == e) {
			t.Fatalf("%v before %v", all[i-1], e)
		}
	}
}

func TestArgv(t *testing.T) {
	one := task.Task{Dir: "tasks"}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ run, want string }{
		{"./grade ./out", filepath.Join(here, "tasks", "grade") + " ./out"},
		{"grep -c x", "grep -c x"},
		{"/bin/true", "/bin/true"},
		{"../bin/x", filepath.Join(here, "bin", "x")},
	} {
		if got := strings.Join(one.Argv(strings.Fields(tt.run)), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.run, got, tt.want)
		}
	}
}
