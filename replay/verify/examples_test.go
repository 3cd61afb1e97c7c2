package verify_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

// TestExamples reads the description of the rules that the project was given:
// each of its examples fires its rule and no other.
func TestExamples(t *testing.T) {
	examples := readExamples(t)
	if len(examples) < 45 {
		t.Fatalf("%d examples were found: the page has changed its form", len(examples))
	}
	for _, r := range rule.All() {
		lines, ok := examples[r.ID]
		if !ok {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			o := verify.Options{}
			if base, now, ok := strings.Cut(lines, "# now\n"); ok {
				_, base, _ = strings.Cut(base, "# base\n")
				o.Base = &verify.Source{Name: "base", Reader: strings.NewReader(base)}
				lines = now
			}
			result := check(t, r.ID, []byte(lines), o)
			fires(t, r.ID, result.Findings)
		})
	}
}

// fires checks that all findings are of one rule.
func fires(t *testing.T, id string, findings []verify.Finding) {
	t.Helper()
	if len(findings) == 0 {
		t.Errorf("%s does not fire", id)
	}
	for _, f := range findings {
		if f.Rule != id {
			t.Errorf("%s fires as well, on line %d: %s", f.Rule, f.Line, f.Message)
		}
	}
}

// readExamples returns the fenced example of each rule.
func readExamples(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(shared(t, "verify", "RULES.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile("(?m)^### `([a-z0-9-]+)`")
	starts := heading.FindAllSubmatchIndex(b, -1)
	examples := make(map[string]string)
	for i, at := range starts {
		end := len(b)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		section := b[at[1]:end]
		if _, rest, ok := bytes.Cut(section, []byte("```jsonl\n")); ok {
			example, _, _ := bytes.Cut(rest, []byte("```"))
			if string(b[at[2]:at[3]]) == "torn-tail" {
				example = bytes.TrimRight(example, "\n")
			}
			examples[string(b[at[2]:at[3]])] = string(example)
		}
	}
	return examples
}

// TestExamplesInWords are the examples that the page describes in words.
func TestExamplesInWords(t *testing.T) {
	const one = `{"type":"message","id":"n1","parentId":null,"message":{"role":"user","content":"one"}}` + "\n"
	cases := map[string]string{
		"nul-bytes": one + `{"type":"message","id":"n2","parentId":"n1","message":{"role":"user","content":"two"}}` + "\n" +
			strings.Repeat("\x00", 300) + "\n" + `{"type":"message","id":"n3","parentId":"n2","message":{"role":"user","content":"three"}}` + "\n",
		"invalid-utf8": `{"type":"message","id":"n1","parentId":null,"message":{"role":"user","content":"Andr` + "\xe9" + `"}}` + "\n",
		"stray-bom":    "\xef\xbb\xbf" + `{"type":"session","version":3,"id":"s","timestamp":"2030-01-02T03:00:00Z","cwd":"/tmp"}` + "\n" + one,
		"cache-collapse": answers(
			`"cacheRead":0,"cacheWrite":18000`, `"cacheRead":18000,"cacheWrite":600`,
			`"cacheRead":0,"cacheWrite":19300`, `"cacheRead":19300,"cacheWrite":500`),
		"usage-repeated": one +
			`{"type":"message","id":"n2","parentId":"n1","message":{"role":"assistant","responseId":"resp_1","content":[{"type":"text","text":"I look"}],"usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15},"stopReason":"toolUse"}}` + "\n" +
			`{"type":"message","id":"n3","parentId":"n2","message":{"role":"assistant","responseId":"resp_1","content":[{"type":"toolCall","id":"k1","name":"read","arguments":{}}],"usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15},"stopReason":"toolUse"}}` + "\n" +
			`{"type":"message","id":"n4","parentId":"n3","message":{"role":"toolResult","toolCallId":"k1","toolName":"read","content":[],"isError":false}}` + "\n",
	}
	examples := readExamples(t)
	for _, r := range rule.All() {
		words, ok := cases[r.ID]
		if _, fenced := examples[r.ID]; !ok && !fenced {
			t.Errorf("%s has no example", r.ID)
		}
		if ok {
			t.Run(r.ID, func(t *testing.T) { fires(t, r.ID, check(t, r.ID, []byte(words), verify.Options{}).Findings) })
		}
	}
}

// answers makes a conversation of answers 20 seconds apart with the given
// counts.
func answers(counts ...string) string {
	var b strings.Builder
	parent := "null"
	for i, c := range counts {
		u, a := "u"+string(rune('0'+i)), "a"+string(rune('0'+i))
		b.WriteString(`{"type":"message","id":"` + u + `","parentId":` + parent + `,"message":{"role":"user","content":"go on"}}` + "\n")
		b.WriteString(`{"type":"message","id":"` + a + `","parentId":"` + u + `","timestamp":"2030-01-02T03:0` + string(rune('0'+i/3)) + ":" + []string{"00", "20", "40"}[i%3] +
			`Z","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"text","text":"answer ` + a + `"}],"usage":{"input":5,"output":7,` + c + `},"stopReason":"stop"}}` + "\n")
		parent = `"` + a + `"`
	}
	return b.String()
}

// TestSamples executes the samples that the rules carry.
func TestSamples(t *testing.T) {
	for _, r := range rule.All() {
		t.Run(r.ID, func(t *testing.T) {
			fires(t, r.ID, check(t, r.ID, []byte(r.Bad), verify.Options{}).Findings)
			for _, f := range check(t, r.ID, []byte(r.Good), verify.Options{}).Findings {
				t.Errorf("the good sample gives %s on line %d: %s", f.Rule, f.Line, f.Message)
			}
		})
	}
}

// TestTable checks what the table promises of each rule.
func TestTable(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	var ids, groups []string
	for _, r := range rule.All() {
		ids = append(ids, r.ID)
		if len(groups) == 0 || groups[len(groups)-1] != r.Group {
			groups = append(groups, r.Group)
		}
		for name, text := range map[string]string{"Title": r.Title, "Why": r.Why, "Fix": r.Fix, "Quiet": r.Quiet, "Since": r.Since, "Bad": r.Bad, "Good": r.Good} {
			if text == "" {
				t.Errorf("%s has no %s", r.ID, name)
			}
		}
		if !kebab.MatchString(r.ID) || r.Severity.Rank() == 0 {
			t.Errorf("%s: id or severity %q", r.ID, r.Severity)
		}
	}
	if len(ids) != 60 {
		t.Errorf("there are %d rules, want 60", len(ids))
	}
	if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("an id occurs twice in %v", ids)
	}
	if slices.Sort(groups); len(slices.Compact(groups)) != 11 {
		t.Errorf("the table is not grouped: %v", groups)
	}
}
