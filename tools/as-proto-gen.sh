#!/bin/sh
# The plugin that writes assembly/proto. as-proto-gen takes a part of its input for the whole when that comes through a
# pipe in pieces, so it is given a file.
set -eu
request=$(mktemp)
trap 'rm -f "$request"' EXIT
cat >"$request"
"$(dirname "$0")/../node_modules/.bin/as-proto-gen" <"$request"
