package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Rule is something that can be wrong with a transcript.
type Rule struct {
	ID       string             // kebab-case; never given to another rule
	Group    string             // heading in the table of rules
	Severity Severity           // the worst that the rule reports
	Title    string             // one line: what is wrong
	Why      string             // why it matters, with the evidence
	Fix      string             // what to do about it
	Quiet    string             // what looks like it and is legal
	Since    string             // version of turnlog that brought it
	Needs    foreign.Capability // what a format must be able to tell

	// Bad and Good are transcripts, one record a line: Bad gives a finding of
	// this rule and of no other, Good gives none. Both are executed by tests.
	Bad, Good string

	// Options are what a user may set, with their defaults.
	Options []Option

	// New returns the rule at work on one file. Values hold the options,
	// defaults filled in.
	New func(Values) Checker
}

// Option is a number that a rule can be told.
type Option struct {
	Name    string
	Default int
	Least   int // smaller numbers are an error
	Doc     string
}

// Values are options by name.
type Values map[string]int

// Checker is a rule at work on one file. Functions that are nil are not
// called. The first group is called once for a line or entry, in file order;
// the second along each path from the root to a leaf, where [Pass.Path] has
// the state before the entry.
type Checker struct {
	Line  func(p *Pass, l *transcript.Line)  // each physical line, damaged ones and blank ones too
	Entry func(p *Pass, e *transcript.Entry) // each record, headers too
	End   func(p *Pass)                      // the end of the file

	Step    func(p *Pass, e *transcript.Entry)   // each entry
	Message func(p *Pass, m *transcript.Message) // each message
	Call    func(p *Pass, c *Call)               // each tool call
	Answer  func(p *Pass, a *Answer)             // each tool result

	// Unanswered is called for each call that has no result: at the end of a
	// path, and where a later call takes the id. Copies of a call and calls
	// that a provider never sees again (failed turns, edits) are left out.
	Unanswered func(p *Pass, c *Call)
	Leaf       func(p *Pass) // the end of a path; Pass.Active tells whether the file ends there

	// Memory returns what the rule remembers along a path, at the root. It is
	// at [Pass.Memory] in functions of the second group.
	Memory func() Memory
}

// Memory is what a rule remembers along a path. It is cloned wherever a path
// forks, so Clone must cost the same however much there is to remember.
type Memory interface{ Clone() Memory }

// UnknownRuleError says that there is no rule with an id.
type UnknownRuleError struct {
	ID      string
	Nearest []string // ids that are spelled alike, nearest first
}

func (e *UnknownRuleError) Error() string {
	if len(e.Nearest) == 0 {
		return fmt.Sprintf("no rule is called %q", e.ID)
	}
	return fmt.Sprintf("no rule is called %q: did you mean %s?", e.ID, strings.Join(e.Nearest, ", "))
}

// Find returns the rule with an id. The error is an *UnknownRuleError.
func Find(rules []Rule, id string) (Rule, error) {
	for _, r := range rules {
		if r.ID == id {
			return r, nil
		}
	}
	return Rule{}, &UnknownRuleError{ID: id, Nearest: text.Nearest(id, ids(rules))}
}

func ids(rules []Rule) []string {
	list := make([]string, 0, len(rules))
	for _, r := range rules {
		list = append(list, r.ID)
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Select chooses among rules. Each choice is an id, with "-" before it to
// leave the rule out or "+" to run it as well; "all" stands for all. Choices
// apply in order, to all rules; if the first one is an id alone, to none: only
// what is named runs. The error is an *UnknownRuleError.
func Select(rules []Rule, choices []string) ([]Rule, error) {
	off := make(map[string]bool)
	if len(choices) > 0 && strings.IndexAny(choices[0], "+-") != 0 {
		choices = slices.Concat([]string{"-all"}, choices)
	}
	for _, choice := range choices {
		id := strings.TrimLeft(choice, "+-")
		drop := strings.HasPrefix(choice, "-")
		if id == "all" {
			for _, r := range rules {
				off[r.ID] = drop
			}
			continue
		}
		if _, err := Find(rules, id); err != nil {
			return nil, err
		}
		off[id] = drop
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return off[r.ID] }), nil
}

// values fills in the defaults of the rule's options. An unknown name is an
// error that lists the known ones, and so is a number that makes no sense.
func (r Rule) values(set Values) (Values, error) {
	v := make(Values, len(r.Options))
	for _, o := range r.Options {
		v[o.Name] = o.Default
		if n, ok := set[o.Name]; ok && n < o.Least {
			return nil, fmt.Errorf("option %s of rule %s: want %d or more, have %d", o.Name, r.ID, o.Least, n)
		}
	}
	for _, name := range sortedKeys(set) {
		if _, ok := v[name]; !ok {
			return nil, fmt.Errorf("rule %s has no option %q (options: %s)", r.ID, name, strings.Join(sortedKeys(v), ", "))
		}
		v[name] = set[name]
	}
	return v, nil
}

// CheckOptions reports what is wrong with severities and options of rules: an
// unknown id is an *UnknownRuleError.
func (o Options) CheckOptions(rules []Rule) error {
	for _, id := range sortedKeys(o.Severities) {
		if _, err := Find(rules, id); err != nil {
			return err
		}
	}
	for _, id := range sortedKeys(o.Rules) {
		r, err := Find(rules, id)
		if err != nil {
			return err
		}
		if _, err := r.values(o.Rules[id]); err != nil {
			return err
		}
	}
	return nil
}
