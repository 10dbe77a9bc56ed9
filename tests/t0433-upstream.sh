#!/bin/sh
# The results of the Python tool as it publishes them: a folder for each commit, or the
# rows of its table. One command converts them to runs, vkb-detect names the commit of a
# planted step, and vkb-pgpush stores the same rows as the Python tool.
# sanitize: files of the Python tool.
. "${0%/*}/lib.sh"
test_postgres 'results of the Python tool'

# Thirty commits, five runs of four cases each, SET slower by 8 % from the 21st.
cat >make.pl <<'END'
srand 3;
sub noise { my $s = -6; $s += rand for 1 .. 12; $s }
open my $sql, '>', 'rows.sql' or die;
for my $i (0 .. 29) {
  my $sha = sprintf '%08x%032x', ($i * 2654435761) % 4294967296, $i;
  my $day = sprintf '2026-%02d-%02d', 3 + int($i / 28), 1 + $i % 28;
  my (@all, @rows);
  for my $run (1 .. 5) { for my $command ('SET', 'LRANGE_100 (first 100 elements)') { for my $p (1, 10) {
    my $x = 1 + .01 * noise();
    $x *= .92 if $i >= 20 && $command eq 'SET';
    my @v = map { sprintf '%.3f', $_ / $x } .7, .2, .68, .99, 1.28, 2.8;
    my $rps = sprintf '%.2f', 5e5 * $x;
    push @all, sprintf <<'T', "${day}T01:29:42+02:00", $sha, $command, $p, $rps, @v;
    {
        "timestamp": "%s",
        "commit": "%s",
        "repository": "valkey-io/valkey",
        "command": "%s",
        "data_size": 16,
        "pipeline": %d,
        "clients": 1600,
        "rps": %s,
        "avg_latency_ms": %s,
        "min_latency_ms": %s,
        "p50_latency_ms": %s,
        "p95_latency_ms": %s,
        "p99_latency_ms": %s,
        "max_latency_ms": %s,
        "cluster_mode": false,
        "tls": false,
        "duration": 180,
        "benchmark_mode": "duration",
        "io_threads": 9,
        "valkey_benchmark_threads": 90,
        "warmup": 30,
        "architecture": "aarch64"
    }
T
    push @rows, sprintf "('%s','%s','valkey-io/valkey','%s',16,%d,1600,%s,%s,%s,%s,%s,%s,%s,false,false,180,'duration',9,90,30,'aarch64','core')",
      "${day} 01:29:42+02", $sha, $command, $p, $rps, @v;
  } } }
  mkdir "results/$sha";
  open my $f, '>', "results/$sha/metrics.json" or die;
  print $f '[', join(',', @all), ']';
  close $f;
  print $sql 'INSERT INTO benchmark_metrics ("timestamp", commit, repository, command, data_size, pipeline, clients, rps, avg_latency_ms, min_latency_ms, p50_latency_ms, p95_latency_ms, p99_latency_ms, max_latency_ms, cluster_mode, tls, duration, benchmark_mode, io_threads, valkey_benchmark_threads, warmup, architecture, test_type) VALUES ',
    join(",\n", @rows), ";\n";
}
END
mkdir results
perl make.pl
planted=$(printf '%08x%032x' $((20 * 2654435761 % 4294967296)) 20)

# --- a folder for each commit

