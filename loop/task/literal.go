package task

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// keyShapes are the beginnings by which vendors make their keys recognisable,
// each with the length below which it is more likely prose. Few false alarms
// matter more than completeness: a key name is checked besides.
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

// looksLikeKey says whether a text holds what is most likely a secret. A long
// name in small letters (sk-learn-pipelines) is none.
func looksLikeKey(s string) bool {
	for _, found := range keyShapes.FindAllString(s, -1) {
		if strings.ContainsAny(found, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return true
		}
	}
	return false
}

const keyHint = "name an environment variable: api_key_env, headers_env"

// literalKey refuses a value that is a secret, wherever it stands. The message
// never repeats it.
func (g *guard) literalKey(n *yaml.Node) {
	if looksLikeKey(n.Value) {
		g.at(n, keyHint, "this looks like an API key; a task file holds no secrets")
	}
}

// literalKeyName refuses a key whose text value can only be a secret.
func (g *guard) literalKeyName(key, val *yaml.Node) {
	val = target(val)
	if isKeyName(key.Value) && val.Kind == yaml.ScalarNode && val.Value != "" && !looksLikeKey(val.Value) {
		g.at(key, keyHint, "%s: a task file holds no secrets", key.Value)
	}
}

// isKeyName says whether a key of a mapping holds a secret by its name. A JSON
// Schema may well have a property of that name; its value is no text.
func isKeyName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	for _, end := range []string{"apikey", "accesstoken", "secretkey", "clientsecret"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// secretEnv lists the environment variables that hold keys: what api_key_env
// and headers_env name anywhere in the file.
func secretEnv(root *yaml.Node) map[string]bool {
	names := map[string]bool{}
	seen := map[*yaml.Node]bool{}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if n = target(n); seen[n] {
			return
		}
		seen[n] = true
		for i, child := range n.Content {
			visit(child)
			if n.Kind != yaml.MappingNode || i%2 == 0 {
				continue
			}
			switch value := target(child); n.Content[i-1].Value {
			case "api_key_env":
				names[value.Value] = true
			case "headers_env":
				for j := 1; j < len(value.Content); j += 2 {
					names[target(value.Content[j]).Value] = true
				}
			}
		}
	}
	visit(root)
	delete(names, "")
	return names
}
