#!/bin/sh
# Each query of configs/grafana in a real PostgreSQL server that vkb-pgpush filled, and in
# tables of the Python tool that have the same rows; and the schema, on a plain server and
# on one like a managed server.
# shellcheck disable=SC2016 # $command and $metric are in the names of panels
. "${0%/*}/lib.sh"
unset VKB_READER_PASSWORD VKB_CI_PASSWORD
grafana=$top/configs/grafana schema=$top/configs/schema.sql
test_postgres 'dashboards'

make_schema() { psql -X -q -v ON_ERROR_STOP=1 -f "$schema" "$@"; }
# panels NAME VARIABLE=VALUE...: writes the queries of panels to NAME/ and their list to NAME.list
panels() {
  rm -rf "$1"
  mkdir "$1"
  perl "$tests/panels.pl" "$grafana/$1.json" "$@" >"$1.list"
}
# answer NUMBER: prints the rows of that query of $dashboard
answer() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 -f "$dashboard/$1.sql"
}
# number TITLE: prints the number of the first query of that panel
number() { sed -n "s/^\([0-9]*\) [a-z_]* $1\$/\1/p" "$dashboard.list" | head -n 1; }
titled() { answer "$(number "$1")"; }

# --- the schema is that of the programs

perl "$tests/history.pl" core >core.jsonl
perl "$tests/history.pl" module >module.jsonl
test_status 1 'vkb-detect finds changes' vkb-detect -m rps --format jsonl:changes.jsonl core.jsonl
cat >least.jsonl <<'END'
{"type":"run","v":1,"subject":{"commit":"c","time":"2026-03-01T08:00:00Z"},"config":{"command":"SET"},"run":{"session":"s"},"metrics":{"rps":1},"status":"ok"}
{"type":"env","v":1,"session":"s","time":"2026-03-01T08:00:00Z","env":{"host":"h"}}
END
echo '[{"commands": ["SET"]}]' >set.json
git init -q -b unstable repo
git -C repo -c user.name=me -c user.email=me@here commit -q --allow-empty -m one
# shape: prints columns, indexes and constraints of all tables
shape() {
  sql "SELECT c.relname, a.attname, format_type(atttypid, atttypmod), attnotnull,
      pg_get_expr(adbin, adrelid) FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND adnum = attnum
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0
      AND NOT attisdropped ORDER BY 1, 2" \
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1" \
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"
}
sql 'CREATE DATABASE tools' 'CREATE DATABASE plain' 'CREATE DATABASE old' \
  'CREATE DATABASE older' 'CREATE DATABASE over' 'CREATE DATABASE ours'
PGDATABASE=tools
vkb-pgpush -q --table tag least.jsonl
head -n 1 changes.jsonl | cat least.jsonl - | vkb-pgpush -q
vkb-trackcommits init
shape >want
PGDATABASE=plain
test_that 'the schema is accepted' make_schema
test_empty "$(cat .out .err)" 'nothing is printed'
shape >got
test_empty "$(diff want got)" 'the schema is that of the programs'
sql 'SELECT relname, relowner, relacl FROM pg_class WHERE relnamespace = 2200 ORDER BY 1' >owners
test_that 'the schema is accepted a second time' make_schema
shape >got
test_empty "$(diff want got)" 'the second time changes nothing'
test_same "$(cat owners)" \
  "$(sql 'SELECT relname, relowner, relacl FROM pg_class WHERE relnamespace = 2200 ORDER BY 1')" \
  'another run of the schema keeps the rights'
test_that 'a push to tables of the schema is accepted' vkb-pgpush core.jsonl changes.jsonl
test_match 'runs stored' .err 'the push says what it stored'
test_absent 'ALTER COLUMN|DROP' .err 'the push changes no column of the schema'
test_that 'vkb-trackcommits can claim commits' \
  vkb-trackcommits claim --repo repo --config-file set.json
