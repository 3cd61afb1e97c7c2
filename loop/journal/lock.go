package journal

import (
	"errors"
	"fmt"
	"os"

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
	unlock, err := probeFile(f)
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
