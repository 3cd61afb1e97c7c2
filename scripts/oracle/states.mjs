// Says what the real pi makes of each entry of session files taken as the leaf, for `go test ./replay -run OneFold`:
//
//   node states.mjs NODE_MODULES
//
// Each line of stdin is a file, as one JSON string; each line of stdout is the answer to one, an array of
// {line, tools, prompt, model, thinking, messages: [[role, text]]}. Where pi has no answer, the item is {line, none: WHY}:
// its walk does not end in a ring of parents, and an entry whose id a later one took cannot be a leaf.
// NODE_MODULES holds @earendil-works/pi-coding-agent 1.6.0, which needs Node 22.19 or newer.
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const load = (path) => import(pathToFileURL(resolve(process.argv[2], "@earendil-works", path)));
const { buildSessionContext, migrateSessionEntries } = await load("pi-coding-agent/dist/core/session-manager.js");
const { contentText, getCurrentTools, getCurrentSystemPrompt } = await load("pi-ai/dist/index.js");

// As pi's loadEntriesFromFile, with the line of each entry.
function read(file) {
	const entries = [], lines = new Map();
	file.split("\n").forEach((text, i) => {
		try {
			const entry = text.trim() ? JSON.parse(text) : null;
			if (!entry) return;
			entries.push(entry);
			lines.set(entry, i + 1);
		} catch {} // pi skips it, too
	});
	return { entries, lines };
}

function whyNone(leaf, index) {
	if (leaf.id !== undefined && index.get(leaf.id) !== leaf) return "shadowed";
	const seen = new Set();
	for (let at = leaf; at; at = at.parentId ? index.get(at.parentId) : undefined) {
		if (seen.has(at)) return "ring";
		seen.add(at);
	}
	return undefined;
}

function text(message) {
	if (message.role === "bashExecution") return message.command;
	if (message.summary !== undefined && message.content === undefined) return `${message.summary}`;
	return contentText(message.content ?? "");
}

function state(leaf, entries, index) {
	// A leaf without an id can be reached by no id of the file.
	const key = "\0leaf";
	const { messages, thinkingLevel, model } = buildSessionContext(entries, key, new Map(index).set(key, leaf));
	return {
		tools: getCurrentTools(messages),
		// pi takes a missing time of the first system message for a missing message.
		prompt: getCurrentSystemPrompt(messages.map((message) => ({ timestamp: 0, ...message }))),
		model: model?.provider || model?.modelId ? `${model.provider ?? ""}/${model.modelId ?? ""}` : "",
		thinking: thinkingLevel,
		messages: messages.map((message) => [message.role, text(message)]),
	};
}

function answer(file) {
	const { entries: all, lines } = read(file);
	migrateSessionEntries(all);
	const entries = all.filter((entry) => entry.type !== "session");
	const index = new Map(entries.filter((entry) => entry.id !== undefined).map((entry) => [entry.id, entry]));
	return entries.map((leaf) => {
		const line = lines.get(leaf);
		const none = whyNone(leaf, index);
		if (none) return { line, none };
		try {
			return { line, ...state(leaf, entries, index) };
		} catch (error) {
			return { line, none: `${error}` };
		}
	});
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	await new Promise((done) => process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`, done));
}
