package policy

import (
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/task"
)

// A program that begins with sudo is denied, whatever comes after it; and no
// text makes the check panic or hang.
func FuzzShell(f *testing.F) {
	for _, s := range []string{"reboot", "$(x)", "a; b", "<<E\nx\nE", "'", "x >y & z", "-c 'a b'", "\\\n"} {
		f.Add(s)
	}
	for _, s := range append(attacks, innocent...) {
		f.Add(s)
	}
	p := NewPermissions(task.Permissions{Deny: []task.Permission{bash("sudo*")}}, "", &Stop{})
	f.Fuzz(func(t *testing.T, rest string) {
		if strings.ContainsAny(rest, "\x00") {
			t.Skip("a command line has no NUL")
		}
		p.denies(known("bash"), command(t, rest))
		if p.denies(known("bash"), command(t, "sudo "+rest)) == "" {
			t.Errorf("sudo %q is allowed", rest)
		}
	})
}
