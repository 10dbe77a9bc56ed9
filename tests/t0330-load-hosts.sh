#!/bin/sh
# vkb-load --client: parts of one load at the same time, records of parts, and vkb-stats
# that joins them; parts that are killed, do not start, or have another clock.
. "${0%/*}/lib.sh"

test_server 'parts of a load'
printf '{"type":"spec","v":1,"id":"other"}\n' >spec
test_other spec
base='"data_sizes":[16],"clients":[5],"tls_mode":false,"cluster_mode":false'
printf '[{"commands":["SET"],"keyspacelen":[3001],"pipelines":[1],"sequential":true,"requests":[3001],"rate":1000,"warmup":0,%s}]\n' \
  "$base" >keys.json
printf '[{"commands":["SET"],"keyspacelen":[100],"pipelines":[2],"duration":1,"warmup":0,"rate":900,%s}]\n' \
  "$base" >rate.json
printf '[{"commands":["SET"],"keyspacelen":[100],"pipelines":[2],"duration":2,"warmup":0,%s}]\n' \
  "$base" >time.json
sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":3/; s/"sequential":true,//' keys.json >cluster.json
sed 's/"tls_mode":false/"tls_mode":true/; s/"sequential":true,//' keys.json >tls.json
part() { # part I/N FILE OPTION...: starts a part in the background; its exit status is then in FILE.status
  part_i=$1 part_f=$2
  shift 2
  {
    vkb-load --client "$part_i" --port "$port" --runs 1 --timeout 30s "$@" \
      >"$part_f" 2>"$part_f.err" &
    echo $! >"$part_f.pid"
    wait $!
    echo $? >"$part_f.status"
  } 3>&- 4<&- &
}
# If the script is interrupted, the parts that still run are killed.
test_cleanup() {
  for f in *.pid; do
    [ ! -e "$f" ] || [ -e "${f%.pid}.status" ] || kill -9 "$(cat "$f")" 2>/dev/null
  done
  exec 3>&- 4<&-
  wait "$serve"
}
reach='' # options that reach the server, for valkey-cli and vkb-load
# shellcheck disable=SC2086 # several words
cli() { valkey-cli -p "$port" $reach "$@"; }
loaded() { cli info commandstats | grep -qE 'cmdstat_set:calls=[0-9]{4}'; }
ended() { [ -e "$1.status" ]; }
# joined FILE ...: joins parts to the file run, and prints its status. On a busy machine
# parts may end at other times: that fails the run (tested with times of its own), and
# is not an error here.
joined() {
  vkb-stats --join "$@" >run
  jq -r 'if (.error // "") | startswith("its parts measured at the same time for ") then "ok" else .status end' run
}

# --- each key is used once, and parts are joined

valkey-cli -p "$port" monitor >seen </dev/null 3>&- 4<&- &
monitor=$!
wait_until 60 grep -q OK seen
case ${SANITIZE:-} in
*address*) virtual= ;;
*)
  gcc -O2 -shared -fPIC -o virtual.so "$tests/virtual.c"
  virtual=$scratch/virtual.so
  ;;
esac
for i in 1 2 3; do LD_PRELOAD=$virtual part $i/3 k$i keys.json; done
for i in 1 2 3; do wait_until 60 ended k$i; done
test_same '0 0 0' "$(cat k1.status k2.status k3.status | xargs)" 'three parts measure'
cat k?.err | sed 's/^/# /'
wait_until 60 \
  sh -c "[ \$(grep -c '\"SET\"' seen) -ge 3001 ]"
grep -o '"SET" "[^"]*"' seen | sort >sent
test_same '3001 3001' "$(wc -l <sent | xargs) $(sort -u sent | wc -l | xargs)" \
  'in sequence the parts use each key exactly once'
