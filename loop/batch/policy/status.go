package policy

// Status is how a task ended.
type Status string

// The statuses, as events, results and assertions name them.
const (
	OK       Status = "ok"
	Failed   Status = "failed"    // an assertion or a check
	Error    Status = "error"     // provider, tool set-up, disk, closed stdout, internal panic
	Limit    Status = "limit"     // a limit of the task
	Denied   Status = "denied"    // a denied call, with on_deny: stop
	Stuck    Status = "stuck"     // the same call again and again
	NoOutput Status = "no_output" // the required answer is missing
	Aborted  Status = "aborted"   // a signal, or an abort command
	Skipped  Status = "skipped"   // never started
)

// ExitCode is the exit code of a task with the status. A task that a signal
// ended has the code of the signal, which the status does not know; 130 is
// that of SIGINT.
func (s Status) ExitCode() int {
	switch s {
	case OK:
		return 0
	case Failed:
		return 1
	case Limit, Skipped:
		return 4
	case Denied, Stuck:
		return 5
	case NoOutput:
		return 6
	case Aborted:
		return 130
	}
	return 3
}
