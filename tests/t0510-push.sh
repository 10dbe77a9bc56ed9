#!/bin/sh
# vkb-pgpush with a PostgreSQL server that the test starts.
. "${0%/*}/lib.sh"
data=$tests/data
test_postgres 'vkb-pgpush'

# run INDEX RPS [CONFIG] [SUBJECT]: prints one record
run() {
  printf '{"type":"run","v":1,"subject":{"commit":"c1","time":"2026-03-01T08:00:00Z"%s},"config":{"command":"SET","data_size":16,"pipeline":1,"clients":50,"cluster_mode":false,"tls_mode":false,"requests":1000%s},"run":{"session":"s1","index":%d},"env":{"arch":"x86_64"},"metrics":{"rps":%s},"status":"ok"}\n' \
    "${4:-}" "${3:-}" "$1" "$2"
}
# flat RPS [MORE]: prints an object of metrics.json
flat() {
  printf '{"timestamp":"2026-03-02T08:00:00+00:00","commit":"abc","command":"SET","data_size":16,"pipeline":1,"clients":50,"rps":%s%s}\n' "$1" "${2:-}"
}
fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
rows() { sql "SELECT count(*) FROM ${1:-benchmark_metrics}"; }
type_of() { # type_of COLUMN [TABLE]
  sql "SELECT format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = '${2:-benchmark_metrics}'::regclass AND attname = '$1'"
}
push() { vkb-pgpush "$@"; }

# --- the same runs are pushed again

test_that 'a push is accepted' push "$data/a.jsonl"
n=$(wc -l <"$data/a.jsonl")
test_match "benchmark_metrics: $n runs stored, 0 were there" .err 'the message has the number of runs stored'
test_same "$n" "$(rows)" 'each run is a row'
test_that 'the same runs are accepted again' push "$data/a.jsonl"
test_match "0 runs stored, $n were there already" .err 'the message says that no run is new'
head -n 3 "$data/a.jsonl" | sed 's/"index":1/"index":9/' >more.jsonl
test_that 'old and new runs are accepted together' push more.jsonl "$data/a.jsonl"
test_same "$(sort -u more.jsonl "$data/a.jsonl" | wc -l)" "$(rows)" 'only the new runs are added'
test_same "$(rows)" "$(rows vkb_runs)" 'vkb_runs has a record for each run'
test_empty "$(sql "SELECT record FROM vkb_runs WHERE record->'env' IS NULL")" \
  'the records have the environment'

fresh
{
  run 1 1
  run 1 2 ',"other":true'
} | sed 's/"s1"/"object s1"/' >object
test_that 'a session that is named like those of failed runs is accepted' push object
test_same 2 "$(rows)" 'two cases of such a session are two rows'
fresh
{
  run 1 100
  run 1 100 | sed 's/"metrics":{"rps":100}/"counted":true,"metrics":{"instructions_per_req":5000}/'
} >counted
test_that 'a case that was counted and measured in one session is accepted' push counted
test_match 'benchmark_metrics: 2 runs stored, 0 were there' .err 'both runs are stored'
test_that 'both runs are accepted again' push counted
test_match '0 runs stored, 2 were there' .err 'both runs are known'
test_same '100| |5000' "$(sql 'SELECT rps::integer, instructions_per_req::integer FROM benchmark_metrics ORDER BY vkb_index DESC' | xargs)" \
  'they are two rows'
test_same 'false true' "$(push --export | jq '.counted // false' | xargs)" 'the export has both'

# --- export and push again

fresh
vkb-parse "$data/a.jsonl" >canonical
push -q canonical
test_that 'the runs are exported' push --export
sort .out >got
test_same "$(sort canonical)" "$(cat got)" 'the exported records are those that were pushed'
cp .out exported
test_that 'the exported records are accepted' push exported
test_match "0 runs stored, $n were there already" .err 'no exported run is new'
test_that 'the runs are exported again' push --export
test_same "$(cat exported)" "$(cat .out)" 'the second export is equal to the first'
test_that 'vkb-stats reads the export' vkb-stats --text exported
test_that '--since with a later time is accepted' push --export --since 2099-01-01
test_empty_file .out '--since with a later time exports no runs'
test_that '--since with an early time is accepted' push --export --since 1999-01-01T00:00:00Z
test_same "$(cat exported)" "$(cat .out)" '--since with an early time exports all runs'
test_status 2 '--since without a valid time is an error' push --export --since yesterday
test_match "invalid time 'yesterday'" .err 'the error shows the invalid time'
test_status 2 'the export of a table that does not exist is an error' push --export --table nothing
test_match "table 'benchmark_metrics_nothing' does not exist" .err 'the error names the table'

