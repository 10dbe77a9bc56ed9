#!/bin/sh
# Commands that only read go to replicas, all others to primaries.
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
# calls COMMAND PORT...: the sum over nodes.
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
test_that 'reads' run --read-from replica get.json
test_same '["ok",100,0]' "$(jq -c '[.status, .metrics.hit_rate_percent, .metrics.errors]' run)" \
  'find all data, with no redirection'
# shellcheck disable=SC2086 # several ports
test_same '0 4000' "$(calls get $primaries) $(calls get $replicas)" 'on replicas alone'
for p in $replicas; do
  test_that "the replica at $p has a part of them" test "$(calls get "$p")" -gt 500
done
test_same '4000 4000 null' "$(jq -r '.metrics | "\(.cmd_get_calls) \(.keyspace_hits) \(.cmd_set_calls)"' run)" \
  'which the counters of the record know'
# A replica that gets nearly all of the work shows in its CPU time.
cpu() { # the CPU time of the nodes in ticks, by their ports
  for p; do
    awk '{print $14 + $15}' "/proc/$(printf '%s' "$other" | jq ".nodes[] | select(.port == $p) | .pid")/stat"
  done | awk '{n += $1} END {print n}'
}
# shellcheck disable=SC2086 # several ports
before=$(cpu $primaries)
# shellcheck disable=SC2086
replicas_before=$(cpu $replicas)
config many.json '"commands":["GET"],"requests":[150000],"clients":[4],"pipelines":[10]'
test_that 'a longer load' run --read-from replica many.json
# shellcheck disable=SC2016,SC2086
test_that 'the CPU time of replicas counts' awk -v all="$(jq '.metrics.server_cpu_us_per_req * 150000 / 1e4' run)" \
  -v primaries=$(($(cpu $primaries) - before)) -v replicas=$(($(cpu $replicas) - replicas_before)) 'BEGIN {
    print "# ticks:", all, "of primaries", primaries, "of replicas", replicas
    exit !(all > replicas / 2 && replicas > primaries)}'
reset
test_that 'without it' run get.json
test_same 4000 "$(jq -r .metrics.cmd_get_calls run)" 'and the counters are those of the primaries'
# shellcheck disable=SC2086
test_same '4000 0' "$(calls get $primaries) $(calls get $replicas)" 'primaries are read'
test_same "$(vkb-load --plan get.json)" "$(vkb-load --plan --read-from primary get.json)" \
  'which is the same as "primary"'
test_status 2 'a case that only writes' run --read-from replica set.json
test_match "'read_from': no command of the case only reads" run.err 'is refused'

printf '{"cluster_mode":true,"cluster_nodes":2,"keyspacelen":[2000],"read_from":"replica","scenarios":[{"id":"m","type":"mixed","requests":1000,"populate_with":"SET","writes":[{"command":"SET {key} v"}],"reads":[{"command":"GET {key} ; STRLEN {key}"}]}]}\n' \
  >mixed.json
reset
test_that 'a mixed scenario' run mixed.json
test_same '["ok","ok"]' "$(jq -s -c 'map(.status)' run)" 'reads and writes'
# shellcheck disable=SC2086
test_same '0 1000' "$(calls get $primaries) $(($(calls get $replicas) + $(calls strlen $replicas)))" \
  'its readers go to replicas, as the server says of each command'
printf '{"cluster_mode":true,"cluster_nodes":2,"keyspacelen":[2000],"read_from":"replica","scenarios":[{"id":"m","type":"mixed","requests":1000,"populate_with":"SET","writes":[{"command":"GET {key} ; SET {key} v"}],"reads":[{"command":"GET {key}"}]}]}\n' \
  >both.json
reset
test_that 'a command that primaries and replicas read' run both.json
# shellcheck disable=SC2086
reads=$(calls get $primaries)
test_that 'is sent to both' test "$reads" -gt 400
# shellcheck disable=SC2086
test_same 1000 "$(calls get $replicas)" 'by all readers to replicas'
test_same "$((reads + 1000))" "$(jq -s 'map(.metrics.cmd_get_calls // 0) | max' run)" 'and the record has the sum'
test_same "$((1000 - reads))" "$(jq -s 'map(.metrics.cmd_set_calls // 0) | max' run)" 'but what is written only once'
config mix.json '"mix":"GET 50 SET 50","requests":[100]'
test_status 2 'a mix that writes, too' run --read-from replica mix.json
test_match 'make it a mixed scenario' run.err 'is refused, and the message says what to do'
config reads.json '"mix":"GET 50 EXISTS 50","requests":[1000]'
test_that 'a mix that only reads' run --read-from replica reads.json

# A replica is lost: the run fails, or continues with the others.
begun() {
  # shellcheck disable=SC2086
  [ "$(calls get $replicas)" -gt 500 ]
}
victim=${replicas%%
*}
pid=$(printf '%s' "$other" | jq ".nodes[] | select(.port == $victim) | .pid")
reset
vkb-load -q --port "$port" --flush --runs 1 --duration 60s --read-from replica \
  get.json >lost 2>lost.err &
load=$!
wait_until 30 begun
kill -KILL "$pid"
wait "$load"
test_same 2 $? 'a replica that dies fails the run'
test_match "lost the connection to '127.0.0.1:$victim' during GET" lost.err \
  'the message names it'
test_match '"status":"failed"' lost 'as does the record'

# --- a single server

# start ID: another server; what vkb-serve says of the dead one is passed over.
start() {
  printf '{"type":"spec","v":1,"id":"%s"}\n' "$1" >&3
  until read -r other <&4 && [ "$(printf '%s' "$other" | jq -r .id)" = "$1" ]; do :; done
}
start one
port=$(printf '%s' "$other" | jq .nodes[0].port)
start two
second=$(printf '%s' "$other" | jq .nodes[0].port)
valkey-cli -p "$second" replicaof 127.0.0.1 "$port" >/dev/null
linked() { valkey-cli -p "$second" info replication | grep -q master_link_status:up; }
wait_until 30 linked
test_that 'a single server with a replica' run -t get -c 3 -n 1000 -r 100 --read-from replica
test_same '["ok",100]' "$(jq -c '[.status, .metrics.hit_rate_percent]' run)" 'finds its data'
test_same '0 1000' "$(calls get "$port") $(calls get "$second")" 'on the replica'
valkey-cli -p "$second" replicaof no one >/dev/null
alone() { [ "$(valkey-cli -p "$port" info replication | tr -d '\r' | sed -n 's/^connected_slaves://p')" = 0 ]; }
wait_until 30 alone
test_status 2 'a single server without one' run -t get -c 3 -n 10 -r 100 --read-from replica
test_match 'it has no replica to read from' run.err 'fails, and says so'
printf '{"commands":["GET"],"keyspacelen":[100],"requests":[10],"cluster_mode":true,"read_from":"replica"}\n' \
  >own.json
test_status 2 'a cluster without replicas' vkb-load -q --runs 1 own.json
test_match "the primary 127.0.0.1:[0-9]* of the slots 0-16383 has no replica to read from \('read_from'\)" \
  .err 'fails, and names the primary'
end_other
test_litter 20 'nothing is left'
test_done
