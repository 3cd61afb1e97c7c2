package assertion

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	show "github.com/turnlog/turnlog/replay/text"
)

func text(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	m, got := a.Text, s.Text
	contains, equals, matches := m.Contains, m.Equals, m.Matches
	if m.IgnoreCase {
		got, contains, equals, matches = strings.ToLower(got), strings.ToLower(contains), strings.ToLower(equals), "(?i)"+m.Matches
	}
	message := fmt.Sprintf("the last answer is %s", shortened(s.Text))
	switch {
	case m.Contains != "" && !strings.Contains(got, contains):
		return Outcome{false, message}
	case m.Equals != "" && strings.TrimSpace(got) != strings.TrimSpace(equals):
		return Outcome{false, message}
	case m.Matches != "":
		if m.IgnoreCase {
			got = s.Text
		}
		re, err := regexp.Compile(matches)
		if err != nil {
			return Outcome{false, err.Error()}
		}
		return Outcome{re.MatchString(got), message}
	}
	return Outcome{true, message}
}

// shortened is a text in a message.
func shortened(s string) string {
	const most = 200
	return strconv.Quote(show.Shorten(s, most))
}

func usage(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	got, known := s.Usage[a.Usage.Metric]
	if !known {
		return Outcome{false, "nothing is known of " + a.Usage.Metric}
	}
	ok := (a.Usage.Min == nil || got >= *a.Usage.Min) && (a.Usage.Max == nil || got <= *a.Usage.Max)
	return Outcome{ok, fmt.Sprintf("%s is %g", a.Usage.Metric, got)}
}

// output looks at one value of the required answer.
func output(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	want := a.Output
	if s.Output == nil {
		return Outcome{false, "the task has no answer"}
	}
	value, there, err := lookup(s.Output, want.Path)
	if err != nil {
		return Outcome{false, err.Error()}
	}
	if want.Exists != nil && *want.Exists != there {
		return Outcome{false, fmt.Sprintf("%s is %s", want.Path, map[bool]string{true: "there", false: "not there"}[there])}
	}
	if !there {
		return Outcome{want.Exists != nil, want.Path + " is not there"}
	}
	shown := fmt.Sprintf("%s is %s", want.Path, shortenedJSON(value))
	if want.Equals != nil && !jsondiff.Equal(jsondiff.Decode(value), jsondiff.Decode(want.Equals)) {
		return Outcome{false, shown}
	}
	return Outcome{inBounds(value, want), shown}
}

// inBounds compares a length or a number.
func inBounds(value json.RawMessage, want *task.OutputValue) bool {
	if want.MinItems != nil || want.MaxItems != nil {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return false
		}
		if want.MinItems != nil && len(items) < *want.MinItems || want.MaxItems != nil && len(items) > *want.MaxItems {
			return false
		}
	}
	if want.Min != nil || want.Max != nil {
		var n float64
		if json.Unmarshal(value, &n) != nil {
			return false
		}
		if want.Min != nil && n < *want.Min || want.Max != nil && n > *want.Max {
			return false
		}
	}
	return true
}

func shortenedJSON(v json.RawMessage) string {
	const most = 200
	return show.Clip(string(v), most)
}

var step = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\])`)

// lookup follows a path like $.a.b[0]["odd key"].
func lookup(v json.RawMessage, path string) (value json.RawMessage, there bool, err error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, false, fmt.Errorf("path %q: want $, then .name or [index]", path)
	}
	for rest != "" {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			return nil, false, fmt.Errorf("path %q: cannot read %q", path, rest)
		}
		rest = rest[len(m[0]):]
		if v, there = descend(v, m); !there {
			return nil, false, nil
		}
	}
	return v, true, nil
}

func descend(v json.RawMessage, m []string) (json.RawMessage, bool) {
	if m[2] != "" {
		var items []json.RawMessage
		n, err := strconv.Atoi(m[2])
		if err != nil || json.Unmarshal(v, &items) != nil || n >= len(items) {
			return nil, false
		}
		return items[n], true
	}
	name := m[1]
	if m[3] != "" && json.Unmarshal([]byte(`"`+m[3]+`"`), &name) != nil {
		return nil, false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(v, &members) != nil {
		return nil, false
	}
	value, there := members[name]
	return value, there
}
