#!/bin/sh
# Verified loads: the value of a key depends on its name, each value that is read is
# compared byte by byte, and changes by other clients are found.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"
test_server verification
ENGINE=$engine
export ENGINE

# --- what can be verified

# refused WHAT PATTERN OPTION...
refused() {
  what=$1 pattern=$2
  shift 2
  test_status 2 "$what is refused" vkb-load --plan --set verify=true "$@"
  test_match "$pattern" .err "$what: the message says why"
}
test_that 'a plan' vkb-load --plan --set verify=true -t set,mget
test_same '[true,true]' "$(jq -s -c 'map(.config.verify)' .out)" 'verify is part of the identity of a case'
test_same 2 "$(jq -r .id .out | grep -c -- '-verify')" 'verify is part of the id'
printf '[{"commands":["GET"],"verify":true,"keyspacelen":[10]}]\n' >key.json
test_same true "$(vkb-load --plan key.json | jq .config.verify)" 'the key verify of a configuration'
sed 's/true/"perhaps"/' key.json >bad.json
test_status 2 'another value of it is an error' vkb-load --plan bad.json
test_match 'bad.json: \$\[0\].verify: .*true or false' .err 'the error has the path of the key'
run_refused() { # these are checked only when a run begins
  what=$1 pattern=$2
  shift 2
  test_status 2 "$what is refused" vkb-load --runs 1 -n 10 -r 10 --set verify=true "$@"
  test_match "$pattern" .err "$what: the message says why"
}
run_refused 'a command that cannot be verified' "cannot check 'LRANGE': it checks GET, " -t lrange_100
run_refused 'a command of a mix that cannot be verified' "cannot check 'INCR'" --mix 'GET 9 INCR 1'
run_refused 'a command with an open quote' 'not run: a quote is not closed' --command "SET {key} '__data__"
run_refused 'a list of commands' "cannot check 'LPUSH'" --mix "'SET {key} __data__ ; LPUSH l x' 1"
run_refused 'a repeat count without a command' 'a command has no words, or the repeat count 0' --command 'SET {key} __data__ ; 3'
run_refused 'a literal value' 'word 2 of SET must be __data__, not .own' --mix "'SET a own' 1"
run_refused 'a key with __data__ in its name' 'word 1 of SET cannot have __data__' \
  --mix "'SET a__data__ __data__' 1"
run_refused 'reading from replicas' "'verify' needs 'read_from' primary" -t get --set read_from=replica
run_refused 'data that can be compressed' 'cannot be compressed' -t set --set 'values=100 compressible:2'
run_refused 'another engine' 'loads that are verified need the engine of vkb-load' -t get \
  --engine valkey-benchmark --set latency=batch-first-byte

# --- what is read is what was written

# ok WHAT OPTION...: the runs have no errors, and have read values
ok() {
  what=$1
  shift
  case $1 in *.json) ;; *) set -- -r 50 -c 3 -P 7 "$@" ;; esac
  test_that "$what" vkb-load -q --runs 1 -n 4000 --set verify=true "$@"
  test_same true "$(jq -s 'length > 0 and all(.[]; .status == "ok") and any(.[]; .metrics.verify_checked > 500) and
    all(.[]; (.metrics | has("verify_errors") | not) or .metrics.verify_errors == 0)' .out)" \
    "$what: all values that were read are right"
}
ok 'a named test' -t get
test_same '4000 0' "$(jq -r '.metrics | "\(.verify_checked) \(.verify_missing)"' .out)" 'each read is checked'
ok 'ten keys in a request' -t mget
test_same '40000 0' "$(jq -r '.metrics | "\(.verify_checked) \(.verify_missing)"' .out)" 'each of ten keys in a request is checked'
ok 'fields' -t hget
ok 'a mix' --mix 'GET 50 SET 50'
ok 'sizes that differ' --mix 'GET 50 SET 50' --set values=1-3000
ok 'sizes of a list' --mix 'MGET 50 MSET 50' --set 'values=1:50,100:30,40000:20 random'
ok 'values longer than a read' --mix 'GET 50 SET 50' --set 'values=300000' -n 1500
ok 'fields of several' --mix "'HSET h:{key} a __data__ b __data__' 1, 'HMGET h:{key} b a' 1, 'GETDEL {key}' 1, SET 1" --set keys=zipf
ok 'a time to live' --mix 'GET 50 SET 50' --set ttl=1-2
ok 'commands that only look' --mix 'GET 50 SET 40 EXISTS 5' --set values=10-20
ok 'open loop' --mix 'GET 50 SET 50' --set rate=20000
ok 'reopened connections' --mix 'GET 50 SET 50' --set values=10-200 --set reconnect=7
ok 'keys in sequence' -t get --set keys=sequential
for b in a b; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"valkey-server"}\n' $b
done >builds
printf '[{"mix":"GET 50 SET 50","verify":true,"resp3":true,"tls_mode":true,"keyspacelen":[50],"clients":[3],"pipelines":[7],
  "values":["1-300"]}]\n' >other.json
