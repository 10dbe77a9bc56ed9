#!/bin/sh
# vkb-trackcommits: the same cases with a file and with a PostgreSQL server;
# tables of the Python tool; invalid names, servers and files.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"
unset VKB_OWNER
test_postgres 'vkb-trackcommits'

days repo 9
id() { git -C repo rev-parse "$1"; }

cat >config.json <<'END'
[{"commands":["SET","GET"],"requests":[1000],"keyspacelen":[100],
  "data_sizes":[16,64],"pipelines":[1],"clients":[1],"cluster_mode":false,
  "tls_mode":false,"warmup":0}]
END
jq -c 'map(to_entries | reverse | from_entries)' config.json >same.json
jq -c '.[0].warmup = 1' config.json >edited.json
jq -c '.[0].commands = ["GET"] | .[0].data_sizes = [64]' config.json >smaller.json
jq -c '.[0].data_sizes += [256]' config.json >larger.json
jq -c '.[0].commands = ["GET"] | .[0]["io-threads"] = [4]' config.json >other.json
jq -c '.[0]["custom-server-configs"] = {text: ("0123456789" * 20000)}' config.json >huge.json

# --- the cases, with each store: $store has the options of a new one

# shellcheck disable=SC2086 # several words
track() { vkb-trackcommits "$@" $store; }
next() { track determine --repo repo --config-file config.json "$@"; }
claim() { track claim --repo repo --config-file config.json "$@"; }
mark() { track mark --repo repo --config-file config.json "$@"; }
titles() { jq -r .title .out | xargs; }
states() { # states STATUS: prints the titles of the commits with this state
  track query --format jsonl --status "$1" | jq -r .commit |
    while read -r sha; do git -C repo show -s --format=%s "$sha"; done | xargs
}

