#!/bin/sh
# vkb-profile of a real server under a real load: its functions are found with
# frame pointers and without; off the CPU it waits for fsync.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

if ! command -v perf >/dev/null; then
  test_skip vkb-profile perf
  test_done
fi
test_server vkb-profile

# under_load SERVE-OPTION...: runs the file profiles while the server is under load, with
# pauses, so that other tests have a CPU and there are fewer stacks to resolve
cat >script <<'E2'
set -e
(while perl -e 'select undef, undef, undef, 0.05'; do
  valkey-benchmark -p "$VKB_PORT" -q -n 2000 -P 4 -t set || exit
done) >/dev/null 2>&1 &
load=$!
trap 'kill "$load"; wait "$load" 2>/dev/null || :' EXIT
. ./profiles
E2
under_load() { vkb-serve -q "$@" -- sh script; }

cat >profiles <<'E2'
vkb-profile -q --port "$VKB_PORT" --call-graph fp -d 3s -o fp >fp.json
vkb-profile -q --pid "$VKB_PID" --call-graph dwarf -d 2s -o dwarf >dwarf.json
vkb-profile -q --port "$VKB_PORT" --stat ipc -d 1s -o stat >stat.json
vkb-profile -q --pid "$VKB_PID" -m wall -d 1s --delay 100ms -o wall >wall.json
E2
test_that 'a server under load is profiled' under_load
for how in fp dwarf; do
  for function in processCommand call readQueryFromClient; do
    test_match "^valkey-server;.*;${function}[; ]" $how/stacks.folded \
      "$how: the stacks have $function"
  done
  test_match 'processCommand' $how/functions.txt "$how: the table has processCommand"
  test_match 'processCommand' $how/flame.svg "$how: the graph has processCommand"
  test_same "$(cat $how/profile.json)" "$(cat $how.json)" \
    "$how: the printed record is that in the folder"
  test_same "$how true" "$(jq -r '[.sampling.call_graph,
    .target.comm == "valkey-server" and (.target | has("command") | not)] |
    map(tostring) | join(" ")' $how.json)" "$how: the record has the call graph and the program"
done
test_same true "$(jq '.target.port > 0' fp.json)" 'the record has the port'
test_same 'true true' "$(jq -r '[.requests > 0,
  .per_req.task_clock_ms_per_req > 0] | map(tostring) | join(" ")' stat.json)" \
  'the record has the CPU time per request'
test_same true "$(jq '.counters.task_clock_ms / .requests
  - .per_req.task_clock_ms_per_req | fabs < 1e-12' stat.json)" 'the CPU time per request is the CPU time divided by the requests'
test_match 'processCommand' wall/stacks.folded 'wall: the stacks have running functions'
test_match 'epoll_wait|write|read' wall/stacks.folded 'wall: the stacks have waiting functions'
test_same true "$(jq '.delay_s == 0.1' wall.json)" 'the record has the delay'

# The stacks have all the time of the main thread: 1 s, less on a busy machine.
test_same true "$(awk '/^valkey-server;/ { n += $NF } END { print n }' \
  wall/stacks.folded | jq '. > 500000')" 'wall: the times add up to more than half a second'

cat >profiles <<'E2'
vkb-profile -q --port "$VKB_PORT" -m offcpu -d 3s -o off >off.json
E2
test_that 'a server that waits for the disk is profiled' under_load \
  --config appendonly=yes --config appendfsync=always
test_match '^valkey-server;.*(flushAppendOnlyFile|fdatasync|fsync)' \
  off/stacks.folded 'offcpu: the stacks have the wait for fsync'
test_same 'offcpu us true' "$(jq -r '[.mode, .sampling.unit,
  .sampling.blocked_s > 0] | map(tostring) | join(" ")' off.json)" 'offcpu: the record has the blocked time'

# --- signals

sed -n '/^descendants()/,/^}/p' "$tests/lib.sh" >stop
cat >>stop <<'E2'
vkb-profile -q --pid "$VKB_PID" -d 600s -m wall -o "$1" >"$1.json" 2>"$1.err" &
p=$!
i=0
until [ -s "$1/perf.data" ] && descendants $p perf >pids && [ -s pids ]; do
  i=$((i + 1))
  [ $i -lt 1200 ] || exit 1
  perl -e 'select undef, undef, undef, 0.05'
done
valkey-cli -p "$VKB_PORT" set a b >/dev/null
perl -e 'select undef, undef, undef, 0.5'
kill "-$2" $p
wait $p
echo $? >status
E2
perf_gone() { gone "$(cat pids)"; }
test_that 'SIGINT ends vkb-profile of a server' vkb-serve -q -- sh stop int INT
test_same 0 "$(cat status)" 'SIGINT is the regular end'
test_same ok "$(jq -r .status int.json)" 'the profile until SIGINT is ok'
test_match '^valkey-server;' int/stacks.folded 'the stacks until SIGINT are kept'
wait_until 60 perf_gone
test_that 'perf has ended after SIGINT' perf_gone
test_that 'SIGTERM ends vkb-profile of a server' vkb-serve -q -- sh stop term TERM
test_same 143 "$(cat status)" 'the status after SIGTERM is 143'
wait_until 60 perf_gone
test_that 'perf has ended after SIGTERM' perf_gone
test_that 'SIGKILL ends vkb-profile of a server' vkb-serve -q -- sh stop kill KILL
wait_until 60 perf_gone
test_that 'perf has ended after SIGKILL' perf_gone
test_empty "$(ls "$TMPDIR")" 'no temporary file is left'
test_done
