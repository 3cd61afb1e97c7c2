package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// piContext is what pi makes of one entry taken as leaf.
type piContext struct {
	Leaf               string     `json:"leaf"`
	Type               string     `json:"type"`
	Entries            [][]string `json:"entries"` // id, then the roles of its messages
	LLMRoles           []string   `json:"llmRoles"`
	Tools              []string   `json:"tools"`
	Sections           []string   `json:"sections"`
	SystemPromptLength int        `json:"systemPromptLength"`
	Model              *piModel   `json:"model"`
	ThinkingLevel      string     `json:"thinkingLevel"`
}

type piModel struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

// TestPiSessions compares, for real session files of pi, what every entry as
// leaf implies with pi's own answer, and the projected requests with what pi
// sent.
func TestPiSessions(t *testing.T) {
	dir := *sessionsDir
	if dir == "" {
		dir = shared(t, "pi-sessions")
	} else {
		dir = given(dir)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) == 0 {
		t.Fatalf("no sessions in %s", dir)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			tree := readTree(t, file)
			t.Run("contexts", func(t *testing.T) { compareContexts(t, tree, filepath.Join(dir, "contexts", name+".json")) })
			t.Run("requests", func(t *testing.T) { compareRequests(t, dir, strings.TrimSuffix(name, ".session"), tree) })
		})
	}
	t.Run("legacy", func(t *testing.T) { compareLegacy(t, filepath.Join(dir, "legacy")) })
}

func compareContexts(t *testing.T, tree *replay.Tree, golden string) {
	if _, err := os.Stat(golden); err != nil {
		t.Skipf("no contexts were recorded: %v", err)
	}
	var want []piContext
	readJSON(t, golden, &want)
	if len(want) != len(tree.Entries) {
		t.Errorf("%d entries, pi has %d", len(tree.Entries), len(want))
	}
	shortenPrompts(t, want, tree)
	for _, w := range want {
		s, _, err := tree.At(replay.Cut{}, w.Leaf)
		if err != nil {
			t.Errorf("leaf %s: %v", w.Leaf, err)
			continue
		}
		if diff := cmp.Diff(w, contextOf(s, w.Type)); diff != "" {
			t.Errorf("leaf %s (-pi +turnlog):\n%s", w.Leaf, diff)
		}
	}
	i := 0
	for at, s := range tree.All() {
		if diff := cmp.Diff(want[i], contextOf(s, tree.Entries[at].Type)); diff != "" {
			t.Errorf("entry %d in file order (-pi +turnlog):\n%s", at, diff)
		}
		i++
	}
}

// shortenPrompts takes from the recorded prompt lengths what the recorded
// files lost: their paths were made shorter after pi had answered. pi 1.6.0
// itself, given the shipped tool-changes.jsonl, now says 1434 where its
// recorded answer is 1553 (`node scripts/oracle/open.mjs` shows it). The
// paths stand once in each prompt of a file, so the loss is the same for
// every entry; anything else is a difference.
func shortenPrompts(t *testing.T, want []piContext, tree *replay.Tree) {
	for _, w := range want {
		if w.SystemPromptLength == 0 {
			continue
		}
		s, _, err := tree.At(replay.Cut{}, w.Leaf)
		if err != nil {
			t.Fatalf("leaf %s: %v", w.Leaf, err)
		}
		lost := w.SystemPromptLength - contextOf(s, w.Type).SystemPromptLength
		if lost < 0 {
			t.Errorf("leaf %s: the prompt has %d characters more than pi's", w.Leaf, -lost)
			return
		}
		if lost > 0 {
			t.Logf("recorded prompts have %d characters more than the files", lost)
		}
		for i := range want {
			if want[i].SystemPromptLength > 0 {
				want[i].SystemPromptLength -= lost
			}
		}
		return
	}
}

