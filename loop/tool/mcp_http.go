package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// http reaches the server at its address.
func (s *Server) http() (mcp.Transport, error) {
	address, err := url.Parse(s.config.URL)
	if err != nil {
		return nil, err
	}
	if address.Scheme != "http" && address.Scheme != "https" {
		return nil, fmt.Errorf("%s is no http or https address", s.config.URL)
	}
	headers, err := s.headers()
	if err != nil {
		return nil, err
	}
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	s.hangUp = base.CloseIdleConnections
	client := &http.Client{
		Transport: &requester{host: address.Host, headers: headers, raw: s.raw, base: base},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != address.Host || r.URL.Scheme != address.Scheme || len(via) >= 10 {
				return fmt.Errorf("redirected to %s; write the server's own address", r.URL.Redacted())
			}
			return nil
		},
	}
	return &mcp.StreamableClientTransport{Endpoint: s.config.URL, HTTPClient: client}, nil
}

// headers reads the values of the headers from the environment.
func (s *Server) headers() (http.Header, error) {
	values := map[string]string{}
	for _, entry := range s.options.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	headers := http.Header{}
	var errs []error
	for _, header := range slices.Sorted(maps.Keys(s.config.HeadersEnv)) {
		name := s.config.HeadersEnv[header]
		value, ok := values[name]
		if !ok {
			errs = append(errs, fmt.Errorf("header %s: environment variable %s is not set", header, name))
		}
		headers.Set(header, value)
	}
	return headers, errors.Join(errs...)
}

// requester adds the headers and shows all messages to the recorder.
type requester struct {
	host    string
	headers http.Header
	raw     *recorder
	base    http.RoundTripper
}

// RoundTrip sends one request.
func (t *requester) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.URL.Host == t.host {
		maps.Copy(r.Header, t.headers)
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		t.raw.sent(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind {
	case "application/json":
		response.Body = &entire{body: response.Body, emit: t.raw.received}
	case "text/event-stream":
		response.Body = &tee{response.Body, &events{emit: t.raw.received}}
	}
	return response, nil
}

// tee shows what is read to a writer that never fails.
type tee struct {
	io.ReadCloser
	to io.Writer
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	_, _ = t.to.Write(p[:n])
	return n, err
}

// entire shows a body when its end was read.
type entire struct {
	body io.ReadCloser
	seen bytes.Buffer
	emit func([]byte)
}

func (w *entire) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if w.seen.Len() < maxMessage {
		w.seen.Write(p[:n])
	}
	if errors.Is(err, io.EOF) && w.emit != nil {
		w.emit(w.seen.Bytes())
		w.emit = nil
	}
	return n, err
}

func (w *entire) Close() error { return w.body.Close() }
