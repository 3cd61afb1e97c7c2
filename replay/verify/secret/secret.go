// Package secret finds credentials in text by patterns that hardly ever match
// anything else.
package secret

import (
	"bytes"
	"iter"
	"slices"
)

// Match is a credential in a text.
type Match struct {
	Kind     string // for people
	From, To int    // in bytes
}

// pattern is a kind of credential: a literal that few texts have, and a check
// of what stands around it.
type pattern struct {
	kind    string
	literal string
	anchor  int // place in the literal of the byte that is looked for
	shape   shape
}

// shape finds the credential at a literal that stands in text from i to j.
type shape func(text []byte, i, j int) (from, to int, ok bool)

// Finder finds credentials. It may be used by several goroutines.
type Finder struct {
	at [256][]pattern // by the byte they are anchored at, see anchorBytes
}

// New returns a finder of all kinds.
func New() *Finder {
	var (
		github = token(isAlnum, 36, 255)
		slack  = token(isDashed, 10, 255)
		aws    = token(isUpper, 16, 16)
		f      = new(Finder)
	)
	for _, p := range []pattern{
		{"Anthropic API key", "sk-ant-", 2, token(isDashed, 20, 255)},
		{"OpenAI-style API key", "sk-", 2, openAIKey},
		{"AWS access key id", "AKIA", 2, aws},
		{"AWS access key id", "ASIA", 2, aws},
		{"GitHub token", "ghp_", 3, github},
		{"GitHub token", "gho_", 3, github},
		{"GitHub token", "ghu_", 3, github},
		{"GitHub token", "ghs_", 3, github},
		{"GitHub token", "ghr_", 3, github},
		{"GitHub token", "github_pat_", 6, token(isDashed, 50, 255)},
		{"Slack token", "xoxa-", 4, slack},
		{"Slack token", "xoxb-", 4, slack},
		{"Slack token", "xoxp-", 4, slack},
		{"Slack token", "xoxr-", 4, slack},
		{"Slack token", "xoxs-", 4, slack},
		{"Google API key", "AIza", 2, token(isDashed, 35, 35)},
		{"private key", "-----BEGIN ", 0, privateKey},
		{"bearer token", "uthorization", 6, bearer},
	} {
		c := p.literal[p.anchor]
		f.at[c] = append(f.at[c], p)
	}
	return f
}

// Find yields the credentials in a text in order. The text may be decoded or
// the inside of a JSON document; there it misses those with a character that is
// written as \u00XX.
func (f *Finder) Find(text []byte) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		s := newScan(text)
		for i := s.next(); i < len(text); i = s.next() {
			if !f.matchAt(text, i, yield) {
				return
			}
		}
	}
}

// matchAt yields the credentials whose anchor is at i.
func (f *Finder) matchAt(text []byte, i int, yield func(Match) bool) bool {
	patterns := f.at[text[i]]
	for k := range patterns {
		p := &patterns[k]
		if m, ok := p.match(text, i-p.anchor); ok && !yield(m) {
			return false
		}
	}
	return true
}

func (p *pattern) match(text []byte, i int) (Match, bool) {
	if i < 0 || len(text)-i < len(p.literal) || string(text[i:i+len(p.literal)]) != p.literal {
		return Match{}, false
	}
	from, to, ok := p.shape(text, i, i+len(p.literal))
	return Match{p.kind, from, to}, ok && !placeholder(text[from:to])
}

// Mask replaces the credentials in a text by stars.
func (f *Finder) Mask(text string) string {
	found := slices.Collect(f.Find([]byte(text)))
	if found == nil {
		return text
	}
	masked := []byte(text)
	for _, m := range found {
		for i := m.From; i < m.To; i++ {
			masked[i] = '*'
		}
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
	const tail = "PRIVATE KEY-----"
	end := bytes.Index(text[j:min(len(text), j+32)], []byte(tail))
	if end < 0 {
		return i, j, false
	}
	end += j + len(tail)
	to = end
	for to < len(text) && (text[to] == '\\' || text[to] == '\n' || text[to] == '\r' || text[to] == ' ') {
		if text[to] == '\\' {
			to++ // the letter of \n
		}
		to++
	}
	body := min(to, len(text))
	to = body
	for to < len(text) && (isAlnum(text[to]) || text[to] == '+' || text[to] == '/' || text[to] == '=') {
		to++
	}
	return i, to, body > end && to-body >= 6
}

// bearer is the value of an Authorization header.
func bearer(text []byte, i, j int) (from, to int, ok bool) {
	const least = 16
	near := bytes.ToLower(text[j:min(len(text), j+24)])
	at := bytes.Index(near, []byte("bearer "))
	if at < 0 {
		return i, j, false
	}
	from = j + at + len("bearer ")
	to = from
	for to < len(text) && (isDashed(text[to]) || bytes.IndexByte([]byte("._~+/="), text[to]) >= 0) {
		to++
	}
	return from, to, to-from >= least
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
