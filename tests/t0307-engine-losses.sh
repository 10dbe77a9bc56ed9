#!/bin/sh
# The load engine with servers that are killed, hang or close connections: requests
# without a reply are counted, recorded with their age, and fail the run.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

test_server 'requests without a reply'

# start OUT OPTION... starts the engine and returns when the server has got requests.
cat >steps <<'END'
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
calls() { cli info commandstats | tr -d '\r' |
  sed -n 's/^cmdstat_set:calls=\([0-9]*\),.*/\1/p'; }
start() {
  out=$1; shift
  cli config resetstat >/dev/null
  "$ENGINE" ${how:--p "$VKB_PORT"} ${tls:-} -t SET "$@" >"$out" 2>"$out.err" &
  load=$!
  i=0
  until calls_now=$(calls); [ "${calls_now:-0}" -gt 500 ] || [ $i -gt 2000 ]; do i=$((i + 1)); done
}
# Waits for the engine, and writes its exit status to a file.
end() { wait $load; echo $? >"$out.status"; }
kick() { cli client kill type normal skipme yes >/dev/null; }
if [ "$VKB_UNIX" ]; then how="-s $VKB_SOCKET"; fi
END
# A script that vkb-serve runs.
cat >single <<'END'
. ./steps
start kicked -D 30 -c 5; kick; end
start budget -D 1 -c 5 -P 4 --max-lost 100; kick; end
start few -D 30 -c 5 -P 4 --max-lost 3; kick; end
start open -D 1 -c 5 -R 4000 -P 4 --max-lost 100; kick; end
start openkicked -D 30 -c 5 -R 4000; kick; end
cli flushall >/dev/null
# This run is long enough to continue after the connections were closed.
start sequential -n 1000000 -r 1000000 --sequential -c 5 -P 40 --max-lost 500
kick; end
cli dbsize >sequential.keys
# Numbers in sequence while requests in flight are lost: the server is paused meanwhile.
for loop in '' '-R 5000'; do
  cli flushall >/dev/null
  out=numbers$loop
  "$ENGINE" ${how:--p "$VKB_PORT"} -t 'RPUSH numbers __seq__' $loop -D 1 -c 5 -P 10 --max-lost 1000000 \
    >"numbers$loop" 2>"numbers$loop.err" & load=$!
  until [ "$(cli llen numbers)" -gt 500 ] || ! kill -0 $load; do :; done
  cli client pause 100000 write >/dev/null
  until [ "$(cli info clients | tr -d '\r' | sed -n 's/^blocked_clients://p')" -ge 5 ] || ! kill -0 $load; do :; done
  kick
  cli client unpause >/dev/null
  end
  cli --raw lrange numbers 0 -1 | sort >"sent$loop"
done
# The server is stopped until after the end of the run. The runs are long, since a busy
# machine may take a second to stop the server.
start late -D 2 -c 5 -P 3
kill -STOP "$VKB_PID"
perl -e 'select undef, undef, undef, 2.7'
kill -CONT "$VKB_PID"; end
start hung -D 2 -c 5 -P 3 --timeout 1
kill -STOP "$VKB_PID"; end; kill -CONT "$VKB_PID"
start openhung -D 2 -c 5 -R 4000 --timeout 3
kill -STOP "$VKB_PID"; end; kill -CONT "$VKB_PID"
# The server is stopped during a run that may lose as many requests, and so continues.
start middle -D 3 -c 5 -P 3 --timeout 0.3 --max-lost 50
kill -STOP "$VKB_PID"
perl -e 'select undef, undef, undef, 0.45'
kill -CONT "$VKB_PID"; end
# Refills that are lost again and again are not sent several times: their buffer is
# small.
"$ENGINE" ${how:--p "$VKB_PORT"} -t LPOP -D 1 -c 2 -P 20 -d 9000 \
  --max-lost 1000000 >refills 2>refills.err &
load=$! out=refills
while kill -0 $load 2>/dev/null; do kick; done
end
cli flushall >/dev/null
start two -t SET -D 30 -c 3; kick; end
END
# vkb-serve ends what its command has started when the server is killed: this engine
# is not among that.
cat >waiting <<'END'
echo "VKB_PORT=$VKB_PORT VKB_PID=$VKB_PID VKB_SOCKET=$VKB_SOCKET" >at.new
mv at.new at
exec tail -f /dev/null
END
cat >dead.sh <<'END'
. ./at
. ./steps
start dead -D 30 -c 5; kill -KILL "$VKB_PID"; end
END
ENGINE=$engine
export ENGINE

