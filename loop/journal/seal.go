package journal

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/turnlog/turnlog/replay/transcript"
)

// digest is the digest of what h has seen, as it is written everywhere.
func digest(h hash.Hash) string { return "v1:sha256:" + hex.EncodeToString(h.Sum(nil)) }

// Seal appends e as the turnlog.end of a run: it says how long the file was
// and carries a digest of all that came before and of itself, which it
// returns. The file is flushed unless the policy is none.
func (j *Journal) Seal(e *transcript.Entry, end transcript.End) (string, error) {
	end.Bytes, end.Digest = j.size, ""
	if j.openEnd {
		end.Bytes++
	}
	e.Type = transcript.TypeCustom
	if err := setEnd(e, end); err != nil {
		return "", err
	}
	h, ok := j.sum.(hash.Cloner)
	if !ok {
		return "", fmt.Errorf("seal %s: the digest cannot be continued", j.path)
	}
	sum, err := h.Clone()
	if err != nil {
		return "", fmt.Errorf("seal %s: %w", j.path, err)
	}
	sum.Write(transcript.AppendEntry(nil, e))
	end.Digest = digest(sum)
	if err := setEnd(e, end); err != nil {
		return "", err
	}
	return end.Digest, j.Append(e)
}

func setEnd(e *transcript.Entry, end transcript.End) error {
	data, err := json.Marshal(end)
	if err != nil {
		return fmt.Errorf("encode a seal: %w", err)
	}
	e.Custom = &transcript.Custom{CustomType: transcript.CustomEnd, Data: data}
	return nil
}
