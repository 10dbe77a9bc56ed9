#!/bin/sh
# The load engine in a cluster: requests go to the nodes of their keys, in closed and
# open loop, in sequence, with few clients, and while nodes join or stop for a time.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"
ENGINE=$engine
export ENGINE

cat >lib <<'END'
ports=
for node in $VKB_NODES; do ports="$ports -p ${node#*:}"; done
run() { "$ENGINE" $ports --cluster "$@"; }
value() { awk -v n="$1" '$1 == n {print $2}' "$2"; }
all() { for node in $VKB_NODES; do valkey-cli -p "${node#*:}" "$@"; done; }
sizes() { all dbsize | xargs; }
# calls COMMAND: prints how many calls each node got since the last call of this
# function.
calls() {
  all info commandstats | tr -d '\r' |
    sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p" | xargs
  all config resetstat >/dev/null
}
# give FIRST LAST PORT: gives these slots to the node at PORT, whose configuration epoch
# is the highest.
give() {
  valkey-cli -p "$3" cluster bumpepoch >/dev/null
  to=$(valkey-cli -p "$3" cluster myid)
  for port in "$3" $(echo "$ports" | tr -d p | tr -- - ' '); do
    seq "$1" "$2" | sed "s/.*/cluster setslot & node $to/" |
      valkey-cli -p "$port" --pipe | grep '^errors: [1-9]' >&2
  done
}
set -- $VKB_NODES
END

cat >keys <<'END'
. ./lib
# In sequence: as many keys as requests, with nodes of different speed.
for how in '-P 7 -c 5 -T 2' '-c 2' '-P 4 -c 5 -T 2 -R 20000' \
  '-c 1 -R 20000 --poisson'; do
  for what in SET 'SET k:{tag}:__rand_int__ x'; do
    run -t "$what" -n 3001 -r 3001 --sequential $how >out
    echo "$(value requests out) $(value errors_total out)" \
      "$(all dbsize | awk '{s += $1} END {print s}') $how, $what"
    all flushall >/dev/null
  done
done >sequence
run -t SET -n 1 -r 1 -c 3 >/dev/null
run -t GET --only-fill -r 1
sizes >one
all flushall >/dev/null
# A small key space is used two and a half times: no key is left out, and no key is used
# a round earlier than others.
run -t INCR -n 250 -r 100 --sequential -c 3 -P 3 -T 2 >/dev/null
all --raw keys '*' | sed '/^$/d' >names
for node in $VKB_NODES; do
  valkey-cli -p "${node#*:}" --raw keys '*' | sed '/^$/d; s/^/get /' |
    valkey-cli -p "${node#*:}" --raw
done | sort | uniq -c | awk '{print $2 "x" $1}' | xargs >rounds
all flushall >/dev/null
# The second node gets 2000 slots of the first: the nodes have 3461, 7461 and 5462.
give 0 1999 "${2#*:}"
for how in '-n 12000 -c 1' '-n 120000 -c 2 -P 10' '-n 12000 -c 20 -T 2' \
  '-n 120000 -c 20 -P 16 -T 2' '-n 12000 -c 20 -R 15000' \
  '-n 12000 -c 2 -P 8 -T 2 -R 15000 --poisson'; do
  for what in SET 'SET k:{tag}:__rand_int__ x' LPUSH; do
    name=$(echo "${what%% *}" | tr A-Z a-z)
    calls "$name" >/dev/null
    run -t "$what" $how >out
    echo "$(value errors_total out) $(calls "$name") $how, $what"
  done
done >shares
END
test_that 'a cluster with keys' vkb-serve -q --primaries 3 -- sh -u ./keys
while read -r requests errors keys how; do
  test_same '3001 0 3001' "$requests $errors $keys" "in sequence, $how: each key is used once"
done <sequence
test_same 8 "$(wc -l <sequence | tr -d ' ')" 'all ways to send in sequence were tried'
test_same 1 "$(awk '{print $1 + $2 + $3}' one)" 'a key space of one key is on one node'
test_same 100 "$(wc -l <names | tr -d ' ')" 'in rounds: all keys are used'
test_same '2x50 3x50' "$(cat rounds)" 'in rounds: each key is used two or three times'
# Within 3 % of all requests, which is more than five standard deviations even if the
# requests of a pipeline go to one node together.
while read -r errors a b c how; do
  test_result "$(awk -v e="$errors" -v a="$a" -v b="$b" -v c="$c" 'function far(n, slots) {
    n = n / (a + b + c) - slots / 16384
    return n > .03 || n < -.03 }
    BEGIN {print (e || far(a, 3461) || far(b, 7461) || far(c, 5462)) + 0}')" \
    "$how: each node gets its share of the requests ($a $b $c, $errors errors)"
done <shares
test_same 18 "$(wc -l <shares | tr -d ' ')" 'all ways to send were tried'

