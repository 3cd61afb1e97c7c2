package verify

// Owning gives lines memory of their own, which they have in no other run.
func (o Options) Owning() Options {
	o.memory = ownLines
	return o
}

// Scribbling spoils lines as soon as their memory may be used again.
func (o Options) Scribbling() Options {
	o.memory = scribbleLines
	return o
}
