// Records what the real pi agent loop does with a scenario, in the form that
// TestScenarios compares (its words are explained in ../../fixtures/scenarios/README.md).
//
//   node record.mjs NODE_MODULES FOLDER SUFFIX          write FOLDER/expectedSUFFIX/NAME.json
//   node record.mjs NODE_MODULES FOLDER SUFFIX --check  compare instead; exit 1 if one differs
//
// Scenarios are FOLDER/scenariosSUFFIX/*.json. NODE_MODULES holds
// @earendil-works/pi-agent-core 1.6.0, or @mariozechner/pi-agent-core 0.58.3,
// the older loop in which steering skips calls, for the suffix "-skip".
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const VOLATILE = ["timestamp", "durationMs", "api", "chunks"];
const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: NO_COST };
const MODEL_ROLES = new Set(["system", "user", "assistant", "toolResult"]);

/** The package under observation. */
async function openPi(modules) {
	const older = !existsSync(join(modules, "@earendil-works", "pi-agent-core"));
	const scope = join(modules, older ? "@mariozechner" : "@earendil-works");
	const load = (name) => import(pathToFileURL(join(scope, name, "dist", "index.js")));
	const manifest = JSON.parse(readFileSync(join(scope, "pi-agent-core", "package.json"), "utf8"));
	return { older, impl: `${manifest.name}@${manifest.version}`, agent: await load("pi-agent-core"), ai: await load("pi-ai") };
}

/** A copy as it is now, without what differs from run to run. */
function snapshot(value) {
	if (value === null || typeof value !== "object") return value;
	if (Array.isArray(value)) return value.map(snapshot);
	const copy = {};
	for (const key of Object.keys(value)) {
		const volatile = VOLATILE.includes(key) || (key === "usage" && value.role === "assistant");
		if (!volatile && value[key] !== undefined) copy[key] = snapshot(value[key]);
	}
	return copy;
}

const dated = (messages = []) => messages.map((m) => Object.assign({ timestamp: 0 }, structuredClone(m)));
const modelOf = (ref = {}) => ({
	id: ref.id ?? "model-a", provider: ref.provider ?? "scripted", name: ref.id ?? "model-a", api: "scripted", baseUrl: "",
	reasoning: true, input: ["text"], cost: NO_COST, contextWindow: 100000, maxTokens: 1000,
});
const label = (m) => `${m.provider}/${m.id}`;
const toResult = (r) => (typeof r === "string" ? { content: [{ type: "text", text: r }], details: {} } : structuredClone(r));

