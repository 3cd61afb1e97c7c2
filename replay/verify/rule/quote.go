package rule

import (
	"maps"
	"slices"
	"strconv"
)

// quote quotes a name from a transcript for use in a message.
func quote(s string) string { return strconv.Quote(short(s)) }

func itoa(n int) string { return strconv.Itoa(n) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
