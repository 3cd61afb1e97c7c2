package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// engine checks one file: lines become records, records become entries of a
// tree, and the rules see each line, each entry and each path.
type engine struct {
	src     Source
	format  foreign.Format
	options Options
	rules   []Rule
	checks  []Checker
	slots   []int // by rule: the place of its memory in Path.memory
	hooks   hooks

	table  *table
	uses   *occurrences
	branch branches
	seal   *sealer
	base   *base
	secret *secret.Finder // nil until a snippet is shown
	found  *findings

	file File
	pass Pass
	path *Path

	chain    string           // the chain that path is on
	chains   map[string]*Path // paths of the other chains
	records  uint32           // of the line so far
	read     int64            // bytes of the file so far
	damaged  error
	notes    []string
	unknown  int      // line of the first call before any declaration
	untyped  []int    // lines of records that do not say what they are, the first ones
	sequence []uint32 // version 1: entries by their place among the records, the header's included
}

// hooks are the rules that have each function.
type hooks struct {
	line, entry, end, step, message, call, answer, unanswered, leaf []int
}

func newEngine(src Source, format foreign.Format, head []byte, rules []Rule, o Options) (*engine, error) {
	if err := o.CheckOptions(rules); err != nil {
		return nil, err
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool {
		return r.Formats != nil && !slices.Contains(r.Formats, format.Name)
	})
	e := &engine{src: src, format: format, options: o, rules: rules, chains: make(map[string]*Path)}
	e.table = newTable(maphash.MakeSeed())
	e.uses = newOccurrences(e.table)
	e.branch = newBranches()
	e.found = newFindings(src.Name)
	e.seal = newSealer(format, head, o)
	e.base = newBase(o.Base, o)
	e.file = File{Format: format.Name, Slice: o.Slice, Finished: o.Finished}
	e.pass = Pass{File: &e.file, e: e}
	memories := 0
	for i, r := range rules {
		v, err := r.values(o.Rules[r.ID])
		if err != nil {
			return nil, err
		}
		c := r.New(v)
		e.slots = append(e.slots, memories)
		if c.Memory != nil {
			memories++
		}
		e.checks = append(e.checks, c)
		e.hooks.add(i, &c)
	}
	e.path = e.newPath(false)
	return e, nil
}

func (h *hooks) add(rule int, c *Checker) {
	for _, hook := range []struct {
		rules *[]int
		has   bool
	}{
		{&h.line, c.Line != nil},
		{&h.entry, c.Entry != nil},
		{&h.end, c.End != nil},
		{&h.step, c.Step != nil},
		{&h.message, c.Message != nil},
		{&h.call, c.Call != nil},
		{&h.answer, c.Answer != nil},
		{&h.unanswered, c.Unanswered != nil},
		{&h.leaf, c.Leaf != nil},
	} {
		if hook.has {
			*hook.rules = append(*hook.rules, rule)
		}
	}
}

// each calls a function of every rule that has it.
func (e *engine) each(rules []int, call func(*Checker)) {
	for _, i := range rules {
		e.pass.rule = i
		call(&e.checks[i])
	}
}

func (e *engine) newPath(severed bool) *Path {
	p := newPath(severed)
	if e.seal.records {
		p.fold = replay.NewLean()
	}
	for i := range e.checks {
		if e.checks[i].Memory != nil {
			p.memory = append(p.memory, e.checks[i].Memory())
		}
	}
	return p
}

// run reads the file. A rule that panics ends the run with an error: a clean
// result must mean that every rule has seen everything.
func (e *engine) run(ctx context.Context) (result Result, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case rereadError:
			err = fmt.Errorf("check %s: %w", e.src.Name, r.error)
		default:
			err = fmt.Errorf("check %s: rule %s failed at line %d: %v", e.src.Name, e.ruleName(), e.file.Lines, r)
		}
		result.Summary = e.summary()
		if err != nil {
			result.Findings = e.found.sorted(&e.file, e.snippet)
		}
	}()
	lines := transcript.Lines(e.src.Reader, transcript.Options{MaxLine: e.options.MaxLine, Workers: e.options.Workers, Lend: e.options.memory != ownLines, Scribble: e.options.memory == scribbleLines})
	for l, err := range lines {
		if err != nil {
			return result, fmt.Errorf("read %s: %w", e.src.Name, err)
		}
		if l.No%1024 == 0 && ctx.Err() != nil {
			return result, fmt.Errorf("check %s: %w", e.src.Name, context.Cause(ctx))
		}
		if err := e.line(&l); err != nil {
			return result, err
		}
	}
	if err := e.end(); err != nil {
		return result, err
	}
	result.Findings = e.found.sorted(&e.file, e.snippet)
	return result, e.damaged
}

