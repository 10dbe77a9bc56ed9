#!/bin/sh
# vkb-pgpush when something fails: the server, the rights, the name, the disk, the
# input, or a kill in the middle of a transaction. It prints an error and exits with 2;
# no run is stored in one table only, and no temporary file is left.
# sanitize: what a database may hold.
. "${0%/*}/lib.sh"
test_postgres 'vkb-pgpush and trouble'
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp
export TMPDIR

fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
rows() { sql "SELECT count(*) FROM ${1:-benchmark_metrics}"; }
both() { echo "$(rows) $(rows vkb_runs)"; }
# runs SESSION N [TEXT]: prints N records
runs() {
  perl -e 'my ($s, $n, $t) = @ARGV; for my $i (1 .. $n) {
    my $x = $t eq "random" ? join "", map { chr(97 + rand 26) } 1 .. 1500 : $t;
    printf qq({"type":"run","v":1,"subject":{"commit":"c%d","time":"2026-03-01T08:00:%02dZ"},"config":{"command":"SET"},"run":{"session":"%s","index":%d},"env":{"note":"%s"},"metrics":{"rps":%d.5},"status":"ok"}\n),
      $i % 7, $i % 60, $s, $i, $x, $i }' "$1" "$2" "${3:-}"
}
# trouble WHAT MESSAGE COMMAND...: the command fails with an error that matches MESSAGE
trouble() {
  trouble_what=$1 trouble_said=$2
  shift 2
  test_status 2 "$trouble_what" "$@"
  test_match "$trouble_said" .err "$trouble_what: the error has the reason"
}
# troubles WHAT MESSAGE COMMAND...: the same for each program that needs the server
troubles() {
  troubles_what=$1 troubles_said=$2
  shift 2
  trouble "$troubles_what, push" "$troubles_said" "$@" vkb-pgpush one
  trouble "$troubles_what, export" "$troubles_said" "$@" vkb-pgpush --export
  trouble "$troubles_what, detect" "$troubles_said" "$@" vkb-detect --table core
}
runs of-one 1 >one
runs of-many 3000 >many

# --- connecting

troubles 'a socket that does not exist' 'nonexistent' env PGHOST=/nonexistent
troubles 'a closed port' 'Connection refused' env PGHOST=127.0.0.1 PGPORT=1
troubles 'a host name that does not exist' 'nosuch.invalid' env PGHOST=nosuch.invalid
troubles 'a database that does not exist' 'database "no; DROP" does not exist' \
  env PGDATABASE='no; DROP'
troubles 'a role that does not exist' 'role "no such role" does not exist' \
  env PGUSER='no such role'
troubles 'an invalid port' 'port' env PGPORT=x
trouble 'invalid settings' 'invalid connection settings|invalid connection option' \
  vkb-pgpush --database 'nonsense=1 dbname=postgres' one
trouble 'a line break in the name' 'does not exist' \
  vkb-pgpush --database 'a
vkb-pgpush: all is well' one
test_absent '^vkb-pgpush: all is well' .err 'a message of the server does not look like one of vkb-pgpush'
mkfifo told
perl -MIO::Socket::INET -e '$| = 1;
  my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 50) or die;
  print $s->sockport, "\n"; close STDOUT; my @c; push @c, $s->accept while 1' >told &
mute=$!
read -r port <told
trouble 'a server that never answers' 'timeout expired' env PGHOST=127.0.0.1 \
  PGPORT="$port" PGCONNECT_TIMEOUT=2 vkb-pgpush one
kill $mute
wait $mute 2>/dev/null
# Answers three queries with the error of a server that stops, then refuses the fourth.
perl -MIO::Socket::INET -e '$| = 1; $SIG{PIPE} = "IGNORE"; my $query = 0;
  my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 50) or die;
  print $s->sockport, "\n"; close STDOUT;
  sub message { my ($type, $body) = @_; $type . pack("N", 4 + length $body) . $body }
  while (my $c = $s->accept) {
    read $c, my $size, 4; read $c, my $startup, unpack("N", $size) - 4;
    syswrite $c, message("R", pack "N", 0) . message("Z", "I");
    read $c, my $type, 1 or next;
    next if $type ne "Q";
    my ($state, $text) = ++$query < 4
      ? ("57P01", "terminating connection due to administrator command")
      : ("42501", "permission denied to connect");
    syswrite $c, message("E", "SFATAL\0VFATAL\0C$state\0M$text\0\0") .
      message("Z", "I");
    read $c, my $end, 5 if $query >= 4 }' >told &
