package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// hostile gives numbers that endpoints report: right ones, none, nonsense.
func hostile(r *rand.Rand, honest int64) int64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return -honest
	case 2:
		return math.MaxInt64
	case 3:
		return math.MinInt64
	case 4:
		return honest * 3
	default:
		return honest
	}
}

// run plays requests against a limiter until it refuses one. It checks that no
// request starts whose worst case does not fit into what is left, and that a
// report above its reservation ends the task.
func simulate(t *testing.T, r *rand.Rand, l Limits) {
	t.Helper()
	var stop Stop
	m := NewLimiter(l, Account{}, &stop, nil)
	var s replay.State
	s.Append(transcript.UserText("go"))
	for turn := 1; turn <= 200; turn++ {
		if m.wrap.state == wrapAsked {
			t.Fatalf("turn %d comes after the last one", turn)
		}
		before := m.left()
		u, err := m.prepareRequest(context.Background(), loop.RequestInfo{State: &s, Messages: s.Messages()})
		if err != nil {
			if status, _ := stop.Status(); status != Limit {
				t.Fatalf("refused without a status: %v", err)
			}
			return
		}
		if !m.reserved.within(before) {
			t.Fatalf("turn %d: reserved %+v of %+v", turn, m.reserved, before)
		}
		if m.bounded() && u.MaxTokens < 1 && l.Price.Output > 0 {
			t.Fatalf("turn %d: max tokens %d", turn, u.MaxTokens)
		}
		reserved := m.reserved
		answer := transcript.Message{
			Role: transcript.Assistant, Content: []transcript.Block{transcript.TextBlock("x")},
			StopReason: transcript.StopToolUse,
			Usage:      &transcript.Usage{Input: hostile(r, 100), Output: hostile(r, min(max(u.MaxTokens, 1), 50)), CacheRead: hostile(r, 10)},
		}
		s.Append(answer)
		result := transcript.Message{Role: transcript.ToolResult, Content: []transcript.Block{transcript.TextBlock(fmt.Sprint(r.Int()))}}
		s.Append(result)
		used := m.used
		d, err := m.finishTurn(context.Background(), loop.Turn{N: turn, Message: &answer, Results: []transcript.Message{result}, State: &s})
		if err != nil {
			t.Fatal(err)
		}
		if m.used.Tokens < used.Tokens || m.used.Output < used.Output || m.used.USD < used.USD {
			t.Fatalf("turn %d: usage %+v gave something back", turn, answer.Usage)
		}
		if !spent(answer.Usage, l.Price).within(reserved) && d != loop.End {
			t.Fatalf("turn %d: a report of %+v above %+v does not end the task", turn, answer.Usage, reserved)
		}
		if d == loop.End {
			return
		}
		if u, err := m.prepareNextTurn(context.Background(), loop.Turn{}); err != nil || len(u.Messages) > 0 != (m.wrap.state == wrapSaid) {
			t.Fatalf("turn %d: %d messages, %v", turn, len(u.Messages), err)
		}
	}
	t.Fatal("200 turns within the limits")
}

func TestLimitsCannotBeOvershot(t *testing.T) {
	const runs = 10_000
	for i := range uint64(runs) {
		r := rand.New(rand.NewPCG(1, i))
		l := Limits{MaxTokens: int64(r.IntN(3) * 100), WrapUp: i%2 == 0}
		if i%3 != 0 {
			l.Tokens = 1 + r.Int64N(20_000)
		}
		if i%3 != 1 {
			l.CostUSD = r.Float64() / 10
			l.Price = task.Price{Input: r.Float64() * 10, Output: 0.01 + r.Float64()*50, CacheRead: r.Float64()}
		}
		if i%5 == 0 {
			l.OutputTokens = 1 + r.Int64N(2_000)
		}
		simulate(t, r, l)
		if t.Failed() {
			t.Fatalf("run %d, limits %+v", i, l)
		}
	}
}

// Tasks that run at once wait for what others have set aside, and get no
// answers cut short because of it.
func TestLedgerIsSharedAndNotOverdrawn(t *testing.T) {
	const budget = 0.02
	ledger := NewLedger(budget, 0)
	price := task.Price{Input: 1, Output: 10}
	var s replay.State
	s.Append(transcript.UserText("go"))
	messages := s.Messages()
	var mu sync.Mutex
	var spentUSD float64
	var short int
	var tasks sync.WaitGroup
	for range 16 {
		tasks.Go(func() {
			m := NewLimiter(Limits{Price: price, MaxTokens: 100}, Account{}, &Stop{}, ledger)
			defer m.Close()
			for {
				u, err := m.prepareRequest(context.Background(), loop.RequestInfo{Messages: messages})
				if err != nil {
					return
				}
				answer := &transcript.Message{Role: transcript.Assistant, Usage: &transcript.Usage{Input: 20, Output: min(50, u.MaxTokens)}}
				mu.Lock()
				if u.MaxTokens < 100 {
					short++
				}
				mu.Unlock()
				if held, left := ledger.snapshot(); held > left+1e-12 {
					t.Errorf("%.6f USD set aside of %.6f", held, left)
				}
				if _, err := m.finishTurn(context.Background(), loop.Turn{Message: answer}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				spentUSD += spent(answer.Usage, price).USD
				mu.Unlock()
			}
		})
	}
	tasks.Wait()
	if spentUSD > budget || spentUSD < budget*0.9 {
		t.Errorf("spent %.6f of %.6f USD", spentUSD, budget)
	}
	if short > 3 {
		t.Errorf("%d answers were cut short", short)
	}
}

func (l *Ledger) snapshot() (held, left float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held.USD, l.left.USD
}

// An answer that costs nothing is not bounded, its request is: a report above
// what the request could have cost ends the task too.
func TestReportAboveAReservationWithoutAnswer(t *testing.T) {
	var stop Stop
	l := Limits{Price: task.Price{Input: 10}}
	l.CostUSD = 1
	m := NewLimiter(l, Account{}, &stop, nil)
	messages := []transcript.Message{transcript.UserText("go")}
	for turn, test := range []struct {
		usage transcript.Usage
		want  loop.Decision
	}{
		{transcript.Usage{Input: 10, Output: 1 << 40}, loop.Default},
		{transcript.Usage{Input: 90_000}, loop.End},
	} {
		if _, err := m.prepareRequest(t.Context(), loop.RequestInfo{Messages: messages}); err != nil {
			t.Fatal(err)
		}
		answer := &transcript.Message{Role: transcript.Assistant, Usage: &test.usage}
		if d, err := m.finishTurn(t.Context(), loop.Turn{Message: answer}); err != nil || d != test.want {
			status, reason := stop.Status()
			t.Errorf("turn %d: %q, %v; %s %s", turn+1, d, err, status, reason)
		}
	}
}
