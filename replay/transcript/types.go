package transcript

import (
	"encoding/json"
	"strings"
)

// Entry is one record of a transcript: one JSON object on one line.
//
// Type says which of the typed parts is set. An entry of a type that is not
// listed here is kept like any other: its chain fields are read, Raw has the
// rest. Strings of a parsed entry may share memory with Raw, so neither may be
// changed, and a short string kept for long keeps its line alive:
// [strings.Clone] what outlives the line.
type Entry struct {
	Type      string
	ID        string // "" for the header, whose id is the session's
	ParentID  string // "" for a root (null in the file) and where the format has no parents
	Timestamp string // when the entry was appended, RFC 3339; "" if absent

	Header     *Header        // session
	Message    *Message       // message
	Model      *ModelChange   // model_change
	Thinking   string         // thinking_level_change: the level
	Compaction *Compaction    // compaction
	Branch     *BranchSummary // branch_summary
	Custom     *Custom        // custom, custom_message
	Edit       *ContextEdit   // context_edit
	Label      *Label         // label

	// Line is the physical line the entry was read from or written to, the
	// first line is 1; 0 if it never was in a file.
	Line int

	// Raw is the record as it stands in the file, without line end, byte order
	// mark and raw zero bytes, but with white space around it. Nil for an entry
	// made in memory; Append writes Raw when it is there.
	Raw json.RawMessage
}

// Entry types that pi 1.6.0 writes.
const (
	TypeSession       = "session"
	TypeMessage       = "message"
	TypeModelChange   = "model_change"
	TypeThinking      = "thinking_level_change"
	TypeCompaction    = "compaction"
	TypeBranchSummary = "branch_summary"
	TypeCustom        = "custom"
	TypeCustomMessage = "custom_message"
	TypeContextEdit   = "context_edit"
	TypeUsage         = "usage"
	TypeLabel         = "label"
	TypeSessionInfo   = "session_info"
)

// Header is the first record of a session file. It has no place in the chain.
type Header struct {
	Version       int    // 0 in files of format version 1, which do not state it; math.MaxInt if it is no whole number
	ID            string // the session's id
	CWD           string
	ParentSession string     // path of the file this one was forked from
	Generator     *Generator // set in files that turnlog wrote
	Extra         []Field
}

// Generator names the program that wrote a file and the version of what it
// adds to pi's format.
type Generator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Format  int    `json:"format"`
}

// ModelChange records that later requests go to another model.
type ModelChange struct{ Provider, ModelID string }

// Compaction replaces the messages before FirstKeptEntryID by a summary.
type Compaction struct {
	Summary          string
	FirstKeptEntryID string // may be the compaction's own id: nothing is kept
	FirstKeptIndex   int    // version 1 only: index into all lines, header = 0; -1 if absent
	TokensBefore     int64
	SystemMessage    *Message // complete fold of the prompt and the tools at this point; nil in older files
}

// BranchSummary stands for a branch that was left.
type BranchSummary struct{ FromID, Summary string }

// Custom is an entry of an extension. Entries of type custom are no part of
// the context; those of type custom_message are (Content is set).
type Custom struct {
	CustomType string
	Data       json.RawMessage // custom
	Message    *Message        // custom_message: role custom with its content
}

// ContextEdit changes what later requests see of an earlier entry.
type ContextEdit struct {
	TargetID    string
	Replacement *Message // only Content and Form are set; nil drops the target
}

// Label names an entry.
type Label struct{ TargetID, Label string }

// Role of a message.
type Role string

// Roles that occur in files and in contexts. Applications may have their own.
const (
	System            Role = "system"
	User              Role = "user"
	Assistant         Role = "assistant"
	ToolResult        Role = "toolResult"
	CustomRole        Role = "custom"
	BashExecution     Role = "bashExecution"
	CompactionSummary Role = "compactionSummary" // only in contexts, made from a Compaction
	BranchSummaryRole Role = "branchSummary"     // only in contexts, made from a BranchSummary
)

// Stop reasons of assistant messages.
const (
	StopEnd     = "stop"
	StopLength  = "length"
	StopToolUse = "toolUse"
	StopError   = "error"
	StopAborted = "aborted"
	StopPending = "pending" // of partial messages in events, never in a file
)

// Form is how a message's content was written.
type Form uint8

// The forms of content. The zero value is what messages made in memory have.
const (
	FormBlocks Form = iota // an array of blocks
	FormString             // a plain string; Content holds it as one text block, or nothing if it is empty
	FormNull
	FormAbsent
)

