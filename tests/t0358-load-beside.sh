#!/bin/sh
# vkb-load on a running server of others: which server that is, by options, configuration
# and VKB_ variables; its memory, where a load may neither evict keys nor make writes of
# others fail; and the lines of vkb(7) and vkb-servers(7) on servers that hold data.
. "${0%/*}/lib.sh"

test_server 'data of others'
printf '{"type":"spec","v":1,"id":"other","config":{"enable-debug-command":"yes"}}\n' >spec
test_other spec
# another SPEC: starts one more server; sets $port
another() {
  printf '%s\n' "$1" >&3
  read -r other <&4
  port=$(printf '%s' "$other" | jq .nodes[0].port)
}
first=$port
another '{"type":"spec","v":1,"id":"second"}'
second=$port
cli() { valkey-cli -p "$first" "$@"; }
base='"commands":["SET"],"requests":[100],"keyspacelen":[10],"data_sizes":[3],"pipelines":[1],"clients":[1],"cluster_mode":false,"warmup":0'
# config FILE MEMBERS
config() { printf '[{%s,%s}]\n' "$base" "$2" >"$1"; }

# --- which server is measured

cli set theirs kept >/dev/null
valkey-cli -p "$second" set mine 1 >/dev/null
config port.json "\"tls_mode\":false,\"port\":$second"
running() { vkb-load --use-running-server --runs 1 -q "$@"; }
test_status 2 'a server that holds a key' running port.json
test_match "the server at 127.0.0.1:$second holds 1 key" .err 'the port of a configuration is used'
[ "$test_bad" -eq 0 ] || test_done # another server would be emptied below
test_that 'with --flush it is measured' running --flush port.json
test_match "^vkb-load: measures the server running at 127.0.0.1:$second, valkey [0-9.]+: deletes all that it holds, 1 key \(1 in db0\), before" \
  .err 'a message names the server and what is deleted, with -q as well'
test_same '0 kept' "$(valkey-cli -p "$second" dbsize) $(cli get theirs)" \
  'only the server of the configuration is emptied'
valkey-cli -p "$second" set mine 1 >/dev/null
test_status 2 'another port as an option' running --flush --port "$first" port.json
test_match "the option '--port' says $first, and the configuration of SET-.* has \"port\": $second; .* leave the other one out" \
  .err 'the error has both ports'
test_status 2 'another host as an option' \
  running --flush --host 127.0.0.1 "$(config bind.json '"tls_mode":false,"bind_ip":"localhost"' && echo bind.json)"
test_match "'--host' says 127.0.0.1, and the configuration of SET-.* has \"bind_ip\": localhost" .err \
  'the error has both hosts'
config ports.json "\"tls_mode\":false,\"db\":1,\"port\":$first"
test_status 2 'two configurations with two ports' running --flush port.json ports.json
test_match "has \"port\": $second, that of SET-.* has $first: choose" .err 'the error has both ports'
config db.json "\"tls_mode\":false,\"port\":$second,\"db\":3"
test_status 2 'another database as an option' running --flush --uri "valkey://127.0.0.1:$second/4" db.json
test_match "'--uri' says 4, and the configuration of SET-.* has \"db\": 3" .err 'the error has both databases'
config tls.json "\"tls_mode\":true,\"port\":$second"
test_status 2 'the TLS of a configuration' running --flush tls.json
test_match "cannot reach the server at 127.0.0.1:$second: .*TLS" .err 'it is used for the connection'
test_same '1 kept' "$(valkey-cli -p "$second" dbsize) $(cli get theirs)" 'none of these has changed a server'
config none.json '"tls_mode":false'
test_that 'VKB_PORT without a port elsewhere' env VKB_PORT="$second" vkb-load --use-running-server --runs 1 -q --flush none.json
test_match "running at 127.0.0.1:$second" .err 'it is used'
test_that 'VKB_PORT beside the port of a configuration' env VKB_PORT="$first" vkb-load --use-running-server --runs 1 -q port.json
test_match "running at 127.0.0.1:$second" .err 'the configuration is used'
test_match 'it is empty, and is emptied again after each run' .err 'the message says that it is empty'
test_that 'VKB_PORT beside an option' env VKB_PORT="$first" vkb-load --port "$second" --runs 1 -q none.json
test_match "running at 127.0.0.1:$second" .err 'the option is used'
test_status 2 'a VKB_PORT that is not one' env VKB_PORT=x vkb-load --use-running-server --runs 1 none.json
test_match "variable VKB_PORT is 'x', not a port" .err 'the error names the variable'
test_that 'vkb-record takes VKB_PORT' env VKB_PORT="$second" vkb-record --duration 10ms
test_match "records the server running at 127.0.0.1:$second" .err 'and says which server it records'
test_that 'vkb-load starts a server' vkb-load -v --runs 1 --case 'SET*' none.json
test_match "measures $server, version [0-9.]+, started for this" .err 'with -v a message names the server'
test_same kept "$(cli get theirs)" 'the first server is not changed'

