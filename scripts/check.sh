#!/usr/bin/env bash
# The one gate: formatting, vet, staticcheck, modernizers, generated files and
# all tests under the race detector. The same here and in CI.
#
#   scripts/check.sh           everything
#   scripts/check.sh --fast    all but the tests
set -euo pipefail
cd "$(dirname "$0")/.."

tool() { go tool -modfile=scripts/tools.mod "$@"; }

# Static checks all run before the gate closes: one call shows all there is.
failed=0
check() { # NAME COMMAND...: fails if the command does, or if it writes to stdout
	echo "check: $1" >&2
	local out
	if ! out=$("${@:2}") || [ -n "$out" ]; then
		printf 'check: failed: %s\n%s\n' "$1" "$out" >&2
		failed=1
	fi
}

sources() { git ls-files -z '*.go' | xargs -0 ls 2>/dev/null; } # without deleted ones
unformatted() { sources | xargs go tool -modfile=scripts/tools.mod gofumpt -l; }

# Compared with the state before, so that the gate also runs on a work tree
# that has changes of its own.
generated() {
	local before
	before=$(git diff | git hash-object --stdin)
	go generate ./... || return
	[ "$before" = "$(git diff | git hash-object --stdin)" ] || git diff --name-only
}

check gofumpt unformatted
check 'go vet' go vet ./...
# ST1003 wants ID and URL in capitals, against names that formats gave us.
check staticcheck tool staticcheck -checks all,-ST1003 ./...
check 'go fix' go fix -diff ./...
check 'generated files' generated
[ $failed = 0 ] || exit 1
[ "${1:-}" != --fast ] || exit 0

echo 'check: go test' >&2
race=-race
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	echo 'check: no C compiler, so the tests run without the race detector' >&2
	race=
fi
go test $race ./...
