package batch

import (
	_ "embed" // for the schema
	"slices"
)

//go:embed events.schema.json
var eventsSchema []byte

// EventsSchema is the JSON Schema of one line of events.
func EventsSchema() []byte { return slices.Clone(eventsSchema) }