stopping=$!
read -r port <told
trouble 'a server that stops' 'permission denied to connect' \
  env PGHOST=127.0.0.1 PGPORT="$port" PGSSLMODE=disable PGGSSENCMODE=disable \
  vkb-pgpush one
test_same 1 "$(wc -l <.err)" 'a server that stops: only the error of the last attempt is printed'
kill $stopping
wait $stopping 2>/dev/null

# --- passwords

sql "CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'right-secret'"
hba=$scratch/pg/data/pg_hba.conf
sed '1i local all locked scram-sha-256' "$hba" >rules
cat rules >"$hba"
sql 'SELECT pg_reload_conf()' >/dev/null
asks() { ! PGUSER=locked PGPASSWORD=x psql -X -q -c ''; }
wait_until 20 asks
echo '*:*:*:locked:wrong-secret' >wrong
echo '*:*:*:locked:right-secret' >right
chmod 600 wrong right
troubles 'a role without its password' 'no password supplied' env PGUSER=locked
troubles 'a wrong password' 'password authentication failed for user "locked"' \
  env PGUSER=locked PGPASSWORD=wrong-secret
troubles 'a password file with a wrong password' 'password authentication failed' \
  env PGUSER=locked PGPASSFILE=wrong
test_absent secret .err 'no password is printed'
for c in 'password=right-secret' 'postgresql://locked:right-secret@/postgres' \
  "dbname=postgres sslpassword='right-secret'"; do
  trouble "an argument ${c%%right*}" "'(ssl)?password' in the arguments" \
    vkb-pgpush --database "$c" one
  test_absent right-secret .err 'the password is not printed'
done
test_that 'the right password is accepted' env PGUSER=locked PGPASSWORD=right-secret \
  vkb-pgpush one
test_that 'a password file with the right password is accepted' env PGUSER=locked PGPASSFILE=right vkb-pgpush one
printf '[perf]\nuser=locked\npassword=right-secret\n' >service
test_that 'a service' env PGSERVICEFILE=service vkb-pgpush \
  --database service=perf one
test_same 1 "$(rows)" 'the run is stored only once'

# --- rights

fresh
sql 'CREATE ROLE weak LOGIN' 'GRANT USAGE ON SCHEMA public TO weak'
trouble 'a role without the right to create tables' 'permission denied for schema public' \
  env PGUSER=weak vkb-pgpush one
vkb-pgpush -q one
runs of-two 1 >two
weak='env PGUSER=weak vkb-pgpush'
for step in 'SELECT (vkb_session) ON benchmark_metrics' \
  'SELECT ON benchmark_metrics' 'INSERT ON benchmark_metrics' \
  'USAGE ON SEQUENCE benchmark_metrics_id_seq' 'SELECT ON vkb_runs' \
  'INSERT ON vkb_runs'; do
  # shellcheck disable=SC2086 # several words
  trouble "before GRANT $step" 'permission denied for' $weak two
  test_same '1 1' "$(both)" 'without all rights nothing is stored'
  sql "GRANT $step TO weak"
done
sql 'GRANT USAGE ON SEQUENCE vkb_runs_id_seq TO weak'
# shellcheck disable=SC2086 # several words
test_that 'a role with all rights can push' $weak two
test_same '2 2' "$(both)" 'a role with all rights stores the run'
sql 'REVOKE SELECT ON vkb_runs FROM weak'
trouble 'an export without the right to read' 'permission denied' env PGUSER=weak vkb-pgpush --export
test_empty_file .out 'an export without the right prints nothing'
trouble 'a push to a read-only server' 'read-only transaction' \
  env PGOPTIONS='-c default_transaction_read_only=on' vkb-pgpush many
test_that 'the runs of a read-only server are exported' \
  env PGOPTIONS='-c default_transaction_read_only=on' \
  vkb-pgpush --export
sql 'ALTER ROLE weak CONNECTION LIMIT 0'
trouble 'a role without a free connection' 'too many connections' env PGUSER=weak vkb-pgpush two

# --- names of tables

for table in '' ' ' 'a b' "a'b" 'a"b' 'a--' 'a;' 'a
b' Core 1a _a é 'x"; DROP TABLE benchmark_metrics; --' \
  abcdefghijklmnopqrstuvwxyz012345 "$(printf '%080d' 1)"; do
  name=$(printf %.12s "$table" | tr '\n' '?')
  trouble "the table '$name'" "is not core, tag" \
    vkb-pgpush --table "$table" one
  trouble "the table '$name' with --dry-run" 'is not core, tag' \
    vkb-pgpush --dry-run --table "$table" one
  test_empty_file .out "the table '$name' with --dry-run: no statement is printed"
  trouble "the table '$name', export" 'is not core, tag' \
    vkb-pgpush --export --table "$table"
  trouble "the table '$name', detect" 'is not core, tag' \
    vkb-detect --table "$table"
