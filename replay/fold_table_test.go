package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

type foldCase struct {
	Name     string
	Messages []transcript.Message
}

type nameAndDescription struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type split struct {
	RequestTools         []nameAndDescription `json:"requestTools"`
	FoldedSystemMessages int                  `json:"foldedSystemMessages"`
}

type foldAnswer struct {
	Name                 string               `json:"name"`
	CurrentTools         []nameAndDescription `json:"currentTools"`
	DeclaredTools        []string             `json:"declaredTools"`
	CurrentSystemMessage any                  `json:"currentSystemMessage"`
	CurrentSystemPrompt  string               `json:"currentSystemPrompt"`
	Collapsed            []any                `json:"collapsed"`
	None                 split                `json:"none"`
	Additions            split                `json:"additions"`
	Changes              split                `json:"changes"`
	NonAdditive          bool                 `json:"nonAdditive"`
	Redefinitions        bool                 `json:"redefinitions"`
	Updates              []string             `json:"updates"`
	Prefixes             [][]string           `json:"prefixes"`
}

// TestFoldTable compares the fold with pi's for every case of a table and, in
// each case, for every prefix of its messages.
func TestFoldTable(t *testing.T) {
	dir := *tableDir
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "oracle", "tables")
		if _, err := os.Stat(dir); err != nil {
			t.Logf("%s is not here: the project's own table runs", dir)
			dir = filepath.Join("testdata", "table")
		}
	} else {
		dir = given(dir)
	}
	var cases []foldCase
	var answers []foldAnswer
	readJSON(t, filepath.Join(dir, "fold.json"), &cases)
	readJSON(t, filepath.Join(dir, "fold.expected.json"), &answers)
	if len(cases) == 0 || len(cases) != len(answers) {
		t.Fatalf("%d cases, %d answers", len(cases), len(answers))
	}
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if answers[i].Name != c.Name {
				t.Fatalf("the answer is that of %s", answers[i].Name)
			}
			if diff := cmp.Diff(answers[i], foldAnswerOf(t, c)); diff != "" {
				t.Errorf("fold (-pi +turnlog):\n%s", diff)
			}
		})
	}
}

func foldAnswerOf(t *testing.T, c foldCase) foldAnswer {
	t.Helper()
	a := foldAnswer{
		Name: c.Name, CurrentTools: []nameAndDescription{}, DeclaredTools: []string{}, Collapsed: []any{},
		Updates: []string{}, Prefixes: [][]string{},
	}
	var s replay.State
	for i := range c.Messages {
		s.Append(c.Messages[i])
		names := []string{}
		for _, d := range s.Tools() {
			names = append(names, d.Name)
		}
		a.Prefixes = append(a.Prefixes, names)
		if c.Messages[i].Role == transcript.System {
			a.Updates = append(a.Updates, replay.UpdateText(&c.Messages[i]))
		}
	}
	a.CurrentTools = listed(s.ToolSet().Tools())
	a.CurrentSystemPrompt = s.SystemPrompt()
	if m := replay.SystemMessage(c.Messages); m != nil {
		a.CurrentSystemMessage = decoded(t, m)
	}
	for _, m := range replay.Collapse(c.Messages) {
		a.Collapsed = append(a.Collapsed, decoded(t, &m))
	}
	history := replay.Declarations(c.Messages)
	a.DeclaredTools, a.NonAdditive, a.Redefinitions = history.Names(), history.NonAdditive, history.Redefined
	if a.DeclaredTools == nil {
		a.DeclaredTools = []string{}
	}
	a.None = splitOf(&s, c.Messages, replay.ModeNone)
	a.Additions = splitOf(&s, c.Messages, replay.ModeAdditions)
	a.Changes = splitOf(&s, c.Messages, replay.ModeChanges)
	return a
}

func splitOf(s *replay.State, ms []transcript.Message, mode replay.Mode) split {
	r := s.Request().Project(mode)
	return split{RequestTools: listed(r.Tools), FoldedSystemMessages: replay.Folded(ms, mode)}
}

func listed(tools []transcript.Tool) []nameAndDescription {
	out := []nameAndDescription{}
	for _, t := range tools {
		out = append(out, nameAndDescription{t.Name, t.Description})
	}
	return out
}

func decoded(t *testing.T, m *transcript.Message) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(transcript.AppendMessage(nil, m), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
