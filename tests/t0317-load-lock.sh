#!/bin/sh
# vkb-load waits while another vkb-load measures on this host.
. "${0%/*}/lib.sh"

test_server 'the lock of a host'
VKB_LOCK=$scratch/lock
export VKB_LOCK
printf '[{"commands":["SET"],"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[200]}]\n' >c.json

# hold: starts a session that measures for a long time in the background; $holder is its
# pid.
held() { ! flock -n "$VKB_LOCK" true; }
hold() {
  vkb-load --set rate=1000 --runs 1 --duration 600s c.json >holder.out 2>holder.err &
  holder=$!
  wait_until 30 held
}
waits() { grep -q 'waiting for' "$1"; }
runs() { grep -c '"type":"run"' "$1" | tr -d ' '; }

test_that 'a session measures' vkb-load --runs 1 c.json
placed=$(jq -c '[.env.server_cpus, .env.client_cpus]' .out)
test_same '-rw-rw-rw-' "$(find "$VKB_LOCK" -printf %M)" \
  'every user can take the lock'
hold
cpus_of() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$@"; }
# pinned: the servers and client threads of $holder run on the CPUs of the record.
pinned() {
  find_victim "$holder" && [ "$(cpus_of /proc/"$victim"/status)" = "$on_server" ] &&
    cpus_of /proc/"$holder"/task/*/status | grep -qx "$on_client"
}
if [ "$(nproc)" -gt 1 ]; then
  on_server=$(echo "$placed" | jq -r '.[0]') on_client=$(echo "$placed" | jq -r '.[1]')
  test_same true "$(echo "$placed" | jq '.[0] != null and .[1] != null and .[0] != .[1]')" \
    'the record has the CPUs of the server and others of the client'
  wait_until 30 pinned
  test_result $? 'the next session has its server and its client on these CPUs'
else
  test_skip 'placement' 'two CPUs'
fi
vkb-load --runs 2 -o second c.json 2>second.err &
second=$!
wait_until 30 waits second.err
test_result $? 'a second session waits'
test_match "^vkb-load: waiting for 'vkb-load --set rate=1000 --runs 1 --duration 600s c.json' \(pid $holder\), which measures on this host; --no-lock or VKB_LOCK=no in the environment measures beside it" \
  second.err 'the message names the process that measures, and --no-lock'
test_same 0 "$(runs second)" 'a session that waits measures nothing'
test_that '--no-lock does not wait' vkb-load --no-lock --runs 1 c.json
unpinned() { # unpinned WHAT: the last run has no CPUs
  test_same '["ok",null,null]' \
    "$(jq -c '[.status, .env.server_cpus, .env.client_cpus]' .out)" "$1"
}
unpinned 'a session without the lock chooses no CPUs'
test_that 'VKB_LOCK=no does not wait' env VKB_LOCK=no vkb-load --runs 1 c.json
test_that 'a lock in another file does not wait' \
  env VKB_LOCK="$scratch/other" vkb-load --runs 1 c.json
test_that '--plan does not wait' vkb-load --plan c.json
kill -9 "$holder"
wait "$holder"
wait "$second"
test_same '0 2' "$? $(runs second)" 'a waiting session measures when the other one is killed'
test_same 1 "$(grep -c 'waiting for' second.err)" 'the message about waiting is printed once'
test_that 'a session whose runs are all finished does not wait' \
  vkb-load --runs 2 --resume second c.json

# --- where servers and clients run

sed 's/"warmup"/"placement":"none","warmup"/' c.json >none.json
test_that '"placement": "none"' vkb-load --runs 1 none.json
unpinned '"placement": "none" pins nothing'
test_that '--no-pin' vkb-load --no-pin --runs 1 c.json
unpinned '--no-pin pins nothing'
test_that 'one CPU' taskset -c 0 vkb-load --runs 1 c.json
unpinned 'with one CPU nothing is pinned'
test_absent 'pinned|CPUs' .err 'with one CPU there is no message about CPUs'
if [ "$(nproc)" -gt 1 ]; then
  many=$(($(nproc) + 1))
  test_that 'more threads than CPUs' vkb-load -t set,get --runs 1 -c $many --set benchmark-threads=$many \
    -n 1000 -r 100 --warmup 0
  test_same 1 "$(grep -c "1 server thread and $many client threads for $(nproc) CPUs: servers and clients are on different ones" .err)" \
    'threads that share CPUs are said once'
  test_same true "$(jq -s 'all(.env.server_cpus | test("^[0-9]+$"))' .out)" \
    'client threads that share CPUs leave that of the server alone'

  # The engine valkey-benchmark has its threads on the same CPUs.
  cat >benchmark <<END
#!/bin/sh
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/\$\$/status >'$scratch/benchmark.cpus'
exec valkey-benchmark "\$@"
END
  chmod +x benchmark
  test_that 'the engine valkey-benchmark' vkb-load --engine valkey-benchmark \
    --valkey-benchmark-path "$scratch/benchmark" --runs 1 c.json
  test_same "$placed $on_client" "$(jq -c 'select(.type == "run") | [.env.server_cpus, .env.client_cpus]' .out) $(cat benchmark.cpus)" \
    'valkey-benchmark runs on the CPUs of the client'

  # A running server stays where it is.
  # shellcheck disable=SC2016 # for the shell that vkb-serve starts
  test_that 'vkb-serve pins its server, and says so' vkb-serve -- sh -c \
    'echo $(sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/$VKB_PID/status)
     echo "$VKB_SERVER" | jq -r .nodes[0].cpus'
  test_same "$on_server" "$(uniq .out)" 'the server of vkb-serve is where that of vkb-load is'
  printf '{"type":"spec","v":1,"id":"other","placement":"none"}\n' >spec
  test_other spec
  pid=$(echo "$other" | jq .nodes[0].pid)
  test_same "$(cpus_of /proc/self/status) null" "$(cpus_of "/proc/$pid/status") $(echo "$other" | jq .nodes[0].cpus)" \
    '"placement": "none" of a server pins it to no CPU'
  test_that 'a running server that may run anywhere' vkb-load --port "$port" --flush --runs 1 c.json
  unpinned 'the client of a server that may run anywhere is not pinned'
  taskset -a -cp 0 "$pid" >/dev/null
  test_that 'a running server that is pinned' vkb-load --port "$port" --flush --runs 1 c.json
  test_same '0 true' "$(cpus_of "/proc/$pid/status") $(jq '.env.client_cpus != "0" and
    (.env.client_cpus | test("^[0-9]+$"))' .out)" \
    'a running server is not moved, and the client keeps away from its CPU'
  end_other
fi

# Several sessions at once: their runs do not overlap.
for i in 1 2 3; do
  vkb-load --runs 3 -o "many.$i" c.json 2>>many.err &
done
wait
test_same 1 "$(jq -s -r 'map(select(.type == "run")) | sort_by(.run.started) |
  map(.run.session) | [range(1; length) as $i | select(.[$i] != .[$i - 1])] | length
  | . - 1' many.1 many.2 many.3)" 'three sessions follow each other'
test_same 9 "$(cat many.1 many.2 many.3 | jq -r .status | grep -c ok)" \
  'the runs of all three sessions are ok'

# A signal ends the wait.
hold
vkb-load --runs 1 -o third c.json 2>third.err &
third=$!
wait_until 30 waits third.err
kill -TERM $third
wait $third
test_same '143 0' "$? $(runs third)" 'a signal ends the wait'

# Two file systems whose first files have the same inode number. A process holds the
# lock on the other one: it must not be named as the process that is waited for.
cat >decoy.sh <<'END'
. "$tests/wait.sh"
locked() { ! flock -n two/lock true && ! flock -n one/lock true; }
mkdir one two && mount -t tmpfs one one && mount -t tmpfs two two || exit
: >one/lock && : >two/lock
flock two/lock tail -f /dev/null & decoy=$!
flock -s one/lock tail -f /dev/null & reader=$!
wait_until 30 locked
VKB_LOCK=one/lock timeout -s TERM 3 vkb-load --runs 1 c.json >/dev/null 2>decoy.err
kill $(ps -o pid= --ppid "$decoy,$reader")
wait
END
if unshare -rm true 2>/dev/null; then
  unshare -rm sh decoy.sh
  test_match '^vkb-load: waiting for another program, which measures on this host' \
    decoy.err 'a process that holds a lock on another file system is not named'
else
  test_skip 'a lock on another file system' unshare
fi

# A workflow, whose child processes would wait for the lock that it holds.
test_that 'programs that a session starts do not wait for its lock' \
  flock "$scratch/outer" env VKB_LOCK=no vkb-load --runs 1 c.json
tr '\0' '\n' <"/proc/$(descendants "$holder" vkb-serve)/environ" >environment
test_match '^VKB_LOCK=no$' environment 'programs of a session take no lock'
kill -TERM "$holder"
wait "$holder"

mkfifo pipe
test_status 2 'a lock that is not a file is an error' env VKB_LOCK=pipe vkb-load --runs 1 c.json
test_match "'pipe', is not a file: set VKB_LOCK to another path or use --no-lock" .err \
  'the error names the lock that is not a file'
test_status 2 'a lock that cannot be made' \
  env VKB_LOCK="$scratch/none/lock" vkb-load --runs 1 c.json
test_match 'cannot take the lock of this host.*No such file' .err \
  'the error names the lock that cannot be made'
test_litter 30 'no file is left'
test_done
