// Package mcp has the tools of MCP servers, which a run starts on stdio or
// reaches over streamable HTTP, and the lifetime of these servers: what it
// started is ended with it.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/schema"
)

// Config describes an MCP server whose tools a run gets. Either Command or URL
// is set.
type Config struct {
	Name    string   // tools are called mcp__NAME__TOOL
	Command []string // program and arguments of a server that speaks over its standard streams
	URL     string   // of a server that speaks streamable HTTP

	// HeadersEnv has the environment variable for each header of the requests
	// to URL. They go to the host of URL only.
	HeadersEnv map[string]string

	Tools        []string      // glob patterns of the tools to take; none takes all
	Effects      loop.Effects  // of all its tools; "" is External
	StartTimeout time.Duration // for it to answer at all; 0 is DefaultStartTimeout

	// Paths has the arguments that name files, by a glob pattern of the tools
	// that take them.
	Paths map[string][]string
}

// DefaultStartTimeout leaves a package runner time to fetch the server.
const DefaultStartTimeout = time.Minute

// Server is a connection to an MCP server.
type Server struct {
	config  Config
	options tool.Options
	session *sdk.ClientSession
	raw     *recorder
	program *program // nil over HTTP
	hangUp  func()   // over HTTP: closes what connections are left

	changed atomic.Bool

	mu       sync.Mutex
	tools    []loop.Tool
	warnings []string

	watching sync.Mutex
	running  map[string]func(loop.Result) // by progress token: what shows it
}

// Connect starts or reaches a server and lists its tools. Options.Timeout
// bounds each call, Options.AllowEnv names what a started server gets of the
// environment. The error has the end of the server's stderr. The caller closes
// the server.
func Connect(ctx context.Context, c Config, o tool.Options) (*Server, error) {
	o, err := o.Ready()
	if err != nil {
		return nil, err
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	for _, pattern := range slices.AppendSeq(slices.Clone(c.Tools), maps.Keys(c.Paths)) {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("tool pattern %q of MCP server %s: %w", pattern, c.Name, err)
		}
	}
	s := &Server{config: c, options: o, raw: newRecorder(), running: map[string]func(loop.Result){}}
	ctx, cancel := context.WithTimeoutCause(ctx, c.StartTimeout, fmt.Errorf("no answer within %s", c.StartTimeout))
	defer cancel()
	transport, err := s.transport()
	if err != nil {
		return nil, s.failure("connect to", err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "turnlog", Version: "1"}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{}, // nobody is there to be asked, and no model to be lent
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { s.changed.Store(true) },
		ProgressNotificationHandler: s.showProgress,
	})
	s.session, err = client.Connect(ctx, transport, nil)
	if err == nil {
		err = s.list(ctx)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		closing := s.Close() // first, so that all of its stderr is there
		return nil, errors.Join(s.failure("connect to", err), closing)
	}
	return s, nil
}

func (s *Server) transport() (sdk.Transport, error) {
	switch {
	case (len(s.config.Command) > 0) == (s.config.URL != ""):
		return nil, errors.New("a server has either a command or a url")
	case s.config.URL != "":
		return s.http()
	default:
		return s.start()
	}
}

// Name is the name from the configuration.
func (s *Server) Name() string { return s.config.Name }

// Tools are the server's tools as last listed, in its order.
func (s *Server) Tools() []loop.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}

// Warnings says what of the last list cannot work as it is meant: patterns
// that match no tool, schemas that cannot be checked.
func (s *Server) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

// Changed reports whether the server has announced another list since the last
// one. Then Refresh gets it.
func (s *Server) Changed() bool { return s.changed.Load() }

// Refresh lists the tools again. After an error the old list stands.
func (s *Server) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, fmt.Errorf("no answer within %s", s.options.Timeout))
	defer cancel()
	if err := s.list(ctx); err != nil {
		return s.failure("list tools of", err)
	}
	return nil
}

// maxTools bounds a list: each page of a broken server may name a next one.
const maxTools = 10_000

func (s *Server) list(ctx context.Context) error {
	s.changed.Store(false) // a change from now on is one more
	var found []*sdk.Tool
	for t, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if found = append(found, t); len(found) > maxTools {
			return fmt.Errorf("the list of tools does not end: %d so far", len(found))
		}
	}
	return s.take(found)
}

// take makes tools of those that the patterns choose.
func (s *Server) take(found []*sdk.Tool) error {
	var tools []loop.Tool
	var warnings []string
	for _, t := range found {
		wanted := func(pattern string) bool { return matches(pattern, t.Name) }
		if len(s.config.Tools) > 0 && !slices.ContainsFunc(s.config.Tools, wanted) {
			continue
		}
		made := s.tool(t)
		tools = append(tools, made)
		warnings = append(warnings, checkSchema(made.Name, made.Parameters)...)
	}
	warnings = append(warnings, s.unmatched(found)...)
	if err := tool.Distinct(tools); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.warnings = tools, warnings
	return nil
}

// unmatched reports the patterns of the configuration that match no tool, and
// the arguments in it that none of the tools has.
func (s *Server) unmatched(found []*sdk.Tool) []string {
	var warnings []string
	patterns := slices.AppendSeq(slices.Clone(s.config.Tools), maps.Keys(s.config.Paths))
	slices.Sort(patterns)
	for _, pattern := range slices.Compact(patterns) {
		var arguments []string
		matched := false
		for _, t := range found {
			if matches(pattern, t.Name) {
				matched, arguments = true, append(arguments, s.raw.arguments(t)...)
			}
		}
		if !matched {
			warnings = append(warnings, fmt.Sprintf("MCP server %s has no tool that matches %s; it has %s", s.config.Name, pattern, toolNames(found)))
			continue
		}
		for _, name := range s.config.Paths[pattern] {
			if !slices.Contains(arguments, name) {
				warnings = append(warnings, fmt.Sprintf("MCP server %s: no tool that matches %s has the argument %s, which paths names", s.config.Name, pattern, name))
			}
		}
	}
	return warnings
}

// matches compares the name of a tool with a pattern that Connect has checked.
func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

func toolNames(tools []*sdk.Tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// checkSchema says what of a schema will not be enforced. A schema that does
// not compile leaves a tool that can be declared, but not called.
func checkSchema(name string, parameters json.RawMessage) []string {
	compiled, err := schema.Compile(parameters)
	if err != nil {
		return []string{fmt.Sprintf("calls of %s will fail: %v", name, err)}
	}
	var warnings []string
	for _, w := range compiled.Warnings() {
		warnings = append(warnings, fmt.Sprintf("parameters of %s: %s", name, w))
	}
	return warnings
}

// failure names the server, and has what it said of its own trouble.
func (s *Server) failure(doing string, err error) error {
	err = fmt.Errorf("%s MCP server %s: %w", doing, s.config.Name, err)
	if s.program != nil {
		if said := strings.TrimSpace(s.program.noise.text()); said != "" {
			return fmt.Errorf("%w; it wrote to stderr: %s", err, said)
		}
	}
	return err
}

// Close ends the session, and with it a server that was started and all that
// it had started.
func (s *Server) Close() error {
	var err error
	if s.session != nil {
		err = s.session.Close()
	}
	if s.program != nil {
		// Whether it parted in peace is of no interest: it is gone.
		return s.program.Close()
	}
	if s.hangUp != nil {
		s.hangUp()
	}
	if err != nil {
		return s.failure("close", err)
	}
	return nil
}
