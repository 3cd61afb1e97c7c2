package report

import (
	_ "embed" // for the schema
	"slices"
)

//go:embed finding.schema.json
var findingSchema []byte

// FindingSchema is the JSON Schema of the json format; that of the records of
// ndjson is in its definitions.
func FindingSchema() []byte { return slices.Clone(findingSchema) }
