package transcript

import "encoding/json"

// The customType names of the entries that turnlog adds to a session. Other
// readers of the format skip them.
const (
	CustomPrefix  = "turnlog." // of all of them
	CustomRun     = "turnlog.run"
	CustomRequest = "turnlog.request"
	CustomCall    = "turnlog.call"
	CustomResult  = "turnlog.result"
	CustomTurn    = "turnlog.turn"
	CustomEnd     = "turnlog.end"
)

// FormatVersion is the version of turnlog's additions that this package
// writes, Generator.Format of the header.
const FormatVersion = 1

// Run opens each run and each resume.
type Run struct {
	Run           string          `json:"run"`
	Session       string          `json:"session"` // the header's id
	Task          string          `json:"task,omitempty"`
	TaskDigest    string          `json:"taskDigest,omitempty"`
	Model         string          `json:"model"`
	Provider      string          `json:"provider"`
	BaseURL       string          `json:"baseUrl,omitempty"`
	Params        json.RawMessage `json:"params,omitempty"`
	ToolExecution string          `json:"toolExecution,omitempty"` // parallel or sequential
	Resumed       bool            `json:"resumed,omitempty"`
	PID           int             `json:"pid"`
	Host          string          `json:"host"`
}

// Request is written before a request goes out.
type Request struct {
	Run       string          `json:"run"`
	N         int             `json:"n"`       // counts the requests of the file's path from 1
	Attempt   int             `json:"attempt"` // 1, then one more for each retry
	Cause     string          `json:"cause"`   // prompt tools steering follow_up continue resume
	Queued    []Queued        `json:"queued,omitempty"`
	Mode      string          `json:"mode"` // none additions changes
	Model     string          `json:"model"`
	Thinking  string          `json:"thinking,omitempty"` // thinking level asked for, absent if off
	Params    json.RawMessage `json:"params,omitempty"`
	MaxTokens int64           `json:"maxTokens,omitempty"`
	Tools     []string        `json:"tools"`
	Messages  int             `json:"messages"` // messages of the projected request
	Digest    string          `json:"digest"`
	Sent      string          `json:"sent,omitempty"` // digest of what went out when a seam changed the view
}

// Queued names a message that a queue delivered into the turn of a request.
type Queued struct {
	Entry string `json:"entry"`
	Via   string `json:"via"` // steering or follow_up
}

// CallIntent is written before a tool starts.
type CallIntent struct {
	ToolCallID string          `json:"toolCallId"`
	Tool       string          `json:"tool"`
	Effects    string          `json:"effects"`             // none read write external
	Arguments  json.RawMessage `json:"arguments,omitempty"` // when a conversion or a seam changed them
}

// Repeatable reports whether the call changes nothing, and so may run again
// without anybody knowing whether it ran.
func (i *CallIntent) Repeatable() bool { return i.Effects == "none" || i.Effects == "read" }

// CallResult is written as each tool of a parallel batch ends; the result
// messages follow in source order at the end of the batch.
type CallResult struct {
	ToolCallID string          `json:"toolCallId"`
	Result     json.RawMessage `json:"result"`
	IsError    bool            `json:"isError"`
	Terminate  bool            `json:"terminate,omitempty"`
	DurationMs int64           `json:"durationMs"` // -1 if it did not run
}

// TurnRecord is written before the event of a turn's end.
type TurnRecord struct {
	Decision      string `json:"decision,omitempty"` // of FinishTurn: continue, end, or none
	Terminated    bool   `json:"terminated,omitempty"`
	StopReason    string `json:"stopReason"`
	RawStopReason string `json:"rawStopReason,omitempty"`
}

// End is the last entry of a run and seals the file up to itself.
type End struct {
	Run     string          `json:"run"`
	Session string          `json:"session"`
	Status  string          `json:"status"`
	Reason  string          `json:"reason,omitempty"`
	Turns   int             `json:"turns"`
	Usage   json.RawMessage `json:"usage,omitempty"`
	Bytes   int64           `json:"bytes"`  // length of the file before this line
	Digest  string          `json:"digest"` // of those bytes and of this line with an empty digest
}
