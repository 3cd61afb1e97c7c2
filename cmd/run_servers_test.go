package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tests of this file run tasks against programs that others wrote: a mock
// endpoint and MCP servers from npm.

// npmProgram is a program that scripts/npm.sh installs.
func npmProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", ".cache", "npm", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there; scripts/npm.sh installs it", name)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node in PATH")
	}
	return path
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback:", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// startListening starts a program and waits until it says that it listens.
func startListening(t *testing.T, c *exec.Cmd, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait(); _ = r.Close() })
	var all bytes.Buffer
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), said) {
			go func() { // what it says from now on must be read, or it blocks
				for lines.Scan() {
				}
			}()
			return
		}
	}
	t.Fatalf("%s did not start:\n%s", c.Path, all.String())
}

// A mock endpoint of somebody else, driven through task files.
func TestAimockThroughTaskFiles(t *testing.T) {
	program, port := npmProgram(t, "llmock"), freePort(t)
	startListening(t, exec.Command(program, "-p", port, "-f", "../loop/provider/openai/testdata/aimock.json"), "127.0.0.1:"+port)
	base := "http://127.0.0.1:" + port
	for _, test := range []struct {
		prompt, status string
		code           int
		text, reason   string
		retries, ran   int
	}{
		{"two files", "ok", 0, "Both files agree, é漢😀.", "", 0, 2},
		{"busy", "ok", 0, "At last.", "", 2, 0},
		{"cut me", "ok", 0, "Whole.", "", 1, 0},
		{"think", "ok", 0, "Four.", "", 0, 0},
		{"forbidden", "error", 3, "", "no such model", 0, 0},
		{"something else", "error", 3, "", "404", 0, 0},
	} {
		t.Run(test.prompt, func(t *testing.T) {
			yaml := strings.Replace(openAITask(base, ""), "prompt: go", "prompt: "+test.prompt, 1)
			r := runTask(t, strings.Replace(yaml, "name: work", "name: read", 1))
			if r.status() != test.status || r.code != test.code || r.text() != test.text || !strings.Contains(r.reason(), test.reason) {
				t.Errorf("%s (%s), exit %d, %q", r.status(), r.reason(), r.code, r.text())
			}
			if n := r.count("auto_retry_start"); n != test.retries || len(r.ran(t)) != test.ran {
				t.Errorf("%d retries, executed %q", n, r.ran(t))
			}
		})
	}
}

