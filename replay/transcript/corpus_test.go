package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// shared returns the folder of samples beside the repository, or skips.
func shared(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			samples := filepath.Join(dir, "..", "shared")
			if _, err := os.Stat(samples); err != nil {
				t.Skip("no samples at ../shared")
			}
			return samples
		}
	}
	t.Skip("not inside the repository")
	return ""
}

// sharedFiles reads all files of patterns below the samples.
func sharedFiles(t testing.TB, patterns ...string) map[string][]byte {
	files := map[string][]byte{}
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(shared(t), pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			if files[name], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

func transcripts(t testing.TB) map[string][]byte {
	return sharedFiles(t, "pi-sessions/*.jsonl", "pi-sessions/legacy/*.jsonl", "verify/cases/*.jsonl", "transcripts/pi/*.jsonl")
}

func collect(t testing.TB, data []byte, o Options) []Line {
	t.Helper()
	var lines []Line
	for l, err := range Lines(bytes.NewReader(data), o) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// difference is cmp.Diff for what is mostly equal: that is found a hundred
// times as fast without it.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Line{}))
}

func TestSharedFilesKeepTheirBytes(t *testing.T) {
	for name, data := range transcripts(t) {
		var lines, records []byte
		for _, l := range collect(t, data, Options{}) {
			lines = append(lines, l.Raw...)
			if l.Damage != Intact || l.Blank() {
				records = append(records, l.Raw...)
				continue
			}
			for i := range l.Records {
				records = AppendEntry(records, &l.Records[i])
			}
			records = append(records, l.Raw[len(content(l.Raw)):]...)
		}
		if !bytes.Equal(lines, data) {
			t.Errorf("%s: lines differ from the file", name)
		}
		if !bytes.Equal(records, data) {
			t.Errorf("%s: records written back differ from the file", name)
		}
	}
}

// TestSharedFilesDamage names every line of the samples that is not clean.
func TestSharedFilesDamage(t *testing.T) {
	want := map[string][]string{
		"07-torn-tail.jsonl":            {"6 torn tail"},
		"08-glued-fragment.jsonl":       {"6 glued e06"},
		"09-lone-surrogate.jsonl":       {"5 surrogate ×1 \\ud83d"},
		"torn-last-line.before.jsonl":   {"7 torn tail"},
		"torn-last-line.after.jsonl":    {"7 torn line"},
		"torn-middle-line.before.jsonl": {"4 torn line"},
		"torn-middle-line.after.jsonl":  {"4 torn line"},
	}
	for name, data := range transcripts(t) {
		var got []string
		for _, l := range collect(t, data, Options{}) {
			if l.Damage != Intact {
				got = append(got, fmt.Sprint(l.No, " ", summary(l)))
			}
			for _, n := range l.Notes {
				got = append(got, fmt.Sprint(l.No, " ", n))
			}
		}
		if diff := cmp.Diff(want[filepath.Base(name)], got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
