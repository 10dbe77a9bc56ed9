#!/bin/sh
# Texts with MULTI are sent whole: with pipelines and rates, over connections
# that break, and in a cluster whose slots move.
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
# lose OUT OPTION...: connections break again and again.
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
run -t 'MULTI ; SET a x ; LPUSH a y ; EXEC' -n 400 -P 8 -c 3 >inside
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
test_that 'a server to ask' vkb-serve -- sh -u ./single
test_that 'a cluster to ask' vkb-serve -q --primaries 3 -- sh -u ./cluster

test_same '4000 0' "$(value requests closed) $(value errors_total closed)" 'transactions in batches'
test_same '4000 0' "$(value requests open) $(value errors_total open)" \
  'with a rate, and a number that is rounded up'
test_same '2000 2000' "$(xargs <sums.whole)" 'are done, each once'
for f in lost openlost; do
  test_that "$f: connections broke" test "$(value reconnects $f)" -gt 0
  test_same 'connection' "$(awk '$1 == "error" {print $2}' $f | sort -u | xargs)" \
    "$f: that is the only error: no MULTI was open, or missing"
  test_same 1 "$(xargs <$f.sums | awk '{print ($1 == $2 && $1 > 0)}')" "$f: each transaction is whole"
done
test_match '^error WRONGTYPE: 100: ' inside 'an error in the reply of EXEC is counted'
test_same '400 100' "$(value requests inside) $(value refused inside)" 'as a refused request'
for f in nil nil3; do
  test_match '^error NIL: 100: ' $f "$f: an EXEC without a result is an error"
  test_same '600 100' "$(value errors_total $f | sed 's/^/600 /')" "$f: and nothing else is"
done
test_same 0 "$(cat nil.done)" 'nothing was done'
test_match 'EXEC is missing after MULTI' unfinished 'a transaction must have an end'
test_match '^2$' unfinished 'else it is trouble'

test_same '8000 0' "$(value requests cluster.closed) $(value errors_total cluster.closed)" \
  'in a cluster, too'
test_same '4000 0' "$(value requests cluster.open) $(value errors_total cluster.open)" 'with a rate'
test_same '3000 3000' "$(cat cluster.sums)" 'each once'
test_same 0 "$(cat moving.status)" 'slots move during a run'
test_match '^error MOVED: [1-9]' moving 'transactions of theirs are errors'
test_match '^error EXECABORT: [1-9]' moving 'as a whole'
test_empty "$(awk '$1 == "error" {print $2}' moving | grep -Ev '^(MOVED|ASK|TRYAGAIN|EXECABORT):')" \
  'and nothing else happens'
test_same 1 "$(awk '{print ($1 == $2 && $1 > 1000)}' moving.sums)" 'all others are whole'
test_match "a transaction needs '\{key\}'" nokey 'keys of one slot are demanded'
test_match 'cannot use keys in sequence' order 'and such as any node may have'
test_same '2 2' "$(tail -qn 1 nokey order | xargs)" 'else it is trouble'
test_done