if [ "$virtual" ]; then
  LD_PRELOAD=$virtual part 1/1 whole keys.json
  wait_until 60 ended whole
  wait_until 60 sh -c "[ \$(grep -c '\"SET\"' seen) -ge 6002 ]"
  grep -o '"SET" "[^"]*"' seen | tail -n 3001 | sort >sent.whole
  test_that 'one host alone sends the same commands' cmp sent sent.whole
  # latencies N(FILE...): prints the histogram of their run and the numbers computed
  # from it
  latencies() {
    vkb-stats --join "$@" | jq -c 'select(.type == "run") | [.status, .metrics.requests, .hist, (.metrics.avg_latency_ms * 1e6 | round),
      .metrics.min_latency_ms, .metrics.max_latency_ms, .metrics.p50_latency_ms, .metrics.p999_latency_ms]'
  }
  test_same "$(latencies whole)" "$(latencies k1 k2 k3)" \
    'with the same latencies three parts have the histogram of one host'
  test_same '2997 2998 3002' "$(jq '.metrics.elapsed_s * 1000 | floor' k1 k2 k3 | xargs)" \
    'the requests of the parts are due in turn, one in each millisecond'
  test_that 'there are many different latencies' test "$(jq '.metrics | .max_latency_ms > .89 and .p50_latency_ms < .5' whole)" = true
fi
kill "$monitor"
test_same 0 "$(cli dbsize)" 'at the end the server is empty'
test_same '["part",1000] ["part",1000] ["part",1001]' \
  "$(jq -c '[.type, .metrics.requests]' k? | sort | xargs -d '\n')" 'the parts share the requests'
vkb-stats --join k3 k1 k2 >run
test_same '["run","ok",3001,[1,2,3],null,null]' "$(jq -c '[.type, .status,
  .metrics.requests, [.run.parts[].i], .run.part, .error]' run)" \
  'the parts are joined to one run, in any order'
test_same 1 "$(jq -s '[.[].run.session] | unique | length' k?)" 'all parts have the same session'
test_same "$(jq -s -c 'map(.config)[0]' k?)" "$(jq -c .config run)" \
  'the run has the configuration of the whole case'
test_same true "$(jq -s '(.[0].metrics) as $all | .[1:] | map(.metrics) |
  ((map(.max_latency_ms) | max) == $all.max_latency_ms) and
  ((map(.min_latency_ms) | min) == $all.min_latency_ms) and
  ((map(.p99_latency_ms) | max) >= $all.p99_latency_ms)' run k?)" \
  'the smallest and the largest latency are those of the parts'
test_same '4 numbers' "$(perl "$tests/histogram.pl" <run | sed 's/^[5-9] /4 /')" \
  'its percentiles are those of its histogram'
jq -c '.run.part.begin_us = 1e7 + 1e4 * .run.part.i | .run.part.end_us = 2e7 + 1e4 * .run.part.i |
  .metrics.max_latency_ms = .00001' k? | vkb-stats --join >joined.times
test_same '[10.02,300,true]' "$(jq -c '.metrics | [.elapsed_s, (.rps | round), .p50_latency_ms == .max_latency_ms]' joined.times)" \
  'it begins with the first part and ends with the last; no percentile is above the exact maximum'
vkb-stats k1 k2 k3 >a
vkb-stats run >b
test_that 'the summary of the parts is that of the run' cmp a b
vkb-stats --join k1 k2 k3 k2 >again
test_that 'a part that is there twice counts once' cmp run again
vkb-stats --join k1 k3 >less 2>said
test_same '["failed","part 2 of 3 is missing"]' "$(jq -c '[.status, .error]' less)" \
  'a run with a missing part has failed, and names the part'
test_match 'part 2 of 3 is missing' said 'a message names the missing part'
jq -c 'if .run.part.i == 2 then .run.part.begin_us += 9e8 | .run.part.end_us += 9e8 else . end' k? |
  vkb-stats --join >apart
test_match '"status":"failed".*its parts measured at the same time for [0-9.]+ % only' apart \
  'parts that did not measure at the same time fail the run'
jq -c 'if .run.part.i == 2 then .run.part.begin_us = 101e5 else .run.part.begin_us = 1e7 end |
  .run.part.end_us = 1.9998e7' k? | vkb-stats --join >apart
test_match 'its parts measured at the same time for 98.99 % only, and 99 % are needed' apart \
  'an overlap just below 99 % is not rounded up'
jq -c 'if .run.part.i == 3 then .status = "failed" | .error = "no" else . end' k? |
  vkb-stats --join >broken
test_match '"error":"part 3 of 3: no"' broken 'a part that failed fails the run'
test_status 2 'a part without a number is invalid' \
  sh -c "jq -c 'del(.run.part.i)' k1 | vkb-stats --join"

# --- a rate, and a clock that is an hour ahead

