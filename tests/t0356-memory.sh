#!/bin/sh
# The memory of a key: what the server stores, its payload and encodings, compared with
# the numbers of a real server.
. "${0%/*}/lib.sh"

test_server 'memory of keys'

# --- configs/memory.json

jq 'map(.keyspacelen = [2000] | .test_groups[].scenarios[].requests = 2000 |
  .test_groups[].scenarios |= map(select(.data_size == 16 or .data_size == 4096)))' \
  "$top/configs/memory.json" >memory.json
test_that 'configs/memory.json' vkb-load -q --runs 1 -o runs memory.json
ran() { jq -rc 'select(.type == "run") | '"$1" runs; }
# Names are "TYPE:" and 12 digits. A hash has four names of one byte, members of sets
# begin with a letter, and a score has one digit.
test_same 'string_16 35 hash_16 85 set_16 84 zset_16 89 list_16 81' \
  "$(ran 'select(.config.data_size == 16) | "\(.config.test_id) \(.metrics.payload_bytes_per_key)"' | xargs)" \
  'the payload of each type is exact'
test_same 'string_4096 4115 hash_4096 16405 set_4096 16404 zset_4096 16409 list_4096 16401' \
  "$(ran 'select(.config.data_size == 4096) | "\(.config.test_id) \(.metrics.payload_bytes_per_key)"' | xargs)" \
  'the payload of large values is exact, too'
test_same 'embstr 64 raw 64 listpack 64 hashtable 64 listpack 64 hashtable 64 listpack 64 skiplist 64 listpack 64 quicklist 64' \
  "$(ran '.encodings | to_entries[] | "\(.key) \(.value)"' | xargs)" \
  'both encodings of each type occur'
test_same true "$(jq -s '[.[] | select(.type == "run").metrics] | length == 10 and all(.[];
  .stored_bytes_per_key > .bytes_per_key and .stored_bytes_per_key > .payload_bytes_per_key and
  (.memory_overhead_ratio - .stored_bytes_per_key / .payload_bytes_per_key | fabs) < 1e-9)' runs)" \
  'the overhead is the stored bytes by the payload'

# --- the numbers of INFO, on a server that another program filled with the same keys

cat >one.json <<'END'
[{"keyspacelen": [4000], "cluster_mode": false, "tls_mode": false, "test_groups": [{"group": 1,
  "scenarios": [{"id": "a", "type": "write", "sequential": true, "requests": 4000, "clients": 2,
  "data_size": 100, "command": "SET k:__rand_int__ __data__"}]}]}]
END
vkb-load -q --runs 1 -o filled.jsonl one.json
stored=$(jq 'select(.type == "run").metrics.stored_bytes_per_key' filled.jsonl)
cat >fill <<'END'
perl -e 'printf "SET k:%012d %s\n", $_, "x" x 100 for 0 .. 3999' |
  valkey-cli -p "$VKB_PORT" >/dev/null
# The memory of connections is that of CLIENT LIST: the numbers of INFO are those of a
# timer, which may not know a new connection.
printf 'info memory\nclient list type normal\n' | valkey-cli -p "$VKB_PORT" | tr -d '\r' >info
valkey-cli -p "$VKB_PORT" dbsize >dbsize
valkey-cli -p "$VKB_PORT" memory stats >stats
END
test_that 'valkey-cli fills a server' vkb-serve -q -- sh -u ./fill
test_same 4000 "$(cat dbsize)" 'it has the same number of keys'
clients=$(sed -n 's/.* tot-mem=\([0-9]*\).*/\1/p' info | awk '{ n += $1 } END { print n }')
awk -F : -v clients="$clients" 'BEGIN { sum = -clients } /^(used_memory|used_memory_startup|mem_clients_slaves|mem_aof_buffer|mem_total_replication_buffers|mem_cluster_links):/ {
    sum += $1 == "used_memory" ? $2 : -$2 } END { printf "%.6f\n", sum / 4000 }' info >want
# The data and the tables of the database, from MEMORY STATS.
{
  sed -n 's/^used_memory_dataset://p; s/^mem_clients_normal://p' info
  echo "-$clients"
  awk '/overhead.hashtable.(main|expires)/ { getline v; print v }' stats
} | awk '{ sum += $1 } END { printf "%.6f\n", sum / 4000 }' >tables
for from in want tables; do
  test_that "stored_bytes_per_key is that of the server ($from)" \
    awk -v a="$(cat $from)" -v b="$stored" 'BEGIN { exit !(a - b < .2 && b - a < .2) }'
done
test_same 114 "$(jq .metrics.payload_bytes_per_key filled.jsonl)" 'the payload is 14 and 100 bytes'
test_same raw "$(jq -r '.encodings | keys[]' filled.jsonl)" 'the encoding is recorded'

