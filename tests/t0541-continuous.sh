#!/bin/sh
# vkb-continuous measures a branch commit by commit, with a real server and a
# real database: failures, kills at any time, a database that is stopped.
. "${0%/*}/lib.sh"
test_server 'continuous measurement'
. "$tests/repo.sh"
test_postgres 'continuous measurement'

# day N: sets the date of the next commit
day() {
  GIT_COMMITTER_DATE="$(printf '2026-01-%02dT00:00:00Z' "$1")"
  export GIT_COMMITTER_DATE
}
day 1
real_repo
in_repo branch -m unstable
for i in 2 3 4; do
  day $i
  burn $i "c$i"
done
config() { # config REQUESTS-OR-DURATION
  cat <<END
[{"commands": ["SET"], $1, "keyspacelen": [100], "data_sizes": [16],
  "pipelines": [1], "clients": [4], "cluster_mode": false, "tls_mode": false,
  "warmup": 0}]
END
}
config '"requests": [1500]' >cfg.json
config '"duration": 3, "rate": 2000' >long.json

# continuous DIR OPTION...: vkb-continuous with the configuration $cfg
cfg=cfg.json
continuous() {
  in=$1
  shift
  vkb-continuous -C repo --results "$in" "$@" "$cfg" -- --runs 2
}
rows() { vkb-trackcommits query --format jsonl "$@"; }
titles() {
  jq -r .commit | while read -r sha; do
    in_repo show -s --format=%s "$sha"
  done | xargs
}
states() { # states STATUS STORE...: prints the titles of the commits with this state
  rows --status "$@" | titles
}
lines() { cat "$@" | wc -l | tr -d ' '; }

# --- without a database

test_that 'vkb-continuous measures two commits' continuous r --file t --max-commits 2
test_empty_file .out 'nothing is printed on stdout'
test_match "$(head_of unstable): measuring" .err 'a message says that the commit is measured'
test_same 'c4 c3' "$(states complete --file t)" 'the newest two commits are complete'
test_same 'c3 c3 c4 c4' "$(cat r/*/*.jsonl | jq -r .subject.commit |
  while read -r c; do in_repo show -s --format=%s "$c"; done | sort | xargs)" \
  'the runs of both commits are kept'
test_empty "$(find "r/$(head_of unstable)" "r/$(head_of unstable~1)" -type f ! -name '*.jsonl')" \
  'nothing else is kept of them'
# What was renamed stays in a branch of results, and comes back.
old=$(echo "r/$(head_of unstable)"/*.jsonl)
cp "$old" kept
head -n 1 kept >"${old%.jsonl}.new"
echo 'it was so' >"${old%.jsonl}.why"
test_that '-q with the other commits is accepted' continuous r --file t -q
test_empty_file .err '-q prints nothing on stderr'
test_that 'runs of an earlier job do not replace newer ones' cmp kept "$old"
test_empty "$(find r -name '*.new' -o -name '*.why')" 'they are removed'
test_same 'c4 c3 c2 fast' "$(states complete --file t)" 'all commits are complete'
test_same 8 "$(lines r/*/*.jsonl)" 'the runs of all commits are kept'
test_that 'a start without a commit left is accepted' continuous r --file t -q
test_empty "$(cat .err .out)" 'without a commit left nothing is printed'
test_that 'a configuration without blanks is written' sh -c "tr -d ' ' <cfg.json >same.json"
cfg=same.json
test_that 'a configuration that differs only in blanks is accepted' continuous r --file t
test_empty_file .err 'it is the same configuration: nothing is measured'
cfg=cfg.json
test_that '--since is accepted' continuous since --file since.t --since unstable~1
test_same c4 "$(states complete --file since.t)" '--since leaves out older commits'
test_that '--order oldest is accepted' continuous oldest --file oldest.t --order oldest --max-commits 1
test_same fast "$(states complete --file oldest.t)" '--order oldest measures the first commit'

test_status 2 'options that leave no case are an error' \
  vkb-continuous -C repo --results none --file none.t cfg.json -- --shard 2/2
