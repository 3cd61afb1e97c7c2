package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/loop/provider/wire/loose"
)

// arguments are the arguments of a call while they arrive.
type arguments struct {
	arriving wire.Text
	text     []byte
	scan     objectScan
	rest     []byte // what came after one whole object
}

// push adds a piece and returns what of it became part of the arguments.
func (a *arguments) push(piece loose.Text) string { return a.add(a.arriving.Push(piece)) }

func (a *arguments) add(s string) string {
	if len(a.rest) > 0 {
		a.rest = append(a.rest, s...)
		return ""
	}
	if n := a.scan.end(s); n < len(s) {
		a.rest = append(a.rest, s[n:]...)
		s = s[:n]
	}
	a.text = append(a.text, s...)
	return s
}

// whole reports whether one complete object has arrived.
func (a *arguments) whole() bool { return a.scan.whole }

// open reports whether an object has begun and not ended.
func (a *arguments) open() bool { return a.scan.depth > 0 }

// objectScan follows one JSON object through its pieces.
type objectScan struct {
	depth            int
	inString, escape bool
	foreign          bool // something else than an object began
	whole            bool
}

// end returns how many bytes of s belong to the arguments: all of them until
// the first object is whole, then only white space.
func (o *objectScan) end(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			o.escape = false
		case o.whole:
			return i
		case o.foreign:
		case o.depth == 0 && c != '{':
			o.foreign = true
		case o.escape:
			o.escape = false
		case o.inString:
			o.escape, o.inString = c == '\\', c != '"'
		case c == '"':
			o.inString = true
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			o.depth--
			o.whole = o.depth == 0
		}
	}
	return len(s)
}

// finish gives the arguments as they are kept: an object, byte for byte but for
// lone halves of surrogate pairs, and else {} with the reason and the raw text.
func (a *arguments) finish() (raw json.RawMessage, reason string, mended bool) {
	a.add(a.arriving.Flush())
	text, rest := bytes.TrimSpace(a.text), bytes.TrimSpace(a.rest)
	if len(rest) > 0 && !bytes.Equal(rest, text) {
		return emptyObject(), fmt.Sprintf("two argument texts for one call: %s and then %s", text, rest), false
	}
	if len(text) == 0 {
		return emptyObject(), "", false
	}
	text, mended = loose.MendEscapes(text)
	if err := checkObject(text); err != nil {
		return emptyObject(), fmt.Sprintf("%v: %s", err, text), mended
	}
	return json.RawMessage(text), "", mended
}

// checkObject reports what keeps text from being one JSON object that every
// reader reads alike: of a key that stands twice, some keep the first value and
// some the last.
func checkObject(text []byte) error {
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return fmt.Errorf("not valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if text[0] != '{' {
		return errors.New("not a JSON object")
	}
	return uniqueKeys(json.NewDecoder(bytes.NewReader(text)))
}

// uniqueKeys walks one value of valid JSON.
func uniqueKeys(dec *json.Decoder) error {
	dec.UseNumber() // a number too large for a float64 is an error to others
	open, _ := dec.Token()
	if _, nested := open.(json.Delim); !nested {
		return nil
	}
	for seen := map[json.Token]bool{}; dec.More(); {
		if open == json.Delim('{') {
			key, _ := dec.Token()
			if seen[key] {
				return fmt.Errorf("key %q stands twice", key)
			}
			seen[key] = true
		}
		if err := uniqueKeys(dec); err != nil {
			return err
		}
	}
	_, _ = dec.Token() // the end
	return nil
}
