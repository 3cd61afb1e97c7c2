package tool

import (
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// FAULTS 48.
func TestFault48TwoToolsOfOneName(t *testing.T) {
	one := func(name string) loop.Tool { return loop.Tool{Tool: transcript.Tool{Name: name}} }
	if err := Distinct([]loop.Tool{one("read"), one("bash"), one("read")}); err == nil || !strings.Contains(err.Error(), `"read"`) {
		t.Errorf("got %v", err)
	}
	if err := Distinct([]loop.Tool{one("bash"), one("read")}); err != nil {
		t.Error(err)
	}
}
