#!/bin/sh
# The load engine with real servers: every command, clusters, TLS, and faults.
# sanitize: the engine against real servers.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

named="$(named_tests | xargs) LRANGE"
export named
test_that 'there are named tests' test "$(named_tests | wc -l)" -gt 25

# A script that vkb-serve runs; it writes the results that are checked below.
cat >plain <<'END'
run() { "$ENGINE" -p "$VKB_PORT" --pid "$VKB_PID" "$@"; }
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
for t in $named; do
  cli flushall >/dev/null
  cli config resetstat >/dev/null
  run -t $t --fill -n 2011 -P 7 -r 500 -T 2 -c 9 >out || echo "$t failed"
  awk -v t=$t '{v[$1] = $2} END {
    print t, v["requests"], v["recorded"], v["errors_total"],
      "hit_rate_percent" in v ? v["hit_rate_percent"] : 100}' out
done >commands
cli flushall >/dev/null
run -t SET -n 3000 -r 3000 --sequential -P 13 -T 3 >out && cli dbsize >dbsize
for t in SET 'SET t:__rand_int__ 1'; do
  cli flushall >/dev/null
  run -t "$t" -n 10 -r 10 --sequential -R 100 -T 3 >out && cli dbsize
done >dbsize.rate
cli config resetstat >/dev/null
run -t SET -n 20011 -P 7 -T 3 >counted
cli info commandstats | tr -d '\r' >stats
run -t GET -D 0.3 -w 0.2 --series >duration
cli set mylist x >/dev/null
run -t LPUSH -n 1000 >wrongtype
run -t LPOP -n 100 >nolist
cli del mylist >/dev/null
run -t LPOP -D 0.3 -P 10 --fill >pops
cli flushall >/dev/null
run -t RPOP -n 500 -r 10 >empty
run -t SET -D 0.5 -R 4000 -c 20 >constant
run -t SET -D 0.5 -R 4000 -c 20 --poisson -T 2 -P 4 >poisson
run -t SET -n 2000 -R 20000 -w 0.1 >openn
"$VKB_BUILD/bench/halt" --cycles 3 "$VKB_PID" >halt &
halt=$!
run -t SET -D 2 -R 2000 -c 10 -P 50 >paused
wait $halt
run -t SET -d 100000 -n 300 -P 30 -c 3 >large
run -t GET -d 100000 -n 300 -P 30 -c 3 --fill -r 5 >largeget
run -t SET -D 1 -c 5 --max-lost 100 >killed &
engine=$!
i=0
until [ "$(cli client kill type normal skipme yes)" -ge 5 ] || [ $i -gt 500 ]; do i=$((i + 1)); done
wait $engine; echo $? >killed.status
cli config set requirepass secret >/dev/null
"$ENGINE" -p "$VKB_PORT" -n 10 >noauth
"$ENGINE" -p "$VKB_PORT" -n 10 --password wrong 2>badauth; echo $? >>badauth
"$ENGINE" -p "$VKB_PORT" -n 100 -r 100 --sequential --user default --password secret --db 3 >auth
valkey-cli -p "$VKB_PORT" -a secret -n 3 dbsize 2>/dev/null >auth.size
valkey-cli -p "$VKB_PORT" -a secret config set requirepass '' >/dev/null 2>&1
"$ENGINE" -s "$VKB_SOCKET" -n 5000 -P 3 -t SET >unix
cli flushall >/dev/null
"$ENGINE" -s "$VKB_SOCKET" -n 200 -t SET -d 1000000 -r 10 -c 20 >unixlarge
for n in 0 1 2 3 4 5 6 7 8 9; do cli get key:00000000000$n | cksum; done |
  sort -u >values
cli get key:000000000000 | wc -c >>values
cli flushall >/dev/null
run -t SET -n 20000 -c 1000 -T 2 >many
kill -STOP "$VKB_PID"
"$ENGINE" -p "$VKB_PORT" -n 100000 --timeout 0.5 2>silent; echo $? >>silent
kill -CONT "$VKB_PID"
END
ENGINE=$engine
export ENGINE
test_that 'a server for the engine' vkb-serve -q --unixsocket -- sh -u ./plain

n=0
while read -r name requests recorded errors hits; do
  n=$((n + 1))
  test_same '2011 2011 0 100' "$requests $recorded $errors $hits" "$name"
done <commands
test_same "$(echo "$named" | wc -w | tr -d ' ')" "$n" 'all tests were run'
test_same 3000 "$(cat dbsize)" 'keys in sequence: each key is set once'
test_same '10 10' "$(xargs <dbsize.rate)" \
  'keys in sequence: at a given rate all threads share them, too'
