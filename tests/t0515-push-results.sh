#!/bin/sh
# What vkb-bench leaves can be read again: metrics.json has the keys of the
# Python tool and no others, and vkb-compare, vkb-pgpush and vkb-detect take its
# runs for repetitions of their cases; so they do what the first edition wrote
# and stored.
# slow: what it runs is tested with the sanitizers elsewhere
. "${0%/*}/lib.sh"
test_server 'the results of vkb-bench'
. "$tests/repo.sh"
test_postgres 'the results of vkb-bench in PostgreSQL'

# Each key that the Python tool writes, of any kind of result.
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
# other_keys FILE: those of its objects that the Python tool does not write.
other_keys() { jq -r '.[] | keys[]' "$1" | sort -u | comm -23 - known; }

real_repo
in_repo tag base
burn 1000 slow
cat >cfg.json <<'END'
[{"commands": ["SET", "GET"], "requests": [300], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1, 2], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
test_that 'a measurement' vkb-bench --valkey-path repo --config cfg.json \
  --commits base main --runs 4
base=$(head_of base) main=$(head_of main)
records=$(echo results/base/runs/*.jsonl)

# --- the keys

for ref in base main; do
  test_same 16 "$(jq length "results/$ref/metrics.json")" "$ref: each run is there"
  test_empty "$(other_keys "results/$ref/metrics.json")" \
    "$ref: only keys of the Python tool are written"
done
# The Python tool takes what it does not know for the configuration: of one case
# all that is not measured must be equal.
test_same 4 "$(jq -c '.[] | with_entries(select(.key |
  test("^(rps|.*_latency_ms|timestamp|commit|repository)$") | not))' \
  results/*/metrics.json | sort -u | wc -l)" 'runs of one case differ by what is measured alone'
test_empty "$(jq -c '.[] | select(any(.[]; type == "object" or type == "array"))' \
  results/*/metrics.json)" 'no value is an object, which the Python tool cannot store'
cat >scenario.json <<'END'
[{"test_groups":[{"group":1,"description":"g","scenarios":[
  {"id":"a","type":"read","description":"s","command":"PING","requests":100,"clients":1},
  {"id":"b","type":"write","command":"NOSUCHCOMMAND x","requests":100,"clients":1}]}],
  "config_sets":[{"maxmemory-samples":3}],"server_cpu_range":"0","client_cpu_range":"1",
  "cluster_mode":false,"tls_mode":false,"io-threads":[1]}]
END
test_status 2 'scenarios, one of which fails' vkb-load --runs 1 -q -o scenario.jsonl scenario.json
vkb-parse --flat scenario.jsonl >scenario.flat
test_same '["success",null] ["failed",true]' "$(jq -c \
  '.[] | [.status, (if .error then true else null end)]' scenario.flat | tr '\n' ' ' |
  sed 's/ $//')" 'a result and a failure'
test_empty "$(other_keys scenario.flat)" 'scenarios: only keys of the Python tool are written'
test_same '{"maxmemory-samples":3} 0 1' "$(jq -r '.[0] |
  "\(.config_set | tojson) \(.env_server_cpu_range) \(.env_client_cpu_range)"' scenario.flat)" \
  'scenarios: settings and CPUs have the keys of the Python tool'

# --- vkb-compare

# pairs WHAT: each case of out.jsonl has four runs on both sides.
pairs() {
  test_same '[[4,4]] 4' "$(jq -sc 'map(select(.type == "delta" and .metric == "rps")) |
    map(.n) as $n | "\($n | unique | tojson) \($n | length)"' out.jsonl | jq -r .)" "$1"
}
vkb-compare --format jsonl results/base/metrics.json results/main/metrics.json >out.jsonl
pairs 'vkb-compare pairs four cases of four runs'
# A server without a commit has no time of its own.
for side in old new; do
  vkb-load -q --runs 4 cfg.json >"$side.runs"
  vkb-parse --flat "$side.runs" >"$side.json"
done
vkb-compare --format jsonl old.json new.json >out.jsonl
pairs 'and those of a server without a commit'

# --- vkb-parse --whole

grep -h '"type":"run"' "$records" >plain.jsonl
vkb-parse plain.jsonl >canonical.jsonl
vkb-parse --flat --whole plain.jsonl >whole.json
test_same "$(cat canonical.jsonl)" "$(vkb-parse whole.json)" \
  '--whole: the records come back as they were'
