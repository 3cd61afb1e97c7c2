package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	show "github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/transcript"
)

// SGR codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	yellow = "1;33"
	green  = "32"
)

// text writes one line for each turn and each tool call, and the answer of a
// task when it has ended. What models and tools say is made printable: this
// goes to terminals.
type text struct {
	w io.Writer
	o Options

	mu    sync.Mutex
	buf   bytes.Buffer
	tasks int            // of the batch; several are told apart by a prefix
	turns map[string]int // of the tasks under way
	err   error
}

func newText(w io.Writer, o Options) batch.Sink { return &text{w: w, o: o, turns: map[string]int{}} }

// Event implements [batch.Sink].
func (t *text) Event(e *batch.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	t.buf.Reset()
	if e.Loop != nil {
		t.loop(e.Task, e.Loop)
	} else {
		t.own(e)
	}
	if t.buf.Len() == 0 {
		return nil
	}
	if _, err := t.buf.WriteTo(t.w); err != nil {
		t.err = fmt.Errorf("%w: %w", batch.ErrClosed, err)
	}
	return t.err
}

// own shows an event of the batch.
func (t *text) own(e *batch.Event) {
	switch e.Type {
	case batch.BatchStart:
		var start struct{ Tasks, Kept []string }
		_ = e.Decode(&start) // what cannot be read is not shown
		t.tasks = len(start.Tasks)
		for _, task := range start.Kept {
			t.line("", t.paint(bold, t.printable(task))+t.paint(dim, " (finished before, kept)"))
		}
	case batch.TaskStart, batch.TaskRetry:
		t.started(e)
	case batch.TaskNote:
		var note struct{ Message string }
		_ = e.Decode(&note)
		t.line(e.Task, t.paint(yellow, "note: ")+t.printable(note.Message))
	case batch.Response:
		t.response(e)
	case batch.TaskEnd:
		if res, ok := e.Body.(results.Result); ok {
			t.ended(&res)
		}
	case batch.BatchEnd:
		if sum, ok := e.Body.(batch.Summary); ok && t.tasks != 1 {
			fmt.Fprintf(&t.buf, "%d of %s ok, %s, %s\n", sum.Counts[string(policy.OK)],
				show.Plural(sum.Tasks, "task"), spent(sum.Usage, sum.CostUSD), seconds(sum.DurationMs))
		}
	}
}

func (t *text) started(e *batch.Event) {
	var start struct {
		File, Transcript string
		Attempt          int
		Resumed          bool
	}
	_ = e.Decode(&start)
	how := ""
	if start.Attempt > 1 {
		how += fmt.Sprintf(", attempt %d", start.Attempt)
	}
	if start.Resumed {
		how += ", resumed"
	}
	t.turns[e.Task] = 0
	t.line("", t.paint(bold, t.printable(e.Task))+t.paint(dim, " ("+t.printable(start.File)+how+")"))
}

func (t *text) response(e *batch.Event) {
	var answer struct {
		Command, Error string
		Success        bool
	}
	_ = e.Decode(&answer)
	verdict := "done"
	if !answer.Success {
		verdict = t.paint(red, "refused: ") + t.printable(answer.Error)
	}
	t.line(e.Task, fmt.Sprintf("command %s: %s", t.printable(cmp.Or(answer.Command, "?")), verdict))
}

// loop shows an event of the loop.
func (t *text) loop(task string, e *loop.Event) {
	switch e.Type {
	case loop.TurnStart:
		t.turns[task]++
	case loop.MessageEnd:
		t.message(task, e.Message)
	case loop.ToolExecutionEnd:
		t.tool(task, e)
	case loop.AutoRetryStart:
		t.line(task, fmt.Sprintf("  %s %d in %s: %s", t.paint(yellow, "retry"), e.Retry.Attempt,
			seconds(e.Retry.DelayMs), t.excerpt(e.Retry.Error)))
	}
}

func (t *text) message(task string, m *transcript.Message) {
	switch m.Role {
	case transcript.User:
		t.line(task, t.paint(dim, "user: "+t.excerpt(m.Text())))
	case transcript.Assistant:
		head := t.paint(bold, fmt.Sprintf("turn %d", t.turns[task]))
		if m.Failed() {
			t.line(task, head+": "+t.paint(red, m.StopReason)+": "+t.excerpt(m.ErrorMessage))
			return
		}
		var calls []string
		for _, c := range m.Calls() {
			calls = append(calls, t.printable(c.Name))
		}
		said := t.excerpt(m.Text())
		if len(calls) > 0 {
			said = strings.TrimLeft(said+" ", " ") + t.paint(dim, "-> "+strings.Join(calls, ", "))
		}
		t.line(task, head+": "+said)
	}
}