// Real MCP servers in one task: names, schemas, and each kind of result.
func TestServersFromNPMThroughTaskFiles(t *testing.T) {
	files, all := npmProgram(t, "mcp-server-filesystem"), npmProgram(t, "mcp-server-everything")
	port := freePort(t)
	overHTTP := exec.Command(all, "streamableHttp")
	overHTTP.Env = append(os.Environ(), "PORT="+port)
	startListening(t, overHTTP, port)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "docs", "a.txt"), "hello from a file\n")
	writeFile(t, filepath.Join(dir, "t.yaml"), fmt.Sprintf(`version: 1
name: t
prompt: go
model:
  provider: scripted
  responses:
    - calls:
        - { name: mcp__files__read_text_file, arguments: { path: a.txt } }
        - { name: mcp__files__read_text_file, arguments: { path: /etc/passwd } }
        - { name: mcp__all__get-tiny-image }
        - { name: mcp__web__get-structured-content, arguments: { location: New York } }
        - { name: mcp__web__echo, arguments: { message: "1 < 2" } }
        - { name: mcp__files__write_file, arguments: { path: docs/b.txt, content: x } }
    - text: done
tools:
  - { mcp: files, command: [%s, ./docs], tools: ["read_*", "list_*"], effects: read }
  - { mcp: all, command: [%s, stdio] }
  - { mcp: web, url: "http://127.0.0.1:%s/mcp" }
`, files, all, port))
	r := runIn(t, dir)
	got := r.results()
	if r.status() != "ok" || len(got) != 6 {
		t.Fatalf("%s (%s), results %q\n%s", r.status(), r.reason(), got, r.stderr)
	}
	for i, want := range []string{"hello from a file", "denied", "image", "temperature", "Echo: 1 < 2", "Tool mcp__files__write_file not found"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("result %d is %q, want %q in it", i+1, got[i], want)
		}
	}
	text := r.transcript(t)
	for _, want := range []string{`"mimeType":"image/png"`, `"structuredContent":{"temperature":`, `"toolsAdded":[{"name":"mcp__files__read_file"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the transcript has no %s", want)
		}
	}
}

// A server that is required and is not there ends the task before the model is
// asked; one that is not required is missed, and that is said.
func TestServersThatAreNotThere(t *testing.T) {
	for _, server := range []string{"command: [./no-such-server]", "command: [\"false\"]", "url: http://127.0.0.1:" + freePort(t) + "/mcp"} {
		e := serve(t, says("done"))
		r := runTask(t, openAITask(e.URL, "  - { mcp: gone, "+server+", required: true }\n"))
		if r.status() != "error" || r.code != 3 || e.requests() != 0 || !strings.Contains(r.reason(), "gone") {
			t.Errorf("%s, required: %s (%s), exit %d, %d requests", server, r.status(), r.reason(), r.code, e.requests())
		}
		e = serve(t, says("done"))
		r = runTask(t, openAITask(e.URL, "  - { mcp: gone, "+server+", required: false }\n"))
		if r.status() != "ok" || r.code != 0 || e.requests() != 1 {
			t.Errorf("%s: %s (%s), exit %d", server, r.status(), r.reason(), r.code)
		}
		if notes := r.all("task_note"); len(notes) != 1 || !strings.Contains(fmt.Sprint(notes[0]["message"]), "gone") {
			t.Errorf("%s: notes %v", server, notes)
		}
	}
}

// A list of tools that changes becomes a declaration before the next request.
func TestChangedToolsAreDeclaredBeforeTheNextRequest(t *testing.T) {
	const schema = `{"type":"object","zebra":1,"properties":{"z":{"maximum":2512292042121000001}}}`
	s := mcp.NewServer(&mcp.Implementation{Name: "own", Version: "1"}, nil)
	add := func(name string, then func()) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			then()
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name}}}, nil
		})
	}
	add("stay", func() {})
	add("old", func() { add("new", func() {}); s.RemoveTools("old") })
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })

	e := serve(t)
	turn := 0
	e.reply = func(body string) answer {
		turn++
		id := fmt.Sprint("c", turn)
		switch {
		case turn == 1:
			return calls(id, "mcp__own__old", `{}`)
		case strings.Contains(body, `"content":"new"`):
			return says("done")
		case strings.Contains(body, `{"name":"mcp__own__new"`):
			return calls(id, "mcp__own__new", `{}`)
		}
		return calls(id, "mcp__own__stay", `{}`) // until the news has arrived
	}
	r := runTask(t, openAITask(e.URL, "  - { mcp: own, url: \""+h.URL+"\" }\nfinish: { limits: { turns: 500 } }\n"))
	if r.status() != "ok" || r.text() != "done" {
		t.Fatalf("%s (%s), %q", r.status(), r.reason(), r.text())
	}
	lines := strings.Split(r.transcript(t), "\n")
	changed := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"toolsRemoved":[{"name":"mcp__own__old"}]`) })
	if changed < 0 || !strings.Contains(lines[changed], `"name":"mcp__own__new"`) || !strings.Contains(lines[changed], schema) {
		t.Fatalf("no declaration of the change in\n%s", strings.Join(lines, "\n"))
	}
	if next := lines[changed+1]; !strings.Contains(next, "turnlog.request") || strings.Contains(next, "mcp__own__old") || !strings.Contains(next, "mcp__own__new") {
		t.Errorf("behind it comes %s", next)
	}
}
