package replay_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// sessionFile draws a session of every kind of entry, linked in every way. Each
// file has some oddities and not others, so that most trees hang together.
func sessionFile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := &sapling{T: t, n: rapid.IntRange(4, 60).Draw(t, "entries")}
		for _, odd := range []*bool{&s.forward, &s.doubled, &s.dangling, &s.nameless, &s.forked, &s.rerooted, &s.ahead} {
			*odd = s.once(3, "oddity")
		}
		version := 3
		if s.once(12, "version") {
			version = 2 // in which the role custom is called hookMessage
		}
		s.line(object("type", "session", "version", version, "id", "s0", "timestamp", stamp, "cwd", "/"))
		for i := range s.n {
			s.grow(i)
		}
		return strings.Join(s.lines, "\n") + "\n"
	})
}

const stamp = "2030-01-02T03:04:05.000Z"

// sapling is a file that grows.
type sapling struct {
	*rapid.T
	n     int
	lines []string
	ids   []string // of the entries so far, "" for those without
	tip   string

	forward  bool // parents that come later, which may close rings
	doubled  bool // ids that were used before
	dangling bool // parents that are no entries
	nameless bool // entries without id
	forked   bool // parents that are not the entry before
	rerooted bool // more than one root
	ahead    bool // edits and compactions that name what comes later
}

func (s *sapling) line(b json.RawMessage) { s.lines = append(s.lines, string(b)) }

// once is true one time in n.
func (s *sapling) once(n int, label string) bool {
	return rapid.IntRange(1, n).Draw(s.T, label) == 1
}

func (s *sapling) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(s.T, label)
}

// absent leaves a member out.
type absent struct{}