# --- numbers of more digits than a double has

fresh
run 1 0.1234567890123456789 ',"seed": 1234567890123456789' >digits
test_that 'a run with numbers of many digits is accepted' push digits
test_that 'a run with numbers of many digits is exported' push --export
test_same "$(cat digits)" "$(cat .out)" 'the exported record is the text that was pushed'
jq -s . canonical >pretty
fresh
push -q pretty
test_that 'runs of several lines are exported' push --export
test_same "$(wc -l <canonical)" "$(wc -l <.out)" 'a run of several lines is exported as one'

# --- the same rows, however a line is written

cat >odd.jsonl <<'EOF'
{"type":"run","v":1,"subject":{"label":"a","time":"2026-03-01T08:00:00Z"},"config":{"command":"MSET","data_size":16,"rps":5,"x":{"b":[1,null,"\\"],"a":1.0}},"run":{"session":"o","index":1,"started":"2026-03-01T09:00:00Z"},"env":{"arch":"x86_64"},"metrics":{"rps":1e3,"p50_latency_ms":0.10,"ops":-0,"k":1E-7,"big":12345678901234567890,"fine":0.1234567890123456789},"status":"ok"}
{"type":"run","v":1,"subject":{"label":"a","time":"2026-03-01T08:00:00Z"},"config":{"command":"MSET","data_size":16,"rps":5,"x":{"b":[1,null,"\\"],"a":1.0}},"run":{"session":"o","index":2},"env":{"arch":"x86_64"},"metrics":{"ops":2,"p50_latency_ms":1e300},"status":"ok"}
{"type":"run","v":1,"subject":{"ref":"b"},"config":{"command":"GET","test_id":"t","p99_latency_ms":3},"run":{"session":"o","index":1,"started":"2026-03-01T09:00:00Z"},"metrics":{"rps":7},"status":"ok"}
{"type":"run","v":1,"subject":{"ref":"b"},"config":{"command":"GET","test_id":"t","p99_latency_ms":3},"run":{"session":"o","index":2,"started":"2026-03-01T09:00:01Z"},"metrics":{"rps":8,"p99_latency_ms":9},"status":"ok"}
{"type":"run","v":1,"subject":{"ref":"b"},"config":{"command":"GET\ta\\n","test_id":"t","duration_s":3},"run":{"index":2,"started":"2026-03-01T09:00:01Z"},"metrics":{"rps":8},"status":"ok"}
{"type":"run","v":1,"subject":{"ref":"b"},"config":{"command":"GET"},"run":{"session":"o","index":2.5},"metrics":{"rps":8},"status":"ok"}
{"type":"run","v":1,"subject":{"ref":"b"},"config":{"command":"GET"},"run":{"session":"o","index":3},"metrics":{},"error":"x","status":"failed"}
{"type":"run","v":1,"subject":{"time":"2026-03-01T08:00:00+02:00"},"config":{"command":"GET","k":1},"run":{"session":"o","index":3},"metrics":{"k":2,"timestamp":3},"hist":{"latency_us":"abc"},"bound":"client","status":"ok"}
EOF
# All columns but those that differ between two pushes.
table() {
  sql "SELECT to_jsonb(t) - 'id' - 'created_at' FROM benchmark_metrics t ORDER BY id" |
    jq -cS .
  sql "SELECT to_jsonb(t) - 'id' - 'created_at' FROM vkb_runs t ORDER BY id" |
    jq -cS .
}
for f in "$data/a.jsonl" odd.jsonl; do
  fresh
  test_that "${f##*/}: a push that reads lines is accepted" push "$f"
  table >by-line
  test_match benchmark by-line "${f##*/}: rows are stored"
  fresh
  sed 's/"type":"run"/"type":"r\\u0075n"/' "$f" | push -q
  test_same "$(cat by-line)" "$(table)" "${f##*/}: a push that parses trees stores the same rows"
