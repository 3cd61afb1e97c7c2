package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/replay/transcript"
)

// transcriptPath is where attempt k of a task is written.
func transcriptPath(out, id string, k int) string {
	if k > 1 {
		id = fmt.Sprintf("%s.try%d", id, k)
	}
	return filepath.Join(out, id+".jsonl")
}

// lastAttempt counts the attempts at a task that have a transcript.
func lastAttempt(out, id string) (int, error) {
	for k := 1; ; k++ {
		name := transcriptPath(out, id, k)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return k - 1, nil
		}
		info, err := os.Stat(name) // a link that leads nowhere is in the way, too
		if err != nil {
			return 0, err
		}
		if !info.Mode().IsRegular() { // opening a named pipe would wait for ever
			return 0, fmt.Errorf("%s is in the way of a transcript: it is no regular file", name)
		}
	}
}

// reopen goes on with the transcript of an interrupted attempt. A task that
// changed since is begun anew, as the next attempt.
func (a *attempt) reopen() error {
	path := transcriptPath(a.b.o.Out, a.task.ID, a.n)
	var lines []transcript.Line
	j, err := journal.Open(path, a.b.journalOptions(), func(l *transcript.Line) error {
		lines = append(lines, *l)
		return nil
	})
	if err != nil {
		return err
	}
	p, err := readPast(func(yield func(transcript.Line, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	})
	if err != nil {
		return errors.Join(fmt.Errorf("read %s: %w", path, err), j.Close())
	}
	if p.taskDigest != "" && p.taskDigest != a.task.Digest() {
		a.n++
		return errors.Join(j.Close(), a.create())
	}
	a.path, a.journal, a.past = path, j, p
	a.history, a.ids, a.runs, a.calls, a.wrote = p.state, p.ids, p.runs, p.calls, p.wrote
	a.sealed, a.leaf = p.end != nil, p.state.Leaf()
	if p.header == nil {
		return a.writeHeader()
	}
	a.header = p.header
	return nil
}

// restore brings the policies to where the interrupted process left them.
func (a *attempt) restore() {
	p := a.past
	if p == nil {
		return
	}
	a.conversation.Restore(p.turns, p.toolNames, p.delivered)
	a.tools.Restore(p.turns, p.toolNames)
	a.permissions.Restore(a.tools.All(), p.answer, p.said)
	a.repeated.Restore(a.history.Messages())
	a.checks.Restore(p.delivered)
	if a.output != nil {
		a.output.Restore(a.history.Messages())
	}
	a.last = lastText(a.history.Messages())
}

// resume plays what is left of the run that was interrupted. next is the
// prompt that comes after it.
func (a *attempt) resume(ctx context.Context) (next int, err error) {
	p := a.past
	switch {
	case p == nil || p.runs == 0 || p.pending:
		return a.promptsDone(), nil
	case p.end != nil && p.end.Status == string(policy.OK):
		if a.output != nil && p.prompts == len(a.task.Prompts) {
			a.output.Take()
		}
		return p.prompts, nil
	case p.end != nil && p.end.Status != string(policy.Aborted):
		a.stop.Set(policy.Status(p.end.Status), p.end.Reason)
		return p.prompts, nil
	}
	if p.prompts == len(a.task.Prompts) {
		a.markFinal()
	}
	return p.prompts, a.playRun(ctx, true, func(c loop.Config) (loop.Outcome, error) { return a.goOn(ctx, c) })
}

func (a *attempt) promptsDone() int {
	if a.past == nil {
		return 0
	}
	return a.past.prompts
}

// goOn continues the history as it stands: open calls get their results, an
// unanswered request is asked again, an agent that had stopped hears what is
// still queued.
func (a *attempt) goOn(ctx context.Context, c loop.Config) (loop.Outcome, error) {
	if err := a.dropFailedTail(); err != nil {
		return loop.Outcome{}, err
	}
	c.Recover = a.past.recover
	items := a.history.Context()
	if len(items) == 0 {
		return loop.Outcome{}, errors.New("the transcript has no message to go on from")
	}
	last := &items[len(items)-1].Message
	if a.owed(last) {
		return loop.Resume(ctx, c, a.history)
	}
	for _, poll := range []func(context.Context) ([]transcript.Message, error){c.Steering, c.FollowUp} {
		if poll == nil {
			continue
		}
		if ms, err := poll(ctx); err != nil || len(ms) > 0 {
			if err != nil {
				return loop.Outcome{}, err
			}
			return loop.Run(ctx, c, a.history, ms...)
		}
	}
	return loop.Outcome{New: []transcript.Message{*last}, Reason: last.StopReason}, nil
}

// owed reports whether the interrupted run would have gone on with another
// request: calls are open, or the last message waits for an answer and nothing
// had ended the run.
func (a *attempt) owed(last *transcript.Message) bool {
	switch {
	case len(a.history.OpenCalls()) > 0:
		return true
	case last.Role == transcript.Assistant, a.past.turn != nil && a.past.turn.Terminated:
		return false
	}
	return a.limiter.Room()
}

// dropFailedTail takes an answer that broke off out of the context, with an
// entry that says so, as pi does before it asks again.
func (a *attempt) dropFailedTail() error {
	for {
		items := a.history.Context()
		if len(items) == 0 || !items[len(items)-1].Message.Failed() {
			return nil
		}
		err := a.append(&transcript.Entry{
			Type: transcript.TypeContextEdit,
			Edit: &transcript.ContextEdit{TargetID: items[len(items)-1].Entry},
		})
		if err != nil {
			return err
		}
	}
}

// answer reads what a finished task answered out of its transcript, "" if that
// is gone.
func (b *batch) answer(p *plan) string {
	f, err := os.Open(filepath.Join(b.o.Out, filepath.Base(p.kept.Transcript)))
	if err != nil {
		return ""
	}
	defer f.Close()
	old, err := readPast(transcript.Lines(f, transcript.Options{}))
	if err != nil {
		return ""
	}
	messages := old.state.Messages()
	if p.task.Finish.Output != nil {
		if o, err := policy.NewOutput(*p.task.Finish.Output, &policy.Stop{}); err == nil {
			o.Restore(messages)
			if answer := o.Answer(); answer != nil {
				return string(answer)
			}
		}
	}
	return lastText(messages)
}
