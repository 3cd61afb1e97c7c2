package cmd_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the file says reaches the endpoint as it was written, and what the
// endpoint reports reaches the events: usage, cost, the price of each kind of
// token.
func TestRunOfAnEndpoint(t *testing.T) {
	usage := frame(`{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"prompt_tokens_details":{"cached_tokens":400}}}`)
	e := serve(t,
		stream(callDelta(call1), finished("tool_calls"), usage, doneFrame),
		stream(textDelta("done"), finished("stop"), usage, doneFrame))
	r := runTask(t, asked(e.URL, "  thinking: high\n  params: { temperature: 0, seed: 7, max_tokens: 300, top_p: 1.0 }\n"+
		"  price: { input: 1, output: 10, cache_read: 0.1, cache_write: 2 }\n", "system: Be brief.\n"))
	if r.status() != "ok" || r.code != 0 || len(r.ran(t)) != 1 {
		t.Fatalf("%s (%s), exit %d, executed %q", r.status(), r.reason(), r.code, r.ran(t))
	}
	body := e.body(t, 0)
	for key, want := range map[string]any{
		"model": "m", "temperature": 0.0, "seed": 7.0, "max_tokens": 300.0, "reasoning_effort": "high", "stream": true, "top_p": 1.0,
		"stream_options": map[string]any{"include_usage": true},
		"messages":       []any{map[string]any{"role": "system", "content": "Be brief."}, map[string]any{"role": "user", "content": "go"}},
	} {
		if d := cmp.Diff(want, body[key]); d != "" {
			t.Errorf("%s (-want +sent):\n%s", key, d)
		}
	}
	if raw := e.bodies[0]; !strings.Contains(raw, `"parameters":{"type":"object","properties":{"p":{},"n":{"type":"integer"}},"additionalProperties":false}`) {
		t.Errorf("the schema is not the one of the file: %s", raw)
	}
	messages, _ := e.body(t, 1)["messages"].([]any)
	if len(messages) != 4 {
		t.Fatalf("second request: %v", messages)
	}
	if result := messages[3].(map[string]any); result["role"] != "tool" || result["tool_call_id"] != "a" || result["content"] != "worked\n" {
		t.Errorf("result as sent: %v", result)
	}
	want := map[string]any{"input": 1200.0, "output": 200.0, "cacheRead": 800.0, "cacheWrite": 0.0, "totalTokens": 2200.0}
	if d := cmp.Diff(want, r.end["usage"]); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
	const cost = (1200*1 + 200*10 + 800*0.1) / 1e6
	if got, _ := r.end["costUsd"].(float64); got < cost-1e-12 || got > cost+1e-12 {
		t.Errorf("cost %v, want %v", got, cost)
	}
	for _, h := range e.headers {
		if auth := h.Get("Authorization"); auth != "" {
			t.Errorf("a file without a key sends %q", auth)
		}
	}
}

// A request that is repeated is one turn, and each repetition is shown.
func TestRetriesAreShownAndAreOneTurn(t *testing.T) {
	e := serve(t, refuse(429, `{"error":{"message":"slow down"}}`, "Retry-After", "1"), refuse(503, `{}`), says("done"))
	r := runTask(t, openAITask(e.URL, ""))
	if r.status() != "ok" || r.count("turn_start") != 1 || r.end["turns"] != 1.0 || r.text() != "done" {
		t.Errorf("%s (%s), %d turns, %q", r.status(), r.reason(), r.count("turn_start"), r.text())
	}
	starts, ends := r.all("auto_retry_start"), r.all("auto_retry_end")
	if len(starts) != 2 || len(ends) != 1 {
		t.Fatalf("%d auto_retry_start, %d auto_retry_end", len(starts), len(ends))
	}
	if s := starts[0]; s["attempt"] != 1.0 || s["maxAttempts"] == nil || !strings.Contains(fmt.Sprint(s["errorMessage"]), "slow down") || s["task"] != "t" || s["run"] != "r1" {
		t.Errorf("first retry %v", s)
	}
	if ends[0]["success"] != true {
		t.Errorf("end of the retries %v", ends[0])
	}
	// Each attempt has its own line in the transcript, all with one digest.
	var digests []string
	for line := range strings.Lines(r.transcript(t)) {
		if _, after, ok := strings.Cut(line, `"customType":"turnlog.request"`); ok {
			if want := fmt.Sprintf(`"n":1,"attempt":%d,`, len(digests)+1); !strings.Contains(after, want) {
				t.Errorf("%s without %s", after, want)
			}
			_, digest, _ := strings.Cut(after, `"digest":`)
			digests = append(digests, strings.TrimSpace(digest))
		}
	}
	if len(digests) != 3 || digests[0] != digests[1] || digests[1] != digests[2] {
		t.Errorf("digests %q", digests)
	}
}

