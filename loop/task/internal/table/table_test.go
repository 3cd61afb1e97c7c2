package table_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// A table of something that is no task: the package must not know the
// difference.
type lamp struct {
	Colour string
	Watts  int
	Fade   time.Duration
	Rooms  []string
}

func lamps() table.Value[lamp] {
	return table.Mapping("a lamp", lamp{Watts: 40}, func(k *table.Keys, l *lamp) {
		table.To(k, "colour", table.OneOf("warm", "cold"), &l.Colour, "What it looks like.").Must()
		table.To(k, "watts", table.Integer(1, 100), &l.Watts, "What it takes.")
		table.To(k, "fade", table.Duration(), &l.Fade, "How long it takes to light up.")
		table.To(k, "rooms", table.Some(table.Filled()), &l.Rooms, "Where it hangs.")
	}).Then(func(d *table.Decoder, n *table.Node, l *lamp) {
		if l.Fade > 0 && l.Colour == "cold" {
			d.At(n, "", "a cold lamp does not fade")
		}
	})
}

func open(text string) *table.Decoder {
	d := table.Open("lamp.yaml", []byte(text), table.Format{Name: "lamp", Smallest: "a lamp has a colour"})
	d.Lookup = func(space, name string) (table.Scalar, *table.Problem) {
		if space == "house" && name == "watts" {
			return table.Scalar{Kind: table.IntegerKind, Text: "60"}, nil
		}
		return table.Scalar{}, &table.Problem{Msg: fmt.Sprintf("no %s in this house", name), Unset: true}
	}
	return d
}

func TestDecode(t *testing.T) {
	for text, want := range map[string]lamp{
		"colour: warm":                            {Colour: "warm", Watts: 40},
		"{ colour: warm, watts: 1, x-a: b }":      {Colour: "warm", Watts: 1},
		"colour: warm\nwatts: ${{ house.watts }}": {Colour: "warm", Watts: 60},
		"colour: warm\nrooms: [\"${{ house.cellar ?? house.attic ?? 'hall' }}\", \"w${{ house.watts }}\"]": {Colour: "warm", Watts: 40, Rooms: []string{"hall", "w60"}},
		"x-base: &a { colour: warm, watts: 7 }\n<<: *a\nwatts: 8":                                          {Colour: "warm", Watts: 8},
	} {
		d := open(text)
		got, ok := lamps().Decode(d, d.Root)
		if diff := cmp.Diff(want, got); diff != "" || !ok || d.Err() != nil {
			t.Errorf("%s: %v %v (-want +got):\n%s", text, ok, d.Err(), diff)
		}
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"watts: 200\ncolor: red": "lamp.yaml:1:8: want a whole number from 1 to 100, found 200\n" +
			"lamp.yaml:2:1: unknown key \"color\" in a lamp (did you mean \"colour\"?)",
		"watts: 20":                         `lamp.yaml:1:1: a lamp needs the key "colour"`,
		"colour: cold\nfade: 2s":            "lamp.yaml:1:1: a cold lamp does not fade",
		"colour: warm\nrooms: []":           "lamp.yaml:2:8: the list is empty",
		"colour: warm\nfade: 2":             "lamp.yaml:2:7: want a duration, found the number 2 (write it with its unit: 500ms, 30s, 2m, 1h)",
		"colour: ${{ house.a ?? house.b }}": "lamp.yaml:1:9: no b in this house",
	} {
		d := open(text)
		if _, ok := lamps().Decode(d, d.Root); ok || d.Err() == nil {
			t.Errorf("%s: no error", text)
		} else if diff := cmp.Diff(want, d.Err().Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if got, want := open("").Err().Error(), "lamp.yaml:1:1: the file is empty (a lamp has a colour)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// One mistake stays one, however often its value is read.
func TestProblemsAreKeptOnce(t *testing.T) {
	d := open("colour: red")
	for range 3 {
		if _, ok := lamps().Decode(d, d.Root); ok {
			t.Error("a value that was reported is valid")
		}
	}
	if got, want := d.Err().Error(), `lamp.yaml:1:9: unknown value "red" (values are: warm, cold)`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestSchema(t *testing.T) {
	var got struct {
		Required   []string
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(lamps().Schema().Document(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"colour"}, got.Required); diff != "" || got.Properties["rooms"].Description != "Where it hangs." {
		t.Errorf("%+v", got)
	}
}
