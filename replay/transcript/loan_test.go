package transcript

import (
	"bytes"
	"testing"
)

// lentFiles are files of all kinds of lines, damaged ones among them.
func lentFiles(t *testing.T) [][]byte {
	session := testdata(t, "session.jsonl")
	nul := bytes.Replace(session, []byte("\n"), []byte("\n\x00\x00"), 3)
	torn := bytes.Replace(session, []byte(`"role":`), []byte(`"ro`), 2)
	glued := bytes.ReplaceAll(session, []byte("}\n{"), []byte("}{"))
	dirty := bytes.ReplaceAll(session, []byte("e"), []byte("\xff"))
	late := []byte(`{"message":{"content":[{"text":"a\nb","type":"text"}],"role":"user"},"id":"a","type":"message"}` + "\n")
	return [][]byte{session, session[:len(session)-9], nul, torn, glued, dirty, late, corpus(3 << 20)}
}

// TestLend reads files with memory on loan: every line is what it is with
// memory of its own, while it is valid. What is not lent stays valid.
func TestLend(t *testing.T) {
	for _, file := range lentFiles(t) {
		want := collect(t, file, Options{})
		for _, o := range []Options{
			{Lend: true},
			{Lend: true, Scribble: true},
			{Lend: true, Workers: 2},
			{Lend: true, Workers: 2, Scribble: true},
		} {
			var kept, owned []Line
			for l, err := range Lines(bytes.NewReader(file), o) {
				if err != nil {
					t.Fatal(err)
				}
				if diff := difference(want[l.No-1:l.No], []Line{l}); diff != "" {
					t.Fatalf("%+v, line %d, -want +got:\n%s", o, l.No, diff)
				}
				if !l.mayLend() {
					kept, owned = append(kept, l), append(owned, want[l.No-1])
				}
			}
			if diff := difference(owned, kept); diff != "" {
				t.Errorf("%+v: lines that are not lent changed, -want +got:\n%s", o, diff)
			}
		}
	}
}

// TestScribble keeps what it must not keep.
func TestScribble(t *testing.T) {
	file := []byte(recA + "\n" + `{"type":"message","id":"b","message":{"role":"user","content":"t\nwo"}}` + "\n")
	for _, workers := range []int{1, 2} {
		var kept []Line
		for l, err := range Lines(bytes.NewReader(file), Options{Lend: true, Scribble: true, Workers: workers}) {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, l)
		}
		want := collect(t, file, Options{})
		for i := range kept {
			if bytes.Equal(kept[i].Raw, want[i].Raw) || kept[i].Records[0].ID == want[i].Records[0].ID {
				t.Errorf("%d workers: line %d is still there: %s", workers, i+1, kept[i].Raw)
			}
		}
	}
}
