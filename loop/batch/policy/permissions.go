package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Permissions decides which calls run. Deny wins; what nothing names goes by
// the default. Nobody is asked: an unattended run has nobody. What the values
// of arguments stand for says the tool.
type Permissions struct {
	rules task.Permissions
	stop  *Stop
	dir   string // where paths begin, absolute
}

// NewPermissions enforces the rules of a task whose tools work in a directory.
func NewPermissions(rules task.Permissions, dir string, stop *Stop) *Permissions {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return &Permissions{rules: rules, stop: stop, dir: dir}
}

// Policy returns the seam; it is empty if there are no rules.
func (p *Permissions) Policy() Policy {
	if p.rules.Default != task.Deny && len(p.rules.Deny) == 0 {
		return Policy{}
	}
	return Policy{BeforeTool: p.beforeTool, FinishTurn: p.finishTurn}
}

// Restore looks for the denial that ended the task before its process could say
// so. calls are those of the last answer, made of tools; said is the text of a
// result.
func (p *Permissions) Restore(tools []loop.Tool, calls []*transcript.Call, said func(id string) string) {
	if p.rules.OnDeny != task.OnDenyStop {
		return
	}
	for _, c := range calls {
		t := loop.Tool{Tool: transcript.Tool{Name: c.Name}}
		if i := slices.IndexFunc(tools, func(t loop.Tool) bool { return t.Name == c.Name }); i >= 0 {
			t = tools[i]
		}
		if why := p.denies(&t, c.Arguments); why != "" && said(c.ID) == denied(why) {
			p.stop.Set(Denied, why)
		}
	}
}

// denied is the result of a call that is denied.
func denied(why string) string { return "Permission denied: " + why }

func (p *Permissions) beforeTool(_ context.Context, c loop.ToolCallInfo) (loop.Verdict, error) {
	if status, _ := p.stop.Status(); status == Denied {
		return loop.Verdict{Block: true, Reason: "Not executed: a call of this task was denied, and the task ends"}, nil
	}
	why := p.denies(c.Tool, c.Call.Arguments)
	if why == "" {
		return loop.Verdict{}, nil
	}
	if p.rules.OnDeny == task.OnDenyStop {
		p.stop.Set(Denied, why)
	}
	return loop.Verdict{Block: true, Reason: denied(why)}, nil
}

func (p *Permissions) finishTurn(context.Context, loop.Turn) (loop.Decision, error) {
	if status, _ := p.stop.Status(); status == Denied {
		return loop.End, nil
	}
	return loop.Default, nil
}

// denies says why a call may not run, "" if it may.
func (p *Permissions) denies(t *loop.Tool, args json.RawMessage) string {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(args, &values) // arguments that are no object have no values
	for _, rule := range p.rules.Deny {
		if matchTool(rule.Tool, t.Name) && p.denied(rule, t, values) {
			return fmt.Sprintf("the task denies %s", describe(rule))
		}
	}
	if p.rules.Default != task.Deny {
		return ""
	}
	var rules []task.Permission
	for _, rule := range p.rules.Allow {
		if matchTool(rule.Tool, t.Name) {
			rules = append(rules, rule)
		}
	}
	if !p.allowed(rules, t, values) {
		return fmt.Sprintf("the task does not allow this call of %s", t.Name)
	}
	return ""
}

func describe(r task.Permission) string {
	if r.Argument == "" {
		return r.Tool
	}
	return fmt.Sprintf("%s with %s %q", r.Tool, r.Argument, r.Pattern)
}