func TestClientErrorIsOneRequest(t *testing.T) {
	e := serve(t, refuse(400, `{"error":{"message":"messages.0: no such role","type":"invalid_request_error"}}`))
	r := runTask(t, openAITask(e.URL, ""))
	if e.requests() != 1 || r.code != 3 || r.count("auto_retry_start") != 0 {
		t.Errorf("%d requests, exit %d", e.requests(), r.code)
	}
	for _, words := range []string{"400", "messages.0: no such role", e.URL} {
		if !strings.Contains(r.reason(), words) || !strings.Contains(r.stderr, words) {
			t.Errorf("%q is not in the reason %q or not on stderr", words, r.reason())
		}
	}
}

// An answer that the limit of tokens cut is no answer that is ok.
func TestTruncatedAnswerIsALimit(t *testing.T) {
	e := serve(t, stream(textDelta("and the"), finished("length"), doneFrame))
	r := runTask(t, openAITask(e.URL, ""))
	if r.status() != "limit" || r.code != 4 {
		t.Errorf("%s, exit %d", r.status(), r.code)
	}
}

// Nobody listens: the run ends before long, with the address in its reason.
func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback:", err)
	}
	address := l.Addr().String()
	_ = l.Close()
	r := runTask(t, openAITask("http://"+address, ""))
	if r.status() != "error" || r.code != 3 || !strings.Contains(r.reason(), "refused") || !strings.Contains(r.reason(), address) {
		t.Errorf("%s (%s), exit %d", r.status(), r.reason(), r.code)
	}
}

// Keys by the name of a variable and by a command: sent, asked for before each
// request, and nowhere in what a run leaves behind, though the endpoint echoes
// them.
func TestKeysGoNowhere(t *testing.T) {
	const key = "test-key-0123456789abcdef"
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "key"), "#!/bin/sh\necho asked >> \"$(dirname \"$0\")/asked\"\necho "+key+"\n")
	if err := os.Chmod(filepath.Join(dir, "key"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MY_KEY", key)
	echo := refuse(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`)
	for name, model := range map[string]string{
		"by name":    "  api_key_env: MY_KEY\n",
		"by command": "  api_key_command: [" + filepath.Join(dir, "key") + "]\n",
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, stream(textDelta("my key is "), textDelta(key), callDelta(call1), finished("tool_calls"), doneFrame), echo)
			r := runTask(t, asked(e.URL, model, ""))
			for i, h := range e.headers {
				if got := h.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("request %d: Authorization %q", i, got)
				}
			}
			if r.code != 3 || e.requests() != 2 {
				t.Errorf("exit %d, %d requests", r.code, e.requests())
			}
			r.hasNowhere(t, key)
		})
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || strings.Count(string(raw), "asked") != 2 {
		t.Errorf("the command was asked %d times, %v", strings.Count(string(raw), "asked"), err)
	}
}

func TestKeyThatIsNotThere(t *testing.T) {
	e := serve(t, says("done"))
	r := runTask(t, asked(e.URL, "  api_key_env: NO_SUCH_KEY_HERE\n", ""))
	if r.code != 3 && r.code != 2 || e.requests() != 0 || !strings.Contains(r.stderr, "NO_SUCH_KEY_HERE") {
		t.Errorf("exit %d, %d requests, %q", r.code, e.requests(), r.stderr)
	}
}

// hasNowhere checks all that a run has left: its outputs and its folder.
func (r *taskRun) hasNowhere(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(r.stdout, text) || strings.Contains(r.stderr, text) {
		t.Errorf("the secret is in the events or on stderr:\n%s%s", r.stdout, r.stderr)
	}
	err := filepath.WalkDir(filepath.Join(r.dir, "out"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), text) {
			t.Errorf("the secret is in %s", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The rate is one of the endpoint, not of a task: eight tasks at once send two
// requests at once.
func TestRateIsSharedByTheBatch(t *testing.T) {
	e := serve(t, says("done"))
	e.hold = make(chan struct{})
	go func() {
		for range 8 {
			e.hold <- struct{}{}
		}
	}()
	r := runTask(t, asked(e.URL, "  rate: { concurrent: 2 }\n", "matrix: { axes: { n: [1, 2, 3, 4, 5, 6, 7, 8] } }\n"), "-j", "8")
	if r.code != 0 || e.requests() != 8 || e.most > 2 {
		t.Errorf("exit %d, %d requests, %d at once\n%s", r.code, e.requests(), e.most, r.stderr)
	}
}
