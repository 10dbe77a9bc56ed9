#!/bin/sh
# The results of vkb-bench can be read again: metrics.json has only keys of the Python
# tool, and vkb-compare, vkb-pgpush and vkb-detect read its runs as repetitions of their
# cases.
. "${0%/*}/lib.sh"
test_server 'the results of vkb-bench'
. "$tests/repo.sh"
test_postgres 'the results of vkb-bench in PostgreSQL'

# All keys that the Python tool writes, in any kind of result.
cat >python.keys <<'END'
timestamp commit repository command data_size pipeline clients
rps avg_latency_ms min_latency_ms p50_latency_ms p95_latency_ms p99_latency_ms
max_latency_ms cluster_mode tls duration requests benchmark_mode io_threads
valkey_benchmark_threads warmup architecture
env_kernel_version env_os env_cpu_model env_cpu_governor env_turbo_boost
env_idle_states env_aslr env_thp env_numa_nodes env_cpu_freq_mhz_at_setup
env_server_cpu_range env_client_cpu_range env_benchmark_tool_version
status error test_id test_phase group scenario group_description
scenario_description config_set config_name module_commit
module_commit_timestamp dataset
END
tr ' ' '\n' <python.keys | sort >known
# other_keys FILE: prints the keys in FILE that the Python tool does not write
other_keys() { jq -r '.[] | keys[]' "$1" | sort -u | comm -23 - known; }

real_repo
in_repo tag base
burn 1000 slow
cat >cfg.json <<'END'
[{"commands": ["SET", "GET"], "requests": [300], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1, 2], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
test_that 'vkb-bench measures both commits' vkb-bench --valkey-path repo --config cfg.json \
  --commits base main --runs 4
base=$(head_of base) main=$(head_of main)
records=$(echo results/base/runs/*.jsonl)

# --- the keys

for ref in base main; do
  test_same 16 "$(jq length "results/$ref/metrics.json")" "$ref: each run is in metrics.json"
  test_empty "$(other_keys "results/$ref/metrics.json")" \
    "$ref: only keys of the Python tool are written"
done
# The Python tool takes unknown keys for the configuration: all keys of runs of one case
# must be equal, except what is measured.
test_same 4 "$(jq -c '.[] | with_entries(select(.key |
  test("^(rps|.*_latency_ms|timestamp|commit|repository)$") | not))' \
  results/*/metrics.json | sort -u | wc -l)" 'runs of one case differ only in what is measured'
test_empty "$(jq -c '.[] | select(any(.[]; type == "object" or type == "array"))' \
  results/*/metrics.json)" 'no value is an object, which the Python tool cannot store'
cat >scenario.json <<'END'
[{"test_groups":[{"group":1,"description":"g","scenarios":[
  {"id":"a","type":"read","description":"s","command":"PING","requests":100,"clients":1},
  {"id":"b","type":"write","command":"NOSUCHCOMMAND x","requests":100,"clients":1}]}],
  "config_sets":[{"maxmemory-samples":3}],"server_cpu_range":"0","client_cpu_range":"1",
  "cluster_mode":false,"tls_mode":false,"io-threads":[1]}]
END
test_status 2 'scenarios of which one fails are exit 2' vkb-load --runs 1 -q -o scenario.jsonl scenario.json
vkb-parse --flat scenario.jsonl >scenario.flat
test_same '["success",null] ["failed",true]' "$(jq -c \
  '.[] | [.status, (if .error then true else null end)]' scenario.flat | tr '\n' ' ' |
  sed 's/ $//')" 'the results are one success and one failure'
test_empty "$(other_keys scenario.flat)" 'scenarios: only keys of the Python tool are written'
test_same '{"maxmemory-samples":3} 0 1' "$(jq -r '.[0] |
  "\(.config_set | tojson) \(.env_server_cpu_range) \(.env_client_cpu_range)"' scenario.flat)" \
  'scenarios: settings and CPUs have the keys of the Python tool'

# --- vkb-compare

# pairs WHAT: each case of out.jsonl has four runs on both sides
pairs() {
  test_same '[[4,4]] 4' "$(jq -sc 'map(select(.type == "delta" and .metric == "rps")) |
    map(.n) as $n | "\($n | unique | tojson) \($n | length)"' out.jsonl | jq -r .)" "$1"
}
vkb-compare --format jsonl results/base/metrics.json results/main/metrics.json >out.jsonl
pairs 'vkb-compare pairs four cases of four runs'
# Runs of a server without a commit have no commit time.
for side in old new; do
  vkb-load -q --runs 4 cfg.json >"$side.runs"
  vkb-parse --flat "$side.runs" >"$side.json"