// matchTool compares a tool's name with a pattern. A pattern that cannot be
// read was refused with the task file.
func matchTool(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// text is a value as rules see it: a string as it is, any other as its JSON.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}

// denied reports whether a rule forbids a call: one command of a shell program
// is enough, and so is a program that cannot be read; and one of several files.
func (p *Permissions) denied(rule task.Permission, t *loop.Tool, values map[string]json.RawMessage) bool {
	if rule.Argument == "" {
		return true
	}
	raw, there := values[rule.Argument]
	value := text(raw)
	switch {
	case t.Arguments[rule.Argument] == loop.Shell:
		return shellDenied(rule.Pattern, value)
	case !there:
		return false
	case matchText(rule.Pattern, value) || matchText(rule.Pattern, cleaned(value)):
		return true
	case t.Arguments[rule.Argument] != loop.Path:
		return false
	}
	for _, file := range paths(raw) {
		for _, name := range meanings(file) {
			if matchAny(rule.Pattern, slices.Concat(p.names(name)...)) {
				return true
			}
		}
	}
	return false
}

func shellDenied(pattern, program string) bool {
	commands, err := shellCommands(program)
	if err != nil {
		return true
	}
	for _, c := range commands {
		if c.opaque || mayMatch(pattern, c.text) || mayMatch(pattern, c.base()) {
			return true
		}
	}
	return matchText(pattern, program)
}

// allowed reports whether rules, all of which name the tool, cover a call. Of a
// shell program they must cover every single command, by whichever rule, and
// of files every one, in each of the arguments that rules name.
func (p *Permissions) allowed(rules []task.Permission, t *loop.Tool, values map[string]json.RawMessage) bool {
	patterns := map[string][]string{} // by argument
	for _, rule := range rules {
		if rule.Argument == "" {
			return true
		}
		patterns[rule.Argument] = append(patterns[rule.Argument], rule.Pattern)
	}
	for name, kind := range t.Arguments {
		if kind == loop.Shell {
			return shellAllowed(patterns[name], text(values[name]))
		}
	}
	named, covered := 0, 0 // arguments with files
	for name, patterns := range patterns {
		value, there := values[name]
		switch {
		case t.Arguments[name] == loop.Path:
			named++
			if p.filesAllowed(patterns, paths(value)) {
				covered++
			}
		case there && slices.ContainsFunc(patterns, func(pattern string) bool { return matchText(pattern, cleaned(text(value))) }):
			return true
		}
	}
	return named > 0 && covered == named
}

func (p *Permissions) filesAllowed(patterns, files []string) bool {
	for _, file := range files {
		names := p.names(file)
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			return !slices.ContainsFunc(names, func(n []string) bool { return !matchAny(pattern, n) })
		}) {
			return false
		}
	}
	return len(files) > 0
}

// shellAllowed reports whether each command of a program matches a pattern.
func shellAllowed(patterns []string, program string) bool {
	commands, err := shellCommands(program)
	if err != nil || len(commands) == 0 {
		return false
	}
	for _, c := range commands {
		matched := slices.ContainsFunc(patterns, func(pattern string) bool { return matchText(pattern, c.text) })
		if !c.guess && (c.opaque || c.writes || !matched) {
			return false
		}
	}
	return true
}

// mayMatch reports whether a command can match a pattern, whatever its unknown
// parts turn out to be. A pattern that begins with a star may match anything
// unknown: of those, only what is known counts, or every variable would be
// forbidden.
func mayMatch(pattern, text string) bool {
	if !strings.Contains(text, unknown) || strings.HasPrefix(pattern, "*") {
		return matchText(pattern, text)
	}
	// reach[i] says that pattern[:i] can match what was read of text.
	reach := make([]bool, len(pattern)+1)
	open := func() { // a star is nothing, too
		for i := range len(pattern) {
			reach[i+1] = reach[i+1] || reach[i] && pattern[i] == '*'
		}
	}
	reach[0] = true
	open()
	for j := range len(text) {
		if text[j] == unknown[0] {
			for i := range len(pattern) {
				reach[i+1] = reach[i+1] || reach[i]
			}
			continue
		}
		for i := len(pattern) - 1; i >= 0; i-- {
			reach[i+1] = pattern[i] == '*' && reach[i+1] || pattern[i] != '*' && reach[i] && pattern[i] == text[j]
		}
		reach[0] = false
		open()
	}
	return reach[len(pattern)]
}

// matchText compares a text with a pattern in which * is any text.
func matchText(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}
