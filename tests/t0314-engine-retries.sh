#!/bin/sh
# Requests that a server cannot answer at the moment are sent again: CLUSTERDOWN,
# TRYAGAIN, LOADING.
# sanitize: retries and redirections.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"
ENGINE=$engine
export ENGINE

cat >ways <<'END'
SET,-n 100000
SET,-n 300000 -P 5 -T 2
SET,-D 6 -R 2000
SET k:{tag}:__rand_int__ x,-n 300000 -P 5
SET k:{tag}:__rand_int__ x,-D 6 -R 2000 -P 5
END
cat >cluster <<'END'
. "$tests/wait.sh"
ports=
for node in $VKB_NODES; do ports="$ports -p ${node#*:}"; done
run() { "$ENGINE" $ports --cluster "$@"; }
all() { for at in $VKB_NODES; do valkey-cli -p "${at#*:}" "$@"; done; }
set -- $VKB_NODES
is_up() { valkey-cli -p "$1" cluster info | grep cluster_state:ok; }
# seen PORT SECTION TEXT: waits until the node's INFO has the text, or the load has ended.
seen() {
  until valkey-cli -p "$1" info "$2" | grep -q "$3" || ! kill -0 $load 2>/dev/null; do :; done
}
# The first node loses a slot and answers CLUSTERDOWN, until it gets the slot back.
while IFS=, read -r what how; do
  all config resetstat >/dev/null
  run -t "$what" $how -c 6 >out &
  load=$!
  seen "${1#*:}" commandstats cmdstat_set:
  valkey-cli -p "${1#*:}" cluster delslots 0 >/dev/null
  seen "${1#*:}" errorstats errorstat_CLUSTERDOWN:
  valkey-cli -p "${1#*:}" cluster addslots 0 >/dev/null
  wait $load
  echo "$? $(awk '$1 == "refused" || $1 == "unanswered" || $1 == "lost" {
    printf "%s ", $2} /^error / {print $2}' out | xargs) $what $how"
  all flushall >/dev/null
  wait_until 60 is_up "${1#*:}"
done <ways >down
# Here the slot stays lost: the errors are the answers.
valkey-cli -p "${1#*:}" cluster delslots 0 >/dev/null
run -t SET -n 60 -c 6 --timeout 1 >forever
echo $? >>forever
valkey-cli -p "${1#*:}" cluster addslots 0 >/dev/null
# A slot is migrating, and one of two keys of a request is still on its old node.
slot=$(valkey-cli -p "${1#*:}" cluster keyslot x)
from='' to=''
for node in $VKB_NODES; do
  if valkey-cli -p "${node#*:}" set 'a{x}' 1 | grep -q OK; then from=${node#*:}
  else to=${node#*:}; fi
done
fid=$(valkey-cli -p "$from" cluster myid) tid=$(valkey-cli -p "$to" cluster myid)
valkey-cli -p "$to" cluster setslot "$slot" importing "$fid" >/dev/null
valkey-cli -p "$from" cluster setslot "$slot" migrating "$tid" >/dev/null
run -t 'MGET a{x} b{x}' -n 600 -c 6 >again &
load=$!
seen "$from" errorstats errorstat_TRYAGAIN:
valkey-cli -p "$from" cluster setslot "$slot" stable >/dev/null
valkey-cli -p "$to" cluster setslot "$slot" stable >/dev/null
wait $load
echo $? >>again
END
test_that 'a cluster that is down for some time' vkb-serve -q --primaries 3 -- sh -u ./cluster
while read -r what; do
  test_same '0 0 0 0 CLUSTERDOWN: ' "${what%%SET*}" "$what: all requests are answered"
done <down
test_same 5 "$(wc -l <down | tr -d ' ')" 'all kinds of load were tried'
test_match '^refused [1-9]' forever 'a cluster that stays down refuses requests'
test_same "60 0" "$(value recorded forever) $(tail -n 1 forever)" 'each request gets an answer'
longest=$(value max_ms forever)
test_result "$((${longest%.*} < 350))" "it is sent again for at most half of the timeout ($longest ms)"
test_match '^error TRYAGAIN: [1-9]' again 'requests for keys that are migrating get TRYAGAIN'
test_same '600 0 0' "$(value recorded again) $(value refused again) $(tail -n 1 again)" \
  'they are sent again until they are answered'

# The server reloads its data, one key per millisecond.
cat >loading <<'END'
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
"$ENGINE" -p "$VKB_PORT" -t SET -n 300 -r 300 --sequential >/dev/null
cli config set key-load-delay 1000 >/dev/null
cli config set loading-process-events-interval-bytes 1024 >/dev/null
for how in "-p $VKB_PORT" "-s $VKB_SOCKET"; do
  "$ENGINE" $how -t GET -r 300 -D 2 -c 5 -P 3 >out &
  load=$!
  until cli info commandstats | grep -q cmdstat_get: || ! kill -0 $load 2>/dev/null; do :; done
  cli debug reload >/dev/null
  wait $load
  echo "$? $(awk '$1 == "refused" || $1 == "hit_rate_percent" {printf "%s ", $2}
    /^error / {print $2}' out | xargs)"
  cli config resetstat >/dev/null
done >loads
END
test_that 'a server that loads its data' vkb-serve -q --unixsocket \
  --config enable-debug-command=yes -- sh -u ./loading
test_same '0 100 0 LOADING: 0 100 0 LOADING:' "$(xargs <loads)" \
  'requests are sent again until it is ready'
test_done
