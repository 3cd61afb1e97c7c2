package replay

import "github.com/turnlog/turnlog/replay/transcript"

// Declaration is a tool the model has, and where it was told of it.
type Declaration struct {
	transcript.Tool
	Line  int    // of the system message; 0 if it never was in a file
	Entry string // its id
}

// Removal is a tool the model had, and where it was taken away.
type Removal struct {
	Name  string
	Line  int
	Entry string
}

// State is what a prefix of a transcript implies, along one path from the
// root. The zero value is the state before the first entry. Apply is total:
// it accepts any entry and never fails; what is wrong with one is for verify
// to say.
type State struct{}

// Apply folds one entry, which must be the child of the last one applied.
func (s *State) Apply(e *transcript.Entry) {}

// Append folds a message that is in no file.
func (s *State) Append(m transcript.Message) {}

// Clone returns a state that can go another way. It is O(1).
func (s *State) Clone() *State { c := *s; return &c }

// Leaf is the id of the last entry applied, "" before the first.
func (s *State) Leaf() string { return "" }

// Tools returns the declared tools in declaration order.
func (s *State) Tools() []Declaration { return nil }

// Removed returns the tools that were declared once and are not now.
func (s *State) Removed() []Removal { return nil }

// SystemPrompt is the folded system text: contents, then sections.
func (s *State) SystemPrompt() string { return "" }

// Sections returns the named parts of the system prompt in order.
func (s *State) Sections() []transcript.Section { return nil }

// Model is the model of the last model change or answer.
func (s *State) Model() ModelRef { return ModelRef{} }

// Thinking is the thinking level, "off" if none was set.
func (s *State) Thinking() string { return "off" }

// Item is a message of the context and the entry it came from.
type Item struct {
	Entry   string
	Line    int
	Message transcript.Message
}

// Context returns the messages that are in effect, before conversion:
// compaction, edits and branch summaries applied. The slice is shared and
// must not be changed; it is O(1) unless an edit or a compaction came since.
func (s *State) Context() []Item { return nil }

// Messages is Context without the entries. Shared as well.
func (s *State) Messages() []transcript.Message { return nil }

// OpenCalls returns the calls of the last answer that have no result yet.
func (s *State) OpenCalls() []transcript.Call { return nil }

// Turn counts the requests of the path.
func (s *State) Turn() int { return 0 }

// Usage sums the usage of the answers of the path.
func (s *State) Usage() transcript.Usage { return transcript.Usage{} }

// Request is what the loop hands to a model at this point: the converted
// context with system messages in place.
func (s *State) Request() Request { return Request{} }

// Convert turns application messages into messages that a model knows.
func Convert(ms []transcript.Message) ([]transcript.Message, error) { return ms, nil }

// Project gives the wire view of a request.
func (r Request) Project(m Mode) Request { return r }

// Digest is the digest of a projected request, "v1:sha256:<hex>".
func (r Request) Digest() string { return "" }

// ToolDelta says what turns the tool set have into want: removals come first,
// and a changed tool is in both lists.
func ToolDelta(have, want []transcript.Tool) (added []transcript.Tool, removed []transcript.ToolRef) {
	return nil, nil
}
