#!/bin/sh
# What the servers count themselves: the differences over a run are in its record, and
# evictions and misses are said in plain words.
. "${0%/*}/lib.sh"
test_server "the servers' own counters"

m() { jq -r "[.metrics | $1] | map(tostring) | join(\" \")" "${2:-.out}"; }
test_that 'a run of SET' vkb-load -q --runs 1 -t set -n 1000 -r 100 -c 2
test_same '1000 0 0' "$(m '.cmd_set_calls, .cmd_set_failed_calls, .cmd_set_rejected_calls')" 'calls of its command'
test_same true "$(m '.cmd_set_us_per_call > 0 and .cmd_set_p50_us > 0 and .cmd_set_p99_us >= .cmd_set_p50_us and
  .cmd_set_p999_us >= .cmd_set_p99_us')" 'its time and percentiles'
test_same '0 0 0 0' "$(m '.keyspace_hits, .keyspace_misses, .evicted_keys, .expired_keys')" 'and no reads'
test_empty "$(jq -r '.metrics | keys[] | select(test("cmd_(info|client|config)"))' .out)" \
  'commands of vkb-load itself are left out'
test_that 'a run of GET' vkb-load -q --runs 1 -t get -n 1000 -r 100 -c 2
test_same '1000 1000 0 null' "$(m '.cmd_get_calls, .keyspace_hits, .keyspace_misses, .cmd_set_calls')" \
  'what filled the server is left out'

# --- servers of others: differences only, nothing is reset

printf '{"type":"spec","v":1,"id":"other"}\n' >spec
test_other spec
cli() { valkey-cli -p "$port" "$@"; }
for key in a b c d e; do cli get "$key"; done >/dev/null
test_that 'a server that has worked before' vkb-load -q --runs 1 --port "$port" -t get -n 1000 -r 100 -c 2
test_same '1000 1000 0' "$(m '.cmd_get_calls, .keyspace_hits, .keyspace_misses')" 'counts this load only'
test_same null "$(m '.cmd_get_p99_us')" 'percentiles cannot be subtracted, so there are none'
test_same true "$(cli info commandstats | tr -d '\r' | sed -n 's/^cmdstat_get:calls=\([0-9]*\),.*/\1/p' | jq '. >= 1005')" \
  'and nothing of it was reset'
test_absent 'config|resetstat' .err 'no message'

# --- clusters, and errors

printf '[{"commands":["GET"],"cluster_mode":true,"cluster_nodes":3,"keyspacelen":[300],"requests":[3000],"clients":[3]}]\n' >cluster.json
test_that 'a cluster' vkb-load -q --runs 1 cluster.json
test_same '3000 3000' "$(m '.cmd_get_calls, .keyspace_hits')" 'is summed over its nodes'
printf '[{"mix":"SET 9, '"'LPUSH key:__rand_int__ x'"' 0.01","keyspacelen":[10],"requests":[20000],"clients":[3]}]\n' >failed.json
vkb-load -q --runs 1 failed.json >failed 2>/dev/null
test_same true "$(jq -s '.[0].metrics | .cmd_lpush_failed_calls == .errors and .errors > 0' failed)" 'failed calls'

# --- said in plain words, once

cat >evict.json <<'END'
[{"commands": ["SET"], "data_sizes": [10000], "keyspacelen": [2000], "requests": [4000], "clients": [2],
  "custom-server-configs": {"maxmemory": "5mb", "maxmemory-policy": "allkeys-lru"}}]
END
test_that 'a server whose memory is full' vkb-load --runs 2 evict.json
test_same true "$(jq -s 'all(.[]; .metrics.evicted_keys > 500)' .out)" 'evicts keys'
test_same 1 "$(grep -c 'the server evicted [0-9]* keys, because its memory was full' .err)" 'and one message reports it'
test_that 'reads of what is not there' vkb-load --runs 2 --mix "'GET none:__rand_int__' 1" -n 5000 -r 1000
test_same 1 "$(grep -c ': 0 % of the reads found their key' .err)" 'are said once'
test_that 'the same, quietly' vkb-load -q --runs 1 --mix "'GET none:__rand_int__' 1" -n 5000 -r 1000
test_absent 'found their key' .err 'has no message'
test_that 'reads of what is there' vkb-load --runs 1 -t get -n 5000 -r 1000
test_absent 'found their key' .err 'need no word'

# --- how they are compared

test_that 'runs to compare' vkb-load -q --runs 4 -t get -n 3000 -r 100 -o a
vkb-stats a >sa
vkb-compare --metrics all --on-insufficient ok -f jsonl sa sa >deltas 2>/dev/null
test_same '"info"' "$(jq -c 'select(.metric == "cmd_get_us_per_call" or .metric == "keyspace_hits") | .class' deltas | sort -u)" \
  'the counters of servers are only shown'
test_done
