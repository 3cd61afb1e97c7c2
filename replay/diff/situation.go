package diff

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unique"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// situation is what a request went out with. Requests in a row share one as
// long as nothing changes.
type situation struct {
	tools  replay.ToolSet
	prompt replay.Prompt
	settings
}

// settings are the model and how it is asked; "" is what is not recorded.
type settings struct {
	provider, model, responseModel, api, baseURL, thinking string
	params                                                 *params // nil if none are recorded
	maxTokens                                              int64
	mode, execution                                        string
}

// params are the parameters of requests, decoded once for all that share them.
type params struct{ list []setting }

// setting is a named condition of a request.
type setting struct {
	name  string
	value any // decoded JSON; nil if it is not recorded
}

// list gives the settings in the order in which they are shown.
func (s *settings) list(withParams bool) []setting {
	list := []setting{
		{"provider", word(s.provider)},
		{"model", word(s.model)},
		{"responseModel", word(s.responseModel)},
		{"api", word(s.api)},
		{"baseUrl", word(s.baseURL)},
		{"thinking", word(s.thinking)},
	}
	if withParams && s.params != nil {
		list = append(list, s.params.list...)
	}
	if s.maxTokens > 0 {
		list = append(list, setting{"maxTokens", jsondiff.Number(s.maxTokens)})
	}
	return append(list, setting{"toolsMode", word(s.mode)}, setting{"toolExecution", word(s.execution)})
}

func word(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// newParams gives each parameter of a request a row of its own.
func newParams(raw json.RawMessage) *params {
	if len(raw) == 0 {
		return nil
	}
	members, ok := jsondiff.Decode(raw).(map[string]any)
	if !ok {
		return &params{[]setting{{"params", jsondiff.Decode(raw)}}}
	}
	var list []setting
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, setting{"params." + name, members[name]})
	}
	return &params{list}
}

// conditions follows the entries of a path and gives the situation of each
// request. The fold is replay's; what it does not keep is kept here.
type conditions struct {
	facts     replay.Facts
	recorded  settings // by turnlog's records, of the run and of the request under way
	runParams *params  // of requests that state none
	ran       bool     // whether a run was recorded
	asked     bool     // whether a request was
	ended     string   // status of the last run, "" if it did not end

	last    *situation
	changed bool
}

func isOwn(customType string) bool { return strings.HasPrefix(customType, "turnlog.") }

// apply takes the next entry of the path.
func (c *conditions) apply(e *transcript.Entry) {
	c.facts.Apply(e)
	c.changed = c.changed || e.Compaction != nil || e.Edit != nil || e.Message != nil && e.Message.Role == transcript.System
	if e.Custom == nil {
		return
	}
	s := &c.recorded
	switch e.Custom.CustomType {
	case transcript.CustomRun:
		var run transcript.Run
		_ = e.Custom.Decode(&run) // a record that does not parse sets nothing
		c.ran, c.ended, c.runParams = true, "", newParams(run.Params)
		if s.baseURL, s.execution = run.BaseURL, run.ToolExecution; !c.asked {
			s.params = c.runParams
		}
	case transcript.CustomRequest:
		var r transcript.Request
		if c.asked = e.Custom.Decode(&r) == nil; c.asked {
			s.params, s.maxTokens, s.mode, s.thinking = newParams(r.Params), r.MaxTokens, r.Mode, r.Thinking
		} else {
			s.params, s.maxTokens, s.mode, s.thinking = c.runParams, 0, "", ""
		}
	case transcript.CustomEnd:
		var end transcript.End
		_ = e.Custom.Decode(&end)
		c.ended = end.Status
	}
}

// answered gives the situation of the request that m answers; m itself is not
// applied yet. A nil m asks for the situation at the end.
func (c *conditions) answered(m *transcript.Message) *situation {
	now := c.settings(m)
	if c.last == nil || c.changed || now != c.last.settings {
		c.last = &situation{tools: c.facts.ToolSet(), prompt: c.facts.Prompt(), settings: now}
		c.changed = false
	}
	return c.last
}

// settings are model and parameters: what the answer itself says wins over
// what was set before it.
func (c *conditions) settings(m *transcript.Message) settings {
	now, model := c.recorded, c.facts.Model()
	if m == nil {
		m = new(transcript.Message)
	}
	now.provider, now.model = own(cmp.Or(m.Provider, model.Provider)), own(cmp.Or(m.Model, model.ID))
	now.api, now.responseModel = own(m.API), own(m.ResponseModel)
	now.thinking = own(cmp.Or(now.thinking, m.ThinkingLevel, c.facts.Thinking()))
	return now
}

// own is a word that holds on to no line: there are few of them.
func own(s string) string { return unique.Make(s).Value() }