done
cat odd.jsonl odd.jsonl >doubled.jsonl
fresh
test_that 'equal lines are accepted' push doubled.jsonl
test_match '11 runs stored, 5 were there' .err 'equal lines are one run if they name the session'
test_same '11 11' "$(rows) $(rows vkb_runs)" 'both tables have each run once'
sql 'DELETE FROM benchmark_metrics WHERE vkb_index = 2' 'DELETE FROM vkb_runs WHERE vkb_index = 1'
test_that 'a push after rows were deleted is accepted' push doubled.jsonl
test_same '11 11' "$(rows) $(rows vkb_runs)" 'the deleted rows are stored again in both tables'
run 1 5 | awk '{ for (i = 1; i <= 4200; i++) {
  s = $0; sub(/c1/, "c" i, s); sub(/"rps":5/, "\"rps\":" i, s); print s } }' >many
test_that 'more than four thousand subjects are accepted' push --table many many
test_same "4200 4200 8822100" "$(sql "SELECT count(*) || ' ' || count(DISTINCT commit) || ' ' || sum(rps)::bigint FROM benchmark_metrics_many")" \
  'all subjects are stored'

# --- column types are widened: nothing is rounded or cut

fresh
flat 10 | push -q
sql 'ALTER TABLE benchmark_metrics ALTER rps TYPE INTEGER'
test_same integer "$(type_of rps)" 'a column is an integer'
flat 10.75 | push -q
test_same '10
10.75' "$(sql 'SELECT rps FROM benchmark_metrics ORDER BY id')" 'the column is widened for 10.75'
flat 1 ',"note":"short","big":7,"count":3' | push -q
test_same 'character varying(50)' "$(type_of note)" 'a short text gets a short type'
long=$(printf '%0200d' 7)
flat 2 ",\"note\":\"$long\",\"big\":3000000000,\"count\":1.5" | push -q
test_same 'character varying(255)' "$(type_of note)" 'a longer text widens the column'
test_same "$long" "$(sql 'SELECT note FROM benchmark_metrics WHERE rps = 2')" 'the longer text is stored unchanged'
test_same bigint "$(type_of big)" 'an integer column becomes a bigint'
test_same numeric "$(type_of count)" 'an integer column becomes numeric'
flat 3 ",\"note\":\"$long$long\",\"p99_latency_ms\":0.1234567891" >m
test_that 'more than six decimals and a very long text are accepted' push m
test_match 'ALTER TABLE .*note.* TYPE TEXT' .err 'a message shows the statement that changed the table'
test_same "0.1234567891|$long$long" \
  "$(sql 'SELECT p99_latency_ms, note FROM benchmark_metrics WHERE rps = 3')" \
  'all decimals and the whole text are stored'
flat 1e300 | push -q
test_same t "$(sql 'SELECT max(rps) = 1e300 FROM benchmark_metrics')" '1e300 is stored'

# --- inputs that the Python tool cannot store

fresh
{ printf '['; flat 1 ',"a":"b"'; printf ',null,'; flat 2; printf ']'; } >null.json
test_status 2 'a null in the array is an error' push null.json
test_match 'null.json:.*2' .err 'the error names the entry that is null'
test_same 2 "$(rows)" 'the other entries are stored'
fresh
marker='{"test_id":"1_a","test_phase":"read","group":1,"scenario":"a","status":"failed","error":"it broke","command":"GET","timestamp":"2026-03-02T08:00:00+00:00","config_set":{}}'
echo "[$marker]" >failed.json
test_that 'a file with only failed scenarios is accepted' push --table search failed.json
test_match '1 run stored.*1 of all failed' .err 'the message counts the failed scenarios'
test_same 'failed|it broke|1_a|' "$(sql 'SELECT status, error, test_id, commit FROM benchmark_metrics_search')" 'the failed scenario is stored with its error'
mkdir -p results/v1 results/v2 results/none
{ printf '[%s,' "$marker"; flat 999; printf ']'; } >results/v1/metrics.json
{ printf '['; i=0; while [ $i -lt 250 ]; do i=$((i + 1)); flat $i; printf '%s' "$([ $i = 250 ] || echo ,)"; done; printf ']'; } >results/v2/metrics.json
test_that 'a tree of results is accepted' push --table tree results
test_match '252 runs stored' .err 'all results of both folders are stored'
test_same v1 "$(sql "SELECT commit FROM benchmark_metrics_tree WHERE status = 'failed'")" \
  'the commit of a failed scenario is the name of its folder'
