// Package process runs programs for tools: those that a task declares as tools
// itself ([NewProgram]), single calls of others ([Call]), and what stays for
// longer ([Start]). Each has a process group of its own, an environment of
// named variables, and takes all that descends from it along when it ends.
package process

import (
	"cmp"
	"crypto/rand"
	"os"
	"os/exec"
	"time"
)

// Ending a program takes these times: to end by itself when asked to, for what
// stays behind when it has ended, for its last output to arrive when all that
// could write are gone, and to insist.
const (
	grace    = 2 * time.Second
	lingers  = 200 * time.Millisecond
	drain    = time.Second
	insisted = 5 * time.Second
)

// markName is the environment variable by which a descendant is recognised
// that left the process group and lost its parent.
const markName = "TURNLOG_CALL"

// Child is a program that was started, with all that descends from it.
type Child struct {
	cmd    *exec.Cmd
	family *family
	exited chan struct{}
	state  *os.ProcessState // where waiting for the end cannot but reap
}

// Start starts a program in a process group of its own. Who starts it calls
// Reap.
func Start(cmd *exec.Cmd) (*Child, error) {
	adopt()
	mark := markName + "=" + rand.Text()
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], mark)
	cmd.WaitDelay = drain
	isolate(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &Child{cmd: cmd, family: newFamily(cmd.Process.Pid, mark), exited: make(chan struct{})}
	go func() {
		c.state = awaitExit(cmd)
		close(c.exited)
	}()
	return c, nil
}

// Exited is closed when the program has ended.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Stop asks the program and all it started to end, and insists if it does not.
func (c *Child) Stop() {
	c.family.signal(terminate)
	select {
	case <-c.exited:
		return
	case <-time.After(grace):
	}
	c.Kill()
	c.family.end(0)
}

// Kill ends the program and all it started at once.
func (c *Child) Kill() { c.family.signal(kill) }

// Reap waits for the program, ends what it left behind, and lets its last
// output arrive.
func (c *Child) Reap() *os.ProcessState {
	<-c.exited
	c.family.end(lingers)
	_ = c.cmd.Wait() // what it would say is in the state
	c.family.leave()
	return cmp.Or(c.state, c.cmd.ProcessState)
}
