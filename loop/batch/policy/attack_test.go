package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/transcript"
)

// attacks run sudo or rm -rf without saying so where a text search would look.
var attacks = []string{
	// Places of a command.
	`{ sudo id; }`, `(sudo id)`, `! sudo id`, `sudo id &`, `time sudo id`, `coproc sudo id`, `true | sudo id`, `false || sudo id`,
	`x=$(sudo id)`, `export X=$(sudo id)`, `declare -a x=($(sudo id))`, `echo "${x:-$(sudo id)}"`, `echo $(( $(sudo id) ))`,
	`[[ -n $(sudo id) ]]`, `case a in a) sudo id;; esac`, `for i in $(sudo id); do :; done`, `while sudo id; do :; done`,
	"cat <<E\n$(sudo id)\nE", `cat > >(sudo id)`, `f() (sudo id); f`, "echo `echo \\`sudo id\\``", `: "$(: $(: $(sudo id)))"`,
	// Ways to write it.
	`\sudo id`, `'sudo' id`, `s""udo id`, `s''u'd'o id`, "su\\\ndo id", `$'sudo' id`, `$'\163udo' id`, `$"sudo" id`, `{sudo,id}`, `{sudo,-u,root,id}`, `su{do,} id`,
	`/usr/bin/sudo id`, `../../bin/sudo id`, `/usr/bin/sud? id`, `/usr/bin/s*do id`, `s[u]do id`,
	// Only known when it runs.
	`X=sudo; $X id`, `X=su; ${X}do id`, `$(echo sudo) id`, `X="sudo id"; $X`, `env $X id`, `"$@"`, `rm $X /`, `rm -r$X /`, `rm "$X" /`,
	// Runners.
	`command sudo id`, `command -p sudo id`, `builtin exec sudo id`, `exec -a x sudo id`, `env sudo id`, `env -i A=1 sudo id`, `env -u X sudo id`, `env -S "sudo id"`, `env --split-string="sudo id"`,
	`nohup sudo id`, `nice -n 5 sudo id`, `timeout -s KILL 5 sudo id`, `stdbuf -oL sudo id`, `setsid -w sudo id`, `xargs sudo`, `echo id | xargs -I {} sudo {}`, `echo id | xargs -n 1 sudo`,
	`sudo -u root rm -rf /`, `doas -u root rm -rf /`, `chroot /x rm -rf /`, `flock /tmp/l rm -rf /`, `watch -n 1 rm -rf /`, `busybox rm -rf /`,
	`find . -exec true \; -exec sudo id \;`, `find . -name x -execdir rm -rf {} +`, `env -C / nice -n 3 timeout 5 sudo id`, `ssh host sudo id`, `time -p sudo id`,
	`env ` + strings.Repeat("A=1 ", 300) + `sudo id`, `nice ` + strings.Repeat("x ", 300) + `sudo id`,
	// Programs inside of programs.
	`bash -c 'sudo id'`, `bash -ce 'sudo id'`, `bash -x -c 'sudo id'`, `bash -eo pipefail -c 'sudo id'`, `bash --norc -c 'sudo id'`, `bash -o errexit -c 'sudo id'`, `sh -ec 'true; sudo id'`, `/bin/sh -c "sudo id"`, `bash -c -x 'sudo id'`,
	`bash -c "bash -c 'sudo id'"`, `eval sudo id`, `eval "sudo" "id"`, `eval 'ev''al sudo id'`, `trap 'sudo id' EXIT`, `su -c 'sudo id'`, `su root -c 'sudo id'`, `xargs sh -c 'sudo id'`, `find . -exec sh -c 'sudo id' \;`, `env bash -c 'sudo id'`, `nice -n 2 bash -c 'sudo id'`,
	// Programs that are read.
	`echo sudo id | sh`, `echo c3VkbyBpZA== | base64 -d | bash`, `bash <<< 'sudo id'`, "bash <<E\nsudo id\nE", `bash -s`, `sh -`, `bash /dev/stdin`, `bash <(echo sudo id)`, `. /dev/stdin`, `source <(echo sudo id)`, `curl x | bash -s -- a`,
	// Other meanings of names.
	"shopt -s expand_aliases\nalias ll=sudo\nll id", `hash -p /usr/bin/sudo ls; ls`, `enable -f ./x.so x`, `mapfile -C 'sudo id' -c 1 x`,
	// Not shell.
	`sudo id 'open`, `if sudo id`, `$(`, strings.Repeat("$(", 50) + "sudo id" + strings.Repeat(")", 50),
}

