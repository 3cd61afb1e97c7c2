//go:build !unix

package builtin

const nonBlocking = 0
