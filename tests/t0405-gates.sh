#!/bin/sh
# vkb-compare: margins from a history, canaries, several baselines, and --ci.
. "${0%/*}/lib.sh"

# runs LABEL COMMAND VALUE...: prints run records, of blocks of
# their own but for the first
runs() {
  label=$1 command=$2
  shift 2
  block=0
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s"},"metrics":{"rps":%s},"status":"ok","run":{"session":"s","index":%d,"block":%d}}\n' \
      "$label" "$command" "$v" "$((index += 1))" "$block"
    block=$index
  done
}

# --- margins from the history

# history MEDIAN...: prints earlier subjects with one run each
history() {
  i=0
  for m; do
    i=$((i + 1))
    runs "h$i" SET "$m"
  done
}
runs base SET 100 100.5 99.5 100 100.2 >base.jsonl
runs new SET 90 90.5 89.5 90 90.2 >new.jsonl
margin() { # margin OPTION...: prints "margin source verdict", the margin to four digits
  vkb-compare -f jsonl "$@" base.jsonl new.jsonl >out 2>err
  jq -r 'select(.metric) | "\(.margin * 10000 | round / 10000) \(.margin_from) \(.verdict)"' out
}
test_same '0.02 table regression' "$(margin)" 'without a history the margin is that of the table'
# |ln| of the neighbours: .05 five times, so Q3 + 3 IQR = .05
history 100 105.12711 100 105.12711 100 105.12711 >history.jsonl
test_same '0.0488 history regression' \
  "$(margin --margin auto --history history.jsonl)" \
  'with equal changes in the history the margin is their size'
# The changes are .01 .02 .03 .04 .05: Q1 is .02, Q3 is .04, so the margin is .10.
perl -e '$v = 100; print "$v"; for (1 .. 5) { $v *= exp($_ / 100); print " $v" }' >values
# shellcheck disable=SC2046 # words
history $(cat values) >history.jsonl
test_same '0.0952 history regression' \
  "$(margin --margin auto --history history.jsonl)" 'Q3 + 3 IQR'
# shellcheck disable=SC2046
history $(perl -e '$v = 100; print "$v"; for (1 .. 5) { $v *= exp($_ / 50); print " $v" }') >wide.jsonl
test_same '0.1813 history equivalent' \
  "$(margin --margin auto --history wide.jsonl)" \
  'with a noisy history the margin is wide, and there is no regression'
test_same '0.1813 history equivalent' \
  "$(margin --margin rps=auto --history wide.jsonl)" \
  '--margin rps=auto sets the margin of rps alone'
printf '{"rules":[{"margin":"auto"}]}' >policy.json
test_same '0.1813 history equivalent' \
  "$(margin --policy policy.json --history wide.jsonl)" \
  'a policy with the margin auto uses the history'
test_same '0.02 table regression' "$(margin --policy policy.json)" \
  'a policy with the margin auto and without a history'
vkb-compare -v --policy policy.json base.jsonl new.jsonl >text
test_match 'warning: 1 result: the history is too short for a margin \(5 changes' \
  text 'a warning says that the history is too short'
vkb-stats wide.jsonl >wide.sum
sed -n 1,3p wide.jsonl >first
sed -n 4,6p wide.jsonl | vkb-stats >second
test_same '0.1813 history equivalent' \
  "$(margin --margin auto --history first --history second)" \
  'a history in two files, one of summaries'
sed 5q wide.jsonl >short
test_same '0.02 table regression' "$(margin --margin auto --history short)" \
  'four changes are too few for a margin'
history 100 100 100 100 100 100 >still
test_same '0.02 table regression' "$(margin --margin auto --history still)" \
  'a history without noise: the margin is that of the table'
# Only the last 20 subjects count: earlier noise is ignored.
# shellcheck disable=SC2046
history 1 1000 1 1000 1 1000 $(perl -e 'print join " ", map { $_ % 2 ? 100 : 105.12711 } 1 .. 21') >youth
test_same '0.0488 history regression' \
  "$(margin --margin auto --history youth)" 'older subjects of the history do not count'
test_status 2 '--margin auto without --history' vkb-compare -v --margin auto base.jsonl new.jsonl
test_match "option '--margin': 'auto' needs --history" .err \
  'the error says that auto needs --history'
