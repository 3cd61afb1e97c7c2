package transcript

// ParseLine reads one physical line, with its line end, by itself. The line
// owns its memory; its number and its offset are for the caller to set.
func ParseLine(raw []byte, maxLine int) Line {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	lr := lineReader{max: maxLine, loan: new(loan)}
	return lr.line(raw, 0)
}
