package transcript

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	recA = `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"one"}}`
	recB = `{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"two"},{"type":"toolCall","id":"c","name":"n","arguments":{"type":"x","id":"y"}}]}}`
	recC = `{"type":"label","id":"c","parentId":"b","targetId":"a","label":"}{"}`
	head = `{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/c"}`
)

// summary is a line in short: damage, ids of the records.
func summary(l Line) string {
	var s strings.Builder
	s.WriteString([...]string{"intact", "torn line", "torn tail", "glued", "too long"}[l.Damage])
	for _, e := range l.Records {
		id := e.ID
		if e.Header != nil {
			id = e.Header.ID
		}
		s.WriteString(" " + id)
	}
	if l.Blank() {
		s.WriteString(" blank")
	}
	return s.String()
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"whole", head + "\n" + recA + "\n", []string{"intact s", "intact a"}},
		{"no final line end", head + "\n" + recA, []string{"intact s", "intact a"}},
		{"CRLF", head + "\r\n\r\n" + recA + "\r\n", []string{"intact s", "intact blank", "intact a"}},
		{"blank lines", "\n \t\n" + recA + "\n\n", []string{"intact blank", "intact blank", "intact a", "intact blank"}},
		{"blank tail", recA + "\n  ", []string{"intact a", "intact blank"}},
		{"white space around", " \t" + recA + "  \r\n", []string{"intact a"}},
		{"CR does not end a line", recA + "\r" + recC + "\n", []string{"glued a c"}},
		{"U+2028 does not end a line", strings.Replace(recA, "one", "one\u2028\u2029\u0085two", 1) + "\n", []string{"intact a"}},
		{"no object", "42\n[1]\n\"x\"\n", []string{"intact ", "intact ", "intact "}},
		{"byte order mark", "\uFEFF" + head + "\n" + recA + "\n", []string{"intact s", "intact a"}},
		{"only a byte order mark", "\uFEFF\n", []string{"intact blank"}},

		{"torn tail", recA + "\n" + recB[:100], []string{"intact a", "torn tail"}},
		{"torn tail behind a block", recB[:strings.Index(recB, "},{")+1], []string{"torn tail"}},
		{"torn tail behind arguments", recB[:strings.Index(recB, `"y"}`)+4], []string{"torn tail"}},
		{"torn tail in a character", recA[:60] + "\xe2\x82", []string{"torn tail"}},
		{"torn line", recB[:100] + "\n" + recA + "\n", []string{"torn line", "intact a"}},
		{"torn line behind a block", recB[:strings.Index(recB, "},{")+1] + "\n", []string{"torn line"}},
		{"lost head", recB[60:] + "\n", []string{"torn line"}},
		{"lost head, block left", recB[strings.Index(recB, `{"type":"text"`):] + "\n", []string{"torn line"}},
		{"garbage", "hello\n{}x\n1 2\n", []string{"torn line", "torn line", "torn line"}},

		{"two records", recA + recC + "\n", []string{"glued a c"}},
		{"three records with spaces", recA + " " + recB + " " + recC + " ", []string{"glued a b c"}},
		{"untyped objects", `{"a":1}{"b":2}` + "\n", []string{"glued  "}},
		{"record and fragment", recA + recB[:100] + "\n", []string{"glued a"}},
		{"record and fragment at the end", recA + recB[:100], []string{"glued a"}},
		{"record and garbage", recA + "xyz\n", []string{"glued a"}},
		{"fragments and records", recB[:90] + recA + recC[:20] + recC + "\n", []string{"glued a c"}},
		{"seam in an escape", `{"type":"message","id":"n","x":"\` + recA + "\n", []string{"glued a"}},
		{"seam in a code point", `{"type":"message","id":"n","x":"\u00` + recA + "\n", []string{"glued a"}},
		{"fragment of one byte", "{" + recA + "\n", []string{"glued a"}},
		{"seam at a value", `{"type":"message","id":"n","parentId":` + recA + "\n", []string{"glued a"}},
		{"seam at the message", `{"type":"message","id":"n","parentId":null,"message":` + recA + "\n", []string{"glued a"}},
		{"seam at a block", `{"type":"message","id":"n","parentId":null,"message":{"role":"assistant","content":[` + recA + "\n", []string{"glued a"}},
		{"seam at a value, two records", `{"type":"message","id":"n","parentId":` + recA + recC + "\n", []string{"glued a c"}},
		{"seam at a value, two fragments", `{"type":"message","id":"n","parentId":` + recA[:20] + recC + "\n", []string{"glued c"}},
		{"flipped byte, then a record", strings.Replace(recB, `"id":"b",`, `"id":"b";`, 1) + recC + "\n", []string{"glued c"}},
		{"flipped byte", strings.Replace(recB, `"id":"b",`, `"id":"b";`, 1) + "\n", []string{"torn line"}},
		{"record with a space behind the brace", recB[:100] + strings.Replace(recA, "{", "{ ", 1) + "\n", []string{"glued a"}},
		{"entries in details are no records", `{"type":"message","id":"n","message":{"role":"toolResult","details":{"log":[` + recA + "\n", []string{"torn line"}},
		{"entries in arguments are no records", `{"type":"message","id":"n","message":{"content":[{"type":"toolCall","arguments":` + recA, []string{"torn tail"}},
		{"text that looks like a seam", `{"type":"label","id":"a","label":"` + strings.ReplaceAll(recA+recC, `"`, `\"`) + `"}` + "\n", []string{"intact a"}},
		{"torn text that looks like a seam", `{"type":"label","id":"a","label":"` + strings.ReplaceAll(recA+recC, `"`, `\"`) + "\n", []string{"torn line"}},

		{"NUL block between", recA + "\n" + strings.Repeat("\x00", 300) + "\n" + recC + "\n", []string{"intact a", "intact blank", "intact c"}},
		{"NUL block before", strings.Repeat("\x00", 300) + recA + "\n", []string{"intact a"}},
		{"NUL block at the end", recA + "\n" + strings.Repeat("\x00", 300), []string{"intact a", "intact blank"}},
		{"NUL block inside", recA[:30] + "\x00\x00" + recA[30:] + "\n", []string{"intact a"}},
		{"NUL block between records", recA + "\x00\x00" + recC + "\n", []string{"glued a c"}},
		{"NUL block behind a fragment", recB[:80] + "\x00\x00\x00\n", []string{"torn line"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			lines := collect(t, []byte(tt.in), Options{})
			for _, l := range lines {
				got = append(got, summary(l))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkLines(t, []byte(tt.in), lines)
		})
	}
}

// checkLines checks what must hold for the lines of any input.
func checkLines(t *testing.T, in []byte, lines []Line) {
	t.Helper()
	offset := int64(0)
	for i, l := range lines {
		if l.No != i+1 || l.Offset != offset {
			t.Fatalf("line %d is number %d at %d, want offset %d", i+1, l.No, l.Offset, offset)
		}
		if l.Damage == TooLong {
			offset += l.size
			continue
		}
		if !bytes.HasPrefix(in[offset:], l.Raw) {
			t.Fatalf("line %d: bytes differ from the input", l.No)
		}
		offset += int64(len(l.Raw))
		if (l.Damage == Intact) != (l.Err == nil) {
			t.Errorf("line %d: damage %d, error %v", l.No, l.Damage, l.Err)
		}
		if i < len(lines)-1 && (!bytes.HasSuffix(l.Raw, []byte("\n")) || l.Damage == TornTail) {
			t.Errorf("line %d is not the last one, but has no end", l.No)
		}
		if (l.Damage == TornLine || l.Damage == TornTail) != (l.Damage != Intact && len(l.Records) == 0) {
			t.Errorf("line %d: damage %d with %d records", l.No, l.Damage, len(l.Records))
		}
		for _, e := range l.Records {
			if e.Line != l.No || e.Raw == nil {
				t.Errorf("line %d: record on line %d, raw %q", l.No, e.Line, e.Raw)
			}
			if again, err := ParseEntry(e.Raw); err != nil || again.ID != e.ID || again.Type != e.Type {
				t.Errorf("line %d: raw of record %q reads as %+v, %v", l.No, e.ID, again, err)
			}
		}
		for j, n := range l.Notes {
			if n.Column < 1 || n.Column > len(l.Raw) || n.Count < 1 || j > 0 && n.Column < l.Notes[j-1].Column {
				t.Errorf("line %d: note %+v out of place", l.No, n)
			}
		}
	}
	if offset != int64(len(in)) {
		t.Errorf("lines have %d bytes, the input %d", offset, len(in))
	}
}

// TestTornFile cuts a transcript at every byte of its last two lines: the cut
// line is torn or, when nothing is missing but its end, intact.
func TestTornFile(t *testing.T) {
	for _, name := range []string{"session.jsonl", "v1.jsonl"} {
		data := testdata(t, name)
		for ; len(data) > 0; data = data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1] {
			start := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
			for cut := start + 1; cut <= len(data); cut++ {
				lines := collect(t, data[start:cut], Options{})
				want := "torn tail"
				if cut >= len(data)-1 {
					want = "intact"
				}
				if got := summary(lines[0]); len(lines) != 1 || !strings.HasPrefix(got, want) {
					t.Fatalf("%s cut at byte %d: %s, want %s\n%s", name, cut, got, want, data[start:cut])
				}
			}
		}
	}
}

