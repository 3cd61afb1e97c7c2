package loop

import (
	"bytes"
	"encoding/json"
)

// InvalidArgumentsError is what the model is told about arguments that do not
// fit the tool's parameters. Its first line and the received arguments are in
// pi's words.
type InvalidArgumentsError struct {
	Tool     string
	Received json.RawMessage // as sent
	Err      error           // a *schema.ValidationError, or why the arguments could not be read
}

func argumentsError(tool string, received json.RawMessage, err error) error {
	return &InvalidArgumentsError{Tool: tool, Received: received, Err: err}
}

func (e *InvalidArgumentsError) Error() string {
	b := bytes.NewBufferString(`Validation failed for tool "` + e.Tool + "\":\n" + e.Err.Error() + "\n\nReceived arguments:\n")
	if err := json.Indent(b, e.Received, "", "  "); err != nil {
		b.Write(e.Received) // not JSON: shown as it is
	}
	return b.String()
}

// Unwrap returns what is wrong.
func (e *InvalidArgumentsError) Unwrap() error { return e.Err }

// UnreadableArgumentsError says that the provider could not parse the
// arguments that the model sent.
type UnreadableArgumentsError struct {
	Tool   string
	Reason string
}

func (e *UnreadableArgumentsError) Error() string {
	return `Invalid arguments for tool "` + e.Tool + `": ` + e.Reason
}