choosing() {
  new a
  for operation in query cleanup heartbeat; do
    test_status 2 "$what: $operation without a store is an error" track $operation
    test_match "there is no table 'benchmark_commits_a'|cannot open 'a.jsonl': No such file" .err \
      "$what: the error of $operation says so"
  done
  test_that "$what: they made none" never
  test_that "$what: init" track init
  test_that "$what: init can be repeated" track init
  test_that "$what: determine" next
  test_same 'c9 c8 c7' "$(titles)" "$what: determine prints the newest three commits"
  test_same "$(id HEAD)" "$(jq -r .commit .out | head -n 1)" "$what: a record has the full id"
  test_same '2026-01-09T00:00:00Z unstable' \
    "$(jq -r '.time + " " + .ref' .out | head -n 1)" "$what: a record has the time and the ref"
  test_that "$what: --format shas is accepted" next --format shas
  test_same "$(git -C repo rev-list --max-count=3 HEAD | xargs)" "$(cat .out)" "$what: --format shas prints the ids on one line, like the Python tool"
  test_that "$what: --max-commits 0 is accepted" next --max-commits 0
  test_empty_file .out "$what: --max-commits 0 prints no commit"
  test_that "$what: --max-commits can be larger than the history" next --max-commits 100
  test_same 'c9 c8 c7 c6 c5 c4 c3 c2 c1' "$(titles)" "$what: determine claims no commit"
  test_that "$what: --since is accepted" next --max-commits 100 --since unstable~3
  test_same 'c9 c8 c7' "$(titles)" "$what: --since leaves out older commits"
  test_that "$what: --order oldest is accepted" next --order oldest
  test_same 'c1 c2 c3' "$(titles)" "$what: --order oldest prints the oldest commits first"
  test_that "$what: --order bisect is accepted" next --order bisect --max-commits 4
  test_same 'c9 c5 c3 c7' "$(titles)" "$what: --order bisect prints the middle of the largest gap next"

  test_that "$what: claim is accepted" claim --owner one --max-commits 2
  test_same 'c9 c8' "$(titles)" "$what: claim prints two commits"
  test_that "$what: another owner can claim" claim --owner two --max-commits 1
  test_same c7 "$(titles)" "$what: another owner gets the next commit"
  test_that "$what: an owner can claim more" claim --owner one --max-commits 1
  test_same c6 "$(titles)" "$what: the same owner gets the next commit"
  test_that "$what: --resume is accepted" claim --owner one --resume --max-commits 4
  test_same 'c9 c8 c6 c5' "$(titles)" "$what: --resume prints the commits that are already claimed first"
  test_same '1 1 1 1 1' "$(track query --format jsonl | jq .attempts | xargs)" "$what: --resume does not count as an attempt"
  test_status 1 "$what: a commit claimed by another owner is exit 1" claim --owner two HEAD
  test_match "$(id HEAD): 'one' holds it until" .err "$what: the error names the owner"
  test_empty_file .out "$what: no commit is printed"
  test_status 1 "$what: a commit claimed by the same owner is exit 1" claim --owner one HEAD
  test_status 1 "$what: exit 1 if one of two commits is claimed" claim --owner two HEAD~1 HEAD~5
  test_same c4 "$(titles)" "$what: the other commit is claimed"
  test_status 2 "$what: a commit that does not exist is an error" claim --owner two nonsense
  test_match "'nonsense'" .err "$what: the error names the commit"

  test_status 1 "$what: mark by another owner is exit 1" mark --owner two --status complete HEAD
  test_match "the lease is lost: it is in_progress, owned by 'one'" .err "$what: the error names the new owner"
  test_that "$what: mark by the owner is accepted" mark --owner one --status complete HEAD
  test_that "$what: mark can be repeated" mark --owner one --status complete "$(id HEAD | cut -c 1-9)"
  test_that "$what: mark accepts a short id" mark --owner one --status complete "$(id HEAD~1 | cut -c 1-9)"
  test_same 'c9 c8' "$(states complete)" "$what: two are complete"
  test_status 1 "$what: a complete commit cannot be in_progress again" mark --owner one --status in_progress HEAD
  test_match 'it is complete' .err "$what: the error says that it is complete"
  test_status 1 "$what: a complete commit cannot fail" mark --owner one --status failed HEAD
  test_status 1 "$what: a complete commit cannot be claimed" claim --owner one HEAD
  test_status 1 "$what: a complete commit has no lease to prolong" track heartbeat --owner one "$(id HEAD)"
  test_that "$what: cleanup of another owner is accepted" track cleanup --owner three
  test_same 'c9 c8' "$(states complete)" "$what: complete commits stay complete"
  test_same 'c7 c6 c5 c4' "$(states in_progress)" "$what: claims of other owners stay"
  test_that "$what: cleanup of an owner is accepted" track cleanup --owner one
  test_match '2 claims were given back' .err "$what: cleanup reports two claims"
  test_that "$what: determine after cleanup is accepted" next --max-commits 2
  test_same 'c6 c5' "$(titles)" "$what: the commits are free immediately"
  test_that "$what: mark without a claim is accepted" mark --owner one --status complete HEAD~4
  test_that "$what: cleanup of the second owner is accepted" track cleanup --owner two
  test_that "$what: a commit can be marked complete after its claim ended" mark --owner two --status complete HEAD~5
  test_same 'c9 c8 c5 c4' "$(states complete)" "$what: the mark is stored"
  test_that "$what: claim --again is accepted for a complete commit" claim --owner one --again HEAD
  test_same 'c9 2' "$(titles) $(track query --format jsonl "$(id HEAD)" | jq .attempts)" "$what: claim --again counts a second attempt"
  test_status 2 "$what: a revision without --repo is an error" track mark --config-file config.json --status complete HEAD
  test_match "'HEAD' is not a full commit id" .err "$what: the error asks for a full id"
  test_status 2 "$what: a new commit without --repo is an error" track mark --config-file config.json --status complete "$(id HEAD~7)"
  test_match "'--repo'" .err "$what: the error asks for --repo"
}

