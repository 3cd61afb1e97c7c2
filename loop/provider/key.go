package provider

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/tool/process"
)

// keyCommandTimeout bounds a key command; those that ask a cloud for a token
// answer within a few seconds.
const keyCommandTimeout = 30 * time.Second

// keyFromCommand takes the key from the standard output of a program, run at
// each request. What the program printed never becomes part of an error.
func keyFromCommand(argv ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := process.Output(ctx, keyCommandTimeout, argv...)
		if err != nil {
			return "", fmt.Errorf("API key: %w", err)
		}
		key := string(bytes.TrimSpace(out))
		if key == "" || strings.ContainsAny(key, "\r\n") {
			return "", fmt.Errorf("API key: %s did not print one line", argv[0])
		}
		return key, nil
	}
}
