package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/internal/tooltest"
	"github.com/turnlog/turnlog/replay/transcript"
)

// npmProgram is a program that scripts/npm.sh installs.
func npmProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "npm", "node_modules", ".bin", name))
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

func connect(t *testing.T, c Config, o tool.Options) *Server {
	t.Helper()
	s, err := Connect(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func findTool(t *testing.T, tools []loop.Tool, name string) loop.Tool {
	t.Helper()
	var names []string
	for _, tool := range tools {
		if tool.Name == name {
			return tool
		}
		names = append(names, tool.Name)
	}
	t.Fatalf("no tool %s among %s", name, strings.Join(names, ", "))
	return loop.Tool{}
}

func TestServerFilesystem(t *testing.T) {
	dir := t.TempDir()
	tooltest.WriteFile(t, dir, "a.txt", "hello\n")
	s := connect(t, Config{
		Name: "files", Command: []string{npmProgram(t, "mcp-server-filesystem"), dir},
		Tools: []string{"read_*", "list_*", "raed_*"}, Effects: loop.Read,
	}, tool.Options{Dir: dir})
	tools := s.Tools()
	for _, tool := range tools {
		if !strings.HasPrefix(tool.Name, "mcp__files__read_") && !strings.HasPrefix(tool.Name, "mcp__files__list_") {
			t.Errorf("%s was not asked for", tool.Name)
		}
		if tool.Effects != loop.Read {
			t.Errorf("%s has effects %q", tool.Name, tool.Effects)
		}
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "raed_*") {
		t.Errorf("warnings: %q", w)
	}
	read := findTool(t, tools, "mcp__files__read_text_file")
	r := tooltest.Run(t, read, map[string]any{"path": filepath.Join(dir, "a.txt")})
	if got := r.Content[0].Text; got != "hello\n" {
		t.Errorf("got %q", got)
	}
	if want := `{"content":"hello\n"}`; string(r.StructuredContent) != want {
		t.Errorf("structured content %s, want %s", r.StructuredContent, want)
	}
	r = tooltest.Run(t, read, map[string]any{"path": "/etc/passwd"})
	if !r.IsError || !strings.Contains(r.Content[0].Text, "denied") {
		t.Errorf("outside: %+v", r)
	}
}

func TestServerEverything(t *testing.T) {
	program := npmProgram(t, "mcp-server-everything")
	t.Run("stdio", func(t *testing.T) {
		everything(t, connect(t, Config{Name: "all", Command: []string{program, "stdio"}}, tool.Options{Dir: t.TempDir()}))
	})
	t.Run("http", func(t *testing.T) {
		everything(t, connect(t, Config{Name: "all", URL: serveEverything(t, program)}, tool.Options{Dir: t.TempDir()}))
	})
}

// serveEverything starts the server on a free port and returns its address.
func serveEverything(t *testing.T, program string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	tooltest.Until(t, "the server listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return "http://127.0.0.1:" + port + "/mcp"
}

func everything(t *testing.T, s *Server) {
	tools := s.Tools()
	r := tooltest.Run(t, findTool(t, tools, "mcp__all__echo"), map[string]any{"message": "hi <b>"})
	if got := r.Content[0].Text; got != "Echo: hi <b>" {
		t.Errorf("echo: %q", got)
	}
	r = tooltest.Run(t, findTool(t, tools, "mcp__all__get-tiny-image"), map[string]any{})
	var images []string
	for _, b := range r.Content {
		if b.Type == transcript.BlockImage {
			images = append(images, b.MimeType)
		}
	}
	if diff := cmp.Diff([]string{"image/png"}, images); diff != "" {
		t.Errorf("images: %s", diff)
	}
	r = tooltest.Run(t, findTool(t, tools, "mcp__all__get-structured-content"), map[string]any{"location": "New York"})
	var weather map[string]any
	if err := json.Unmarshal(r.StructuredContent, &weather); err != nil || len(weather) == 0 {
		t.Errorf("structured content %s: %v", r.StructuredContent, err)
	}
	var shown int
	long := findTool(t, tools, "mcp__all__trigger-long-running-operation")
	_, err := long.Run(t.Context(), transcript.Call{Arguments: json.RawMessage(`{"duration":0.2,"steps":2}`)}, func(loop.Result) { shown++ })
	if err != nil || shown == 0 {
		t.Errorf("long running operation: %v, progress %d times", err, shown)
	}
}

// server is an MCP server of our own, over HTTP.
func server(t *testing.T, add func(*sdk.Server)) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "own", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	add(s)
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}

const oddSchema = `{"type":"object","zebra":1,"properties":{"z":{"type":"integer","maximum":2512292042121000001},"a":{"type":"string"}},"additionalProperties":false}`

func addTool(s *sdk.Server, name, schema string, handle func(args json.RawMessage) *sdk.CallToolResult) {
	s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return handle(r.Params.Arguments), nil
	})
}

