#!/bin/sh
# Connections that are reopened on purpose: after a number of requests, all at once, or
# for each request; and what happens if they cannot be reopened.
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

# run OPTION...: runs vkb-load on that server; the record is in 'run'.
run() {
  vkb-load -q --port "$port" --flush --runs 1 "$@" >run 2>run.err
}
# holds WHAT FILTER: checks a condition on the run.
holds() {
  test_same true "$(jq -c "$2" run)" "$1"
}

before=$(info stats total_connections_received)
test_that 'a connection for every 10 requests' run -r 1000 -t set -c 5 -n 5000 --set reconnect=10
after=$(info stats total_connections_received)
holds 'each client opens 100 connections' \
  '.metrics.connects >= 490 and .metrics.connects <= 500'
holds 'no request is lost or missing' '.status == "ok" and
  .metrics.requests == 5000 and .metrics.errors == 0 and .metrics.lost == 0 and
  .metrics.reconnects == 0'
made=$(jq .metrics.connects run)
test_that 'the server has counted the same number of connections' test $((after - before)) -ge $((made + 5))
holds 'the record has a histogram of the times until they were ready' '(.hist.connect_ns | length) > 0 and
  .metrics.p50_connect_ms > 0 and
  .metrics.p99_connect_ms >= .metrics.p50_connect_ms and
  .metrics.max_connect_ms >= .metrics.p99_connect_ms'
holds 'connects_per_s is the number by the measured time' \
  '.metrics.connects_per_s * .metrics.elapsed_s / .metrics.connects |
    . > 0.999 and . < 1.001'
holds 'reconnect is in the configuration of the case' '.config.reconnect == 10'
cp run ten
test_that 'vkb-stats with this run' sh -c "vkb-stats ten >summary"
test_same 1 "$(jq .metrics.connects_per_s.n summary)" 'the summary has connects_per_s'
test_same true "$(jq '.whole.p50_connect_ms > 0' summary)" \
  'the summary has percentiles of connect times'

test_that 'a connection for each request' run -r 1000 -t set -c 3 -n 900 --set reconnect=1
holds 'each request has a connection' '.metrics.connects >= 895 and .metrics.connects <= 900'
test_that 'reconnect that is not a multiple of the pipeline' run -r 1000 -t set -c 1 -P 4 -n 1200 --set reconnect=10
holds 'it is rounded up to whole batches: 12 requests are three' \
  '.metrics.connects >= 99 and .metrics.connects <= 100'
test_that 'without reconnects' run -r 1000 -t set -c 3 -n 900
holds 'without reconnects there are no such metrics' '[.metrics.connects, .metrics.p50_connect_ms,
  .metrics.resumed, .hist.connect_ns, .config.reconnect] == [null, null, null, null, null]'

printf '{"test_groups":[{"scenarios":[{"id":"a","command":"INCR a ; DECR b","requests":1000,"clients":1}]}]}\n' \
  >turn.json
cli config resetstat >/dev/null
test_that 'commands in turn with reconnects' run --set reconnect=1 turn.json
test_same '500 500' "$(calls incr) $(calls decr)" \
  'a reopened connection continues with the next command'

for how in '--set reconnect=1' '--set reconnect=2 -P 4' '--set reconnect=1 --set rate=2000' '--set storm=50ms --set rate=2000'; do
  cli config resetstat >/dev/null
  # shellcheck disable=SC2086 # options
  test_that "transactions of a mix, $how" run --mix "'MULTI ; INCR n:{key} ; INCR n:{key} ; EXEC' 1, 'GET n:{key}' 1" -r 10 \
    -c 3 -n 2000 $how
  test_same true "$(jq -s '.[0] | .status == "ok" and .metrics.connects > 3 and .metrics.errors == 0' run)" \
    'connections are reopened'
  # At the end of the run one transaction of each client may be cut.
  done=$(calls exec)
  test_that 'connections are reopened between transactions, not within' test "${done:=0}" -gt 100 -a $(($(calls multi) - done)) -le 3
done
test_that 'an open loop with reconnects' run -r 1000 -t set -c 5 --set rate=2000 --duration 1s --set reconnect=5
holds 'it makes its requests over them' '.metrics.offered_rps == 2000 and .metrics.requests > 0 and
  .metrics.connects >= .metrics.requests / 5 - 20 and .metrics.connects <= 400'

test_that 'a storm: all connections are reopened at once' run -r 1000 -t set -c 20 --duration 1s --set storm=100ms
holds 'all connections are reopened up to nine times' '.status == "ok" and
  .metrics.connects >= 20 and .metrics.connects <= 180 and
  .metrics.lost == 0 and .config.storm_s == 0.1'