test_status 2 'a history that does not exist' \
  vkb-compare -v --margin auto --history no-such base.jsonl new.jsonl

# --- canaries

runs base PING 50 50.1 49.9 50 >>base.jsonl
cp new.jsonl quiet
runs new PING 50.1 50 49.9 50.1 >>new.jsonl
test_status 1 'a canary that did not change' vkb-compare -v --canary 'PI*' base.jsonl new.jsonl
test_match 'Canaries: 1 of 1 result unchanged' .out \
  'the report counts the canaries that did not change'
for side in base new; do
  sed 's/"PING"/"EVAL [x]"/' $side.jsonl >$side.brackets
done
test_status 1 'a canary is found by its name, even if its characters mean another pattern' \
  vkb-compare -v --canary 'EVAL [x]' base.brackets new.brackets
test_match 'Canaries: 1 of 1 result unchanged' .out \
  'a canary with brackets in its name is counted'
vkb-compare -f jsonl --canary 'PI*' base.jsonl new.jsonl |
  jq -c 'select(.canary).canary[] | [.case, .metric, .against, .verdict, .ok]' >canary
test_same '["PING","rps","baseline","equivalent",true]' "$(cat canary)" \
  'the records have the result of the canary'
for v in '40 40.1 39.9 40' '60 60.1 59.9 60'; do
  # shellcheck disable=SC2086 # words
  { cat quiet; runs new PING $v; } >new.jsonl
  test_status 2 "a canary that moved to ${v%% *}" vkb-compare -v --canary PING base.jsonl new.jsonl
  test_match "^vkb-compare: canary 'PING': rps changed by [+-]20\\.0% against its baseline: the comparison is refused" \
    .err 'the error has the change of the canary in percent'
  test_match '^warning: canary PING: rps changed: nothing here' .out \
    'the report has a warning about the canary'
done
{ cat quiet; runs new PING 50 50 50; } >new.jsonl
test_status 2 'a canary with too few runs is an error' \
  vkb-compare -v --canary PING base.jsonl new.jsonl
test_match "canary 'PING': too few runs of rps" .err 'the error names the canary with too few runs'
{
  runs base SET 100 100.5 99.5 100
  runs new SET 100 100.2 99.5 100.3
  runs base PONG 50 50.1 49.9 50
  runs new PONG 50.1 50 49.8 50
  runs base PING 50 50.1 49.9 50
  runs new PING 40 40.1 39.9 40
} >four
test_status 1 'with an unchanged canary four runs show a regression' \
  vkb-compare -v -b base --canary PONG four
test_status 2 'four runs show that one of two canaries changed' \
  vkb-compare -v -b base --canary 'P*NG' four
test_match "canary 'PING': rps changed by -20" .err 'the error names the canary that changed'
# PONG is probably slower, which is not sure enough for a claim.
for c in PING PONG PANG; do
  low=0.1
  [ $c != PONG ] || low=2.35
  runs base $c 50 50.9 49.1 50.4
  # shellcheck disable=SC2046 # numbers
  runs new $c $(echo "50.9 50.4 49.1 50" | tr ' ' '\n' | awk '{ print $1 - '$low' }')
done >likely
vkb-compare -b base --canary 'P*NG' -f jsonl:deltas likely
test_same 0 $? 'a canary with a likely change does not refuse the comparison'
test_same 'likely regression' \
  "$(jq -r 'select(.metric and .config.command == "PONG").verdict' deltas)" 'its change is likely'
echo '{"rules":[{"case":"PONG","metric":"rps","waiver":{"reason":"known","expires":"2999-01-01"}}]}' >policy.json
vkb-compare -b base --on-likely fail -f jsonl:deltas likely >/dev/null
test_same 1 $? '--on-likely fail: a likely regression fails'
vkb-compare -b base --on-likely fail --policy policy.json -f jsonl:deltas likely >/dev/null
test_same 0 $? 'a waiver covers a likely regression, too'
test_same '[] known' "$(jq -r 'select(.type == "comparison") | .waivers // [] | tojson' deltas) $(jq -r 'select(.waiver).waiver.reason' deltas)" \
  'such a waiver is not reported as unused'
test_status 2 'a canary that was not measured is an error' \
  vkb-compare -v --canary PING base.jsonl quiet
