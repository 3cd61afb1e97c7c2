package transcript

// The members of usage and of cost.
var (
	usageMembers = table[Usage]{func(u *Usage) *[]Field { return &u.Extra }, []member[Usage]{
		count("input", HasInput, func(u *Usage) *int64 { return &u.Input }),
		count("output", HasOutput, func(u *Usage) *int64 { return &u.Output }),
		count("cacheRead", HasCacheRead, func(u *Usage) *int64 { return &u.CacheRead }),
		count("cacheWrite", HasCacheWrite, func(u *Usage) *int64 { return &u.CacheWrite }),
		count("reasoning", HasReasoning, func(u *Usage) *int64 { return &u.Reasoning }),
		count("totalTokens", HasTotal, func(u *Usage) *int64 { return &u.TotalTokens }),
		inner("cost", func(u *Usage) *Cost { return &u.Cost }, &costMembers).
			then(func(u *Usage) { u.Has |= HasCost }).when(func(u *Usage) bool { return u.states("cost", HasCost) }),
	}}
	costMembers = table[Cost]{func(c *Cost) *[]Field { return &c.Extra }, []member[Cost]{
		amount("input", func(c *Cost) *float64 { return &c.Input }),
		amount("output", func(c *Cost) *float64 { return &c.Output }),
		amount("cacheRead", func(c *Cost) *float64 { return &c.CacheRead }),
		amount("cacheWrite", func(c *Cost) *float64 { return &c.CacheWrite }),
		amount("total", func(c *Cost) *float64 { return &c.Total }),
	}}
)

// count is a number of tokens that is written if it is stated.
func count(name string, bit UsageFields, at func(*Usage) *int64) member[Usage] {
	return number(name, at).then(func(u *Usage) { u.Has |= bit }).
		when(func(u *Usage) bool { return *at(u) != 0 || u.states(name, bit) })
}

// states reports whether the file stated a count; an answer made in memory
// states all but reasoning.
func (u *Usage) states(name string, bit UsageFields) bool {
	return u.Has&bit != 0 || u.Has == 0 && bit != HasReasoning && !has(u.Extra, name)
}

// usage reads usage: counts of an answer, but free data of a tool.
func (p *parser) usage(o *object, m *Message) bool {
	if isResult(m) {
		return p.free(o, &m.ToolUsage)
	}
	u := zero(p.loan, &p.loan.usages)
	fits := usageMembers.read(p, o, u)
	if fits {
		m.Usage = u
	}
	return fits
}

func (w writer) usage(m *Message) writer {
	if m.Usage != nil {
		w = w.key("usage")
		w.b = AppendUsage(w.b, m.Usage)
	}
	return w
}

// AppendUsage appends the counts that the file stated, or all of them for an
// answer made in memory, as one JSON object.
func AppendUsage(dst []byte, u *Usage) []byte {
	if u.unstated() {
		return append(dst, noUsage...)
	}
	return usageMembers.append(dst, u)
}

// noUsage is what an answer made in memory says before its counts are known:
// with every delta of it.
const noUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
	`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

func (u *Usage) unstated() bool {
	c := &u.Cost
	return u.Has == 0 && u.Extra == nil && c.Extra == nil &&
		u.Input == 0 && u.Output == 0 && u.CacheRead == 0 && u.CacheWrite == 0 && u.TotalTokens == 0 && u.Reasoning == 0 &&
		c.Input == 0 && c.Output == 0 && c.CacheRead == 0 && c.CacheWrite == 0 && c.Total == 0
}