test_that 'the tree of results is accepted again' push --table tree results
test_match '0 runs stored, 252 were there' .err 'no result of the tree is stored twice'
{ printf '['; flat 7; printf ','; flat 7; printf ']'; } >twice.json
test_that 'two equal results in a file are accepted' push --table twice twice.json
test_that 'two equal results are accepted again' push --table twice twice.json
test_same 2 "$(rows benchmark_metrics_twice)" 'two equal results in a file are two rows'
test_status 2 'a folder without results is an error' push results/none
test_match "no metrics.json in 'results/none'" .err 'the error names the folder without results'
test_same search "$(sql 'SELECT DISTINCT test_type FROM benchmark_metrics_search')" 'the test type is the name of the table'
flat 9 | push -q --table search --test-type nightly
test_same 1 "$(sql "SELECT count(*) FROM benchmark_metrics_search WHERE test_type = 'nightly'")" '--test-type sets the type'

# --- tables made by other programs get more columns and keep their rows

fresh
sql 'CREATE TABLE benchmark_metrics (id SERIAL PRIMARY KEY,
  "timestamp" TIMESTAMPTZ NOT NULL, commit VARCHAR(40) NOT NULL,
  command VARCHAR(50) NOT NULL, data_size INTEGER, pipeline INTEGER,
  clients INTEGER, requests INTEGER, rps DECIMAL(12,2),
  avg_latency_ms DECIMAL(10,3), cluster_mode BOOLEAN, tls BOOLEAN,
  benchmark_threads INTEGER, created_at TIMESTAMPTZ DEFAULT NOW())' \
  "INSERT INTO benchmark_metrics (\"timestamp\", commit, command, data_size, rps)
   VALUES ('2026-01-01T00:00:00Z', 'old', 'GET', 16, 123.45)"
run 1 163423.51234 >one
test_that 'a push to an old table is accepted' push one
test_same 'old|123.45
c1|163423.51234' "$(sql 'SELECT commit, rps FROM benchmark_metrics ORDER BY id')" \
  'the old row is unchanged, the new one is not rounded'
test_that 'the old and the new row are exported' push --export
test_same '["old","GET",123.45]
["c1","SET",163423.51234]' \
  "$(jq -c '[.subject.commit, .config.command, .metrics.rps]' .out)" 'both rows are runs in the export'
sql 'CREATE ROLE writer LOGIN' 'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO writer' \
  'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO writer' 'GRANT USAGE ON SCHEMA public TO writer'
run 2 100 >two
test_that 'a second push needs no right to change tables' env PGUSER=writer vkb-pgpush two
run 3 100 ',"new_key":1' >three
test_status 2 'a new column without the right to change tables is an error' env PGUSER=writer vkb-pgpush three
test_match 'must be owner' .err 'the error is that of the server'
test_same 3 "$(rows)" 'a push that fails stores nothing'

# --- hostile input and errors

fresh
evil='x\"; DROP TABLE benchmark_metrics; --'
name=$(printf '%0300d' 1)
run 1 5 ",\"$evil\":\"$evil\",\"id\":77,\"ctid\":\"c\",\"\":1,\"$name\":2,\"a\\nb\":\"\\t\\\\N\\n\\\\.\"" >evil.jsonl
test_that 'hostile keys and values are accepted' push evil.jsonl
test_same 1 "$(rows)" 'the hostile run is stored'
test_same '	\N
\.' "$(sql 'SELECT * FROM (SELECT to_json(t) AS j FROM benchmark_metrics t) x' |
  jq -r 'to_entries[] | select(.key | startswith("a")) | select(.key | startswith("arch") or startswith("avg") | not) | .value')" 'hostile values are stored unchanged'
