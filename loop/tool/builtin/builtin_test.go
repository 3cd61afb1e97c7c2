package builtin

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/internal/tooltest"
	"github.com/turnlog/turnlog/replay/schema"
)

var update = flag.Bool("update", false, "write golden files")

// TestMain holds that no test leaves a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDeclarations compares what the model is told of each built-in.
func TestDeclarations(t *testing.T) {
	for _, name := range All().Names() {
		t.Run(name, func(t *testing.T) {
			made := builtIn(t, name, tool.Options{Dir: t.TempDir()})
			got, err := json.MarshalIndent(struct {
				Name, Description string
				Effects           loop.Effects
				Arguments         map[string]loop.Argument
				Parameters        json.RawMessage
			}{made.Name, made.Description, made.Effects, made.Arguments, made.Parameters}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			if _, err := schema.Compile(made.Parameters); err != nil {
				t.Error(err)
			}
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-golden +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownName(t *testing.T) {
	_, err := All().New("raed", tool.Options{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "read, write, edit, ls, find, grep, bash") {
		t.Errorf("got %v", err)
	}
	if _, err := All().New("read", tool.Options{Dir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a working directory that is not there was taken")
	}
}

func builtIn(t testing.TB, name string, o tool.Options) loop.Tool {
	t.Helper()
	made, err := All().New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// BenchmarkBash is what a call costs beside the command.
func BenchmarkBash(b *testing.B) {
	bash := builtIn(b, "bash", tool.Options{Dir: b.TempDir()})
	for b.Loop() {
		tooltest.Run(b, bash, map[string]any{"command": "true"})
	}
}
