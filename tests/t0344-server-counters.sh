#!/bin/sh
# What the servers count themselves: a run has the differences over its time, and
# messages report evictions and misses.
. "${0%/*}/lib.sh"
test_server "the servers' own counters"

m() { jq -r "[.metrics | $1] | map(tostring) | join(\" \")" "${2:-.out}"; }
test_that 'a run of SET' vkb-load -q --runs 1 -t set -n 1000 -r 100 -c 2
test_same '1000 0 0' "$(m '.cmd_set_calls, .cmd_set_failed_calls, .cmd_set_rejected_calls')" 'the calls of its command are counted'
test_same true "$(m '.cmd_set_us_per_call > 0 and .cmd_set_p50_us > 0 and .cmd_set_p99_us >= .cmd_set_p50_us and
  .cmd_set_p999_us >= .cmd_set_p99_us')" 'the command has a time and percentiles'
test_same '0 0 0 0' "$(m '.keyspace_hits, .keyspace_misses, .evicted_keys, .expired_keys')" 'without reads there are no hits and misses'
test_empty "$(jq -r '.metrics | keys[] | select(test("cmd_(info|client|config)"))' .out)" \
  'commands that vkb-load itself sends are not counted'
test_that 'a run of GET' vkb-load -q --runs 1 -t get -n 1000 -r 100 -c 2
test_same '1000 1000 0 null' "$(m '.cmd_get_calls, .keyspace_hits, .keyspace_misses, .cmd_set_calls')" \
  'commands that populated the server are not counted'

# --- servers that vkb-load did not start: only differences, no counter is reset

printf '{"type":"spec","v":1,"id":"other"}\n' >spec
test_other spec
cli() { valkey-cli -p "$port" "$@"; }
for key in a b c d e; do cli get "$key"; done >/dev/null
test_that 'a server that has executed commands before' vkb-load -q --runs 1 --port "$port" -t get -n 1000 -r 100 -c 2
test_same '1000 1000 0' "$(m '.cmd_get_calls, .keyspace_hits, .keyspace_misses')" 'only commands of this load are counted'
test_same null "$(m '.cmd_get_p99_us')" 'percentiles are absent, since they cannot be subtracted'
test_same true "$(cli info commandstats | tr -d '\r' | sed -n 's/^cmdstat_get:calls=\([0-9]*\),.*/\1/p' | jq '. >= 1005')" \
  'the counters of the server were not reset'
test_absent 'config|resetstat' .err 'no command to reset counters was tried'

# --- clusters, and errors

printf '[{"commands":["GET"],"cluster_mode":true,"cluster_nodes":3,"keyspacelen":[300],"requests":[3000],"clients":[3]}]\n' >cluster.json
test_that 'a cluster' vkb-load -q --runs 1 cluster.json
test_same '3000 3000' "$(m '.cmd_get_calls, .keyspace_hits')" 'the counters of all nodes are added'
printf '[{"mix":"SET 9, '"'LPUSH key:__rand_int__ x'"' 0.01","keyspacelen":[10],"requests":[20000],"clients":[3]}]\n' >failed.json
vkb-load -q --runs 1 failed.json >failed 2>/dev/null
test_same true "$(jq -s '.[0].metrics | .cmd_lpush_failed_calls == .errors and .errors > 0' failed)" 'failed calls are counted'

# --- messages, each printed once

cat >evict.json <<'END'
[{"commands": ["SET"], "data_sizes": [10000], "keyspacelen": [2000], "requests": [4000], "clients": [2],
  "custom-server-configs": {"maxmemory": "5mb", "maxmemory-policy": "allkeys-lru"}}]
END
test_that 'a server whose memory is full' vkb-load --runs 2 evict.json
test_same true "$(jq -s 'all(.[]; .metrics.evicted_keys > 500)' .out)" 'the server evicts keys'
test_same 1 "$(grep -c 'the server evicted [0-9]* keys, because its memory was full' .err)" 'one message reports the evictions'
test_that 'reads that find no keys' vkb-load --runs 2 --mix "'GET none:__rand_int__' 1" -n 5000 -r 1000
test_same 1 "$(grep -c ': 0 % of the reads found their key' .err)" 'one message reports the misses'
test_that 'the same with -q' vkb-load -q --runs 1 --mix "'GET none:__rand_int__' 1" -n 5000 -r 1000
test_absent 'found their key' .err 'with -q there is no message'
test_that 'reads that find their keys' vkb-load --runs 1 -t get -n 5000 -r 1000
test_absent 'found their key' .err 'no message is printed about them'

# --- vkb-compare

test_that 'runs to compare' vkb-load -q --runs 4 -t get -n 3000 -r 100 -o a
vkb-stats a >sa
vkb-compare --metrics all --on-insufficient ok -f jsonl sa sa >deltas 2>/dev/null
test_same '"info"' "$(jq -c 'select(.metric == "cmd_get_us_per_call" or .metric == "keyspace_hits") | .class' deltas | sort -u)" \
  'counters of servers are compared as info'
test_done
