package task

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/turnlog/turnlog/replay/schema"
)

// schemaOrFile is a JSON Schema in place or in a file. A mapping whose only
// key is file is no schema: it has no keyword of that name.
func schemaOrFile() value[json.RawMessage] {
	file := object[string]{
		name: "schema",
		keys: []key[string]{to("file", fileText(), func(s *string) *string { return s }, "File with the JSON Schema.").must()},
	}.value("")
	inline := objectJSON()
	return value[json.RawMessage]{
		schema: &schemaNode{AnyOf: []*schemaNode{file.schema, inline.schema}},
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			if n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Value != "file" {
				raw, ok := inline.decode(d, n)
				return raw, ok && d.compiles(n, raw)
			}
			text, ok := file.decode(d, n)
			if !ok {
				return nil, false
			}
			var top map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &top); err != nil {
				d.at(n, "", "the file is no JSON object: %s", oneLine(err.Error()))
				return nil, false
			}
			return json.RawMessage(text), d.compiles(n, json.RawMessage(text))
		},
	}
}

// parameters is a JSON Schema for arguments, which are always an object.
func parameters() value[json.RawMessage] {
	return value[json.RawMessage]{
		schema: &schemaNode{Type: "object"},
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			raw, ok := objectJSON().decode(d, n)
			if !ok {
				return nil, false
			}
			var top struct{ Type any }
			if err := json.Unmarshal(raw, &top); err != nil || top.Type != "object" {
				d.at(n, "", "parameters need type: object, as arguments are one")
				return nil, false
			}
			return raw, d.compiles(n, raw)
		},
	}
}

// schemaPlace is where a compiler of JSON Schema says that one is wrong. Of
// several places the last is the innermost.
var schemaPlace = regexp.MustCompile(`at '((?:/[^'/]*)+)'`)

// compiles reports a JSON Schema that is none, at the value that is wrong if
// it can be found. Each is compiled once per file, as every task of a matrix
// has it again.
func (d *decoder) compiles(n *yaml.Node, raw json.RawMessage) bool {
	err, known := d.schemas[string(raw)]
	if !known {
		err = compile(raw)
		d.schemas[string(raw)] = err
	}
	if err == nil {
		return true
	}
	places := schemaPlace.FindAllStringSubmatch(err.Error(), -1)
	if len(places) == 0 {
		d.at(n, "", "no JSON Schema: %s", oneLine(err.Error()))
		return false
	}
	pointer := places[len(places)-1][1]
	if at := follow(n, pointer); at != nil {
		d.at(at, "", "%s is not possible in a JSON Schema here", kindName(at))
	} else {
		d.at(n, "", "no JSON Schema: see %s in it", pointer)
	}
	return false
}

// compile also refuses a reference that leads nowhere: no network is asked for
// it, and the validator refuses what reaches it, so that each answer or call
// would be paid for and sent back.
func compile(raw json.RawMessage) error {
	s, err := schema.Compile(raw)
	if err == nil && s.Unresolved() {
		err = errors.New("a $ref in it leads nowhere; it can only lead to a place in this schema, such as #/$defs/name")
	}
	return err
}

// follow walks a JSON pointer; nil if it leads nowhere.
func follow(n *yaml.Node, pointer string) *yaml.Node {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = unescape.Replace(step)
		switch n.Kind {
		case yaml.MappingNode:
			n = find(n, step)
		case yaml.SequenceNode:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.Content) {
				return nil
			}
			n = target(n.Content[i])
		default:
			return nil
		}
		if n == nil {
			return nil
		}
	}
	return n
}
