package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// However a task ends, the exit code says it, and the last line of the events
// says the same. A batch has the code that its failed tasks share, else 1.
func TestFault65ExitCodeOfEachEnd(t *testing.T) {
	const head = "version: 1\nprompt: go\ntools: [read, { name: work, description: Works., run: [echo, worked] }]\nmodel: { provider: scripted, responses: ["
	call := func(n string) string { return "{ calls: [{ name: work }] }, " + n }
	tasks := map[string]struct {
		yaml, status string
		code         int
	}{
		"ok":        {head + "{ text: fine }] }\n", "ok", 0},
		"assertion": {head + "{ text: fine }] }\nassert: [{ text: { contains: bad } }]\n", "failed", 1},
		"check":     {head + "{ text: fine }] }\nfinish: { checks: [{ name: c, run: [\"false\"] }] }\n", "failed", 1},
		"provider":  {head + "{ text: '', stopReason: error, errorMessage: gone }] }\n", "error", 3},
		"set-up":    {strings.Replace(head, "tools: [read,", "tools: [read, { mcp: gone, command: [\"false\"] },", 1) + "{ text: fine }] }\n", "error", 3},
		"turns":     {head + call(call("{ text: fine }")) + "] }\nfinish: { limits: { turns: 2 } }\n", "limit", 4},
		"length":    {head + "{ text: fi, stopReason: length }] }\n", "limit", 4},
		"denied":    {head + call("{ text: fine }") + "] }\npermissions: { deny: [work], on_deny: stop }\n", "denied", 5},
		"refused":   {head + call("{ text: fine }") + "] }\npermissions: { deny: [work] }\n", "ok", 0},
		"stuck":     {head + call(call(call("{ text: fine }"))) + "] }\nfinish: { limits: { repeated_call: 2 } }\n", "stuck", 5},
		"silent":    {head + "{ text: '' }] }\n", "no_output", 6},
		"no answer": {head + "{ text: a }, { text: b }] }\nfinish: { output: { schema: { type: object }, via: text, attempts: 2 } }\n", "no_output", 6},
	}
	for name, test := range tasks {
		t.Run(name, func(t *testing.T) {
			r := runTask(t, "name: t\n"+test.yaml)
			if r.status() != test.status || r.code != test.code || r.end["exitCode"] != float64(test.code) || (test.code == 0) != (r.reason() == "") {
				t.Errorf("%s (%q), exit %d, want %s, exit %d\n%s", r.status(), r.reason(), r.code, test.status, test.code, r.stderr)
			}
		})
	}
	for batch, want := range map[string]int{"ok,refused": 0, "ok,turns,length": 4, "denied,stuck": 5, "turns,stuck": 1, "assertion,ok": 1, "silent,no answer": 6, "provider,set-up,ok": 3} {
		t.Run(batch, func(t *testing.T) {
			dir := t.TempDir()
			var files []string
			for name := range strings.SplitSeq(batch, ",") {
				file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".yaml")
				writeFile(t, file, tasks[name].yaml)
				files = append(files, file)
			}
			writeFile(t, filepath.Join(dir, "t.yaml"), "name: t\n"+tasks["ok"].yaml)
			if r := runIn(t, dir, files...); r.code != want {
				t.Errorf("exit %d, want %d\n%s", r.code, want, r.stderr)
			}
		})
	}
}

// A stream that stands still, ended by each of the clocks: in the middle of an
// answer with half a call in it, which is never executed.
func TestClocksInTheMiddleOfAnAnswer(t *testing.T) {
	for limit, status := range map[string]string{"wall: 3s": "limit", "idle: 2s": "limit"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			e := serve(t, calls("a", "work", `{"p":1}`), stream(textDelta("so "), callDelta(half1)).then("stall"))
			r := runTask(t, openAITask(e.URL, "finish: { limits: { "+limit+" } }\n"))
			if r.status() != status || r.code != 4 || !strings.HasPrefix(r.reason(), limit[:5]) || len(r.ran(t)) != 1 || e.requests() != 2 {
				t.Errorf("%s (%s), exit %d, executed %q, %d requests", r.status(), r.reason(), r.code, r.ran(t), e.requests())
			}
		})
	}
}

// A recording plays the answers of a run again: the same calls, the same end.
func TestRecordedRunPlaysAgain(t *testing.T) {
	e := serve(t, callsOf(callDelta(call1, call2)), says("done"))
	first := runTask(t, openAITask(e.URL, ""))
	if first.status() != "ok" {
		t.Fatalf("%s (%s)", first.status(), first.reason())
	}
	again := runTask(t, workTask("  provider: recorded\n  from: "+filepath.Join(first.dir, "out", "t.jsonl")+"\n", ""))
	if again.status() != "ok" || again.text() != "done" || len(again.ran(t)) != 2 || e.requests() != 2 {
		t.Errorf("%s (%s), %q, executed %q, %d requests", again.status(), again.reason(), again.text(), again.ran(t), e.requests())
	}
}
