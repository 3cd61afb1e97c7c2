package process

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes orphans of our descendants our children instead of init's, so
// that they can be found and waited for.
var adopt = sync.OnceFunc(func() {
	// A kernel older than 3.4 cannot; then only the process group is ended.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

// awaitExit waits for the end of a process without reaping it, so that its id,
// which is also the id of its group, is not given to another one meanwhile.
func awaitExit(cmd *exec.Cmd) *os.ProcessState {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return nil
		}
	}
}

// strayed is one for the process, as its children are.
var strayed orphans

// orphans are those whose family nobody can tell: they left the group, lost
// their parent and cleared their environment. Being a subreaper's, they are
// children of this process now, in a session of their own. While several
// families are alive they may be anybody's, so they are ended with the last.
//
// A program that embeds this package and starts children with Setsid while
// tools run would see them ended, too.
type orphans struct {
	mu       sync.Mutex
	families int
	since    uint64 // start time of the first of the families
}

func (o *orphans) enter(since uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.families++; o.families == 1 {
		o.since = since
	}
}

func (o *orphans) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.families--; o.families > 0 {
		return
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return // never seen; without it nobody can be told apart
	}
	endChildren(o.since, func(s stat) bool { return s.session != session })
}

// endChildren kills the children of this process that are not older than a
// time and that are wanted, and reaps them, until there are none.
func endChildren(since uint64, wanted func(stat) bool) {
	for deadline := time.Now().Add(insisted); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		found := false
		for pid, s := range processes(since) {
			if s.parent != os.Getpid() || !wanted(s) {
				continue
			}
			found = true
			_ = syscall.Kill(pid, kill) // it may be gone
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
		if !found {
			return
		}
	}
}

// EndChildren kills every child that this process has, and what becomes its
// child by that. It is for the end of a program that starts others only
// through this package; Linux only.
func EndChildren() { endChildren(0, func(stat) bool { return true }) }
