package choice

import "testing"

func TestFind(t *testing.T) {
	table := Table[int]{{"one", 1}, {"two", 2}}
	if n, err := table.Find("number", "two"); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := table.Find("number", "six"); err == nil || err.Error() != `unknown number "six" (known: one, two)` {
		t.Errorf("error %v", err)
	}
}
