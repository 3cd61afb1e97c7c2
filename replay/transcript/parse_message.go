package transcript

// messageField reads the current member if it is an object, else nil.
func (p *parser) messageField(o *object) *Message {
	if p.Peek() != '{' {
		p.misfit(o)
		return nil
	}
	m := p.loan.message()
	p.message(m)
	return m
}

// message reads the message object at the position.
func (p *parser) message(m *Message) {
	for o := p.open(); p.pass(&o); {
		o.keeps = true
		*m = Message{Role: Role(o.kind), Form: FormAbsent}
		for p.Next(&o.Object) {
			if o.Name != "role" {
				p.messageMember(&o, m)
				continue
			}
			m.Role = Role(p.kindField(&o, func(kind string) bool {
				return kind == string(ToolResult) || kind == string(BashExecution)
			}))
		}
		m.Extra = o.extra
	}
}

func (p *parser) messageMember(o *object, m *Message) {
	switch o.Name {
	case "content":
		p.content(o, m)
	case "timestamp":
		p.integer(o, &m.Timestamp)
	case "durationMs":
		m.HasDuration = p.integer(o, &m.DurationMs)
	case "toolCallId":
		p.field(o, &m.ToolCallID)
	case "toolName":
		p.field(o, &m.ToolName)
	case "isError":
		m.HasIsError = p.boolean(o, &m.IsError)
	case "details":
		m.Details = p.Raw()
	case "usage":
		p.usageMember(o, m)
	case "sections":
		p.sections(o, m)
	case "toolsAdded":
		p.toolsAdded(o, m)
	case "toolsRemoved":
		p.toolsRemoved(o, m)
	default:
		if !p.answerMember(o, m) && !p.bashMember(o, m) {
			p.unknown(o)
		}
	}
}

// answerMember reads what only assistant messages have.
func (p *parser) answerMember(o *object, m *Message) bool {
	switch o.Name {
	case "api":
		p.field(o, &m.API)
	case "provider":
		p.field(o, &m.Provider)
	case "model":
		p.field(o, &m.Model)
	case "stopReason":
		if p.field(o, &m.StopReason) {
			m.StopReason = known(m.StopReason)
		}
	case "rawStopReason":
		p.field(o, &m.RawStopReason)
	case "errorMessage":
		p.field(o, &m.ErrorMessage)
	case "responseId":
		p.field(o, &m.ResponseID)
	case "responseModel":
		p.field(o, &m.ResponseModel)
	case "thinkingLevel":
		p.field(o, &m.ThinkingLevel)
	default:
		return false
	}
	return true
}

// bashMember reads what only bashExecution messages have.
func (p *parser) bashMember(o *object, m *Message) bool {
	if m.Role != BashExecution {
		return false
	}
	if m.Bash == nil {
		m.Bash = &Bash{}
	}
	switch o.Name {
	case "command":
		p.field(o, &m.Bash.Command)
	case "output":
		p.field(o, &m.Bash.Output)
	case "exitCode":
		var n int64
		if p.integer(o, &n) {
			m.Bash.ExitCode = new(int)
			*m.Bash.ExitCode = int(n)
		}
	case "cancelled":
		p.boolean(o, &m.Bash.Cancelled)
	case "truncated":
		p.boolean(o, &m.Bash.Truncated)
	case "fullOutputPath":
		p.field(o, &m.Bash.FullOutputPath)
	case "excludeFromContext":
		p.boolean(o, &m.Bash.ExcludeFromContext)
	default:
		return false
	}
	return true
}

// content reads content in any of its forms.
func (p *parser) content(o *object, m *Message) {
	switch p.Peek() {
	case '"':
		m.Form = FormString
		if s := p.Str(); s != "" {
			m.Content = p.loan.list(TextBlock(s))
		}
	case '[':
		m.Form = FormBlocks
		m.Content = p.blockList()
	case 'n':
		m.Form = FormNull
		p.Literal("null")
	default:
		p.misfit(o)
	}
}

// noObject is the name of the only Extra field of a block that is no object
// in the file. No key can be equal to it: keys are valid UTF-8.
const noObject = "\xff"

// blockList reads an array of blocks. They are collected in a buffer of the
// parser, so that the slice is made once and exactly.
func (p *parser) blockList() []Block {
	for n := 0; p.Item(n); n++ {
		p.blocks = append(p.blocks, Block{})
		b := &p.blocks[n]
		if p.Peek() == '{' {
			p.block(b)
		} else {
			b.Extra = []Field{{Name: noObject, Value: p.Raw()}}
		}
	}
	if p.Failed || len(p.blocks) == 0 {
		return nil
	}
	list := p.loan.list(p.blocks...)
	clear(p.blocks)
	p.blocks = p.blocks[:0]
	return list
}

