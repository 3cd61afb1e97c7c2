package mcp

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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// http reaches the server at its address.
func (s *Server) http() (sdk.Transport, error) {
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
	return &sdk.StreamableClientTransport{Endpoint: s.config.URL, HTTPClient: client}, nil
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
		var seen bytes.Buffer
		response.Body = &tap{response.Body, func(p []byte, end bool) {
			if seen.Len() < maxMessage {
				seen.Write(p)
			}
			if end {
				t.raw.received(seen.Bytes())
			}
		}}
	case "text/event-stream":
		stream := &events{emit: t.raw.received}
		response.Body = &tap{response.Body, func(p []byte, _ bool) { stream.add(p) }}
	}
	return response, nil
}

// tap shows what is read of a body.
type tap struct {
	io.ReadCloser
	see func(p []byte, end bool)
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.see(p[:n], errors.Is(err, io.EOF))
	return n, err
}
