#!/bin/sh
# Mistakes that other tools make, and real rounds of a noisy machine.
# sanitize: records of other tools.
. "${0%/*}/lib.sh"

# runs LABEL CONFIG ENV VALUE...: prints run records, of blocks of their own but for the first
runs() {
  label=$1 config=$2 env=$3
  shift 3
  block=0
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"env":%s,"metrics":{"rps":%s},"status":"ok","run":{"session":"s","index":%d,"block":%d}}\n' \
      "$label" "$config" "$env" "$v" "$((index += 1))" "$block"
    block=$index
  done
}

verdicts() {
  vkb-compare -f jsonl base new >out 2>err
  echo "exit $?"
  jq -r 'select(.type == "delta") | "\(.config.command) \(.verdict)"' out
}

# --- ties for which benchstat prints p = 0

runs x '{"command":"SET"}' '{}' 2 1 3 5 >base
runs y '{"command":"SET"}' '{}' 1 1 1 1 1 >new
test_same 'exit 0
SET inconclusive' "$(verdicts)" 'a constant side shows nothing beside four values that vary'

# --- intervals that need not be separate, and zero variance

runs x '{"command":"SET"}' '{}' 100 100 100 100 100 >base
runs y '{"command":"SET"}' '{}' 70 70 70 70 70 >new
test_same 'exit 1
SET regression' "$(verdicts)" '-30% without variance is a regression'
runs x '{"command":"SET"}' '{}' 100 103 97 101 99 105 >base
runs y '{"command":"SET"}' '{}' 93 90 96 92 97 91 >new
test_same 'exit 1
SET regression' "$(verdicts)" 'overlapping ranges may still be a regression'

# --- the environment is not part of the configuration

runs x '{"command":"SET"}' '{"tool":"1","mhz":"2000"}' 100 101 99 100 >base
runs y '{"command":"SET"}' '{"tool":"2","mhz":"2001"}' 80 81 79 80 >new
test_same 'exit 1
SET regression' "$(verdicts)" 'another tool version hides nothing'
test_same 2 "$(jq 'select(.type == "comparison").env | length' out)" \
  'two differences of the environment are named'

# --- sets of settings are not repetitions

for v in 100 101 99 100; do
  runs x '{"command":"SET","config_set":{"a":1}}' '{}' $v
  runs x '{"command":"SET","config_set":{"a":2}}' '{}' $((v * 5))
done >base
for v in 90 91 89 90; do
  runs y '{"command":"SET","config_set":{"a":1}}' '{}' $v
  runs y '{"command":"SET","config_set":{"a":2}}' '{}' $((v * 5))
done >new
test_same 'exit 1
SET regression
SET regression' "$(verdicts)" 'config sets are cases of their own'

# --- a failure or an additional key does not separate pairs

runs x '{"command":"SET","pipeline":1}' '{}' 100 101 99 100 >base
runs x '{"command":"GET","pipeline":1}' '{}' 100 101 99 100 >>base
{
  runs y '{"command":"SET","pipeline":1,"io_threads":2}' '{}' 80 81 79 80
  printf '{"type":"run","v":1,"subject":{},"config":{"command":"GET"},"run":{},"env":{},"status":"failed","error":"boom"}\n'
} >new
test_same 'exit 1
SET regression' "$(verdicts)" 'a failure and a new key un-pair nothing'
test_same 1 "$(jq 'select(.type == "comparison").failed | length' out)" \
  'the failure is listed'

# --- cases without a partner are not part of the overall change

runs x '{"command":"A"}' '{}' 100 101 99 100 >base
runs x '{"command":"B"}' '{}' 100 101 99 100 >>base
runs x '{"command":"C"}' '{}' 1 1 1 1 >>base
runs y '{"command":"A"}' '{}' 100 101 99 100 >new
runs y '{"command":"B"}' '{}' 100 101 99 100 >>new
runs y '{"command":"D"}' '{}' 900 900 900 900 >>new
verdicts >/dev/null
test_same '[2,1]' \
  "$(jq -c 'select(.type == "comparison").overall.rps | [.cases, .ratio]' out)" \
  'the overall change is that of the paired cases'

# --- cases that differ in one number are not repetitions, and are sorted as numbers

for k in 16 64 4096; do
  runs x "{\"command\":\"SET\",\"keyspacelen\":$k}" '{}' ${k}0 ${k}1 ${k}2 ${k}3 ${k}4
