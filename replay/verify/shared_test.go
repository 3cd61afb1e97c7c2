package verify_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

// shared finds the material that is handed around with the repository, which a
// stranger's clone does not have.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	found := filepath.Join(append([]string{dir, "..", "shared"}, path...)...)
	if _, err := os.Stat(found); err != nil {
		t.Skipf("not here: %s", found)
	}
	return found
}

// check runs all rules over bytes.
// check runs all rules, on lines that own their memory, and once more on lines
// that are spoiled when they may not be used any more: nothing must have kept
// one.
func check(t testing.TB, name string, b []byte, o verify.Options) verify.Result {
	t.Helper()
	result, err := verify.Run(t.Context(), memory(name, b), rules(), o.Owning())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if o.Base != nil {
		return result // which is read up
	}
	lent, err := verify.Run(t.Context(), memory(name, b), rules(), o.Scribbling())
	if err != nil {
		t.Fatalf("%s, lines on loan: %v", name, err)
	}
	if !reflect.DeepEqual(result, lent) {
		t.Fatalf("%s, lines on loan, -want +got:\n%s", name, cmp.Diff(result, lent, cmpopts.IgnoreUnexported(verify.Finding{})))
	}
	return result
}

func checkFile(t testing.TB, path string) verify.Result {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return check(t, path, b, verify.Options{})
}

func memory(name string, b []byte) verify.Source {
	return verify.Source{Name: name, Reader: bytes.NewReader(b), At: bytes.NewReader(b)}
}

func rules() []verify.Rule { return rule.All() }