test_that 'the hostile run is exported' push --export
test_same "$(jq -cS . evil.jsonl)" "$(jq -cS . .out)" 'the exported run is unchanged'
test_status 2 'a hostile name of a table is an error' push --table 'x; DROP TABLE y' evil.jsonl
test_match "is not core, tag" .err 'the error has the valid names of tables'
run 2 7 ',"data_size2":1' "$(printf ',"time":"not a time"')" |
  sed 's/"time":"2026[^"]*",//' >time.jsonl
run 3 8 >>time.jsonl
test_status 2 'a value that is not a time is an error' push time.jsonl
test_match "time.jsonl:1: 'timestamp' is 'not a time', but column 'timestamp' needs" .err \
  'the error has the file, line, key, value and column'
test_match '1 run stored.*1 refused' .err 'the other runs are stored'
test_status 2 'a server that cannot be reached is an error' env PGHOST=/nonexistent vkb-pgpush one
test_match 'database: .*/nonexistent' .err 'the error names the socket'
test_status 2 'a database that does not exist is an error' push --database nothing-of-this-name one
test_match 'database "nothing-of-this-name" does not exist' .err 'the error names the database'
test_status 2 'a password in an argument is an error' push --database 'host=x password=secret' one
test_match "'password' in the arguments" .err 'the error says where the password was'
test_absent secret .err 'the password is not printed'
test_status 2 'a password in a URI is an error' push --database postgresql://me:secret@x/y one
test_match "'password' in the arguments" .err 'the error of the URI says where the password was'

# --- --dry-run

test_that 'a dry run needs no server' env PGHOST=/nonexistent vkb-pgpush --dry-run one
cp .out plan.sql
fresh
test_that 'psql runs the printed statements' psql -X -q -v ON_ERROR_STOP=1 -f plan.sql
test_that 'a push to the planned table is accepted' push one
test_absent ALTER .err 'the planned table needs no change'

# --- concurrent pushes, kills and lost connections

fresh
pids=
for i in 1 2 3 4; do
  push "$data/a.jsonl" >/dev/null 2>"err.$i" &
  pids="$pids $!"
done
# shellcheck disable=SC2086 # several words
wait $pids
test_same "$n" "$(rows)" 'four pushes at once store each run once'
test_same "$n" "$(cat err.* | sed -n 's/.*: \([0-9]*\) runs stored.*/\1/p' | awk '{ s += $1 } END { print s }')" \
  'the numbers of stored runs add up to all runs'

# hold: locks vkb_runs, so that a push waits after its first insert
waits() { test "$(sql "SELECT count(*) FROM pg_locks WHERE NOT granted")" -gt 0; }
hold() {
  mkfifo hold
  psql -X -q <hold >/dev/null 2>&1 &
  exec 7>hold
  echo 'BEGIN; LOCK TABLE vkb_runs;' >&7
  wait_until 20 locked
}
locked() { test "$(sql "SELECT count(*) FROM pg_locks WHERE relation = 'vkb_runs'::regclass AND mode = 'AccessExclusiveLock' AND granted")" -gt 0; }
let_go() { exec 7>&-; rm hold; }
idle() { ! waits && test "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vkb-pgpush'")" -eq 0; }
sed 's/"session":"/&new-/' "$data/a.jsonl" >second
hold
vkb-pgpush second 2>/dev/null 7>&- &
pid=$!
test_that 'a push waits in the middle of its transaction' wait_until 20 waits
kill -9 $pid
wait $pid 2>/dev/null
let_go
wait_until 20 idle
test_same "$n $n" "$(rows) $(rows vkb_runs)" 'a push that was killed stores nothing'
hold
vkb-pgpush second 2>err.gone 7>&- &
pid=$!
wait_until 20 waits
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vkb-pgpush'" >/dev/null
let_go
wait $pid
test_same 0 $? 'a push is repeated if the server ends its connection'
test_match 'trying again' err.gone 'a message says that it tries again'
test_same "$((2 * n)) $((2 * n))" "$(rows) $(rows vkb_runs)" 'each run of the repeated push is stored once'
sed 's/"session":"/&newer-/' "$data/a.jsonl" >third
hold
vkb-pgpush third 2>err.down 7>&- &
pid=$!
wait_until 20 waits
postgres_stop
wait $pid
test_same 2 $? 'a server that stays down is an error'
test_match 'database: ' err.down 'the error says that the database is down'
let_go
test_that 'the server is started again' postgres_start
test_same "$((2 * n)) $((2 * n))" "$(rows) $(rows vkb_runs)" 'the push that failed stored nothing'
test_that 'the push is accepted after the restart' push third
test_same "$((3 * n)) $((3 * n))" "$(rows) $(rows vkb_runs)" 'each run is stored once after the restart'

