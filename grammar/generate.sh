#!/bin/sh
# Makes internal/stapparse/stap_*.go from the grammars. Needs npm and go's gofmt;
# the generator is antlr-ng, which is JavaScript and needs no Java.
#
#   ./generate.sh          rewrite the committed files
#   ./generate.sh DIR      write to DIR instead (the test compares)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/internal/stapparse}
version=1.0.10
tool=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/gostap/antlr-ng-$version
run=$tool/node_modules/antlr-ng/dist/cli/runner.js

if [ ! -f "$run" ]; then
	mkdir -p "$tool"
	(cd "$tool" && npm install --silent --no-save --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 "antlr-ng@$version") || {
		echo "generate.sh: cannot install antlr-ng $version with npm" >&2
		exit 3
	}
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp "$here/StapLexer.g4" "$here/StapParser.g4" "$tmp"
(cd "$tmp" && node "$run" -Dlanguage=Go --package stapparse -l false -v false -o "$tmp" StapLexer.g4 StapParser.g4)

# antlr-ng writes no "generated" line. Its template ends rules with a goto that
# nothing reaches, only to use a label: go vet objects, so the goto goes, and the
# label with it where no other goto names it.
cat >"$tmp/finish.cjs" <<'JS'
const fs = require("fs");
const [from, to, grammar] = process.argv.slice(2);
let text = fs.readFileSync(from, "utf8").replace(/^\/\/ Code generated.*\n/, "");
const parts = text.split(/^(?=func )/m).map((f) => {
  f = f.replace(/^[ \t]*goto errorExit[ \t]*\/\/ Trick.*\n/gm, "");
  return /goto errorExit/.test(f) ? f : f.replace(/^[ \t]*errorExit:[ \t]*\n/gm, "");
});
fs.writeFileSync(to, `// Code generated from ${grammar} by antlr-ng. DO NOT EDIT.\n\n` + parts.join(""));
JS
for f in lexer parser; do
	case $f in lexer) g=StapLexer.g4 ;; parser) g=StapParser.g4 ;; esac
	node "$tmp/finish.cjs" "$tmp/stap_$f.go" "$tmp/done_$f.go" $g
	gofmt "$tmp/done_$f.go" >"$tmp/fmt_$f.go"
done
mkdir -p "$out"
for f in lexer parser; do cp "$tmp/fmt_$f.go" "$out/stap_$f.go"; done
