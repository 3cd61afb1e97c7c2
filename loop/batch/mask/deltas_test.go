package mask

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

const (
	spoken = "hunter2 correct horse" // a value with white space
	github = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
)

var pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nsecondLine0123456789\n-----END PRIVATE KEY-----"

func masks() map[string]*Mask {
	all := New(map[string]string{"S": spoken, "L": spoken + " battery", "Q": `with "quotes"` + "\n"}, nil, true)
	return map[string]*Mask{"all": all, "values": New(map[string]string{"S": spoken}, nil, false), "none": nil}
}

// stream shows text as deltas cut at the given places, and returns the lines
// and the text as a reader puts it together.
func streamed(t rapid.TB, m *Mask, kind loop.DeltaKind, text string, cuts []int) (lines, joined string) {
	var out strings.Builder
	held := Deltas{Mask: m}
	show := func(e loop.Event) {
		for _, shown := range held.Pass(&e) {
			out.Write(append(m.Line(loop.AppendEvent(nil, &shown)), '\n'))
		}
	}
	from := 0
	for _, to := range append(cuts, len(text)) {
		show(loop.Event{Type: loop.MessageUpdate, Delta: &loop.Delta{Kind: kind, Index: 1, Text: text[from:to]}})
		show(loop.Event{Type: loop.MessageUpdate, Delta: &loop.Delta{Kind: loop.TextDelta, Index: 0, Text: "."}})
		from = to
	}
	show(loop.Event{Type: loop.MessageUpdate, Delta: &loop.Delta{Kind: loop.TextEnd, Index: 1, Text: text}})
	show(loop.Event{Type: loop.MessageEnd, Message: &transcript.Message{Role: transcript.Assistant}})
	for line := range strings.Lines(out.String()) {
		var r struct {
			Delta struct {
				Type         loop.DeltaKind
				ContentIndex int
				Delta        string
			} `json:"assistantMessageEvent"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Delta.ContentIndex == 1 && r.Delta.Type == kind {
			joined += r.Delta.Delta
		}
	}
	return out.String(), joined
}

// A secret that comes in two or more deltas is in no line, and not in the lines
// put together.
func TestFault63SecretsSplitOverDeltas(t *testing.T) {
	for name, m := range masks() {
		for _, kind := range []loop.DeltaKind{loop.TextDelta, loop.ThinkingDelta, loop.ToolCallDelta} {
			rapid.Check(t, func(t *rapid.T) {
				parts := rapid.SliceOfN(rapid.SampledFrom([]string{
					spoken, spoken + " battery", github, pem, "a", " ", "\n", "hunter", "hunter2 ", "ghp_", "é", "-----", "Authorization: Bearer abcdefghijklmnop.qrs", "word", `with "quotes"` + "\n",
				}), 0, 8).Draw(t, "parts")
				text := strings.Join(parts, rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
				var cuts []int
				for i := 1; i < len(text); i++ {
					if text[i]&0xc0 != 0x80 && rapid.Bool().Draw(t, "cut") {
						cuts = append(cuts, i)
					}
				}
				lines, joined := streamed(t, m, kind, text, cuts)
				if m == nil {
					if joined != text {
						t.Fatalf("%s: got %q, want %q", name, joined, text)
					}
					return
				}
				whole := m.Text(text)
				if whole == text && joined != text {
					t.Fatalf("%s: got %q, want %q", name, joined, text)
				}
				for _, piece := range []string{"hunter2 c", "correct", "MIIE", "secondLine", "0123456789", "ABCDEF", "klmnop", `"quotes`} {
					if !strings.Contains(whole, piece) && strings.Contains(lines, piece) {
						t.Fatalf("%s: %q is in %s", name, piece, lines)
					}
				}
			})
		}
	}
}

// A long text without white space is shown as it comes, but for its end.
func TestDeltasAreBounded(t *testing.T) {
	m := masks()["all"]
	d := Deltas{Mask: m}
	shown := 0
	for range 1000 {
		for _, e := range d.Pass(&loop.Event{Type: loop.MessageUpdate, Delta: &loop.Delta{Kind: loop.TextDelta, Text: strings.Repeat("x", 100)}}) {
			shown += len(e.Delta.Text)
		}
	}
	if held := len(d.held[0].text); held > maxHeld || shown != 100_000-held {
		t.Errorf("%d bytes shown, %d held", shown, held)
	}
}

// What a tool shows while it runs is cut out of its output anywhere.
func TestFault63SecretsCutInToolUpdates(t *testing.T) {
	m := masks()["values"]
	whole := "key: " + spoken + " end"
	for from := range len(whole) {
		for to := from; to <= len(whole); to++ {
			d := Deltas{Mask: m}
			e := loop.Event{
				Type: loop.ToolExecutionUpdate, Call: &transcript.Call{ID: "1", Name: "bash"},
				Result: &loop.Result{Content: []transcript.Block{transcript.TextBlock(whole[from:to])}},
			}
			got := d.Pass(&e)[0].Result.Content[0].Text
			masked := m.Text(got)
			for n := len(spoken); n >= shortestSecret; n-- {
				if strings.Contains(masked, spoken[:n]) || strings.Contains(masked, spoken[len(spoken)-n:]) {
					t.Fatalf("%q is shown of %q", masked, whole[from:to])
				}
			}
			if e.Result.Content[0].Text != whole[from:to] {
				t.Fatal("the event of the loop was changed")
			}
		}
	}
}

// An output that was too long may be cut in the middle of a secret.
func TestFault63SecretsCutInResults(t *testing.T) {
	m := masks()["values"]
	for i := range len(spoken) + 1 {
		for j := range len(spoken) + 1 {
			text := "a " + spoken[:i] + "\n[... 1234 bytes left out ...]\n" + spoken[j:] + " b"
			got := m.Text(text)
			if len(got) > 0 && (strings.Contains(got, spoken[:shortestSecret]) || strings.Contains(got, spoken[len(spoken)-shortestSecret:])) {
				t.Fatalf("%q became %q", text, got)
			}
			if i < shortestSecret && j > len(spoken)-shortestSecret && got != text {
				t.Fatalf("%q became %q, and nothing of it is a secret", text, got)
			}
			if !strings.Contains(got, "\n[... 1234 bytes left out ...]\n") {
				t.Fatalf("%q became %q, the mark is gone", text, got)
			}
		}
	}
}

// A private key goes as a whole, not only its first line; one that is cut off
// too, and what follows it stays.
func TestMaskPrivateKeys(t *testing.T) {
	m := New(nil, nil, true)
	for text, want := range map[string]string{
		"a " + pem + "\nb":               "a [secret:private key]\nb",
		pem + " and " + pem:              "[secret:private key] and [secret:private key]",
		pem[:len(pem)-30]:                "[secret:private key]",
		pem[:60] + "\n\nThe rest. Stays": "[secret:private key] rest. Stays",
		github + pem:                     "[secret:GitHub token][secret:private key]",
		github + " " + pem:               "[secret:GitHub token] [secret:private key]",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func BenchmarkDeltas(b *testing.B) {
	m := masks()["all"]
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("word%d ", rand.N(1000))
	}
	d := Deltas{Mask: m}
	for i := 0; b.Loop(); i++ {
		d.Pass(&loop.Event{Type: loop.MessageUpdate, Delta: &loop.Delta{Kind: loop.TextDelta, Text: words[i%len(words)]}})
	}
}
