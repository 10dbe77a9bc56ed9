#!/bin/sh
# At a rate p99.9 is judged by how many requests were slow, from the histograms of the
# runs on: a stall of some of them is found, and its end; one run with a burst shows nothing.
. "${0%/*}/lib.sh"

# side LABEL TAIL ...: writes a summary record with a run for each tail, as vkb-stats writes
# them: requests, index of the first time, counts. p99.9 of all runs is 2 ms.
side() {
  label=$1
  shift
  printf '%s\n' "$@" | jq -c -s --arg name "$label" '{type: "summary", v: 1, subject: {label: $name},
    config: {command: "INCR", rate: 5000}, n: length, failed: 0, sessions: ["s"],
    metrics: {p999_latency_ms: {values: [range(length) | 2 + . / 100 + ($name | length) / 1000], blocks: [range(length)],
      sessions: [range(length) | 0], tails: .}}}'
}
# Times 160 to 164 are 1.05 to 1.48 ms.
side old '[5000,160,40,20,7,4,2]' '[5000,160,44,18,8,5,1]' '[5000,160,38,22,6,4]' \
  '[5000,160,40,21,9,5,3]' '[5000,160,42,19,6,3,1]' '[5000,160,41,20,8,6,2]' >base
side slower '[5000,160,90,70,57,54,52]' '[5000,160,94,68,58,55,51]' '[5000,160,88,72,56,54,50]' \
  '[5000,160,90,71,59,55,53]' '[5000,160,92,69,56,53,51]' '[5000,160,91,70,58,56,52]' >stall
side bursty '[5000,160,40,20,7,5,2]' '[5000,160,44,18,8,4,1]' '[5000,160,2438,2420,2406,2404,2400]' \
  '[5000,160,40,21,9,6,3]' '[5000,160,42,19,6,4,1]' '[5000,160,41,20,8,4,2]' >burst
compare() { vkb-compare -m p999_latency_ms -f jsonl "$@" >deltas; }

test_status 1 'slow requests that became more are a regression' compare base stall
row='select(.type == "delta")'
test_same 'regression 0.333' "$(jq -r "$row"' | "\(.verdict) \(.margin * 1000 | floor / 1000)"' deltas)" \
  'the margin is that of their share'
test_same true "$(jq "$row"' | .slow.above_ms > 1.3 and .slow.above_ms < 1.4 and
  (.slow.shares[0] - .0009 | fabs) < 2e-5 and (.slow.shares[1] - .0109 | fabs) < 2e-5 and
  (.ratio / (.slow.shares[1] + .001) * (.slow.shares[0] + .001) - 1 | fabs) < 1e-5 and
  (.median | map(. * 1000 | round)) == [2028, 2031]' deltas)" \
  'slow is above p99.9 of the baseline, the ratio is that of the shares, the medians are in ms'
vkb-compare -m p999_latency_ms base stall >text
test_match '^Worse: INCR .p99.9: 1.1% of requests above 1.4 ms, before 0.089%.' text \
  'the sentence has what decided'
vkb-compare --deltas deltas | grep -v '^Next:' >again
grep -v '^Next:' text >once
test_same "$(cat once)" "$(cat again)" 'the records have all that the text says'
test_status 0 'fewer are an improvement' compare stall base
test_same improvement "$(jq -r "$row.verdict" deltas)" 'the same rule in the other direction'
compare base burst
jq -r "$row.verdict" deltas >verdict
test_match 'equivalent|inconclusive' verdict 'one run with a burst shows nothing'

# Bursts in a few runs of the baseline do not make the sentence say the opposite.
# repeat COUNT TEXT
repeat() { yes "$2" | head -n "$1"; }
burst='[5000,160,2438,2420,2406,2404,2400]'
side old "$(repeat 3 "$burst")" "$(repeat 37 '[5000,160,40,20,7,4,2]')" >few
side newer "$(repeat 40 '[5000,160,90,80,70,62,48]')" >steady
vkb-compare -m p999_latency_ms few steady >text || :
test_match '^Worse: INCR .p99.9: 0.96% of requests above 1.5 ms, before 0.12%.' text \
  'the shares are those of the values that are compared, so they agree with the verdict'
# Few requests, the same number slow in each run: only counting is uncertain.
side old "$(repeat 4 '[1000,160]')" >none
side newer "$(repeat 4 '[1000,160,2]')" >two
compare none two
test_same 'inconclusive true' \
  "$(jq -r "$row"' | "\(.verdict) \(.ci95[0] < 1.2 and .slow.shares[0] == 0)"' deltas)" \
  'the error is at least that of counting, also where none is slow'
side newer "$(repeat 4 '[1000,160]')" >none2
vkb-compare -m p999_latency_ms none none2 >text
test_match 'Undecided: INCR .too few requests.' text 'the reason is the number of requests'
# Values that are equal with different counts.
jq -c --slurpfile of base '.metrics[].values = $of[0].metrics[].values' stall >equal
test_status 1 'equal values are not taken for the same data' compare base equal
# Sessions.
jq -c '.sessions = ["other"]' stall >apart
vkb-compare -m p999_latency_ms -v base apart >text
test_match 'Undecided: INCR .sessions differ' text 'one session each shows nothing'
tr '\n' ' ' <text >line
test_match 'allowing a factor of 2 between sessions .the slowest requests., so no change could be seen' line \
  'the report says by how much they may differ'