done
test_that 'the longest name of a table is accepted' \
  vkb-pgpush --table abcdefghijklmnopqrstuvwxyz01234 one
test_that 'the longest name of a table is accepted again' \
  vkb-pgpush --table abcdefghijklmnopqrstuvwxyz01234 one
test_match ' 0 runs stored, 1 were there' .err \
  'the run is found in the table with the longest name'
test_that 'the table with the longest name is exported' \
  vkb-pgpush --export --table abcdefghijklmnopqrstuvwxyz01234
test_same 1 "$(wc -l <.out)" \
  'the export of the table with the longest name has the run'

# --- the input

good=$(runs good 1)
bad() { # bad WHAT LINE: LINE is an error, and a valid run after it is stored
  fresh
  { printf '%b\n' "$2"; echo "$good"; } >mixed
  trouble "$1" '^vkb-pgpush: mixed:1: ' vkb-pgpush mixed
  test_same '1 1' "$(both)" "$1: the good run is stored"
}
run='{"type":"run","v":1,"subject":{},"config":{"command":"SET"},"metrics":{"rps":1},"status":"ok"'
env=$run',"run":{"session":"a","index":1},"env":'
bad 'a NUL byte' "$run"',"run":{"session":"a\0000b"}}'
bad 'a NUL' "$run"',"run":{"session":"a\\u0000b","index":1}}'
bad 'a NUL in a key' "$env"'{"a\\u0000b":1}}'
bad 'the first half of a surrogate pair' "$run"',"run":{"session":"\\ud800","index":1}}'
bad 'the second half of a surrogate pair' "$env"'{"x":"\\udc00"}}'
bad 'a byte that is not UTF-8' "$env"'{"x":"\0377"}}'
bad 'a surrogate in UTF-8' "$env"'{"x":"\0355\0240\0200"}}'
bad 'a number out of range' "$env"'{"x":1e999}}'
bad 'NaN' "$env"'{"x":NaN}}'
bad 'Infinity' "$env"'{"x":-Infinity}}'
bad 'a key that occurs twice' "$env"'{"x":1,"x":2}}'
fresh
printf '%b\n' "$env"'{"x":"\\u2028\\ud83d\\ude00"}}' >odd
test_that 'valid escapes are accepted' vkb-pgpush odd
bad 'a line that is cut off' "$env"
bad 'a run without config' '{"type":"run","v":1,"metrics":{"rps":1},"status":"ok"}'
bad 'a newer version of the format' '{"type":"run","v":9,"config":{},"metrics":{"rps":1},"status":"ok"}'
fresh
trouble 'a file that does not exist' "cannot read 'nothing'" vkb-pgpush nothing one
test_same '1 1' "$(both)" 'the file that exists is stored'
mkdir empty
trouble 'an empty folder' "no metrics.json in 'empty'" vkb-pgpush empty
test_that 'empty input is accepted' vkb-pgpush </dev/null
trouble 'a test type that is not UTF-8' 'is not UTF-8' \
  vkb-pgpush --test-type "$(printf '\377')" one
{ runs s 1; } | sed 's/"command":"SET"/&,"id":"ö →","x":"\\u2192\\ud83d\\ude00"/' >wide

# --- databases of other encodings

for e in LATIN1 SQL_ASCII; do
  sql "CREATE DATABASE \"e$e\" ENCODING $e TEMPLATE template0"
done
runs s 2 ö >latin
for e in LATIN1 SQL_ASCII; do
  test_that "$e" vkb-pgpush --database "e$e" latin
  test_that "$e: export" vkb-pgpush --database "e$e" --export
  test_same "$(jq -cS . latin)" "$(jq -cS . .out)" "$e: the exported runs are unchanged"
done
trouble 'a letter that LATIN1 lacks' 'has no equivalent in encoding "LATIN1"' \
  vkb-pgpush --database eLATIN1 wide
test_same 2 "$(PGDATABASE=eLATIN1 sql 'SELECT count(*) FROM vkb_runs')" 'no run with that letter is stored'
test_that 'all letters are accepted by SQL_ASCII' vkb-pgpush --database eSQL_ASCII wide
vkb-pgpush --database eSQL_ASCII --export >.out
test_same "$(jq -cS . wide)" "$(jq -cS 'select(.config.id)' .out)" \
  'SQL_ASCII gives the records unchanged'
