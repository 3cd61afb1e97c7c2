package loop_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

var update = flag.Bool("update", false, "rewrite golden files")

// configRun plays what pi-sessions/json-mode.ndjson shows: two calls at once,
// one of them with progress, then an answer.
func configRun(t *testing.T) []byte {
	result := func(text string) loop.Result {
		return loop.Result{Content: []transcript.Block{transcript.TextBlock(text)}, StructuredContent: json.RawMessage(`"x"`)}
	}
	tool := func(name string, run func(progress func(loop.Result)) loop.Result) loop.Tool {
		return loop.Tool{
			Tool: transcript.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object"}`)},
			Run: func(_ context.Context, _ transcript.Call, progress func(loop.Result)) (loop.Result, error) {
				return run(progress), nil
			},
		}
	}
	var out bytes.Buffer
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := loop.Config{
		Model: scriptOf(t,
			`{"text":"I will <read> the file.","calls":[{"id":"call_1","name":"read","arguments":{"path":"config.json"}},{"id":"call_2","name":"bash","arguments":{"command":"echo hi"}}],"usage":{"input":100,"output":10}}`,
			`{"thinking":"8080","text":"The port is 8080.","usage":{"input":120,"output":8}}`),
		ModelRef: replay.ModelRef{Provider: "mock", ID: "mock-a"},
		// One after the other, so that there is one order to compare.
		Execution: loop.Sequential,
		Tools: []loop.Tool{
			tool("read", func(func(loop.Result)) loop.Result { return result("{\"port\": 8080}\n") }),
			tool("bash", func(progress func(loop.Result)) loop.Result {
				progress(loop.Result{Content: []transcript.Block{transcript.TextBlock("hi\n")}, Details: json.RawMessage(`{"bytes":3}`)})
				return result("hi\n")
			}),
		},
		Emit: func(e loop.Event) error {
			out.Write(append(loop.AppendEvent(nil, &e), '\n'))
			return nil
		},
		Now: func() time.Time { clock = clock.Add(time.Millisecond); return clock },
	}
	if _, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("read config.json")); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestNDJSON compares the records of a run with a golden file.
func TestNDJSON(t *testing.T) {
	got := configRun(t)
	golden := filepath.Join("testdata", "config.ndjson")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestNDJSONIsPis: each kind of record has the members that pi's has, no
// fewer and no more, but for those that pi itself leaves out at times.
func TestNDJSONIsPis(t *testing.T) {
	dir := sharedDir("pi-sessions")
	if dir == "" {
		t.Skip("../shared/pi-sessions is not there")
	}
	theirs, err := os.ReadFile(filepath.Join(dir, "json-mode.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	want, got := recordKinds(t, theirs), recordKinds(t, configRun(t))
	for _, kind := range slices.Sorted(maps.Keys(want)) {
		if got[kind] == nil {
			if kind != "session" && kind != "agent_settled" { // of the runner
				t.Logf("%s: not in our run", kind)
			}
			continue
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want[kind])), slices.Sorted(maps.Keys(got[kind]))); diff != "" {
			t.Errorf("members of %s (-pi +turnlog):\n%s", kind, diff)
		}
	}
}

// recordKinds gives the members of each kind of record, nested ones with the
// path to them.
func recordKinds(t *testing.T, ndjson []byte) map[string]map[string]bool {
	kinds := map[string]map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(ndjson))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var record object
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		kind := record["type"].(string)
		if update, ok := record["assistantMessageEvent"].(object); ok {
			kind += " " + update["type"].(string)
		}
		members := kinds[kind]
		if members == nil {
			members = map[string]bool{}
			kinds[kind] = members
		}
		for k, v := range record {
			members[k] = true
			if nested, ok := v.(object); ok && k == "assistantMessageEvent" {
				for k := range nested {
					members["assistantMessageEvent."+k] = true
				}
			}
		}
	}
	return kinds
}

// TestAppendMembers: callers put their own members beside an event's.
func TestAppendMembers(t *testing.T) {
	e := loop.Event{Type: loop.TurnStart}
	line := append(loop.AppendMembers([]byte(`{"seq":7,`), &e), '}')
	if want := `{"seq":7,"type":"turn_start"}`; string(line) != want {
		t.Errorf("got %s, want %s", line, want)
	}
}
