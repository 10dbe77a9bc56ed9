#!/bin/sh
# vkb-pgpush with tables made by other programs, and with values that no table was made
# for: what is stored equals the input, or a warning is printed.
. "${0%/*}/lib.sh"
test_postgres 'vkb-pgpush and tables of others'

push() { vkb-pgpush "$@"; }
fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' "$@" 2>.sql; } # fresh [STATEMENT...]
rows() { sql "SELECT count(*) FROM ${1:-benchmark_metrics}"; }
type_query() { # type_query COLUMN [TABLE]
  echo "SELECT format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = '${2:-benchmark_metrics}'::regclass AND attname = '$1'"
}
type_of() { sql "$(type_query "$@")"; }
# run INDEX CONFIG [COMMAND [COMMIT [TIME]]]: prints one record
run() {
  printf '{"type":"run","v":1,"subject":{"commit":"%s","time":"%s"},"config":{"command":"%s"%s},"run":{"session":"s","index":%d},"metrics":{"rps":5},"status":"ok"}\n' \
    "${4:-c1}" "${5:-2026-03-01T08:00:00Z}" "${3:-SET}" "$2" "$1"
}
base='id SERIAL, "timestamp" TIMESTAMPTZ, commit TEXT, command TEXT'

# --- a column x of any type: how a value is stored, and the type of the column after
# that

# column TYPE JSON WANT-TYPE WANT-TEXT: pushes a run with the value to a table with the
# column and one row
column() {
  column_what="$1 gets $(printf %.40s "$2")"
  fresh "CREATE TABLE benchmark_metrics ($base, x $1)" \
    "INSERT INTO benchmark_metrics (commit) VALUES ('old')"
  run 1 ",\"x\":$2" >one
  test_that "$column_what: the push is accepted" push one
  # one start of psql for all
  sql "$(type_query x)" "SELECT x::text FROM benchmark_metrics WHERE commit = 'c1'" \
    'SELECT count(*) FROM benchmark_metrics' >.column
  test_same "$3" "$(sed -n 1p .column)" "$column_what: the type of the column"
  test_same "$4" "$(sed -n 2p .column)" \
    "$column_what: the value is that of the run"
  test_same 2 "$(sed -n 3p .column)" "$column_what: the old row is still stored"
}
tz='timestamp with time zone'
column smallint 32768 integer 32768
column smallint -32767 smallint -32767
column integer 2147483648 bigint 2147483648
column integer 10.75 numeric 10.75
column bigint 9007199254740991 bigint 9007199254740991
column bigint 1e300 numeric "$(printf '1%0300d' 0)"
column 'numeric(6,2)' 1234.56 'numeric(6,2)' 1234.56
column 'numeric(6,2)' 1234.567 numeric 1234.567
column 'numeric(6,2)' 12345 numeric 12345
column 'numeric(5,-2)' 12345 numeric 12345
column 'numeric(3,5)' 0.00999 numeric 0.00999
column real 0.5 real 0.5
column real 0.1 'double precision' 0.1
column real 1e300 'double precision' 1e+300
column 'double precision' 0.1234567890123456789 'double precision' 0.12345678901234568
column money 10.755 numeric 10.755
column 'varchar(5)' '"12345"' 'character varying(5)' 12345
column 'varchar(5)' '"12345 "' 'character varying(50)' '12345 '
column 'varchar(5)' '"ééé"' 'character varying(50)' 'ééé'
column 'char(5)' '"abc"' 'character(5)' abc
column 'char(5)' '"abc "' 'character varying(50)' 'abc '
column 'char(5)' '"abcdef"' 'character varying(50)' abcdef
column name "\"$(printf '%063d' 1)\"" name "$(printf '%063d' 1)"
column name "\"$(printf '%064d' 1)\"" 'character varying(255)' "$(printf '%064d' 1)"
column date '"2026-03-02"' date 2026-03-02
column date '"2026-03-02T08:00:00Z"' "$tz" '2026-03-02 08:00:00+00'
column timestamp '"2026-03-02T08:00:00Z"' 'timestamp without time zone' '2026-03-02 08:00:00'
column timestamp '"2026-03-02T08:00:00+02:00"' "$tz" '2026-03-02 06:00:00+00'
column 'timestamp(0)' '"2026-03-02T08:00:00.250"' 'timestamp without time zone' '2026-03-02 08:00:00.25'
column 'timestamptz(0)' '"2026-03-02T08:00:00.000Z"' 'timestamp(0) with time zone' '2026-03-02 08:00:00+00'
column 'timestamptz(0)' '"2026-03-02T08:00:00.5-01:30"' "$tz" '2026-03-02 09:30:00.5+00'
column 'timestamptz(3)' '"2026-03-02 08:00:00.123456"' "$tz" '2026-03-02 08:00:00.123456+00'
column json '[1,{"b":2,"a":1}]' json '[1,{"b":2,"a":1}]'
column jsonb '"text"' jsonb '"text"'
column jsonb 1e20 jsonb 100000000000000000000
column text '[1]' text '[1]'
column uuid '"00000000-0000-0000-0000-00000000000a"' uuid 00000000-0000-0000-0000-00000000000a

