package task

import (
	"strings"

	"github.com/turnlog/turnlog/loop/task/internal/table"
	builtins "github.com/turnlog/turnlog/loop/tool/builtin"
)

// Schema is the JSON Schema (draft 2020-12) of task files, made of the same
// tables that read them. It says less than Parse: what keys mean together is
// in the descriptions.
func Schema() []byte {
	r := &reader{}
	var keys, assertion table.Keys
	r.fileKeys(&keys)
	r.taskKeys(&keys)
	r.assertionKeys(&assertion, new(Assertion))
	root := keys.Schema()
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "turnlog task file"
	root.OneOf = []*table.Schema{{Required: []string{"prompt"}}, {Required: []string{"prompts"}}}
	root.Defs = table.Schemas{
		{Name: "expression", Schema: &table.Schema{
			Type: "string", Pattern: `\$\{\{.*\}\}`,
			Description: "Expanded before anything starts: ${{ vars.x }} ${{ env.NAME }} ${{ env.NAME ?? 'default' }} ${{ matrix.x }} ${{ task.id }} ${{ batch.id }}",
		}},
		{Name: "model", Schema: r.modelMapping().Schema()},
		{Name: "response", Schema: answer().Schema()},
		{Name: "tool", Schema: toolSchema()},
		{Name: "assertion", Schema: assertion.Schema().OneKey()},
	}
	return root.Document()
}

// toolSchema lists the shapes of a tool.
func toolSchema() *table.Schema {
	var settings table.Schemas
	names := builtins.All().Names()
	for _, name := range names {
		settings = append(settings, table.Named{Name: name, Schema: builtin(name).Schema()})
	}
	return &table.Schema{AnyOf: []*table.Schema{
		{Type: "string", MinLength: 1, Description: "A built-in tool: " + strings.Join(names, " ") + ". In add also the name of a tool that was removed."},
		(&table.Schema{Type: "object", Description: "A built-in tool with settings.", Properties: settings, AdditionalProperties: false}).OneKey(),
		program().Schema().Described("A program as a tool."),
		mcp().Schema().Described("The tools of an MCP server."),
	}}
}