test_match "canary 'PING': no judged metric" .err 'the error names the canary that was not measured'
test_match '^Not to be relied on: a canary was not measured' .out \
  'the report begins with the canary that was not measured'
test_status 2 'a canary pattern that matches no case is an error' \
  vkb-compare -v --canary 'X*' base.jsonl new.jsonl
test_match "canary 'X\*': no judged metric" .err \
  'the error names the canary pattern without a match'
{ cat quiet; runs new PING 60 60.1 59.9 60; } >new.jsonl
{
  runs base SET 100 100.5 99.5 100
  runs base PING 60 60.1 59.9 60
} >both
for i in 1 2 3; do runs "h$i" PING 50 50.1 49.9 50; done >history.jsonl
test_status 1 'a canary that changed on both sides passes against the baseline' \
  vkb-compare -v --canary PING both new.jsonl
test_status 2 'a canary that changed on both sides fails against the history' \
  vkb-compare -v --canary PING --history history.jsonl both new.jsonl
test_match "rps changed by \\+20\\.0% against its history" .err \
  'the error has the change of the canary against its history'
runs other GET 1 1 1 1 >history.jsonl
test_status 2 'a history without the canary is an error' \
  vkb-compare -v --canary PING --history history.jsonl both new.jsonl
test_match "canary 'PING': too few runs of rps, or of its history" .err \
  'the error names the canary without a history'

# --- several baselines and contenders

{
  runs v1 SET 100 101 99 100
  runs v2 SET 90 91 89 90
  runs mine SET 95 96 94 95
  runs yours SET 100 101 99.5 100
} >all
vkb-compare --baseline v1 --baseline v2 -f jsonl all >out
test_same 1 $? 'two baselines, two contenders'
test_same 'v1 mine regression
v1 yours equivalent
v2 mine improvement
v2 yours improvement' \
  "$(jq -r 'select(.metric) | "\(.baseline.label) \(.contender.label) \(.verdict)"' out |
    sed 's/yours inconclusive/yours equivalent/')" 'each contender is compared with each baseline'
test_same 4 "$(jq 'select(.type == "comparison").rows' out | sort -u)" \
  'the claims are chosen among the results of all comparisons'
vkb-compare --baseline v1 --baseline v1 -f jsonl all | jq -c 'select(.metric)' >twice
vkb-compare --baseline v1 -f jsonl all | jq -c 'select(.metric)' >once
test_same "$(cat once)" "$(cat twice)" 'the same baseline given twice is compared once'
test_status 2 'a baseline that does not exist' \
  vkb-compare -v --baseline v1 --baseline v9 all

# --- --ci: results that are missing fail

runs base SET 10 11 10 11 >base.jsonl
runs base GET 10 11 10 11 >>base.jsonl
runs new SET 10 11 10 11 >new.jsonl
test_that 'a case that is missing' vkb-compare -v base.jsonl new.jsonl
test_status 1 '--ci: it fails' vkb-compare -v --ci base.jsonl new.jsonl
test_that '--ci: --on-missing replaces it' vkb-compare -v --ci --on-missing ok base.jsonl new.jsonl
runs new GET 10 11 10 >>new.jsonl
test_that 'a case with too few runs' vkb-compare -v base.jsonl new.jsonl
test_status 1 '--ci: it fails' vkb-compare -v --ci base.jsonl new.jsonl
test_that '--ci: --on-insufficient replaces it' \
  vkb-compare -v --ci --on-insufficient ok base.jsonl new.jsonl
runs new GET 11 >>new.jsonl
test_that '--ci: nothing is missing' vkb-compare -v --ci base.jsonl new.jsonl
tr '\n' ' ' <.out >first
test_match '[;.] [Ll]ikely regressions do not fail the job \(--on-likely ok\)\. ' first \
  '--ci: the answer says that likely regressions do not fail'
test_that '--ci: likely regressions fail' \
  vkb-compare -v --ci --on-likely fail base.jsonl new.jsonl
tr '\n' ' ' <.out >first
test_match '[;.] [Ll]ikely regressions fail the job \(--on-likely fail\)\. ' first \
  '--ci: the answer says that likely regressions fail'
