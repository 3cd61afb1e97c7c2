package task

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// kind is the type of a scalar.
type kind int

const (
	untyped kind = iota // out of the environment: text, or whatever is wanted
	stringKind
	integerKind
	numberKind
	booleanKind
	nullKind
	listKind
)

// scalar is a scalar value after its expressions were expanded.
type scalar struct {
	kind  kind
	text  string // numbers as JSON writes them
	items []scalar
	whole bool // the value was exactly one expression
}

// scalar reads a scalar node. Want is what the place holds, for the message.
func (d *decoder) scalar(n *yaml.Node, want string) (scalar, bool) {
	if n.Kind != yaml.ScalarNode {
		d.at(n, "", "want %s, found %s", want, kindName(n))
		return scalar{}, false
	}
	if n.ShortTag() == "!!str" {
		return d.expand(n)
	}
	s, problem := plainScalar(n)
	if problem != "" {
		d.at(n, "", "%s", problem)
		return scalar{}, false
	}
	return s, true
}

// plainScalar reads a scalar that is no text. What YAML 1.1 and YAML 1.2 read
// differently is refused, as nobody can know which was meant.
func plainScalar(n *yaml.Node) (scalar, string) {
	switch n.ShortTag() {
	case "!!bool":
		if b := strings.ToLower(n.Value); b == "true" || b == "false" {
			return scalar{kind: booleanKind, text: b}, ""
		}
		return scalar{}, quoted(n.Value) + " is no boolean; write true or false"
	case "!!null":
		return scalar{kind: nullKind}, ""
	case "!!int", "!!float":
		return numberScalar(n.Value)
	}
	return scalar{kind: stringKind, text: n.Value}, "" // a date is text in YAML 1.2
}

var (
	jsonInteger  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)$`)
	jsonNumber   = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)
	leadingZeros = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
)

// numberScalar reads a number. Digits that JSON has too are kept as they are,
// however many.
func numberScalar(text string) (scalar, string) {
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	switch {
	case leadingZeros.MatchString(text):
		return scalar{}, quoted(text) + " is octal to some readers and decimal to others; drop the zeros or quote it"
	case jsonInteger.MatchString(plain):
		return scalar{kind: integerKind, text: plain}, ""
	case jsonNumber.MatchString(plain):
		return scalar{kind: numberKind, text: plain}, ""
	}
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return scalar{kind: integerKind, text: strconv.FormatInt(i, 10)}, ""
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return scalar{}, quoted(text) + " is no number that JSON can hold"
	}
	return scalar{kind: numberKind, text: strconv.FormatFloat(f, 'g', -1, 64)}, ""
}

// describe is how a scalar is called in messages.
func (s scalar) describe() string {
	switch s.kind {
	case nullKind:
		return "nothing"
	case booleanKind:
		return s.text
	case integerKind, numberKind:
		return "the number " + s.text
	case listKind:
		return "a list"
	}
	return quoted(s.text)
}

// text is any text, the empty one too.
func text() value[string] {
	return value[string]{schema: &schemaNode{Type: "string"}, decode: decodeText}
}

func decodeText(d *decoder, n *yaml.Node) (string, bool) {
	s, ok := d.scalar(n, "a text")
	if !ok {
		return "", false
	}
	switch {
	case s.kind == stringKind || s.kind == untyped:
		return s.text, true
	case s.whole && s.kind != listKind && s.kind != nullKind:
		return s.text, true // a number out of a variable
	}
	hint := ""
	if s.kind == integerKind || s.kind == numberKind || s.kind == booleanKind {
		hint = "write it in quotes"
	}
	d.at(n, hint, "want a text, found %s", s.describe())
	return "", false
}

// filled is a text that is not blank.
func filled() value[string] {
	return value[string]{
		schema: &schemaNode{Type: "string", MinLength: 1},
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			s, ok := decodeText(d, n)
			if ok && strings.TrimSpace(s) == "" {
				d.at(n, "", "the text is empty")
				return "", false
			}
			return s, ok
		},
	}
}

// matching is a text of a certain shape; what names it.
func matching(pattern, what string) value[string] {
	shape := regexp.MustCompile(pattern)
	return value[string]{
		schema: orExpression(&schemaNode{Type: "string", Pattern: pattern}),
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			s, ok := decodeText(d, n)
			if ok && !shape.MatchString(s) {
				d.at(n, "", "want %s, found %s", what, quoted(s))
				return "", false
			}
			return s, ok
		},
	}
}

// oneOf is one of a few words.
func oneOf[S ~string](words ...S) value[S] {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return value[S]{
		schema: orExpression(&schemaNode{Enum: names}),
		decode: func(d *decoder, n *yaml.Node) (S, bool) {
			s, ok := decodeText(d, n)
			if ok && !slices.Contains(names, s) {
				d.at(n, suggest(s, names, "values"), "unknown value %s", quoted(s))
				return "", false
			}
			return S(s), ok
		},
	}
}

// boolean is true or false.
func boolean() value[bool] {
	return value[bool]{
		schema: orExpression(&schemaNode{Type: "boolean"}),
		decode: func(d *decoder, n *yaml.Node) (bool, bool) {
			s, ok := d.scalar(n, "true or false")
			if !ok {
				return false, false
			}
			if s.kind == booleanKind || s.kind == untyped && (s.text == "true" || s.text == "false") {
				return s.text == "true", true
			}
			d.at(n, "", "want true or false, found %s", s.describe())
			return false, false
		},
	}
}

// integer is a whole number within bounds.
func integer(least, most int) value[int] {
	return value[int]{
		schema: orExpression(&schemaNode{Type: "integer", Minimum: new(least), Maximum: new(most)}),
		decode: func(d *decoder, n *yaml.Node) (int, bool) {
			s, ok := d.scalar(n, "a whole number")
			if !ok {
				return 0, false
			}
			i, err := strconv.Atoi(s.text)
			if s.kind != integerKind && s.kind != untyped || !jsonInteger.MatchString(s.text) {
				d.at(n, "", "want a whole number, found %s", s.describe())
				return 0, false
			}
			if err != nil || i < least || i > most {
				d.at(n, "", "want a whole number from %d to %d, found %s", least, most, s.text)
				return 0, false
			}
			return i, true
		},
	}
}

// signed is any number.
func signed() value[float64] {
	return value[float64]{
		schema: orExpression(&schemaNode{Type: "number"}),
		decode: func(d *decoder, n *yaml.Node) (float64, bool) {
			s, ok := d.scalar(n, "a number")
			if !ok {
				return 0, false
			}
			f, err := strconv.ParseFloat(s.text, 64)
			if s.kind != integerKind && s.kind != numberKind && s.kind != untyped || err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
				d.at(n, "", "want a number, found %s", s.describe())
				return 0, false
			}
			return f, true
		},
	}
}

// number is a number that is not negative.
func number() value[float64] {
	return atLeast(&schemaNode{Type: "number", Minimum: new(0)}, "not negative", func(f float64) bool { return f >= 0 })
}

// positive is a number above zero: a bound of 0 would read as no bound.
func positive() value[float64] {
	return atLeast(&schemaNode{Type: "number", ExclusiveMinimum: new(0)}, "above zero", func(f float64) bool { return f > 0 })
}

func atLeast(s *schemaNode, what string, holds func(float64) bool) value[float64] {
	return value[float64]{
		schema: orExpression(s),
		decode: func(d *decoder, n *yaml.Node) (float64, bool) {
			f, ok := signed().decode(d, n)
			if ok && !holds(f) {
				d.at(n, "", "want a number that is %s, found %s", what, strconv.FormatFloat(f, 'g', -1, 64))
				return 0, false
			}
			return f, ok
		},
	}
}

// duration is a span of time such as 30s, 2m or 1h30m; never negative or zero.
func duration() value[time.Duration] {
	return value[time.Duration]{
		schema: orExpression(&schemaNode{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`}),
		decode: func(d *decoder, n *yaml.Node) (time.Duration, bool) {
			s, ok := d.scalar(n, "a duration")
			if !ok {
				return 0, false
			}
			span, err := time.ParseDuration(s.text)
			if s.kind != stringKind && s.kind != untyped || err != nil {
				d.at(n, "write it with its unit: 500ms, 30s, 2m, 1h", "want a duration, found %s", s.describe())
				return 0, false
			}
			if span <= 0 {
				d.at(n, "", "want a duration above zero, found %s", quoted(s.text))
				return 0, false
			}
			return span, true
		},
	}
}

