#!/bin/sh
# vkb-profile of a real server under a real load: its functions are there, by
# frame pointers and without; off the CPU it is fsync that it waits for.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

if ! command -v perf >/dev/null; then
  test_skip vkb-profile perf
  test_done
fi
test_server vkb-profile

# under_load SERVE-OPTION...: under load the file profiles is run.
cat >script <<'E2'
set -e
(while :; do
  valkey-benchmark -p "$VKB_PORT" -q -n 100000 -P 4 -t set || exit
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
test_that 'a server under load' under_load
for how in fp dwarf; do
  for function in processCommand call readQueryFromClient; do
    test_match "^valkey-server;.*;${function}[; ]" $how/stacks.folded \
      "$how: $function is in the stacks"
  done
  test_match 'processCommand' $how/functions.txt "$how: and in the table"
  test_match 'processCommand' $how/flame.svg "$how: and in the graph"
  test_same "$(cat $how/profile.json)" "$(cat $how.json)" \
    "$how: the record is in both places"
  test_same "$how true" "$(jq -r '[.sampling.call_graph,
    .target.comm == "valkey-server" and (.target | has("command") | not)] |
    map(tostring) | join(" ")' $how.json)" "$how: the record"
done
test_same true "$(jq '.target.port > 0' fp.json)" 'the port it was found by'
test_same 'true true' "$(jq -r '[.requests > 0,
  .per_req.task_clock_ms_per_req > 0] | map(tostring) | join(" ")' stat.json)" \
  'what a request costs'
test_same true "$(jq '.counters.task_clock_ms / .requests
  - .per_req.task_clock_ms_per_req | fabs < 1e-12' stat.json)" 'by its number'
test_match 'processCommand' wall/stacks.folded 'wall: where it runs'
test_match 'epoll_wait|write|read' wall/stacks.folded 'and where it waits'
test_same true "$(jq '.delay_s == 0.1' wall.json)" 'the delay'

# All the time of the main thread is in it: 1 s, as far as a busy machine goes.
test_same true "$(awk '/^valkey-server;/ { n += $NF } END { print n }' \
  wall/stacks.folded | jq '. > 500000')" 'wall: it adds up'

cat >profiles <<'E2'
vkb-profile -q --port "$VKB_PORT" -m offcpu -d 3s -o off >off.json
E2
test_that 'a server that waits for the disk' under_load \
  --config appendonly=yes --config appendfsync=always
test_match '^valkey-server;.*(flushAppendOnlyFile|fdatasync|fsync)' \
  off/stacks.folded 'fsync is what it waits for'
test_same 'offcpu us true' "$(jq -r '[.mode, .sampling.unit,
  .sampling.blocked_s > 0] | map(tostring) | join(" ")' off.json)" 'the record'

# --- Ctrl-C, and worse

cat >stop <<'E2'
vkb-profile -q --pid "$VKB_PID" -d 600s -m wall -o "$1" >"$1.json" 2>"$1.err" &
p=$!
i=0
until [ -s "$1/perf.data" ] && pgrep -P $p -x perf >pids; do
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
test_that 'Ctrl-C' vkb-serve -q -- sh stop int INT
test_same 0 "$(cat status)" 'is how it ends'
test_same ok "$(jq -r .status int.json)" 'the record is there'
test_match '^valkey-server;' int/stacks.folded 'what was seen is kept'
wait_until 60 perf_gone
test_that 'perf is gone' perf_gone
test_that 'SIGTERM' vkb-serve -q -- sh stop term TERM
test_same 143 "$(cat status)" 'is the status'
wait_until 60 perf_gone
test_that 'perf is gone' perf_gone
test_that 'SIGKILL' vkb-serve -q -- sh stop kill KILL
wait_until 60 perf_gone
test_that 'perf is gone even so' perf_gone
test_empty "$(ls "$TMPDIR")" 'no temporary file is left'
test_done