test_match "no case of 'cfg.json' matches the options" .err \
  'the message names the configuration'
test_that 'no commit is claimed then' test ! -e none.t

# --- commits that fail

day 5
burn 'no number' 'does not build'
cp repo/src/server.sh kept.sh
{
  echo "case \$* in *-v*) ;; *) exit 3 ;; esac"
  cat kept.sh
} >server.sh
day 6
cp server.sh repo/src/server.sh
burn 6 'does not start'
day 7
cp kept.sh repo/src/server.sh
burn 7 c7
test_status 2 'two commits that fail are exit 2' continuous r --file t --max-commits 3
test_same 'c7 c4 c3 c2 fast' "$(states complete --file t)" 'the third commit is complete'
test_same 'does not start does not build' "$(states failed --file t)" 'the two commits are failed'
reason() { rows --file t "$(head_of "$1")" | jq -r .reason; }
test_result "$(reason unstable~2 | grep -c "^vkb-build: .*: make exited with 2; the end of '.*'" | tr 01 10)" \
  'the state of the commit has the reason'
test_that 'of a commit that cannot be built nothing is kept' test ! -e "r/$(head_of unstable~2)"
test_that 'the log named in the reason exists' test -s "$(reason unstable~2 | sed "s/.* of '\(.*\)'.*/\1/")"
test_match '^vkb-load: .* failed' - 'that of a measurement says what failed, not what was done before' <<END
$(reason unstable~1)
END
test_same 2 "$(lines "r/$(head_of unstable~1)"/*.jsonl)" 'the failed runs are kept'
test_same 'failed failed' "$(jq -r .status "r/$(head_of unstable~1)"/*.jsonl | xargs)" 'the kept runs are failed'
test_status 2 'the next start is exit 2, too' continuous r --file t
test_same '2 2' "$(rows --file t --status failed | jq .attempts | xargs)" 'both commits have two attempts'
test_that '--attempts 2 allows no third attempt' continuous r --file t --attempts 2

# --- two at once, and a lease that is prolonged

cfg=long.json
mkdir l
exec 8<l
flock 8
test_that 'a second vkb-continuous in the folder is exit 0' continuous l --file l.t
test_match "another vkb-continuous is running in 'l'" .err 'a message says that another one is running'
test_that 'a second vkb-continuous with -q is exit 0' continuous l --file l.t -q
test_empty_file .err 'nothing is printed on stderr'
test_empty "$(ls l)" 'the second one makes no file'
exec 8<&-
test_that 'a measurement longer than the lease is accepted' continuous l --file l.t --max-commits 1 --lease 4s
test_same "c7 $(uname -n):$scratch/l" "$(states complete --file l.t) $(rows --file l.t | jq -r .owner)" \
  'the owner keeps the commit after the first end of the lease'

# --- a kill during a measurement

vkb-continuous -C repo --results k --file k.t --lease 5s long.json -- --runs 4 >k.out 2>k.err &
pid=$!
in_work() { [ "$(lines k/*/*.part)" -gt 0 ]; }
test_that 'the measurement has begun' wait_until 60 in_work
kill -9 $pid
wait $pid 2>/dev/null
test_litter 60 'a kill leaves no server' k
head -n 1 k/*/*.part >one
over() { [ "$(vkb-trackcommits determine --repo repo --file k.t --config-file long.json --max-commits 1 | titles)" = c7 ]; }
test_that 'the lease ends when its owner is killed' wait_until 60 over
test_that 'the next start resumes' vkb-continuous -C repo --results k --file k.t --max-commits 1 \
  long.json -- --runs 4
test_same "$(cat one)" "$(head -n 1 k/*/*.jsonl)" 'the first run is kept'
test_same '4 1' "$(lines k/*/*.jsonl) $(rows --file k.t --status complete | jq .attempts)" 'all four runs are stored in the first attempt'

# --- with a database

cfg=cfg.json
count() { sql 'SELECT count(*), count(error) FROM benchmark_metrics'; }
test_that 'another owner measures the first commit' env VKB_OWNER=other vkb-trackcommits claim \
  --repo repo --config-file cfg.json --format shas "$(head_of unstable~1)"
