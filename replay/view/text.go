package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/transcript"
)

// printer writes text for people. A transcript must not reach a terminal as it
// is: every text that is filled in is made printable.
type printer struct{ w io.Writer }

func (p printer) f(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = text.Printable(s)
		}
	}
	fmt.Fprintf(p.w, format, args...)
}

func (p printer) row(name, text string) { p.f("%-9s %s\n", name, text) }

// paragraph writes text line by line.
func (p printer) paragraph(indent, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.f("%s%s\n", indent, line)
	}
}

func summaryText(p printer, m *moment) {
	p.f("%s: %s, %d entries\n", m.Name, m.Format, len(m.Tree.Entries))
	cut := "before the first entry"
	if m.at.Line > 0 {
		cut = fmt.Sprintf("line %d, entry %s, turn %d", m.at.Line, m.at.Entry, m.at.Turn)
	}
	p.row("cut", cut)
	p.row("model", modelText(m.Model())+", thinking "+m.Thinking())
	p.row("tools", toolNames(m))
	p.row("messages", fmt.Sprint(len(m.Context())))
	var open []string
	for _, c := range m.OpenCalls() {
		open = append(open, c.Name+" "+c.ID)
	}
	p.row("open", orNone(open))
	u := m.Usage()
	p.row("usage", fmt.Sprintf("%d in, %d out, %d cache read, %d cache write", u.Input, u.Output, u.CacheRead, u.CacheWrite))
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func modelText(m replay.ModelRef) string {
	switch {
	case m.ID == "":
		return "none"
	case m.Provider == "":
		return m.ID
	}
	return m.Provider + "/" + m.ID
}

// unknownTools is said where tools cannot be listed.
const unknownTools = "unknown (the file records no declarations)"

func toolNames(m *moment) string {
	if m.knowledge() == replay.Unknown {
		return unknownTools
	}
	var names []string
	for _, t := range m.Tools() {
		names = append(names, t.Name)
	}
	return orNone(names)
}

func stateText(p printer, m *moment) {
	summaryText(p, m)
	p.f("\n")
	toolsText(p, m)
	p.f("\nsystem prompt:\n")
	promptText(p, m)
}

func toolsText(p printer, m *moment) {
	if m.knowledge() == replay.Unknown {
		p.f("tools: %s\n", unknownTools)
		return
	}
	if len(m.Tools()) == 0 {
		p.f("no tools\n")
	}
	for _, t := range m.Tools() {
		p.f("%s  declared on line %d, entry %s\n", t.Name, t.Line, t.Entry)
		if t.Description != "" {
			p.f("    %s\n", t.Description)
		}
	}
	for _, t := range m.Removed() {
		p.f("%s  removed on line %d, entry %s\n", t.Name, t.Line, t.Entry)
	}
}

func promptText(p printer, m *moment) { p.paragraph("", m.SystemPrompt()) }

func messagesText(p printer, m *moment) {
	for _, i := range m.Context() {
		messageText(p, i.Line, &i.Message)
	}
}

func messageText(p printer, line int, m *transcript.Message) {
	head := string(m.Role)
	if m.StopReason != "" {
		head += " (" + m.StopReason + ")"
	}
	if m.Role == transcript.ToolResult {
		head += " of " + m.ToolName + " " + m.ToolCallID
	}
	if m.IsError {
		head += ", error"
	}
	if line > 0 {
		head = fmt.Sprintf("line %d: %s", line, head)
	}
	p.f("%s\n", head)
	for _, s := range m.Sections {
		if s.Removed {
			p.f("    - section %s\n", s.Name)
			continue
		}
		p.f("    + section %s\n", s.Name)
		p.paragraph("      ", s.Text)
	}
	for _, t := range m.ToolsRemoved {
		p.f("    - tool %s\n", t.Name)
	}
	for _, t := range m.ToolsAdded {
		p.f("    + tool %s\n", t.Name)
	}
	for i := range m.Content {
		blockText(p, &m.Content[i])
	}
}

func blockText(p printer, b *transcript.Block) {
	switch b.Type {
	case transcript.BlockText:
		p.paragraph("    ", b.Text)
	case transcript.BlockThinking:
		p.paragraph("    ~ ", b.Text)
	case transcript.BlockToolCall:
		if b.Call != nil {
			p.f("    > %s %s %s\n", b.Call.Name, b.Call.ID, string(b.Call.Arguments))
		}
	case transcript.BlockImage:
		p.f("    [image %s, %d characters of base64]\n", b.MimeType, len(b.Data))
	default:
		p.f("    [%s]\n", b.Type)
	}
}

func requestText(p printer, m *moment) {
	r, digest := m.request()
	p.row("model", modelText(r.Model)+", thinking "+r.Thinking)
	if digest != "" {
		p.row("digest", digest)
		for i := range r.Tools {
			p.row("tool", r.Tools[i].Name)
		}
	}
	if r.System != "" {
		p.f("system\n")
		p.paragraph("    ", r.System)
	}
	for i := range r.Messages {
		messageText(p, 0, &r.Messages[i])
	}
}

// momentText is one line for each entry.
func momentText(p printer, m *moment) {
	p.f("line %d  entry %s  turn %d  messages %d  open %d  tools %s\n",
		m.at.Line, m.at.Entry, m.at.Turn, len(m.Context()), len(m.OpenCalls()), toolNames(m))
}
