package openai

import "github.com/turnlog/turnlog/replay/transcript"

// reportedUsage is the token count of an answer as endpoints report it.
type reportedUsage struct {
	PromptTokens     looseInt `json:"prompt_tokens"`
	CompletionTokens looseInt `json:"completion_tokens"`
	PromptDetails    *struct {
		Cached     looseInt `json:"cached_tokens"`
		CacheWrite looseInt `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Reasoning looseInt `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit  looseInt `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached    looseInt `json:"cached_tokens"`           // Moonshot
	Reasoning looseInt `json:"reasoning_tokens"`
}

// maxTokens is more than any answer costs. Larger counts would overflow sums.
const maxTokens = 1 << 40

func (v looseInt) tokens() int64 { return min(max(v.n, 0), maxTokens) }

// usage converts u. Prompt tokens include cached ones; transcripts keep them
// apart. Negative counts are none.
func (u *reportedUsage) usage(p Price) *transcript.Usage {
	out := new(transcript.Usage)
	if u == nil {
		return out
	}
	read, write, reasoning := u.CacheHit, looseInt{}, u.Reasoning
	if u.Cached.set && !read.set {
		read = u.Cached
	}
	if d := u.PromptDetails; d != nil {
		write = d.CacheWrite
		if d.Cached.set {
			read = d.Cached
		}
	}
	if d := u.CompletionDetails; d != nil && d.Reasoning.set {
		reasoning = d.Reasoning
	}
	out.CacheRead, out.CacheWrite = read.tokens(), write.tokens()
	out.Input = max(u.PromptTokens.tokens()-out.CacheRead-out.CacheWrite, 0)
	out.Output, out.Reasoning = u.CompletionTokens.tokens(), reasoning.tokens()
	out.TotalTokens = out.Input + out.Output + out.CacheRead + out.CacheWrite
	out.Cost = p.cost(out)
	return out
}

func (p Price) cost(u *transcript.Usage) transcript.Cost {
	const million = 1e6
	c := transcript.Cost{
		Input:      float64(u.Input) * p.Input / million,
		Output:     float64(u.Output) * p.Output / million,
		CacheRead:  float64(u.CacheRead) * p.CacheRead / million,
		CacheWrite: float64(u.CacheWrite) * p.CacheWrite / million,
	}
	c.Total = c.Input + c.Output + c.CacheRead + c.CacheWrite
	return c
}
