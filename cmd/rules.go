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
	all := rule.All()
	options := verify.Options{
		Format: o.InputFormat, Slice: o.Slice, Finished: o.Finished,
		Severities: map[string]verify.Severity{}, Rules: map[string]verify.Values{},
	}
	var off []string
	for _, id := range slices.Sorted(maps.Keys(o.Config)) {
		set := o.Config[id]
		r, err := verify.Find(all, id)
		if err != nil {
			return nil, options, asRuleError("rules."+id, err)
		}
		if options.Rules[id], err = ruleValues(r, set.Options); err != nil {
			return nil, options, usagef("rules.%s: %w", id, err)
		}
		if off, err = setLevel(options.Severities, off, id, set.Level); err != nil {
			return nil, options, usagef("rules.%s: %w", id, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(o.Severity)) {
		if _, err := verify.Find(all, id); err != nil {
			return nil, options, asRuleError("--severity", err)
		}
		off = slices.DeleteFunc(off, func(was string) bool { return was == "-"+id })
		var err error
		if off, err = setLevel(options.Severities, off, id, o.Severity[id]); err != nil {
			return nil, options, usagef("--severity %s: %w", id, err)
		}
	}
	// Rules that are off come first: naming one on the command line turns it on.
	rules, err := verify.Select(all, off)
	if err != nil {
		return nil, options, err
	}
	if len(o.Rules) > 0 {
		if !strings.HasPrefix(o.Rules[0], "+") && !strings.HasPrefix(o.Rules[0], "-") {
			off = nil
		}
		rules, err = verify.Select(all, slices.Concat(off, o.Rules))
	}
	if err != nil {
		return nil, options, asRuleError("--rules", err)
	}
	// The engine knows the rules that run, and takes settings for them only.
	for _, r := range all {
		if !slices.ContainsFunc(rules, func(s verify.Rule) bool { return s.ID == r.ID }) {
			delete(options.Severities, r.ID)
			delete(options.Rules, r.ID)
		}
	}
	return rules, options, nil
}

// setLevel reads off, on or a severity.
func setLevel(severities map[string]verify.Severity, off []string, id, level string) ([]string, error) {
	switch level {
	case "off":
		return append(off, "-"+id), nil
	case "", "on":
		return off, nil
	}
	s, err := verify.ParseSeverity(level)
	if err != nil {
		return off, fmt.Errorf("level %q: want error, warning, note or off", level)
	}
	severities[id] = s
	return off, nil
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

// asRuleError makes an unknown rule a usage error that says where it was named.
func asRuleError(where string, err error) error {
	var unknown *verify.UnknownRuleError
	if !errors.As(err, &unknown) {
		return err
	}
	return usagef("%s: %w", where, err).hint("turnlog verify --list lists the rules")
}
