package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	show "github.com/turnlog/turnlog/replay/text"
)

// Bounds of a task file. Without them a small file could cost minutes: yaml.v3
// checks mappings for duplicate keys in quadratic time (measured: 28 s for
// 80,000 keys), and aliases multiply.
const (
	maxFile    = 1 << 20 // bytes
	maxKeys    = 2_000   // of one mapping
	maxNesting = 64
	maxNodes   = 200_000 // of the file with its aliases written out
)

// document is the YAML text with its tree.
type document struct {
	lines []string
	root  *yaml.Node // the top mapping
	size  int        // values, with the aliases written out
}

// parseDocument reads the one document of a file. The tree it gives can be
// walked without fear: no cycles, no bombs, no duplicate keys, only scalars of
// the JSON kinds. Problems go to p; a nil document means there is no tree.
func parseDocument(data []byte, p *problems) *document {
	if len(data) > maxFile {
		p.add(1, 1, "", "the file has %d bytes, a task file may have %d", len(data), maxFile)
		return nil
	}
	doc, second, err := decodeDocuments(data)
	if err != nil {
		line, msg := yamlError(err)
		line, column := locateTab(data, line, msg)
		p.add(line, column, "", "not YAML: %s", msg)
		return nil
	}
	if second != nil {
		p.at(second, "split it into several files, or use matrix", "a second YAML document: a file holds one task")
	}
	if doc == nil || len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
		p.add(1, 1, "the smallest task has version, model and prompt", "the file is empty")
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		p.at(root, "the smallest task has version, model and prompt", "want a mapping of keys, found %s", kindName(root))
		return nil
	}
	g := guard{problems: p, sizes: map[*yaml.Node]int{}, names: map[*yaml.Node]bool{}}
	size := g.visit(root, 0)
	if g.fatal {
		return nil
	}
	return &document{lines: strings.Split(string(data), "\n"), root: root, size: size}
}

