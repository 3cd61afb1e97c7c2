//go:build !amd64

package secret

// nextBlock moves on from i to a byte where the scan stops, or to near the end
// of b.
func nextBlock(b []byte, i int) int { return portableBlock(b, i) }
