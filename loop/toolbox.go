package loop

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/schema"
	"github.com/turnlog/turnlog/replay/transcript"
)

// toolbox is the executable tools.
type toolbox struct {
	list     []Tool
	byName   map[string]*Tool
	schemas  map[string]*schema.Schema // compiled when first used
	declared bool                      // the view declares exactly these tools
}

func (b *toolbox) set(tools []Tool) error {
	byName := make(map[string]*Tool, len(tools))
	for i := range tools {
		name := tools[i].Name
		if byName[name] != nil {
			return fmt.Errorf("two tools are named %q: a call could mean either, so names must be unique", name)
		}
		byName[name] = &tools[i]
	}
	*b = toolbox{list: tools, byName: byName, schemas: make(map[string]*schema.Schema, len(tools))}
	return nil
}

// schema compiles the parameters of a tool once.
func (b *toolbox) schema(t *Tool) (*schema.Schema, error) {
	if s := b.schemas[t.Name]; s != nil {
		return s, nil
	}
	s, err := schema.Compile(t.Parameters)
	if err != nil {
		return nil, fmt.Errorf("compile the parameters of tool %q: %w", t.Name, err)
	}
	b.schemas[t.Name] = s
	return s, nil
}

func (b *toolbox) declarations() []transcript.Tool {
	decls := make([]transcript.Tool, len(b.list))
	for i := range b.list {
		decls[i] = b.list[i].Tool
	}
	return decls
}
