#!/bin/sh
# Commands that only read are sent to replicas, all others to primaries.
. "${0%/*}/lib.sh"

test_server 'reads from replicas'
printf '{"type":"spec","v":1,"id":"other","primaries":2,"replicas":2}\n' >spec
test_other spec
nodes() { printf '%s' "$other" | jq -r ".nodes[] | select(.role == \"$1\") | .port"; }
primaries=$(nodes primary)
[ "$primaries" ] || primaries=$(nodes master)
replicas=$(nodes replica)
port=${primaries%%
*}
test_same '2 4' "$(echo "$primaries" | wc -l) $(echo "$replicas" | wc -l)" 'a cluster'
# calls COMMAND PORT...: prints the sum over these nodes.
calls() {
  calls_of=$1
  shift
  for p; do
    valkey-cli -p "$p" info commandstats | tr -d '\r' |
      sed -n "s/^cmdstat_$calls_of:calls=\([0-9]*\),.*/\1/p"
  done | awk '{ n += $1 } END { print n + 0 }'
}
reset() { for p in $primaries $replicas; do valkey-cli -p "$p" config resetstat >/dev/null; done; }
run() { vkb-load -q --port "$port" --flush --runs 1 "$@" >run 2>run.err; }
config() {
  printf '{"cluster_mode":true,"cluster_nodes":2,"keyspacelen":[2000],%s}\n' "$2" >"$1"
}
config get.json '"commands":["GET"],"requests":[4000],"clients":[4]'
config set.json '"commands":["SET"],"requests":[4000],"clients":[4]'

reset
test_that 'reads from replicas' run --set read_from=replica get.json
test_same '["ok",100,0]' "$(jq -c '[.status, .metrics.hit_rate_percent, .metrics.errors]' run)" \
  'all keys are found, without redirections'
# shellcheck disable=SC2086 # several ports
test_same '0 4000' "$(calls get $primaries) $(calls get $replicas)" 'only replicas get reads'
for p in $replicas; do
  test_that "the replica at $p gets a share of the reads" test "$(calls get "$p")" -gt 500
done
test_same '4000 4000 null' "$(jq -r '.metrics | "\(.cmd_get_calls) \(.keyspace_hits) \(.cmd_set_calls)"' run)" \
  'the record has the counters of the replicas'
# If a replica does nearly all of the work, that is seen in its CPU time.
cpu() { # cpu PORT...: prints the CPU time of these nodes in ticks
  for p; do
    awk '{print $14 + $15}' "/proc/$(printf '%s' "$other" | jq ".nodes[] | select(.port == $p) | .pid")/stat"
  done | awk '{n += $1} END {print n}'
}
# shellcheck disable=SC2086 # several ports
before=$(cpu $primaries)
# shellcheck disable=SC2086
replicas_before=$(cpu $replicas)
config many.json '"commands":["GET"],"requests":[150000],"clients":[4],"pipelines":[10]'
test_that 'a longer load' run --set read_from=replica many.json
# shellcheck disable=SC2016,SC2086
test_that 'the CPU time of replicas is counted' awk -v all="$(jq '.metrics.server_cpu_us_per_req * 150000 / 1e4' run)" \
  -v primaries=$(($(cpu $primaries) - before)) -v replicas=$(($(cpu $replicas) - replicas_before)) 'BEGIN {
    print "# ticks:", all, "of primaries", primaries, "of replicas", replicas
    exit !(all > replicas / 2 && replicas > primaries)}'
reset
test_that 'a load without read_from' run get.json
test_same 4000 "$(jq -r .metrics.cmd_get_calls run)" 'the record has the counters of the primaries'
# shellcheck disable=SC2086
test_same '4000 0' "$(calls get $primaries) $(calls get $replicas)" 'only primaries get reads'
test_same "$(vkb-load --plan get.json)" "$(vkb-load --plan --set read_from=primary get.json)" \
  'read_from primary is the default'
test_status 2 'read_from with a case that only writes' run --set read_from=replica set.json
test_match "'read_from': no command of the case only reads" run.err 'the error says that no command only reads'

printf '{"cluster_mode":true,"cluster_nodes":2,"keyspacelen":[2000],"read_from":"replica","scenarios":[{"id":"m","type":"mixed","requests":1000,"populate_with":"SET","writes":[{"command":"SET {key} v"}],"reads":[{"command":"GET {key} ; STRLEN {key}"}]}]}\n' \
  >mixed.json
reset
test_that 'a mixed scenario' run mixed.json
test_same '["ok","ok"]' "$(jq -s -c 'map(.status)' run)" 'both parts of a mixed scenario are ok'
# shellcheck disable=SC2086
test_same '0 1000' "$(calls get $primaries) $(($(calls get $replicas) + $(calls strlen $replicas)))" \
  'readers use replicas for the commands that only read according to the server'
