#!/bin/sh
# One server under two names, interleaved: loaded, summarised and compared in
# pairs. The margin is so wide that no noise is an alarm.
. "${0%/*}/lib.sh"

test_server 'interleaved runs'
for label in base new; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$label" "$server"
done >builds.jsonl
printf '%s\n' '[{"commands":["SET","PING"],"requests":[3000],"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0}]' >config.json

test_that 'six interleaved rounds' \
  vkb-load -q --builds builds.jsonl --runs 6 -o runs.jsonl config.json
test_same 24 "$(wc -l <runs.jsonl | tr -d ' ')" 'of two cases and two builds'
test_that 'are summarised' vkb-stats runs.jsonl
mv .out summaries.jsonl
test_same '6 6 6 6' "$(jq .n summaries.jsonl | tr '\n' ' ' | sed 's/ $//')" \
  'as four summaries of six'
test_same true "$(jq -s 'all(.whole.latency_count == .n * 3000)' summaries.jsonl)" \
  'whose histograms hold every request'
test_that 'and compared' vkb-compare --baseline base --margin 99% \
  -f jsonl:deltas.jsonl summaries.jsonl
test_same true "$(jq -s 'map(select(.metric)) |
  length > 0 and all(.paired and .n == [6, 6])' deltas.jsonl)" \
  'pair by pair'
test_done
