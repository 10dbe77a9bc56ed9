#!/bin/sh
# A failure is never a result: each command that a workflow starts ends once with
# status 1, 2 or 127 or by a signal, without a message. The workflow then ends with 2 and
# an error that says which command ended and how, or with the right status if that is
# listed here. It never ends with 1 for it, and no run is lost.
# A row is a workflow that begins with some results. Status 1 and a signal are drawn for
# one row of a workflow, 2 and 127 for its next one, all four for an only one, each with
# one call of all that the workflow makes: other ones for each VKB_TEST_SEED. Of the
# workflows that match the pattern VKB_TEST_MATRIX all commands end in each of these ways.
. "${0%/*}/lib.sh"
test_server 'workflows'
. "$tests/repo.sh"

# Calls that may fail without harm, and the reason.
harmless() { # harmless WORKFLOW COMMAND END: true if that call may fail
  case "$1 $2" in
  # The comparison finds what git could not archive, add or show.
  'vkb-publish tar' | 'vkb-publish git') return 0 ;;
  # git bisect reset, if there is nothing to reset.
  'vkb-bisect git') return 0 ;;
  # A page is made from results that are kept; a message says that it is missing.
  'vkb-ab vkb-report' | 'vkb-pr vkb-history') return 0 ;;
  # The number of processors; a copy of the server, for the next time.
  'vkb-quickstart nproc' | 'vkb-quickstart cp' | 'vkb-quickstart sha256sum') return 0 ;;
  # What is counted is left out, with a message.
  'vkb-why vkb-load') return 0 ;;
  esac
  answers "$@"
}
# answers WORKFLOW COMMAND END: true if status 1 of that command means no
answers() {
  case "$3 $2" in
  # Does a file have this text? Are files the same? Has another machine the commit? Is
  # it installed? Has docker its compose plugin?
  '1 grep' | '1 cmp' | '1 git' | '1 vkb-trackcommits' | '1 pkg-config' | '1 docker' | '2 docker') return 0 ;;
  esac
  return 1
}

# A program with the names of all other programs: it counts the calls of each in the
# file $CALLS, ends as $END says in the chosen call, and otherwise starts the real
# program.
cat >fails.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
int
main(int argc, char **argv)
{
	char *name = strrchr(argv[0], '/'), line[256];
	FILE *calls = fopen(getenv("CALLS"), "a+");
	int n = 1;

	name = name ? name + 1 : argv[0];
	flock(fileno(calls), LOCK_EX);
	rewind(calls);
	while (fgets(line, sizeof line, calls)) {
		line[strcspn(line, "\n")] = 0;
		n += strcmp(line, name) == 0;
	}
	fprintf(calls, "%s\n", name);
	fclose(calls);
	if (strcmp(name, getenv("FAIL")) == 0 && n == atoi(getenv("NTH"))) {
		if (strcmp(getenv("END"), "signal") == 0)
			raise(SIGKILL);
		return atoi(getenv("END"));
	}
	setenv("PATH", getenv("REAL_PATH"), 1);
	execvp(name, argv);
	return argc ? 127 : 0;
}
END
cc -O1 -o fails fails.c
REAL_PATH=$PATH CALLS=$scratch/calls
export REAL_PATH CALLS

mkdir share
ln -s "$top" share/vkb
ln -s "$top/lib" "$top/man" .

# Programs of others that change the machine or need a service, and do nothing here:
# a user who is not root lacks some packages, which apt-get finds.
mkdir services
while read -r name text; do
  printf '#!/bin/sh\n%s\n' "$text" >"services/$name"
done <<'END'
aws
docker
sudo exec "$@"
id echo 1000
apt-cache echo '  Candidate: 1.0'
apt-get case " $* " in *' install '*) cp "$PACKAGES"/*.pc "$PKG_CONFIG_LIBDIR" ;; esac
END
chmod +x services/*
# with_services ROW ...: tries a row on a machine that has them.
with_services() {
  path=$PATH
  PATH=$scratch/services:$PATH REAL_PATH=$scratch/services:$REAL_PATH
  "$@"
  PATH=$path REAL_PATH=$path
}

# wrap WORKFLOW: copies it to WORKFLOW.d, where each program that it or what it sources may
# name is a link to fails, but setpriv, which starts others, and what is built into sh
wrap() {
  mkdir -p "$1.d"
  cp "$top/bin/$1" "$1.d"
  # shellcheck disable=SC2016 # variables of perl
  perl -ne '$is{$_} = 1 for /[\w][\w-]*/ag; END {
    for my $word (keys %is) {
      next if -e "$dir/$word" || $word =~ /^(setpriv|true|false|echo|printf|test|kill|pwd)$/;
      symlink "../fails", "$dir/$word" if grep { -f "$_/$word" && -x _ } split /:/, $ENV{PATH};
    } } BEGIN { $dir = shift }' "$1.d" "$top/bin/$1" "$top"/lib/vkb/vkb-*-setup
}