test_that 'without --ci likely regressions do not fail' vkb-compare -v --on-likely fail base.jsonl new.jsonl
test_empty "$(grep on-likely .out)" 'without --ci the first line does not name likely regressions'
sed 's/"rps":/"p50_latency_ms":1,&/' base.jsonl >more.jsonl
test_that 'a judged metric that is missing' vkb-compare -v more.jsonl new.jsonl
test_status 1 '--ci: it fails' vkb-compare -v --ci more.jsonl new.jsonl
test_that '--ci: a metric that only the contender has does not fail' \
  vkb-compare -v --ci new.jsonl more.jsonl

# --- results of a regression framework: margins with a sign, named baselines

results() { # results LABEL MINUTES GB_PER_S...: prints one file each, as runs
  name=$1
  shift
  while [ $# -gt 0 ]; do
    printf '{"timestamp":"2026-03-02T08:00:00Z","metrics":{"put time":{"name":"put time","value":%s,"unit":"min"},"throughput":{"name":"throughput","value":%s,"unit":"GB/s"}},"metadata":{"build_dir":"/b"}}\n' \
      "$1" "$2" >results.json
    vkb-parse -s "subject.label=$name" -s env.virtual=false results.json
    shift 2
  done
}
{
  results main 1.50 2.0 1.51 2.01 1.49 1.99 1.50 2.0 1.52 2.02
  results release 3.0 1.00 3.1 1.01 2.9 0.99 3.0 1.0 3.05 1.02
  results mine 1.62 1.70 1.63 1.71 1.61 1.69 1.62 1.7 1.64 1.72
} >framework.jsonl
printf '{"rules":[{"metric":"*time*","margin":"+10%%","class":"gate"},{"metric":"throughput*","margin":"-10%%","class":"gate"}]}' >signs.json
test_status 1 'a throughput that is more than 10 % lower' vkb-compare -v --ci \
  --policy signs.json --baseline main --baseline release framework.jsonl
cp .out text
test_same 2 "$(grep -c 'mine against' text)" 'it is compared with both baselines'
vkb-compare --policy signs.json --baseline main --baseline release -f jsonl \
  framework.jsonl >out
test_same 'main put_time_s inconclusive
main throughput_bytes_per_s regression
release put_time_s improvement
release throughput_bytes_per_s improvement' \
  "$(jq -r 'select(.metric) | "\(.baseline.label) \(.metric) \(.verdict)"' out)" \
  'a time 8 % higher is undecided: files may be of two sessions'
test_match 'throughput_bytes_per_s .*\+69\.[0-9]% .*improvement' text 'the text has the speed-up in words'

# --- metrics that are judged without options

# sides FACTOR BOUND MORE_CONFIG METRIC: prints eight runs a side with little noise;
# METRIC of the second side is FACTOR times that of the first
sides() {
  perl -e 'my ($f, $bound, $config, $metric) = @ARGV; srand 3;
    for my $s ("a", "b") { for my $k (1 .. 8) {
      my %m = (rps => 1e5, p50_latency_ms => .4, p99_latency_ms => 1,
        p999_latency_ms => 2, server_cpu_us_per_req => 8, bytes_per_key => 100,
        used_memory_bytes => 1e8);
      $m{$metric} *= $f if $s eq "b";
      $m{$_} *= 1 + .002 * rand for sort keys %m;
      printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"%s},"run":{"session":"s","index":%d,"block":%d},"metrics":{%s},"bound":"%s","status":"ok"}\n),
        $s, $config, $k, $k,
        join(",", map { "\"$_\":$m{$_}" } sort keys %m), $bound } }' "$@"
}
worse() { # worse METRIC FACTOR [BOUND [CONFIG [OPTION...]]]: exits with 1 if this is a regression
  metric=$1 factor=$2 bound=${3-server} config=${4-,\"requests\":1000}
  shift 2
  [ $# -lt 1 ] || shift
  [ $# -lt 1 ] || shift
  sides "$factor" "$bound" "$config" "$metric" >both-sides
  vkb-compare -v --baseline a "$@" -f text:text -f jsonl:deltas both-sides
}
test_status 1 'more CPU time per request' worse server_cpu_us_per_req 1.044
test_match '^- .*server_cpu_us_per_req.* regression' text \
  'more CPU for each request is shown as a regression'
test_same 'Judged: throughput, p50, p99, p99.9, CPU per request, bytes per key.' \
  "$(grep '^Judged: ' text)" 'a line of the report lists the judged metrics'
test_status 1 'more memory per key' worse bytes_per_key 1.16
test_match '^- .*bytes_per_key.* regression' text \
  'more memory per key is printed as a regression'
test_status 1 'a higher p99.9' worse p999_latency_ms 1.5
test_that 'a higher p99.9 within its wide margin is not a regression' worse p999_latency_ms 1.2
test_status 1 'CPU is judged whatever the limit was' worse server_cpu_us_per_req 1.044 client
test_match '^warning: the client was the bottleneck in 1 case$' text 'a warning counts the client-bound cases'
sides 1 server '' rps >both-sides
sides 1 client ',"clients":9' rps | sed '/"label":"a"/s/"client"/"server"/' >>both-sides
vkb-compare -v --baseline a both-sides >text
test_match '^warning: the client was the bottleneck in 1 case$' text \
  'a case with one client-bound side is counted, others are not'
test_that 'CPU is not judged at a fixed rate' \
  worse server_cpu_us_per_req 1.044 server ',"rate":1000'
test_status 1 '--metrics judges CPU nevertheless' \
  worse server_cpu_us_per_req 1.044 server ',"rate":1000' -m server_cpu_us_per_req
# The throughput of one of ten cases is halved in five runs: other metrics with the same
# noise must not make it harder to find.
perl -e 'srand 5; for my $s ("a", "b") { for my $c (1 .. 10) { for my $k (1 .. 5) {
  my $v = 100 * exp(.03 * (rand() + rand() + rand() - 1.5));
  my $rps = $c > 1 || $s eq "a" ? $v : $v / 2;
  printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET","clients":%d},"run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%f,"p50_latency_ms":%f,"p99_latency_ms":%f,"p999_latency_ms":%f},"bound":"server","status":"ok"}\n),
    $s, $c, $k, $k, $rps, $v, $v, $v } } }' >both-sides
