package batch

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Shard is part I of N of a batch, from 1; the zero value is the whole.
type Shard struct{ I, N int }

// ParseShard reads "i/n". CI systems tell each of several equal jobs which one
// it is: an empty text asks the environment for both numbers, "/n" for i.
func ParseShard(text string, env func(string) string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	switch {
	case i != "":
		return newShard(i, n, ok, 1, text)
	case n == "":
		n = env("CI_NODE_TOTAL")
	}
	if i = env("CI_NODE_INDEX"); i != "" && n != "" {
		// GitLab counts its jobs from 1.
		return newShard(i, n, true, 1, "CI_NODE_INDEX "+i+" of "+n)
	}
	if i = env("JOB_COMPLETION_INDEX"); i != "" && n != "" {
		// Kubernetes counts from 0, and only the caller knows how many there are.
		return newShard(i, n, true, 0, "JOB_COMPLETION_INDEX "+i+" of "+n)
	}
	if text != "" {
		return Shard{}, fmt.Errorf("shard %q: neither CI_NODE_INDEX nor JOB_COMPLETION_INDEX is set", text)
	}
	return Shard{}, nil
}

func newShard(i, n string, ok bool, first int, text string) (Shard, error) {
	index, err1 := strconv.Atoi(i)
	total, err2 := strconv.Atoi(n)
	index += 1 - first
	if !ok || err1 != nil || err2 != nil || total < 1 || index < 1 || index > total {
		return Shard{}, fmt.Errorf("shard %q: want i/n with 1 <= i <= n", text)
	}
	return Shard{index, total}, nil
}

func (s Shard) String() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

// Has reports whether a task belongs to the shard. It depends on the id
// alone: a task that is added moves no other to another shard.
func (s Shard) Has(id string) bool {
	if s.N <= 1 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum64()%uint64(s.N)) == s.I-1
}
