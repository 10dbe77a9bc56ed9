#!/bin/sh
# Idle connections, databases, client tracking, and servers as a URI.
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
# background OPTION...: the same, but returns while the run continues.
background() {
  vkb-load -q --port "$port" --flush --runs 1 --set rate=1000 "$@" >run 2>run.err &
  load=$!
}

background -r 1000 -t set -c 2 --duration 60s --set idle_clients=10000
open() { [ "$(info clients connected_clients)" -ge 10002 ]; }
test_that '10,000 idle connections are open during the run' wait_until 60 open
kill -TERM "$load"
wait "$load"
test_same 143 $? 'a signal ends such a run'
test_that 'a run with idle connections' run -r 1000 -t set -c 2 -n 5000 --set idle_clients=10000
test_same '["ok",10000,10000]' "$(jq -c '[.status, .metrics.idle_clients,
  .config.idle_clients]' run)" 'all were open until the end'
closed() { [ "$(info clients connected_clients)" -le 1 ]; }
test_that 'at the end they are closed' wait_until 30 closed

background -r 1000 -t set -c 2 --duration 5s --set idle_clients=20
wait_until 30 idle 20
for id in $(cli client list | sed -n 's/^id=\([0-9]*\) .* cmd=ping .*/\1/p' | head -n 3); do
  cli client kill id "$id" >/dev/null
done
wait "$load"
test_same 2 $? 'idle connections that the server closes'
test_match '^vkb-load: 3 of 20 idle connections were closed during the run' run.err \
  'the run fails, and a message has their number'
test_same failed "$(jq -r .status run)" 'the record has failed'

cli config set maxclients 15 >/dev/null
test_status 2 'more idle connections than the server allows' run -r 1000 -t set -c 2 -n 100 --set idle_clients=20
cli config set maxclients 12000 >/dev/null
test_match "idle connection 1[0-9] of 20: .*ERR max number of clients reached.*'maxclients' of the server" \
  run.err 'the error has the number, the answer and what to change'

# Root may raise the limit of open files, so it gives up that right.
set -- prlimit --nofile=400:400
[ "$(id -u)" -ne 0 ] || set -- setpriv --bounding-set=-sys_resource \
  --inh-caps=-sys_resource "$@"
test_status 2 'more idle connections than the limit of open files' "$@" vkb-load -q --port "$port" \
  --flush --runs 1 -t set -c 2 -n 100 --set idle_clients=500
test_match '500 idle connections need a limit of [0-9]+ open files, which is 400 here' \
  .err 'the error has both numbers'

printf '{"commands":["SET"],"requests":[2000],"clients":[2],"keyspacelen":[1000],"cluster_mode":true,"cluster_nodes":2,"idle_clients":11}\n' \
  >cluster.json
test_that 'idle connections of a cluster' vkb-load -q --runs 1 cluster.json
test_same 11 "$(jq .metrics.idle_clients .out)" 'idle connections of a cluster are on its primaries'

# --- databases

keys() { cli info keyspace | sed -n 's/^\(db[0-9]*:keys=[0-9]*\).*/\1/p' | xargs; }
background -r 1000 -t set -c 2 --duration 60s --set db=3
filled() { [ "$(keys)" ]; }
wait_until 30 filled
keys >found
test_match '^db3:keys=[0-9]+$' found 'the keys are in the database of the option only'
kill -TERM "$load"
wait "$load"
printf '{"db":3,"test_groups":[{"scenarios":[{"id":"a","command":"GET mark","requests":100,"setup_commands":["SET mark 1"]}]}]}\n' \
  >setup.json
test_that 'setup commands with a database' run setup.json
test_same '[100,3]' "$(jq -c '[.metrics.hit_rate_percent, .config.db]' run)" \
  'setup commands use the same database'
test_that 'reads with a database' run -r 1000 -t get -c 2 -n 1000 --set db=5
test_same 100 "$(jq .metrics.hit_rate_percent run)" 'they find the keys that populated this database'
cli -n 3 set theirs 1 >/dev/null
test_that '--no-flush with a database' vkb-load -q --port "$port" --no-flush --runs 1 \
  -t set -n 1000 --set db=3
test_same 'db3:keys=1' "$(keys)" 'only keys of vkb-load are removed there'
cli flushall >/dev/null
test_status 2 'a database that the server does not have' run -r 1000 -t set -n 10 --set db=99
test_match "refuses the database 99 of the case \('db'\): ERR DB index is out of range" \
  run.err 'the error has the number of the database and the answer'
