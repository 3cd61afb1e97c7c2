package rule

import (
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func replayMismatch() verify.Rule {
	return verify.Rule{
		ID:       "replay-mismatch",
		Group:    groupHistory,
		Severity: verify.Error,
		Title:    "what was recorded as sent differs from what a replay gives at that point",
		Why: "The transcript is no longer proof of what the model was asked: the request was built from something else, or the history was changed since. " +
			"turnlog writes the digest of each request before it goes out, and anybody can compute it again.",
		Fix:   "Compare turnlog replay --at with the recorded request; look for the first request that differs.",
		Quiet: "Requests whose messages a TransformContext changed: the record says so, and tools are compared all the same.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"custom","id":"a3","parentId":"a2","customType":"turnlog.request","data":{"n":1,"tools":[]}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"custom","id":"a3","parentId":"a2","customType":"turnlog.request","data":{"n":1,"tools":["ask"]}}
`,
		New: stateless(verify.Checker{Step: func(p *verify.Pass, e *transcript.Entry) {
			if e.Custom == nil || e.Custom.CustomType != transcript.CustomRequest || p.Path.Severed() {
				return
			}
			var r transcript.Request
			if err := e.Custom.Decode(&r); err != nil {
				p.Report(p.Finding("the record of the request cannot be read: %v", err))
				return
			}
			if why := mismatch(p, &r); why != "" {
				f := p.Finding("request %d: %s", r.N, why)
				p.Report(f)
			}
		}}),
	}
}

// mismatch says how a recorded request differs from the replay, "" if it does
// not.
func mismatch(p *verify.Pass, r *transcript.Request) string {
	if r.Tools != nil {
		if why := otherTools(p, r.Tools); why != "" {
			return why
		}
	}
	if r.Sent != "" {
		p.Note("requests: what was sent in place of the replayed messages cannot be recomputed, such as on line %d", p.Entry().Line)
	}
	if r.Digest == "" {
		return ""
	}
	digest, messages, ok := p.Request(r)
	switch {
	case !ok:
		p.Note("requests: a digest cannot be recomputed, such as on line %d (the transport's mode is not none)", p.Entry().Line)
	case messages != r.Messages:
		return "recorded were " + itoa(r.Messages) + " messages, the replay gives " + itoa(messages)
	case digest != r.Digest:
		return "the digest is not that of the replay"
	}
	return ""
}

func otherTools(p *verify.Pass, recorded []string) string {
	var replayed []string
	for _, d := range p.Path.Tools().Declared() {
		replayed = append(replayed, d.Name)
	}
	var differences []string
	for _, name := range recorded {
		if !slices.Contains(replayed, name) {
			differences = append(differences, quote(name)+" was sent and is not declared")
		}
	}
	for _, name := range replayed {
		if !slices.Contains(recorded, name) {
			differences = append(differences, quote(name)+" is declared and was not sent")
		}
	}
	return strings.Join(differences, ", ")
}
