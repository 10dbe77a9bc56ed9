#!/bin/sh
# The latencies of a run are those of its own histogram, and the latencies of a summary
# are those of the merged histograms. tests/histogram.pl decodes histograms
# independently.
. "${0%/*}/lib.sh"

test_server 'percentiles of real runs'
base='"keyspacelen":[100],"data_sizes":[16],"pipelines":[1,8],"clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0'

# recomputed LEAST WHAT: the numbers of the records on stdin agree with their
# histograms, and there are at least LEAST such numbers.
recomputed() {
  perl "$tests/histogram.pl" >said
  test_same "$(tail -n 1 said)" "$(head -n 20 said)" "$2"
  test_that "$2: at least $1 numbers were read" test "$(sed -n 's/ numbers$//p' said)" -ge "$1"
}

printf '[{"commands":["SET","GET"],%s,"requests":[5000]}]\n' "$base" >closed.json
test_that 'closed loop is measured' vkb-load --runs 2 -o closed closed.json
recomputed 28 'closed loop: percentiles, mean and extremes are those of the histogram' <closed
vkb-stats closed >summary
cat closed summary >both
recomputed 200 'a summary has the counts and percentiles of the merged histograms' <both
printf '[{"commands":["SET"],%s,"duration":0.5,"rate":3000}]\n' "$base" >open.json
test_that 'open loop is measured' vkb-load --runs 1 -o open open.json
recomputed 14 'open loop: percentiles, mean and extremes are those of the histogram' <open
printf '[{"commands":["SET"],%s,"benchmark-threads":2,"requests":[4000]}]\n' "$base" >threads.json
test_that 'two threads are measured' vkb-load --runs 1 -o threads threads.json
recomputed 14 'two threads: the numbers are those of the histogram of both' <threads
cat >mixed.json <<'EOF'
[{"cluster_mode":false,"tls_mode":false,"keyspacelen":[100],"scenarios":[
 {"id":"m","type":"mixed","duration":0.3,
  "writes":[{"command":"SET key:__rand_int__ __data__","clients":2}],
  "reads":[{"command":"GET key:__rand_int__","clients":3}]}]}]
EOF
test_that 'a mixed scenario is measured' vkb-load --runs 1 -o mixed mixed.json
recomputed 14 'mixed scenario: the numbers of each part are those of its histogram' <mixed

# The check finds a wrong percentile.
jq -c '.metrics.p95_latency_ms = .metrics.p99_latency_ms' closed >wrong
test_that 'a p95 with the value of p99 is found' test "$(perl "$tests/histogram.pl" <wrong | wc -l)" -gt 1
test_done