printf '{"cluster_mode":true,"cluster_nodes":2,"keyspacelen":[2000],"read_from":"replica","scenarios":[{"id":"m","type":"mixed","requests":1000,"populate_with":"SET","writes":[{"command":"GET {key} ; SET {key} v"}],"reads":[{"command":"GET {key}"}]}]}\n' \
  >both.json
reset
test_that 'a command that writers and readers send' run both.json
# shellcheck disable=SC2086
reads=$(calls get $primaries)
test_that 'writers send it to primaries' test "$reads" -gt 400
# shellcheck disable=SC2086
test_same 1000 "$(calls get $replicas)" 'readers send it to replicas'
test_same "$((reads + 1000))" "$(jq -s 'map(.metrics.cmd_get_calls // 0) | max' run)" 'the record has the sum'
test_same "$((1000 - reads))" "$(jq -s 'map(.metrics.cmd_set_calls // 0) | max' run)" 'writes are counted once'
config mix.json '"mix":"GET 50 SET 50","requests":[100]'
test_status 2 'read_from with a mix that writes' run --set read_from=replica mix.json
test_match 'make it a mixed scenario' run.err 'the error suggests a mixed scenario'
config reads.json '"mix":"GET 50 EXISTS 50","requests":[1000]'
test_that 'read_from with a mix that only reads' run --set read_from=replica reads.json

# A replica is lost: the run fails, or continues with the other replicas.
begun() {
  # shellcheck disable=SC2086
  [ "$(calls get $replicas)" -gt 500 ]
}
victim=${replicas%%
*}
pid=$(printf '%s' "$other" | jq ".nodes[] | select(.port == $victim) | .pid")
reset
vkb-load -q --port "$port" --flush --runs 1 --duration 60s --set read_from=replica \
  get.json >lost 2>lost.err &
load=$!
wait_until 30 begun
kill -KILL "$pid"
wait "$load"
test_same 2 $? 'a replica that is killed fails the run'
test_match "lost the connection to '127.0.0.1:$victim' during GET" lost.err \
  'the error names the replica'
test_match '"status":"failed"' lost 'the record has failed'

# --- a single server

# start ID: starts another server; messages of vkb-serve about the killed one are
# skipped.
start() {
  printf '{"type":"spec","v":1,"id":"%s"}\n' "$1" >&3
  while read -r other <&4 && [ "$(printf '%s' "$other" | jq -r .id)" != "$1" ]; do :; done
}
start one
port=$(printf '%s' "$other" | jq .nodes[0].port)
start two
second=$(printf '%s' "$other" | jq .nodes[0].port)
valkey-cli -p "$second" replicaof 127.0.0.1 "$port" >/dev/null
linked() { valkey-cli -p "$second" info replication | grep -q master_link_status:up; }
wait_until 30 linked
test_that 'a single server with a replica' run -t get -c 3 -n 1000 -r 100 --set read_from=replica
test_same '["ok",100]' "$(jq -c '[.status, .metrics.hit_rate_percent]' run)" 'the replica of a single server has the keys'
test_same '0 1000' "$(calls get "$port") $(calls get "$second")" 'only the replica gets reads'
printf '{"commands":[%s],"keyspacelen":[100],"requests":[100],"clients":[1]}\n' \
  "$(named_tests | sed 's/.*/"&"/' | paste -sd ,)" >all.json
run --set read_from=replica all.json
named_tests | while read -r name; do
  ! valkey-cli -p "$port" command info "${name%%_*}" | grep -qx readonly || echo "$name"
done >reading
test_same "$(cat reading)" "$(jq -r 'select(.status == "ok").config.command' run)" \
  'the named tests that use replicas are those that only read according to the server'
test_same 0 "$(jq .metrics.errors run | grep -v null | sort -u)" 'a replica refuses none of them'
valkey-cli -p "$second" replicaof no one >/dev/null
alone() { [ "$(valkey-cli -p "$port" info replication | tr -d '\r' | sed -n 's/^connected_slaves://p')" = 0 ]; }
wait_until 30 alone
test_status 2 'read_from on a single server without a replica' run -t get -c 3 -n 10 -r 100 --set read_from=replica
test_match 'it has no replica to read from' run.err 'the error says that there is no replica'
printf '{"commands":["GET"],"keyspacelen":[100],"requests":[10],"cluster_mode":true,"read_from":"replica"}\n' \
  >own.json
test_status 2 'read_from on a cluster without replicas' vkb-load -q --runs 1 own.json
test_match "the primary 127.0.0.1:[0-9]* of the slots 0-16383 has no replica to read from \('read_from'\)" \
  .err 'the error names the primary'
end_other
test_litter 20 'no server and no file is left'
test_done
