package rule

import (
	"strings"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func cacheCollapse() verify.Rule {
	return verify.Rule{
		ID:       "cache-collapse",
		Group:    groupCache,
		Severity: verify.Warning,
		Title:    "the cached prefix was lost without a recorded reason",
		Why: "Something rewrote the head of the prompt, and each such request pays for the whole history again " +
			"(thedotmack/claude-mem#2872: 276 collapses, 32.6 M tokens; NousResearch/hermes-agent#27339, goruck/home-generative-agent#617).",
		Fix:   "Compare the two requests byte by byte; look for a clock, re-ordered tools, rewritten messages.",
		Quiet: "The first two calls, a pause of more than five minutes, another model, a compaction, an edit or a branch in between, changed tools, providers that report no cache, prefixes under 4,096 tokens. Only a note where the file records neither tools nor prompt.",
		Since: "0.1.0",
		Bad:   usageChain([][2]int{{0, 9000}, {9000, 300}, {0, 9600}, {9600, 200}}),
		Good:  usageChain([][2]int{{0, 9000}, {0, 9300}, {9300, 300}, {9600, 200}}),
		New: stateless(verify.Checker{
			Memory:  func() verify.Memory { return new(prefix) },
			Step:    func(p *verify.Pass, e *transcript.Entry) { p.Memory().(*prefix).step(p, e) },
			Message: func(p *verify.Pass, m *transcript.Message) { p.Memory().(*prefix).message(p, m) },
		}),
	}
}

// What a provider promises of its cache: writes of the first calls may arrive
// late, entries expire after five minutes, short prefixes are not cached.
const (
	cacheWarm     = 2
	cacheLifetime = 5 * time.Minute
	cacheMinimum  = 4096
)

// prefix is what the last answers of a path say about the cache.
type prefix struct {
	answers  int // of the model, since the prefix changed for a reason
	provider string
	model    string
	cached   int64
	line     int
	at       time.Time
	where    verify.Position
}

func (c *prefix) Clone() verify.Memory { d := *c; return &d }

// step forgets the prefix where something recorded changes it.
func (c *prefix) step(p *verify.Pass, e *transcript.Entry) {
	switch {
	case e.Compaction != nil, e.Edit != nil, e.Branch != nil, e.Model != nil, e.Type == transcript.TypeThinking:
		c.answers = 0
	case e.Message != nil && e.Message.Role == transcript.System:
		c.answers = 0
	}
}

func (c *prefix) message(p *verify.Pass, m *transcript.Message) {
	if m.Role != transcript.Assistant || m.Failed() || m.Usage == nil || p.Turn().Continues {
		return
	}
	at := timeOf(p.Entry(), m)
	cached := m.Usage.CacheRead + m.Usage.CacheWrite
	same := c.answers > 0 && m.Provider == c.provider && m.Model == c.model && p.Straight(c.where)
	if same && c.answers >= cacheWarm && c.cached >= cacheMinimum && m.Usage.CacheRead*10 < c.cached &&
		cached > 0 && !at.IsZero() && !c.at.IsZero() && at.Sub(c.at) <= cacheLifetime {
		f := p.Finding("%d tokens came from the cache, %d were in it", m.Usage.CacheRead, c.cached)
		f.Related = []verify.Related{{Line: c.line, Message: "the answer before"}}
		p.ReportIf(f, noteUnlessDeclared)
	}
	if !same {
		c.answers, c.provider, c.model = 0, strings.Clone(m.Provider), strings.Clone(m.Model)
	}
	c.answers++
	c.cached, c.at, c.line, c.where = cached, at, p.Place().Line, p.Position()
}

// noteUnlessDeclared tones a finding down in files that record no declarations:
// what changed there may be the tools or the prompt, and nothing would say so.
func noteUnlessDeclared(file *verify.File, f *verify.Finding) bool {
	if !file.Declares {
		f.Severity = verify.Note
	}
	return true
}

// timeOf is when an answer was asked for or recorded; zero if unknown.
func timeOf(e *transcript.Entry, m *transcript.Message) time.Time {
	if m.Timestamp > 0 {
		return time.UnixMilli(m.Timestamp)
	}
	t, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// usageChain makes a sample: answers 20 seconds apart with what they read from
// and wrote to the cache.
func usageChain(counts [][2]int) string {
	var b strings.Builder
	parent := "null"
	for i, c := range counts {
		n, at := itoa(i+1), "2031-05-06T07:0"+itoa(i)
		b.WriteString(`{"type":"message","id":"u` + n + `","parentId":` + parent + `,"timestamp":"` + at + `:00Z","message":{"role":"user","content":"go on ` + n + `"}}` + "\n")
		b.WriteString(`{"type":"message","id":"a` + n + `","parentId":"u` + n + `","timestamp":"` + at + `:20Z","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"text","text":"ok ` + n +
			`"}],"usage":{"input":10,"output":5,"cacheRead":` + itoa(c[0]) + `,"cacheWrite":` + itoa(c[1]) + `,"totalTokens":` + itoa(15+c[0]+c[1]) + `},"stopReason":"stop"}}` + "\n")
		parent = `"a` + n + `"`
	}
	return b.String()
}
