package table

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/schema"
)

// JSONSchema is a JSON Schema in place or in a file. A mapping whose only key
// is file is no schema: it has no keyword of that name.
func JSONSchema() Value[json.RawMessage] {
	inline := JSONObject()
	file := Mapping("schema", nil, func(k *Keys, raw *json.RawMessage) {
		text := Convert(FileText(), func(s string) json.RawMessage { return json.RawMessage(s) })
		To(k, "file", text, raw, "File with the JSON Schema.").Must()
	}).Then(func(d *Decoder, n *Node, raw *json.RawMessage) {
		var top map[string]json.RawMessage
		if err := json.Unmarshal(*raw, &top); err != nil {
			d.At(n, "", "the file is no JSON object: %s", OneLine(err.Error()))
		}
	})
	either := Either(file, inline)
	either.Decode = func(d *Decoder, n *Node) (json.RawMessage, bool) {
		if n.IsMapping() && len(n.Content) == 2 && n.Content[0].Value == "file" {
			return file.Decode(d, n)
		}
		return inline.Decode(d, n)
	}
	return either.Then(compiles)
}

// Parameters is a JSON Schema for arguments, which are always an object.
func Parameters() Value[json.RawMessage] {
	return JSONObject().Then(func(d *Decoder, n *Node, raw *json.RawMessage) {
		var top struct{ Type any }
		if err := json.Unmarshal(*raw, &top); err != nil || top.Type != "object" {
			d.At(n, "", "parameters need type: object, as arguments are one")
		}
	}).Then(compiles)
}

// schemaPlace is where a compiler of JSON Schema says that one is wrong. Of
// several places the last is the innermost.
var schemaPlace = regexp.MustCompile(`at '((?:/[^'/]*)+)'`)

// compiles reports a JSON Schema that is none, at the value that is wrong if
// it can be found. Each is compiled once per file, as every task of a matrix
// has it again.
func compiles(d *Decoder, n *Node, raw *json.RawMessage) {
	err, known := d.compiled[string(*raw)]
	if !known {
		err = compile(*raw)
		d.compiled[string(*raw)] = err
	}
	if err == nil {
		return
	}
	places := schemaPlace.FindAllStringSubmatch(err.Error(), -1)
	if len(places) == 0 {
		d.At(n, "", "no JSON Schema: %s", OneLine(err.Error()))
		return
	}
	pointer := places[len(places)-1][1]
	if at := follow(n, pointer); at != nil {
		d.At(at, "", "%s is not possible in a JSON Schema here", at.Describe())
	} else {
		d.At(n, "", "no JSON Schema: see %s in it", pointer)
	}
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
func follow(n *Node, pointer string) *Node {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, step := range strings.Split(pointer, "/")[1:] {
		i, err := strconv.Atoi(step)
		switch {
		case n.IsMapping():
			n = n.Find(unescape.Replace(step))
		case err == nil && i >= 0 && i < len(n.Items()):
			n = n.Items()[i]
		default:
			return nil
		}
		if n == nil {
			return nil
		}
	}
	return n
}
