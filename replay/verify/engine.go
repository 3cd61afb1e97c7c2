package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// none is the index of no entry.
const none = tree.None

// engine checks one file: lines become records, records become entries of a
// tree, and the rules see each line, each entry and each path.
type engine struct {
	src     Source
	options Options
	rules   []Rule
	checks  []Checker
	slots   []int // by rule: the place of its memory in Path.memory
	hooks   hooks

	links  *tree.Linker
	uses   *uses
	again  foreign.Rereader
	seal   *sealer
	base   *base
	secret *secret.Finder // nil until a snippet is shown
	found  findings

	file  File
	pass  Pass
	path  *Path            // that is being followed
	paths map[string]*Path // of each chain, while the file is read

	tangled bool  // an entry hangs elsewhere than on the one before it
	read    int64 // bytes of the file so far
	stated  bool  // the path to the last entry states its tools
	damaged error
	notes   notes
	unknown int   // line of the first call before any declaration
	untyped []int // lines of records that do not say what they are, the first ones
}

// notes say what cannot be known. Those of paths are found anew if the tree is
// walked.
type notes struct{ file, paths []string }

// hooks are the rules that have each function.
type hooks struct {
	line, entry, end, step, message, call, answer, unanswered, leaf []int
}

func newEngine(src Source, file *foreign.File, rules []Rule, o Options) (*engine, error) {
	if err := o.CheckOptions(rules); err != nil {
		return nil, err
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !file.Format.Has(r.Needs) })
	e := &engine{
		src: src, options: o, rules: rules, links: tree.New(), uses: newUses(),
		found: newFindings(src.Name), base: newBase(o.Base, o), paths: make(map[string]*Path),
	}
	e.again = foreign.Rereader{File: file, At: src.At, Links: e.links}
	e.file = File{Format: file.Format.Name, Slice: o.Slice, Finished: o.Finished, source: file}
	e.seal = newSealer(src, file.Format, o)
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
	for p, err := range e.file.source.Parts() {
		if err != nil {
			return result, fmt.Errorf("read %s: %w", e.src.Name, err)
		}
		if p.Line.No%1024 == 0 && ctx.Err() != nil {
			return result, fmt.Errorf("check %s: %w", e.src.Name, context.Cause(ctx))
		}
		if err := e.part(&p); err != nil {
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

// part takes in a line and its records.
func (e *engine) part(p *tree.Part) error {
	l := p.Line
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
	for i := range p.Records {
		if err := e.record(&p.Records[i]); err != nil {
			return err
		}
	}
	e.seal.line(l)
	e.read = l.Offset + int64(len(l.Raw))
	return nil
}

// sever makes what follows independent of what a damaged line has lost, where
// entries follow each other without links.
func (e *engine) sever() {
	for _, p := range e.paths {
		if tip := p.tip(); tip != none && e.links.Follows(tip) {
			p.severed, p.partial, p.cut = true, true, e.file.Lines
			p.calls = calls{exchange: p.exchange + 1, made: p.made}
		}
	}
}

// record takes in one entry.
func (e *engine) record(r *tree.Record) error {
	en := r.Entry
	e.pass.entry, e.pass.index, e.pass.Path = en, none, nil
	if en.Type == transcript.TypeSession {
		return e.header(en)
	}
	if en.Type == "" && len(e.untyped) < maxUntyped {
		e.untyped = append(e.untyped, en.Line)
	}
	e.file.Declares = e.file.Declares || replay.Declares(en)
	link := e.links.Add(r)
	e.pass.index = link.Index
	if link.Lost {
		e.dangling(link, en.ParentID)
	}
	e.pass.Links = e.linked(link)
	if e.file.source.Format.Has(foreign.Links) {
		e.leaves(link)
	}
	sealed, err := e.seal.entry(en, e.pass.line.Offset, e.file.Header)
	if err != nil {
		return err
	}
	e.pass.Sealed = sealed
	e.each(e.hooks.entry, func(c *Checker) { c.Entry(&e.pass, en) })
	if e.tangled = e.tangled || !e.follow(r.Chain, link); !e.tangled {
		e.apply(en)
	}
	return nil
}

func (e *engine) header(en *transcript.Entry) error {
	e.pass.Links, e.pass.Sealed = Links{}, nil
	if e.file.Header == nil && en.Header != nil {
		e.file.Header, e.file.HeaderLine = en.Header, en.Line
		e.links.Session(en.Header.ID)
		if err := replay.CheckFormat(en); err != nil {
			return fmt.Errorf("check %s: %w", e.src.Name, err)
		}
		if err := e.seal.header(en.Header, e.pass.line.Offset); err != nil {
			return err
		}
	}
	e.each(e.hooks.entry, func(c *Checker) { c.Entry(&e.pass, en) })
	return nil
}

// apply folds an entry into the path that it extends.
func (e *engine) apply(en *transcript.Entry) {
	p, i := e.path, e.pass.index
	e.pass.entry, e.pass.Path = en, p
	if p.order.Len() > 0 {
		e.links.SetMark(i, owed, true)
	}
	e.each(e.hooks.step, func(c *Checker) { c.Step(&e.pass, en) })
	switch {
	case en.Message != nil:
		e.applyMessage(en.Message)
	case en.Custom != nil && en.Custom.Message != nil:
		e.message(en.Custom.Message)
		p.began = true
	case en.Branch != nil && en.Branch.Summary != "", en.Compaction != nil:
		p.began = true
	}
	if c := en.Compaction; c != nil && c.SystemMessage != nil {
		p.partial, e.file.Checkpoints = false, true
	}
	p.facts.Apply(en)
	if p.asked {
		p.sent.Apply(&p.facts, en)
	}
	e.links.Enter(i, len(p.entries))
	p.entries = append(p.entries, i)
}

func (e *engine) message(m *transcript.Message) {
	e.each(e.hooks.message, func(c *Checker) { c.Message(&e.pass, m) })
}

func (e *engine) applyMessage(m *transcript.Message) {
	switch m.Role {
	case transcript.System:
		e.message(m)
		return
	case transcript.Assistant:
		e.assistant(m)
	case transcript.ToolResult:
		e.message(m)
		e.answer(m)
	case transcript.User:
		e.message(m)
		e.path.close()
	default:
		e.message(m)
	}
	e.path.began = true
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
	list := &e.notes.file
	if e.pass.Path != nil {
		list = &e.notes.paths
	}
	if !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
}