func contextOf(s *replay.State, entryType string) piContext {
	c := piContext{
		Leaf: s.Leaf(), Type: entryType, Entries: [][]string{}, LLMRoles: []string{}, Tools: []string{}, Sections: []string{},
		SystemPromptLength: len(utf16.Encode([]rune(s.SystemPrompt()))), ThinkingLevel: s.Thinking(),
	}
	for _, item := range s.Context() {
		if n := len(c.Entries); n > 0 && c.Entries[n-1][0] == item.Entry {
			c.Entries[n-1] = append(c.Entries[n-1], string(item.Message.Role))
			continue
		}
		c.Entries = append(c.Entries, []string{item.Entry, string(item.Message.Role)})
	}
	for _, m := range s.Request().Messages {
		c.LLMRoles = append(c.LLMRoles, string(m.Role))
	}
	for _, d := range s.Tools() {
		c.Tools = append(c.Tools, d.Name)
	}
	for _, sec := range s.Sections() {
		c.Sections = append(c.Sections, sec.Name)
	}
	if m := s.Model(); m != (replay.ModelRef{}) {
		c.Model = &piModel{m.Provider, m.ID}
	}
	return c
}

// sent is what a request carries, as far as it is compared.
type sent struct {
	Role  string
	Text  string
	Calls []string
	Call  string
	Tools []string
}

type wireRequest struct {
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCalls  []wireCall      `json:"tool_calls"`
		ToolCallID string          `json:"tool_call_id"`
		Tools      []wireTool      `json:"tools"`
	} `json:"messages"`
	Tools []wireTool `json:"tools"`
}

type wireCall struct {
	ID       string `json:"id"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

type wireTool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// compareRequests finds each recorded request at the parent of one answer of
// the file, in order. Answers that were aborted before a request went out are
// passed over, and so are requests under another prompt: pi's own calls for
// summaries. A request that a fork of the file answers is looked for there.
func compareRequests(t *testing.T, dir, name string, tree *replay.Tree) {
	b, err := os.ReadFile(filepath.Join(dir, "requests", name+".jsonl"))
	if err != nil {
		t.Skipf("no requests were recorded: %v", err)
	}
	trees := []*replay.Tree{tree}
	forks, _ := filepath.Glob(filepath.Join(dir, name+"-[0-9].jsonl"))
	for _, f := range forks {
		trees = append(trees, readTree(t, f))
	}
	all := answers(trees)
	answered, found, others := all, 0, 0
	for n, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var r wireRequest
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("request %d: %v", n+1, err)
		}
		want := sentByPi(r)
		at, near := matching(want, r, answered)
		if near == nil {
			_, near = matching(want, r, all)
		}
		switch {
		case at >= 0:
			answered = answered[at+1:]
			found++
		case near != nil:
			t.Errorf("request %d (-pi +turnlog):\n%s", n+1, cmp.Diff(want, near))
		default:
			others++
		}
	}
	t.Logf("%d requests are those of an answer, %d have a prompt that no answer's path has", found, others)
	if found == 0 {
		t.Error("no request was found in the file")
	}
}

// answers gives the state before each answer, in file order; in forks, only
// those that the first tree does not have.
func answers(trees []*replay.Tree) []*replay.State {
	var states []*replay.State
	for n, tree := range trees {
		for i := range tree.Entries {
			e := &tree.Entries[i]
			if e.Message == nil || e.Message.Role != transcript.Assistant {
				continue
			}
			if _, known := trees[0].Find(e.ID); known && n > 0 {
				continue
			}
			states = append(states, tree.State(tree.Parent(i)))
		}
	}
	return states
}

func matching(want []sent, r wireRequest, states []*replay.State) (at int, near []sent) {
	mode := replay.ModeNone
	for _, m := range r.Messages[1:] {
		if m.Role == "system" {
			mode = replay.ModeAdditions
		}
	}
	for i, s := range states {
		got := sentByUs(s, mode)
		if cmp.Equal(want, carried(got, want)) {
			return i, nil
		}
		if near == nil && got[0].Text == want[0].Text {
			near = got
		}
	}
	return -1, near
}

// carried gives got the texts of want where want's text carries got's: pi and
// we wrap summaries and records of commands in words of our own.
func carried(got, want []sent) []sent {
	if len(got) != len(want) {
		return got
	}
	got = slices.Clone(got)
	for i := range got {
		if body, wrapped := unwrap(got[i].Text); wrapped && strings.Contains(want[i].Text, body) {
			got[i].Text = want[i].Text
		}
	}
	return got
}

func unwrap(text string) (string, bool) {
	if _, rest, ok := strings.Cut(text, "<summary>\n"); ok {
		return strings.TrimSuffix(rest, "\n</summary>"), true
	}
	if rest, ok := strings.CutPrefix(text, "The user ran `"); ok {
		command, _, _ := strings.Cut(rest, "`")
		return command, true
	}
	return "", false
}

