package verify_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
)

// BenchmarkSmallFile is what a folder of many small files costs each.
func BenchmarkSmallFile(b *testing.B) {
	file, rules := sealedRun(b, 1), rules()
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verify.Run(b.Context(), memory("run", file), rules, verify.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSession is a long session in pi's manner, all rules on.
func BenchmarkSession(b *testing.B) {
	file, rules := piSession(2000), rules()
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		result, err := verify.Run(b.Context(), memory("session", file), rules, verify.Options{})
		if err != nil || len(result.Findings) > 0 {
			b.Fatal(err, result.Findings)
		}
	}
}

// piSession makes a session of turns: thinking, text and up to four calls with
// results of 0.3 to 30 KB, the tools changed every 100 turns.
func piSession(turns int) []byte {
	var b bytes.Buffer
	n, last := 0, "null"
	entry := func(m string) {
		n++
		fmt.Fprintf(&b, `{"type":"message","id":"e%07d","parentId":%s,"timestamp":"2031-05-06T%02d:%02d:%02d.%03dZ","message":{%s}}`+"\n",
			n, last, 1+n/3600000, n/60000%60, n/1000%60, n%1000, m)
		last = fmt.Sprintf(`"e%07d"`, n)
	}
	b.WriteString(`{"type":"session","version":3,"id":"s1","timestamp":"2031-05-06T00:00:00Z","cwd":"/tmp"}` + "\n")
	prose := strings.Repeat("The gauge in the cellar reads `3.2 bar`, \\\"which is fine\\\", says the log.\\n\\tif pressure > limit { return err }\\n", 300)
	for i := range turns {
		if i%100 == 0 {
			var tools []string
			for j := range 8 {
				tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"version %d of %s","parameters":{"type":"object","properties":{"path":{"type":"string","description":"%s"},"n":{"type":"integer"}},"required":["path"]}}`, j, i/100, prose[:400], prose[:900]))
			}
			removed := ""
			if i > 0 {
				var refs []string
				for j := range 8 {
					refs = append(refs, fmt.Sprintf(`{"name":"t%d"}`, j))
				}
				removed = `,"toolsRemoved":[` + strings.Join(refs, ",") + `]`
			}
			entry(`"role":"system","content":"be brief","toolsAdded":[` + strings.Join(tools, ",") + `]` + removed)
		}
		if i%5 == 0 {
			entry(fmt.Sprintf(`"role":"user","content":[{"type":"text","text":"look at number %d"}],"timestamp":%d`, i, 1936249200000+n))
		}
		calls := 1 + i%4
		if i%5 == 4 {
			calls = 0
		}
		var blocks []string
		blocks = append(blocks, fmt.Sprintf(`{"type":"thinking","thinking":"%s","thinkingSignature":"%s"}`, prose[:350], strings.Repeat("c2lnbmF0dXJl", 30)), fmt.Sprintf(`{"type":"text","text":"turn %d: %s"}`, i, prose[:120]))
		for c := range calls {
			blocks = append(blocks, fmt.Sprintf(`{"type":"toolCall","id":"call_%d_%d","name":"t%d","arguments":{"path":"src/dir/file%d.go","n":%d}}`, i, c, c, i, c))
		}
		stop := "toolUse"
		if calls == 0 {
			stop = "stop"
		}
		entry(fmt.Sprintf(`"role":"assistant","content":[%s],"api":"x","provider":"p","model":"m","usage":{"input":10,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":30,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"%s","timestamp":%d`,
			strings.Join(blocks, ","), stop, 1936249200000+n))
		for c := range calls {
			size := 300 << (i % 7)
			entry(fmt.Sprintf(`"role":"toolResult","toolCallId":"call_%d_%d","toolName":"t%d","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":%d`,
				i, c, c, strings.TrimRight(prose[:size], `\`), 1936249200000+n))
		}
	}
	return b.Bytes()
}
