package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/turnlog/turnlog/replay/text"
)

// Exit codes. They are the same whatever the output format.
const (
	exitOK        = 0
	exitFound     = 1 // a failed check, findings, a difference
	exitUsage     = 2 // usage, or a file that is not valid
	exitError     = 3 // could not do or finish the work
	exitLimit     = 4
	exitDenied    = 5
	exitNoOutput  = 6
	exitSignalled = 128 // plus the signal's number
)

// exitCode is the one place where an error becomes an exit code.
func exitCode(ctx context.Context, err error) int {
	var (
		end   outcome
		usage *usageError
		sig   signalError
		coded interface{ ExitCode() int } // a cause that ended a batch
	)
	switch {
	case errors.As(context.Cause(ctx), &sig):
		return sig.ExitCode()
	case err == nil:
		return exitOK
	case errors.As(err, &end):
		return int(end)
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &coded):
		return coded.ExitCode()
	default:
		return exitError
	}
}

// outcome says how work that was done ended: with exit code 1 or more. It is
// returned when the output has told everything; nothing more is printed.
type outcome int

func (o outcome) Error() string { return fmt.Sprintf("exit %d", int(o)) }

// signalError is the cause of a context that a signal ended.
type signalError syscall.Signal

func (s signalError) Error() string {
	if syscall.Signal(s) == syscall.SIGINT {
		return "stopped by SIGINT"
	}
	return "stopped by SIGTERM" // the only other one that is waited for
}

// ExitCode is the code of a process that the signal ended.
func (s signalError) ExitCode() int { return exitSignalled + int(s) }

// usageError is a mistake of the caller; Hint says what to do instead.
type usageError struct {
	error
	Hint string
}

func (u *usageError) Unwrap() error { return u.error }

// usagef makes a usage error; %w works, and brings the hint of what it wraps.
func usagef(format string, args ...any) *usageError {
	u := &usageError{error: fmt.Errorf(format, args...)}
	var known interface{ Hint() string }
	if errors.As(u.error, &known) {
		u.Hint = known.Hint()
	}
	return u
}

// hint says what to do next.
func (u *usageError) hint(format string, args ...any) *usageError {
	u.Hint = fmt.Sprintf(format, args...)
	return u
}

// complain prints what went wrong: "turnlog: error: …", then "turnlog: hint: …".
func complain(w io.Writer, err error) {
	var end outcome
	if err == nil || errors.As(err, &end) {
		return
	}
	for line := range strings.Lines(strings.TrimSpace(err.Error())) {
		// File names and flags are in it as they came: a checkout must not
		// speak to the terminal.
		fmt.Fprintf(w, "turnlog: error: %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
	var usage *usageError
	if errors.As(err, &usage) && usage.Hint != "" {
		fmt.Fprintf(w, "turnlog: hint: %s\n", printable(usage.Hint))
	}
}

// printable is text that others wrote, as it may go to a terminal.
func printable(s string) string { return text.Printable(s) }

// codeText says what an exit code means to the caller of one command.
type codeText struct {
	code int
	text string
}

// codes is the part of a command's help that explains its exit codes: the ones
// that every command has and those of its own, which win.
func codes(own ...codeText) string {
	all := own
	for _, c := range []codeText{
		{exitOK, "done"},
		{exitUsage, "usage: a flag, an argument or a file that is not valid"},
		{exitError, "could not finish: I/O, internal error"},
		{exitSignalled + int(syscall.SIGINT), "stopped by SIGINT"},
		{exitSignalled + int(syscall.SIGTERM), "stopped by SIGTERM"},
	} {
		if !slices.ContainsFunc(own, func(o codeText) bool { return o.code == c.code }) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b codeText) int { return a.code - b.code })
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "  %-3d  %s\n", c.code, c.text)
	}
	return strings.TrimRight(b.String(), "\n")
}
