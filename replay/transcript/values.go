package transcript

import (
	"encoding/json"
	"math"
	"strconv"
)

// field reads the current member if it is a string; false if it is not.
func (p *parser) field(o *object, dst *string) bool {
	if p.Peek() != '"' {
		return p.misfit(o)
	}
	*dst = p.Str()
	return true
}

// integer reads the current member if it is a whole number.
func (p *parser) integer(o *object, dst *int64) bool {
	if n, ok := p.SmallInteger(); ok {
		*dst = n
		return true
	}
	start := p.Pos
	lit := string(p.Value())
	n, err := strconv.ParseInt(lit, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(lit, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			p.Pos = start
			return p.misfit(o)
		}
		n = int64(f)
	}
	*dst = n
	return true
}

// float reads the current member if it is a number.
func (p *parser) float(o *object, dst *float64) bool {
	if n, ok := p.SmallInteger(); ok {
		*dst = float64(n)
		return true
	}
	start := p.Pos
	f, err := strconv.ParseFloat(string(p.Value()), 64)
	if err != nil {
		p.Pos = start
		return p.misfit(o)
	}
	*dst = f
	return true
}

// boolean reads the current member if it is true or false.
func (p *parser) boolean(o *object, dst *bool) bool {
	switch p.Peek() {
	case 't':
		p.Literal("true")
		*dst = true
	case 'f':
		p.Literal("false")
		*dst = false
	default:
		return p.misfit(o)
	}
	return true
}

// whole is integer for a small number.
func (p *parser) whole(o *object, dst *int) bool {
	n := int64(*dst)
	ok := p.integer(o, &n)
	*dst = int(n)
	return ok
}

// free reads a value that the format does not interpret.
func (p *parser) free(_ *object, dst *json.RawMessage) bool {
	*dst = p.Raw()
	return true
}

// nested reads the current member if it is a message.
func (p *parser) nested(o *object, dst **Message) bool {
	if *dst = nil; p.Peek() != '{' {
		return p.misfit(o)
	}
	*dst = zero(p.loan, &p.loan.messages)
	p.message(*dst)
	return true
}
