package verify

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Sealed is what a seal says that the engine has just recomputed.
type Sealed struct {
	Seal   Seal
	Broken string // why, "" if it is not
}

// sealer recomputes the seals of a file while it is read. That the file is one
// of ours is for its entries to say; what came before them is hashed then.
type sealer struct {
	src    Source
	able   bool // the format may have seals
	hashes bool // the digest of the file is wanted
	own    bool // the header, or the record of a run, says that turnlog wrote the file

	sum      transcript.Sealer
	last     Seal // of the last seal
	broken   bool
	after    int  // entries since the last seal
	sessions int  // runs in the file
	ownRuns  int  // those of the file's own session
	unread   bool // bytes of a line are not known
}

func newSealer(src Source, format foreign.Format, o Options) *sealer {
	return &sealer{src: src, able: format.Has(foreign.Seals), hashes: o.Anchor != ""}
}

// header takes in the header of the file, whose line starts at an offset.
func (s *sealer) header(h *transcript.Header, offset int64) error {
	if !s.able || h.Generator == nil {
		return nil
	}
	s.own = true
	return s.hash(offset)
}

// hash begins to hash the file, whose bytes up to an offset were read before.
func (s *sealer) hash(offset int64) error {
	if s.hashes {
		return nil
	}
	s.hashes = true
	if _, err := io.Copy(&s.sum, io.NewSectionReader(s.src.At, 0, offset)); err != nil {
		return fmt.Errorf("read %s again: %w", s.src.Name, err)
	}
	return nil
}

// line takes in a line after its records were looked at: a seal covers what is
// before its own line.
func (s *sealer) line(l *transcript.Line) {
	if s.hashes {
		_, _ = s.sum.Write(l.Raw)
	}
}

// entry looks at an entry and returns what it seals, nil if it is no seal.
// The entry's line starts at an offset.
func (s *sealer) entry(e *transcript.Entry, offset int64, header *transcript.Header) (*Sealed, error) {
	s.after++
	if e.Custom == nil || !s.able || !strings.HasPrefix(e.Custom.CustomType, transcript.CustomPrefix) {
		return nil, nil
	}
	if err := s.hash(offset); err != nil {
		return nil, err
	}
	switch e.Custom.CustomType {
	case transcript.CustomRun:
		var run transcript.Run
		s.own = true
		if e.Custom.Decode(&run) == nil {
			s.sessions++
			if header != nil && run.Session == header.ID {
				s.ownRuns++
			}
		}
	case transcript.CustomEnd:
		sealed := s.check(e, header)
		s.last, s.after = sealed.Seal, 0
		s.broken = s.broken || sealed.Seal == SealBroken
		return &sealed, nil
	}
	return nil, nil
}

func (s *sealer) check(e *transcript.Entry, header *transcript.Header) Sealed {
	if !s.hashes || s.unread {
		return Sealed{Seal: SealMissing}
	}
	end, err := s.sum.Check(e)
	other := header != nil && end.Session != header.ID
	switch {
	case other && header.ParentSession != "":
		return Sealed{Seal: SealInherited}
	case other:
		return Sealed{SealBroken, "the seal belongs to the session " + strconv.Quote(end.Session) + ", the file to " + strconv.Quote(header.ID) + ", and it is no fork"}
	case errors.Is(err, transcript.ErrSealUnknown):
		return Sealed{SealBroken, "the seal cannot be checked: " + err.Error()}
	case err != nil:
		return Sealed{SealBroken, "the file was changed after it was sealed: " + strings.TrimPrefix(err.Error(), transcript.ErrSealBroken.Error()+": ")}
	}
	return Sealed{Seal: SealOK}
}

// result is the seal of the file as a whole.
func (s *sealer) result() Seal {
	switch {
	case s.broken:
		return SealBroken
	case s.last == "" && !s.own:
		return SealNone
	case s.last == "", s.after > 0 && (s.last == SealOK || s.ownRuns > 0):
		return SealMissing
	}
	return s.last
}

// digest is that of the whole file, "" if nothing asked for it or some of the
// file could not be read.
func (s *sealer) digest() string {
	if !s.hashes || s.unread {
		return ""
	}
	return s.sum.Sum()
}

// altered says what is wrong with the file as a whole.
func (s *sealer) altered(header *transcript.Header, anchor string) []string {
	if s.unread {
		return nil
	}
	var found []string
	if header != nil && header.Generator != nil && s.sessions > 0 && s.ownRuns == 0 {
		// The program that writes this header records a run of its session.
		s.broken = true
		found = append(found, "no run of the file belongs to the session "+strconv.Quote(header.ID)+" that its header names")
	}
	if anchor != "" && anchor != s.digest() {
		found = append(found, "the digest of the file is "+s.digest()+", the anchor says "+anchor)
	}
	return found
}

func itoa(n int) string { return strconv.Itoa(n) }
