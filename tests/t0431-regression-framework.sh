#!/bin/sh
# A regression framework end to end: its results JSON of several builds, a
# policy with signed thresholds, a report with speed-ups, two named baselines,
# exit statuses.
. "${0%/*}/lib.sh"

# results FILE COMMIT TIME THROUGHPUT: one run of that framework
results() {
  cat >"$1" <<END
{"timestamp": "2026-03-02T08:00:00Z",
 "metrics": {
  "put_time": {"name": "put_time", "value": $3, "unit": "ms"},
  "read": {"name": "read", "value": $4, "unit": "MB/s"}},
 "metadata": {"build_dir": "/build", "git_commit": "$2"}}
END
}

# build NAME COMMIT TIME THROUGHPUT: six runs of a build, with little noise
build() {
  i=0
  for noise in 1.002 0.999 1.001 0.998 1.000 1.003; do
    i=$((i + 1))
    results "$1.$i.json" "$2" \
      "$(perl -e 'printf "%.4f", $ARGV[0] * $ARGV[1]' "$3" $noise)" \
      "$(perl -e 'printf "%.4f", $ARGV[0] / $ARGV[1]' "$4" $noise)"
  done
  vkb-parse -s "subject.label=$1" "$1".*.json
}

build v1 1111111 100 500 >v1.jsonl
build v2 2222222 90 520 >v2.jsonl
test_same '["v1","1111111",100.2,499002000]' \
  "$(head -n 1 v1.jsonl | jq -c '[.subject.label, .subject.commit,
    .metrics.put_time_ms, .metrics.read_bytes_per_s]')" \
  'a file is a run; the name of the metric has the unit'

cat >policy.json <<'END'
{"rules": [
  {"metric": "*_ms", "margin": "+10%", "class": "gate"},
  {"metric": "*_per_s", "margin": "-10%", "class": "gate"}]}
END
judge() { # judge NAME TIME THROUGHPUT [OPTION...]
  name=$1
  build "$1" 3333333 "$2" "$3" >"$1.jsonl"
  shift 3
  vkb-stats "$name.jsonl" |
    vkb-compare -v --policy policy.json "$@" v1.jsonl -
}

test_status 0 'equal: 0' judge same 100 500
test_status 0 '+5% of time is within +10%' judge little 105 500
test_status 1 '+18% of time: 1' judge slow 118 500
test_match 'put_time_ms' .out 'the report names the time that is worse'
test_status 0 '-15% of time is not a regression' judge fast 85 500
test_status 0 '-5% of throughput is within -10%' judge dip 100 475
test_status 1 '-15% of throughput: 1' judge drop 100 425
test_match 'read_bytes_per_s' .out \
  'the report names the throughput that is worse'
test_status 0 '+15% of throughput is not a regression' judge more 100 575
test_that 'a speed-up' judge quick 1.39 500
test_match 'put_time_ms 71\.[0-9]*x lower' .out 'the report says how many times faster'

# One run a side cannot be judged, which is an error.
vkb-parse -s subject.label=one v2.1.json >one.jsonl
test_status 2 'one run a side is an error' \
  vkb-compare --policy policy.json v1.jsonl one.jsonl
test_match 'nothing was judged' .err 'the error says that nothing was judged'

# --- --ci: a missing metric or case is exit 1
for f in v2.*.json; do
  jq 'del(.metrics.read)' "$f" >"part.$f"
done
vkb-parse -s subject.label=part part.*.json >part.jsonl
test_that 'a metric less' vkb-compare --policy policy.json v1.jsonl part.jsonl
test_status 1 'a missing metric with --ci is exit 1' \
  vkb-compare --ci --policy policy.json v1.jsonl part.jsonl

# two named baselines in one input; the contender is 8 % above one of them and
# 20 % above the other
build new 4444444 108 500 >new.jsonl
cat v1.jsonl v2.jsonl new.jsonl >all.jsonl
test_status 1 'against v1 and v2' \
  vkb-compare --policy policy.json --baseline v1 --baseline v2 all.jsonl
vkb-compare --policy policy.json -f jsonl --baseline v1 --baseline v2 \
  all.jsonl | jq -r 'select(.metric == "put_time_ms" and
    .contender.label == "new") | "\(.baseline.label) \(.verdict)"' |
  sort >got
test_match '^v2 regression$' got 'slower than v2'
test_absent 'v1 regression' got 'no regression against v1 is reported'
test_done
