package loop_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/turnlog/turnlog/replay/transcript"
)

// scenario is one file of a scenario folder: what goes around the loop.
type scenario struct {
	Name          string               `json:"name"`
	About         string               `json:"about"`
	Entry         string               `json:"entry"`
	Messages      []transcript.Message `json:"messages"`
	Prompts       []transcript.Message `json:"prompts"`
	Model         *modelRef            `json:"model"`
	ThinkingLevel string               `json:"thinkingLevel"`
	SystemPrompt  string               `json:"systemPrompt"`
	Tools         []toolDef            `json:"tools"`
	ActiveTools   *[]string            `json:"activeTools"`
	ToolExecution string               `json:"toolExecution"`
	SteeringMode  string               `json:"steeringMode"`
	FollowUpMode  string               `json:"followUpMode"`
	Steering      []delivery           `json:"steering"`
	FollowUps     []delivery           `json:"followUps"`
	Abort         *struct {
		On trigger `json:"on"`
	} `json:"abort"`
	Actions []struct {
		On trigger  `json:"on"`
		Do []action `json:"do"`
	} `json:"actions"`
	Hooks     hooks             `json:"hooks"`
	Responses []json.RawMessage `json:"responses"`
	Script    []op              `json:"script"`
}

type modelRef struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
}

type toolDef struct {
	Key              string          `json:"key"`
	Name             string          `json:"name"`
	Description      *string         `json:"description"`
	Parameters       json.RawMessage `json:"parameters"`
	ExecutionMode    string          `json:"executionMode"`
	PrepareArguments *struct {
		Rename map[string]string `json:"rename"`
	} `json:"prepareArguments"`
	Behaviour struct {
		Default []step            `json:"default"`
		Calls   map[string][]step `json:"calls"`
	} `json:"behaviour"`
}

// step is one step of a tool. Absent members are nil.
type step struct {
	Update     json.RawMessage `json:"update"`
	LateUpdate json.RawMessage `json:"lateUpdate"`
	WaitStart  []string        `json:"waitStart"`
	WaitFinish []string        `json:"waitFinish"`
	WaitEnd    []string        `json:"waitEnd"`
	WaitAbort  bool            `json:"waitAbort"`
	Do         []action        `json:"do"`
	Return     json.RawMessage `json:"return"`
	Throw      *string         `json:"throw"`
	ThrowValue json.RawMessage `json:"throwValue"`
}

// delivery is what a queue gives: at a poll, or from a moment on.
type delivery struct {
	AtPoll   int                  `json:"atPoll"`
	On       *trigger             `json:"on"`
	Messages []transcript.Message `json:"messages"`
}

// trigger is a moment: its members must equal those of what happens.
type trigger map[string]any

// action is what happens at a moment; one member is set.
type action struct {
	Steer    []transcript.Message `json:"steer"`
	FollowUp []transcript.Message `json:"followUp"`
	Abort    bool                 `json:"abort"`
	Op       *op                  `json:"op"`
}

func (a *action) name() string {
	switch {
	case a.Steer != nil:
		return "steer"
	case a.FollowUp != nil:
		return "followUp"
	case a.Op != nil:
		return "op"
	}
	return "abort"
}

// op is something a user does with an agent.
type op struct {
	Op       string               `json:"op"`
	Text     *string              `json:"text"`
	Messages []transcript.Message `json:"messages"`
	Tools    []string             `json:"tools"`
	Model    *modelRef            `json:"model"`
}

// hooks are the seams of a scenario; an absent one is not installed.
type hooks struct {
	FinishTurn       *[]*string        `json:"finishTurn"`
	PrepareNextTurn  *[]*contextUpdate `json:"prepareNextTurn"`
	PrepareRequest   *[]*contextUpdate `json:"prepareRequest"`
	TransformContext json.RawMessage   `json:"transformContext"`
	ConvertToLlm     *struct {
		CustomAsUser bool `json:"customAsUser"`
	} `json:"convertToLlm"`
	BeforeToolCall map[string]*beforeTool `json:"beforeToolCall"`
	AfterToolCall  map[string]*afterTool  `json:"afterToolCall"`
}

type contextUpdate struct {
	Messages        []transcript.Message  `json:"messages"`
	Tools           *[]string             `json:"tools"`
	ContextMessages *[]transcript.Message `json:"contextMessages"`
	Model           *modelRef             `json:"model"`
	ThinkingLevel   string                `json:"thinkingLevel"`
}

type viewChange struct {
	DropRoles []string             `json:"dropRoles"`
	KeepLast  *int                 `json:"keepLast"`
	Prepend   []transcript.Message `json:"prepend"`
	Append    []transcript.Message `json:"append"`
}

type beforeTool struct {
	Do        []action        `json:"do"`
	Throw     *string         `json:"throw"`
	SetArgs   json.RawMessage `json:"setArgs"`
	Block     *bool           `json:"block"`
	Reason    string          `json:"reason"`
	Terminate bool            `json:"terminate"`
}

type afterTool struct {
	Do                []action        `json:"do"`
	Throw             *string         `json:"throw"`
	Content           json.RawMessage `json:"content"`
	Details           json.RawMessage `json:"details"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	Usage             json.RawMessage `json:"usage"`
	IsError           *bool           `json:"isError"`
	Terminate         *bool           `json:"terminate"`
}

// transforms gives the view change of the n-th call.
func (h *hooks) transforms(n int) viewChange {
	var list []*viewChange
	if json.Unmarshal(h.TransformContext, &list) == nil {
		if n <= len(list) && list[n-1] != nil {
			return *list[n-1]
		}
		return viewChange{}
	}
	var one viewChange
	_ = json.Unmarshal(h.TransformContext, &one)
	return one
}

func nth[T any](list *[]*T, n int) *T {
	if list == nil || n > len(*list) {
		return nil
	}
	return (*list)[n-1]
}

func readScenario(t testing.TB, path string) *scenario {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := new(scenario)
	if err := json.Unmarshal(raw, s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}