func (e *engine) ruleName() string {
	if e.pass.rule < len(e.rules) {
		return e.rules[e.pass.rule].ID
	}
	return "(none)"
}

func (e *engine) line(l *transcript.Line) error {
	e.file.Lines = l.No
	e.pass.line, e.pass.entry, e.pass.Path = l, nil, nil
	e.pass.Differs = e.base.line(l)
	if l.Damage != transcript.Intact {
		e.file.TornAt = l.No
		e.sever()
	}
	if l.Damage == transcript.TooLong {
		e.file.Unread, e.seal.unread = l.No, true
		e.damaged = errors.Join(e.damaged, fmt.Errorf("check %s: line %d is longer than the limit and was not checked: %w", e.src.Name, l.No, l.Err))
	}
	e.each(e.hooks.line, func(c *Checker) { c.Line(&e.pass, l) })
	e.records = 0
	var err error
	e.format.Records(l, func(chain string, en *transcript.Entry) {
		if err == nil {
			err = e.record(chain, en)
			e.records++
		}
	})
	e.seal.line(l)
	e.read = l.Offset + int64(len(l.Raw))
	return err
}

// sever makes what follows independent of what a damaged line has lost, where
// entries follow each other without links.
func (e *engine) sever() {
	if p := e.path; p.tip != none && e.table.row(p.tip).id == 0 {
		p.severed, p.partial = true, true
		p.drop(func(*Turn) bool { return true })
		p.before = Before{}
	}
}

// record takes in one entry.
func (e *engine) record(chain string, en *transcript.Entry) error {
	e.pass.entry, e.pass.index, e.pass.Path = en, none, nil
	if en.Type == transcript.TypeSession {
		return e.header(en)
	}
	if en.Type == "" && len(e.untyped) < maxUntyped {
		e.untyped = append(e.untyped, en.Line)
	}
	link := e.link(chain, en)
	i := e.table.add(row{
		id: link.id, parent: link.parent, line: uint32(en.Line),
		offset: uint32(e.pass.line.Offset), high: uint8(e.pass.line.Offset >> 32), record: e.records,
	})
	if link.parent == none && link.named {
		e.table.row(i).flags |= severed
	}
	e.pass.index = i
	e.sequence = e.placeInSequence(i, link)
	e.pass.Links = e.links(link)
	e.pass.Sealed = e.seal.entry(en, e.file.Header)
	e.each(e.hooks.entry, func(c *Checker) { c.Entry(&e.pass, en) })
	e.follow(chain, link)
	e.apply(en)
	return nil
}

func (e *engine) header(en *transcript.Entry) error {
	e.pass.Links, e.pass.Sealed = Links{}, nil
	if e.file.Header == nil && en.Header != nil {
		e.file.Header, e.file.HeaderLine = en.Header, en.Line
		if g := en.Header.Generator; g != nil && g.Format > transcript.FormatVersion {
			return fmt.Errorf("check %s: %w", e.src.Name, &replay.NewerFormatError{Format: g.Format})
		}
		if en.Header.Version < 2 {
			e.sequence = []uint32{none}
		}
	}
	e.each(e.hooks.entry, func(c *Checker) { c.Entry(&e.pass, en) })
	return nil
}

