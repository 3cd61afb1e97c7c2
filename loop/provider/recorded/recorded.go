// Package recorded plays a transcript again without a network and without
// doing anything: the answers come from the recording, and so do the results
// of the tools.
//
// [Load] reads a transcript. [Recording.Model] alone is a model for new runs,
// whose tools are real. [Recording.Play] repeats the recorded runs whole:
// prompts, answers, results, tool changes, steering and follow-ups, as far as
// the transcript tells them; what our loop makes of them can then be compared
// with what was recorded. Compactions are not repeated: a recorded answer does
// not depend on what its request still showed.
package recorded

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Recording is what one path of a transcript holds, in the form of a script.
// It may be used by several goroutines; a [Recording.Play] uses it up.
type Recording struct {
	runs  []run
	turns []turn

	mu      sync.Mutex
	next    int // turn whose answer comes next
	known   bool
	results map[string][]result // of each call id, in order
	used    map[string]int      // results that were given
}

// run is a prompt, or a resume, and its turns.
type run struct {
	prompts   []transcript.Message
	resumed   bool
	execution loop.Execution
	first     int // turn
	end       int // turn behind the last one
}

// turn is a request with what was said before it.
type turn struct {
	pending    []transcript.Message // not those that a loop says by itself
	followUp   bool                 // pending came when the agent would have stopped
	delivered  bool
	tools      []transcript.Tool // declared when the request went out
	answer     *transcript.Message
	entry      string // id of the answer's entry
	decision   loop.Decision
	terminated bool
	closed     bool // decision and terminated were recorded
}

// result is a recorded tool result.
type result struct {
	loop.Result
	ran bool // the tool ran, so a run that repeats it asks for this result
}

// Load reads the path to the last entry of a transcript. The error is that of
// reading it: damaged lines are passed over.
func Load(lines iter.Seq2[transcript.Line, error]) (*Recording, error) {
	tree, err := replay.Read(lines)
	if err != nil {
		return nil, err
	}
	r := reader{recording: &Recording{results: map[string][]result{}, used: map[string]int{}}, votes: map[string]bool{}}
	for _, i := range tree.Path(len(tree.Entries) - 1) {
		r.entry(&tree.Entries[i])
	}
	r.endRun()
	return r.recording, nil
}

// Turns is the number of recorded answers.
func (r *Recording) Turns() int { return len(r.turns) }

// Unused lists what was recorded and not asked for: answers by their number
// from 1, then results by their call, in recorded order. A run that repeats
// the recording exactly leaves nothing.
func (r *Recording) Unused() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var unused []string
	for i := r.next; i < len(r.turns); i++ {
		unused = append(unused, fmt.Sprintf("answer %d", i+1))
	}
	seen := map[string]int{}
	for i := range r.turns {
		for _, c := range r.turns[i].answer.Calls() {
			n := seen[c.ID]
			seen[c.ID]++
			if list := r.results[c.ID]; n < len(list) && list[n].ran && n >= r.used[c.ID] {
				unused = append(unused, fmt.Sprintf("result of %s %s", c.Name, c.ID))
			}
		}
	}
	return unused
}

// Play repeats the recorded runs one after the other on the history s, with
// the sinks of c. Its model, tools, queues and seams come from the recording.
// It stops at the first run that cannot be played and returns the outcomes so
// far; what fails inside a turn is in its outcome.
func (r *Recording) Play(ctx context.Context, c loop.Config, s *replay.State) ([]loop.Outcome, error) {
	r.mu.Lock()
	r.next, r.known = 0, true
	r.mu.Unlock()
	var outcomes []loop.Outcome
	for i := range r.runs {
		one := c
		r.install(&r.runs[i], &one)
		play := func() (loop.Outcome, error) { return loop.Run(ctx, one, s, r.runs[i].prompts...) }
		if r.runs[i].resumed {
			play = func() (loop.Outcome, error) { return loop.Resume(ctx, one, s) }
		}
		outcome, err := play()
		if err != nil {
			return outcomes, fmt.Errorf("play recorded run %d: %w", i+1, err)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}
