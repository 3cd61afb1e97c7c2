package task

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	builtins "github.com/turnlog/turnlog/loop/tool/builtin"
)

// Version is the major version of the task file format that is read here.
const Version = 1

// Options is what a task file is read with. The zero value knows no
// environment, and all providers and tools.
type Options struct {
	Vars       map[string]string           // values of variables; paths in them are relative to the process
	SharedVars bool                        // Vars go to several files: it is no error if this one does not declare them all
	Model      string                      // instead of the file's: a name out of models, or the name that the endpoint knows
	Env        func(string) (string, bool) // the environment; nil is empty
	ReadFile   func(string) ([]byte, error)
	Providers  []string       // that can be used; nil is all
	Builtins   builtins.Table // built-in tools that can be used; nil is all
	BatchID    string         // batch.id; it is part of the digests, so a resumed batch keeps it
}

// File is a task file, read and expanded.
type File struct {
	Path  string
	Tasks []Task   // in the order of matrix and repeat; never empty
	Vars  []string // names of the declared variables
	Batch Batch
}

// Load reads a task file. The error is [Errors] if the file could be read.
func Load(path string, o Options) (*File, error) {
	data, err := o.withDefaults().ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read task file: %w", err)
	}
	return Parse(path, data, o)
}

// LoadAll reads task files that run together: ids are unique over all of them,
// and every variable of o.Vars is declared in one of them at least. It reports
// all that is wrong in any of them.
func LoadAll(paths []string, o Options) ([]*File, error) {
	o.SharedVars = true
	var files []*File
	var all Errors
	var unread []error
	for _, path := range paths {
		f, err := Load(path, o)
		var found Errors
		switch {
		case errors.As(err, &found):
			all = append(all, found...)
		case err != nil:
			unread = append(unread, err)
		default:
			files = append(files, f)
		}
	}
	if len(all) > 0 {
		slices.SortFunc(all, compareErrors)
		unread = append(unread, all)
	}
	if len(unread) > 0 {
		return nil, errors.Join(unread...)
	}
	return files, errors.Join(checkShared(files, o.Vars), Unique(files...))
}

// checkShared reports values for variables that no file declares.
func checkShared(files []*File, vars map[string]string) error {
	var known []string
	for _, f := range files {
		known = append(known, f.Vars...)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if slices.Contains(known, name) {
			continue
		}
		if hint := suggest(name, known, "variables"); hint != "" {
			return fmt.Errorf("a value is given to %q, which no task file declares under vars (%s)", name, hint)
		}
		return fmt.Errorf("a value is given to %q, which no task file declares under vars", name)
	}
	return nil
}

