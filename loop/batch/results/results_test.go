package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/policy"
)

func TestResultsSurviveATornLine(t *testing.T) {
	out := t.TempDir()
	name := filepath.Join(out, "results.ndjson")
	torn := `{"type":"results","version":1,"batch":"b"}` + "\n" + `{"type":"task","id":"a","status":"ok"}` + "\n" + `{"type":"task","id":"b","sta`
	if err := os.WriteFile(name, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(out, Batch{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Add(Result{ID: "c", Status: policy.OK}), f.Close()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(data), torn+"\n") {
		t.Errorf("file %q, %v", data, err)
	}
	all, err := Read(out)
	if err != nil || len(all) != 2 || all["c"].Status != policy.OK {
		t.Errorf("%v, %v", all, err)
	}
}

// Of several results the shard's own says which batch it is, then any other.
func TestBatchID(t *testing.T) {
	out := t.TempDir()
	for _, b := range []Batch{{ID: "first", Shard: "1/2"}, {ID: "second", Shard: "2/2"}} {
		f, err := Open(out, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for shard, want := range map[string]string{"1/2": "first", "2/2": "second", "": "first"} {
		if id, err := BatchID(out, shard); err != nil || id != want {
			t.Errorf("shard %q: %q, %v; want %q", shard, id, err, want)
		}
	}
	if id, err := BatchID(filepath.Join(out, "none"), ""); err != nil || id != "" {
		t.Errorf("no folder: %q, %v", id, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"task","id":"a","status":"ok","usage":{"input":1}}` + "\n"))
	f.Add([]byte(`{"type":"task","id":"a","status":"ok"` + "\n\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out := t.TempDir()
		if err := os.WriteFile(filepath.Join(out, "results.ndjson"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(out); err != nil {
			t.Fatal(err)
		}
		if _, err := BatchID(out, ""); err != nil {
			t.Fatal(err)
		}
	})
}