# try COMMAND CALL END: runs the workflow in the folder work; that call ends so
try() {
  : >"$CALLS"
  FAIL=$1 NTH=$2 END=$3 PATH=$scratch/$workflow.d:$REAL_PATH "$scratch/again" \
    >"$scratch/try.out" 2>"$scratch/try.err" </dev/null
}
# runs_in FOLDER: prints the run records in its files, without incomplete lines and
# failed runs
# shellcheck disable=SC2016 # variables of perl
runs_in() {
  find "$1" -type f \( -name '*jsonl*' -o -name '*.part' -o -name '*.new' \) \
    -exec perl -MJSON::PP -ne 'print if /"type":"run".*"status":"ok"/ && eval { decode_json $_ }' {} + |
    sort -u
}
fresh() {
  rm -rf work
  cp -a "$start" work
  [ ! -e state.first ] || cp state.first state # of a forge
}

# choose FILE: prints COMMAND CALL END for what is tried of the calls in the file
choose() {
  # shellcheck disable=SC2254 # it is a pattern
  case $workflow in
  ${VKB_TEST_MATRIX:-}) # the first calls of each command, and the last
    awk '{ last[$1] = $2 } END { for (c in last) for (n = 1; n <= last[c]; n++)
      if (n < 3 || n == last[c]) for (e = split("1 2 127 signal", end); e; e--) print c, n, end[e] }' "$1"
    ;;
  *)
    awk -v seed="${VKB_TEST_SEED:-1}" -v row="$test_n" -v ends="$ends" '{ call[NR - 1] = $0 }
      END { for (e = split(ends, end); e; e--)
        print call[(seed * 31 + row * 7 + e * int(NR / 2 + 1)) % NR], end[e] }' "$1"
    ;;
  esac
}
# judge COMMAND END STATUS: prints what is wrong with this end of the workflow
judge() {
  [ "$3" -ne "$right" ] || ! harmless "$workflow" "$1" "$2" || return
  if [ "$3" -ne 2 ]; then
    echo "status $3"
    return
  fi
  case $1,$2 in
  readlink,*) how='readlink' ;;
  sudo,*) how='sudo ' ;;
  *,127) how="$1 is missing, or a file that it needs" ;;
  *,signal) how="$1 was ended by signal 9" ;;
  *) how="$1 ended with status $2" ;;
  esac
  grep -qF "$how" try.err || { answers "$workflow" "$1" "$2" && [ -s try.err ]; } || echo "no message with '$how'"
}

# matrix WORKFLOW STATUS START COMMAND: COMMAND, run by sh in a copy of the folder START,
# ends with STATUS; then with calls that fail. After a signal the same command is run
# again.
matrix() {
  echo "$1" >>rows
  case $(grep -c "matrix $1 [0-9]" "$tests/${0##*/}"),$(($(grep -cx "$1" rows) % 2)) in
  1,*) ends='1 signal 2 127' ;;
  *,1) ends='1 signal' ;;
  *) ends='2 127' ;;
  esac
  workflow=$1 right=$2 start=$3 what="$1 from $3"
  wrap "$1"
  printf '#!/bin/sh\ncd "%s/work" || exit 3\n%s\n' "$scratch" "$4" >again
  chmod +x again
  fresh
  try none 0 0
  got=$?
  test_same "$right" $got "$what: the exit status without a failure"
  [ $got -eq "$right" ] || sed 's/^/# /' try.err
  awk '{ print $0, ++n[$0] }' "$CALLS" >all
  choose all >some
  runs_in "$start" >had
  : >wrong
  while read -r command call end; do
    fresh
    try "$command" "$call" "$end"
    got=$?
    why=$(judge "$command" "$end" $got)
    [ -z "$why" ] || echo "$command $call $end: $why: $(head -n 5 try.err | paste -s -d ' ' -)"
    runs_in work >after
    [ -z "$(comm -23 had after)" ] || echo "$command $call $end: lost what it had"
    if [ $got -eq 2 ] && [ "$end" = signal ]; then
      try none 0 0
      got=$?
      [ $got -eq "$right" ] || echo "$command $call $end: then status $got: $(head -n 3 try.err | paste -s -d ' ' -)"
      runs_in work >last
      [ -z "$(comm -23 after last)" ] || echo "$command $call $end: lost runs when it resumed"
    fi
    rm -rf "$TMPDIR"/tmp.* # where rm has failed
  done <some >wrong
  test_empty "$(cat wrong)" "$what: $(wc -l <some) ends of $(wc -l <all) commands"
}
# after COMMAND CALL FOLDER: lets that call fail and moves the results to FOLDER
after() {
  fresh
  try "$1" "$2" 1
  test_same 2 $? "$workflow: a failure of $1 is an error"
  rm -rf "$3"
  mv work "$3"
}