# a domain has the limits of its base type; an enumeration is checked by the server
fresh 'CREATE DOMAIN d1 AS varchar(5)' 'CREATE DOMAIN d2 AS d1' \
  "CREATE TYPE e AS ENUM ('a', 'b')" \
  "CREATE TABLE benchmark_metrics ($base, x d2, y e)"
run 1 ',"x":"1234567","y":"b"' >one
test_that 'a domain on a domain is widened' push one
test_same '1234567|b' "$(sql 'SELECT x, y FROM benchmark_metrics')" 'the value in the domain is not cut'
run 2 ',"y":"c"' >one
test_status 2 'a value that does not fit is an error' push one
test_match 'invalid input value for enum' .err 'the error is that of the server'
test_same '1 1' "$(rows) $(rows vkb_runs)" 'no run of the failed push is stored'

# A column timestamp of another type: the run is stored if the column can hold its time.
fresh
sql 'CREATE TABLE benchmark_metrics (id SERIAL, "timestamp" BIGINT, commit TEXT, command TEXT)'
run 1 '' >one
test_status 2 'a timestamp column of numbers is an error' push one
test_match "'timestamp' is '2026-03-01T08:00:00Z', but column 'timestamp' needs a number" .err \
  'the error has the key, the value and the column'
for type in TEXT TIMESTAMP DATE; do
  fresh
  sql "CREATE TABLE benchmark_metrics (id SERIAL, \"timestamp\" $type, commit TEXT, command TEXT)"
  test_that "$type for a timestamp: the push is accepted" push one
  test_that "$type for a timestamp: the export is accepted" push --export --since 2026-03-01
  test_same 1 "$(wc -l <.out)" "$type for a timestamp: the export has the run"
done

# Types that would change a text: the run is an error, the other runs are stored.
for type in bytea oid '"char"' 'text[]' 'varchar(9)[]' 'numeric(5,2)[]' \
  interval 'time(0)' tsvector xml point; do
  fresh "CREATE TABLE benchmark_metrics ($base, x $type)"
  { run 1 ',"x":"\\x41"'; run 2 ',"x":-1'; run 3 ''; } >some
  test_status 2 "a column of type $type is an error" push some
  test_match "some:1: 'x' is '.x41', but column 'x' needs a value that runs do not have" .err \
    "$type: the error names the column"
  test_same '1 1' "$(rows) $(rows vkb_runs)" "$type: the third run is stored"
done

# --- times with more digits than the server stores

fresh
run 1 '' SET c1 2026-03-01T08:00:00.123456789Z >one
test_that 'a time in nanoseconds is accepted' push one
test_match "column 'timestamp': times are rounded to microseconds" .err \
  'a warning says that times are rounded'
push -q --export >out
test_same 2026-03-01T08:00:00.123456789Z "$(jq -r .subject.time out)" \
  'the record has the nanoseconds'
