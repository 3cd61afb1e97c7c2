package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// DigestPrefix begins every digest: the version of what is covered and how it
// is encoded, and the hash.
const DigestPrefix = "v1:sha256:"

// Digest returns the digest of b as it is written in transcripts.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return DigestPrefix + hex.EncodeToString(sum[:])
}

// Seals are broken, or not understood.
var (
	ErrSealBroken  = errors.New("the file is not what was sealed")
	ErrSealUnknown = errors.New("not a seal that this version can check")
)

// Sealer digests a transcript as it grows or is read: every byte goes through
// Write, line ends included. The zero value is an empty file.
type Sealer struct {
	sum   hash.Hash
	bytes int64
}

// Write adds bytes of the file. It never fails.
func (s *Sealer) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	return s.hash().Write(b)
}

func (s *Sealer) hash() hash.Hash {
	if s.sum == nil {
		s.sum = sha256.New()
	}
	return s.sum
}

// Bytes is how many bytes were written.
func (s *Sealer) Bytes() int64 { return s.bytes }

// Sum is the digest of all bytes written.
func (s *Sealer) Sum() string { return DigestPrefix + hex.EncodeToString(s.hash().Sum(nil)) }

// sumWith is the digest of all bytes written and of parts after them.
func (s *Sealer) sumWith(parts ...[]byte) (string, error) {
	h, err := s.hash().(hash.Cloner).Clone() // all of the standard library are
	if err != nil {
		return "", fmt.Errorf("clone sha256: %w", err)
	}
	for _, part := range parts {
		h.Write(part)
	}
	return DigestPrefix + hex.EncodeToString(h.Sum(nil)), nil
}

// Seal makes e the entry that seals what was written so far: a custom entry
// turnlog.end with end as its data, whose Bytes and Digest it fills in. The
// digest covers the file before the line, and the line without its line end
// and with an empty digest. The chain fields of e must be set. The line itself
// is not written to s.
func (s *Sealer) Seal(e *Entry, end End) error {
	end.Bytes, end.Digest = s.bytes, ""
	e.Type, e.Raw = TypeCustom, nil
	if err := s.setEnd(e, end); err != nil {
		return err
	}
	var err error
	if end.Digest, err = s.sumWith(AppendEntry(nil, e)); err != nil {
		return err
	}
	return s.setEnd(e, end)
}

func (s *Sealer) setEnd(e *Entry, end End) (err error) {
	e.Custom, err = NewCustom(CustomEnd, end)
	return err
}

// Check compares the seal e, an entry as it was read, with what was written
// to s: the file up to e's line. The error is ErrSealBroken, wrapped with what
// differs, or ErrSealUnknown for an entry that is no seal, or one of a newer
// format.
func (s *Sealer) Check(e *Entry) (End, error) {
	var end End
	if e.Custom == nil || e.Custom.CustomType != CustomEnd || e.Raw == nil {
		return end, ErrSealUnknown
	}
	if err := e.Custom.Decode(&end); err != nil {
		return end, fmt.Errorf("%w: %w", ErrSealUnknown, err)
	}
	if !strings.HasPrefix(end.Digest, DigestPrefix) {
		return end, fmt.Errorf("%w: digest %.20q", ErrSealUnknown, end.Digest)
	}
	from, to, ok := digestSpan(e.Raw)
	if !ok {
		return end, fmt.Errorf("%w: its digest is not where it belongs", ErrSealUnknown)
	}
	if end.Bytes != s.bytes {
		return end, fmt.Errorf("%w: %d bytes before the seal, sealed were %d", ErrSealBroken, s.bytes, end.Bytes)
	}
	sum, err := s.sumWith(e.Raw[:from], e.Raw[to:])
	if err == nil && sum != end.Digest {
		err = fmt.Errorf("%w: digest %s, sealed was %s", ErrSealBroken, sum, end.Digest)
	}
	return end, err
}

// digestSpan finds the text between the quotes of data.digest in a record.
func digestSpan(raw []byte) (from, to int, ok bool) {
	var p parser
	p.reset(raw, nil, false)
	if p.Peek() != '{' {
		return 0, 0, false
	}
	for o := p.Open(); p.Next(&o); {
		if o.Name != "data" || p.Peek() != '{' {
			p.Value()
			continue
		}
		for data := p.Open(); p.Next(&data); {
			if data.Name != "digest" || p.Peek() != '"' {
				p.Value()
				continue
			}
			from = p.Pos + 1
			p.SkipString()
			to = p.Pos - 1
		}
	}
	return from, to, !p.Failed && len(p.notes) == 0 && from > 0
}
