package junit_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/report/junit"
)

func TestCounts(t *testing.T) {
	problem := &junit.Problem{Message: `<&"]]>`, Text: "]]>\x1b"}
	var out strings.Builder
	w := junit.NewWriter(&out, `a"<b`)
	err := w.Suite(junit.Suite{Name: "s", Tests: 99, Cases: []junit.Case{
		{Name: "ok"}, {Name: "f", Failure: problem}, {Name: "e", Error: problem}, {Name: "s", Skipped: problem}, {Name: "f2", Failure: problem},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name   string        `xml:"name,attr"`
		Suites []junit.Suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	s := got.Suites[0]
	if got.Name != `a"<b` || s.Tests != 5 || s.Failures != 2 || s.Errors != 1 || s.Skipped != 1 {
		t.Errorf("got %+v", got)
	}
	if p := s.Cases[1].Failure; p.Message != problem.Message || p.Text != "]]>\ufffd" {
		t.Errorf("failure %+v", p)
	}
}

// A document without suites is a document.
func TestEmpty(t *testing.T) {
	var out strings.Builder
	if err := junit.NewWriter(&out, "none").Close(); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal([]byte(out.String()), new(struct{})); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestSeconds(t *testing.T) {
	for ms, want := range map[int64]string{0: "0.000", 5: "0.005", 61_020: "61.020"} {
		if got := junit.Seconds(ms); got != want {
			t.Errorf("%d ms: got %s, want %s", ms, got, want)
		}
	}
}
