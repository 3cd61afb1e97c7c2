package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest names what the task asks for: two tasks with one digest are the same
// work, so a resume can tell that its task file has not changed. It covers the
// resolved task: expressions are expanded, files it takes text from are read.
// Not part of it are description, labels, x- keys, the batch, how hard an
// endpoint is tried (timeouts, retry, rate), the place of the file, and
// secrets, whose values the task never has. Programs and transcripts are
// covered by name only.
//
// It is written v1:sha256:<lowercase hex>. The encoding is the JSON of [Task]
// with the keys in the order of its fields, map keys sorted, embedded JSON
// compacted with its keys in their order, no HTML escapes. A field that is
// added later has to be absent when it is not used, or all digests change.
func (t *Task) Digest() string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		// Only embedded JSON that is none fails, and Parse made it.
		panic("task: digest of a task that was not parsed: " + err.Error())
	}
	sum := sha256.Sum256(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	return "v1:sha256:" + hex.EncodeToString(sum[:])
}
