#!/usr/bin/env bash
# Measures `turnlog verify` beside what its users run today on the same files, in one run:
#
#   scripts/bench-verify.sh [DIR]
#
# DIR (default: a temporary folder) gets the corpora, 100 MiB and 1 GiB, and keeps them for the next time. Each command
# runs once to warm the page cache and then ROUNDS times (default 5), one after the other in every round, so that a change
# of the machine's speed hits all of them. The table has medians: wall and user seconds, and peak memory.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-$(mktemp -d)}
rounds=${ROUNDS:-5}
mkdir -p "$dir"
for tool in jq node /usr/bin/time; do
	command -v "$tool" >/dev/null || { echo "bench-verify: $tool is not installed" >&2; exit 1; }
done
go build -o "$dir/turnlog" .
go build -o "$dir/corpus" ./scripts/corpus
for size in 100MiB 1GiB; do
	[ -s "$dir/$size.jsonl" ] || "$dir/corpus" -size "$size" >"$dir/$size.jsonl"
done

# run NAME COMMAND...: one line "NAME wall user rss" on stdout; findings make exit code 1, which is no failure here.
run() {
	local name=$1
	shift
	/usr/bin/time -o "$dir/time" -f '%e %U %M' "$@" >/dev/null 2>&1 || true
	echo "$name $(tail -n 1 "$dir/time")"
}
all() {
	run "verify-1-worker-1GiB" env GOMAXPROCS=1 "$dir/turnlog" verify --format json "$dir/1GiB.jsonl"
	run "verify-1GiB" "$dir/turnlog" verify --format json "$dir/1GiB.jsonl"
	run "verify-100MiB" "$dir/turnlog" verify --format json "$dir/100MiB.jsonl"
	run "jq-type-1GiB" jq -c .type "$dir/1GiB.jsonl"
	run "node-parse-1GiB" node scripts/parse-lines.mjs "$dir/1GiB.jsonl"
}
all >/dev/null
for _ in $(seq "$rounds"); do all; done | awk -f scripts/medians.awk -v ratios="\
user CPU, jq / verify|u|jq-type-1GiB|verify-1GiB|1;\
wall, jq / verify|w|jq-type-1GiB|verify-1GiB|1;\
user CPU, node / verify|u|node-parse-1GiB|verify-1GiB|1;\
user CPU a byte, 1 GiB / 100 MiB|u|verify-1GiB|verify-100MiB|10.24"
