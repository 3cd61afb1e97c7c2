package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellCommand is one simple command of a shell program.
type shellCommand struct {
	text   string // its words, unquoted, one space between them
	opaque bool   // what it runs is only known when it runs: $CMD, eval, a decoded pipe
	writes bool   // it redirects output into a file
}

// base is the command with its program's name alone: /usr/bin/sudo is sudo.
func (c shellCommand) base() string {
	name, rest, _ := strings.Cut(c.text, " ")
	return strings.TrimSpace(path.Base(name) + " " + rest)
}

// runners take another command as their arguments; what they run counts as a
// command of its own.
var runners = map[string]bool{
	"sudo": true, "doas": true, "env": true, "nice": true, "nohup": true, "timeout": true, "time": true,
	"xargs": true, "exec": true, "command": true, "builtin": true, "busybox": true, "stdbuf": true, "setsid": true,
}

// shells run the text behind their -c.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true}

// maxShellDepth bounds programs inside of programs inside of …
const maxShellDepth = 8

// shellCommands finds every simple command of a shell program, wherever it
// stands: in lists, pipes, subshells, substitutions, functions. Matching the
// text as a whole would let "true; sudo x" pass a rule for "true *".
func shellCommands(program string) ([]shellCommand, error) { return commandsWithin(program, 0) }

func commandsWithin(program string, depth int) ([]shellCommand, error) {
	if depth > maxShellDepth {
		return nil, fmt.Errorf("shell text is nested deeper than %d", maxShellDepth)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(program), "")
	if err != nil {
		return nil, fmt.Errorf("parse shell text: %w", err)
	}
	var found []shellCommand
	syntax.Walk(file, func(n syntax.Node) bool {
		stmt, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		writes := redirects(stmt)
		if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			found = append(found, simpleCommands(call, writes, depth)...)
		} else if writes {
			found = append(found, shellCommand{writes: true})
		}
		return true
	})
	return found, nil
}

// redirects reports whether a statement writes a file by itself.
func redirects(s *syntax.Stmt) bool {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob, syntax.RdrInOut:
			if text, literal := wordText(r.Word); !literal || text != "/dev/null" {
				return true
			}
		}
	}
	return false
}

// simpleCommands is a call, and what it runs if it is there to run others.
func simpleCommands(call *syntax.CallExpr, writes bool, depth int) []shellCommand {
	words := make([]string, len(call.Args))
	literal := make([]bool, len(call.Args))
	for i, w := range call.Args {
		words[i], literal[i] = wordText(w)
	}
	var found []shellCommand
	for i := 0; i < len(words); {
		c := shellCommand{text: strings.Join(words[i:], " "), opaque: !literal[i], writes: writes || len(call.Assigns) > 0}
		at := inner(words, i)
		if at < len(words) && embedded(words, i) {
			text := strings.Join(words[at:], " ")
			commands, err := commandsWithin(text, depth+1)
			c.opaque = c.opaque || err != nil || slices.Contains(literal[at:], false)
			found = append(found, commands...)
			at = len(words)
		}
		found = append(found, c)
		if !literal[i] {
			break
		}
		i = at
	}
	return found
}

// embedded reports whether the command at i takes the text of a program.
func embedded(words []string, i int) bool {
	name := path.Base(words[i])
	return name == "eval" || shells[name]
}

// inner is where what the command at i runs begins: another command, or the
// text of a program; len(words) if it runs nothing.
func inner(words []string, i int) int {
	name, rest := path.Base(words[i]), words[i+1:]
	index := func(options ...string) int {
		n := slices.IndexFunc(rest, func(w string) bool { return slices.Contains(options, w) })
		if n < 0 {
			return len(words)
		}
		return i + n + 2
	}
	switch {
	case name == "eval":
		return i + 1
	case shells[name]:
		return index("-c", "-ec", "-lc", "-xc", "-euc")
	case name == "find":
		return index("-exec", "-execdir", "-ok", "-okdir")
	case runners[name]:
		return skipOptions(words, i+1)
	}
	return len(words)
}

// skipOptions finds the command behind a runner's own options, assignments and
// numbers (of timeout and nice).
func skipOptions(words []string, i int) int {
	for i < len(words) {
		w := words[i]
		number := strings.Trim(w, "0123456789.smhd") == ""
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && !number {
			break
		}
		i++
	}
	return i
}

// wordText is a word without its quotes. literal is false if a part of it is
// only known when it runs.
func wordText(w *syntax.Word) (text string, literal bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	literal = partsText(&b, w.Parts)
	return b.String(), literal
}

func partsText(b *strings.Builder, parts []syntax.WordPart) (literal bool) {
	literal = true
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
			literal = literal && !p.Dollar
		case *syntax.DblQuoted:
			literal = partsText(b, p.Parts) && literal
		default:
			literal = false
			b.WriteString("$")
		}
	}
	return literal
}

// unescaped takes the backslashes out of a literal: s\udo is sudo.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
