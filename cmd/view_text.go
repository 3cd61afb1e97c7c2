package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Text views show what files say, so everything goes through
// text.Printable: a transcript must not reach a terminal as it is.

func summaryText(w io.Writer, m *moment) {
	fmt.Fprintf(w, "%s: %s, %d entries\n", text.Printable(m.name), m.format, len(m.tree.Entries))
	row(w, "cut", cutText(m.at))
	row(w, "model", modelText(m.Model())+", thinking "+text.Printable(m.Thinking()))
	row(w, "tools", toolNames(m))
	row(w, "messages", fmt.Sprint(len(m.Context())))
	row(w, "open", openText(m.OpenCalls()))
	u := m.Usage()
	row(w, "usage", fmt.Sprintf("%d in, %d out, %d cache read, %d cache write", u.Input, u.Output, u.CacheRead, u.CacheWrite))
}

func row(w io.Writer, name, text string) { fmt.Fprintf(w, "%-9s %s\n", name, text) }

func cutText(at replay.Position) string {
	if at.Line == 0 {
		return "before the first entry"
	}
	return fmt.Sprintf("line %d, entry %s, turn %d", at.Line, text.Printable(at.Entry), at.Turn)
}

func modelText(m replay.ModelRef) string {
	switch {
	case m.ID == "":
		return "none"
	case m.Provider == "":
		return text.Printable(m.ID)
	}
	return text.Printable(m.Provider + "/" + m.ID)
}

// toolNames lists the tools, or says why they cannot be listed.
func toolNames(m *moment) string {
	if m.knowledge == replay.Unknown {
		return "unknown (the file records no declarations)"
	}
	var names []string
	for _, t := range m.Tools() {
		names = append(names, text.Printable(t.Name))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func openText(calls []transcript.Call) string {
	if len(calls) == 0 {
		return "none"
	}
	var names []string
	for _, c := range calls {
		names = append(names, text.Printable(c.Name+" "+c.ID))
	}
	return strings.Join(names, ", ")
}

func stateText(w io.Writer, m *moment) {
	summaryText(w, m)
	fmt.Fprintln(w)
	toolsText(w, m)
	fmt.Fprintln(w, "\nsystem prompt:")
	promptText(w, m)
}

func toolsText(w io.Writer, m *moment) {
	if m.knowledge == replay.Unknown {
		fmt.Fprintln(w, "tools: unknown (the file records no declarations)")
		return
	}
	if len(m.Tools()) == 0 {
		fmt.Fprintln(w, "no tools")
	}
	for _, t := range m.Tools() {
		fmt.Fprintf(w, "%s  declared on line %d, entry %s\n", text.Printable(t.Name), t.Line, text.Printable(t.Entry))
		if t.Description != "" {
			fmt.Fprintf(w, "    %s\n", text.Printable(t.Description))
		}
	}
	for _, t := range m.Removed() {
		fmt.Fprintf(w, "%s  removed on line %d, entry %s\n", text.Printable(t.Name), t.Line, text.Printable(t.Entry))
	}
}

func promptText(w io.Writer, m *moment) { paragraph(w, "", m.SystemPrompt()) }

// paragraph writes words line by line.
func paragraph(w io.Writer, indent, words string) {
	if words == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(words, "\n"), "\n") {
		fmt.Fprintf(w, "%s%s\n", indent, text.Printable(line))
	}
}

func messagesText(w io.Writer, m *moment) {
	for _, i := range m.Context() {
		messageText(w, i.Line, &i.Message)
	}
}

func messageText(w io.Writer, line int, m *transcript.Message) {
	head := text.Printable(string(m.Role))
	if m.StopReason != "" {
		head += " (" + text.Printable(m.StopReason) + ")"
	}
	if m.Role == transcript.ToolResult {
		head += " of " + text.Printable(m.ToolName+" "+m.ToolCallID)
	}
	if m.IsError {
		head += ", error"
	}
	if line > 0 {
		head = fmt.Sprintf("line %d: %s", line, head)
	}
	fmt.Fprintln(w, head)
	for _, s := range m.Sections {
		if s.Removed {
			fmt.Fprintf(w, "    - section %s\n", text.Printable(s.Name))
			continue
		}
		fmt.Fprintf(w, "    + section %s\n", text.Printable(s.Name))
		paragraph(w, "      ", s.Text)
	}
	for _, t := range m.ToolsRemoved {
		fmt.Fprintf(w, "    - tool %s\n", text.Printable(t.Name))
	}
	for _, t := range m.ToolsAdded {
		fmt.Fprintf(w, "    + tool %s\n", text.Printable(t.Name))
	}
	for i := range m.Content {
		blockText(w, &m.Content[i])
	}
}

func blockText(w io.Writer, b *transcript.Block) {
	switch b.Type {
	case transcript.BlockText:
		paragraph(w, "    ", b.Text)
	case transcript.BlockThinking:
		paragraph(w, "    ~ ", b.Text)
	case transcript.BlockToolCall:
		if b.Call != nil {
			fmt.Fprintf(w, "    > %s %s\n", text.Printable(b.Call.Name+" "+b.Call.ID), text.Printable(string(b.Call.Arguments)))
		}
	case transcript.BlockImage:
		fmt.Fprintf(w, "    [image %s, %d characters of base64]\n", text.Printable(b.MimeType), len(b.Data))
	default:
		fmt.Fprintf(w, "    [%s]\n", text.Printable(b.Type))
	}
}

func requestText(w io.Writer, m *moment) {
	r, digest := m.request()
	row(w, "model", modelText(r.Model)+", thinking "+text.Printable(r.Thinking))
	if digest != "" {
		row(w, "digest", digest)
		for i := range r.Tools {
			row(w, "tool", text.Printable(r.Tools[i].Name))
		}
	}
	if r.System != "" {
		fmt.Fprintln(w, "system")
		paragraph(w, "    ", r.System)
	}
	for i := range r.Messages {
		messageText(w, 0, &r.Messages[i])
	}
}

// momentText is one line for each entry.
func momentText(w io.Writer, m *moment) {
	fmt.Fprintf(w, "line %d  entry %s  turn %d  messages %d  open %d  tools %s\n",
		m.at.Line, text.Printable(m.at.Entry), m.at.Turn, len(m.Context()), len(m.OpenCalls()), toolNames(m))
}
