#!/bin/sh
# vkb-trackcommits: names that are attacks, repositories that are not whole,
# servers and disks that fail: a clear error, and nothing half-written.
. "${0%/*}/lib.sh"
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
unset VKB_OWNER
test_postgres 'vkb-trackcommits'

# Always the same ids: some of the first four digits are there twice.
git init -q -b unstable repo
perl -e 'for (1 .. 600) {
  my $time = 1767225600 + 60 * $_;
  print "commit refs/heads/unstable\ncommitter t <t\@t> $time +0000\n";
  printf "data %d\nc%d\n", length "c$_", $_;
}' | git -C repo fast-import --quiet
head=$(git -C repo rev-parse unstable)
echo '[{"commands":["SET"],"warmup":0}]' >config.json
nasty=$(printf "it's \"a\" \\\\ --; DROP TABLE benchmark_commits; \n\033[31m\$(touch evil)")

# shellcheck disable=SC2086 # several words
track() { vkb-trackcommits "$@" $store; }
arch=$(printf %.50s "$nasty")
here='--repo repo --config-file config.json'
# shellcheck disable=SC2086 # several words
claim() { track claim $here "$@"; }
rows() { track query --format jsonl "$@"; }
harmless() {
  test_empty "$(LC_ALL=C grep -a "$(printf '\033')" .err .out)" 'no escape sequence is printed'
}

# --- over each store

names() {
  for option in --branch --since; do
    test_status 2 "$what: $option that is an attack" track determine --repo repo \
      "$option" "$nasty"
    test_match "no branch, tag or commit 'it's \"a\"" .err 'is named'
    harmless
  done
  test_status 2 "$what: a commit that is one" claim --owner a "$nasty"
  test_match "no branch, tag or commit 'it's \"a\"" .err 'is named'
  harmless
  test_that "$what: an owner that is one" claim --owner "$nasty" --max-commits 1 \
    --architecture "$arch"
  test_same true "$(rows | jq --arg n "$nasty" --arg a "$arch" '.owner == $n and .architecture == $a')" \
    'is a text'
  test_that "$what: as it is for people" track query
  harmless
  test_status 1 "$what: and for others" claim --owner other --architecture "$arch" HEAD
  harmless
  test_that "$what: a reason that is one" track mark --config-file config.json \
    --owner "$nasty" --architecture "$arch" --status failed --reason "$nasty" "$head"
  test_same true "$(rows | jq --arg n "$nasty" '.reason == $n')" 'is a text'
  test_status 2 "$what: a longer name of a machine" claim --owner a --architecture "$arch."
  test_match 'has more than 50 bytes' .err 'is refused'
  harmless
  for option in --owner --architecture --reason; do
    test_status 2 "$what: $option without a text" claim "$option" ''
    test_status 2 "$what: $option that is not UTF-8" track mark --status failed \
      --config-file config.json "$option" "$(printf '\377')" "$head"
    test_match "option '$option': .*not UTF-8|reason" .err 'is refused'
  done
}

commits() {
  twice=$(git -C repo rev-list unstable | cut -c 1-4 | sort | uniq -d | head -n 1)
  test_status 2 "$what: an ambiguous id" claim --owner a "$twice"
  test_match "cannot resolve '$twice': ambiguous" .err 'the error says that the name is ambiguous'
  test_that "$what: a short one" claim --owner a "$(printf %.12s "$head")"
  test_same "$head" "$(jq -r .commit .out)" 'is that commit'
  test_status 2 "$what: no commit but a tree" claim --owner a 'HEAD^{tree}'
  test_match "cannot find a commit for 'HEAD" .err 'the error names the revision'

  git -C repo branch gone unstable~5
  gone=$(git -C repo rev-parse gone)
  test_that "$what: a branch" claim --owner a gone
  git -C repo branch -q -D gone
  test_status 2 "$what: that vanished" claim --owner a gone
  test_match "no branch, tag or commit 'gone'" .err 'the error names the revision'
  test_status 2 "$what: as a branch" track determine --repo repo --branch gone
  test_match "no branch, tag or commit 'gone'" .err 'too'
  git init -q other
  # shellcheck disable=SC2086 # several words
  other() { op=$1; shift; track $op --repo other --config-file config.json "$@"; }
  test_status 2 "$what: a commit that vanished" other claim --owner b "$gone"
  test_match "no branch, tag or commit '$gone'" .err 'cannot be taken'
  test_that "$what: who had it" other mark --owner a --status complete "$gone"
  test_same complete "$(rows "$gone" | jq -r .status)" 'can mark it'
  test_status 2 "$what: one that never was" other mark --owner a --status complete \
    "$(printf %040d 7)"
  test_match 'neither in the table nor in a repository' .err 'cannot be marked'
  test_status 2 "$what: a repository without commits" other determine --branch main
  rm -r other
}

