//go:build !amd64

package jsonx

// decodeRuns decodes src into dst up to a byte that needs a closer look.
func decodeRuns(dst, src []byte) (written, read int) { return portableRuns(dst, src) }
