#!/usr/bin/env bash
# The one gate: formatting, vet, staticcheck, modernizers, generated files and
# all tests under the race detector. The same here and in CI.
#
#   scripts/check.sh           everything
#   scripts/check.sh --fast    all but the tests
set -euo pipefail
cd "$(dirname "$0")/.."

tool() { go tool -modfile=scripts/tools.mod "$@"; }
step() { echo "check: $*" >&2; }
fail() {
	echo "check: failed: $*" >&2
	exit 1
}

step gofumpt
mapfile -t files < <(git ls-files '*.go')
unformatted=$(tool gofumpt -l "${files[@]}")
[ -z "$unformatted" ] || fail "not formatted; run gofumpt -w on:"$'\n'"$unformatted"

step go vet
go vet ./...

step staticcheck
# ST1003 wants ID and URL in capitals, against names that formats gave us.
tool staticcheck -checks all,-ST1003 ./...

step go fix
modernized=$(go fix -diff ./...)
[ -z "$modernized" ] || fail "go fix would change:"$'\n'"$modernized"

step go mod verify
go mod verify >/dev/null

step generated files
# Compared with the state before, so that the gate also runs on a work tree
# that has changes of its own.
before=$(git diff | git hash-object --stdin)
go generate ./...
after=$(git diff | git hash-object --stdin)
[ "$before" = "$after" ] || fail "go generate changed files: $(git diff --name-only | tr '\n' ' ')"

[ "${1:-}" != --fast ] || exit 0

step go test
race=-race
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	echo "check: no C compiler, so the tests run without the race detector" >&2
	race=
fi
go test $race ./...
