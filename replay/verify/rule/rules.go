// Package rule has the rules of package verify: one file each, and one table.
package rule

import "github.com/turnlog/turnlog/replay/verify"

// Groups of rules, in the order of the table.
const (
	groupFile    = "Structure of the file"
	groupTree    = "The entry tree"
	groupTools   = "Tool declarations"
	groupCalls   = "Calls and results"
	groupOrder   = "Order of messages"
	groupArgs    = "Arguments"
	groupStops   = "Stop reasons"
	groupContent = "Content"
	groupHistory = "Integrity of the history"
	groupCache   = "Cache and cost"
	groupSafety  = "Loops and safety"
)

// All returns every rule, by group.
func All() []verify.Rule {
	return []verify.Rule{
		tornLine(),
		gluedRecords(),
		tornTail(),
		loneSurrogate(),

		danglingParent(),

		undeclaredToolCall(),
		removedToolCall(),

		missingResult(),
		openCall(),
		orphanResult(),
		duplicateCallID(),

		badArguments(),

		executedTruncatedCall(),
	}
}

// sessions are the formats whose entries form a tree and declare their tools.
func sessions() []string { return []string{"turnlog", "pi"} }

// stateless makes a constructor of a checker that remembers nothing.
func stateless(c verify.Checker) func(verify.Values) verify.Checker {
	return func(verify.Values) verify.Checker { return c }
}
