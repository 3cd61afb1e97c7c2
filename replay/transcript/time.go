package transcript

import "time"

// Timestamp is a time as entries and events carry it.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
