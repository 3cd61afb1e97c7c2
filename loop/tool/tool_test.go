package tool

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/schema"
	"github.com/turnlog/turnlog/replay/transcript"
)

var update = flag.Bool("update", false, "write golden files")

// TestMain holds that no test leaves a goroutine: what a call or a server had
// running has ended with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDeclarations compares what the model is told of each built-in.
func TestDeclarations(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			tool := builtIn(t, name, Options{Dir: t.TempDir()})
			got, err := json.MarshalIndent(struct {
				Name, Description string
				Effects           loop.Effects
				Parameters        json.RawMessage
			}{tool.Name, tool.Description, tool.Effects, tool.Parameters}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			if _, err := schema.Compile(tool.Parameters); err != nil {
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
	_, err := New("raed", Options{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "read, write, edit, ls, find, grep, bash") {
		t.Errorf("got %v", err)
	}
	if _, err := New("read", Options{Dir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a working directory that is not there was taken")
	}
}

// FAULTS 48.
func TestFault48TwoToolsOfOneName(t *testing.T) {
	if _, err := ByName([]string{"read", "bash", "read"}, Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), `"read"`) {
		t.Errorf("got %v", err)
	}
	if tools, err := ByName([]string{"bash", "read"}, Options{Dir: t.TempDir()}); err != nil || len(tools) != 2 || tools[0].Name != "bash" {
		t.Errorf("got %v, %v", tools, err)
	}
}

func builtIn(t testing.TB, name string, o Options) loop.Tool {
	t.Helper()
	tool, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// run calls a tool as the loop does: with validated arguments.
func run(t testing.TB, tool loop.Tool, args map[string]any) loop.Result {
	t.Helper()
	r, err := try(t, tool, args)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func try(t testing.TB, tool loop.Tool, args map[string]any) (loop.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(tool.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	converted, err := s.Convert(raw)
	if err != nil {
		t.Fatalf("arguments of %s: %v", tool.Name, err)
	}
	return tool.Run(t.Context(), transcript.Call{ID: "c1", Name: tool.Name, Arguments: converted}, nil)
}

// onlyText is the one text block of a result.
func onlyText(t testing.TB, r loop.Result) string {
	t.Helper()
	if len(r.Content) != 1 || r.Content[0].Type != transcript.BlockText {
		t.Fatalf("want one text, got %+v", r.Content)
	}
	return r.Content[0].Text
}

func writeFile(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// until waits for another process to come to a state.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting until %s", what)
		}
	}
}

func readPID(t testing.TB, path string) int {
	t.Helper()
	var pid int
	until(t, "there is a process id in "+path, func() bool {
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(string(data), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	return pid
}
