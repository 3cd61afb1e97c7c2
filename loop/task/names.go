package task

import (
	"fmt"
	"slices"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// scope is what the names in expressions stand for. A nil map or an empty
// text means that the name has no meaning at this place of the file.
type scope struct {
	vars    map[string]table.Scalar // set or defaulted variables
	known   []string                // all declared variables
	matrix  map[string]table.Scalar
	axes    []string
	task    string
	place   string          // in messages: where in the file this is
	broken  map[string]bool // names whose value is wrong and was reported: vars.x, or matrix
	lenient bool            // an environment variable that is missing is no error: the model is not used
}

// lookup gives what a name stands for.
func (r *reader) lookup(space, name string) (table.Scalar, *table.Problem) {
	values := r.scope.vars
	if space == "matrix" {
		values = r.scope.matrix
	}
	switch {
	case r.scope.broken[space] || r.scope.broken[space+"."+name]:
		return problem("", "")
	case space == "env":
		return r.lookupEnv(name)
	case space == "task" || space == "batch":
		return r.lookupID(space, name)
	case space != "vars" && space != "matrix":
		return problem(table.Suggest(space, []string{"vars", "env", "matrix", "task", "batch"}, "they"), "nothing is called %s in expressions", space)
	case values == nil:
		return problem("", "%s is not known yet %s", space, r.scope.place)
	}
	got, set := values[name]
	switch {
	case set:
		return got, nil
	case space == "matrix":
		return problem(table.Suggest(name, r.scope.axes, "axes"), "the matrix has no axis %q", name)
	case !slices.Contains(r.scope.known, name):
		return problem(table.Suggest(name, r.scope.known, "variables"), "no variable %q is declared under vars", name)
	}
	return unset("set it with --var "+name+"=…, or give it a default", "the variable %q has no value", name)
}

// lookupEnv reads the environment. A secret must not come in this way: the
// text would be in the transcript and in the request.
func (r *reader) lookupEnv(name string) (table.Scalar, *table.Problem) {
	text, set := r.opts.Env(name)
	switch {
	case r.secretEnv[name]:
		return problem("", "env.%s holds a key, as the file says elsewhere, and would be written into the transcript", name)
	case set && table.LooksLikeKey(text):
		return problem(keyHint, "the value of env.%s looks like an API key and would be written into the transcript", name)
	case set:
		return table.Scalar{Kind: table.Untyped, Text: text}, nil
	case r.scope.lenient:
		return unset("", "")
	}
	return unset("give a default: ${{ env."+name+" ?? 'text' }}", "the environment variable %s is not set", name)
}

func (r *reader) lookupID(space, name string) (table.Scalar, *table.Problem) {
	id := r.scope.task
	if space == "batch" {
		id = r.opts.BatchID
	}
	switch {
	case name != "id":
		return problem("did you mean \""+space+".id\"?", "nothing is called %s.%s", space, name)
	case id != "":
		return table.Scalar{Kind: table.TextKind, Text: id}, nil
	case space == "batch":
		return problem("", "batch.id is not known outside of a batch")
	}
	return problem("", "task.id is not known yet %s", r.scope.place)
}

// problem is a name that has no meaning here.
func problem(hint, format string, args ...any) (table.Scalar, *table.Problem) {
	return table.Scalar{}, &table.Problem{Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// unset is a name that could have a value.
func unset(hint, format string, args ...any) (table.Scalar, *table.Problem) {
	return table.Scalar{}, &table.Problem{Msg: fmt.Sprintf(format, args...), Hint: hint, Unset: true}
}
