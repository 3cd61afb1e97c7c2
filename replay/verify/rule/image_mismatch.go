package rule

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func imageMismatch() verify.Rule {
	return verify.Rule{
		ID:       "image-mismatch",
		Group:    groupContent,
		Severity: verify.Error,
		Title:    "the bytes of an image do not match its media type, or the type is not accepted",
		Why: "Anthropic refuses the request, and as the image is stored, every later one " +
			"(claude-code#15746, #4661, MoonshotAI/kimi-code#1536, QwenLM/qwen-code#9291: heic). Accepted are png, jpeg, gif and webp.",
		Fix:   "Take the media type from the bytes, not from the file's name; convert other types.",
		Quiet: "Other containers in the details of a result, addresses in place of data.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image","mimeType":"image/jpeg","data":"iVBORw0KGgoAAAANSUhEUgAAAAE="}]}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAE="}]}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			for i := range m.Content {
				b := &m.Content[i]
				if b.Type != transcript.BlockImage || b.Data == "" {
					continue
				}
				if why := imageFault(b); why != "" {
					f := p.Finding("image %d: %s", i+1, why)
					f.Subject = itoa(i)
					p.Report(f)
				}
			}
		}}),
	}
}

func imageFault(b *transcript.Block) string {
	declared := strings.ToLower(strings.TrimSpace(b.MimeType))
	switch declared {
	case "":
		return ""
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return "the type " + quote(b.MimeType) + " is not accepted (png, jpeg, gif and webp are)"
	}
	head := b.Data[:min(len(b.Data), 64)]
	_, data, found := strings.Cut(head, ";base64,")
	if strings.HasPrefix(head, "http:") || strings.HasPrefix(head, "https:") {
		return ""
	}
	if !found {
		data = head
	}
	data = data[:len(data)/4*4]
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) < 12 {
		return "" // too short to tell, or not base64
	}
	if is := imageType(raw); is != declared {
		if is == "" {
			return "the bytes are no image of type " + declared
		}
		return "the bytes are " + is + ", the type says " + declared
	}
	return ""
}

func imageType(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif"
	case bytes.HasPrefix(b, []byte("RIFF")) && bytes.Equal(b[8:12], []byte("WEBP")):
		return "image/webp"
	}
	return ""
}
