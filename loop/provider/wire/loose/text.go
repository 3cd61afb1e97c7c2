package loose

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Text is a string of a chunk as it came, the inside of a JSON string with its
// escapes. Servers cut tokens and characters apart; what encoding/json would
// turn into U+FFFD can be joined with the next one ([Joiner]). Null and
// everything that is no string is empty.
type Text string

// Quote gives the text that reads s.
func Quote(s string) Text { return inside(transcript.AppendString(nil, s)) }

// String reads t alone.
func (t Text) String() string {
	if strings.IndexByte(string(t), '\\') < 0 && utf8.ValidString(string(t)) {
		return string(t)
	}
	var s string
	_ = json.Unmarshal([]byte(`"`+t+`"`), &s) // it was a JSON string
	return s
}

// UnmarshalJSON takes a string, or an array of text parts.
func (t *Text) UnmarshalJSON(b []byte) error {
	*t = ""
	switch {
	case len(b) >= 2 && b[0] == '"':
		*t = inside(b)
	case len(b) > 0 && b[0] == '[':
		var parts []struct {
			Type string
			Text Text
		}
		_ = json.Unmarshal(b, &parts) // what is no text part is not text
		for _, p := range parts {
			*t += p.Text
		}
	}
	return nil
}

func inside(quoted []byte) Text { return Text(quoted[1 : len(quoted)-1]) }

// Joiner reads texts that are pieces of one. It holds back a character whose
// end may be in the next one.
type Joiner struct{ held Text }

// Push takes a piece and gives what can be read of it.
func (j *Joiner) Push(piece Text) string {
	t := j.held + piece
	n := len(t) - unfinished(string(t))
	j.held = t[n:]
	return t[:n].String()
}

// Flush reads what was held back, after the last piece.
func (j *Joiner) Flush() string {
	s := j.held.String()
	j.held = ""
	return s
}

// unfinished counts the bytes at the end of s that may begin a character: the
// escape of the first half of a surrogate pair, or the first bytes of UTF-8.
func unfinished(s string) int {
	if n := len(s) - len(`\ud83d`); n >= 0 && s[n] == '\\' && firstHalf.MatchString(s[n:]) {
		if before := strings.TrimRight(s[:n], `\`); (n-len(before))%2 == 0 {
			return len(`\ud83d`)
		}
	}
	for n := 1; n <= min(len(s), utf8.UTFMax-1); n++ {
		if tail := s[len(s)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

var (
	firstHalf = regexp.MustCompile(`^\\u[dD][89abAB]`)
	// escape is a whole pair, else the half of one, else anything else.
	escape = regexp.MustCompile(`\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|\\u[dD][89a-fA-F][[:xdigit:]]{2}|\\.`)
)

// MendEscapes replaces, in JSON text, escapes of half a surrogate pair by \ufffd: a
// history that holds one is refused by providers from then on.
func MendEscapes(text []byte) (mended []byte, was bool) {
	mended = escape.ReplaceAllFunc(text, func(e []byte) []byte {
		if len(e) != len(`\ud83d`) {
			return e
		}
		was = true
		return []byte(`\ufffd`)
	})
	return mended, was
}