failing() {
  new b
  claim --owner one --max-commits 1 >/dev/null
  reason="$(printf 'it\n\033[31mbroke; --')"
  test_that "$what: mark --status failed is accepted" mark --owner one --status failed --reason "$reason" HEAD
  test_same "failed $(printf 'it\n\033[31mbroke; --')" \
    "$(track query --format jsonl | jq -r '.status + " " + .reason')" "$what: the reason is stored"
  test_that "$what: query as a table is accepted" track query
  test_empty "$(LC_ALL=C grep "$(printf '\033')" .out)" "$what: the table has no escape sequence"
  test_match '^[0-9a-f]{12} +2026-01-09 00:00:00 +failed +one .*it.*broke' .out "$what: the table has the reason"
  for n in 2 3; do
    claim --owner "o$n" --max-commits 1 >.out
    test_same c9 "$(titles)" "$what: it is tried for time $n"
    mark --owner "o$n" --status failed --reason "no $n" HEAD
  done
  test_that "$what: determine after three attempts is accepted" next --max-commits 1
  test_same c8 "$(titles)" "$what: a commit is left out after three attempts"
  test_that "$what: --attempts 4 is accepted" next --max-commits 1 --attempts 4
  test_same c9 "$(titles)" "$what: --attempts 4 allows one more attempt"
  test_same 'no 3' "$(track query --status failed --format jsonl | jq -r .reason)" "$what: the reason is that of the last attempt"
}

leasing() {
  new c
  test_that "$what: claim --lease 1s is accepted" claim --owner one --max-commits 1 --lease 1s
  ended() { test "$(next --max-commits 1 | jq -r .title)" = c9; }
  test_that "$what: the lease ends" wait_until 20 ended
  test_that "$what: the owner can prolong an ended lease" track heartbeat --owner one --lease 1s
  test_that "$what: the prolonged lease ends" wait_until 20 ended
  test_that "$what: another owner can claim after the end of the lease" claim --owner two --max-commits 1
  test_same c9 "$(titles)" "$what: another owner gets the same commit"
  test_status 1 "$what: the first owner cannot prolong a lost lease" track heartbeat --owner one "$(id HEAD)"
  test_match "$(id HEAD): the lease is lost: it is in_progress, owned by 'two'" .err "$what: the error names the new owner and the state"
  test_status 1 "$what: heartbeat of an owner without claims is exit 1" track heartbeat --owner one
  test_status 1 "$what: mark after the lease is lost is exit 1" mark --owner one --status complete HEAD
  test_same c9 "$(states in_progress)" "$what: the late mark changes nothing"
  test_that "$what: the second owner can prolong the lease" track heartbeat --owner two "$(id HEAD)" --lease 9h
  test_that "$what: query prints the leases" track query --format jsonl
  test_same t "$(jq -r '(.lease_until[0:19] + "Z" | fromdate) - now | if . > 32000 then "t" else . end' .out)" "$what: the lease has the new end"
}

configuring() {
  new d
  mark --owner one --status complete HEAD >/dev/null
  done_with() { # done_with FILE [OPTION...]: prints whether HEAD is complete with FILE
    file=$1
    shift
    track determine --repo repo --max-commits 1 --config-file "$file" "$@" >.out
    if [ "$(titles)" = c8 ]; then echo yes; else echo no; fi
  }
  test_same yes "$(done_with config.json)" "$what: the commit is complete with this configuration"
  test_same yes "$(done_with same.json)" "$what: the order of keys makes no other configuration"
  test_same no "$(done_with edited.json)" "$what: a changed value makes another configuration"
  test_same yes "$(done_with smaller.json)" "$what: a part of the configuration is complete, too"
  test_same no "$(done_with smaller.json --disable-subset-detection)" "$what: with --disable-subset-detection a part is not complete"
  test_same no "$(done_with larger.json)" "$what: a larger configuration is not complete"
  test_same no "$(done_with other.json)" "$what: a part with another key is not complete"
  test_same no "$(done_with config.json --architecture sparc)" "$what: on another architecture the commit is not complete"
  test_same no "$(done_with config.json --cluster-mode-filter true)" "$what: in another cluster mode the commit is not complete"
  test_same yes "$(done_with config.json --cluster-mode-filter false)" "$what: in the same cluster mode the commit is complete"
  test_same no "$(done_with config.json --skip-config-set)" "$what: with --skip-config-set the commit is not complete"
  for f in edited smaller huge; do
    test_that "$what: claim with $f.json is accepted" track claim --repo repo --owner one --config-file $f.json HEAD
    test_that "$what: mark with $f.json is accepted" track mark --owner one --status complete --config-file $f.json "$(id HEAD)"
    test_same yes "$(done_with $f.json)" "$what: the commit is complete with $f.json"
  done
  jq -c '.[0]["custom-server-configs"].text += "x"' huge.json >huge2.json
  test_same no "$(done_with huge2.json)" "$what: a change at the end of a large configuration makes another one"
  test_that "$what: query --list-configs as records is accepted" track query --list-configs --format jsonl
  test_same '4 4' "$(jq -s -r '"\(length) \(map(.complete) | add)"' .out)" "$what: these are four configurations"
  test_same "$(jq -cS . config.json)" \
    "$(jq -cS "select(.config_hash == $hash) | .config" .out)" \
    "$what: they have the content; the hash must not change"
  test_that "$what: query --list-configs is accepted" track query --list-configs
  test_match "^$(echo "$hash" | cut -c 2-9) +0 +1 +0 " .out "$what: --list-configs prints one line per configuration"
  test_that "$what: determine without a configuration is accepted" track determine --repo repo --max-commits 1
  test_same c8 "$(titles)" "$what: determine without a configuration leaves out the complete commit"
  for bad in '7' '[1]' '{"a":1,"a":2}' ''; do
    printf '%s' "$bad" >bad.json
    test_status 2 "$what: an invalid configuration is an error: $bad" track determine --repo repo --config-file bad.json
    test_match 'bad.json' .err "$what: the error names the configuration"
  done
  test_status 2 "$what: a configuration that does not exist is an error" track determine --repo repo --config-file none.json
  test_status 2 "$what: a repository that does not exist is an error" track determine --repo none --config-file config.json
  test_status 2 "$what: a branch that does not exist is an error" next --branch 'a b'
  test_match "'a b'" .err "$what: the error names the branch"
}

