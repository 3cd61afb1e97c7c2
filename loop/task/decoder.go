package task

import (
	"encoding/json"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// decoder reads values out of the tree of one file, for one task at a time.
type decoder struct {
	*problems
	doc       *document
	tables    *tables
	opts      *Options
	scope     scope
	models    map[string]*yaml.Node // the mapping called models
	schemas   map[string]error      // JSON Schemas that were compiled, with what is wrong with them
	secretEnv map[string]bool       // variables that hold keys: what *_env names
	budget    *yaml.Node            // batch, if it bounds the cost

	// Of the task at hand.
	after     []func()         // checks that need the whole task
	used      Model            // that answers
	hasOutput bool             // an answer is required
	tools     map[string]bool  // names of declared tools
	servers   map[string]bool  // names of declared MCP servers
	listed    map[string]*Tool // both, as they were declared
}

// tables are made once per file: to make them takes longer than to read a
// small task, and a matrix has thousands.
type tables struct {
	file      object[header]
	task      object[draft]
	model     object[Model]
	program   object[Program]
	mcp       object[MCP]
	assertion object[Assertion]
	answer    object[answer]
}

func newTables() *tables {
	return &tables{fileTable(), taskTable(), modelTable(), programTable(), mcpTable(), assertionTable(), answerTable()}
}

// later runs a check when everything was read.
func (d *decoder) later(check func()) { d.after = append(d.after, check) }

// task reads the file for one combination of the matrix.
func (d *decoder) task(h header, c combination) Task {
	d.after, d.used, d.tools, d.servers, d.listed = nil, Model{}, map[string]bool{}, map[string]bool{}, map[string]*Tool{}
	d.scope.task = c.id(h.name)
	d.scope.matrix = map[string]scalar{}
	t := draft{Task: Task{
		ID:      d.scope.task,
		Name:    h.name,
		File:    d.file,
		Dir:     filepath.Dir(d.file),
		Sample:  c.sample,
		Workdir: ".",

		Execution:   defaultExecution(),
		Steering:    defaultSteering(),
		Finish:      defaultFinish(),
		Permissions: defaultPermissions(),
		Secrets:     defaultSecrets(),
	}}
	for i, v := range c.values {
		t.Cell = append(t.Cell, Cell{h.matrix.axes[i].name, v.text})
		d.scope.matrix[h.matrix.axes[i].name] = v
	}
	d.tables.task.fill(d, d.doc.root, &t)
	d.tables.task.check(d, d.doc.root, &t)
	d.checkModels(t.Model.Label)
	d.extensions(&t.Task)
	if d.budget != nil {
		d.needPrice(d.budget, "the budget cost_usd")
	}
	d.hasOutput = t.Finish.Output != nil
	for _, check := range d.after {
		check()
	}
	return t.Task
}

// extensions keeps the x- keys. Expressions in them are not expanded: nobody
// reads them.
func (d *decoder) extensions(t *Task) {
	for _, m := range members(d.doc.root) {
		if !isExtension(m.name) {
			continue
		}
		if t.Extra == nil {
			t.Extra = map[string]json.RawMessage{}
		}
		t.Extra[m.name] = literalJSON(m.value)
	}
}
