#!/bin/sh
# vkb-trackcommits: the same cases over a file and over a PostgreSQL of our own;
# tables of the Python tool; bad names, servers and files.
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

# --- the cases, over each store: $store is the options of one that is new.

# shellcheck disable=SC2086 # several words
track() { vkb-trackcommits "$@" $store; }
next() { track determine --repo repo --config-file config.json "$@"; }
claim() { track claim --repo repo --config-file config.json "$@"; }
mark() { track mark --repo repo --config-file config.json "$@"; }
titles() { jq -r .title .out | xargs; }
states() { # the titles of each commit, its state and owner
  track query --format jsonl --status "$1" | jq -r .commit |
    while read -r sha; do git -C repo show -s --format=%s "$sha"; done | xargs
}

choosing() {
  new a
  test_that "$what: init" track init
  test_that "$what: again" track init
  test_that "$what: determine" next
  test_same 'c9 c8 c7' "$(titles)" "$what: the newest three"
  test_same "$(id HEAD)" "$(jq -r .commit .out | head -n 1)" "$what: by their ids"
  test_same '2026-01-09T00:00:00Z unstable' \
    "$(jq -r '.time + " " + .ref' .out | head -n 1)" "$what: time and ref"
  test_that "$what: as the Python tool prints them" next --format shas
  test_same "$(git -C repo rev-list --max-count=3 HEAD | xargs)" "$(cat .out)" "$what: on a line"
  test_that "$what: none are asked for" next --max-commits 0
  test_empty_file .out "$what: none come"
  test_that "$what: all" next --max-commits 100
  test_same 'c9 c8 c7 c6 c5 c4 c3 c2 c1' "$(titles)" "$what: nothing was taken so far"
  test_that "$what: since" next --max-commits 100 --since unstable~3
  test_same 'c9 c8 c7' "$(titles)" "$what: only later ones"
  test_that "$what: oldest first" next --order oldest
  test_same 'c1 c2 c3' "$(titles)" "$what: the oldest"
  test_that "$what: bisecting" next --order bisect --max-commits 4
  test_same 'c9 c5 c3 c7' "$(titles)" "$what: the middle of the largest gap"

  test_that "$what: claim" claim --owner one --max-commits 2
  test_same 'c9 c8' "$(titles)" "$what: two"
  test_that "$what: another" claim --owner two --max-commits 1
  test_same c7 "$(titles)" "$what: gets another"
  test_that "$what: the same owner" claim --owner one --max-commits 1
  test_same c6 "$(titles)" "$what: as well"
  test_that "$what: what it holds already" claim --owner one --resume --max-commits 4
  test_same 'c9 c8 c6 c5' "$(titles)" "$what: comes first when asked for"
  test_same '1 1 1 1 1' "$(track query --format jsonl | jq .attempts | xargs)" "$what: no new attempt"
  test_status 1 "$what: a claimed one" claim --owner two HEAD
  test_match "$(id HEAD): 'one' holds it until" .err "$what: is refused"
  test_empty_file .out "$what: nothing is printed"
  test_status 1 "$what: by its owner" claim --owner one HEAD
  test_status 1 "$what: one of two" claim --owner two HEAD~1 HEAD~5
  test_same c4 "$(titles)" "$what: the other is claimed"
  test_status 2 "$what: no such commit" claim --owner two nonsense
  test_match "'nonsense'" .err "$what: is named"

  test_status 1 "$what: mark by another" mark --owner two --status complete HEAD
  test_match "the lease is lost: it is in_progress, owned by 'one'" .err "$what: the error names the new owner"
  test_that "$what: mark" mark --owner one --status complete HEAD
  test_that "$what: again" mark --owner one --status complete "$(id HEAD | cut -c 1-9)"
  test_that "$what: by a short id" mark --owner one --status complete "$(id HEAD~1 | cut -c 1-9)"
  test_same 'c9 c8' "$(states complete)" "$what: two are complete"
  test_status 1 "$what: it does not fall back" mark --owner one --status in_progress HEAD
  test_match 'it is complete' .err "$what: the error says that it is complete"
  test_status 1 "$what: nor fail" mark --owner one --status failed HEAD
  test_status 1 "$what: nor is it claimed" claim --owner one HEAD
  test_status 1 "$what: or prolonged" track heartbeat --owner one "$(id HEAD)"
  test_that "$what: cleanup of another" track cleanup --owner three
  test_same 'c9 c8' "$(states complete)" "$what: complete ones stay"
  test_same 'c7 c6 c5 c4' "$(states in_progress)" "$what: so do claims of others"
  test_that "$what: cleanup" track cleanup --owner one
  test_match '2 claims were given back' .err "$what: gives back its own"
  test_that "$what: they are free" next --max-commits 2
  test_same 'c6 c5' "$(titles)" "$what: at once"
  test_that "$what: a mark without a claim" mark --owner one --status complete HEAD~4
  test_that "$what: what has gone" track cleanup --owner two
  test_that "$what: the work was done" mark --owner two --status complete HEAD~5
  test_same 'c9 c8 c5 c4' "$(states complete)" "$what: it is kept"
  test_that "$what: anew, on purpose" claim --owner one --again HEAD
  test_same 'c9 2' "$(titles) $(track query --format jsonl "$(id HEAD)" | jq .attempts)" "$what: it is claimed"
  test_status 2 "$what: no id, no repository" track mark --config-file config.json --status complete HEAD
  test_match "'HEAD' is not a full commit id" .err "$what: the error asks for a full id"
  test_status 2 "$what: no time" track mark --config-file config.json --status complete "$(id HEAD~7)"
  test_match "'--repo'" .err "$what: what says it is named"
}