func (t *text) tool(task string, e *loop.Event) {
	verdict := t.paint(green, "ok")
	if e.IsError {
		verdict = t.paint(red, "error")
	}
	if e.DurationMs > 0 {
		verdict += t.paint(dim, " "+seconds(e.DurationMs))
	}
	said := ""
	if e.Result != nil {
		m := transcript.Message{Content: e.Result.Content}
		said = m.Text()
	}
	t.line(task, fmt.Sprintf("  %s %s: %s", t.call(e.Call), verdict, t.excerpt(said)))
}

// callRunes leaves room for the result on the line.
const callRunes = 60

// call is a call's tool with its arguments, which tell calls apart.
func (t *text) call(c *transcript.Call) string {
	name := t.printable(c.Name)
	arguments := strings.TrimSpace(t.masked(string(c.Arguments)))
	if arguments == "" || arguments == "{}" {
		return name
	}
	return name + " " + t.paint(dim, show.Printable(show.Fit(arguments, callRunes)))
}

// ended shows how a task ended; the answer comes last, as it was given but for
// what a terminal would obey.
func (t *text) ended(r *results.Result) {
	delete(t.turns, r.ID)
	for i := range r.Assertions {
		a := &r.Assertions[i]
		if a.OK {
			continue
		}
		code, word := red, "failed"
		if !a.Fails() {
			code, word = yellow, "warning"
		}
		place := t.printable(r.File)
		if a.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, a.Line)
		}
		t.line(r.ID, fmt.Sprintf("%s: %s: %s: %s", place, t.paint(code, word), t.printable(a.Name), t.excerpt(a.Message)))
	}
	code := green
	if r.Status != policy.OK {
		code = red
	}
	how := t.paint(code, string(r.Status))
	if r.Reason != "" {
		how += ": " + t.excerpt(r.Reason)
	}
	t.line(r.ID, fmt.Sprintf("%s %s", how, t.paint(dim, fmt.Sprintf("(%s, %s, %s, %s)",
		show.Plural(r.Turns, "turn"), show.Plural(r.ToolCalls, "tool call"), spent(r.Usage, r.CostUSD), seconds(r.DurationMs)))))
	answer := strings.TrimSpace(t.masked(r.Answer))
	if answer == "" && t.tasks > 1 {
		t.buf.WriteByte('\n')
	}
	if answer == "" {
		return
	}
	t.buf.WriteByte('\n')
	for line := range strings.Lines(answer) {
		t.line(r.ID, show.Printable(strings.TrimRight(line, "\r\n")))
	}
	if t.tasks > 1 {
		t.buf.WriteByte('\n')
	}
}

// line writes one line, with its task where there are several.
func (t *text) line(task, s string) {
	if t.tasks != 1 && task != "" {
		t.buf.WriteString(t.paint(dim, t.printable(task)+" | "))
	}
	t.buf.WriteString(s)
	t.buf.WriteByte('\n')
}

func (t *text) masked(s string) string {
	if t.o.Mask == nil {
		return s
	}
	return t.o.Mask.Text(s)
}

func (t *text) printable(s string) string { return show.Printable(t.masked(s)) }

// excerptRunes keeps a line readable; the whole text is in the transcript.
const excerptRunes = 100

// excerpt is the first line of a text, and how much there is besides.
func (t *text) excerpt(s string) string {
	s = strings.TrimSpace(t.masked(s))
	first, rest, more := strings.Cut(s, "\n")
	first = show.Printable(show.Fit(strings.TrimSpace(first), excerptRunes))
	if more {
		first += t.paint(dim, fmt.Sprintf(" (+%s)", show.Plural(1+strings.Count(rest, "\n"), "line")))
	}
	return first
}

func (t *text) paint(code, s string) string {
	if !t.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// spent is what the answers used.
func spent(u results.Usage, usd float64) string {
	s := fmt.Sprintf("%d tokens", u.TotalTokens)
	if usd > 0 {
		s += fmt.Sprintf(", $%.4f", usd)
	}
	return s
}

// seconds is a duration for people.
func seconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.String()
}
