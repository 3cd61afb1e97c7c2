// Package view shows what a transcript implies at a cut: tools, prompt,
// messages, the request that would go out; for people, or as JSON.
package view

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/choice"
)

// Session is a transcript that was read.
type Session struct {
	Name      string
	Format    string
	Knowledge replay.Knowledge
	Tree      *replay.Tree
}

// Options say what is shown, and how.
type Options struct {
	View   string      // one of Names
	Format string      // text, json or ndjson
	Wire   bool        // a request as it is sent
	Mode   replay.Mode // how it carries changes of tools
}

// view is a way to look at a moment: a record for machines and text for
// people. Views that list things have a record for each in ndjson.
type view struct {
	record func(*moment) any
	items  func(*moment) []any // nil for views that are one record
	text   func(printer, *moment)
}

// views is the table of views.
func views() choice.Table[view] {
	return choice.Table[view]{
		{Name: "summary", Value: view{summaryRecord, nil, summaryText}},
		{Name: "state", Value: view{stateRecord, nil, stateText}},
		{Name: "tools", Value: view{toolsRecord, nil, toolsText}},
		{Name: "prompt", Value: view{promptRecord, nil, promptText}},
		{Name: "messages", Value: view{messagesRecord, messageItems, messagesText}},
		{Name: "request", Value: view{requestRecord, nil, requestText}},
	}
}

// Names lists the views.
func Names() []string { return views().Names() }

// moment is the state of a session at one cut.
type moment struct {
	*Session
	*replay.State
	at replay.Position
	o  Options
}

// At shows a session at a cut. A cut that it does not have is a
// [*replay.CutError].
func At(w io.Writer, s *Session, cut replay.Cut, leaf string, o Options) error {
	v, err := views().Find("view", o.View)
	if err != nil {
		return err
	}
	state, at, err := s.Tree.At(cut, leaf)
	if err != nil {
		return err
	}
	m := &moment{s, state, at, o}
	switch {
	case o.Format == "text":
		v.text(printer{w}, m)
		return nil
	case o.Format == "ndjson" && v.items != nil:
		for _, item := range v.items(m) {
			if err := writeJSON(w, item); err != nil {
				return err
			}
		}
		return nil
	}
	return writeJSON(w, v.record(m))
}

// All shows a session at every entry, in file order: as lines of text, or as
// records, which make up one array in json.
func All(ctx context.Context, w io.Writer, s *Session, o Options) error {
	v, err := views().Find("view", o.View)
	if err != nil {
		return err
	}
	o.Wire = false
	n := 0
	for i, state := range s.Tree.All() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		e := &s.Tree.Entries[i]
		m := &moment{s, state, replay.Position{Line: e.Line, Entry: e.ID, Turn: state.Turn()}, o}
		if o.Format == "text" {
			momentText(printer{w}, m)
			continue
		}
		if o.Format == "json" {
			fmt.Fprint(w, map[bool]string{true: "[", false: ","}[n == 0])
		}
		if err := writeJSON(w, v.record(m)); err != nil {
			return err
		}
		n++
	}
	if n > 0 && o.Format == "json" {
		_, err = io.WriteString(w, "]\n")
	}
	return err
}

// writeJSON writes v on one line. Embedded raw JSON keeps its key order and
// its digits; < > & stay as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// knowledge is what is known of the tools at this moment: on a path without a
// system message or a checkpoint nothing is, whatever the file has elsewhere.
func (m *moment) knowledge() replay.Knowledge {
	if !m.Stated() {
		return replay.Unknown
	}
	return m.Knowledge
}