# libgit2 forgets what it read where objects are missing.
echo 'leak:libgit2.so' >libgit2
forgetful() {
  # shellcheck disable=SC2086 # several words
  env "LSAN_OPTIONS=suppressions=$scratch/libgit2" vkb-trackcommits "$@" $store
}
repositories() {
  rows >before
  git clone -q --depth 3 "file://$scratch/repo" shallow
  test_status 2 "$what: a shallow clone" forgetful determine --repo shallow
  test_match "repository 'shallow' is shallow; 'git fetch --unshallow'" .err 'the error says that the repository is shallow and what to do'
  cp -r repo corrupt
  for f in corrupt/.git/objects/pack/*.pack; do
    chmod u+w "$f"
    head -c 3000 "$f" >part
    cat part >"$f"
  done
  test_status 2 "$what: a repository that is not whole" forgetful determine \
    --repo corrupt
  test_match "cannot find the commit of 'unstable'" .err 'the error names the branch'
  rows >after
  test_that "$what: nothing has changed" cmp before after
  rm -rf shallow corrupt
}

cases() {
  what=$1
  names
  commits
  repositories
  test_empty "$(find . -name evil)" "$what: nothing was run"
}
store='--file t.jsonl'
cases file
store='--table nasty'
cases table

# --- tables that are something else

sql 'CREATE TABLE benchmark_commits_odd (x integer)' \
  'CREATE VIEW benchmark_commits_view AS SELECT 1 AS sha' \
  'CREATE TABLE benchmark_commits_sha (sha integer, status text)'
for t in odd view sha; do
  store="--table $t"
  test_status 2 "another table: $t" claim --owner a --max-commits 1
  test_match "'benchmark_commits_$t' is not a table of commits" .err 'the error says that it is not a table of commits'
  test_empty_file .out 'nothing is claimed'
done
test_same x "$(sql "SELECT column_name FROM information_schema.columns WHERE table_name = 'benchmark_commits_odd'")" \
  'the table is not changed'

# --- servers

store=
test_status 2 'no server on a port' env PGHOST=127.0.0.1 PGPORT=1 vkb-trackcommits query
test_match 'database: .*127.0.0.1.*port 1 failed' .err 'it is named'
sql 'CREATE DATABASE closed' 'ALTER DATABASE closed ALLOW_CONNECTIONS false'
test_status 2 'a database that takes no connections' vkb-trackcommits query --database closed
test_match '"closed" is not currently accepting connections' .err 'the error is that of the server'
PGOPTIONS='-c default_transaction_read_only=on'
export PGOPTIONS
test_status 2 'a server that only reads' claim --owner a --max-commits 1
unset PGOPTIONS
test_match 'read-only' .err 'the error says that the database is read-only'
test_empty_file .out 'nothing is claimed'

test_that 'a claim' claim --owner a --max-commits 1 --lease 1h
# heart LEASE COMMAND...: while it is held, from when the command runs.
heart() {
  lease=$1
  shift
  rm -f begun
  vkb-trackcommits heartbeat --owner a --lease "$lease" "$head" -- "$@" 2>heart.err &
  pid=$!
  test_that 'a command runs' wait_until 60 test -e begun
}
heart 60s sh -c ': >begun; until test -e go; do perl -e "select undef, undef, undef, 0.05"; done'
postgres_stop
test_that 'the server was away for a while' postgres_start
: >go
wait $pid
test_same 0 $? 'the command succeeds'
heart 3s sh -c 'echo $$ >began; mv began begun; exec perl -e sleep'
postgres_stop
wait $pid
test_same 125 $? 'when it is away for longer than the lease, the command ends'
test_match 'the claim could not be prolonged in time' heart.err 'the error says that the claim was not prolonged'
test_that 'indeed' gone "$(cat begun)"
test_status 2 'a mark without a server' track mark --owner a --config-file config.json \
  --status complete "$head"
test_match 'database: ' .err 'is trouble'
test_that 'it is back' postgres_start
test_same in_progress "$(rows | jq -r .status)" 'and nothing is marked'

# A session that the server ends: another one does it.
mkfifo hold
psql -X -q <hold >/dev/null 2>&1 &
exec 7>hold
echo 'BEGIN; LOCK TABLE benchmark_commits;' >&7
locked() { [ "$(sql "SELECT count(*) FROM pg_locks WHERE relation = 'benchmark_commits'::regclass AND mode = 'AccessExclusiveLock' AND granted")" -gt 0 ]; }
test_that 'the table is locked' wait_until 60 locked
waits() { [ "$(sql 'SELECT count(*) FROM pg_locks WHERE NOT granted')" -gt 0 ]; }
PGAPPNAME=ended vkb-trackcommits mark --owner a --config-file config.json \
  --status complete "$head" 2>ended.err 7>&- &
pid=$!
test_that 'a mark waits' wait_until 60 waits
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'" >/dev/null
exec 7>&-
wait $pid
test_same 0 $? 'its session was ended, another did it'
test_match 'trying again: nothing was changed so far' ended.err 'a message says that it tries again'
test_same complete "$(rows | jq -r .status)" 'and it is marked'

# --- disks

store='--file full.jsonl'
claim --owner a --max-commits 1 >/dev/null
cp full.jsonl kept
# An ulimit of no bytes at all stands for a full disk.
limited() { perl -e '$SIG{XFSZ} = "IGNORE"; exec @ARGV' prlimit --fsize=300 -- "$@"; }
# shellcheck disable=SC2086 # several words
test_status 2 'no room for the file' limited vkb-trackcommits claim $here $store --owner b --max-commits 1
test_match 'full.jsonl' .err 'it is named'
test_that 'the file is not changed' cmp full.jsonl kept
test_same 'full.jsonl' "$(ls -d full.jsonl*)" 'and nothing is beside it'
test_done
