#!/bin/sh
# Writes the manual pages to a directory: gostap(1) from what the command says of itself, and the documents for users.
# usage: docs/man.sh GOSTAP|GOSTAP-FLEET DIRECTORY, in the folder with the sources. Equal sources give equal bytes.
set -eu
program=$1 out=$2
md2man="${GO:-go} run github.com/cpuguy83/go-md2man/v2@v2.0.7"
mkdir -p "$out"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# lists makes of each table a list: a row's first column is what the others tell of, with their headings where there are
# several. A table as wide as ours is no help on a terminal.
lists() {
	awk '
		function cells(line, n) {
			gsub(/\\\|/, "\1", line)
			gsub(/^\||\|$/, "", line)
			n = split(line, cell, /\|/)
			for (i = 1; i <= n; i++) gsub(/^ +| +$/, "", cell[i])
			return n
		}
		/^\|[-:|]*\|$/ { next }
		/^\| / {
			n = cells($0)
			if (!within) { within = 1; for (i = 1; i <= n; i++) head[i] = cell[i]; next }
			text = ""
			for (i = 2; i <= n; i++)
				text = text (i > 2 ? "; " : "") (n > 2 && head[i] != "" ? head[i] ": " : "") cell[i]
			gsub(/\1/, "|", text); gsub(/\1/, "|", cell[1])
			print "\n" cell[1] "\n: " text
			next
		}
		{ within = 0; print }'
}

# page NAME SECTION TITLE: markdown on standard input becomes a page. Links to other documents become their words, and so
# do pictures.
page() {
	{
		printf '%% %s %s "" "gostap" "gostap"\n\n# NAME\n\n%s - %s\n\n' "$1" "$2" "$1" "$3"
		lists | sed -e '/^<!--/d' -e 's/^```.*/```/' -e 's/!\[\([^]]*\)\]([^)]*)/(picture: \1)/g' \
			-e 's/\[\([^]]*\)\]([a-z-]*\.md[^)]*)/\1/g' -e 's/\[\([^]]*\)\](#[^)]*)/\1/g'
	} >"$tmp/page.md"
	$md2man -in "$tmp/page.md" -out "$out/$1.$2"
}

# document FILE NAME SECTION: without its title, which is the page's, and with its headings as sections.
document() {
	title=$(sed -n 's/^# //p' "docs/$1.md" | head -n 1)
	sed -e '/^# /d' -e 's/^## /# /' -e 's/^### /## /' "docs/$1.md" | page "$2" "$3" "$title"
}

# command WORD NAME: a page of what its --help prints.
command() {
	"$program" $1 --help >"$tmp/help"
	sed -e '1d' "$tmp/help" | awk '
		/^[a-z].*:$/ { title = $0; sub(/:$/, "", title); print "\n# " toupper(title) "\n"; next }
		/^usage: / { print "\n# SYNOPSIS\n"; sub(/^usage: /, "       ") }
		/^[^ ]/ { print; next }
		{ print ($0 == "" ? "" : "    " $0) }' >"$tmp/text"
	{
		cat "$tmp/text"
		printf '\n# SEE ALSO\n\n%s\n' "$see"
	} | page "$2" 1 "$(sed -n '1s/^gostap[-a-z]*\( [a-z]*\)* - //p' "$tmp/help")"
}

case $program in
*/gostap-fleet)
	see='gostap-fleet(7), gostap(1), gostap-kube(1), gostap-kubernetes(7)'
	command "" gostap-fleet
	document fleet gostap-fleet 7
	exit
	;;
esac

see='gostap(1), gostap-language(7), gostap-probes(3), gostap-tapset(3), gostap-tools(1), gostap-profile(1), gostap-types(1),
gostap-errors(7), gostap-guru(7); gostap help NAME'
command "" gostap
for c in profile types inject patch dtrace tplist kube; do command $c gostap-$c; done
document tools gostap-tools 1
document language gostap-language 7
document tapsets gostap-tapset 3
document errors gostap-errors 7
for d in guru ftrace served remote kubernetes export page json monitor interactive marks plan packages compat; do document $d gostap-$d 7; done
{
	sed -n '/^## Probe points/,/^## Aliases/{/^## Aliases/d;s/^## /# /;s/^### /## /;p}' docs/language.md
	printf '\n# ALL KINDS\n\n'
	"$program" --dump-probe-types | sed 's/^/    /'
} | page gostap-probes 3 'where a script can look'
