package cmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/verify"
)

// anchors are digests of transcripts that were kept elsewhere: the only proof
// that a file still has all that was written to it.
type anchors struct {
	source string
	one    string            // a digest for the only file
	files  map[string]string // digests by absolute path
}

var digestForm = regexp.MustCompile(`^v1:sha256:[0-9a-f]{64}$`)

// readAnchors reads the value of --anchor: a digest, or a file of results.
func readAnchors(value string, inputs []input) (*anchors, error) {
	a := &anchors{source: value}
	switch {
	case value == "":
		return a, nil
	case digestForm.MatchString(value):
		if len(inputs) != 1 {
			return nil, usagef("--anchor: a digest is of one file, not of %d", len(inputs)).
				hint("give the results.ndjson of the run")
		}
		a.one = value
		return a, nil
	}
	f, err := os.Open(value)
	if err != nil {
		u := usagef("--anchor: %w", err)
		if strings.HasPrefix(value, "v1:") || strings.HasPrefix(value, "sha256:") {
			u.hint("a digest is v1:sha256: and 64 hexadecimal digits")
		}
		return nil, u
	}
	defer f.Close() // read only
	if a.files, err = readResults(f, filepath.Dir(value)); err != nil {
		return nil, usagef("--anchor: %s: %w", value, err)
	}
	return a, nil
}

// readResults reads the digests of a results file. Transcripts are named
// relative to its folder; the last line of a transcript wins.
func readResults(r io.Reader, folder string) (map[string]string, error) {
	files := map[string]string{}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var result struct {
			Transcript string `json:"transcript"`
			Digest     string `json:"digest"`
		}
		if len(line) > 0 {
			if jsonErr := json.Unmarshal(line, &result); jsonErr != nil {
				return nil, fmt.Errorf("line %d: %w", n, jsonErr)
			}
		}
		if result.Transcript != "" && result.Digest != "" {
			path := result.Transcript
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, path)
			}
			if path, err := filepath.Abs(path); err == nil {
				files[path] = result.Digest
			}
		}
		if err != nil {
			break
		}
	}
	if len(files) == 0 {
		return nil, errors.New("has no transcripts with digests")
	}
	return files, nil
}

// digest is what a file is anchored to, "" if nothing is known of it.
func (a *anchors) digest(in input) string {
	if a.one != "" || in.stdin {
		return a.one
	}
	path, err := filepath.Abs(in.path)
	if err != nil {
		return ""
	}
	return a.files[path]
}

// missing returns the anchored transcripts below the named folders that are
// not there any more. That is a contradiction as much as a changed one.
func (a *anchors) missing(args []string) []report.File {
	var gone []report.File
	for _, path := range slices.Sorted(maps.Keys(a.files)) {
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		for _, arg := range args {
			folder, err := filepath.Abs(arg)
			rel, relErr := filepath.Rel(folder, path)
			if err != nil || relErr != nil || !filepath.IsLocal(rel) {
				continue
			}
			name := filepath.Join(arg, rel)
			gone = append(gone, report.File{
				Summary:  verify.Summary{File: name, Format: "unknown", Knowledge: verify.Unknown, Seal: verify.SealNone},
				Findings: []verify.Finding{a.finding(name, "the transcript is gone", a.files[path])},
			})
			break
		}
	}
	return gone
}

// finding is what no rule can say, since there is nothing left to read.
func (a *anchors) finding(file, what, digest string) verify.Finding {
	return verify.Finding{
		Rule: "rewritten-history", Severity: verify.Error, File: file, Fingerprint: digest,
		Message: fmt.Sprintf("%s: %s has the digest of one", what, a.source),
	}
}
