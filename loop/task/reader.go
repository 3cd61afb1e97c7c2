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
	secretEnv map[string]bool // variables that hold keys: what *_env names
	header
	draft
}

// header is what a file says about all its tasks.
type header struct {
	name   string
	matrix matrix
	repeat int
	batch  Batch
	models map[string]*table.Node // the mapping called models
	extra  map[string]json.RawMessage
}

// draft is the task at hand, with what is only needed to finish it.
type draft struct {
	Task
	prompt  string           // if there is one only
	after   []func()         // checks that need the whole task
	tools   map[string]*Tool // by name, as they were declared
	servers map[string]*Tool // MCP servers, likewise
}

func newReader(d *table.Decoder, o Options) *reader {
	r := &reader{Decoder: d, opts: o, secretEnv: checkSecrets(d)}
	d.Lookup, d.Syntax = r.lookup, "write vars.x, env.NAME, env.NAME ?? 'default', matrix.x, task.id or batch.id"
	d.ReadFile = o.ReadFile
	r.name = strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File))
	r.scope = scope{broken: map[string]bool{}, place: "where the tasks of the file are made"}
	return r
}

// later runs a check when everything was read.
func (r *reader) later(check func()) { r.after = append(r.after, check) }

// fileKeys are the keys that are read once per file. vars comes first: the
// others may use them.
func (r *reader) fileKeys(k *table.Keys) {
	version := table.Raw().Says(func() *table.Schema { return &table.Schema{Const: Version} })
	table.Only(k, "version", version, "Major version of the format.").Must() // read by checkVersion
	table.Only(k, "vars", r.vars(), "Variables, ${{ vars.name }}, set by --var and --vars.")
	table.To(k, "name", table.Filled(), &r.name, "Name of the task; default: the name of the file without its extension.")
	table.To(k, "matrix", matrixValue(), &r.matrix, "One task becomes many.")
	table.To(k, "repeat", table.Integer(1, maxRepeat), &r.repeat, "Samples of each task; ids get .r1 .r2 …")
	table.To(k, "batch", table.Mapping("batch", Batch{}, batchKeys), &r.batch, "Defaults for the batch that the file runs in; flags win.")
}

// tasks reads the file, once for each task that it makes.
func (r *reader) tasks() []Task {
	if !r.checkVersion(r.Root.Find("version")) {
		return nil
	}
	var once, each table.Keys
	r.fileKeys(&once)
	r.taskKeys(&each)
	r.Unknown(r.Root, "the task", &once, &each)
	if r.Root.Find("vars") == nil {
		r.scope.vars = map[string]table.Scalar{}
	}
	r.Fill(r.Root, "the task", &once)
	r.checkOverrides()
	r.findModels(r.Root.Find("models"))
	r.extensions()
	for _, a := range r.matrix.axes {
		r.scope.axes = append(r.scope.axes, a.Name)
	}
	combinations := r.combine()
	if len(combinations) == 0 {
		r.scope.broken["matrix"] = true
		combinations = []combination{{}} // the rest of the file has mistakes of its own
	}
	var tasks []Task
	for _, c := range combinations {
		tasks = append(tasks, r.task(c, &each))
	}
	return tasks
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

// task reads the file for one combination of the matrix.
func (r *reader) task(c combination, keys *table.Keys) Task {
	r.scope.task = c.id(r.name)
	r.scope.matrix = map[string]table.Scalar{}
	r.draft = draft{tools: map[string]*Tool{}, servers: map[string]*Tool{}, Task: Task{
		ID:      r.scope.task,
		Name:    r.name,
		File:    r.File,
		Dir:     filepath.Dir(r.File),
		Sample:  c.sample,
		Workdir: ".",
		Extra:   r.extra,

		Execution:   defaultExecution(),
		Steering:    defaultSteering(),
		Finish:      defaultFinish(),
		Permissions: defaultPermissions(),
		Secrets:     defaultSecrets(),
	}}
	for i, v := range c.values {
		r.Cell = append(r.Cell, Cell{r.scope.axes[i], v.Text})
		r.scope.matrix[r.scope.axes[i]] = v
	}
	r.Fill(r.Root, "the task", keys)
	r.checkPrompts(keys)
	r.checkModels()
	if r.batch.Budget.CostUSD > 0 {
		r.needPrice(r.Root.Find("batch"), "the budget cost_usd")
	}
	for _, check := range r.after {
		check()
	}
	return r.Task
}

// checkPrompts wants prompt or prompts.
func (r *reader) checkPrompts(keys *table.Keys) {
	one, many := r.Root.Find("prompt"), r.Root.Find("prompts")
	switch {
	case one != nil && many != nil:
		r.At(r.Root, "", "prompt and prompts: one of them")
	case one != nil:
		r.Prompts = []string{r.prompt}
	case many == nil && !r.Root.Misspells("prompt", keys) && !r.Root.Misspells("prompts", keys):
		r.At(r.Root, "", "the task needs a prompt, or prompts")
	}
}

// extensions keeps the x- keys. Expressions in them are not expanded: nobody
// reads them.
func (r *reader) extensions() {
	for _, m := range r.Root.Members() {
		if !table.IsExtension(m.Name) {
			continue
		}
		if r.extra == nil {
			r.extra = map[string]json.RawMessage{}
		}
		r.extra[m.Name] = m.Value.Literal()
	}
}
