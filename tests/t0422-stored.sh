#!/bin/sh
# vkb-detect with runs in PostgreSQL, and with a table of the Python tool.
# sanitize: stored histories.
. "${0%/*}/lib.sh"
test_postgres 'vkb-detect of a database'

detect() { vkb-detect "$@"; }
fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }

# --- runs that vkb-pgpush stored

perl -e 'srand 1; for my $i (0 .. 39) { for my $k (1 .. 4) {
  my $x = 1 + .01 * (rand() + rand() + rand() - 1.5); $x *= .94 if $i >= 25;
  printf qq({"type":"run","v":1,"subject":{"commit":"%040x","time":"2026-%02d-%02dT08:00:00Z"},"config":{"command":"SET","data_size":16,"pipeline":1,"clients":50},"run":{"session":"s%d","index":%d},"metrics":{"rps":%.2f,"p50_latency_ms":%.5f},"status":"ok"}\n),
    $i + 1, 1 + $i / 28, 1 + $i % 28, $i, $k, 1e5 * $x, .4 / $x } }' >h
vkb-pgpush -q h
test_status 1 'a regression in the database' detect --table core
cp .out want
test_match '^regression at 00000000 \(2026-01-26\), 26 of 40' .out \
  'the regression has its commit and its place'
test_match ' throughput .*-[56]\.[0-9]% .* NEW' .out \
  'the regression has its size and is new'
vkb-detect h >got
test_same "$(cat got)" "$(cat want)" \
  'the database has the same report as the file'
vkb-pgpush --export | vkb-detect >got
test_same "$(cat got)" "$(cat want)" 'an export has the same report as the file'
test_status 1 'a connection' detect --database "host=$PGHOST dbname=postgres"
test_same "$(cat want)" "$(cat .out)" \
  '--database with a connection has the same report'
test_that 'with --since an older regression is known' \
  detect --table core --since 2026-02-01
perl -e 'for my $i (0 .. 39) { printf qq({"type":"commit","v":1,"commit":"%040x","parents":[%s]}\n),
  $i + 1, $i ? sprintf qq("%040x"), $i : "" }' >commits
test_status 1 'a database with commit records' detect --table core commits
test_match '^40 commits in the order of their ancestry' .out \
  'the order is that of the commit records in the database'

# --- without a result the exit status is 2

# trouble WHAT MESSAGE COMMAND...: the exit status is 2 and the message is printed, with
# both modes.
trouble() {
  trouble_what=$1 trouble_said=$2
  shift 2
  for mode in '' '--latest 1'; do
    # shellcheck disable=SC2086 # several words or none
    test_status 2 "$trouble_what${mode:+, }$mode" "$@" $mode
    test_match "$trouble_said" .err "$trouble_what: the error has the reason"
  done
}

trouble 'no server' 'vkb-pgpush: database: .*/nonexistent' \
  env PGHOST=/nonexistent vkb-detect --table core
trouble 'a database that does not exist' 'database "nowhere" does not exist' \
  detect --database nowhere
trouble 'a table that does not exist' "table 'benchmark_metrics_none' does not exist" detect --table none
trouble 'a table with a hostile name' 'is not core, tag' detect --table 'x; DROP TABLE y'
trouble 'a password' "'password' in the arguments" \
  detect --database 'dbname=postgres password=secret'
test_absent secret .err 'the password is not printed'
sql "CREATE ROLE weak LOGIN"
trouble 'no rights' 'permission denied' env PGUSER=weak vkb-detect --table core
sed 's/"session":"s/&x/; s/"rps":[0-9.]*/"rps":100000/; s/"p50[^,}]*/"p50_latency_ms":0.4/' h >same
fresh
vkb-pgpush -q same
test_that 'rows without a regression' detect --table core
sql "UPDATE vkb_runs SET record = '[]' WHERE id = 7"
trouble 'an invalid row among valid ones' 'vkb_runs: row 7: bad record' \
  detect --table core
test_match '^vkb-detect: vkb-pgpush exited with 2' .err \
  'the exit status is that of vkb-pgpush'
fresh
sql 'CREATE TABLE benchmark_metrics (id SERIAL, commit TEXT, command TEXT,
  "timestamp" TIMESTAMPTZ, rps NUMERIC)'
trouble 'an empty table' 'nothing was judged' \
  detect --table core

# --- a table of the Python tool: the drop is at another kernel, one scenario failed,
# and the rows are in any order

fresh
sql 'CREATE TABLE benchmark_metrics (id SERIAL PRIMARY KEY,
  created_at TIMESTAMPTZ DEFAULT NOW(), architecture VARCHAR(50),
  avg_latency_ms DECIMAL(15,6), clients INTEGER, cluster_mode BOOLEAN,
  command TEXT NOT NULL, commit VARCHAR(255) NOT NULL, data_size INTEGER,
  duration INTEGER, env_kernel VARCHAR(50), error TEXT, io_threads INTEGER,
  p50_latency_ms DECIMAL(15,6), p99_latency_ms DECIMAL(15,6), pipeline INTEGER,
  repository VARCHAR(50), rps DECIMAL(15,6), status VARCHAR(50),
  test_type VARCHAR(50), "timestamp" TIMESTAMPTZ NOT NULL, tls BOOLEAN,
  warmup INTEGER)'