// apply folds an entry into the path that it extends.
func (e *engine) apply(en *transcript.Entry) {
	p, i := e.path, e.pass.index
	e.pass.entry, e.pass.Path = en, p
	if p.root == none {
		p.root = i
	}
	if len(p.late) > 0 || p.Owes() {
		e.table.row(i).flags |= owed
	}
	e.each(e.hooks.step, func(c *Checker) { c.Step(&e.pass, en) })
	switch {
	case en.Message != nil:
		e.applyMessage(en.Message)
	case en.Custom != nil && en.Custom.Message != nil:
		e.message(en.Custom.Message)
		p.before, p.began = e.asUser(en), true
	case en.Branch != nil && en.Branch.Summary != "":
		p.before, p.began = e.asUser(en), true
	case en.Compaction != nil:
		e.compaction(en.Compaction)
	case en.Edit != nil && en.Edit.Replacement == nil:
		e.omit(en.Edit.TargetID)
	}
	if p.fold != nil {
		p.fold.Apply(en)
	}
	p.tip = i
	p.depth++
	if p.depth%snapshotEvery == 0 {
		e.branch.snapshot(i, p)
	}
}

func (e *engine) asUser(en *transcript.Entry) Before {
	return Before{Line: en.Line, Role: string(transcript.User)}
}

func (e *engine) message(m *transcript.Message) {
	e.each(e.hooks.message, func(c *Checker) { c.Message(&e.pass, m) })
}

func (e *engine) applyMessage(m *transcript.Message) {
	p := e.path
	switch m.Role {
	case transcript.System:
		e.message(m)
		p.tools = p.tools.Apply(m, e.pass.entry.Line, e.pass.entry.ID)
		p.states = true
		e.file.Declares = e.file.Declares || len(m.ToolsAdded)+len(m.ToolsRemoved) > 0
	case transcript.Assistant:
		e.assistant(m)
		p.began = true
	case transcript.ToolResult:
		e.message(m)
		e.answer(m)
		p.began = true
	case transcript.User:
		e.message(m)
		p.began = true
		e.closeExchange()
		p.before = e.asUser(e.pass.entry)
	default:
		e.message(m)
		p.began = true
		if m.Bash == nil || !m.Bash.ExcludeFromContext {
			p.before = e.asUser(e.pass.entry)
		}
	}
}

// compaction makes the tools those of its checkpoint.
func (e *engine) compaction(c *transcript.Compaction) {
	p, line := e.path, e.pass.entry.Line
	p.tools = p.tools.Replace(c.SystemMessage, line, e.pass.entry.ID)
	if m := c.SystemMessage; m != nil {
		p.states, p.partial, e.file.Checkpoints = true, false, true
		e.file.Declares = e.file.Declares || len(m.ToolsAdded) > 0
	} else {
		p.bare = line
	}
	p.before, p.began = e.asUser(e.pass.entry), true
}

// omit applies an edit that takes an entry out of later requests: nothing is
// owed for its calls.
func (e *engine) omit(id string) {
	i := e.table.find(e.table.fingerprint(id))
	if i == none {
		return
	}
	e.path.drop(func(t *Turn) bool { return t.index == i })
	if e.path.before.Line == int(e.table.row(i).line) {
		e.path.before = Before{}
	}
}

// maxUntyped is how many lines a note names.
const maxUntyped = 4

// notKnown notes the first call that was made before anything was declared.
func (e *engine) notKnown(line int) {
	if e.unknown == 0 {
		e.unknown = line
	}
}

func (e *engine) note(text string) {
	if !slices.Contains(e.notes, text) {
		e.notes = append(e.notes, text)
	}
}

// peek reads the head of a source and puts it back. A source that cannot be
// read again is held in memory.
func peek(src Source) ([]byte, Source, error) {
	if src.At == nil {
		b, err := io.ReadAll(src.Reader)
		if err != nil {
			return nil, src, fmt.Errorf("read %s: %w", src.Name, err)
		}
		src = memorySource(src.Name, b)
	}
	head, err := io.ReadAll(io.LimitReader(src.Reader, foreign.HeadSize))
	if err != nil {
		return nil, src, fmt.Errorf("read %s: %w", src.Name, err)
	}
	src.Reader = &rewound{head: head, rest: src.Reader}
	return head, src, nil
}