test_that 'a start before the first result is stored' continuous early --max-commits 0
test_empty "$(cat .err .out)" 'nothing is printed'
sql 'DROP TABLE benchmark_commits'
test_status 2 'a start with the database and failing commits is exit 2' continuous d
test_same 'c7' "$(states complete)" 'the database has the complete commit'
test_same '4|2' "$(count)" 'the database has the runs, and the failed runs'
in_work() { [ "$(lines d/*/*.part)" -gt 0 ]; }
cfg=long.json
continuous d --max-commits 1 >d.out 2>d.err &
pid=$!
test_that 'a measurement with the database has begun' wait_until 60 in_work
postgres_stop
wait $pid
test_same 2 $? 'a database that is stopped at the end is an error'
test_match "'$scratch/d/.*\.new' is not stored" d.err 'an error names the file that is not stored'
test_same 2 "$(lines d/*/*.new)" 'the runs are kept'
test_status 2 'a start without the database is an error' continuous d
test_match 'database: ' .err 'the error is that of the database'
test_same 2 "$(lines d/*/*.new)" 'the runs that are not stored are still kept'
test_that 'the database is started again' postgres_start
test_same c7 "$(states complete)" 'the commit that is not stored is not complete'
# The next start, with another configuration.
cfg=cfg.json
test_that 'the next start is accepted' continuous d --max-commits 0
test_same 'c7 c7' "$(states complete)" 'the next start marks the commit as complete'
test_same '6|2' "$(count)" 'the next start stores its runs'
test_empty "$(find d -name '*.new')" 'no run waits to be stored'
for f in d/*/*.jsonl; do mv "$f" "${f%.jsonl}.new"; done
test_that 'runs that were stored but not marked are accepted' continuous d --max-commits 0
test_same '6|2' "$(count)" 'these runs are not stored twice'
test_empty "$(find d -name '*.new')" 'these runs do not wait to be stored'

# --- runs that cannot be stored

git -C repo branch -q two unstable~4
sql 'CREATE TABLE benchmark_metrics_odd (commit text, command integer)'
cfg=cfg.json
test_status 2 'a column that cannot hold a value is an error' continuous o --table odd --branch two
test_match "new' is not stored; the next start tries again" .err 'the message says that the next start tries again'
test_same 'fast c3 c2' "$(states in_progress --table odd | tr ' ' '\n' | sort -r | xargs)" 'the commits are not complete'
test_same '2 2 2' "$(for f in o/*/*.new; do lines "$f"; done | xargs)" 'their runs are kept'
sql 'DROP TABLE benchmark_metrics_odd'
test_that 'a start with a new table is accepted' continuous o --table odd --branch two
test_same 'fast c3 c2' "$(states complete --table odd | tr ' ' '\n' | sort -r | xargs)" 'the commits are complete'
test_same 6 "$(sql 'SELECT count(*) FROM benchmark_metrics_odd')" 'the kept runs are stored'

# --- scenarios, for the dashboards of a module

cat >.fts.json <<'END'
[{"keyspacelen": [10], "io-threads": [1], "test_groups": [{"group": 3, "description": "small",
  "scenarios": [{"id": "a", "type": "write", "test": "set", "requests": 100}]}]}]
END
cfg=.fts.json
test_that 'a configuration of scenarios is accepted' continuous f --table fts --max-commits 1
test_same '.fts.json|small|3|2' "$(sql 'SELECT config_name, group_description, "group", count(rps)
  FROM benchmark_metrics_fts GROUP BY 1, 2, 3')" 'the rows have the name of the configuration and the group'
cfg=cfg.json

# --- several machines

pids=
for i in 1 2 3; do
  continuous "m$i" --table many --max-commits 9 --attempts 1 >m$i.out 2>m$i.err &
  pids="$pids $!"
done
# shellcheck disable=SC2086 # several words
wait $pids
test_same 'c7 c4 c3 c2 fast' "$(states complete --table many)" 'three runners at once complete all commits'
test_same '10|10' "$(sql "SELECT count(*), count(DISTINCT (commit, vkb_index)) FROM benchmark_metrics_many WHERE error IS NULL")" \
  'each commit is measured once'