# python FACTOR: prints 15 commits with 5 runs each of two cases; the newest is
# multiplied by FACTOR.
python() {
  sql 'TRUNCATE benchmark_metrics' "INSERT INTO benchmark_metrics
    (commit, \"timestamp\", command, data_size, pipeline, clients, io_threads,
     cluster_mode, tls, duration, warmup, architecture, env_kernel, test_type,
     repository, rps, avg_latency_ms, p50_latency_ms, p99_latency_ms)
    SELECT md5(c::text) || '00000000', '2026-03-01Z'::timestamptz + c * interval '1 day',
      cmd, 16, 10, 50, 1, false, false, 60, 10, 'aarch64',
      CASE WHEN c = 15 THEN '6.2.0' ELSE '6.1.0' END,
      CASE WHEN c % 2 = 0 THEN 'core' END, 'valkey-io/valkey', f * x,
      .5 / (f * x) * 1e5, .4 / (f * x) * 1e5, 1.2 / (f * x) * 1e5
    FROM (SELECT c, cmd, CASE WHEN c = 15 AND cmd = 'SET' THEN $1 ELSE 1 END f,
      100000 + (c * 37 + r * r * 53) % 11 * 90 x
      FROM generate_series(15, 1, -1) c, generate_series(1, 5) r,
      (VALUES ('SET'), ('GET')) k (cmd)) t"
}
python 1
test_that 'rows of the Python tool without a regression' \
  detect --table core --latest 1
test_match '^[0-9]+ inconclusive; the newest commit' .out 'rows of the Python tool are compared'
test_match '^15 commits in the order of their time' .out \
  'rows of the Python tool are in the order of their times'
python .78
test_status 1 'a drop of 22 % in rows of the Python tool' detect --table core --latest 1
test_match "^regression at $(sql "SELECT substr(md5('15'), 1, 8)") \(2026-03-16\), 15 of 15" \
  .out 'the regression is at the newest commit despite another kernel'
test_match 'SET +throughput .*-2[12]\.[0-9]%' .out 'the regression is that of SET'
test_absent ' GET ' .out 'no other line names GET'
test_match 'SET +p99 .*\+28' .out \
  'the latency of SET has a regression, too'
sql "INSERT INTO benchmark_metrics (commit, \"timestamp\", command, status, error)
  VALUES (md5('15') || '00000000', '2026-03-16Z', 'SET', 'failed', 'it broke')"
test_status 1 'rows of the Python tool with a failed scenario' \
  detect --table core --latest 1
test_match 'warning: SET: 1 failed run: it broke' .out \
  'a warning names the failed scenario and its error'
python .96
test_status 1 'a drop of 4 % in rows of the Python tool' detect --table core --latest 5
test_match ' throughput .* 25\+5 ' .out 'with --latest 5 it is compared with five commits'
sql "DELETE FROM benchmark_metrics WHERE \"timestamp\" < '2026-03-16Z'"
test_status 2 'a single commit is an error' detect --table core --latest 1
test_match 'nothing was judged' .err 'the error says that nothing was judged'

# --- series beside a reference, which another one replaces

fresh
perl -e 'srand 2; for my $i (0 .. 59) {
  my ($x, $new) = ((1 + .01 * (rand() + rand() - 1)) * ($i >= 20 ? .92 : 1), $i >= 20);
  printf qq({"type":"run","v":1,"subject":{"commit":"%040x","time":"2026-%02d-%02dT08:00:00Z"},"config":{"command":"SET"},"run":{"session":"s%d","index":1},"env":{"host":"a","cpus":4,"reference_sha256":"%s"},"metrics":{"rps":%.2f,"rps_ratio":%.5f},"status":"ok"}\n),
    $i + 1, 1 + $i / 28, 1 + $i % 28, $i, $new ? "b" x 64 : "a" x 64, 1e5 * $x, $new ? 2 * $x : $x }' >short
vkb-pgpush -q short
test_that 'a step where another reference begins is not found' detect --table core
sed -n 15p short | jq -c '.subject += {commit: "\("8" * 40)", binary_sha256: ("a" * 64)} | .subject.time = "2026-01-15T09:00:00Z" |
  .run.session = "link" | .env.reference_sha256 = ("b" * 64) | .metrics.rps_ratio = 2' >joint
vkb-pgpush -q joint
test_status 1 'with the former one measured beside it the step is found' detect --table core
cp .out got
vkb-detect joint short >want
test_same "$(cat want)" "$(cat got)" 'the database has the same report as the files'

if test_reference python-tool/schema 'tables of the Python tool'; then
  fresh
  grep -v 'OWNER TO' "$acceptance/python-tool/schema/after_core1.sql" |
    psql -X -q >.log 2>&1
  test_status 2 'a table of the Python tool without rows is an error' \
    detect --table core --latest 1
  test_match 'nothing was judged|no metric' .err \
    'the error says that nothing was judged in a table without rows'
fi
test_done