test_match 'Margins: p99.9 1.5x' line 'the margin is a factor'
for case in A B C D E F G H; do
  jq -c --arg c $case '.config.command = $c' base
done >eight
side new "$(repeat 6 '[5000,160,60,40,22,18,12]')" >slower.jsonl
for case in A B C D E F G H; do
  if [ "$case" = A ]; then jq -c '.config.command = "A" | .sessions = ["t"]' slower.jsonl; else
    jq -c --arg c $case '.config.command = $c | .subject.label = "new" | .sessions = ["t"] | .metrics[].values |= map(. + .001)' base; fi
done >eight.new
compare eight eight.new
test_same inconclusive "$(jq -r "$row"' | select(.config.command == "A") | .verdict' deltas)" \
  'a session may change how often one case is slow, not only all'
# With changes as small as those of times it would be .14.
side new '[5000,160,40,26,12,9,2]' '[5000,160,44,25,13,8,1]' '[5000,160,38,22,10,8]' \
  '[5000,160,40,29,16,5,3]' '[5000,160,42,24,8,3,1]' '[5000,160,41,20,13,9,2]' | jq -c '.config.command = "A"' >eight.new
for case in B C D E F G H; do
  jq -c --arg c $case '.config.command = $c | .subject.label = "new" | .metrics[].values |= map(. + .001)' base
done >>eight.new
compare eight eight.new
test_same true "$(jq "$row"' | select(.config.command == "A") | .probability > .06 and .probability < .11' deltas)" \
  'a small change is less probable than of a time'
printf '{"rules": [{"metric": "p999_latency_ms", "session": {"sd": "2%%", "df": 50}}]}' >policy
compare --policy policy base apart || :
test_same 'regression 60' "$(jq -rs 'map(select(.type == "delta"))[0].verdict + " " +
  (map(select(.type == "comparison"))[0].session_sd * 1000 | tostring)' deltas)" \
  'what a policy says of values is three times as much of counts'
vkb-compare -m p999_latency_ms --policy policy -v base apart >text || :
test_match 'which differ by 2% according to the policy' text 'the report says what the policy does'
printf '{"rules": [{"metric": "p999_latency_ms", "waiver": {"reason": "known", "expires": "2099-01-01", "limit": "50%%"}}]}' >policy
compare --policy policy base stall || :
test_same null "$(jq "$row.slow" deltas)" 'the limit of a waiver is one of the value'
# What depends on a ratio of values is not given one of shares.
test_status 2 'a canary that changed' vkb-compare -m p999_latency_ms --canary INCR base stall 2>err
test_match "canary 'INCR': p999_latency_ms: 1.1% of requests above 1.4 ms, in its baseline 0.089%" .err \
  'its change is that of slow requests'
test_same 'null' "$(vkb-compare -m p999_latency_ms -f jsonl base stall | jq -c 'select(.type == "comparison") |
  .overall.p999_latency_ms.ratio')" 'there is no mean of values'

# Without counts on a side, or with a margin that was chosen, it is judged by its value.
jq -c 'del(.metrics[].tails)' base >bare
test_status 0 'without counts p99.9 did not change' compare bare stall
test_same 'null 0.25 true' \
  "$(jq -r "$row"' | "\(.slow) \(.margin) \(.notes | tostring | contains("one side has no counts of slow requests"))"' deltas)" \
  'the record says why'
compare --margin p999_latency_ms=10% base stall
test_same 'null 0.1' "$(jq -r "$row"' | "\(.slow) \(.margin)"' deltas)" \
  'a margin that was chosen is one of the value'
jq -c '.config |= del(.rate)' base >closed
jq -c '.config |= del(.rate)' stall >closed.stall
compare closed closed.stall
test_same null "$(jq "$row.slow" deltas)" 'a load without a rate is judged by its value'
sed 's/\[5000,160,40,20,7,4,2\]/[5000,160,40,50,7,4,2]/' base >wrong
compare wrong stall
test_same null "$(jq "$row.slow" deltas)" 'counts that rise with the time are refused'

# From a real load: what vkb-stats keeps is what the histograms of the runs have.
cat >config <<'END'
[{"commands": ["SET"], "duration": 0.5, "rate": 4000, "keyspacelen": [100], "data_sizes": [8],
  "pipelines": [1], "clients": [5], "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
test_status 0 'two runs at a rate' vkb-load -q --runs 2 config
mv .out runs
vkb-stats runs >summary
test_same true "$(jq -s '(.[:-1] | map([.metrics.requests, .metrics.max_latency_ms])) as $runs |
  .[-1].metrics.p999_latency_ms.tails | length == 2 and
  (map(.[0]) | add) >= ($runs | map(.[0]) | add) and
  (map(pow(2; (.[1] + length - 2) / 8) / 1e6) | max) >= ($runs | map(.[1]) | max)' runs summary)" \
  'a summary has the requests of each run, up to the slowest'
jq -c '.subject.label = "again"' runs >again
vkb-stats again >resummary
compare --on-insufficient ok summary resummary
test_same true "$(jq "$row.slow.above_ms > 0" deltas)" 'summaries of a real load have slow requests'
mv deltas summarised
compare --on-insufficient ok runs again
test_same "$(jq -c "$row" summarised)" "$(jq -c "$row" deltas)" 'runs are judged as their summaries are'
test_done
