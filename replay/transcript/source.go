package transcript

import (
	"bytes"
	"io"
)

// blockSize is what is asked of one read(2). Sizes from 64 KiB to 4 MiB
// measured the same within 7 %.
const blockSize = 1 << 20

// chunk is a part of a file that ends at a line end or at the end of the file.
type chunk struct {
	b       []byte
	skipped int64 // bytes of its only line that are not in b, if it is too long
}

// source cuts a reader into chunks. It holds one block, or one line if that is
// longer.
type source struct {
	r   io.Reader
	max int // length of the longest line

	chunk chunk
	err   error

	buf  []byte
	tail []byte // bytes of buf behind the chunk
	eof  bool
}

// next reads the next chunk, which is valid until the following call. It
// returns false at the end and on an error.
func (s *source) next() bool {
	s.rest()
	for !s.eof {
		n := len(s.tail)
		if !s.read() {
			break
		}
		if i := bytes.LastIndexByte(s.tail[n:], '\n'); i >= 0 {
			s.cut(n + i + 1)
			return true
		}
		if len(s.tail) > s.max+1 {
			return s.skip()
		}
	}
	if len(s.tail) == 0 || s.err != nil {
		return false
	}
	s.cut(len(s.tail))
	return true
}

// rest moves what is left behind the last chunk to the front of the buffer.
func (s *source) rest() {
	if cap(s.buf) < blockSize || cap(s.buf) > 4*blockSize && len(s.tail) <= blockSize {
		s.buf = make([]byte, 0, 2*blockSize)
	}
	s.buf = append(s.buf[:0], s.tail...)
	s.tail = s.buf
}

// read appends a block to the tail; false at the end.
func (s *source) read() bool {
	if cap(s.buf)-len(s.buf) < blockSize {
		grown := make([]byte, len(s.buf), 2*cap(s.buf))
		copy(grown, s.buf)
		s.buf = grown
	}
	for tries := 0; ; tries++ {
		n, err := s.r.Read(s.buf[len(s.buf) : len(s.buf)+blockSize])
		s.buf = s.buf[:len(s.buf)+n]
		s.tail = s.buf
		if err == io.EOF {
			s.eof = true
		} else if err != nil {
			s.eof, s.err = true, err
		} else if n == 0 {
			if tries < 100 {
				continue
			}
			s.eof, s.err = true, io.ErrNoProgress
		}
		return n > 0
	}
}

// cut makes the first n bytes of the tail the chunk.
func (s *source) cut(n int) {
	s.chunk = chunk{b: s.tail[:n:n]}
	s.tail = s.tail[n:]
}

// skip reads to the end of a line that is too long and keeps its head.
func (s *source) skip() bool {
	head := bytes.Clone(s.tail[:min(len(s.tail), headSize)])
	skipped := int64(len(s.tail) - len(head))
	for !s.eof {
		s.buf, s.tail = s.buf[:0], nil
		if !s.read() {
			break
		}
		if i := bytes.IndexByte(s.tail, '\n'); i >= 0 {
			skipped += int64(i + 1)
			s.tail = s.tail[i+1:]
			break
		}
		skipped += int64(len(s.tail))
		s.tail = nil
	}
	s.chunk = chunk{b: head, skipped: skipped}
	return true
}

// detach gives the chunk away: the source goes on in a new buffer.
func (s *source) detach() chunk {
	c := s.chunk
	s.buf = append(make([]byte, 0, 2*blockSize), s.tail...)
	s.tail = s.buf
	return c
}
