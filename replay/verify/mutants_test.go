package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
)

// clean is a session in which everything is as it should be.
const clean = `header
system p +read +write
user look at 7205759403792793601
assistant toolUse provider=anthropic model=m timestamp=1000 usage={"input":5,"output":9,"cacheRead":0,"cacheWrite":9000,"totalTokens":9014} | signed hm | text I look. | call c1 read {"n":1} | call c2 read {"n":2}
result c2 read ok two
result c1 read ok one
assistant stop provider=anthropic model=m timestamp=20000 usage={"input":5,"output":9,"cacheRead":9000,"cacheWrite":300,"totalTokens":9314} | text Seen.
user write it
assistant toolUse provider=anthropic model=m timestamp=40000 usage={"input":5,"output":9,"cacheRead":9300,"cacheWrite":300,"totalTokens":9614} | call c3 write {"n":3}
result c3 write ok done
assistant stop provider=anthropic model=m timestamp=60000 responseId=r1 usage={"input":5,"output":9,"cacheRead":9600,"cacheWrite":300,"totalTokens":9914} | text Written.
system less -write +list
user on
assistant toolUse provider=anthropic model=m | call c4 list {"n":4}
result c4 list error empty
assistant toolUse provider=anthropic model=m | call c5 list {"n":5}
result c5 list ok full
compact e13 +read +list
user and now
assistant toolUse provider=anthropic model=m | call c6 read {"n":6}
result c6 read ok six
assistant stop provider=anthropic model=m | text It is six.
label e7
edit e13
user thanks
assistant stop provider=anthropic model=m | text You are welcome.
user bye
`

// damaged is a session under mutation: its entries as JSON objects.
type damaged struct {
	entries []map[string]any
	options verify.Options
	raw     func([]byte) []byte // a last change of the bytes
}

func parseSession(t testing.TB, text string) []map[string]any {
	t.Helper()
	var entries []map[string]any
	for line := range strings.Lines(text) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var e map[string]any
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		entries = append(entries, e)
	}
	return entries
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, x := range v {
			c[k] = clone(x)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, x := range v {
			c[i] = clone(x)
		}
		return c
	}
	return v
}

func (s *damaged) bytes(t testing.TB) []byte {
	var b bytes.Buffer
	for _, e := range s.entries {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if s.raw != nil {
		return s.raw(b.Bytes())
	}
	return b.Bytes()
}

// message returns the message of entry i if it has the role.
func (s *damaged) message(i int, role string) map[string]any {
	m, _ := s.entries[i]["message"].(map[string]any)
	if m == nil || role != "" && m["role"] != role {
		return nil
	}
	return m
}

// call returns the first call of entry i.
func (s *damaged) call(i int) map[string]any {
	m := s.message(i, "assistant")
	if m == nil {
		return nil
	}
	for _, b := range m["content"].([]any) {
		if b := b.(map[string]any); b["type"] == "toolCall" {
			return b
		}
	}
	return nil
}

// insert puts an entry behind entry i and hangs the next one on it.
func (s *damaged) insert(i int, entry map[string]any) {
	id := fmt.Sprintf("x%d", i)
	entry["id"], entry["parentId"] = id, s.entries[i]["id"]
	for _, e := range s.entries[i+1:] {
		if e["parentId"] == s.entries[i]["id"] {
			e["parentId"] = id
		}
	}
	s.entries = slices.Insert(s.entries, i+1, entry)
}

// remove takes entry i out and closes the gap.
func (s *damaged) remove(i int) {
	for _, e := range s.entries {
		if e["parentId"] == s.entries[i]["id"] {
			e["parentId"] = s.entries[i]["parentId"]
		}
	}
	s.entries = slices.Delete(s.entries, i, i+1)
}

// lineOf changes the bytes of line i.
func (s *damaged) lineOf(i int, change func(line []byte) []byte) {
	s.raw = func(b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		lines[i] = change(bytes.TrimSuffix(lines[i], []byte("\n")))
		return bytes.Join(lines, nil)
	}
}

func entryOf(m map[string]any) map[string]any {
	return map[string]any{"type": "message", "message": m}
}

func user(text string) map[string]any {
	return entryOf(map[string]any{"role": "user", "content": text})
}

func answer(stop string, blocks ...any) map[string]any {
	if blocks == nil {
		blocks = []any{}
	}
	return entryOf(map[string]any{"role": "assistant", "content": blocks, "stopReason": stop})
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func callBlock(id, name string) map[string]any {
	return map[string]any{"type": "toolCall", "id": id, "name": name, "arguments": map[string]any{"n": 1}}
}

func resultOf(id, name, text string) map[string]any {
	return entryOf(map[string]any{"role": "toolResult", "toolCallId": id, "toolName": name, "content": []any{textBlock(text)}, "isError": false})
}

// resultFor finds the entry that answers the first call of entry i, -1 if it
// failed.
func (s *damaged) resultFor(i int) int {
	c := s.call(i)
	if c == nil {
		return -1
	}
	return slices.IndexFunc(s.entries, func(e map[string]any) bool {
		m, _ := e["message"].(map[string]any)
		return m != nil && m["toolCallId"] == c["id"] && m["isError"] == false
	})
}

// TestMutants corrupts a clean session in a way for each rule, at each place
// where that is possible: the rule must see all of them.
func TestMutants(t *testing.T) {
	text, _ := expand(t, clean)
	if found := check(t, "clean", []byte(text), verify.Options{}).Findings; len(found) > 0 {
		t.Fatalf("the clean session is not: %v", found)
	}
	original := parseSession(t, text)
	mutations := mutations()
	total := 0
	var table strings.Builder
	for _, r := range rules() {
		mutate, ok := mutations[r.ID]
		if !ok {
			t.Errorf("%s has no mutants", r.ID)
			continue
		}
		mutants, killed := 0, 0
		for i := range original {
			s := &damaged{}
			for _, e := range original {
				s.entries = append(s.entries, clone(e).(map[string]any))
			}
			if !mutate(s, i) {
				continue
			}
			mutants++
			if sees(t, r.ID, s) {
				killed++
			} else {
				t.Errorf("%s does not see its mutant at line %d", r.ID, i+1)
			}
		}
		if mutants == 0 {
			t.Errorf("%s has no mutants", r.ID)
		}
		total += mutants
		fmt.Fprintf(&table, "%-28s %7d %6d\n", r.ID, mutants, killed)
	}
	t.Logf("%d mutants\n%-28s %7s %6s\n%s", total, "rule", "mutants", "killed", table.String())
	for _, id := range slices.Sorted(maps.Keys(mutations)) {
		if _, err := verify.Find(rules(), id); err != nil {
			t.Error(err)
		}
	}
}

func sees(t *testing.T, id string, s *damaged) bool {
	result, err := verify.Run(t.Context(), memory("mutant", s.bytes(t)), rules(), s.options)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return slices.ContainsFunc(result.Findings, func(f verify.Finding) bool { return f.Rule == id })
}