test_same 20011 "$(value requests counted)" \
  'the requested number of requests is sent'
test_match 'cmdstat_set:calls=20011,' stats \
  'the server has seen as many requests as were sent'
test_same 0.3 "$(value elapsed_s duration)" 'the warm-up is not measured'
# Requests in flight at the end have a latency, but do not count.
n=$(($(value recorded duration) - $(value requests duration)))
test_result "$((n < 0 || n > 50))" "each request has a latency ($n in flight at the end)"
test_match '^server_cpu_us_per_req [0-9.]+$' duration 'the output has the CPU time of the server'
test_match '^client_busy_percent [0-9.]+$' duration 'the output has the busy share of the client'
test_match '^bound (server|client|neither)$' duration \
  'the output names the limit of the load'
test_match '^interval 0.3 0.3 [1-9]' duration \
  'the output has a line for each interval'
test_match '^error WRONGTYPE: 1000: WRONGTYPE Operation' wrongtype \
  'errors are counted by kind'
test_same 0 "$(value hit_rate_percent nolist)" \
  'an error does not count as a hit'
test_same 100 "$(value hit_rate_percent pops)" \
  'a pop from a filled list is a hit'
test_match '^refilled [1-9]' pops 'popped elements are put back during the run'
test_same 0 "$(value hit_rate_percent empty)" 'a pop from an empty list is a miss'
test_same 2000 "$(value recorded constant)" 'open loop: each request that is due has a latency'
n=$(value requests constant)
test_result "$((n < 1 || n > 2000))" "open loop: requests are those answered in the measured time ($n)"
test_same 4000 "$(value offered_rps constant)" 'open loop: the rate is offered'
# Replies after the end have a latency, but do not count as requests.
n=$(($(value recorded poisson) - $(value requests poisson)))
test_result "$((n < 0))" "open loop at random times: each request has a latency ($n late)"
test_same 2000 "$(value requests openn)" 'open loop: requests of the warm-up do not count'
test_match '^paused_ms [12]' halt 'a server that is stopped for 200 ms in each second'
test_result "$(awk '$1 == "p50_ms" {a = $2} $1 == "p99_ms" {b = $2} END {
  print !(a < 200 && b > 120 && b < 1900)}' paused)" \
  'open loop: the latency begins when a request is due'
test_same 300 "$(value requests large)" 'large values'
test_same 100 "$(value hit_rate_percent largeget)" 'large values are read'
test_same 0 "$(cat killed.status)" 'lost connections do not end a run with --max-lost'
test_match '^error connection lost: [1-9]' killed \
  'requests on lost connections are counted as errors'
test_match '^error NOAUTH: 10:' noauth 'no password'
test_same 10 "$(value refused noauth)" \
  'without a password the requests are refused'
test_match "answered: WRONGPASS" badauth 'a wrong password'
test_same 2 "$(tail -n 1 badauth)" 'a wrong password ends the run with 2'
test_same 100 "$(cat auth.size)" 'AUTH and SELECT'
test_same 5000 "$(value requests unix)" 'a unix socket'
test_same '200 0' "$(value requests unixlarge) $(value errors_total unixlarge)" \
  'values larger than a socket holds'
test_same '2 1000001' "$(awk 'END {print NR, $1}' values)" 'values larger than a socket buffer arrive whole'
test_same '20000 20000 0' "$(value requests many) $(value recorded many) \
$(value errors_total many)" 'a thousand connections'
test_result "$(awk '$1 == "p50_ms" {a = $2} $1 == "max_ms" {b = $2} END {
  print !(b < 20 * a + 1000)}' many)" 'of which none waits for the others'
test_match "no reply from '127.0.0.1:[0-9]+' to SET for 0.5 s" silent \
  'a silent server is named'
test_same 2 "$(tail -n 1 silent)" 'a silent server ends the run with 2'

cat >cluster <<'END'
set -- $VKB_NODES
ports=
for node; do ports="$ports -p ${node#*:}"; done
tls=
[ -z "${VKB_TLS_CACERT:-}" ] || tls="--tls --cacert $VKB_TLS_CACERT --cert $VKB_TLS_CERT --key $VKB_TLS_KEY"
run() { "$ENGINE" $ports --cluster $tls "$@"; }
for t in SET GET MSET MGET LPUSH LPOP SPOP SISMEMBER HGET ZRANGE LRANGE_300 XRANGE; do
  run -t $t --fill -n 2011 -P 7 -r 5000 -T 2 -c 9 >out || echo "$t failed"
  awk -v t=$t '{v[$1] = $2} END {
    print t, v["requests"], v["recorded"], v["errors_total"],
      "hit_rate_percent" in v ? v["hit_rate_percent"] : 100}' out
