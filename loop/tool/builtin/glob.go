package builtin

import (
	"fmt"
	"regexp"
	"strings"
)

// glob matches slash-separated paths: * and ? within a name, ** over any
// number of directories, [a-z] and [!a-z], {a,b}. A pattern without a slash
// matches the last name of a path.
type glob struct {
	re   *regexp.Regexp
	base bool
}

func compileGlob(pattern string) (glob, error) {
	re, err := globExpression(pattern)
	if err != nil {
		return glob{}, fmt.Errorf("glob pattern %q: %w", pattern, err)
	}
	compiled, err := regexp.Compile(`^(?s:` + re + `)$`)
	if err != nil {
		return glob{}, fmt.Errorf("glob pattern %q is malformed", pattern)
	}
	return glob{compiled, !strings.Contains(pattern, "/")}, nil
}

func (g glob) match(path string) bool {
	if g.re == nil {
		return true // no pattern
	}
	if g.base {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return g.re.MatchString(path)
}

// globExpression writes a pattern as a regular expression.
func globExpression(pattern string) (string, error) {
	var b strings.Builder
	open := 0
	p := strings.TrimPrefix(pattern, "./")
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case strings.HasPrefix(p[i:], "**/") && (i == 0 || p[i-1] == '/'):
			b.WriteString(`(?:[^/]+/)*`)
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(p[i+1:], ']')
			if end < 1 {
				return "", fmt.Errorf("[ without ]")
			}
			class := strings.ReplaceAll(p[i+1:i+1+end], `\`, `\\`)
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + class + "]")
			i += 1 + end
		case c == '{':
			b.WriteString("(?:")
			open++
		case c == '}' && open > 0:
			b.WriteString(")")
			open--
		case c == ',' && open > 0:
			b.WriteString("|")
		case c == '\\' && i+1 < len(p):
			i++
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	if open > 0 {
		return "", fmt.Errorf("{ without }")
	}
	return b.String(), nil
}
