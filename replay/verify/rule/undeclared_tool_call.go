package rule

import "github.com/turnlog/turnlog/replay/verify"

func undeclaredToolCall() verify.Rule {
	return verify.Rule{
		ID:       "undeclared-tool-call",
		Group:    groupTools,
		Severity: verify.Error,
		Title:    "a call names a tool that was never declared on its path",
		Why: "The model was not told of the tool: it made the name up, or the record does not show what the model was given. Clients crash on it or answer nothing " +
			"(pydantic/pydantic-ai#1255, openai/openai-agents-python#3402, livekit/agents#6085). An error if the call ran, a warning otherwise.",
		Fix:   "If the tool exists, declare it before its first use. If it does not, answer the call with an error.",
		Quiet: "Files without any declaration, calls before the first one, tools that the provider runs, names in aborted messages.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"read","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"how long is it?"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"measure","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"measure","content":[{"type":"text","text":"12"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a2","parentId":null,"message":{"role":"user","content":"how long is it?"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"measure","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"measure","content":[{"type":"text","text":"12"}],"isError":false}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Standing != verify.Undeclared || c.Turn.Failed {
				return
			}
			if _, ok := variant(c.Name, p.Path.Tools()); ok {
				return // tool-name-variant says more
			}
			f := c.Finding("the tool %s was never declared here", quote(c.Name))
			f.Subject = c.ID
			p.Suspect(c, verify.Error, verify.Warning, f, onlyIfDeclared)
		}}),
	}
}

// onlyIfDeclared keeps a finding about declarations if the file records them
// at all.
func onlyIfDeclared(file *verify.File, _ *verify.Finding) bool { return file.Declares }
