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

// deliberate are the cases in which pi 1.6.0 guesses and turnlog does not: a
// value is converted only if it reads the same in the wanted type.
var deliberate = map[string]string{
	"number-4":             `"" is no 0`,
	"number-7":             `"FALSE" is no number`,
	"number-8":             `true is no number`,
	"number-9":             `false is no number`,
	"integer-1":            `"3.7" is not 3`,
	"integer-3":            `3.7 is not 3`,
	"integer-5":            `"" is no 0`,
	"integer-7":            `null is no 0`,
	"number-10":            `null is no 0`,
	"boolean-3":            `"1" does not read true`,
	"boolean-4":            `"0" does not read false`,
	"boolean-7":            `1 does not read true`,
	"boolean-8":            `0 does not read false`,
	"boolean-10":           `null is not false`,
	"string-4":             `null is no text`,
	"null-0":               `"" does not read null`,
	"null-3":               `"undefined" does not read null`,
	"null-4":               `0 does not read null`,
	"null-6":               `false does not read null`,
	"array-of-strings-2":   `null is neither a text nor a list`,
	"enum-mixed-1":         `"true" reads as the member true, not as 1`,
	"const-true-1":         `1 does not read true`,
	"integer-or-null-1":    `"" does not read null`,
	"integer-or-null-5":    `false is no 0`,
	"anyOf-int-bool-3":     `null is no 0`,
	"anyOf-int-bool-4":     `2.5 is not 2`,
	"anyOf-int-null-0":     `"" is no 0`,
	"large-integer-string": `every digit is kept`,
	"optional-null-under-single-value-for-array": `the null is dropped, as in a list that was sent as one`,
}

// TestOracle compares with what the real pi answers.
func TestOracle(t *testing.T) {
	var cases []struct {
		Name                  string
		Parameters, Arguments json.RawMessage
	}
	var expected []struct {
		Name  string
		OK    bool
		Value json.RawMessage
		Error string
	}
	readOracle(t, "validate.json", &cases)
	readOracle(t, "validate.expected.json", &expected)
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			want := expected[i]
			if want.Name != c.Name {
				t.Fatalf("the answer is for %s", want.Name)
			}
			s, err := Compile(c.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Convert(c.Arguments)
			same := (err == nil) == want.OK && (err != nil || cmp.Equal(tree(t, want.Value), tree(t, got), numbers))
			if reason, ok := deliberate[c.Name]; ok {
				if same {
					t.Errorf("no difference, although: %s", reason)
				}
				return
			}
			if !same {
				t.Errorf("got %s, %v\nwant %s %s", got, err, want.Value, want.Error)
			}
			if err != nil && want.Error != "" {
				comparePaths(t, err, want.Error)
			}
		})
	}
}

// numbers compares literals by value: pi prints what JavaScript computed.
var numbers = cmp.Comparer(func(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return a == b || errX == nil && errY == nil && x == y && len(a) < 16
})

// comparePaths checks that our error names the places that pi's names.
func comparePaths(t *testing.T, err error, want string) {
	t.Helper()
	failed, ok := errors.AsType[*ValidationError](err)
	if !ok {
		t.Fatalf("not a validation error: %v", err)
	}
	var got, wanted []string
	for _, p := range failed.Problems {
		got = append(got, p.Path)
	}
	body, _, _ := strings.Cut(want, "\n\n")
	for line := range strings.SplitSeq(body, "\n") {
		if path, ok := strings.CutPrefix(line, "  - "); ok {
			path, _, _ = strings.Cut(path, ": ")
			wanted = append(wanted, path)
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func readOracle(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "oracle", "tables", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no ../shared: the table recorded from pi is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
