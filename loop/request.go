package loop

import (
	"cmp"
	"context"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// request builds what the model is asked: the view, transformed and converted
// if the caller wants that. seams says whether a seam had a hand in it, so
// that the history alone does not give the same request.
func (r *run) request(ctx context.Context) (req replay.Request, seams bool, err error) {
	req = r.view.Request()
	seams = r.view != r.history
	if r.c.TransformContext != nil || r.c.Convert != nil {
		seams = true
		if req.Messages, err = r.convert(ctx, r.view.Messages()); err != nil {
			return replay.Request{}, false, err
		}
	}
	req.Model, req.Thinking = r.c.ModelRef, thinkingLevel(r.c.Thinking)
	req.Params, req.MaxTokens = r.c.Params, r.c.MaxTokens
	return req, seams, nil
}

func (r *run) convert(ctx context.Context, messages []transcript.Message) ([]transcript.Message, error) {
	if r.c.TransformContext != nil {
		var err error
		messages, err = guard("TransformContext", func() ([]transcript.Message, error) {
			return r.c.TransformContext(ctx, messages)
		})
		if err != nil {
			return nil, err
		}
	}
	convert := r.c.Convert
	if convert == nil {
		convert = replay.Convert
	}
	return guard("Convert", func() ([]transcript.Message, error) { return convert(messages) })
}

func thinkingLevel(level string) string { return cmp.Or(level, "off") }

// requestRecord is what the transcript says about the requests of a turn.
type requestRecord struct {
	n       int
	attempt int
	cause   string
	queued  []transcript.Queued
	seams   bool
}

func (r *run) newRequestRecord(queued []transcript.Queued, seams bool) *requestRecord {
	return &requestRecord{n: r.history.Turn() + 1, cause: r.cause, queued: queued, seams: seams}
}

// noteRequest records that req goes out now. Its digest is the one that the
// history gives, which anyone can recompute; what a seam made of it has a
// digest of its own, which can only be compared.
func (r *run) noteRequest(req replay.Request, rec *requestRecord) {
	rec.attempt++
	if r.c.Append == nil {
		return
	}
	if rec.attempt == 1 {
		r.noteModel(req)
	}
	entry := transcript.Request{
		Run: r.c.Run, N: rec.n, Attempt: rec.attempt, Cause: rec.cause, Queued: rec.queued,
		Mode: string(replay.ModeNone), Model: req.Model.ID, Thinking: req.Thinking, Params: req.Params, MaxTokens: req.MaxTokens,
		Tools: []string{},
	}
	r.mu.Lock()
	for _, d := range r.history.Tools() {
		entry.Tools = append(entry.Tools, d.Name)
	}
	entry.Digest, entry.Messages, _ = r.history.RequestDigest(&entry)
	r.mu.Unlock()
	if rec.seams {
		if sent := req.Project(replay.ModeNone).Digest(); sent != entry.Digest {
			entry.Sent = sent
		}
	}
	r.note(transcript.CustomRequest, entry)
}

// noteModel keeps the model and the thinking level of the history equal to
// what requests use.
func (r *run) noteModel(req replay.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.history.Model() != req.Model {
		r.record(&transcript.Entry{
			Type:  transcript.TypeModelChange,
			Model: &transcript.ModelChange{Provider: req.Model.Provider, ModelID: req.Model.ID},
		})
	}
	if r.history.Thinking() != req.Thinking {
		r.record(&transcript.Entry{Type: transcript.TypeThinking, Thinking: req.Thinking})
	}
}
