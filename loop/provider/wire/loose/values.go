// Package loose decodes JSON values of endpoints that do not keep to the types of
// the format, and texts whose characters were cut apart.
package loose

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// String is a string for which a number or a boolean will do.
type String string

// UnmarshalJSON never fails.
func (s *String) UnmarshalJSON(b []byte) error {
	*s = ""
	switch {
	case len(b) >= 2 && b[0] == '"':
		*s = String(inside(b).String())
	case len(b) > 0 && b[0] == '[':
		var list []String
		_ = json.Unmarshal(b, &list)
		for i, e := range list {
			if i > 0 {
				*s += ", "
			}
			*s += e
		}
	case string(b) != "null" && len(b) > 0 && b[0] != '{':
		*s = String(b)
	}
	return nil
}

// Int is an integer for which a fraction or a quoted number will do, and the
// nearest one for a number that is too large. Nothing else is one: it is 0
// then, and not set.
type Int struct {
	N   int64
	Set bool
}

// UnmarshalJSON never fails.
func (v *Int) UnmarshalJSON(b []byte) error {
	*v = Int{}
	if len(b) == 1 && b[0] >= '0' && b[0] <= '9' { // the index of nearly every chunk
		*v = Int{int64(b[0] - '0'), true}
		return nil
	}
	text := strings.Trim(string(b), `"`)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*v = Int{n, true}
	} else if x, err := strconv.ParseFloat(text, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && !math.IsNaN(x) {
		*v = Int{int64(max(min(x, 1<<62), -1<<62)), true}
	}
	return nil
}
