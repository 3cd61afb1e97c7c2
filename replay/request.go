package replay

import (
	"encoding/json"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Request is what a model is asked.
type Request struct {
	Model     ModelRef
	Thinking  string          // "off" if none was asked for
	Params    json.RawMessage // passed to the endpoint as they are; nil if none
	MaxTokens int64           // 0 leaves it to the endpoint

	// System and Tools are empty in the request that State.Request gives:
	// there, system messages stand in place among Messages and declare the
	// tools. Project fills them.
	System   string
	Tools    []transcript.Tool
	Messages []transcript.Message
}

// ModelRef names a model.
type ModelRef struct {
	Provider string `json:"provider"`
	ID       string `json:"modelId"`
}

// Mode is how a transport carries changes of the prompt and the tool set.
type Mode string

// The modes. None folds all system messages into System and Tools; Additions
// keeps later prompt changes and added tools in place as far as nothing was
// removed or redefined; Changes keeps everything in place.
const (
	ModeNone      Mode = "none"
	ModeAdditions Mode = "additions"
	ModeChanges   Mode = "changes"
)
