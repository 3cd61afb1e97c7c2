package main

import (
	"fmt"
	"io"
	"time"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

func equalMessages(s *session, n int) {
	s.begin()
	for range n {
		s.message(transcript.UserText("Go on."))
		s.message(transcript.Message{
			Role: transcript.Assistant, Provider: "demo", Model: "demo-1", StopReason: transcript.StopEnd,
			Content: []transcript.Block{transcript.TextBlock("Done.")},
		})
	}
}

// useNewTool declares a tool of its own and calls it.
func (s *session) useNewTool(i int, removed ...transcript.ToolRef) {
	name := fmt.Sprintf("tool_%d", i)
	s.declare([]transcript.Tool{{
		Name: name, Description: s.prose(60), Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`),
	}}, removed)
	s.ask()
	s.reply(s.call(callID(i), name))
	s.result(callID(i), name)
	s.reply()
}

func growingTools(s *session, n int) {
	s.begin()
	for i := range n {
		s.useNewTool(i)
	}
}

func churningTools(s *session, n int) {
	s.begin()
	s.useNewTool(0)
	for i := 1; i < n; i++ {
		s.useNewTool(i, transcript.ToolRef{Name: fmt.Sprintf("tool_%d", i-1)})
	}
}

func (s *session) dropEntry(id string) {
	s.add(transcript.Entry{Type: transcript.TypeContextEdit, Edit: &transcript.ContextEdit{TargetID: id}})
}

func edits(s *session, n int) {
	s.begin()
	for _, id := range s.trunk(n) {
		s.dropEntry(id)
	}
}

func editsBetween(s *session, n int) {
	s.begin()
	s.ask()
	for range n {
		s.reply()
		s.dropEntry(s.parent)
	}
}

func compactions(s *session, n int) {
	s.line([]byte(sessionHeader))
	checkpoint := transcript.Message{Role: transcript.System, Form: transcript.FormString, ToolsAdded: s.tools()[:1]}
	s.message(checkpoint)
	for range n {
		s.ask()
		s.reply()
		s.ask()
		kept := s.parent
		s.reply()
		m := checkpoint
		m.Timestamp = s.now.UnixMilli()
		s.add(transcript.Entry{Type: transcript.TypeCompaction, Compaction: &transcript.Compaction{
			Summary: s.text(), FirstKeptEntryID: kept, FirstKeptIndex: -1, TokensBefore: 1000, SystemMessage: &m,
		}})
	}
}

// sealed writes runs as the loop and its journal do: each request with the
// digest that the history gives, each run with the seal of all before it.
type sealed struct {
	*session
	sum   transcript.Sealer
	facts replay.Facts
	sent  replay.Sent
}

const (
	sealedSession = "0195a0c0-0000-7000-8000-000000000002"
	sealedHeader  = `{"type":"session","version":3,"id":"` + sealedSession + `","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/home/user/project",` +
		`"generator":{"name":"turnlog","version":"(devel)","format":1}}`
)

func sealedRuns(s *session, n int) {
	r := &sealed{session: s, facts: replay.NewFacts(nil)}
	s.w = io.MultiWriter(s.w, &r.sum)
	s.line([]byte(sealedHeader))
	for i := range n {
		r.run(i)
	}
}

func (s *sealed) run(i int) {
	id := fmt.Sprintf("r%d", i+1)
	s.note(transcript.CustomRun, transcript.Run{
		Run: id, Session: sealedSession, Model: "demo-1", Provider: "demo", ToolExecution: "parallel", Resumed: i > 0, PID: 7, Host: "build-1",
	})
	if i == 0 {
		s.apply(transcript.Entry{Type: transcript.TypeModelChange, Model: &transcript.ModelChange{Provider: "demo", ModelID: "demo-1"}})
		s.apply(transcript.Entry{Type: transcript.TypeThinking, Thinking: "off"})
		s.say(transcript.Message{Role: transcript.System, Form: transcript.FormString, ToolsAdded: s.tools()})
	}
	s.say(transcript.UserText(s.text()))
	call := s.call(callID(i), "read")
	s.turn(id, "prompt", s.answerOf(call), func() {
		s.note(transcript.CustomCall, transcript.CallIntent{ToolCallID: callID(i), Tool: "read", Effects: "read"})
		s.say(transcript.Message{
			Role: transcript.ToolResult, ToolCallID: callID(i), ToolName: "read", HasDuration: true, DurationMs: 1,
			Content: []transcript.Block{transcript.TextBlock(s.text())},
		})
	})
	s.turn(id, "tools", s.answerOf(), func() {})
	s.seal(id)
}

func (s *sealed) turn(run, cause string, answer transcript.Message, tools func()) {
	r := transcript.Request{
		Run: run, N: s.facts.Turn() + 1, Attempt: 1, Cause: cause, Mode: string(replay.ModeNone), Model: "demo-1", Thinking: "off", Tools: []string{},
	}
	for _, d := range s.facts.Tools() {
		r.Tools = append(r.Tools, d.Name)
	}
	r.Digest, r.Messages, _ = s.sent.Digest(&s.facts, &r)
	s.note(transcript.CustomRequest, r)
	s.say(answer)
	tools()
	s.note(transcript.CustomTurn, transcript.TurnRecord{StopReason: answer.StopReason, RawStopReason: answer.RawStopReason})
}

func (s *sealed) say(m transcript.Message) {
	m.Timestamp = s.now.UnixMilli()
	s.apply(transcript.Entry{Type: transcript.TypeMessage, Message: &m})
}

func (s *sealed) note(kind string, data any) {
	c, err := transcript.NewCustom(kind, data)
	if err != nil {
		s.err = err
		return
	}
	s.apply(transcript.Entry{Type: transcript.TypeCustom, Custom: c})
}

func (s *sealed) apply(e transcript.Entry) {
	s.facts.Apply(&e)
	s.sent.Apply(&s.facts, &e)
	s.add(e)
}

// seal ends a run. Its digest covers its own line, so the links and the time
// are set before.
func (s *sealed) seal(run string) {
	s.n++
	s.now = s.now.Add(time.Second)
	e := transcript.Entry{ID: idOf(s.n), ParentID: s.parent, Timestamp: s.now.Format("2006-01-02T15:04:05.000Z")}
	if err := s.sum.Seal(&e, transcript.End{Run: run, Session: sealedSession, Status: "ok", Turns: 2}); err != nil {
		s.err = err
		return
	}
	s.parent = e.ID
	s.facts.Apply(&e)
	s.sent.Apply(&s.facts, &e)
	s.line(transcript.AppendEntry(nil, &e))
}

// eventLog writes the events of n tasks in turns, as a batch of n jobs does.
func eventLog(s *session, n int) {
	s.line([]byte(`{"type":"batch_start","version":1,"generator":"turnlog (devel)","batch":"b"}`))
	each := func(members string) {
		for i := range n {
			s.line(fmt.Appendf(nil, `{"type":"%[1]s,"task":"t%[2]d","seq":%[3]d}`, members, i, s.n))
		}
		s.n++
	}
	message := func(of func() transcript.Message) {
		for i := range n {
			m := of()
			for _, event := range []string{"message_start", "message_end"} {
				b := fmt.Appendf(nil, `{"type":"%s","task":"t%d","seq":%d,"message":`, event, i, s.n)
				s.line(append(transcript.AppendMessage(b, &m), '}'))
			}
		}
		s.n++
	}
	tools := s.tools()[:1]
	each(`task_start"`)
	each(`agent_start"`)
	each(`turn_start"`)
	message(func() transcript.Message {
		return transcript.Message{Role: transcript.System, Form: transcript.FormString, ToolsAdded: tools}
	})
	message(func() transcript.Message { return transcript.UserText(s.text()) })
	message(func() transcript.Message { return s.answerOf() })
	each(`turn_end","message":{},"toolResults":[]`)
	each(`agent_end","messages":[]`)
	each(`agent_settled","aborted":false`)
	each(`task_end","status":"ok","exitCode":0`)
	s.line([]byte(`{"type":"batch_end","status":"ok"}`))
}