done >base
for k in 16 64 4096; do
  lost=$((k == 64 ? 50 : k))
  runs y "{\"command\":\"SET\",\"keyspacelen\":$k}" '{}' ${lost}0 ${lost}1 ${lost}2 ${lost}4 ${lost}3.5
done >new
vkb-compare -v base new >text
test_same '16 64 4096' "$(verdicts >/dev/null; jq -r 'select(.metric).config.keyspacelen' out | xargs)" \
  'sizes of the key space are cases, sorted as numbers'
test_match ' SET k4096 ' text 'the name of a case has the size of its key space'
test_same 'regression' "$(jq -r 'select(.metric and .config.keyspacelen == 64).verdict' out)" \
  'a regression at one size of the key space is found'
test_absent '10\^|×10|1e[0-9]' text 'no number is printed with an exponent'
runs x '{"command":"SET","client":"a"}' '{}' 100 101 99 100 >base
runs x '{"command":"SET","client":"b"}' '{}' 200 201 199 200 >>base
sed 's/"x"/"y"/; s/"rps":10/"rps":8/' base >new
test_same 2 "$(verdicts | grep -c SET)" 'cases of different client binaries are not merged'

# --- a failed run at the beginning, and a key that some cases do not have

{
  printf '{"type":"run","v":1,"subject":{"label":"y"},"config":{"command":"GET"},"run":{"started":"2026-01-01T00:00:00Z"},"env":{},"status":"failed","error":"boom"}\n'
  runs y '{"command":"SET","pipeline":1,"io_threads":2}' '{}' 80 81 79 80
  runs y '{"command":"SET","pipeline":10}' '{}' 80 81 79 80
} >new
{
  runs x '{"command":"SET","pipeline":1,"io_threads":2}' '{}' 100 101 99 100
  runs x '{"command":"SET","pipeline":10,"io_threads":9}' '{}' 100 101 99 100
} >base
test_same 'exit 1
SET regression
SET regression' "$(verdicts)" 'io_threads here and there'
vkb-compare -v base new >text
test_match '^2 regressions' text 'the report is not named after the failed run'

# --- a missing result is not -100 %, and 0 is not a missing result

runs x '{"command":"SET"}' '{}' 100 101 99 100 >base
runs x '{"command":"GET"}' '{}' 100 101 99 100 >>base
runs y '{"command":"SET"}' '{}' 100 101 99 100 >new
vkb-compare -v base new >text
test_same 0 "$(grep -c -- '-100' text)" 'a missing case has no change'
test_match '^warning: only in the baseline: GET' text 'a warning lists the missing case'
runs y '{"command":"GET"}' '{}' 0 0 0 0 >>new
test_same 'exit 1
GET regression' "$(verdicts | grep -v SET)" 'a drop to nothing is a regression'

# --- latency counts as much as throughput

both() { # both LABEL FACTOR...: prints runs with the same rps and p99 multiplied by each factor
  label=$1
  shift
  for f; do
    printf '{"type":"run","v":1,"subject":{"label":"%s","commit":"%s"},"config":{"command":"SET"},"run":{"started":"20%s-01-01T00:00:00Z"},"env":{},"metrics":{"rps":100,"p99_latency_ms":%s},"status":"ok"}\n' \
      "$label" "${label}00000" "${year:-26}" "$f"
  done
}
both older 1 1.01 0.99 1 1.02 >base
both newer 1.3 1.31 1.29 1.3 1.32 >new
test_same 'exit 1' "$(verdicts | sed 1q)" 'a p99 30 % higher at the same rps is found'
# The baseline is the given one, not the older one.
year=27
both older 1 1.01 0.99 1 1.02 >later
cat new later >all
test_status 1 'a baseline that was measured after the contender' \
  vkb-compare --baseline older all

# --- among many cases there are few false alarms, and a real but tiny change is not an alarm

perl -e '
  my $s = 5;
  sub u { $s = ($s * 69069 + 1) % 4294967296; $s / 4294967296 }
  for my $c (1 .. 100) {
    for my $l ("x", "y") {
      for my $i (1 .. 8) {
        my $z = -6; $z += u() for 1 .. 12;
        printf qq({"type":"run","v":1,"subject":{"label":"$l"},"config":{"command":"C","k":$c},"run":{"session":"s","index":$i},"env":{"virtual":false},"metrics":{"rps":%.5f},"status":"ok"}\n), 1000 * exp(.05 * $z);
      }
    }
  }' >all