// object is a JSON object of name, value, name, value, in this order.
func object(members ...any) json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(members); i += 2 {
		if members[i+1] == (absent{}) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(members[i+1])
		if err != nil {
			panic(err) // of values that this file makes
		}
		fmt.Fprintf(&b, "%q:%s", members[i], value)
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

func entryID(i int) string { return fmt.Sprintf("e%d", i) }

// grow adds entry i.
func (s *sapling) grow(i int) {
	var id any = entryID(i)
	switch {
	case s.doubled && i > 0 && s.once(5, "doubled"):
		id = s.earlier(i, "twin")
	case s.nameless && s.once(5, "nameless"):
		id = absent{}
	}
	parent := s.parent(i)
	kind, members := s.kind(i)
	s.line(object(append([]any{"type", kind, "id", id, "parentId", parent, "timestamp", stamp}, members...)...))
	name, _ := id.(string)
	s.ids = append(s.ids, name)
	if name != "" {
		s.tip = name
	}
}

// earlier is the id of one of the entries before i, most often a late one.
func (s *sapling) earlier(i int, label string) string {
	back := rapid.IntRange(1, i).Draw(s.T, label)
	if !s.once(3, label+" far") {
		back = min(back, 4)
	}
	if id := s.ids[i-back]; id != "" {
		return id
	}
	return s.tip
}

func (s *sapling) later(i int, label string) string {
	return entryID(rapid.IntRange(i+1, i+6).Draw(s.T, label))
}

func (s *sapling) parent(i int) any {
	switch {
	case i == 0 || s.rerooted && s.once(8, "root"):
		return nil
	case s.forward && s.once(8, "forward"):
		return s.later(i, "parent ahead")
	case s.dangling && s.once(8, "dangling"):
		return s.pick("lost parent", "gone", "k1", "k2", "s0")
	case s.nameless && s.once(8, "linkless"):
		return absent{}
	case s.forked && s.once(4, "fork"):
		return s.earlier(i, "parent")
	case s.tip == "":
		return nil
	}
	return s.tip
}

// target is an id for an edit or a compaction to name.
func (s *sapling) target(i int) any {
	switch {
	case s.once(12, "gone"):
		return "gone"
	case s.once(12, "own"):
		return entryID(i)
	case !s.nameless && s.once(20, "unnamed"): // pi lets it name the entries that have no id
		return absent{}
	case i == 0 || s.ahead && s.once(4, "ahead"):
		return s.later(i, "target ahead")
	}
	return s.earlier(i, "target")
}

func (s *sapling) kind(i int) (kind string, members []any) {
	kind = s.pick("kind", "system", "system", "system", "user", "user", "assistant", "assistant", "toolResult", "bashExecution", "other",
		"compaction", "context_edit", "context_edit", "branch_summary", "custom_message", "custom", "model_change", "thinking_level_change",
		"label", "session_info", "usage", "future")
	switch kind {
	case "compaction":
		return kind, []any{"summary", s.pick("summary", "", "so far"), "firstKeptEntryId", s.target(i), "tokensBefore", 10, "systemMessage", s.checkpoint()}
	case "context_edit":
		return kind, []any{"targetId", s.target(i), "replacement", s.replacement()}
	case "branch_summary":
		return kind, []any{"fromId", s.pick("from", "root", "e1"), "summary", s.pick("summary", "", "left")}
	case "custom_message":
		return kind, []any{"customType", "note", "content", s.content(), "display", true}
	case "custom":
		return kind, []any{"customType", "note", "data", object("toolsAdded", s.tools())}
	case "model_change":
		return kind, []any{"provider", s.pick("provider", "p", "q"), "modelId", s.pick("model", "m1", "m2")}
	case "thinking_level_change":
		return kind, []any{"thinkingLevel", s.pick("level", "off", "low", "high")}
	case "label":
		return kind, []any{"targetId", s.target(i), "label", "here"}
	case "session_info", "usage":
		return kind, []any{"name", "x"}
	case "future":
		return kind, []any{"summary", "s", "message", s.system()}
	}
	return "message", []any{"message", s.message(kind)}
}

func (s *sapling) message(role string) json.RawMessage {
	const time = 1893553445000
	switch role {
	case "system":
		return s.system()
	case "assistant":
		return object("role", role, "content", s.answer(), "api", "a", "provider", s.pick("provider", "p", "q"), "model", s.pick("model", "m1", "m2"),
			"stopReason", s.pick("stop", "stop", "toolUse", "error", "aborted", "length"), "timestamp", time)
	case "toolResult":
		return object("role", role, "toolCallId", s.pick("call", "k1", "k2", "k3"), "toolName", s.tool(), "content", s.content(), "isError", s.once(3, "error"), "timestamp", time)
	case "bashExecution":
		return object("role", role, "command", "ls", "output", s.pick("output", "", "a b"), "exitCode", 0, "cancelled", false, "truncated", false,
			"excludeFromContext", s.once(3, "excluded"), "timestamp", time)
	case "other":
		role = s.pick("role", "hookMessage", "custom", "developer", "compactionSummary")
	}
	return object("role", role, "content", s.content(), "timestamp", time)
}

func text(t string) json.RawMessage { return object("type", "text", "text", t) }

func (s *sapling) content() any {
	switch s.pick("content", "string", "string", "blocks", "blocks", "empty", "none", "null", "absent") {
	case "string":
		return s.pick("text", "hi", "<b>&", "é")
	case "blocks":
		return []any{text("one"), object("type", "image", "data", "AA==", "mimeType", "image/png"), text("two")}
	case "empty":
		return ""
	case "none":
		return []any{}
	case "null":
		return nil
	}
	return absent{}
}

func (s *sapling) answer() any {
	blocks := []any{object("type", "thinking", "thinking", "hm")}
	if s.once(2, "speaks") {
		blocks = append(blocks, text("yes"))
	}
	for _, id := range []string{"k1", "k2", "k3"} {
		if s.once(3, "calls") {
			blocks = append(blocks, object("type", "toolCall", "id", id, "name", s.tool(), "arguments", object("path", "a")))
		}
	}
	return blocks
}

func (s *sapling) tool() string { return s.pick("tool", "read", "bash", "grep", "ls") }

// system draws a system message: tools that come, go, or change.
func (s *sapling) system() json.RawMessage { return s.systemWith(s.content()) }

func (s *sapling) systemWith(content any) json.RawMessage {
	return object("role", "system", "content", content, "sections", s.sections(), "toolsAdded", s.tools(), "toolsRemoved", s.removals(),
		"timestamp", 1893553445000)
}

func (s *sapling) tools() any {
	var tools []any
	for range rapid.IntRange(0, 3).Draw(s.T, "added") {
		tools = append(tools, object("name", s.tool(), "description", s.pick("description", "d", "", "d2"), "parameters", s.schema(), "constrainedSampling", s.extra()))
	}
	if tools == nil {
		return absent{}
	}
	return tools
}

func (s *sapling) extra() any {
	if s.once(8, "extra") {
		return true
	}
	return absent{}
}

func (s *sapling) schema() any {
	switch s.pick("schema", "bare", "properties", "order", "absent") {
	case "bare":
		return object("type", "object")
	case "properties":
		return object("type", "object", "properties", object("path", object("type", "string"), "n", object("type", "number", "minimum", 0.5)))
	case "order":
		return object("properties", object("n", object("minimum", 0.5, "type", "number"), "path", object("type", "string")), "type", "object")
	}
	return absent{}
}

func (s *sapling) removals() any {
	var names []any
	for range rapid.IntRange(0, 2).Draw(s.T, "removed") {
		names = append(names, object("name", s.pick("removal", "read", "bash", "grep", "ls", "never")))
	}
	if names == nil {
		return absent{}
	}
	return names
}

func (s *sapling) sections() any {
	var members []any
	for _, name := range []string{"rules", "cwd", "tools"} {
		switch {
		case s.once(6, "section gone"):
			members = append(members, name, nil)
		case s.once(4, "section"):
			members = append(members, name, s.pick("section text", "", "A", "B"))
		}
	}
	if members == nil {
		return absent{}
	}
	return object(members...)
}

// checkpoint draws what a compaction states of prompt and tools.
func (s *sapling) checkpoint() any {
	if s.once(3, "no checkpoint") {
		return absent{}
	}
	// pi has no answer where the content of a checkpoint is neither text nor blocks.
	return s.systemWith(s.pick("content", "", "p", "q"))
}

func (s *sapling) replacement() any {
	if s.once(2, "drops") {
		return nil
	}
	switch s.pick("replacement", "string", "blocks", "empty", "none") {
	case "string":
		return object("content", "edited")
	case "blocks":
		return object("content", []any{text("edited"), text("twice")})
	case "empty":
		return object("content", "")
	}
	return object("content", []any{})
}
