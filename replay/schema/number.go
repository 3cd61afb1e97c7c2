package schema

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Numbers are computed with exactly, so that one of a few bytes can cost any
// amount of memory: 1e999999999 has a billion digits. float64 ends at 1e308.
const (
	maxExponent = 1000
	maxDigits   = 10000
)

func bounded(literal string) bool {
	if len(literal) > maxDigits {
		return false
	}
	i := strings.IndexAny(literal, "eE")
	if i < 0 {
		return true
	}
	e, err := strconv.Atoi(literal[i+1:])
	return err == nil && -maxExponent <= e && e <= maxExponent
}

var (
	decimal  = regexp.MustCompile(`^([+-]?)(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
	prefixed = regexp.MustCompile(`^0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)$`)
	bigint   = regexp.MustCompile(`^-?\d+n$`)
)

// numeric reads a text as a number, in the notations that JavaScript's Number
// and BigInt know, and returns it as a JSON literal of the same value. Empty
// text is no number.
func numeric(s string) (literal string, ok bool) {
	s = strings.Trim(s, " \t\r\n\v\f\u00a0\u2028\u2029\ufeff")
	switch {
	case len(s) > maxDigits:
		return "", false
	case prefixed.MatchString(s):
		n, ok := new(big.Int).SetString(s, 0)
		return n.String(), ok
	case bigint.MatchString(s):
		s = strings.TrimSuffix(s, "n")
	}
	m := decimal.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	whole, fraction, _ := strings.Cut(m[2], ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	literal = strings.TrimPrefix(m[1], "+") + whole + m[3]
	return literal, bounded(literal)
}

// integral returns the digits of a number that has no fraction: 1e2 and 100.0
// are 100.
func integral(literal string) (digits string, ok bool) {
	if !strings.ContainsAny(literal, ".eE") {
		return literal, true
	}
	r, ok := new(big.Rat).SetString(literal)
	if !ok || !r.IsInt() {
		return "", false
	}
	return r.Num().String(), true
}

// written is the text of a number: an integer's digits, anything else as it
// was written. A power of ten too long to be written out stays one, as in
// JavaScript.
func written(literal string) string {
	digits, ok := integral(literal)
	if !ok || len(strings.TrimPrefix(digits, "-")) > 21 {
		return literal
	}
	return digits
}
