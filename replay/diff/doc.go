// Package diff says where two histories part, and how.
//
// [Read] takes the path to the leaf of a transcript, or what was in effect at
// a cut, and keeps of each entry what aligns it; [Compare] aligns two such
// histories and describes what differs; [Result.WriteText] and
// [Result.WriteJSON] show it.
//
//	file, err := foreign.Open(f, "a.jsonl", "", transcript.Options{})
//	...
//	a, err := diff.Read(ctx, file, f, o)
//	...
//	result, err := diff.Compare(ctx, a, b, o)
//	...
//	if !result.Equal() {
//		err = result.WriteText(os.Stdout, diff.TextOptions{})
//	}
//
// # What is compared
//
// Entries of the path are aligned by role, calls and content: what is the
// same, then what is the same but for the settings of the model, then answers
// with the same calls, then with the same tools, then what has the same role.
// What is the same in another place has moved. Entries that belong together
// are compared field by field as decoded JSON, in which the order of members
// and the way in which a number is written do not matter.
//
// What requests go out with - declared tools, system prompt, model and
// parameters - is compared as the fold of package replay has it at each
// request, whichever entries stated it: two histories that declare the same
// tools in one message and in two differ in an entry, not in their tools.
//
// Members that [Volatile] names are left out unless asked for. Call ids and
// references to entries are compared by position, not by text. The session's
// header (its id, time, folder, parent) and turnlog's own records of digests,
// intents and seals are not compared: they follow from the rest or are about
// the process. How the last run ended is.
//
// Damaged lines are passed over and named ([History.Damage]). Two histories
// are equal only if their damaged lines are the same bytes as well.
//
// # Patches
//
// [Result.Edits] are the differences at the level of entries, and
// [Result.Patch] with [Patch.Apply] turns one path into the other, up to
// members that are ignored and the text of call ids.
//
// # Memory and time
//
// A history of a file keeps digests, system messages and calls; what is on the
// path is read twice, and what differs once more. All is n log n in bytes and
// differences: exact alignment is used for small gaps only, and of what
// requests go out with only changes are looked at. What is not: pairing calls
// in any order whose arguments need to match only in part.
//
// # JSON
//
// WriteJSON writes one object. Members are added without a new version:
//
//	version     1
//	equal       whether nothing that counts differs
//	mode        full, calls or tools; for calls also sequence and arguments
//	ignored     names of the members that were not compared
//	a, b        file, knowledge (what is known of declarations), at (for a cut:
//	            line, entry, turn), entries, messages, turns, calls, usage, and
//	            damage: line, kind, message
//	common      turns and messages that both begin with; absent in mode calls
//	divergence  a, b: line, turn, message, kind and text of the first message
//	            that differs, null for a side that has ended; absent if none
//	causes      of tools, prompt, model those that differ there already
//	stat        counts by category: added, removed, changed, moved
//	changes     category, kind, subject, path (JSONPath in the subject); a and
//	            b with line, turn and message; valueA and valueB; untilTurnA
//	            and untilTurnB for what requests went out with
//	edits       op (insert drop replace move), a and b
//	mismatches  mode calls: a (the wanted call), b (the call that was made),
//	            each with index, line, turn, name, arguments; fields with path,
//	            kind, valueA and valueB
package diff
