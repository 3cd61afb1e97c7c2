package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// auditor is an endpoint that does what the annotated example asks for.
func auditor(t *testing.T) *endpoint {
	t.Helper()
	e := serve(t)
	e.reply = func(body string) answer {
		var request struct{ Messages []struct{ Role, Content any } }
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			return refuse(400, `{"error":{"message":"no JSON"}}`)
		}
		said := 0
		for _, m := range request.Messages {
			if m.Role == "assistant" {
				said++
			}
		}
		id := fmt.Sprint("c", said)
		switch {
		case strings.Contains(body, "Write short entries."):
			return stream(textDelta("The CHANGELOG is complete."), callDelta(fmt.Sprintf(`{"index":0,"id":%q,"function":{"name":"submit_answer","arguments":"{\"missing\":[]}"}}`, id)), finished("tool_calls"), usageFrame(900, 30), doneFrame)
		case said == 0:
			return withUsage(calls(id, "merged_prs", `{"tag":"v1.2.0"}`))
		case said == 1:
			return withUsage(calls(id, "read", `{"path":"CHANGELOG.md"}`))
		case said == 2:
			return withUsage(calls(id, "mcp__files__read_text_file", `{"path":"guide.md"}`))
		case said == 3:
			return withUsage(calls(id, "bash", `{"command":"sudo make"}`))
		}
		return withUsage(says(fmt.Sprint("Nothing is unsure, ", said, ".")))
	}
	return e
}

func withUsage(a answer) answer {
	a.body = strings.Replace(a.body, doneFrame, usageFrame(800, 20)+doneFrame, 1)
	return a
}

// The annotated example runs as it is written: a real server behind npx, an
// endpoint behind OPENAI_BASE_URL, every key with its effect.
func TestAnnotatedExampleRuns(t *testing.T) {
	dir := sharedExample(t)
	server := npmProgram(t, "mcp-server-filesystem")
	for path, text := range map[string]string{
		"CHANGELOG.md": "# v1.3.0\n", "docs/guide.md": "A guide.\n", "out/.keep": "",
		"bin/npx":             "#!/bin/sh\nshift 2\nexec " + server + " \"$@\"\n",
		"scripts/merged-prs":  "#!/bin/sh\necho \"$@\" >> asked.txt\necho '#7 fix'\n",
		"scripts/check-links": "#!/bin/sh\ntest -d \"$1\"\n",
		"scripts/grade":       "#!/bin/sh\ngrep -q missing \"$1\"/*.json\n",
	} {
		writeFile(t, filepath.Join(dir, path), text)
		if strings.HasPrefix(path, "bin") || strings.HasPrefix(path, "scripts") {
			if err := os.Chmod(filepath.Join(dir, path), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	e := auditor(t)
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("OPENAI_BASE_URL", e.URL+"/v1")
	t.Setenv("OPENAI_API_KEY", "test-key-0123456789abcdef")
	t.Setenv("TRACKER_AUTH_HEADER", "Bearer tracker-0123456789")
	t.Chdir(dir)
	writeFile(t, "t.yaml", exampleWithoutTracker(t))
	baseline := runExample(t, "first", "--only", "changelog-audit.main.dev.r1", "t.yaml")
	raw, err := os.ReadFile("first/changelog-audit.main.dev.r1.jsonl")
	if err != nil {
		t.Fatal(err, baseline.stderr)
	}
	writeFile(t, "baselines/changelog-audit.jsonl", string(raw))
	r := runExample(t, "out2", "--only", "changelog-audit.main.*", "t.yaml")
	if r.code != 0 || len(r.all("task_end")) != 6 {
		t.Errorf("exit %d, %d tasks\n%s", r.code, len(r.all("task_end")), r.stderr)
	}
	for _, end := range r.all("task_end") {
		for _, a := range end["assertions"].([]any) {
			if m := a.(map[string]any); m["ok"] != true {
				t.Errorf("%s: %s: %s", end["id"], m["name"], m["message"])
			}
		}
	}
	r.verify(t, "out2")
	for _, text := range []string{"Ignore dependency bumps.", "List entries you were unsure about."} {
		if !slices.Contains(r.said("user"), text) {
			t.Errorf("the agent never heard %q", text)
		}
	}
	if got := strings.Join(r.results(), "\n"); !strings.Contains(got, "Permission denied") || !strings.Contains(got, "A guide.") {
		t.Errorf("results %q", got)
	}
	body := e.body(t, 0)
	for key, want := range map[string]any{"temperature": 0.0, "seed": 7.0, "reasoning_effort": "medium"} {
		if body[key] != want {
			t.Errorf("%s is %v on the wire, want %v", key, body[key], want)
		}
	}
	if answer, err := os.ReadFile("out/changelog-audit.main.ops.r3.json"); err != nil || strings.TrimSpace(string(answer)) != `{"missing":[]}` {
		t.Errorf("answer %q, %v", answer, err)
	}
	if asked, err := os.ReadFile("asked.txt"); err != nil || strings.Count(string(asked), "--since v1.2.0\n") != 7 {
		t.Errorf("merged-prs was asked with %q, %v", asked, err)
	}
}

// exampleWithoutTracker is the example, but the server of
// another host is looked for in vain, which takes as long as the network likes.
func exampleWithoutTracker(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("task.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("https://tracker.example.com/mcp", "http://127.0.0.1:1/mcp").Replace(string(raw))
}

// runExample runs a task file of the current folder.
func runExample(t *testing.T, out string, args ...string) taskRun {
	t.Helper()
	r := taskRun{dir: "."}
	var stdout, stderr strings.Builder
	r.code = cmd.Main(t.Context(), append([]string{"run", "--out", out, "--var", "since=v1.2.0"}, args...),
		cmd.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: os.Getenv})
	r.stdout, r.stderr = stdout.String(), stderr.String()
	for line := range strings.Lines(r.stdout) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		r.events = append(r.events, event)
	}
	return r
}
