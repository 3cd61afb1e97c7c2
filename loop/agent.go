package loop

import (
	"context"
	"slices"
	"sync"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Agent is a conversation that lasts: it keeps the messages from run to run,
// has a queue for steering and one for follow-ups, and plays one run at a
// time. Its methods may be called from several goroutines and from listeners.
type Agent struct {
	config   Config
	steering *Queue
	followUp *Queue

	mu        sync.Mutex
	state     AgentState
	history   *replay.State // nil if State.Messages were replaced since
	ids       ids           // of all entries of this agent, over several roots
	listeners []*Listener
	active    *activeRun

	// watch, if set, stands around every look at a queue. Only tests set it.
	watch func(queue string, drain func() []transcript.Message) []transcript.Message
}

// AgentOptions are what an agent starts with, besides the loop's Config.
type AgentOptions struct {
	// SystemPrompt and the tools of the Config go into a leading system
	// message, unless Messages start with one.
	SystemPrompt string
	Messages     []transcript.Message

	SteeringQueue QueueMode
	FollowUpQueue QueueMode
}

// AgentState is what an agent shows of itself.
type AgentState struct {
	Messages     []transcript.Message
	Tools        []Tool
	ModelRef     replay.ModelRef
	Thinking     string
	Running      bool
	Streaming    *transcript.Message // message under way
	PendingCalls []string            // ids of tool calls that run
	Error        string              // of the last turn that failed; cleared when a run starts
}

// Listener receives an agent's events. The run waits for it; an error ends the
// run as an abort does. ctx is that of the run.
type Listener func(ctx context.Context, e Event) error

// activeRun is the run that an agent plays.
type activeRun struct {
	ctx    context.Context // handed to listeners of this run
	cancel context.CancelFunc
	done   chan struct{}
	skip   bool // the first steering poll returns nothing: the run was started by what it would find
}

// AgentError says why an agent refused to do something.
type AgentError struct{ Reason string }

func (e *AgentError) Error() string { return e.Reason }

// What an agent refuses, in pi's words.
var (
	errPromptBusy   = &AgentError{"Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion."}
	errContinueBusy = &AgentError{"Agent is already processing. Wait for completion before continuing."}
	errResetBusy    = &AgentError{"Agent is already processing. Wait for completion before resetting."}
	errNoMessages   = &AgentError{"No messages to continue from"}
)

// NewAgent returns an agent that plays runs with c. Its Steering and FollowUp
// are the agent's queues, and its Emit is called before the listeners. Its
// Append, if any, gets what the agent starts with before the first run, and
// again, from another root, what [Agent.SetMessages] or [Agent.Reset] put in
// its place.
func NewAgent(c Config, o AgentOptions) *Agent {
	messages := slices.Clone(o.Messages)
	if len(messages) == 0 || messages[0].Role != transcript.System {
		if m, any := initialMessage(o.SystemPrompt, c.Tools); any {
			messages = slices.Insert(messages, 0, m)
		}
	}
	return &Agent{
		config:   c,
		ids:      newIDs(&c, new(replay.State)),
		steering: NewQueue(o.SteeringQueue),
		followUp: NewQueue(o.FollowUpQueue),
		state: AgentState{
			Messages: messages, Tools: slices.Clone(c.Tools),
			ModelRef: c.ModelRef, Thinking: thinkingLevel(c.Thinking),
		},
	}
}

func initialMessage(prompt string, tools []Tool) (transcript.Message, bool) {
	m := transcript.Message{Role: transcript.System, Form: transcript.FormString}
	if prompt != "" {
		m.Content = []transcript.Block{transcript.TextBlock(prompt)}
	}
	for _, t := range tools {
		m.ToolsAdded = append(m.ToolsAdded, t.Tool)
	}
	return m, prompt != "" || len(tools) > 0
}

// Prompt plays a run that starts with these messages. It fails at once, with
// an [*AgentError], while another run is under way.
func (a *Agent) Prompt(ctx context.Context, prompts ...transcript.Message) (Outcome, error) {
	a.mu.Lock()
	if a.active != nil {
		a.mu.Unlock()
		return Outcome{}, errPromptBusy
	}
	run := a.begin(ctx)
	a.mu.Unlock()
	return a.play(run, func(c Config, s *replay.State) (Outcome, error) { return Run(run.ctx, c, s, prompts...) })
}

// Continue goes on without a prompt. After an answer of the model it takes
// what is queued instead: steering first, else follow-ups.
func (a *Agent) Continue(ctx context.Context) (Outcome, error) {
	a.mu.Lock()
	if a.active != nil {
		a.mu.Unlock()
		return Outcome{}, errContinueBusy
	}
	messages := a.state.Messages
	run := a.begin(ctx)
	a.mu.Unlock()
	spoken := slices.ContainsFunc(messages, func(m transcript.Message) bool { return m.Role != transcript.System })
	switch {
	case !spoken:
		a.end(run)
		return Outcome{}, errNoMessages
	case messages[len(messages)-1].Role != transcript.Assistant:
		return a.play(run, func(c Config, s *replay.State) (Outcome, error) { return Resume(run.ctx, c, s) })
	}
	prompts := a.drain(a.steering, causeSteering)
	run.skip = len(prompts) > 0
	if len(prompts) == 0 {
		prompts = a.drain(a.followUp, causeFollowUp)
	}
	if len(prompts) == 0 {
		a.end(run)
		return Outcome{}, &ContinueError{Role: transcript.Assistant}
	}
	return a.play(run, func(c Config, s *replay.State) (Outcome, error) { return Run(run.ctx, c, s, prompts...) })
}

// begin makes a run the active one. The caller holds mu.
func (a *Agent) begin(ctx context.Context) *activeRun {
	run := &activeRun{done: make(chan struct{})}
	run.ctx, run.cancel = context.WithCancel(ctx)
	a.active = run
	a.state.Running, a.state.Streaming = true, nil
	return run
}

// play plays the active run; it works on the messages, the tools and the model
// that the agent has now.
func (a *Agent) play(run *activeRun, start func(Config, *replay.State) (Outcome, error)) (Outcome, error) {
	defer a.end(run)
	a.mu.Lock()
	a.state.Error = ""
	c := a.config
	c.Tools, c.ModelRef, c.Thinking, c.NewID = a.state.Tools, a.state.ModelRef, a.state.Thinking, a.ids.next
	history, err := a.root(c)
	a.mu.Unlock()
	if err != nil {
		return Outcome{}, err
	}
	c.Steering = func(context.Context) ([]transcript.Message, error) {
		if run.skip {
			run.skip = false
			return nil, nil
		}
		return a.drain(a.steering, causeSteering), nil
	}
	c.FollowUp = func(context.Context) ([]transcript.Message, error) { return a.drain(a.followUp, causeFollowUp), nil }
	c.Emit = func(e Event) error { return a.receive(run, e) }
	c.failed = func() replay.ModelRef { return a.State().ModelRef }
	outcome, err := start(c, history)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.history == history {
		// A failed listener saw no more events, but the run has more messages.
		a.state.Messages = history.Messages()
	}
	return outcome, err
}

// root gives the history that the next run goes on with. One that begins anew
// is written down first. The caller holds mu.
func (a *Agent) root(c Config) (*replay.State, error) {
	if a.history != nil {
		return a.history, nil
	}
	r, err := newRun(c, new(replay.State))
	if err != nil {
		return nil, err
	}
	for _, m := range a.state.Messages {
		r.write(&m)
	}
	if r.writeErr == nil {
		a.history = r.history
	}
	return r.history, r.writeErr
}

func (a *Agent) drain(q *Queue, name string) []transcript.Message {
	if a.watch != nil {
		return a.watch(name, q.Drain)
	}
	return q.Drain()
}

// end makes the agent idle; that wakes up [Agent.Wait].
func (a *Agent) end(run *activeRun) {
	run.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active = nil
	a.state.Running, a.state.Streaming, a.state.PendingCalls = false, nil, nil
	close(run.done)
}

// receive brings the state up to date, then calls the listeners in order.
func (a *Agent) receive(run *activeRun, e Event) error {
	a.mu.Lock()
	a.reduce(&e)
	listeners := a.listeners
	a.mu.Unlock()
	if a.config.Emit != nil {
		if err := a.config.Emit(e); err != nil {
			return err
		}
	}
	for _, l := range listeners {
		if err := (*l)(run.ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) reduce(e *Event) {
	s := &a.state
	switch e.Type {
	case MessageStart, MessageUpdate:
		s.Streaming = e.Message
	case MessageEnd:
		s.Streaming = nil
		s.Messages = append(s.Messages, *e.Message)
	case ToolExecutionStart:
		if !slices.Contains(s.PendingCalls, e.Call.ID) {
			s.PendingCalls = append(slices.Clip(s.PendingCalls), e.Call.ID)
		}
	case ToolExecutionEnd:
		s.PendingCalls = slices.DeleteFunc(slices.Clone(s.PendingCalls), func(id string) bool { return id == e.Call.ID })
	case TurnEnd:
		if e.Message.ErrorMessage != "" {
			s.Error = e.Message.ErrorMessage
		}
	}
}

// Subscribe adds a listener behind those there are, from the next event on.
// The function takes it off again.
func (a *Agent) Subscribe(l Listener) (unsubscribe func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	added := &l
	a.listeners = append(slices.Clip(a.listeners), added)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.listeners = slices.DeleteFunc(slices.Clone(a.listeners), func(have *Listener) bool { return have == added })
	}
}
