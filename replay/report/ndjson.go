package report

import (
	"bufio"
	"io"
)

// ndjson is a stream of records for machines: a file, its findings, the next
// file, and at the end a summary. Every record starts with its type.
type ndjson struct{ w *bufio.Writer }

func newNDJSON(w io.Writer, _ Meta) Renderer { return &ndjson{bufio.NewWriter(w)} }

func (n *ndjson) File(f File) error {
	file := newFileRecord(f)
	if err := encode(n.w, struct {
		Type string `json:"type"`
		fileRecord
		Findings int `json:"findings"` // how many records follow
	}{"file", file, len(f.Findings)}); err != nil {
		return err
	}
	for _, finding := range file.Findings {
		if err := encode(n.w, struct {
			Type string `json:"type"`
			File string `json:"file"`
			findingRecord
		}{"finding", f.File, finding}); err != nil {
			return err
		}
	}
	return n.w.Flush()
}

func (n *ndjson) Close(t Totals) error {
	if err := encode(n.w, struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
		Totals
	}{"summary", jsonVersion, t}); err != nil {
		return err
	}
	return n.w.Flush()
}
