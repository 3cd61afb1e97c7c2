package diff

import (
	"encoding/json"
	"strconv"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// object is a JSON object on its way to being compared. Decoded JSON is nil,
// bool, string, json.Number, []any and map[string]any everywhere in this
// package: what go-cmp can walk without panicking.
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
// absent, which is what readers make of them.
func (o *object) put(name string, v any) {
	if o.ignore[name] {
		return
	}
	switch v := v.(type) {
	case nil:
		return
	case string:
		if v == "" {
			return
		}
	case bool:
		if !v {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	}
	o.set(name, v)
}

func (o *object) raw(name string, v json.RawMessage) {
	if len(v) > 0 && !o.ignore[name] {
		o.set(name, jsondiff.Decode(v))
	}
}

func (o *object) fields(fields []transcript.Field) {
	for _, f := range fields {
		o.raw(f.Name, f.Value)
	}
}

// bare is decode for members that the format itself interprets: the ignored
// names are taken out at the top.
func bare(raw json.RawMessage, ignore ignored) map[string]any {
	m, ok := jsondiff.Decode(raw).(map[string]any)
	if !ok {
		return map[string]any{"value": jsondiff.Decode(raw)}
	}
	for name := range m {
		if ignore[name] {
			delete(m, name)
		}
	}
	return m
}

// messageTree gives a message as decoded JSON: what it says, and apart from it
// what is only settings of the model that said it. Call ids are left out, they
// are compared by position. A plain string as content is one block of text.
func messageTree(m *transcript.Message, ignore ignored) (said, settings, rest map[string]any) {
	o, s, v := &object{ignore: ignore}, &object{ignore: ignore}, &object{ignore: ignore}
	o.set("role", string(m.Role))
	if m.Role == "hookMessage" {
		o.set("role", string(transcript.CustomRole)) // its name before version 3
	}
	var blocks []any
	for i := range m.Content {
		blocks = append(blocks, blockTree(&m.Content[i], ignore))
	}
	o.put("content", blocks)
	systemTree(o, m)
	o.put("stopReason", m.StopReason)
	o.put("rawStopReason", m.RawStopReason)
	o.put("errorMessage", m.ErrorMessage)
	o.put("toolName", m.ToolName)
	o.put("isError", m.IsError)
	o.raw("details", m.Details)
	if m.Bash != nil {
		bashTree(o, m.Bash)
	}
	o.fields(m.Extra)

	s.put("api", m.API)
	s.put("provider", m.Provider)
	s.put("model", m.Model)
	s.put("responseModel", m.ResponseModel)
	s.put("thinkingLevel", m.ThinkingLevel)

	v.put("responseId", m.ResponseID)
	if m.Usage != nil && !ignore["usage"] {
		v.put("usage", usageTree(m.Usage))
	}
	v.raw("usage", m.ToolUsage)
	if m.HasDuration {
		v.put("durationMs", jsondiff.Number(m.DurationMs))
	}
	if m.Timestamp != 0 {
		v.put("timestamp", jsondiff.Number(m.Timestamp))
	}
	return o.members, s.members, v.members
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
	o.raw("parameters", t.Parameters)
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
		o.raw("arguments", b.Call.Arguments)
		o.put("argumentsError", b.Call.ArgumentsError)
	}
	o.fields(b.Extra)
	return o.members
}

func bashTree(o *object, b *transcript.Bash) {
	o.put("command", b.Command)
	o.put("output", b.Output)
	if b.ExitCode != nil {
		o.put("exitCode", jsondiff.Number(int64(*b.ExitCode)))
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
		o.set(name, jsondiff.Number(n))
	}
	for name, usd := range map[string]float64{
		"input": u.Cost.Input, "output": u.Cost.Output, "cacheRead": u.Cost.CacheRead, "cacheWrite": u.Cost.CacheWrite, "total": u.Cost.Total,
	} {
		cost.set(name, json.Number(strconv.FormatFloat(usd, 'g', -1, 64)))
	}
	cost.fields(u.Cost.Extra)
	o.set("cost", cost.members)
	o.fields(u.Extra)
	return o.members
}
