package cmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

// rules applies configuration and flags to the table of rules; flags win.
func (o *verifyOptions) rules() ([]verify.Rule, verify.Options, error) {
	s := selection{all: rule.All(), options: verify.Options{
		Format: o.InputFormat, Slice: o.Slice, Finished: o.Finished,
		Severities: map[string]verify.Severity{}, Rules: map[string]verify.Values{},
	}}
	for _, id := range slices.Sorted(maps.Keys(o.Config)) {
		if err := s.configure(id, o.Config[id]); err != nil {
			return nil, s.options, usageWithin("rules."+id, err)
		}
	}
	for _, choice := range o.Severity {
		id, level, ok := strings.Cut(choice, "=")
		if !ok {
			return nil, s.options, usagef("--severity %s: want ID=LEVEL", choice)
		}
		if err := s.level(id, level); err != nil {
			return nil, s.options, usageWithin("--severity", err)
		}
	}
	rules, err := s.choose(o.Rules)
	if err != nil {
		return nil, s.options, usageWithin("--rules", err)
	}
	return rules, s.options, nil
}

// selection is which rules run, and how.
type selection struct {
	all     []verify.Rule
	off     []string // choices that leave a rule out, -ID
	options verify.Options
}

func (s *selection) configure(id string, set ruleSettings) error {
	r, err := verify.Find(s.all, id)
	if err != nil {
		return err
	}
	if s.options.Rules[id], err = ruleValues(r, set.Options); err != nil {
		return err
	}
	return s.level(id, set.Level)
}

// level reads off, on or a severity.
func (s *selection) level(id, level string) error {
	if _, err := verify.Find(s.all, id); err != nil {
		return err
	}
	switch level {
	case "":
		return nil
	case "off":
		s.off = append(s.off, "-"+id)
		return nil
	}
	s.off = slices.DeleteFunc(s.off, func(was string) bool { return was == "-"+id })
	if level == "on" {
		return nil
	}
	severity, err := verify.ParseSeverity(level)
	if err != nil {
		return fmt.Errorf("level %q of %s: want error, warning, note, on or off", level, id)
	}
	s.options.Severities[id] = severity
	return nil
}

// choose applies --rules. What is off comes first: naming a rule turns it on.
func (s *selection) choose(choices []string) ([]verify.Rule, error) {
	if len(choices) > 0 && strings.IndexAny(choices[0], "+-") != 0 {
		s.off = nil // only what is named runs
	}
	rules, err := verify.Select(s.all, slices.Concat(s.off, choices))
	if err != nil {
		return nil, err
	}
	// The engine knows the rules that run, and takes settings for them only.
	runs := func(id string) bool {
		return slices.ContainsFunc(rules, func(r verify.Rule) bool { return r.ID == id })
	}
	maps.DeleteFunc(s.options.Severities, func(id string, _ verify.Severity) bool { return !runs(id) })
	maps.DeleteFunc(s.options.Rules, func(id string, _ verify.Values) bool { return !runs(id) })
	return rules, nil
}

// ruleValues checks options of a rule. Names are compared without case:
// viper has lost it.
func ruleValues(r verify.Rule, set map[string]any) (verify.Values, error) {
	values := verify.Values{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		i := slices.IndexFunc(r.Options, func(o verify.Option) bool { return strings.EqualFold(o.Name, name) })
		if i < 0 {
			return nil, fmt.Errorf("unknown option %q (known: %s)", name, optionNames(r))
		}
		n, ok := set[name].(int)
		if !ok {
			return nil, fmt.Errorf("option %s: want a number, have %v", r.Options[i].Name, set[name])
		}
		if n < r.Options[i].Least {
			return nil, fmt.Errorf("option %s: want %d or more, have %d", r.Options[i].Name, r.Options[i].Least, n)
		}
		values[r.Options[i].Name] = n
	}
	return values, nil
}

func optionNames(r verify.Rule) string {
	known := []string{"severity"}
	for _, o := range r.Options {
		known = append(known, o.Name)
	}
	return strings.Join(known, ", ")
}

// usageWithin makes an error about rules a usage error that says where it was
// made.
func usageWithin(where string, err error) error {
	u := usagef("%s: %w", where, err)
	var unknown *verify.UnknownRuleError
	if errors.As(err, &unknown) {
		return u.hint("turnlog verify --list lists the rules")
	}
	return u
}
