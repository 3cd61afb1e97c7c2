package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/verify"
)

// baseline is the files of accepted findings of one call of verify. Names in
// them are relative to where they are, so that it does not matter from where
// turnlog is called.
type baseline struct {
	read, write string // names, "" if there is none
	accepted    *report.Baseline
	fresh       report.Baseline
	known       int
}

func openBaseline(read, write string) (*baseline, error) {
	b := &baseline{read: read, write: write}
	if err := replaceable(write); err != nil {
		return nil, err
	}
	if read == "" {
		return b, nil
	}
	f, err := os.Open(read)
	if err != nil {
		return nil, usagef("open baseline: %w", err).hint("--write-baseline %s writes one", read)
	}
	defer f.Close() // read only
	if b.accepted, err = report.ReadBaseline(f); err != nil {
		return nil, usagef("%s: %w", read, err)
	}
	return b, nil
}

// replaceable refuses to write a baseline over anything else: a slip on the
// command line must not cost a transcript.
func replaceable(name string) error {
	info, err := os.Stat(name)
	switch {
	case name == "", errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return usagef("write baseline: %w", err)
	case !info.Mode().IsRegular():
		return usagef("%s is not a regular file: no baseline is written there", name)
	case info.Size() == 0:
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return usagef("write baseline: %w", err)
	}
	defer f.Close() // read only
	if _, err := report.ReadBaseline(f); err != nil {
		return usagef("%s is there and is %w", name, err).hint("name another file; verify replaces nothing but a baseline")
	}
	return nil
}

// filter leaves out what is accepted.
func (b *baseline) filter(file string, fs []verify.Finding) []verify.Finding {
	if b.write != "" {
		b.fresh.Add(relativeTo(b.write, file), fs)
		b.known += len(fs)
		return nil
	}
	if b.accepted == nil {
		return fs
	}
	fs, known := b.accepted.Filter(relativeTo(b.read, file), fs)
	b.known += known
	return fs
}

// relativeTo names file as seen from the folder of a baseline.
func relativeTo(baseline, file string) string {
	if file == "-" {
		return file
	}
	from, err1 := filepath.Abs(filepath.Dir(baseline))
	to, err2 := filepath.Abs(file)
	if rel, err := filepath.Rel(from, to); err == nil && err1 == nil && err2 == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// finish says what was accepted, since nothing of it is in the report, and
// writes the new baseline, unless not all files were checked: half a baseline
// would look like a whole one.
func (b *baseline) finish(notes io.Writer, complete bool) error {
	switch {
	case b.write != "" && !complete:
		return fmt.Errorf("%s not written: not all files could be checked", b.write)
	case b.write != "":
		if err := replaceFile(b.write, b.fresh.Write); err != nil {
			return fmt.Errorf("write baseline: %w", err)
		}
		fmt.Fprintf(notes, "turnlog: note: %d findings written to %s\n", b.known, b.write)
	case b.accepted != nil:
		fmt.Fprintf(notes, "turnlog: note: %d findings accepted by %s\n", b.known, b.read)
		if gone := b.accepted.Gone(); gone > 0 {
			fmt.Fprintf(notes, "turnlog: note: %d more that it accepts were not found\n", gone)
		}
	}
	return nil
}

// replaceFile writes a file beside its name and then takes the name, so that
// nobody ever reads half of it.
func replaceFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
