#!/bin/sh
# Fetches the charts of the page (uPlot) as package-lock.json has them. Needs npm.
set -eu
cd "$(dirname "$0")"
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
cp package.json package-lock.json "$tool"
(cd "$tool" && npm ci --silent --ignore-scripts --no-audit --no-fund)
cp "$tool/node_modules/uplot/dist/uPlot.iife.min.js" "$tool/node_modules/uplot/dist/uPlot.min.css" \
	"$tool/node_modules/uplot/LICENSE" .
