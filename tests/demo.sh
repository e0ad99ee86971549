#!/bin/sh
# The newcomer's tour: traces bin/demo-shop, an ordinary optimised Go program, and
# shows arguments, results and latency by goroutine. Run it with: make demo
set -eu
cd "$(dirname "$0")/.."
gostap=bin/gostap shop=bin/demo-shop
SUDO=
if [ "$(id -u)" != 0 ]; then SUDO=sudo; fi

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ gostap'; for a; do case $a in *[!A-Za-z0-9_./-]*) printf " '%s'" "$a";; *) printf ' %s' "$a";; esac; done; printf '\n'; $SUDO "$gostap" "$@"; }

say "What can be probed, with arguments, results and their Go types:"
show -L "process(\"$shop\").function(\"main.*\")"

say "Arguments of calls, strings as text, through pointers and slices:"
show -e "probe process(\"$shop\").function(\"main.handle\") {
  if (\$depth == 0 && \$o->ID % 100 < 3)
    printf(\"goroutine %d: order %d of %s, %d items, first costs %d\\n\",
      goid(), \$o->ID, \$o->Customer, \$o->Items->len, \$o->Items[0]->Price)
}" -c "$shop"

say "Results, two of them, by name:"
show -e "probe process(\"$shop\").function(\"main.charge\").return {
  if (\$cents % 5 == 0) printf(\"charge(%s, %d) was declined\\n\", \$customer, \$cents)
  else n++
}
global n
probe end { printf(\"%d charges went well\\n\", n) }" -c "$shop"

say "Latency of main.charge by goroutine, in microseconds:"
show -e "global start, lat, all
probe process(\"$shop\").function(\"main.charge\") { start[goid()] = gettimeofday_ns() }
probe process(\"$shop\").function(\"main.charge\").return {
  d = (gettimeofday_ns() - start[goid()]) / 1000
  lat[goid()] <<< d
  all <<< d
}
probe end {
  foreach (g in lat @avg- limit 4)
    printf(\"goroutine %d: %d calls, average %d us, slowest %d us\\n\", g, @count(lat[g]), @avg(lat[g]), @max(lat[g]))
  print(@hist_log(all))
}" -c "$shop"