run 2 '' SET c1 2026-03-01T08:00:00.123456000Z >one
test_that 'a time whose nanoseconds are zeros is accepted' push one
test_absent finer .err 'no warning is printed for zeros'

# --- columns that must not be null

fresh "CREATE TABLE benchmark_metrics ($base, host TEXT NOT NULL,
  tls BOOLEAN NOT NULL DEFAULT false, made TEXT GENERATED ALWAYS AS (command) STORED)"
run 1 '' >one
test_that 'a table with columns that must not be null is accepted' push one
test_match 'ALTER COLUMN "host" DROP NOT NULL' .err 'the statement that drops NOT NULL is printed'
test_same '|f|SET' "$(sql 'SELECT host, tls, made FROM benchmark_metrics')" \
  'a column with a default gets the default'
run 2 ',"tls_mode":true' >two
test_that 'a run with a value for the column is accepted' push two
run 3 '' >>two
test_that 'runs with and without a value are accepted' push two
test_same 'false true none' "$(sql "SELECT string_agg(coalesce(tls::text, 'none'), ' ' ORDER BY vkb_index) FROM benchmark_metrics")" \
  'each run has its value or none'

# --- long texts and indexes

long() { perl -e 'srand 7; print join "", map { ("a" .. "z")[rand 26] } 1 .. shift' "$1"; }
text=$(long 9000)
fresh
run 1 '' "$text" >one
test_that 'a command of 9000 bytes is accepted for a new table' push one
test_same "$text" "$(sql 'SELECT command FROM benchmark_metrics')" 'a long command is stored whole'
test_same 5 "$(sql "SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'idx_benchmark_metrics%' OR indexname = 'vkb_key_benchmark_metrics'")" \
  'the new table has its indexes'
fresh
run 1 '' >short
push -q short
run 2 '' "$text" "$text" >one
test_that 'a command and a commit of 9000 bytes are accepted' push one
test_match 'DROP INDEX idx_benchmark_metrics_command' .err \
  'the statement that drops the index is printed'
test_same 9000,9000 "$(sql 'SELECT length(command) || $$,$$ || length(commit) FROM benchmark_metrics WHERE vkb_index = 2')" \
  'a long command and commit are stored whole'
test_same 5 "$(sql "SELECT count(*) FROM pg_indexes WHERE tablename = 'benchmark_metrics' AND indexname NOT LIKE '%pkey'")" \
  'the table has as many indexes as before'
run 3 '' "$text$text" >one
test_that 'another long command is accepted' push one
test_absent INDEX .err 'no index is made again'
fresh
sql "CREATE TABLE benchmark_metrics ($base, data_size INTEGER)" \
  'CREATE INDEX odd ON benchmark_metrics (lower(command), "timestamp" DESC, command, data_size)' \
  'CREATE INDEX good ON benchmark_metrics USING hash (command)'
run 1 '' "$(long 2650)" >one
test_status 2 'a long command in an index on an expression is an error' push one
test_match 'index row size .* exceeds' .err 'the error is that of the server'
sql 'DROP INDEX odd' 'CREATE INDEX odd ON benchmark_metrics (command COLLATE "C", "timestamp" DESC, data_size)'
test_that 'a long command in an index of another program is accepted' push one
test_same 'CREATE INDEX benchmark_metrics_left_timestamp_data_size_idx ON public.benchmark_metrics USING btree ("left"(command, 100), "timestamp", data_size)' \
  "$(sql "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%data_size)' AND indexname NOT LIKE 'idx%'" | grep left_)" \
  'the index of the other program is made again on the beginning of the command'
run 2 '' | sed "s/\"session\":\"s\"/\"session\":\"$text\"/" >one
run 3 '' | sed "s/\"session\":\"s\"/\"session\":\"$text\"/" >>one
test_that 'a session of 9000 bytes is accepted' push one
test_match ' 2 runs stored' .err 'runs with a long session are stored'
test_that 'runs with a long session are accepted again' push one
test_match ' 0 runs stored, 2 were there' .err 'runs with a long session are known'
test_same 1 "$(sql "SELECT count(DISTINCT vkb_session) FROM benchmark_metrics WHERE vkb_session LIKE 'session %'")" \
  'a long session is stored as a hash'

