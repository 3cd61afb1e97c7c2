package answer

import (
	"cmp"

	"github.com/turnlog/turnlog/loop/provider/wire/loose"
	"github.com/turnlog/turnlog/replay/transcript"
)

// reportedUsage is the token count of an answer as endpoints report it.
type reportedUsage struct {
	PromptTokens     loose.Int `json:"prompt_tokens"`
	CompletionTokens loose.Int `json:"completion_tokens"`
	PromptDetails    struct {
		Cached     loose.Int `json:"cached_tokens"`
		CacheWrite loose.Int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning loose.Int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit  loose.Int `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached    loose.Int `json:"cached_tokens"`           // Moonshot
	Reasoning loose.Int `json:"reasoning_tokens"`
}

// maxTokens is more than any answer costs. Larger counts would overflow sums.
const maxTokens = 1 << 40

func tokens(v loose.Int) int64 { return min(max(v.N, 0), maxTokens) }

// usage converts u. Prompt tokens include cached ones; transcripts keep them
// apart. Negative counts are none.
func (u *reportedUsage) usage(cost func(*transcript.Usage) transcript.Cost) *transcript.Usage {
	out := new(transcript.Usage)
	if u == nil {
		return out
	}
	out.CacheRead = tokens(cmp.Or(u.PromptDetails.Cached, u.CacheHit, u.Cached)) // the first that is set
	out.CacheWrite = tokens(u.PromptDetails.CacheWrite)
	out.Input = max(tokens(u.PromptTokens)-out.CacheRead-out.CacheWrite, 0)
	out.Output, out.Reasoning = tokens(u.CompletionTokens), tokens(cmp.Or(u.CompletionDetails.Reasoning, u.Reasoning))
	out.TotalTokens = out.Input + out.Output + out.CacheRead + out.CacheWrite
	out.Cost = cost(out)
	return out
}
