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
