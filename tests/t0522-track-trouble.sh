#!/bin/sh
# vkb-trackcommits: hostile names, incomplete repositories, servers and disks that
# fail: an error is printed, and no record is incomplete.
. "${0%/*}/lib.sh"
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
unset VKB_OWNER
test_postgres 'vkb-trackcommits'

# The ids are always the same, and some have the same first four digits.
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

# --- with each store

names() {
  for option in --branch --since; do
    test_status 2 "$what: a hostile $option is an error" track determine --repo repo \
      "$option" "$nasty"
    test_match "no branch, tag or commit 'it's \"a\"" .err 'the error has the name of the revision'
    harmless
  done
  test_status 2 "$what: a hostile commit is an error" claim --owner a "$nasty"
  test_match "no branch, tag or commit 'it's \"a\"" .err 'the error has the name of the commit'
  harmless
  test_that "$what: a hostile owner and architecture are accepted" claim --owner "$nasty" --max-commits 1 \
    --architecture "$arch"
  test_same true "$(rows | jq --arg n "$nasty" --arg a "$arch" '.owner == $n and .architecture == $a')" \
    'the hostile owner and architecture are stored unchanged'
  test_that "$what: a table with the hostile owner is printed" track query
  harmless
  test_status 1 "$what: a claim by another owner is exit 1" claim --owner other --architecture "$arch" HEAD
  harmless
  test_that "$what: a hostile reason is accepted" track mark --config-file config.json \
    --owner "$nasty" --architecture "$arch" --status failed --reason "$nasty" "$head"
  test_same true "$(rows | jq --arg n "$nasty" '.reason == $n')" 'the hostile reason is stored unchanged'
  test_status 2 "$what: an architecture of more than 50 bytes is an error" claim --owner a --architecture "$arch."
  test_match 'has more than 50 bytes' .err 'the error has the limit'
  harmless
  for option in --owner --architecture --reason; do
    test_status 2 "$what: an empty $option is an error" claim "$option" ''
    test_status 2 "$what: $option that is not UTF-8 is an error" track mark --status failed \
      --config-file config.json "$option" "$(printf '\377')" "$head"
    test_match "option '$option': .*not UTF-8|reason" .err 'the error names the option'
  done
}

commits() {
  twice=$(git -C repo rev-list unstable | cut -c 1-4 | sort | uniq -d | head -n 1)
  test_status 2 "$what: an ambiguous id is an error" claim --owner a "$twice"
  test_match "cannot resolve '$twice': ambiguous" .err 'the error says that the id is ambiguous'
  test_that "$what: a short id is accepted" claim --owner a "$(printf %.12s "$head")"
  test_same "$head" "$(jq -r .commit .out)" 'the short id is that of the commit'
  test_status 2 "$what: a tree instead of a commit is an error" claim --owner a 'HEAD^{tree}'
  test_match "cannot find a commit for 'HEAD" .err 'the error names the revision'

  git -C repo branch gone unstable~5
  gone=$(git -C repo rev-parse gone)
  test_that "$what: a claim of a branch is accepted" claim --owner a gone
  git -C repo branch -q -D gone
  test_status 2 "$what: a claim of a deleted branch is an error" claim --owner a gone
  test_match "no branch, tag or commit 'gone'" .err 'the error names the deleted branch'
  test_status 2 "$what: determine for a deleted branch is an error" track determine --repo repo --branch gone
  test_match "no branch, tag or commit 'gone'" .err 'determine names the deleted branch, too'
  git init -q other
  # shellcheck disable=SC2086 # several words
  other() { op=$1; shift; track $op --repo other --config-file config.json "$@"; }
  test_status 2 "$what: a claim of a commit that the repository lacks is an error" other claim --owner b "$gone"
  test_match "no branch, tag or commit '$gone'" .err 'the error names the missing commit'
  test_that "$what: the owner can mark a commit that the repository lacks" other mark --owner a --status complete "$gone"
  test_same complete "$(rows "$gone" | jq -r .status)" 'the missing commit is complete'
  test_status 2 "$what: a mark of an unknown commit is an error" other mark --owner a --status complete \
    "$(printf %040d 7)"
  test_match 'neither in the table nor in a repository' .err 'the error says that the commit is unknown'
  test_status 2 "$what: a repository without commits is an error" other determine --branch main
  rm -r other
}