# is FILE NAME VALUE...: compares numbers of a run.
is() {
  is_file=$1
  shift
  is_want='' is_got=''
  while [ $# -gt 0 ]; do
    is_want="$is_want $1=$2" is_got="$is_got $1=$(value "$1" "$is_file")"
    shift 2
  done
  test_same "$is_want" "$is_got" "$way: $is_file: the losses"
}
# holds FILE WHAT AWK: checks a condition on the numbers v[...] of a run.
holds() {
  awk "{v[\$1] = \$2} END {exit !($3)}" "$1"
  test_result $? "$way: $1: $2"
}
status() {
  test_same "$2" "$(cat "$1.status")" "$way: $1: exit status"
}

# The only difference between a unix socket and TCP is the call that connects: with the
# sanitizers one of them is enough.
ways='tcp unix'
[ -z "${VKB_TEST_FAST:-}" ] || ways=unix
for way in $ways; do
  VKB_UNIX=
  [ "$way" = tcp ] || VKB_UNIX=yes
  export VKB_UNIX
  rm -f ./*.status at
  test_that "$way: the script ends" vkb-serve -q --unixsocket -- sh -u ./single
  vkb-serve -q --unixsocket -- sh -u ./waiting 2>serve.err &
  wait_until 60 test -e at
  sh -u ./dead.sh
  wait $!
  test_match 'killed by signal 9' serve.err "$way: a command ends with its server"
  status kicked 2
  is kicked lost 5 unanswered 0 reconnects 5 errors_total 5
  holds kicked 'the run ends at once' 'v["elapsed_s"] < 10'
  holds kicked 'lost requests have an age' 'v["recorded"] == v["requests"] + 5'
  test_match "lost the connection to '[^']*' during SET: .*; 5 lost, 0 unanswered, 5 reconnects, where max_lost allows 0" \
    kicked.err "$way: the error has the cause, the address and the counts"
  status budget 0
  is budget lost 20 unanswered 0 reconnects 5
  # They are sent again after .1 s, and their latency begins with the first time.
  holds budget 'the latency begins when a request is sent the first time' 'v["max_ms"] >= 100'
  status few 2
  is few lost 20 reconnects 5
  status open 0
  is open unanswered 0 reconnects 5 recorded 4000
  status openkicked 2
  for loop in '' '-R 5000'; do
    status "numbers$loop" 0
    test_that "$way: numbers$loop: requests were lost" test "$(value lost "numbers$loop")" -gt 0
    test_that "$way: numbers$loop: many requests were sent" test "$(wc -l <"sent$loop")" -gt 1000
    test_empty "$(uniq -d "sent$loop")" "$way: numbers$loop: no number is used twice"
  done
  status sequential 0
  is sequential lost 200 unanswered 0 reconnects 5 requests 1000000 \
    recorded 1000000
  test_same 1000000 "$(cat sequential.keys)" "$way: all keys are written, lost ones again"
  status late 0
  is late lost 0 unanswered 0 reconnects 0
  holds late 'requests that the stop delayed have their latency' \
    'v["max_ms"] > 500 && v["recorded"] == v["requests"] + 15'
  status hung 2
  is hung lost 0 unanswered 15 reconnects 0 errors_total 0
  holds hung 'unanswered requests have an age' \
    'v["max_ms"] >= 1000 && v["recorded"] == v["requests"] + 15'
  test_match "no reply from '[^']*' to SET for 1 s; 0 lost, 15 unanswered, 0 reconnects" \
    hung.err "$way: a server that hangs"
  status openhung 2
  is openhung lost 0 unanswered 5 reconnects 0
  holds openhung 'unanswered requests of the open loop have an age' \
    'v["max_ms"] >= 1000 && v["recorded"] == 8000'
  status middle 0
  is middle lost 0 unanswered 15 reconnects 5
  holds middle 'the load continues after the stop' 'v["elapsed_s"] >= 3 && v["max_ms"] >= 300'
  status refills 0
  holds refills 'popped elements are refilled, and lost refills are sent again' \
    'v["reconnects"] >= 4 && v["refilled"] > v["requests"] - 100 && v["refilled"] < v["requests"] + 21 * v["reconnects"] + 100'
  status two 2
  # The first stream that loses a request ends the run: the other one may lose fewer.
  test_same '1 2 0' "$(grep -c '^lost 3$' two | sed 's/2/1/') $(grep -c '^lost [0-3]$' two) $(grep -c '^unanswered [1-9]' two)" \
    "$way: two streams that lose requests: each counts its own three connections"
  status dead 2
  test_match 'lost the connection to .* 5 lost' dead.err "$way: a server that is killed"
  is dead lost 5 unanswered 0 reconnects 5
done
test_done
