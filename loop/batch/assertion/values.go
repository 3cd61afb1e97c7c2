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

// longest is how much of a text or a value stands in a message.
const longest = 200

func text(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	want, fold, flags := a.Text, func(s string) string { return s }, ""
	if want.IgnoreCase {
		fold, flags = strings.ToLower, "(?i)"
	}
	got := fold(s.Text)
	ok := strings.Contains(got, fold(want.Contains)) &&
		(want.Equals == "" || strings.TrimSpace(got) == strings.TrimSpace(fold(want.Equals)))
	if ok && want.Matches != "" {
		re, err := regexp.Compile(flags + want.Matches)
		if err != nil {
			return Outcome{false, err.Error()}
		}
		ok = re.MatchString(s.Text)
	}
	return Outcome{ok, "the last answer is " + strconv.Quote(show.Shorten(s.Text, longest))}
}

func usage(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	got, known := s.Usage[a.Usage.Metric]
	if !known {
		return Outcome{false, "nothing is known of " + a.Usage.Metric}
	}
	return Outcome{within(got, a.Usage.Min, a.Usage.Max), fmt.Sprintf("%s is %g", a.Usage.Metric, got)}
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
	shown := fmt.Sprintf("%s is %s", want.Path, show.Clip(string(value), longest))
	if want.Equals != nil && !jsondiff.Equal(jsondiff.Decode(value), jsondiff.Decode(want.Equals)) {
		return Outcome{false, shown}
	}
	return Outcome{inBounds(value, want), shown}
}

// inBounds compares a length or a number.
func inBounds(value json.RawMessage, want *task.OutputValue) bool {
	var items []json.RawMessage
	if (want.MinItems != nil || want.MaxItems != nil) &&
		(json.Unmarshal(value, &items) != nil || !within(len(items), want.MinItems, want.MaxItems)) {
		return false
	}
	var n float64
	return want.Min == nil && want.Max == nil || json.Unmarshal(value, &n) == nil && within(n, want.Min, want.Max)
}

// within reports whether n is in bounds that may be missing.
func within[N int | float64](n N, least, most *N) bool {
	return (least == nil || n >= *least) && (most == nil || n <= *most)
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
