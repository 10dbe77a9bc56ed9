#!/bin/sh
# One server under two names, measured in rounds, summarised and compared in pairs. The
# margin is so wide that noise cannot exceed it. And one case of twelve that is slower
# in all of six rounds.
. "${0%/*}/lib.sh"

test_server 'interleaved runs'
for label in base new; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$label" "$server"
done >builds.jsonl
printf '%s\n' '[{"commands":["SET","PING"],"requests":[3000],"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0}]' >config.json

test_that 'six rounds of two cases and two builds' \
  vkb-load -q --builds builds.jsonl --runs 6 -o runs.jsonl config.json
test_same 24 "$(wc -l <runs.jsonl | tr -d ' ')" 'there are 24 runs'
test_that 'vkb-stats summarises them' vkb-stats runs.jsonl
mv .out summaries.jsonl
test_same '6 6 6 6' "$(jq .n summaries.jsonl | tr '\n' ' ' | sed 's/ $//')" \
  'there are four summaries of six runs'
test_same true "$(jq -s 'all(.whole.latency_count > .n * 1000 and
  .whole.latency_count <= .n * 3000)' summaries.jsonl)" \
  'their histograms have the requests in the measured part of the slices'
test_that 'vkb-compare compares them' vkb-compare -v --baseline base --margin 99% \
  -f jsonl:deltas.jsonl summaries.jsonl
test_same true "$(jq -s 'map(select(.metric)) |
  length > 0 and all(.paired and .n == [6, 6])' deltas.jsonl)" \
  'all runs are paired'

# rounds FACTOR: prints rounds of a machine that drifts; the twelfth case of the new
# build has FACTOR of its requests.
rounds() {
  jq -n -c --argjson factor "$1" 'range(6) as $b | range(12) as $c |
    ("base", "new") as $l |
    (1000 + 100 * $b + ($b * 7 + $c * 5 + ($l | length) * 3) % 11) as $rps |
    {type: "run", v: 1, subject: {label: $l}, config: {command: "c\($c)"},
      run: {session: "s", block: $b, index: $b}, status: "ok",
      metrics: {rps: ($rps * if $l == "new" and $c == 11 then $factor else 1 end)}}'
}
rounds .5 >slower.jsonl
test_status 1 'six rounds of twelve cases, one of which has half the throughput' \
  sh -c 'vkb-stats slower.jsonl | vkb-compare -v --baseline base -f text -f jsonl:slower.out'
test_same 'c11 rounds true' "$(jq -r 'select(.verdict == "regression") |
  "\(.config.command) \(.method) \(.paired)"' slower.out)" 'this case is a regression'
test_match '^Paired by round; 12 results were judged together, so that few of the claimed changes are false\.' \
  .out 'the report has the method'
test_same true "$(jq -s 'map(select(.verdict == "regression")) |
  length == 1 and all(.ci95 | .[1] - .[0] < 0.1)' slower.out)" 'its interval is that of the rounds'
for busy in 20 80; do
  jq -c ".metrics.foreign_cpu_percent = $busy" slower.jsonl >busy.jsonl
  test_status 1 "the same while others use $busy % of the CPUs" \
    sh -c 'vkb-stats busy.jsonl | vkb-compare --baseline base'
  test_same "$((busy / 80))" \
    "$(tr '\n' ' ' <.out | grep -c "used $busy% of the CPU: on an idle machine throughput and latency may change by less")" \
    "$busy %: the report says so if it is a quarter or more"
done
rounds 1 >same.jsonl
test_that 'without a slower case there is no regression' \
  sh -c 'vkb-stats same.jsonl | vkb-compare -v --baseline base'
jq -c 'if .subject.label == "new" and .run.block > 1 then .run.block += 100 else . end' \
  same.jsonl >apart.jsonl
test_that 'sides that share two of six rounds' \
  sh -c 'vkb-stats apart.jsonl | vkb-compare -v --baseline base'
test_match '^Not paired: the sides share only 2 rounds, too few to pair them; ' .out \
  'they are not paired, and the report has the reason'
test_done
