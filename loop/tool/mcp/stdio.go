package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/process"
)

// program is a server that was started. The SDK's own transport for commands
// signals only the process itself, and gives up at the first line on stdout
// that is no message.
type program struct {
	*process.Child
	stdin io.WriteCloser
	lines *bufio.Reader
	rest  []byte // of a message that was read in part
	raw   *recorder
	noise noise
	close sync.Once
}

// start starts the server's command.
func (s *Server) start() (sdk.Transport, error) {
	p := &program{raw: s.raw, noise: noise{kept: tool.Capture{Max: 4 << 10}}}
	cmd := exec.Command(s.config.Command[0], s.config.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.options.Dir, process.Environment(s.options), &p.noise
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.lines = bufio.NewReaderSize(stdout, 64<<10)
	if p.Child, err = process.Start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.config.Command[0], err)
	}
	s.program = p
	return &sdk.IOTransport{Reader: p, Writer: p}, nil
}

// noise keeps some of what a server says beside its messages: on stderr, and on
// stdout in lines that are no message.
type noise struct {
	mu   sync.Mutex
	kept tool.Capture
}

func (n *noise) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept.Write(b)
}

func (n *noise) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept.Text()
}

// maxMessage bounds one message of a server.
const maxMessage = 64 << 20

// Read gives messages only. Servers do print banners to stdout; such a line is
// kept with what they write to stderr.
func (p *program) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.line()
		if start := bytes.TrimLeft(line, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
			p.raw.received(line)
			p.rest = line
			break
		}
		_, _ = p.noise.Write(line) // a capture takes everything
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *program) line() ([]byte, error) {
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
func (p *program) Write(b []byte) (int, error) {
	p.raw.sent(b)
	return p.stdin.Write(b)
}

// Close ends the server as MCP asks for: first its input, then a signal. After
// that nothing of it is left.
func (p *program) Close() error {
	p.close.Do(func() {
		_ = p.stdin.Close() // it may have ended by itself
		select {
		case <-p.Exited():
		case <-time.After(time.Second):
			p.Stop()
		}
		p.Reap()
	})
	return nil
}
