package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/builtin"
	"github.com/turnlog/turnlog/replay/transcript"
)

// size is a tool by the recipe of the README: a function in a file of its own,
// and a line in the table.
func size(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool: transcript.Tool{
			Name: "size", Description: "Tell the size of a file.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
		},
		Effects:   loop.Read,
		Arguments: tool.Paths("path"),
		Run: func(_ context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			var args struct{ Path string }
			if err := json.Unmarshal(call.Arguments, &args); err != nil {
				return loop.Result{}, err
			}
			if !filepath.IsAbs(args.Path) {
				args.Path = filepath.Join(o.Dir, args.Path)
			}
			info, err := os.Stat(args.Path)
			if err != nil {
				return loop.Result{}, err
			}
			return tool.Text(fmt.Sprintf("ran: %d bytes", info.Size()), nil), nil
		},
	}
}

// house is a folder with a secret and ways to it.
func house(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secrets/deep/a", "src/a"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"src/link": "../secrets", "src/deep": "../secrets/deep", "src/file": "../secrets/deep/a", "src/new": filepath.Join(dir, "secrets", "new"), "src/twice": "link/deep",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no links:", err)
		}
	}
	return dir
}

// toSecrets are spellings of files below secrets, with how they get there.
func toSecrets(dir string) map[string]string {
	return map[string]string{
		"as written":           "secrets/deep/a",
		"dot":                  "./secrets/deep/a",
		"detour":               "src/../secrets/deep/a",
		"detour over nothing":  "none/../secrets/deep/a",
		"slashes":              "secrets//deep///a",
		"absolute":             filepath.Join(dir, "secrets/deep/a"),
		"absolute detour":      dir + "/src/../secrets/deep/a",
		"out and in again":     "../" + filepath.Base(dir) + "/secrets/deep/a",
		"link to a folder":     "src/link/deep/a",
		"link to a file":       "src/file",
		"links in a row":       "src/twice/a",
		"link to what is not":  "src/new",
		"new below a link":     "src/link/none/yet",
		"absolute link":        filepath.Join(dir, "src/link/deep/a"),
		"detour behind a link": "src/link/../src/link/deep/a",
		"up behind a link":     "src/deep/../b",
	}
}

// answers plays calls with a table of built-in tools and says what became of
// each, by its id.
func answers(t *testing.T, dir string, table builtin.Table, tools, permissions any, calls []map[string]any) map[string]string {
	t.Helper()
	doc, err := json.Marshal(map[string]any{
		"version": 1, "prompt": "go", "workdir": dir, "tools": tools, "permissions": permissions,
		"model": map[string]any{"provider": "scripted", "responses": []any{map[string]any{"calls": calls}, map[string]any{"text": "done"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := task.Parse(filepath.Join(t.TempDir(), "p.yaml"), doc, task.Options{Builtins: table})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, _, err := play(t, t.Context(), Options{Files: []*task.File{file}, Out: out, Builtins: table}); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, e := range entries(t, filepath.Join(out, "p.jsonl")) {
		if e.Message != nil && e.Message.Role == transcript.ToolResult {
			said[e.Message.ToolCallID] = e.Message.Content[0].Text
		}
	}
	return said
}

// Rules for paths hold for whatever tool says that it takes one: a new one in
// the table, a program, and one of a server.
func TestPathRulesHoldForEveryTool(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is echo")
	}
	dir := house(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "open_all", InputSchema: json.RawMessage(`{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}}}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ran"}}}, nil
		})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	for _, kind := range []struct {
		tool  any
		name  string
		arg   string
		value func(path string) map[string]any
	}{
		{"size", "size", "path", func(path string) map[string]any { return map[string]any{"path": path} }},
		{
			map[string]any{
				"name": "copy", "description": "d", "run": []string{"echo", "ran", "{src}", "{dest}"}, "paths": []string{"src", "dest"},
				"parameters": map[string]any{"type": "object", "properties": map[string]any{"src": map[string]any{}, "dest": map[string]any{}}},
			}, "copy", "dest", func(path string) map[string]any { return map[string]any{"src": "src/a", "dest": path} },
		},
		{
			map[string]any{"mcp": "files", "url": h.URL, "paths": map[string]any{"open_*": []string{"paths"}}},
			"mcp__files__open_all", "paths", func(path string) map[string]any { return map[string]any{"paths": []string{"src/a", path}} },
		},
	} {
		rule := func(pattern string) any { return map[string]any{kind.name: map[string]any{kind.arg: pattern}} }
		for policy, permissions := range map[string]any{
			"deny below":    map[string]any{"deny": []any{rule("secrets/*")}},
			"deny absolute": map[string]any{"deny": []any{rule(dir + "/secrets/*")}},
			"allow others":  map[string]any{"default": "deny", "allow": []any{rule("src/*")}},
		} {
			t.Run(kind.name+" "+policy, func(t *testing.T) {
				calls := []map[string]any{
					{"id": "free", "name": kind.name, "arguments": kind.value("src/a")},
					{"id": "free_detour", "name": kind.name, "arguments": kind.value("src/./../src/a")},
					{"id": "free_absolute", "name": kind.name, "arguments": kind.value(filepath.Join(dir, "src/a"))},
				}
				spellings := toSecrets(dir)
				for way, path := range spellings {
					calls = append(calls, map[string]any{"id": strings.ReplaceAll(way, " ", "_"), "name": kind.name, "arguments": kind.value(path)})
				}
				said := answers(t, dir, append(builtin.All(), size), []any{kind.tool}, permissions, calls)
				for _, id := range []string{"free", "free_detour", "free_absolute"} {
					if !strings.HasPrefix(said[id], "ran") {
						t.Errorf("%s: %q", id, said[id])
					}
				}
				for way, path := range spellings {
					if id := strings.ReplaceAll(way, " ", "_"); !strings.HasPrefix(said[id], "Permission denied") {
						t.Errorf("%s: %s: %q", way, path, said[id])
					}
				}
			})
		}
	}
}