cat >hour.c <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int
clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec += 3600;
	return rc;
}
END
gcc -shared -fPIC -o hour.so hour.c
part 0/3 r1 rate.json
case ${SANITIZE:-} in *address*) hour= ;; *) hour=$scratch/hour.so ;; esac
LD_PRELOAD=$hour part 1/3 r2 rate.json
part 2/3 r3 rate.json
for i in 1 2 3; do wait_until 60 ended r$i; done
cat r?.err | sed 's/^/# /'
test_same 'ok [900,true]' "$(joined r?) $(jq -c '[.metrics.offered_rps, (.metrics | .requests > 0 and .requests <= 900 and
  .rps == .requests and .achieved_percent > 0)]' run)" \
  'the parts keep the rate together, one with a clock an hour ahead'
if [ "$hour" ]; then
  test_same '0 0 3600' "$(jq -r '.run.parts[] | (.clock_ahead_ms / 1000 | round) + 0' run |
    sort -n | xargs)" 'the record has the differences of the clocks'
fi
test_same true "$(jq '.status == if .run.parts_overlap_percent >= 99 then "ok" else "failed" end' run)" \
  'the run has failed if the parts did not measure at the same time'

# --- a part that starts late, a cluster, TLS

part 1/2 l1 --duration .5s time.json
wait_until 60 grep -q 'waiting for part 2 of 2' l1.err
part 2/2 l2 --duration .5s time.json
for i in 1 2; do wait_until 60 ended l$i; done
test_same '0 0' "$(cat l1.status l2.status | xargs)" 'a part waits for one that starts late'

# another SPEC: starts another server; $record is its record
another() {
  printf '%s\n' "$1" >&3
  read -r record <&4
}
# at PATH: prints a member of that record
at() { printf '%s' "$record" | jq -r "$1"; }
first=$port
another '{"type":"spec","v":1,"id":"cluster","primaries":3}'
for i in 1 2; do
  port=$(at ".nodes[$i].port")
  part $i/2 c$i --cluster-mode true cluster.json
done
for i in 1 2; do wait_until 60 ended c$i; done
cat c?.err | sed 's/^/# /'
test_same 'ok [3001,5]' "$(joined c1 c2) $(jq -c '[.metrics.requests, .config.clients]' run)" 'parts of a load on a cluster may be given different nodes'
# Part 1 is killed: the message has a command for each primary.
sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":3/' time.json >cut.json
port=$(at '.nodes[0].port')
cli config resetstat >/dev/null
part 2/2 e2 --no-flush cut.json
vkb-load --client 1/2 --port "$port" --runs 1 --no-flush cut.json >e1 2>e1.err 3>&- 4<&- &
dies=$!
wait_until 60 loaded
kill -9 "$dies"
wait_until 60 ended e2
held() { for p in $(at '.nodes[].port'); do valkey-cli -p "$p" --scan; done | grep -c "$1"; }
test_that 'a cluster and part 1 is killed: its keys are left' test "$(held '^vkb:')" -gt 10
valkey-cli -c -p "$port" set theirs 1 >/dev/null
sed -n 's/^vkb-load:   \(valkey-cli.*\)/\1/p' e2.err >remove
test_same 3 "$(wc -l <remove | xargs)" 'the error has a command for each primary'
test_that 'the commands succeed' sh -e remove
test_same '0 1' "$(held '^vkb:') $(held '^theirs$')" 'they remove these keys, and no others'
rm e1 e1.* e2 e2.*
another '{"type":"spec","v":1,"id":"tls","tls":true}'
port=$(at '.nodes[0].port')
for i in 1 2; do
  part $i/2 t$i --tls --cacert "$(at .tls.cacert)" --cert "$(at .tls.cert)" --key "$(at .tls.key)" tls.json
done
for i in 1 2; do wait_until 60 ended t$i; done
cat t?.err | sed 's/^/# /'
test_same 'ok 3001' "$(joined t1 t2) $(jq .metrics.requests run)" 'and with TLS'
rm t1 t2 t?.*
port=$first

# --- a part that takes long

cat >slow.c <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
int
epoll_wait(int ep, struct epoll_event *e, int n, int ms)
{
	poll(NULL, 0, 100);
	return epoll_pwait(ep, e, n, ms, NULL);
}
END
gcc -shared -fPIC -o slow.so slow.c
printf '[{"commands":["SET"],"keyspacelen":[100],"pipelines":[1],"requests":[160],"warmup":0,%s}]\n' \
  "$base" >few.json
