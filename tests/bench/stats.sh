#!/bin/sh
# stats.sh [RUNS]: speed and memory of vkb-stats and vkb-compare beside jq's
# on made-up runs (default 200,000). Prints a table.
set -eu
cd "${0%/*}/../.."
make -s bench >&2
PATH=$PWD/bin:$PWD/build/bench:$PATH
n=${1:-200000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

runs() { # runs LABEL RUNS CASES ORDER [HIST]: ORDER is turns or blocks
  perl -e 'my ($l, $n, $c, $order, $hist) = @ARGV; srand ord $l;
    $hist = defined $hist ? qq(,"hist":{"latency_ns":"$hist"}) : "";
    for my $i (0 .. $n - 1) {
      my $k = $order eq "turns" ? $i % $c : int $i * $c / $n;
      my $r = $order eq "turns" ? int $i / $c : $i % int($n / $c);
      printf qq({"type":"run","v":1,"subject":{"commit":"1f9c0ab2","label":"%s","server_version":"8.1.0"},"config":{"command":"SET","data_size":%d,"pipeline":%d,"clients":50,"cluster_mode":false},"run":{"session":"%s","index":%d,"block":%d,"order":%d,"started":"2026-01-01T00:00:00Z","seed":%d},"env":{"arch":"x86_64","kernel":"6.1.0","governor":"performance"},"metrics":{"rps":%.2f,"avg_latency_ms":%.3f,"p50_latency_ms":%.3f,"p99_latency_ms":%.3f,"max_latency_ms":%.3f}%s,"bound":"server","status":"ok"}\n),
        $l, $k / 10, $k % 10, $l, $r + 1, $r + 1, $i + 1, $i,
        5e5 + rand 1e4, .8 + rand .02, .8 + rand .02, 1.4 + rand .05,
        3 + rand 1, $hist }' "$@"
}

runs x "$n" 500 turns >"$dir/turns"
runs x "$n" 500 blocks >"$dir/blocks"
runs x "$n" 1 turns >"$dir/one"
runs x "$n" "$((n / 5))" turns >"$dir/many"
runs x "$((n / 10))" 500 turns "$(cat tests/data/fuzz/hist/latency)" \
  >"$dir/hist"
jq -c -s . "$dir/turns" >"$dir/array"
printf '%s runs, %s MB\n' "$n" "$(($(wc -c <"$dir/turns") / 1000000))"
f=$dir/turns
spent '500 cases by turns' "$f" vkb-stats "$f"
spent 'jq, a filter' "$f" jq -c 'select(.status == "failed")' "$f"
spent 'jq, group_by' "$f" jq -s 'group_by([.subject, .config]) | length' "$f"
f=$dir/blocks
spent '500 cases, one by one' "$f" vkb-stats "$f"
spent 'as a table' "$f" vkb-stats --text "$f"
f=$dir/one
spent 'one case' "$f" vkb-stats "$f"
f=$dir/many
spent "$((n / 5)) cases by turns" "$f" vkb-stats "$f"
f=$dir/hist
spent "a tenth, with histograms" "$f" vkb-stats "$f"
f=$dir/array
spent 'an array' "$f" vkb-stats "$f"
vkb-stats "$dir/one" >"$dir/sum"
spent 'a summary of one case' "$dir/sum" vkb-compare "$dir/sum" "$dir/sum"
runs x 10000 1000 turns | vkb-stats >"$dir/x"
runs y 10000 1000 turns | vkb-stats >"$dir/y"
spent 'vkb-compare, 2 x 1000 cases' "$dir/x" vkb-compare "$dir/x" "$dir/y"
