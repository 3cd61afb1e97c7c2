package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/schema"
)

// ServerConfig describes an MCP server whose tools a run gets. Either Command
// or URL is set.
type ServerConfig struct {
	Name    string   // tools are called mcp__NAME__TOOL
	Command []string // program and arguments of a server that speaks over its standard streams
	URL     string   // of a server that speaks streamable HTTP

	// HeadersEnv has the environment variable for each header of the requests
	// to URL. They go to the host of URL only.
	HeadersEnv map[string]string

	Tools        []string      // glob patterns of the tools to take; none takes all
	Optional     bool          // a run can do without it, see ConnectAll
	Effects      loop.Effects  // of all its tools; "" is External
	StartTimeout time.Duration // for it to answer at all; 0 is DefaultStartTimeout
}

// DefaultStartTimeout leaves a package runner time to fetch the server.
const DefaultStartTimeout = time.Minute

// Server is a connection to an MCP server.
type Server struct {
	config  ServerConfig
	options Options
	session *mcp.ClientSession
	raw     *recorder
	process *serverProcess // nil over HTTP
	hangUp  func()         // over HTTP: closes what connections are left

	mu       sync.Mutex
	changed  bool
	tools    []loop.Tool
	warnings []string
	running  map[string]*watcher // by progress token
}

// Connect starts or reaches a server and lists its tools. Options.Timeout
// bounds each call, Options.AllowEnv names what a started server gets of the
// environment. The error has the end of the server's stderr. The caller closes
// the server.
func Connect(ctx context.Context, c ServerConfig, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	s := &Server{config: c, options: o, raw: newRecorder(), running: map[string]*watcher{}}
	ctx, cancel := context.WithTimeoutCause(ctx, c.StartTimeout, fmt.Errorf("no answer within %s", c.StartTimeout))
	defer cancel()
	transport, err := s.transport()
	if err != nil {
		return nil, s.failure("connect to", err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "turnlog", Version: "1"}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // nobody is there to be asked, and no model to be lent
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.note() },
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

func (s *Server) transport() (mcp.Transport, error) {
	switch {
	case (len(s.config.Command) > 0) == (s.config.URL != ""):
		return nil, errors.New("a server has either a command or a url")
	case s.config.URL != "":
		return s.http()
	default:
		return s.start()
	}
}

// ConnectAll connects to several servers at once. Those which are optional and
// cannot be reached are reported in skipped. If any other cannot be, none
// stays connected.
func ConnectAll(ctx context.Context, configs []ServerConfig, o Options) (servers []*Server, skipped []error, err error) {
	connected := make([]*Server, len(configs))
	failures := make([]error, len(configs))
	var wait sync.WaitGroup
	for i, c := range configs {
		wait.Go(func() { connected[i], failures[i] = Connect(ctx, c, o) })
	}
	wait.Wait()
	var fatal []error
	for i, c := range configs {
		switch {
		case failures[i] == nil:
			servers = append(servers, connected[i])
		case c.Optional:
			skipped = append(skipped, failures[i])
		default:
			fatal = append(fatal, failures[i])
		}
	}
	if len(fatal) > 0 {
		for _, s := range servers {
			fatal = append(fatal, s.Close())
		}
		return nil, nil, errors.Join(fatal...)
	}
	return servers, skipped, nil
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
func (s *Server) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Server) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = true
}

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
	s.mu.Lock()
	s.changed = false // a change from now on is one more
	s.mu.Unlock()
	var found []*mcp.Tool
	cursor := ""
	for {
		page, err := s.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return err
		}
		found = append(found, page.Tools...)
		if page.NextCursor == "" {
			break
		}
		if page.NextCursor == cursor || len(page.Tools) == 0 || len(found) > maxTools {
			return fmt.Errorf("the list of tools does not end: %d so far, next page %q", len(found), page.NextCursor)
		}
		cursor = page.NextCursor
	}
	return s.take(found)
}

// take makes tools of those that the patterns choose.
func (s *Server) take(found []*mcp.Tool) error {
	var tools []loop.Tool
	var warnings []string
	used := make([]bool, len(s.config.Tools))
	for _, t := range found {
		wanted := len(s.config.Tools) == 0
		for i, pattern := range s.config.Tools {
			ok, err := path.Match(pattern, t.Name)
			if err != nil {
				return fmt.Errorf("tool pattern %q: %w", pattern, err)
			}
			used[i], wanted = used[i] || ok, wanted || ok
		}
		if !wanted {
			continue
		}
		tool := s.tool(t)
		tools = append(tools, tool)
		warnings = append(warnings, checkSchema(tool.Name, tool.Parameters)...)
	}
	for i, pattern := range s.config.Tools {
		if !used[i] {
			warnings = append(warnings, fmt.Sprintf("MCP server %s has no tool that matches %s; it has %s", s.config.Name, pattern, toolNames(found)))
		}
	}
	if err := Distinct(tools); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.warnings = tools, warnings
	return nil
}

func toolNames(tools []*mcp.Tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
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
	if s.process != nil {
		if said := strings.TrimSpace(s.process.said()); said != "" {
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
	if s.process != nil {
		// Whether it parted in peace is of no interest: it is gone.
		return s.process.Close()
	}
	if s.hangUp != nil {
		s.hangUp()
	}
	if err != nil {
		return s.failure("close", err)
	}
	return nil
}
