package replay_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var (
	tableDir    = flag.String("table", "", "folder with fold.json and fold.expected.json")
	sessionsDir = flag.String("sessions", "", "folder of sessions with contexts/ and requests/")
)

// shared finds a folder of the material that lies beside the repository. A
// stranger's clone does not have it and passes on its own fixtures.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{"..", "..", "shared"}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is not here: recorded answers of pi are not compared", dir)
	}
	return dir
}

// given is a folder from the command line: as the test finds it, or as
// somebody wrote it who stood at the root of the repository.
func given(dir string) string {
	if _, err := os.Stat(dir); err != nil && !filepath.IsAbs(dir) {
		return filepath.Join("..", dir)
	}
	return dir
}