part 1/2 w1 --timeout 2s few.json
case ${SANITIZE:-} in *address*) slow= ;; *) slow=$scratch/slow.so ;; esac
LD_PRELOAD=$slow part 2/2 w2 --timeout 2s few.json
for i in 1 2; do wait_until 60 ended w$i; done
sed 's/^/# /' w1.err
test_same '0 0' "$(cat w1.status w2.status | xargs)" \
  'a part that has finished waits for a slower part longer than the timeout'
[ -z "$slow" ] || test_same true "$(jq '.metrics.elapsed_s > 2' w2)" 'the slower part took longer than the timeout'

# --- what other clients publish is not trusted

subscribed() { [ "$(cli pubsub channels 'vkb:part:*' | wc -l)" -ge "$1" ]; }
valkey-cli -p "$port" subscribe vkb:part: 'vkb:part:[]' 'vkb:part:{"i":"x"}' 'vkb:part:{"i":-1,"n":2}' \
  'vkb:part:{' "vkb:part:$(printf '[%.0s' $(seq 5000))" >heard </dev/null 3>&- 4<&- &
others=$!
wait_until 60 subscribed 6
for i in 1 2; do part $i/2 b$i --duration .5s time.json; done
for i in 1 2; do wait_until 60 ended b$i; done
test_same '0 0' "$(cat b1.status b2.status | xargs)" 'channels that do not have the state of a part are ignored'
kill "$others"
wait "$others" 2>/dev/null
valkey-cli -p "$port" subscribe 'vkb:part:{"i":2,"n":2,"token":"t","version":"9.9"}' >heard </dev/null 3>&- 4<&- &
others=$!
wait_until 60 subscribed 1
test_status 2 'a part with another version of vkb-load' vkb-load --client 1/2 --port "$port" --runs 1 time.json
test_match 'part 2 of 2 is vkb-load 9\.9, and this is ' .err 'the error has both versions'
kill "$others"
wait "$others" 2>/dev/null

# --- faults

at=$(date -u -d '1 minute ago' +%FT%TZ)
test_status 2 '--start-at with a time in the past' vkb-load --port "$port" --runs 1 --start-at "$at" time.json
test_match '[0-9]\.[0-9]{3} s too late to begin at 20' .err 'the error has the delay'
at=$(date -u -d '3 seconds' +%FT%T.%3NZ)
part 1/1 s1 --start-at "$at" rate.json
wait_until 60 ended s1
test_same true "$(jq --argjson at "$(date -u -d "$at" +%s%3N)" \
  '.run.part.begin_us / 1000 - $at | . > -1 and . < 2000' s1)" \
  'with --start-at the measurement begins at that time'
test_status 2 'a limit with --client' vkb-load --client 1/1 --port "$port" --runs 1 --set 'slo=p99<=1ms' time.json
test_match "each part of '--client' would search a capacity" .err 'the error says that each part would search'
test_status 2 'a part that does not start' vkb-load --client 1/2 --port "$port" \
  --timeout .5s --runs 1 time.json
test_match 'part 2 of 2 did not come within 0.5 s' .err 'the error names the missing part'
cli config resetstat >/dev/null
part 1/2 d1 time.json
vkb-load --client 2/2 --port "$port" --runs 1 time.json >d2 2>d2.err 3>&- 4<&- &
dies=$!
wait_until 60 loaded
kill -9 "$dies"
wait_until 60 ended d1
test_same 2 "$(cat d1.status)" 'a part that is killed fails the other part'
test_match 'part 2 of 2 has ended' d1.err 'the error names the killed part'
test_same failed "$(jq -r .status d1)" 'the record of the other part has failed'
test_same 0 "$(cli dbsize)" 'the server is emptied'
# If part 1 is killed, the keys of the load are left.
for how in '' --no-flush; do
  rm -f e2 e2.*
  cli config resetstat >/dev/null
  # shellcheck disable=SC2086 # an option
  part 2/2 e2 $how time.json
  # shellcheck disable=SC2086
  vkb-load --client 1/2 --port "$port" --runs 1 $how time.json >e1 2>e1.err 3>&- 4<&- &
  dies=$!
  wait_until 60 loaded
  kill -9 "$dies"
  wait_until 60 ended e2
  test_same 2 "$(cat e2.status)" "part 1 is killed, $how: the other part fails"
  test_match 'part 1, which removes the keys of the load, has ended; if it was killed, they are still there' e2.err \
    'the error says that keys are left'
  test_that 'keys are left on the server' test "$(cli dbsize)" -gt 0
  cli set theirs 1 >/dev/null
  sed -n 's/^vkb-load:   \(valkey-cli.*\)/\1/p' e2.err >remove
  test_that 'the error has a command that removes them' sh remove
  if [ "$how" ]; then
    test_same theirs "$(cli keys '*')" 'the command does not remove other data'
  else
    test_same 0 "$(cli dbsize)" 'the command removes all of them'
  fi
  cli flushall >/dev/null
