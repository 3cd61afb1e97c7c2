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
	local name=$1 out
	shift
	out=$( { /usr/bin/time -f '%e %U %M' "$@" >/dev/null 2>"$dir/stderr"; } 2>&1 || true)
	echo "$name $(tail -n 1 "$dir/stderr")"
}
all() {
	run "verify-1-worker-1GiB" env GOMAXPROCS=1 "$dir/turnlog" verify --format json "$dir/1GiB.jsonl"
	run "verify-1GiB" "$dir/turnlog" verify --format json "$dir/1GiB.jsonl"
	run "verify-100MiB" "$dir/turnlog" verify --format json "$dir/100MiB.jsonl"
	run "jq-type-1GiB" jq -c .type "$dir/1GiB.jsonl"
	run "node-parse-1GiB" node scripts/parse-lines.mjs "$dir/1GiB.jsonl"
}
all >/dev/null
for _ in $(seq "$rounds"); do all; done | awk '
	{ n[$1]++; wall[$1, n[$1]] = $2; user[$1, n[$1]] = $3; rss[$1, n[$1]] = $4; if (!($1 in seen)) { seen[$1] = 1; order[++k] = $1 } }
	function median(a, name, m,   i, j, v, t) {
		for (i = 1; i <= m; i++) v[i] = a[name, i] + 0
		for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
		return v[int((m + 1) / 2)]
	}
	END {
		printf "%-22s %8s %8s %9s\n", "command", "wall s", "user s", "RSS MiB"
		for (i = 1; i <= k; i++) {
			c = order[i]; w[c] = median(wall, c, n[c]); u[c] = median(user, c, n[c])
			printf "%-22s %8.2f %8.2f %9.1f\n", c, w[c], u[c], median(rss, c, n[c]) / 1024
		}
		printf "user CPU, jq / verify: %.2f\n", u["jq-type-1GiB"] / u["verify-1GiB"]
		printf "wall, jq / verify:     %.2f\n", w["jq-type-1GiB"] / w["verify-1GiB"]
		printf "user CPU, node / verify: %.2f\n", u["node-parse-1GiB"] / u["verify-1GiB"]
		printf "user CPU a byte, 1 GiB / 100 MiB: %.2f\n", u["verify-1GiB"] / u["verify-100MiB"] / 10.24
	}'