# --- the workflows

real_repo
in_repo tag base
burn 1 'no slower'
cat >cfg.json <<'END'
[{"commands": ["SET"], "requests": [100], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [2],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
mkdir empty
judged='-m rps --margin 95% --on-insufficient ok'
common="-C $scratch/repo base main -- --runs 2 $scratch/cfg.json -- $judged"
cp -a repo slow
git -C slow checkout -q -B slow
sed 's/ 1$/ 2000000/' repo/src/burn.h >slow/src/burn.h
git -C slow commit -qam slow

matrix vkb-ab 0 empty "vkb-ab --results r $common"
after vkb-stats 1 ab-measured
matrix vkb-ab 0 ab-measured "cd $scratch/repo && vkb-ab --results $scratch/work/r ${common#* * }"
matrix vkb-ab 0 empty "cd $scratch/slow && vkb-ab --results $scratch/work/r -- ${common#*-- }"
matrix vkb-pr 0 empty "vkb-pr --results r $common"
after vkb-stats 1 pr-measured
matrix vkb-pr 0 pr-measured "vkb-pr --results r --baseline $scratch/ab-measured/r/part.jsonl $common"
bench="vkb-bench --valkey-path $scratch/repo --config $scratch/cfg.json --commits base main --runs 2"
matrix vkb-bench 0 empty "$bench"
after vkb-parse 1 bench-measured
matrix vkb-bench 0 bench-measured "$bench"
vkb-bench --valkey-path repo --config cfg.json --commits base --runs 4 --results-dir "$scratch/empty/x" 2>log || cat log
rm -rf empty/x
workflow=vkb-bench
printf '#!/bin/sh\ncd "%s/work" || exit 3\n%s\n' "$scratch" "$bench --baseline base" >again
start=empty
after vkb-compare 2 unused
test_match 'nothing was compared: vkb-compare ended with status 1' try.err 'status 1 of vkb-compare without a comparison is an error'
quickstart="vkb-quickstart --runs 2 --results r $scratch/cfg.json"
matrix vkb-quickstart 0 empty "$quickstart"
mkdir quick
(cd quick && eval "$quickstart" >/dev/null 2>&1)
matrix vkb-quickstart 2 quick "$quickstart"

matrix vkb-continuous 0 empty \
  "vkb-continuous -C $scratch/repo --branch main --max-commits 1 --file t --results r $scratch/cfg.json -- --runs 2"
mkdir bisected
# The slow commit takes 30 times the CPU time, beside a margin of a factor of 2.5: that of
# 100 requests varies by several times beside other tests.
bisect="vkb-bisect -C $scratch/slow --results r base slow -- --runs 6 $scratch/cfg.json -- -m server_cpu_us_per_req --margin 60%"
(cd bisected && eval "$bisect" >/dev/null 2>&1)
rm -r bisected/r/culprit # is measured again
: >bisected/r/verdicts
matrix vkb-bisect 0 bisected "$bisect"
if command -v perf >/dev/null; then
  mkdir why
  why="vkb-why -C $scratch/repo --results r --rounds 1 --time .5s base main $scratch/cfg.json"
  (cd why && eval "$why" >/dev/null 2>&1)
  matrix vkb-why 0 why "$why"
else
  test_skip vkb-why perf
  mkdir vkb-why.d
fi

mkdir files files/d
git init -q --bare files/store
cp ab-measured/r/part.jsonl files/d/a.jsonl
matrix vkb-publish 0 files "vkb-publish --repo $scratch/work/store push d"
with_services matrix vkb-publish 0 files "vkb-publish --s3 s3://b/p push d && vkb-publish --s3 s3://b/p pull e"
(cd files && vkb-publish --repo "$scratch/files/store" push d)
matrix vkb-publish 0 files "vkb-publish --repo $scratch/work/store pull e"
mkdir commented
vkb-compare --baseline base -f jsonl:commented/deltas.jsonl ab-measured/r/part.jsonl >log 2>&1
matrix vkb-comment 0 commented 'GITHUB_API_URL=http://x GITHUB_SERVER_URL=http://x GITHUB_REPOSITORY=a/b
  export GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY; vkb-comment --dry-run github deltas.jsonl'
unset http_proxy HTTP_PROXY ALL_PROXY all_proxy
start_forge
awk 'BEGIN { for (i = 1; i <= 40; i++)
  printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"%040d\"},\"config\":{\"command\":\"SET\"},\"run\":{\"session\":\"s\",\"index\":1},\"metrics\":{\"rps\":%d},\"time\":\"2026-01-01T00:00:%02dZ\",\"status\":\"ok\"}\n",
    i, 50000 + i * 37 % 11 * 30 - (i > 30) * 4000, i }' >commented/history.jsonl
echo '{"login": "github-actions[bot]", "comments": [], "issues": [], "labels": {},
  "fail": {"POST /grafana/api/folders": 200, "POST /grafana/api/dashboards/db": 200}}' >state