done
# The same on a server with TLS and a user, in another database.
another '{"type":"spec","v":1,"id":"login","tls":true}'
port=$(at '.nodes[0].port')
reach="--tls --cacert $(at .tls.cacert) --cert $(at .tls.cert) --key $(at .tls.key)"
secret="se cret\$HOME"
cli acl setuser "it's" on ">$secret" '~*' '&*' +@all >/dev/null
sed 's/"tls_mode":false/"tls_mode":true/' time.json >login.json
rm -f e1 e1.* e2 e2.*
cli config resetstat >/dev/null
# shellcheck disable=SC2086 # several words
(
  export VKB_USER="it's" VKB_PASSWORD="$secret"
  part 2/2 e2 --no-flush --set db=2 $reach login.json
  vkb-load --client 1/2 --port "$port" --runs 1 --no-flush --set db=2 $reach login.json >e1 2>e1.err 3>&- 4<&- &
  echo $! >dies
)
wait_until 60 loaded
kill -9 "$(cat dies)"
wait_until 60 ended e2
test_same 2 "$(cat e2.status)" 'part 1 is killed, TLS and a user: the other part fails'
test_absent 'se cret' e2.err 'no message has the password'
test_that 'keys are left in the database' test "$(cli -n 2 dbsize)" -gt 0
cli -n 2 set theirs 1 >/dev/null
sed -n 's/^vkb-load:   \(.*valkey-cli.*\)/\1/p' e2.err >remove
test_that 'the error has a command that removes them, too' env VKB_PASSWORD="$secret" sh remove
test_same theirs "$(cli -n 2 keys '*')" 'this command does not remove other data'
port=$first reach=
rm e1 e1.* e2 e2.*
part 1/2 e1 time.json
test_status 2 'a part with other cases' vkb-load --client 2/2 --port "$port" --runs 1 \
  --timeout 5s rate.json
test_match 'part 1 of 2 has other cases or options' .err 'the error says that the other part has other cases'
wait_until 60 ended e1
test_same 2 "$(cat e1.status)" 'the other part fails as well'
part 1/2 t1 --timeout 3s time.json
wait_until 60 sh -c "valkey-cli -p $port pubsub channels | grep -q vkb:part"
test_status 2 'a second part 1' vkb-load --client 1/2 --port "$port" --runs 1 time.json
test_match 'two of part 1 of 2' .err 'the error says that there are two of part 1'
wait_until 60 ended t1
sed 's/"clients":\[5\]/"clients":[1]/' time.json >one.json
for i in 0 1; do part $i/2 o$i one.json; done
for i in 0 1; do wait_until 60 ended o$i; done
test_match 'not run: it has 1 client, fewer than the 2 parts' o0.err \
  'a case with fewer clients than parts is refused'
test_same '2 2' "$(cat o0.status o1.status | xargs)" 'both parts refuse it'
cli set theirs 1 >/dev/null
for i in 1 2; do part $i/2 n$i --no-flush --duration .5s time.json; done
for i in 1 2; do wait_until 60 ended n$i; done
test_same '0 0 theirs' "$(cat n1.status n2.status | xargs) $(cli keys '*')" \
  '--no-flush leaves the data of others'
test_status 2 'a server with data' vkb-load --client 1/1 --port "$port" --runs 1 time.json
for bad in 4/3 a/b 1/0 1 -1/2 1/2x 1/9999 4294967297/2; do
  test_status 2 "--client $bad" vkb-load --client "$bad" --port "$port" time.json
done
test_status 2 '--client without a server' vkb-load --client 1/2 time.json
test_match "'--client' needs a server that all parts reach" .err 'the error says that a server is needed'
test_status 2 '--client with --budget' vkb-load --client 1/2 --port "$port" --budget 9 time.json
test_match "'--client' cannot be combined with '--budget'" .err 'the error names the budget'
test_status 2 '--client with --count' vkb-load --client 1/2 --port "$port" --count time.json
test_done
