// Package secret finds credentials in text by patterns that hardly ever match
// anything else.
package secret

import (
	"bytes"
	"iter"
)

// Match is a credential in a text.
type Match struct {
	Kind     string // for people
	From, To int    // in bytes
}

// Finder finds credentials. It may be used by several goroutines.
type Finder struct{ patterns []pattern }

// pattern is a kind of credential: a literal that few texts have, and a check
// of what stands around it.
type pattern struct {
	kind    string
	literal []byte
	shape   shape
}

// shape finds the credential at a literal that stands in text from i to j.
type shape func(text []byte, i, j int) (from, to int, ok bool)

// New returns a finder of all kinds.
func New() *Finder {
	var (
		github = token(isAlnum, 36, 255)
		slack  = token(isDashed, 10, 255)
		aws    = token(isUpper, 16, 16)
	)
	return &Finder{patterns: []pattern{
		{"Anthropic API key", []byte("sk-ant-"), token(isDashed, 20, 255)},
		{"OpenAI-style API key", []byte("sk-"), openAIKey},
		{"AWS access key id", []byte("AKIA"), aws},
		{"AWS access key id", []byte("ASIA"), aws},
		{"GitHub token", []byte("ghp_"), github},
		{"GitHub token", []byte("gho_"), github},
		{"GitHub token", []byte("ghu_"), github},
		{"GitHub token", []byte("ghs_"), github},
		{"GitHub token", []byte("ghr_"), github},
		{"GitHub token", []byte("github_pat_"), token(isDashed, 50, 255)},
		{"Slack token", []byte("xoxa-"), slack},
		{"Slack token", []byte("xoxb-"), slack},
		{"Slack token", []byte("xoxp-"), slack},
		{"Slack token", []byte("xoxr-"), slack},
		{"Slack token", []byte("xoxs-"), slack},
		{"Google API key", []byte("AIza"), token(isDashed, 35, 35)},
		{"private key", []byte("PRIVATE KEY-----"), privateKey},
		{"bearer token", []byte("earer "), bearer},
	}}
}

// Find yields the credentials in a text, kind by kind. The text may be decoded
// or the inside of a JSON document.
func (f *Finder) Find(text []byte) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		for i := range f.patterns {
			if !f.patterns[i].find(text, yield) {
				return
			}
		}
	}
}

func (p *pattern) find(text []byte, yield func(Match) bool) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], p.literal)
		if i < 0 {
			return true
		}
		i += at
		at = i + len(p.literal)
		from, to, ok := p.shape(text, i, at)
		if ok && !placeholder(text[from:to]) && !yield(Match{p.kind, from, to}) {
			return false
		}
	}
}

// Mask replaces the credentials in a text by stars.
func (f *Finder) Mask(text string) string {
	var masked []byte
	for m := range f.Find([]byte(text)) {
		if masked == nil {
			masked = []byte(text)
		}
		for i := m.From; i < m.To; i++ {
			masked[i] = '*'
		}
	}
	if masked == nil {
		return text
	}
	return string(masked)
}

// token is the literal at the start of a word, and least to most characters of
// an alphabet behind it.
func token(in func(byte) bool, least, most int) shape {
	return func(text []byte, i, j int) (int, int, bool) {
		end := j
		for end < len(text) && end-j <= most && in(text[end]) {
			end++
		}
		n := end - j
		return i, end, n >= least && n <= most && startsWord(text, i)
	}
}

// startsWord reports whether no word goes on at i. The letter of an escape
// such as \n is no word.
func startsWord(text []byte, i int) bool {
	return i == 0 || !isDashed(text[i-1]) || i > 1 && text[i-2] == '\\'
}

// openAIKey is sk- and a long run of letters and digits, maybe behind a short
// prefix such as proj-. Words with dashes between them are no key.
func openAIKey(text []byte, i, j int) (from, to int, ok bool) {
	const least = 20
	from, to, ok = token(isDashed, least, 255)(text, i, j)
	if !ok || bytes.HasPrefix(text[j:], []byte("ant-")) {
		return from, to, false
	}
	digits, run, longest := 0, 0, 0
	for _, c := range text[j:to] {
		if c >= '0' && c <= '9' {
			digits++
		}
		if run++; !isAlnum(c) {
			run = 0
		}
		longest = max(longest, run)
	}
	return from, to, digits > 0 && longest >= 16
}

// privateKey is the head of a PEM block with the beginning of a key behind it.
// Programs that look for the head alone are no key.
func privateKey(text []byte, i, j int) (from, to int, ok bool) {
	head := []byte("-----BEGIN ")
	from = bytes.LastIndex(text[max(0, i-40):i], head)
	if from < 0 {
		return i, j, false
	}
	from += max(0, i-40)
	to = j
	for to < len(text) && (text[to] == '\\' || text[to] == '\n' || text[to] == '\r' || text[to] == ' ') {
		if text[to] == '\\' {
			to++ // the letter of \n
		}
		to++
	}
	body := to
	for to < len(text) && (isAlnum(text[to]) || text[to] == '+' || text[to] == '/' || text[to] == '=') {
		to++
	}
	return from, min(to, len(text)), body > j && to-body >= 6
}

// bearer is the value of an Authorization header.
func bearer(text []byte, i, j int) (from, to int, ok bool) {
	const least = 16
	to = j
	for to < len(text) && (isDashed(text[to]) || bytes.IndexByte([]byte("._~+/="), text[to]) >= 0) {
		to++
	}
	before := bytes.ToLower(text[max(0, i-32):i])
	return j, to, to-j >= least && bytes.Contains(before, []byte("authorization")) && i > 0 && (text[i-1] == 'B' || text[i-1] == 'b')
}

// placeholder reports whether a credential is one of a manual.
func placeholder(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, mark := range []string{"example", "xxxx", "your", "placeholder", "dummy", "redacted", "****", "changeme", "test-key", "fake"} {
		if bytes.Contains(lower, []byte(mark)) {
			return true
		}
	}
	return false
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }

func isAlnum(c byte) bool { return isUpper(c) || c >= 'a' && c <= 'z' }

func isDashed(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }
