package journal

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
)

// LockedError says that another process is writing a transcript. PID and Host
// are those of the last run in the file, zero if it has none yet.
type LockedError struct {
	Path string
	PID  int
	Host string
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is being written by another process", e.Path)
	}
	return fmt.Sprintf("%s is being written by process %d on %s", e.Path, e.PID, e.Host)
}

// errLocked is what lockFile gives when somebody else has the lock.
var errLocked = errors.New("locked")

// lockError turns the failure to lock path into one that names the holder.
func lockError(path string, err error) error {
	if !errors.Is(err, errLocked) {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	e := &LockedError{Path: path}
	e.PID, e.Host = holder(path)
	return e
}

// longestOrphan is how long the lock of a process that is gone is waited for.
const longestOrphan = time.Second

// lockUnlessHeld calls lock again while the writer that the file names is gone
// from this host: the kernel keeps the lock of a process that was killed as
// long as a child of it, forked to start a tool, has not come to its exec yet
// (one of 200 kills on a busy machine). A writer that lives fails at once.
func lockUnlessHeld(path string, lock func() (unlock func(), err error)) (unlock func(), err error) {
	unlock, err = lock()
	if !errors.Is(err, errLocked) || !orphaned(path) {
		return unlock, err
	}
	for wait, waited := time.Millisecond, time.Duration(0); errors.Is(err, errLocked) && waited < longestOrphan; wait *= 2 {
		time.Sleep(wait)
		waited += wait
		unlock, err = lock()
	}
	return unlock, err
}

// orphaned reports whether the last writer that a file names is known to be
// gone.
func orphaned(path string) bool {
	pid, host := holder(path)
	here, err := os.Hostname()
	return err == nil && pid > 0 && host == here && gone(pid)
}

// Locked returns a [*LockedError] if another process is writing path, else nil.
func Locked(path string) error {
	if err := locked(path); err != nil {
		return err
	}
	return nil
}

func locked(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	unlock, err := lockUnlessHeld(path, func() (func(), error) { return probeFile(f) })
	if err != nil {
		return lockError(path, err)
	}
	unlock()
	return nil
}

// holder reads the last turnlog.run of a file. The holder may be writing:
// damage is not looked at.
func holder(path string) (pid int, host string) {
	f, err := os.Open(path)
	if err != nil {
		return 0, ""
	}
	defer f.Close()
	for line, err := range transcript.Lines(f, transcript.Options{}) {
		if err != nil {
			break
		}
		for i := range line.Records {
			c := line.Records[i].Custom
			if c == nil || c.CustomType != transcript.CustomRun {
				continue
			}
			var run transcript.Run
			if c.Decode(&run) == nil {
				pid, host = run.PID, run.Host
			}
		}
	}
	return pid, host
}
