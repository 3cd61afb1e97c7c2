package task

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Task is one task, resolved: nothing in it has to be looked up, expanded or
// defaulted any more. The file may make several of one. What is written into
// the digest has a json name, the rest has none.
type Task struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"-"`
	Labels      map[string]string `json:"-"`

	File   string `json:"-"` // the task file, as it was named
	Dir    string `json:"-"` // its folder; paths in the file are relative to it, see Path
	Cell   []Cell `json:"-"` // values of the matrix, in axis order
	Sample int    `json:"-"` // which of repeat, from 1; 0 without repeat

	Model       Model        `json:"model"`
	System      string       `json:"system,omitempty"`
	Workdir     string       `json:"workdir"` // as written; default "."
	Execution   Execution    `json:"tool_execution"`
	Tools       []Tool       `json:"tools,omitempty"`
	Prompts     []string     `json:"prompts"` // one run each
	Steering    Steering     `json:"steering"`
	FollowUps   []string     `json:"follow_ups,omitempty"`
	ToolChanges []ToolChange `json:"tool_changes,omitempty"`
	Finish      Finish       `json:"finish"`
	Assert      []Assertion  `json:"assert,omitempty"`
	Permissions Permissions  `json:"permissions"`
	Secrets     Secrets      `json:"secrets"`

	// Extra holds the x- keys of the file. Nothing reads them.
	Extra map[string]json.RawMessage `json:"-"`
}

// Cell is a task's value on one axis of the matrix.
type Cell struct{ Axis, Value string }

// Path is where a path of the file is: relative ones belong to its folder.
func (t *Task) Path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(t.Dir, p)
}

// Argv is a command of the file as it is to be started. A program that is
// named with a slash is where the file says, not where the tools work: what
// the agent writes must not take the place of what judges it. The other
// arguments are the program's own.
func (t *Task) Argv(run []string) []string {
	argv := slices.Clone(run)
	if len(argv) == 0 || !strings.ContainsRune(argv[0], '/') {
		return argv
	}
	argv[0] = t.Path(argv[0])
	// A relative path would be one of the folder that the program is started in.
	if abs, err := filepath.Abs(argv[0]); err == nil {
		argv[0] = abs
	}
	return argv
}

// draft is a task on its way, with what is only needed to finish it.
type draft struct {
	Task
	promptKeys int // how many of prompt and prompts there are
}

// taskTable has the keys of a task file that can differ between the tasks of a
// matrix. Those that make the matrix are in fileTable.
func taskTable() object[draft] {
	return object[draft]{
		name: "the task",
		keys: []key[draft]{
			to("description", text(), func(t *draft) *string { return &t.Description }, "What the task is for."),
			to("labels", mapOf(text()), func(t *draft) *map[string]string { return &t.Labels }, "Free text for reports."),
			{
				name: "models", doc: "Models by name.", schema: &schemaNode{Type: "object", AdditionalProperties: ref("model")},
				set: func(*decoder, *yaml.Node, *draft) {},
			}, // read by findModels, before model
			to("model", model(), func(t *draft) *Model { return &t.Model }, "The model, in place or by its name in models.").must(),
			to("system", system(), func(t *draft) *string { return &t.System }, "The system prompt."),
			to("workdir", filled(), func(t *draft) *string { return &t.Workdir }, "Folder that the tools work in, relative to this file; default: its folder."),
			to("tool_execution", executionTable().value(defaultExecution()), func(t *draft) *Execution { return &t.Execution }, "How tool calls run."),
			to("tools", list(tool()), func(t *draft) *[]Tool { return &t.Tools }, "What the model may call."),
			prompt(),
			prompts(),
			to("steering", steering(), func(t *draft) *Steering { return &t.Steering }, "What is said to the agent while it works."),
			to("follow_ups", list(filled()), func(t *draft) *[]string { return &t.FollowUps }, "What is said when the agent would stop otherwise."),
			to("tool_changes", list(toolChangeTable().value(ToolChange{})), func(t *draft) *[]ToolChange { return &t.ToolChanges }, "Tools that come and go during the run."),
			to("finish", finishTable().value(defaultFinish()), func(t *draft) *Finish { return &t.Finish }, "When the task is finished."),
			to("assert", list(assertion()), func(t *draft) *[]Assertion { return &t.Assert }, "What must hold when it is."),
			to("permissions", permissionsTable().value(defaultPermissions()), func(t *draft) *Permissions { return &t.Permissions }, "What tools may touch."),
			to("secrets", secretsTable().value(defaultSecrets()), func(t *draft) *Secrets { return &t.Secrets }, "What is masked in transcripts and events."),
		},
		check: func(d *decoder, n *yaml.Node, t *draft) {
			switch {
			case t.promptKeys == 0 && !misspelt(n, "prompt", d.tables.task.names()) && !misspelt(n, "prompts", d.tables.task.names()):
				d.at(n, "", "the task needs a prompt, or prompts")
			case t.promptKeys == 2:
				d.at(n, "", "prompt and prompts: one of them")
			}
		},
	}
}

func prompt() key[draft] {
	v := filled()
	return key[draft]{
		name: "prompt", schema: v.schema, doc: "The prompt; short for prompts with one item.",
		set: func(d *decoder, n *yaml.Node, t *draft) {
			t.promptKeys++
			if one, ok := v.decode(d, n); ok {
				t.Prompts = []string{one}
			}
		},
	}
}

func prompts() key[draft] {
	v := nonEmpty(list(filled()))
	return key[draft]{
		name: "prompts", schema: v.schema, doc: "The prompts, one run each: the next is sent when the agent has settled.",
		set: func(d *decoder, n *yaml.Node, t *draft) {
			t.promptKeys++
			if all, ok := v.decode(d, n); ok {
				t.Prompts = all
			}
		},
	}
}

// systemFile is the long form of system.
type systemFile struct{ text, more string }

// system is the text, or a file with an addition.
func system() value[string] {
	long := object[systemFile]{
		name: "system",
		keys: []key[systemFile]{
			to("file", fileText(), func(s *systemFile) *string { return &s.text }, "File with the text.").must(),
			to("append", text(), func(s *systemFile) *string { return &s.more }, "What comes after it, as a paragraph."),
		},
	}.value(systemFile{})
	return value[string]{
		schema: &schemaNode{AnyOf: []*schemaNode{{Type: "string"}, long.schema}},
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			if n.Kind != yaml.MappingNode {
				return decodeText(d, n)
			}
			s, ok := long.decode(d, n)
			return joinParagraphs(s.text, s.more), ok
		},
	}
}
