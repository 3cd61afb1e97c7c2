#!/usr/bin/env bash
# Plays the same scripted turns on our loop and on the real pi, by turns in
# one process each, and prints nanoseconds per turn side by side.
#
#   scripts/bench-loop.sh [ROUNDS]
#
# On a busy machine compare the smallest figures of several rounds.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-3}
scripts/npm.sh
pi=.cache/npm/node_modules
node=$pi/.bin/node
[ -x "$node" ] || node=node
bench=$(mktemp -d)/loop.test
trap 'rm -rf "$(dirname "$bench")"' EXIT
go test -c -o "$bench" ./loop

for ((i = 1; i <= rounds; i++)); do
	for turns in 1000 10000; do
		for calls in 0 1 8; do
			ours=$("$bench" -test.run '^$' -test.bench "^BenchmarkLoop\$/^turns=$turns\$/^calls=$calls\$/^memory\$" -test.benchtime 3x |
				awk '/^BenchmarkLoop/ { for (i = 1; i < NF; i++) if ($(i + 1) == "ns/turn") print int($i) }')
			echo "round $i turns $turns calls $calls turnlog ${ours} ns/turn"
			if [ -d "$pi/@earendil-works/pi-agent-core" ]; then
				echo "round $i turns $turns calls $calls pi $("$node" scripts/oracle/bench.mjs "$pi" "$turns" "$calls" 3)"
			fi
		done
	done
done