fresh
run 1 '' "$text" >one
vkb-pgpush --dry-run one >plan.sql
test_that 'the statements for a long command run' psql -X -q -v ON_ERROR_STOP=1 -f plan.sql
test_that 'the run with a long command fits the planned table' push one
test_absent 'ALTER|INDEX' .err 'no table is altered and no index made'

# --- relations that are not tables, and partitioned tables

fresh
sql "CREATE TABLE t ($base)" 'CREATE VIEW benchmark_metrics AS SELECT * FROM t' \
  "INSERT INTO t (commit, command, \"timestamp\") VALUES ('c', 'GET', '2026-01-01')"
run 1 '' >one
test_status 2 'a view in place of the table is an error' push one
test_match "'benchmark_metrics' is a view, not a table" .err \
  'the error says that it is a view'
test_that 'a view in place of the table is exported' push --export
test_same GET "$(jq -r .config.command .out)" 'the export of a view has its rows'
sql 'DROP VIEW benchmark_metrics' 'CREATE MATERIALIZED VIEW benchmark_metrics AS SELECT * FROM t'
test_status 2 'a materialized view is an error' push one
test_match "is a materialized view" .err 'the error says that it is a materialized view'
sql 'DROP MATERIALIZED VIEW benchmark_metrics' 'CREATE FOREIGN DATA WRAPPER w' \
  'CREATE SERVER s FOREIGN DATA WRAPPER w' "CREATE FOREIGN TABLE benchmark_metrics (id INT) SERVER s"
test_status 2 'a foreign table is an error' push one
test_match "is a foreign table" .err 'the error says that it is a foreign table'
sql 'DROP FOREIGN TABLE benchmark_metrics' 'CREATE VIEW vkb_runs AS SELECT 1 AS one'
test_status 2 'a view vkb_runs is an error' push one
test_match "'vkb_runs' is a view" .err 'the error names the view vkb_runs'
sql 'DROP SERVER s' 'DROP FOREIGN DATA WRAPPER w'
fresh
sql 'CREATE TABLE benchmark_metrics ("timestamp" TIMESTAMPTZ, commit TEXT, command TEXT)
  PARTITION BY RANGE ("timestamp")' \
  "CREATE TABLE p1 PARTITION OF benchmark_metrics FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')"
test_that 'a partitioned table is accepted' push one
test_that 'a partitioned table is accepted again' push one
test_match ' 0 runs stored, 1 were there' .err 'a partitioned table has each run once'
test_that 'a partitioned table is exported' push --export
test_same 1 "$(wc -l <.out)" 'the export of a partitioned table has each run once'
run 2 '' SET c 2036-01-01 >two
test_status 2 'a time without a partition is an error' push two
test_match 'no partition of relation' .err 'the error is that of the server'

# --- an old table that was renamed keeps the names of its indexes

fresh
push -q one
sql 'ALTER TABLE benchmark_metrics RENAME TO old'
sql 'DELETE FROM vkb_runs'
test_that 'a push after the table was renamed is accepted' push one
test_same 1 "$(rows)" 'a table that was renamed is made again'
test_that 'a table that was made again is accepted' push one
test_same 1 "$(rows)" 'a table that was made again has its key'
test_same 2 "$(sql "SELECT count(*) FROM pg_index WHERE indrelid = 'benchmark_metrics'::regclass AND indisunique")" \
  'a table that was made again has a unique index'

# --- keys with the same column name, or with a column name of vkb-pgpush

