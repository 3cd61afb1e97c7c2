#!/usr/bin/env bash
# Records the goldens of fixtures/scenarios from the real pi, or compares them.
#
#   scripts/oracle/oracle.sh                     write the goldens
#   scripts/oracle/oracle.sh --check [FOLDER]    compare; FOLDER defaults to fixtures/scenarios
#
# pi 1.6.0 comes from .cache/npm (scripts/npm.sh); the older loop, whose
# steering skips calls, is installed beside it when first needed.
set -euo pipefail
cd "$(dirname "$0")/../.."

check=
if [ "${1:-}" = --check ]; then
	check=--check
	shift
fi
folder=${1:-fixtures/scenarios}

scripts/npm.sh
pi=.cache/npm/node_modules
older=.cache/npm-older/node_modules
if [ ! -d "$pi/@earendil-works/pi-agent-core" ]; then
	echo "oracle.sh: pi is not installed; nothing recorded" >&2
	exit
fi
node=$pi/.bin/node
[ -x "$node" ] || node=node

"$node" scripts/oracle/record.mjs "$pi" "$folder" "" $check
if [ -d "$folder/scenarios-skip" ]; then
	if [ ! -d "$older/@mariozechner/pi-agent-core" ]; then
		npm install --prefix "${older%/node_modules}" --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error \
			@mariozechner/pi-agent-core@0.58.3
	fi
	"$node" scripts/oracle/record.mjs "$older" "$folder" -skip $check
fi
if [ -n "$check" ]; then echo "oracle.sh: goldens of $folder are what pi does" >&2; fi