test_that 'a storm in open loop' run -r 1000 -t set -c 20 --set rate=500 --duration 1s \
  --set storm=100ms
holds 'idle connections are reopened, too' '.metrics.offered_rps == 500 and .metrics.connects >= 20'

test_that 'a unix socket' vkb-load -q --unixsocket "$socket" --flush --runs 1 \
  -t get -c 3 -n 900 -r 100 --set reconnect=3
test_same true "$(jq '.metrics.connects >= 295 and .metrics.connects <= 300 and
  .metrics.hit_rate_percent == 100' .out)" 'has reconnects, too'

printf '{"type":"build","v":1,"subject":{"label":"old"},"status":"ok","server":"valkey-server"}
{"type":"build","v":1,"subject":{"label":"new"},"status":"ok","server":"valkey-server"}\n' >builds
test_that 'two builds in slices' vkb-load -q --builds builds --runs 1 -t set -c 4 \
  --duration 500ms --set reconnect=20
test_same '[true,true]' "$(jq -s -c 'map(.metrics.connects > 0 and
  .run.slices > 1 and .status == "ok")' .out)" 'both builds have reconnects'
test_that 'two builds with a storm' vkb-load -q --builds builds --runs 1 -t set \
  -c 4 --duration 500ms --set storm=100ms
test_same '[null,null]' "$(jq -s -c 'map(.run.slices)' .out)" 'they are not measured in slices'

printf '{"commands":["SET"],"requests":[2000],"clients":[3],"keyspacelen":[1000],"cluster_mode":true,"cluster_nodes":3,"reconnect":5}\n' \
  >cluster.json
test_that 'a cluster' vkb-load -q --runs 1 cluster.json
test_same true "$(jq '.metrics.connects >= 380 and .metrics.errors == 0 and
  .metrics.requests == 2000' .out)" 'each connection to each node is reopened'

printf '{"commands":["SET"],"reconnect":0}' >zero.json
test_status 2 'reconnect of 0' vkb-load --plan zero.json
test_match "reconnect.*must be a positive integer, not 0" .err 'the error has the path of the key'
printf '{"replay":"x","reconnect":1}' >replay.json
test_status 2 'a replay with reconnects' vkb-load --plan replay.json
test_match "Cannot specify both 'replay' and 'reconnect'" .err 'the error says that they exclude each other'
test_status 2 'valkey-benchmark with reconnects' vkb-load --engine valkey-benchmark --runs 1 \
  -t set --set latency=batch-first-byte --set reconnect=5
test_match 'reopened connections need the engine of vkb-load' .err 'the error says that they need the engine of vkb-load'

# --- faults

# load OPTION...: starts a long run with a connection for each request in the
# background, and returns when it has begun.
load() {
  cli config resetstat >/dev/null
  vkb-load -q --port "$port" --flush --runs 1 -t set -c 4 -r 1000 \
    --duration 30s --set reconnect=1 "$@" >fault 2>fault.err &
  load=$!
  wait_until 30 busy
}
busy() { [ "$(calls set)" -gt 100 ]; }

load --duration 3s
cli config set maxclients 3 >/dev/null
wait "$load"
test_same 2 $? 'a server that refuses connections (maxclients)'
cli config set maxclients 10000 >/dev/null
test_match 'ERR max number of clients reached' fault.err \
  'the error has the answer of the server'
test_same failed "$(jq -r .status fault)" 'the run has failed'

# A connection that waits for its next request is reported, too.
cli config resetstat >/dev/null
vkb-load -q --port "$port" --flush --runs 1 -t set -c 4 -r 1000 --duration 60s \
  --set rate=100 --set storm=100ms >fault 2>fault.err &
load=$!
waiting() { [ "$(calls set)" -gt 10 ]; }
wait_until 30 waiting
cli config set maxclients 3 >/dev/null
wait "$load"
test_same 2 $? 'a server that refuses connections in a storm (maxclients)'
cli config set maxclients 10000 >/dev/null
test_match "lost the connection to '127.0.0.1:$port' during SET: .*ERR max number of clients reached" \
  fault.err 'the error has the answer of the server'

load --timeout 1s
kill -STOP "$pid"
wait "$load"
test_same 2 $? 'a server that hangs'
kill -CONT "$pid"
test_match 'no reply|cannot connect' fault.err 'the run fails with a timeout'

load
kill -KILL "$pid"
wait "$load"
test_same 2 $? 'a server that is killed'
test_match "lost the connection to|cannot connect to '127.0.0.1:[0-9]*' again during SET" \
  fault.err 'the run fails, and the error names the server'
test_same true "$(jq '.metrics.connects > 0 and .metrics.reconnects > 0' fault)" \
  'the connections until then are counted'
end_other
test_litter 10 'no server and no file is left'
test_done
