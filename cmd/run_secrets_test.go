package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Credentials that are made up; their parts are apart, so that nobody's
// scanner takes this file for a leak.
var (
	ownKey    = "own-" + "9f8e7d6c5b4a39281706"
	mcpHeader = "Bearer " + "tracker-0a1b2c3d4e5f"
	oddHeader = "Basic a&b<c>'d\"e\\f/gü"
	github    = "gh" + "p_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
	extra     = "to" + "k_0123456789abcdef0123456789abcdef"
)

// secretsTask is a task whose tools and endpoint come across secrets.
func secretsTask(base, more string) string {
	return asked(base, "  api_key_env: OWN_KEY\n", "  - read\n  - bash\n  - { mcp: tracker, url: \"http://127.0.0.1:1/mcp\", headers_env: { Authorization: TRACKER_AUTH }, required: false }\n"+
		"secrets: { extra_patterns: [\"tok_[0-9a-f]{32}\"] }\npermissions: { env: [VISIBLE] }\n"+more)
}

// Values of the variables that hold keys, and what looks like a key, are in
// nothing that a run leaves behind, whichever way they come in: from a file,
// from a program, from the endpoint in one piece or in many, in errors. The
// transcript still verifies: what was sent is what was written.
func TestSecretsAreNowhere(t *testing.T) {
	t.Setenv("OWN_KEY", ownKey)
	t.Setenv("TRACKER_AUTH", mcpHeader)
	t.Setenv("VISIBLE", `he said "`+extra+`"`)
	dir := t.TempDir()
	secrets := []string{ownKey, mcpHeader, github, extra}
	writeFile(t, filepath.Join(dir, "notes.txt"), "keys: "+strings.Join(secrets, ", ")+"\n")

	var pieces []string
	for _, s := range secrets {
		for i := range s {
			pieces = append(pieces, textDelta(s[i:i+1]))
		}
		pieces = append(pieces, textDelta("; "+s[:7]), textDelta(s[7:]), textDelta(". "), delta(`{"reasoning_content":`+quoted(s[:5])+`}`), delta(`{"reasoning_content":`+quoted(s[5:]+" ")+`}`))
	}
	call := func(id, tool, args string) answer { return calls(id, tool, args) }
	e := serve(t,
		call("a", "read", `{"path":"notes.txt"}`),
		call("b", "bash", `{"command":"cat notes.txt >&2; echo \"$VISIBLE\"; echo OWN=$OWN_KEY"}`),
		call("c", "work", `{"p":`+quoted("args with "+github+" and "+ownKey)+`}`),
		stream(append(pieces, finished("stop"), doneFrame)...))
	writeFile(t, filepath.Join(dir, "t.yaml"), secretsTask(e.URL, ""))
	answerFile := filepath.Join(dir, "out", "answer.txt")
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := runIn(t, dir, "--answer", answerFile)
	if r.status() != "ok" || e.requests() != 4 {
		t.Fatalf("%s (%s), %d requests\n%s", r.status(), r.reason(), e.requests(), r.stderr)
	}
	for _, s := range secrets {
		r.hasNowhere(t, s)
		if strings.Contains(streamed(&r), s) {
			t.Errorf("the pieces of the events are %s", s)
		}
	}
	if got := r.results(); !strings.Contains(got[1], "OWN=\n") {
		t.Errorf("the tool has the key of the endpoint in its environment: %q", got[1])
	}
	// The tool gets what the history says that it got.
	if ran := strings.Join(r.ran(t), " "); strings.Contains(ran, ownKey) || strings.Contains(ran, github) || !strings.Contains(ran, "args") {
		t.Errorf("the tool got %s", ran)
	}
	// What a request repeats of the history is masked as well: it is the history.
	for i, body := range e.bodies[1:] {
		for _, s := range secrets {
			if strings.Contains(body, s) {
				t.Errorf("request %d sends %s", i+2, s)
			}
		}
	}
}

// streamed puts the pieces of the events together again.
func streamed(r *taskRun) string {
	var text strings.Builder
	for _, e := range r.all("message_update") {
		update, _ := e["assistantMessageEvent"].(map[string]any)
		s, _ := update["delta"].(string)
		text.WriteString(s)
	}
	return text.String()
}

// An endpoint's error that repeats a key: nobody sees it, neither in events nor
// on stderr nor in a report.
func TestSecretsInErrors(t *testing.T) {
	t.Setenv("OWN_KEY", ownKey)
	t.Setenv("TRACKER_AUTH", oddHeader)
	for _, s := range []string{ownKey, oddHeader, github, extra} {
		for name, a := range map[string]answer{
			"status":     refuse(400, `{"error":{"message":`+quoted("bad key "+s)+`}}`),
			"in 200":     stream(textDelta("a"), frame(`{"error":{"message":`+quoted("bad key "+s)+`,"code":400}}`)),
			"foreign":    refuse(200, "<html>"+s, "Content-Type", "text/html"),
			"the reason": stream(textDelta("a"), frame(`{"choices":[{"index":0,"delta":{},"finish_reason":`+quoted(s)+`}]}`), doneFrame),
		} {
			e := serve(t, a)
			r := runTask(t, secretsTask(e.URL, ""))
			if r.code != 3 {
				t.Errorf("%s: exit %d", name, r.code)
			}
			// Whatever JSON, XML and terminals make of the odd characters.
			r.hasNowhere(t, s)
			r.hasNowhere(t, strings.Trim(quoted(s), `"`))
			r.hasNowhere(t, "c>'d")
			r.hasNowhere(t, `c\u003e'd`)
		}
	}
}

// A check and an assertion that print a secret.
func TestSecretsInChecks(t *testing.T) {
	t.Setenv("OWN_KEY", ownKey)
	t.Setenv("TRACKER_AUTH", mcpHeader)
	e := serve(t, says("done"))
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "notes.txt"), github+" "+extra+"\n")
	writeFile(t, filepath.Join(dir, "t.yaml"), secretsTask(e.URL,
		"finish: { checks: [{ name: c, run: [cat, notes.txt] }] }\nassert: [{ command: { run: [sh, -c, \"cat notes.txt; exit 1\"] } }]\n"))
	r := runIn(t, dir)
	if r.code != 1 || r.status() != "failed" {
		t.Errorf("%s (%s), exit %d\n%s", r.status(), r.reason(), r.code, r.stderr)
	}
	for _, s := range []string{github, extra} {
		r.hasNowhere(t, s)
	}
}

// redact: [] masks nothing, and a value that is short is no secret.
func TestNothingIsMaskedUnasked(t *testing.T) {
	t.Setenv("OWN_KEY", "local")
	e := serve(t, says("a local file, "+extra))
	r := runTask(t, asked(e.URL, "  api_key_env: OWN_KEY\n", "secrets: { redact: [] }\n"))
	if got := r.text(); r.code != 0 || got != "a local file, "+extra {
		t.Errorf("exit %d, %q", r.code, got)
	}
}
