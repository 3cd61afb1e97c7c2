package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/replay/report/workflow"
)

// Target is a report and where it goes.
type Target struct {
	Kind string
	Path string // "" is where the kind usually goes
}

// ErrUnknownKind says that there is no such report.
var ErrUnknownKind = errors.New("unknown kind")

// ParseTarget reads KIND[=PATH]. What cannot be written is said now, not when
// hours of work are done.
func ParseTarget(s string) (Target, error) {
	kind, path, named := strings.Cut(s, "=")
	if _, known := kinds().Get(kind); !known {
		return Target{}, fmt.Errorf("%q: %w", s, ErrUnknownKind)
	}
	if named && path == "" {
		return Target{}, fmt.Errorf("%q: the path is empty", s)
	}
	if info, err := os.Stat(filepath.Dir(path)); named && (err != nil || !info.IsDir()) {
		return Target{}, fmt.Errorf("%s: no folder %s", s, filepath.Dir(path))
	}
	return Target{kind, path}, nil
}

// Place is where reports go that are not given a path.
type Place struct {
	Folder      string    // of files
	Log         io.Writer // of what GitHub reads out of the log
	StepSummary string    // name of the file that GitHub shows; "" for none
}

// Write writes what was asked for about a batch that has ended.
func (t Target) Write(sum *batch.Summary, p Place, mask func(string) string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the %s report: %w", t.Kind, err)
		}
	}()
	o := Options{Mask: mask}
	path := t.Path
	if t.Kind == GitHub {
		summary, room, err := workflow.OpenSummary(p.StepSummary)
		if err != nil {
			return err
		}
		if summary != nil {
			defer summary.Close() // written at once by the report, which says what failed
			o.StepSummary, o.Room = summary, room
		}
		if path == "" {
			return Write(t.Kind, p.Log, sum, o)
		}
	} else if path == "" {
		path = filepath.Join(p.Folder, t.Kind+".xml")
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(Write(t.Kind, f, sum, o), f.Close())
}