func sentByPi(r wireRequest) []sent {
	var out []sent
	for _, m := range r.Messages {
		s := sent{Role: m.Role, Text: contentText(m.Content), Call: m.ToolCallID}
		for _, c := range m.ToolCalls {
			s.Calls = append(s.Calls, c.ID+" "+c.Function.Name)
		}
		for _, tool := range m.Tools {
			s.Tools = append(s.Tools, tool.Function.Name)
		}
		// pi puts the tools and the text of one system message into two.
		if n := len(out); n > 1 && m.Role == "system" && out[n-1].Role == "system" && out[n-1].Text == "" {
			s.Tools = append(out[n-1].Tools, s.Tools...)
			out = out[:n-1]
		}
		out = append(out, s)
	}
	for _, tool := range r.Tools {
		out[0].Tools = append(out[0].Tools, tool.Function.Name)
	}
	return out
}

func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

func sentByUs(s *replay.State, mode replay.Mode) []sent {
	r := s.Request().Project(mode)
	head := sent{Role: "system", Text: r.System}
	for _, tool := range r.Tools {
		head.Tools = append(head.Tools, tool.Name)
	}
	out := []sent{head}
	for i := range r.Messages {
		m := &r.Messages[i]
		one := sent{Role: string(m.Role), Call: m.ToolCallID}
		for _, b := range m.Content {
			one.Text += b.Text
		}
		switch m.Role {
		case transcript.ToolResult:
			one.Role = "tool"
		case transcript.System:
			one.Text = replay.UpdateText(m)
		case transcript.Assistant:
			one.Text = m.Text()
		}
		for _, c := range m.Calls() {
			one.Calls = append(one.Calls, c.ID+" "+c.Name)
		}
		for _, tool := range m.ToolsAdded {
			one.Tools = append(one.Tools, tool.Name)
		}
		out = append(out, one)
	}
	return out
}

// legacyReport is what pi made of an old or damaged file.
type legacyReport struct {
	Error         string   `json:"error"`
	Note          string   `json:"note"`
	Entries       int      `json:"entries"`
	Leaf          string   `json:"leaf"`
	Roots         int      `json:"roots"`
	Roles         []string `json:"roles"`
	Model         *piModel `json:"model"`
	ThinkingLevel string   `json:"thinkingLevel"`
}

func compareLegacy(t *testing.T, dir string) {
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no legacy files: %v", err)
	}
	var report map[string]legacyReport
	readJSON(t, filepath.Join(dir, "report.json"), &report)
	for name, want := range report {
		t.Run(name, func(t *testing.T) {
			before := readTree(t, filepath.Join(dir, name+".before.jsonl"))
			before.State(len(before.Entries) - 1) // must end, whatever the file
			if want.Error != "" || want.Note != "" {
				t.Skipf("pi has no answer: %s%s", want.Error, want.Note)
			}
			// The report was made on the opened file, before pi appended to it.
			s := before.State(len(before.Entries) - 1)
			got := legacyReport{Roles: []string{}, ThinkingLevel: s.Thinking(), Model: &piModel{s.Model().Provider, s.Model().ID}}
			for _, item := range s.Context() {
				got.Roles = append(got.Roles, string(item.Message.Role))
			}
			want.Entries, want.Roots, want.Leaf = 0, 0, ""
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-pi +turnlog):\n%s", diff)
			}
		})
	}
}

func readTree(t testing.TB, file string) *replay.Tree {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := replay.Read(transcript.Lines(f, transcript.Options{}))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return tree
}
