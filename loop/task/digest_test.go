package task_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/task"
)

const work = `version: 1
vars: { tag: { default: v1 } }
model: { provider: openai, name: m, base_url: "${{ env.HOST_URL ?? 'http://a/v1' }}", api_key_env: KEY, params: { temperature: 0, seed: 1 } }
system: { file: system.md }
workdir: .
tools: [read, { name: x, description: x, parameters: { type: object, properties: { a: {}, b: {} } }, run: [./x], effects: read }]
prompt: since ${{ vars.tag }}
`

func digest(t *testing.T, yaml, path string, o task.Options) string {
	t.Helper()
	if o.ReadFile == nil {
		o.ReadFile = files(map[string]string{"dir/system.md": "be kind", "other/system.md": "be kind"})
	}
	f, err := task.Parse(path, []byte(yaml), o)
	if err != nil {
		t.Fatal(err)
	}
	return f.Tasks[0].Digest()
}

// The digest of a task is in transcripts: it must not change with the program.
func TestDigestIsFixed(t *testing.T) {
	const want = "v1:sha256:e9b73f4d5fada1a37992a0f90ac5f6cb7f39f880429d0269cfe246817d260d84"
	if got := digest(t, work, "dir/t.yaml", task.Options{}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDigestCoversTheWork(t *testing.T) {
	base := digest(t, work, "dir/t.yaml", task.Options{})
	if !regexp.MustCompile(`^v1:sha256:[0-9a-f]{64}$`).MatchString(base) {
		t.Errorf("digest %q", base)
	}
	same := map[string]string{
		"comment":       "# hello\n" + work,
		"spaces":        strings.ReplaceAll(work, ": ", ":   "),
		"description":   work + "description: x\nlabels: { a: b }\nx-a: 1\nbatch: { retries: 2 }\n",
		"tries":         strings.Replace(work, "api_key_env: KEY", "api_key_env: KEY, retry: { attempts: 9 }, timeouts: { idle: 9s }", 1),
		"other order":   strings.Replace(work, "workdir: .\n", "", 1) + "workdir: .\n",
		"defaults":      work + "tool_execution: { mode: parallel }\npermissions: { default: allow }\nfinish: { on_limit: stop, limits: {} }\nsecrets: {}\nsteering: []\nlabels: {}\n",
		"default value": strings.Replace(work, "workdir: .\n", "", 1),
	}
	for name, yaml := range same {
		if got := digest(t, yaml, "dir/t.yaml", task.Options{}); got != base {
			t.Errorf("%s changes the digest", name)
		}
	}
	if got := digest(t, work, "other/t.yaml", task.Options{}); got != base {
		t.Error("the folder changes the digest")
	}
	env := func(name string) (string, bool) { return "secret-value", name == "KEY" }
	if got := digest(t, work, "dir/t.yaml", task.Options{Env: env}); got != base {
		t.Error("the value of a key changes the digest")
	}

	other := map[string]string{
		"prompt":           strings.Replace(work, "since", "from", 1),
		"model":            strings.Replace(work, "name: m", "name: n", 1),
		"params":           strings.Replace(work, "seed: 1", "seed: 2", 1),
		"order of schema":  strings.Replace(work, "a: {}, b: {}", "b: {}, a: {}", 1),
		"effects":          strings.Replace(work, "effects: read", "effects: write", 1),
		"default of a var": strings.Replace(work, "default: v1", "default: v2", 1),
		"limit":            work + "finish: { limits: { turns: 3 } }\n",
		"steering":         work + "steering: [a]\n",
	}
	for name, yaml := range other {
		if got := digest(t, yaml, "dir/t.yaml", task.Options{}); got == base {
			t.Errorf("%s does not change the digest", name)
		}
	}
	if got := digest(t, work, "dir/t.yaml", task.Options{Vars: map[string]string{"tag": "v2"}}); got == base {
		t.Error("--var does not change the digest")
	}
	if got := digest(t, work, "dir/t.yaml", task.Options{ReadFile: files(map[string]string{"dir/system.md": "be quick"})}); got == base {
		t.Error("the text of a file does not change the digest")
	}
}
