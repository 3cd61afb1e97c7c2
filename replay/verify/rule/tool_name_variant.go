package rule

import "github.com/turnlog/turnlog/replay/verify"

func toolNameVariant() verify.Rule {
	return verify.Rule{
		ID:       "tool-name-variant",
		Group:    groupTools,
		Severity: verify.Error,
		Title:    "a called name is not declared but is a declared one in other letters, with a prefix, or doubled",
		Why: "The runtime repaired the name, so a replay differs from what was logged, or it failed " +
			"(tontinton/maki#518: functions., NousResearch/hermes-agent#701: Read_file, #11984: doubled while the stream was put together). An error if the call ran, a warning otherwise.",
		Fix:   "Repair names in one place, before the message is recorded.",
		Quiet: "Names that are declared as they were called.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"list_dir","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"functions.List-Dir","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"list_dir","content":[{"type":"text","text":"x"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"list_dir","description":"d","parameters":{"type":"object"}},{"name":"List-Dir","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"List-Dir","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"List-Dir","content":[{"type":"text","text":"x"}],"isError":false}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Standing != verify.Undeclared || c.Turn.Failed {
				return
			}
			name, ok := variant(c.Name, p.Path.Tools())
			if !ok {
				return
			}
			f := c.Finding("the tool %s is not declared; %s is", quote(c.Name), quote(name))
			if name == "" {
				f.Message = "the tool " + quote(c.Name) + " is not declared, and several declared names are alike: which one was meant is ambiguous"
			}
			f.Subject = c.ID
			p.Suspect(c, verify.Error, verify.Warning, f, onlyIfDeclared)
		}}),
	}
}
