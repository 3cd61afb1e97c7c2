// Plays the turns of BenchmarkLoop on the real pi loop, events rendered as
// JSON lines, and prints nanoseconds per turn.
//
//   node bench.mjs NODE_MODULES TURNS CALLS ROUNDS
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, turnsArg, callsArg, roundsArg] = process.argv.slice(2);
const turns = Number(turnsArg), calls = Number(callsArg), rounds = Number(roundsArg ?? 5);
const { runAgentLoop } = await import(pathToFileURL(join(modules, "@earendil-works/pi-agent-core/dist/index.js")));

const zeroCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const zeroUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: zeroCost };
const model = { id: "bench", name: "bench", api: "bench", provider: "bench", baseUrl: "", reasoning: false, input: ["text"], cost: zeroCost, contextWindow: 1e6, maxTokens: 1e4 };
const tools = Array.from({ length: 8 }, (_, i) => ({
	name: i === 0 ? "echo" : `echo${i}`, label: "echo", description: "Gives back its text.",
	parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
	execute: async () => ({ content: [{ type: "text", text: "ok" }], details: {} }),
}));

function answers() {
	let turn = 0;
	return () => {
		turn++;
		const text = "Looking at the next item.";
		const content = [{ type: "text", text }];
		const base = { role: "assistant", api: "bench", provider: "bench", model: "bench", usage: zeroUsage, timestamp: Date.now() };
		let final;
		async function* events() {
			const partial = () => ({ ...base, content: content.slice(), stopReason: "pending" });
			yield { type: "start", partial: { ...base, content: [], stopReason: "pending" } };
			yield { type: "text_start", contentIndex: 0, partial: partial() };
			yield { type: "text_delta", contentIndex: 0, delta: text, partial: partial() };
			yield { type: "text_end", contentIndex: 0, content: text, partial: partial() };
			let stopReason = "stop";
			if (turn < turns) {
				for (let i = 1; i <= calls; i++) {
					const call = { type: "toolCall", id: `call_${turn}_${i}`, name: "echo", arguments: { text: "item" } };
					stopReason = "toolUse";
					content.push(call);
					yield { type: "toolcall_start", contentIndex: i, partial: partial() };
					yield { type: "toolcall_end", contentIndex: i, toolCall: call, partial: partial() };
				}
			}
			final = { ...base, content, stopReason };
			yield { type: "done", reason: stopReason, message: final };
		}
		const iterator = events();
		return { [Symbol.asyncIterator]: () => iterator, result: async () => final };
	};
}

/** One event as pi's JSON mode prints it: no partial messages. */
function render(event) {
	if (event.type !== "message_update") return JSON.stringify(event);
	const { partial, ...update } = event.assistantMessageEvent;
	return JSON.stringify({ type: event.type, usage: partial.usage, assistantMessageEvent: update });
}

async function round() {
	let size = 0, played = 0;
	const config = {
		model,
		convertToLlm: (messages) => messages,
		...(calls === 0 && { finishTurn: () => (++played < turns ? { action: "continue" } : undefined) }),
	};
	const prompt = { role: "user", content: [{ type: "text", text: "go" }], timestamp: Date.now() };
	const began = process.hrtime.bigint();
	await runAgentLoop([prompt], { messages: [], tools }, config, (event) => { size += render(event).length; }, undefined, answers());
	return Number(process.hrtime.bigint() - began) / turns;
}

const times = [];
for (let i = 0; i < rounds; i++) times.push(await round());
times.sort((a, b) => a - b);
console.log(JSON.stringify({ turns, calls, rounds, nsPerTurn: { min: Math.round(times[0]), median: Math.round(times[times.length >> 1]), max: Math.round(times.at(-1)) } }));
