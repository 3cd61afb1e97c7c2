package replay

import (
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Convert turns application messages into messages that a model knows:
// summaries, custom messages and the records of user-run commands become user
// messages; messages of unknown roles and commands marked as excluded are left
// out.
func Convert(ms []transcript.Message) ([]transcript.Message, error) {
	out := make([]transcript.Message, 0, len(ms))
	for i := range ms {
		if m, keep, _ := convert(&ms[i]); keep {
			out = append(out, m)
		}
	}
	return out, nil
}

// convert returns the model's view of one message, whether there is one, and
// whether it is the message itself.
func convert(m *transcript.Message) (view transcript.Message, keep, same bool) {
	switch m.Role {
	case transcript.System, transcript.User, transcript.Assistant, transcript.ToolResult:
		return *m, true, true
	case transcript.CustomRole:
		return transcript.Message{Role: transcript.User, Content: m.Content, Timestamp: m.Timestamp}, true, false
	case transcript.CompactionSummary:
		return userMessage(m, "Earlier messages were replaced by this summary of them:\n\n<summary>\n"+m.Text()+"\n</summary>"), true, false
	case transcript.BranchSummaryRole:
		return userMessage(m, "Another line of this conversation was left; this is its summary:\n\n<summary>\n"+m.Text()+"\n</summary>"), true, false
	case transcript.BashExecution:
		if m.Bash == nil || m.Bash.ExcludeFromContext {
			return transcript.Message{}, false, false
		}
		return userMessage(m, bashText(m.Bash)), true, false
	}
	return transcript.Message{}, false, false
}

func userMessage(m *transcript.Message, text string) transcript.Message {
	return transcript.Message{Role: transcript.User, Content: []transcript.Block{transcript.TextBlock(text)}, Timestamp: m.Timestamp}
}

// bashText shows a user's own command as a shell session would.
func bashText(b *transcript.Bash) string {
	var sb strings.Builder
	sb.WriteString("The user ran `" + b.Command + "`:\n")
	if b.Output == "" {
		sb.WriteString("(no output)")
	} else {
		sb.WriteString("```\n" + b.Output + "\n```")
	}
	switch {
	case b.Cancelled:
		sb.WriteString("\n\nThe command was cancelled.")
	case b.ExitCode != nil && *b.ExitCode != 0:
		sb.WriteString("\n\nIt exited with code " + strconv.Itoa(*b.ExitCode) + ".")
	}
	if b.Truncated && b.FullOutputPath != "" {
		sb.WriteString("\n\nThe output was cut; all of it is in " + b.FullOutputPath + ".")
	}
	return sb.String()
}
