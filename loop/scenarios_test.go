package loop_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var scenarioDir = flag.String("scenarios", "", "folder with scenarios/ and expected/ (and scenarios-skip/, expected-skip/) for TestScenarios")

// leftOut are the scenarios in which the loop differs on purpose, and why.
var leftOut = map[string]string{
	"prepare-request-tools-not-declared": "a request update has no tools: a transcript must never hold a call to a tool that was not declared yet",
	"argument-coercion":                  "lossy conversions are refused: a guess about money or ids is worse than an error the model can correct",
	"argument-coercion-null-and-empty":   "lossy conversions are refused: null and \"\" are not turned into 0, false or \"null\"",
}

// TestScenarios plays scenarios and compares everything that can be observed
// with what the real pi did: order, events, messages, requests, tool runs,
// queues. -args -scenarios DIR names another folder; without one, the shared
// oracle is used where it is, else the project's own scenarios.
func TestScenarios(t *testing.T) {
	dir := fromRoot(*scenarioDir)
	if dir == "" {
		dir = sharedDir("oracle")
	}
	if dir == "" {
		dir = filepath.Join("..", "fixtures", "scenarios")
	}
	runScenarios(t, dir)
}

// fromRoot finds a folder named relative to where go test was called: tests
// run in their package's folder, one below the root.
func fromRoot(dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	return filepath.Join("..", dir)
}

// TestProjectScenarios plays the project's own scenarios, always.
func TestProjectScenarios(t *testing.T) {
	runScenarios(t, filepath.Join("..", "fixtures", "scenarios"))
}

func runScenarios(t *testing.T, dir string) {
	seen := map[string]bool{}
	for _, suffix := range []string{"", "-skip"} {
		files, err := filepath.Glob(filepath.Join(dir, "scenarios"+suffix, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			seen[name] = true
			if why, ok := leftOut[name]; ok {
				t.Logf("left out: %s: %s", name, why)
				continue
			}
			golden := filepath.Join(dir, "expected"+suffix, name+".json")
			t.Run(name, func(t *testing.T) { compareScenario(t, file, golden, suffix == "-skip") })
		}
	}
	if len(seen) == 0 {
		t.Fatalf("%s has no scenarios", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "DIFFERENCES.md")); err != nil {
		return // not the folder that the differences were agreed on
	}
	for _, name := range slices.Sorted(maps.Keys(leftOut)) {
		if !seen[name] {
			t.Errorf("%s is left out but no longer exists", name)
		}
	}
}

func compareScenario(t *testing.T, file, goldenFile string, old bool) {
	sc := readScenario(t, file)
	raw, err := os.ReadFile(goldenFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no golden: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	golden := clean(decode(t, raw)).(object)
	record := decode(t, marshal(t, playScenario(t, sc, old))).(object)
	expectFailedTurn(golden, record)
	delete(golden, "impl")
	for _, g := range []object{golden, record} {
		normalise(g, sc, old)
	}
	adoptWording(golden, record)
	if diff := cmp.Diff(golden, record); diff != "" {
		t.Errorf("%s\nrecord differs from pi (-pi +turnlog):\n%s", sc.About, diff)
	}
}

// sharedDir finds a folder of ../shared beside the repository; "" if it is not there.
func sharedDir(elem ...string) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for range 6 {
		path := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func marshal(t testing.TB, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
