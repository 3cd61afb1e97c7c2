package policy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Limits are the bounds of a task. Zero means none.
//
// No request starts unless its worst case fits into what is left: the input
// that the last answer reported, the bytes appended since (a token is at least
// a byte of text), and the tokens of the answer, which are bounded by what
// remains. So a limit is not a number that is noticed after it was passed.
type Limits struct {
	task.Limits
	WrapUp    bool        // the last request that fits asks for the answer and has no tools
	WrapTools []loop.Tool // but these
	MaxTokens int64       // of one answer, as the task asks for it; 0 leaves it to the endpoint
	Price     task.Price
}

// Account is what a task has used before this process ran it.
type Account struct {
	Turns     int
	ToolCalls int
	Usage     transcript.Usage
}

// Limiter enforces limits. Its policy goes first, so that no other one works
// for a turn that does not come, and its gate in front of all queues.
type Limiter struct {
	limits Limits
	stop   *Stop
	ledger *Ledger // of the batch; nil without a budget

	turns, toolCalls int
	used             Spend

	reserved Spend // of the request under way, if holding
	holding  bool
	input    int64 // tokens that the last answer said its request had
	known    int   // messages that were part of that request
	longest  int64 // answer so far, in tokens
	votes    int   // results of the turn that want the run to end
	wrap     wrapUp
}

// NewLimiter makes a limiter for a task that has used before already.
func NewLimiter(l Limits, before Account, stop *Stop, ledger *Ledger) *Limiter {
	return &Limiter{
		limits: l, stop: stop, ledger: ledger,
		turns: before.Turns, toolCalls: before.ToolCalls,
		used: spent(&before.Usage, l.Price),
	}
}

// ToolCalls counts the calls that were let through.
func (l *Limiter) ToolCalls() int { return l.toolCalls }

// Used is what the answers so far have cost.
func (l *Limiter) Used() Spend { return l.used }

// Policy returns the seams.
func (l *Limiter) Policy() Policy {
	return Policy{
		PrepareRequest: l.prepareRequest,
		BeforeTool:     l.beforeTool,
		FinishTurn:     l.finishTurn,
		Observe:        l.observe,
	}
}

// Room reports whether one more turn may start; if not, the task ends as limit.
func (l *Limiter) Room() bool {
	switch {
	case l.limits.Turns > 0 && l.turns >= l.limits.Turns:
		l.stop.Set(Limit, fmt.Sprintf("turns: %d", l.limits.Turns))
	case l.wrap.state == wrapAsked:
		l.stop.Set(Limit, l.wrap.why)
	}
	return !l.stop.Stopped()
}

// Gate lets messages of a queue pass as long as there is room for the turn
// that they would cause.
func (l *Limiter) Gate(f func(context.Context) ([]transcript.Message, error)) func(context.Context) ([]transcript.Message, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context) ([]transcript.Message, error) {
		if l.stop.Stopped() {
			return nil, nil
		}
		ms, err := f(ctx)
		if err != nil || len(ms) == 0 || l.Room() {
			return ms, err
		}
		return nil, nil
	}
}

func (l *Limiter) observe(e loop.Event) {
	switch e.Type {
	case loop.TurnStart:
		l.votes = 0
	case loop.ToolExecutionEnd:
		if e.Result != nil && e.Result.Terminate {
			l.votes++
		}
	}
}

// prepareRequest reserves the worst case of the request.
func (l *Limiter) prepareRequest(ctx context.Context, r loop.RequestInfo) (loop.RequestUpdate, error) {
	if status, why := l.stop.Status(); l.stop.Stopped() {
		// A resumed run settled calls of a turn that ends the task.
		return loop.RequestUpdate{}, fmt.Errorf("%s: %s", status, why)
	}
	if l.limits.Turns > 0 && l.turns >= l.limits.Turns {
		l.Room()
		return loop.RequestUpdate{}, fmt.Errorf("limit: turns: %d", l.limits.Turns)
	}
	l.wrap.asked()
	if !l.bounded() {
		l.turns++
		return loop.RequestUpdate{}, nil
	}
	output, err := l.reserve(ctx, l.worstInput(r))
	if err != nil {
		return loop.RequestUpdate{}, err
	}
	l.turns++
	l.known = len(r.Messages)
	if output == math.MaxInt64 {
		output = l.limits.MaxTokens
	}
	return loop.RequestUpdate{MaxTokens: output}, nil
}

