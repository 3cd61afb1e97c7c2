// Package transcript is the format of turnlog's transcripts: the types of an
// entry, a reader that yields every physical line of a file, good or bad, an
// encoder and a writer, and the seals. It depends on the standard library and on the walker of JSON only
// and touches no files. What follows specifies the format; a change of it and
// of this text is one commit.
//
// # File
//
// A transcript is a session file of the pi coding agent, format version 3, to
// which turnlog adds what pi skips. It is JSONL: UTF-8, one JSON object per
// line, lines end with LF. It is only appended to, one write per line with its
// line end, so that a crash tears one line at most. The first record is the
// header; each other one is an entry.
//
// A reader accepts more than a writer writes: CRLF, blank lines, a byte order
// mark, a last line without its end, white space around a record, members in
// any order, unknown entry types and members. Only LF ends a line: CR and the
// separators U+2028 and U+2029 are ordinary characters of JSON. Names match
// exactly ("ID" is not "id"), and of a repeated name the last counts, as in
// JavaScript; both are noted, because other readers see another history. A
// member of the wrong type is taken for absent.
//
// # Header
//
//	{"type":"session","version":3,"id":…,"timestamp":…,"cwd":…,
//	 "parentSession":…,"generator":{"name":"turnlog","version":…,"format":1}}
//
// parentSession is the path of the file that this one was forked from.
// generator is turnlog's; its format counts the versions of turnlog's
// additions ([FormatVersion]). The header has no parent and is no parent.
//
// Versions differ in what links entries. Version 1 does not state itself, its
// entries have no ids and each follows the line before; its compactions keep
// messages from a line index on (firstKeptEntryIndex, the header is 0). In
// version 2 entries have ids and parents, but the role custom is still called
// hookMessage. Version 3 is what this package writes. Older versions are read
// as they are and never migrated in place; a greater one, or one that is no
// number, must be refused by whoever interprets the entries: [Header] says
// math.MaxInt for what is not understood.
//
// # Entries
//
//	{"type":…,"id":…,"parentId":…|null,"timestamp":…, members of the type}
//
// An entry is the child of the one that was current when it was appended, and
// becomes the current one: the entries of a file are a tree, whose leaf in use
// is the last line. A new branch shows by the parentId of its first entry
// only. Ids are unique in a file; a fork keeps those of the entries it copies.
//
//	message                 message: see below
//	model_change            provider, modelId
//	thinking_level_change   thinkingLevel
//	compaction              summary, firstKeptEntryId, tokensBefore, systemMessage
//	branch_summary          fromId, summary
//	custom                  customType, data
//	custom_message          customType, content, display, details
//	context_edit            targetId, replacement: null or {content}
//	label                   targetId, label
//	usage, session_info     kept, not interpreted
//
// A message has a role and what belongs to it; see [Message], [Block], [Call],
// [Tool]. Content is a string or an array of blocks, and the reader remembers
// which ([Form]). Tools are declared by system messages: toolsAdded holds
// whole declarations, toolsRemoved names; removals apply first. The
// systemMessage of a compaction is the whole set at that point.
//
// # What turnlog adds
//
// Entries of type custom, in the chain like all others. Their data are the
// structs named here; [Custom.Decode] reads them, [NewCustom] makes them.
//
//	turnlog.run       Run         opens each run and each resume
//	turnlog.request   Request     before a request goes out, with its digest
//	turnlog.call      CallIntent  before a tool starts
//	turnlog.result    CallResult  as a tool of a parallel batch ends
//	turnlog.turn      TurnRecord  before a turn ends
//	turnlog.end       End         last entry of a run: the seal
//
// # Digests and seals
//
// A digest is written "v1:sha256:" and the hash in lower-case hexadecimal. v1
// names what is covered and how it is encoded; a change of either is v2.
//
// turnlog.end seals the file up to itself. Its bytes is the length of the file
// before its line. Its digest covers these bytes, line ends included, and then
// the seal's own line, without its line end and with nothing between the
// quotes of digest. So each byte of the file but the last line end is covered,
// also status and usage in the seal. A [Sealer] computes both as the file
// grows, and checks them as it is read. A later run appends behind the seal
// and seals all of it again. A seal says nothing about what was cut off
// together with it: only a digest kept elsewhere can.
//
// # Damage
//
// [Lines] tells what is wrong with a line as a whole ([Damage]) from what its
// bytes show although it can be read ([Note]). It never stops at a bad line;
// the error of the sequence is for I/O.
//
//   - TornTail: the last line has no end and is no record: the writer stopped
//     in the middle. Nothing else is wrong with the file.
//   - TornLine: a line inside the file is no record, and none is found in it.
//   - Glued: a line has several records, or records and fragments. A writer
//     that appends behind a torn tail without ending it first makes these.
//     What is whole is recovered.
//   - TooLong: a line beyond [Options].MaxLine. Its head is kept.
//
// The parser accepts exactly what encoding/json accepts, with its limit of
// 10,000 levels. Raw zero bytes, left by a crash that allocated blocks it
// never wrote, are taken out before parsing. Bytes that are no UTF-8 become
// U+FFFD, one for each, in decoded strings; Raw keeps them. In a torn tail
// neither is noted, and where a fragment ends within a character, that is not
// noted either: it is the same damage.
//
// In a glued line the seams are found by parsing, never by searching for "}{",
// which is as good as any text inside a string. An inner object of a torn
// record is not taken for a record: it must have the type and the chain
// members of an entry, and end where the line or the next record does. One
// limit is known: when a fragment ends exactly where a value of free data
// (arguments, details, data, an unknown member) is due, the record behind it
// passes for that value, and the line is torn.
package transcript
