package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/verify"
)

// Selection is which rules run, and how: all of them as they are, until
// something else is said. What is said later wins.
type Selection struct {
	all        []verify.Rule
	off        []string // choices that leave a rule out, -ID
	severities map[string]verify.Severity
	values     map[string]verify.Values
}

// Select begins with all rules.
func Select(all []verify.Rule) *Selection {
	return &Selection{all: all, severities: map[string]verify.Severity{}, values: map[string]verify.Values{}}
}

// Configure sets the level and the options of a rule.
func (s *Selection) Configure(id, level string, options map[string]any) error {
	r, err := verify.Find(s.all, id)
	if err != nil {
		return err
	}
	if s.values[id], err = values(r, options); err != nil {
		return err
	}
	return s.Level(id, level)
}

// Level sets off, on, a severity, or nothing.
func (s *Selection) Level(id, level string) error {
	if _, err := verify.Find(s.all, id); err != nil || level == "" {
		return err
	}
	s.off = slices.DeleteFunc(s.off, func(was string) bool { return was == "-"+id })
	switch level {
	case "off":
		s.off = append(s.off, "-"+id)
		return nil
	case "on":
		return nil
	}
	severity, err := verify.ParseSeverity(level)
	if err != nil {
		return fmt.Errorf("level %q of %s: want error, warning, note, on or off", level, id)
	}
	s.severities[id] = severity
	return nil
}

// Choose applies choices as [verify.Select] does, and returns the rules that
// run with their settings. What is off comes first: naming a rule turns it on.
func (s *Selection) Choose(choices []string) ([]verify.Rule, verify.Options, error) {
	if len(choices) > 0 && strings.IndexAny(choices[0], "+-") != 0 {
		s.off = nil // only what is named runs
	}
	rules, err := verify.Select(s.all, slices.Concat(s.off, choices))
	if err != nil {
		return nil, verify.Options{}, err
	}
	// The engine knows the rules that run, and takes settings for them only.
	idle := func(id string) bool {
		return !slices.ContainsFunc(rules, func(r verify.Rule) bool { return r.ID == id })
	}
	maps.DeleteFunc(s.severities, func(id string, _ verify.Severity) bool { return idle(id) })
	maps.DeleteFunc(s.values, func(id string, _ verify.Values) bool { return idle(id) })
	return rules, verify.Options{Severities: s.severities, Rules: s.values}, nil
}

// values checks options of a rule. Names are compared without case: who reads
// configuration may have lost it.
func values(r verify.Rule, set map[string]any) (verify.Values, error) {
	checked := verify.Values{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		i := slices.IndexFunc(r.Options, func(o verify.Option) bool { return strings.EqualFold(o.Name, name) })
		if i < 0 {
			known := []string{"severity"}
			for _, o := range r.Options {
				known = append(known, o.Name)
			}
			return nil, fmt.Errorf("unknown option %q (known: %s)", name, strings.Join(known, ", "))
		}
		o := r.Options[i]
		n, ok := set[name].(int)
		if !ok {
			return nil, fmt.Errorf("option %s: want a number, have %v", o.Name, set[name])
		}
		if n < o.Least {
			return nil, fmt.Errorf("option %s: want %d or more, have %d", o.Name, o.Least, n)
		}
		checked[o.Name] = n
	}
	return checked, nil
}
