#!/bin/sh
# Several streams of requests at once: they start together, each ends on its own, and
# the measured part is kept if the server dies.
# sanitize: streams of commands.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"
socket=$scratch/s server=
test_cleanup() { [ -z "$server" ] || kill "$server" 2>/dev/null; }
cli() { valkey-cli -s "$socket" "$@"; }
start() {
  valkey-server --port 0 --unixsocket "$socket" --save '' --appendonly no >log &
  server=$!
  i=0
  until [ "$(cli ping 2>&1)" = PONG ] || [ $i -gt 600 ]; do
    i=$((i + 1))
    kill -0 "$server" || break
  done
}

# far FILE: prints streams that have another number of latencies than of requests. The
# four requests that may be in flight at the end have only latencies.
far() {
  awk '$1 == "requests" {n = $2} $1 == "recorded" && ($2 < n || $2 > n + 4)' "$1"
}

start
test_that 'streams with a duration run' "$engine" -s "$socket" -t SET -t 'INCR n:__rand_int__' \
  -t PING -D 1 -w 0.2 -c 4
cp .out three
test_same 3 "$(grep -c '^stream ' three)" 'each stream has a result'
test_same 1 "$(value start_s three | sort -u | wc -l | tr -d ' ')" 'all streams start together'
test_same 1 "$(value end_s three | sort -u | wc -l | tr -d ' ')" 'all streams end together'
test_same 3 "$(value requests three | awk '$1 > 0' | wc -l | tr -d ' ')" 'each stream has requests'
test_empty "$(far three)" 'each stream has the latencies of its own requests'

test_that 'streams with a number of requests run' "$engine" -s "$socket" -t 'GET a b' -t 'INCR a' -n 3000 \
  -P 3 -T 2
test_same '3000 3000' "$(value requests .out | xargs)" 'each stream has that number of requests'
test_same '3000 0' "$(value errors_total .out | xargs)" 'errors are those of the stream'
test_same 3000 "$(cli get a)" 'the requests of the other stream are executed'

test_status 2 'a stream with an unknown placeholder is an error' "$engine" -s "$socket" -t SET -t 'SET __x__ y' -n 5
test_match "unknown placeholder '__x__'" .err 'the error names the placeholder'

# The server dies during the run; the requests until then are counted.
cli config resetstat >/dev/null
"$engine" -s "$socket" -t SET -t 'INCR n' -D 100 -c 4 --timeout 1 >died 2>died.err &
run=$!
i=0
until [ "$(cli info commandstats | grep -c 'cmdstat_\(set\|incr\):calls=[0-9][0-9][0-9]')" = 2 ] ||
  [ $i -gt 3000 ]; do
  i=$((i + 1))
done
kill -9 "$server"
wait "$server" 2>/dev/null
server=
wait "$run"
test_same 2 $? 'a server that dies is exit 2'
test_match 'lost the connection to .* 8 lost, 0 unanswered, 8 reconnects' died.err \
  'the message has the number of lost requests'
test_same 2 "$(value requests died | awk '$1 >= 100' | wc -l | tr -d ' ')" \
  'the requests until then are kept'
test_empty "$(far died)" 'the latencies until then are kept'
test_match '^error connection lost: ' died 'the result has the lost connection'
test_done