ok 'RESP3 with TLS' other.json
printf '[{"mix":"GET 50 SET 50","verify":true,"cluster_mode":true,"cluster_nodes":3,
  "keyspacelen":[50],"clients":[3],"pipelines":[7],"values":["1-300"]},
  {"commands":["HGET"],"verify":true,"cluster_mode":true,"cluster_nodes":3,"keyspacelen":[50],"clients":[3]}]\n' >cluster.json
ok 'a cluster' cluster.json
ok 'what fills the server' -t get --warmup 0.1 --set values=5-50
test_that 'a run without verify' vkb-load -q --runs 1 -n 100 -r 10 -t get
test_same false "$(jq '.metrics | has("verify_checked")' .out)" 'it has no metrics of verification'
test_that 'a load that only writes' vkb-load -q --runs 1 -n 100 -r 100 -t set --set keys=sequential --set verify=true
test_same '100 0 0 null' "$(jq -r '.metrics | "\(.verify_checked) \(.verify_missing) \(.verify_errors) \(.cmd_get_calls)"' .out)" \
  'its values are read back at the end'
test_that 'two builds that are written in slices' vkb-load -q --runs 1 --duration .3 -r 100 -t set,hset --set verify=true \
  --builds builds
test_same '[true,true,true,true]' "$(jq -s -c 'map(select(.type == "run") |
  .status == "ok" and .metrics.verify_checked > 0 and .metrics.verify_errors == 0)' .out)" 'each is read back'

# --- changes by another client

# Seven keys of 100 are changed, in different ways; one of them is deleted. Each key is
# read once.
cat >changed.json <<'END'
[{"verify": true, "test_groups": [{"group": 1, "scenarios": [
  {"id": "write", "type": "write", "command": "SET key:__rand_int__ __data__",
   "keyspacelen": 100, "sequential": true, "requests": 100, "values": "20-60"},
  {"id": "read", "type": "read", "command": "GET key:__rand_int__",
   "keyspacelen": 100, "sequential": true, "requests": 100, "clients": 3, "pipeline": 4,
   "values": "20-60",
   "setup_commands": [
     "SETRANGE key:000000000003 5 X",
     "APPEND key:000000000010 more",
     "SET key:000000000011 short",
     "COPY key:000000000012 key:000000000013 REPLACE",
     "SET key:000000000050 \"\"",
     "SETRANGE key:000000000099 19 X",
     "DEL key:000000000020"]}]}]}]
END
test_status 2 'a load whose keys another client has changed' vkb-load -q --runs 1 -o changed changed.json
test_same '[["ok",100,0,0],["failed",99,1,6]]' "$(jq -s -c 'map([.status] + (.metrics |
  [.verify_checked, .verify_missing, .verify_errors]))' changed)" 'exactly those are found'
test_same 100 "$(jq -s '.[1].metrics.requests' changed)" 'the record has the measured metrics'
test_match "6 of 99 values that were read are not what was written: key 'key:0000000000[0-9]*': [0-9]+ bytes were written, [0-9]+ read" \
  .err 'the error has the number of wrong values and the first difference'