fresh
long=$(long 100)
a=$(printf '%s_1' "$long") b=$(printf '%s_2' "$long")
run 1 ",\"$a\":1,\"$b\":2,\"id\":3,\"vkb_session\":4,\"RPS\":6,\"a\\nb\":7,\"a\\\\x0ab\":8" >one
test_that 'long keys that differ at the end and keys with the names of columns are accepted' push one
test_same '1 2 3 4 6 7 8' "$(sql 'SELECT to_json(t) FROM benchmark_metrics t' |
  jq -r '[to_entries[] | select(.key | test("^vkb_session_.|^id_|^RPS$|^a.x0ab|^'"$(printf %.20s "$long")"'")) | .value] | sort | join(" ")')" \
  'keys that collide have a column each'
test_same s "$(sql 'SELECT vkb_session FROM benchmark_metrics')" 'the column vkb_session has the session'
name=$(sql "SELECT attname FROM pg_attribute WHERE attrelid = 'benchmark_metrics'::regclass AND attname ~ '^id_'")
run 2 ",\"id\":3,\"$name\":9" >one
test_that 'a key with the column name of another key is accepted' push one
test_same "3 9" "$(sql 'SELECT to_json(t) FROM benchmark_metrics t WHERE vkb_index = 2' |
  jq -r '[to_entries[] | select(.key | startswith("id_")) | .value] | sort | join(" ")')" 'both keys have a column'
run 3 ',"\nvkb_session\n":"forged","\nvkb_record\n":"{","test_type":"x"' >one
test_that 'keys in line breaks are accepted' push one
test_same 's' "$(sql 'SELECT vkb_session FROM benchmark_metrics WHERE vkb_index = 3')" \
  'keys in line breaks cannot forge columns'
push -q --export >out
test_same "$(jq -cS . one)" "$(tail -n 1 out | jq -cS .)" 'keys that collide are exported unchanged'

# --- more columns than a table can have

# metrics FROM TO: prints metrics with these numbers and six decimals
metrics() { perl -e 'printf qq(,"k%d":%d.123456), $_, $_ * 1000 for $ARGV[0] .. $ARGV[1]' "$@"; }

fresh
{ run 1 "$(metrics 1 2000)"; run 2 ''; run 3 "$(metrics 1995 2000)"; } >wide
test_that 'more keys than a table can have columns are accepted' push wide
test_match '43[0-9] keys get no column, first .k15[0-9]*.: a table has 1600 at most' .err \
  'a warning counts the keys without a column'
test_match 'left out [0-9]* values that did not fit in rows of 8160 bytes' .err \
  'a warning counts the values that did not fit in a row'
test_same '3|3|1|0' "$(sql "SELECT count(*), count(rps), count(k1), count(k1500) FROM benchmark_metrics")" 'the keys that fit are stored'
push -q --export >out
test_same "$(jq -cS . wide)" "$(jq -cS . out)" 'runs with too many keys are exported unchanged'
test_that 'runs with too many keys are accepted again' push wide
test_match ' 0 runs stored, 3 were' .err 'the second push changes nothing'

fresh
for i in $(seq 20); do run "$i" "$(metrics $((100 * i - 99)) $((100 * i)))"; done >many
test_that 'many runs with different keys are accepted' push many
test_match '43[0-9] keys get no column' .err \
  'a warning counts the keys of all runs without a column'
test_same 0 "$(grep -c 'no room' .err)" 'each of many runs has room for its own keys'
test_same '20 1 1' "$(sql "SELECT count(*) || ' ' || count(k1) || ' ' || count(k1500) FROM benchmark_metrics")" 'the first keys have columns'
run 21 ",\"newer\":1$(metrics 1 5)" >one
sql 'ALTER TABLE benchmark_metrics DROP COLUMN k2'
test_that 'a later key is accepted after a column was dropped' push one
test_match " 2 keys get no column, first 'newer'" .err 'a warning says that a later key finds no column'
test_same '21 2' "$(sql "SELECT count(*) || ' ' || count(k1) FROM benchmark_metrics")" 'the run with the later key is stored'
test_that 'a dry run of many runs is accepted' push --dry-run many
test_match '43[0-9] keys get no column' .err 'a dry run prints the warning about columns'

