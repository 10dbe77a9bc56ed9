#!/bin/sh
# The load engine with servers that are killed, hang or close connections: requests
# without a reply are counted, recorded with their age, and fail the run.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

test_server 'requests without a reply'

# when.pl PORT ACTION [PID]: connects, and acts when the server has got requests: KICK
# closes all other connections, a signal goes to PID. KICKS closes them again and again.
# It is one process, so that a busy machine does not act after the end of the load.
cat >when.pl <<'END'
use strict;
use IO::Socket::INET;
my ($port, $action, $pid) = @ARGV;
my $s = IO::Socket::INET->new("127.0.0.1:$port") or die "no connection to port $port\n";
alarm 120;
sub ask {
  print $s "$_[0]\r\n";
  my $head = <$s>;
  return $head unless $head =~ /^\$(\d+)/;
  read $s, my $text, $1 + 2;
  return $text;
}
sub kick { ask('CLIENT KILL TYPE normal SKIPME yes') }
ask('CONFIG RESETSTAT');
print "ready\n";
close STDOUT;
if ($action eq 'KICKS') {
  for (1 .. 100) { kick(); select undef, undef, undef, .02 }
  exit;
}
select undef, undef, undef, .01 until ask('INFO commandstats') =~ /^cmdstat_set:calls=(\d+)/m && $1 > 500;
if ($action eq 'KICK') { kick() } else { kill $action, $pid }
END
# after ACTION OUT OPTION...: starts the engine, and acts when the server has got requests.
# held OUT OPTION...: closes all connections while the server answers nothing, which it
# does from the beginning, so that no load ends before.
cat >steps <<'END'
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
load() { # OUT OPTION...
  out=$1; shift
  "$ENGINE" ${how:--p "$VKB_PORT"} "$@" >"$out" 2>"$out.err" &
  load=$!
}
after() {
  perl when.pl "$VKB_PORT" "$1" "$VKB_PID" >ready & when=$!
  read -r _ <ready
  shift
  load "$@"
  wait $when
}
# Waits for the engine, and writes its exit status to a file.
end() { wait $load; echo $? >"$out.status"; }
kick() { cli client kill type normal skipme yes >/dev/null; }
held() {
  cli client pause 100000 write >/dev/null
  load "$@"
  until [ "$(cli info clients | tr -d '\r' | sed -n 's/^blocked_clients://p')" -ge 5 ] || ! kill -0 $load; do :; done
  kick
  cli client unpause >/dev/null
  end
}
if [ "$VKB_UNIX" ]; then how="-s $VKB_SOCKET"; fi
END
mkfifo ready
# A script that vkb-serve runs.
cat >single <<'END'
. ./steps
after KICK kicked -t SET -D 30 -c 5; end
held budget -t SET -n 4000 -c 5 -P 4 --max-lost 100
after KICK few -t SET -D 30 -c 5 -P 4 --max-lost 3; end
held open -t SET -n 4000 -c 5 -R 4000 -P 4 --max-lost 100
after KICK openkicked -t SET -D 30 -c 5 -R 4000; end
cli flushall >/dev/null
held sequential -t SET -n 20000 -r 20000 --sequential -c 5 -P 40 --max-lost 500
cli dbsize >sequential.keys
# Numbers in sequence while requests in flight are lost.
for loop in '' '-R 5000'; do
  cli flushall >/dev/null
  held "numbers$loop" -t 'RPUSH numbers __seq__' $loop -n 5000 -c 5 -P 10 --max-lost 1000000
  cli --raw lrange numbers 0 -1 | sort >"sent$loop"