failing() {
  new b
  claim --owner one --max-commits 1 >/dev/null
  reason="$(printf 'it\n\033[31mbroke; --')"
  test_that "$what: it failed" mark --owner one --status failed --reason "$reason" HEAD
  test_same "failed $(printf 'it\n\033[31mbroke; --')" \
    "$(track query --format jsonl | jq -r '.status + " " + .reason')" "$what: with its reason"
  test_that "$what: a table" track query
  test_empty "$(LC_ALL=C grep "$(printf '\033')" .out)" "$what: is harmless"
  test_match '^[0-9a-f]{12} +2026-01-09 00:00:00 +failed +one .*it.*broke' .out "$what: and has it"
  for n in 2 3; do
    claim --owner "o$n" --max-commits 1 >.out
    test_same c9 "$(titles)" "$what: it is tried for time $n"
    mark --owner "o$n" --status failed --reason "no $n" HEAD
  done
  test_that "$what: and then" next --max-commits 1
  test_same c8 "$(titles)" "$what: left alone"
  test_that "$what: or tried more often" next --max-commits 1 --attempts 4
  test_same c9 "$(titles)" "$what: is tried again where --attempts allows it"
  test_same 'no 3' "$(track query --status failed --format jsonl | jq -r .reason)" "$what: the last reason"
}

leasing() {
  new c
  test_that "$what: a short lease" claim --owner one --max-commits 1 --lease 1s
  ended() { test "$(next --max-commits 1 | jq -r .title)" = c9; }
  test_that "$what: ends" wait_until 20 ended
  test_that "$what: it is still its owner's" track heartbeat --owner one --lease 1s
  test_that "$what: ends again" wait_until 20 ended
  test_that "$what: another takes it" claim --owner two --max-commits 1
  test_same c9 "$(titles)" "$what: it is the same"
  test_status 1 "$what: the first one is late" track heartbeat --owner one "$(id HEAD)"
  test_match "$(id HEAD): the lease is lost: it is in_progress, owned by 'two'" .err "$what: the runner reports it"
  test_status 1 "$what: it holds nothing" track heartbeat --owner one
  test_status 1 "$what: its mark comes too late" mark --owner one --status complete HEAD
  test_same c9 "$(states in_progress)" "$what: and changes nothing"
  test_that "$what: the other one keeps its lease" track heartbeat --owner two "$(id HEAD)" --lease 9h
  test_that "$what: a longer lease" track query --format jsonl
  test_same t "$(jq -r '(.lease_until[0:19] + "Z" | fromdate) - now | if . > 32000 then "t" else . end' .out)" "$what: is there"
}

