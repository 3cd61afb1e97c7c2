package replay_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

// observeAll folds shared prefixes once.
func observeAll(file []byte) ([]sighting, error) {
	tree, err := replay.Read(transcript.Lines(bytes.NewReader(file), transcript.Options{}))
	if err != nil {
		return nil, err
	}
	var seen []sighting
	for i, s := range tree.All() {
		seen = append(seen, sighting{line: tree.Entries[i].Line, facts: factsAt(s)})
	}
	return seen, nil
}

// observeFacts folds without the messages.
func observeFacts(file []byte) ([]sighting, error) {
	tree, err := replay.Read(transcript.Lines(bytes.NewReader(file), transcript.Options{}))
	if err != nil {
		return nil, err
	}
	var seen []sighting
	for i := range tree.Entries {
		path := tree.Path(i)
		f := replay.NewFacts(func(id string) (int, bool) {
			at := slices.IndexFunc(path, func(at int) bool { return tree.Entries[at].ID == id })
			return at, at >= 0
		})
		for _, at := range path {
			f.Apply(&tree.Entries[at])
		}
		seen = append(seen, sighting{line: tree.Entries[i].Line, facts: factsOfPath(&f)})
	}
	return seen, nil
}

// lastStep remembers the line of the last entry of a path.
type lastStep struct{ line int }

func (l *lastStep) Clone() verify.Memory { return &lastStep{l.line} }

// observeVerify is a rule that writes down what rules see: the state before
// each entry, and at the end of each path. Where the file turns out to branch,
// rules see all of it a second time, on another path, and only that counts.
func observeVerify(file []byte) ([]sighting, error) {
	var seen []sighting
	var path *verify.Path
	see := func(p *verify.Pass, line int, before bool) {
		if p.Path != path {
			seen, path = nil, p.Path
		}
		seen = append(seen, sighting{
			line: line, before: before, partial: p.Path.ToolsPartial(),
			facts: factsOfPath(p.Path.Facts()),
		})
	}
	rule := verify.Rule{ID: "observer", Severity: verify.Note, New: func(verify.Values) verify.Checker {
		return verify.Checker{
			Memory: func() verify.Memory { return new(lastStep) },
			Step: func(p *verify.Pass, e *transcript.Entry) {
				see(p, e.Line, true)
				p.Memory().(*lastStep).line = e.Line
			},
			Leaf: func(p *verify.Pass) { see(p, p.Memory().(*lastStep).line, false) },
		}
	}}
	source := verify.Source{Name: "tree", Reader: bytes.NewReader(file), At: bytes.NewReader(file)}
	_, err := verify.Run(context.Background(), source, []verify.Rule{rule}, verify.Options{Format: "pi"})
	return seen, err
}

// pi is a Node process that answers for one file after the other.
type pi struct {
	in  io.Writer
	out *bufio.Reader
}

// startPi starts pi's own code if it is installed, else it returns nil.
func startPi(t *testing.T) *pi {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", ".cache", "npm", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(modules, ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Log("pi and Node 22 are not in .cache/npm (scripts/npm.sh installs them): pi is not compared")
		return nil
	}
	c := exec.CommandContext(t.Context(), node, filepath.Join("..", "scripts", "oracle", "states.mjs"), modules)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait() // its end is no result: each answer was checked
	})
	return &pi{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// piState is pi's answer for one entry.
type piState struct {
	Line     int             `json:"line"`
	None     string          `json:"none"`
	Tools    json.RawMessage `json:"tools"`
	Prompt   string          `json:"prompt"`
	Model    string          `json:"model"`
	Thinking string          `json:"thinking"`
	Messages [][2]string     `json:"messages"`
}

// observe asks pi for the state at every entry that it can take as leaf.
func (p *pi) observe(file []byte) ([]sighting, error) {
	if recovered(file) {
		return nil, nil
	}
	question, err := json.Marshal(string(file))
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(question, '\n')); err != nil {
		return nil, fmt.Errorf("ask pi: %w", err)
	}
	answer, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("read pi's answer: %w", err)
	}
	var states []piState
	if err := json.Unmarshal(answer, &states); err != nil {
		return nil, fmt.Errorf("read pi's answer: %w", err)
	}
	var seen []sighting
	for _, s := range states {
		switch s.None {
		case "":
			seen = append(seen, sighting{line: s.Line, facts: s.facts()})
		case "ring", "shadowed":
		default:
			return nil, fmt.Errorf("pi fails at line %d: %s", s.Line, s.None)
		}
	}
	return seen, nil
}

func (s *piState) facts() account {
	var messages []string
	for _, m := range s.Messages {
		messages = append(messages, messageFact(m[0], m[1]))
	}
	return account{
		"tools": string(s.Tools), "prompt": s.Prompt, "model": s.Model, "thinking": s.Thinking,
		"count": fmt.Sprint(len(messages)), "messages": strings.Join(messages, " "),
	}
}

// recovered reports whether we read entries of a file that pi skips: those of
// lines that a crash glued together.
func recovered(file []byte) bool {
	for l, err := range transcript.Lines(bytes.NewReader(file), transcript.Options{}) {
		if err != nil || l.Damage != transcript.Intact && len(l.Records) > 0 {
			return true
		}
	}
	return false
}
