package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of a file. Without them a small one could cost minutes: each key of a
// mapping is compared with the others, and aliases multiply.
const (
	maxFile    = 1 << 20 // bytes
	maxKeys    = 2_000   // of one mapping
	maxNesting = 64
	maxNodes   = 200_000 // of the file with its aliases written out
)

// Decoder reads values out of the tree of one file and collects what is wrong
// with them.
type Decoder struct {
	File string // its name, for messages
	Root *Node  // its top mapping; nil if the file cannot be read
	Size int    // values, with the aliases written out

	// Lookup gives what a name in an expression stands for: ${{ space.name }}.
	// Without it there are no expressions. A problem without a text was
	// reported before.
	Lookup func(space, name string) (Scalar, *Problem)
	Syntax string // hint at what an expression may be

	ReadFile func(path string) ([]byte, error) // for files that the file names

	format   Format
	tree     *Node
	lines    []string
	compiled map[string]error // JSON Schemas, with what is wrong with them
	list     Errors
	seen     map[Error]bool
	reports  int // problems that were met, those that were known too
}

// Format is what messages say of a kind of files.
type Format struct {
	Name     string  // without article: task file
	Smallest string  // hint at what a file has at least
	Second   Problem // of a second document
}

// Open reads the one document of a file. The tree at Root can be walked
// without fear: no cycles, no bombs, no duplicate keys, only scalars of the
// JSON kinds.
func Open(name string, data []byte, f Format) *Decoder {
	d := &Decoder{File: name, format: f, seen: map[Error]bool{}, compiled: map[string]error{}}
	if len(data) > maxFile {
		d.add(1, 1, Problem{Msg: fmt.Sprintf("the file has %d bytes, a %s may have %d", len(data), f.Name, maxFile)})
		return d
	}
	d.lines = strings.Split(string(data), "\n")
	docs, err := readDocuments(data)
	if err != nil {
		line, msg := yamlError(err)
		line, column := d.locateTab(line, msg)
		d.add(line, column, Problem{Msg: "not YAML: " + msg})
		return d
	}
	if len(docs) > 1 {
		d.add(docs[1].Line, docs[1].Column, f.Second)
	}
	if len(docs) == 0 || len(docs[0].Content) == 0 || docs[0].Content[0].ShortTag() == "!!null" {
		d.add(1, 1, Problem{Msg: "the file is empty", Hint: f.Smallest})
		return d
	}
	root := (*Node)(docs[0].Content[0])
	if !root.IsMapping() {
		d.At(root, f.Smallest, "want a mapping of keys, found %s", root.Describe())
		return d
	}
	d.tree = root
	g := guard{Decoder: d, sizes: map[*yaml.Node]int{}}
	d.Size = g.visit(docs[0].Content[0], 0)
	if !g.fatal {
		d.Root = root
	}
	return d
}

// readDocuments gives the first two documents, as far as they are there.
func readDocuments(data []byte) (docs []*yaml.Node, err error) {
	// yaml.v3 is archived and has known ways to panic on malformed input.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: cannot be read: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for len(docs) < 2 {
		doc := new(yaml.Node)
		if err := dec.Decode(doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

var yamlErrorText = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// yamlError takes line and text out of an error of yaml.v3, which has no
// columns. It counts lines from 0 in errors of its parser and from 1 in those
// of its scanner (decode.go, parser.fail); the parser's begin with "did not".
func yamlError(err error) (line int, msg string) {
	m := yamlErrorText.FindStringSubmatch(err.Error())
	if m == nil {
		return 1, OneLine(err.Error())
	}
	line, _ = strconv.Atoi(m[1]) // none is 0, the place is the start then
	if strings.HasPrefix(m[2], "did not find expected") {
		line++
	}
	return max(line, 1), OneLine(m[2])
}

// locateTab finds the tab that an error is about: its line is the one where
// the value before it starts. Other errors keep their line.
func (d *Decoder) locateTab(line int, msg string) (int, int) {
	if strings.Contains(msg, "tab character") {
		for i := line - 1; i < len(d.lines); i++ {
			indent := d.lines[i][:len(d.lines[i])-len(strings.TrimLeft(d.lines[i], " \t"))]
			if at := strings.Index(indent, "\t"); at >= 0 {
				return i + 1, at + 1
			}
		}
	}
	return line, 1
}

// OneLine is a text of another program for a message.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// guard checks what must hold before a tree may be read.
type guard struct {
	*Decoder
	sizes map[*yaml.Node]int // written-out size; -1 while being visited
	fatal bool               // the tree must not be walked
}

// visit gives the size of a node with its aliases written out.
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
		g.tag(n, "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge")
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
		g.At((*Node)(n), "", format, args...)
	}
	g.fatal = true
}

func (g *guard) tag(n *yaml.Node, want ...string) {
	if !slices.Contains(want, n.ShortTag()) {
		g.stop(n, "the tag %s means nothing here", n.Tag)
	}
}

func (g *guard) mapping(n *yaml.Node) {
	g.tag(n, "!!map")
	if len(n.Content)/2 > maxKeys {
		g.stop(n, "a mapping of %d keys, at most %d are read", len(n.Content)/2, maxKeys)
		return
	}
	lines := map[string]int{}
	for key, value := range (*Node)(n).Pairs() {
		first, twice := lines[key.Value]
		switch {
		case key.isMerge():
			g.merge(value)
		case !key.IsScalar():
			g.stop((*yaml.Node)(key), "a key must be plain text, found %s", key.Describe())
			return
		case twice:
			g.At(key, "", "the key %q is here twice, first in line %d", key.Value, first)
		default:
			lines[key.Value] = key.Line
		}
	}
}

// merge checks what stands behind a merge key.
func (g *guard) merge(value *Node) {
	for _, source := range value.merged() {
		if !source.IsMapping() {
			g.stop((*yaml.Node)(source), "<< merges mappings, found %s", source.Describe())
		}
	}
}
