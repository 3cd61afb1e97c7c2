package report

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/verify"
)

// GitHub's code scanning shows the first 5,000 results of a run and drops the
// rest unsaid (docs.github.com, "SARIF support for code scanning").
const maxResults = 4999

// sarif is the Static Analysis Results Interchange Format 2.1.0
// (docs.oasis-open.org/sarif/sarif/v2.1.0), worst findings first. Columns are
// left out of regions: SARIF counts UTF-16 units, findings count bytes, and
// whoever opens a region should not land beside it. They are in the
// properties of a result.
type sarif struct {
	w      io.Writer
	meta   Meta
	worst  worst
	failed []sarifNotification
}

func newSARIF(w io.Writer, m Meta) Renderer {
	return &sarif{w: w, meta: m, worst: worst{limit: maxResults}}
}

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string     `json:"id"`
		ShortDescription *sarifText `json:"shortDescription,omitempty"`
		Help             *sarifText `json:"help,omitempty"`
		Default          struct {
			Level verify.Severity `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     verify.Severity `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    *int              `json:"ruleIndex,omitempty"`
		Level        verify.Severity   `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		Properties   *sarifProperties  `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
		Message *sarifText `json:"message,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifProperties struct {
		Entry  string `json:"entry,omitempty"`
		Column int    `json:"column,omitempty"` // in bytes from 1
	}
)

func (s *sarif) File(f File) error {
	s.worst.add(f.Findings)
	if f.Err != nil {
		s.failed = append(s.failed, sarifNotification{
			Level: verify.Error, Message: sarifText{text.Printable(f.Err.Error())}, Locations: []sarifLocation{location(f.File, 0)},
		})
	}
	return nil
}

func (s *sarif) Close(Totals) error {
	findings, cut := s.worst.take(maxResults)
	run := sarifRun{
		Results:    make([]sarifResult, len(findings)),
		ColumnKind: "utf16CodeUnits",
	}
	run.Tool.Driver = sarifDriver{
		Name: "turnlog", Version: number(s.meta.Version),
		InformationURI: "https://github.com/turnlog/turnlog", Rules: make([]sarifRule, len(s.meta.Rules)),
	}
	index := make(map[string]int, len(s.meta.Rules))
	for i, r := range s.meta.Rules {
		index[r.ID] = i
		rule := &run.Tool.Driver.Rules[i]
		rule.ID, rule.Default.Level = r.ID, r.Severity
		rule.ShortDescription, rule.Help = textOrNil(r.Title), textOrNil(strings.TrimSpace(r.Why+"\n\n"+r.Fix))
	}
	for i := range findings {
		run.Results[i] = result(&findings[i], index)
	}
	notes := s.failed
	if cut > 0 {
		notes = append(notes, sarifNotification{
			Level: verify.Warning, Message: sarifText{text.Plural(cut, "finding") + " of the least severity left out: " +
				"consumers show no more than 5000"},
		})
	}
	run.Invocations = []sarifInvocation{{Successful: len(s.failed) == 0, Notifications: notes}}
	return encode(s.w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func result(f *verify.Finding, index map[string]int) sarifResult {
	r := sarifResult{
		RuleID: f.Rule, Level: f.Severity, Message: sarifText{text.Printable(f.Message)},
		// Code scanning shows nothing that has no line.
		Locations: []sarifLocation{location(f.File, max(f.Line, 1))},
	}
	if i, ok := index[f.Rule]; ok {
		r.RuleIndex = &i
	}
	for _, rel := range f.Related {
		l := location(f.File, rel.Line)
		l.Message = textOrNil(text.Printable(rel.Message))
		r.Related = append(r.Related, l)
	}
	if f.Fingerprint != "" {
		r.Fingerprints = map[string]string{"turnlog/v1": f.Fingerprint}
	}
	if f.Entry != "" || f.Column > 0 {
		r.Properties = &sarifProperties{Entry: f.Entry, Column: f.Column}
	}
	return r
}

func location(file string, line int) (l sarifLocation) {
	l.Physical.Artifact.URI = fileURI(file)
	if line > 0 {
		l.Physical.Region = &sarifRegion{line}
	}
	return l
}

// fileURI keeps relative names relative, as GitHub wants them to be.
func fileURI(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}

// number is a version as SARIF wants it, without the v; a build from a work
// tree has none.
func number(version string) string {
	n, ok := strings.CutPrefix(version, "v")
	if !ok {
		return ""
	}
	return n
}

func textOrNil(s string) *sarifText {
	if s == "" {
		return nil
	}
	return &sarifText{s}
}
