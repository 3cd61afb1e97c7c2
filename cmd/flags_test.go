package cmd

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnlog/turnlog/replay"
)

// Parsing is tested without running anything.
func TestVerifyFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	preset := verifyOptions{Format: "text", FailOn: "error", Progress: "auto", Config: map[string]ruleSettings{}}
	for _, c := range []struct {
		args string
		want func(o *verifyOptions)
	}{
		{"", func(*verifyOptions) {}},
		{"a b", func(o *verifyOptions) { o.Args = []string{"a", "b"} }},
		{"-", func(o *verifyOptions) { o.Args = []string{"-"} }},
		{"--rules=-a,+b --rules c", func(o *verifyOptions) { o.Rules = []string{"-a", "+b", "c"} }},
		{"--rules -a", func(o *verifyOptions) { o.Rules = []string{"-a"} }},
		{"--severity a=note,b=off", func(o *verifyOptions) { o.Severity = []string{"a=note", "b=off"} }},
		{"--format sarif --fail-on never --input-format pi", func(o *verifyOptions) { o.Format, o.FailOn, o.InputFormat = "sarif", "never", "pi" }},
		{"--slice --finished --list", func(o *verifyOptions) { o.Slice, o.Finished, o.List = true, true, true }},
	} {
		want := preset
		c.want(&want)
		var got *verifyOptions
		command := newVerify(Streams{}, func(_ context.Context, o *verifyOptions) error { got = o; return nil })
		command.SetArgs(strings.Fields(c.args))
		if err := command.Execute(); err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if d := cmp.Diff(&want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(verifyOptions{}, "Streams")); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.args, d)
		}
	}
}

func TestReplayFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args string
		want replayOptions
	}{
		{"f", replayOptions{View: "summary"}},
		{"f --at 7", replayOptions{View: "summary", At: replay.Cut{Line: 7}}},
		{"f --at turn:2 --leaf e1 --view tools", replayOptions{View: "tools", At: replay.Cut{Turn: 2}, Leaf: "e1"}},
		{"f --all", replayOptions{View: "state", All: true}},
		{"f --all --view tools", replayOptions{View: "tools", All: true}},
		{"f --view request --wire", replayOptions{View: "request", Wire: true}},
		{"f --view request --tools-mode none", replayOptions{View: "request", Wire: true}},
		{"f --view request --tools-mode changes", replayOptions{View: "request", Wire: true, Mode: replay.ModeChanges}},
	} {
		want := c.want
		want.File, want.Format = "f", "text"
		if want.Mode == "" {
			want.Mode = replay.ModeNone
		}
		var got *replayOptions
		command := newReplay(Streams{}, func(_ context.Context, o *replayOptions) error { got = o; return nil })
		command.SetArgs(strings.Fields(c.args))
		if err := command.Execute(); err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if d := cmp.Diff(&want, got, cmpopts.IgnoreFields(replayOptions{}, "Streams")); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.args, d)
		}
	}
}
