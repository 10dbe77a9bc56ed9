#!/bin/sh
# Texts with MULTI are sent as a whole: with pipelines and rates, over connections
# that break, and in a cluster whose slots move.
# sanitize: transactions.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

cat >single <<'END'
run() { "$ENGINE" -p "$VKB_PORT" -r 1000 "$@"; }
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
sums() { cli eval 'local s = {}
  for _, p in ipairs({"a*", "b*"}) do
    local n = 0
    for _, k in ipairs(redis.call("keys", p)) do n = n + redis.call("get", k) end
    s[#s + 1] = n
  end
  return s' 0; }
pair='MULTI ; INCR a{key} ; INCR b{key} ; EXEC'
run -t "$pair" -n 4000 -P 3 -c 7 -T 2 --values 3-9 >closed
run -t "$pair" -n 3998 -P 9 -c 7 -T 2 -R 30000 >open
sums >sums.whole
cli flushall >/dev/null
# lose OUT OPTION...: breaks the connections during a run
lose() {
  out=$1; shift
  "$ENGINE" -p "$VKB_PORT" -r 1000 -t "$pair" --max-lost 1000000 -D 1 -P 10 -c 6 "$@" >"$out" &
  load=$!
  while kill -0 $load 2>/dev/null; do cli client kill type normal skipme yes >/dev/null; done
  wait $load
  sums >"$out.sums"
  cli flushall >/dev/null
}
lose lost -T 2
lose openlost -R 20000
run -t 'MULTI; SET a x; LPUSH a y; EXEC' -n 400 -P 8 -c 3 >inside
cli flushall >/dev/null
nil='GET none ; WATCH w ; INCR w ; MULTI ; INCR a ; EXEC'
run -t "$nil" -n 600 -P 20 -c 1 >nil
run -3 -t "$nil" -n 600 -P 1 -c 1 >nil3
cli exists a >nil.done
run -t 'MULTI ; SET a x' -n 9 2>unfinished || echo $? >>unfinished
END
cat >cluster <<'END'
ports=
for node in $VKB_NODES; do ports="$ports -p ${node#*:}"; done
run() { "$ENGINE" $ports --cluster "$@"; }
all() { for node in $VKB_NODES; do valkey-cli -p "${node#*:}" "$@"; done; }
sums() { all eval 'local s = {}
  for _, p in ipairs({"key:*", "n:*"}) do
    local n = 0
    for _, k in ipairs(redis.call("keys", p)) do n = n + redis.call("get", k) end
    s[#s + 1] = n
  end
  return s[1] .. " " .. s[2]' 0 | awk '{a += $1; b += $2} END {print a, b}'; }
pair='MULTI ; INCR {key} ; INCR n:{tag} ; EXEC'
run -t "$pair" -r 500 -n 8000 -P 1 -c 9 -T 2 >cluster.closed
run -t "$pair" -r 500 -n 4000 -P 12 -c 9 -T 2 -R 20000 --spec zipf >cluster.open
sums >cluster.sums
run -t "$pair" -r 500 -D 3 -P 8 -c 6 -T 2 >moving 2>moving.err &
load=$!
set -- $VKB_NODES
from=${1#*:} to=${2#*:} third=${3#*:}
a=$(valkey-cli -p "$from" cluster myid) b=$(valkey-cli -p "$to" cluster myid)
for slot in $(valkey-cli -p "$from" --scan --pattern 'key:*' | head -n 3 |
  sed 's/^/cluster keyslot /' | valkey-cli -p "$from"); do
  valkey-cli -p "$to" cluster setslot "$slot" importing "$a"
  valkey-cli -p "$from" cluster setslot "$slot" migrating "$b"
  for key in $(valkey-cli -p "$from" cluster getkeysinslot "$slot" 100); do
    valkey-cli -p "$from" migrate 127.0.0.1 "$to" "$key" 0 5000
  done
  valkey-cli -p "$to" cluster setslot "$slot" node "$b"
  valkey-cli -p "$from" cluster setslot "$slot" node "$b"
  valkey-cli -p "$third" cluster setslot "$slot" node "$b"
done >moved
wait $load; echo $? >moving.status
sums >moving.sums
run -t 'MULTI ; SET a:{tag} x ; EXEC' -n 9 2>nokey || echo $? >>nokey
run -t "$pair" --sequential -n 9 2>order || echo $? >>order
END
ENGINE=$engine
export ENGINE
test_that 'the script runs on a server' vkb-serve -- sh -u ./single
test_that 'the script runs on a cluster' vkb-serve -q --primaries 3 -- sh -u ./cluster

test_same '4000 0' "$(value requests closed) $(value errors_total closed)" 'transactions are sent in batches'
test_same '4000 0' "$(value requests open) $(value errors_total open)" \
  'transactions are sent at a rate; the number of requests is rounded up'
test_same '2000 2000' "$(xargs <sums.whole)" 'each transaction is executed once'
for f in lost openlost; do
  test_that "$f: connections were lost" test "$(value reconnects $f)" -gt 0
  test_same 'connection' "$(awk '$1 == "error" {print $2}' $f | sort -u | xargs)" \
    "$f: no other error occurs: no transaction is open or incomplete"
  test_same 1 "$(xargs <$f.sums | awk '{print ($1 == $2 && $1 > 0)}')" "$f: each transaction is complete"
done
test_match '^error WRONGTYPE: 100: ' inside 'an error in the reply of EXEC is counted'
test_same '400 100' "$(value requests inside) $(value refused inside)" 'an error in EXEC is counted as a refused request'
for f in nil nil3; do
  test_match '^error NIL: 100: ' $f "$f: an EXEC without a result is an error"
  test_same '600 100' "$(value errors_total $f | sed 's/^/600 /')" "$f: no other request is an error"
done
test_same 0 "$(cat nil.done)" 'no such transaction is executed'
test_match 'EXEC is missing after MULTI' unfinished 'the error says that EXEC is missing'
test_match '^2$' unfinished 'a transaction without EXEC is exit 2'

test_same '8000 0' "$(value requests cluster.closed) $(value errors_total cluster.closed)" \
  'transactions in a cluster are sent'
test_same '4000 0' "$(value requests cluster.open) $(value errors_total cluster.open)" 'transactions in a cluster are sent at a rate'
test_same '3000 3000' "$(cat cluster.sums)" 'each transaction in a cluster is executed once'
test_same 0 "$(cat moving.status)" 'a run during which slots move succeeds'
test_match '^error MOVED: [1-9]' moving 'commands of moved slots are errors'
test_match '^error EXECABORT: [1-9]' moving 'transactions of moved slots are aborted'
test_empty "$(awk '$1 == "error" {print $2}' moving | grep -Ev '^(MOVED|ASK|TRYAGAIN|EXECABORT):')" \
  'no other error occurs'
test_same 1 "$(awk '{print ($1 == $2 && $1 > 1000)}' moving.sums)" 'all other transactions are complete'
test_match "a transaction needs '\{key\}'" nokey 'the error says that a transaction needs {key}'
test_match 'cannot use keys in sequence' order 'the error says that --sequential is not possible'
test_same '2 2' "$(tail -qn 1 nokey order | xargs)" 'both are exit 2'
test_done
