package table

import (
	"iter"
	"strings"

	"gopkg.in/yaml.v3"
)

// Node is a value in the tree of a file. Aliases are followed wherever the tree
// is walked.
type Node yaml.Node

// IsMapping says whether the value has keys.
func (n *Node) IsMapping() bool { return n.Kind == yaml.MappingNode }

// IsList says whether the value has items.
func (n *Node) IsList() bool { return n.Kind == yaml.SequenceNode }

// IsScalar says whether the value has neither.
func (n *Node) IsScalar() bool { return n.Kind == yaml.ScalarNode }

// IsInteger says whether the value is a whole number.
func (n *Node) IsInteger() bool { return n.IsScalar() && n.tag() == "!!int" }

func (n *Node) tag() string { return (*yaml.Node)(n).ShortTag() }

func (n *Node) isMerge() bool { return n.IsScalar() && n.tag() == "!!merge" }

// target is what an alias stands for.
func target(n *yaml.Node) *Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return (*Node)(n)
}

// Items lists what a list has.
func (n *Node) Items() []*Node {
	if !n.IsList() {
		return nil
	}
	items := make([]*Node, len(n.Content))
	for i, item := range n.Content {
		items[i] = target(item)
	}
	return items
}

// Pairs yields the keys and values of a mapping as they stand in the file.
func (n *Node) Pairs() iter.Seq2[*Node, *Node] {
	return func(yield func(key, value *Node) bool) {
		for i := 0; n.IsMapping() && i+1 < len(n.Content); i += 2 {
			if !yield((*Node)(n.Content[i]), target(n.Content[i+1])) {
				return
			}
		}
	}
}

// Member is a key of a mapping with its value.
type Member struct {
	Name       string
	Key, Value *Node
}

// Members lists a mapping in file order with its merge keys written out: keys
// of the mapping itself win, then those of the first merged mapping.
func (n *Node) Members() []Member {
	var list []Member
	have := map[string]bool{}
	add := func(m Member) {
		if !have[m.Name] {
			have[m.Name] = true
			list = append(list, m)
		}
	}
	for key, value := range n.Pairs() {
		if !key.isMerge() {
			add(Member{key.Value, key, value})
		}
	}
	for key, value := range n.Pairs() {
		if key.isMerge() {
			for _, source := range value.merged() {
				for _, m := range source.Members() {
					add(m)
				}
			}
		}
	}
	return list
}

// merged lists what a merge key merges: a mapping, or a list of them.
func (n *Node) merged() []*Node {
	if n.IsList() {
		return n.Items()
	}
	return []*Node{n}
}

// Find gives the value of a key; nil if it is not there.
func (n *Node) Find(name string) *Node {
	for _, m := range n.Members() {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Describe is how the value is called in messages.
func (n *Node) Describe() string {
	switch n = target((*yaml.Node)(n)); n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch n.tag() {
		case "!!null":
			return "nothing"
		case "!!int", "!!float":
			return "the number " + strings.Trim(Quote(n.Value), `"`)
		case "!!bool":
			return n.Value
		}
		return Quote(n.Value)
	}
	return "something else"
}

// Nodes lists every value of the tree and every key once, what holds others
// before them. The tree may be one that cannot be read.
func (d *Decoder) Nodes() (all []*Node) {
	if d.tree == nil {
		return nil
	}
	seen := map[*Node]bool{d.tree: true}
	all = append(all, d.tree)
	for i := 0; i < len(all); i++ {
		for _, child := range all[i].Content {
			if n := target(child); !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	return all
}
