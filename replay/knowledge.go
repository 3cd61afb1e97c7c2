package replay

// Knowledge says how well a transcript tells which tools the model had.
type Knowledge string

// The five honest answers, best first. Nothing may be called undeclared on the
// ground of the last two.
const (
	Exact      Knowledge = "exact"   // increments in the history
	PerRequest Knowledge = "request" // a list with schemas, per request or once
	Names      Knowledge = "names"   // names without schemas
	Partial    Knowledge = "partial" // some names
	Unknown    Knowledge = "unknown" // the format records no declarations, or this file has none
)
