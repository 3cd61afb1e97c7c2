// Package openai asks any endpoint that speaks OpenAI's chat completions with
// streaming. It is written for endpoints that speak it badly: a request ends
// in an answer that is known to be complete, or in a failed message that says
// what came instead.
//
//	m, err := openai.New(openai.Config{
//		BaseURL: "http://127.0.0.1:8080/v1",
//		Model:   "qwen3-coder",
//		APIKey:  openai.KeyFromEnv("OPENAI_API_KEY"),
//		Params:  json.RawMessage(`{"temperature":0,"seed":7}`),
//		Limiter: openai.NewLimiter(openai.Rate{Concurrent: 8, RequestsPerMinute: 300}),
//	})
//
// The model is a [loop.Model]. From the wire up:
//
//   - exchange is the HTTP client below go-openai. It sends the prepared body,
//     keeps status and headers, refuses what is no event stream, and reframes
//     the events so that go-openai loses none (internal/sse).
//   - clock bounds the waiting: connection, first token, bytes, progress, whole
//     request. Time that the consumer takes does not count.
//   - internal/loose decodes values whatever their types, and joins characters
//     that were cut apart.
//   - internal/answer sorts pieces of calls whose index, id or name is missing,
//     repeated, shared or jumping, makes the message and judges it.
//   - retries repeats a request, never a turn: what was shown of an attempt that
//     failed is void, and nothing was executed.
//   - internal/request encodes each message once, so a request costs the new
//     messages and the sending, not the encoding of everything before.
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
// # What is retried
//
// 429, 5xx, network errors, timeouts, cut streams and errors inside a stream,
// as often as [RetryPolicy] allows, with a delay that doubles with jitter or
// that the endpoint names; an empty answer and a body that is no event stream
// once; a refused connection twice. Never another 4xx, never a spend limit,
// never a wrong protocol or certificate. Each retry is a [loop.Retry] delta
// before its delay, and each attempt that gets an answer begins with
// [loop.Start].
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
