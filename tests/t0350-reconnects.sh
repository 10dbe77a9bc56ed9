#!/bin/sh
# Connections that are reopened on purpose: after a number of requests, all at
# once, or one for each request; and what happens when that fails.
. "${0%/*}/lib.sh"

test_server 'reconnects'
printf '{"type":"spec","v":1,"id":"other","unixsocket":true}\n' >spec
test_other spec
socket=$(printf '%s' "$other" | jq -r .nodes[0].unixsocket)
pid=$(printf '%s' "$other" | jq .nodes[0].pid)
cli() { valkey-cli -p "$port" "$@"; }
info() { cli info "$1" | tr -d '\r' | sed -n "s/^$2://p"; }
calls() { cli info commandstats | tr -d '\r' |
  sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p"; }

# run OPTION...: a run of vkb-load on that server; its record is 'run'.
run() {
  vkb-load -q --port "$port" --flush --runs 1 "$@" >run 2>run.err
}
# holds WHAT FILTER: a statement about the run.
holds() {
  test_same true "$(jq -c "$2" run)" "$1"
}

before=$(info stats total_connections_received)
test_that 'a connection for every 10 requests' run -r 1000 -t set -c 5 -n 5000 --reconnect 10
after=$(info stats total_connections_received)
holds 'each client has 100 connections but for the last' \
  '.metrics.connects >= 490 and .metrics.connects <= 500'
holds 'nothing is lost, and no request is missing' '.status == "ok" and
  .metrics.requests == 5000 and .metrics.errors == 0 and .metrics.lost == 0 and
  .metrics.reconnects == 0'
made=$(jq .metrics.connects run)
test_that 'the server has seen them all' test $((after - before)) -ge $((made + 5))
holds 'the time of each is in a histogram' '(.hist.connect_ns | length) > 0 and
  .metrics.p50_connect_ms > 0 and
  .metrics.p99_connect_ms >= .metrics.p50_connect_ms and
  .metrics.max_connect_ms >= .metrics.p99_connect_ms'
holds 'the rate is that of the measured time' \
  '.metrics.connects_per_s * .metrics.elapsed_s / .metrics.connects |
    . > 0.999 and . < 1.001'
holds 'the case says so' '.config.reconnect == 10'
cp run ten
test_that 'the same summarised' sh -c "vkb-stats ten >summary"
test_same 1 "$(jq .metrics.connects_per_s.n summary)" 'has the rate'
test_same true "$(jq '.whole.p50_connect_ms > 0' summary)" \
  'and the percentiles of the histogram'

test_that 'a connection for each request' run -r 1000 -t set -c 3 -n 900 --reconnect 1
holds 'each has one' '.metrics.connects >= 895 and .metrics.connects <= 900'
test_that 'batches stay whole' run -r 1000 -t set -c 1 -P 4 -n 1200 --reconnect 10
holds '12 requests are three batches' \
  '.metrics.connects >= 99 and .metrics.connects <= 100'
test_that 'without reconnects' run -r 1000 -t set -c 3 -n 900
holds 'there are no such metrics' '[.metrics.connects, .metrics.p50_connect_ms,
  .metrics.resumed, .hist.connect_ns, .config.reconnect] == [null, null, null, null, null]'

printf '{"test_groups":[{"scenarios":[{"id":"a","command":"INCR a ; DECR b","requests":1000,"clients":1}]}]}\n' \
  >turn.json
cli config resetstat >/dev/null
test_that 'commands in turn' run --reconnect 1 turn.json
test_same '500 500' "$(calls incr) $(calls decr)" \
  'a reopened connection continues with the next command'

for how in '--reconnect 1' '--reconnect 2 -P 4' '--reconnect 1 --rate 2000' '--storm 50ms --rate 2000'; do
  cli config resetstat >/dev/null
  # shellcheck disable=SC2086 # options
  test_that "transactions of a mix, $how" run --mix "'MULTI ; INCR n:{key} ; INCR n:{key} ; EXEC' 1, 'GET n:{key}' 1" -r 10 \
    -c 3 -n 2000 $how
  test_same true "$(jq -s '.[0] | .status == "ok" and .metrics.connects > 3 and .metrics.errors == 0' run)" \
    'connections are reopened'
  # The end of the run may cut one of each client.
  done=$(calls exec)
  test_that 'between transactions, not within them' test "${done:=0}" -gt 100 -a $(($(calls multi) - done)) -le 3
done
test_that 'an open loop' run -r 1000 -t set -c 5 --rate 2000 --duration 1s --reconnect 5
holds 'its requests are all sent' '.metrics.requests == 2000 and
  .metrics.connects >= 380 and .metrics.connects <= 400'