grep '"x"' all >base
grep '"y"' all >new
test_that 'a hundred cases without a change raise no alarm' vkb-compare base new
vkb-compare -f jsonl base new >out
test_same true "$(jq -s 'any(.[]; .metric and (.ratio < 0.98 or .ratio > 1.02) and
  (.ci95[0] > 1 or .ci95[1] < 1))' out)" 'some intervals alone would show a change beyond the margin'
runs x '{"command":"SET"}' '{}' 1000 1000.1 999.9 1000 1000.2 999.8 >base
runs y '{"command":"SET"}' '{}' 995 995.1 994.9 995 995.2 994.8 >new
test_same 'exit 0
SET equivalent' "$(verdicts)" '-0.5% without doubt is within the margin'
test_same true "$(jq 'select(.metric) | .probability > 0.99 and
  (.ratio - 0.995 | fabs) < 0.001 and (.ci95 | length == 2) and
  (.median | length == 2)' out)" 'probability, change, interval and medians are there'

# --- one outlier, and two levels

runs x '{"command":"SET"}' '{}' 100 101 99 100 102 98 101 100 >base
runs y '{"command":"SET"}' '{}' 100 101 99 100 102 98 101 10 >new
test_same 'exit 0' "$(verdicts | sed 1q)" 'one outlier is not a regression'
test_same true "$(jq 'select(.metric) | .ci95[0] < 0.98 and .ci95[1] > 1' out)" \
  'the interval says how little is known beside an outlier'
runs x '{"command":"SET"}' '{}' 100 120 101 121 99 119 100 120 >base
runs y '{"command":"SET"}' '{}' 120 100 121 101 119 99 120 100 >new
test_same 'exit 0' "$(verdicts | sed 1q)" 'two levels on both sides are not a regression'

# --- sides that did not take turns have a warning; one run a side is not judged

runs x '{"command":"SET"}' '{}' 100 101 99 100 >base
runs y '{"command":"SET"}' '{}' 100 101 99 100.5 >new
vkb-compare -v base new >text
test_match '^Not paired: the sides share only 1 round' text \
  'a warning says that the sides took no turns'
runs x '{"command":"SET"}' '{}' 100 >base
runs y '{"command":"SET"}' '{}' 210 >new
test_same 'exit 2
SET insufficient' "$(verdicts)" 'one value against one is insufficient, neither worse nor passed'

# --- benchstat: p and exact units, from its own files

# go FILE [LABEL]: prints lines of Go benchmarks as runs; the label may be a note of the
# file
go() {
  awk -v label="${2:-}" '
    /^note: / { label = $2 }
    /^Benchmark/ {
      unit = $4 == "ns/op" ? "op_ns" : "text_bytes"
      sub(/^Benchmark/, "", $1)
      printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"%s\"},\"run\":{},\"env\":{},\"metrics\":{\"%s\":%s},\"status\":\"ok\"}\n", label, $1, unit, $3
    }' "$acceptance/benchstat/$1.txt"
}
if test_reference benchstat 'files of benchstat'; then
  go old before >base
  # shellcheck disable=SC2094 # the one named new lies elsewhere
  go new after >new
  vkb-compare -m op_ns -f jsonl base new >out
  test_same 0 $? 'no result of old and new became slower'
  test_same 'Encode/format=gob-48 inconclusive
Encode/format=json-48 improvement' "$(jq -r 'select(.metric) | "\(.config.command) \(.verdict)"' out |
    sort)" 'what benchstat calls significant is better, the other is not'
  go issue19634 >all
  vkb-compare -m op_ns -f jsonl --baseline before all >out
  test_same improvement "$(jq -r 'select(.metric).verdict' out)" \
    'a constant side and one that is nearly constant'
  go issue19565 >all
  vkb-compare -v -m op_ns --baseline before all >text
  test_match ' A +op_ns +6\+6 .* equivalent' text 'two sides of equal values are equivalent'
  test_same 0 "$(grep -c '^overall' text)" 'no mean over results without a partner'
  test_match '^warning: only in the baseline: B' text \
    'a warning lists the case of the baseline alone'
  go smallSample >all
  test_status 2 'one value a side is an error' vkb-compare -m op_ns --baseline before all
  go units >all
  printf '{"rules":[{"metric":"text_bytes","assume":"exact","class":"gate"}]}' >policy.json
  test_status 1 'assume=exact: 105 is more than 100' \
    vkb-compare -v --policy policy.json --baseline before all
  test_match ' Size +text_bytes +1\+1 .*\+5\.0%.* regression' .out \
    'assume=exact judges one value a side'
  test_match ' NonExact .*equivalent.* by the spread of the runs' .out \
    'values that vary are judged by their spread, with a note'