test_that 'a folder of results is read' vkb-parse results
cp .out folder
test_same 600 "$(wc -l <folder | tr -d ' ')" 'each result in the folder is a run'
vkb-parse results/*/metrics.json >files
test_same "$(cat files)" "$(cat folder)" 'the runs of a folder are those of its files'
test_status 1 'vkb-detect finds the step' vkb-detect -f text -f jsonl:changes folder
test_match '^30 commits in the order of their time' .out 'the commits are in the order of their times'
test_match "^regression at $(printf %.8s "$planted") \(2026-03-20\), 21 of 30" .out \
  'the report names the commit of the step'
test_same "$planted SET 1
$planted SET 10" "$(jq -r 'select(.metric == "rps" and .kind == "regression") |
  "\(.commit) \(.config.command) \(.config.pipeline)"' changes | sort)" 'the step is found in both cases of SET'
test_empty "$(jq 'select(.kind != "spike" and .config.command != "SET").metric' changes)" \
  'no other case has a step'
test_status 1 'vkb-detect reads the result files themselves' vkb-detect -f jsonl results/*/metrics.json
test_same "$(cat changes)" "$(cat .out)" 'the result files give the same changes as the folder'
tac files >backwards
test_status 1 'vkb-detect reads the runs in reverse order' vkb-detect -f jsonl backwards
test_same "$(cat changes)" "$(cat .out)" 'the reverse order gives the same changes'
mkdir -p named/8.1.0 named/8.2.0
for v in 8.1.0 8.2.0; do
  jq 'map(del(.commit))' "results/$planted/metrics.json" >named/$v/metrics.json
done
test_same '8.1.0 8.2.0' "$(vkb-parse named | jq -r .subject.ref | uniq | xargs)" \
  'the name of the folder is the ref of results without a commit'
mkdir -p named/8.2.0/runs
head -n 3 files >named/8.2.0/runs/x.jsonl
test_same '20 3' "$(vkb-parse named | jq -r .subject.commit | sort | uniq -c |
  awk '{ print $1 }' | sort -rn | xargs)" 'records beside a metrics.json are read instead of it'
test_status 2 'a folder without results is an error' vkb-parse named/8.2.0/runs
test_match "no metrics.json in 'named/8.2.0/runs' or its subfolders" .err 'the error names the folder without results'
printf '[{"command":"SET"' >named/8.1.0/metrics.json
test_status 2 'a file that is not JSON is an error' vkb-parse named
test_match '^vkb-parse: named/8.1.0/metrics.json:' .err 'the error names the file'
test_same 3 "$(wc -l <.out | tr -d ' ')" 'the other files are read'
rm -r named/8.1.0
printf '{"type":"run","v":1}\n' >named/8.2.0/runs/a.jsonl
test_status 2 'a bad file among the records is an error' vkb-parse named
test_same 3 "$(wc -l <.out | tr -d ' ')" 'the others are read, too'

# --- the rows of the table

psql -X -q -v ON_ERROR_STOP=1 -f "$tests/data/python-tables.sql" >sql.out 2>&1
psql -X -q -v ON_ERROR_STOP=1 -f rows.sql
psql -X -q -c '\copy benchmark_metrics to table.csv csv header'
psql -X -q -c '\copy benchmark_metrics to quoted.csv csv header force quote *'
test_that 'a table as CSV is read' vkb-parse table.csv
cp .out table
test_same 600 "$(wc -l <table | tr -d ' ')" 'each row is a run'
same_runs() { jq -cS 'del(.flat, .run)' "$1" | sort; }
test_same "$(same_runs folder)" "$(same_runs table)" 'the runs of the table are those of the folder'
test_same "$(same_runs folder)" "$(vkb-parse quoted.csv >quoted; same_runs quoted)" \
  'a table with quoted values gives the same runs'
vkb-pgpush --export >exported
test_same "$(same_runs exported)" "$(same_runs table)" 'the export of the table gives the same runs'
for f in table exported; do
  test_status 1 "$f: vkb-detect finds the step" vkb-detect -f jsonl $f
  test_same "$(jq -r '[.commit, .metric, .kind] | @tsv' changes)" \
    "$(jq -r '[.commit, .metric, .kind] | @tsv' .out)" "$f: vkb-detect finds the same changes"
done
test_status 1 'vkb-detect finds the step in the database itself' vkb-detect --database 'dbname=postgres' -f jsonl
test_same "$(jq -r .commit changes)" "$(jq -r .commit .out)" 'the commit in the database is the same'

# --- what vkb-pgpush stores of them

