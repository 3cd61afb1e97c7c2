package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop/batch/assertion"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

// finish judges the task when its runs are over: the answer it owes, its
// checks, its assertions.
func (a *attempt) finish(ctx context.Context) {
	if a.checks == nil || ctx.Err() != nil {
		return // never equipped, or aborted: there is nothing to judge
	}
	a.takeAnswer()
	for _, r := range a.checks.Results() {
		a.assertions = append(a.assertions, Assertion{Name: "check " + r.Name, OK: r.OK, Severity: task.SeverityError, Message: r.Output})
	}
	if len(a.task.Assert) > 0 {
		a.assert(ctx)
	}
}

// takeAnswer writes the required answer where the task wants it.
func (a *attempt) takeAnswer() {
	if a.output == nil {
		return
	}
	answer := a.output.Answer()
	if answer == nil {
		a.stop.Set(policy.NoOutput, "finish.output: there is no answer")
		return
	}
	to := a.task.Finish.Output.WriteTo
	if to == "" {
		return
	}
	if err := writeFile(a.task.Path(to), append(answer[:len(answer):len(answer)], '\n')); err != nil {
		a.stop.Set(policy.Error, fmt.Sprintf("write the answer: %v", err))
	}
}

// writeFile replaces a file as a whole: readers see the old one or the new one.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".turnlog-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// assert judges the assertions. A status that is asserted is the one that the
// task is meant to end with, so it is as good as ok.
func (a *attempt) assert(ctx context.Context) {
	status, _ := a.stop.Status()
	if status == "" {
		status = policy.OK
	}
	s := a.subject(status)
	failed, expected := "", false
	for i := range a.task.Assert {
		as := &a.task.Assert[i]
		o := assertion.Check(ctx, as, s)
		name := assertion.Name(as)
		a.assertions = append(a.assertions, Assertion{Name: name, Line: as.Place.Line, OK: o.OK, Severity: as.Severity, Message: o.Message})
		if !o.OK && as.Severity != task.SeverityWarning && failed == "" {
			failed = fmt.Sprintf("%s:%d: assertion %s: %s", a.task.File, as.Place.Line, name, firstLine(o.Message))
		}
		expected = expected || as.Status == string(status)
	}
	switch {
	case a.aborted(ctx): // what failed may have failed because of it
	case failed != "":
		if status == policy.OK || expected {
			a.stop.Replace(policy.Failed, failed)
		}
	case expected:
		a.stop.Replace(policy.OK, "")
	}
}

// subject is what the assertions look at: the whole history, not only what
// this process added.
func (a *attempt) subject(status policy.Status) *assertion.Subject {
	s := &assertion.Subject{
		Status: string(status), Text: a.last, Usage: map[string]float64{},
		Command: a.program, Verify: a.verify, Path: a.task.Path,
	}
	if a.output != nil {
		s.Output = a.output.Answer()
	} else if json.Valid([]byte(a.last)) {
		s.Output = json.RawMessage(a.last)
	}
	for _, m := range a.history.Messages() {
		if m.Role != transcript.Assistant || m.Failed() {
			continue
		}
		for _, c := range m.Calls() {
			s.Calls = append(s.Calls, *c)
		}
	}
	u := a.history.Usage()
	s.Usage["turns"] = float64(a.history.Turn())
	s.Usage["tool_calls"] = float64(len(s.Calls))
	s.Usage["tokens"] = float64(u.TotalTokens)
	s.Usage["input_tokens"] = float64(u.Input)
	s.Usage["output_tokens"] = float64(u.Output)
	s.Usage["cache_read_tokens"] = float64(u.CacheRead)
	s.Usage["cache_write_tokens"] = float64(u.CacheWrite)
	s.Usage["cost_usd"] = a.cost()
	s.Usage["wall_seconds"] = a.b.o.Now().Sub(a.began).Seconds()
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// verify checks the attempt's own transcript, which is complete by now.
func (a *attempt) verify(ctx context.Context, failOn string) (findings int, first string, err error) {
	worst, err := verify.ParseSeverity(failOn)
	if err != nil {
		return 0, "", err
	}
	f, err := os.Open(a.path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	res, err := verify.Run(ctx, verify.Source{Name: a.path, Reader: f, At: f}, rule.All(), verify.Options{Finished: true})
	for i := range res.Findings {
		found := &res.Findings[i]
		if found.Severity.Rank() < worst.Rank() {
			continue
		}
		if findings++; findings == 1 {
			first = fmt.Sprintf("line %d: %s [%s]", found.Line, found.Message, found.Rule)
		}
	}
	return findings, first, err
}

// cost is what the answers of the whole history cost in USD.
func (a *attempt) cost() float64 {
	if a.limiter == nil {
		return 0
	}
	return a.limiter.Used().USD
}