cp state state.first
echo '{"pull_request": {"number": 7}}' >event
forge_is="GITHUB_API_URL=http://127.0.0.1:$(cat port)/github GITHUB_SERVER_URL=http://x GITHUB_REPOSITORY=o/r
  GITHUB_TOKEN=secret-1 GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH=$scratch/event
  export GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_TOKEN GITHUB_EVENT_NAME GITHUB_EVENT_PATH"
matrix vkb-comment 0 commented "$forge_is; vkb-comment github deltas.jsonl"
matrix vkb-comment 0 commented "$forge_is; vkb-comment --issue github history.jsonl"
jq '. + {reactions: [], may: {ada: "write"}, busy: 0, asked: 0, pulls: [], pull: {number: 7,
  state: "open", mergeable: true, merge_commit_sha: "0123456789abcdef0123456789abcdef01234567",
  head: {repo: {full_name: "me/r", pushed_at: "2026-01-01T00:00:00Z"}}}}' state >asked
mv asked state
cp state state.first
echo '{"issue": {"number": 7, "pull_request": {}}, "comment": {"id": 55, "body": "/benchmark -t set",
  "created_at": "2026-01-02T00:00:00Z", "html_url": "https://forge.example/o/r/pull/7#issuecomment-55",
  "user": {"login": "ada"}}}' >comment
matrix vkb-comment 0 empty "$forge_is; GITHUB_EVENT_NAME=issue_comment GITHUB_EVENT_PATH=$scratch/comment \
  GITHUB_OUTPUT=$scratch/output; export GITHUB_OUTPUT; vkb-comment --request request github"
matrix vkb-dashboards 0 empty "GRAFANA_URL=http://127.0.0.1:$(cat port)/grafana GRAFANA_TOKEN=t
  export GRAFANA_URL GRAFANA_TOKEN; vkb-dashboards sync"
kill "$forge"
rm state.first
test_cleanup() { :; }
matrix vkb-dashboards 0 empty 'GRAFANA_URL= vkb-dashboards --state s sync'
matrix vkb-needs 0 empty 'vkb-needs run'
mkdir -p lacks/pc packages
for p in expat libarchive libcjson libcurl hiredis libgit2 libpcap libpq openssl zlib; do
  printf 'Name: %s\nDescription: a library\nVersion: 1\n' "$p" >"packages/$p.pc"
done
needs="PKG_CONFIG_LIBDIR=$scratch/work/pc PACKAGES=$scratch/packages; unset PKG_CONFIG_PATH
  export PKG_CONFIG_LIBDIR PACKAGES; vkb-needs --yes build"
