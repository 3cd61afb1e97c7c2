package answer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/transcript"
)

func free(*transcript.Usage) transcript.Cost { return transcript.Cost{} }

func TestUsage(t *testing.T) {
	for in, want := range map[string]transcript.Usage{
		`null`: {},
		`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}`: {Input: 30, Output: 20, CacheRead: 60, CacheWrite: 10, TotalTokens: 120, Reasoning: 5},
		`{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":60}`:                                                                                            {Input: 40, Output: 20, CacheRead: 60, TotalTokens: 120},
		`{"prompt_tokens":100,"completion_tokens":20,"cached_tokens":60}`:                                                                                                      {Input: 40, Output: 20, CacheRead: 60, TotalTokens: 120},
		`{"prompt_tokens":"7","completion_tokens":2.9,"prompt_tokens_details":null}`:                                                                                           {Input: 7, Output: 2, TotalTokens: 9},
		`{"prompt_tokens":-7,"completion_tokens":9223372036854775807,"total_tokens":"x"}`:                                                                                      {Output: maxTokens, TotalTokens: maxTokens},
		`{"prompt_tokens":5,"completion_tokens":{},"prompt_tokens_details":{"cached_tokens":9}}`:                                                                               {CacheRead: 9, TotalTokens: 9},
	} {
		c, err := decodeChunk([]byte(`{"usage":` + in + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, *c.Usage.usage(free)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}
