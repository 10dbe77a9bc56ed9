#!/bin/sh
# Rates that change during a run, and searches for the capacity of a server whose
# capacity is known.
. "${0%/*}/lib.sh"

base='"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"clients":[8],"cluster_mode":false,"tls_mode":false,"warmup":0'
fake=
test_cleanup() {
  for pid in $fake; do
    kill "$pid" 2>/dev/null
  done
}

# paced NAME OPTION...: starts a server with a limited rate, whose port is in the file
# NAME.
paced() {
  paced_name=$1
  shift
  mkfifo "$paced_name.in"
  "$VKB_BUILD/bench/pacedserver" "$@" <"$paced_name.in" >"$paced_name" &
  fake="$fake $!"
  eval "exec $((${paced_name#s} + 3))>$paced_name.in"
  wait_until 10 test -s "$paced_name"
}
# on NAME OPTION...: runs vkb-load on that server.
on() {
  on_name=$1
  shift
  vkb-load -q --flush --port "$(cat "$on_name")" "$@"
}

# --- the plan

printf '[{"commands":["SET"],%s,"duration":1,"rate":["1e3-5000","5000-1000/4","700"]}]\n' "$base" >ramp.json
test_that 'ramps and steps can be planned' vkb-load --plan ramp.json
test_same '"1000-5000" "5000-1000/4" 700' "$(jq -c .config.rate .out | xargs -d '\n')" \
  'rates are written in one form, and a list of rates gives several cases'
test_same 'SET-d16-P1-c8-k100-rate1000_5000' "$(jq -r .id .out | head -n 1)" 'the id has the ramp'
vkb-load --plan ramp.json >plan
test_that 'a plan with ramps can be planned' vkb-load --plan plan
mv .out again
test_that 'it is not changed' cmp plan again
test_same '"9-7/2"' "$(vkb-load -q --plan --set rate=9-7/2 ramp.json 2>/dev/null | jq -c .config.rate)" \
  'a rate of steps'
for rate in 5- 5-5 5-9/1 0 5-9/2000 -1 x; do
  test_status 2 "the rate $rate is refused" vkb-load --plan --set rate="$rate" ramp.json
  test_match "option '--set': rate=$rate: 'rate': invalid rate" .err "the error quotes the rate $rate"
done
test_status 2 'a ramp over a number of requests is refused' \
  vkb-load -q --requests 10 --set rate=5-9 --runs 1 ramp.json
test_match "not run: a rate that changes needs a 'duration', not 'requests'" .err \
  'the error says that a duration is needed'

printf '[{"commands":["SET"],%s,"duration":1,"slo":"p99 <= 1.0 ms"}]\n' "$base" >slo.json
test_that 'a search can be planned' vkb-load --plan slo.json
test_same '["SET-d16-P1-c8-k100-p99_=1ms","p99<=1ms",null]' "$(jq -c '[.id, .config.slo, .config.rate]' .out)" \
  'its limit is written in one form'
test_same '[null,100]' "$(vkb-load --plan --set rate=100 slo.json | jq -c '[.config.slo, .config.rate]')" \
  'a rate replaces a limit'
test_same '["p95<=2ms",null]' \
  "$(vkb-load -q --plan --set 'slo=p95<=2ms' ramp.json 2>/dev/null | jq -c '[.config.slo, .config.rate]')" '--set slo replaces a rate'
test_status 2 'a limit that is nonsense' vkb-load --plan --set 'slo=p98<=1ms' slo.json
test_match "option '--set': slo=.*invalid limit .p98<=1ms.: use p50, .* or max, and <=" .err \
  'the error lists the valid percentiles'
test_match "^is $(sed -n 's/.*: use \(.*\), and <= and .*/\1/p' .err), then <=" "$top/man/vkb-config.5" \
  'vkb-config(5) lists them, too'
test_status 2 'a rate and a limit exclude each other' vkb-load --plan --set 'slo=p95<=2ms' --set rate=5 slo.json
test_match "'slo' and 'rate' exclude each other" .err 'the error has both'
refused() { # refused PATTERN WHAT OPTION...
  refused_want=$1 refused_what=$2
  shift 2
  test_status 2 "$refused_what is refused" vkb-load -q --runs 1 "$@"
  test_match "$refused_want" .err "$refused_what: the error has the reason"
}
refused "a search \\('slo'\\) needs a 'duration'" 'a search with --requests' --requests 10 slo.json
jq -c '.[0].slo = "p99<=1ms" | .[0].duration = 1 |
  .[0].test_groups = [{group: 1, scenarios: [{id: "m", type: "mixed", writes: [{test: "set", clients: 1}]}]}] |
  .[0] |= del(.commands, .data_sizes, .pipelines, .clients)' slo.json >mixed.json
