package diff

import (
	"strings"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
)

// Category groups changes by what they are about.
type Category string

// The categories in the order of causes and effects: what a request goes out
// with, what was asked, what the model did, what came of it.
const (
	Tools     Category = "tools"     // declarations that requests went out with
	Prompt    Category = "prompt"    // system text and sections
	Model     Category = "model"     // model, endpoint, thinking level, parameters
	Input     Category = "input"     // messages of users and applications
	Calls     Category = "calls"     // which tools were called
	Arguments Category = "arguments" // of the calls that both sides made
	Results   Category = "results"   // what tools returned
	Stop      Category = "stop"      // stop reasons, errors, how the run ended
	Texts     Category = "texts"     // what the model said on the way
	Answer    Category = "answer"    // the last thing it said
	Entries   Category = "entries"   // compactions, edits, summaries, entries of extensions
	Usage     Category = "usage"     // tokens and cost
	Damaged   Category = "damage"    // damaged lines
)

// Categories lists all of them in that order.
func Categories() []Category {
	return []Category{Tools, Prompt, Model, Input, Calls, Arguments, Results, Stop, Texts, Answer, Entries, Usage, Damaged}
}

// Kind says what became of the subject of a change between a and b.
type Kind = jsondiff.Kind

// The kinds of changes.
const (
	Added   = jsondiff.Added   // only b has it
	Removed = jsondiff.Removed // only a has it
	Changed = jsondiff.Changed
	Moved   = Kind("moved") // the same, in another place
)

// Change is one difference.
type Change struct {
	Category Category `json:"category"`
	Kind     Kind     `json:"kind"`
	Subject  string   `json:"subject"`        // the tool, section, parameter or kind of message
	Path     string   `json:"path,omitempty"` // within the subject, as JSONPath; "" is all of it
	PlaceA   Place    `json:"a"`
	PlaceB   Place    `json:"b"`
	UntilA   int      `json:"untilTurnA,omitempty"` // last turn to which it applies, for what requests went out with
	UntilB   int      `json:"untilTurnB,omitempty"`
	A        any      `json:"valueA,omitempty"` // decoded JSON; absent if the side does not have it
	B        any      `json:"valueB,omitempty"`
}

// Place is where a change stands in one history. The zero Place is nowhere.
type Place struct {
	Line    int `json:"line,omitempty"` // of the file
	Turn    int `json:"turn,omitempty"` // request of the path, from 1
	Message int `json:"message,omitempty"`
}

// place is where a step stands; nil is nowhere.
func place(s *step) Place {
	if s == nil {
		return Place{}
	}
	return Place{Line: s.line, Turn: s.turn, Message: s.number}
}

// changeOf is a change of a field.
func changeOf(f jsondiff.Field, c Category, subject string) Change {
	return Change{Category: c, Kind: f.Kind, Subject: subject, Path: f.Path, A: f.A, B: f.B}
}

// valueChange is a change of a whole value; nil is a side that has none.
func valueChange(c Category, subject string, a, b any) Change {
	return changeOf(jsondiff.Field{Kind: jsondiff.KindOf(a != nil, b != nil), A: a, B: b}, c, subject)
}

// budget bounds the changes of each category that keep what both sides have,
// see [Options].
type budget struct {
	most int // 0 is no bound
	kept map[Category]int
}

func newBudget(most int) budget { return budget{most, map[Category]int{}} }

// keep takes the values of a change that is beyond the bound.
func (b *budget) keep(c *Change) bool {
	b.kept[c.Category]++
	if b.most == 0 || b.kept[c.Category] <= b.most {
		return true
	}
	// A name that shares memory with its line would keep all of it.
	c.A, c.B, c.Subject = nil, nil, strings.Clone(c.Subject)
	return false
}
