package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// answer is what an endpoint gives to one request: a status, bytes, and how
// the connection ends.
type answer struct {
	status int // 0 is 200
	header map[string]string
	body   string
	end    string // "" ends cleanly, reset breaks the connection, stall keeps it open silently
}

// stream is an event stream that ends cleanly.
func stream(frames ...string) answer { return answer{body: strings.Join(frames, "")} }

// then ends an answer another way.
func (a answer) then(end string) answer { a.end = end; return a }

// refuse is an answer that is no stream.
func refuse(status int, body string, header ...string) answer {
	a := answer{status: status, header: map[string]string{"Content-Type": "application/json"}, body: body}
	for i := 0; i+1 < len(header); i += 2 {
		a.header[header[i]] = header[i+1]
	}
	return a
}

// The short forms of frames.
const doneFrame = "data: [DONE]\n\n"

func frame(json string) string { return "data: " + json + "\n\n" }

func delta(json string) string {
	return frame(`{"id":"r","model":"m","choices":[{"index":0,"delta":` + json + `}]}`)
}

func callDelta(calls ...string) string {
	return delta(`{"tool_calls":[` + strings.Join(calls, ",") + `]}`)
}

func textDelta(text string) string { return delta(fmt.Sprintf(`{"content":%s}`, quoted(text))) }

func finished(reason string) string {
	return frame(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
}

func usageFrame(input, output int64) string {
	return frame(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, input, output, input+output))
}

// says is a good answer of text.
func says(text string) answer { return stream(textDelta(text), finished("stop"), doneFrame) }

// calls is a good answer that calls a tool once.
func calls(id, tool, arguments string) answer {
	return stream(callDelta(fmt.Sprintf(`{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, tool, quoted(arguments))), finished("tool_calls"), doneFrame)
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// endpoint plays one answer per request, the last one for all that follow.
type endpoint struct {
	URL     string
	answers []answer
	hold    chan struct{}            // if set, no answer begins before it can be received from
	reply   func(body string) answer // if set, decides in place of answers

	mu            sync.Mutex
	bodies        []string
	headers       []http.Header
	running, most int // requests under way
}

func serve(t testing.TB, answers ...answer) *endpoint {
	t.Helper()
	e := &endpoint{answers: answers}
	s := httptest.NewServer(e)
	e.URL = s.URL
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	var a answer
	if e.reply != nil {
		a = e.reply(string(body))
	} else {
		a = e.answers[min(len(e.bodies), len(e.answers)-1)]
	}
	e.bodies, e.headers = append(e.bodies, string(body)), append(e.headers, r.Header)
	e.running++
	e.most = max(e.most, e.running)
	e.mu.Unlock()
	defer func() { e.mu.Lock(); e.running--; e.mu.Unlock() }()
	if e.hold != nil {
		<-e.hold
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
	w.(http.Flusher).Flush()
	switch a.end {
	case "reset":
		panic(http.ErrAbortHandler)
	case "stall":
		<-r.Context().Done()
	}
}

func (e *endpoint) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

// body decodes the request i, negative from the end.
func (e *endpoint) body(t testing.TB, i int) map[string]any {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if i < 0 {
		i += len(e.bodies)
	}
	if i < 0 || i >= len(e.bodies) {
		t.Fatalf("%d requests came", len(e.bodies))
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(e.bodies[i]), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// ranFile is where the tool of workTask notes the arguments of each execution.
const ranFile = "ran.txt"

// workTask is a task file with a tool `work` that notes each of its executions.
// The model's keys are given, and what comes behind the tools.
func workTask(model, more string) string {
	return fmt.Sprintf(`version: 1
name: t
model:
%sprompt: go
tools:
  - name: work
    description: Does some work.
    parameters: { type: object, properties: { p: {}, n: { type: integer } }, additionalProperties: false }
    run: [sh, -c, "cat >> %s; echo >> %s; echo worked"]
    effects: write
%s`, model, ranFile, ranFile, more)
}

// openAITask is a workTask for an endpoint. Retries come at once.
func openAITask(base, more string) string { return asked(base, "", more) }

// asked is an openAITask with further keys of the model.
func asked(base, model, more string) string {
	return workTask("  provider: openai\n  base_url: "+base+"/v1\n  name: m\n  retry: { initial: 1ms, max: 2ms, retry_after_max: 2ms }\n"+model, more)
}

// taskRun is a task that was run by the command.
type taskRun struct {
	dir            string
	code           int
	stdout, stderr string
	events         []map[string]any
	end            map[string]any // task_end of the last task
}

// runTask runs a task file in a folder of its own and checks what must hold
// however it ends: the last event is batch_end with the exit code, and the
// transcript verifies.
func runTask(t *testing.T, yaml string, args ...string) taskRun {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "t.yaml"), yaml)
	return runIn(t, dir, args...)
}

func runIn(t *testing.T, dir string, args ...string) taskRun {
	t.Helper()
	r := taskRun{dir: dir}
	out := filepath.Join(dir, "out")
	var stdout, stderr strings.Builder
	args = append([]string{"run", "--out", out, filepath.Join(dir, "t.yaml")}, args...)
	r.code = cmd.Main(t.Context(), args, cmd.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: os.Getenv})
	r.stdout, r.stderr = stdout.String(), stderr.String()
	for line := range strings.Lines(r.stdout) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("event %q: %v", line, err)
		}
		r.events = append(r.events, e)
		if e["type"] == "task_end" {
			r.end = e
		}
	}
	if len(r.events) == 0 {
		return r // nothing was started: a mistake in the file
	}
	if last := r.events[len(r.events)-1]; last["type"] != "batch_end" || last["exitCode"] != float64(r.code) {
		t.Errorf("last event %v, exit code %d", last, r.code)
	}
	r.verify(t, out)
	return r
}

// verify checks the transcripts with all rules.
func (r *taskRun) verify(t *testing.T, out string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code := cmd.Main(t.Context(), []string{"verify", "--format", "text", out}, cmd.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	if code != 0 {
		t.Errorf("verify: exit %d\n%s%s", code, stdout.String(), stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		if strings.Contains(line, ": warning: ") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// transcript is the text of the only transcript of a run.
func (r *taskRun) transcript(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, "out", "t.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ran lists the arguments with which the tool was executed.
func (r *taskRun) ran(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, ranFile))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(raw))
}

// count is how many events of a type there were.
func (r *taskRun) count(kind string) int { return len(r.all(kind)) }

// all are the events of a type.
func (r *taskRun) all(kind string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(r.events), func(e map[string]any) bool { return e["type"] != kind })
}

// status is how the last task ended.
func (r *taskRun) status() string { s, _ := r.end["status"].(string); return s }

// reason is why.
func (r *taskRun) reason() string { s, _ := r.end["reason"].(string); return s }

// results are the texts of the tools' results, in order.
func (r *taskRun) results() []string { return r.said("toolResult") }

// text is that of the last answer.
func (r *taskRun) text() string {
	texts := r.said("assistant")
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// said are the texts of the messages of a role.
func (r *taskRun) said(role string) []string {
	var texts []string
	for _, e := range r.all("message_end") {
		m, _ := e["message"].(map[string]any)
		if m["role"] != role {
			continue
		}
		text, _ := m["content"].(string)
		blocks, _ := m["content"].([]any)
		for _, b := range blocks {
			block, _ := b.(map[string]any)
			s, _ := block["text"].(string)
			text += s
		}
		texts = append(texts, text)
	}
	return texts
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
