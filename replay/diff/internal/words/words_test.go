package words_test

import (
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/diff/internal/words"
)

// marked writes what differs in brackets.
func marked(line []words.Segment) string {
	var b strings.Builder
	for _, s := range line {
		if s.Differs {
			b.WriteString("[" + s.Text + "]")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ a, b, wantA, wantB string }{
		{"the quick fox", "the slow fox", "the [quick] fox", "the [slow] fox"},
		{"a b c d e f g h", "a x y d e f g h", "a [b c] d e f g h", "a [x y] d e f g h"},
		{"nothing here", "all other", "nothing here", "all other"},
		{"f(x, y)", "f(x, z)", "f(x, [y])", "f(x, [z])"},
		{"", "", "", ""},
	} {
		x, y := words.Compare(c.a, c.b)
		if marked(x) != c.wantA || marked(y) != c.wantB {
			t.Errorf("%q and %q: %q and %q, want %q and %q", c.a, c.b, marked(x), marked(y), c.wantA, c.wantB)
		}
	}
}

// What differs stays when a line is shortened.
func TestShorten(t *testing.T) {
	long := strings.Repeat("word ", 40)
	x, _ := words.Compare(long+"one "+long, long+"two "+long)
	shown, short := words.Shorten(x, 60)
	if got := marked(shown); !short || !strings.Contains(got, "[one]") || len(got) > 80 {
		t.Errorf("%q, shortened %t", got, short)
	}
	if same, short := words.Shorten(x, 1000); short || marked(same) != marked(x) {
		t.Errorf("%q, shortened %t", marked(same), short)
	}
}
