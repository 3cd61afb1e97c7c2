// Package session is one transcript under way: the file, the history that it
// folds to, and what an earlier process left in it.
//
// [Create] or [Open] comes first, then [Session.Start]. Each prompt is one run,
// from [Session.Begin] to [Session.Seal]; in between the loop appends.
package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Session is a transcript that this process writes.
type Session struct {
	path    string
	now     func() time.Time
	journal *journal.Journal
	history *replay.State
	header  *transcript.Entry
	past    *Past // nil: this process made the file

	ids    ids
	runs   int    // turnlog.run entries of the file
	leaf   string // id of the last entry in the file
	sealed bool   // its last run has its end
	wrote  bool   // a tool with effects may have run
}

// ErrChanged says that another task began the transcript.
var ErrChanged = errors.New("the transcript is of another task")

// Create makes a new transcript.
func Create(path string, o journal.Options, now func() time.Time) (*Session, error) {
	j, err := journal.Create(path, o)
	if err != nil {
		return nil, err
	}
	return &Session{path: path, now: now, journal: j, history: &replay.State{}, ids: ids{}}, nil
}

// Open goes on with the transcript of an interrupted attempt. If its task had
// another digest, it is [ErrChanged].
func Open(path string, o journal.Options, now func() time.Time, taskDigest string) (*Session, error) {
	var lines []transcript.Line
	j, err := journal.Open(path, o, func(l *transcript.Line) error {
		lines = append(lines, *l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s := &Session{path: path, now: now, journal: j}
	err = s.read(func(yield func(transcript.Line, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), j.Close())
	}
	if was := s.past.taskDigest; was != "" && was != taskDigest {
		return nil, cmp.Or(j.Close(), ErrChanged)
	}
	return s, nil
}

// Start begins the transcript with its header, as pi writes it, if it has none.
func (s *Session) Start(cwd, version string) error {
	if s.header != nil {
		return nil
	}
	now := s.now()
	head := &transcript.Entry{
		Type:      transcript.TypeSession,
		Timestamp: transcript.Timestamp(now),
		Header: &transcript.Header{
			Version:   piVersion,
			ID:        NewID(now),
			CWD:       cwd,
			Generator: &transcript.Generator{Name: "turnlog", Version: version, Format: transcript.FormatVersion},
		},
	}
	if err := s.journal.Append(head); err != nil {
		return err
	}
	s.history.Apply(head)
	s.header = head
	return nil
}

// piVersion is the version of pi's session format that is written.
const piVersion = 3

// Path is where the transcript is.
func (s *Session) Path() string { return s.path }

// Header is the first line of the transcript, nil before Start.
func (s *Session) Header() *transcript.Entry { return s.header }

// History is what the transcript folds to. The loop adds to it.
func (s *Session) History() *replay.State { return s.history }

// Past is what an earlier process left in the file, nil if this one made it.
func (s *Session) Past() *Past { return s.past }

// Digest is that of the transcript so far, all of its bytes.
func (s *Session) Digest() string { return s.journal.Digest() }

// Sealed reports whether the last run has its end.
func (s *Session) Sealed() bool { return s.sealed }

// Wrote reports whether a tool with effects may have run.
func (s *Session) Wrote() bool { return s.wrote }

// NewID makes an id for an entry.
func (s *Session) NewID() string { return s.ids.next() }

// Close ends the writing.
func (s *Session) Close() error { return s.journal.Close() }

// Append writes an entry that the loop made and folds itself.
func (s *Session) Append(e *transcript.Entry) error {
	if err := s.journal.Append(e); err != nil {
		return err
	}
	s.leaf = e.ID
	if e.Custom != nil && e.Custom.CustomType == transcript.CustomCall {
		intent, ok := decode[transcript.CallIntent](e.Custom)
		s.wrote = s.wrote || !ok || !intent.Repeatable()
	}
	return nil
}

// add makes an entry of our own part of the history.
func (s *Session) add(e *transcript.Entry) error {
	s.link(e)
	if err := s.journal.Append(e); err != nil {
		return err
	}
	s.leaf = e.ID
	s.history.Apply(e)
	return nil
}

// link gives an entry its place in the chain: behind the last one that is in
// the file. The history has one more after an append that failed, as of a line
// that is too long, and the journal may go on without it.
func (s *Session) link(e *transcript.Entry) {
	e.ID, e.ParentID = s.ids.next(), s.leaf
	e.Timestamp = transcript.Timestamp(s.now())
}

// Begin writes who runs what and returns the run's id. The first run of a file
// also says the model and the thinking level, where pi does.
func (s *Session) Begin(run transcript.Run, thinking string) (id string, err error) {
	s.runs++
	s.sealed = false
	run.Run, run.Session, run.PID = fmt.Sprintf("r%d", s.runs), s.journal.Session(), os.Getpid()
	run.Host, _ = os.Hostname() // unknown is fine: it only helps people
	c, err := transcript.NewCustom(transcript.CustomRun, run)
	if err != nil {
		return run.Run, err
	}
	err = s.add(&transcript.Entry{Type: transcript.TypeCustom, Custom: c})
	ref := replay.ModelRef{Provider: run.Provider, ID: run.Model}
	if err != nil || s.history.Model() == ref {
		return run.Run, err
	}
	if err := s.add(&transcript.Entry{
		Type:  transcript.TypeModelChange,
		Model: &transcript.ModelChange{Provider: ref.Provider, ModelID: ref.ID},
	}); err != nil {
		return run.Run, err
	}
	return run.Run, s.add(&transcript.Entry{Type: transcript.TypeThinking, Thinking: cmp.Or(thinking, "off")})
}

// Seal ends a run in the transcript: nothing before it can be changed after
// without breaking its digest.
func (s *Session) Seal(end transcript.End) error {
	e := &transcript.Entry{Type: transcript.TypeCustom}
	s.link(e)
	end.Session = s.journal.Session()
	if _, err := s.journal.Seal(e, end); err != nil {
		return err
	}
	s.sealed, s.leaf = true, e.ID
	s.history.Apply(e)
	return nil
}

// DropFailedTail takes an answer that broke off out of the context, with an
// entry that says so, as pi does before it asks again.
func (s *Session) DropFailedTail() error {
	for {
		items := s.history.Context()
		if len(items) == 0 || !items[len(items)-1].Message.Failed() {
			return nil
		}
		if err := s.add(&transcript.Entry{
			Type: transcript.TypeContextEdit,
			Edit: &transcript.ContextEdit{TargetID: items[len(items)-1].Entry},
		}); err != nil {
			return err
		}
	}
}