configuring() {
  new d
  mark --owner one --status complete HEAD >/dev/null
  done_with() { # done_with FILE [OPTION...]: is HEAD done with it?
    file=$1
    shift
    track determine --repo repo --max-commits 1 --config-file "$file" "$@" >.out
    if [ "$(titles)" = c8 ]; then echo yes; else echo no; fi
  }
  test_same yes "$(done_with config.json)" "$what: done"
  test_same yes "$(done_with same.json)" "$what: the order of keys is nothing"
  test_same no "$(done_with edited.json)" "$what: an edit is another configuration"
  test_same yes "$(done_with smaller.json)" "$what: a part of it is done"
  test_same no "$(done_with smaller.json --disable-subset-detection)" "$what: a smaller configuration does not count with --disable-subset-detection"
  test_same no "$(done_with larger.json)" "$what: more is not"
  test_same no "$(done_with other.json)" "$what: nor another"
  test_same no "$(done_with config.json --architecture sparc)" "$what: nor on another machine"
  test_same no "$(done_with config.json --cluster-mode-filter true)" "$what: nor in another mode"
  test_same yes "$(done_with config.json --cluster-mode-filter false)" "$what: the same mode"
  test_same no "$(done_with config.json --skip-config-set)" "$what: nor without its sets"
  for f in edited smaller huge; do
    test_that "$what: $f" track claim --repo repo --owner one --config-file $f.json HEAD
    test_that "$what: $f is done" track mark --owner one --status complete --config-file $f.json "$(id HEAD)"
    test_same yes "$(done_with $f.json)" "$what: $f is known"
  done
  jq -c '.[0]["custom-server-configs"].text += "x"' huge.json >huge2.json
  test_same no "$(done_with huge2.json)" "$what: an edit far in it is another"
  test_that "$what: configurations" track configs --format jsonl
  test_same '4 4' "$(jq -s -r '"\(length) \(map(.complete) | add)"' .out)" "$what: are four"
  test_same "$(jq -cS . config.json)" \
    "$(jq -cS "select(.config_hash == $hash) | .config" .out)" \
    "$what: with their content, under a hash that must not change"
  test_that "$what: for people" track query --list-configs
  test_match "^$(echo "$hash" | cut -c 2-9) +0 +1 +0 " .out "$what: a line each"
  test_that "$what: of any configuration" track determine --repo repo --max-commits 1
  test_same c8 "$(titles)" "$what: it is done"
  for bad in '7' '[1]' '{"a":1,"a":2}' ''; do
    printf '%s' "$bad" >bad.json
    test_status 2 "$what: no configuration: $bad" track determine --repo repo --config-file bad.json
    test_match 'bad.json' .err "$what: it is named"
  done
  test_status 2 "$what: no file" track determine --repo repo --config-file none.json
  test_status 2 "$what: no repository" track determine --repo none --config-file config.json
  test_status 2 "$what: no branch" next --branch 'a b'
  test_match "'a b'" .err "$what: it is named"
}

# A command that runs while the claim is held.
# shellcheck disable=SC2086 # several words
holding() {
  new e
  test_status 125 "$what: without a claim" track heartbeat --owner one "$(id HEAD)" -- touch ran
  test_status 1 "$what: it does not run" test -e ran
  claim --owner one --max-commits 1 --lease 3s >/dev/null
  held="vkb-trackcommits heartbeat --owner one --lease 3s $store $(id HEAD) --"
  test_status 7 "$what: the command's status" $held sh -c 'exit 7'
  test_status 127 "$what: no such command" $held no-such-command
  lease() { track query --format jsonl | jq -r .lease_until; }
  $held sh -c 'echo $$ >pid; exec perl -e "sleep"' 2>held.err &
  holder=$!
  wait_until 20 test -s pid
  first=$(lease)
  later() { test "$(lease)" '>' "$first"; }
  test_that "$what: the lease is prolonged" wait_until 20 later
  track cleanup --owner one 2>/dev/null
  claim --owner two --max-commits 1 >/dev/null
  wait $holder
  test_same 125 $? "$what: when it is lost the command ends"
  test_match 'the lease is lost' held.err "$what: the error says that the lease is lost"
  test_that "$what: indeed" gone "$(cat pid)"
  track cleanup --owner two 2>/dev/null
  rm pid
  claim --owner one --max-commits 1 --lease 1h >/dev/null
  $held sh -c 'echo $$ >pid; perl -e "sleep"; :' 2>held.err &
  holder=$!
  wait_until 20 test -s pid
  kill -9 $holder
  wait $holder 2>/dev/null
  test_that "$what: when the holder is killed the command ends" wait_until 20 gone "$(cat pid)"
  rm pid
  $held sh -c 'echo $$ >pid; exec perl -e "sleep"' 2>held.err &
  holder=$!
  wait_until 20 test -s pid
  kill -TERM $holder
  wait $holder
  test_same 143 $? "$what: a signal ends both"
  test_that "$what: indeed" gone "$(cat pid)"
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
  mark --owner x --status complete HEAD && track configs --format jsonl | jq .config_hash)