jq -c '.[0].test_groups[0].scenarios[0].reads = [{test: "get", clients: 1}]' mixed.json >both.json
refused 'has one load, not writers and' 'a search in a mixed scenario' both.json
if command -v valkey-benchmark >/dev/null; then
  refused 'searches of the capacity need the engine of vkb-load' 'a search by valkey-benchmark' \
    --engine valkey-benchmark slo.json
else
  test_skip 'a search by valkey-benchmark' valkey-benchmark
fi

# --- capacities. The servers make 500 requests/s. In theory a rate r holds in a trial
# of T seconds after a warm-up of W seconds if the delay, (r / 500 - 1) * t, is below
# the limit at the median, t = W + T / 2, and at the end, t = W + T, is at most the
# limit and .01 T. The servers make up for pauses of the machine of up to 100 ms, which
# hardly change a median. Longer pauses disturb a search, so there are up to three
# searches. The following tests run at the same time as the first search.

truth() { # LIMIT, in s: the theoretical capacity for the median
  awk -v l="$1" 'BEGIN {
    w = .2; t = .8
    x = l / (w + t / 2); y = (l + .01 * t) / (w + t)
    print 500 * (1 + (x < y ? x : y))
  }'
}
search() { # NAME LIMIT
  rm -f "$1.jsonl"
  on "$1" --runs 1 --warmup 200ms --duration 800ms --set "slo=p50<=$2" -o "$1.jsonl" slo.json 2>"$1.err"
  echo $? >"$1.status"
}
is_near() { # NAME LIMIT
  [ "$(jq --argjson t "$(truth "$2")" '.metrics.capacity_rps / $t - 1 | . > -0.03 and . < 0.03' \
    "$1.jsonl")" = true ]
}
searches=
paced s2 --rate 500 --burst 100ms
paced s3 --rate 500 --burst 100ms
paced s4 --rate 500 --burst 100ms --requests 1600
for search in 's2 20ms' 's3 200ms' 's4 20ms'; do
  # shellcheck disable=SC2086 # two words
  search $search &
  searches="$searches $!"
done

# --- a ramp: the requests that are due are its integral, however busy the machine is

paced s1 --rate 100000
test_that 'a ramp and steps with three threads' on s1 --runs 1 \
  --duration 900ms -o ramps ramp.json
jq -c '.[0]["benchmark-threads"] = 3 | .[0].arrivals = "poisson" | .[0].rate = "1000-3000"' ramp.json >threads.json
test_that 'a ramp of Poisson arrivals' on s1 --runs 1 -o ramps threads.json
jq -c '.[0]["benchmark-threads"] = 3 | .[0].rate = "500-2500" | .[0].duration = 2' ramp.json >threads.json
test_that 'a ramp with three threads' on s1 --runs 1 -o ramps threads.json
test_same '3000 3000 700' "$(jq 'select(.config.arrivals == "constant" and .config.duration_s == 0.9) |
  .metrics.offered_rps | . + 0.5 | floor' ramps | xargs)" 'the offered rate is the mean of the ramp'
test_same true "$(jq 'select(.config.duration_s == 2).metrics.offered_rps | . > 1498 and . < 1502' ramps)" \
  'three threads share the schedule, within .1 %'
test_same true "$(jq 'select(.config.arrivals == "poisson").metrics.offered_rps | . > 1750 and . < 2250' ramps)" \
  'the mean rate of Poisson arrivals is that of the ramp'
test_same '[1000,2000]' "$(jq -c 'select(.config.duration_s == 2) |
  [.series.offered_rps[0:2][] | . + 0.5 | floor]' ramps)" 'the series has the rate of each second'

# --- results

for job in $searches; do
  wait "$job"
done
for _ in 1 2; do
  is_near s2 .02 || search s2 20ms
done
test_same '0 0' "$(cat s2.status s3.status | xargs)" 'two searches have results'
is_near s2 .02
test_result $? 'the capacity of a server is found within 3 %'
test_same true "$(jq -s '.[1].metrics.capacity_rps > .[0].metrics.capacity_rps' s2.jsonl s3.jsonl)" \
  'with a higher limit the capacity is higher'
