package secret_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/verify/secret"
)

// Keys are put together here, so that no scanner takes this file for a leak.
func TestFind(t *testing.T) {
	const digits, mixed = "0123456789", "0123456789abcdefghijABCDEFGHIJ"
	for _, c := range []struct {
		text string
		want []string // kinds
	}{
		{"sk-" + "ant-" + mixed, []string{"Anthropic API key"}},
		{`x\nsk-` + "proj-" + mixed, []string{"OpenAI-style API key"}},
		{"task-" + mixed, nil},
		{"sk-learn-" + "based-classifier-for-7-classes", nil},
		{"AKI" + "A" + digits + "ABCDEF", []string{"AWS access key id"}},
		{"AKI" + "A" + digits + "ABCDEFG", nil},
		{"AKIAIOSFODNN7" + "EXAMPLE", nil},
		{"gh" + "s_" + mixed + "012345", []string{"GitHub token"}},
		{"gh" + "s_" + mixed, nil},
		{"xox" + "b-" + digits + "-abc", []string{"Slack token"}},
		{"AI" + "za" + mixed + "ABCDE", []string{"Google API key"}},
		{"-----BEGIN OPENSSH " + `PRIVATE KEY-----\nb3BlbnNzaC1r`, []string{"private key"}},
		{`"-----BEGIN RSA ` + `PRIVATE KEY-----"`, nil},
		{`\"Authorization\": \"Bearer ` + mixed + `\"`, []string{"bearer token"}},
		{"Authorization: Bearer $TOKEN", nil},
		{"the bearer " + mixed, nil},
		{"sk-" + "ant-" + mixed + " and " + "AKI" + "A" + digits + "ABCDEF", []string{"Anthropic API key", "AWS access key id"}},
	} {
		var got []string
		for m := range secret.New().Find([]byte(c.text)) {
			got = append(got, m.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestMask(t *testing.T) {
	key := "AKI" + "A0123456789ABCDEF"
	if got := secret.New().Mask("use " + key + "."); got != "use "+strings.Repeat("*", len(key))+"." {
		t.Error(got)
	}
	if got := secret.New().Mask("nothing"); got != "nothing" {
		t.Error(got)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(`-----BEGIN PRIVATE KEY-----\`))
	f.Add([]byte("authorization: bearer "))
	f.Fuzz(func(t *testing.T, text []byte) {
		for m := range secret.New().Find(text) {
			if m.From < 0 || m.From >= m.To || m.To > len(text) {
				t.Fatalf("%q: %+v", text, m)
			}
		}
	})
}