fi

# --- Google Benchmark: its own files, with and without partners

if test_reference gbench 'files of Google Benchmark'; then
  for i in 0 1; do
    vkb-parse -s subject.label=run$i "$acceptance/gbench/test3_run$i.json" >run$i
  done
  vkb-compare -m cpu_time_ns,real_time_ns -f jsonl run0 run1 >out 2>err
  test_same 2 $? 'two or three repetitions are too few to judge'
  test_same "$(jq -r '."test3_run0/test3_run1"[].name | select(. != "OVERALL_GEOMEAN")' \
    "$acceptance/gbench/expect.json" | sort -u | xargs)" "$(jq -r 'select(.metric).config.command' out | sort -u | xargs)" \
    'the same cases are paired as by its tool, and no others'
fi

# --- pairs of the Python tool

if test_reference python-tool/compare 'pairs of the Python tool'; then
  dir=$acceptance/python-tool/compare
  for d in "$dir"/*/; do
    cp "$d/baseline.json" base
    cp "$d/new.json" new
    verdicts >got
    d=$(basename "$d")
    test_same 'exit 2' "$(sed 1q got)" "$d: exit status 2: three runs are too few to judge"
    test_same 0 "$(jq 'select(.type == "comparison").unmatched | length' out)" \
      "$d: all cases are paired"
    test_empty "$(grep -v insufficient got | grep -v exit)" \
      "$d: every row is insufficient"
  done
  # The same three runs, given twice, are enough.
  for f in baseline new; do
    jq -c '.[] , (.[] | .rps *= 1.001)' \
      "$dir/02_runs3_regress_improve/$f.json" | jq -s . >"$f.twice"
  done
  mv baseline.twice base
  mv new.twice new
  verdicts >got
  jq -r 'select(.metric == "rps") | "\(.config.command) \(.verdict)"' out |
    grep -v '^all cases' | sort -u >rows
  test_same 'GET improvement
HSET inconclusive
SET regression' "$(cat rows)" '02: SET lost 12%, GET won 9%, HSET differs less than sessions may'
fi

# --- real interleaved rounds: A1 and A2 are one build, B is slower

rounds() { # rounds SIDE LABEL: prints runs of this side
  jq -c --arg s "$1" --arg l "$2" 'select(.side == $s) |
    {type: "run", v: 1, subject: {label: $l}, config: {command: "SET"},
     run: {session: "s", block: .round}, env: {}, metrics: {rps: .value},
     status: "ok"}' "$acceptance/aa-rounds-calm.jsonl"
}
# paired PAIR: prints the ratio of the reference, the median of the averages of pairs
paired() {
  jq --arg p "$1" '.expect[$p].paired.ratio' "$acceptance/aa-rounds-calm.expect.json"
}
if test_reference aa-rounds-calm.jsonl 'rounds of a real machine'; then
  rounds A1 one >base
  for side in A2 B; do
    rounds $side two >new
    test_that "A1 and $side: no regression" vkb-compare base new
    vkb-compare -f jsonl base new | jq -c 'select(.metric)' >out
    test_same true "$(jq --argjson want "$(paired A1_$side)" '.paired and
      .ci95[0] < $want and .ci95[1] > $want and (.ratio / $want - 1 | fabs) < .03' out)" \
      "A1 and $side, paired: the change is near that of the reference"
    sed 's/"session":"s"/"session":"t"/' new >other
    vkb-compare -f jsonl base other | jq -c 'select(.metric)' >out
    test_same true "$(jq '.verdict == "inconclusive" and .ci95[0] < 1 and .ci95[1] > 1 and
      .method == "sessions"' out)" "A1 and $side, of two sessions: no alarm"
  done
fi

test_done
