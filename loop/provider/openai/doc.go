// Package openai asks any endpoint that speaks OpenAI's chat completions with
// streaming. All that is no matter of this format is in package wire; here are
// the request, the answer and the words for its end.
//
//	m, err := openai.New(openai.Config{
//		Config: wire.Config{
//			BaseURL: "http://127.0.0.1:8080/v1",
//			APIKey:  wire.KeyFromEnv("OPENAI_API_KEY"),
//			Limiter: wire.NewLimiter(wire.Rate{Concurrent: 8, RequestsPerMinute: 300}),
//		},
//		Model:  "qwen3-coder",
//		Params: json.RawMessage(`{"temperature":0,"seed":7}`),
//	})
//
// The model is a [loop.Model]. internal/request encodes each message once, so a
// request costs the new messages and the sending, not the encoding of
// everything before. internal/answer sorts pieces of calls whose index, id or
// name is missing, repeated, shared or jumping, makes the message and judges it.
//
// # go-openai
//
// Its types are the contract: parts of messages are made of them, and every body
// that the tests send decodes into its ChatCompletionRequest and encodes back to
// the same value. Its client is left out, because all of this would have to be
// caught in front of it, after which it only cuts off "data:": it loses the
// headers of a refusal (Retry-After), takes the end of any body for success and
// any body for a stream, misses errors in other shapes and a last line without
// its newline, leaves out what is empty or 0, and refuses models by name.
//
// # What is success
//
// A finish_reason that [replay.StopReason] knows, and content. The end of a
// stream is not success. Content decides over words: calls are executed though
// finish_reason says stop; tool_calls without calls is stop with a diagnostic;
// calls in an answer that used up max_tokens are length, whatever the label;
// content_filter and unknown words are errors that keep the word. The raw word
// is in RawStopReason, and what was odd in the "diagnostics" of the message.
//
// Arguments that are no JSON object that every reader reads alike (duplicate
// keys!) become {} with ArgumentsError, which holds reason and raw text; empty
// arguments are {}. Calls without an id, or with an id of an earlier turn, get
// one of their own; an answer with the response id of an earlier one is left
// without. A connection that breaks after the finish_reason breaks nothing.
//
// # What is sent
//
// Params as they are, then the bound on the answer (the smaller one of params
// and request, under max_tokens or the name that params or the model demand),
// the thinking level as reasoning_effort, stream and stream_options unless params
// have their own, tools with the bytes of their schemas, and the messages: the
// system text first, thinking only to the model that thought it, images as data
// URLs, those of tool results in a user message after the results. A tool
// result that is only images says so in its text.
package openai