columns='"timestamp", commit, repository, command, data_size, pipeline, clients, rps, avg_latency_ms, min_latency_ms, p50_latency_ms, p95_latency_ms, p99_latency_ms, max_latency_ms, cluster_mode, tls, duration, benchmark_mode, io_threads, valkey_benchmark_threads, warmup, architecture, test_type'
sql "SELECT $columns FROM benchmark_metrics ORDER BY $columns" >theirs
for what in results folder table; do
  sql 'DROP TABLE IF EXISTS benchmark_metrics, vkb_runs CASCADE' 2>sql.out
  test_that "$what: vkb-pgpush stores it" vkb-pgpush -q "$what"
  sql "SELECT $columns FROM benchmark_metrics ORDER BY $columns" >ours
  test_same "$(cat theirs)" "$(cat ours)" "$what: the rows are those of the Python tool"
done

# --- bad and hostile tables

head -n 3 table.csv >few.csv
awk -F, -v OFS=, 'NR == 1 { $(NF + 1) = "env_os"; print; next }
  { print $0, "\"x\n<b>\033[31m\"\"'"'"'; DROP TABLE benchmark_metrics\"" }' few.csv >hostile.csv
test_that 'foreign texts with line breaks, quotes and escapes are accepted' vkb-parse hostile.csv
test_same "$(printf "x\n<b>\033[31m\"'; DROP TABLE benchmark_metrics")" "$(head -n 1 .out | jq -r .env.os)" \
  'foreign texts are unchanged in the run'
{ head -n 1 few.csv; echo 'a,b'; tail -n 1 few.csv; } >short.csv
test_status 2 'a row that is too short is an error' vkb-parse short.csv
test_match 'short.csv:2: 2 columns where there should be ' .err 'the error has the line of the short row'
test_same 1 "$(wc -l <.out | tr -d ' ')" 'the row after the short one is read'
{ cat few.csv; tail -n 1 few.csv | sed 's/$/,1/'; } >long.csv
test_status 2 'a row that is too long is an error' vkb-parse long.csv
test_match 'long.csv:4: [0-9]* columns where there should be ' .err 'the error names the line of the long row'
sed '1s/[^,]*/"&"/g' few.csv >names.csv
test_that 'names of columns may be in quotes' vkb-parse names.csv
test_same 2 "$(wc -l <.out | tr -d ' ')" 'rows below quoted names are runs'
printf 'commit,command,rps\nc,SET,5\nc,SET,\n' >none.csv
test_status 2 'a row without a result is an error' vkb-parse none.csv
test_match "none.csv:3: not a result with 'command' and 'rps'" .err 'the error says what is missing'
test_same 5 "$(jq .metrics.rps .out)" 'the row with a result is read'
sed '1s/pipeline/clients/' few.csv >twice.csv
test_status 2 'a column that occurs twice is an error' vkb-parse twice.csv
test_match "twice.csv:1: two columns are called 'clients'" .err 'the error names the column that occurs twice'
sed '1s/pipeline//' few.csv >nameless.csv
test_status 2 'a column without a name is an error' vkb-parse nameless.csv
test_match 'nameless.csv:1: column [0-9]+ of the header has no name: ' .err 'the error has the number of the column without a name'
sed '1s/"*timestamp"*/zeit/; 2,$s/2026-[^,]*/0/' few.csv >untimed.csv
test_that 'a table without times is read' vkb-parse untimed.csv
test_same 'null' "$(jq -c .subject.time .out | uniq)" 'runs of a table without times have no time'
perl -e 'print join(",", "commit", "command", "rps", map "c$_", 1 .. 300000), "\n"' >wide.csv
test_status 2 'a table with more columns than PostgreSQL allows is an error' timeout 20 vkb-parse -f table wide.csv
test_match 'wide.csv:1: 300003 columns, but a table in PostgreSQL has at most 1600' .err 'the error has the limit of columns'
printf '"commit,command\n' >open.csv
test_status 2 'a quote that is never closed is an error' vkb-parse -f table open.csv
head -n 1 few.csv >header.csv
test_status 2 'a table without rows is an error' vkb-parse header.csv
test_match 'header.csv: there are no results' .err 'the error says that there are no results'
perl -pe 's/,16,/,1e999,/ if $. == 2' few.csv >huge.csv
test_that 'a number that is out of range is a text' vkb-parse huge.csv
test_done
