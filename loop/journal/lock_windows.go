package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// A byte far behind any content is locked: windows locks are mandatory, and
// readers must be able to read the file while it grows.
const lockOffsetHigh = 0x7fffffff

func lockFile(f *os.File) (unlock func(), err error) {
	return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

func probeFile(f *os.File) (unlock func(), err error) { return lock(f, 0) }

func lock(f *os.File, how uint32) (unlock func(), err error) {
	at := &windows.Overlapped{OffsetHigh: lockOffsetHigh}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, at) }, nil
}

// gone is not asked here: children do not inherit the file.
func gone(int) bool { return false }
