package batch

import "testing"

func TestShardsAreAPartition(t *testing.T) {
	files := many(t, 100)
	seen := map[string]int{}
	for i := 1; i <= 3; i++ {
		planned, _, err := Plan(Options{Files: files, Out: t.TempDir(), Shard: Shard{i, 3}})
		if err != nil {
			t.Fatal(err)
		}
		if len(planned) == 0 || len(planned) == 100 {
			t.Errorf("shard %d has %d tasks", i, len(planned))
		}
		for _, p := range planned {
			seen[p.ID]++
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d tasks in all shards", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is in %d shards", id, n)
		}
	}
}

func TestParseShard(t *testing.T) {
	for _, test := range []struct {
		text string
		env  map[string]string
		want Shard
		bad  bool
	}{
		{"", nil, Shard{}, false},
		{"2/3", nil, Shard{2, 3}, false},
		{"1/1", map[string]string{"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4"}, Shard{1, 1}, false},
		{"", map[string]string{"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4"}, Shard{2, 4}, false},
		{"/4", map[string]string{"JOB_COMPLETION_INDEX": "0"}, Shard{1, 4}, false},
		{"/4", map[string]string{"JOB_COMPLETION_INDEX": "3"}, Shard{4, 4}, false},
		{"", map[string]string{"JOB_COMPLETION_INDEX": "3"}, Shard{}, false},
		{"/4", nil, Shard{}, true},
		{"0/3", nil, Shard{}, true},
		{"4/3", nil, Shard{}, true},
		{"a/b", nil, Shard{}, true},
		{"3", nil, Shard{}, true},
		{"", map[string]string{"CI_NODE_INDEX": "5", "CI_NODE_TOTAL": "4"}, Shard{}, true},
	} {
		got, err := ParseShard(test.text, func(name string) string { return test.env[name] })
		if (err != nil) != test.bad || got != test.want {
			t.Errorf("%q %v: got %v, %v", test.text, test.env, got, err)
		}
	}
}
