package batch

// Sinks hands every event to each of its sinks, up to the first that fails.
type Sinks []Sink

// Event implements [Sink].
func (s Sinks) Event(e *Event) error {
	for _, sink := range s {
		if err := sink.Event(e); err != nil {
			return err
		}
	}
	return nil
}
