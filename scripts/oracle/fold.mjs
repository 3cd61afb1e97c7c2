// Writes pi's own answers to a table of message lists, for `go test ./replay -run TestFoldTable`:
//
//   node fold.mjs NODE_MODULES CASES.json > ANSWERS.json
//
// NODE_MODULES holds @earendil-works/pi-ai 1.6.0. A case is {name, messages}; an answer is what the functions of
// pi-ai's transcript module say of the list and, for the tools, of each of its prefixes.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, table] = process.argv.slice(2);
const pi = await import(pathToFileURL(resolve(modules, "@earendil-works/pi-ai/dist/index.js")));

const outline = (tools) => tools.map(({ name, description }) => ({ name, description }));
const untimed = (message) => message === undefined ? null : JSON.parse(JSON.stringify({ ...message, timestamp: undefined }));

function transport(messages, support) {
	const { requestTools, foldedSystemMessages } = pi.resolveTranscriptTools(messages, support);
	return { requestTools: outline(requestTools), foldedSystemMessages };
}

function answer({ name, messages: bare }) {
	// pi takes a missing time of the first system message for a missing message.
	const messages = bare.map((message) => ({ timestamp: 0, ...message }));
	return {
		name,
		currentTools: outline(pi.getCurrentTools(messages)),
		declaredTools: pi.getDeclaredTools(messages).map((tool) => tool.name),
		currentSystemMessage: untimed(pi.getCurrentSystemMessage(messages)),
		currentSystemPrompt: pi.getCurrentSystemPrompt(messages),
		collapsed: pi.collapseSystemMessages({ messages }).messages.map(untimed),
		none: transport(messages, "none"),
		additions: transport(messages, "additions"),
		changes: transport(messages, "changes"),
		nonAdditive: pi.hasNonAdditiveToolChanges(messages),
		redefinitions: pi.hasToolRedefinitions(messages),
		updates: messages.filter((message) => message.role === "system").map((message) => pi.renderSystemMessageUpdate(message)),
		prefixes: messages.map((_, i) => pi.getCurrentTools(messages.slice(0, i + 1)).map((tool) => tool.name)),
	};
}

console.log(JSON.stringify(JSON.parse(readFileSync(table, "utf8")).map(answer), null, 1));
