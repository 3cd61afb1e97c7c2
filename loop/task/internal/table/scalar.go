package table

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Kind is the type of a scalar.
type Kind int

// The kinds of scalars.
const (
	Untyped Kind = iota // out of the environment: text, or whatever is wanted
	TextKind
	IntegerKind
	NumberKind
	BooleanKind
	NullKind
	ListKind
)

// Scalar is a scalar value after its expressions were expanded.
type Scalar struct {
	Kind  Kind
	Text  string   // numbers as JSON writes them
	Items []Scalar // of a list, which only an expression can name
	whole bool     // the value was exactly one expression
}

// Scalar reads a scalar. Want is what the place holds, for the message.
func (d *Decoder) Scalar(n *Node, want string) (Scalar, bool) {
	if !n.IsScalar() {
		d.At(n, "", "want %s, found %s", want, n.Describe())
		return Scalar{}, false
	}
	if n.tag() == "!!str" && d.Lookup != nil {
		return d.expand(n)
	}
	s, problem := n.plain()
	if problem != "" {
		d.At(n, "", "%s", problem)
	}
	return s, problem == ""
}

// plain reads a scalar as it stands. What YAML 1.1 and YAML 1.2 read
// differently is refused, as nobody can know which was meant.
func (n *Node) plain() (Scalar, string) {
	switch n.tag() {
	case "!!bool":
		if b := strings.ToLower(n.Value); b == "true" || b == "false" {
			return Scalar{Kind: BooleanKind, Text: b}, ""
		}
		return Scalar{}, Quote(n.Value) + " is no boolean; write true or false"
	case "!!null":
		return Scalar{Kind: NullKind}, ""
	case "!!int", "!!float":
		return numberScalar(n.Value)
	}
	return Scalar{Kind: TextKind, Text: n.Value}, "" // a date is text in YAML 1.2
}

var (
	jsonInteger  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)$`)
	jsonNumber   = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)
	leadingZeros = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
)

// numberScalar reads a number. Digits that JSON has too are kept as they are,
// however many.
func numberScalar(text string) (Scalar, string) {
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	switch {
	case leadingZeros.MatchString(text):
		return Scalar{}, Quote(text) + " is octal to some readers and decimal to others; drop the zeros or quote it"
	case jsonInteger.MatchString(plain):
		return Scalar{Kind: IntegerKind, Text: plain}, ""
	case jsonNumber.MatchString(plain):
		return Scalar{Kind: NumberKind, Text: plain}, ""
	}
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return Scalar{Kind: IntegerKind, Text: strconv.FormatInt(i, 10)}, ""
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return Scalar{}, Quote(text) + " is no number that JSON can hold"
	}
	return Scalar{Kind: NumberKind, Text: strconv.FormatFloat(f, 'g', -1, 64)}, ""
}

// As is the scalar as one of that kind, if it is one; what is untyped is what
// its text can be.
func (s Scalar) As(k Kind) (Scalar, bool) {
	ok := s.Kind == k || s.Kind == IntegerKind && k == NumberKind
	if s.Kind == Untyped {
		switch k {
		case TextKind:
			ok = true
		case IntegerKind:
			ok = jsonInteger.MatchString(s.Text)
		case NumberKind:
			ok = jsonNumber.MatchString(s.Text)
		case BooleanKind:
			ok = s.Text == "true" || s.Text == "false"
		}
	}
	return Scalar{Kind: k, Text: s.Text, Items: s.Items}, ok
}

// Describe is how the scalar is called in messages.
func (s Scalar) Describe() string {
	switch s.Kind {
	case NullKind:
		return "nothing"
	case BooleanKind:
		return s.Text
	case IntegerKind, NumberKind:
		return "the number " + s.Text
	case ListKind:
		return "a list"
	}
	return Quote(s.Text)
}

// unlike is the problem of a scalar that is not what is wanted.
func (s Scalar) unlike(want, hint string) *Problem {
	return &Problem{Msg: "want " + want + ", found " + s.Describe(), Hint: hint}
}

// SplitList reads a list out of one text: [a, b] as in YAML, or a,b.
func SplitList(text string) Scalar {
	s := Scalar{Kind: ListKind}
	var items []string
	asYAML := strings.HasPrefix(strings.TrimSpace(text), "[") && yaml.Unmarshal([]byte(text), &items) == nil
	if !asYAML && text != "" {
		items = strings.Split(text, ",")
	}
	for _, item := range items {
		s.Items = append(s.Items, Scalar{Kind: TextKind, Text: strings.TrimSpace(item)})
	}
	return s
}