# libgit2 does not free what it has read if objects are missing.
echo 'leak:libgit2.so' >libgit2
forgetful() {
  # shellcheck disable=SC2086 # several words
  env "LSAN_OPTIONS=suppressions=$scratch/libgit2" vkb-trackcommits "$@" $store
}
repositories() {
  rows >before
  git clone -q --depth 3 "file://$scratch/repo" shallow
  test_status 2 "$what: a shallow clone is an error" forgetful determine --repo shallow
  test_match "repository 'shallow' is shallow; 'git fetch --unshallow'" .err 'the error says that the repository is shallow and what to do'
  test_status 2 "$what: a commit that a shallow clone lacks is an error" forgetful determine --repo shallow --since v9
  test_match "'v9' in the repository, which is shallow; get" .err 'the error says so'
  cp -r repo corrupt
  for f in corrupt/.git/objects/pack/*.pack; do
    chmod u+w "$f"
    head -c 3000 "$f" >part
    cat part >"$f"
  done
  test_status 2 "$what: a corrupt repository is an error" forgetful determine \
    --repo corrupt
  test_match "cannot find the commit of 'unstable'" .err 'the error names the branch'
  rows >after
  test_that "$what: the records are unchanged" cmp before after
  rm -rf shallow corrupt
}

cases() {
  what=$1
  names
  commits
  repositories
  test_empty "$(find . -name evil)" "$what: no hostile name is run as a command"
}
store='--file t.jsonl'
cases file
store='--table nasty'
cases table

# --- other tables with the same name

sql 'CREATE TABLE benchmark_commits_odd (x integer)' \
  'CREATE VIEW benchmark_commits_view AS SELECT 1 AS sha' \
  'CREATE TABLE benchmark_commits_sha (sha integer, status text)'
for t in odd view sha; do
  store="--table $t"
  test_status 2 "another table is an error: $t" claim --owner a --max-commits 1
  test_match "'benchmark_commits_$t' is not a table of commits" .err 'the error says that it is not a table of commits'
  test_empty_file .out 'no commit is claimed'
done
test_same x "$(sql "SELECT column_name FROM information_schema.columns WHERE table_name = 'benchmark_commits_odd'")" \
  'the other table is unchanged'

# --- servers

store=
test_status 2 'a port without a server is an error' env PGHOST=127.0.0.1 PGPORT=1 vkb-trackcommits query
test_match 'database: .*127.0.0.1.*port 1 failed' .err 'the error names the port'
sql 'CREATE DATABASE closed' 'ALTER DATABASE closed ALLOW_CONNECTIONS false'
test_status 2 'a database that accepts no connections is an error' vkb-trackcommits query --database closed
test_match '"closed" is not currently accepting connections' .err 'the error is that of the server'
PGOPTIONS='-c default_transaction_read_only=on'
export PGOPTIONS
test_status 2 'a read-only server is an error' claim --owner a --max-commits 1
unset PGOPTIONS
test_match 'read-only' .err 'the error says that the database is read-only'
test_empty_file .out 'no commit is claimed on a read-only server'

test_that 'a claim for an hour is accepted' claim --owner a --max-commits 1 --lease 1h
# heart LEASE COMMAND...: starts heartbeat COMMAND and waits until the command runs
heart() {
  lease=$1
  shift
  rm -f begun
  vkb-trackcommits heartbeat --owner a --lease "$lease" "$head" -- "$@" 2>heart.err &
  pid=$!
  test_that 'the command runs' wait_until 60 test -e begun
}
heart 60s sh -c ': >begun; until test -e go; do perl -e "select undef, undef, undef, 0.05"; done'
postgres_stop
test_that 'the server is stopped and started' postgres_start
: >go
wait $pid
test_same 0 $? 'a command survives a short stop of the server'
heart 3s sh -c 'echo $$ >began; mv began begun; exec perl -e sleep'
postgres_stop
wait $pid
test_same 125 $? 'when the server is stopped for longer than the lease, heartbeat is exit 125'
test_match 'the claim could not be prolonged in time' heart.err 'the error says that the claim was not prolonged'
test_that 'the command is gone' gone "$(cat begun)"
test_status 2 'a mark without a server is an error' track mark --owner a --config-file config.json \
  --status complete "$head"
test_match 'database: ' .err 'the error of the mark is that of the database'
test_that 'the server is started again' postgres_start
test_same in_progress "$(rows | jq -r .status)" 'the commit is not marked'

# If the server ends the session, mark tries again in another one.
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
test_that 'a mark waits for the lock' wait_until 60 waits
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'" >/dev/null
exec 7>&-
wait $pid
test_same 0 $? 'a mark whose session was ended succeeds'
test_match 'trying again: nothing was changed so far' ended.err 'a message says that it tries again'
test_same complete "$(rows | jq -r .status)" 'the commit is complete'

# --- disks

store='--file full.jsonl'
claim --owner a --max-commits 1 >/dev/null
cp full.jsonl kept
# A limit on the size of files stands for a full disk.
limited() { perl -e '$SIG{XFSZ} = "IGNORE"; exec @ARGV' prlimit --fsize=300 -- "$@"; }
# shellcheck disable=SC2086 # several words
test_status 2 'a full disk is an error' limited vkb-trackcommits claim $here $store --owner b --max-commits 1
test_match 'full.jsonl' .err 'the error names the file'
test_that 'the file is unchanged on a full disk' cmp full.jsonl kept
test_same 'full.jsonl' "$(ls -d full.jsonl*)" 'no temporary file is left'
test_done