// decodeDocuments gives the first document and the one after it, if any.
func decodeDocuments(data []byte) (first, second *yaml.Node, err error) {
	// yaml.v3 is archived and has known ways to panic on malformed input.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: cannot be read: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var a, b yaml.Node
	if err := dec.Decode(&a); errors.Is(err, io.EOF) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	if err := dec.Decode(&b); errors.Is(err, io.EOF) {
		return &a, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	return &a, &b, nil
}

var yamlErrorText = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// yamlError takes line and text out of an error of yaml.v3, which has no
// columns. It counts lines from 0 in errors of its parser and from 1 in those
// of its scanner (decode.go, parser.fail); the parser's begin with "did not".
func yamlError(err error) (line int, msg string) {
	m := yamlErrorText.FindStringSubmatch(err.Error())
	if m == nil {
		return 1, oneLine(err.Error())
	}
	line, _ = strconv.Atoi(m[1]) // none is 0, the place is the start then
	if strings.HasPrefix(m[2], "did not find expected") {
		line++
	}
	return max(line, 1), oneLine(m[2])
}

// locateTab finds the tab that an error is about: its line is the one where
// the value before it starts. Other errors keep their line.
func locateTab(data []byte, line int, msg string) (int, int) {
	if !strings.Contains(msg, "tab character") {
		return line, 1
	}
	for i, text := range strings.Split(string(data), "\n") {
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if at := strings.Index(indent, "\t"); at >= 0 && i+1 >= line {
			return i + 1, at + 1
		}
	}
	return line, 1
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// guard checks what must hold before a tree may be decoded.
type guard struct {
	*problems
	sizes map[*yaml.Node]int  // written-out size; -1 while being visited
	names map[*yaml.Node]bool // mappings of names of variables: a header may be called X-Api-Key
	fatal bool                // the tree must not be walked
}

// visit gives the size of n with its aliases written out.
func (g *guard) visit(n *yaml.Node, depth int) int {
	if g.fatal {
		return 0
	}
	if size, ok := g.sizes[n]; ok {
		if size < 0 {
			g.stop(n, "an alias inside of what it stands for")
		}
		return size
	}
	if depth > maxNesting {
		g.stop(n, "nested deeper than %d levels", maxNesting)
		return 0
	}
	g.sizes[n] = -1
	size := 1
	switch n.Kind {
	case yaml.AliasNode:
		size = g.visit(n.Alias, depth+1)
	case yaml.ScalarNode:
		g.scalar(n)
	case yaml.MappingNode:
		g.mapping(n)
	case yaml.SequenceNode:
		g.tag(n, "!!seq")
	}
	for _, child := range n.Content {
		size += g.visit(child, depth+1)
	}
	if size > maxNodes {
		g.stop(n, "more than %d values with the aliases written out", maxNodes)
	}
	g.sizes[n] = size
	return size
}

func (g *guard) stop(n *yaml.Node, format string, args ...any) {
	if !g.fatal {
		g.at(n, "", format, args...)
	}
	g.fatal = true
}

func (g *guard) tag(n *yaml.Node, want ...string) {
	for _, w := range want {
		if n.ShortTag() == w {
			return
		}
	}
	g.stop(n, "the tag %s means nothing here", n.Tag)
}

func (g *guard) scalar(n *yaml.Node) {
	g.tag(n, "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge")
	g.literalKey(n)
}

func (g *guard) mapping(n *yaml.Node) {
	g.tag(n, "!!map")
	if len(n.Content)/2 > maxKeys {
		g.stop(n, "a mapping of %d keys, at most %d are read", len(n.Content)/2, maxKeys)
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			g.merge(val)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			g.stop(key, "a key must be plain text, found %s", kindName(key))
			return
		}
		if first, twice := lines[key.Value]; twice {
			g.at(key, "", "the key %q is here twice, first in line %d", key.Value, first)
		} else {
			lines[key.Value] = key.Line
		}
		if key.Value == "headers_env" {
			g.names[target(val)] = true
		}
		if !g.names[n] {
			g.literalKeyName(key, val)
		}
	}
}

// merge checks what stands behind a merge key.
func (g *guard) merge(val *yaml.Node) {
	sources := []*yaml.Node{target(val)}
	if sources[0].Kind == yaml.SequenceNode {
		sources = sources[0].Content
	}
	for _, s := range sources {
		if target(s).Kind != yaml.MappingNode {
			g.stop(s, "<< merges mappings, found %s", kindName(s))
		}
	}
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" }

// target is what an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// kindName is how a value is called in messages.
func kindName(n *yaml.Node) string {
	n = target(n)
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return "nothing"
		case "!!int", "!!float":
			return "the number " + strings.Trim(quoted(n.Value), `"`)
		case "!!bool":
			return n.Value
		}
		return quoted(n.Value)
	}
	return "something else"
}

// quoted is a value in a message: short, and nothing of it if it looks like a
// key.
func quoted(s string) string {
	const shown = 40
	if looksLikeKey(s) {
		return "a text that looks like an API key"
	}
	return strconv.Quote(show.Shorten(s, shown))
}

// member is a key of a mapping with its value.
type member struct {
	name  string
	key   *yaml.Node
	value *yaml.Node // never an alias
}

// members lists a mapping in file order with its merge keys written out: keys
// of the mapping itself win, then those of the first merged mapping.
func members(n *yaml.Node) []member {
	var list []member
	have := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !isMerge(key) && !have[key.Value] {
			have[key.Value] = true
			list = append(list, member{key.Value, key, target(n.Content[i+1])})
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		sources := []*yaml.Node{target(n.Content[i+1])}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, s := range sources {
			for _, m := range members(target(s)) {
				if !have[m.name] {
					have[m.name] = true
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// find gives the value of a key; nil if it is not there.
func find(n *yaml.Node, name string) *yaml.Node {
	for _, m := range members(n) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