test_same 3 "$(grep -o "key 'key:[0-9]*'" .err | sort -u | wc -l | tr -d ' ')" 'three wrong keys are listed'
test_same 1 "$(jq -s '.[1].error' changed | grep -c 'are not what was written')" 'the record has the error'
# only one key differs, in one byte
jq '.[0].test_groups[0].scenarios[1].setup_commands = ["SETRANGE key:000000000003 5 X"]' changed.json >one.json
vkb-load -q --runs 1 one.json >one 2>one.err
test_match "key 'key:000000000003': ([0-9]+) bytes were written, \\1 read, at offset 5 .x58 instead of .x[0-9a-f]{2}" \
  one.err 'the error has the offset and both bytes'
# fields, and a key whose name has control characters
cat >types.json <<'END'
[{"verify": true, "test_groups": [{"group": 1, "scenarios": [
  {"id": "write", "type": "write",
   "command": "HSET \"h\\x1b[31m':__rand_int__\" a __data__ b __data__", "keyspacelen": 10,
   "sequential": true, "requests": 10, "data_size": 12},
  {"id": "read", "type": "read",
   "command": "HMGET \"h\\x1b[31m':__rand_int__\" a b c", "keyspacelen": 10,
   "sequential": true, "requests": 10, "data_size": 12,
   "setup_commands": ["HSET \"h\u001b[31m':000000000007\" b foreign"]}]}]}]
END
vkb-load -q --runs 1 types.json >types 2>types.err
test_same '[["ok",20,0,0],["failed",20,10,1]]' "$(jq -s -c 'map([.status] + (.metrics |
  [.verify_checked, .verify_missing, .verify_errors]))' types)" 'fields: one is wrong, ten never were'
test_match "field 'b' of 'h.x1b\\[31m.x27:000000000007': 12 bytes were written, 7 read" types.err \
  'the name of the key is quoted'
test_absent "$(printf '\033')" types.err 'no control character is printed'

# --- writes that were answered and are lost

cat >lost <<'END'
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
# The keys are written once, in order; another client changes some of them after that.
change() {
  until [ "$(cli exists key:000000000100 h:key:000000000100)" -gt 0 ] || ! kill -0 $load; do :; done
  cli del key:000000000007 key:000000000008 >/dev/null
  cli setrange key:000000000009 3 X >/dev/null
  cli hdel h:key:000000000010 b >/dev/null
}
load() { # FILE OPTION...
  load_out=$1
  shift
  cli flushall >/dev/null
  vkb-load -q --port "$VKB_PORT" --flush --runs 1 --set verify=true --set keys=sequential -r 1000 -n 1000 --set rate=250 -c 5 "$@" \
    >"$load_out" 2>"$load_out.err" &
  load=$!
}
load set -t set --set values=8-40; change; wait $load; echo $? >set.status
load hset --mix "'HSET h:{key} a __data__ b __data__' 1" -d 20; change; wait $load; echo $? >hset.status
load removes --mix "'SET {key} __data__ EX 1000' 1" -d 20; change; wait $load; echo $? >removes.status
cli config set maxmemory 300mb maxmemory-policy allkeys-lru >/dev/null
load evicts -t set -d 20; change; wait $load; echo $? >evicts.status
cli acl setuser writer on '>secret' '~*' '&*' +@all -get >/dev/null
VKB_USER=writer VKB_PASSWORD=secret
export VKB_USER VKB_PASSWORD
load unread -t set -d 20; wait $load; echo $? >unread.status
END
test_that 'lost writes, on a server whose keys another client changes' vkb-serve -q -- sh -u ./lost
verified() { jq -r '"\(.status) " + ([.metrics | .verify_checked, .verify_missing, .verify_errors] | map(tostring) | join(" "))' "$1" | head -n 1; }
test_same '2 failed 1000 0 3' "$(cat set.status) $(verified set)" 'all changed keys are found'
test_match "3 of 1000 values that were read are not what was written: key 'key:00000000000[789]': " set.err \
  'the error has the number of wrong values'
