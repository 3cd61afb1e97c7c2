package rule

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

// noteRule makes a checker that reports what the reader noted about the bytes
// of a line. A line that could not be read is one finding already.
func noteRule(kind transcript.NoteKind, message func(transcript.Note) string) func(verify.Values) verify.Checker {
	return stateless(verify.Checker{Line: func(p *verify.Pass, l *transcript.Line) {
		if len(l.Notes) == 0 || lost(l) && kind != transcript.NULBytes || l.Damage == transcript.TornTail {
			return
		}
		for _, n := range l.Notes {
			if n.Kind != kind {
				continue
			}
			f := p.Finding("%s", message(n))
			f.Column, f.Subject = n.Column, n.Text
			if len(l.Records) == 1 {
				f.Entry = l.Records[0].ID
			}
			f.Snippet = excerpt(l.Raw, n.Column)
			p.Report(f)
		}
	}})
}

// lost reports whether nothing on the line could be read.
func lost(l *transcript.Line) bool {
	return l.Damage == transcript.TornLine || l.Damage == transcript.TornTail
}

func times(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}