# --- kills at any time

cat >killed.pl <<'END'
my $try = shift;
my $pid = fork // die;
if (!$pid) { exec @ARGV or die }
srand $try;
if ($try < 12) {
  select undef, undef, undef, rand 4;
  kill 9, $pid;
}
waitpid $pid, 0;
END
# Prints a commit that is left to measure, also one that this runner has claimed.
open() {
  vkb-trackcommits determine --repo repo --config-file cfg.json --table killed \
    --attempts 1 --max-commits 1 --resume --owner "$(uname -n):$scratch/x"
}
try=0
killed() {
  try=$((try + 1))
  [ -n "$(open)" ] && [ $try -lt 40 ]
}
while killed; do
  perl killed.pl $try vkb-continuous -C repo --results x --table killed \
    --max-commits 9 --attempts 1 cfg.json -- --runs 2 >>x.out 2>>x.err
  [ $try -lt 12 ] || no_litter || wait_until 60 no_litter
done
test_empty "$(open)" 'after many kills no commit is left'
test_same 'c7 c4 c3 c2 fast' "$(states complete --table killed)" 'the commits that work are complete'
test_same 'does not start does not build' "$(states failed --table killed)" 'the commits that do not work are failed'
test_same 1 "$(rows --table killed | jq -s 'map(.attempts) | max')" 'each commit has one attempt'
test_same '10|10' "$(sql "SELECT count(*), count(DISTINCT (commit, vkb_index)) FROM benchmark_metrics_killed WHERE error IS NULL")" \
  'each run is stored once'
test_litter 60 'no server is left'

# --- a regression

# history [COMMITS [FROM TO]]: prints a long history of another case, slower at the end, or
# from one commit to another
history() {
  i=0
  in_repo rev-list --reverse unstable | head -n "${1:-99}" | while read -r sha; do
    i=$((i + 1))
    rps=$((50000 + i * 37 % 11 * 30))
    [ $i -le 30 ] || rps=$((rps - 4000))
    [ $i -le "${2:-99}" ] || [ $i -gt "${3:-99}" ] || rps=$((rps - 4000))
    printf '{"type":"run","v":1,"subject":{"commit":"%s"},"config":{"command":"GET"},"run":{"session":"s","index":1},"metrics":{"rps":%s},"status":"ok"}\n' \
      "$sha" $rps
  done
}
for i in $(seq 8 40); do
  day $((i % 28 + 1))
  in_repo commit -q --allow-empty -m "c$i"
done
mkdir n n/seen
history >n/seen/history.jsonl
test_status 1 'a regression is exit 1' continuous n --file n.t --max-commits 0
test_match '<!-- vkb-key: ' .out 'the issue is printed'
cp .out want
test_same "$(cat want)" "$(cat n/issues/*.md)" 'the file of the issue is the same'
test_match 'regression' n/report.txt 'the report has the regression'
test_that 'the next start is exit 0' continuous n --file n.t --max-commits 0
test_empty_file .out 'nothing is printed on stdout'
test_status 1 'another folder for issues is exit 1' continuous n --file n.t --max-commits 0 --issue-dir elsewhere
test_same "$(cat want)" "$(cat elsewhere/*.md)" 'the other folder gets the issue'
mkdir v v/seen w w/seen
reverted() { # reverted STATUS COMMITS WHAT [DIR]: judges the first commits, slower from 11 to 20
  history "$2" 10 20 >"${4:-v}/seen/history.jsonl"
  test_status "$1" "$3" continuous "${4:-v}" --file v.t --max-commits 0 --issue-dir v/issues
}
reverted 1 20 'a regression that will be reverted is exit 1'
reverted 0 20 'what another machine has reported to the same folder is not new' w
test_empty_file .out 'it is not printed once more'
first=$(cd v/issues && echo *.md | sed "s/[.].*//")
reverted 0 30 'a regression that was reverted is exit 0'
test_match "'.*$first\..*' is removed: $(in_repo rev-list --reverse unstable | sed -n 21p | cut -c 1-7)[0-9a-f]* reverted the regression\$" \
  .err 'a message names the commit that reverted it'
