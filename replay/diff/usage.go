package diff

import (
	"encoding/json"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Tokens are the totals of a history: tokens, and US dollars.
type Tokens struct {
	Input       int64   `json:"input"`
	Output      int64   `json:"output"`
	CacheRead   int64   `json:"cacheRead"`
	CacheWrite  int64   `json:"cacheWrite"`
	Reasoning   int64   `json:"reasoning"`
	TotalTokens int64   `json:"totalTokens"`
	Cost        float64 `json:"costUsd"`
}

func tokensOf(u transcript.Usage) Tokens {
	return Tokens{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Reasoning: u.Reasoning, TotalTokens: u.TotalTokens, Cost: u.Cost.Total,
	}
}

// tree is t as decoded JSON.
func (t Tokens) tree() any {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil // numbers only: cannot be
	}
	return jsondiff.Decode(raw)
}