done >commands
run -t GET -n 2000 -r 1 >one
run -t SET -d 70000 -n 100 -P 20 >large
[ -z "$tls" ] || exit 0
for node; do valkey-cli -p ${node#*:} flushall >/dev/null; done
run -t SET --only-fill
run -t GET --only-fill -r 5000
for node; do valkey-cli -p ${node#*:} dbsize; done >sizes
for node; do valkey-cli -p ${node#*:} flushall >/dev/null; done
# calls COMMAND: prints how many of these commands all nodes executed.
calls() {
  for node; do valkey-cli -p "${node#*:}" info commandstats; done |
    tr -d '\r' | sed -n "s/^cmdstat_$what:calls=\([0-9]*\),.*/\1/p" |
    awk '{s += $1} END {print s + 0}'
}
all() { for at in $VKB_NODES; do valkey-cli -p "${at#*:}" "$@"; done; }
from=$(valkey-cli -p ${1#*:} cluster myid)
to=$(valkey-cli -p ${2#*:} cluster myid)
# A set is moved to another node while it is read.
run -t SISMEMBER --only-fill -r 2000
"$ENGINE" $ports --cluster -t SISMEMBER -D 30 -r 2000 -c 6 >members 2>interrupted &
engine=$!
i=0
what=sismember
until [ "$(calls "$1")" -gt 1000 ] || [ $i -gt 500 ]; do i=$((i + 1)); done
key=$(valkey-cli -p ${1#*:} --raw keys 'myset*' | sed 1q)
slot=$(valkey-cli -p ${1#*:} cluster keyslot "$key")
valkey-cli -p ${2#*:} cluster setslot $slot importing $from >/dev/null
valkey-cli -p ${1#*:} cluster setslot $slot migrating $to >/dev/null
valkey-cli -p ${1#*:} migrate ${2%:*} ${2#*:} "$key" 0 5000 >migrated
for node in "$2" "$1" "$3"; do
  valkey-cli -p ${node#*:} cluster setslot $slot node $to >/dev/null
done
n=$(($(calls "$2") + 3000)) # some of the reads are of the key that moved
i=0
until [ "$(calls "$2")" -gt $n ] || [ $i -gt 500 ]; do i=$((i + 1)); done
kill -INT $engine
wait $engine
# Slots are moved from the first node to the second while they are written. Requests to
# the wrong node are sent again, so that none is lost.
all config resetstat >/dev/null
run -t SET -n 150000 -c 6 >moved &
engine=$!
i=0
what=set
until [ "$(calls "$1")" -gt 1000 ] || [ $i -gt 500 ]; do i=$((i + 1)); done
for node in "$2" "$1" "$3"; do
  s=0
  while [ $s -lt 500 ]; do echo "cluster setslot $s node $to"; s=$((s + 1)); done |
    valkey-cli -p ${node#*:} >/dev/null
done
wait $engine; echo $? >moved.status
calls "$@" >moved.calls
# The slot of number 5 is migrating all the time: new keys are written to its new node.
all flushall >/dev/null
all config resetstat >/dev/null
valkey-cli -p ${2#*:} cluster setslot 1473 importing $from >/dev/null
valkey-cli -p ${1#*:} cluster setslot 1473 migrating $to >/dev/null
run -t SET -n 30000 -r 100 -c 6 -P 5 -T 2 >asked
calls "$@" >asked.calls
valkey-cli -p ${2#*:} cluster countkeysinslot 1473 >asked.keys
run -t SET -D 0.5 -R 20000 -r 100 -c 6 -P 5 >askedopen
for node in "$1" "$2"; do
  valkey-cli -p ${node#*:} cluster setslot 1473 stable >/dev/null
done
# The node that a slot migrates to stops while requests are sent there.
all flushall >/dev/null
all config resetstat >/dev/null
valkey-cli -p ${2#*:} cluster setslot 0 importing $from >/dev/null
valkey-cli -p ${1#*:} cluster setslot 0 migrating $to >/dev/null
hung=$(valkey-cli -p ${2#*:} info server | tr -d '\r' | sed -n 's/^process_id://p')
"$ENGINE" $ports --cluster -t GET -D 1 -r 1 -c 2 --timeout 1.5 >hung 2>hung.err &
engine=$!
i=0
what=get
until [ "$(calls "$2")" -gt 100 ] || [ $i -gt 500 ]; do i=$((i + 1)); done
kill -STOP "$hung"
wait $engine; echo $? >hung.status
echo "${2#*:}" >hung.port
kill -CONT "$hung"
END
for how in plain tls; do
  opts=
  [ $how = plain ] || opts=--tls
  # shellcheck disable=SC2086 # may be empty
  test_that "a cluster, $how" vkb-serve -q --primaries 3 $opts -- \
    sh -u ./cluster
  n=0
  while read -r name requests recorded errors hits; do
    n=$((n + 1))
    test_same '2011 2011 0 100' "$requests $recorded $errors $hits" \
      "cluster, $how: $name"
  done <commands
  test_same 12 "$n" "cluster, $how: all tests were run"
  test_same 2000 "$(value requests one)" "cluster, $how: requests for one key"
  test_same '100 0' "$(value requests large) $(value errors_total large)" \
    "cluster, $how: requests with large values"
done
test_same '3 5000' "$(awk '$1 > 1500 {n++} {s += $1} END {print n, s}' sizes)" \
  'the keys are on all nodes'
test_same 0 "$(cat moved.status)" 'moving slots does not end a run'
test_match '^error MOVED: [1-9]' moved 'MOVED is counted'
test_same 0 "$(value refused moved)" \
  'requests that MOVED redirected are not refused'
test_same '150000 150000 150000' "$(value requests moved) $(value recorded moved) \
$(cat moved.calls)" 'MOVED: each request is answered once'
test_match '^error ASK: [1-9]' asked 'ASK is counted'
test_same '30000 30000 30000' "$(value requests asked) $(value recorded asked) \
$(cat asked.calls)" 'ASK: each request is answered once'
test_result "$(($(cat asked.keys) == 0))" 'ASK: keys are on the new node of the slot'
n=$(value recorded askedopen)
test_result "$((n < $(value requests askedopen) || n < 9000 || n > 10000))" \
  "ASK in open loop: each request is answered once ($n of 10000)"
test_match '^error ASK: [1-9]' askedopen 'ASK in open loop is counted'
test_same 2 "$(cat hung.status)" 'ASK: a node that hangs fails the run'
test_match "no reply from '127.0.0.1:$(cat hung.port)' to GET for 1.5 s" hung.err \
  'ASK: the error names the node that hangs'
test_match '^error MOVED: [1-9]' members \
  'requests for a key that moved get MOVED'
test_same OK "$(cat migrated)" 'a key is migrated while it is read'
test_same 0 "$(value refused members)" \
  'requests for a slot that migrates are redirected by ASK'
test_same 100 "$(value hit_rate_percent members)" \
  'all members of a set that moved are found'

# The replica of the first node takes over its slots.
cat >failover <<'END'
set -- $VKB_NODES
me=$(valkey-cli -p "${1#*:}" cluster myid)
replica=$(valkey-cli -p "${1#*:}" cluster nodes |
  awk -v me="$me" '$4 == me {split($2, a, "[:@]"); print a[2]}')
"$ENGINE" -p "${1#*:}" -p "${2#*:}" --cluster -t SET -n 100000 -c 6 >failed &
engine=$!
i=0
until valkey-cli -p "${1#*:}" info commandstats | grep -q cmdstat_set: ||
  [ $i -gt 500 ]; do i=$((i + 1)); done
valkey-cli -p "$replica" cluster failover >/dev/null
wait $engine; echo $? >failed.status
END
test_that 'a cluster with replicas' vkb-serve -q --primaries 3 --replicas 1 -- \
  sh -u ./failover
test_same '0 100000 0' "$(cat failed.status) $(value recorded failed) \
$(value refused failed)" 'no request is lost in a failover'
test_match '^error MOVED: [1-9]' failed 'requests are redirected to the replica'

# A port without a listener, and a server that talks nonsense.
test_status 2 'a port without a listener is an error' "$engine" -p 1 -n 10
test_match "cannot connect to '127.0.0.1:1': Connection refused" .err \
  'the error names the address without a listener'
cat >nonsense.pl <<'END'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(Listen => 9, LocalAddr => '127.0.0.1') or die;
$| = 1;
print $s->sockport, "\n";
while (my $c = $s->accept) {
  my $b;
  sysread $c, $b, 1;
  syswrite $c, "HTTP/1.1 400\r\n";
  1 while sysread $c, $b, 100; # until the load closes the connection
}
END
perl nonsense.pl >port &
fake=$!
test_cleanup() { kill "$fake"; }
wait_until 10 test -s port
test_status 2 'a server that talks nonsense' \
  "$engine" -p "$(cat port)" -n 10 -c 1
test_match "bad reply from '127.0.0.1:[0-9]+' to SET: unexpected byte" .err \
  'the error names the address of the bad reply'
test_done
