package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// mutation corrupts a session at entry i; false if that is not possible there.
type mutation func(s *damaged, i int) bool

// mutations has a way to corrupt a session for each rule.
func mutations() map[string]mutation {
	all := make(map[string]mutation)
	for _, some := range []map[string]mutation{
		fileMutations(), treeMutations(), toolMutations(), callMutations(), contentMutations(), historyMutations(), safetyMutations(),
	} {
		maps.Copy(all, some)
	}
	return all
}

func fileMutations() map[string]mutation {
	inText := func(old, now string) mutation {
		return func(s *damaged, i int) bool {
			if s.message(i, "user") == nil {
				return false
			}
			s.lineOf(i, func(line []byte) []byte {
				return append(bytes.Replace(line, []byte(old), []byte(now), 1), '\n')
			})
			return true
		}
	}
	return map[string]mutation{
		"torn-line": func(s *damaged, i int) bool {
			s.lineOf(i, func(line []byte) []byte { return append(line[:len(line)-2-i%7], '\n') })
			return true
		},
		"glued-records": func(s *damaged, i int) bool {
			// A header that is cut exactly before its last value takes the next
			// record for that value: a known limit of the reader.
			s.lineOf(i, func(line []byte) []byte { return line[:len(line)-3-i%7] })
			return i < len(s.entries)-1
		},
		"torn-tail": func(s *damaged, i int) bool {
			s.raw = func(b []byte) []byte { return b[:len(b)-3-i] }
			return i < 40
		},
		"nul-bytes": func(s *damaged, i int) bool {
			s.lineOf(i, func(line []byte) []byte { return append(line, 0, 0, 0, '\n') })
			return true
		},
		"invalid-utf8":       inText(`"content":"`, "\"content\":\"\xc3\x28"),
		"lone-surrogate":     inText(`"content":"`, `"content":"\udead`),
		"duplicate-json-key": inText(`"content":"`, `"content":"","content":"`),
		"stray-bom": func(s *damaged, i int) bool {
			s.lineOf(i, func(line []byte) []byte { return append([]byte("\xef\xbb\xbf"), append(line, '\n')...) })
			return true
		},
		"unsafe-integer": func(s *damaged, i int) bool {
			c := s.call(i)
			if c != nil {
				c["arguments"] = map[string]any{"n": json.Number("7205759403792793600")}
			}
			return c != nil
		},
	}
}

func treeMutations() map[string]mutation {
	return map[string]mutation{
		"duplicate-entry-id": func(s *damaged, i int) bool {
			if i < 2 {
				return false
			}
			s.entries[i]["id"] = s.entries[i-1]["id"]
			return true
		},
		"dangling-parent": func(s *damaged, i int) bool {
			s.entries[i]["parentId"] = "gone"
			return i > 0
		},
		"parent-cycle": func(s *damaged, i int) bool {
			s.entries[i]["parentId"] = s.entries[len(s.entries)-1]["id"]
			return i > 0
		},
		"interleaved-branches": func(s *damaged, i int) bool {
			if i < 3 || i+2 > len(s.entries) {
				return false
			}
			s.insert(i, user("elsewhere"))
			s.entries[i+1]["parentId"] = s.entries[i-1]["id"]
			if i+2 < len(s.entries) {
				s.entries[i+2]["parentId"] = s.entries[i]["id"]
			}
			return i+2 < len(s.entries) && s.entries[i+2]["type"] != "label"
		},
		"repeated-message": func(s *damaged, i int) bool {
			if s.call(i) == nil {
				return false
			}
			s.insert(i, clone(s.entries[i]).(map[string]any))
			return true
		},
		"dangling-reference": func(s *damaged, i int) bool {
			s.entries[i]["targetId"] = "gone"
			return s.entries[i]["type"] == "label" || s.entries[i]["type"] == "context_edit"
		},
		"compaction-target-missing": func(s *damaged, i int) bool {
			s.entries[i]["firstKeptEntryId"] = "gone"
			return s.entries[i]["type"] == "compaction"
		},
		"compaction-splits-pair": func(s *damaged, i int) bool {
			if s.call(i) == nil || i > 16 {
				return false
			}
			for _, e := range s.entries {
				if e["type"] == "compaction" {
					e["firstKeptEntryId"] = s.entries[i+1]["id"]
				}
			}
			return true
		},
		"compaction-drops-tools": func(s *damaged, i int) bool {
			delete(s.entries[i], "systemMessage")
			return s.entries[i]["type"] == "compaction"
		},
	}
}

