#!/bin/sh
# What other tools get wrong, and real rounds of a noisy machine.
. "${0%/*}/lib.sh"

# runs LABEL CONFIG ENV VALUE...
runs() {
  label=$1 config=$2 env=$3
  shift 3
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"run":{},"env":%s,"metrics":{"rps":%s},"status":"ok"}\n' \
      "$label" "$config" "$env" "$v"
  done
}

verdicts() {
  vkb-compare -f jsonl base new >out 2>err
  echo "exit $?"
  jq -r 'select(.type == "delta") | "\(.config.command) \(.verdict)"' out
}

# --- a tied exact test that says p = 0

runs x '{"command":"SET"}' '{}' 2 1 3 5 >base
runs y '{"command":"SET"}' '{}' 1 1 1 1 1 >new
verdicts >/dev/null
test_same 0.047619 \
  "$(jq 'select(.metric) | .p * 1000000 | round / 1000000' out)" \
  'the tied case has p = 6/126'

# --- intervals that must not overlap, and zero variance

runs x '{"command":"SET"}' '{}' 100 100 100 100 100 >base
runs y '{"command":"SET"}' '{}' 70 70 70 70 70 >new
test_same 'exit 1
SET regression' "$(verdicts)" '-30% without variance is a regression'
runs x '{"command":"SET"}' '{}' 100 103 97 101 99 105 >base
runs y '{"command":"SET"}' '{}' 93 90 96 92 97 91 >new
test_same 'exit 1
SET regression' "$(verdicts)" 'overlapping ranges may still be a regression'

# --- environment is not configuration

runs x '{"command":"SET"}' '{"tool":"1","mhz":"2000"}' 100 101 99 100 >base
runs y '{"command":"SET"}' '{"tool":"2","mhz":"2001"}' 80 81 79 80 >new
test_same 'exit 1
SET regression' "$(verdicts)" 'another tool version hides nothing'
test_same 2 "$(jq 'select(.type == "comparison").env | length' out)" \
  'both differences are named'

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

# --- one failure un-pairs nothing, one key more neither

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

# --- unmatched cases have no part in the overall change

runs x '{"command":"A"}' '{}' 100 101 99 100 >base
runs x '{"command":"B"}' '{}' 100 101 99 100 >>base
runs x '{"command":"C"}' '{}' 1 1 1 1 >>base
runs y '{"command":"A"}' '{}' 100 101 99 100 >new
runs y '{"command":"B"}' '{}' 100 101 99 100 >>new
runs y '{"command":"D"}' '{}' 900 900 900 900 >>new
verdicts >/dev/null
test_same '[2,1]' \
  "$(jq -c 'select(.type == "comparison").overall.rps | [.cases, .ratio]' out)" \
  'the overall change is that of the matched cases'

# --- the Python tool's own pairs

if test_reference python-tool/compare 'pairs of the Python tool'; then
  dir=$acceptance/python-tool/compare
  for d in "$dir"/*/; do
    cp "$d/baseline.json" base
    cp "$d/new.json" new
    verdicts >got
    d=$(basename "$d")
    test_same 'exit 2' "$(sed 1q got)" "$d: exit 2: three runs judge nothing"
    test_same 0 "$(jq 'select(.type == "comparison").unmatched | length' out)" \
      "$d: all cases are paired"
    test_same '' "$(grep -v insufficient got | grep -v exit)" \
      "$d: every row says so"
  done
  # the same three runs, said twice, are enough
  for f in baseline new; do
    jq -c '.[] , (.[] | .rps *= 1.001)' \
      "$dir/02_runs3_regress_improve/$f.json" | jq -s . >"$f.twice"
  done
  mv baseline.twice base
  mv new.twice new
  verdicts >got
  jq -r 'select(.metric == "rps") | "\(.config.command) \(.verdict)"' out |
    sort -u >rows
  test_same 'GET improvement
HSET equivalent
SET regression' "$(cat rows)" '02: SET lost 12%, GET won 9%, HSET is equal'
fi

# --- real interleaved rounds: A1 and A2 are one build, B is slower in truth

rounds() { # rounds SIDE LABEL
  jq -c --arg s "$1" --arg l "$2" 'select(.side == $s) |
    {type: "run", v: 1, subject: {label: $l}, config: {command: "SET"},
     run: {session: "s", block: .round}, env: {}, metrics: {rps: .value},
     status: "ok"}' "$acceptance/aa-rounds-calm.jsonl"
}
# row: ratio, interval and p of the only delta, to nine digits
row() {
  jq -r '[.ratio, .ci95[0], .ci95[1], .p] | @tsv' |
    perl -ane 'printf "%s\n", join " ", map { sprintf "%.9g", $_ } @F'
}
# paired PAIR, unpaired PAIR: the same from the expectations. Their signed rank
# test is of differences, not of ratios: only ratio and interval are compared.
paired() {
  jq -r --arg p "$1" '.expect[$p] | [.paired.ratio, .paired.lo, .paired.hi] |
    @tsv' "$acceptance/aa-rounds-calm.expect.json" |
    perl -ane 'printf "%s\n", join " ", map { sprintf "%.9g", $_ } @F'
}
unpaired() {
  jq -r --arg p "$1" '.expect[$p] | [.unpaired_hl.hl, .unpaired_hl.lo,
    .unpaired_hl.hi, .mwu.p_two_exact] | @tsv' \
    "$acceptance/aa-rounds-calm.expect.json" |
    perl -ane 'printf "%s\n", join " ", map { sprintf "%.9g", $_ } @F'
}
if test_reference aa-rounds-calm.jsonl 'rounds of a real machine'; then
  rounds A1 one >base
  for side in A2 B; do
    rounds $side two >new
    test_that "A1 and $side: no alarm" vkb-compare base new
    vkb-compare -f jsonl base new | jq -c 'select(.metric)' >out
    test_same "$(paired A1_$side)" "$(row <out | cut -d ' ' -f 1-3)" "A1 and $side, paired"
    sed 's/"session":"s"/"session":"t"/' new >other
    vkb-compare -f jsonl base other | jq -c 'select(.metric)' >out
    test_same "$(unpaired A1_$side)" "$(row <out)" "A1 and $side, not paired"
  done
fi

test_done