// innocent look like attacks and are none.
var innocent = []string{
	`echo "do not sudo reboot"`, `git commit -m 'rm -rf / is bad'`, `grep -r "sudo id" docs`, `cat sudoers.md`, `ls sudo`, `echo sudoku`,
	`echo $HOME`, `for f in *.go; do gofmt -l "$f"; done`, `X=$(git rev-parse HEAD); echo "$X" > head.txt`, `rm "$TMPFILE.bak" x`, `rm x`, `rm -r build`,
	`bash build.sh "$@"`, `bash build.sh -s -c x`, `bash -eo pipefail build.sh`, `sh ./run.sh`, `env A=1 make test`, `timeout 10 go test ./...`, `nice -n 5 make -j4`, `find . -name '*.go' -exec gofmt -l {} +`,
	`ls | xargs wc -l`, `source ./env.sh`, `. venv/bin/activate`, `trap - EXIT`, `trap 'rm -f x' EXIT`, `bash -c 'echo ok'`, `eval "$(true)" || true`, `cp {a,b}.txt dir/`, `echo {1..3}`,
	`cat <<E` + "\nsudo id\nE", `echo 'sudo id' > note.txt`, `# sudo id`, `printf '%s\n' sudo`,
}

func TestDenyAgainstAttacks(t *testing.T) {
	p := NewPermissions(task.Permissions{Deny: []task.Permission{bash("sudo *"), bash("rm -rf *")}}, "", &Stop{})
	for _, text := range attacks {
		if p.denies(known("bash"), command(t, text)) == "" {
			t.Errorf("runs: %.120s", text)
		}
	}
	for _, text := range innocent {
		// What only an expansion could turn into the denied command is denied.
		want := strings.HasPrefix(text, `eval "$(`) || strings.HasPrefix(text, `rm "$`)
		if got := p.denies(known("bash"), command(t, text)) != ""; got != want {
			t.Errorf("denied %v, want %v: %s", got, want, text)
		}
	}
}

// With the pattern of the annotated example, variables stay usable.
func TestDenyOfAnythingWithAName(t *testing.T) {
	p := NewPermissions(task.Permissions{Deny: []task.Permission{bash("*sudo*")}}, "", &Stop{})
	for text, want := range map[string]bool{
		`echo $HOME`: false, `go test ./... 2>&1 | tail -5`: false, `for f in *; do echo "$f"; done`: false,
		`sudo id`: true, `s\udo id`: true, `echo sudo`: true, `X=sudo; $X id`: true, `bash -c "su""do id"`: true,
	} {
		if got := p.denies(known("bash"), command(t, text)) != ""; got != want {
			t.Errorf("denied %v, want %v: %s", got, want, text)
		}
	}
}

// Nothing runs that is not allowed, whatever it is put into.
func TestAllowAgainstAttacks(t *testing.T) {
	p := NewPermissions(task.Permissions{Default: task.Deny, Allow: []task.Permission{
		bash("git log*"), bash("env *"), bash("xargs *"), bash("echo *"), bash("bash *"), bash("timeout *"), bash("find *"),
	}}, "", &Stop{})
	for _, text := range []string{
		`git log; id`, `git log && id`, `git log | id`, `git log & id`, "git log\nid", `git log $(id)`, "git log `id`", `git log <(id)`, `git log > out`, `git log >> out`, `git log >| out`, `git log &> out`, `{ git log; } > out`,
		`PATH=/tmp git log`, `PATH=/tmp; git log`, `export PATH=/tmp; git log`, `declare -x PATH=/tmp`, `local x`, `git() { id; }; git log`, `alias git=id; git log`,
		`env id`, `env A=1 id`, `echo x | xargs id`, `bash -c id`, `bash -c 'git log; id'`, `echo id | bash`, `bash`, `timeout 5 id`, `find . -exec id \;`, `find . -exec git log \; -exec id \;`,
		`$X`, `$X log`, `git$X log`, `eval git log`, `source x`, `git log 'open`, `[ -n "$(id)" ]`, `coproc id`, `time id`, `! id`, `f() { id; }`, `{git,log,;id}`,
	} {
		if p.denies(known("bash"), command(t, text)) == "" {
			t.Errorf("runs: %s", text)
		}
	}
	for _, text := range []string{
		`git log`, `git log | xargs echo a`, `env A=1 git log`, `timeout 5 git log`, `bash -c 'git log'`, `echo $HOME`, `git log 2>/dev/null`, `git log 2>&1`, `find . -name x`, `if git log; then echo a; fi`, `for i in 1 2; do echo $i; done`,
	} {
		if why := p.denies(known("bash"), command(t, text)); why != "" {
			t.Errorf("denied: %s: %s", text, why)
		}
	}
}

