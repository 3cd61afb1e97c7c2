//go:build !unix

package tool

const nonBlocking = 0
