package policy

import (
	"encoding/json"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool/builtin"
	"github.com/turnlog/turnlog/replay/transcript"
)

func bash(pattern string) task.Permission {
	return task.Permission{Tool: "bash", Argument: "command", Pattern: pattern}
}

// known is a built-in tool with its facts, or one without.
func known(name string) *loop.Tool {
	for _, t := range builtin.All().Facts() {
		if t.Name == name {
			return &t
		}
	}
	return &loop.Tool{Tool: transcript.Tool{Name: name}}
}

func command(t testing.TB, text string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestDenyFindsACommandWhereverItStands(t *testing.T) {
	p := NewPermissions(task.Permissions{Deny: []task.Permission{bash("sudo *"), bash("rm -rf *")}}, "", &Stop{})
	for text, want := range map[string]bool{
		`ls -l`:                           false,
		`echo "do not sudo reboot"`:       false,
		`git commit -m 'rm -rf / is bad'`: false,
		`bash build.sh`:                   false,
		`echo $HOME`:                      false,
		`sudo reboot`:                     true,
		`true; sudo reboot`:               true,
		`true && (cd /; sudo reboot)`:     true,
		`echo $(sudo cat /etc/shadow)`:    true,
		"echo `sudo id`":                  true,
		`/usr/bin/sudo id`:                true,
		`s\udo id`:                        true,
		`"su"do id`:                       true,
		`env A=1 sudo id`:                 true,
		`timeout -k 5 10s sudo id`:        true,
		`find . -exec rm -rf {} +`:        true,
		`ls | xargs -n 1 rm -rf /x`:       true,
		`bash -c "sudo id"`:               true,
		`eval 'sudo id'`:                  true,
		`X=sudo; $X id`:                   true, // only known when it runs
		`bash -c "$SCRIPT"`:               true,
		`f() { sudo id; }; f`:             true,
		`if true; then sudo id; fi`:       true,
		`cat <(sudo id)`:                  true,
		`echo 'open`:                      true, // cannot be read
	} {
		if got := p.denies(known("bash"), command(t, text)) != ""; got != want {
			t.Errorf("%s: denied %v, want %v", text, got, want)
		}
	}
}

func TestAllowNeedsEveryCommand(t *testing.T) {
	p := NewPermissions(task.Permissions{
		Default: task.Deny,
		Allow:   []task.Permission{bash("git log*"), bash("wc *"), {Tool: "read"}, {Tool: "mcp__files__read_*"}, {Tool: "ls", Argument: "path", Pattern: "src/*"}},
	}, "", &Stop{})
	for text, want := range map[string]bool{
		`git log --oneline`:     true,
		`git log | wc -l`:       true,
		`git log 2>/dev/null`:   true,
		`git log; rm x`:         false,
		`git log $(rm x)`:       false,
		`git log > /etc/passwd`: false,
		`git push`:              false,
		`GIT_PAGER=./x git log`: false,
		`git log && sh`:         false,
		``:                      false,
		`git log #; rm x`:       true,
	} {
		if got := p.denies(known("bash"), command(t, text)) == ""; got != want {
			t.Errorf("%s: allowed %v, want %v", text, got, want)
		}
	}
	for _, test := range []struct {
		tool, args string
		want       bool
	}{
		{"read", `{"path":"x"}`, true},
		{"write", `{"path":"x"}`, false},
		{"mcp__files__read_text", `{}`, true},
		{"mcp__files__write_text", `{}`, false},
		{"ls", `{"path":"src/a"}`, true},
		{"ls", `{"path":"src/../etc"}`, false},
		{"ls", `{}`, false},
	} {
		if got := p.denies(known(test.tool), json.RawMessage(test.args)) == ""; got != test.want {
			t.Errorf("%s %s: allowed %v, want %v", test.tool, test.args, got, test.want)
		}
	}
}

func TestDenyOfPathsSeesThroughDetours(t *testing.T) {
	p := NewPermissions(task.Permissions{Deny: []task.Permission{{Tool: "edit", Argument: "path", Pattern: "/etc/**"}}}, "", &Stop{})
	for path, want := range map[string]bool{"/etc/passwd": true, "/tmp/../etc/passwd": true, "/etcetera": false, "etc/x": false} {
		args, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.denies(known("edit"), args) != ""; got != want {
			t.Errorf("%s: denied %v, want %v", path, got, want)
		}
	}
}
