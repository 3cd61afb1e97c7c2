package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// opened is what pi makes of a session file.
type opened struct {
	Entries       int              `json:"entries"`
	Leaf          string           `json:"leaf"`
	Messages      [][]string       `json:"messages"` // entry id, then the roles of its messages
	ModelRoles    []string         `json:"modelRoles"`
	Tools         []string         `json:"tools"`
	Prompt        string           `json:"prompt"`
	Model         *replay.ModelRef `json:"model"`
	ThinkingLevel string           `json:"thinkingLevel"`
}

// TestPiOpensOurTranscripts has the real pi open what `turnlog run` wrote: it
// must see the messages and tools that we see, be able to go on, and leave a
// file that we read again.
func TestPiOpensOurTranscripts(t *testing.T) {
	node, err := filepath.Abs(filepath.Join("..", ".cache", "npm", "node_modules", ".bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(node); err != nil {
		t.Skip("pi and Node 22 are not in .cache/npm (scripts/npm.sh installs them): pi does not open our files")
	}
	out := filepath.Join(t.TempDir(), "runs")
	runTurnlog(t, "run", "--out", out, filepath.Join("..", "fixtures", "tasks", "hello.yaml"))
	runTurnlog(t, "run", "--out", filepath.Join(out, "more"), filepath.Join("..", "fixtures", "tasks", "tools.yaml"))
	for _, file := range []string{filepath.Join(out, "hello.jsonl"), filepath.Join(out, "more", "tools.jsonl")} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), node, "scripts/oracle/open.mjs", "--append", ".cache/npm/node_modules", file)
			c.Dir = ".."
			answer, err := c.Output()
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			var want opened
			if err := json.Unmarshal(answer, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, openedByUs(t, before)); diff != "" {
				t.Errorf("leaf (-pi +turnlog):\n%s", diff)
			}
			after, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(after, before) {
				t.Error("pi did not only append")
			}
			again := openedByUs(t, after)
			if again.Entries != want.Entries+1 || len(again.Messages) != len(want.Messages)+1 {
				t.Errorf("after pi went on: %d entries and %d messages, before %d and %d", again.Entries, len(again.Messages), want.Entries, len(want.Messages))
			}
			runTurnlog(t, "verify", file)
		})
	}
}

func openedByUs(t *testing.T, file []byte) opened {
	t.Helper()
	tree, err := replay.Read(transcript.Lines(bytes.NewReader(file), transcript.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := tree.At(replay.Cut{}, "")
	if err != nil {
		t.Fatal(err)
	}
	model := s.Model()
	o := opened{Entries: len(tree.Entries), Leaf: s.Leaf(), Tools: []string{}, Prompt: s.SystemPrompt(), Model: &model, ThinkingLevel: s.Thinking()}
	for _, item := range s.Context() {
		if n := len(o.Messages); n > 0 && o.Messages[n-1][0] == item.Entry {
			o.Messages[n-1] = append(o.Messages[n-1], string(item.Message.Role))
			continue
		}
		o.Messages = append(o.Messages, []string{item.Entry, string(item.Message.Role)})
	}
	for _, m := range s.Request().Messages {
		o.ModelRoles = append(o.ModelRoles, string(m.Role))
	}
	for _, d := range s.Tools() {
		o.Tools = append(o.Tools, d.Name)
	}
	return o
}
