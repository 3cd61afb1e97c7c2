package loop_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// object is a JSON object in a record.
type object = map[string]any

// recorder writes down what happens around the loop, in one order, and acts
// at the moments that the scenario names.
type recorder struct {
	t  testing.TB
	sc *scenario

	mu       sync.Mutex
	trace    []object
	events   []any
	requests []any
	started  []any
	finished []any
	ops      []object
	counts   map[string]int
	triggers []*armed
	gates    map[string]chan struct{}
	late     map[string]func()
	calls    []*shownCall

	abort    context.CancelFunc
	agent    *loop.Agent
	steering *loop.Queue
	followUp *loop.Queue
	runOp    func(o op, nested bool)
}

// armed is a trigger that waits for its n-th match.
type armed struct {
	on      trigger
	nth     int
	seen    int
	actions []action
}

func newRecorder(t testing.TB, sc *scenario) *recorder {
	r := &recorder{
		t: t, sc: sc, counts: map[string]int{}, gates: map[string]chan struct{}{}, late: map[string]func(){},
		steering: loop.NewQueue(loop.QueueMode(sc.SteeringMode)),
		followUp: loop.NewQueue(loop.QueueMode(sc.FollowUpMode)),
	}
	for _, d := range sc.Steering {
		if d.On != nil {
			r.arm(*d.On, action{Steer: d.Messages})
		}
	}
	for _, d := range sc.FollowUps {
		if d.On != nil {
			r.arm(*d.On, action{FollowUp: d.Messages})
		}
	}
	if sc.Abort != nil {
		r.arm(sc.Abort.On, action{Abort: true})
	}
	for _, a := range sc.Actions {
		r.arm(a.On, a.Do...)
	}
	return r
}

func (r *recorder) arm(on trigger, actions ...action) {
	a := &armed{on: maps.Clone(on), nth: 1, actions: actions}
	if n, ok := a.on["nth"].(float64); ok {
		a.nth = int(n)
	}
	delete(a.on, "nth")
	r.triggers = append(r.triggers, a)
}

// next counts occurrences of key from 1.
func (r *recorder) next(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[key]++
	return r.counts[key]
}

// note appends an entry to the trace. The entry may get members later, under mu.
func (r *recorder) note(entry object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trace = append(r.trace, entry)
}

// fire counts an occurrence against every trigger that it matches and runs
// the actions whose turn it is.
func (r *recorder) fire(occurrence object) {
	for _, a := range r.triggers {
		if !matches(a.on, occurrence) {
			continue
		}
		r.mu.Lock()
		a.seen++
		due := a.seen == a.nth
		r.mu.Unlock()
		if due {
			r.act(a.actions)
		}
	}
}

func matches(on trigger, occurrence object) bool {
	for k, want := range on {
		have := occurrence[k]
		if n, ok := have.(int); ok {
			have = float64(n)
		}
		if have != want {
			return false
		}
	}
	return true
}

func (r *recorder) act(actions []action) {
	for _, a := range actions {
		r.note(object{"action": a.name()})
		switch {
		case a.Steer != nil && r.agent != nil:
			r.agent.Steer(a.Steer...)
		case a.Steer != nil:
			r.steering.Push(a.Steer...)
		case a.FollowUp != nil && r.agent != nil:
			r.agent.FollowUp(a.FollowUp...)
		case a.FollowUp != nil:
			r.followUp.Push(a.FollowUp...)
		case a.Op != nil:
			r.runOp(*a.Op, true)
		case r.agent != nil:
			r.agent.Abort()
		default:
			r.abort()
		}
	}
}

// gate is closed when what it is named after has happened.
func (r *recorder) gate(kind, ref string) chan struct{} {
	if !strings.Contains(ref, "#") {
		ref += "#1"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := kind + ":" + ref
	if r.gates[key] == nil {
		r.gates[key] = make(chan struct{})
	}
	return r.gates[key]
}

// emit is the sink.
func (r *recorder) emit(e loop.Event) error {
	r.follow(&e)
	r.mu.Lock()
	r.events = append(r.events, recordEvent(r.t, &e))
	r.mu.Unlock()
	entry := object{"event": string(e.Type)}
	if e.Message != nil {
		entry["role"] = string(e.Message.Role)
	}
	if e.Call != nil {
		entry["id"] = e.Call.ID
	}
	if e.Delta != nil {
		entry["update"] = string(e.Delta.Kind)
	}
	if e.Type == loop.MessageEnd {
		switch e.Message.Role {
		case transcript.Assistant:
			entry["stopReason"] = e.Message.StopReason
		case transcript.ToolResult:
			entry["id"] = e.Message.ToolCallID
		}
	}
	r.note(entry)
	r.fire(entry)
	if e.Type == loop.ToolExecutionEnd {
		r.ended(e.Call.ID)
	}
	return nil
}

// ended opens the gates of a call whose end was shown and makes its late
// progress report, which must be ignored.
func (r *recorder) ended(id string) {
	key := execution(id, r.next("end:"+id))
	r.mu.Lock()
	late := r.late[key]
	r.mu.Unlock()
	if late != nil {
		late()
	}
	close(r.gate("end", key))
}

// hook records the entry of a seam and fires its triggers.
func (r *recorder) hook(name string, details object) (n int, entry object) {
	n = r.next("hook:" + name)
	entry = object{"hook": name, "n": n}
	maps.Copy(entry, details)
	r.note(entry)
	occurrence := object{"hook": name}
	if id, ok := details["id"]; ok {
		occurrence["id"] = id
	}
	r.fire(occurrence)
	return n, entry
}

// amend adds to an entry what is only known at the end of its seam.
func (r *recorder) amend(entry object, key string, value any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry[key] = value
}

// recordEvent gives an event in the form of a golden.
func recordEvent(t testing.TB, e *loop.Event) any {
	if e.Type != loop.MessageUpdate {
		record := decode(t, loop.AppendEvent(nil, e)).(object)
		delete(record, "willRetry") // of pi's JSON mode, not of its loop
		return clean(record)
	}
	record := decode(t, loop.AppendEvent(nil, e)).(object)
	update := record["assistantMessageEvent"].(object)
	delete(update, "id") // of pi's JSON mode as well
	delete(update, "toolName")
	return clean(object{"type": string(e.Type), "update": update, "message": encoded(t, e.Message)})
}

func encoded(t testing.TB, m *transcript.Message) any {
	return clean(decode(t, transcript.AppendMessage(nil, m)))
}

func encodedAll(t testing.TB, ms []transcript.Message) []any {
	list := make([]any, len(ms))
	for i := range ms {
		list[i] = encoded(t, &ms[i])
	}
	return list
}

func decode(t testing.TB, raw []byte) any {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%v in %s", err, raw)
	}
	return v
}

// clean drops what a golden does not have, and writes numbers by value.
func clean(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = clean(v[i])
		}
	case object:
		for k, member := range v {
			switch {
			case k == "timestamp", k == "durationMs", k == "api", k == "chunks", k == "usage" && v["role"] == "assistant":
				delete(v, k)
			default:
				v[k] = clean(member)
			}
		}
	}
	return v
}
