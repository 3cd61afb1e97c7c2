//go:build unix

package builtin

import "syscall"

// nonBlocking keeps open from waiting, should a file have become a pipe since
// it was looked at.
const nonBlocking = syscall.O_NONBLOCK