# One node of three is stopped for 200 ms in each second: 1 % of all requests wait
# longer than 170 ms.
cat >stopped <<'END'
. ./lib
pid=$(valkey-cli -p "${2#*:}" info server | tr -d '\r' | sed -n 's/^process_id://p')
for loop in '-R 3000 -c 12' '-R 3000 -c 12 -T 2 --poisson'; do
  # It is stopped until the load has ended, whenever that is.
  "$VKB_BUILD/bench/halt" --cycles 1000000 "$pid" >/dev/null &
  halt=$!
  run -t SET -D 3 $loop >out
  kill $halt || exit
  wait $halt 2>/dev/null
  kill -CONT "$pid"
  echo "$(value p99_ms out) $(value max_backlog out) $(value errors_total out)"
done >waits
END
test_that 'a node that is stopped again and again' vkb-serve -q --primaries 3 -- sh -u ./stopped
while read -r p99 backlog errors; do
  test_result "$(awk -v p="$p99" 'BEGIN {print !(p > 120)}')" \
    "requests for it wait (p99 $p99 ms)"
  test_result "$((backlog < 50))" "they wait in its queue ($backlog)"
  test_same 0 "$errors" 'no request fails'
done <waits
test_same 2 "$(wc -l <waits | tr -d ' ')" 'both ways were tried'

# The third node has no slots, and gets some during the load. The only client then opens
# a connection to it.
cat >grown <<'END'
. ./lib
for loop in '-P 3' '-R 5000'; do
  give 10922 16383 "${1#*:}"
  all config resetstat >/dev/null
  "$ENGINE" $ports --cluster -t GET -D 120 -c 1 $loop >out & # until the third node got requests
  load=$!
  until valkey-cli -p "${2#*:}" info commandstats | grep -q cmdstat_get: ||
    ! kill -0 $load 2>/dev/null; do :; done
  before=$(calls get)
  give 10922 11321 "${3#*:}"
  # This is the load's second connection to that node: the first one was for
  # redirected requests.
  until valkey-cli -p "${3#*:}" client list | grep -c cmd=get >seen &&
    [ "$(cat seen)" -ge 2 ] || ! kill -0 $load 2>/dev/null; do :; done
  calls get >/dev/null
  until valkey-cli -p "${3#*:}" info commandstats | grep -Eq 'cmdstat_get:calls=[0-9]{3}' ||
    ! kill -0 $load 2>/dev/null; do :; done
  echo "$before, $(calls get)"
  kill $load
  wait $load || :
done >grown.calls
END
test_that 'a node that gets slots' vkb-serve -q --primaries 3 \
  --config cluster-allow-replica-migration=no -- sh -u ./grown
test_same 2 "$(grep -Ec '^[1-9][0-9]* [1-9][0-9]*( 0)?,' grown.calls)" \
  'at first two nodes have slots'
test_same 2 "$(grep -Ec ', [1-9][0-9]* [1-9][0-9]* [1-9][0-9][0-9]+$' grown.calls)" \
  'then requests go directly to the third node'

# --- a cluster on several hosts, whose nodes all have the same port

port=$(perl -MIO::Socket::INET -e 'for (20000 .. 50000) {
  next if grep { !IO::Socket::INET->new(Listen => 1, LocalAddr => $_) }
    map { my $p = $_; map { "127.0.0.$_:$p" } 1 .. 3 } $_, $_ + 10000;
  print; last }')
for i in 1 2 3; do
  mkdir "host$i"
  valkey-server --bind "127.0.0.$i" --port "$port" --cluster-enabled yes \
    --cluster-announce-ip "127.0.0.$i" --save '' --dir "$scratch/host$i" \
    >"host$i/log" 2>&1 &
  echo $! >>hosts
done
ask() { # ask HOST WORD...: prints the answer of that node
  host=$1
  shift
  valkey-cli -h "127.0.0.$host" -p "$port" "$@"
}
for i in 1 2 3; do wait_until 20 ask "$i" ping >/dev/null; done
{
  ask 1 cluster addslotsrange 0 5460
  ask 2 cluster addslotsrange 5461 10922
  ask 3 cluster addslotsrange 10923 16383
  for i in 1 2 3; do ask "$i" cluster set-config-epoch "$i"; done
  ask 1 cluster meet 127.0.0.2 "$port"
  ask 1 cluster meet 127.0.0.3 "$port"
} >formed 2>&1
is_formed() { test 3 = "$(for i in 1 2 3; do ask "$i" cluster info; done | grep -c '^cluster_state:ok')"; }
test_that 'three hosts form a cluster' wait_until 30 is_formed
cat >hosts.json <<'END'
[{"test_groups": [{"scenarios": [{"id": "a", "test": "GET", "clients": 3,
  "requests": 300, "setup_commands": ["SET a 1", "SET b 1", "SET c 1"]}]}],
  "keyspacelen": [100], "cluster_mode": true, "cluster_nodes": 3,
  "tls_mode": false, "warmup": 0}]
END
test_that 'setup commands go to the host that has their slots' \
  vkb-load --host 127.0.0.1 --port "$port" --flush --runs 1 hosts.json
test_same '["ok",0]' "$(jq -c 'select(.type == "run") | [.status, .metrics.errors]' .out)" \
  'requests go to the host that has their slots'
xargs kill <hosts
wait
test_done