# heartbeat COMMAND runs the command while it prolongs the lease.
# shellcheck disable=SC2086 # several words
holding() {
  new e
  test_status 125 "$what: heartbeat COMMAND without a claim is exit 125" track heartbeat --owner one "$(id HEAD)" -- touch ran
  test_status 1 "$what: without a claim the command does not run" test -e ran
  claim --owner one --max-commits 1 --lease 3s >/dev/null
  held="vkb-trackcommits heartbeat --owner one --lease 3s $store $(id HEAD) --"
  test_status 7 "$what: heartbeat ends with the status of the command" $held sh -c 'exit 7'
  test_status 127 "$what: a command that does not exist is exit 127" $held no-such-command
  lease() { track query --format jsonl | jq -r .lease_until; }
  $held sh -c 'echo $$ >pid; exec perl -e "sleep"' 2>held.err &
  holder=$!
  wait_until 20 test -s pid
  first=$(lease)
  later() { test "$(printf '%s\n' "$first" "$(lease)" | sort | tail -n 1)" != "$first"; }
  test_that "$what: the lease is prolonged" wait_until 20 later
  track cleanup --owner one 2>/dev/null
  claim --owner two --max-commits 1 >/dev/null
  wait $holder
  test_same 125 $? "$what: when the lease is lost heartbeat is exit 125"
  test_match 'the lease is lost' held.err "$what: the error says that the lease is lost"
  test_that "$what: the process of the command is gone" gone "$(cat pid)"
  track cleanup --owner two 2>/dev/null
  rm pid
  claim --owner one --max-commits 1 --lease 1h >/dev/null
  $held sh -c 'echo $$ >pid; perl -e "sleep"; :' 2>held.err &
  holder=$!
  wait_until 20 test -s pid
  kill -9 $holder
  wait $holder 2>/dev/null
  test_that "$what: when heartbeat is killed the command ends" wait_until 20 gone "$(cat pid)"
  rm pid
  $held sh -c 'echo $$ >pid; exec perl -e "sleep"' 2>held.err &
  holder=$!
  wait_until 20 test -s pid
  kill -TERM $holder
  wait $holder
  test_same 143 $? "$what: a signal to heartbeat ends it"
  test_that "$what: a signal to heartbeat ends the command" gone "$(cat pid)"
  rm pid
}

cases() {
  what=$1
  choosing
  failing
  leasing
  configuring
  holding
}

hash=$(new() { store="--file hash.jsonl"; }; new
  mark --owner x --status complete HEAD && track query --list-configs --format jsonl | jq .config_hash)
