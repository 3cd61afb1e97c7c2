package foreign

import (
	"bytes"

	"github.com/turnlog/turnlog/replay"
)

// The formats below are recognised, so that a file of theirs is never taken
// for a damaged one of ours, and cannot be read yet.

func results() Format {
	return Format{Name: "results", Title: "the results of a turnlog run, which name its transcripts", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("results") && o.has("version") })
	}}
}

func droid() Format {
	return Format{Name: "droid", Title: "a Droid session", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("session_start") })
	}}
}

func openAI() Format {
	return Format{Name: "openai-chat", Title: "a log of OpenAI chat messages", Knowledge: replay.PerRequest, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.has("messages") && !o.has("type") })
	}}
}

func claudeCode() Format {
	return Format{Name: "claude-code", Title: "a Claude Code session", Knowledge: replay.Partial, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.has("sessionId") && o.has("uuid") }) ||
			h.any(func(o Object) bool {
				return o.is("queue-operation", "permission-mode", "file-history-snapshot", "last-prompt")
			})
	}}
}

func claudeStream() Format {
	return Format{Name: "claude-stream", Title: "a stream of Claude Code", Knowledge: replay.Names, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("system") && o.has("subtype", "session_id") })
	}}
}

func codex() Format {
	return Format{Name: "codex", Title: "a Codex rollout", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("session_meta") || o.has("timestamp", "type", "payload") })
	}}
}

func codexExec() Format {
	return Format{Name: "codex-exec", Title: "an event log of codex exec", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("thread.started") })
	}}
}

func geminiStream() Format {
	return Format{Name: "gemini", Title: "a Gemini session", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool {
			return o.is("init") && o.has("session_id") || o.has("sessionId", "projectHash")
		})
	}}
}

func kimi() Format {
	return Format{Name: "kimi", Title: "a Kimi wire log", Knowledge: replay.PerRequest, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("metadata") && o.has("protocol_version") })
	}}
}

func copilot() Format {
	return Format{Name: "copilot", Title: "a Copilot session", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.is("session.start") })
	}}
}

func batch() Format {
	return Format{Name: "batch", Title: "an OpenAI batch file", Knowledge: replay.PerRequest, Sniff: func(h *Head) bool {
		return h.any(func(o Object) bool { return o.has("custom_id") })
	}}
}

func jsonDocument() Format {
	return Format{Name: "json", Title: "one JSON document, not JSON lines", Knowledge: replay.Unknown, Sniff: func(h *Head) bool {
		b := bytes.TrimLeft(h.Bytes, "\xef\xbb\xbf \t\r\n")
		first, rest, _ := bytes.Cut(b, []byte("\n"))
		first = bytes.TrimSpace(first)
		return len(rest) > 0 && (string(first) == "{" || string(first) == "[")
	}}
}

func cassette() Format {
	return Format{Name: "cassette", Title: "an HTTP cassette", Knowledge: replay.PerRequest, Sniff: func(h *Head) bool {
		return bytes.Contains(h.Bytes, []byte("\ninteractions:")) || bytes.HasPrefix(h.Bytes, []byte("interactions:"))
	}}
}