# --- memory

# The estimate is above what the server uses, and not by much.
used() { valkey-cli -p "$second" info memory | sed -n "s/^$1:\([0-9]*\).*/\1/p"; }
valkey-cli -p "$second" flushall >/dev/null
was=$(used used_memory)
test_that 'a load without a limit of memory' vkb-load -q --port "$second" --no-flush -t get,zscore,mset -r 50000 --duration 100ms
said=$(sed -n 's/.*keys and elements (\([0-9.]*\)MB) below .*/\1/p' .err)
test_same yes "$(awk "BEGIN { x = ($(used used_memory_peak) - $was) / 1e6; print (x > 1 && x <= $said && $said < 6 * x) ? \"yes\" : x \" of $said MB\" }")" \
  'its estimate is above what the server used'

# cache POLICY: the first server holds 5,000 keys in 20 MB.
cache() {
  cli flushall >/dev/null
  cli config set maxmemory-policy "$1" maxmemory 20mb >/dev/null
  seq 5000 | sed 's/.*/set theirs:& value-of-&/' | valkey-cli -p "$first" --pipe >pipe
  cli config resetstat >/dev/null
  held=$(cli debug digest)
}
unchanged() { # unchanged WHAT
  test_same "5000 $held" "$(cli dbsize) $(cli debug digest)" "$1"
}
beside() { vkb-load --port "$first" --no-flush "$@"; }
evicted() { cli info stats | sed -n 's/^evicted_keys:\([0-9]*\).*/\1/p'; }
for policy in allkeys-lru noeviction; do
  cache $policy
  test_that "$policy: a load of few keys" beside -q -t get
  unchanged "$policy: the keys of others are unchanged"
  test_match "^vkb-load: measures the server running at 127.0.0.1:$first, valkey .*: writes up to 10000 keys and elements \([0-9.]+MB\) below 'vkb:[0-9a-f]{12}:' beside 5000 keys \(5000 in db0\), and removes them after each run" \
    .err "$policy: a message names what is written"
  test_same '[1,10000,100]' "$(jq -sc '[length, .[0].config.keyspacelen, .[0].metrics.hit_rate_percent]' .out)" \
    "$policy: 10,000 keys are measured once"
  cli config resetstat >/dev/null
  test_status 2 "$policy: more keys than fit" beside -t get -r 1000000 -o large.jsonl
  test_match "^vkb-load: GET-.*: not run: its keys and connections need about 1[0-9]*MB, and the server at 127.0.0.1:$first has 1[0-9.]*MB of its maxmemory of 21.0MB left \(maxmemory-policy $policy\)" \
    .err "$policy: the error has both figures"
  test_empty "$(cli info commandstats | grep -E 'cmdstat_(set|unlink)' | grep -v 'calls=1,')" "$policy: nothing was written"
  test_same no "$([ -s large.jsonl ] && echo yes || echo no)" "$policy: no run is recorded"
  unchanged "$policy: the keys of others are still unchanged"
  test_status 2 "$policy: a list that grows without end" \
    beside -t lpush -d 4000 --set rate=1000 --duration 600s --runs 3
  test_match "^vkb-load: LPUSH-.*: the server at 127.0.0.1:$first has (only .* left, and the load goes on to fill it: it was stopped|evicted|refused)" \
    .err "$policy: the load is stopped, with the reason"
  test_same '1 failed' "$(jq -s length .out) $(jq -r .status .out)" "$policy: the session ends with the failed run"
  test_empty "$(cli --scan --pattern 'vkb:*')" "$policy: the keys of the load are removed"