// units are the suffixes of an amount.
type units map[string]int64

// bytesUnits follow what tools print: KB are 1024 bytes here as in "50KB" of
// a truncated output. Counts are decimal.
var (
	byteUnits  = units{"B": 1, "KB": 1 << 10, "KiB": 1 << 10, "MB": 1 << 20, "MiB": 1 << 20}
	countUnits = units{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6}
)

// maxSize bounds what a tool shows the model: as JSON, a byte takes up to six,
// and a line of a transcript has 64 MiB.
const maxSize = 8 << 20

// size is a number of bytes: 4096 or 50KB.
func size() value[int64] {
	v := amount("a size", "write bytes as a number, or 50KB, 2MB", `^[0-9]+(\.[0-9]+)?(B|KB|KiB|MB|MiB)$`, byteUnits)
	decode := v.decode
	v.decode = func(d *decoder, n *yaml.Node) (int64, bool) {
		got, ok := decode(d, n)
		if ok && got > maxSize {
			d.at(n, "", "want a size of at most 8MB, found %s", n.Value)
			return 0, false
		}
		return got, ok
	}
	return v
}

// count is a number of things: 200000 or 200k.
func count() value[int64] {
	return amount("a count", "write a number, or 200k, 1.5M", `^[0-9]+(\.[0-9]+)?[kKmM]$`, countUnits)
}

func amount(what, hint, pattern string, u units) value[int64] {
	shape := regexp.MustCompile(pattern)
	return value[int64]{
		schema: &schemaNode{AnyOf: []*schemaNode{{Type: "integer", Minimum: new(1)}, {Type: "string", Pattern: pattern}, ref("expression")}},
		decode: func(d *decoder, n *yaml.Node) (int64, bool) {
			s, ok := d.scalar(n, what)
			if !ok {
				return 0, false
			}
			got, valid := int64(0), false
			switch {
			case jsonInteger.MatchString(s.text) && (s.kind == integerKind || s.kind == untyped):
				i, err := strconv.ParseInt(s.text, 10, 64)
				got, valid = i, err == nil
			case shape.MatchString(s.text) && (s.kind == stringKind || s.kind == untyped):
				got, valid = u.parse(s.text)
			}
			if !valid || got < 1 {
				d.at(n, hint, "want %s, found %s", what, s.describe())
				return 0, false
			}
			return got, true
		},
	}
}

// parse reads digits with a suffix.
func (u units) parse(s string) (int64, bool) {
	digits := strings.TrimRight(s, "BKMikm")
	f, err := strconv.ParseFloat(digits, 64)
	product := f * float64(u[s[len(digits):]])
	if err != nil || product > math.MaxInt64/2 || product != math.Trunc(product) {
		return 0, false
	}
	return int64(product), true
}