// Parse reads a task file out of memory; name is its path, paths in the file
// are relative to that. The error is [Errors], with everything that is wrong.
func Parse(name string, data []byte, o Options) (*File, error) {
	o = o.withDefaults()
	p := &problems{file: name}
	doc := parseDocument(data, p)
	if doc == nil {
		return nil, p.err()
	}
	d := &decoder{secretEnv: secretEnv(doc.root), problems: p, doc: doc, opts: &o, tables: newTables(), schemas: map[string]error{}}
	h, ok := d.header()
	if !ok {
		return nil, p.err()
	}
	f := &File{Path: name, Vars: d.scope.known, Batch: h.batch}
	for _, c := range h.combinations {
		f.Tasks = append(f.Tasks, d.task(h, c))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	d.checkIDs(h, f.Tasks)
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.ReadFile == nil {
		o.ReadFile = readFile
	}
	if o.Providers == nil {
		o.Providers = []string{OpenAI, Scripted, Recorded}
	}
	return o
}

// readFile reads no more than it takes to see that a file is too large.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// header is what a file says about all its tasks.
type header struct {
	name         string
	matrix       matrix
	batch        Batch
	repeat       int
	combinations []combination
}

// fileTable has the keys that are read once per file. vars comes first: the
// others may use them.
func fileTable() object[header] {
	return object[header]{
		name: "the task",
		keys: []key[header]{
			{
				name: "version", required: true, schema: &schemaNode{Const: Version}, doc: "Major version of the format.",
				set: func(*decoder, *yaml.Node, *header) {},
			}, // read by checkVersion
			{
				name: "vars", schema: &schemaNode{Type: "object", AdditionalProperties: variableTable().objectSchema()}, doc: "Variables, ${{ vars.name }}, set by --var and --vars.",
				set: func(d *decoder, n *yaml.Node, _ *header) { d.vars(n) },
			},
			to("name", filled(), func(h *header) *string { return &h.name }, "Name of the task; default: the name of the file without its extension."),
			to("matrix", matrixTable().value(matrix{}), func(h *header) *matrix { return &h.matrix }, "One task becomes many."),
			to("repeat", integer(1, maxRepeat), func(h *header) *int { return &h.repeat }, "Samples of each task; ids get .r1 .r2 …"),
			to("batch", batchTable().value(Batch{}), func(h *header) *Batch { return &h.batch }, "Defaults for the batch that the file runs in; flags win."),
		},
	}
}

// header reads what the file says once. False: nothing else can be read.
func (d *decoder) header() (header, bool) {
	root := d.doc.root
	h := header{name: strings.TrimSuffix(filepath.Base(d.file), filepath.Ext(d.file))}
	if !d.checkVersion(root) {
		return h, false
	}
	d.unknownKeys(root, "the task", append(d.tables.file.names(), d.tables.task.names()...))
	d.scope = scope{env: d.opts.Env, batch: d.opts.BatchID, broken: map[string]bool{}, place: "where the tasks of the file are made"}
	before := len(d.list)
	if find(root, "vars") == nil {
		d.vars(nil)
	}
	d.tables.file.fill(d, root, &h)
	d.findModels(root)
	if h.batch.Budget.CostUSD > 0 {
		d.budget = cmp.Or(find(root, "batch"), root)
	}
	for _, a := range h.matrix.axes {
		d.scope.axes = append(d.scope.axes, a.name)
	}
	h.combinations = d.combine(h)
	if len(d.list) > before && len(h.combinations) == 0 {
		d.scope.broken["matrix"] = true
		h.combinations = []combination{{}} // the rest of the file has mistakes of its own
	}
	return h, true
}

// checkVersion refuses a file of another format. It is read before all else:
// what a newer file means cannot be guessed.
func (d *decoder) checkVersion(root *yaml.Node) bool {
	for _, m := range members(root) {
		if m.name != "version" {
			continue
		}
		if m.value.Kind == yaml.ScalarNode && m.value.ShortTag() == "!!int" && m.value.Value == "1" {
			return true
		}
		d.at(m.value, "write version: 1", "the version of the task file is %s, this program reads version %d", kindName(m.value), Version)
		return m.value.ShortTag() != "!!int"
	}
	return true // reported as a missing key
}

// combine expands matrix and repeat.
func (d *decoder) combine(h header) []combination {
	place := cmp.Or(h.matrix.place, d.doc.root)
	list, ok := h.matrix.combinations(h.repeat)
	switch {
	case !ok:
		d.at(place, "", "matrix and repeat make more than %d tasks", maxTasks)
	case len(list) == 0:
		d.at(place, "", "the matrix excludes all its tasks")
	case len(list)*d.doc.size > maxWork:
		d.at(place, "", "%d tasks of a file with %d values are too much", len(list), d.doc.size)
		return nil
	}
	return list
}

// findModels notes where the named models are.
func (d *decoder) findModels(root *yaml.Node) {
	d.models = map[string]*yaml.Node{}
	for _, m := range members(root) {
		switch {
		case m.name != "models":
		case m.value.Kind != yaml.MappingNode:
			d.at(m.value, "", "models is a mapping of names to models, found %s", kindName(m.value))
		default:
			for _, one := range members(m.value) {
				d.models[one.name] = one.value
			}
		}
	}
}

// checkIDs reports tasks of the file that would share their files.
func (d *decoder) checkIDs(h header, tasks []Task) {
	place := cmp.Or(h.matrix.place, d.doc.root)
	seen := map[string]bool{}
	for _, t := range tasks {
		if seen[t.ID] {
			d.at(place, "values may differ in letters, digits, _ and - only", "two tasks have the id %q", t.ID)
		}
		if len(t.ID) > maxID {
			d.at(place, "", "the task id has %d bytes, at most %d fit into a file name", len(t.ID), maxID)
		}
		seen[t.ID] = true
	}
}