// reserve sets aside what a request with so much input can cost, and returns
// how long its answer may be. A batch's budget that is only set aside by other
// tasks is waited for: what they do not use comes back.
func (l *Limiter) reserve(ctx context.Context, input int64) (output int64, err error) {
	for {
		output = l.answer(input)
		if output < 1 {
			return 0, l.refuse(input)
		}
		cost := l.cost(input, output)
		if l.ledger == nil {
			l.reserved, l.holding = cost, true
			return output, nil
		}
		ok, wait := l.ledger.reserve(cost)
		switch {
		case ok:
			l.reserved, l.holding = cost, true
			return output, nil
		case wait == nil:
			return 0, l.refuse(input)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

func (l *Limiter) refuse(input int64) error {
	what, _ := l.scarce(input)
	what = cmp.Or(what, batchBudget)
	l.stop.Set(Limit, what)
	return fmt.Errorf("limit: %s: the next request needs about %d tokens of input, and nothing would be left for the answer", what, input)
}

// bounded reports whether tokens or money are limited.
func (l *Limiter) bounded() bool {
	return l.limits.Tokens > 0 || l.limits.OutputTokens > 0 || l.limits.CostUSD > 0 || l.ledger != nil
}

// left is what remains of the limits; what is not limited is without end.
func (l *Limiter) left() Spend {
	left := Spend{math.MaxInt64, math.MaxInt64, math.Inf(1)}
	if l.limits.Tokens > 0 {
		left.Tokens = l.limits.Tokens - min(l.used.Tokens, l.limits.Tokens)
	}
	if l.limits.OutputTokens > 0 {
		left.Output = l.limits.OutputTokens - min(l.used.Output, l.limits.OutputTokens)
	}
	if l.limits.CostUSD > 0 {
		left.USD = max(l.limits.CostUSD-l.used.USD, 0)
	}
	if l.ledger != nil {
		batch := l.ledger.Left()
		left.Tokens, left.USD = min(left.Tokens, batch.Tokens), min(left.USD, batch.USD)
	}
	return left
}

// cost is what a request can cost at most.
func (l *Limiter) cost(input, output int64) Spend {
	if output == math.MaxInt64 {
		output = max(l.limits.MaxTokens, 0)
	}
	usd := float64(input)*inputPrice(l.limits.Price) + float64(output)*l.limits.Price.Output/1e6
	return Spend{addTokens(input, output), output, usd}
}

// answer is how many tokens the answer may have after input was paid for:
// MaxInt64 if nothing bounds it, below 1 if there is nothing left.
func (l *Limiter) answer(input int64) int64 {
	_, output := l.scarce(input)
	return output
}

// scarce is answer with the limit that bounds it.
func (l *Limiter) scarce(input int64) (what string, output int64) {
	left := l.left()
	output = math.MaxInt64
	if l.limits.MaxTokens > 0 {
		output = l.limits.MaxTokens
	}
	bound := func(name string, n int64) {
		if n < output {
			what, output = name, n
		}
	}
	if left.Tokens != math.MaxInt64 {
		bound(l.tokensName(left), left.Tokens-input)
	}
	if left.Output != math.MaxInt64 {
		bound(l.outputName(), left.Output)
	}
	if !math.IsInf(left.USD, 1) {
		bound(l.costName(left), l.affordable(left.USD, input))
	}
	return what, output
}

// tokensName and the others are what the limits are called in reasons.
func (l *Limiter) tokensName(left Spend) string {
	if l.ledger != nil && l.ledger.Left().Tokens <= left.Tokens {
		return batchBudget
	}
	return fmt.Sprintf("tokens: %d", l.limits.Tokens)
}

func (l *Limiter) outputName() string { return fmt.Sprintf("output_tokens: %d", l.limits.OutputTokens) }

func (l *Limiter) costName(left Spend) string {
	if l.ledger != nil && l.ledger.Left().USD <= left.USD {
		return batchBudget
	}
	return fmt.Sprintf("cost_usd: %g", l.limits.CostUSD)
}

const batchBudget = "the budget of the batch"

// affordable is how many tokens of answer the money pays for.
func (l *Limiter) affordable(usd float64, input int64) int64 {
	usd -= float64(input) * inputPrice(l.limits.Price)
	if usd < 0 {
		return 0
	}
	perToken := l.limits.Price.Output / 1e6
	if perToken <= 0 {
		return math.MaxInt64
	}
	// One less: the division may have been rounded up.
	return max(int64(min(usd/perToken, 1<<53))-1, 0)
}

// overhead is the tokens of a message beside its text: its role, its borders.
const overhead = 16

// worstInput is the most tokens that the request can have. What the endpoint
// said of the last one is trusted for the messages of that one only.
func (l *Limiter) worstInput(r loop.RequestInfo) int64 {
	known := min(l.known, len(r.Messages))
	if l.input == 0 {
		known = 0
	}
	total := l.input
	for i := known; i < len(r.Messages); i++ {
		total = addTokens(total, overhead+int64(len(transcript.AppendMessage(nil, &r.Messages[i]))))
	}
	return total
}

// beforeTool counts the calls. The one that gives the answer is never refused:
// it does nothing.
func (l *Limiter) beforeTool(_ context.Context, c loop.ToolCallInfo) (loop.Verdict, error) {
	answers := slices.ContainsFunc(l.limits.WrapTools, func(t loop.Tool) bool { return t.Name == c.Call.Name })
	if l.limits.ToolCalls > 0 && l.toolCalls >= l.limits.ToolCalls && !answers {
		reason := fmt.Sprintf("tool_calls: %d", l.limits.ToolCalls)
		if !l.wrapUp(reason) {
			l.stop.Set(Limit, reason)
		}
		return loop.Verdict{Block: true, Reason: "Not executed: the task has reached its limit, " + reason}, nil
	}
	l.toolCalls++
	return loop.Verdict{}, nil
}

// finishTurn charges the answer, and leaves if the next request cannot start.
func (l *Limiter) finishTurn(_ context.Context, t loop.Turn) (loop.Decision, error) {
	l.charge(t)
	if t.Message.Failed() {
		return loop.Default, nil
	}
	if l.stop.Stopped() {
		return loop.End, nil
	}
	owed := len(t.Results) > 0 && l.votes < len(t.Results)
	if !owed {
		return loop.Default, nil
	}
	if !l.Room() || !l.fits(t) {
		return loop.End, nil
	}
	return loop.Default, nil
}

// charge books an answer. Its reservation was the worst case, so a report
// above it says that the endpoint does not count as it should.
func (l *Limiter) charge(t loop.Turn) {
	cost := spent(t.Message.Usage, l.limits.Price)
	l.input = inputTokens(t.Message.Usage)
	l.used = l.used.add(cost)
	l.longest = max(l.longest, cost.Output)
	if !l.holding {
		return
	}
	if above := l.above(cost); above != "" {
		l.stop.Set(Limit, "the endpoint reported "+above)
	}
	l.release(cost)
}

// above says in which respect a report is more than what was reserved. An
// answer without a bound reserved nothing for itself, since it is free.
func (l *Limiter) above(cost Spend) string {
	switch r := l.reserved; {
	case r.Output > 0 && cost.Output > r.Output:
		return fmt.Sprintf("an answer of %d tokens, it was asked for at most %d", cost.Output, r.Output)
	case r.Output > 0 && cost.Tokens > r.Tokens:
		return fmt.Sprintf("%d tokens, the request and its answer could have had %d", cost.Tokens, r.Tokens)
	case cost.USD > r.USD:
		return fmt.Sprintf("a cost of %g USD, it could have been %g", cost.USD, r.USD)
	}
	return ""
}

// release gives back what was set aside and not used.
func (l *Limiter) release(cost Spend) {
	if l.ledger != nil && l.holding {
		l.ledger.settle(l.reserved, cost)
	}
	l.reserved, l.holding = Spend{}, false
}

// fits reports whether a request with the turn's results can still be paid.
func (l *Limiter) fits(t loop.Turn) bool {
	if !l.bounded() {
		return true
	}
	input := l.worstInput(loop.RequestInfo{State: t.State, Messages: messages(t.State)})
	what, output := l.scarce(input)
	if output < 1 {
		l.stop.Set(Limit, what)
		return false
	}
	if tight := l.tight(input); tight != "" {
		l.wrapUp(tight)
	}
	return true
}

// Close gives back what a request that never ended has set aside.
func (l *Limiter) Close() { l.release(Spend{}) }

func messages(s *replay.State) []transcript.Message {
	if s == nil {
		return nil
	}
	return s.Messages()
}
