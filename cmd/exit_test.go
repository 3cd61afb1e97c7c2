package cmd_test

import (
	"context"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// What a name says to a terminal is shown, not obeyed.
func TestErrorsArePrintable(t *testing.T) {
	const name = "no\x1b[31m\u202esuch"
	for _, args := range [][]string{
		{"verify", name + ".jsonl"},
		{"replay", name},
		{"run", name + ".yaml"},
		{"diff", name, name},
		{name},
		{"--" + name},
		{"replay", "../fixtures/ok/shop.jsonl", "--leaf", name},
		{"replay", "../fixtures/ok/shop.jsonl", "--at", name},
		{"verify", "--rules", "+" + name},
	} {
		_, errs, code := runQuietly(t.Context(), args)
		if code == 0 || !strings.Contains(errs, `\x1b[31m\u202esuch`) || strings.ContainsAny(errs, "\x1b\u202e") {
			t.Errorf("%q: exit %d, stderr %q", args, code, errs)
		}
	}
}

func runQuietly(ctx context.Context, args []string) (out, errs string, code int) {
	var o, e strings.Builder
	code = cmd.Main(ctx, args, cmd.Streams{In: strings.NewReader(""), Out: &o, Err: &e})
	return o.String(), e.String(), code
}