test_same vkb "$(other_keys whole.json)" '--whole: there is one more key'
test_same "$(vkb-parse --flat plain.jsonl)" "$(vkb-parse --flat whole.json)" \
  '--whole: without it the key is gone again'
test_status 2 '--whole alone' vkb-parse --whole plain.jsonl
test_match '--whole needs --flat' .err 'the error says that --whole needs --flat'

# --- vkb-pgpush and vkb-detect

# judged WHAT: vkb-detect sees both commits of each of four cases.
judged() {
  vkb-detect --table core --latest 1 >detected 2>&1
  test_match '\([0-9]+ series of 4 cases\)' detected "$1: vkb-detect judges four cases"
  test_match '^2 commits ' detected "$1: of two commits"
  vkb-pgpush --export >exported.jsonl
  grep -F "\"commit\":\"$base" exported.jsonl >before.jsonl
  grep -F "\"commit\":\"$main" exported.jsonl >after.jsonl
  vkb-compare --format jsonl before.jsonl after.jsonl >out.jsonl
  pairs "$1: four cases of four runs come back"
}
fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
stored() { # stored NEW OLD WHAT
  test_match "benchmark_metrics: $1 runs stored, $2 were there already" .err "$3"
}

test_that 'a push of the folder' vkb-pgpush results
stored 32 0 'each run is stored'
judged 'stored'
test_same 100 "$(jq .config.keyspacelen exported.jsonl | sort -u)" \
  'a key that metrics.json lacks is stored from the runs'
test_same integer "$(sql "SELECT format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid = 'benchmark_metrics'::regclass AND attname = 'env_numa_nodes'")" \
  'a number that metrics.json has as text is a number there'
test_that 'the results are accepted again' vkb-pgpush results
stored 0 32 'nothing is doubled'
mkdir flat
for ref in base main; do
  mkdir "flat/$ref"
  cp "results/$ref/metrics.json" "flat/$ref"
done
test_that 'metrics.json alone' vkb-pgpush flat
stored 0 32 'holds the same runs'
test_that 'the files of the results are accepted' \
  vkb-pgpush flat/base/metrics.json flat/main/metrics.json
stored 0 32 'they are the same, too'
fresh
test_that 'metrics.json alone, first' vkb-pgpush flat
stored 32 0 'is stored'
judged 'metrics.json'
test_that 'the folder after its files is accepted' vkb-pgpush results
stored 0 32 'nothing is doubled'

# --- what the first edition wrote: everything, one key beside the other

mkdir old
for ref in base main; do
  mkdir "old/$ref"
  jq -s '[.[] | select(.type == "run") | {timestamp: .subject.time, commit: .subject.commit,
    repository: .subject.repository, command: .config.command, data_size: .config.data_size,
    pipeline: .config.pipeline, clients: .config.clients} +
    (.metrics | {rps, avg_latency_ms, min_latency_ms, p50_latency_ms, p95_latency_ms,
      p99_latency_ms, max_latency_ms}) +
    {cluster_mode: .config.cluster_mode, tls: .config.tls_mode, requests: .config.requests,
     benchmark_mode: "requests", io_threads: .config.io_threads,
     valkey_benchmark_threads: .config.benchmark_threads, warmup: .config.warmup_s,
     architecture: .env.arch} +
    (.env | del(.arch) | with_entries(.key |= "env_" + .)) +
    {keyspacelen: .config.keyspacelen, engine: .config.engine} +
    (.metrics | with_entries(select(.key | test("^(rps|requests|(avg|min|max|p..)_latency_ms)$") | not))) +
    {requests_done: .metrics.requests, cpu0_busy_percent: .metrics.rps, cpu191_busy_percent: .metrics.p50_latency_ms}
    ]' "results/$ref"/runs/*.jsonl >"old/$ref/metrics.json"
done
vkb-parse old/base/metrics.json >old.jsonl
test_empty "$(jq -c '.config | keys[] | select(test("busy"))' old.jsonl)" \
  'the load of a CPU does not become configuration'
