// Package loop runs an agent: it asks a model, runs the tools that the model
// calls, and asks again, until nothing is owed and nobody wants more.
//
// # One run
//
// [Run] takes a [Config], a history, and prompts. It plays turns: a turn is one
// request and the tool calls that the answer caused.
//
//	agent_start
//	turn_start                      the prompts are written
//	  poll Steering                 once before the first request
//	  PrepareRequest, TransformContext, Convert
//	  the request                   the answer streams: message_start, message_update…, message_end
//	  tool calls                    BeforeTool, the tool, AfterTool; results in source order
//	  FinishTurn
//	turn_end
//	poll Steering                   what it gives opens the next turn
//	PrepareNextTurn, poll Steering  if a turn follows
//	turn_start …
//	poll FollowUp                   when no turn would follow
//	agent_end
//
// A turn follows when tool results wait for an answer, when messages are
// pending, or when FinishTurn said [Continue]. There is no limit on turns, no
// retry, no tool and no provider in here: whoever wants one puts it into a seam.
//
// # The history
//
// The history is a [replay.State]: the fold of a transcript. It grows in one
// place, by whole messages, and every entry is appended to the transcript
// (Config.Append) and folded before the event that shows it goes out; a
// process that dies has lost at most events. The request is
// [replay.State.Request], so that anyone who has the transcript can rebuild
// it; beside the messages the transcript gets turnlog's own entries, which say
// what was asked with which digest, which call started and how a turn ended.
//
// Tools are declared to the model by increments. Config.Tools is what can run;
// before each request the difference to what the history declares becomes a
// system message, or part of one that is pending. So a call is never made to a
// tool that was not declared when its request went out.
//
// # Seams
//
// All of them may be nil, get the run's context, and are called one at a time,
// but for AfterTool, which calls of one batch may enter side by side.
//
//	seam              runs                                       returns                                  its error
//	Steering          before the first request, after each turn  messages for the next turn, as they are  fails the turn
//	                  that does not end the run, and once more
//	                  before the next one if none is pending;
//	                  with SkipRemaining also between calls
//	FollowUp          when no turn would follow                  messages: another turn follows           fails the turn
//	PrepareNextTurn   before every turn but the first            tools, model, context, messages          fails the turn
//	PrepareRequest    before every request                       model, context; never tools              fails the turn
//	TransformContext  then                                       the messages of this request only        fails the turn
//	Convert           then                                       messages that a model knows              fails the turn
//	BeforeTool        for each valid call, in source order       other arguments, or a refusal            becomes the result
//	AfterTool         for each call that ran                     parts of the result to replace           becomes the result
//	FinishTurn        for each turn with an answer, failed too   Continue, End or neither                 fails the turn
//	Recover           Resume, for each call left open            a result, a refusal, or to run it        (none)
//	Append            for each entry, before its event           the line, in the entry                   ends the run; Run returns it
//	Emit              for each event; the run waits for it       nothing                                  ends the run; Run returns it
//
// A turn that fails ends the run: with an assistant message of stop reason
// error that says why, turn_end, agent_end and [Outcome].Err. A panic is an
// error of the seam ([PanicError]); a tool's error or panic is an error result
// that the model sees. Cancelling the context aborts: tools that run are
// waited for and keep their outcome, calls that have not started get an error
// result, the model answers the next request with an aborted message, and that
// ends the run. Append and Emit failing ends it the same way, except that no
// tool starts and no request goes out any more.
//
// # More than one run
//
// [Agent] keeps a conversation and its queues from run to run. [Stream] is a
// run to be pulled from instead of pushed at. [AppendEvent] writes an event as
// pi's JSON mode does.
package loop