done
unchanged 'noeviction: nothing was lost'

# limit BYTES ARGUMENT...: lowers maxmemory while a load runs.
limit() {
  bytes=$1
  shift
  beside --runs 2 "$@" >out 2>err 3>&- 4<&- &
  load=$!
  wait_until 60 sh -c "valkey-cli -p $first info commandstats | grep -q 'cmdstat_get:calls=[0-9]\{3\}' || ! kill -0 $load"
  # Both at once: the load looks at the server before or after them.
  printf 'config set maxmemory %s\nset late value\n' "$bytes" | cli --pipe >pipe 2>&1
  wait "$load"
  limited=$?
}
cache allkeys-lru
limit 1mb -t get --duration 600s --set rate=1000
test_same "2 yes" "$limited $([ "$(evicted)" -gt 0 ] && echo yes)" 'an eviction during a load ends it'
test_match 'has evicted [0-9]+ keys' err 'the error has their number'
cache noeviction
limit 1mb -t get --duration 600s --set rate=1000
test_same 2 "$limited" 'a refused write of another client ends a load'
test_match 'has refused [0-9]+ writes? during the load because its memory is used up \(OOM\)' err 'the error says so'
unchanged 'and nothing is lost'
cache noeviction
limit 1mb --mix 'GET 50 SET 50' --duration 600s --set rate=1000
test_same 2 "$limited" 'a refused write of the load ends it'
test_match '(OOM)' err 'the error says so'

# A replica with less memory, and one node of a cluster.
cache allkeys-lru
valkey-cli -p "$second" flushall >/dev/null
valkey-cli -p "$second" config set maxmemory 3mb >/dev/null
valkey-cli -p "$second" replicaof 127.0.0.1 "$first" >/dev/null
wait_until 60 sh -c "valkey-cli -p $first info replication | grep -q 'state=online'"
test_status 2 'a load that fits on the primary but not on its replica' beside -t get
test_match "the server at 127.0.0.1:$second has [0-9.]+[MK]?B of its maxmemory of 3.15MB left" .err 'the error names the replica'
valkey-cli -p "$second" replicaof no one >/dev/null
unchanged 'the keys of others on the primary are unchanged'
another '{"type":"spec","v":1,"id":"cluster","primaries":2,"replicas":1}'
# node ROLE: the port of the second node with this role
node() { printf '%s' "$other" | jq --arg r "$1" '[.nodes[] | select((.role == "replica") == ($r == "replica"))][1].port'; }
node=$(node primary)
valkey-cli -p "$node" config set maxmemory 3mb >/dev/null
test_status 2 'a load that does not fit on one node of a cluster' vkb-load --port "$port" --no-flush -t set -r 100000
test_match "the server at 127.0.0.1:$node has [0-9.]+[MK]?B of its maxmemory of 3.15MB left" .err 'the error names the node'
valkey-cli -p "$node" config set maxmemory 0 >/dev/null
half() { vkb-load -q --port "$port" --no-flush -t get -r 60000 -n 1000; }
test_that 'a load on a cluster without a limit' half
said=$(sed -n 's/.*keys and elements (\([0-9.]*\)MB) below .*/\1/p' .err)
node=$(node replica)
valkey-cli -p "$node" config set repl-backlog-size 16kb >/dev/null
# The other nodes hear of it by and by.
wait_until 60 sh -c "valkey-cli -p $port cluster slots | grep -qx $node"
# room PERCENT: the replica has so much of the whole load left
room() {
  valkey-cli -p "$node" config set maxmemory "$(valkey-cli -p "$node" info memory |
    awk -F: -v mb="$said" -v p="$1" '$1 == "used_memory" { printf "%d", $2 + mb * 1e4 * p }')" >/dev/null
}
room 75
test_that 'a replica of a cluster gets the keys of its primary, not all' half
room 25
test_status 2 'a load that does not fit on a replica of a cluster' half
test_match "the server at 127.0.0.1:$node has [0-9.]+[MK]?B of its maxmemory of" .err 'the error names the replica'
end_other

