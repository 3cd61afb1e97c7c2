//go:build unix && !linux

package tool

func zombie(int) bool { return false }
