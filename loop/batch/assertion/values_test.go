package assertion_test

import (
	"encoding/json"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/assertion"
	"github.com/turnlog/turnlog/loop/task"
)

func TestOutputValues(t *testing.T) {
	s := &assertion.Subject{Output: json.RawMessage(`{"n":1.0,"big":1e999999999,"list":[{"b":1,"a":[true,null]},2],"odd key":"x"}`)}
	equals := func(path, value string) task.OutputValue {
		return task.OutputValue{Path: path, Equals: json.RawMessage(value)}
	}
	for _, test := range []struct {
		name string
		want task.OutputValue
		ok   bool
	}{
		{"a number written otherwise", equals("$.n", "1"), true},
		{"another number", equals("$.n", "2"), false},
		{"a number as text", equals("$.n", `"1"`), false},
		{"a number without end", equals("$.big", "1e999999999"), true},
		{"members in another order", equals("$.list[0]", `{"a":[true,null],"b":1}`), true},
		{"one member less", equals("$.list[0]", `{"b":1}`), false},
		{"items in another order", equals("$.list[0].a", "[null,true]"), false},
		{"a quoted name", equals(`$["odd key"]`, `"x"`), true},
		{"not there", equals("$.list[2]", "1"), false},
		{"not there, as wanted", task.OutputValue{Path: "$.none", Exists: new(false)}, true},
		{"in bounds", task.OutputValue{Path: "$.n", Min: new(1.0), Max: new(1.5)}, true},
		{"above", task.OutputValue{Path: "$.n", Max: new(0.5)}, false},
		{"text in bounds of numbers", task.OutputValue{Path: `$["odd key"]`, Min: new(0.0)}, false},
		{"enough items", task.OutputValue{Path: "$.list", MinItems: new(2)}, true},
		{"too many items", task.OutputValue{Path: "$.list", MaxItems: new(1)}, false},
	} {
		a := task.Assertion{Kind: "output", Output: &test.want}
		if o := assertion.Check(t.Context(), &a, s); o.OK != test.ok {
			t.Errorf("%s: %v, %q", test.name, o.OK, o.Message)
		}
	}
}

func TestText(t *testing.T) {
	s := &assertion.Subject{Text: "All Tests pass.\n"}
	for _, test := range []struct {
		want task.TextMatch
		ok   bool
	}{
		{task.TextMatch{Contains: "Tests"}, true},
		{task.TextMatch{Contains: "tests"}, false},
		{task.TextMatch{Contains: "tests", IgnoreCase: true}, true},
		{task.TextMatch{Equals: "All Tests pass."}, true},
		{task.TextMatch{Equals: "all tests", IgnoreCase: true}, false},
		{task.TextMatch{Matches: `^all \S+ pass\.`, IgnoreCase: true}, true},
		{task.TextMatch{Matches: "^all"}, false},
		{task.TextMatch{Contains: "All", Matches: "fail"}, false},
	} {
		a := task.Assertion{Kind: "text", Text: &test.want}
		if o := assertion.Check(t.Context(), &a, s); o.OK != test.ok {
			t.Errorf("%+v: %v, %q", test.want, o.OK, o.Message)
		}
	}
}
