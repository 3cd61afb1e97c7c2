package journal

import (
	"encoding/json"
	"fmt"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Seal appends e, whose chain fields are set, as the turnlog.end of a run: it
// says how long the file was and carries a digest of all that came before and
// of itself, which Seal returns.
func (j *Journal) Seal(e *transcript.Entry, end transcript.End) (digest string, err error) {
	if err := j.closeTail(); err != nil {
		return "", err
	}
	// The digest covers the line as it is written, so the only free text in
	// it has to be masked before.
	if end.Reason, err = j.maskText(end.Reason); err != nil {
		return "", fmt.Errorf("seal %s: %w", j.path, err)
	}
	if err := j.sum.Seal(e, end); err != nil {
		return "", fmt.Errorf("seal %s: %w", j.path, err)
	}
	if err := j.Append(e); err != nil {
		return "", err
	}
	if err := e.Custom.Decode(&end); err != nil {
		return "", fmt.Errorf("seal %s: %w", j.path, err)
	}
	return end.Digest, nil
}

func (j *Journal) maskText(s string) (string, error) {
	if j.o.Mask == nil {
		return s, nil
	}
	err := json.Unmarshal(j.o.Mask(transcript.AppendString(nil, s)), &s)
	return s, err
}
