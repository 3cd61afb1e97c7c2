// Package scripted is a model that answers what it was told to: the model of
// examples, of tests, and of tasks that need no network.
//
// A script is a list of responses ([Parse] has their form). Which one comes
// next is counted from the answers that the first request shows, so that a run
// that is resumed in another process goes on where it stopped; [Model.Seek]
// sets it. When the script is exhausted, the answer is an error without a
// start, "no scripted response left".
package scripted

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Exhausted is the error message of an answer beyond the end of the script.
const Exhausted = "no scripted response left"

// Aborted is the error message of an answer that an abort broke off.
const Aborted = "Request was aborted"

// API is what answers of this package state as their api.
const API = "scripted"

// Model plays a script. It may be used by several goroutines, which then share
// the script.
type Model struct {
	responses []Response

	mu    sync.Mutex
	next  int
	known bool            // next was counted or set
	taken map[string]bool // call ids of the history
	read  int             // messages whose ids are in taken
}

// New returns a model that gives these responses in order.
func New(responses []Response) *Model { return &Model{responses: responses} }

// Seek makes response n, counted from 0, the next one, whatever the next
// request shows.
func (m *Model) Seek(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next, m.known = n, true
}

// Left is the number of responses that were not asked for. Before the first
// request it is the whole script.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, len(m.responses)-m.next)
}

// Stream implements [loop.Model].
func (m *Model) Stream(ctx context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	response := m.take(r)
	if response.Throw != nil {
		return func(yield func(loop.Delta, error) bool) { yield(loop.Delta{}, errors.New(*response.Throw)) }
	}
	s := &stream{ctx: ctx, response: response, partial: transcript.Message{
		Role: transcript.Assistant, API: API, Provider: r.Model.Provider, Model: r.Model.ID, Usage: response.Usage,
	}}
	return func(yield func(loop.Delta, error) bool) {
		s.yield = func(d loop.Delta) bool { return yield(d, nil) }
		s.play()
	}
}

// take gives the next response with all of its ids.
func (m *Model) take(r replay.Request) Response {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known {
		m.next, m.known = m.played(r.Messages), true
	}
	n := m.next
	m.next++
	if n >= len(m.responses) {
		return Response{StopReason: transcript.StopError, ErrorMessage: Exhausted, NoStart: true}
	}
	response := m.responses[n]
	response.Content = m.identify(n, response.Content, r.Messages)
	return response
}

// played counts the responses that a history used up. An answer that an abort
// broke off was not given, unless the script says so itself.
func (m *Model) played(history []transcript.Message) int {
	n := 0
	for i := range history {
		if history[i].Role != transcript.Assistant {
			continue
		}
		scriptedAbort := n < len(m.responses) && m.responses[n].StopReason == transcript.StopAborted
		if history[i].StopReason != transcript.StopAborted || scriptedAbort {
			n++
		}
	}
	return n
}

// identify gives calls without an id one that the history does not have.
func (m *Model) identify(n int, content []Block, history []transcript.Message) []Block {
	nameless := func(b Block) bool { return b.Call != nil && b.Call.ID == "" }
	if !slices.ContainsFunc(content, nameless) {
		return content
	}
	m.collect(history)
	content = slices.Clone(content)
	for i, b := range content {
		if nameless(b) {
			call := *b.Call
			call.ID = callID(n, i, m.taken)
			content[i].Call = &call
		}
	}
	return content
}

// collect remembers the call ids of the history and of the script. A history
// only grows, so what was read once is not read again.
func (m *Model) collect(history []transcript.Message) {
	if m.taken == nil {
		m.taken = make(map[string]bool)
		for _, r := range m.responses {
			for _, b := range r.Content {
				if b.Call != nil && b.Call.ID != "" {
					m.taken[b.Call.ID] = true
				}
			}
		}
	}
	if m.read > len(history) {
		m.read = 0
	}
	for i := range history[m.read:] {
		for _, c := range history[m.read+i].Calls() {
			m.taken[c.ID] = true
		}
	}
	m.read = len(history)
}
