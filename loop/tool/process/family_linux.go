package process

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// family is a process with all that descends from it: its group, and those who
// left the group (setsid), even when they lost their parent (double fork).
// These are known by a mark in their environment, or because their parent was
// known when they were looked for; those who hid from both are found by
// [orphans.leave].
type family struct {
	pid    int
	since  uint64 // start time; nobody older belongs to the family
	mark   []byte
	strays map[int]uint64 // outside of the group: process → start time
}

func newFamily(pid int, mark string) *family {
	f := &family{pid: pid, mark: append([]byte(mark), 0), strays: map[int]uint64{}}
	if s, ok := readStat(pid); ok {
		f.since = s.start
	}
	strayed.enter(f.since)
	return f
}

// leave says that the family is to be forgotten.
func (f *family) leave() { strayed.leave() }

func (f *family) signal(s syscall.Signal) {
	f.look()
	signalGroup(f.pid, s)
	for pid := range f.strays {
		_ = syscall.Kill(pid, s) // it may be gone
	}
}

// end makes sure that nobody is left; those who are get a moment to end by
// themselves.
func (f *family) end(patience time.Duration) {
	if !f.look() {
		return
	}
	if patience > 0 {
		f.signal(terminate)
		f.gone(patience)
	}
	for deadline := time.Now().Add(insisted); f.look() && time.Now().Before(deadline); {
		f.signal(kill)
		f.gone(50 * time.Millisecond)
	}
}

// gone waits until nobody is left, but not for longer than it is told. There
// is no event to wait for: most of the family are not our children.
func (f *family) gone(within time.Duration) {
	deadline := time.Now().Add(within)
	for pause := time.Millisecond; f.look() && time.Now().Before(deadline); pause *= 2 {
		time.Sleep(min(pause, 20*time.Millisecond))
	}
}

// look finds the members and reports whether one but the first, who is
// awaited elsewhere, is alive. Strays that ended as our children are reaped.
func (f *family) look() (alive bool) {
	seen := processes(f.since)
	maps.DeleteFunc(f.strays, func(pid int, start uint64) bool { return seen[pid].start != start }) // gone, or its id is another's
	member := func(pid int) bool {
		s, there := seen[pid]
		_, stray := f.strays[pid]
		return there && (pid == f.pid || s.group == f.pid || stray)
	}
	for first, grown := true, true; grown; first = false {
		grown = false
		for pid, s := range seen {
			if !member(pid) && (member(s.parent) || first && f.marked(pid)) {
				f.strays[pid], grown = s.start, true
			}
		}
	}
	for pid, s := range seen {
		if pid == f.pid || !member(pid) {
			continue
		}
		if s.state == 'Z' && s.parent == os.Getpid() {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
		alive = alive || s.state != 'Z' && s.state != 'X'
	}
	return alive
}

// marked reads a process's environment; that of another user is not shown, and
// such a process is none we started.
func (f *family) marked(pid int) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(append(environ, 0), f.mark)
}

// stat is what /proc tells of a process.
type stat struct {
	state         byte
	parent, group int
	session       int
	start         uint64 // clock ticks since boot
}

// processes lists the processes that are not older than a time.
func processes(since uint64) map[int]stat {
	found := map[int]stat{}
	dir, err := os.Open("/proc")
	if err != nil {
		return found // no /proc: only the group is known
	}
	defer func() { _ = dir.Close() }() // only read from
	names, _ := dir.Readdirnames(-1)   // what could be read
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok && s.start >= since {
			found[pid] = s
		}
	}
	return found
}

func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The second field is the program's name in parentheses, which may itself
	// hold anything: proc(5).
	_, rest, ok := strings.Cut(string(data[bytes.LastIndexByte(data, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return stat{}, false
	}
	s := stat{state: fields[0][0]}
	var errs [4]error
	s.parent, errs[0] = strconv.Atoi(fields[1])
	s.group, errs[1] = strconv.Atoi(fields[2])
	s.session, errs[3] = strconv.Atoi(fields[3])
	s.start, errs[2] = strconv.ParseUint(fields[19], 10, 64)
	return s, errors.Join(errs[:]...) == nil
}
