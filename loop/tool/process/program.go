package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/schema"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Program is a program as a tool. It gets the arguments of a call twice: as
// one line of JSON on its input, and in place of {name} in its command line.
// There is no shell: what the model writes is never more than (a part of) one
// argument.
type Program struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object; nil takes no arguments
	Argv        []string        // the program, relative to the working directory or in PATH, and its arguments
	Effects     loop.Effects    // "" is External
	Paths       []string        // arguments that name files
}

var placeholder = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_-]*\}`)

// NewProgram makes a tool of a program. The error says what is wrong with its
// description.
func NewProgram(p Program, o tool.Options) (loop.Tool, error) {
	o, err := o.Ready()
	if err != nil {
		return loop.Tool{}, err
	}
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return loop.Tool{}, fmt.Errorf("tool %s has no program to run", p.Name)
	}
	if placeholder.MatchString(p.Argv[0]) {
		return loop.Tool{}, fmt.Errorf("tool %s lets the model choose the program; write its name instead of %s", p.Name, p.Argv[0])
	}
	if len(p.Parameters) == 0 {
		p.Parameters = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_, err = schema.Compile(p.Parameters)
	if err == nil {
		err = json.Unmarshal(p.Parameters, &declared)
	}
	if err != nil {
		return loop.Tool{}, fmt.Errorf("parameters of tool %s: %w", p.Name, err)
	}
	return loop.Tool{
		Tool:       transcript.Tool{Name: p.Name, Description: p.Description, Parameters: p.Parameters},
		Sequential: o.Sequential,
		Effects:    p.Effects,
		Arguments:  tool.Paths(p.Paths...),
		Run: func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			argv, err := p.argv(declared.Properties, call.Arguments)
			if err != nil {
				return loop.Result{}, err
			}
			var line bytes.Buffer
			if err := json.Compact(&line, call.Arguments); err != nil {
				return loop.Result{}, fmt.Errorf("read arguments of %s: %w", p.Name, err)
			}
			line.WriteByte('\n')
			run := Call{Argv: argv, Stdin: line.Bytes(), Timeout: o.Timeout, Apart: true}
			return run.Run(ctx, o, progress)
		},
	}, nil
}

// argv puts the arguments into the command line. known are those that a call
// may have.
func (p *Program) argv(known map[string]json.RawMessage, arguments json.RawMessage) ([]string, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, fmt.Errorf("read arguments of %s: %w", p.Name, err)
	}
	var errs []error
	argv := slices.Clone(p.Argv)
	for i := range argv[1:] {
		argv[i+1] = placeholder.ReplaceAllStringFunc(argv[i+1], func(s string) string {
			name := s[1 : len(s)-1]
			value, given := args[name]
			if _, declared := known[name]; !given && !declared {
				return s // braces that mean something to the program
			}
			plain, err := plainText(value)
			if err != nil {
				errs = append(errs, fmt.Errorf("argument %s: %w", name, err))
			}
			return plain
		})
	}
	return argv, errors.Join(errs...)
}

// plainText is a JSON value as an argument of a program: a text without its
// quotes, anything else as JSON. What is absent or null is empty.
func plainText(value json.RawMessage) (string, error) {
	if len(value) == 0 || string(value) == "null" {
		return "", nil
	}
	if value[0] != '"' {
		return string(value), nil
	}
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return "", err
	}
	if strings.ContainsRune(s, 0) {
		return "", errors.New("a program's argument cannot hold a NUL character")
	}
	return s, nil
}
