package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/turnlog/turnlog"

// directions says who may import whom among our own packages. Patterns match
// paths below the module; "**" at the end takes a folder and all below it.
var directions = []struct{ from, not, reason string }{
	{"**", "cmd", "the command line is the outermost layer; nothing may depend on flags or exit codes"},
	{"**", "", "main is a program"},
	{"replay/**", "loop/**", "an auditor's package must not hang under the producer it audits"},
	{"replay/transcript", "replay", "the format stands below the fold"},
	{"replay/transcript", "replay/*/**", "the format stands below everything"},
	{"replay", "replay/verify/**", "the fold says what a prefix implies, not what is wrong with it"},
	{"replay", "replay/diff", "the fold stands below its readers"},
	{"replay", "replay/report", "the fold stands below its readers"},
	{"replay", "replay/foreign", "the fold knows entries, not file formats"},
	{"replay/text", "**", "it stands below all"},
	{"replay/internal/jsonx", "**", "it stands below all"},
	{"replay/internal/pmap", "**", "it stands below all"},
	{"replay/internal/align", "replay", "it stands below those who compare"},
	{"replay/diff", "replay/report", "a report is about findings; what both need is replay/text"},
	{"replay/verify", "replay/verify/rule", "the engine takes rules as values; the table imports it"},
	{"loop/task/internal/table", "loop/**", "the key table knows nothing of what keys mean"},
	{"loop", "loop/**", "the loop imports no provider, no tool, no file and no clock"},
}

// bans keeps libraries in the one place that may use them.
var bans = []struct {
	module string   // import path, or a prefix of it with "/..."
	only   []string // patterns, as in directions
	tests  bool     // whether tests anywhere may use it
	reason string
}{
	{"github.com/spf13/cobra", []string{"cmd"}, false, "only the command line parses flags"},
	{"github.com/spf13/pflag", []string{"cmd"}, false, "only the command line parses flags"},
	{"github.com/spf13/viper", []string{"cmd"}, false, "configuration reaches libraries as option structs; viper lower-cases keys"},
	{"github.com/sashabaranov/go-openai/...", []string{"loop/provider/openai/**", "loop/provider/responses/**"}, false, "a library is the contract of its wire, no part of the others"},
	{"github.com/anthropics/anthropic-sdk-go/...", []string{"loop/provider/anthropic/**"}, false, "a library is the contract of its wire, no part of the others"},
	{"gopkg.in/yaml.v3", []string{"loop/task/internal/table", "replay/foreign"}, true, "task files and cassettes are the only YAML"},
	{"github.com/google/go-cmp/...", []string{"replay/diff"}, true, "it may panic and its output is not stable"},
	{"github.com/rogpeppe/go-internal/...", nil, true, "test tool"},
	{"pgregory.net/rapid", nil, true, "test tool"},
	{"go.uber.org/goleak", nil, true, "test tool"},
}

// The providers stand side by side in one folder, on what is common to them.
const (
	providers = "loop/provider/"
	common    = "wire"
)

// pure lists the packages that reach the outside only through what they are
// handed, so that they can be embedded and tested without files or sockets.
var pure = []string{"loop", "replay", "replay/verify", "replay/verify/rule", "replay/transcript", "replay/internal/jsonx", "replay/text"}

// node is a package as go list prints it.
type node struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Standard                           bool
}

func TestImportDirections(t *testing.T) {
	for _, v := range violations(listPackages(t)) {
		t.Error(v)
	}
}

