package schema

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// preparation turns a declared document into one that the library compiles:
// what would make it fail as a whole, although it concerns only a part, is
// taken out and reported.
type preparation struct {
	root       *value
	document   any
	hasDraft   bool
	addresses  map[string]bool // what $id and anchors name
	unresolved map[string]string
	warnings   []string
}

func prepare(root *value) *preparation {
	p := &preparation{root: root, addresses: map[string]bool{}, unresolved: map[string]string{}}
	p.collect()
	p.document = p.schema(root, nil)
	return p
}

// drafts are the values of $schema that the library knows.
var drafts = regexp.MustCompile(`^https?://json-schema\.org/(draft-0[467]/schema|draft/(2019-09|2020-12)/schema|schema)#?$`)

// collect notes every address that a $ref inside of the document may name.
func (p *preparation) collect() {
	for path, v := range p.root.all(nil) {
		if v.kind != text || len(path) == 0 {
			continue
		}
		switch path[len(path)-1] {
		case "$id", "id":
			p.addresses[strings.TrimSuffix(v.text, "#")] = true
		case "$anchor", "$dynamicAnchor":
			p.addresses["#"+v.text] = true
		}
	}
}

// How a keyword holds schemas. A keyword that is not listed holds data, where
// "$ref" and "pattern" are only words.
var (
	holdsSchema = []string{
		"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
	}
	holdsList = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	holdsMap  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// schema copies the schema v at path for the library.
func (p *preparation) schema(v *value, path []string) any {
	if v.kind != object {
		return v.any()
	}
	if ref := v.member("$ref"); ref != nil && ref.kind == text && !p.resolves(ref.text) {
		p.unresolved[pointer(path)] = ref.text
		p.warn(path, "$ref", "%s leads nowhere; what reaches it is refused", ref.text)
		return map[string]any{"not": map[string]any{}}
	}
	result := make(map[string]any, len(v.members))
	for _, m := range v.members {
		if p.keep(m, path) {
			result[m.key] = p.keyword(m, append(path, m.key))
		}
	}
	if !p.allPatterns(v) {
		// Without the pattern nobody knows which keys it covers, so nothing
		// can be said of the rest either.
		delete(result, "additionalProperties")
		delete(result, "unevaluatedProperties")
	}
	return result
}

func (p *preparation) allPatterns(v *value) bool {
	patterns := v.member("patternProperties")
	return patterns == nil || !slices.ContainsFunc(patterns.members, func(m member) bool {
		_, err := compilePattern(m.key)
		return err != nil
	})
}

// keep reports whether the library may see a keyword.
func (p *preparation) keep(m member, path []string) bool {
	switch m.key {
	case "$schema":
		if m.value.kind == text && !drafts.MatchString(m.value.text) {
			p.warn(path, m.key, "%s is not a known draft", m.value.text)
			return false
		}
		p.hasDraft = p.hasDraft || len(path) == 0
	case "pattern":
		if _, err := compilePattern(m.value.text); m.value.kind == text && err != nil {
			p.warn(path, m.key, "not checked: %v", err)
			return false
		}
	}
	return true
}

func (p *preparation) keyword(m member, path []string) any {
	v := m.value
	switch {
	case v.kind == object && slices.Contains(holdsMap, m.key):
		result := make(map[string]any, len(v.members))
		for _, sub := range v.members {
			if m.key == "patternProperties" {
				if _, err := compilePattern(sub.key); err != nil {
					p.warn(path, sub.key, "not checked: %v", err)
					continue
				}
			}
			result[sub.key] = p.schema(sub.value, append(path, sub.key))
		}
		return result
	case v.kind == array && slices.Contains(holdsList, m.key):
		result := make([]any, len(v.items))
		for i, item := range v.items {
			result[i] = p.schema(item, append(path, strconv.Itoa(i)))
		}
		return result
	case slices.Contains(holdsSchema, m.key):
		return p.schema(v, path)
	default:
		return v.any()
	}
}

// resolves reports whether a reference stays inside of the document, or names
// a draft's own schema, which the library has built in.
func (p *preparation) resolves(ref string) bool {
	if drafts.MatchString(ref) || p.addresses[ref] || p.addresses[strings.TrimSuffix(ref, "#")] {
		return true
	}
	if strings.HasPrefix(ref, "#") {
		return resolve(p.root, ref) != nil
	}
	base, _, _ := strings.Cut(ref, "#")
	for a := range p.addresses {
		if base != "" && (a == base || strings.HasSuffix(a, "/"+strings.TrimPrefix(base, "/"))) {
			return true
		}
	}
	return false
}

// resolve follows a reference of the form #/a/b; nil if nothing is there.
func resolve(root *value, ref string) *value {
	path, ok := strings.CutPrefix(ref, "#")
	names := strings.Split(path, "/") // of "#" the one empty name
	if !ok || names[0] != "" {
		return nil // an address, or an anchor
	}
	for i, name := range names {
		names[i] = unescapeName.Replace(unescapeURL(name))
	}
	return root.at(names[1:])
}

func (p *preparation) warn(path []string, keyword, format string, args ...any) {
	at := dotted(append(slices.Clone(path), keyword))
	p.warnings = append(p.warnings, at+": "+fmt.Sprintf(format, args...))
}

var (
	escapeName   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeName = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer is the JSON pointer of a path.
func pointer(path []string) string {
	var b strings.Builder
	for _, name := range path {
		b.WriteByte('/')
		b.WriteString(escapeName.Replace(name))
	}
	return b.String()
}

// unescapeURL undoes the percent-encoding of a URL fragment.
func unescapeURL(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

// codeUnit is the escape of ECMA-262 that RE2 writes as \x{…}.
var codeUnit = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)

func compilePattern(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(codeUnit.ReplaceAllString(pattern, `\x{$1}`))
	if err != nil {
		return nil, fmt.Errorf("RE2 cannot express the pattern: %w", err)
	}
	return declared{re, pattern}, nil
}

// declared is a pattern that prints as it was declared.
type declared struct {
	*regexp.Regexp
	pattern string
}

func (d declared) String() string { return d.pattern }