fresh
perl -e 'printf qq({"type":"run","v":1,"subject":{"ref":"a"},"config":{"command":"X"},"env":{"a":1%s},"run":{"session":"s","index":1},"metrics":{"rps":5%s},"status":"ok"}\n),
  join("", map { qq(,"k$_":"a text of some length $_") } 1 .. 900), join("", map { qq(,"m$_":1.5) } 1 .. 60)' >one
test_that 'an environment that fills more than a row is accepted' push one
test_same '1 1 1' "$(sql "SELECT count(rps) || ' ' || count(env_k1) || ' ' || count(m60) FROM benchmark_metrics")" \
  'a large environment leaves room for metrics'
{ sed 's/"index":1/"index":2/; s/"metrics":{.*/"metrics":{},"status":"failed"}/' one; cat one; } >two
fresh
test_that 'a failed run before one with metrics is accepted' push two
test_same '2 1 2 1' "$(sql "SELECT count(*) || ' ' || count(rps) || ' ' || count(env_k1) || ' ' || count(m60) FROM benchmark_metrics")" \
  'a large environment leaves room for metrics that come later'

fresh
sql "CREATE TABLE benchmark_metrics (commit TEXT, $(seq -s ', ' -f 'c%g INTEGER' 1597))"
run 1 '' >one
test_status 2 'a table without room for the key is an error' push one
test_match "'benchmark_metrics' has 1600 columns.*no room" .err \
  'the error has the number of columns'

# --- runs of one case that differ only in their descriptions

fresh
i=0
for d in one one two 'a "quoted" one'; do
  i=$((i + 1))
  run $i '' | jq -c --arg d "$d" '. + {about: {group_description: $d}}'
done >alike
push -q --table search alike
test_same 'one|2
two|1
a "quoted" one|1' "$(sql 'SELECT group_description, count(*) FROM benchmark_metrics_search GROUP BY 1 ORDER BY min(id)')" \
  'runs that differ only in their descriptions keep them'
push -q --table search --export >out
test_same "$(jq -cS . alike)" "$(jq -cS . out)" 'the export has the descriptions'

# --- a group with a name in a column of numbers

fresh
module() { push -q --table search "$@"; }
group() { printf '{"type":"run","v":1,"subject":{"ref":"a"},"config":{"command":"X","group":%s},"run":{"session":"s","index":%s},"metrics":{"rps":5},"status":"ok"}\n' "$1" "$2"; }
group 1 1 >one
group '"hybrid"' 2 >two
module one
test_same integer "$(sql "SELECT data_type FROM information_schema.columns WHERE table_name = 'benchmark_metrics_search' AND column_name = 'group'")" 'a column of group numbers is an integer'
test_that 'a group with a name is accepted' module two
test_that 'a group with a number is accepted after one with a name' module one
test_same '1 hybrid' "$(sql 'SELECT string_agg("group", '"' ' ORDER BY vkb_index) FROM benchmark_metrics_search")" \
  'groups with a number and a name are both stored'
fresh
cat two one | module
test_same 'hybrid 1' "$(sql 'SELECT string_agg("group", '"' ' ORDER BY vkb_index DESC) FROM benchmark_metrics_search")" \
  'a new table stores groups with a number and a name'

# --- large records

fresh
perl -e 'printf qq({"type":"run","v":1,"subject":{"commit":"c"},"config":{"command":"%s"},"run":{"session":"s","index":1},"metrics":{"rps":5},"status":"ok"}\n), "x\\\\" x 2e6' >one
test_that 'a record of six megabytes is accepted' push one
push -q --export >out
test_same "$(cksum <one)" "$(cksum <out)" 'a record of six megabytes is exported unchanged'
{
  perl -e 'printf qq({"type":"run","v":1,"note":"%s"}\n), "x" x (257 << 20)'
  run 2 ''
} >two
test_status 2 'a record of a quarter of a gigabyte is an error' push two
test_match 'two:1: a record of [0-9]* bytes is not stored' .err \
  'the error names the record that is too large'
test_same 2 "$(rows)" 'the record after one that is too large is stored'
rm two

test_done
