package jsonx

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/quick"
)

// TestDecodeRuns compares the two versions with each other and with what the
// bytes mean, at all alignments and near the end.
func TestDecodeRuns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	const letters = `abcdefgh nrtbf/u0123` + "\x7f\x80\xff\xe9 "
	for range 20000 {
		src := make([]byte, rnd.IntN(200))
		density := 1 + rnd.IntN(40)
		for i := range src {
			src[i] = letters[rnd.IntN(len(letters))]
			if rnd.IntN(density) == 0 {
				src[i] = "\\\\\\\"\x00\x1f\n"[rnd.IntN(7)]
			}
		}
		type runs func(dst, src []byte) (int, int)
		for name, decode := range map[string]runs{"decodeRuns": decodeRuns, "portableRuns": portableRuns} {
			dst := bytes.Repeat([]byte{'#'}, len(src)+spill+1)
			written, read := decode(dst[:len(src)+spill], src)
			want, stop := meaning(src[:read])
			if stop != read || !bytes.Equal(dst[:written], want) {
				t.Fatalf("%s: %q was decoded to %q, want %q", name, src[:read], dst[:written], want)
			}
			if read+65 <= len(src) {
				if _, stop := meaning(src[read : read+2]); stop > 0 {
					t.Fatalf("%s: stopped at %q", name, src[read:])
				}
			}
			if dst[len(dst)-1] != '#' {
				t.Fatalf("%s: wrote behind its room", name)
			}
		}
	}
}

// meaning decodes plain bytes and escapes of one letter, and says where they
// end.
func meaning(src []byte) (text []byte, stop int) {
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"' || c < ' ':
			return text, i
		case c != '\\':
			text = append(text, c)
		case i+1 == len(src) || escapes[src[i+1]] == 0:
			return text, i
		default:
			i++
			text = append(text, escapes[src[i]])
		}
	}
	return text, len(src)
}

// TestStrings decodes what encoding/json encoded, and what AppendString did.
func TestStrings(t *testing.T) {
	same := func(s string, n uint8) bool {
		s = strings.Repeat(s+"\n\"", int(n%8))
		s = strings.ToValidUTF8(s, "?")
		plain, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range [][]byte{plain, AppendString(nil, s)} {
			p := New(quoted)
			if got := p.Str(); got != s || p.Failed || p.Pos != len(quoted) {
				t.Logf("%s was decoded to %q", quoted, got)
				return false
			}
			p.Seek(0)
			if p.SkipString(); p.Failed || p.Pos != len(quoted) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
}
