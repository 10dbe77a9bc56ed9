#!/bin/sh
# vkb-load --logs: the logs of servers and all messages are written to a folder. The
# logs of failed runs are kept without that option, too.
# sanitize: logs.
. "${0%/*}/lib.sh"

test_server 'vkb-load --logs'
base='"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"clients":[2],"tls_mode":false,"warmup":0'
printf '[{"commands":["SET","GET"],%s,"cluster_mode":false,"requests":[500]}]\n' \
  "$base" >c.json
set=SET-d16-P1-c2-k100 get=GET-d16-P1-c2-k100

test_that 'runs with --logs' vkb-load -q --runs 2 --logs keep/here c.json
test_same "keep/here/$get/run-1.log
keep/here/$get/run-2.log
keep/here/$set/run-1.log
keep/here/$set/run-2.log
keep/here/logs.txt" "$(find keep -type f | sort)" \
  'each server has a log in the folder of its case'
for log in keep/here/*/run-?.log; do
  grep -q 'Ready to accept connections' "$log" &&
    grep -Eq 'User requested shutdown|Received SIGTERM' "$log" || echo "$log"
done >incomplete
test_empty_file incomplete 'each log has the start and the end of its server'
test_same 4 "$(grep -Ec '^20[0-9-]+T[0-9:.]+Z vkb-load: [A-Z]+ run [12]/2: .* req/s' \
  keep/here/logs.txt)" 'logs.txt has a line with the time for each run'
test_absent 'req/s' .err 'the results of runs are not printed on stderr'
test_that 'a second session in the same folder' \
  vkb-load -q --runs 1 --case 'SET*' --logs keep/here c.json
test_same 2 "$(grep -c 'Ready to accept' "keep/here/$set/run-1.log")" \
  'a second session appends to the logs'

printf '[{"commands":["SET"],%s,"cluster_mode":true,"cluster_nodes":3,"requests":[500]}]\n' \
  "$base" >cluster.json
test_that 'a cluster with a label' \
  vkb-load --runs 1 --label a/b --logs nodes cluster.json
test_same 'run-1-node2.log run-1-node3.log run-1.log' \
  "$(find nodes/SET-*@a_b -type f -printf '%f\n' | sort | xargs)" \
  'every node of a cluster has a log, in a folder with the label'

test_status 2 'a folder that cannot be made' vkb-load --logs c.json/x c.json
test_match "cannot make the folder 'c.json/?x?'" .err \
  'the error names the folder'
test_empty_file .out 'nothing is measured without the folder'
test_status 2 '--plan and --logs' vkb-load --plan --logs x c.json

# --- failed runs

printf '[{"commands":["SET"],%s,"cluster_mode":false,"requests":[2000],"config_sets":[{"maxmemory":"1","maxmemory-policy":"noeviction"}]}]\n' \
  "$base" >oom.json
test_that 'a run that is ok' vkb-load --runs 1 -o runs --case 'SET*' c.json
test_same no "$([ -e runs.logs ] && echo yes || echo no)" \
  'no log of such a run is kept'
test_status 2 'a failed run with -o' vkb-load --runs 2 -o runs oom.json
kept=$(sed -n "s/.*run 2 failed; the log of its server is kept in '\(.*\)'/\1/p" .err)
case $kept in runs.logs/SET-*/run-2.log) test_result 0 'the message names the log beside the results' ;;
*) test_result 1 "the message names the log beside the results, not '$kept'" ;; esac
test_match 'Ready to accept connections' "$kept" 'the log of a failed run is kept'
test_match 'User requested shutdown|Received SIGTERM' "$kept" \
  'the log of a failed run goes to the end of the server'
test_status 2 'a failed run to stdout' vkb-load --runs 1 oom.json
kept=$(sed -n "s/.*the log of its server is kept in '\(.*\)'/\1/p" .err)
case $kept in "$TMPDIR"/vkb-logs.*/SET-*/run-1.log) test_result 0 'the message names the log in TMPDIR' ;;
*) test_result 1 "the message names the log in TMPDIR, not '$kept'" ;; esac
test_match 'Ready to accept connections' "$kept" 'the log in TMPDIR is kept'
mkdir "$TMPDIR/vkb-logs.in-use"
for n in 1 2 3 4 5 6; do
  mkdir -p "$TMPDIR/vkb-logs.$n/case"
  touch -d "$n hours ago" "$TMPDIR/vkb-logs.$n"
done
touch -d '1 day ago' "$TMPDIR/vkb-logs.in-use"
flock -s "$TMPDIR/vkb-logs.in-use" vkb-load -q --runs 1 oom.json >.out 2>.err
test_same '1 2 3 in-use' "$(cd "$TMPDIR" && echo vkb-logs.? vkb-logs.in-use | sed 's/vkb-logs.//g')" \
  'the newest five folders of logs are kept, and those in use'
test_that 'the folder of the log of the run is one of them' test -s \
  "$(sed -n "s/.*the log of its server is kept in '\(.*\)'/\1/p" .err)"
flock -x runs.logs vkb-load -q --runs 1 -o runs oom.json 2>.err
test_match "the log of its server is kept in 'runs.logs-2/SET-.*/run-1.log'" .err \
  'programs that share a file of results have folders of their own'

# The run directory of a server that is killed is removed before vkb-load knows it.
under_load() {
  find_victim "$load" && [ "$(find "/proc/$load/fd" -lname 'socket:*' | wc -l)" -ge 3 ]
}
vkb-load --runs 1 --duration 30 --case 'SET*' -o killed c.json 2>killed.err &
load=$!
wait_until 10 under_load
kill -SEGV "$victim"
wait "$load"
test_same 2 $? 'a server that crashes fails its run'
kept=$(sed -n "s/.*the log of its server is kept in '\(.*\)'/\1/p" killed.err)
test_match 'BUG REPORT START|crashed by signal' "${kept:-/dev/null}" \
  'the whole report of the crash is kept'
test_litter 10 'no other file is left'
test_done
