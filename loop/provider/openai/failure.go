package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/sse"
)

// failure is an attempt that gave no answer.
type failure struct {
	err       error
	kind      failureKind
	throttled bool        // the endpoint asked for fewer requests
	header    http.Header // of the answer; nil if there was none
}

// failureKind says how often a request is worth repeating after a failure.
type failureKind uint8

const (
	fatal     failureKind = iota // never: the same request gets the same answer
	transient                    // as often as the policy allows
	once                         // one time: what is no model endpoint will not become one
	refused                      // two times: a server that restarts, or a wrong port
)

// most is how often a request is repeated after failures of a kind.
func (k failureKind) most(p RetryPolicy) int {
	return min([...]int{fatal: 0, transient: p.Attempts, once: 1, refused: 2}[k], p.Attempts)
}

// classify says what kind of failure an error of an attempt is.
func classify(err error) *failure {
	var (
		status  *statusError
		api     *sse.Error
		foreign *sse.ForeignError
		tooLong *sse.TooLongError
		finish  *answer.FinishError
	)
	switch {
	case errors.As(err, &status):
		return status.failure(err)
	case errors.As(err, &api):
		return &failure{err: err, kind: kindOf(api), throttled: throttles(api)}
	case errors.As(err, &foreign), errors.Is(err, answer.ErrNoEvents), errors.Is(err, answer.ErrEmpty):
		return &failure{err: err, kind: once}
	case errors.As(err, &tooLong), errors.Is(err, answer.ErrTooManyCalls), errors.Is(err, answer.ErrTooLong):
		return &failure{err: err}
	case errors.As(err, &finish):
		if finish.Reason == "error" || finish.Reason == "network_error" {
			return &failure{err: err, kind: transient} // the two that blame the endpoint
		}
		return &failure{err: err}
	}
	return classifyNetwork(err)
}

func (e *statusError) failure(err error) *failure {
	f := &failure{err: err, header: e.header, throttled: e.status == http.StatusTooManyRequests}
	if f.throttled || e.status >= 500 {
		f.kind = transient
	}
	if spent(e.api) {
		f.kind, f.throttled = fatal, false
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
	case errors.As(err, &verify), errors.As(err, &unknown), errors.As(err, &hostname):
		return &failure{err: err}
	case errors.As(err, &dns) && dns.IsNotFound:
		return &failure{err: err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{err: err, kind: refused}
	}
	return &failure{err: err, kind: transient}
}

// spent reports an account that is out of money: waiting does not fill it.
func spent(e *sse.Error) bool {
	words := []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits", "insufficient_balance"}
	if slices.Contains(words, e.Code) || slices.Contains(words, e.Type) || e.Code == "402" {
		return true
	}
	text := strings.ToLower(e.Message)
	return slices.ContainsFunc([]string{
		"spend limit", "spending limit", "billing hard limit", "insufficient credits", "insufficient balance",
		"insufficient_quota", "credit balance is too low", "out of credits",
	}, func(s string) bool { return strings.Contains(text, s) })
}

// kindOf judges an error inside a stream by its code. Errors whose code
// says nothing are the endpoint's: it had taken the request.
func kindOf(e *sse.Error) failureKind {
	switch status := e.Status(); {
	case spent(e):
		return fatal
	case status == http.StatusTooManyRequests || status >= 500:
		return transient
	case status != 0:
		return fatal
	}
	final := []string{
		"invalid_request_error", "invalid_request", "authentication_error", "invalid_api_key", "permission_error", "permission_denied",
		"not_found_error", "model_not_found", "request_too_large", "context_length_exceeded", "content_filter", "invalid_prompt",
		"BadRequestError", "bad_request",
	}
	if slices.Contains(final, e.Code) || slices.Contains(final, e.Type) {
		return fatal
	}
	return transient
}

func throttles(e *sse.Error) bool {
	return !spent(e) && (e.Status() == http.StatusTooManyRequests || e.Code == "rate_limit_exceeded" || e.Type == "rate_limit_error")
}
