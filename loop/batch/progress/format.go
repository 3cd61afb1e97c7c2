package progress

import (
	"fmt"
	"time"

	"github.com/turnlog/turnlog/replay/text"
)

// head sums up the batch: "3/10 tasks, 1 not ok  12.4k tokens  $0.0132  1m5s".
func (s *state) head(now time.Time) string {
	tokens, usd := s.used()
	b := fmt.Sprintf("%d/%d tasks", s.done, s.total)
	if s.failed > 0 {
		b += fmt.Sprintf(", %d not ok", s.failed)
	}
	return b + "  " + spent(tokens, usd) + "  " + clock(now.Sub(s.began))
}

// line is a task under way: "audit  turn 3  bash  1.2k tokens  $0.0010  12s".
func (r *row) line(now time.Time) string {
	return fmt.Sprintf("%s  turn %d  %s  %s  %s", text.Printable(r.task), r.turn, text.Printable(r.doing()),
		spent(r.tokens, r.usd), clock(now.Sub(r.began)))
}

func spent(tokens int64, usd float64) string {
	s := fmt.Sprintf("%d tokens", tokens)
	if tokens >= 10_000 {
		s = fmt.Sprintf("%.1fk tokens", float64(tokens)/1000)
	}
	if usd > 0 {
		s += fmt.Sprintf("  $%.4f", usd)
	}
	return s
}

// clock is a duration in whole seconds. The clock of a machine may jump back.
func clock(d time.Duration) string { return max(d, 0).Truncate(time.Second).String() }

// fit cuts s to a width in columns, with a mark where something is missing.
func fit(s string, width int) string {
	used, room := 0, 0 // room is where the mark has its place
	for i, r := range s {
		if used < width {
			room = i
		}
		if used += columns(r); used > width {
			return s[:room] + "…"
		}
	}
	return s
}