// The test must be able to fail: each kind of row, on a made-up graph.
func TestImportDirectionsCatch(t *testing.T) {
	graph := []node{
		{ImportPath: module + "/replay/verify", Imports: []string{module + "/loop", "os"}},
		{ImportPath: module + "/loop/task", Imports: []string{"github.com/spf13/viper", "gopkg.in/yaml.v3"}},
		{ImportPath: module + "/loop/task/internal/table", Imports: []string{"gopkg.in/yaml.v3"}},
		{ImportPath: module + "/loop", Imports: []string{module + "/loop/tool"}, TestImports: []string{"os", "github.com/google/go-cmp/cmp"}},
		{ImportPath: module + "/replay/transcript", Imports: []string{"example.org/json"}},
		{ImportPath: module + "/loop/provider", Imports: []string{module + "/loop/provider/openai", module + "/loop/provider/wire"}},
		{ImportPath: module + "/loop/provider/openai/internal/request", Imports: []string{module + "/loop/provider/wire", "github.com/sashabaranov/go-openai"}},
		{ImportPath: module + "/loop/provider/anthropic", Imports: []string{module + "/loop/provider/openai/internal/answer", "github.com/sashabaranov/go-openai"}},
		{ImportPath: module + "/loop/provider/wire", Imports: []string{module + "/loop/provider/openai", module + "/loop/provider/wire/loose"}},
		{ImportPath: module + "/loop/batch", Imports: []string{"github.com/google/go-cmp/cmp", "os"}, XTestImports: []string{module + "/cmd"}},
	}
	want := []string{
		"replay/verify imports loop", "replay/verify imports os", "loop/task imports github.com/spf13/viper", "loop/task imports gopkg.in/yaml.v3",
		"loop/provider/anthropic imports loop/provider/openai/internal/answer", "loop/provider/anthropic imports github.com/sashabaranov/go-openai",
		"loop/provider/wire imports loop/provider/openai",
		"loop imports loop/tool", "replay/transcript imports example.org/json",
		"loop/batch imports github.com/google/go-cmp/cmp", "loop/batch imports cmd (in tests)",
	}
	got := violations(graph)
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w+":") }) {
			t.Errorf("not caught: %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d violations, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

// violations returns "A imports B: reason" for each import that a row forbids.
func violations(graph []node) []string {
	var out []string
	for _, n := range graph {
		from := below(n.ImportPath)
		for _, imp := range n.Imports {
			if reason := forbidden(from, imp, false); reason != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", from, below(imp), reason))
			}
		}
		tests := append(slices.Clone(n.TestImports), n.XTestImports...)
		slices.Sort(tests)
		for _, imp := range slices.Compact(tests) {
			if reason := forbidden(from, imp, true); reason != "" && !slices.Contains(n.Imports, imp) {
				out = append(out, fmt.Sprintf("%s imports %s (in tests): %s", from, below(imp), reason))
			}
		}
	}
	return out
}

// forbidden says why a package may not import another, "" if it may.
func forbidden(from, imp string, test bool) string {
	if own := imp == module || strings.HasPrefix(imp, module+"/"); own {
		if test {
			// Tests may look sideways, but nothing at all imports cmd, save itself.
			if below(imp) == "cmd" && from != "cmd" {
				return directions[0].reason
			}
			return ""
		}
		to := below(imp)
		if to == "replay/internal/jsonx" && !strings.HasPrefix(from, "replay/internal/") {
			return "" // all of replay walks over JSON; Go itself keeps others out
		}
		if one, other := provider(from), provider(to); one != "" && other != "" && other != one && other != common {
			return "a provider is its request and its answer; what two of them need is " + providers + common
		}
		for _, d := range directions {
			if matches(d.from, from) && matches(d.not, to) && from != to && !(from == "" && to == "cmd") {
				return d.reason
			}
		}
		return ""
	}
	for _, b := range bans {
		if matchesLibrary(b.module, imp) && !slices.ContainsFunc(b.only, func(p string) bool { return matches(p, from) }) && !(test && b.tests) {
			return b.reason
		}
	}
	if test {
		return ""
	}
	if (imp == "os" || imp == "net/http") && slices.Contains(pure, from) {
		return "the core takes readers, writers and functions; files and sockets are its callers' part"
	}
	if first, _, _ := strings.Cut(imp, "/"); from == "replay/transcript" && strings.Contains(first, ".") {
		return "the format depends on the standard library only"
	}
	return ""
}

// provider names the provider that a package belongs to, "" if none.
func provider(pkg string) string {
	if rest, ok := strings.CutPrefix(pkg, providers); ok {
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	return ""
}

func below(imp string) string {
	return strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
}

func matches(pattern, pkg string) bool {
	if pattern == "**" {
		return true
	}
	folder, deep := strings.CutSuffix(pattern, "/**")
	if !deep {
		return pattern == pkg
	}
	for p := pkg; p != "."; p = path.Dir(p) {
		if ok, err := path.Match(folder, p); err == nil && ok {
			return true
		}
	}
	return false
}

func matchesLibrary(pattern, imp string) bool {
	if prefix, deep := strings.CutSuffix(pattern, "/..."); deep {
		return imp == prefix || strings.HasPrefix(imp, prefix+"/")
	}
	return imp == pattern
}

func listPackages(t *testing.T) []node {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var graph []node
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var n node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		graph = append(graph, n)
	}
	if len(graph) < 5 {
		t.Fatalf("go list named %d packages only", len(graph))
	}
	return graph
}