test_same '"b71388227126586f"' "$hash" 'the hash that tables hold'
new() { store="--file $1.jsonl"; }
cases file
new() { store="--table $1"; }
cases table

# --- a table of the Python tool, with rows

fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
python_table() { # python_table ID PREFIX
  sql "CREATE TABLE benchmark_commits$1 (id SERIAL PRIMARY KEY,
    sha VARCHAR(40) NOT NULL, \"timestamp\" TIMESTAMPTZ NOT NULL,
    status VARCHAR(20) NOT NULL CHECK (status IN ('in_progress', 'complete')),
    config JSONB NOT NULL, architecture VARCHAR(50),
    created_at TIMESTAMPTZ DEFAULT NOW(), updated_at TIMESTAMPTZ DEFAULT NOW(),
    CONSTRAINT unique_$2sha_config_arch UNIQUE (sha, config, architecture))" \
    "CREATE INDEX idx_$2commits_config ON benchmark_commits$1 USING gin (config)" \
    "CREATE INDEX idx_$2commits_sha ON benchmark_commits$1 (sha)"
}
row() { # row SHA STATUS CONFIG AGE: as the Python tool's mark
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
test_that 'a table of the Python tool' next --max-commits 2
test_same 'c7 c5' "$(titles)" 'complete ones are done, of a short id and a larger configuration as well; a day ends a claim'
seen >after
test_same "$(cat before)" "$(cat after)" 'its rows are as they were'
row "$(id HEAD~5)" in_progress config.json '0 days'
row "$(id HEAD~5)" complete config.json '0 days'
test_that 'the Python tool can still write' next --max-commits 3
test_same 'c7 c5 c3' "$(titles)" 'and is understood'
test_that 'a claim' claim --owner one --max-commits 1
test_same c7 "$(titles)" 'of one that was left'
test_that 'it fails' mark --owner one --status failed --reason x "$(id HEAD~2)"
test_status 1 'what a runner of the other tool holds' claim --owner one HEAD~3
test_match 'another tool holds it' .err 'is left to it'
test_that 'is marked by it' row "$(id HEAD~3)" complete config.json '0 days'
test_that 'a large configuration' track claim --repo repo --owner one --config-file huge.json HEAD
test_match 'the configuration is too large for a constraint: .*DROP CONSTRAINT "unique_sha_config_arch"' .err 'a constraint in its way is dropped, with a message'
if test_reference python-tool/schema 'the table that tool made'; then
  for t in core search; do
    fresh
    f=$acceptance/python-tool/schema/track_core.sql
    [ $t = core ] || f=$acceptance/python-tool/schema/track_module.sql
    grep -v 'OWNER TO' "$f" | psql -X -q >.log 2>&1
    store="--table $t"
    test_that "$t: claim" claim --owner one --max-commits 1
    test_that "$t: mark" mark --owner one --status failed --reason x HEAD
  done
fi

# --- several that find no table, or an old one

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
test_same '6 0' "$(sort -u sha.? | grep -c .) $(grep -c . errors)" 'six at once extend it and take six commits'

# --- bad names and bad servers

for bad in 'a"b' "a'b" 'a b' 'x; --' "$(printf 'a\nb')" '' A 1x \
  "$(printf '%032d' 1 | tr 01 a)"; do
  test_status 2 "a table '$(printf %s "$bad" | tr '\n' ' ')'" vkb-trackcommits query --table "$bad"
  test_match "option '--table': " .err 'is refused'
done
test_status 2 'no server' env PGHOST=/nonexistent vkb-trackcommits query
test_match 'database: .*/nonexistent' .err 'it is named'
test_status 2 'no database' vkb-trackcommits query --database nothing-of-this-name
test_match 'database "nothing-of-this-name" does not exist' .err 'it is named'
test_status 2 'a password as an argument' vkb-trackcommits query --database 'host=x password=secret'
test_match "'password' in the arguments" .err 'is refused'
sql "CREATE ROLE guarded LOGIN PASSWORD 'right'"
sed -i '1i local all guarded scram-sha-256' "$scratch/pg/data/pg_hba.conf"
sql 'SELECT pg_reload_conf()' >/dev/null
refused() { ! PGUSER=guarded PGPASSWORD=wrong sql 'SELECT 1'; }
wait_until 20 refused
test_status 2 'a wrong password' env PGUSER=guarded PGPASSWORD=wrong vkb-trackcommits query
test_match 'password authentication failed for user "guarded"' .err 'the error names the user'
test_status 2 'no right to make tables' env PGUSER=guarded PGPASSWORD=right vkb-trackcommits init --table fresh
test_match 'permission denied|no schema' .err 'the error says that a permission is missing'

# --- a server that goes away while a claim waits

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
test_that 'a claim waits' wait_until 20 waits
postgres_stop
wait $pid
test_same 2 $? 'a server that goes away is trouble'
test_match 'database: ' gone.err 'the error says that the database is gone'
test_empty_file gone.out 'nothing is claimed'
exec 7>&-
test_that 'it starts again' postgres_start
test_that 'and there' next --max-commits 1
test_same c9 "$(titles)" 'nothing was taken'

# --- bad files

for bad in '{"type":"track","v":1,"status":"complete"}' \
  '{"type":"track","v":1,"commit":"a","status":"done","time":"2026-01-01T00:00:00Z","config_hash":"x","attempts":1}' \
  '{"type":"track","v":1,"commit":"a","status":"complete","time":"yesterday","config_hash":"x","attempts":1}' \
  '{"type":"tr'; do
  printf '{"type":"note","v":1}\n%s\n' "$bad" >bad.jsonl
  cp bad.jsonl kept
  test_status 2 "a bad line: $bad" claim --file bad.jsonl --owner one
  test_match 'bad.jsonl:2' .err 'is named'
  test_that 'nothing is changed' cmp bad.jsonl kept
done
printf '{"type":"note","v":1,"text":"keep me"}\n' >notes.jsonl
chmod 640 notes.jsonl
ln -s notes.jsonl link.jsonl
test_that 'through a link' claim --file link.jsonl --owner one --max-commits 1
test_same '640 keep me' "$(stat -c %a notes.jsonl) $(jq -r 'select(.type == "note").text' notes.jsonl)" 'what is there stays'
test_that 'it is still a link' test -L link.jsonl
test_status 2 'a folder' claim --file repo --owner one
test_status 2 'no folder' claim --file none/x --owner one
test_status 2 'a device' claim --file /dev/null --owner one

# --- what needs no table

test_that 'the history' vkb-trackcommits history --repo repo
test_same 'c9 c8 c7 c6 c5 c4 c3 c2 c1' "$(titles)" 'is all of it'
test_same "$(id HEAD~1)" "$(jq -r .parents[0] .out | head -n 1)" 'with what came before'
test_that 'as ids' vkb-trackcommits history --repo repo --since HEAD~2 --format shas
test_same "$(id HEAD) $(id HEAD~1)" "$(cat .out)" 'up to one'

# --- the words

for words in 'nonsense' 'history' 'history --repo repo --file x' 'determine' 'claim --repo repo' 'mark HEAD' 'mark --repo repo --config-file config.json HEAD' \
  'determine --repo repo HEAD' 'query --file x --table core' 'determine --repo repo --format text' \
  'query -- true' 'heartbeat --' 'configs --format shas' 'claim --repo repo --config-file config.json --again'; do
  # shellcheck disable=SC2086 # several words
  test_status 2 "$words" vkb-trackcommits $words
  test_match '^.usage: ' .err 'is answered with the usage'
done

test_done