test_that 'a storm' run -r 1000 -t set -c 20 --duration 1s --storm 100ms
holds 'all connections come back nine times at most' '.status == "ok" and
  .metrics.connects >= 20 and .metrics.connects <= 180 and
  .metrics.lost == 0 and .config.storm_s == 0.1'
test_that 'a storm of an open loop' run -r 1000 -t set -c 20 --rate 500 --duration 1s \
  --storm 100ms
holds 'idle ones as well' '.metrics.requests == 500 and .metrics.connects >= 20'

test_that 'a unix socket' vkb-load -q --unixsocket "$socket" --flush --runs 1 \
  -t get -c 3 -n 900 -r 100 --reconnect 3
test_same true "$(jq '.metrics.connects >= 295 and .metrics.connects <= 300 and
  .metrics.hit_rate_percent == 100' .out)" 'has reconnects, too'

printf '{"type":"build","v":1,"subject":{"label":"old"},"status":"ok","server":"valkey-server"}
{"type":"build","v":1,"subject":{"label":"new"},"status":"ok","server":"valkey-server"}\n' >builds
test_that 'two builds in slices' vkb-load -q --builds builds --runs 1 -t set -c 4 \
  --duration 500ms --reconnect 20
test_same '[true,true]' "$(jq -s -c 'map(.metrics.connects > 0 and
  .run.slices > 1 and .status == "ok")' .out)" 'both have reconnects'
test_that 'a storm is not in slices' vkb-load -q --builds builds --runs 1 -t set \
  -c 4 --duration 500ms --storm 100ms
test_same '[null,null]' "$(jq -s -c 'map(.run.slices)' .out)" 'but in rounds'

printf '{"commands":["SET"],"requests":[2000],"clients":[3],"keyspacelen":[1000],"cluster_mode":true,"cluster_nodes":3,"reconnect":5}\n' \
  >cluster.json
test_that 'a cluster' vkb-load -q --runs 1 cluster.json
test_same true "$(jq '.metrics.connects >= 380 and .metrics.errors == 0 and
  .metrics.requests == 2000' .out)" 'each connection to each node is reopened'

printf '{"commands":["SET"],"reconnect":0}' >zero.json
test_status 2 'reconnect of 0' vkb-load --plan zero.json
test_match "reconnect.*must be a positive integer, not 0" .err 'is refused by its path'
printf '{"replay":"x","reconnect":1}' >replay.json
test_status 2 'a trace' vkb-load --plan replay.json
test_match "Cannot specify both 'replay' and 'reconnect'" .err 'has no reconnects'
test_status 2 'valkey-benchmark' vkb-load --engine valkey-benchmark --runs 1 \
  -t set --latency batch-first-byte --reconnect 5
test_match 'reopened connections need the engine of vkb-load' .err 'has none either'

# --- faults

# load OPTION...: a long run with a connection for each request, in the
# background; returns when it has begun.
load() {
  cli config resetstat >/dev/null
  vkb-load -q --port "$port" --flush --runs 1 -t set -c 4 -r 1000 \
    --duration 30s --reconnect 1 "$@" >fault 2>fault.err &
  load=$!
  wait_until 30 busy
}
busy() { [ "$(calls set)" -gt 100 ]; }

load --duration 3s
cli config set maxclients 3 >/dev/null
wait "$load"
test_same 2 $? 'maxclients is reached'
cli config set maxclients 10000 >/dev/null
test_match 'ERR max number of clients reached' fault.err \
  'the message has what the server said'
test_same failed "$(jq -r .status fault)" 'the run has failed'

# A connection that waits for its next request is reported as well.
cli config resetstat >/dev/null
vkb-load -q --port "$port" --flush --runs 1 -t set -c 4 -r 1000 --duration 60s \
  --rate 100 --storm 100ms >fault 2>fault.err &
load=$!
waiting() { [ "$(calls set)" -gt 10 ]; }
wait_until 30 waiting
cli config set maxclients 3 >/dev/null
wait "$load"
test_same 2 $? 'maxclients is reached in a storm'
cli config set maxclients 10000 >/dev/null
test_match "lost the connection to '127.0.0.1:$port' during SET: .*ERR max number of clients reached" \
  fault.err 'the message has what the server said to an idle connection'

load --timeout 1s
kill -STOP "$pid"
wait "$load"
test_same 2 $? 'a server that hangs'
kill -CONT "$pid"
test_match 'no reply|cannot connect' fault.err 'fails the run'

load
kill -KILL "$pid"
wait "$load"
test_same 2 $? 'a server that dies'
test_match "lost the connection to|cannot connect to '127.0.0.1:[0-9]*' again during SET" \
  fault.err 'fails the run, and the message says so'
test_same true "$(jq '.metrics.connects > 0 and .metrics.reconnects > 0' fault)" \
  'what could not be reopened counts'
end_other
test_litter 10 'nothing is left'
test_done