func toolMutations() map[string]mutation {
	rename := func(name func(string) string) mutation {
		return func(s *damaged, i int) bool {
			c := s.call(i)
			if c != nil {
				c["name"] = name(c["name"].(string))
			}
			return c != nil
		}
	}
	system := func(change func(m map[string]any)) mutation {
		return func(s *damaged, i int) bool {
			m := s.message(i, "system")
			if m != nil {
				change(m)
			}
			return m != nil
		}
	}
	return map[string]mutation{
		"undeclared-tool-call": rename(func(string) string { return "invented" }),
		"tool-name-variant":    rename(strings.ToUpper),
		"removed-tool-call": func(s *damaged, i int) bool {
			c := s.call(i)
			if c == nil {
				return false
			}
			s.insert(i-1, entryOf(map[string]any{"role": "system", "content": "", "toolsRemoved": []any{map[string]any{"name": c["name"]}}}))
			return true
		},
		"duplicate-tool-declaration": system(func(m map[string]any) {
			added := m["toolsAdded"].([]any)
			m["toolsAdded"] = append(added, added[0])
		}),
		"silent-redeclaration": func(s *damaged, i int) bool {
			if i < 2 || s.message(i, "user") == nil {
				return false
			}
			s.insert(i-1, entryOf(map[string]any{"role": "system", "content": "", "toolsAdded": []any{map[string]any{"name": "read", "description": "other", "parameters": map[string]any{}}}}))
			return true
		},
		"remove-unknown-tool": system(func(m map[string]any) {
			m["toolsRemoved"] = []any{map[string]any{"name": "never"}}
		}),
		"unportable-identifier": func(s *damaged, i int) bool {
			c := s.call(i)
			if c != nil {
				c["id"] = strings.Repeat("long", 20) + fmt.Sprint(i)
			}
			return c != nil
		},
	}
}

func callMutations() map[string]mutation {
	result := func(change func(s *damaged, call, result int)) mutation {
		return func(s *damaged, i int) bool {
			r := s.resultFor(i)
			if r >= 0 {
				change(s, i, r)
			}
			return r >= 0
		}
	}
	failed := func(stop string) mutation {
		return result(func(s *damaged, call, _ int) { s.message(call, "")["stopReason"] = stop })
	}
	return map[string]mutation{
		"missing-result": result(func(s *damaged, _, r int) { s.remove(r) }),
		"open-call": result(func(s *damaged, call, _ int) {
			s.entries = s.entries[:call+1]
		}),
		"orphan-result": result(func(s *damaged, _, r int) { s.message(r, "")["toolCallId"] = "nobody" }),
		"duplicate-result": result(func(s *damaged, _, r int) {
			s.insert(r, clone(s.entries[r]).(map[string]any))
		}),
		"duplicate-call-id": func(s *damaged, i int) bool {
			c := s.call(i)
			if c == nil {
				return false
			}
			m := s.message(i, "")
			again := clone(c).(map[string]any)
			again["arguments"] = map[string]any{"n": 9}
			m["content"] = append(m["content"].([]any), again)
			return true
		},
		"reused-call-id": result(func(s *damaged, call, r int) {
			c := s.call(call)
			s.insert(r, resultOf(c["id"].(string), c["name"].(string), "again"))
			s.insert(r, answer("toolUse", callBlock(c["id"].(string), c["name"].(string))))
			s.entries[r+1]["id"], s.entries[r+2]["id"], s.entries[r+2]["parentId"] = "y1", "y2", "y1"
			if r+3 < len(s.entries) {
				s.entries[r+3]["parentId"] = "y2"
			}
		}),
		"result-name-mismatch": result(func(s *damaged, _, r int) { s.message(r, "")["toolName"] = "other" }),
		"late-result": result(func(s *damaged, _, r int) {
			s.insert(r-1, user("hurry"))
		}),
		"executed-failed-turn":    failed("error"),
		"executed-truncated-call": failed("length"),
		"role-alternation": func(s *damaged, i int) bool {
			m := s.message(i, "assistant")
			if m == nil || s.call(i) != nil {
				return false
			}
			s.insert(i, answer("stop", textBlock(fmt.Sprintf("and %d", i))))
			return true
		},
		"content-after-call": func(s *damaged, i int) bool {
			if s.call(i) == nil {
				return false
			}
			m := s.message(i, "")
			m["content"] = append(m["content"].([]any), textBlock("It says 3."))
			return true
		},
		"bad-arguments": func(s *damaged, i int) bool {
			c := s.call(i)
			if c != nil {
				c["arguments"] = []any{`{"n":`, nil, []any{1}, json.Number("7"), ""}[i%5]
			}
			return c != nil
		},
		"concatenated-arguments": func(s *damaged, i int) bool {
			c := s.call(i)
			if c != nil {
				c["arguments"] = `{"n":1}{"n":2}`
			}
			return c != nil
		},
		"schema-violation": result(func(s *damaged, call, _ int) {
			s.call(call)["arguments"] = map[string]any{"n": "three"}
		}),
		"masked-truncation": result(func(s *damaged, call, _ int) {
			s.message(call, "")["rawStopReason"] = "MAX_TOKENS"
		}),
	}
}

func (s *damaged) mustBytes() []byte {
	var b bytes.Buffer
	for _, e := range s.entries {
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}
