// Package transcript is the format: types of an entry, a reader that yields
// every physical line, and a writer.
package transcript
