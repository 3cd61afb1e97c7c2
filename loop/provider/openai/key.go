package openai

import (
	"context"
	"fmt"
	"os"
	"strings"
)

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
