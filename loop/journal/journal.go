// Package journal is the transcript file on disk: the only code that writes one.
//
// A journal is opened for one run and holds an OS lock on the file until it is
// closed. Every entry is one write(2) that includes its line end, on a file
// opened with O_APPEND and mode 0600, so that a crash can lose the last line
// but never join two. A file whose last line is open gets its newline before
// anything is appended, and nothing that was written is ever changed.
//
// "On disk before its event" means that the write returned. What survives a
// power failure is chosen by [Sync]: fsync once a turn costs about 0.2 ms on a
// local disk and is invisible beside a model call; the intent of a call that
// changes the world is synced whatever the policy, because a resume decides by
// it whether the call may be repeated.
package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Sync says when the file is flushed to the disk.
type Sync string

// The policies. The zero value is SyncTurn.
const (
	SyncMessage Sync = "message" // after every entry
	SyncTurn    Sync = "turn"    // at the end of each turn and of each run
	SyncNone    Sync = "none"    // never, but for the intents of calls with effects
)

// Syncs lists the policies by name, for flags.
func Syncs() []string { return []string{string(SyncMessage), string(SyncTurn), string(SyncNone)} }

// File is what a journal needs of an open file.
type File interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// Options of a journal. The zero value is the default.
type Options struct {
	Sync Sync

	// Mask replaces secret values in an encoded line and returns it, or a
	// changed copy that is still one JSON object. Nil masks nothing.
	Mask func(line []byte) []byte

	// Wrap stands between the journal and its file: tests count, cut and fail
	// writes there. Nil uses the file as it is.
	Wrap func(File) File
}

// Journal appends entries to one transcript. It is not safe for concurrent
// use: the loop appends one entry at a time.
type Journal struct {
	path   string
	file   File
	unlock func()
	o      Options

	sum     transcript.Sealer // of everything in the file
	lines   int
	session string
	openEnd bool  // the last line has no line end
	newFile bool  // its directory entry was not synced yet
	failed  error // the write that ended the journal

	dirty int64 // bytes of a failed write that could not be cut off
}

// Create makes a new transcript at path, which must not exist, and its folders
// (0700). It fails with a [*LockedError] if another process is writing the
// file, and with [fs.ErrExist] if the file is just there.
func Create(path string, o Options) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of a transcript: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(locked(path), err)
	}
	if err != nil {
		return nil, fmt.Errorf("create a transcript: %w", err)
	}
	j, err := start(f, path, o)
	if err != nil {
		return nil, err
	}
	j.newFile = true
	return j, nil
}

// Open continues the transcript at path. It reads the file once, under the
// lock, and hands every line to each (which may be nil and must not keep the
// line); an error of each ends it. A writer in another process is a
// [*LockedError].
func Open(path string, o Options, each func(*transcript.Line) error) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open a transcript: %w", err)
	}
	j, err := start(f, path, o)
	if err != nil {
		return nil, err
	}
	if err := j.restore(f, each); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), j.Close())
	}
	return j, nil
}

// start takes the lock and owns f.
func start(f *os.File, path string, o Options) (*Journal, error) {
	unlock, err := lockUnlessHeld(path, func() (func(), error) { return lockFile(f) })
	if err != nil {
		return nil, errors.Join(lockError(path, err), f.Close())
	}
	j := &Journal{path: path, file: f, unlock: unlock, o: o}
	if o.Wrap != nil {
		j.file = o.Wrap(f)
	}
	return j, nil
}

// restore reads what the file has: size, line count, running digest, session.
func (j *Journal) restore(r io.Reader, each func(*transcript.Line) error) error {
	tail := &lastByte{}
	for line, err := range transcript.Lines(io.TeeReader(r, io.MultiWriter(&j.sum, tail)), transcript.Options{}) {
		if err != nil {
			return err
		}
		j.lines = line.No
		for i := range line.Records {
			if h := line.Records[i].Header; h != nil && j.session == "" {
				j.session = h.ID
			}
		}
		if each == nil {
			continue
		}
		if err := each(&line); err != nil {
			return err
		}
	}
	j.openEnd = tail.n > 0 && tail.b != '\n'
	return nil
}

// lastByte counts what is written to it and keeps the last byte.
type lastByte struct {
	n int64
	b byte
}

func (w *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.n, w.b = w.n+int64(len(p)), p[len(p)-1]
	}
	return len(p), nil
}

// maxLine is the longest line that every reader of transcripts takes.
const maxLine = transcript.DefaultMaxLine

// TooLongError is an entry whose line no reader would take: with it, the file
// could be neither verified nor resumed.
type TooLongError struct {
	Path string
	Size int // of the line, in bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("append to %s: an entry of %d bytes is longer than the %d that a line may have (the transcript goes on without it)", e.Path, e.Size, maxLine)
}

// Lines counts the physical lines so far.
func (j *Journal) Lines() int { return j.lines }

