package verify_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/turnlog/turnlog/replay/verify"
)

// TestTraps runs the scripts in testdata/traps: what looks like a fault of a
// rule and is legal, and close to it what is none. A script has a transcript
// in each of its files, in the shorthand of expand; the name of the file ends
// with the findings that are wanted: "name" wants none, "name want torn-line:3"
// one on line 3. Flags before the transcript set options.
func TestTraps(t *testing.T) {
	scripts, err := filepath.Glob("testdata/traps/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			name, want, _ := strings.Cut(file.Name, " want ")
			t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar")+"/"+name, func(t *testing.T) {
				lines, o := expand(t, string(file.Data))
				var wanted []place
				for w := range strings.FieldsSeq(want) {
					rule, line, _ := strings.Cut(w, ":")
					n := 0
					if _, err := fmt.Sscan(line, &n); err != nil {
						t.Fatalf("%s: %v", w, err)
					}
					wanted = append(wanted, place{rule, n})
				}
				sortPlaces(wanted)
				result := check(t, "in.jsonl", []byte(lines), o)
				if diff := cmp.Diff(wanted, places(result.Findings), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("findings (-want +got):\n%s%v\n%s", diff, result.Findings, lines)
				}
			})
		}
	}
}

// expand writes a transcript out. Each line of the shorthand is an entry that
// hangs on the one before it; its id is e and its line number. KIND@ID hangs
// on another one, KIND@ on none. Kinds:
//
//	header [parentSession=FILE]
//	system TEXT +tool -tool                     tools take an integer n
//	user TEXT
//	assistant STOP [field=VALUE …] | text T | thinking T | call ID NAME [JSON]
//	result ID NAME ok|error TEXT
//	summary TEXT                                a branch summary
//	compact KEPT [+tool …]                      KEPT is an id; without tools it states none
//	edit ID    label ID
//
// A line that begins with { or \ is taken as it is, with Go's escapes. An
// empty line is an empty line. "option NAME" sets an option.
func expand(t *testing.T, shorthand string) (string, verify.Options) {
	t.Helper()
	s := script{t: t}
	for line := range strings.Lines(shorthand) {
		s.line(strings.TrimSuffix(line, "\n"))
	}
	return s.out.String(), s.options
}

type script struct {
	t       *testing.T
	out     strings.Builder
	n       int
	last    string // id of the entry before
	options verify.Options
}

func (s *script) line(line string) {
	if name, ok := strings.CutPrefix(line, "option "); ok {
		switch name {
		case "slice":
			s.options.Slice = true
		case "finished":
			s.options.Finished = true
		default:
			s.t.Fatalf("no option %q", name)
		}
		return
	}
	s.n++
	switch {
	case strings.TrimSpace(line) == "":
		s.out.WriteString(line + "\n")
	case line[0] == '{' || line[0] == '\\':
		s.raw(line)
	default:
		s.entry(line)
	}
}

// raw writes a line out as it is. Its id counts as the one before.
func (s *script) raw(line string) {
	unquoted, ended := strings.CutSuffix(line, `\n`)
	text, err := unescape(unquoted)
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	s.out.WriteString(text)
	if !ended {
		s.out.WriteString("\n")
	}
	var e struct{ ID string }
	if json.Unmarshal([]byte(text), &e) == nil && e.ID != "" {
		s.last = e.ID
	}
}

// unescape reads \xNN; everything else stays, so that JSON's own escapes do.
func unescape(line string) (string, error) {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(line, `\x`)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		var c byte
		if _, err := fmt.Sscanf(after[:2], "%02x", &c); err != nil {
			return "", err
		}
		b.WriteByte(c)
		line = after[2:]
	}
}

