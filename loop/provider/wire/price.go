package wire

import "github.com/turnlog/turnlog/replay/transcript"

// Price in USD per million tokens. The zero value prices nothing.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Cost is what u costs.
func (p Price) Cost(u *transcript.Usage) transcript.Cost {
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
