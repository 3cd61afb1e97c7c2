package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/input"
	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/verify"
)

// Anchors are digests of transcripts that were kept elsewhere: the only proof
// that a file still has all that was written to it.
type Anchors struct {
	source string
	args   []string
	one    string            // a digest for the only file
	files  map[string]string // digests by absolute path
}

var digestForm = regexp.MustCompile(`^v1:sha256:[0-9a-f]{64}$`)

// ReadAnchors reads a digest, a file of results, or nothing, for the files that
// args name. An error is a mistake in the value.
func ReadAnchors(value string, args []string, files []input.File) (*Anchors, error) {
	a := &Anchors{source: value, args: args}
	switch {
	case value == "":
		return a, nil
	case digestForm.MatchString(value) && len(files) != 1:
		return nil, mistake{fmt.Errorf("a digest is of one file, not of %d", len(files)), "give the results.ndjson of the run"}
	case digestForm.MatchString(value):
		a.one = value
		return a, nil
	}
	data, err := os.ReadFile(value)
	if err != nil && (strings.HasPrefix(value, "v1:") || strings.HasPrefix(value, "sha256:")) {
		return nil, mistake{err, "a digest is v1:sha256: and 64 hexadecimal digits"}
	}
	if err != nil {
		return nil, err
	}
	if a.files, err = resultDigests(data, filepath.Dir(value)); err != nil {
		return nil, fmt.Errorf("%s: %w", value, err)
	}
	return a, nil
}

// resultDigests reads the digests of a results file. Transcripts are named
// relative to its folder; the last line of a transcript wins.
func resultDigests(data []byte, folder string) (map[string]string, error) {
	files := map[string]string{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		var result struct{ Transcript, Digest string }
		if err := json.Unmarshal(line, &result); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if result.Transcript == "" || result.Digest == "" {
			continue
		}
		path := result.Transcript
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if path, err := filepath.Abs(path); err == nil {
			files[path] = result.Digest
		}
	}
	if len(files) == 0 {
		return nil, errors.New("has no transcripts with digests")
	}
	return files, nil
}

// digest is what a file is anchored to, "" if nothing is known of it.
func (a *Anchors) digest(in input.File) string {
	if a.one != "" || in.Stdin {
		return a.one
	}
	path, err := filepath.Abs(in.Name)
	if err != nil {
		return ""
	}
	return a.files[path]
}

// missing returns the anchored transcripts below the named folders that are
// not there any more. That is a contradiction as much as a changed one.
func (a *Anchors) missing() []report.File {
	var gone []report.File
	for _, path := range slices.Sorted(maps.Keys(a.files)) {
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		for _, arg := range a.args {
			folder, err := filepath.Abs(arg)
			rel, relErr := filepath.Rel(folder, path)
			if err != nil || relErr != nil || !filepath.IsLocal(rel) {
				continue
			}
			name := filepath.Join(arg, rel)
			gone = append(gone, report.File{
				Summary:  unknownSummary(name),
				Findings: []verify.Finding{a.finding(name, "the transcript is gone", a.files[path])},
			})
			break
		}
	}
	return gone
}

// finding is what no rule can say, since there is nothing left to read.
func (a *Anchors) finding(file, what, digest string) verify.Finding {
	return verify.Finding{
		Rule: "rewritten-history", Severity: verify.Error, File: file, Fingerprint: digest,
		Message: fmt.Sprintf("%s: %s has the digest of one", what, a.source),
	}
}
