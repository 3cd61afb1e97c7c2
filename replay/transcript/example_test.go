package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

func ExampleLines() {
	file := strings.NewReader(`{"type":"session","version":3,"id":"s","timestamp":"2031-05-06T07:08:09.000Z","cwd":"/srv"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"count \ud83d"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assi{"type":"label","id":"c","parentId":"a","targetId":"a"}
{"type":"message","id":"d","par`)
	for line, err := range transcript.Lines(file, transcript.Options{}) {
		if err != nil {
			fmt.Println("cannot read on:", err)
			break
		}
		for _, e := range line.Records {
			fmt.Printf("%d: %s %q\n", line.No, e.Type, e.ID)
		}
		for _, n := range line.Notes {
			fmt.Printf("%d: column %d: half a surrogate pair: %t\n", line.No, n.Column, n.Kind == transcript.LoneSurrogate)
		}
		if line.Damage != transcript.Intact {
			fmt.Println(line.Err)
		}
	}
	// Output:
	// 1: session ""
	// 2: message "a"
	// 2: column 86: half a surrogate pair: true
	// 3: label "c"
	// line 3, column 66: several records or parts of them on one line
	// line 4, column 32: the line ends inside a string
}

func ExampleWriter() {
	w := transcript.NewWriter(os.Stdout)
	m := transcript.UserText("count <apples>")
	for _, e := range []transcript.Entry{
		{Type: transcript.TypeSession, Header: &transcript.Header{Version: 3, ID: "s", CWD: "/srv"}},
		{Type: transcript.TypeMessage, ID: "a", Message: &m},
	} {
		if err := w.Append(&e); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"type":"session","version":3,"id":"s","cwd":"/srv"}
	// {"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"count <apples>"}]}}
}

func ExampleSealer() {
	var file bytes.Buffer
	file.WriteString(`{"type":"session","version":3,"id":"s","cwd":"/srv"}` + "\n")

	var s transcript.Sealer
	s.Write(file.Bytes())
	seal := transcript.Entry{ID: "e"}
	if err := s.Seal(&seal, transcript.End{Run: "r", Session: "s", Status: "ok"}); err != nil {
		fmt.Println(err)
	}

	for _, before := range []string{file.String(), strings.Replace(file.String(), "srv", "tmp", 1)} {
		var check transcript.Sealer
		check.Write([]byte(before))
		read, err := transcript.ParseEntry(transcript.AppendEntry(nil, &seal))
		if err == nil {
			_, err = check.Check(&read)
		}
		fmt.Println(err == nil, errors.Is(err, transcript.ErrSealBroken))
	}
	// Output:
	// true false
	// false true
}