// Size is the length of the file in bytes.
func (j *Journal) Size() int64 { return j.sum.Bytes() }

// Session is the id in the file's header, "" before there is one.
func (j *Journal) Session() string { return j.session }

// Digest is the digest of everything written so far.
func (j *Journal) Digest() string { return j.sum.Sum() }

// Append writes e as one line and sets e.Line. Where the mask changed the
// line, e becomes what the file has, so that the history in memory is the one
// on disk. After a failed write the journal refuses every further entry; one
// that is longer than what readers take is refused alone, see [TooLongError].
func (j *Journal) Append(e *transcript.Entry) error {
	line := transcript.AppendEntry(make([]byte, 0, 1024), e)
	if masked, err := j.mask(e, line); err != nil {
		return err
	} else if masked != nil {
		line = masked
	}
	if len(line) > maxLine {
		return &TooLongError{Path: j.path, Size: len(line)}
	}
	if err := j.writeLine(line); err != nil {
		return err
	}
	if e.Header != nil {
		j.session = e.Header.ID
	}
	e.Line = j.lines
	if !j.syncsAfter(e) {
		return nil
	}
	return j.Sync()
}

// mask returns nil if nothing in line had to be hidden.
func (j *Journal) mask(e *transcript.Entry, line []byte) ([]byte, error) {
	if j.o.Mask == nil {
		return nil, nil
	}
	masked := j.o.Mask(line)
	if string(masked) == string(line) {
		return nil, nil
	}
	out, err := transcript.ParseEntry(masked)
	if err != nil {
		return nil, fmt.Errorf("mask secrets in %s: %w", j.path, err)
	}
	out.Raw = nil
	if e.Message != nil && out.Message != nil {
		*e.Message = *out.Message // the caller goes on with it
		out.Message = e.Message
	}
	*e = out
	return masked, nil
}

// writeLine appends line and its line end in one write, after the line end
// that an open tail lacks.
func (j *Journal) writeLine(line []byte) error {
	if err := j.closeTail(); err != nil {
		return err
	}
	if err := j.write(append(line, '\n')); err != nil {
		return err
	}
	j.lines++
	return nil
}

// closeTail ends the last line if it is open.
func (j *Journal) closeTail() error {
	if !j.openEnd {
		return nil
	}
	if err := j.write([]byte{'\n'}); err != nil {
		return err
	}
	j.openEnd = false
	return nil
}

func (j *Journal) write(b []byte) error {
	if j.failed != nil {
		return fmt.Errorf("append to %s: refused after an earlier failure: %w", j.path, j.failed)
	}
	n, err := j.file.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return j.fail(n, err)
	}
	_, _ = j.sum.Write(b) // never fails
	return nil
}

// fail ends the journal after a write of which n bytes reached the file. What
// they left is cut off if the file is as long as our own bytes make it;
// otherwise somebody else wrote, and nothing is touched.
func (j *Journal) fail(n int, err error) error {
	j.failed = err
	if n > 0 {
		info, statErr := j.file.Stat()
		if statErr != nil || info.Size() != j.Size()+int64(n) || j.file.Truncate(j.Size()) != nil {
			j.dirty = int64(n)
			return fmt.Errorf("append to %s: %w (its last line is cut off after %d bytes; the next run will close it)", j.path, err, n)
		}
	}
	return fmt.Errorf("append to %s: %w (the transcript ends with its last whole line)", j.path, err)
}

// Dirty is the number of bytes of a failed write that stayed in the file.
func (j *Journal) Dirty() int64 { return j.dirty }

// syncsAfter applies the policy to an entry that was just written.
func (j *Journal) syncsAfter(e *transcript.Entry) bool {
	if j.o.Sync == SyncMessage {
		return true
	}
	if e.Custom == nil {
		return false
	}
	switch e.Custom.CustomType {
	case transcript.CustomCall:
		var intent transcript.CallIntent
		return e.Custom.Decode(&intent) != nil || !intent.Repeatable()
	case transcript.CustomTurn, transcript.CustomEnd:
		return j.o.Sync != SyncNone
	}
	return false
}

// Sync flushes the file to the disk, and the first time its folder too: a file
// whose name is lost is lost.
func (j *Journal) Sync() error {
	if err := j.file.Sync(); err != nil {
		j.failed = err
		return fmt.Errorf("sync %s: %w", j.path, err)
	}
	if !j.newFile {
		return nil
	}
	j.newFile = false
	return syncDir(filepath.Dir(j.path))
}

// syncDir flushes a folder. Systems that cannot do that need not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the folder of a transcript: %w", err)
	}
	_ = d.Sync() // EINVAL on some file systems: there is nothing more to do
	return d.Close()
}

// Close gives up the lock and closes the file.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	j.unlock()
	err := j.file.Close()
	j.file = nil
	if j.failed == nil {
		j.failed = fs.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", j.path, err)
	}
	return nil
}