# --- queries of dashboards, on a table that no run with --requests was stored in

fresh
test_that 'runs of tags are accepted' push --table tag "$data/a.jsonl"
test_that 'the query for the throughput of tags runs' sql 'SELECT commit, AVG(rps) FROM
  benchmark_tags_metrics WHERE command = '\''SET'\'' AND data_size = 512 AND
  io_threads IN (1, 9) AND pipeline IN (1, 10) GROUP BY commit'
{
  run 1 5 '' ',"ref":"8.0.1"'
  run 2 6 '' ',"ref":"8.0.1","label":"8.0.1 patched"'
  run 3 7 '' ',"ref":"8.0.1","dirty":true'
  run 4 8
} >named
for way in lines trees; do
  fresh
  case $way in
  lines) push -q --table tag named && push -q named ;;
  trees) sed 's/"type":"run"/"type":"r\\u0075n"/' named | push -q --table tag && push -q named ;;
  esac
  test_same '5 8.0.1
6 8.0.1 patched
7 c1+dirty
8 c1' "$(sql "SELECT round(rps) || ' ' || commit FROM benchmark_tags_metrics ORDER BY rps")" \
    "$way: in the table of tags a release has its name as commit"
  test_same 'c1 c1 c1 c1+dirty' "$(sql 'SELECT commit FROM benchmark_metrics ORDER BY 1' | xargs)" "$way: in the table of commits a release has its commit"
  test_same "$(sort named | jq -cS .)" "$(push --export --table tag | sort | jq -cS .)" "$way: the exported runs are unchanged"
done
push -q "$data/a.jsonl"
test_that 'the query for each command and number of requests runs' sql 'SELECT "timestamp", data_size,
  io_threads, pipeline, architecture, requests, AVG(rps) FROM benchmark_metrics
  WHERE command = '\''SET'\'' GROUP BY 1, 2, 3, 4, 5, 6'
push -q --table search "$data/a.jsonl"
test_that 'the query for a module runs' sql 'SELECT module_commit_timestamp, config_set,
  group_description, scenario, test_phase, cluster_mode, p99_latency_ms,
  p95_latency_ms, p50_latency_ms, min_latency_ms, max_latency_ms, rps
  FROM benchmark_metrics_search WHERE config_name IS NULL'

# --- tables with the schemas of the Python tool

if test_reference python-tool/schema 'tables of the Python tool'; then
  python=$acceptance/python-tool
  for t in after_core1:core tag:tag module:search; do
    fresh
    grep -v 'OWNER TO' "$python/schema/${t%:*}.sql" | psql -X -q >.log 2>&1
    test_status 0 "${t#*:}: the results of commands are accepted" push --table "${t#*:}" "$python/metrics/core.json"
    test_status 0 "${t#*:}: the results of scenarios are accepted" push --table "${t#*:}" "$python/metrics/scenarios.json"
    test_status 0 "${t#*:}: the results of commands are accepted again" push --table "${t#*:}" "$python/metrics/core.json"
    test_match ' 0 runs stored' .err "${t#*:}: nothing is stored the second time"
  done
fi

test_done
