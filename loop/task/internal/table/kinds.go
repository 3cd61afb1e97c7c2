package table

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scalarOf makes a kind of value that is written as one scalar.
func scalarOf[V any](want string, schema func() *Schema, read func(Scalar) (V, *Problem)) Value[V] {
	return Value[V]{schema, func(d *Decoder, n *Node) (got V, ok bool) {
		s, ok := d.Scalar(n, want)
		if !ok {
			return got, false
		}
		got, problem := read(s)
		if problem != nil {
			d.add(n.Line, n.Column, *problem)
		}
		return got, problem == nil
	}}
}

// Plain is a text, a number, true or false.
func Plain() Value[Scalar] {
	const want = "a text or a number"
	return scalarOf(want, func() *Schema { return &Schema{} }, func(s Scalar) (Scalar, *Problem) {
		if s.Kind == NullKind || s.Kind == ListKind {
			return s, s.unlike(want, "")
		}
		return s, nil
	})
}

// Text is any text, the empty one too.
func Text() Value[string] {
	const want = "a text"
	return scalarOf(want, func() *Schema { return &Schema{Type: "string"} }, func(s Scalar) (string, *Problem) {
		switch s.Kind {
		case TextKind, Untyped:
			return s.Text, nil
		case NullKind, ListKind:
			return "", s.unlike(want, "")
		}
		if s.whole {
			return s.Text, nil // a number out of a variable
		}
		return "", s.unlike(want, "write it in quotes")
	})
}

// Filled is a text that is not blank.
func Filled() Value[string] {
	return Text().Says(filledSchema).Then(func(d *Decoder, n *Node, s *string) {
		if strings.TrimSpace(*s) == "" {
			d.At(n, "", "the text is empty")
		}
	})
}

// Matching is a text of a certain shape; want names it.
func Matching(shape *regexp.Regexp, want string) Value[string] {
	return Text().Then(func(d *Decoder, n *Node, s *string) {
		if !shape.MatchString(*s) {
			d.At(n, "", "want %s, found %s", want, Quote(*s))
		}
	}).Says(func() *Schema { return orExpression(&Schema{Type: "string", Pattern: shape.String()}) })
}

var (
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	envPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
)

// EnvName is the name of an environment variable.
func EnvName() Value[string] { return Matching(envName, "the name of an environment variable") }

// EnvPattern is such a name, or its beginning with a star.
func EnvPattern() Value[string] {
	return Matching(envPattern, "the name of an environment variable, or its beginning and *")
}