reverted 0 20 'to the machine that has not measured the revert, the regression is not new' w
reverted 0 30 'nor is it to the one that has'
test_same 1 "$(find v/issues -type f | wc -l)" 'its issue is kept for the machine that still shows it'
reverted 0 30 'both machines have measured the revert' w
test_empty "$(cd v/issues && ls)" 'its issue is removed'
reverted 1 40 'another regression after that is exit 1'
test_match '<!-- vkb-key: ' .out 'its issue is printed as a new one'
test_same 1 "$(find v/issues -type f | grep -cv "$first")" 'it has a file of its own'
test_absent 'reverted' .err 'the first one is not removed once more'
vkb-pgpush -q --table long n/seen/history.jsonl
test_status 1 'a regression in the database is exit 1' continuous p --table long --max-commits 0
test_same "$(cat want)" "$(cat .out)" 'the issue from the database is the same'
test_same "$(jq -r .key p/changes.jsonl | sort)" \
  "$(sql "SELECT vkb_key FROM vkb_changes WHERE metrics_table = 'benchmark_metrics_long'" | sort)" \
  'the database has the changes'
test_match . p/changes.jsonl 'there are changes'
echo '{"rules": [{"metric": "rps", "margin": "50%"}]}' >policy.json
test_that 'a policy with a large margin is exit 0' continuous n --file n.t --max-commits 0 --policy policy.json --issue-dir none
test_empty "$(cat .out none/* 2>/dev/null)" 'with a large margin there is no issue'

# --- errors

for words in '' '-C repo' 'cfg.json' '-C repo --nonsense cfg.json' \
  '-C repo cfg.json other.json' '-C repo --max-commits x cfg.json' \
  '-C repo --max-commits 99999999999999999999 cfg.json' \
  '-C repo --file x --table core cfg.json'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-continuous $words is an error" vkb-continuous $words
  test_match 'usage: ' .err 'the error shows the usage'
done
test_status 2 'a configuration that does not exist is an error' vkb-continuous -C repo --results e --file e.t none.json
test_match "cannot read 'none.json'" .err 'the error names the file'
echo '[{"commands":["SET"],"clients":[0]}]' >bad.json
cfg=bad.json
test_status 2 'an invalid configuration is an error' continuous e --file e.t
test_match '^vkb-load: ' .err 'the error is that of vkb-load'
test_status 1 'no commit is claimed before that error' test -e e.t
cfg=cfg.json
test_status 2 'a repository that does not exist is an error' vkb-continuous -C none --results e --file e.t cfg.json
test_match "'none'" .err 'the error names the repository'
test_status 2 'a branch that does not exist is an error' continuous e --file e.t --branch "gone; touch evil"
test_match "'gone; touch evil'" .err 'the error names the branch'
test_status 2 'an invalid name of a table is an error' continuous e --table "x; DROP TABLE benchmark_commits; --"
test_match "'--table'" .err 'the error names the option'
nasty=$(printf "it's \$(touch evil) \"a\" --\nb")
cp cfg.json "$nasty.json"
cfg=$nasty.json
test_that 'hostile names are accepted' continuous "$nasty" --file "$nasty.t" --max-commits 1 \
  --issue-dir "$nasty/i"
test_same complete "$(rows --file "$nasty.t" | jq -r .status)" 'the commit is complete with hostile names'
test_empty "$(find . -name evil)" 'no hostile name is run as a command'

# --- the reason of a failure

sed -n '/^print_failure() {/,/^}/p' "$top/bin/vkb-continuous" >print_failure
for line in "reading 'the failed/cfg.json'" "SET_unfailed: run 1" "SET: run 1 failed; see 'x'" 'the end'; do
  echo "vkb-load: $line"
done >said
test_same "vkb-load: SET: run 1 failed; see 'x'" "$(err=said sh -c '. ./print_failure; print_failure vkb-load')" \
  'a name with the word is not the reason'
test_done
