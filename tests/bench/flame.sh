#!/bin/sh
# flame.sh [STACKS]: speed and memory of vkb-flame on made-up stacks (default
# 300,000 different ones) and on what perf script prints, beside wc's, and
# beside stackcollapse-perf.pl's and flamegraph.pl's where they are in PATH.
set -eu
cd "${0%/*}/../.."
make -s bench >&2
PATH=$PWD/bin:$PWD/build/bench:$PATH
n=${1:-300000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

perl -e 'srand 1;
  for (1 .. $ARGV[0]) {
    my $x = int rand 40;
    print join(";", "valkey-server", map { $x = ($x * 7 + int rand 3) % 3000;
      "function_number_$x" } 1 .. 8 + int rand 25), " ", 1 + int rand 5, "\n"
  }' "$n" >"$dir/folded"
awk '{ for (i = 0; i < 60000; i++) print }' RS= ORS='\n\n' \
  tests/data/perf-script.txt >"$dir/script"
printf '%s stacks, %s MB; perf script, %s MB\n' "$n" \
  "$(($(wc -c <"$dir/folded") / 1000000))" \
  "$(($(wc -c <"$dir/script") / 1000000))"
f=$dir/script
spent 'folding' "$f" vkb-flame -f folded "$f"
spent 'wc' "$f" wc "$f"
! command -v stackcollapse-perf.pl >/dev/null ||
  spent 'stackcollapse-perf.pl' "$f" stackcollapse-perf.pl "$f"
f=$dir/folded
spent 'a graph' "$f" vkb-flame "$f"
spent 'folding once more' "$f" vkb-flame -f folded "$f"
spent 'a table' "$f" vkb-flame --table "$f"
spent 'a differential graph' "$f" vkb-flame -b "$f" "$f"
! command -v flamegraph.pl >/dev/null ||
  spent 'flamegraph.pl' "$f" flamegraph.pl "$f"
