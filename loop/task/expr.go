package task

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// scope is what the names in expressions stand for. A nil map or an empty
// text means that the name has no meaning at this place of the file.
type scope struct {
	env     func(string) (string, bool)
	vars    map[string]scalar // set or defaulted variables
	known   []string          // all declared variables
	matrix  map[string]scalar
	axes    []string
	task    string
	batch   string
	place   string          // in messages: where in the file this is
	broken  map[string]bool // names whose value is wrong and was reported: vars.x, or matrix
	lenient bool            // an environment variable that is missing is no error: the model is not used
}

const (
	exprOpen  = "${{"
	exprClose = "}}"
)

// expand replaces the expressions in a text. A text that is exactly one
// expression keeps the type of what the expression names.
func (d *decoder) expand(n *yaml.Node) (scalar, bool) {
	if !strings.Contains(n.Value, exprOpen) {
		return scalar{kind: stringKind, text: n.Value}, true
	}
	var out strings.Builder
	rest, whole, complete := n.Value, scalar{}, true
	for seen := 0; ; seen++ {
		before, after, found := strings.Cut(rest, exprOpen)
		out.WriteString(before)
		if !found {
			break
		}
		length := exprLength(after)
		if length < 0 {
			line, column := d.locate(n, exprOpen, seen)
			d.add(line, column, "close it with }}", "an expression that does not end")
			return scalar{}, false
		}
		expr := after[:length]
		rest = after[length+len(exprClose):]
		got, ok := d.evaluate(expr, func(hint, format string, args ...any) {
			line, column := d.locate(n, exprOpen, seen)
			d.add(line, column, hint, format, args...)
		})
		complete = complete && ok
		if strings.TrimSpace(n.Value) == exprOpen+expr+exprClose {
			whole = got
			whole.whole = true
		} else if got.kind == listKind {
			d.at(n, "a list can only stand alone", "the list of %s inside of a text", strings.TrimSpace(expr))
			complete = false
		}
		out.WriteString(got.text)
	}
	if whole.whole || !complete {
		return whole, complete
	}
	return scalar{kind: stringKind, text: out.String()}, true
}

// exprLength is where the expression ends; -1 if it does not. Quoted text may
// hold the end mark.
func exprLength(s string) int {
	inQuotes := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			inQuotes = !inQuotes
		case !inQuotes && strings.HasPrefix(s[i:], exprClose):
			return i
		}
	}
	return -1
}

// locate finds line and column of the n-th occurrence of mark in a scalar.
// The tree only knows where the scalar starts, so the text of the file is
// searched from there; an escape in a quoted text can hide it, then the start
// of the scalar has to do.
func (d *decoder) locate(n *yaml.Node, mark string, nth int) (line, column int) {
	for i := n.Line - 1; i >= 0 && i < len(d.doc.lines); i++ {
		text, from := d.doc.lines[i], 0
		if i == n.Line-1 {
			from = byteOffset(text, n.Column-1)
		}
		for {
			at := strings.Index(text[from:], mark)
			if at < 0 {
				break
			}
			if nth == 0 {
				return i + 1, utf8.RuneCountInString(text[:from+at]) + 1
			}
			nth--
			from += at + len(mark)
		}
	}
	return n.Line, n.Column
}

// byteOffset is where the rune with that index starts.
func byteOffset(s string, runes int) int {
	for i := range s {
		if runes <= 0 {
			return i
		}
		runes--
	}
	return len(s)
}

var (
	exprText = regexp.MustCompile(`^'((?:[^']|'')*)'$`)
	exprName = regexp.MustCompile(`^([A-Za-z]+)\.([A-Za-z_][A-Za-z0-9_-]*)$`)
)

// report tells of a problem at the expression at hand.
type report func(hint, format string, args ...any)