// Pages are followed, schemas keep their keys' order and their digits, and so
// do arguments and structured content.
func TestServerKeepsBytes(t *testing.T) {
	var got json.RawMessage
	url := server(t, func(s *sdk.Server) {
		for _, name := range []string{"one", "two", "three", "four", "five"} {
			addTool(s, name, oddSchema, func(args json.RawMessage) *sdk.CallToolResult {
				got = args
				return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"z":2512292042121000001,"a":1.50}`)}
			})
		}
	})
	s := connect(t, Config{Name: "own", URL: url}, tool.Options{Dir: t.TempDir()})
	if n := len(s.Tools()); n != 5 {
		t.Errorf("%d tools, want 5", n)
	}
	three := findTool(t, s.Tools(), "mcp__own__three")
	if string(three.Parameters) != oddSchema {
		t.Errorf("schema %s\nwant   %s", three.Parameters, oddSchema)
	}
	args := `{"z":2512292042121000001,"a":"<x>"}`
	r, err := three.Run(t.Context(), transcript.Call{Arguments: json.RawMessage(args)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent, want any
	if json.Unmarshal(got, &sent) != nil || json.Unmarshal([]byte(args), &want) != nil || !cmp.Equal(sent, want) || !bytes.Contains(got, []byte("2512292042121000001")) {
		t.Errorf("the server got %s", got)
	}
	if want := `{"z":2512292042121000001,"a":1.50}`; string(r.StructuredContent) != want || r.Content[0].Text != want {
		t.Errorf("structured content %s, text %q, want %s", r.StructuredContent, r.Content[0].Text, want)
	}
}

// FAULTS 47: a list that changes is listed again when the caller says so.
func TestFault47ServerChangesItsTools(t *testing.T) {
	var own *sdk.Server
	url := server(t, func(s *sdk.Server) {
		own = s
		addTool(s, "old", `{"type":"object"}`, func(json.RawMessage) *sdk.CallToolResult { return &sdk.CallToolResult{} })
	})
	s := connect(t, Config{Name: "own", URL: url}, tool.Options{Dir: t.TempDir()})
	if s.Changed() {
		t.Error("changed before it was")
	}
	old := findTool(t, s.Tools(), "mcp__own__old")
	addTool(own, "new", `{"type":"object"}`, func(json.RawMessage) *sdk.CallToolResult { return &sdk.CallToolResult{} })
	own.RemoveTools("old")
	tooltest.Until(t, "the change is announced", s.Changed)
	if n := len(s.Tools()); n != 1 || s.Tools()[0].Name != old.Name {
		t.Errorf("the list changed without being asked for: %d tools", n)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	findTool(t, s.Tools(), "mcp__own__new")
	if len(s.Tools()) != 1 {
		t.Errorf("%d tools", len(s.Tools()))
	}
	if _, err := old.Run(t.Context(), transcript.Call{Arguments: json.RawMessage(`{}`)}, nil); err == nil {
		t.Error("a call of a tool that is gone succeeded")
	}
}

// FAULTS 48, within one server: names that become one are refused.
func TestFault48ServerToolsOfOneName(t *testing.T) {
	url := server(t, func(s *sdk.Server) {
		for _, name := range []string{"a.b", "a_b"} {
			addTool(s, name, `{"type":"object"}`, func(json.RawMessage) *sdk.CallToolResult { return &sdk.CallToolResult{} })
		}
	})
	if _, err := Connect(t.Context(), Config{Name: "own", URL: url}, tool.Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "mcp__own__a_b") {
		t.Errorf("got %v", err)
	}
}

func TestServerContent(t *testing.T) {
	url := server(t, func(s *sdk.Server) {
		addTool(s, "all", `{"type":"object"}`, func(json.RawMessage) *sdk.CallToolResult {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{
				&sdk.TextContent{Text: strings.Repeat("ä", 600)},
				&sdk.ImageContent{MIMEType: "image/png", Data: tooltest.JPEG},
				&sdk.ImageContent{MIMEType: "image/tiff", Data: []byte("II*")},
				&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF")},
				&sdk.ResourceLink{Name: "n", URI: "file:///n"},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///t", Text: "text"}},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", MIMEType: "image/gif", Blob: []byte("GIF89a")}},
			}}
		})
	})
	s := connect(t, Config{Name: "own", URL: url}, tool.Options{Dir: t.TempDir(), MaxOutput: 1000})
	r := tooltest.Run(t, s.Tools()[0], map[string]any{})
	if !r.IsError {
		t.Error("no error")
	}
	var got []string
	for _, b := range r.Content {
		got = append(got, b.Type+" "+b.MimeType+b.Text)
	}
	want := []string{
		"text " + strings.Repeat("ä", 250) + "\n[... 200 bytes left out ...]\n" + strings.Repeat("ä", 250),
		"image image/jpeg",
		"text \n[... 62 bytes left out ...]\n",
		"text \n[... 61 bytes left out ...]\n",
		"text \n[... 12 bytes left out ...]\n",
		"text \n[... 15 bytes left out ...]\n",
		"image image/gif",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestServerHeaders(t *testing.T) {
	var seen []string
	own := server(t, func(s *sdk.Server) { addTool(s, "x", `{"type":"object"}`, nil) })
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another host got %v", r.Header)
	}))
	t.Cleanup(other.Close)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		http.Redirect(w, r, own, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(front.Close)
	o := tool.Options{Dir: t.TempDir(), Environ: func() []string { return []string{"TOKEN=Bearer abc"} }}
	_, err := Connect(t.Context(), Config{Name: "own", URL: front.URL + "/elsewhere", HeadersEnv: map[string]string{"authorization": "TOKEN"}}, o)
	if err == nil || !strings.Contains(err.Error(), "redirected") {
		t.Errorf("got %v", err)
	}
	if len(seen) == 0 || seen[0] != "Bearer abc" {
		t.Errorf("headers: %q", seen)
	}
	if err != nil && strings.Contains(err.Error(), "abc") {
		t.Errorf("the error has the secret: %v", err)
	}
	_, err = Connect(t.Context(), Config{Name: "own", URL: own, HeadersEnv: map[string]string{"X-Key": "NO_SUCH"}}, o)
	if err == nil || !strings.Contains(err.Error(), "NO_SUCH") {
		t.Errorf("got %v", err)
	}
}

// A server that is down is named with what it said.
func TestServersThatFail(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	o := tool.Options{Dir: dir}
	broken := Config{Name: "broken", Command: []string{sh, "-c", "echo cannot open database >&2; exit 3"}}
	silent := Config{Name: "silent", Command: []string{sh, "-c", "echo banner; sleep 1000"}, StartTimeout: 100 * time.Millisecond}
	absent := Config{Name: "absent", Command: []string{filepath.Join(dir, "none")}}
	for want, c := range map[string]Config{
		"stderr: cannot open database": broken,
		"no answer within 100ms":       silent,
		"no such file":                 absent,
		"either a command or a url":    {Name: "nothing"},
	} {
		if _, err := Connect(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.Name) {
			t.Errorf("%s: %v, want %q", c.Name, err, want)
		}
	}
}

// Nothing of a server outlives Close, not even what left its process group.
func TestServerEndsWithItsFamily(t *testing.T) {
	program := npmProgram(t, "mcp-server-everything")
	dir := t.TempDir()
	command := "echo banner; echo $$ >" + dir + "/pid; setsid sh -c 'echo $$ >" + dir + "/stray; exec sleep 1000' & exec " + program + " stdio"
	s, err := Connect(t.Context(), Config{Name: "all", Command: []string{"sh", "-c", command}}, tool.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	stray := tooltest.ReadPID(t, filepath.Join(dir, "stray"))
	pid := tooltest.ReadPID(t, filepath.Join(dir, "pid"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range []int{pid, stray} {
		if tooltest.Running(p) {
			t.Errorf("process %d is still there", p)
		}
	}
	if _, err := s.Tools()[0].Run(t.Context(), transcript.Call{Arguments: json.RawMessage(`{}`)}, nil); err == nil {
		t.Error("a call after Close succeeded")
	}
}

// A server that is deaf to everything and has no children is ended, too.
func TestServerIsDeaf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to be deaf to")
	}
	file := filepath.Join(t.TempDir(), "pid")
	if os.Getenv("TURNLOG_TEST_DEAF") != "" {
		signal.Ignore(syscall.SIGTERM)
		if err := os.WriteFile(os.Getenv("TURNLOG_TEST_DEAF"), fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	c := Config{
		Name: "deaf", Command: []string{"env", "TURNLOG_TEST_DEAF=" + file, os.Args[0], "-test.run=^TestServerIsDeaf$"},
		StartTimeout: time.Second,
	}
	if _, err := Connect(t.Context(), c, tool.Options{}); err == nil || !strings.Contains(err.Error(), "no answer within 1s") {
		t.Errorf("got %v", err)
	}
	if pid := tooltest.ReadPID(t, file); tooltest.Running(pid) {
		t.Errorf("process %d is still there", pid)
	}
}

// A server that dies in a call makes an error of it, with what it said.
func TestServerDiesInACall(t *testing.T) {
	program := npmProgram(t, "mcp-server-everything")
	s := connect(t, Config{Name: "all", Command: []string{program, "stdio"}}, tool.Options{Dir: t.TempDir()})
	long := findTool(t, s.Tools(), "mcp__all__trigger-long-running-operation")
	_, err := long.Run(t.Context(), transcript.Call{Arguments: json.RawMessage(`{"duration":1000,"steps":10000}`)}, func(loop.Result) {
		s.program.Kill()
	})
	if err == nil || !strings.Contains(err.Error(), "MCP server all") {
		t.Errorf("got %v", err)
	}
}

// FAULTS 43: a server that does not answer makes an error of the call.
func TestFault43ServerHangs(t *testing.T) {
	release := make(chan struct{})
	url := server(t, func(s *sdk.Server) {
		addTool(s, "hang", `{"type":"object"}`, func(json.RawMessage) *sdk.CallToolResult {
			<-release
			return &sdk.CallToolResult{}
		})
	})
	s := connect(t, Config{Name: "own", URL: url}, tool.Options{Dir: t.TempDir(), Timeout: 50 * time.Millisecond})
	t.Cleanup(func() { close(release) })
	if _, err := tooltest.Try(t, s.Tools()[0], map[string]any{}); err == nil || !strings.Contains(err.Error(), "timed out after 50ms") {
		t.Errorf("got %v", err)
	}
}

// The messages of a stream are found wherever it is cut.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: message\ndata: {\"id\":1}\n\n: ping\ndata:a\r\ndata: b\r\n\r\ndata: rest"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, step int) {
		if step < 1 {
			return
		}
		var whole, parts []string
		a := events{emit: func(m []byte) { whole = append(whole, string(m)) }}
		b := events{emit: func(m []byte) { parts = append(parts, string(m)) }}
		a.add(stream)
		for part := range slices.Chunk(stream, step) {
			b.add(part)
		}
		if !slices.Equal(whole, parts) {
			t.Errorf("%q and %q", whole, parts)
		}
		r := newRecorder()
		r.sent(stream)
		r.received(stream)
	})
}

func TestDeclaredName(t *testing.T) {
	for name, want := range map[string]string{
		"read_file": "mcp__s__read_file",
		"a.b/c":     "mcp__s__a_b_c",
	} {
		if got := declaredName("s", name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	long := strings.Repeat("x", 80)
	a, b := declaredName("s", long+"a"), declaredName("s", long+"b")
	if len(a) != maxName || len(b) != maxName || a == b {
		t.Errorf("got %s and %s", a, b)
	}
}

// TestMain holds that no test leaves a goroutine: what a server had running has
// ended with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