func (s *script) entry(line string) {
	kind, rest, _ := strings.Cut(line, " ")
	kind, parent, moved := strings.Cut(kind, "@")
	if !moved {
		parent = s.last
	}
	if kind == "header" {
		key, value, _ := strings.Cut(rest, "=")
		fmt.Fprintf(&s.out, `{"type":"session","version":3,"id":"s1","timestamp":"2031-05-06T07:00:00Z","cwd":"/tmp"%s}`+"\n", field(key, value))
		return
	}
	id := fmt.Sprintf("e%d", s.n)
	head := fmt.Sprintf(`"id":%q,"parentId":null`, id)
	if parent != "" {
		head = fmt.Sprintf(`"id":%q,"parentId":%q`, id, parent)
	}
	s.out.WriteString(s.record(kind, head, rest) + "\n")
	s.last = id
}

func (s *script) record(kind, head, rest string) string {
	words := strings.Fields(rest)
	switch kind {
	case "system":
		text, added, removed := declarations(words)
		return message(head, fmt.Sprintf(`"role":"system","content":%s%s%s`, quoted(text), list("toolsAdded", added), list("toolsRemoved", removed)))
	case "user":
		return message(head, `"role":"user","content":`+quoted(rest))
	case "assistant":
		return message(head, assistant(rest))
	case "result":
		return message(head, fmt.Sprintf(`"role":"toolResult","toolCallId":%q,"toolName":%q,"content":[{"type":"text","text":%s}],"isError":%v`,
			words[0], words[1], quoted(strings.Join(words[3:], " ")), words[2] == "error"))
	case "summary":
		return fmt.Sprintf(`{"type":"branch_summary",%s,"fromId":"root","summary":%s}`, head, quoted(rest))
	case "compact":
		_, added, _ := declarations(words[1:])
		system := ""
		if len(words) > 1 {
			system = `,"systemMessage":{"role":"system","content":"p"` + list("toolsAdded", added) + `}`
		}
		return fmt.Sprintf(`{"type":"compaction",%s,"summary":"s","firstKeptEntryId":%q,"tokensBefore":9000%s}`, head, words[0], system)
	case "edit":
		return fmt.Sprintf(`{"type":"context_edit",%s,"targetId":%q,"replacement":null}`, head, rest)
	case "label":
		return fmt.Sprintf(`{"type":"label",%s,"targetId":%q,"label":"l"}`, head, rest)
	}
	s.t.Fatalf("no kind %q", kind)
	return ""
}

func declarations(words []string) (text string, added, removed []string) {
	var rest []string
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "+"):
			added = append(added, tool(w[1:], 0))
		case strings.HasPrefix(w, "-") && len(w) > 1:
			removed = append(removed, fmt.Sprintf(`{"name":%q}`, w[1:]))
		default:
			rest = append(rest, w)
		}
	}
	return strings.Join(rest, " "), added, removed
}

func list(key string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return fmt.Sprintf(`,%q:[%s]`, key, strings.Join(items, ","))
}

func field(key, value string) string {
	if key == "" {
		return ""
	}
	if json.Valid([]byte(value)) {
		return fmt.Sprintf(`,%q:%s`, key, value)
	}
	return fmt.Sprintf(`,%q:%s`, key, quoted(value))
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func assistant(rest string) string {
	parts := strings.Split(rest, " | ")
	words := strings.Fields(parts[0])
	var fields strings.Builder
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		fields.WriteString(field(key, value))
	}
	var blocks []string
	for _, part := range parts[1:] {
		kind, text, _ := strings.Cut(part, " ")
		switch kind {
		case "call":
			w := append(slices.Clip(strings.SplitN(text, " ", 3)), "{}")
			blocks = append(blocks, fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":%s}`, w[0], w[1], w[2]))
		case "thinking":
			blocks = append(blocks, `{"type":"thinking","thinking":`+quoted(text)+`}`)
		case "signed":
			blocks = append(blocks, `{"type":"thinking","thinking":`+quoted(text)+`,"thinkingSignature":"c2ln"}`)
		default:
			blocks = append(blocks, `{"type":"text","text":`+quoted(text)+`}`)
		}
	}
	stop := `,"stopReason":` + quoted(words[0])
	switch words[0] {
	case "absent":
		stop = ""
	case "null":
		stop = `,"stopReason":null`
	}
	return `"role":"assistant","content":[` + strings.Join(blocks, ",") + `]` + stop + fields.String()
}
