package diff

import (
	"encoding/json"
	"strconv"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// trees is what is compared of an entry, as decoded JSON: what it says, what is
// only settings of the model that said it, and volatile members that were asked
// for.
type trees struct{ said, settings, rest map[string]any }

func (ignore ignored) trees(e *transcript.Entry) trees {
	said, settings, rest := &object{ignore: ignore}, &object{ignore: ignore}, &object{ignore: ignore}
	if m := e.Message; m != nil {
		messageTree(said, m)
		settings.put("api", m.API)
		settings.put("provider", m.Provider)
		settings.put("model", m.Model)
		settings.put("responseModel", m.ResponseModel)
		settings.put("thinkingLevel", m.ThinkingLevel)
		volatileTree(rest, m)
	} else {
		said.members = entryTree(e, ignore)
	}
	links := &object{ignore: ignore}
	links.put("id", e.ID)
	links.put("parentId", e.ParentID)
	links.put("timestamp", e.Timestamp)
	if links.members != nil {
		rest.set("entry", links.members)
	}
	return trees{said.members, settings.members, rest.members}
}

// entryTree is an entry that is no message, without its links.
func entryTree(e *transcript.Entry, ignore ignored) map[string]any {
	raw := e.Raw
	if raw == nil {
		raw = transcript.AppendEntry(nil, e)
	}
	tree, ok := jsondiff.Decode(raw).(map[string]any)
	if !ok {
		return map[string]any{"value": jsondiff.Decode(raw)}
	}
	for _, name := range []string{"id", "parentId", "timestamp", "targetId", "firstKeptEntryId", "firstKeptEntryIndex", "fromId"} {
		delete(tree, name)
	}
	for name := range ignore {
		delete(tree, name)
	}
	return tree
}

// object is a JSON object on its way to being compared.
type object struct {
	members map[string]any // nil as long as there are none
	ignore  ignored
}

func (o *object) set(name string, v any) {
	if o.members == nil {
		o.members = make(map[string]any, 8)
	}
	o.members[name] = v
}

// put sets a member that is worth comparing: zero values are as good as
// absent, which is what readers make of them. Raw JSON is decoded; what it says
// is never absent.
func (o *object) put(name string, v any) {
	switch x := v.(type) {
	case string:
		if x == "" {
			return
		}
	case bool:
		if !x {
			return
		}
	case []any:
		if len(x) == 0 {
			return
		}
	case int64:
		v = jsondiff.Number(x)
	case json.RawMessage:
		if len(x) == 0 || o.ignore[name] {
			return
		}
		v = jsondiff.Decode(x)
	}
	if !o.ignore[name] {
		o.set(name, v)
	}
}

func (o *object) fields(fields []transcript.Field) {
	for _, f := range fields {
		o.put(f.Name, f.Value)
	}
}

// messageTree gives what a message says. Call ids are left out, they are
// compared by position. A plain string as content is one block of text.
func messageTree(o *object, m *transcript.Message) {
	o.set("role", string(m.Role))
	if m.Role == "hookMessage" {
		o.set("role", string(transcript.CustomRole)) // its name before version 3
	}
	var blocks []any
	for i := range m.Content {
		blocks = append(blocks, blockTree(&m.Content[i], o.ignore))
	}
	o.put("content", blocks)
	systemTree(o, m)
	o.put("stopReason", m.StopReason)
	o.put("rawStopReason", m.RawStopReason)
	o.put("errorMessage", m.ErrorMessage)
	o.put("toolName", m.ToolName)
	o.put("isError", m.IsError)
	o.put("details", m.Details)
	if m.Bash != nil {
		bashTree(o, m.Bash)
	}
	o.fields(m.Extra)
}

func volatileTree(o *object, m *transcript.Message) {
	o.put("responseId", m.ResponseID)
	if m.Usage != nil && !o.ignore["usage"] {
		o.set("usage", usageTree(m.Usage))
	}
	o.put("usage", m.ToolUsage)
	if m.HasDuration {
		o.put("durationMs", m.DurationMs)
	}
	if m.Timestamp != 0 {
		o.put("timestamp", m.Timestamp)
	}
}

func systemTree(o *object, m *transcript.Message) {
	var sections, added, removed []any
	for _, s := range m.Sections {
		section := map[string]any{"name": s.Name, "text": s.Text}
		if s.Removed {
			section["text"] = nil
		}
		sections = append(sections, section)
	}
	for i := range m.ToolsAdded {
		added = append(added, toolTree(&m.ToolsAdded[i]))
	}
	for _, t := range m.ToolsRemoved {
		removed = append(removed, t.Name)
	}
	o.put("sections", sections)
	o.put("toolsAdded", added)
	o.put("toolsRemoved", removed)
}

// toolTree is a declaration. Its members are what the model is told, so none
// of them is volatile.
func toolTree(t *transcript.Tool) map[string]any {
	o := new(object)
	o.set("name", t.Name)
	o.put("description", t.Description)
	o.put("parameters", t.Parameters)
	o.fields(t.Extra)
	return o.members
}

// signatureNames are the members that carry a block's signature.
var signatureNames = map[string]string{
	transcript.BlockText:     "textSignature",
	transcript.BlockThinking: "thinkingSignature",
	transcript.BlockToolCall: "thoughtSignature",
}

func blockTree(b *transcript.Block, ignore ignored) map[string]any {
	o := &object{ignore: ignore}
	o.set("type", b.Type)
	text := "text"
	if b.Type == transcript.BlockThinking {
		text = "thinking"
	}
	o.put(text, b.Text)
	if name, ok := signatureNames[b.Type]; ok {
		o.put(name, b.Signature)
	}
	o.put("mimeType", b.MimeType)
	o.put("data", b.Data)
	if b.Call != nil {
		o.put("name", b.Call.Name)
		o.put("arguments", b.Call.Arguments)
		o.put("argumentsError", b.Call.ArgumentsError)
	}
	o.fields(b.Extra)
	return o.members
}

func bashTree(o *object, b *transcript.Bash) {
	o.put("command", b.Command)
	o.put("output", b.Output)
	if b.ExitCode != nil {
		o.put("exitCode", int64(*b.ExitCode))
	}
	o.put("cancelled", b.Cancelled)
	o.put("truncated", b.Truncated)
	o.put("fullOutputPath", b.FullOutputPath)
	o.put("excludeFromContext", b.ExcludeFromContext)
}

func usageTree(u *transcript.Usage) map[string]any {
	o, cost := new(object), new(object)
	for name, n := range map[string]int64{
		"input": u.Input, "output": u.Output, "cacheRead": u.CacheRead, "cacheWrite": u.CacheWrite,
		"totalTokens": u.TotalTokens, "reasoning": u.Reasoning,
	} {
		o.put(name, n)
	}
	for name, usd := range map[string]float64{
		"input": u.Cost.Input, "output": u.Cost.Output, "cacheRead": u.Cost.CacheRead, "cacheWrite": u.Cost.CacheWrite, "total": u.Cost.Total,
	} {
		cost.put(name, json.Number(strconv.FormatFloat(usd, 'g', -1, 64)))
	}
	cost.fields(u.Cost.Extra)
	o.set("cost", cost.members)
	o.fields(u.Extra)
	return o.members
}
