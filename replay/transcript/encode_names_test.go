package transcript

import "testing"

// TestForeignNames: names that a file or a user chose are escaped.
func TestForeignNames(t *testing.T) {
	name := "a\"b\\c\n<é"
	m := Message{
		Role: System, Form: FormString, Sections: []Section{{Name: name, Text: "x"}, {Name: name + "2", Removed: true}},
		Extra: []Field{{Name: name, Value: []byte("1")}},
	}
	want := `{"role":"system","content":"","sections":{"a\"b\\c\n<é":"x","a\"b\\c\n<é2":null},"a\"b\\c\n<é":1}`
	if got := string(AppendMessage(nil, &m)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
