// Opens session files with the real pi and prints what it makes of them, one JSON object a line; then, with --append,
// has pi append a message to each file, as a user who goes on in pi would.
//
//   node open.mjs [--append] NODE_MODULES FILE.jsonl...
//
// NODE_MODULES holds @earendil-works/pi-coding-agent 1.6.0, which needs Node 22.19 or newer.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const args = process.argv.slice(2);
const append = args[0] === "--append" && args.shift() !== undefined;
const [modules, ...files] = args;
const load = (path) => import(pathToFileURL(resolve(modules, "@earendil-works", path)));
const { SessionManager, convertToLlm } = await load("pi-coding-agent/dist/index.js");
const { getCurrentTools, getCurrentSystemPrompt } = await load("pi-ai/dist/index.js");

for (const file of files) {
	const session = SessionManager.open(resolve(file));
	const projection = session.buildSessionProjection();
	console.log(JSON.stringify({
		file,
		entries: session.getEntries().length,
		leaf: session.getLeafId(),
		messages: projection.entries
			.filter((entry) => entry.messages.length > 0)
			.map((entry) => [entry.sourceEntry.id, ...entry.messages.map((message) => message.role)]),
		modelRoles: convertToLlm(projection.messages).map((message) => message.role),
		tools: getCurrentTools(projection.messages).map((tool) => tool.name),
		prompt: getCurrentSystemPrompt(projection.messages),
		model: projection.model,
		thinkingLevel: projection.thinkingLevel,
	}));
	if (append) session.appendMessage({ role: "user", content: [{ type: "text", text: "One more thing." }], timestamp: Date.now() });
}
