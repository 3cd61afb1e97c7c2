package task_test

import (
	"testing"

	"github.com/turnlog/turnlog/loop/task"
)

func BenchmarkParse(b *testing.B) {
	for _, bm := range []struct{ name, yaml string }{
		{"one", head},
		{"1000", head + "repeat: 1000\n"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := task.Parse("t.yaml", []byte(bm.yaml), task.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
