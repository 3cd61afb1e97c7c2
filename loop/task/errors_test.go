package task_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/task"
)

// head is what a task needs besides the lines under test; they start in line 4.
const head = `version: 1
model: { provider: scripted, responses: [{ text: hi }] }
prompt: go
`

func TestErrors(t *testing.T) {
	tests := []struct {
		name string
		yaml string // after head, or a whole file that begins with a newline
		want string // lines without the file's name
	}{
		{"unknown key", "tool_exec: {}", `4:1: unknown key "tool_exec" in the task (did you mean "tool_execution"?)`},
		{"unknown key by spelling", "toolExecution: {}", `4:1: unknown key "toolExecution" in the task (did you mean "tool_execution"?)`},
		{"unknown key in an object", "tool_execution:\n  mod: parallel", `5:3: unknown key "mod" in tool_execution (did you mean "mode"?)`},
		{"unknown key that is near to nothing", "tool_execution: { zzz: 1 }", `4:19: unknown key "zzz" in tool_execution (its keys are: mode, max_parallel)`},
		{"enum", "tool_execution: { mode: paralel }", `4:25: unknown value "paralel" (did you mean "parallel"?)`},
		{"number for a text", "system: 42", `4:9: want a text, found the number 42 (write it in quotes)`},
		{"bool for a text", "system: true", `4:9: want a text, found true (write it in quotes)`},
		{"nothing for a text", "system:", `4:8: want a text, found nothing`},
		{"list for a text", "workdir: [a]", `4:10: want a text, found a list`},
		{"text for a number", "finish: { limits: { turns: many } }", `4:28: want a whole number, found "many"`},
		{"quoted number", `finish: { limits: { turns: "3" } }`, `4:28: want a whole number, found "3"`},
		{"number out of range", "finish: { limits: { turns: 0 } }", `4:28: want a whole number from 1 to 2147483647, found 0`},
		{"octal or not", "finish: { limits: { turns: 010 } }", `4:28: "010" is octal to some readers and decimal to others; drop the zeros or quote it`},
		{"yes is no boolean", "tools: [{ bash: { sequential: yes } }]", `4:31: want true or false, found "yes"`},
		{"duration without unit", "finish: { limits: { wall: 10 } }", `4:27: want a duration, found the number 10 (write it with its unit: 500ms, 30s, 2m, 1h)`},
		{"size beyond what a transcript holds", "tools: [{ bash: { max_output: 8.5MB } }]", `4:31: want a size of at most 8MB, found 8.5MB`},
		{"schema that refers elsewhere", `finish: { output: { schema: { $ref: "http://x/y" } } }`, `4:29: no JSON Schema: a $ref in it leads nowhere; it can only lead to a place in this schema, such as #/$defs/name`},
		{"parameters that refer elsewhere", `tools: [{ name: a, description: d, run: [x], parameters: { type: object, properties: { p: { $ref: "#/$defs/q" } } } }]`, `4:58: no JSON Schema: a $ref in it leads nowhere; it can only lead to a place in this schema, such as #/$defs/name`},
		{"size of an unknown unit", "tools: [{ bash: { max_output: 50GB } }]", `4:31: want a size, found "50GB" (write bytes as a number, or 50KB, 2MB)`},
		{"count", "finish: { limits: { tokens: lots } }", `4:29: want a count, found "lots" (write a number, or 200k, 1.5M)`},
		{"cost of zero", "finish: { limits: { cost_usd: 0 } }", `4:31: want a number that is above zero, found 0`},
		{"one item instead of a list", "tools: read", `4:8: want a list, found "read"`},
		{"tool that is none", "tools: [raed]", `4:9: no built-in tool is called "raed" (did you mean "read"?)`},
		{"tool twice", "tools: [read, read]", `4:15: the tool "read" is here twice`},
		{"tool of no shape", "tools: [{ a: {}, b: {} }]", `4:9: a tool of no known shape (write - bash: {…}, or a mapping with name and run, or one with mcp)`},
		{
			"placeholder", "tools: [{ name: x, description: x, parameters: { type: object, properties: { tag: {} } }, run: [./x, \"--since={tga}\"] }]",
			`4:9: run has {tga}, which is no parameter of x (did you mean "tag"?)`,
		},
		{
			"path that is no parameter", "tools: [{ name: x, description: x, parameters: { type: object, properties: { src: {} } }, run: [./x], paths: [src, scr] }]",
			`4:116: paths has "scr", which is no parameter of x (did you mean "src"?)`,
		},
		{"paths of a server in a list", "tools: [{ mcp: x, command: [a], paths: [src] }]", `4:40: want a mapping, found a list`},
		{"paths of a tool that are none", "tools: [{ mcp: x, command: [a], paths: { move: src } }]", `4:48: want a list, found "src"`},
		{"paths of no pattern", "tools: [{ mcp: x, command: [a], paths: { \"[\": [src] } }]", `4:42: "[" is no pattern`},
		{"parameters of no object", "tools: [{ name: x, description: x, parameters: { type: array }, run: [./x] }]", `4:48: parameters need type: object, as arguments are one`},
		{
			"parameters that are no schema", "tools: [{ name: x, description: x, parameters: { type: object, properties: { a: { type: strnig } } }, run: [./x] }]",
			`4:89: "strnig" is not possible in a JSON Schema here`,
		},
		{"program without run", "tools: [{ name: x, description: x }]", `4:9: a program as a tool needs the key "run"`},
		{"mcp with both", "tools: [{ mcp: x, command: [a], url: \"http://a/\" }]", `4:9: an MCP server needs either command or url`},
		{"mcp name with the separator", "tools: [{ mcp: a__b, command: [a] }]", `4:9: the server name "a__b" has __, which ends it in the names of its tools`},
		{"mcp headers of a command", "tools: [{ mcp: x, command: [a], headers_env: { A: B } }]", `4:9: headers_env belongs to a server with a url`},
		{"mcp environment of a url", "tools: [{ mcp: x, env: [A], url: \"http://a/\" }]", `4:9: env belongs to a server with a command`},
		{"mcp at no address", "tools: [{ mcp: x, url: a }]", `4:9: url: want http:// or https:// and a host, without a password`},
		{"mcp twice", "tools: [{ mcp: x, url: \"http://a/\" }, { mcp: x, url: \"http://b/\" }]", `4:39: the MCP server "x" is here twice`},
		{"literal headers", "tools: [{ mcp: x, url: \"http://a/\", headers: { A: b } }]", `4:37: unknown key "headers" in an MCP server (did you mean "headers_env"?)`},
		{"tool of an MCP server that is not there", "tools: [{ mcp: x, url: \"http://a/\" }]\ntool_changes: [{ when: { after_turn: 1 }, remove: [mcp__y__z, mcp__x__z] }]", `5:52: the task has no tool "mcp__y__z"`},
		{"both prompts", "prompts: [a]", `1:1: prompt and prompts: one of them`},
		{"when of nothing", "steering: [{ when: {}, text: a }]", `4:20: when needs either after_turn or after_tool`},
		{"when of an absent tool", "tools: [read]\nsteering: [{ when: { after_tool: bash }, text: a }]", `5:34: the task has no tool "bash" (tools are: read)`},
		{"change of nothing", "tool_changes: [{ when: { after_turn: 1 } }]", `4:16: a tool change needs add or remove`},
		{"removing an absent tool", "tool_changes: [{ when: { after_turn: 1 }, remove: [bash] }]", `4:52: the task has no tool "bash"`},
		{"api key by name", "x-model: { api_key: abc }", `4:12: api_key: a task file holds no secrets (name an environment variable: api_key_env, headers_env)`},
		{"api key by shape", "system: use sk-abcdefghij0123456789", `4:9: this looks like an API key; a task file holds no secrets (name an environment variable: api_key_env, headers_env)`},
		{"duplicate key", "workdir: a\nworkdir: b", `5:1: the key "workdir" is here twice, first in line 4`},
		{"second document", "---\nversion: 1", `4:1: a second YAML document: a file holds one task (split it into several files, or use matrix)`},
		{"tag", "system: !secret a", `4:9: the tag !secret means nothing here`},
		{"key that is no text", "? [a]\n: b", `4:3: a key must be plain text, found a list`},
		{"assertion with two keys", "assert: [{ status: ok, text: { contains: a } }]", `4:10: an assertion has one key, this one has 2 (write one item of the list for each)`},
		{"assertion about no output", "assert: [{ output: { path: $.a, exists: true } }]", `4:20: the task requires no output, see finish.output`},
		{"assertion with a bad path", "finish: { output: { schema: { type: object } } }\nassert: [{ output: { path: a.b, exists: true } }]", `5:28: want a path such as $.items[0].name, found "a.b"`},
		{"assertion with a bad expression", "assert: [{ text: { matches: \"(\" } }]", "4:29: missing closing ): `(`"},
		{"assertion about an absent tool", "tools: [read]\nassert: [{ tool_used: { name: raed } }]", `5:31: the task has no tool "raed" (did you mean "read"?)`},
		{"ask", "permissions: { default: ask }", `4:25: unknown value "ask" (values are: allow, deny)`},
		{"permission for an absent tool", "permissions: { deny: [baash] }", `4:23: the task has no tool "baash" (did you mean "bash"?)`},
		{"permission by an absent argument", "tools: [bash]\npermissions: { deny: [{ bash: { comand: \"*\" } }] }", `5:33: the tool bash has no argument "comand" (did you mean "command"?)`},
		{"rounds without continue", "finish: { checks: [{ name: a, run: [a], rounds: 2 }] }", `4:20: rounds belong to on_fail: continue`},
		{"expression of no variable", "vars: { since: { default: a } }\nsystem: since ${{ vars.sinc }}", `5:15: no variable "sinc" is declared under vars (did you mean "since"?)`},
		{"expression in a block", "system: |\n  one\n  two ${{ vars.x }}", `6:7: no variable "x" is declared under vars`},
		{"environment", "system: ${{ env.NOBODY_SET_THIS }}", `4:9: the environment variable NOBODY_SET_THIS is not set (give a default: ${{ env.NOBODY_SET_THIS ?? 'text' }})`},
		{"key out of the environment", "system: ${{ env.A_KEY }}", `4:9: the value of env.A_KEY looks like an API key and would be written into the transcript (name an environment variable: api_key_env, headers_env)`},
		{"expression without end", "system: ${{ vars.x", `4:9: an expression that does not end (close it with }})`},
		{"expression of no kind", "system: ${{ 1 + 1 }}", `4:9: cannot read the expression "1 + 1" (write vars.x, env.NAME, env.NAME ?? 'default', matrix.x, task.id or batch.id)`},
		{"expression of an unknown name", "system: ${{ var.x }}", `4:9: nothing is called var in expressions (did you mean "vars"?)`},
		{"id of nothing", "system: ${{ task.name }} ${{ batch.id }}", `4:9: nothing is called task.name (did you mean "task.id"?)` + "\n" + `4:26: batch.id is not known outside of a batch`},
		{"list inside of a text", "vars: { l: { type: list, default: [a] } }\nsystem: x ${{ vars.l }}", `5:9: the list of vars.l inside of a text (a list can only stand alone)`},
		{"axis that is no list", "vars: { l: { default: a } }\nmatrix: { axes: { x: \"${{ vars.l }}\" } }", `5:22: want a list that is not empty, found "a"`},
		{"axis with a value twice", "matrix: { axes: { x: [a, b, a] } }", `4:29: the value "a" is here twice`},
		{"axes of nothing", "matrix: { axes: {} }", `4:17: axes is a mapping of names to lists, found an empty one (write axes: { model: [a, b] })`},
		{"merge of no mapping", "x-a: { <<: [a] }", `4:13: << merges mappings, found "a"`},
		{"text of nothing", "assert: [{ text: {} }]", `4:18: text needs contains, equals or matches`},
		{"usage of nothing", "assert: [{ usage: { metric: turns } }]", `4:19: usage needs min or max`},
		{"usage of an unknown number", "assert: [{ usage: { metric: turn, max: 1 } }]", `4:29: unknown value "turn" (did you mean "turns"?)`},
		{"tool used between nothing", "assert: [{ tool_used: { name: read, min: 2, max: 1 } }]", `4:23: max is less than min`},
		{"permission of no shape", "permissions: { deny: [{ bash: ls }] }", `4:23: a permission names one tool and one argument (write bash, or { bash: { command: "git log *" } })`},
		{"pattern that is none", "permissions: { deny: [\"a[\"] }", `4:23: "a[" is no pattern`},
		{"two checks", "finish: { checks: [{ name: a, run: [a] }, { name: a, run: [b] }] }", `4:9: two checks are called "a"`},
		{"axis", "matrix: { axes: { size: [a] } }\nsystem: ${{ matrix.sise }}", `5:9: the matrix has no axis "sise" (did you mean "size"?)`},
		{"matrix too early", "vars: { x: { default: \"${{ matrix.a }}\" } }", `4:24: matrix is not known yet where the tasks of the file are made`},
		{
			"exclusion", "matrix: { axes: { size: [big] }, exclude: [{ siez: big }, { size: bog }] }",
			`4:46: the matrix has no axis "siez" (did you mean "size"?)` + "\n" + `4:67: the axis size has no value "bog" (did you mean "big"?)`,
		},
		{"everything excluded", "matrix: { axes: { a: [x] }, exclude: [{ a: x }] }", `4:9: the matrix excludes all its tasks`},
		{"too many tasks", "matrix: { axes: { a: [x, y] } }\nrepeat: 9999", `4:9: matrix and repeat make more than 10000 tasks`},
		{"ids that collide", "matrix: { axes: { a: [a/b, a-b] } }", `4:9: two tasks have the id "t.a-b" (values may differ in letters, digits, _ and - only)`},
		{"variable of the wrong type", "vars: { n: { type: integer, default: many } }", `4:38: want type integer, found "many"`},
		{"variable outside its enum", "vars: { n: { enum: [a, b], default: c } }", `4:37: "c" is none of a, b`},
		{"variable without a value", "vars: { n: {} }\nsystem: ${{ vars.n }}", `5:9: the variable "n" has no value (set it with --var n=…, or give it a default)`},
		{"file that is not there", "vars: { n: { type: file, default: nope.md } }", `4:35: no such file: nope.md (paths are relative to the task file)`},
		{"file with a longer error", "system: { file: broken.md }", `4:17: read broken.md: input/output error`},

		{"no prompt", "\nversion: 1\nmodel: { provider: scripted, responses: [] }\n", `2:1: the task needs a prompt, or prompts`},
		{"no version", "\nprompt: a\nmodel: { provider: scripted, responses: [] }\n", `2:1: the task needs the key "version"`},
		{"newer version", "\nversion: 2\nprompts: 5\n", `2:10: the version of the task file is the number 2, this program reads version 1 (write version: 1)`},
		{"version as text", "\nversion: \"1\"\nprompt: a\nmodel: { provider: scripted, responses: [] }\n", `2:10: the version of the task file is "1", this program reads version 1 (write version: 1)`},
		{"empty", "\n", `1:1: the file is empty (the smallest task has version, model and prompt)`},
		{"no mapping", "\n- a\n", `2:1: want a mapping of keys, found a list (the smallest task has version, model and prompt)`},
		{"not YAML", "\nversion: 1\n\tprompt: a\n", `3:1: not YAML: found a tab character that violates indentation`},
		{"alias in itself", "\nx-a: &a [*a]\n", `2:6: an alias inside of what it stands for`},
		{"model that is not there", "\nversion: 1\nmodel: mian\nmodels: { main: { provider: scripted, responses: [] } }\nprompt: a\n", `3:8: no model is called "mian" (did you mean "main"?)`},
		{"keys of another provider", "\nversion: 1\nmodel: { provider: scripted, responses: [], base_url: \"http://a\" }\nprompt: a\n", `3:45: base_url belongs to provider openai, this one is scripted`},
		{
			"mistake in a model that is not used", "\nversion: 1\nmodel: a\nmodels:\n  a: { provider: scripted, responses: [] }\n  b: { provider: openai, name: \"${{ env.NOBODY }}\", thinking: hihg }\nprompt: a\n",
			`6:63: unknown value "hihg" (did you mean "high"?)`,
		},
		{
			"response", "\nversion: 1\nmodel: { provider: scripted, responses: [{ txt: a }, { calls: [{ nam: b }] }] }\nprompt: a\n",
			`3:44: unknown key "txt" in a response (did you mean "text"?)` + "\n" + `3:66: unknown key "nam" in a call (did you mean "name"?)`,
		},
		{"content block", "\nversion: 1\nmodel: { provider: scripted, responses: [{ content: [{ type: txt }] }] }\nprompt: a\n", `3:62: unknown value "txt" (did you mean "text"?)`},
		{"both forms of a response", "\nversion: 1\nmodel: { provider: scripted, responses: [{ text: a, content: [] }] }\nprompt: a\n", `3:42: a response has either content, or text, thinking and calls`},
		{"number as text of a response", "\nversion: 1\nmodel: { provider: scripted, responses: [{ text: 42 }] }\nprompt: a\n", `3:50: want a text, found the number 42 (write it in quotes)`},
		{"cost without price", "\nversion: 1\nmodel: { provider: openai, name: a }\nprompt: a\nfinish: { limits: { cost_usd: 1 } }\n", `5:9: the limit cost_usd needs a price of the model (give the model a price: { input: …, output: … })`},
		{"environment variable of a key", "\nversion: 1\nmodel: { provider: openai, name: a, api_key_env: HOST }\nprompt: ${{ env.HOST }}\n", `4:9: env.HOST holds a key, as the file says elsewhere, and would be written into the transcript`},
		{"program that the model chooses", "\nversion: 1\nmodel: { provider: openai, name: a }\nprompt: a\ntools: [{ name: x, description: x, run: [\"{p}\"] }]\n", `5:9: run lets the model choose the program`},
		{"budget without price", "\nversion: 1\nmodel: { provider: openai, name: a }\nprompt: a\nbatch: { budget: { cost_usd: 1 } }\n", `5:8: the budget cost_usd needs a price of the model (give the model a price: { input: …, output: … })`},
		{"literal key", "\nversion: 1\nmodel: { provider: openai, name: a, api_key: sk-123 }\nprompt: a\n", `3:37: api_key: a task file holds no secrets (name an environment variable: api_key_env, headers_env)`},
		{"password in an address", "\nversion: 1\nmodel: { provider: openai, name: a, base_url: \"https://u:p@h/v1\" }\nprompt: a\n", `3:8: base_url: want http:// or https:// and a host, without a password`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := head + tt.yaml + "\n"
			if strings.HasPrefix(tt.yaml, "\n") {
				data = tt.yaml
			}
			_, err := task.Parse("t.yaml", []byte(data), task.Options{Env: testEnv, ReadFile: noFiles})
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.ReplaceAll(err.Error(), "t.yaml:", "")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func testEnv(name string) (string, bool) {
	switch name {
	case "A_KEY":
		return "sk-abcdefghij0123456789", true
	case "HOST":
		return "example.com", true
	case "EMPTY":
		return "", true
	case "TURNS":
		return "7", true
	}
	return "", false
}

func noFiles(path string) ([]byte, error) {
	if path == "broken.md" {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errBroken}
	}
	return nil, fs.ErrNotExist
}

type brokenDisk struct{}

func (brokenDisk) Error() string { return "input/output error" }

var errBroken = brokenDisk{}
