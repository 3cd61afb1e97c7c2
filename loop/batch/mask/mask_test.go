package mask

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A value is found however the one who wrote the JSON escapes it.
func TestMaskKnowsTheHabitsOfEncoders(t *testing.T) {
	const value = "a/b&c<d>ü\"e\\f😀"
	m := New(map[string]string{"KEY": value}, nil, false)
	for _, encoded := range []string{
		`a/b&c<d>ü\"e\\f😀`,                                   // turnlog
		`a/b\u0026c\u003cd\u003eü\"e\\f😀`,                    // Go
		`a\/b&c<d>\u00fc\"e\\f\ud83d\ude00`,                  // PHP
		`a\/b&c<d>ü\"e\\f😀`,                                  // PHP, told to leave characters alone
		`a/b&c<d>\u00fc\"e\\f\ud83d\ude00`,                   // Python
		`{\"x\":\"a/b&c<d>ü\\\"e\\\\f😀\"}`,                   // a string in a string
		`{\"x\":\"a/b\\u0026c\\u003cd\\u003eü\\\"e\\\\f😀\"}`, // the same by Go, in ours
	} {
		line := fmt.Sprintf(`{"text":"before %s after"}`, encoded)
		if !json.Valid([]byte(line)) {
			t.Fatalf("the test's own JSON is wrong: %s", line)
		}
		got := string(m.Line([]byte(line)))
		if !json.Valid([]byte(got)) || !strings.Contains(got, "[secret:KEY]") || strings.Contains(got, "c<d") || strings.Contains(got, "u003cd") {
			t.Errorf("%s becomes %s", line, got)
		}
	}
	if n := len(New(map[string]string{"KEY": "sk-plain-0123456789"}, nil, false).values); n != 1 {
		t.Errorf("a plain key is looked for in %d forms", n)
	}
}