done
# The server is stopped until after the end of the run. The runs are long, since a busy
# machine may take a second to stop the server.
after STOP late -t SET -D 2 -c 5 -P 3
perl -e 'select undef, undef, undef, 2.7'
kill -CONT "$VKB_PID"; end
after STOP hung -t SET -D 2 -c 5 -P 3 --timeout 1
end; kill -CONT "$VKB_PID"
after STOP openhung -t SET -D 2 -c 5 -R 4000 --timeout 3
end; kill -CONT "$VKB_PID"
# The server is stopped during a run that may lose as many requests, and so continues.
after STOP middle -t SET -D 3 -c 5 -P 3 --timeout 0.8 --max-lost 500
perl -e 'select undef, undef, undef, 1.2'
kill -CONT "$VKB_PID"; end
# Refills that are lost again and again are not sent several times: their buffer is
# small.
after KICKS refills -t LPOP -D 1 -c 2 -P 20 -d 9000 --max-lost 1000000; end
cli flushall >/dev/null
after KICK two -t SET -t SET -D 30 -c 3; end
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
after KILL dead -t SET -D 30 -c 5; end
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
  test_same "$is_want" "$is_got" "$is_file: the losses"
}
# holds FILE WHAT AWK: checks a condition on the numbers v[...] of a run.
holds() {
  awk "{v[\$1] = \$2} END {exit !($3)}" "$1"
  test_result $? "$1: $2"
}
status() {
  test_same "$2" "$(cat "$1.status")" "$1: exit status"
}

# The only difference between a unix socket and TCP is the call that connects.
VKB_UNIX=
export VKB_UNIX
test_that 'the script ends' vkb-serve -q -- sh -u ./single
vkb-serve -q --unixsocket -- sh -u ./waiting 2>serve.err &
wait_until 60 test -e at
VKB_UNIX=yes sh -u ./dead.sh
wait $!
test_match 'killed by signal 9' serve.err 'a command ends with its server'
status kicked 2
is kicked lost 5 unanswered 0 reconnects 5 errors_total 5
holds kicked 'the run ends at once' 'v["elapsed_s"] < 10'
holds kicked 'lost requests have an age' 'v["recorded"] == v["requests"] + 5'
test_match "lost the connection to '[^']*' during SET: .*; 5 lost, 0 unanswered, 5 reconnects, where max_lost allows 0" \
  kicked.err "the error has the cause, the address and the counts"
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
  test_that "numbers$loop: requests were lost" test "$(value lost "numbers$loop")" -gt 0
  test_that "numbers$loop: many requests were sent" test "$(wc -l <"sent$loop")" -gt 1000
  test_empty "$(uniq -d "sent$loop")" "numbers$loop: no number is used twice"
done
status sequential 0
is sequential lost 200 unanswered 0 reconnects 5 requests 20000 \
  recorded 20000
test_same 20000 "$(cat sequential.keys)" "all keys are written, lost ones again"
status late 0
is late lost 0 unanswered 0 reconnects 0
holds late 'requests that the stop delayed have their latency' \
  'v["max_ms"] > 500 && v["recorded"] == v["requests"] + 15'
status hung 2
is hung lost 0 unanswered 15 reconnects 0 errors_total 0
holds hung 'unanswered requests have an age' \
  'v["max_ms"] >= 1000 && v["recorded"] == v["requests"] + 15'
test_match "no reply from '[^']*' to SET for 1 s; 0 lost, 15 unanswered, 0 reconnects" \
  hung.err "a server that hangs"
status openhung 2
is openhung lost 0 unanswered 5 reconnects 0
holds openhung 'unanswered requests of the open loop have an age' \
  'v["max_ms"] >= 1000 && v["recorded"] == 8000'
status middle 0
# A busy machine may stop the server for longer than two timeouts.
holds middle 'each connection has three unanswered requests' \
  'v["lost"] == 0 && v["reconnects"] >= 5 && v["unanswered"] == 3 * v["reconnects"]'
holds middle 'the load continues after the stop' 'v["elapsed_s"] >= 3 && v["max_ms"] >= 800'
status refills 0
holds refills 'popped elements are refilled, and lost refills are sent again' \
  'v["reconnects"] >= 4 && v["refilled"] > v["requests"] - 100 && v["refilled"] < v["requests"] + 21 * v["reconnects"] + 100'
status two 2
# The first stream that loses a request ends the run: the other one may lose fewer.
test_same '1 2 0' "$(grep -c '^lost 3$' two | sed 's/2/1/') $(grep -c '^lost [0-3]$' two) $(grep -c '^unanswered [1-9]' two)" \
  "two streams that lose requests: each counts its own three connections"
status dead 2
test_match 'lost the connection to .* 5 lost' dead.err "a server that is killed"
is dead lost 5 unanswered 0 reconnects 5
test_done
