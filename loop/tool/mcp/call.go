package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/transcript"
)

// tool makes a tool of one that the server listed.
func (s *Server) tool(t *sdk.Tool) loop.Tool {
	name := t.Name
	var paths []string
	for pattern, arguments := range s.config.Paths {
		if matches(pattern, name) {
			paths = append(paths, arguments...)
		}
	}
	return loop.Tool{
		Tool: transcript.Tool{
			Name:        declaredName(s.config.Name, name),
			Description: t.Description,
			Parameters:  s.raw.parameters(t),
		},
		Sequential: s.options.Sequential,
		Effects:    s.config.Effects,
		Arguments:  tool.Paths(paths...),
		Run: func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			return s.call(ctx, name, call.Arguments, progress)
		},
	}
}

// Endpoints take tool names of this form and length; MCP allows more.
const maxName = 64

var unusual = regexp.MustCompile(`[^A-Za-z0-9_-]`)

func declaredName(server, name string) string {
	declared := "mcp__" + server + "__" + unusual.ReplaceAllString(name, "_")
	if len(declared) <= maxName {
		return declared
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return fmt.Sprintf("%s_%08x", declared[:maxName-9], h.Sum32())
}

func (s *Server) call(ctx context.Context, name string, args json.RawMessage, progress func(loop.Result)) (loop.Result, error) {
	token := rand.Text()
	defer s.watch(token, progress)()
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, fmt.Errorf("timed out after %s", s.options.Timeout))
	defer cancel()
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken(token)
	r, err := s.session.CallTool(ctx, params)
	raw := s.raw.take(token)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return loop.Result{}, s.failure("call "+name+" of", err)
	}
	return s.result(r, raw), nil
}

// watch shows the progress of a call until the returned function is called, one
// notice after the other.
func (s *Server) watch(token string, progress func(loop.Result)) (end func()) {
	s.watching.Lock()
	defer s.watching.Unlock()
	s.running[token] = progress
	return func() {
		s.watching.Lock()
		defer s.watching.Unlock()
		delete(s.running, token)
	}
}

func (s *Server) showProgress(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
	token, _ := n.Params.ProgressToken.(string)
	text := fmt.Sprint(n.Params.Progress)
	if n.Params.Total > 0 {
		text = fmt.Sprintf("%v of %v", n.Params.Progress, n.Params.Total)
	}
	if n.Params.Message != "" {
		text += ": " + n.Params.Message
	}
	s.watching.Lock()
	defer s.watching.Unlock()
	if show := s.running[token]; show != nil { // nil after the call
		show(tool.Text(tool.Valid(text), nil))
	}
}

// result is what the server answered: text and images for the model, all of it
// bounded; structured content as it came.
func (s *Server) result(r *sdk.CallToolResult, raw json.RawMessage) loop.Result {
	var kept struct {
		StructuredContent json.RawMessage `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &kept) != nil || kept.StructuredContent == nil {
		kept.StructuredContent = encode(r.StructuredContent)
	}
	structured := compacted(kept.StructuredContent)
	result := loop.Result{IsError: r.IsError, StructuredContent: structured}
	room := s.options.MaxOutput
	for _, c := range r.Content {
		b := block(c)
		if b.Type == transcript.BlockText {
			b.Text = tool.Clip(b.Text, max(room, 0))
			room -= int64(len(b.Text))
		}
		result.Content = append(result.Content, b)
	}
	if len(result.Content) == 0 {
		text := "(no output)"
		if structured != nil {
			text = tool.Clip(string(structured), room)
		}
		result.Content = append(result.Content, transcript.TextBlock(text))
	}
	if structured != nil {
		result.Details = encode(struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		}{structured})
	}
	return result
}

func encode(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil // it was decoded from JSON
	}
	return raw
}

// compacted is raw JSON without white space, which may include line ends; keys
// and digits stay as they are.
func compacted(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// block is a piece of an answer as the model can take it.
func block(c sdk.Content) transcript.Block {
	switch c := c.(type) {
	case *sdk.TextContent:
		return transcript.TextBlock(tool.Valid(c.Text))
	case *sdk.ImageContent:
		return media("image", c.MIMEType, c.Data)
	case *sdk.AudioContent:
		return media("audio", c.MIMEType, c.Data)
	case *sdk.ResourceLink:
		return transcript.TextBlock(tool.Valid(strings.TrimSpace(fmt.Sprintf("%s: %s\n%s", c.Name, c.URI, c.Description))))
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil && r.Blob == nil {
			return transcript.TextBlock(tool.Valid(fmt.Sprintf("%s:\n%s", r.URI, r.Text)))
		} else if r != nil {
			return media(r.URI, r.MIMEType, r.Blob)
		}
	}
	return transcript.TextBlock(fmt.Sprintf("[content of type %T that cannot be shown]", c))
}

// media is an image, or says what was left out.
func media(what, mimeType string, data []byte) transcript.Block {
	switch sniffed := tool.ImageType(data); {
	case sniffed == "":
		return transcript.TextBlock(tool.Valid(fmt.Sprintf("[%s of type %s with %d bytes, which cannot be shown]", what, mimeType, len(data))))
	case len(data) > tool.MaxImage:
		return transcript.TextBlock(tool.Valid(fmt.Sprintf("[%s of type %s with %d bytes; at most %d can be shown]", what, mimeType, len(data), tool.MaxImage)))
	default:
		return tool.ImageBlock(sniffed, data)
	}
}
