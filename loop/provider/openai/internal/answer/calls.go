package answer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/loop/provider/wire/loose"
	"github.com/turnlog/turnlog/replay/transcript"
)

// openCall is a call while it arrives.
type openCall struct {
	block    int // index of its content block
	index    loose.Int
	id, name string
	args     arguments
	copies   []*callCopy
}

// callCopy is the same call once more, on another index: a proxy that resumes
// a stream sends what it has sent. It must not run twice.
type callCopy struct {
	index loose.Int
	args  arguments
}

// maxCalls bounds the calls of one answer, repetitions included. Real answers
// have a few dozen; the bound keeps a runaway one from costing its square.
const maxCalls = 1000

// errTooManyCalls is an answer beyond maxCalls.
var errTooManyCalls = &wire.Fault{Text: fmt.Sprintf("the answer has more than %d tool calls", maxCalls)}

// callTable sorts the pieces of calls. Servers leave out, repeat and share
// indexes, ids and names; the order of the questions decides:
//
//  1. the id is known: that call;
//  2. a name is given, and it differs from the open call's or the id is new: a
//     new call;
//  3. else the open call goes on.
//
// The open call is the last one with the piece's index, or just the last one.
type callTable struct {
	declared map[string]bool // names of the tools that the model has
	secret   wire.Secret
	calls    []*openCall
	opened   int // calls and copies; beyond maxCalls nothing more is taken
	note     func(kind, text string)
}

// piece is what became of a delta: for an opened call its beginning, and the
// text that its arguments grew by.
type piece struct {
	call   *openCall
	opened bool
	text   string
}

// add takes the next delta. It has no call if the delta says nothing.
func (t *callTable) add(d callDelta) piece {
	if t.opened > maxCalls {
		return piece{}
	}
	known := func(c *openCall) bool { return d.ID != "" && c.id == string(d.ID) }
	if i := slices.IndexFunc(t.calls, known); i >= 0 {
		return t.known(t.calls[i], d)
	}
	open, copied, exact := t.open(d.Index)
	switch {
	case copied != nil && d.ID == "" && d.Function.Name == "":
		copied.args.push(d.Function.Arguments.text)
		return piece{}
	case open == nil && d.ID == "" && d.Function.Name == "" && d.Function.Arguments.text == "":
		return piece{}
	case open == nil || t.begins(open, d, exact):
		c := &openCall{index: d.Index, id: string(d.ID), name: string(d.Function.Name)}
		c.args.arriving.Secret = t.secret
		t.calls = append(t.calls, c)
		t.opened++
		return piece{c, true, c.args.push(d.Function.Arguments.text)}
	}
	if d.Index.Set && !exact && d.ID == "" && open.index.Set {
		t.note(NoteFragmentMoved, fmt.Sprintf("arguments on index %d belong to no call, the last one took them", d.Index.N))
	}
	return t.goOn(open, d)
}

// open gives the call that a delta without more to go by belongs to, or the
// copy; exact says that its index is the delta's.
func (t *callTable) open(index loose.Int) (c *openCall, copied *callCopy, exact bool) {
	if len(t.calls) == 0 {
		return nil, nil, false
	}
	last := t.calls[len(t.calls)-1]
	if !index.Set {
		return last, nil, true
	}
	for i := len(t.calls) - 1; i >= 0; i-- {
		c := t.calls[i]
		if c.index == index {
			return c, nil, true
		}
		for _, k := range c.copies {
			if k.index == index {
				return c, k, true
			}
		}
	}
	return last, nil, false
}

// begins reports whether d, whose id is new if it has one, opens a call.
func (t *callTable) begins(open *openCall, d callDelta, exact bool) bool {
	name, args := string(d.Function.Name), d.Function.Arguments.text
	object := strings.HasPrefix(strings.TrimLeft(args.String(), " \r\n\t"), "{")
	none := len(open.args.text) == 0
	switch {
	case name == "" && d.ID == "":
		return false
	case name == "":
		// An id alone continues, some servers make one up for each piece. But
		// nothing continues a whole object.
		return open.id != "" && open.args.whole() && (object || args == "" && d.Index.Set && !exact)
	case d.ID != "":
		late := open.id == "" && open.name == name && none
		middle := open.name == name && open.args.open() && args != "" && !object
		return !late && !middle
	case d.Index.Set && !exact:
		return true
	case open.name == "":
		return false
	case open.name == name:
		return open.args.whole() && object
	}
	return !none || !t.declares(open.name+name)
}

// declares reports whether a declared name begins with prefix.
func (t *callTable) declares(prefix string) bool {
	for name := range t.declared {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// known takes a delta whose id is c's.
func (t *callTable) known(c *openCall, d callDelta) piece {
	if !d.Index.Set || !c.index.Set || d.Index == c.index {
		return t.goOn(c, d)
	}
	for _, k := range c.copies {
		if k.index == d.Index {
			k.args.push(d.Function.Arguments.text)
			return piece{}
		}
	}
	if d.Function.Name == "" && !c.args.whole() {
		return t.goOn(c, d) // only the index jumped
	}
	k := &callCopy{index: d.Index}
	k.args.arriving.Secret = t.secret
	k.args.push(d.Function.Arguments.text)
	c.copies = append(c.copies, k)
	t.opened++
	return piece{}
}

// goOn adds d to c. The first id stays; of names, pieces of a declared one are
// joined, repetitions and others are not.
func (t *callTable) goOn(c *openCall, d callDelta) piece {
	if c.id == "" {
		c.id = string(d.ID)
	}
	switch name := string(d.Function.Name); {
	case name == "" || name == c.name:
	case c.name == "":
		c.name = name
	case len(c.args.text) == 0 && t.declares(c.name+name):
		c.name += name
	default:
		t.note(NoteNameKept, fmt.Sprintf("a later piece of call %q names %q", c.name, name))
	}
	return piece{call: c, text: c.args.push(d.Function.Arguments.text)}
}

// finish gives c as it is kept. fresh makes an id where there is none that is
// the call's alone.
func (t *callTable) finish(c *openCall, fresh func(id string) string) *transcript.Call {
	out := &transcript.Call{ID: t.secret.Redact(c.id), Name: t.secret.Redact(c.name)}
	var mended bool
	out.Arguments, out.ArgumentsError, mended = c.args.finish()
	if mended {
		t.note(NoteArgumentsMended, fmt.Sprintf("arguments of call %q held half a surrogate pair", c.name))
	}
	if len(bytes.TrimSpace(c.args.rest)) > 0 && out.ArgumentsError == "" {
		t.note(NoteCallMerged, fmt.Sprintf("the arguments of call %q came twice", c.name))
	}
	for _, k := range c.copies {
		raw, reason, _ := k.args.finish()
		switch {
		case len(k.args.text) == 0 || reason == out.ArgumentsError && bytes.Equal(raw, out.Arguments):
			t.note(NoteCallMerged, fmt.Sprintf("call %q came twice under one id", c.name))
		case out.ArgumentsError == "":
			out.ArgumentsError = fmt.Sprintf("the call id came twice with different arguments: %s and %s", c.args.text, k.args.text)
			out.Arguments = emptyObject()
		}
	}
	if id := fresh(out.ID); id != out.ID {
		if out.ID != "" {
			t.note(NoteIDReplaced, fmt.Sprintf("the endpoint gave call %q the id %q of an earlier turn", out.Name, out.ID))
		}
		out.ID = id
	}
	return out
}

func emptyObject() []byte { return []byte("{}") }