test_same 1 "$(sql 'SELECT count(*) FROM benchmark_commits')" 'a commit can be marked'
# What the Python tool does with tables that are there: the indexes of its schema.sql, a
# column for each new key, and rows without the keys of vkb.
sed -n 's/^CREATE INDEX/& IF NOT EXISTS/p' "$tests/data/python-schema.sql" >indexes.sql
test_that 'the indexes of the Python tool are accepted' psql -X -q -v ON_ERROR_STOP=1 -f indexes.sql
test_that 'a push of the Python tool is accepted' sql \
  'ALTER TABLE benchmark_metrics ADD COLUMN env_kernel_version VARCHAR(50)' \
  "INSERT INTO benchmark_metrics (architecture, avg_latency_ms, benchmark_mode, clients, cluster_mode,
    command, commit, data_size, duration, env_kernel_version, io_threads, pipeline, repository, rps,
    test_type, \"timestamp\", tls, valkey_benchmark_threads, warmup)
    SELECT 'x86_64', 0.304, 'duration', 50, false, 'SET', 'python', 16, 120, '6.1', NULL, 10, NULL,
      1234567.89, 'core', '2026-01-01T00:00:00+00:00', false, 2, 10 FROM generate_series(1, 2)"
test_that 'vkb-pgpush writes to that table as well' vkb-pgpush least.jsonl
test_same '2 1' "$(sql "SELECT count(*) FILTER (WHERE commit = 'python') || ' ' ||
  count(*) FILTER (WHERE commit = 'c') FROM benchmark_metrics")" 'rows of both tools are in it'

# --- like a managed server: the master user is not a superuser

sql 'CREATE ROLE rds_iam NOLOGIN' 'CREATE ROLE master LOGIN CREATEROLE CREATEDB' \
  'CREATE DATABASE managed OWNER master'
# Since PostgreSQL 16 a role that may grant another one is not a member of it.
[ "$(sql 'SHOW server_version_num')" -lt 160000 ] ||
  sql 'GRANT rds_iam TO master WITH ADMIN TRUE, INHERIT FALSE, SET FALSE'
PGDATABASE=managed
sql 'DROP DATABASE plain' 'DROP ROLE vkb_ci, vkb_reader, vkb_owner' \
  'ALTER SCHEMA public OWNER TO master'
VKB_READER_PASSWORD="it's"
export VKB_READER_PASSWORD
PGUSER=master
VKB_GRAFANA_PASSWORD=secret
export VKB_GRAFANA_PASSWORD
# The command of the task of deploy/aws.
both() { cat "$schema" "$top/deploy/aws/grafana.sql" | psql -X -q -v ON_ERROR_STOP=1; }
test_that 'managed: the schema is accepted' both
test_that 'managed: the schema is accepted a second time' both
test_empty_file .err 'managed: nothing is printed'
shape >got
test_empty "$(diff want got)" 'managed: the tables are the same'
PGUSER=postgres
test_same 'vkb_ci vkb_owner' "$(sql "SELECT r.rolname FROM pg_roles r WHERE rolname ~ '^(vkb|master)'
  AND NOT rolsuper AND (pg_has_role(r.oid, 'rds_iam', 'USAGE') OR rolname = 'vkb_owner') ORDER BY 1" | xargs)" \
  'managed: vkb_ci logs in by IAM, the master does not'
test_same 1 "$(sql "SELECT count(*) FROM pg_authid WHERE rolpassword IS NOT NULL AND rolname = 'vkb_reader'")" \
  'managed: the reader has a password'
test_same 'grafana|t' "$(sql "SELECT rolname, has_database_privilege(rolname, 'grafana', 'CONNECT')
  FROM pg_database JOIN pg_authid a ON a.oid = datdba WHERE datname = 'grafana' AND rolpassword IS NOT NULL")" \
  'managed: Grafana has its database'
test_same f "$(sql "SELECT has_database_privilege('vkb_ci', 'grafana', 'CONNECT')")" 'managed: other roles have no access to it'
PGUSER=vkb_ci
test_that 'managed: vkb_ci stores runs of a new module' vkb-pgpush --table search module.jsonl
test_that 'managed: vkb_ci can claim commits' vkb-trackcommits claim --repo repo --config-file set.json
PGUSER=vkb_reader
test_same 481 "$(sql 'SELECT count(*) FROM benchmark_metrics_search')" 'managed: vkb_reader can read the runs'
for statement in 'DELETE FROM benchmark_metrics_search' 'DROP TABLE vkb_runs' \
  'INSERT INTO vkb_envs SELECT' 'CREATE TABLE benchmark_metrics_mine (a int)'; do
  test_status 1 "managed: vkb_reader may not: $statement" sql "$statement"
  test_match 'permission denied|must be owner' .err 'managed: the error is that of the server'