printf '{"commands":["SET"],"requests":[10],"cluster_mode":true,"db":1}\n' >one.json
test_status 2 'a cluster with one database' vkb-load -q --runs 1 one.json
test_match "refuses the database 1 of the case \('db'\): ERR SELECT is not allowed in cluster mode" \
  .err 'the error says that a cluster has only database 0'
test_same "$(vkb-load --plan -t set)" "$(vkb-load --plan -t set --set db=0)" \
  'database 0 is the default'

# --- client tracking

test_that 'client tracking' run -r 1000 --mix 'GET 50 SET 50' -c 4 -n 10000 --set tracking=on
test_same true "$(jq -c 'select(.config.command == "mix") | .metrics.pushes > 100 and
  .metrics.errors == 0 and .config.tracking == "on"' run)" \
  'invalidations are counted'
test_that 'client tracking without reads' run -r 1000 -t set -c 4 -n 10000 --set tracking=on
test_same 0 "$(jq .metrics.pushes run)" 'without reads there are no invalidations'
test_that 'client tracking with broadcast' run -r 1000 -t set -c 4 -n 1000 --set tracking=bcast
test_same true "$(jq '.metrics.pushes > 100 and .metrics.errors == 0' run)" \
  'all connections get invalidations of all writes'
test_that 'tracking with reconnects' run -r 1000 --mix 'GET 50 SET 50' -c 4 -n 10000 \
  --set tracking=on --set reconnect=100
test_same true "$(jq -c 'select(.config.command == "mix") | .metrics.pushes > 100 and
  .metrics.connects > 50 and .status == "ok"' run)" 'reopened connections are tracked, too'
cli acl setuser default -client >/dev/null
test_status 2 'client tracking with a user who may not use CLIENT' run -r 1000 -t set -n 10 --set tracking=on
test_match "answered: NOPERM .*'client" run.err 'the run fails with the answer of the server'
cli acl setuser default +@all >/dev/null

# --- a URI

test_that 'a URI with a database' vkb-load -q --uri "valkey://127.0.0.1:$port/4" --runs 1 -t set -n 100
test_same '["ok",4]' "$(jq -c '[.status, .config.db]' .out)" 'its database is used'
test_that 'a URI of a unix socket' vkb-load -q --uri "unix://$socket?db=2" --runs 1 -t set -n 100
test_same '["ok",2,true]' "$(jq -c '[.status, .config.db, .config.unixsocket]' .out)" \
  'its socket and database are used'
cli acl setuser bench on '>s3cret' '+@all' '~*' '&*' >/dev/null
test_that 'a URI with a user' env VKB_PASSWORD=s3cret vkb-load -q \
  --uri "redis://bench@127.0.0.1:$port" --runs 1 -t set -n 100
test_absent 's3cret' .out 'the password is not in the record'
test_status 2 'a URI with a user and a wrong password' env VKB_PASSWORD=no VKB_USER=default vkb-load -q \
  --uri "redis://bench@127.0.0.1:$port" --runs 1 -t set -n 100
test_match 'refuses the user or the password' .err 'the user of the URI is used, and the password is refused'
test_status 2 'a URI with a user, without a password' vkb-load -q \
  --uri "valkey://bench@127.0.0.1:$port" --runs 1 -t set -n 100
test_match 'taken from VKB_PASSWORD, which is not set' .err 'the error names VKB_PASSWORD'
test_status 2 'a URI with a password' vkb-load -q \
  --uri "valkey://bench:s3cret@127.0.0.1:$port" --runs 1 -t set -n 100
test_match 'can be read by all users of this host: set VKB_PASSWORD instead' .err \
  'the error says to set VKB_PASSWORD instead'
test_absent s3cret .err 'the error does not have the password'
for more in '--host h' '--port 1' '--unixsocket s' --tls; do
  # shellcheck disable=SC2086 # two words
  test_status 2 "a URI and $more" vkb-load --uri valkey://h $more -t set
  test_match "'--uri' excludes '--host', '--port', '--unixsocket', '--user' and '--tls'" .err \
    "$more: the error says that both name the server"
done
test_status 2 'a URI with a database, and another one' vkb-load --uri valkey://h/1 --set db=2 -t set
test_match "'--uri' with a database excludes '--set db'" .err 'the error says that they exclude each other'
test_status 2 'a URI with another scheme' vkb-load --uri http://h -t set
test_match "option '--uri': it begins with valkey://" .err 'the error lists the schemes'
end_other
test_litter 10 'no server and no file is left'
test_done
