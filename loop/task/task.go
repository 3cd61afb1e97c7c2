package task

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/task/internal/table"
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

// taskKeys are the keys of a task file that can differ between the tasks of a
// matrix. Those that make the matrix are in fileKeys.
func (r *reader) taskKeys(k *table.Keys) {
	models := table.Raw().Says(func() *table.Schema {
		return &table.Schema{Type: "object", AdditionalProperties: table.Ref("model")()}
	})
	table.To(k, "description", table.Text(), &r.Description, "What the task is for.")
	table.To(k, "labels", table.Map(table.Text()), &r.Labels, "Free text for reports.")
	table.Only(k, "models", models, "Models by name.") // read by findModels, before model
	table.To(k, "model", r.model(), &r.Model, "The model, in place or by its name in models.").Must()
	table.To(k, "system", system(), &r.System, "The system prompt.")
	table.To(k, "workdir", table.Filled(), &r.Workdir, "Folder that the tools work in, relative to this file; default: its folder.")
	table.To(k, "tool_execution", table.Mapping("tool_execution", defaultExecution(), executionKeys), &r.Execution, "How tool calls run.")
	table.To(k, "tools", table.List(r.tool()), &r.Tools, "What the model may call.")
	table.To(k, "prompt", table.Filled(), &r.prompt, "The prompt; short for prompts with one item.")
	table.To(k, "prompts", table.Some(table.Filled()), &r.Prompts, "The prompts, one run each: the next is sent when the agent has settled.")
	table.To(k, "steering", r.steering(), &r.Steering, "What is said to the agent while it works.")
	table.To(k, "follow_ups", table.List(table.Filled()), &r.FollowUps, "What is said when the agent would stop otherwise.")
	table.To(k, "tool_changes", table.List(r.toolChange()), &r.ToolChanges, "Tools that come and go during the run.")
	table.To(k, "finish", table.Mapping("finish", defaultFinish(), r.finishKeys).Then(r.checkFinish), &r.Finish, "When the task is finished.")
	table.To(k, "assert", table.List(r.assertion()), &r.Assert, "What must hold when it is.")
	table.To(k, "permissions", table.Mapping("permissions", defaultPermissions(), r.permissionsKeys), &r.Permissions, "What tools may touch.")
	table.To(k, "secrets", table.Mapping("secrets", defaultSecrets(), secretsKeys), &r.Secrets, "What is masked in transcripts and events.")
}

// system is the text, or a file with an addition.
func system() table.Value[string] {
	type file struct{ text, more string }
	long := table.Mapping("system", file{}, func(k *table.Keys, f *file) {
		table.To(k, "file", table.FileText(), &f.text, "File with the text.").Must()
		table.To(k, "append", table.Text(), &f.more, "What comes after it, as a paragraph.")
	})
	return table.Either(table.Text(), table.Convert(long, func(f file) string { return joinParagraphs(f.text, f.more) }))
}

// joinParagraphs puts a blank line between two texts.
func joinParagraphs(a, b string) string {
	a = strings.TrimRight(a, "\n")
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