with_services matrix vkb-needs 0 lacks "$needs"
with_services matrix vkb-dashboards 0 empty 'vkb-dashboards --state s up && vkb-dashboards --state s down'
mkdir two
ln -s "$top/bin/vkb-stats" "$top/bin/vkb-ab" two
matrix vkb-completion 0 empty "vkb-completion $scratch/two out"
matrix vkb 0 empty 'vkb && vkb --version && MANPAGER=cat PAGER=cat vkb help ab'
test_same "$(cd "$top/bin" && grep -l '^#!/bin/sh' -- * | xargs)" "$(printf '%s\n' *.d | sed 's/[.]d$//' | sort | xargs)" \
  'every workflow was tried'

test_same 'answer_no() { end_with 1; }' \
  "$(cd "$top" && grep -lZ '^#!/bin/sh\|^# shellcheck shell=sh' -- bin/* lib/vkb/* | xargs -0 grep -hE '(exit|end_with) 1')" \
  'status 1 is set in one place'

# --- a full disk

# A file system with little free space.
full() { # full KILOBYTES: leaves only so much free space
  rm -f disk/filler
  dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null
  dd if=disk/filler of=/dev/null count=0 2>/dev/null
  size=$(($(wc -c <disk/filler) / 1024 - $1))
  truncate -s "${size}k" disk/filler
}
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=2m none disk 2>/dev/null; then
  test_cleanup() { umount "$scratch/disk"; }
  # on_disk WHAT COMMAND: COMMAND, run by sh, has its results in disk/r
  on_disk() {
    for room in 0 8 32; do
      rm -rf disk/r
      full $room
      sh -c "$2" >out 2>err
      got=$?
      [ $got -eq 2 ] || [ $got -eq 0 ] || echo "$room: status $got"
      [ $got -eq 2 ] || continue # there was room enough
      grep -q '^vkb-' err || echo "$room: no message"
      runs_in disk >had
      rm disk/filler
      sh -c "$2" >out 2>err || echo "$room: then status $?"
      runs_in disk >after
      [ -z "$(comm -23 had after)" ] || echo "$room: lost runs"
    done >wrong
    test_empty "$(cat wrong)" "$1: a full disk is an error and loses no run"
  }
  on_disk vkb-ab "vkb-ab --results disk/r $common"
  on_disk vkb-continuous "vkb-continuous -q -C repo --branch main --max-commits 1 \
    --file disk/r/state --results disk/r cfg.json -- --runs 2"
else
  test_unable 'a full disk' 'the right to mount a file system'
fi

# --- other shells, and files that cannot be loaded

for shell in dash 'bash --posix'; do
  command -v "${shell%% *}" >/dev/null || continue
  mkdir -p alone/bin
  cp "$top/bin/vkb-ab" alone/bin
  # shellcheck disable=SC2086 # words
  test_status 2 "$shell: a missing vkb-sh-setup is an error" $shell alone/bin/vkb-ab -h
  test_match '^vkb-ab: cannot load ../lib/vkb/vkb-sh-setup' .err "$shell: a message says that it cannot be loaded"
  rm -r alone
  echo file >file
  # shellcheck disable=SC2086 # words
  test_status 2 "$shell: a file as folder of results is an error" $shell "$top/bin/vkb-ab" --results file $common
  test_match '^vkb-ab: ' .err "$shell: a message names the workflow"
  rm -rf r
  mkdir -p r/results r/asked.new
  # shellcheck disable=SC2086 # words
  test_status 2 "$shell: a file that cannot be opened is an error" $shell "$top/bin/vkb-ab" --results r $common
  test_match '^vkb-ab: stopped while checking the arguments' .err "$shell: a message names the step"
  # shellcheck disable=SC2086 # words
  test_status 2 "$shell: a full disk for stdout is an error" sh -c "$shell $top/bin/vkb-ab --results full $common >/dev/full"
done
# shellcheck disable=SC2086 # words
test_that 'a folder whose name looks like an option is accepted' vkb-ab --results -rf $common
test_that 'the folder has the runs' test -s ./-rf/runs.jsonl
test_litter 20 'no server is left'

# --- a database

test_cleanup
test_postgres 'results in a database'
matrix vkb-continuous 0 empty "PATH=$REAL_PATH psql -qc 'DROP SCHEMA public CASCADE; CREATE SCHEMA public' 2>/dev/null
  vkb-continuous -C $scratch/repo --branch main --max-commits 1 --table core --results r $scratch/cfg.json -- --runs 2"
test_done
