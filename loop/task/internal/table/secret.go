package table

import (
	"regexp"
	"slices"
	"strings"
)

// keyShapes are the beginnings by which vendors make their keys recognisable,
// each with the length below which it is more likely prose. Few false alarms
// matter more than completeness.
var keyShapes = regexp.MustCompile(`\b(?:` + strings.Join([]string{
	`sk-[A-Za-z0-9_-]{16,}`, // OpenAI, Anthropic (sk-ant-), OpenRouter (sk-or-)
	`gsk_[A-Za-z0-9]{20,}`,
	`xai-[A-Za-z0-9]{20,}`,
	`hf_[A-Za-z0-9]{20,}`,
	`AIza[A-Za-z0-9_-]{30,}`,
	`AKIA[A-Z0-9]{16}`,
	`gh[pousr]_[A-Za-z0-9]{30,}`,
	`github_pat_[A-Za-z0-9_]{30,}`,
	`glpat-[A-Za-z0-9_-]{20,}`,
	`xox[abprs]-[A-Za-z0-9-]{20,}`,
}, "|") + `)|-----BEGIN [A-Z ]*PRIVATE KEY-----|(?i:\bbearer +[a-z0-9._~+/-]{24,})`)

// LooksLikeKey says whether a text holds what is most likely a secret. A long
// name in small letters (sk-learn-pipelines) is none.
func LooksLikeKey(s string) bool {
	for _, found := range keyShapes.FindAllString(s, -1) {
		if strings.ContainsAny(found, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return true
		}
	}
	return false
}

// HoldsKey says whether a key of a mapping can only have a secret as its text.
// A JSON Schema may well have a property of that name; its value is no text.
func HoldsKey(name string, value *Node) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	return value.IsScalar() && value.Value != "" && slices.ContainsFunc(
		[]string{"apikey", "accesstoken", "secretkey", "clientsecret"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}
