package transcript

import (
	"errors"
	"strings"
	"testing"
)

// sealed returns a transcript with two seals, as lines with their ends.
func sealed(t *testing.T) []string {
	t.Helper()
	var s Sealer
	var lines []string
	add := func(e *Entry) {
		line := string(AppendEntry(nil, e)) + "\n"
		lines = append(lines, line)
		if _, err := s.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	header := Entry{Type: TypeSession, Header: &Header{Version: 3, ID: "s", CWD: "/c"}}
	add(&header)
	for _, run := range []string{"r1", "r2"} {
		m := UserText("go \"on\" <b>")
		add(&Entry{Type: TypeMessage, ID: "m" + run, Message: &m})
		e := Entry{ID: "e" + run, ParentID: "m" + run, Timestamp: "T"}
		if err := s.Seal(&e, End{Run: run, Session: "s", Status: "ok", Turns: 1, Reason: "a \"reason\" <x>"}); err != nil {
			t.Fatal(err)
		}
		add(&e)
	}
	return lines
}

// check checks all seals of a transcript and returns their errors.
func check(t *testing.T, file string) (errs []error) {
	t.Helper()
	var s Sealer
	for l, err := range Lines(strings.NewReader(file), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Records {
			if e := &l.Records[i]; e.Custom != nil && e.Custom.CustomType == CustomEnd {
				_, err := s.Check(e)
				errs = append(errs, err)
			}
		}
		if _, err := s.Write(l.Raw); err != nil {
			t.Fatal(err)
		}
	}
	if s.Sum() != Digest([]byte(file)) || s.Bytes() != int64(len(file)) {
		t.Error("the running digest differs from the digest of the whole")
	}
	return errs
}

func TestSeal(t *testing.T) {
	file := strings.Join(sealed(t), "")
	if errs := check(t, file); len(errs) != 2 || errs[0] != nil || errs[1] != nil {
		t.Errorf("an untouched file: %v", errs)
	}
	if errs := check(t, strings.TrimSuffix(file, "\n")); errs[1] != nil {
		t.Errorf("without the last line end: %v", errs)
	}
}

// TestSealEveryByte flips each byte: the last seal is broken, or no seal any
// more, whatever the byte.
func TestSealEveryByte(t *testing.T) {
	file := strings.Join(sealed(t), "")
	for i := range len(file) - 1 {
		for _, flip := range []byte{1, 0x20} {
			changed := file[:i] + string(file[i]^flip) + file[i+1:]
			errs := check(t, changed)
			last := strings.LastIndex(file[:len(file)-1], "\n")
			if i <= last && (len(errs) == 0 || errs[len(errs)-1] == nil) {
				t.Errorf("byte %d (%q) flipped by %#x before the seal: %v", i, file[i], flip, errs)
			}
			if i > last && len(errs) == 2 && errs[1] == nil {
				t.Errorf("byte %d (%q) flipped by %#x in the seal: %v", i, file[i], flip, errs)
			}
		}
	}
}

func TestSealCheck(t *testing.T) {
	lines := sealed(t)
	before := strings.Join(lines[:len(lines)-1], "")
	seal := strings.TrimSuffix(lines[len(lines)-1], "\n")
	for _, tt := range []struct {
		name, before, line string
		want               error
	}{
		{"as written", before, seal, nil},
		{"line removed", before[len(lines[0]):], seal, ErrSealBroken},
		{"line added", before + "\n", seal, ErrSealBroken},
		{"status changed", before, strings.Replace(seal, `"status":"ok"`, `"status":"no"`, 1), ErrSealBroken},
		{"space added", before, seal + " ", ErrSealBroken},
		{"newer digest", before, strings.Replace(seal, "v1:", "v2:", 1), ErrSealUnknown},
		{"no digest", before, `{"type":"custom","customType":"turnlog.end","data":{}}`, ErrSealUnknown},
		{"no data", before, `{"type":"custom","customType":"turnlog.end"}`, ErrSealUnknown},
		{"data of another kind", before, `{"type":"custom","customType":"turnlog.end","data":{"digest":7}}`, ErrSealUnknown},
		{"two digests", before, strings.Replace(seal, `"digest":`, `"digest":"`+DigestPrefix+`00","digest":`, 1), ErrSealUnknown},
		{"another spelling", before, strings.Replace(seal, `"digest":`, `"Digest":`, 1), ErrSealUnknown},
		{"two spellings", before, strings.Replace(seal, `"digest":`, `"Digest":"`+DigestPrefix+`00","digest":`, 1), ErrSealUnknown},
		{"another entry", before, recA, ErrSealUnknown},
	} {
		var s Sealer
		if _, err := s.Write([]byte(tt.before)); err != nil {
			t.Fatal(err)
		}
		e, err := ParseEntry([]byte(tt.line))
		if err != nil {
			t.Fatal(err)
		}
		end, err := s.Check(&e)
		if !errors.Is(err, tt.want) || tt.want == nil && (err != nil || end.Run != "r2") {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestCustomDecode(t *testing.T) {
	c, err := NewCustom(CustomRequest, Request{Run: "r", N: 2, Tools: []string{"<a>"}, Params: []byte(`{"x":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if want := `"params":{"x":1},"tools":["<a>"]`; !strings.Contains(string(c.Data), want) {
		t.Errorf("data %s, want %s in it", c.Data, want)
	}
	var r Request
	if err := c.Decode(&r); err != nil || r.N != 2 || r.Tools[0] != "<a>" {
		t.Errorf("%+v, %v", r, err)
	}
	for data, want := range map[string]string{
		`{"run":"a","Run":"b"}`: `decode turnlog.request: key "Run" is not "run"`,
		`{"RUN":"b"}`:           `decode turnlog.request: key "RUN" is not "run"`,
		`{"run":"a","run":"b"}`: `decode turnlog.request: key "run" twice`,
		`{"n":"x"}`:             `decode turnlog.request: json: cannot unmarshal`,
		`[]`:                    `decode turnlog.request: json: cannot unmarshal`,
	} {
		err := (&Custom{CustomType: CustomRequest, Data: []byte(data)}).Decode(&Request{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
	if err := (&Custom{}).Decode(&r); err == nil {
		t.Error("no data, no error")
	}
	if _, err := NewCustom("c", func() {}); err == nil {
		t.Error("data that is no JSON, no error")
	}
}
