package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// projectConfig is looked for in the working directory.
const projectConfig = ".turnlog.yaml"

// A setting is a flag that can also come from the environment and from
// configuration files. Precedence: flag, TURNLOG_* variable, .turnlog.yaml,
// the user's config.yaml, default.
type setting struct {
	command, flag string
	section       string // of the configuration file: output::COMMAND or limits
}

// settings is the table of them.
func settings() []setting {
	return []setting{
		{"run", "format", "output::run"},
		{"run", "out", "output::run"},
		{"run", "sync", "output::run"},
		{"run", "quiet", "output::run"},
		{"run", "progress", "output::run"},
		{"run", "report", "output::run"},
		{"run", "jobs", "limits"},
		{"run", "max-turns", "limits"},
		{"run", "max-tokens", "limits"},
		{"run", "max-cost-usd", "limits"},
		{"run", "max-wall", "limits"},
		{"replay", "format", "output::replay"},
		{"verify", "format", "output::verify"},
		{"verify", "fail-on", "output::verify"},
		{"verify", "baseline", "output::verify"},
		{"verify", "progress", "output::verify"},
		{"diff", "format", "output::diff"},
	}
}

func (s setting) key() string { return s.section + "::" + s.flag }

// env lists the variables of a setting: TURNLOG_VERIFY_FORMAT speaks to one
// command and wins over TURNLOG_FORMAT, which speaks to all that have the flag.
func (s setting) env() []string {
	name := strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
	return []string{"TURNLOG_" + strings.ToUpper(s.command) + "_" + name, "TURNLOG_" + name}
}

// configure gives each flag of c that was not set on the command line its
// configured value. Commands without settings do not read the configuration.
func configure(c *cobra.Command, s Streams) error {
	own := slices.DeleteFunc(settings(), func(set setting) bool { return set.command != c.Name() })
	if len(own) == 0 {
		return nil
	}
	conf, err := readConfig(s)
	if err != nil {
		return err
	}
	for _, set := range own {
		flag := c.Flags().Lookup(set.flag)
		if flag == nil || flag.Changed {
			continue
		}
		value, source := conf.lookup(set, s)
		if source == "" {
			continue
		}
		if err := assign(flag, value); err != nil {
			return usagef("%s: invalid value %q: %w", source, strings.Join(value, ","), err)
		}
	}
	return nil
}

func assign(f *pflag.Flag, value []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(value)
	}
	return f.Value.Set(strings.Join(value, ","))
}

// config is the configuration files, merged.
type config struct {
	v       *viper.Viper
	sources []configFile // least important first
}

type configFile struct {
	name string
	v    *viper.Viper
}

// newViper joins keys by "::": rule options and ids may have dots.
func newViper() *viper.Viper { return viper.NewWithOptions(viper.KeyDelimiter("::")) }

// readConfig reads the user's file, which a CI job must not depend on, and
// then the project's.
func readConfig(s Streams) (*config, error) {
	conf := &config{v: newViper()}
	var files []string
	if s.Getenv != nil && s.Env("CI") == "" { // without an environment there is no user
		if dir, err := os.UserConfigDir(); err == nil {
			files = append(files, filepath.Join(dir, "turnlog", "config.yaml"))
		}
	}
	for _, name := range append(files, projectConfig) {
		if err := conf.merge(name); err != nil {
			return nil, err
		}
	}
	return conf, nil
}

func (c *config) merge(name string) error {
	file := newViper()
	file.SetConfigFile(name)
	file.SetConfigType("yaml")
	err := file.ReadInConfig()
	var parse viper.ConfigParseError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &parse):
		return usagef("read %s: %w", name, parse.Unwrap()) // the file is named already
	case err != nil:
		return usagef("read %s: %w", name, err)
	}
	for _, key := range slices.Sorted(slices.Values(file.AllKeys())) {
		if err := checkKey(name, key); err != nil {
			return err
		}
	}
	c.sources = append(c.sources, configFile{name, file})
	if err := c.v.MergeConfigMap(file.AllSettings()); err != nil {
		return fmt.Errorf("merge %s: %w", name, err)
	}
	return nil
}

// secret matches keys that name an endpoint or a credential. A repository's
// .turnlog.yaml is other people's text: if it could say where requests go, a
// checkout could send a key elsewhere.
var secret = regexp.MustCompile(`(^|[-_:])(base[-_]?url|url|endpoint|host|proxy|api[-_]?key|key|token|secret|password|headers?|authorization)s?($|[-_:])`)

// checkKey refuses a key that configures nothing: a typo must not pass.
func checkKey(file, key string) error {
	section, _, _ := strings.Cut(key, "::")
	known := []string{}
	for _, s := range settings() {
		if key == s.key() {
			return nil
		}
		if strings.HasPrefix(s.key(), section+"::") {
			known = append(known, dotted(s.key()))
		}
	}
	switch {
	case section == "rules" && key != section:
		return nil // ids and options are the rules' to check
	case secret.MatchString(key):
		return usagef("%s: %s: endpoints and keys are not configured here", file, dotted(key)).
			hint("the model section of the task file names them; keys come from the environment")
	case len(known) == 0:
		return usagef("%s: unknown key %s", file, dotted(key)).hint("known sections: rules, output, limits")
	}
	return usagef("%s: unknown key %s", file, dotted(key)).hint("known: %s", strings.Join(known, ", "))
}

// dotted is a key as people write it.
func dotted(key string) string { return strings.ReplaceAll(key, "::", ".") }

// lookup returns the value of a setting and who said so, "" if nobody did.
func (c *config) lookup(set setting, s Streams) (value []string, source string) {
	for _, name := range set.env() {
		if v := s.Env(name); v != "" {
			return []string{v}, name
		}
	}
	for _, file := range slices.Backward(c.sources) {
		if file.v.IsSet(set.key()) {
			return asStrings(file.v.Get(set.key())), file.name + ": " + dotted(set.key())
		}
	}
	return nil, ""
}

// asStrings reads a scalar or a list. Viper's own conversion splits a string
// at white space, and paths have some.
func asStrings(value any) []string {
	list, ok := value.([]any)
	if !ok {
		return []string{fmt.Sprint(value)}
	}
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// ruleSettings is what the files say about one rule: a level, or a level and
// options.
type ruleSettings struct {
	Level   string // "" if not set
	Options map[string]any
}

// rules returns the rules section by rule id.
func (c *config) rules() (map[string]ruleSettings, error) {
	out := map[string]ruleSettings{}
	section, ok := c.v.Get("rules").(map[string]any)
	if !ok && c.v.IsSet("rules") {
		return nil, usagef("%s: rules: must map rule ids to a level or to options", c.sources[len(c.sources)-1].name)
	}
	for id, value := range section {
		switch v := value.(type) {
		case string:
			out[id] = ruleSettings{Level: v}
		case bool: // YAML reads a bare on or off as a truth value in places
			out[id] = ruleSettings{Level: map[bool]string{true: "on", false: "off"}[v]}
		case map[string]any:
			r := ruleSettings{Options: v}
			if level, ok := v["severity"]; ok {
				r.Level = fmt.Sprint(level)
				delete(v, "severity")
			}
			out[id] = r
		default:
			return nil, usagef("rules.%s: must be off, error, warning, note or a map of options", id)
		}
	}
	return out, nil
}
