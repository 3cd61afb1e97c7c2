package diff

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// situation is what a request went out with. Requests in a row share one as
// long as nothing changes.
type situation struct {
	tools    replay.ToolSet
	prompt   replay.Prompt
	settings []setting
}

// setting is a named condition of a request.
type setting struct {
	name  string
	value any // decoded JSON; nil if it is not recorded
}

// conditions follows the entries of a path and gives the situation of each
// request. The fold is replay's; what it does not keep is kept here.
type conditions struct {
	state *replay.State
	run   transcript.Run
	ran   bool                // whether a run was recorded
	ended any                 // status of the last run, nil if it did not end
	asked *transcript.Request // recorded for the request that is under way

	last    *situation
	changed bool
}

func isOwn(customType string) bool { return strings.HasPrefix(customType, "turnlog.") }

// apply takes the next entry of the path.
func (c *conditions) apply(e *transcript.Entry) {
	before := c.state.ToolSet().Version()
	c.state.Apply(e)
	switch {
	case e.Custom != nil && e.Custom.CustomType == transcript.CustomRun:
		c.run, c.ran, c.ended = transcript.Run{}, true, nil
		_ = e.Custom.Decode(&c.run) // a record that does not parse sets nothing
		c.changed = true
	case e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest:
		c.asked = new(transcript.Request)
		if e.Custom.Decode(c.asked) != nil {
			c.asked = nil
		}
		c.changed = true
	case e.Custom != nil && e.Custom.CustomType == transcript.CustomEnd:
		var end transcript.End
		_ = e.Custom.Decode(&end)
		c.ended = word(end.Status)
	case e.Message != nil && e.Message.Role == transcript.System,
		e.Model != nil, e.Type == transcript.TypeThinking, e.Compaction != nil, e.Edit != nil:
		c.changed = true
	}
	c.changed = c.changed || before != c.state.ToolSet().Version()
}

// answered gives the situation of the request that m answers; m itself is not
// applied yet. A nil m asks for the situation at the end.
func (c *conditions) answered(m *transcript.Message) *situation {
	settings := c.settings(m)
	if c.last != nil && !c.changed && sameSettings(settings, c.last.settings) {
		return c.last
	}
	c.last = &situation{tools: c.state.ToolSet(), prompt: c.state.Prompt(), settings: settings}
	c.changed = false
	return c.last
}

// settings lists model and parameters: what the answer itself says wins over
// what was set before it.
func (c *conditions) settings(m *transcript.Message) []setting {
	model, api, answered := c.state.Model(), "", ""
	thinking := c.state.Thinking()
	if m != nil {
		model = replay.ModelRef{Provider: cmp.Or(m.Provider, model.Provider), ID: cmp.Or(m.Model, model.ID)}
		api, answered = m.API, m.ResponseModel
		thinking = cmp.Or(m.ThinkingLevel, thinking)
	}
	params, maxTokens, mode := c.run.Params, int64(0), ""
	if c.asked != nil {
		params, maxTokens, mode = c.asked.Params, c.asked.MaxTokens, c.asked.Mode
		thinking = cmp.Or(c.asked.Thinking, thinking)
	}
	list := []setting{
		{"provider", word(model.Provider)},
		{"model", word(model.ID)},
		{"responseModel", word(answered)},
		{"api", word(api)},
		{"baseUrl", word(c.run.BaseURL)},
		{"thinking", word(thinking)},
	}
	list = append(list, parameters(params)...)
	if maxTokens > 0 {
		list = append(list, setting{"maxTokens", number(maxTokens)})
	}
	return append(list, setting{"toolsMode", word(mode)}, setting{"toolExecution", word(c.run.ToolExecution)})
}

func word(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// parameters gives each parameter of a request a row of its own.
func parameters(raw json.RawMessage) []setting {
	if len(raw) == 0 {
		return nil
	}
	members, ok := decode(raw).(map[string]any)
	if !ok {
		return []setting{{"params", decode(raw)}}
	}
	var list []setting
	for _, name := range sortedNames(members) {
		list = append(list, setting{"params." + name, members[name]})
	}
	return list
}

func sameSettings(a, b []setting) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].name != b[i].name || !equal(a[i].value, b[i].value) {
			return false
		}
	}
	return true
}
