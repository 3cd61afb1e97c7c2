package policy

import (
	"path"
	"slices"
	"strings"
)

// runner takes another command as its arguments. What it runs counts as a
// command of its own.
type runner struct {
	valued   string // options that take a value, so that it is not taken for the command
	operands int    // arguments before the command; elsewhere if it is not run here
}

const elsewhere = -1

func runners() map[string]runner {
	return map[string]runner{
		"sudo": {valued: "-u -g -h -p -C -T -U -r -t -D -R"}, "doas": {valued: "-u -C"},
		"env": {valued: "-u -C"}, "nice": {valued: "-n"}, "ionice": {valued: "-c -n -p"}, "nohup": {}, "setsid": {},
		"timeout": {valued: "-k -s"}, "time": {valued: "-f -o"}, "stdbuf": {valued: "-i -o -e"},
		"exec": {valued: "-a"}, "command": {}, "builtin": {}, "busybox": {}, "toybox": {}, "unbuffer": {}, "entr": {},
		"xargs": {valued: "-I -n -P -L -d -E -s -a"}, "parallel": {valued: "-j -I -a"}, "watch": {valued: "-n"},
		"strace": {valued: "-o -e -p"}, "ltrace": {valued: "-o -e"}, "systemd-run": {valued: "-p -u"}, "unshare": {}, "nsenter": {valued: "-t"},
		"chroot": {operands: 1}, "flock": {valued: "-w -E", operands: 1}, "taskset": {operands: 1}, "chrt": {operands: 1}, "setarch": {operands: 1},
		"ssh": {operands: elsewhere}, "su": {operands: elsewhere}, "runuser": {operands: elsewhere}, "script": {operands: elsewhere}, "find": {operands: elsewhere},
	}
}

func isRunner(word string) bool { _, ok := runners()[path.Base(word)]; return ok }

// shells run the text behind their -c, or a program that they read.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "mksh"}

// redefining are builtins after which a name may mean something else, or that
// run text of their own.
var redefining = []string{"alias", "hash", "enable", "bind", "compgen", "complete"}

func isShell(word string) bool { return slices.Contains(shells, path.Base(word)) }

// opaqueCommand reports a command of which one cannot see what it runs: a
// shell that reads its program, a file that is only made when it runs.
func opaqueCommand(l commandLine, i int) bool {
	name, rest := path.Base(l.words[i]), l.words[i+1:]
	switch {
	case slices.Contains(redefining, name):
		return true
	case name == "mapfile" || name == "readarray":
		return slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-C") })
	case name == "source" || name == ".":
		return len(rest) == 0 || !l.literal[i+1] || strings.HasPrefix(rest[0], "/dev/")
	case isShell(l.words[i]):
		if _, ok := l.program(i); ok {
			return false
		}
		script := shellOptions(rest)
		reads := slices.ContainsFunc(rest[:script], func(w string) bool { return option(w, "s") })
		return reads || script == len(rest) || !l.literal[i+1+script] || strings.HasPrefix(rest[script], "/dev/")
	}
	return false
}

// option reports a letter in a bundle of options: -c, -ec, -ce.
func option(word, letter string) bool {
	return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, letter)
}

// shellOptions counts the words before a shell's script.
func shellOptions(words []string) int {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "" || w[0] != '-' && w[0] != '+':
			return i
		case w == "-" || w == "--":
			return min(i+1, len(words))
		case w == "--rcfile" || w == "--init-file" || !strings.HasPrefix(w, "--") && strings.HasSuffix(strings.ToLower(w), "o"):
			i++ // -o pipefail, -eo pipefail
		}
	}
	return len(words)
}

// executed are the commands that find runs, each up to its ";" or "+".
func (l commandLine) executed(i int) []commandLine {
	if path.Base(l.words[i]) != "find" {
		return nil
	}
	var all []commandLine
	for k := i + 1; k < len(l.words); k++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, l.words[k]) {
			continue
		}
		end := k + 1
		for end < len(l.words) && l.words[end] != ";" && l.words[end] != "+" {
			end++
		}
		all = append(all, commandLine{l.words[k+1 : end], l.literal[k+1 : end]})
		k = end
	}
	return all
}

// program is the text of a shell program that the command at i is given.
func (l commandLine) program(i int) (text string, ok bool) {
	name, rest := path.Base(l.words[i]), l.words[i+1:]
	switch {
	case name == "eval":
		return strings.Join(rest, " "), true
	case name == "trap" && len(rest) > 1:
		return rest[0], !strings.HasPrefix(rest[0], "-")
	case isShell(name):
		return textOption(rest[:shellOptions(rest)], rest)
	case name == "su" || name == "runuser" || name == "script":
		return textOption(rest, rest)
	case name == "env":
		for k, w := range rest {
			switch text, found := strings.CutPrefix(w, "--split-string="); {
			case found:
				return text + " " + strings.Join(rest[k+1:], " "), true
			case (w == "-S" || w == "-vS" || w == "-iS" || w == "--split-string") && k+1 < len(rest):
				return strings.Join(rest[k+1:], " "), true
			case strings.HasPrefix(w, "-S"):
				return w[2:] + " " + strings.Join(rest[k+1:], " "), true
			case !strings.HasPrefix(w, "-") && !strings.Contains(w, "="):
				return "", false
			}
		}
	}
	return "", false
}

// textOption is the text behind the -c among options. Other options may stand
// between the two, as in bash -c -x text.
func textOption(options, rest []string) (text string, ok bool) {
	k := slices.IndexFunc(options, func(w string) bool { return option(w, "c") })
	if k < 0 {
		return "", false
	}
	for k++; k < len(rest); k++ {
		if !strings.HasPrefix(rest[k], "-") {
			return rest[k], true
		}
	}
	return "", false
}

// inner is where the command begins that the one at i runs; len(words) if it
// runs none.
func inner(words []string, i int) int {
	r, ok := runners()[path.Base(words[i])]
	if !ok || r.operands == elsewhere {
		return len(words)
	}
	return min(skipOptions(words, i+1, strings.Fields(r.valued))+r.operands, len(words))
}

// skipOptions finds the command behind a runner's own options, assignments and
// numbers (of timeout and nice).
func skipOptions(words []string, i int, valued []string) int {
	for i < len(words) {
		w := words[i]
		number := w != "" && strings.Trim(w, "0123456789.smhd") == ""
		switch {
		case slices.Contains(valued, w):
			i += 2
		case strings.HasPrefix(w, "-") || strings.Contains(w, "=") || number:
			i++
		default:
			return i
		}
	}
	return len(words)
}
