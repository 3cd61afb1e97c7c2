package loop

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Model answers requests.
type Model interface {
	// Stream sends r and yields what comes back, as it comes. The last delta
	// is Done and carries the whole message; a failure that the endpoint or
	// the caller's context caused is such a message too, with stop reason
	// error or aborted. A yielded error means the model could not be asked at
	// all; it fails the turn. The consumer pulls: nothing is produced before
	// the previous delta was handled.
	Stream(ctx context.Context, r replay.Request) iter.Seq2[Delta, error]
}

// Delta is one event of a streamed answer.
type Delta struct {
	Kind  DeltaKind
	Index int                 // of the content block
	Text  string              // delta of a *_delta, whole content of text_end and thinking_end
	Call  *transcript.Call    // toolcall_start (id and name, as far as known) and toolcall_end (whole)
	Block *transcript.Block   // *_end: the finished block with signatures; *_start: what is known of it. May be nil
	Final *transcript.Message // of Done
	Usage *transcript.Usage   // counts so far, where the endpoint sends them while it streams; nil keeps
	Retry *RetryInfo          // of Retry; nil if only Text is known
}

// RetryInfo describes a new attempt at a request.
type RetryInfo struct {
	Attempt     int   // of the attempt that follows, the first retry is 1
	MaxAttempts int   // 0 if there is no bound
	DelayMs     int64 // how long the model waits before it
}

// DeltaKind is the type of a [Delta], named as in the events.
type DeltaKind string

// The kinds of deltas, in the order in which a block sees them.
const (
	Start         DeltaKind = "start"
	TextStart     DeltaKind = "text_start"
	TextDelta     DeltaKind = "text_delta"
	TextEnd       DeltaKind = "text_end"
	ThinkingStart DeltaKind = "thinking_start"
	ThinkingDelta DeltaKind = "thinking_delta"
	ThinkingEnd   DeltaKind = "thinking_end"
	ToolCallStart DeltaKind = "toolcall_start"
	ToolCallDelta DeltaKind = "toolcall_delta"
	ToolCallEnd   DeltaKind = "toolcall_end"
	Done          DeltaKind = "done"
	Retry         DeltaKind = "retry" // a request is about to be tried again: Text says why, nothing of the answer so far counts
)

// BlockKinds gives the kinds of the deltas of a block by its type.
func BlockKinds(blockType string) (start, delta, end DeltaKind) {
	switch blockType {
	case transcript.BlockThinking:
		return ThinkingStart, ThinkingDelta, ThinkingEnd
	case transcript.BlockToolCall:
		return ToolCallStart, ToolCallDelta, ToolCallEnd
	}
	return TextStart, TextDelta, TextEnd
}

// Tool is something the model may call.
type Tool struct {
	transcript.Tool
	Sequential bool    // a batch with this tool runs one call after the other
	Effects    Effects // what running it twice would do

	// Arguments says what values are more than a text, by the name of the
	// argument. It is for seams that judge calls; the loop does not look at it.
	Arguments map[string]Argument

	// Prepare may mend raw arguments before they are validated. Nil keeps them.
	Prepare func(args json.RawMessage) (json.RawMessage, error)

	// Run executes a call whose Arguments were validated against Parameters.
	// An error becomes an error result with its text. Progress may be called
	// until Run returns; later calls are ignored. A panic is an error.
	Run func(ctx context.Context, call transcript.Call, progress func(Result)) (Result, error)
}

// Effects says what a tool does to the world, and so what a resume may repeat.
type Effects string

// The effects. The zero value counts as External.
const (
	None     Effects = "none"
	Read     Effects = "read"
	Write    Effects = "write"
	External Effects = "external"
)

// Argument is what the value of an argument stands for.
type Argument string

// The arguments that are more than a text.
const (
	// Path names a file, or several in a list; Effects say what becomes of it.
	// It is relative to the directory that the tool works in.
	Path Argument = "path"
	// Shell is a program in the language of a POSIX shell or of bash.
	Shell Argument = "shell"
)

// Result is what a tool gave.
type Result struct {
	Content           []transcript.Block
	Details           json.RawMessage // nil if absent
	StructuredContent json.RawMessage // in events only
	Usage             json.RawMessage
	IsError           bool
	Terminate         bool // a vote to end the run after this batch
}

// Execution is how the calls of one message run.
type Execution string

// Parallel is the default.
const (
	Parallel   Execution = "parallel"
	Sequential Execution = "sequential"
)

// SteeringMode says when steering takes effect while tools run.
type SteeringMode string

// NextTurn is the default: the batch finishes first (pi 1.6.0). SkipRemaining
// answers the calls that have not run with an error (pi up to 0.58.3).
const (
	NextTurn      SteeringMode = "next_turn"
	SkipRemaining SteeringMode = "skip_remaining"
)