done
vkb-compare --format jsonl old.json new.json >out.jsonl
pairs 'vkb-compare pairs runs of a server without a commit'

# --- vkb-parse --whole

grep -h '"type":"run"' "$records" >plain.jsonl
vkb-parse plain.jsonl >canonical.jsonl
vkb-parse --flat --whole plain.jsonl >whole.json
test_same "$(cat canonical.jsonl)" "$(vkb-parse whole.json)" \
  '--whole: the records read from it are unchanged'
test_same vkb "$(other_keys whole.json)" '--whole: metrics.json has one more key'
test_same "$(vkb-parse --flat plain.jsonl)" "$(vkb-parse --flat whole.json)" \
  '--whole: a file without it lacks only that key'
# What other programs used of the CPU.
jq -c '.metrics.foreign_cpu_percent = 33.25' plain.jsonl | head -n 1 >busy.jsonl
test_same null "$(vkb-parse --flat busy.jsonl | vkb-parse | jq .metrics.foreign_cpu_percent)" \
  'metrics.json lacks the CPU time of other programs, as its page says'
test_same 33.25 "$(vkb-parse --flat --whole busy.jsonl | vkb-parse | jq .metrics.foreign_cpu_percent)" '--whole keeps it'
vkb-pgpush -q --table busy busy.jsonl
test_same '33.25 33.25' "$(vkb-pgpush --export --table busy | jq .metrics.foreign_cpu_percent) $(
  sql 'SELECT foreign_cpu_percent::float FROM benchmark_metrics_busy')" 'a database keeps it'
test_status 2 '--whole without --flat is an error' vkb-parse --whole plain.jsonl
test_match '--whole needs --flat' .err 'the error says that --whole needs --flat'

# --- vkb-pgpush and vkb-detect

# judged WHAT: vkb-detect finds both commits and four cases
judged() {
  vkb-detect --table core --latest 1 >detected 2>&1
  test_match '\([0-9]+ series of 4 cases\)' detected "$1: vkb-detect judges four cases"
  test_match '^2 commits ' detected "$1: vkb-detect finds two commits"
  vkb-pgpush --export >exported.jsonl
  grep -F "\"commit\":\"$base" exported.jsonl >before.jsonl
  grep -F "\"commit\":\"$main" exported.jsonl >after.jsonl
  vkb-compare --format jsonl before.jsonl after.jsonl >out.jsonl
  pairs "$1: four cases of four runs come back"
}
fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
stored() { # stored NEW OLD WHAT: the message has these numbers
  test_match "benchmark_metrics: $1 runs? stored, $2 were there already" .err "$3"
}

test_that 'the folder of results is accepted' vkb-pgpush results
stored 32 0 'each run is stored'
judged 'runs stored from the folder'
test_same 100 "$(jq .config.keyspacelen exported.jsonl | sort -u)" \
  'a key that metrics.json lacks is stored from the runs'
test_same integer "$(sql "SELECT format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid = 'benchmark_metrics'::regclass AND attname = 'env_numa_nodes'")" \
  'a number that metrics.json has as text is stored as a number'
test_that 'the results are accepted again' vkb-pgpush results
stored 0 32 'no run of the results is new'
mkdir flat
for ref in base main; do
  mkdir "flat/$ref"
  cp "results/$ref/metrics.json" "flat/$ref"
done
test_that 'the metrics.json files alone are accepted' vkb-pgpush flat
stored 0 32 'no run of the metrics.json files is new'
test_that 'the files of the results are accepted' \
  vkb-pgpush flat/base/metrics.json flat/main/metrics.json
stored 0 32 'no run of the two files is new'
fresh
test_that 'the metrics.json files are accepted by an empty database' vkb-pgpush flat
stored 32 0 'each run of the metrics.json files is stored'
judged 'runs stored from metrics.json'
test_that 'the folder after its files is accepted' vkb-pgpush results
stored 0 32 'no run of the folder is new'

# --- folders that cannot be read

mkdir -p ring/a ring/b
cp flat/base/metrics.json ring/a/
ln -s metrics.json ring/b/metrics.json
test_status 2 'a metrics.json that cannot be read is an error' vkb-pgpush --dry-run ring
test_match "cannot read 'ring/b/metrics.json'" .err 'the error names the metrics.json'
rm ring/b/metrics.json
ln -s runs ring/a/runs
test_status 2 'a folder of records that cannot be read is an error' vkb-pgpush --dry-run ring
test_match "cannot read 'ring/a/runs'" .err 'the error names the folder of records'
test_done