// Message is one message of a conversation. Which fields are used depends on
// the role; the others are zero.
type Message struct {
	Role    Role
	Content []Block
	Form    Form

	// System: what it changes in the prompt and the tool set. Removals apply
	// before additions, so a name in both lists is a redefinition.
	Sections     []Section
	ToolsAdded   []Tool
	ToolsRemoved []ToolRef

	// Assistant.
	API, Provider, Model string
	Usage                *Usage
	StopReason           string
	RawStopReason        string // as the endpoint said it
	ErrorMessage         string
	ResponseID           string
	ResponseModel        string
	ThinkingLevel        string

	// ToolResult.
	ToolCallID string
	ToolName   string
	IsError    bool
	HasIsError bool            // whether the file states isError; parsed messages only
	Details    json.RawMessage // nil if absent
	ToolUsage  json.RawMessage // usage reported by a tool; nil if absent

	DurationMs  int64 // -1 or 0 if absent; see HasDuration
	HasDuration bool
	Timestamp   int64 // milliseconds since 1970; 0 if absent

	Bash  *Bash   // BashExecution
	Extra []Field // what the reader does not interpret, in file order
}

// Bash is a shell command that a user ran inside a session.
type Bash struct {
	Command, Output    string
	ExitCode           *int
	Cancelled          bool
	Truncated          bool
	FullOutputPath     string
	ExcludeFromContext bool
}

// Block is one piece of content.
type Block struct {
	Type      string // text, thinking, toolCall, image, or anything else (all in Extra); "" for what is no object
	Text      string // of text and thinking blocks
	Signature string // textSignature, thinkingSignature or thoughtSignature, by Type
	Call      *Call  // of toolCall blocks
	MimeType  string // of image blocks
	Data      string // of image blocks, base64
	Extra     []Field
}

// Block types.
const (
	BlockText     = "text"
	BlockThinking = "thinking"
	BlockToolCall = "toolCall"
	BlockImage    = "image"
)

// Call is a tool call of the model.
type Call struct {
	ID, Name       string
	Arguments      json.RawMessage // as sent, key order and digits kept; nil if absent
	ArgumentsError string          // why the provider could not parse the arguments (Arguments is {} then)
	Column         int             // of the block in its line, in bytes from 1; 0 if made in memory
}

// Tool is a declaration: what the model is told of a tool.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema, byte for byte
	Extra       []Field         // e.g. constrainedSampling
}

// ToolRef names a removed tool.
type ToolRef struct{ Name string }

// Section is a change of a named part of the system prompt.
type Section struct {
	Name    string
	Text    string
	Removed bool // null in the file
}

// Field is a member of a JSON object that is passed through.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Usage is the token count of one answer. Input does not include cached
// tokens.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, TotalTokens, Reasoning int64
	Cost                                                         Cost
	Has                                                          UsageFields // which counts the file states; parsed values only
	Extra                                                        []Field
}

// Cost of one answer in USD.
type Cost struct {
	Input, Output, CacheRead, CacheWrite, Total float64
	Extra                                       []Field // e.g. totalFromProvider
}

// UsageFields is a set of counts.
type UsageFields uint8

// The counts of [Usage].
const (
	HasInput UsageFields = 1 << iota
	HasOutput
	HasCacheRead
	HasCacheWrite
	HasTotal
	HasReasoning
	HasCost
)

// Text joins the text blocks of m, one line each.
func (m *Message) Text() string {
	var texts []string
	for i := range m.Content {
		if m.Content[i].Type == BlockText {
			texts = append(texts, m.Content[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls returns the tool calls of m in source order.
func (m *Message) Calls() []*Call {
	var calls []*Call
	for i := range m.Content {
		if c := m.Content[i].Call; c != nil && m.Content[i].Type == BlockToolCall {
			calls = append(calls, c)
		}
	}
	return calls
}

// Failed reports whether m is an answer that did not arrive: such a message
// is left out of later requests, and its calls need no results.
func (m *Message) Failed() bool {
	return m.Role == Assistant && (m.StopReason == StopError || m.StopReason == StopAborted)
}

// TextBlock is a block of plain text.
func TextBlock(s string) Block { return Block{Type: BlockText, Text: s} }

// UserText is a user message of one text block.
func UserText(s string) Message { return Message{Role: User, Content: []Block{TextBlock(s)}} }
