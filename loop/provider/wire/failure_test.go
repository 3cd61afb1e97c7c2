package wire

import (
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestClassifyNetwork(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind Kind
	}{
		{&net.DNSError{Err: "no such host", IsNotFound: true}, Fatal},
		{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, Transient},
		{&net.OpError{Err: syscall.ECONNREFUSED}, refused},
		{&net.OpError{Err: syscall.ECONNRESET}, Transient},
		{io.ErrUnexpectedEOF, Transient},
		{tooLong(1), Fatal},
		{&timeoutError{what: "x"}, Transient},
	} {
		if got := classify(c.err).kind; got != c.kind {
			t.Errorf("%v: kind %d, want %d", c.err, got, c.kind)
		}
	}
}

func TestBodyWithoutEnd(t *testing.T) {
	b := clockedBody{body: strings.NewReader("x"), clock: newClock(Timeouts{}, nil), read: maxAnswer + 1}
	if _, err := b.Read(make([]byte, 1)); classify(err).kind != Fatal {
		t.Errorf("too long an answer: %v", err)
	}
}
