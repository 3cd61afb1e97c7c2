package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// faultsWithoutTest are numbers of the list of faults that no test can be
// named after yet, with the reason.
var faultsWithoutTest = map[int]string{
	56: "forks are written by no command yet; verify and replay read those of pi",
}

// faultsInPart are numbers whose test covers less than the list says.
var faultsInPart = map[int]string{
	36: "the part about compaction comes with compaction",
	37: "the part about compaction comes with compaction",
}

// The list of faults is what a runner meets in the field: every number has a
// test that is named after it.
func TestEveryFaultHasATest(t *testing.T) {
	const last = 72
	named := regexp.MustCompile(`(?m)^func Test\w*?Faults?(\d\d)\w*\(`)
	also := regexp.MustCompile(`And(?:Fault)?(\d\d)`)
	have := map[int]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		raw, err := os.ReadFile(path)
		for _, m := range named.FindAllStringSubmatch(string(raw), -1) {
			for _, number := range append(also.FindAllStringSubmatch(m[0], -1), m) {
				n, err := strconv.Atoi(number[1])
				if err != nil {
					return err
				}
				have[n] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var missing []int
	for n := 1; n <= last; n++ {
		switch reason, excused := faultsWithoutTest[n]; {
		case excused && have[n]:
			t.Errorf("fault %d has a test by now; the list says: %s", n, reason)
		case !excused && !have[n]:
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no test is named after the faults %v, and faultsWithoutTest gives no reason", missing)
	}
	for n := range faultsInPart {
		if !have[n] {
			t.Errorf("fault %d has no test at all", n)
		}
	}
}
