package schema

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type tableCase struct {
	Name     string          `json:"name"`
	Schema   json.RawMessage `json:"schema"`
	Args     json.RawMessage `json:"args"`
	Want     json.RawMessage `json:"want"`     // nil: refused
	Problems []string        `json:"problems"` // PATH: MESSAGE
	Warnings []string        `json:"warnings"`
	Exact    string          `json:"exact"` // the bytes of the result
	Same     bool            `json:"same"`  // the result is args itself
}

func TestConvert(t *testing.T) {
	for _, c := range table(t) {
		t.Run(c.Name, func(t *testing.T) {
			s, err := Compile(c.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Warnings, s.Warnings()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			got, err := s.Convert(c.Args)
			if diff := cmp.Diff(c.Problems, problems(t, err)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tree(t, c.Want), tree(t, got)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if c.Exact != "" && string(got) != c.Exact {
				t.Errorf("bytes: got %s, want %s", got, c.Exact)
			}
			if c.Same && &got[0] != &c.Args[0] {
				t.Error("the result is a copy although nothing changed")
			}
			if err == nil {
				again(t, s, got)
			}
		})
	}
}

// again checks that a result is valid and that converting it changes nothing.
func again(t *testing.T, s *Schema, got json.RawMessage) {
	t.Helper()
	if err := s.Validate(got); err != nil {
		t.Errorf("the converted value %s is refused: %v", got, err)
	}
	twice, err := s.Convert(got)
	if err != nil || string(twice) != string(got) {
		t.Errorf("converted twice: %s, %v; once: %s", twice, err, got)
	}
}

func TestValidateConvertsNothing(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"properties": {"n": {"type": "integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"n: expected integer, got string"}
	if diff := cmp.Diff(want, problems(t, s.Validate(json.RawMessage(`{"n": "5"}`)))); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, document := range map[string]string{
		"unknown type":  `{"type": "strnig"}`,
		"not an object": `5`,
		"not JSON":      `{`,
		"huge number":   `{"maxLength": 1e999999999}`,
		"deep nesting":  strings.Repeat(`{"not":`, 2000) + `{}` + strings.Repeat(`}`, 2000),
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := Compile(json.RawMessage(document)); err == nil {
				t.Errorf("compiled: %+v", s)
			}
		})
	}
}

func TestAbsentArgumentsAreEmpty(t *testing.T) {
	s, err := Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Convert(nil); err != nil || string(got) != "{}" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestRepeatedKeyIsGivenOnce(t *testing.T) {
	s, err := Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Convert(json.RawMessage(`{"path": "a", "x": {"y": 1, "y": 2}, "path": "b"}`))
	if want := `{"path":"b","x":{"y":2}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// Depth costs at most its square, whatever the schema and the arguments are.
func TestDeepArguments(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"properties": {"n": {"$ref": "#"}}, "required": ["missing"]}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"n":`, n) + `{}` + strings.Repeat(`}`, n))
	}
	if got := len(problems(t, s.Validate(deep(900)))); got != 901 {
		t.Errorf("%d problems, want one per level", got)
	}
	if err := s.Validate(deep(2000)); !errors.Is(err, errTooDeep) {
		t.Errorf("got %v, want %v", err, errTooDeep)
	}
	if err := s.Validate(deep(20000)); err == nil {
		t.Error("20000 levels passed")
	}
}

// Alternatives that double at each level end with a refusal, not never.
func TestAlternativesThatMultiply(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"anyOf": [
		{"properties": {"n": {"$ref": "#"}}, "required": ["x"]},
		{"properties": {"n": {"$ref": "#"}, "i": {"type": "integer"}}}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"i":"1","n":`, n) + `{"i":"1"}` + strings.Repeat(`}`, n))
	}
	got, err := s.Convert(deep(3))
	if want := strings.Repeat(`{"i":1,"n":`, 3) + `{"i":1}}}}`; string(got) != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := s.Convert(deep(60)); err == nil || !strings.Contains(err.Error(), "nested too deep") {
		t.Errorf("got %v", err)
	}
}

func TestManyValues(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	args := json.RawMessage(`[` + strings.Repeat(`1,`, 500_000) + `1]`)
	if got, err := s.Convert(args); err != nil || len(got) != len(args) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestErrorIsBounded(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"items": {"type": "integer"}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate(json.RawMessage(`[` + strings.Repeat(`"x",`, 999) + `"x"]`))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxShown+1 || lines[0] != "  - 0: expected integer, got string" || lines[maxShown] != "  - ... and 950 more" {
		t.Errorf("got %d lines, first %q, last %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

func table(t testing.TB) []tableCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "validate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []tableCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// problems lists what a validation error says; anything else fails the test.
func problems(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*ValidationError](err)
	if !ok {
		t.Fatalf("not a validation error: %v", err)
	}
	var list []string
	for _, p := range failed.Problems {
		list = append(list, p.Path+": "+p.Message)
	}
	return list
}

// tree decodes a value with all digits of its numbers.
func tree(t testing.TB, data json.RawMessage) any {
	t.Helper()
	if data == nil {
		return nil
	}
	v, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return v.any()
}
