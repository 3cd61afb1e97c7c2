package policy

import (
	"math"

	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// costOf is what the counts of u cost in USD. Counts below zero cost nothing.
func costOf(p task.Price, u *transcript.Usage) float64 {
	return (float64(max(u.Input, 0))*p.Input + float64(max(u.Output, 0))*p.Output +
		float64(max(u.CacheRead, 0))*p.CacheRead + float64(max(u.CacheWrite, 0))*p.CacheWrite) / 1e6
}

// inputPrice is the most that one token of input can cost.
func inputPrice(p task.Price) float64 { return max(p.Input, p.CacheRead, p.CacheWrite) / 1e6 }

// Spend is an amount of tokens and money. Sums saturate: an endpoint may
// report any number.
type Spend struct {
	Tokens int64
	Output int64 // of Tokens, those of answers
	USD    float64
}

func (s Spend) add(o Spend) Spend {
	return Spend{addTokens(s.Tokens, o.Tokens), addTokens(s.Output, o.Output), s.USD + o.USD}
}

// within reports whether s is at most o in every respect.
func (s Spend) within(o Spend) bool {
	return s.Tokens <= o.Tokens && s.Output <= o.Output && s.USD <= o.USD
}

func addTokens(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// spent is what an answer is charged with. Endpoints report nothing, too
// little, or nonsense; what they cannot do is to give tokens back.
func spent(u *transcript.Usage, p task.Price) Spend {
	if u == nil {
		return Spend{}
	}
	output := max(u.Output, 0)
	parts := addTokens(addTokens(max(u.Input, 0), output), addTokens(max(u.CacheRead, 0), max(u.CacheWrite, 0)))
	usd := costOf(p, u)
	if total := u.Cost.Total; total > usd && !math.IsInf(total, 1) {
		usd = total
	}
	return Spend{max(parts, u.TotalTokens), output, usd}
}

// inputTokens is what the endpoint says the request of an answer had, cached
// parts included; 0 if it did not say.
func inputTokens(u *transcript.Usage) int64 {
	if u == nil {
		return 0
	}
	return addTokens(addTokens(max(u.Input, 0), max(u.CacheRead, 0)), max(u.CacheWrite, 0))
}
