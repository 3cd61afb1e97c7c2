package replay_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnlog/turnlog/replay/foreign"
)

var (
	oneFoldTrees = flag.Int("onefold.trees", 2000, "how many trees TestOneFold draws")
	oneFoldSeed  = flag.Int("onefold.seed", 1, "seed of the first of them")
	oneFoldDir   = flag.String("onefold.dir", "", "folder of sessions for TestOneFoldFiles")
	oneFoldOut   = flag.String("onefold.out", "", "folder for the small files that show a disagreement")
)

// observers are all that must agree with State: the fold by another way, rules
// of verify, and pi itself where it is installed.
func observers(t *testing.T) []observer {
	t.Helper()
	all := []observer{
		{name: "all", observe: observeAll},
		{name: "facts", observe: observeFacts},
		{name: "verify", observe: observeVerify, passesOver: (*knownFile).rootless},
	}
	if pi := startPi(t); pi != nil {
		all = append(all, observer{name: "pi", observe: pi.observe})
	}
	return all
}

// TestOneFold draws trees and compares, at every entry of each, what all ways
// to compute the state say of it.
func TestOneFold(t *testing.T) {
	trees, c := sessionFile(), newComparisons(t)
	for i := range *oneFoldTrees {
		seed := *oneFoldSeed + i
		c.compare(t, fmt.Sprintf("seed %d", seed), []byte(trees.Example(seed)))
	}
	c.finish(t)
}

// TestOneFoldFiles is TestOneFold for every session that is at hand.
func TestOneFoldFiles(t *testing.T) {
	c := newComparisons(t)
	for _, name := range sessionFiles(t) {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c.compare(t, name, file)
	}
	c.finish(t)
}

// sessionFiles finds the fixtures and, where they are, the shared sessions.
func sessionFiles(t *testing.T) []string {
	t.Helper()
	dirs := []string{"testdata", filepath.Join("..", "fixtures")}
	for _, dir := range []string{"pi-sessions", filepath.Join("faults", "read"), filepath.Join("verify", "cases")} {
		dirs = append(dirs, filepath.Join("..", "..", "shared", dir))
	}
	if *oneFoldDir != "" {
		dirs = []string{given(*oneFoldDir)}
	}
	var files []string
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			t.Logf("%s is not here: its sessions are not compared", dir)
			continue
		}
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".jsonl" && isSession(path) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func isSession(path string) bool {
	head, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	f, _, err := foreign.Detect(head[:min(len(head), foreign.HeadSize)], "")
	return err == nil && f.Has(foreign.Seals)
}