// TestGluedFile cuts lines at every byte and puts the next one behind them:
// the next one must be found.
func TestGluedFile(t *testing.T) {
	next := []byte(recA)
	for _, line := range sampleLines(t) {
		for cut := 1; cut <= len(line); cut++ {
			in := append(line[:cut:cut], next...)
			l := collect(t, append(in, '\n'), Options{})[0]
			if l.Damage != Glued || l.Records[len(l.Records)-1].ID != "a" {
				if _, err := ParseEntry(line[:cut]); insideFreeData(line[:cut]) && err != nil {
					continue
				}
				t.Errorf("%s\ncut at %d: %s", in, cut, summary(l))
			}
			checkLines(t, append(in, '\n'), []Line{l})
		}
	}
}

// insideFreeData reports whether a value of data that is not interpreted
// would come next: there, an entry is no sign of a seam.
func insideFreeData(fragment []byte) bool {
	return bytes.HasSuffix(fragment, []byte(":")) || bytes.HasSuffix(fragment, []byte("[")) || bytes.HasSuffix(fragment, []byte(","))
}

func TestLinesColumn(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"torn", `{"type":"message",x}` + "\n", "line 1, column 19: expected a quoted key"},
		{"behind a byte order mark", "\uFEFF" + `{"a":x}` + "\n", "line 1, column 9: expected a value"},
		{"behind NUL bytes", "\x00\x00{\"a\"\x00:x}\n", "line 1, column 9: expected a value"},
		{"seam", recA + recC + "\n", fmt.Sprintf("line 1, column %d: several records or parts of them on one line", len(recA)+1)},
		{"seam of a fragment", recB[:50] + recC + "\n", "line 1, column 51: several records or parts of them on one line"},
		{"record and fragment", recA + recC[:30], fmt.Sprintf("line 1, column %d: several records or parts of them on one line", len(recA)+1)},
	} {
		l := collect(t, []byte(tt.in), Options{})[0]
		if l.Err == nil || l.Err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, l.Err, tt.want)
		}
	}
	l := collect(t, []byte("\uFEFF"+recB+recB[:40]+recB), Options{})[0]
	for i, e := range l.Records {
		c := e.Message.Calls()[0]
		if got := string(l.Raw[c.Column-1:][:18]); got != `{"type":"toolCall"` {
			t.Errorf("record %d: at the column of the call stands %q", i, got)
		}
	}
}

