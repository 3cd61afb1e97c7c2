package wire

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/turnlog/turnlog/loop/provider/wire/loose"
)

// KeyFromEnv reads the key from an environment variable at each request.
func KeyFromEnv(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		key := strings.TrimSpace(os.Getenv(name))
		if key == "" {
			return "", fmt.Errorf("API key: the environment variable %s is not set", name)
		}
		return key, nil
	}
}

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
	return strings.ReplaceAll(text, string(s), "[redacted]")
}

// Text makes what can be shown of a text that arrives in pieces: characters
// that were cut apart are joined, and the secret is kept out. It holds back a
// tail that may be the beginning of either.
type Text struct {
	Secret Secret
	joiner loose.Joiner
	held   string
}

// Push takes a piece and gives what can be shown of it.
func (t *Text) Push(piece loose.Text) string { return t.redact(t.joiner.Push(piece)) }

// Flush gives what was held back, after the last piece.
func (t *Text) Flush() string {
	text := t.redact(t.joiner.Flush()) + t.held
	t.held = ""
	return text
}

func (t *Text) redact(text string) string {
	if len(t.Secret) < minSecret {
		return text
	}
	text = t.Secret.Redact(t.held + text)
	n := min(len(text), len(t.Secret)-1)
	for !strings.HasSuffix(text, string(t.Secret[:n])) {
		n--
	}
	text, t.held = text[:len(text)-n], text[len(text)-n:]
	return text
}