done
PGUSER=postgres
sql 'CREATE ROLE guest LOGIN' 'CREATE DATABASE mine OWNER guest'
PGDATABASE=mine PGUSER=guest
unset VKB_READER_PASSWORD
test_that 'the schema is accepted without the right to make roles' make_schema
test_match "'guest' may not create roles" .err 'a message says that the role may not create roles'
shape >got
test_empty "$(diff want got)" 'the tables exist'
PGUSER=postgres

# --- on top of tables of the Python tool

PGDATABASE=ours
vkb-pgpush -q core.jsonl changes.jsonl
vkb-pgpush -q --table tag core.jsonl
vkb-pgpush -q --table search module.jsonl
vkb-trackcommits init --table search
vkb-trackcommits claim --table search --repo repo --config-file set.json >/dev/null
# copy TABLE: writes the rows that the Python tool would have stored
copy() {
  theirs=$(PGDATABASE=ours && sql "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
    WHERE attrelid = '$1'::regclass AND attnum > 0")
  cols=$(sql "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = '$1'::regclass
    AND attnum > 0 AND attname NOT IN ('id', 'created_at')
    AND quote_ident(attname) = ANY (string_to_array('$theirs', ', '))")
  PGDATABASE=ours psql -X -q -c "COPY (SELECT $cols FROM $1 ORDER BY id) TO STDOUT" |
    psql -X -q -v ON_ERROR_STOP=1 -c "COPY $1 ($cols) FROM STDIN"
}
PGDATABASE=old
sql 'CREATE ROLE python LOGIN' 'GRANT CREATE ON SCHEMA public TO python'
PGUSER=python
psql -X -q -v ON_ERROR_STOP=1 -f "$tests/data/python-tables.sql"
PGUSER=postgres
for t in benchmark_metrics benchmark_tags_metrics benchmark_metrics_search; do
  copy $t
done
test_same '721|721|481' "$(sql 'SELECT (SELECT count(*) FROM benchmark_metrics),
  (SELECT count(*) FROM benchmark_tags_metrics), (SELECT count(*) FROM benchmark_metrics_search)')" \
  'tables of the Python tool'
PGDATABASE=older
psql -X -q -v ON_ERROR_STOP=1 -f "$tests/data/python-schema.sql"
copy benchmark_metrics
test_same 721 "$(sql 'SELECT count(*) FROM benchmark_metrics')" 'the rows are in a table of the schema of the Python tool'

PGDATABASE=over
psql -X -q -v ON_ERROR_STOP=1 -f "$tests/data/python-schema.sql"
copy benchmark_metrics
sql 'ALTER TABLE benchmark_metrics OWNER TO python'
test_that 'the schema is accepted with that table' make_schema
test_that 'the schema is accepted a second time with that table' make_schema
test_same 721 "$(sql 'SELECT count(*) FROM benchmark_metrics')" 'the schema keeps all rows'
PGUSER=python
test_that 'the role of the Python tool can still write' vkb-pgpush least.jsonl
test_match ': 1 run stored' .err 'the run of the Python role is stored'
sql "DELETE FROM benchmark_metrics WHERE commit = 'c'"
PGUSER=postgres
test_that 'vkb-trackcommits can set up its tables' vkb-trackcommits init
test_same complete "$(sql "INSERT INTO benchmark_commits (sha, \"timestamp\", status, config) VALUES ('a', now(), 'failed', '[]')" \
  "UPDATE benchmark_commits SET status = 'complete' RETURNING status")" \
  'a failed commit can become complete'

# --- each query of each dashboard

for file in "$grafana"/*.json; do
  dashboard=$(basename "$file" .json)
  PGDATABASE=ours
  test_that "$dashboard: the panels have queries" panels "$dashboard"
  while read -r n _ title; do
    test_that "$dashboard: $title ($n)" answer "$n"
    cp .out "$dashboard/$n.ours"
    [ "$dashboard $title" != 'changes Improvements' ] || continue # there are none
    test_match . .out "$dashboard: $title ($n) has rows"
  done <"$dashboard.list"
done

# The same from tables of the Python tool: made by it, by its schema.sql,
# and changed by the schema of vkb. Only vkb has vkb_changes and vkb_envs.
for database in old/commands old/throughput old/module older/commands over/commands over/changes; do
  dashboard=${database#*/}
  cp -R "$dashboard" ours
  PGDATABASE=${database%/*}
  test_that "$database: the panels have queries" panels "$dashboard"
  while read -r n _ title; do
    case $title in
    Runs | 'Measured commits' | 'Change points' | 'Looked at') continue ;;
    *': memory '*) # these tables lack its columns
      test_that "$database: $title ($n): the query runs" answer "$n"
      test_empty_file .out "$database: $title ($n): has no rows"
      continue
      ;;
    esac
    ! grep -q vkb_changes "$dashboard/$n.sql" || continue
    test_that "$database: $title ($n): the query runs" answer "$n"
    # A sum of floating point numbers depends on their order.
    for side in "ours/$n.ours" .out; do
      sed -E 's/(\.[0-9]{6})[0-9]+/\1/g' "$side" >"$(basename "$side").cut"
    done
    test_empty "$(diff "$n.ours.cut" .out.cut | head -n 4)" "$database: $title ($n): the same rows"
  done <"$dashboard.list"
  rm -r "$dashboard"
  mv ours "$dashboard"
done
PGDATABASE=ours

# --- the numbers

# Medians of three runs of the first command, computed by jq.
median='def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;'
jq -c 'select(.type == "run" and .status == "ok")' core.jsonl >runs
at='(.[0].subject.time | sub("T"; " ") | sub("Z"; "+00"))'
name='"\(.[0].config.data_size) bytes, pipeline 10, 1 io-threads, 50 clients, x86_64"'
dashboard=commands
test_same "$(jq -rs "$median"' map(select(.config.command == "GET")) |
  group_by([.subject.time, .config.data_size])[] |
  [('"$at), $name"', (map(.metrics.rps) | median)] | map(tostring) | join("|")' runs)" \
  "$(answer 1)" 'commands: the throughput of GET'
test_same "$(jq -rs 'group_by(.subject.time)[] | '"$at"' + "|" + .[0].subject.commit' runs)" \
  "$(answer 2)" 'commands: the commits of GET'
test_same "$(jq -s 'map(select(.config.command == "GET").metrics.p99_latency_ms) | add * 1000 | round' runs)" \
  "$(sql "SELECT round(1000 * sum(p99_latency_ms)) FROM benchmark_metrics WHERE command = 'GET'")" \
  'commands: the latencies are those of the runs'
titled 'Each commit' | awk -F '|' '{ print $2 "|" $3 "|" $4 "|" $5 "|" $6 "|" $7 + 0 "|" $8 + 0 }' | sort >got
jq -rs "$median"' group_by([.subject.commit, .config.command, .config.data_size])[] |
  [.[0].subject.commit, .[0].config.command, '"$name"', length, (map(.metrics.rps) | median, min, max)] |
  map(tostring) | join("|")' runs | sort >want
test_empty "$(diff want got | head -n 4)" 'commands: each commit is a row'
dashboard=throughput
titled '$command: throughput' >got
test_same "$(jq -rs "$median"' map(select(.config.command == "GET")) |
  group_by([.subject.time, .config.data_size])[] |
  [.[0].subject.commit[:10], '"$name"', (map(.metrics.rps) | median)] | map(tostring) | join("|")' runs)" \
  "$(cat got)" 'throughput: versions are in their order'
for panel in 'memory per key|stored_bytes_per_key' 'memory over payload|memory_overhead_ratio'; do
  titled "\$command: ${panel%|*}" >got
  test_same "$(jq -rs --arg m "${panel#*|}" 'map(select(.config.command == "GET")) |
    group_by([.subject.time, .config.data_size])[] |
    [.[0].subject.commit[:10], '"$name"', .[0].metrics[$m]] | map(tostring) | join("|")' runs)" \
    "$(cat got)" "throughput: ${panel%|*} of each version"
done
dashboard=changes
test_same '1' "$(titled 'Regressions that stand')" 'changes: one regression'
jq -r 'select(.kind == "regression") | [.config.command,
  (100 * (.ratio - 1) | . * 100 | round / 100)] | map(tostring) | join("|")' changes.jsonl | sort -u >want
titled 'Change points' | awk -F '|' '$2 == "regression" && $3 == "rps" {
  printf "%s|%s\n", $4, int($5 * 100 - .5) / 100 }' | sort -u >got
test_same "$(cat want)" "$(cat got)" 'changes: the change points'
titled 'The newest commit against those before: $metric' | cut -d '|' -f 1,5,8,11 | sed 's/ bytes.*x86_64//' | sort >got
test_same 'GET|3|10|as before
GET|3|10|as before
SET|3|10|worse
SET|3|10|worse
it'\''s|3|10|as before
it'\''s|3|10|as before' "$(cat got)" 'changes: the newest commit'
sql "UPDATE vkb_changes SET record = (record::jsonb ||
  '{\"kind\":\"trend\",\"trend\":{\"direction\":\"regression\"}}') WHERE record->>'kind' = 'regression'"
test_same '1' "$(titled 'Regressions that stand')" 'changes: a trend for the worse is a regression'
titled 'Change points' | awk -F '|' '$2 == "slow regression" && $3 == "rps" {
  printf "%s|%s\n", $4, int($5 * 100 - .5) / 100 }' | sort -u >got
test_same "$(cat want)" "$(cat got)" 'changes: a trend is called slow'
dashboard=module
test_same 'worse worse worse worse' \
  "$(titled 'The newest commit against those before: $metric' | sed 's/.*|//' | xargs)" \
  'module: the newest commit of each mode'
test_match '^2026-02-12 08:00:00.00\|f{40}\|fts\|1\|a\|read\|it broke$' module/"$(number Failed)".ours 'module: the failed scenarios'
dashboard=machines
test_same '2026-01-22 09:00:00+00|one|kernel|6.1|6.8
2026-01-21 09:00:00+00|two|kernel|6.1|6.8' "$(titled 'What changed on a machine')" 'machines: a new kernel is a row'
test_same 'one|2026-02-12 09:00:00+00||8||6.8
two|2026-02-11 09:00:00+00||8||6.8' "$(titled 'Machines as they were last' | cut -d '|' -f 1-6)" 'machines: the state of each machine'

# --- variables and names

dashboard=commands
test_that 'other values of the variables are accepted' \
  panels commands architecture=none "command=it's|SET" data_size=512
test_empty "$(answer 1)" 'an unknown architecture has no rows'
test_that 'a range of time is accepted' panels commands "command=it's" data_size=512 \
  from=2026-01-03T00:00:00Z to=2026-01-05T00:00:00Z
test_same '2026-01-03 2026-01-04' "$(answer 1 | cut -d ' ' -f 1 | xargs)" \
  'a range of time gives its days'
# Cases with the same name but another configuration are not averaged.
for keys in 1000 5000; do
  jq -c "select(.config.command == \"GET\" and .run.index == 1) | .config.command = \"INCR\" |
    .config.keyspacelen = $keys | .metrics.rps = $keys" runs
done | vkb-pgpush -q
test_that 'two configurations with the same name are accepted' panels commands command=INCR data_size=16
test_same '40 1000 40 5000' "$(answer 1 | sed 's/^.* #\([0-9a-f]*\)|\(.*\)/\1 \2/' | sort | uniq -c |
  sort -k 3n | awk '{ print $1, $3 }' | xargs)" 'they are two series'

# --- requirements of Grafana

for f in "$grafana"/*.json; do
  jq -r --arg f "${f##*/}" '
    def ids: [.panels[].id] | length - (unique | length);
    ($f + ": ids") as $what | (if ids > 0 then $what else empty end),
    ([.. | objects | .datasource? | objects | .uid] | unique - ["${datasource}", "-- Grafana --"] | .[] | $f + ": datasource " + .),
    (if .uid != "vkb-" + ($f | rtrimstr(".json")) then $f + ": uid " + .uid else empty end),
    (if has("id") then $f + ": id" else empty end)' "$f"
done >bad
test_empty_file bad 'each panel has its name and number'
test_done
