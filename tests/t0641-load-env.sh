#!/bin/sh
# What vkb-load records about the machine: an env record for each session and samples
# in each run; and how the other programs use them.
# shellcheck disable=SC2016 # variables of jq
. "${0%/*}/lib.sh"
test_server 'the machine in the runs'
unset VKB_ENV_RECORD

cat >c.json <<'END'
[{"commands": ["SET", "GET"], "requests": [3000], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [10], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
load() { vkb-load -q "$@"; }
types() { jq -r .type "$1" | xargs; }
all() { # all FILTER: prints whether FILTER is true for all runs
  jq -s "map(select(.type == \"run\")) | all($1)" runs
}

load --runs 2 c.json >runs
test_same 'env run run run run' "$(types runs)" 'there is one env record, before the runs'
test_same 1 "$(jq -r '.session // .run.session' runs | sort -u | wc -l | tr -d ' ')" \
  'the env record has the session of the runs'
test_same "$(uname -r)" "$(jq -r 'select(.type == "env").env.kernel' runs)" \
  'the env record has the kernel'
test_same true "$(jq -s '(.[0].env | del(.benchmark_tool_version)) as $e |
  .[1:] | all(.env | del(.benchmark_tool_version) | to_entries |
    all($e[.key] == .value))' runs)" 'each run repeats a part of the env record'

# --- samples

test_same true "$(all '.metrics | .cpu_avg_percent >= 0 and
  .cpu_peak_percent >= .cpu_avg_percent')" 'each run has the CPU use of the servers'
test_same true "$(all '.metrics | .memory_mb > 1 and
  .memory_peak_mb >= .memory_mb * .99 and .used_memory_bytes > 0 and
  .used_memory_peak_bytes > 0 and .mem_fragmentation_ratio > 0')" 'each run has the memory of the servers'
test_same true "$(all '.metrics | .server_voluntary_switches_per_s >= 0 and
  .server_involuntary_switches_per_s >= 0 and
  .client_voluntary_switches_per_s >= 0 and
  .client_involuntary_switches_per_s >= 0')" 'each run has the context switches'
test_same true "$(all '.samples | (.at_s | length) as $n | $n > 0 and
  all(.server_cpu_percent, .client_cpu_percent, .memory_mb; length == $n)')" \
  'each series has one value for each time'
test_same true "$(all '[.samples.threads[].name] | index("valkey-server") != null')" \
  'each run has the threads of the server'
test_same true "$(all '.samples.cost_percent >= 0')" 'each run has the cost of sampling'
test_empty "$(jq -c '.. | select(. == null)' runs)" 'no value is null'

# --- a run of 2.3 s has two samples

sed 's/"SET", "GET"/"SET"/; s/"requests": \[3000\]/"duration": 2.3, "rate": 1000/' c.json >two.json
test_that 'a longer run is accepted' load --runs 1 two.json
test_same true "$(jq 'select(.type == "run").samples.at_s |
  length >= 1 and .[-1] >= 2.2' .out)" 'the last sample is at the end'
test_same '1 2' "$(jq -r 'select(.type == "run").series.at_s[:2] |
  join(" ")' .out)" 'the time of an interval is its end'

# A short run may be over before the clock of /proc/stat has ticked.
of_it() { jq "select(.type == \"run\") | $1" .out; }
if [ "$(jq -r 'select(.type == "env").env.proc_stat_whole' .out)" = true ]; then
  test_same true "$(of_it '[.metrics | to_entries[] | select(.key |
    test("^cpu[0-9]+_busy_percent$"))] | length > 0 and
    all(.value >= 0 and .value <= 100)')" 'a run has the load of each CPU'
else
  test_same true "$(of_it '.metrics | has("foreign_cpu_percent") | not')" \
    'the load of other processes is unknown'
fi

# --- sessions in one file

load --runs 1 --resume f c.json
load --runs 2 --resume f c.json
test_same 'env run run env run run' "$(types f)" 'each session has its own env record'
cp f before
load --runs 2 --resume f c.json
test_same "$(cat before)" "$(cat f)" 'a session that runs nothing adds no env record'

# --- other programs

vkb-stats runs >summaries
test_same 'env summary summary' "$(types summaries)" 'vkb-stats copies the env record'
test_same true "$(jq -s '.[1:] | all(.metrics.cpu_avg_percent.n == 2)' summaries)" \
  'vkb-stats summarises the samples'
compare() { vkb-compare --on-insufficient ok "$@"; }
test_that 'vkb-compare accepts env records' compare runs summaries
cp .out one
grep -v '"type":"env"' runs >bare
grep -v '"type":"env"' summaries >bare.s
test_that 'vkb-compare accepts the runs without env records' compare bare bare.s
test_same "$(cat .out)" "$(cat one)" 'vkb-compare prints the same without env records'
test_same 4 "$(vkb-parse --flat runs | jq length)" 'metrics.json has only runs'
test_that 'vkb-pgpush accepts env records' vkb-pgpush --dry-run runs
test_match '^-- .*: 4 runs' .out 'vkb-pgpush counts the runs'
VKB_ENV_RECORD=no
export VKB_ENV_RECORD
test_that 'VKB_ENV_RECORD=no is accepted' load --runs 1 c.json
test_same 'run run' "$(types .out)" 'with VKB_ENV_RECORD=no there are only runs'
test_litter 0 'no temporary file is left'
test_done
