package text_test

import (
	"slices"
	"testing"

	"github.com/turnlog/turnlog/replay/text"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ärgerlich, 漢字": "plain, ärgerlich, 漢字",
		"a\nb\r\tc":            `a\nb\r\tc`,
		"\x1b[31mred\x7f":      `\x1b[31mred\x7f`,
		"user\u202eadmin":      `user\u202eadmin`,
		"tag \U000e0041":       `tag \U000e0041`,
		"torn \xc3 and \ufffd": `torn \xc3 and ` + "\ufffd",
	} {
		if got := text.Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCuts(t *testing.T) {
	const s = "ärger"
	for _, c := range []struct{ name, got, want string }{
		{"shorten", text.Shorten(s, 4), "ärge…"},
		{"shorten nothing", text.Shorten(s, 5), s},
		{"fit", text.Fit(s, 4), "ärg…"},
		{"fit exactly", text.Fit(s, 5), s},
		{"fit no room", text.Fit(s, 0), "…"},
		{"clip inside a rune", text.Clip(s, 1), "…"},
		{"clip", text.Clip(s, 3), "är…"},
		{"clip nothing", text.Clip(s, 6), s},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestPlural(t *testing.T) {
	for _, want := range []string{"1 entry", "2 entries", "2 branches", "0 files"} {
		n, noun := int(want[0]-'0'), map[byte]string{'e': "entry", 'b': "branch", 'f': "file"}[want[2]]
		if got := text.Plural(n, noun); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	valid := []string{"base_url", "model", "models", "orphan-result", "orphan-call", "temperature"}
	for name, want := range map[string][]string{
		"baseUrl":       {"base_url"},
		"modle":         {"model"},           // a swap counts once
		"model":         {"model", "models"}, // none begins alone, the nearest first
		"temp":          nil,                 // less than half
		"temper":        {"temperature"},     // half a name that begins one
		"orphan_resutl": {"orphan-result"},
		"zzz":           nil,
	} {
		if got := text.Nearest(name, valid); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