// Regexp is a regular expression in Go's syntax.
func Regexp() Value[string] {
	return Filled().Then(func(d *Decoder, n *Node, s *string) {
		if _, err := regexp.Compile(*s); err != nil {
			d.At(n, "", "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	})
}

// OneOf is one of a few words.
func OneOf(words ...string) Value[string] {
	return Text().Then(func(d *Decoder, n *Node, s *string) {
		if !slices.Contains(words, *s) {
			d.At(n, Suggest(*s, words, "values"), "unknown value %s", Quote(*s))
		}
	}).Says(func() *Schema { return orExpression(&Schema{Enum: words}) })
}

// Boolean is true or false.
func Boolean() Value[bool] {
	const want = "true or false"
	return scalarOf(want, func() *Schema { return orExpression(&Schema{Type: "boolean"}) }, func(s Scalar) (bool, *Problem) {
		if _, ok := s.As(BooleanKind); !ok {
			return false, s.unlike(want, "")
		}
		return s.Text == "true", nil
	})
}

// Integer is a whole number within bounds.
func Integer(least, most int) Value[int] {
	const want = "a whole number"
	schema := func() *Schema { return orExpression(&Schema{Type: "integer", Minimum: &least, Maximum: &most}) }
	return scalarOf(want, schema, func(s Scalar) (int, *Problem) {
		if _, ok := s.As(IntegerKind); !ok {
			return 0, s.unlike(want, "")
		}
		i, err := strconv.Atoi(s.Text)
		if err != nil || i < least || i > most {
			return 0, &Problem{Msg: fmt.Sprintf("want a whole number from %d to %d, found %s", least, most, s.Text)}
		}
		return i, nil
	})
}

// Number is any number.
func Number() Value[float64] {
	const want = "a number"
	return scalarOf(want, func() *Schema { return orExpression(&Schema{Type: "number"}) }, func(s Scalar) (float64, *Problem) {
		f, err := strconv.ParseFloat(s.Text, 64)
		typed := s.Kind == IntegerKind || s.Kind == NumberKind || s.Kind == Untyped
		if !typed || err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return 0, s.unlike(want, "")
		}
		return f, nil
	})
}

// NotNegative is a number from zero.
func NotNegative() Value[float64] {
	return numberThat("not negative", &Schema{Type: "number", Minimum: new(0)}, func(f float64) bool { return f >= 0 })
}

// Positive is a number above zero: a bound of 0 would read as no bound.
func Positive() Value[float64] {
	return numberThat("above zero", &Schema{Type: "number", ExclusiveMinimum: new(0)}, func(f float64) bool { return f > 0 })
}

func numberThat(what string, s *Schema, holds func(float64) bool) Value[float64] {
	return Number().Says(func() *Schema { return orExpression(s) }).Then(func(d *Decoder, n *Node, f *float64) {
		if !holds(*f) {
			d.At(n, "", "want a number that is %s, found %s", what, strconv.FormatFloat(*f, 'g', -1, 64))
		}
	})
}

// Duration is a span of time such as 30s, 2m or 1h30m; never negative or zero.
func Duration() Value[time.Duration] {
	const want = "a duration"
	schema := func() *Schema {
		return orExpression(&Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`})
	}
	return scalarOf(want, schema, func(s Scalar) (time.Duration, *Problem) {
		span, err := time.ParseDuration(s.Text)
		if _, ok := s.As(TextKind); !ok || err != nil {
			return 0, s.unlike(want, "write it with its unit: 500ms, 30s, 2m, 1h")
		}
		if span <= 0 {
			return 0, s.unlike("a duration above zero", "")
		}
		return span, nil
	})
}

// Size is a number of bytes: 4096 or 50KB. A KB has 1024 bytes, as in "50KB" of
// a truncated output.
func Size() Value[int64] {
	units := map[string]float64{"B": 1, "KB": 1 << 10, "KiB": 1 << 10, "MB": 1 << 20, "MiB": 1 << 20}
	return amount("a size", "write bytes as a number, or 50KB, 2MB", sizeShape, units)
}

// Count is a number of things: 200000 or 200k, which is decimal.
func Count() Value[int64] {
	return amount("a count", "write a number, or 200k, 1.5M", countShape, map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6})
}

var (
	sizeShape  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(B|KB|KiB|MB|MiB)$`)
	countShape = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?[kKmM]$`)
)

// amount is a positive number of units.
func amount(want, hint string, shape *regexp.Regexp, units map[string]float64) Value[int64] {
	schema := func() *Schema {
		return &Schema{AnyOf: []*Schema{{Type: "integer", Minimum: new(1)}, {Type: "string", Pattern: shape.String()}, Ref("expression")()}}
	}
	return scalarOf(want, schema, func(s Scalar) (got int64, problem *Problem) {
		if _, whole := s.As(IntegerKind); whole {
			i, err := strconv.ParseInt(s.Text, 10, 64)
			if err == nil {
				got = i
			}
		} else if _, ok := s.As(TextKind); ok && shape.MatchString(s.Text) {
			digits := strings.TrimRight(s.Text, "BKMikm")
			f, err := strconv.ParseFloat(digits, 64)
			if product := f * units[s.Text[len(digits):]]; err == nil && product <= math.MaxInt64/2 && product == math.Trunc(product) {
				got = int64(product)
			}
		}
		if got < 1 {
			return 0, s.unlike(want, hint)
		}
		return got, nil
	})
}
