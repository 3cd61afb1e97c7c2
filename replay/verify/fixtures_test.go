package verify_test

import (
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestFixtures: the project's clean transcripts are silent, the others have
// exactly the findings that stand beside them.
func TestFixtures(t *testing.T) {
	for _, folder := range []string{"ok", "err"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "fixtures", folder, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no fixtures in %s: %v", folder, err)
		}
		for _, file := range files {
			t.Run(folder+"/"+filepath.Base(file), func(t *testing.T) {
				var want []place
				if folder == "err" {
					want = expected(t, strings.TrimSuffix(file, ".jsonl")+".expect.json")
				}
				if diff := gocmp.Diff(want, places(checkFile(t, file).Findings), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			})
		}
	}
}