// block reads the block object at the position.
func (p *parser) block(b *Block) {
	column := p.column(p.Pos)
	for o := p.open(); p.pass(&o); {
		o.keeps = true
		*b = Block{Type: o.kind}
		p.setCall(b, column)
		for p.Next(&o.Object) {
			if o.Name != "type" {
				p.blockMember(&o, b)
				continue
			}
			b.Type = p.kindField(&o, func(string) bool { return true })
			p.setCall(b, column)
		}
		b.Extra = o.extra
	}
}

func (p *parser) setCall(b *Block, column int) {
	if b.Type == BlockToolCall && b.Call == nil {
		b.Call = p.loan.call()
		b.Call.Column = column
	}
}

func (p *parser) blockMember(o *object, b *Block) {
	is := func(kind, name string) bool { return b.Type == kind && o.Name == name }
	switch {
	case is(BlockText, "text"), is(BlockThinking, "thinking"):
		p.field(o, &b.Text)
	case is(BlockText, "textSignature"), is(BlockThinking, "thinkingSignature"), is(BlockToolCall, "thoughtSignature"):
		p.field(o, &b.Signature)
	case is(BlockImage, "mimeType"):
		p.field(o, &b.MimeType)
	case is(BlockImage, "data"):
		p.field(o, &b.Data)
	case is(BlockToolCall, "id"):
		p.field(o, &b.Call.ID)
	case is(BlockToolCall, "name"):
		p.field(o, &b.Call.Name)
	case is(BlockToolCall, "arguments"):
		p.Ints = true
		b.Call.Arguments = p.Raw()
		p.Ints = false
	case is(BlockToolCall, "argumentsError"):
		p.field(o, &b.Call.ArgumentsError)
	default:
		p.unknown(o)
	}
}

// usageMember reads usage: counts of an answer, but free data of a tool.
func (p *parser) usageMember(o *object, m *Message) {
	if m.Role == ToolResult {
		m.ToolUsage = p.Raw()
		return
	}
	if p.Peek() != '{' {
		p.misfit(o)
		return
	}
	u := p.loan.usage()
	for in := p.open(); p.pass(&in); {
		in.keeps = true
		*u = Usage{}
		for p.Next(&in.Object) {
			p.countMember(&in, u)
		}
		u.Extra = in.extra
	}
	m.Usage = u
}

func (p *parser) countMember(o *object, u *Usage) {
	count := func(dst *int64, has UsageFields) {
		if p.integer(o, dst) {
			u.Has |= has
		}
	}
	switch o.Name {
	case "input":
		count(&u.Input, HasInput)
	case "output":
		count(&u.Output, HasOutput)
	case "cacheRead":
		count(&u.CacheRead, HasCacheRead)
	case "cacheWrite":
		count(&u.CacheWrite, HasCacheWrite)
	case "totalTokens":
		count(&u.TotalTokens, HasTotal)
	case "reasoning":
		count(&u.Reasoning, HasReasoning)
	case "cost":
		if p.Peek() != '{' {
			p.misfit(o)
			return
		}
		u.Has |= HasCost
		p.cost(&u.Cost)
	default:
		p.unknown(o)
	}
}

func (p *parser) cost(c *Cost) {
	for o := p.open(); p.pass(&o); {
		o.keeps = true
		*c = Cost{}
		for p.Next(&o.Object) {
			switch o.Name {
			case "input":
				p.float(&o, &c.Input)
			case "output":
				p.float(&o, &c.Output)
			case "cacheRead":
				p.float(&o, &c.CacheRead)
			case "cacheWrite":
				p.float(&o, &c.CacheWrite)
			case "total":
				p.float(&o, &c.Total)
			default:
				p.unknown(&o)
			}
		}
		c.Extra = o.extra
	}
}

// known returns the constant equal to s, so that the most common short
// strings do not keep their lines alive.
func known(s string) string {
	for _, k := range [...]string{
		TypeMessage, string(Assistant), string(ToolResult), BlockText, BlockToolCall, BlockThinking, StopToolUse, StopEnd,
		string(User), string(System), TypeCustom, TypeSession, TypeModelChange, TypeThinking, TypeCompaction, BlockImage,
		TypeBranchSummary, TypeCustomMessage, TypeContextEdit, TypeUsage, TypeLabel, TypeSessionInfo,
		string(BashExecution), StopLength, StopError, StopAborted,
	} {
		if s == k {
			return k
		}
	}
	return s
}
