package task

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// reader gives the keys of one file their meaning, for one task at a time.
type reader struct {
	*table.Decoder
	opts      Options
	scope     scope
	models    map[string]*table.Node // the mapping called models
	secretEnv map[string]bool        // variables that hold keys: what *_env names
	budget    *table.Node            // batch, if it bounds the cost
	current                          // task
}

// current is what is known of the task at hand.
type current struct {
	after     []func()         // checks that need the whole task
	used      Model            // that answers
	hasOutput bool             // an answer is required
	tools     map[string]*Tool // by name, as they were declared
	servers   map[string]*Tool // MCP servers, likewise
}

func newReader(d *table.Decoder, o Options) *reader {
	r := &reader{Decoder: d, opts: o, secretEnv: checkSecrets(d)}
	d.Lookup, d.Syntax = r.lookup, "write vars.x, env.NAME, env.NAME ?? 'default', matrix.x, task.id or batch.id"
	d.ReadFile = o.ReadFile
	return r
}

// later runs a check when everything was read.
func (r *reader) later(check func()) { r.after = append(r.after, check) }

// header is what a file says about all its tasks.
type header struct {
	name         string
	matrix       matrix
	batch        Batch
	repeat       int
	combinations []combination
}

// fileKeys are the keys that are read once per file. vars comes first: the
// others may use them.
func (r *reader) fileKeys(k *table.Keys, h *header) {
	version := table.Raw().Says(func() *table.Schema { return &table.Schema{Const: Version} })
	table.Only(k, "version", version, "Major version of the format.").Must() // read by checkVersion
	table.Only(k, "vars", r.vars(), "Variables, ${{ vars.name }}, set by --var and --vars.")
	table.To(k, "name", table.Filled(), &h.name, "Name of the task; default: the name of the file without its extension.")
	table.To(k, "matrix", matrixValue(), &h.matrix, "One task becomes many.")
	table.To(k, "repeat", table.Integer(1, maxRepeat), &h.repeat, "Samples of each task; ids get .r1 .r2 …")
	table.To(k, "batch", table.Mapping("batch", Batch{}, batchKeys), &h.batch, "Defaults for the batch that the file runs in; flags win.")
}

// header reads what the file says once.
func (r *reader) header() header {
	h := header{name: strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File))}
	var once, all table.Keys
	r.fileKeys(&once, &h)
	r.fileKeys(&all, new(header))
	r.taskKeys(&all, new(draft))
	r.Unknown(r.Root, "the task", &all)
	r.scope = scope{broken: map[string]bool{}, place: "where the tasks of the file are made"}
	if r.Root.Find("vars") == nil {
		r.scope.vars = map[string]table.Scalar{}
	}
	r.Fill(r.Root, "the task", &once)
	r.checkOverrides()
	r.findModels(r.Root.Find("models"))
	if h.batch.Budget.CostUSD > 0 {
		r.budget = r.Root.Find("batch")
	}
	for _, a := range h.matrix.axes {
		r.scope.axes = append(r.scope.axes, a.Name)
	}
	if h.combinations = r.combine(h); len(h.combinations) == 0 {
		r.scope.broken["matrix"] = true
		h.combinations = []combination{{}} // the rest of the file has mistakes of its own
	}
	return h
}

// checkVersion refuses a file of another format. It is read before all else:
// what a newer file means cannot be guessed.
func (r *reader) checkVersion(n *table.Node) bool {
	if n == nil || n.IsInteger() && n.Value == "1" {
		return true // none is reported as a missing key
	}
	r.At(n, "write version: 1", "the version of the task file is %s, this program reads version %d", n.Describe(), Version)
	return !n.IsInteger()
}

// draft is a task on its way, with what is only needed to finish it.
type draft struct {
	Task
	prompt string // if there is one only
}

// task reads the file for one combination of the matrix.
func (r *reader) task(h header, c combination) Task {
	r.current = current{tools: map[string]*Tool{}, servers: map[string]*Tool{}}
	r.scope.task = c.id(h.name)
	r.scope.matrix = map[string]table.Scalar{}
	t := draft{Task: Task{
		ID:      r.scope.task,
		Name:    h.name,
		File:    r.File,
		Dir:     filepath.Dir(r.File),
		Sample:  c.sample,
		Workdir: ".",

		Execution:   defaultExecution(),
		Steering:    defaultSteering(),
		Finish:      defaultFinish(),
		Permissions: defaultPermissions(),
		Secrets:     defaultSecrets(),
	}}
	for i, v := range c.values {
		t.Cell = append(t.Cell, Cell{h.matrix.axes[i].Name, v.Text})
		r.scope.matrix[h.matrix.axes[i].Name] = v
	}
	var keys table.Keys
	r.taskKeys(&keys, &t)
	r.Fill(r.Root, "the task", &keys)
	r.checkPrompts(&t, &keys)
	r.checkModels(t.Model.Label)
	r.extensions(&t.Task)
	if r.budget != nil {
		r.needPrice(r.budget, "the budget cost_usd")
	}
	r.hasOutput = t.Finish.Output != nil
	for _, check := range r.after {
		check()
	}
	return t.Task
}

// checkPrompts wants prompt or prompts.
func (r *reader) checkPrompts(t *draft, keys *table.Keys) {
	one, many := r.Root.Find("prompt"), r.Root.Find("prompts")
	switch {
	case one != nil && many != nil:
		r.At(r.Root, "", "prompt and prompts: one of them")
	case one != nil:
		t.Prompts = []string{t.prompt}
	case many == nil && !r.Root.Misspells("prompt", keys) && !r.Root.Misspells("prompts", keys):
		r.At(r.Root, "", "the task needs a prompt, or prompts")
	}
}

// extensions keeps the x- keys. Expressions in them are not expanded: nobody
// reads them.
func (r *reader) extensions(t *Task) {
	for _, m := range r.Root.Members() {
		if !table.IsExtension(m.Name) {
			continue
		}
		if t.Extra == nil {
			t.Extra = map[string]json.RawMessage{}
		}
		t.Extra[m.Name] = m.Value.Literal()
	}
}
