package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// keyCommandTimeout bounds a key command; those that ask a cloud for a token
// answer within a few seconds.
const keyCommandTimeout = 30 * time.Second

// KeyFromEnv reads the key from an environment variable at each request.
func KeyFromEnv(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		key := strings.TrimSpace(os.Getenv(name))
		if key == "" {
			return "", fmt.Errorf("API key: the environment variable %s is not set", name)
		}
		return key, nil
	}
}

// KeyFromCommand takes the key from the standard output of a program, run at
// each request. What the program printed never becomes part of an error.
func KeyFromCommand(argv ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if len(argv) == 0 {
			return "", errors.New("API key: the key command is empty")
		}
		ctx, cancel := context.WithTimeout(ctx, keyCommandTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return "", fmt.Errorf("API key: %s ended with %s", argv[0], exit.ProcessState)
			}
			return "", fmt.Errorf("API key: run %s: %w", argv[0], err)
		}
		key := string(bytes.TrimSpace(out))
		if key == "" || strings.ContainsAny(key, "\r\n") {
			return "", fmt.Errorf("API key: %s did not print one line", argv[0])
		}
		return key, nil
	}
}