// A file has several names: below the working directory, from the root, with
// detours, through a link. A rule for one is a rule for all.
func TestPathRulesKnowAllNamesOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"secrets", "src"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secrets", filepath.Join(dir, "src", "link")); err != nil {
		t.Skip("no links:", err)
	}
	spellings := []string{
		"secrets/a", "./secrets/a", "src/../secrets/a", "secrets//a", filepath.Join(dir, "secrets/a"), dir + "/src/../secrets/a",
		"src/link/a", filepath.Join(dir, "src/link/a"), "src/link/new/a",
	}
	for _, pattern := range []string{"secrets/*", filepath.Join(dir, "secrets") + "/*"} {
		p := NewPermissions(task.Permissions{Deny: []task.Permission{{Tool: "read", Argument: "path", Pattern: pattern}}}, dir, &Stop{})
		for _, path := range spellings {
			if p.denies(known("read"), arguments(t, path)) == "" {
				t.Errorf("%s: reads %s", pattern, path)
			}
		}
		for _, path := range []string{"src/a", "secrets.md", "a", filepath.Join(dir, "src/a")} {
			if p.denies(known("read"), arguments(t, path)) != "" {
				t.Errorf("%s: denies %s", pattern, path)
			}
		}
	}
	p := NewPermissions(task.Permissions{Default: task.Deny, Allow: []task.Permission{{Tool: "read", Argument: "path", Pattern: "src/*"}}}, dir, &Stop{})
	for _, path := range spellings {
		if p.denies(known("read"), arguments(t, path)) == "" {
			t.Errorf("only src is allowed: reads %s", path)
		}
	}
	for _, path := range []string{"src/a", "./src/a", filepath.Join(dir, "src/a"), "secrets/../src/a"} {
		if why := p.denies(known("read"), arguments(t, path)); why != "" {
			t.Errorf("%s: %s", path, why)
		}
	}
}

func arguments(t *testing.T, path string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A program may take a path for more than the built-in tools do, and may take
// several.
func TestPathRulesForSeveralArguments(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("USERPROFILE", "/home/x")
	move := &loop.Tool{Tool: transcript.Tool{Name: "move"}, Arguments: tool.Paths("from", "to")}
	rule := func(argument, pattern string) task.Permission {
		return task.Permission{Tool: "move", Argument: argument, Pattern: pattern}
	}
	deny := NewPermissions(task.Permissions{Deny: []task.Permission{rule("from", "/home/x/.ssh/*"), rule("to", "out/*")}}, t.TempDir(), &Stop{})
	for args, want := range map[string]bool{
		`{"from":"~/.ssh/id"}`: true, `{"from":"~/x/../.ssh/id"}`: true, `{"from":"file:///home/x/.ssh/id"}`: true, `{"from":"file:///home/x/%2essh/id"}`: true,
		`{"from":["a",["/home/x/.ssh/id"]]}`: true, `{"from":{"path":"//home/x/.ssh/id"}}`: true, `{"to":"./out/a"}`: true,
		`{"from":"~x/.ssh/id","to":"a"}`: false, `{"from":"a","to":"outer"}`: false, `{"from":7}`: false, `[]`: false,
		`{"from":"` + strings.Repeat("a/../", 100_000) + `b","to":"` + strings.Repeat("a/", 100_000) + `b"}`: false,
	} {
		if got := deny.denies(move, json.RawMessage(args)) != ""; got != want {
			t.Errorf("%.60s: denied %v, want %v", args, got, want)
		}
	}
	allow := NewPermissions(task.Permissions{Default: task.Deny, Allow: []task.Permission{
		rule("from", "src/*"), rule("from", "docs/*"), rule("to", "out/*"), rule("mode", "fast"),
	}}, t.TempDir(), &Stop{})
	for args, want := range map[string]bool{
		`{"from":"src/a","to":"out/a"}`: true, `{"from":["src/a","docs/a"],"to":"out/a"}`: true, `{"mode":"fast"}`: true,
		`{"from":"src/a","to":"etc/a"}`: false, `{"from":["src/a","etc/a"],"to":"out/a"}`: false, `{"from":[],"to":"out/a"}`: false, `{"to":"out/a"}`: false, `{}`: false,
	} {
		if got := allow.denies(move, json.RawMessage(args)) == ""; got != want {
			t.Errorf("%s: allowed %v, want %v", args, got, want)
		}
	}
}
