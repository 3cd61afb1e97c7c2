// Package wire carries the requests of models over HTTP, whatever their format.
// It is written for endpoints that speak their format badly: a request ends in
// an answer that is known to be complete, or in a failed message that says what
// came instead.
//
// A format is two things, in a package of its own: a [Request], which is a body
// and where it goes, and an [Answer], which makes one message out of events and
// judges whether it is complete. All else is here. From the bottom up:
//
//   - transport sends the body, keeps status and headers, and refuses what is
//     no event stream; events takes the stream apart, and finds the errors in it
//     that a 200 hides ([ReadError]).
//   - clock bounds the waiting: connection, first token, bytes, progress, whole
//     request. Time that the consumer takes does not count.
//   - loose decodes values whatever their types, and joins characters that were
//     cut apart.
//   - failure says what an error is worth, retries repeats a request, never a
//     turn: what was shown of an attempt that failed is void, and nothing was
//     executed. The [Limiter] holds requests back.
//   - [Secret] keeps the key out of everything that is shown.
//
// # What is retried
//
// 429, 5xx, network errors, timeouts, cut streams and errors inside a stream,
// as often as [RetryPolicy] allows, with a delay that doubles with jitter or
// that the endpoint names; an empty answer and a body that is no event stream
// once; a refused connection twice. Never another 4xx, never a spend limit,
// never a wrong protocol or certificate. Each retry is a [loop.Retry] delta
// before its delay.
package wire
