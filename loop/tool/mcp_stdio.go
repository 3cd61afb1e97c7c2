package tool

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverProcess is a server that was started. The SDK's own transport for
// commands signals only the process itself, and gives up at the first line on
// stdout that is no message.
type serverProcess struct {
	cmd    *exec.Cmd
	family *family
	exited chan struct{}
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	raw    *recorder

	lines *bufio.Reader
	rest  []byte // of a message that was read in part

	mu    sync.Mutex
	noise capture // stderr, and what is no message on stdout

	listening sync.WaitGroup // to stderr
	close     sync.Once
}

// start starts the server's command.
func (s *Server) start() (mcp.Transport, error) {
	adopt()
	mark := markName + "=" + rand.Text()
	p := &serverProcess{cmd: exec.Command(s.config.Command[0], s.config.Command[1:]...), exited: make(chan struct{}), raw: s.raw, noise: capture{max: 4 << 10}}
	p.cmd.Dir, p.cmd.Env = s.options.Dir, append(s.options.environment(), mark)
	isolate(p.cmd)
	theirs, err := p.pipes()
	if err != nil {
		return nil, err
	}
	err = p.cmd.Start()
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", s.config.Command[0], err), p.stdin.Close(), p.stdout.Close(), p.stderr.Close())
	}
	p.family = newFamily(p.cmd.Process.Pid, mark)
	p.lines = bufio.NewReaderSize(p.stdout, 64<<10)
	go func() {
		awaitExit(p.cmd)
		close(p.exited)
	}()
	p.listening.Go(func() { _, _ = io.Copy(&noise{p}, p.stderr) }) // ends with the server
	s.process = p
	return &mcp.IOTransport{Reader: p, Writer: p}, nil
}

// pipes connects the server's streams and returns its ends of them.
func (p *serverProcess) pipes() ([]*os.File, error) {
	var ends [6]*os.File
	for i := 0; i < len(ends); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range ends[:i] {
				err = errors.Join(err, f.Close())
			}
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		ends[i], ends[i+1] = r, w
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = ends[0], ends[3], ends[5]
	p.stdin, p.stdout, p.stderr = ends[1], ends[2], ends[4]
	return []*os.File{ends[0], ends[3], ends[5]}, nil
}

// noise keeps the end of what a server says beside its messages.
type noise struct{ p *serverProcess }

func (n *noise) Write(b []byte) (int, error) {
	n.p.mu.Lock()
	defer n.p.mu.Unlock()
	return n.p.noise.Write(b)
}

func (p *serverProcess) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.noise.text()
}

// maxMessage bounds one message of a server.
const maxMessage = 64 << 20

// Read gives messages only. Servers do print banners to stdout; such a line is
// kept with what they write to stderr.
func (p *serverProcess) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.line()
		if start := bytes.TrimLeft(line, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
			p.raw.received(line)
			p.rest = line
			break
		}
		_, _ = (&noise{p}).Write(line) // a capture takes everything
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *serverProcess) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxMessage {
			return nil, fmt.Errorf("a message of more than %d bytes", maxMessage)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Write sends one message.
func (p *serverProcess) Write(b []byte) (int, error) {
	p.raw.sent(b)
	return p.stdin.Write(b)
}

// Close ends the server as MCP asks for: first its input, then a signal. After
// that nothing of it is left.
func (p *serverProcess) Close() error {
	p.close.Do(func() {
		_ = p.stdin.Close() // it may have ended by itself
		p.await(time.Second)
		p.family.signal(terminate)
		p.await(grace)
		p.family.end(lingers)
		<-p.exited
		_ = p.cmd.Wait() // how it ended is of no interest any more
		p.family.leave()
		late := time.AfterFunc(drain, func() { _ = p.stderr.Close() })
		p.listening.Wait()
		late.Stop()
		_, _ = p.stdout.Close(), p.stderr.Close()
	})
	return nil
}

func (p *serverProcess) await(patience time.Duration) {
	select {
	case <-p.exited:
	case <-time.After(patience):
	}
}