test_match "key 'key:00000000000[78]': it was written, and is not there" set.err 'the error names a lost key'
test_same '2 failed 2000 0 1' "$(cat hset.status) $(verified hset)" 'a changed field is found'
test_match "field 'b' of 'h:key:000000000010': it was written, and is not there" hset.err 'the error names the lost field'
test_same '2 failed 998 2 1' "$(cat removes.status) $(verified removes)" \
  'with a time to live keys may be missing, but not wrong'
test_same '2 failed 998 2 1' "$(cat evicts.status) $(verified evicts)" 'with maxmemory keys may be missing, but not wrong'
test_same '2 failed 1000 0 1000' "$(cat unread.status) $(verified unread)" 'keys that cannot be read back are errors'
test_match "key 'key:000000000[0-9]*': it was written, and cannot be read: NOPERM .*'get'" unread.err 'the error has the answer of the server'
ok 'keys that are written and deleted' --mix "SET 2, GET 1, 'DEL {key}' 1"

# A primary has no connection to its replica, which takes over: what was written between
# is lost.
cat >failover <<'END'
set -- $VKB_NODES
ports=
for node; do ports="$ports -p ${node#*:}"; done
first=${1#*:}
replica=$(valkey-cli -p "$first" info replication | tr -d '\r' | sed -n 's/^slave0:.*port=\([0-9]*\),.*/\1/p')
"$ENGINE" $ports --cluster --verify -t SET -R 3000 -D 4 -c 3 -r 1000000 -d 20 --max-lost 1000000 \
  >failover.out 2>failover.err &
load=$!
keys() { valkey-cli -p "${2#*:}" dbsize; } # of the second, which grows as fast
until [ "$(keys "$@")" -gt 200 ] || ! kill -0 $load; do :; done
printf 'config set maxclients 1\nclient kill type replica\n' | valkey-cli -p "$first" >/dev/null
before=$(keys "$@")
until [ "$(keys "$@")" -gt $((before + 500)) ] || ! kill -0 $load; do :; done
valkey-cli -p "$replica" cluster failover takeover >/dev/null
wait $load
echo $? >failover.status
END
test_that 'a failover during a verified load' vkb-serve -q --primaries 3 --replicas 1 -- sh -u ./failover
test_same '0 0' "$(cat failover.status) $(value lost failover.out)" 'the load continues'
test_that 'all keys are read back' awk -v n="$(value requests failover.out)" -v k="$(value checked failover.out)" \
  'BEGIN {exit !(n > 2000 && n <= 12000 && k > .95 * n && k <= n)}'
test_that 'keys that only the old primary had are wrong' test "$(value wrong failover.out)" -ge 250
test_match "differs key '.*key:.*': it was written, and is not there" failover.out 'they are reported as lost'

# A primary hangs, and its replica takes over: clients find the new primary.
cat >hangs <<'END'
set -- $VKB_NODES
ports=
for node; do ports="$ports -p ${node#*:}"; done
first=${2#*:}
replica=$(valkey-cli -p "$first" info replication | tr -d '\r' | sed -n 's/^slave0:.*port=\([0-9]*\),.*/\1/p')
pid=$(valkey-cli -p "$first" info server | tr -d '\r' | sed -n 's/^process_id://p')
"$ENGINE" $ports --cluster --verify -t SET -D 60 -c 3 -r 1000000 -d 20 --max-lost 1000000 --timeout 1 \
  >hangs.out 2>hangs.err &
load=$!
calls() { valkey-cli -p "$replica" info commandstats | tr -d '\r' | sed -n 's/^cmdstat_set:calls=\([0-9]*\),.*/\1/p'; }
until [ "0$(calls)" -gt 200 ] || ! kill -0 $load; do :; done
kill -STOP "$pid"
valkey-cli -p "$replica" cluster failover takeover >/dev/null
valkey-cli -p "$replica" config resetstat >/dev/null
until [ "0$(calls)" -gt 200 ] || ! kill -0 $load; do :; done
kill -INT $load
wait $load
calls >hangs.calls
kill -CONT "$pid"
END
test_that 'a primary that hangs and is replaced' vkb-serve -q --primaries 3 --replicas 1 -- sh -u ./hangs
test_that 'the new primary gets writes' test "0$(cat hangs.calls)" -gt 200

# --- the engine while connections break and slots move

cat >lib <<'END'
run() { "$ENGINE" $ports --verify "$@"; }
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
END
cat >single <<'END'
. ./lib
ports="-p $VKB_PORT"
run -t SET -n 1000 -r 1000 --sequential -d 20 --progress >/dev/null 2>progress
cli --raw strlen key:000000000007 >length
run -t 'GET key:__rand_int__' -n 1000 -r 1000 --sequential -d 21 >sizes
cli flushall >/dev/null
run -t SET -n 1000 -r 1000 --sequential --values 10-20 >/dev/null
run -t 'GET key:__rand_int__' -n 2000 -r 2000 --sequential --values 10-20 -3 >again
# connections are killed during pipelines of reads
for i in 1 2 3 4 5 6; do cli client kill type normal skipme yes >/dev/null; done
run --mix 'GET 9 SET 1' -D 1 -c 5 -P 40 -r 1000 --values 10-20 --max-lost 100000 >killed 2>killed.err &
load=$!
until cli info commandstats | grep -q 'cmdstat_get:calls=[0-9]\{5\}' || ! kill -0 $load; do :; done
for i in 1 2 3; do cli client kill type normal skipme yes >/dev/null; done
wait $load
run --mix 'GET 9 SET 1' -R 20000 -D 1 -c 5 -P 40 -r 1000 --values 10-20 --max-lost 100000 >open 2>open.err &
load=$!
until cli client list | grep -q cmd=get || ! kill -0 $load; do :; done
for i in 1 2 3; do cli client kill type normal skipme yes >/dev/null; done
wait $load
cli set key:000000000001 wrong >/dev/null
cli lpush list:000000000001 a >/dev/null
run -t 'GET list:__rand_int__' -n 2 -r 2 --sequential >wrongtype
cli flushall >/dev/null
run --fill --mix 'GET 1 SET 1' -n 100 -r 5 >filled
cli flushall >/dev/null
run --mix "'SET w:__rand_int__ __data__' 1, 'GET w:__rand_int__' 9" -D 2 -c 3 -r 100 >deleted &
load=$!
until [ "$(cli dbsize)" -gt 90 ] || ! kill -0 $load; do :; done
cli flushall >/dev/null
wait $load
cli flushall >/dev/null
run --mix "'SET w:__rand_int__ __data__' 1, 'GET w:__rand_int__' 9" -n 3000 -c 3 -r 100 >undeleted
run --mix "'SET w:__rand_int__ __data__ EX 1' 1, 'GET w:__rand_int__' 9" -D 3 -c 3 -P 5 -r 100 >expiring
cli config set maxmemory 1 >/dev/null
run --mix 'GET 1 SET 1' -n 1000 -r 2 --values 10-20 >oom 2>&1
END
test_that 'one server' vkb-serve -q -- sh -u ./single
test_match '^reading back +[0-9]+ % ' progress 'progress is reported while values are read back'
test_same 20 "$(cat length)" 'values have the requested size'
test_same '1000 0 1000' "$(value checked sizes) $(value missing sizes) $(value wrong sizes)" \
  'values of another size are wrong'
test_same '1000 1000 0' "$(value checked again) $(value missing again) $(value wrong again)" \
  'another load knows which keys were written'
test_same '0 0' "$(value wrong killed) $(value wrong open)" 'lost connections cause no wrong values'
test_that 'connections were lost' test "$(value reconnects killed)" -gt 0 -a "$(value reconnects open)" -gt 0
test_that 'many values were compared' test "$(value checked killed)" -gt 1000 -a "$(value checked open)" -gt 1000
test_same '0 1 0 1' "$(value checked wrongtype) $(value missing wrongtype) $(value wrong wrongtype) $(
  value errors_total wrongtype)" 'an error reply is an error, not a wrong value'
test_same '0 0' "$(value missing filled) $(value wrong filled)" 'a load that the server was filled for finds all keys'
test_that 'values that are gone are errors' test "$(value wrong deleted)" -gt 0
test_match "^differs key 'w:0000000000[0-9][0-9]': it was written, and is not there" deleted 'the message names the key'
test_same 0 "$(value wrong undeleted)" 'values that were not written yet are not errors'
test_that 'they are missing' test "$(value missing undeleted)" -gt 0
test_same 0 "$(value wrong expiring)" 'keys that may expire are not errors'
test_that 'keys that were evicted are missing' test "$(value missing oom)" -gt 100
test_same 0 "$(value wrong oom)" 'evicted keys are not wrong'
vkb-load -q --runs 1 --duration 60s --mix 'GET 9 SET 1' -P 9 -r 1000 --set values=10-20 --set verify=true >dead 2>dead.err &
load=$!
is_loaded() { find_victim "$load" && [ "$(ps -o cputimes= -p "$victim")" -gt 0 ]; }
wait_until 20 is_loaded
kill -KILL "$victim"
wait "$load"
test_same 2 $? 'a server that dies fails the run'
test_same '"failed"' "$(jq .status dead | sort -u)" 'the record has failed'
test_match 'signal 9' dead.err 'the error has the signal'

cat >moving <<'END'
. ./lib
. "$tests/wait.sh"
has_begun() { [ -s moved.err ] || ! kill -0 $load; }
ports=
for node in $VKB_NODES; do ports="$ports -p ${node#*:}"; done
set -- $VKB_NODES
run --cluster -t GET --only-fill -r 5000 --values 10-20
slot=1
for loop in '-P 9 -c 3 -n 300000' '-R 20000 -c 3 -n 40000'; do
  "$ENGINE" $ports --cluster --verify --progress --mix 'GET 9 SET 1' -r 5000 --values 10-20 $loop >moved 2>moved.err &
  load=$!
  # The load waits while the first slots move, so that it sends to the node before.
  wait_until 20 has_begun
  kill -STOP $load
  from=$(valkey-cli -p "${1#*:}" cluster myid) to=$(valkey-cli -p "${2#*:}" cluster myid)
  # Slots move until the load ends, 60 at a time, so that few processes are started.
  while kill -0 $load 2>/dev/null && [ $slot -lt 5000 ]; do
    seq $slot $((slot + 59)) >slots
    slot=$((slot + 60))
    sed "s/.*/cluster setslot & importing $from/" slots | valkey-cli -p "${2#*:}" >/dev/null
    sed "s/.*/cluster setslot & migrating $to/" slots | valkey-cli -p "${1#*:}" >/dev/null
    while sed 's/.*/cluster getkeysinslot & 20/' slots | valkey-cli -p "${1#*:}" --raw | grep . >names; do
      sed "s/.*/migrate 127.0.0.1 ${2#*:} & 0 5000/" names | valkey-cli -p "${1#*:}" >/dev/null
    done
    for node; do sed "s/.*/cluster setslot & node $to/" slots | valkey-cli -p "${node#*:}" >/dev/null; done
    kill -CONT $load 2>/dev/null
  done
  wait $load
  echo "$? $(awk '$1 == "wrong" {w = $2} $1 == "missing" {m = $2} $1 == "checked" {c = c > $2 ? c : $2}
    /^error (MOVED|ASK)/ {e = 1} END {print w + 0, m + 0, (c > 1000), e}' moved)"
done >moves
END
test_that 'a verified load while slots move' vkb-serve -q --primaries 3 -- sh -u ./moving
test_same '0 0 0 1 1' "$(head -n 1 moves)" 'closed loop: redirected reads are compared, too'
test_same '0 0 0 1 1' "$(sed -n 2p moves)" 'open loop: redirected reads are compared, too'
test_litter 20 'no server and no file is left'
test_done
