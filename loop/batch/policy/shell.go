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
	text   string // its words, unquoted, one space between them; unknown stands for what is only known when it runs
	opaque bool   // what it runs is only known when it runs: $CMD, a decoded pipe into sh
	writes bool   // it redirects output into a file, or changes what later commands mean
	guess  bool   // it may be what a runner runs; only deny rules look at it
}

// unknown stands in a command's text for an expansion.
const unknown = "\x00"

// base is the command with its program's name alone: /usr/bin/sudo is sudo.
func (c shellCommand) base() string {
	name, rest, _ := strings.Cut(c.text, " ")
	return strings.TrimSpace(path.Base(name) + " " + rest)
}

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
		if stmt, ok := n.(*syntax.Stmt); ok {
			found = append(found, statement(stmt, depth)...)
		}
		return true
	})
	return found, nil
}

// statement is what a statement runs by itself; statements inside of it are
// walked to.
func statement(stmt *syntax.Stmt, depth int) []shellCommand {
	writes := redirects(stmt)
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			return newCommandLine(c.Args).commands(writes || len(c.Assigns) > 0, depth)
		}
		// PATH=/tmp/x; git log: it is not git that runs.
		return []shellCommand{{text: assignments(c.Assigns), writes: true}}
	case *syntax.DeclClause:
		return []shellCommand{{text: strings.TrimSpace(c.Variant.Value + " " + assignments(c.Args)), writes: true}}
	}
	if writes {
		return []shellCommand{{writes: true}}
	}
	return nil
}

func assignments(list []*syntax.Assign) string {
	var words []string
	for _, a := range list {
		value, _ := wordText(a.Value)
		switch {
		case a.Name == nil:
			words = append(words, value)
		case a.Naked:
			words = append(words, a.Name.Value)
		default:
			words = append(words, a.Name.Value+"="+value)
		}
	}
	return strings.Join(words, " ")
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

// commandLine is the words of a simple command after brace expansion, and
// which of them are known before it runs.
type commandLine struct {
	words   []string
	literal []bool
}

func newCommandLine(args []*syntax.Word) commandLine {
	var l commandLine
	for _, w := range args {
		for _, w := range braces(w) { // {sudo,id} is two words
			text, literal := wordText(w)
			l.words, l.literal = append(l.words, text), append(l.literal, literal)
		}
	}
	return l
}

// maxGuesses bounds the words behind a runner that are looked at as commands.
const maxGuesses = 256

// commands is the simple command, and what it runs if it is there to run
// others.
func (l commandLine) commands(writes bool, depth int) []shellCommand {
	var found []shellCommand
	guessed := false
	for i := 0; i < len(l.words); {
		c := shellCommand{text: strings.Join(l.words[i:], " "), writes: writes}
		c.opaque = !l.literal[i] || strings.ContainsAny(l.words[i], "*?[") || opaqueCommand(l, i)
		at := inner(l.words, i)
		if program, ok := l.program(i); ok {
			commands, err := commandsWithin(program, depth+1)
			c.opaque = c.opaque || err != nil || strings.Contains(program, unknown)
			found = append(found, commands...)
			at = len(l.words)
		} else if isRunner(l.words[i]) && !guessed {
			guessed = true
			found = append(found, l.guesses(i, depth)...)
			c.opaque = c.opaque || len(l.words)-i > maxGuesses
		}
		if path.Base(l.words[i]) == "xargs" || i > 0 && path.Base(l.words[0]) == "xargs" {
			c.text += " " + unknown // its input becomes arguments
		}
		found = append(found, c)
		for _, command := range l.executed(i) {
			found = append(found, command.commands(writes, depth)...)
		}
		if !l.literal[i] {
			break
		}
		i = at
	}
	return found
}

// guesses are what the runner at i may run: which of its words is an option's
// value, and which the command, is known to the runner alone.
func (l commandLine) guesses(i, depth int) []shellCommand {
	var found []shellCommand
	for k := i + 1; k < min(len(l.words), i+maxGuesses); k++ {
		if !l.literal[k] {
			continue
		}
		found = append(found, shellCommand{text: strings.Join(l.words[k:], " "), guess: true})
		if program, ok := l.program(k); ok {
			commands, err := commandsWithin(program, depth+1)
			found = append(found, shellCommand{opaque: err != nil || strings.Contains(program, unknown), guess: true})
			for _, c := range commands {
				c.guess = true
				found = append(found, c)
			}
		}
	}
	return found
}

// wordText is a word without its quotes. literal is false if a part of it is
// only known when it runs.
func wordText(w *syntax.Word) (text string, literal bool) {
	if w == nil {
		return "", true
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
			if p.Dollar && strings.Contains(p.Value, `\`) { // $'\163udo'
				literal = false
				b.WriteString(unknown)
				continue
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			literal = partsText(b, p.Parts) && literal
		default:
			literal = false
			b.WriteString(unknown)
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

// maxBraces bounds what a word with braces may become.
const maxBraces = 256

// braces expands {a,b} as the shell does, before everything else. Sequences
// stay as they are: {1..9} names no command.
func braces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}
	}
	words := expandBraces(split.Parts)
	if len(words) == 0 || len(words) > maxBraces {
		return []*syntax.Word{w}
	}
	return words
}

func expandBraces(parts []syntax.WordPart) []*syntax.Word {
	all := []*syntax.Word{{}}
	for _, part := range parts {
		variants := []*syntax.Word{{Parts: []syntax.WordPart{part}}}
		if b, ok := part.(*syntax.BraceExp); ok && !b.Sequence {
			variants = nil
			for _, elem := range b.Elems {
				variants = append(variants, expandBraces(elem.Parts)...)
			}
		}
		if len(all)*len(variants) > maxBraces {
			return nil
		}
		var next []*syntax.Word
		for _, head := range all {
			for _, tail := range variants {
				next = append(next, &syntax.Word{Parts: slices.Concat(head.Parts, tail.Parts)})
			}
		}
		all = next
	}
	return all
}
