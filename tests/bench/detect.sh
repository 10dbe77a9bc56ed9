#!/bin/sh
# detect.sh [COMMITS [CASES]]: speed and memory of vkb-detect on a made-up
# history with one run for each commit and case (default 10,000 and 100),
# beside vkb-stats on the same runs. Prints a table.
set -eu
cd "${0%/*}/../.."
make -s bench >&2
PATH=$PWD/bin:$PWD/build/bench:$PATH
n=${1:-10000} cases=${2:-100}
dir=$(mktemp -d "${TMPDIR:-/tmp}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

perl -e 'my ($n, $cases) = @ARGV; srand 1;
  for my $i (0 .. $n - 1) { for my $c (0 .. $cases - 1) {
    my $x = 1 + .01 * (rand() + rand() + rand() - 1.5);
    $x *= 1 - .05 * (int($i / ($n / 5)) % 2);
    printf qq({"type":"run","v":1,"subject":{"commit":"%08x%032x","time":"2026-01-01T00:00:00Z","server_version":"8.1.0"},"config":{"command":"SET","data_size":%d,"pipeline":%d,"clients":50,"cluster_mode":false},"run":{"session":"s%d","index":%d,"block":1,"order":%d,"started":"2026-01-01T00:00:00Z","seed":%d},"env":{"arch":"x86_64","kernel":"6.1.0","governor":"performance"},"metrics":{"rps":%.2f,"avg_latency_ms":%.3f,"p50_latency_ms":%.3f,"p99_latency_ms":%.3f,"max_latency_ms":%.3f},"bound":"server","status":"ok"}\n),
      $i * 2654435761 % 4294967296, $i, $c / 10, $c % 10, $i, 1, $c + 1, $i,
      5e5 * $x, .8 / $x, .8 / $x, 1.4 / $x + rand .05, 3 + rand 1 } }' \
  "$n" "$cases" >"$dir/history"
printf '%s commits, %s cases: %s MB\n' "$n" "$cases" \
  "$(($(wc -c <"$dir/history") / 1000000))"
f=$dir/history
spent 'vkb-stats' "$f" vkb-stats "$f"
spent 'vkb-detect' "$f" vkb-detect "$f"
spent 'vkb-detect -m max_latency_ms' "$f" vkb-detect -m max_latency_ms "$f"