PGDATABASE=eSQL_ASCII PGCLIENTENCODING=SQL_ASCII sql \
  "INSERT INTO benchmark_metrics (command, commit, rps, \"timestamp\")
    VALUES (E'\\xff', 'old', 1, '2020-01-01')"
trouble 'an export of bytes that are not UTF-8' 'invalid byte sequence' \
  vkb-pgpush --database eSQL_ASCII --export

# --- rows of other programs that are not runs

fresh
sql 'CREATE TABLE benchmark_metrics (id SERIAL, "timestamp" TIMESTAMPTZ,
  commit TEXT, command TEXT, rps NUMERIC, p50_latency_ms DOUBLE PRECISION)' \
  "INSERT INTO benchmark_metrics (\"timestamp\", commit, command, rps, p50_latency_ms)
    VALUES ('2026-01-01', 'a', 'SET', 1, .1), ('2026-01-02', 'b', 'SET', 'NaN', .1),
    ('2026-01-03', 'c', 'SET', 1, 'Infinity'), ('2026-01-04', 'd', 'SET', 2, .1::float8 + .2::float8)"
trouble 'an export of NaN and Infinity' 'benchmark_metrics: row 2: ' vkb-pgpush --export
test_match 'benchmark_metrics: row 3: ' .err \
  'the error names each row with NaN or Infinity'
test_same 'a 1 0.1
d 2 0.30000000000000004' "$(jq -r '"\(.subject.commit) \(.metrics.rps) \(.metrics.p50_latency_ms)"' .out)" \
  'the other rows are exported with all their digits'
trouble 'vkb-detect with NaN in a row' 'row 2: ' vkb-detect --table core

# --- a full disk

fresh
no_room() {
  (
    trap '' XFSZ
    ulimit -f 8
    "$@"
  )
}
trouble 'a temporary file that cannot grow' 'cannot use a temporary file' \
  no_room vkb-pgpush many
trouble 'a folder for temporary files that does not exist' "temporary file in '/nonexistent'" \
  env TMPDIR=/nonexistent vkb-pgpush many
test_empty "$(sql "SELECT to_regclass('benchmark_metrics')")" 'no table is made'
full() { "$@" >/dev/full; }
trouble 'a full disk for the printed statements' 'No space left' full vkb-pgpush --dry-run many
vkb-pgpush -q one
trouble 'a full disk for the exported runs' 'No space left' full vkb-pgpush --export

# More than the largest file of the server that is empty, a segment of its log of 1 MB.
runs of-full 2400 random >full
limit() {
  if [ "$(id -u)" -eq 0 ]; then
    runuser -u postgres -- prlimit --pid "$pg_pid" --fsize="$1:"
  else
    prlimit --pid "$pg_pid" --fsize="$1:"
  fi
}
limit 3000000
trouble 'a full disk of the server' 'could not extend file' vkb-pgpush full
limit unlimited
test_same '1 1' "$(both)" 'no run is stored on a full disk'
test_that 'the push succeeds when there is room' vkb-pgpush -q full
test_same '2401 2401' "$(both)" 'all runs are stored when there is room'
rm full

# --- a kill in the middle of a push: one of its thousands of rows waits for a lock

fresh
vkb-pgpush -q one
sql 'CREATE FUNCTION halt() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$' \
  'CREATE TRIGGER halt BEFORE INSERT ON benchmark_metrics FOR EACH ROW
    WHEN (NEW.vkb_index = 1500) EXECUTE FUNCTION halt()'
