package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Permissions decides which calls run. Deny wins; what nothing names goes by
// the default. Nobody is asked: an unattended run has nobody.
type Permissions struct {
	rules task.Permissions
	stop  *Stop
	dir   string // absolute; "" knows files only as they are written
}

// NewPermissions enforces the rules of a task.
func NewPermissions(rules task.Permissions, stop *Stop) *Permissions {
	return &Permissions{rules: rules, stop: stop}
}

// Within says where file tools work, so that a file is known under each of its
// names.
func (p *Permissions) Within(dir string) *Permissions {
	if abs, err := filepath.Abs(dir); err == nil {
		p.dir = abs
	}
	return p
}

// Policy returns the seam; it is empty if there are no rules.
func (p *Permissions) Policy() Policy {
	if p.rules.Default != task.Deny && len(p.rules.Deny) == 0 {
		return Policy{}
	}
	return Policy{BeforeTool: p.beforeTool, FinishTurn: p.finishTurn}
}

// Restore looks for the denial that ended the task before its process could say
// so. calls are those of the last answer, said is the text of a result.
func (p *Permissions) Restore(calls []*transcript.Call, said func(id string) string) {
	if p.rules.OnDeny != task.OnDenyStop {
		return
	}
	for _, c := range calls {
		if why := p.denies(c.Name, c.Arguments); why != "" && said(c.ID) == denied(why) {
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
	why := p.denies(c.Call.Name, c.Call.Arguments)
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
func (p *Permissions) denies(tool string, args json.RawMessage) string {
	values := stringArguments(args)
	for _, rule := range p.rules.Deny {
		if matchTool(rule.Tool, tool) && p.denied(rule, tool, values) {
			return fmt.Sprintf("the task denies %s", describe(rule))
		}
	}
	if p.rules.Default != task.Deny {
		return ""
	}
	var rules []task.Permission
	for _, rule := range p.rules.Allow {
		if matchTool(rule.Tool, tool) {
			rules = append(rules, rule)
		}
	}
	if !p.allowed(rules, tool, values) {
		return fmt.Sprintf("the task does not allow this call of %s", tool)
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

// stringArguments are the arguments as text, by name: strings as they are,
// other values as their JSON.
func stringArguments(args json.RawMessage) map[string]string {
	var raw map[string]json.RawMessage
	if json.Unmarshal(args, &raw) != nil {
		return nil
	}
	values := make(map[string]string, len(raw))
	for name, v := range raw {
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		values[name] = s
	}
	return values
}

// shellTool is the tool whose argument is a shell program, and shellArgument
// its name.
const (
	shellTool     = "bash"
	shellArgument = "command"
)

// denied reports whether a rule forbids a call: one command of a shell
// program is enough, and so is a program that cannot be read.
func (p *Permissions) denied(rule task.Permission, tool string, values map[string]string) bool {
	if rule.Argument == "" {
		return true
	}
	value, there := values[rule.Argument]
	if tool == shellTool && rule.Argument == shellArgument {
		commands, err := shellCommands(value)
		if err != nil {
			return true
		}
		for _, c := range commands {
			if c.opaque || mayMatch(rule.Pattern, c.text) || mayMatch(rule.Pattern, c.base()) {
				return true
			}
		}
		return matchText(rule.Pattern, value)
	}
	if there && p.namesFile(rule, tool) {
		written, real := p.spellings(value)
		return matchText(rule.Pattern, value) || matchAny(rule.Pattern, written) || matchAny(rule.Pattern, real)
	}
	return there && (matchText(rule.Pattern, value) || matchText(rule.Pattern, cleaned(value)))
}

// allowed reports whether rules, all of which name the tool, cover a call: of
// a shell program every single command, by whichever rule.
func (p *Permissions) allowed(rules []task.Permission, tool string, values map[string]string) bool {
	if tool == shellTool {
		return shellAllowed(rules, values[shellArgument])
	}
	for _, rule := range rules {
		value, there := values[rule.Argument]
		switch {
		case rule.Argument == "":
			return true
		case !there:
		case p.namesFile(rule, tool):
			if written, real := p.spellings(value); matchAny(rule.Pattern, written) && matchAny(rule.Pattern, real) {
				return true
			}
		case matchText(rule.Pattern, cleaned(value)):
			return true
		}
	}
	return false
}

func shellAllowed(rules []task.Permission, program string) bool {
	for _, rule := range rules {
		if rule.Argument == "" {
			return true
		}
	}
	commands, err := shellCommands(program)
	if err != nil || len(commands) == 0 {
		return false
	}
	for _, c := range commands {
		ok := c.guess
		for _, rule := range rules {
			ok = ok || rule.Argument == shellArgument && !c.opaque && !c.writes && matchText(rule.Pattern, c.text)
		}
		if !ok {
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
