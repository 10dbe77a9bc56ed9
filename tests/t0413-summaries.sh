#!/bin/sh
# vkb-stats: units of histograms, errors, and the order of summaries, with numbers.
# sanitize: summaries of other versions.
. "${0%/*}/lib.sh"

# --- the unit of a histogram is the end of its name

text=$(jq -r 'select(.hist).hist.latency_ns' "$tests/data/hist.jsonl" | head -n 1)
jq -c --arg h "$text" 'select(.type == "run") |
  .hist = {latency_ns: $h, wait_us: $h, queue_ms: $h, slow_s: $h, size: $h}' \
  "$tests/data/hist.jsonl" | head -n 1 >run
test_that 'a run with five histograms is summarised' vkb-stats run
cp .out summary
test_same '[1000,1000000,1000000000]' "$(jq -c '.whole |
  [.p50_wait_ms, .p50_queue_ms, .p50_slow_ms] as $p | .p50_latency_ms as $ns |
  $p | map(. / $ns | round)' summary)" 'us, ms and s are as many ns'
for q in p90 p95 p99 p999; do
  test_same true "$(jq ".whole | (.${q}_wait_ms / .${q}_latency_ms - 1000) | fabs < 1e-9" \
    summary)" "$q: the percentile is of its own histogram"
done
test_same 5 "$(jq '.hist | length' summary)" 'all five histograms are merged'
test_same false "$(jq '.whole | has("p50_size_ms")' summary)" \
  'a histogram that is not of a time has no percentiles'
jq -c '.hist = {latency_ns: "HISTx"}' run >bad
test_status 2 'a histogram that cannot be read is an error' vkb-stats bad
test_match "bad:1: histogram 'latency_ns' cannot be read" .err \
  'the error names the line and the histogram'

# --- failed runs

# failed LABEL INDEX ERROR: prints a failed run
failed() {
  printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"S"},"run":{"index":%s},"status":"failed","error":"%s"}\n' \
    "$@"
}
{
  failed a 1 abc
  failed a 2 abd
  failed a 3 abc
  failed a 4 ab
  failed a 5 abcd
} >failures
test_same '[0,5,["ab","abc","abcd","abd"]]' "$(vkb-stats failures |
  jq -c '[.n, .failed, (.errors | sort)]')" \
  'errors that differ only in length or at their end are all kept'
vkb-stats -t failures >table
test_match '^S +a +0 .* 5 failed' table 'the table counts such errors, too'

# --- the order of the output does not depend on the input

failed a 1 abc | vkb-stats >first
failed a 1 abd | vkb-stats >second
failed a 2 abcdd >third
want=$(cat first third second | vkb-stats | jq -r '.errors[]' | xargs)
for order in 'second third first' 'third second first' 'first second third' \
  'second first third'; do
  # shellcheck disable=SC2086 # three names
  test_same "$want" "$(cat $order | vkb-stats | jq -r '.errors[]' | xargs)" \
    "summaries of one case and subject: $order gives the same order"
done
test_same 'abc abcdd abd' "$want" 'errors are sorted by their text'
# --- options

jq -c 'select(.type == "run" and .config.command == "SET")' "$tests/data/a.jsonl" >runs
vkb-stats -p 0.3% runs >summary
test_same 0.003 "$(jq .metrics.rps.precision.wanted summary)" '-p 0.3% asks for .003'
more=$(jq '.metrics.rps.precision.runs' summary)
test_that 'a precision of 0.3% needs more runs' test "$more" -gt 0
vkb-stats -t -p 0.3% runs >table
test_match "$more more runs for 0\.3%" table 'the table has the same number of runs for 0.3 %'
test_status 2 '-p 0% is refused' vkb-stats -p 0% runs
test_status 2 'a summary that cannot be written is an error' sh -c 'vkb-stats runs >/dev/full'
test_match 'No space left' .err 'the error says that no space is left'
{
  cat runs
  jq -c '.config.command = "GET" | .status = "failed" | .error = "x"' runs
} >mixed
vkb-stats -t mixed >table
test_match '^SET +' table 'a case with results is named by what differs between cases'
test_match '^GET +.* 0 .*8 failed' table 'a case without results is named by what differs between cases'
test_done
