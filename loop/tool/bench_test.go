package tool

import (
	"strings"
	"testing"
)

// BenchmarkBash is what a call costs beside the command.
func BenchmarkBash(b *testing.B) {
	bash := builtIn(b, "bash", Options{Dir: b.TempDir()})
	for b.Loop() {
		run(b, bash, map[string]any{"command": "true"})
	}
}

// BenchmarkCapture is a flood of 50 MiB.
func BenchmarkCapture(b *testing.B) {
	part := []byte(strings.Repeat("x", 32<<10))
	b.SetBytes(50 << 20)
	b.ReportAllocs()
	for b.Loop() {
		c := capture{max: DefaultMaxOutput}
		for range 50 << 20 / len(part) {
			_, _ = c.Write(part)
		}
	}
}
