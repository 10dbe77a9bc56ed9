#!/bin/sh
# Idle connections, databases, client tracking, and the server as a URI.
. "${0%/*}/lib.sh"

test_server 'connections'
printf '{"type":"spec","v":1,"id":"other","unixsocket":true,"config":{"maxclients":"12000"}}\n' \
  >spec
test_other spec
socket=$(printf '%s' "$other" | jq -r .nodes[0].unixsocket)
cli() { valkey-cli -p "$port" "$@"; }
info() { cli info "$1" | tr -d '\r' | sed -n "s/^$2://p"; }
run() {
  vkb-load -q --port "$port" --flush --runs 1 "$@" >run 2>run.err
}

# --- idle connections

idle() { [ "$(cli client list | grep -c ' cmd=ping')" -ge "$1" ]; }
# background OPTION...: the same, which is still running when this returns.
background() {
  vkb-load -q --port "$port" --flush --runs 1 "$@" >run 2>run.err &
  load=$!
}

background -r 1000 -t set -c 2 --duration 60s --idle-clients 10000
open() { [ "$(info clients connected_clients)" -ge 10002 ]; }
test_that '10,000 idle connections are open during the run' wait_until 60 open
kill -TERM "$load"
wait "$load"
test_same 143 $? 'and the run can be stopped'
test_that 'idle connections' run -r 1000 -t set -c 2 -n 5000 --idle-clients 10000
test_same '["ok",10000,10000]' "$(jq -c '[.status, .metrics.idle_clients,
  .config.idle_clients]' run)" 'all were open until the end'
closed() { [ "$(info clients connected_clients)" -le 1 ]; }
test_that 'and are closed then' wait_until 30 closed

background -r 1000 -t set -c 2 --duration 5s --idle-clients 20
wait_until 30 idle 20
for id in $(cli client list | sed -n 's/^id=\([0-9]*\) .* cmd=ping .*/\1/p' | head -n 3); do
  cli client kill id "$id" >/dev/null
done
wait "$load"
test_same 2 $? 'some that the server closes'
test_match '^vkb-load: 3 of 20 idle connections were closed during the run' run.err \
  'fail the run, which says how many'
test_same failed "$(jq -r .status run)" 'in the record as well'

cli config set maxclients 15 >/dev/null
test_status 2 'more than the server allows' run -r 1000 -t set -c 2 -n 100 --idle-clients 20
cli config set maxclients 12000 >/dev/null
test_match "idle connection 1[0-9] of 20: .*ERR max number of clients reached.*'maxclients' of the server" \
  run.err 'the message has the number, the answer and what to change'

# Root may raise the limit of open files.
set -- prlimit --nofile=400:400
[ "$(id -u)" -ne 0 ] || set -- setpriv --bounding-set=-sys_resource \
  --inh-caps=-sys_resource "$@"
test_status 2 'more than the limit of open files' "$@" vkb-load -q --port "$port" \
  --flush --runs 1 -t set -c 2 -n 100 --idle-clients 500
test_match '500 idle connections need a limit of [0-9]+ open files, which is 400 here' \
  .err 'the message has both figures'

printf '{"commands":["SET"],"requests":[2000],"clients":[2],"keyspacelen":[1000],"cluster_mode":true,"cluster_nodes":2,"idle_clients":11}\n' \
  >cluster.json
test_that 'idle connections of a cluster' vkb-load -q --runs 1 cluster.json
test_same 11 "$(jq .metrics.idle_clients .out)" 'are on its primaries'

# --- databases

keys() { cli info keyspace | sed -n 's/^\(db[0-9]*:keys=[0-9]*\).*/\1/p' | xargs; }
background -r 1000 -t set -c 2 --duration 60s --db 3
filled() { [ "$(keys)" ]; }
wait_until 30 filled
keys >found
test_match '^db3:keys=[0-9]+$' found 'keys are in that database alone'
kill -TERM "$load"
wait "$load"
printf '{"db":3,"test_groups":[{"scenarios":[{"id":"a","command":"GET mark","requests":100,"setup_commands":["SET mark 1"]}]}]}\n' \
  >setup.json
test_that 'setup commands' run setup.json
test_same '[100,3]' "$(jq -c '[.metrics.hit_rate_percent, .config.db]' run)" \
  'are sent in the same database'
test_that 'reads' run -r 1000 -t get -c 2 -n 1000 --db 5
test_same 100 "$(jq .metrics.hit_rate_percent run)" 'find what was filled in there'
cli -n 3 set theirs 1 >/dev/null
test_that 'beside data of others' vkb-load -q --port "$port" --no-flush --runs 1 \
  -t set -n 1000 --db 3
