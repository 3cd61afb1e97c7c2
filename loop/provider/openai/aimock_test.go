package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/request"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// aimock starts the mock endpoint of @copilotkit/aimock, which others wrote to
// imitate OpenAI, and gives its base URL.
func aimock(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../.cache/npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, ".bin", "llmock")
	if _, err := os.Stat(program); err != nil {
		t.Skip("no aimock: run scripts/npm.sh")
	}
	node, _ := filepath.Glob(filepath.Join(dir, "node-*", "bin", "node"))
	if own, err := exec.LookPath("node"); err == nil {
		node = append(node, own)
	}
	if len(node) == 0 {
		t.Skip("no aimock: node is missing")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback:", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()

	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, node[0], program, "-p", fmt.Sprint(port), "-f", "testdata/aimock.json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Skip("no aimock:", err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), fmt.Sprint("127.0.0.1:", port)) {
			go func() { // the rest must be read, or the server blocks
				for lines.Scan() {
				}
			}()
			return fmt.Sprintf("http://127.0.0.1:%d", port)
		}
	}
	t.Fatalf("aimock did not start: %s", said.String())
	return ""
}

func TestAimock(t *testing.T) {
	base := aimock(t)
	transport := wire.NewTransport(wire.Timeouts{})
	defer transport.CloseIdleConnections()
	ask := func(t *testing.T, text string) result {
		m, delays := (&endpoint{}).model(t, func(c *Config) {
			c.BaseURL, c.Transport = base+"/v1", transport
			c.APIKey = func(context.Context) (string, error) { return "sk-test-0123456789", nil }
		})
		q := prompt(text)
		q.Params = json.RawMessage(`{"temperature":0}`)
		r := collect(m, t.Context(), q)
		r.delays = *delays
		return r
	}
	t.Run("calls and results", func(t *testing.T) {
		m, _ := (&endpoint{}).model(t, func(c *Config) { c.BaseURL, c.Transport = base+"/v1", transport })
		q := prompt("two files")
		r := collect(m, t.Context(), q)
		got := calls(&r.message)
		if len(got) != 2 || got[0].Arguments != `{"p":"notes.txt","n":3}` || got[1].Arguments != `{"p":"plan.txt"}` || r.message.StopReason != transcript.StopToolUse {
			t.Fatalf("calls %+v, %s %s", got, r.message.StopReason, r.message.ErrorMessage)
		}
		q.Messages = append(q.Messages, r.message,
			transcript.Message{Role: transcript.ToolResult, ToolCallID: got[0].ID, Content: []transcript.Block{transcript.TextBlock("a")}},
			transcript.Message{Role: transcript.ToolResult, ToolCallID: got[1].ID})
		want := sent(t, m, q)
		r = collect(m, t.Context(), q)
		r.wantStop(t, transcript.StopEnd, "Both files agree, é漢😀.")
		if u := r.message.Usage; u.Input != 70 || u.Output != 9 {
			t.Errorf("usage %+v", *u)
		}
		if diff := cmp.Diff(decoded(t, []byte(want)), lastInJournal(t, base)); diff != "" {
			t.Errorf("the server's journal (-sent +received):\n%s", diff)
		}
	})
	t.Run("429 and 500", func(t *testing.T) {
		r := ask(t, "busy")
		r.wantStop(t, transcript.StopEnd, "At last.")
		if len(r.delays) != 2 {
			t.Errorf("slept %v", r.delays)
		}
	})
	t.Run("cut stream", func(t *testing.T) {
		r := ask(t, "cut me")
		r.wantStop(t, transcript.StopEnd, "Whole.")
		if len(r.retries) != 1 || r.count(loop.Start) != 2 {
			t.Errorf("%d retries, %d starts", len(r.retries), r.count(loop.Start))
		}
	})
	t.Run("reasoning", func(t *testing.T) {
		r := ask(t, "think")
		r.wantStop(t, transcript.StopEnd, "Four.")
		if b := r.message.Content[0]; b.Type != transcript.BlockThinking || b.Text != "Let me see." {
			t.Errorf("first block %+v", b)
		}
	})
	t.Run("length with a call", func(t *testing.T) {
		r := ask(t, "too long")
		if r.message.StopReason != transcript.StopLength || len(r.message.Calls()) != 1 {
			t.Errorf("%s, %d calls", r.message.StopReason, len(r.message.Calls()))
		}
	})
	t.Run("client error", func(t *testing.T) {
		r := ask(t, "forbidden")
		r.wantFailed(t, "no such model")
	})
	t.Run("nothing matches", func(t *testing.T) {
		r := ask(t, "something else")
		r.wantFailed(t, "HTTP 404")
	})
}

func decoded(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lastInJournal gives the body of the last request as the server read it.
func lastInJournal(t *testing.T, base string) any {
	t.Helper()
	resp, err := http.Get(base + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var entries []struct{ Body map[string]any }
	if err := json.NewDecoder(resp.Body).Decode(&entries); err != nil || len(entries) == 0 {
		t.Fatalf("journal: %v, %d entries", err, len(entries))
	}
	body := entries[len(entries)-1].Body
	delete(body, "_endpointType") // the journal's own note
	return body
}

// sent gives the body of a request that m would send now.
func sent(t *testing.T, m *Model, q replay.Request) string {
	t.Helper()
	r, err := request.New(q, m.defaults, new(request.History))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
