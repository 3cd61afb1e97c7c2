package jsonx

import "unsafe"

// Arena is memory for decoded strings that is used again after a Reset: none
// of them may be kept beyond it.
type Arena struct{ b []byte }

// room returns n bytes to write to, of which keep makes some a string.
func (a *Arena) room(n int) []byte {
	if cap(a.b)-len(a.b) < n {
		a.b = make([]byte, 0, max(n, 2*cap(a.b))) // the strings so far live on in the old one
	}
	return a.b[len(a.b) : len(a.b)+n]
}

// keep makes the first n bytes of the last room a string.
func (a *Arena) keep(n int) string {
	start := len(a.b)
	a.b = a.b[:start+n]
	return unsafe.String(&a.b[start], n)
}

// Reset takes all strings back. A buffer that an unusual text needed is let go.
func (a *Arena) Reset() {
	a.b = a.b[:0]
	if cap(a.b) > MaxKept {
		a.b = nil
	}
}

// Fill overwrites what is on loan.
func (a *Arena) Fill(c byte) {
	for i := range a.b {
		a.b[i] = c
	}
}