waits() { test "$(sql "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'")" -gt 0; }
held() { test "$(sql "SELECT count(*) FROM pg_locks WHERE granted AND locktype = 'advisory' AND objid = 7")" -gt 0; }
idle() { test "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'vkb-%'")" -eq 0; }
# half COMMAND...: starts the command and waits until it waits for the lock; sets $pid
half() {
  mkfifo hold
  psql -X -q <hold >/dev/null 2>&1 &
  holder=$!
  exec 7>hold
  echo 'SELECT pg_advisory_lock(7);' >&7
  wait_until 20 held
  "$@" >half.out 2>half.err </dev/null 7>&- &
  pid=$!
  test_that 'the push waits in the middle of its work' wait_until 30 waits
}
let_go() {
  exec 7>&-
  wait $holder
  rm hold
}
for signal in KILL TERM INT; do
  half vkb-pgpush many
  kill -$signal $pid 2>/dev/null
  # A shell without job control starts the program with INT ignored.
  [ $signal != INT ] || kill -TERM $pid 2>/dev/null
  wait $pid 2>/dev/null
  let_go
  test_that "SIG$signal: the session in the server ends" wait_until 20 idle
  test_same '1 1' "$(both)" "SIG$signal: nothing is stored"
  test_litter 0 "SIG$signal: no file is left"
done
half vkb-pgpush many
backend=$(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'vkb-pgpush'")
kill -9 "$backend"
let_go
wait $pid
test_same 0 $? 'the push is repeated after its backend crashed'
test_match 'trying again: nothing was stored so far' half.err \
  'a warning says that nothing was stored so far'
wait_until 60 psql -X -q -c '' # recovery takes long on a busy machine
test_same '3001 3001' "$(both)" 'after the crash all runs are stored once'
test_that 'after the crash the push is repeated' vkb-pgpush many
test_match ' 0 runs stored, 3000 were there' .err \
  'after the crash all runs are known'
sed 's/"session":"/&new-/' many >new
half vkb-pgpush new
postgres_stop
wait $pid
test_same 2 $? 'a server that stops and stays down is an error'
test_match 'database: ' half.err 'the error is that of the database'
let_go
test_that 'the database is started again' postgres_start
test_same '3001 3001' "$(both)" 'after the restart no run is half stored'
test_that 'the push is repeated' vkb-pgpush new
test_match ' 3000 runs stored, 0 were there' .err \
  'a repeated push stores all runs'
test_same '6001 6001' "$(both)" 'a repeated push stores each run once'
sed 's/"session":"/&newer-/' many >newer
half vkb-pgpush newer
sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'vkb-pgpush'" >/dev/null
wait $pid
test_same 2 $? 'a push whose statement is cancelled is an error'
test_match 'canceling statement due to user request' half.err \
  'the error says that the statement was cancelled'
let_go
test_same '6001 6001' "$(both)" 'no run of the cancelled push is stored'
# --- two pushes at once

half vkb-pgpush newer
vkb-pgpush newer 2>err.2 </dev/null 7>&- &
second=$!
two_wait() { test "$(sql "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'")" -gt 1; }
test_that 'the second push waits for the first' wait_until 20 two_wait
trouble 'a third push with a lock timeout' 'lock timeout' \
  env PGOPTIONS='-c lock_timeout=50' vkb-pgpush newer
let_go
wait $pid
test_same 0 $? 'the first push succeeds'
wait $second
test_same 0 $? 'the second push succeeds'
test_match ' 0 runs stored, 3000 were there' err.2 \
  'the second push finds all runs stored'
test_same '9001 9001' "$(both)" 'two pushes store each run once'
sed 's/"session":"/&newest-/' many >newest
half vkb-pgpush newest
vkb-pgpush newest 2>err.2 </dev/null 7>&- &
second=$!
wait_until 20 two_wait
kill -9 $pid
wait $pid 2>/dev/null
let_go
wait $second
test_same 0 $? 'the second of two pushes succeeds after the first is killed'
test_same '12001 12001' "$(both)" 'after a killed push each run is stored once'
sql 'DROP TRIGGER halt ON benchmark_metrics'
fresh
runs f 300 | sed 's/"SET"/&,"x":1/' >ints
runs g 300 | sed 's/"SET"/&,"x":0.1234567/' >fine
pids=
for t in core core tag many; do
  for f in ints fine; do
    vkb-pgpush --table $t $f 2>"err.$t.$f" &
    pids="$pids $!"
  done
done
for p in $pids; do
  wait "$p"
  test_same 0 $? 'each of eight pushes at once succeeds'
done
test_same '600 600 600 1800' \
  "$(rows) $(rows benchmark_tags_metrics) $(rows benchmark_metrics_many) $(rows vkb_runs)" \
  'eight pushes at once store each run once'
test_same '600 337.0370100' "$(sql 'SELECT count(x), sum(x) FROM benchmark_metrics' | tr '|' ' ')" \
  'numbers are stored without rounding'

# --- an export whose server is stopped

mkfifo slow
sed 's/"session":"/&r-/' many >further
vkb-pgpush -q further
vkb-pgpush --export >slow 2>err.slow &
pid=$!
exec 8<slow
head -c 1 <&8 >/dev/null
postgres_stop
cat <&8 >/dev/null
exec 8<&-
wait $pid
test_same 2 $? 'an export that is cut off is an error'
test_match 'database: ' err.slow \
  'the error of a cut export is that of the database'
postgres_start
test_litter 0 'no file is left'

test_done
