package verify_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnlog/turnlog/replay/verify"
)

// TestLoanInParallel spoils lines that several goroutines have read; check does
// it for one, in every other test. The file has branches, and damage that gives
// findings.
func TestLoanInParallel(t *testing.T) {
	file := append(piSession(300), forked(60, 400)...)
	for i := len(file) / 7; i < len(file); i += len(file) / 7 {
		file[i] = '\x01'
	}
	want := check(t, "f", file, verify.Options{})
	if len(want.Findings) < 5 {
		t.Fatal(want.Findings)
	}
	o := verify.Options{Workers: 3}
	got, err := verify.Run(t.Context(), memory("f", file), rules(), o.Scribbling())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got, cmpopts.IgnoreUnexported(verify.Finding{})))
	}
}