# --- the lines of the pages, as they stand, in a network with a host db1

# page_lines PAGE: prints its lines that load a running server.
page_lines() {
  sed -n 's/^\.Dl //p' "$top/man/$1" | sed 's/\\(aq/'\''/g; s/\\(dq/"/g; s/\\-/-/g; s/\\e/\\/g' |
    grep -E 'vkb.load .*--(host|port|uri) |valkey-cli .*unlink'
}
page_lines vkb.7 >lines
page_lines vkb-servers.7 >>lines
test_same 8 "$(wc -l <lines | tr -d ' ')" 'the pages have lines that load a running server'
echo '127.0.0.1 localhost db1' >hosts
cat >pages.sh <<'END'
perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) or die; my $up = pack "a16 s x22", "lo", 1; ioctl(S, 0x8914, $up) or die $!' || exit
mount --bind hosts /etc/hosts || exit
mkfifo ask2 answer2
vkb-serve --follow <ask2 >answer2 2>serve2.err &
exec 3>ask2 4<answer2
for p in 6379 6380 7000 7001 7002; do
  case $p in 6380) more='"tls":true,"host":"db1",' ;; *) more='' ;; esac
  printf '{"type":"spec","v":1,"id":"%s",%s"port":%s,"config":{"enable-debug-command":"yes","maxmemory":"20mb","maxmemory-policy":"allkeys-lru"}}\n' $p "$more" $p >&3
  read -r record <&4
  case $p in
  6380)
    SSL_CERT_FILE=$(printf %s "$record" | jq -r .tls.cacert)
    export SSL_CERT_FILE
    ;;
  esac
done
cli() {
  cli_port=$1
  shift
  case $cli_port in
  6380) valkey-cli -h db1 -p 6380 --tls --cacert "$SSL_CERT_FILE" --cert "${SSL_CERT_FILE%ca.crt}client.crt" --key "${SSL_CERT_FILE%ca.crt}client.key" "$@" ;;
  *) valkey-cli -p "$cli_port" "$@" ;;
  esac
}
for p in 6379 6380 7000 7001 7002; do
  seq 5000 | sed 's/.*/set theirs:& value-of-&/; $s/theirs/vkb/' | cli $p --pipe >/dev/null
done
cli 6380 config set tls-auth-clients no >/dev/null
cli 6380 acl setuser bench on '>...' '~vkb:*' -@all +info +scan +unlink +get +set +ping +select >/dev/null
state() { for p in 6379 6380 7000 7001 7002; do echo "$p $(cli $p dbsize) $(cli $p debug digest) $(cli $p info stats | grep evicted_keys)"; done; }
state >before
while IFS= read -r line; do
  sh -c "$line" >>run.out 2>>run.err 3>&- 4<&-
  printf '%s: %s\n' "$?" "$line"
done <lines >ends
state >after
exec 3>&- 4<&-
wait
END
if unshare -rnm true 2>/dev/null; then
  unshare -rnm sh pages.sh
  sed 's/^/# /' ends
  test_same 5 "$(grep -c ' 5000 ' before)" 'five servers hold 5,000 keys each'
  test_same "$(cat before)" "$(cat after)" 'after the lines of the pages all of these keys are there, unchanged'
  test_same '0 2 2 0 0 0 0 0' "$(sed 's/:.*//' ends | xargs)" \
    'lines with --no-flush measure, those without leave a server with data alone'
  [ "$test_bad" -eq 0 ] || sed 's/^/# /' run.err
else
  test_skip 'the lines of the pages' unshare
fi
test_done
