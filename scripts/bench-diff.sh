#!/usr/bin/env bash
# Measures `turnlog diff` of two 100 MiB transcripts beside what reading both costs, in one run:
#
#   scripts/bench-diff.sh [DIR]
#
# DIR (default: a temporary folder) gets the corpora and keeps them for the next time: one transcript, a copy with one word
# changed in one result in the middle, a copy by another model, and another transcript altogether. `verify` of both files is
# the measure of reading: it parses every line once, too. Each command runs once to warm the page cache and then ROUNDS times
# (default 5), one after the other in every round. The table has medians: wall and user seconds, and peak memory.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-$(mktemp -d)}
rounds=${ROUNDS:-5}
size=${SIZE:-100MiB}
mkdir -p "$dir"
[ -x /usr/bin/time ] || { echo "bench-diff: /usr/bin/time is not installed" >&2; exit 1; }
go build -o "$dir/turnlog" .
go build -o "$dir/corpus" ./scripts/corpus
base=$dir/$size.jsonl
[ -s "$base" ] || "$dir/corpus" -size "$size" >"$base"
[ -s "$dir/other.jsonl" ] || "$dir/corpus" -size "$size" -seed 2 >"$dir/other.jsonl"
half=$(($(wc -l <"$base") / 2))
awk -v half="$half" 'NR > half && !done && sub(/return/, "RETURN") { done = 1 } { print }' "$base" >"$dir/word.jsonl"
sed 's/"model":"demo-1"/"model":"demo-2"/' "$base" >"$dir/model.jsonl"

# run NAME COMMAND...: one line "NAME wall user rss" on stdout; a difference makes exit code 1, which is no failure here.
run() {
	local name=$1
	shift
	/usr/bin/time -o "$dir/time" -f '%e %U %M' "$@" >/dev/null 2>&1 || true
	echo "$name $(tail -n 1 "$dir/time")"
}
all() {
	run "verify-both" "$dir/turnlog" verify --format json --fail-on never "$base" "$dir/word.jsonl"
	run "diff-itself" "$dir/turnlog" diff "$base" "$base"
	run "diff-one-word" "$dir/turnlog" diff "$base" "$dir/word.jsonl"
	run "diff-model" "$dir/turnlog" diff "$base" "$dir/model.jsonl"
	run "diff-everything" "$dir/turnlog" diff "$base" "$dir/other.jsonl"
	run "append-only" "$dir/turnlog" diff --append-only "$base" "$base"
}
all >/dev/null
for _ in $(seq "$rounds"); do all; done | awk -f scripts/medians.awk -v ratios="\
user CPU, one word / verify of both|u|diff-one-word|verify-both|1;\
wall, one word / verify of both|w|diff-one-word|verify-both|1"