test_same 'db3:keys=1' "$(keys)" 'only keys of ours are removed there'
cli flushall >/dev/null
test_status 2 'a database that the server does not have' run -r 1000 -t set -n 10 --db 99
test_match "refuses the database 99 of the case \('db'\): ERR DB index is out of range" \
  run.err 'is refused before anything is sent'
printf '{"commands":["SET"],"requests":[10],"cluster_mode":true,"db":1}\n' >one.json
test_status 2 'a cluster with one database' vkb-load -q --runs 1 one.json
test_match "refuses the database 1 of the case \('db'\): ERR SELECT is not allowed in cluster mode" \
  .err 'refuses another'
test_same "$(vkb-load --plan -t set)" "$(vkb-load --plan -t set --db 0)" \
  'database 0 is the same case as none'

# --- client tracking

test_that 'tracking' run -r 1000 --mix 'GET 50 SET 50' -c 4 -n 10000 --tracking on
test_same true "$(jq -c 'select(.config.command == "mix") | .metrics.pushes > 100 and
  .metrics.errors == 0 and .config.tracking == "on"' run)" \
  'invalidations are counted'
test_that 'tracking of what is only written' run -r 1000 -t set -c 4 -n 10000 --tracking on
test_same 0 "$(jq .metrics.pushes run)" 'invalidates nothing'
test_that 'broadcast' run -r 1000 -t set -c 4 -n 1000 --tracking bcast
test_same true "$(jq '.metrics.pushes > 100 and .metrics.errors == 0' run)" \
  'tells all connections about what is written'
test_that 'tracking with reconnects' run -r 1000 --mix 'GET 50 SET 50' -c 4 -n 10000 \
  --tracking on --reconnect 100
test_same true "$(jq -c 'select(.config.command == "mix") | .metrics.pushes > 100 and
  .metrics.connects > 50 and .status == "ok"' run)" 'is switched on again'
cli acl setuser default -client >/dev/null
test_status 2 'a user who may not' run -r 1000 -t set -n 10 --tracking on
test_match "answered: NOPERM .*'client" run.err 'fails the run with the answer'
cli acl setuser default +@all >/dev/null

# --- a URI

test_that 'a URI' vkb-load -q --uri "valkey://127.0.0.1:$port/4" --runs 1 -t set -n 100
test_same '["ok",4]' "$(jq -c '[.status, .config.db]' .out)" 'has a database'
test_that 'a unix socket' vkb-load -q --uri "unix://$socket?db=2" --runs 1 -t set -n 100
test_same '["ok",2,true]' "$(jq -c '[.status, .config.db, .config.unixsocket]' .out)" \
  'is a URI, too'
cli acl setuser bench on '>s3cret' '+@all' '~*' '&*' >/dev/null
test_that 'a user' env VKB_PASSWORD=s3cret vkb-load -q \
  --uri "redis://bench@127.0.0.1:$port" --runs 1 -t set -n 100
test_absent 's3cret' .out 'whose password is not in the record'
test_status 2 'a wrong password' env VKB_PASSWORD=no VKB_USER=default vkb-load -q \
  --uri "redis://bench@127.0.0.1:$port" --runs 1 -t set -n 100
test_match 'refuses the user or the password' .err 'is refused: it is the user of the URI'
test_status 2 'a user without a password' vkb-load -q \
  --uri "valkey://bench@127.0.0.1:$port" --runs 1 -t set -n 100
test_match 'taken from VKB_PASSWORD, which is not set' .err 'says where it goes'
test_status 2 'a password in the URI' vkb-load -q \
  --uri "valkey://bench:s3cret@127.0.0.1:$port" --runs 1 -t set -n 100
test_match 'can be read by all users of this host: set VKB_PASSWORD instead' .err \
  'is refused, and the message says what to do'
test_absent s3cret .err 'and does not repeat it'
for more in '--host h' '--port 1' '--unixsocket s' --tls; do
  # shellcheck disable=SC2086 # two words
  test_status 2 "a URI and $more" vkb-load --uri valkey://h $more -t set
  test_match "'--uri' excludes '--host', '--port', '--unixsocket' and '--tls'" .err \
    "$more: both name the server"
done
test_status 2 'two databases' vkb-load --uri valkey://h/1 --db 2 -t set
test_match "'--uri' with a database excludes '--db'" .err 'exclude each other'
test_status 2 'another scheme' vkb-load --uri http://h -t set
test_match "option '--uri': it begins with valkey://" .err 'is refused with those there are'
end_other
test_litter 10 'nothing is left'
test_done
