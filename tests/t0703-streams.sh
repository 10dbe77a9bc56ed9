#!/bin/sh
# Several streams of requests at once: one start, ends of their own, and what
# was measured when the server dies meanwhile.
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

# far FILE: the streams whose latencies are not as many as their requests. The
# four that each may have in flight when the time is over are latencies alone.
far() {
  awk '$1 == "requests" {n = $2} $1 == "recorded" && ($2 < n || $2 > n + 4)' "$1"
}

start
test_that 'by duration' "$engine" -s "$socket" -t SET -t 'INCR n:__rand_int__' \
  -t PING -D 1 -w 0.2 -c 4
cp .out three
test_same 3 "$(grep -c '^stream ' three)" 'a result for each'
test_same 1 "$(value start_s three | sort -u | wc -l | tr -d ' ')" 'one start'
test_same 1 "$(value end_s three | sort -u | wc -l | tr -d ' ')" 'one end'
test_same 3 "$(value requests three | awk '$1 > 0' | wc -l | tr -d ' ')" 'all have requests'
test_empty "$(far three)" 'each stream has the latencies of its own requests'

test_that 'by requests' "$engine" -s "$socket" -t 'GET a b' -t 'INCR a' -n 3000 \
  -P 3 -T 2
test_same '3000 3000' "$(value requests .out | xargs)" 'each has so many'
test_same '3000 0' "$(value errors_total .out | xargs)" 'errors are those of the stream'
test_same 3000 "$(cli get a)" 'one of them was understood'

test_status 2 'one that cannot be' "$engine" -s "$socket" -t SET -t 'SET __x__ y' -n 5
test_match "unknown placeholder '__x__'" .err 'the error names the placeholder'

# It dies while requests are made; they are counted until then.
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
test_same 2 $? 'a server that dies is trouble'
test_match 'lost the connection to .* 8 lost, 0 unanswered, 8 reconnects' died.err \
  'the message counts what was lost'
test_same 2 "$(value requests died | awk '$1 >= 100' | wc -l | tr -d ' ')" \
  'what was measured is kept'
test_empty "$(far died)" 'what was measured is kept with its latencies'
test_match '^error connection lost: ' died 'and what ended it'
test_done
