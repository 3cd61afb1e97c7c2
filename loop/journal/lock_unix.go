//go:build unix

package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock of a writer without waiting. flock(2) belongs to the
// open file, so the kernel drops it with the process: no lock is ever stale.
func lockFile(f *os.File) (unlock func(), err error) { return flock(f, unix.LOCK_EX) }

// probeFile takes a lock that several readers can have, to see whether a
// writer is there.
func probeFile(f *os.File) (unlock func(), err error) { return flock(f, unix.LOCK_SH) }

func flock(f *os.File, how int) (unlock func(), err error) {
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }, nil
}

// gone reports whether there is no such process.
func gone(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