test_same '"b71388227126586f"' "$hash" 'the hash of the configuration is that of existing tables'
jq -c 'del(.config)' hash.jsonl >bare.jsonl
test_that 'a configuration without its text is listed' \
  vkb-trackcommits query --list-configs --format jsonl --file bare.jsonl
test_same "$hash" "$(jq .config_hash .out)" 'its hash is printed'
new() { store="--file $1.jsonl"; }
never() { test ! -e a.jsonl; }
cases file
new() { store="--table $1"; }
never() { test "$(sql "SELECT to_regclass('benchmark_commits_a') IS NULL")" = t; }
cases table

# --- a table of the Python tool, with rows

fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
python_table() { # python_table ID PREFIX: creates benchmark_commitsID
  sql "CREATE TABLE benchmark_commits$1 (id SERIAL PRIMARY KEY,
    sha VARCHAR(40) NOT NULL, \"timestamp\" TIMESTAMPTZ NOT NULL,
    status VARCHAR(20) NOT NULL CHECK (status IN ('in_progress', 'complete')),
    config JSONB NOT NULL, architecture VARCHAR(50),
    created_at TIMESTAMPTZ DEFAULT NOW(), updated_at TIMESTAMPTZ DEFAULT NOW(),
    CONSTRAINT unique_$2sha_config_arch UNIQUE (sha, config, architecture))" \
    "CREATE INDEX idx_$2commits_config ON benchmark_commits$1 USING gin (config)" \
    "CREATE INDEX idx_$2commits_sha ON benchmark_commits$1 (sha)"
}
row() { # row SHA STATUS CONFIG AGE: writes a row like the Python tool
  sql "INSERT INTO benchmark_commits (sha, \"timestamp\", status, config,
    architecture, updated_at) VALUES ('$1', '2026-01-09T00:00:00Z', '$2',
    '$(cat "$3")', '$(uname -m)', NOW() - INTERVAL '$4')
    ON CONFLICT (sha, config, architecture)
    DO UPDATE SET status = EXCLUDED.status, updated_at = NOW()"
}
seen() { sql 'SELECT id, sha, "timestamp", status, config, architecture, created_at, updated_at FROM benchmark_commits ORDER BY id'; }
fresh
store=
python_table '' ''
row "$(id HEAD)" complete config.json '9 days'
row "$(id HEAD~1 | cut -c 1-8)" complete larger.json '8 days'
row "$(id HEAD~2)" in_progress config.json '7 days'
row "$(id HEAD~3)" in_progress config.json '1 hour'
row "$(id HEAD~4)" complete edited.json '6 days'
seen >before
test_that 'a table of the Python tool is read' next --max-commits 2
test_same 'c7 c5' "$(titles)" 'rows with a short id or a larger configuration count as complete; a claim ends after a day'
seen >after
test_same "$(cat before)" "$(cat after)" 'determine does not change its rows'
row "$(id HEAD~5)" in_progress config.json '0 days'
row "$(id HEAD~5)" complete config.json '0 days'
test_that 'rows written by the Python tool later are read' next --max-commits 3
test_same 'c7 c5 c3' "$(titles)" 'the later rows count as complete'
test_that 'a claim in a table of the Python tool is accepted' claim --owner one --max-commits 1
test_same c7 "$(titles)" 'the claimed commit is the one whose claim has ended'
test_that 'a failed commit can be marked in that table' mark --owner one --status failed --reason x "$(id HEAD~2)"
test_status 1 'a commit that the Python tool has claimed is exit 1' claim --owner one HEAD~3
test_match 'another tool holds it' .err 'the error says that another tool has claimed it'
test_that 'the Python tool can mark its commit' row "$(id HEAD~3)" complete config.json '0 days'
test_that 'a claim with a large configuration is accepted' track claim --repo repo --owner one --config-file huge.json HEAD
test_match 'the configuration is too large for a constraint, without which .*: .*DROP CONSTRAINT "unique_sha_config_arch"' .err 'the constraint that a large configuration breaks is dropped, and a message says so'