// Config is everything the loop needs and everything it may decide: nothing.
// All seams may be nil. A seam that returns an error, or panics, ends the run
// with a failed turn; turn_end and agent_end are emitted whatever fails.
type Config struct {
	Model     Model
	ModelRef  replay.ModelRef // provider and id, written into messages and digests
	Thinking  string          // requested thinking level; "" is "off"
	Params    json.RawMessage // request parameters, part of the digest
	MaxTokens int64

	Tools        []Tool
	Execution    Execution
	MaxParallel  int // tools of a batch at once; 0 is no bound
	SteeringMode SteeringMode

	// Emit receives every event; the loop waits for it. An error ends the run
	// as an abort does, and Run returns it.
	Emit func(Event) error

	// Append writes an entry to the transcript and returns when the write
	// did. It is called before the event that shows the entry, never twice
	// for one entry, never concurrently. The entry has ID, ParentID,
	// Timestamp; Append sets Line. A [transcript.Writer] encodes it, package
	// journal keeps a file. After an error nothing is appended or asked any
	// more, and readers see the end of the run: an assistant message that says
	// what failed and is in no transcript. Nil keeps the history in memory only.
	Append func(*transcript.Entry) error

	// Steering is polled at the start, after each turn and before the next
	// one; FollowUp when the agent would stop otherwise. What they return is
	// appended as it is. See Queue.Drain.
	Steering, FollowUp func(context.Context) ([]transcript.Message, error)

	// FinishTurn sees each complete turn, failed ones too (there the decision
	// is ignored), before its turn_end.
	FinishTurn func(context.Context, Turn) (Decision, error)

	// PrepareNextTurn runs before each turn but a run's first.
	PrepareNextTurn func(context.Context, Turn) (TurnUpdate, error)

	// PrepareRequest runs before each request. It cannot change tools: a call
	// may never precede its declaration.
	PrepareRequest func(context.Context, RequestInfo) (RequestUpdate, error)

	// TransformContext gives the messages that one request shows; the view is
	// thrown away after it. Convert turns application messages into model
	// messages; nil is replay.Convert.
	TransformContext func(context.Context, []transcript.Message) ([]transcript.Message, error)
	Convert          func([]transcript.Message) ([]transcript.Message, error)

	// BeforeTool may change validated arguments (they are not validated
	// again) or block the call. AfterTool may replace parts of the result.
	BeforeTool func(context.Context, ToolCallInfo) (Verdict, error)
	AfterTool  func(context.Context, ToolCallInfo, Result) (ResultPatch, error)

	// Recover is asked by Resume about each call that the history left open.
	// Nil leaves them as they are, for transports to answer.
	Recover func(transcript.Call) Recovery

	// Now and NewID are the loop's clock and source of entry ids; nil is the
	// wall clock and 8 random hex digits that no entry of the history has.
	// The history is one path: a file with branches needs its own NewID.
	Now   func() time.Time
	NewID func() string

	// Run names the run in the transcript's turnlog entries.
	Run string

	// failed names the model in the message of a run that an error ended. An
	// Agent sets it to its own model, as pi's does, whatever a seam had put in
	// its place; nil is the model of the last request.
	failed func() replay.ModelRef
}

// Turn is one request and what it caused.
type Turn struct {
	N       int // from 1, within the run
	Message *transcript.Message
	Results []transcript.Message
	New     []transcript.Message // all messages of the run so far
	State   *replay.State
}

// Decision of FinishTurn.
type Decision string

// Decisions. The zero value lets the loop go on as it would.
const (
	Default  Decision = ""
	Continue Decision = "continue" // one more request even if none is owed
	End      Decision = "end"      // leave now: no polls, queues untouched
)

// TurnUpdate changes what the next turns have. Zero fields keep.
type TurnUpdate struct {
	Model    Model
	ModelRef *replay.ModelRef
	Thinking string               // "off" clears it
	Tools    []Tool               // non-nil replaces the executable tools; the difference is declared
	Context  []transcript.Message // non-nil replaces the context
	Messages []transcript.Message // appended before the request
}

// RequestUpdate changes a request and the later ones. Zero fields keep.
type RequestUpdate struct {
	Model     Model
	ModelRef  *replay.ModelRef
	Thinking  string
	Context   []transcript.Message
	MaxTokens int64
}

// RequestInfo is what PrepareRequest sees.
type RequestInfo struct {
	State    *replay.State
	Messages []transcript.Message // the context
	ModelRef replay.ModelRef
	Thinking string
}

// ToolCallInfo is what the tool seams see of a call.
type ToolCallInfo struct {
	Assistant *transcript.Message
	Call      transcript.Call // Arguments are the validated ones
	Tool      *Tool
	State     *replay.State
}

// Verdict of BeforeTool. The zero value lets the call run.
type Verdict struct {
	Arguments json.RawMessage // non-nil replaces the arguments
	Block     bool
	Reason    string // text of the error result; "" is "Tool execution was blocked"
	Terminate bool
}

// ResultPatch replaces parts of a result; nil fields keep.
type ResultPatch struct {
	Content           []transcript.Block
	Details           json.RawMessage
	StructuredContent json.RawMessage
	Usage             json.RawMessage
	IsError           *bool
	Terminate         *bool
}

// Outcome of a run.
type Outcome struct {
	New    []transcript.Message // what the run added, in order
	Turns  int
	Reason string // stop reason of the last assistant message
	Err    error  // what failed the last turn, if anything did
}
