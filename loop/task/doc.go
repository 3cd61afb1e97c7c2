// Package task reads task files: YAML in, a list of resolved [Task] values
// out, or everything that is wrong with the file.
//
// The smallest file is
//
//	version: 1
//	model: { provider: openai, name: gpt-5-mini }
//	prompt: Say hello.
//
// # Keys
//
//	version         1; another major version is refused
//	name            default: the name of the file without its extension
//	description     for people
//	labels          { key: text }, for reports
//	vars            variables, see below
//	models          { name: MODEL }
//	model           MODEL, or a name out of models
//	matrix          { axes: { axis: [value…] }, exclude: [{ axis: value }…] }: one task becomes many
//	repeat          samples of each task
//	system          text, or { file, append }
//	workdir         folder of the tools; default: that of the file
//	tool_execution  { mode: parallel | sequential, max_parallel }
//	tools           [TOOL…]
//	prompt, prompts what is asked; each prompt is one run, the next is sent when the agent has settled
//	steering        [MESSAGE…], or { mode: next_turn | skip_remaining, queue: one_at_a_time | all, messages: [MESSAGE…] }
//	follow_ups      [text…], said when the agent would stop
//	tool_changes    [{ when: WHEN, add: [TOOL…], remove: [name…] }…]
//	finish          { limits, on_limit: stop | wrap_up, output, checks }, see Finish
//	assert          [ASSERTION…], see Assertion
//	permissions     { default: allow | deny, allow, deny, on_deny: result | stop, env }
//	secrets         { redact: [known_env, patterns], extra_patterns }
//	batch           { concurrency, retries, budget: { cost_usd, tokens, wall } }
//	x-…             anybody's; kept and ignored, in every mapping
//
//	MODEL    { provider: openai, name, base_url, api_key_env | api_key_command, thinking, params, timeouts, retry, rate, price }
//	         { provider: scripted, responses: [{ text, calls: [{ name, arguments }] }…] }: a model without network
//	         { provider: recorded, from: transcript }: answers out of an earlier run
//	TOOL     name of a built-in tool, or { bash: { timeout, max_output, sequential } }
//	         { name, description, parameters, run: [argv], effects: none | read | write | external, paths: [parameter], timeout }: a program
//	         { mcp: name, command: [argv] | url, headers_env, env, tools, required, effects, paths: { tool: [argument] } }: an MCP server
//	MESSAGE  text, or { when: WHEN, text }
//	WHEN     { after_turn: n }, or { after_tool: name, nth: n }
//
// [Schema] has all keys with a sentence for each. Durations have a unit (30s,
// 2m, 1h30m), sizes may (50KB, where K is 1024), counts may (200k, 1.5M,
// decimal). Paths are relative to the file.
//
// # Expressions
//
//	${{ vars.x }}  ${{ matrix.x }}  ${{ task.id }}  ${{ batch.id }}
//	${{ env.NAME }}  ${{ env.NAME ?? 'default' }}
//
// They are expanded once, in values, before anything starts; what they yield is
// not searched again, and keys and x- values are left alone. A name without a
// value is an error. A ?? B is B if A has no value; a variable that is set to
// the empty text has one. '${{' in quotes is itself: ${{ '${{' }}. A value that
// is exactly one expression keeps its type, so that turns: ${{ vars.n }} is a
// number where n is one, and params and arguments get numbers as numbers.
//
// A variable is { type, required, default, enum, description }, its type one of
// string (default), integer, number, boolean, file and list. A file variable
// holds the text of the file it names.
//
// # Task ids
//
// The name, then the values of the matrix in axis order, then rN with repeat,
// joined by dots. What is not a letter, a digit, _ or - becomes -. Ids name
// files, so they are unique within a batch: see [Unique].
//
// # What is refused
//
// Unknown keys, wrong types, names that do not exist, duplicate keys, a second
// document, texts that look like API keys, and YAML that readers disagree on
// (010, yes where true is wanted). The error is [Errors]: every problem of the
// file, one line each, with line, column and what was probably meant. A file
// larger than 1 MiB, an alias bomb or a mapping of thousands of keys is refused
// before it costs anything.
package task