// TestHostileLines reads lines that are made to cost more than their length.
func TestHostileLines(t *testing.T) {
	const n = 40000
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, `"k%d":%d,`, i, i)
	}
	for name, in := range map[string]string{
		"braces":                strings.Repeat("{", n),
		"braces and quotes":     strings.Repeat(`{"`, n),
		"half records":          strings.Repeat(`{"type":"message","id":"`, n),
		"objects in a torn one": `{"a":` + strings.Repeat(`{"a":1},`, n),
		"brackets":              strings.Repeat("[", n),
		"spaces":                strings.Repeat(`{   "`, n),
		"many keys":             "{" + keys.String() + `"z":1}`,
		"many keys twice":       "{" + keys.String() + keys.String() + `"z":1}`,
		"many repeated keys":    "{" + strings.Repeat(`"a":1,`, n) + `"z":1}`,
		"many half pairs":       `{"a":"` + strings.Repeat(`\ud800`, n) + `"}`,
		"many bad bytes":        `{"a":"` + strings.Repeat("\xff", n) + `"}`,
		"records":               strings.Repeat(recA, n/50),
		"nested records":        strings.Repeat(`{"type":"message","id":"x","parentId":`, 5000),
	} {
		lines := collect(t, []byte(in), Options{})
		checkLines(t, []byte(in), lines)
		for _, l := range lines {
			if len(l.Notes) > 4*maxNotes {
				t.Errorf("%s: %d notes", name, len(l.Notes))
			}
		}
	}
}

// TestRandomDamage damages lines at random: what must hold for any input
// holds, and other lines stay what they were.
func TestRandomDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	lines := sampleLines(t)
	for range 3000 {
		i := rnd.IntN(len(lines))
		in := append([]byte(recA+"\n"), bytes.ReplaceAll(mutate(rnd, lines[i]), []byte("\n"), nil)...)
		in = append(in, "\n"+recC+"\n"...)
		got := collect(t, in, Options{})
		checkLines(t, in, got)
		if len(got) != 3 || summary(got[0]) != "intact a" || summary(got[2]) != "intact c" {
			t.Fatalf("%s: %d lines", in, len(got))
		}
	}
}