// evaluate gives what an expression stands for: the first alternative of
// a ?? b ?? 'text' that is set.
func (d *decoder) evaluate(expr string, problem report) (scalar, bool) {
	terms := splitAlternatives(expr)
	for i, term := range terms {
		if m := exprText.FindStringSubmatch(term); m != nil {
			return scalar{kind: untyped, text: strings.ReplaceAll(m[1], "''", "'")}, true
		}
		m := exprName.FindStringSubmatch(term)
		if m == nil {
			problem("write vars.x, env.NAME, env.NAME ?? 'default', matrix.x, task.id or batch.id",
				"cannot read the expression %s", quoted(strings.TrimSpace(expr)))
			return scalar{}, false
		}
		got, set, ok := d.lookup(m[1], m[2], problem)
		if set || !ok {
			return got, ok
		}
		if i == len(terms)-1 {
			return d.missing(m[1], m[2], problem)
		}
	}
	return scalar{}, false
}

// splitAlternatives cuts an expression at ?? outside of quotes.
func splitAlternatives(expr string) []string {
	var terms []string
	start, inQuotes := 0, false
	for i := 0; i < len(expr); i++ {
		switch {
		case expr[i] == '\'':
			inQuotes = !inQuotes
		case !inQuotes && strings.HasPrefix(expr[i:], "??"):
			terms = append(terms, strings.TrimSpace(expr[start:i]))
			i++
			start = i + 1
		}
	}
	return append(terms, strings.TrimSpace(expr[start:]))
}

// lookup finds a name. Set is false if it may have a value but has none; a
// name that cannot have one is reported.
func (d *decoder) lookup(space, name string, problem report) (got scalar, set, ok bool) {
	if d.scope.broken[space] || d.scope.broken[space+"."+name] {
		return scalar{}, false, false
	}
	switch space {
	case "vars":
		if d.scope.vars == nil {
			break
		}
		if got, set = d.scope.vars[name]; set {
			return got, true, true
		}
		if !slices.Contains(d.scope.known, name) {
			problem(suggest(name, d.scope.known, "variables"), "no variable %q is declared under vars", name)
			return scalar{}, false, false
		}
		return scalar{}, false, true
	case "matrix":
		if d.scope.matrix == nil {
			break
		}
		if got, set = d.scope.matrix[name]; set {
			return got, true, true
		}
		problem(suggest(name, d.scope.axes, "axes"), "the matrix has no axis %q", name)
		return scalar{}, false, false
	case "env":
		return d.lookupEnv(name, problem)
	case "task", "batch":
		return d.lookupID(space, name, problem)
	default:
		problem(suggest(space, []string{"vars", "env", "matrix", "task", "batch"}, "they"), "nothing is called %s in expressions", space)
		return scalar{}, false, false
	}
	problem("", "%s is not known yet %s", space, d.scope.place)
	return scalar{}, false, false
}

// lookupEnv reads the environment. A secret must not come in this way: the
// text would be in the transcript and in the request.
func (d *decoder) lookupEnv(name string, problem report) (got scalar, set, ok bool) {
	text, set := d.scope.env(name)
	if d.secretEnv[name] {
		problem("", "env.%s holds a key, as the file says elsewhere, and would be written into the transcript", name)
		return scalar{}, false, false
	}
	if set && looksLikeKey(text) {
		problem(keyHint, "the value of env.%s looks like an API key and would be written into the transcript", name)
		return scalar{}, false, false
	}
	return scalar{kind: untyped, text: text}, set, true
}

func (d *decoder) lookupID(space, name string, problem report) (got scalar, set, ok bool) {
	if name != "id" {
		problem("did you mean \""+space+".id\"?", "nothing is called %s.%s", space, name)
		return scalar{}, false, false
	}
	id, unknown := d.scope.task, "task.id is not known yet "+d.scope.place
	if space == "batch" {
		id, unknown = d.scope.batch, "batch.id is not known outside of a batch"
	}
	if id == "" {
		problem("", "%s", unknown)
		return scalar{}, false, false
	}
	return scalar{kind: stringKind, text: id}, true, true
}

// missing reports a name without a value.
func (d *decoder) missing(space, name string, problem report) (scalar, bool) {
	switch {
	case space == "env" && d.scope.lenient:
	case space == "env":
		problem("give a default: ${{ env."+name+" ?? 'text' }}", "the environment variable %s is not set", name)
	default:
		problem("set it with --var "+name+"=…, or give it a default", "the variable %q has no value", name)
	}
	return scalar{}, false
}
