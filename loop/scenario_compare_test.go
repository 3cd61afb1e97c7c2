package loop_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// expectFailedTurn completes the golden of a run that an exception ended. The
// low-level loop of pi leaves without closing the turn; ours closes it in both
// layers, as pi's Agent does.
func expectFailedTurn(golden, record object) {
	text, failed := golden["error"].(string)
	if !failed {
		return
	}
	delete(record, "queued") // pi's exception leaves no record of the queues
	events, _ := golden["events"].([]any)
	if len(events) == 0 {
		return
	}
	requests, _ := golden["requests"].([]any)
	provider, model := "scripted", "model-a"
	if len(requests) > 0 {
		last := requests[len(requests)-1].(object)
		provider, model, _ = strings.Cut(last["model"].(string), "/")
	}
	trace := golden["trace"].([]any)
	reason := "error"
	if slices.ContainsFunc(trace, func(e any) bool { return e.(object)["action"] == "abort" }) {
		reason = "aborted"
	}
	message := object{
		"role": "assistant", "content": []any{object{"type": "text", "text": ""}},
		"provider": provider, "model": model, "stopReason": reason, "errorMessage": text,
	}
	golden["events"] = append(events,
		object{"type": "message_start", "message": message},
		object{"type": "message_end", "message": message},
		object{"type": "turn_end", "message": message, "toolResults": []any{}},
		object{"type": "agent_end", "messages": []any{message}},
	)
	golden["trace"] = append(trace,
		object{"event": "message_start", "role": "assistant"},
		object{"event": "message_end", "role": "assistant", "stopReason": reason},
		object{"event": "turn_end", "role": "assistant"},
		object{"event": "agent_end"},
	)
	// What pi would have returned is lost with the exception, and what our
	// closing events trigger has no counterpart.
	for _, g := range []object{golden, record} {
		delete(g, "newMessages")
		delete(g, "unfiredTriggers")
	}
	ours := record["trace"].([]any)
	if len(ours) > len(trace) {
		tail := slices.DeleteFunc(slices.Clone(ours[len(trace):]), func(e any) bool { return e.(object)["action"] != nil })
		record["trace"] = append(ours[:len(trace):len(trace)], tail...)
	}
}

// normalise drops what two records may differ in without meaning anything: the
// order in which the tools of a parallel batch are entered, and how a result
// spells what it does not say.
func normalise(g object, sc *scenario, old bool) {
	if runs, ok := g["toolRuns"].(object); ok && sc.ToolExecution != "sequential" {
		for _, k := range []string{"started", "finished"} {
			if list, ok := runs[k].([]any); ok && k == "started" {
				slices.SortStableFunc(list, func(a, b any) int { return cmp.Compare(text(a), text(b)) })
			}
		}
	}
	walk(g, func(o object) {
		for _, k := range []string{"result", "partialResult"} {
			if r, ok := o[k].(object); ok {
				plainResult(r)
			}
		}
		if old && o["role"] == "assistant" {
			delete(o, "thinkingLevel") // the older loop does not record it
		}
	})
	if old {
		delete(g, "state")
	}
}

// plainResult drops members of a result that say nothing: no content, no vote,
// and the error flag, which stands beside it.
func plainResult(r object) {
	if r["content"] == nil {
		r["content"] = []any{}
	}
	if r["terminate"] == false {
		delete(r, "terminate")
	}
	delete(r, "isError")
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	case object:
		visit(v)
		for _, e := range v {
			walk(e, visit)
		}
	}
}

// adoptWording gives record the golden's text wherever both are the refusal of
// the same arguments and ours names every path that pi names. Only the wording
// of the problems is free.
func adoptWording(golden, record any) {
	switch g := golden.(type) {
	case []any:
		r, _ := record.([]any)
		for i := range min(len(g), len(r)) {
			if s, ok := sameRefusal(g[i], r[i]); ok {
				r[i] = s
				continue
			}
			adoptWording(g[i], r[i])
		}
	case object:
		r, _ := record.(object)
		for k := range g {
			if s, ok := sameRefusal(g[k], r[k]); ok {
				r[k] = s
				continue
			}
			adoptWording(g[k], r[k])
		}
	}
}

func sameRefusal(golden, record any) (string, bool) {
	g, _ := golden.(string)
	r, _ := record.(string)
	if !strings.HasPrefix(g, "Validation failed for tool ") {
		return "", false
	}
	gTool, gPaths, gArgs := refusal(g)
	rTool, rPaths, rArgs := refusal(r)
	if gTool != rTool || !slices.Equal(tokens(gArgs), tokens(rArgs)) {
		return "", false
	}
	for _, p := range gPaths {
		if !slices.Contains(rPaths, p) {
			return "", false
		}
	}
	return g, true
}

// tokens splits JSON text; two texts with equal tokens have the same members
// in the same order.
func tokens(s string) []string {
	var list []string
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return list
		}
		if n, ok := t.(json.Number); ok {
			t = number(n)
		}
		list = append(list, fmt.Sprintf("%T %v", t, t))
	}
}

// number is n by value: 1.0 and 1 are the same.
func number(n json.Number) json.Number {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return n
	}
	digits, _ := r.FloatPrec() // always enough: n is decimal
	return json.Number(r.FloatString(digits))
}

// refusal takes the text of a validation error apart.
func refusal(s string) (tool string, paths []string, args string) {
	tool, rest, _ := strings.Cut(s, "\n")
	problems, args, _ := strings.Cut(rest, "\n\n")
	for line := range strings.Lines(problems) {
		path, _, _ := strings.Cut(strings.TrimPrefix(line, "  - "), ":")
		paths = append(paths, path)
	}
	return tool, paths, args
}