# --- keys of different sizes: one of a hundred is much larger than the others

perl -e 'print "body\n"; print "x" x ($_ % 100 ? 10 + $_ % 7 : 20000), "\n" for 1 .. 2000' >rows.csv
rows=$(awk 'NR > 1 { n += length($0) } END { print n }' rows.csv)
# differing WHAT BYTES COMMAND: BYTES are those of a key beside its row
differing() {
  jq --arg c "$3" 'map(.keyspacelen = [2000] | .test_groups[].scenarios[] |= (.command = $c |
    .requests = 2000 | .dataset = "rows.csv"))' one.json >rows.json
  test_same true "$(vkb-load -q --runs 1 rows.json </dev/null | jq -c --argjson want "$((rows + 2000 * $2))" \
    'select(.type == "run").metrics | .payload_bytes_per_key * 2000 == $want and .memory_overhead_ratio > 1')" \
    "the payload of $1 of different sizes is exact"
}
differing strings 14 'SET k:__rand_int__ __field:body__'
differing hashes 15 'HSET k:__rand_int__ f __field:body__'
differing lists 15 'RPUSH k:__rand_int__ a __field:body__'
differing sets 15 'SADD k:__rand_int__ a __field:body__'
differing 'sorted sets' 17 'ZADD k:__rand_int__ 1.5 __field:body__'
# 1500 strings of 19 bytes, and three large keys: 1500 fields of 20 and 3 bytes, as many
# members of 20, and an element of 3 bytes for each of 30,000 requests. The chance that a
# key, field or member is not among as many is below one in 100,000.
vkb-load -q --runs 1 - >mix.jsonl <<'END'
{"mix": "SET 1, HSET 1, SADD 1, RPUSH 1", "mix_order": "turn", "keyspacelen": [1500], "requests": [120000],
 "pipelines": [100], "clients": [4]}
END
test_same $((1500 * 19 + 6 + 1500 * 23 + 5 + 1500 * 20 + 6 + 30000 * 3)) \
  "$(jq 'select(.config.command == "mix").metrics.payload_bytes_per_key * 1503 | round' mix.jsonl)" \
  'the payload of a mix is exact, with that of keys of many elements'
test_same true "$(vkb-load -q --runs 1 -t get -r 3000 -n 1000 --set values=10:99,20000:1 </dev/null |
  jq 'select(.type == "run").metrics | .memory_overhead_ratio > 1 and .payload_bytes_per_key > 26')" \
  'the stored bytes are more than the payload of values by a distribution'

# --- types without a payload

# payload COMMAND: prints metrics and encodings of a load with 2000 keys.
payload() {
  jq --arg c "$1" 'map(.keyspacelen = [2000] | .test_groups[].scenarios[] |= (.command = $c |
    .requests = 2000))' one.json >other.json
  vkb-load -q --runs 1 other.json </dev/null 2>/dev/null |
    jq -c 'select(.type == "run") | [.status, (.metrics | has("stored_bytes_per_key"),
      has("payload_bytes_per_key")), (.encodings | keys)]'
}
test_same '["ok",true,false,["stream"]]' "$(payload 'XADD x:__rand_int__ * f v')" \
  'a stream has no payload, but an encoding'
test_same '["ok",true,true,["int"]]' "$(payload 'SET n:__rand_int__ 5')" 'numbers have a payload'
test_same '["ok",false,false,null]' "$(jq 'map(.keyspacelen = [999] |
    .test_groups[].scenarios[].requests = 999)' one.json >few.json
  vkb-load -q --runs 1 few.json </dev/null 2>/dev/null | jq -c 'select(.type == "run") |
    [.status, (.metrics | has("stored_bytes_per_key"), has("payload_bytes_per_key")), .encodings]')" \
  'fewer than 1,000 keys are not sampled'

# --- by size, for the comparison of releases

jq -c 'select(.type == "run")' runs >old
jq -c '.subject = {label: "new"} | .metrics.stored_bytes_per_key *= .9' old >new
vkb-report --list old new | cut -f 1 >plots
test_same 5 "$(grep -c '^scaling-[0-9]*-stored_bytes_per_key$' plots)" \
  'each type has a plot of its memory by size'
test_same 5 "$(grep -c '^scaling-[0-9]*-memory_overhead_ratio$' plots)" 'each type has a plot of its overhead by size'
vkb-report --svg "$(grep -m 1 'stored_bytes_per_key$' plots)" old new >plot.svg
test_same '16 16 4096 4096' "$(grep -o '<title>[^<]*data_size [0-9]*:' plot.svg |
  sed 's/.*data_size //; s/://' | sort -n | xargs)" 'a plot has both releases'
test_done