test_same true "$(jq '.capacity | .ci95[0] < .ci95[1] and (.trials.held | length) <= 26 and
  (.trials | [.[] | length] | unique | length) == 1 and .closed_rps > 0' s2.jsonl)" \
  'the record has the interval and the trials'
test_same true "$(jq '.metrics.capacity_rps as $c | .capacity.ci95 | .[0] < $c and $c < .[1]' s2.jsonl)" \
  'the interval contains the capacity'
test_same null "$(jq '.metrics | .rps // .p99_latency_ms' s2.jsonl)" \
  'the record has no rate and no latency, which would depend on the trials'

# A search with a mix.
test_that 'a search with a mix has a capacity' on s2 --runs 1 --duration 100ms --warmup 0 \
  --set 'slo=p50<=100ms' --mix "SET 3, 'SET key:__rand_int__ x' 1" -c 8 -o mix.jsonl
test_same '[["ok","mix",true,null]]' "$(jq -s -c 'map([.status, .config.command,
  .metrics.capacity_rps > 250, .metrics.rps])' mix.jsonl)" 'there is one record, of the whole mix'

# --- failures

test_same 2 "$(cat s4.status)" 'a server that is stopped during a search fails the run'
test_same '["failed",null]' "$(jq -c '[.status, .metrics.capacity_rps]' s4.jsonl)" 'its record has no capacity'
test_match '"error":"[^"]*(lost|connect|closed|reset)' s4.jsonl 'its record has the reason'
test_same true "$(jq '(.capacity.trials.rps | length) > 0' s4.jsonl)" 'its record has the trials before'
test_status 2 'a limit that never holds fails the run' on s1 --runs 1 --duration 300ms --set 'slo=max<=0.1us' -o never slo.json
test_match 'no capacity was found: max<=0.1us does not hold even at ' .err 'the error names the limit'
test_same failed "$(jq -r .status never)" 'its record has the status failed'

vkb-load --flush --port "$(cat s1)" --runs 1 --duration 20s --set 'slo=p99<=1ms' -o stopped slo.json 2>said &
job=$!
wait_until 10 grep -q 'search' said
kill -TERM $job
wait $job
test_same 143 $? 'a signal ends a search at once'
test_match '1 case searches a capacity: at most 27 trials, of 20 s for p99<=1ms, and 9m00s in each run' said \
  'a message has the longest time that a search may take'

# --- other programs

printf '%s\n' 2000 2010 1990 2005 1995 2002 >values
for side in a b; do
  while read -r v; do
    i=$((${i:-0} + 1))
    [ $side = a ] || v=$((v * 8 / 10))
    jq -c --argjson v "$v" --argjson i "$i" --arg side "$side" '.metrics.capacity_rps = $v | .run.index = $i |
      .run.order = $i | .run.session = "s" | .run.block = (($i - 1) % 6 + 1) | .subject = {label: $side}' s2.jsonl
  done <values >$side.jsonl
done
test_status 1 'a lower capacity is a regression' vkb-compare -f jsonl a.jsonl b.jsonl
test_same '["capacity_rps","regression"]' "$(jq -c 'select(.type == "delta" and .class == "gate" and
  .metric == "capacity_rps") | [.metric, .verdict]' .out)" 'capacity_rps is judged'
test_status 1 'the text of a comparison' vkb-compare a.jsonl b.jsonl
test_match '20.*slower|capacity' .out 'it has the capacity'
test_same 2001 "$(vkb-stats a.jsonl | jq '.metrics.capacity_rps.median | floor')" \
  'vkb-stats summarises capacities'
# --- a rate that is not reached: each request of one connection waits for 20 ms. On a
# busy machine a command of the mix may have no answer in a second.

for how in '"duration": 1' '"requests": [20]'; do
  vkb-load -q --runs 1 -o slow.jsonl - >/dev/null 2>said <<END
{"mix": "'BLPOP none 0.02' 3, 'BLPOP nothing 0.02' 1", "keyspacelen": [1], "clients": [1], "rate": 200, $how}
END
  test_same '[["ok",true,true,true],["ok",true,null,true],["ok",true,null,true]]' \
    "$(jq -sc 'map(select(.type == "run")) | .[0].metrics.achieved_percent as $all | map([.status,
      .metrics.achieved_percent == $all and $all > 0 and $all < 99,
      (.metrics.offered_rps | values | . > 199 and . < 201),
      ((.metrics | .requests - .elapsed_s * .rps) | fabs < 1e-6)] |
      if length == 3 then .[:2] + [null] + .[2:] else . end)' slow.jsonl)" \
    "$how: the records of the mix and its commands have the share of the rate that was answered"
  test_match '^vkb-load: .*: the rate was not reached in 1 of 1 run: [0-9.]+ of 200.* requests/s were answered \([0-9.]+ %\)' said \
    "$how: a message says that the rate was not reached"
  case $how in
    *duration*) test_same 1 "$(jq -s '.[1].metrics.elapsed_s' slow.jsonl)" 'answers after the end are not counted'
      cp slow.jsonl lasting.jsonl ;;
  esac
  rm slow.jsonl
