package task

import "github.com/turnlog/turnlog/loop/task/internal/table"

const keyHint = "name an environment variable: api_key_env, headers_env"

// checkSecrets refuses values that are secrets, wherever they stand in a file,
// and keys whose text can only be one. No message repeats them. It gives the
// names of the environment variables that hold keys: what api_key_env and
// headers_env name.
func checkSecrets(d *table.Decoder) map[string]bool {
	env := map[string]bool{}
	headers := map[*table.Node]bool{} // a header may well be called X-Api-Key
	for _, n := range d.Nodes() {
		if table.LooksLikeKey(n.Value) {
			d.At(n, keyHint, "this looks like an API key; a task file holds no secrets")
		}
		for key, value := range n.Pairs() {
			switch {
			case key.Value == "api_key_env":
				env[value.Value] = true
			case key.Value == "headers_env":
				headers[value] = true
				for _, name := range value.Pairs() {
					env[name.Value] = true
				}
			case table.HoldsKey(key.Value, value) && !headers[n] && !table.LooksLikeKey(value.Value):
				d.At(key, keyHint, "%s: a task file holds no secrets", key.Value)
			}
		}
	}
	delete(env, "")
	return env
}
