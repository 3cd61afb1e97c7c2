package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/view"
)

func session(t *testing.T, text string) *view.Session {
	t.Helper()
	tree, err := replay.Read(transcript.Lines(strings.NewReader(text), transcript.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return &view.Session{Name: "s\x1b[31m.jsonl", Format: "session", Knowledge: tree.Knowledge(), Tree: tree}
}

// Every view is text that a terminal can be given, and JSON, at the end and at
// each entry.
func TestViews(t *testing.T) {
	shop, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "ok", "shop.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	hostile := `{"type":"session","version":3,"id":"s","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/"}
{"type":"message","id":"a","parentId":null,"timestamp":"2030-01-02T03:00:00.000Z","message":{"role":"user","content":"\u001b]0;x\u0007 \u202e"}}
{"type":"message","id":"b\u001b","parentId":"a","timestamp":"2030-01-02T03:00:00.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"\u009b","name":"\u001b[2J","arguments":{"a":"\u001b"}}],"model":"\u001b","provider":"\u001b","stopReason":"\u001b"}}
`
	for _, text := range []string{string(shop), hostile, ""} {
		s := session(t, text)
		for _, name := range view.Names() {
			for _, format := range []string{"text", "json", "ndjson"} {
				var one, all bytes.Buffer
				o := view.Options{View: name, Format: format, Wire: true, Mode: replay.ModeNone}
				if err := view.At(&one, s, replay.Cut{}, "", o); err != nil {
					t.Fatalf("%s, %s: %v", name, format, err)
				}
				if err := view.All(t.Context(), &all, s, o); err != nil {
					t.Fatalf("%s, %s, all: %v", name, format, err)
				}
				for _, out := range []string{one.String(), all.String()} {
					check(t, name, format, out)
				}
			}
		}
	}
}

func check(t *testing.T, name, format, out string) {
	t.Helper()
	switch format {
	case "json":
		if out != "" && !json.Valid([]byte(out)) {
			t.Errorf("%s: not JSON: %s", name, out)
		}
	case "ndjson":
		for line := range strings.Lines(out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %s", name, line)
			}
		}
	default:
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s: %q reaches the terminal", name, out[i:])
		}
	}
}

func TestUnknownView(t *testing.T) {
	if err := view.At(new(bytes.Buffer), session(t, ""), replay.Cut{}, "", view.Options{View: "none"}); err == nil {
		t.Error("no error")
	}
}
