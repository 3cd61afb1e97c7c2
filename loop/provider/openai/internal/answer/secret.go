package answer

import "strings"

// redacted stands where the key was.
const redacted = "[redacted]"

// minSecret is the length from which a key is looked for in what arrives.
// Local servers are given keys like "none", which are words, not secrets.
const minSecret = 8

// Secret is a key that must not get into errors, messages and deltas: an
// endpoint may send back what it was sent.
type Secret string

// Redact gives text without the secret.
func (s Secret) Redact(text string) string {
	if len(s) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, string(s), redacted)
}

// redactor keeps the secret out of a text that arrives in pieces. It holds
// back a tail that may be the secret's beginning.
type redactor struct {
	secret Secret
	held   string
}

func (r *redactor) push(text string) string {
	if len(r.secret) < minSecret {
		return text
	}
	text = r.secret.Redact(r.held + text)
	n := 0
	for i := min(len(text), len(r.secret)-1); i > 0; i-- {
		if strings.HasSuffix(text, string(r.secret[:i])) {
			n = i
			break
		}
	}
	text, r.held = text[:len(text)-n], text[len(text)-n:]
	return text
}

func (r *redactor) flush() string {
	text := r.held
	r.held = ""
	return text
}
