package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/batch/assertion"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/batch/session"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

// judgement is passed on a task when its runs are over: the answer it owes, its
// checks, its assertions.
type judgement struct {
	task    *task.Task
	setup   *setup
	session *session.Session
	took    time.Duration
}

func (j *judgement) pass(ctx context.Context) (all []results.Assertion) {
	if j.setup.output != nil {
		j.takeAnswer()
	}
	for _, r := range j.setup.checks.Results() {
		all = append(all, results.Assertion{Name: "check " + r.Name, OK: r.OK, Severity: task.SeverityError, Message: r.Output})
	}
	if len(j.task.Assert) == 0 {
		return all
	}
	return append(all, j.assert(ctx)...)
}

// takeAnswer writes the required answer where the task wants it.
func (j *judgement) takeAnswer() {
	answer := j.setup.answer()
	if answer == nil {
		j.setup.stop.Set(policy.NoOutput, "finish.output: there is no answer")
		return
	}
	to := j.task.Finish.Output.WriteTo
	if to == "" {
		return
	}
	if err := writeFile(j.task.Path(to), append(answer[:len(answer):len(answer)], '\n')); err != nil {
		j.setup.stop.Set(policy.Error, fmt.Sprintf("write the answer: %v", err))
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
	if err := cmp.Or(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// assert judges the assertions. A status that is asserted is the one that the
// task is meant to end with, so it is as good as ok.
func (j *judgement) assert(ctx context.Context) (all []results.Assertion) {
	stop := j.setup.stop
	status, _ := stop.Status()
	status = cmp.Or(status, policy.OK)
	s := j.subject(status)
	failed, expected := "", false
	for i := range j.task.Assert {
		as := &j.task.Assert[i]
		o := assertion.Check(ctx, as, s)
		name := assertion.Name(as)
		all = append(all, results.Assertion{Name: name, Line: as.Place.Line, OK: o.OK, Severity: as.Severity, Message: o.Message})
		if !o.OK && as.Severity != task.SeverityWarning && failed == "" {
			line, _, _ := strings.Cut(strings.TrimSpace(o.Message), "\n")
			failed = fmt.Sprintf("%s:%d: assertion %s: %s", j.task.File, as.Place.Line, name, line)
		}
		expected = expected || as.Status == string(status)
	}
	switch {
	case aborted(ctx, stop): // what failed may have failed because of it
	case failed != "":
		if status == policy.OK || expected {
			stop.Replace(policy.Failed, failed)
		}
	case expected:
		stop.Replace(policy.OK, "")
	}
	return all
}

// subject is what the assertions look at: the whole history, not only what
// this process added.
func (j *judgement) subject(status policy.Status) *assertion.Subject {
	history := j.session.History()
	messages := history.Messages()
	s := &assertion.Subject{
		Status: string(status), Text: lastText(messages), Output: j.setup.answer(),
		Command: j.setup.program, Path: j.task.Path,
		Verify: func(ctx context.Context, failOn string) (int, string, error) {
			return verifyFile(ctx, j.session.Path(), failOn)
		},
	}
	if j.setup.output == nil && json.Valid([]byte(s.Text)) {
		s.Output = json.RawMessage(s.Text)
	}
	for _, m := range messages {
		if m.Role != transcript.Assistant || m.Failed() {
			continue
		}
		for _, c := range m.Calls() {
			s.Calls = append(s.Calls, *c)
		}
	}
	u := history.Usage()
	s.Usage = map[string]float64{
		"turns":              float64(history.Turn()),
		"tool_calls":         float64(len(s.Calls)),
		"tokens":             float64(u.TotalTokens),
		"input_tokens":       float64(u.Input),
		"output_tokens":      float64(u.Output),
		"cache_read_tokens":  float64(u.CacheRead),
		"cache_write_tokens": float64(u.CacheWrite),
		"cost_usd":           j.setup.costUSD(),
		"wall_seconds":       j.took.Seconds(),
	}
	return s
}

// verifyFile checks the attempt's own transcript, which is complete by now.
func verifyFile(ctx context.Context, path, failOn string) (findings int, first string, err error) {
	worst, err := verify.ParseSeverity(failOn)
	if err != nil {
		return 0, "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	res, err := verify.Run(ctx, verify.Source{Name: path, Reader: f, At: f}, rule.All(), verify.Options{Finished: true})
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
