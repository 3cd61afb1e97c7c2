// Package replay folds transcripts: it tells, for any position in a history,
// which tools the model had and where each was declared, what the system
// prompt said, which messages were in effect, which calls were open, and what
// the next request looks like.
//
// # The fold
//
// A transcript is append-only and its state is never stored: a tool set is the
// sum of the declarations (toolsAdded, toolsRemoved) along the path from the
// root, and so on. [State] is that sum. It takes one entry after the other
// with Apply, costs the same for each, accepts anything, and never fails:
// damage and contradictions are reported by package verify.
//
//	tree, err := replay.Read(transcript.Lines(file, transcript.Options{}))
//	...
//	state, at, err := tree.At(replay.Cut{Turn: 2}, "")
//	for _, tool := range state.Tools() {
//		fmt.Println(tool.Name, "declared on line", tool.Line)
//	}
//
// # Requests
//
// [State.Request] is what the agent loop hands to a model: messages in order,
// system messages in place. [Request.Project] is the view that a transport
// sends; [Request.Digest] identifies it. The loop writes that digest into the
// transcript before the request goes out, so anybody can recompute it later
// from the file alone ([State.RequestDigest]) and prove that what was logged
// is what was sent.
//
// # Trees
//
// Entries name their parents, so a file is a tree and every entry can be the
// leaf of a history of its own. [Tree] holds a file, [Tree.At] finds a [Cut]
// on a path, [Tree.All] gives the state at every entry.
package replay