/** Numbers occurrences by name. */
class Counter {
	#seen = new Map();
	next(name) {
		const n = (this.#seen.get(name) ?? 0) + 1;
		this.#seen.set(name, n);
		return n;
	}
}

/** Promises that open once, by name: what a tool can wait for. */
class Gates {
	#gates = new Map();
	#at(name) {
		if (!this.#gates.has(name)) this.#gates.set(name, deferred());
		return this.#gates.get(name);
	}
	open(kind, execution) { this.#at(`${kind} ${execution}`).resolve(); }
	wait(kind, ref) { return this.#at(`${kind} ${ref.includes("#") ? ref : ref + "#1"}`).promise; }
}

function deferred() {
	let resolve;
	const promise = new Promise((r) => { resolve = r; });
	return { promise, resolve };
}

/** Everything around one run of a scenario. */
class Recording {
	constructor(pi, scenario) {
		this.pi = pi;
		this.scenario = scenario;
		this.golden = { name: scenario.name, impl: pi.impl, trace: [], events: [], newMessages: [], requests: [], toolRuns: { started: [], finished: [] } };
		this.counter = new Counter();
		this.gates = new Gates();
		this.lateReports = new Map();
		this.controller = new AbortController();
		this.agent = undefined;
		this.queued = { steering: [], followUp: [] };
		this.responses = structuredClone(scenario.responses ?? []);
		this.tools = new Map((scenario.tools ?? []).map((t) => [t.key ?? t.name, this.tool(t)]));
		this.moments = this.plan();
	}

	// ---- moments: when something that the scenario names happens, it acts

	plan() {
		const { steering = [], followUps = [], abort, actions = [] } = this.scenario;
		const moments = [];
		const at = (on, ...todo) => {
			const { nth = 1, ...match } = on;
			moments.push({ match: Object.entries(match), left: nth, todo });
		};
		for (const s of steering) if (s.on) at(s.on, { steer: s.messages });
		for (const f of followUps) if (f.on) at(f.on, { followUp: f.messages });
		if (abort) at(abort.on, { abort: true });
		for (const a of actions) at(a.on, ...a.do);
		return moments;
	}

	happened(what) {
		for (const moment of this.moments) {
			if (moment.match.some(([key, want]) => what[key] !== want)) continue;
			moment.left--;
			if (moment.left === 0) this.perform(moment.todo);
		}
	}

	perform(todo = []) {
		for (const action of todo) {
			const [kind] = Object.keys(action);
			this.golden.trace.push({ action: kind });
			if (kind === "steer") this.enqueue("steering", action.steer);
			else if (kind === "followUp") this.enqueue("followUp", action.followUp);
			else if (kind === "abort") (this.agent ?? this.controller).abort();
			else if (kind === "op") void this.operate(action.op, true);
		}
	}

	enqueue(queue, messages) {
		for (const m of dated(messages)) {
			if (!this.agent) this.queued[queue].push(m);
			else if (queue === "steering") this.agent.steer(m);
			else this.agent.followUp(m);
		}
	}

	// ---- events

	receive = (event) => {
		const seen = { event: event.type };
		if (event.message) seen.role = event.message.role;
		if (event.toolCallId) seen.id = event.toolCallId;
		if (event.type === "message_update") {
			seen.update = event.assistantMessageEvent.type;
			const { partial, ...update } = event.assistantMessageEvent;
			this.golden.events.push(snapshot({ type: event.type, update, message: event.message }));
		} else {
			this.golden.events.push(snapshot(event));
			if (event.type === "message_end" && seen.role === "assistant") seen.stopReason = event.message.stopReason;
			if (event.type === "message_end" && seen.role === "toolResult") seen.id = event.message.toolCallId;
		}
		this.golden.trace.push(seen);
		this.happened(seen);
		if (event.type === "tool_execution_end") {
			const execution = `${event.toolCallId}#${this.counter.next(`end ${event.toolCallId}`)}`;
			this.lateReports.get(execution)?.();
			this.gates.open("end", execution);
		}
	};

	// ---- tools

	tool(def) {
		const tool = {
			name: def.name, label: def.name, description: def.description ?? def.name,
			parameters: def.parameters ?? { type: "object", properties: {} },
			execute: (id, args, signal, report) => this.execute(def, id, args, signal, report),
		};
		if (def.executionMode) tool.executionMode = def.executionMode;
		const names = def.prepareArguments?.rename;
		if (names) tool.prepareArguments = (args) => Object.fromEntries(Object.entries(args).map(([name, value]) => [names[name] ?? name, value]));
		return tool;
	}

	async execute(def, id, args, signal, report) {
		const execution = `${id}#${this.counter.next(`start ${id}`)}`;
		this.golden.toolRuns.started.push({ id, name: def.name, args: snapshot(args) });
		this.gates.open("start", execution);
		const ended = (outcome) => {
			this.golden.toolRuns.finished.push({ id, name: def.name, outcome });
			this.gates.open("finish", execution);
		};
		const { calls = {}, default: usual } = def.behaviour ?? {};
		for (const step of calls[execution] ?? calls[id] ?? usual ?? [{ return: `${def.name} ok` }]) {
			if ("update" in step) report?.(toResult(step.update));
			if ("lateUpdate" in step) this.lateReports.set(execution, () => report?.(toResult(step.lateUpdate)));
			for (const [key, kind] of [["waitStart", "start"], ["waitFinish", "finish"], ["waitEnd", "end"]])
				for (const ref of step[key] ?? []) await this.gates.wait(kind, ref);
			if (step.waitAbort && !signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
			this.perform(step.do);
			if ("throw" in step || "throwValue" in step) {
				ended("throw");
				throw "throw" in step ? new Error(step.throw) : step.throwValue;
			}
			if ("return" in step) {
				ended("return");
				return toResult(step.return);
			}
		}
		ended("return");
		return { content: [], details: {} };
	}

	pick(keys) {
		return keys.map((key) => {
			if (!this.tools.has(key)) throw new Error(`${this.scenario.name}: no tool ${key}`);
			return this.tools.get(key);
		});
	}

	startingTools() { return this.pick(this.scenario.activeTools ?? [...this.tools.keys()]); }

	// ---- the model

	stream = (model, context, options) => {
		const messages = snapshot(context.messages);
		const request = {
			n: this.counter.next("request"), model: label(model), thinkingLevel: options.reasoning ?? "off",
			aborted: Boolean(options.signal?.aborted), messages,
		};
		if (this.pi.older) {
			request.systemPrompt = context.systemPrompt ?? "";
			request.tools = (context.tools ?? []).map((t) => t.name);
		} else request.tools = this.pi.ai.getCurrentTools(messages).map((t) => t.name);
		this.golden.requests.push(request);
		this.golden.trace.push({ request: request.n });
		this.happened({ request: request.n });
		const response = this.responses.shift() ?? { content: [], stopReason: "error", errorMessage: "no scripted response left", noStart: true };
		if (response.throw !== undefined) throw new Error(response.throw);
		const answer = new Answer(model, response, options.signal);
		const events = answer.events();
		return { [Symbol.asyncIterator]: () => events, result: async () => answer.final };
	};

	// ---- queues and hooks

	poll(queue, deliveries = []) {
		return async () => {
			const n = this.counter.next(`poll ${queue}`);
			this.happened({ poll: queue });
			const fixed = deliveries.filter((d) => d.atPoll === n).flatMap((d) => dated(d.messages));
			const waiting = this.queued[queue];
			const all = this.scenario[queue === "steering" ? "steeringMode" : "followUpMode"] === "all";
			const taken = waiting.splice(0, all ? waiting.length : 1);
			this.golden.trace.push({ poll: queue, n, returned: fixed.length + taken.length });
			return fixed.concat(taken);
		};
	}

	/** Records the entry of a hook; what it returns is the record and the hook's own answer for this call. */
	enter(name, details) {
		const record = { hook: name, n: this.counter.next(`hook ${name}`), ...details };
		this.golden.trace.push(record);
		this.happened(details.id === undefined ? { hook: name } : { hook: name, id: details.id });
		const plan = this.scenario.hooks?.[name];
		return { record, plan: (Array.isArray(plan) ? plan[record.n - 1] : plan) ?? undefined };
	}

	replacement(plan, context) {
		if (!plan) return undefined;
		const update = {};
		if (plan.tools || plan.contextMessages) {
			update.context = { ...context };
			if (plan.contextMessages) update.context.messages = dated(plan.contextMessages);
			if (plan.tools) update.context.tools = this.pick(plan.tools);
		}
		if (plan.messages) update.messages = dated(plan.messages);
		if (plan.model) update.model = modelOf(plan.model);
		if (plan.thinkingLevel) update.thinkingLevel = plan.thinkingLevel;
		return update;
	}

	hooks() {
		const installed = this.scenario.hooks ?? {};
		const all = {
			finishTurn: async (turn) => {
				const { record, plan } = this.enter("finishTurn", {
					stopReason: turn.message.stopReason, toolResults: turn.toolResults.map((r) => r.toolCallId),
					contextLen: turn.context.messages.length, newLen: turn.newMessages.length,
				});
				if (!plan) return undefined;
				record.decision = plan;
				return { action: plan };
			},
			prepareNextTurn: async (turn) => {
				const { plan } = this.enter("prepareNextTurn", { contextLen: turn.context.messages.length, newLen: turn.newMessages.length });
				return this.replacement(plan, turn.context);
			},
			prepareRequest: async ({ context, model, thinkingLevel }) => {
				const { plan } = this.enter("prepareRequest", { model: label(model), thinkingLevel, contextLen: context.messages.length });
				return this.replacement(plan, context);
			},
			transformContext: async (messages) => {
				const { record, plan = {} } = this.enter("transformContext", { in: messages.length });
				let view = messages.filter((m) => !plan.dropRoles?.includes(m.role));
				if (plan.keepLast !== undefined) view = view.slice(-plan.keepLast);
				view = [...dated(plan.prepend), ...view, ...dated(plan.append)];
				record.out = view.length;
				return view;
			},
			beforeToolCall: async ({ toolCall, args }) => {
				this.enter("beforeToolCall", { id: toolCall.id, args: snapshot(args) });
				const plan = installed.beforeToolCall[toolCall.id] ?? installed.beforeToolCall["*"] ?? {};
				this.perform(plan.do);
				if (plan.throw !== undefined) throw new Error(plan.throw);
				Object.assign(args, structuredClone(plan.setArgs ?? {}));
				return plan.block === undefined ? undefined : { block: plan.block, reason: plan.reason, terminate: plan.terminate };
			},
			afterToolCall: async ({ toolCall, isError }) => {
				this.enter("afterToolCall", { id: toolCall.id, isError });
				const { do: todo, throw: text, ...patch } = structuredClone(installed.afterToolCall[toolCall.id] ?? installed.afterToolCall["*"] ?? {});
				this.perform(todo);
				if (text !== undefined) throw new Error(text);
				return Object.keys(patch).length ? patch : undefined;
			},
		};
		const convertToLlm = (messages) => {
			const known = [];
			for (const m of messages) {
				if (MODEL_ROLES.has(m.role)) known.push(m);
				else if (m.role === "custom" && installed.convertToLlm?.customAsUser) known.push({ role: "user", content: m.content, timestamp: 0 });
			}
			this.enter("convertToLlm", { in: messages.length, out: known.length });
			return known;
		};
		return { convertToLlm, ...Object.fromEntries(Object.entries(all).filter(([name]) => installed[name])) };
	}

	// ---- playing it

	async play() {
		try {
			await (this.scenario.entry === "agent" ? this.playAgent() : this.playRun());
		} catch (error) {
			this.golden.error = error.message;
		}
		const unfired = this.moments.filter((m) => m.left > 0).length;
		if (unfired) this.golden.unfiredTriggers = unfired;
		if (this.responses.length) this.golden.unusedResponses = this.responses.length;
		return snapshot(this.golden);
	}

	settings() {
		const { thinkingLevel, toolExecution } = this.scenario;
		return {
			model: modelOf(this.scenario.model),
			reasoning: thinkingLevel === "off" ? undefined : thinkingLevel,
			...(toolExecution && { toolExecution }),
			...this.hooks(),
		};
	}

	async playRun() {
		const { scenario, pi } = this;
		const config = {
			...this.settings(),
			getSteeringMessages: this.poll("steering", scenario.steering),
			getFollowUpMessages: this.poll("followUp", scenario.followUps),
		};
		const context = { messages: dated(scenario.messages), tools: this.startingTools() };
		if (pi.older) context.systemPrompt = scenario.systemPrompt ?? "";
		const rest = [context, config, this.receive, this.controller.signal, this.stream];
		const added = scenario.entry === "continue"
			? await pi.agent.runAgentLoopContinue(...rest)
			: await pi.agent.runAgentLoop(dated(scenario.prompts), ...rest);
		this.golden.newMessages = snapshot(added);
		this.golden.queued = snapshot(this.queued);
	}

	async playAgent() {
		const { scenario } = this;
		delete this.golden.newMessages;
		this.golden.ops = [];
		const { model, reasoning, prepareNextTurn, ...settings } = this.settings();
		const { steeringMode, followUpMode } = scenario;
		this.agent = new this.pi.agent.Agent({
			...settings, streamFn: this.stream, prepareNextTurnWithContext: prepareNextTurn,
			...(steeringMode && { steeringMode }), ...(followUpMode && { followUpMode }),
			initialState: {
				systemPrompt: scenario.systemPrompt, model, thinkingLevel: reasoning ?? "off",
				tools: this.startingTools(), messages: dated(scenario.messages),
			},
		});
		const queues = { steering: this.agent.steeringQueue, followUp: this.agent.followUpQueue };
		for (const [name, queue] of Object.entries(queues)) this.watch(name, queue);
		this.agent.subscribe(this.receive);
		for (const op of scenario.script) await this.operate(op, false);
		const { state } = this.agent;
		this.golden.state = {
			messages: state.messages, systemPrompt: state.systemPrompt, tools: state.tools.map((t) => t.name),
			isStreaming: state.isStreaming, pendingToolCalls: [...state.pendingToolCalls], errorMessage: state.errorMessage,
		};
		this.golden.queued = { steering: queues.steering.messages, followUp: queues.followUp.messages };
	}

	/** Every drain of an agent's queue counts as a poll. */
	watch(name, queue) {
		const drain = queue.drain;
		queue.drain = () => {
			const n = this.counter.next(`poll ${name}`);
			this.happened({ poll: name });
			const taken = drain.call(queue);
			this.golden.trace.push({ poll: name, n, returned: taken.length });
			return taken;
		};
	}

	async operate(op, nested) {
		const record = nested ? { op: op.op, nested } : { op: op.op };
		this.golden.ops.push(record);
		if (!nested) this.golden.trace.push({ op: op.op });
		const { agent } = this;
		const operations = {
			prompt: () => agent.prompt(op.text ?? dated(op.messages)),
			continue: () => agent.continue(),
			steer: () => this.enqueue("steering", op.messages),
			followUp: () => this.enqueue("followUp", op.messages),
			setTools: () => { agent.state.tools = this.pick(op.tools); },
			setModel: () => { agent.state.model = modelOf(op.model); },
			setMessages: () => { agent.state.messages = dated(op.messages); },
			clearQueues: () => agent.clearAllQueues(),
			reset: () => agent.reset(),
			abort: () => agent.abort(),
		};
		try {
			await operations[op.op]();
		} catch (error) {
			record.error = error.message;
		}
	}
}

/** One scripted answer as a stream. */
class Answer {
	constructor(model, response, signal) {
		this.response = response;
		this.signal = signal;
		this.content = [];
		this.frame = { role: "assistant", content: [], api: "scripted", provider: model.provider, model: model.id, usage: NO_USAGE, stopReason: "pending", timestamp: 0 };
		this.final = undefined;
	}

	get aborted() { return !this.response.ignoreAbort && Boolean(this.signal?.aborted); }
	partial(extra) { return { ...this.frame, content: structuredClone(this.content), ...extra }; }

	async *events() {
		for (const [event, effect] of this.steps()) {
			if (this.aborted) {
				this.final = this.partial({ stopReason: "aborted", errorMessage: "Request was aborted" });
				yield { type: "error", reason: "aborted", error: this.final };
				return;
			}
			effect?.();
			if (event) yield { ...event, partial: this.partial() };
		}
		const { stopReason, errorMessage, noEnd } = this.response;
		const reason = stopReason ?? (this.content.some((b) => b.type === "toolCall") ? "toolUse" : "stop");
		this.final = this.partial({ stopReason: reason, ...(errorMessage !== undefined && { errorMessage }) });
		if (noEnd) return;
		const failed = reason === "error" || reason === "aborted";
		yield failed ? { type: "error", reason, error: this.final } : { type: "done", reason, message: this.final };
	}

	/** Events with what each one changes, looked at between two checks of the signal. */
	*steps() {
		yield [this.response.noStart ? undefined : { type: "start" }];
		for (const [contentIndex, { chunks, ...block }] of this.response.content.entries()) {
			const text = block.type === "toolCall" ? undefined : block.type;
			const kind = text ?? "toolcall";
			const at = (type, more) => ({ type: `${kind}_${type}`, contentIndex, ...more });
			yield [at("start"), () => this.content.push({ ...block, ...(text ? { [text]: "" } : { arguments: {} }) })];
			for (const delta of chunks ?? (text && block[text] ? [block[text]] : []))
				yield [at("delta", { delta }), () => { if (text) this.content[contentIndex][text] += delta; }];
			yield [at("end", text ? { content: block[text] } : { toolCall: structuredClone(block) }), () => { this.content[contentIndex] = structuredClone(block); }];
		}
		yield [];
	}
}

const [modules, folder, suffix = "", flag] = process.argv.slice(2);
const pi = await openPi(modules);
const inputs = join(folder, `scenarios${suffix}`), outputs = join(folder, `expected${suffix}`);
let different = 0;
for (const file of readdirSync(inputs).filter((f) => f.endsWith(".json")).sort()) {
	const scenario = JSON.parse(readFileSync(join(inputs, file), "utf8"));
	if (`${scenario.name}.json` !== file) throw new Error(`${file} is named ${scenario.name}`);
	const golden = await new Recording(pi, scenario).play();
	if (flag === "--check") {
		if (isDeepStrictEqual(golden, JSON.parse(readFileSync(join(outputs, file), "utf8")))) continue;
		different++;
		console.error(`${file}: differs`);
	} else {
		mkdirSync(outputs, { recursive: true });
		writeFileSync(join(outputs, file), JSON.stringify(golden, null, 1) + "\n");
	}
	for (const key of ["unfiredTriggers", "unusedResponses"]) if (golden[key]) console.error(`${file}: ${key} ${golden[key]}`);
}
if (different) process.exit(1);
