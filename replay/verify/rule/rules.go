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
		nulBytes(),
		invalidUTF8(),
		loneSurrogate(),
		strayBOM(),
		duplicateJSONKey(),
		unsafeInteger(),

		duplicateEntryID(),
		danglingParent(),
		parentCycle(),
		interleavedBranches(),
		repeatedMessage(),
		danglingReference(),
		compactionTargetMissing(),
		compactionSplitsPair(),
		compactionDropsTools(),

		undeclaredToolCall(),
		removedToolCall(),
		toolNameVariant(),
		duplicateToolDeclaration(),
		silentRedeclaration(),
		removeUnknownTool(),
		unportableIdentifier(),

		missingResult(),
		openCall(),
		orphanResult(),
		duplicateResult(),
		duplicateCallID(),
		reusedCallID(),
		resultNameMismatch(),
		lateResult(),
		executedFailedTurn(),

		roleAlternation(),
		contentAfterCall(),

		badArguments(),
		concatenatedArguments(),
		schemaViolation(),

		executedTruncatedCall(),
		maskedTruncation(),
		stopReasonMismatch(),
		unfinishedMessage(),

		emptyContent(),
		imageMismatch(),
		thinkingSignature(),
		toolMarkupInText(),

		rewrittenHistory(),
		replayMismatch(),
		timeGoesBack(),
		unbalancedEvents(),

		cacheCollapse(),
		unstablePrefix(),
		usageInconsistent(),
		usageRepeated(),

		repeatedCall(),
		noProgressLoop(),
		retriedSideEffect(),
		secretInTranscript(),
		injectedInstruction(),
	}
}

// stateless makes a constructor of a checker that remembers nothing.
func stateless(c verify.Checker) func(verify.Values) verify.Checker {
	return func(verify.Values) verify.Checker { return c }
}