changed() { # changed OPTION...: prints verdict, method and probability of the changed row
  vkb-compare --baseline a -f jsonl "$@" both-sides >deltas
  jq -c 'select(.config.clients == 1 and .metric == "rps") |
    [.verdict, .primary, .method, .probability]' deltas
}
all=$(changed)
test_match '^\["regression",true,"rounds",' /dev/stdin 'half the throughput in one of ten cases' <<END
$all
END
test_same 1 "$(jq -r 'select(.verdict == "regression").metric' deltas | grep -c .)" \
  'no other result is a regression'
test_same 40 "$(jq 'select(.type == "comparison").rows' deltas)" \
  'the claims are chosen among all judged results'
test_same "$all" "$(changed -m rps)" 'other metrics do not make it harder to find'
sed 's/"clients"/"rate":1000,"clients"/' both-sides >at-rate
test_same p99_latency_ms "$(vkb-compare --baseline a -f jsonl at-rate |
  jq -r 'select(.primary).metric' | sort -u)" 'with a rate p99 is the primary metric'
echo '{"rules":[{"metric":"server_cpu_us_per_req","class":"info"}]}' >policy.json
test_that 'a policy with class info does not judge CPU' \
  worse server_cpu_us_per_req 1.044 server ',"requests":1000' --policy policy.json

# --- memory that grows with the number of keys

worse used_memory_bytes .8 server ',"duration_s":10' -m used_memory_bytes,rps
test_same '["info","the faster side may have more keys"]' \
  "$(jq -c 'select(.metric == "used_memory_bytes") | [.class, .notes[0]]' deltas)" \
  'memory of loads with a duration that write is not judged'
test_that 'memory per key of loads with a duration is not judged' \
  worse bytes_per_key 1.16 server ',"duration_s":10'
worse used_memory_bytes .8 server ',"requests":10' -m used_memory_bytes,rps
test_same '["gate","improvement"]' \
  "$(jq -c 'select(.metric == "used_memory_bytes") | [.class, .verdict]' deltas)" \
  'memory of a load with a number of requests is judged'
sides .8 server ',"duration_s":10' used_memory_bytes | sed 's/"SET"/"GET"/' >both-sides
vkb-compare --baseline a -m used_memory_bytes,rps -f jsonl both-sides >deltas
test_same gate "$(jq -r 'select(.metric == "used_memory_bytes").class' deltas)" \
  'memory of a load that only reads is judged'

test_done
