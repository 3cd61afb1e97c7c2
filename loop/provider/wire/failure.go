package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Kind says how often a request is worth repeating after a failure.
type Kind uint8

// The kinds. The third one is for a connection that is refused.
const (
	Fatal     Kind = iota // never: the same request gets the same answer
	Transient             // as often as the policy allows
	Once                  // one time
	refused               // two times: a server that restarts, or a wrong port
)

// most is how often a request is repeated after failures of a kind.
func (k Kind) most(p RetryPolicy) int {
	return min([...]int{Fatal: 0, Transient: p.Attempts, Once: 1, refused: 2}[k], p.Attempts)
}

// Fault is an answer that is no good, in words of ours.
type Fault struct {
	Text string
	Kind Kind
}

func (f *Fault) Error() string { return f.Text }

// tooLong is an event, or an answer, that does not fit.
func tooLong(limit int) *Fault {
	return &Fault{fmt.Sprintf("read the stream: longer than %d bytes", limit), Fatal}
}

// Stated reports whether err says that an answer is wrong, and not only its
// delivery: then it is, even if it was complete.
func Stated(err error) bool {
	_, said := errors.AsType[*Error](err)
	_, found := errors.AsType[*Fault](err)
	return said || found
}

// failure is an attempt that gave no answer.
type failure struct {
	err       error
	kind      Kind
	throttled bool        // the endpoint asked for fewer requests
	header    http.Header // of the answer; nil if there was none
}

// classify says what kind of failure an error of an attempt is.
func classify(err error) *failure {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.failure(err)
	}
	if said, ok := errors.AsType[*Error](err); ok {
		return &failure{err: err, kind: said.kind(), throttled: said.throttles()}
	}
	if fault, ok := errors.AsType[*Fault](err); ok {
		return &failure{err: err, kind: fault.Kind}
	}
	return classifyNetwork(err)
}

func (e *statusError) failure(err error) *failure {
	f := &failure{err: err, header: e.header}
	if tooMany := e.status == http.StatusTooManyRequests; (tooMany || e.status >= 500) && !e.said.spent() {
		f.kind, f.throttled = Transient, tooMany
	}
	return f
}

// classifyNetwork tells a wrong address from a bad connection.
func classifyNetwork(err error) *failure {
	var (
		record   tls.RecordHeaderError
		verify   *tls.CertificateVerificationError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		dns      *net.DNSError
	)
	switch text := err.Error(); {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return &failure{err: fmt.Errorf("the endpoint speaks plain HTTP, use http:// in the base URL: %w", err)}
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return &failure{err: fmt.Errorf("the endpoint speaks TLS, use https:// in the base URL: %w", err)}
	case errors.As(err, &verify), errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &dns) && dns.IsNotFound:
		return &failure{err: err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{err: err, kind: refused}
	}
	return &failure{err: err, kind: Transient}
}
