#!/bin/sh
# stats.sh [RUNS]: speed of vkb-stats and vkb-compare beside jq's on
# made-up runs (default 200,000) of 500 cases. Prints a table; tests nothing.
set -eu
cd "${0%/*}/../.."
PATH=$PWD/bin:$PATH
n=${1:-200000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

runs() { # runs LABEL RUNS CASES
  perl -e 'my ($l, $n, $c) = @ARGV; srand ord $l;
    for my $i (0 .. $n - 1) {
      printf qq({"type":"run","v":1,"subject":{"commit":"1f9c0ab2","label":"%s"},"config":{"command":"SET","data_size":%d,"pipeline":%d},"run":{"session":"%s","index":%d,"block":%d},"metrics":{"rps":%.2f,"p50_latency_ms":%.3f,"p99_latency_ms":%.3f},"status":"ok"}\n),
        $l, ($i % $c) / 10, $i % 10, $l, $i / $c + 1, $i / $c + 1,
        5e5 + rand 1e4, .8 + rand .02, 1.4 + rand .05 }' "$@"
}

run() { # run WHAT COMMAND...: its CPU seconds
  what=$1
  shift
  perl -e 'my $what = shift; my $pid = fork;
    if (!$pid) { open STDOUT, ">/dev/null"; exec @ARGV or exit 127 }
    waitpid $pid, 0; my ($u, $s, $cu, $cs) = times;
    printf "%-28s %6.2f CPU s\n", $what, $cu + $cs' "$what" "$@"
}

runs x "$n" 500 >"$dir/runs"
printf '%s runs, %s MB\n' "$n" "$(($(wc -c <"$dir/runs") / 1000000))"
run vkb-stats vkb-stats "$dir/runs"
run 'jq, a filter' jq -c 'select(.status == "failed")' "$dir/runs"
run 'jq, group_by' jq -s 'group_by([.subject, .config]) | length' "$dir/runs"
runs x 10000 1000 | vkb-stats >"$dir/x"
runs y 10000 1000 | vkb-stats >"$dir/y"
run 'vkb-compare, 2 x 1000 cases' vkb-compare "$dir/x" "$dir/y"