test_same "$(jq -c 'select(.type == "run") | .metrics |= (.cpu191_busy_percent = .p50_latency_ms |
    .cpu0_busy_percent = .rps) | [.config, .metrics]' "$records" | jq -cS . | sort)" \
  "$(jq -c '[.config, .metrics]' old.jsonl | jq -cS . | sort)" \
  'configuration and metrics are those of the records'
vkb-compare --format jsonl old/base/metrics.json old/main/metrics.json >out.jsonl
pairs 'vkb-compare pairs what the first edition wrote'
vkb-parse --flat old.jsonl >again.json
test_empty "$(other_keys again.json)" 'written again, only keys of the Python tool are left'
test_same "$(jq -cS '.[] | del(.repository)' results/base/metrics.json)" \
  "$(jq -cS '.[] | del(.repository)' again.json)" 'the keys of the Python tool keep their values'

# --- and stored: the same, with the load of each CPU in the configuration

fresh
vkb-pgpush -q old
# spoil: the tables as the first edition left them.
spoil() {
  sql "COMMENT ON TABLE vkb_runs IS NULL" \
    "CREATE TEMP TABLE k AS SELECT id, vkb_session s, vkb_case c FROM vkb_runs;
     UPDATE vkb_runs SET vkb_session = 'object ' || substr(md5(record::text), 1, 16),
       vkb_case = substr(md5(record::text || 'c'), 1, 16),
       record = jsonb_set(record::jsonb, '{config}', (record::jsonb->'config') ||
         jsonb_build_object('cpu0_busy_percent', record::jsonb->'metrics'->'cpu0_busy_percent',
           'cpu191_busy_percent', record::jsonb->'metrics'->'cpu191_busy_percent')) #-
         '{metrics,cpu0_busy_percent}' #- '{metrics,cpu191_busy_percent}';
     UPDATE benchmark_metrics m SET vkb_session = r.vkb_session, vkb_case = r.vkb_case
       FROM vkb_runs r JOIN k USING (id) WHERE m.vkb_session = k.s AND m.vkb_case = k.c"
}
busy() {
  sql "SELECT count(*) FROM vkb_runs WHERE record->'config'->'cpu0_busy_percent' IS NOT NULL"
}
spoil
test_same '32 32' "$(busy) $(sql 'SELECT count(DISTINCT vkb_case) FROM benchmark_metrics')" \
  'runs stored by the first edition are cases of their own'
judged 'before they are brought up to date'
sql 'CREATE ROLE guest LOGIN' 'GRANT USAGE ON SCHEMA public TO guest' \
  'GRANT ALL ON ALL TABLES IN SCHEMA public TO guest' \
  'GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO guest'
test_status 2 'a push of another user' env PGUSER=guest vkb-pgpush old
test_match 'only the owner of the table can do' .err \
  'the error says that the owner of the table can do it'
test_same 32 "$(busy)" 'a push of another role leaves the old rows'
test_that 'a push' vkb-pgpush old
test_match '32 old rows brought up to date' .err 'brings them up to date'
stored 0 32 'the runs are known'
test_same '0 4' "$(busy) $(sql "SELECT count(DISTINCT vkb_case) FROM benchmark_metrics
  WHERE status IS NULL")" 'no run is a case of its own'
test_same 32 "$(sql 'SELECT count(*) FROM benchmark_metrics m JOIN vkb_runs r
  USING (vkb_session, vkb_case, vkb_subject, vkb_index) WHERE m.status IS NULL')" \
  'both tables have the same keys'
test_that 'a push of the records' vkb-pgpush results
stored 0 32 'they are known as well'
test_empty "$(grep 'up to date' .err)" 'nothing is left to be brought up to date'
test_that 'a push of another role is accepted after the update' env PGUSER=guest vkb-pgpush results
stored 0 32 'does no harm'
judged 'brought up to date'

# --- folders that cannot be read

mkdir -p ring/a ring/b
cp old/base/metrics.json ring/a/
ln -s metrics.json ring/b/metrics.json
test_status 2 'a metrics.json that cannot be read' vkb-pgpush --dry-run ring
test_match "cannot read 'ring/b/metrics.json'" .err 'the error names the metrics.json'
rm ring/b/metrics.json
ln -s runs ring/a/runs
test_status 2 'a folder of records that cannot be read' vkb-pgpush --dry-run ring
test_match "cannot read 'ring/a/runs'" .err 'the error names the folder of records'
test_done