done
vkb-load -q --runs 3 - >/dev/null 2>said <<'END'
{"commands": ["BLPOP none 0.02"], "keyspacelen": [1], "clients": [1], "rate": 200, "requests": [20]}
END
test_same 1 "$(grep -c 'the rate was not reached in 3 of 3 runs: at worst [0-9.]* of 200' said)" \
  'three runs of a case are one message'
vkb-stats --text lasting.jsonl >.out
test_same 3 "$(grep -c 'rate not reached: ' .out)" 'the table has a note for each row'
# sides EDIT: ten runs a side, of which those of "new" reached their rate after EDIT
sides() {
  for side in old new; do
    for i in 1 2 3 4 5 6 7 8 9 10; do
      jq -c --argjson i $i --arg side $side "select(.config.command == \"mix\") | .subject = {label: \$side} |
        .run.index = \$i | .run.session = \"s\" | .run.block = \$i |
        .metrics.rps = 50 + \$i / 100 | if \$side == \"new\" then $1 else . end" lasting.jsonl
    done
  done
}
sides '.metrics |= (.achieved_percent = 100 | .rps = 200 | .p99_latency_ms = 20 | .p50_latency_ms = 20)' >pair
test_that 'a side that reached its rate and one that did not' vkb-compare -b old -f jsonl:deltas -f text:.out pair
test_same '["p50_latency_ms","info"] ["p99_latency_ms","info"] ["rps","gate"]' \
  "$(jq -c 'select(.type == "delta") | select(.metric | IN("rps", "p50_latency_ms", "p99_latency_ms")) | [.metric, .class]' deltas |
    sort | xargs -d '\n')" 'throughput is judged, and latencies are not'
test_match 'the rate was not reached: [0-9.]+% of it was answered by the baseline and 100% by the contender, so latencies are not judged' \
  .out 'a warning says why'
sides '.metrics |= (.achieved_percent = 100 | .rps = 200)' | jq -c '.metrics.achieved_percent = 99' >pair
vkb-compare -b old -f jsonl:deltas pair >.out
test_same '["p99_latency_ms","gate"]' "$(jq -c 'select(.metric == "p99_latency_ms") | [.metric, .class]' deltas)" \
  'latencies of sides that reached their rate are judged'
# A commit that did not reach the rate is not among the latencies of a history.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
  jq -c --argjson i $i 'select(.config.command == "mix") | .run = {index: 1, session: "s\($i)"} |
    .subject = {commit: ("0000000000000000000000000000000000000000" | .[:38] + ("0\($i)" | .[-2:])),
      time: "2026-01-0\($i % 9 + 1)T00:00:\(10 + $i)Z"} | .subject.time = "2026-01-\($i + 10)T00:00:00Z" |
    .metrics = {rps: (200 + $i / 50), achieved_percent: (if $i > 8 then 90 else 100 end),
      p99_latency_ms: (if $i > 8 then 900 else 20 end + $i / 50)}' lasting.jsonl
done >history
vkb-detect -f jsonl history >changes 2>&1
test_same 0 "$(grep -c '"metric":"p99_latency_ms"' changes)" 'vkb-detect does not judge latencies of runs that did not reach their rate'
jq -c '.metrics.achieved_percent = 100' history >reached
vkb-detect -f jsonl reached >changes 2>&1
test_same 1 "$(grep -c '"metric":"p99_latency_ms"' changes)" 'it judges those of the others'
cp s2.jsonl resumed
test_that 'a search that is finished is not repeated' on s1 --runs 1 --warmup 200ms --duration 800ms \
  --set 'slo=p50<=20ms' --resume resumed slo.json
test_same 1 "$(wc -l <resumed | tr -d ' ')" 'its record is not changed'
test_done
