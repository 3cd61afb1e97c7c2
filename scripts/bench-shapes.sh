#!/usr/bin/env bash
# Measures what turnlog does with files of hostile and of large honest shapes, at N and at 10 N:
#
#   scripts/bench-shapes.sh [DIR]
#
# DIR (default: a temporary folder) gets the files, which `scripts/corpus -list` names and sizes, and keeps them for the
# next time. SHAPES and COMMANDS choose among them ("comb ring", "verify diff"). Each command runs once, its output thrown
# away, for at most LIMIT seconds (default 120) and 8 GiB of address space. Work that is proportional to its input has a
# ratio near 10; where the small file takes less than a tenth of a second, the ratio says little.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-$(mktemp -d)}
limit=${LIMIT:-120}
commands=${COMMANDS:-verify replay-end replay-50 diff}
mkdir -p "$dir"
[ -x /usr/bin/time ] || { echo "bench-shapes: /usr/bin/time is not installed" >&2; exit 1; }
go build -o "$dir/turnlog" .
go build -o "$dir/corpus" ./scripts/corpus

# run COMMAND FILE: "user MiB" on stdout, with a word for the time of a command that did not end by itself. Findings and
# differences make exit code 1, which is no failure here.
run() {
	local args code=0
	case $1 in
	verify) args=(verify --format ndjson "$2") ;;
	replay-end) args=(replay --at end "$2") ;;
	replay-50) args=(replay --at line:50 "$2") ;;
	diff) args=(diff "$2" "$2") ;;
	*) echo "bench-shapes: no command is called $1" >&2; exit 1 ;;
	esac
	(
		ulimit -v $((8 << 20))
		exec /usr/bin/time -q -o "$dir/time" -f '%e %U %M' timeout -k 5 "$limit" "$dir/turnlog" "${args[@]}" >/dev/null 2>"$dir/stderr"
	) || code=$?
	local wall user kilobytes
	read -r wall user kilobytes <<<"$(tail -n 1 "$dir/time")"
	if grep -q 'out of memory\|cannot allocate memory' "$dir/stderr"; then
		user=memory kilobytes=
	elif [ "$code" = 124 ] || [ "$code" = 137 ]; then
		user=">${wall%.*}s" kilobytes=
	elif [ "$code" -gt 1 ]; then
		user="exit-$code"
	fi
	echo "$user ${kilobytes:+$((kilobytes >> 10))}"
}

ended() { [[ $1 =~ ^[0-9.]+$ ]]; }

row='%-16s %-10s %9s %9s %9s %7s %7s %7s\n'
# shellcheck disable=SC2059
printf "$row" shape command N 'user N' 'user 10N' ratio 'MiB N' 'MiB 10N'
"$dir/corpus" -list | while IFS=$'\t' read -r shape n _; do
	if [ -n "${SHAPES:-}" ] && [[ " $SHAPES " != *" $shape "* ]]; then continue; fi
	for size in "$n" "$((10 * n))"; do
		file=$dir/$shape-$size.jsonl
		[ -s "$file" ] || { "$dir/corpus" -shape "$shape" -n "$size" >"$file.part" && mv "$file.part" "$file"; }
	done
	for command in $commands; do
		read -r small smallMiB <<<"$(run "$command" "$dir/$shape-$n.jsonl")"
		large=- largeMiB=- ratio=-
		if ended "$small"; then
			read -r large largeMiB <<<"$(run "$command" "$dir/$shape-$((10 * n)).jsonl")"
			if ended "$large"; then ratio=$(awk -v a="$small" -v b="$large" 'BEGIN { printf "%.1f", b / (a > 0.01 ? a : 0.01) }'); fi
		fi
		# shellcheck disable=SC2059
		printf "$row" "$shape" "$command" "$n" "$small" "$large" "$ratio" "${smallMiB:--}" "${largeMiB:--}"
	done
done