# The other order: a table of vkb-trackcommits, or of configs/schema.sql, before the
# Python tool uses it, which first tries to make its own.
for how in vkb-trackcommits schema.sql; do
  fresh
  store='--table core'
  case $how in
  schema.sql) psql -X -q -v ON_ERROR_STOP=1 -f "$top/configs/schema.sql" >.log 2>&1 ;;
  *) test_that 'vkb-trackcommits makes its table' track init ;;
  esac
  test_that "$how: the Python tool finds the table" sql "CREATE TABLE IF NOT EXISTS benchmark_commits (
    id SERIAL PRIMARY KEY, sha VARCHAR(40) NOT NULL, config JSONB NOT NULL)" \
    'CREATE INDEX IF NOT EXISTS idx_commits_sha ON benchmark_commits (sha)' \
    'CREATE INDEX IF NOT EXISTS idx_commits_config ON benchmark_commits USING gin (config)'
  test_that "$how: the Python tool can claim a commit" row "$(id HEAD)" in_progress config.json '0 days'
  test_that "$how: it can mark it" row "$(id HEAD)" complete config.json '0 days'
  test_that "$how: a commit is claimed" claim --owner one --max-commits 1
  test_that "$how: the Python tool can mark it, too" row "$(id HEAD~1)" complete config.json '0 days'
  test_same "$(id HEAD) complete
$(id HEAD~1) complete" "$(sql "SELECT sha || ' ' || status FROM benchmark_commits ORDER BY id")" \
    "$how: both tools write the same rows"
done
fresh
test_that 'a table of a module' vkb-trackcommits init --table search
test_same 'UNIQUE (sha, config, architecture)' "$(sql "SELECT pg_get_constraintdef(oid)
  FROM pg_constraint WHERE conname = 'unique_search_sha_config_arch'")" \
  'the constraint has the name that the Python tool gives it'
if test_reference python-tool/schema 'tables of the Python tool'; then
  for t in core search; do
    fresh
    f=$acceptance/python-tool/schema/track_core.sql
    [ $t = core ] || f=$acceptance/python-tool/schema/track_module.sql
    grep -v 'OWNER TO' "$f" | psql -X -q >.log 2>&1
    store="--table $t"
    test_that "$t: a claim is accepted" claim --owner one --max-commits 1
    test_that "$t: a mark is accepted" mark --owner one --status failed --reason x HEAD
  done
fi

# --- several runners with an old table

fresh
python_table _old old_
pids=
store='--table old'
for i in 1 2 3 4 5 6; do
  claim --owner "o$i" --max-commits 1 --format shas >"sha.$i" 2>>errors &
  pids="$pids $!"
done
# shellcheck disable=SC2086 # several words
wait $pids
test_same '6 0' "$(sort -u sha.? | grep -c .) $(grep -c . errors)" 'six claims at once extend the table and get six commits'

# --- invalid names and servers

for bad in 'a"b' "a'b" 'a b' 'x; --' "$(printf 'a\nb')" '' A 1x \
  "$(printf '%032d' 1 | tr 01 a)"; do
  test_status 2 "a table '$(printf %s "$bad" | tr '\n' ' ')'" vkb-trackcommits query --table "$bad"
  test_match "option '--table': " .err 'the error names the option --table'
done
test_status 2 'a server that cannot be reached is an error' env PGHOST=/nonexistent vkb-trackcommits query
test_match 'database: .*/nonexistent' .err 'the error names the socket'
test_status 2 'a database that does not exist is an error' vkb-trackcommits query --database nothing-of-this-name
test_match 'database "nothing-of-this-name" does not exist' .err 'the error names the database'
test_status 2 'a password in an argument is an error' vkb-trackcommits query --database 'host=x password=secret'
test_match "'password' in the arguments" .err 'the error says where the password was'
sql "CREATE ROLE guarded LOGIN PASSWORD 'right'"
sed -i '1i local all guarded scram-sha-256' "$scratch/pg/data/pg_hba.conf"
sql 'SELECT pg_reload_conf()' >/dev/null
refused() { ! PGUSER=guarded PGPASSWORD=wrong sql 'SELECT 1'; }
wait_until 20 refused
test_status 2 'a wrong password is an error' env PGUSER=guarded PGPASSWORD=wrong vkb-trackcommits query
test_match 'password authentication failed for user "guarded"' .err 'the error names the user'
test_status 2 'a user without the right to create tables is an error' env PGUSER=guarded PGPASSWORD=right vkb-trackcommits init --table fresh
test_match 'permission denied|no schema' .err 'the error says that a permission is missing'

# --- the server stops while a claim waits

fresh
store=
track init
mkfifo hold
psql -X -q <hold >/dev/null 2>&1 &
exec 7>hold
echo 'BEGIN; LOCK TABLE benchmark_commits;' >&7
locked() { test "$(sql "SELECT count(*) FROM pg_locks WHERE relation = 'benchmark_commits'::regclass AND mode = 'AccessExclusiveLock' AND granted")" -gt 0; }
waits() { test "$(sql "SELECT count(*) FROM pg_locks WHERE NOT granted")" -gt 0; }
wait_until 20 locked
vkb-trackcommits claim --repo repo --config-file config.json --owner one --format shas >gone.out 2>gone.err 7>&- &
pid=$!
test_that 'a claim waits for the lock' wait_until 20 waits
postgres_stop
wait $pid
test_same 2 $? 'a server that stops during a claim is an error'
test_match 'database: ' gone.err 'the error is that of the database'
test_empty_file gone.out 'nothing is claimed'
exec 7>&-
test_that 'the server is started again' postgres_start
test_that 'determine is accepted after the restart' next --max-commits 1
test_same c9 "$(titles)" 'the failed claim has claimed no commit'

# --- bad files

for bad in '{"type":"track","v":1,"status":"complete"}' \
  '{"type":"track","v":1,"commit":"a","status":"done","time":"2026-01-01T00:00:00Z","config_hash":"x","attempts":1}' \
  '{"type":"track","v":1,"commit":"a","status":"complete","time":"yesterday","config_hash":"x","attempts":1}' \
  '{"type":"track","v":1,"commit":"a","status":"complete","time":"2026-01-01T00:00:00Z","config_hash":"x","attempts":1e300}' \
  '{"type":"tr'; do
  printf '{"type":"note","v":1}\n%s\n' "$bad" >bad.jsonl
  cp bad.jsonl kept
  test_status 2 "a bad line is an error: $bad" claim --file bad.jsonl --owner one
  test_match 'bad.jsonl:2' .err 'the error names the line'
  test_that 'the file is unchanged' cmp bad.jsonl kept
done
printf '{"type":"note","v":1,"text":"keep me"}\n' >notes.jsonl
chmod 640 notes.jsonl
ln -s notes.jsonl link.jsonl
test_that 'a claim in a symbolic link is accepted' claim --file link.jsonl --owner one --max-commits 1
test_same '640 keep me' "$(stat -c %a notes.jsonl) $(jq -r 'select(.type == "note").text' notes.jsonl)" 'the mode and the other records of the file are kept'
test_that 'the symbolic link is kept' test -L link.jsonl
test_status 2 'a folder as file is an error' claim --file repo --owner one
test_status 2 'a file in a folder that does not exist is an error' claim --file none/x --owner one
test_status 2 'a device as file is an error' claim --file /dev/null --owner one

# --- history, which needs no table

test_that 'history is accepted' vkb-trackcommits history --repo repo
test_same 'c9 c8 c7 c6 c5 c4 c3 c2 c1' "$(titles)" 'history prints all commits'
test_same "$(id HEAD~1)" "$(jq -r .parents[0] .out | head -n 1)" 'history prints the parents'
test_that 'history --since --format shas is accepted' vkb-trackcommits history --repo repo --since HEAD~2 --format shas
test_same "$(id HEAD) $(id HEAD~1)" "$(cat .out)" 'history --since prints the newer commits'

# --- usage

for words in 'nonsense' 'history' 'history --repo repo --file x' 'determine' 'claim --repo repo' 'mark HEAD' 'mark --repo repo --config-file config.json HEAD' \
  'determine --repo repo HEAD' 'query --file x --table core' 'determine --repo repo --format text' \
  'query -- true' 'heartbeat --' 'query --list-configs --format shas' 'claim --repo repo --config-file config.json --again'; do
  # shellcheck disable=SC2086 # several words
  test_status 2 "vkb-trackcommits $words is an error" vkb-trackcommits $words
  test_match '^.usage: ' .err 'the error shows the usage'
done

test_done
