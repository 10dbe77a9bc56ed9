#!/bin/sh
# Sides that share no session: what all cases have in common may come from the machine,
# and each case is judged by its change relative to the others.
. "${0%/*}/lib.sh"

# report SIDES [EFFECT] [VIRTUAL] [CASES]: prints six runs of each case and side. SIDES
# are LABEL:SESSION,...; EFFECT is added to the logarithms in the sessions of "new";
# case 3 of "new" also is 8 % lower.
report() {
  perl -e 'srand 5;
    sub normal { my $s = -6; $s += rand for 1 .. 12; $s }
    my ($sides, $effect, $virtual, $cases) = @ARGV;
    for my $side (split /,/, $sides) {
      my ($label, $session) = split /:/, $side;
      my $e = ($label eq "new" ? $effect : 0) + .005 * normal();
      for my $c (1 .. $cases) { for my $k (1 .. 6) {
        my $v = 1e5 * exp($e + .01 * normal() + ($label eq "new" && $c == 3 ? -.08 : 0));
        printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"C%d","clients":50,"pipeline":%d},"run":{"session":"%s","index":%d,"block":%d},"env":{"virtual":%s},"metrics":{"rps":%.2f},"status":"ok"}\n),
          $label, $c, $c > 4 ? 10 : 1, $session, $k, $k, $virtual, $v } } }' \
    "$1" "${2:-0}" "${3:-true}" "${4:-8}"
}
# headline: keeps the sentences of the report, of which the text breaks the lines
headline() { jq -r 'select(.type == "comparison").headline' deltas >said; }
# judge: compares the runs in 'runs', and keeps text and records
judge() {
  vkb-compare -v --baseline base -f text:text -f jsonl:deltas runs
}
# rows FIELD: prints command, verdict and FIELD of each delta that is not inconclusive
rows() {
  jq -r 'select(.metric and .verdict != "inconclusive") |
    "\(.config.command) \(.verdict) \('"$1"')"' deltas
}

report base:a,new:b -.05 >runs
test_status 1 'one of eight cases is slower, in another session' judge
test_same 'C3 regression [6,6]' "$(rows .n)" \
  'only the case that changed is a regression'
test_same true "$(jq 'select(.rest and .config.command == "C3").rest |
  .ratio > 0.9 and .ratio < 0.94 and .ci95[0] > 0.89 and .ci95[1] < 0.96' deltas)" \
  'its change relative to the other cases has a narrow interval'
test_same true "$(jq -s 'map(select(.rest and .config.command == "C3"))[0].ci95 |
  .[0] < 0.8 and .[1] > 0.95' deltas)" 'its whole change has a wide interval'
test_same true "$(jq -c 'select(.config.command == "C3") |
  .probability > .95 and .probability < 1' deltas)" 'it is probable, and not certain'
test_same '[1,1] 0.03' "$(jq -r 'select(.type == "comparison") | "\(.sessions | tojson) \(.session_sd)"' deltas)" \
  'on a virtual machine a session is assumed to differ by 3 %'
test_same 'all cases [8,8] true {"clients":50,"command":"all cases"}' \
  "$(jq -r 'select(.common) | "\(.config.command) \(.n | tojson) \(.common) \(.config | tojson)"' deltas)" \
  'the common change of all cases has a row, with the common settings'
headline
test_match '^Worse: C3 \([78]\.[0-9]% slower relative to the other cases\)\. Undecided: [CA-Z0-9, ]* and 3 more \(sessions differ\)\. All cases moved by -[0-9.]+% \[.*\] together, which may be the machine; measured in different sessions, allowing 3% between sessions \(virtual machine\), so only changes of all cases together above [0-9]+% could be seen; vkb-ab and vkb-load --again measure both sides interleaved\.$' \
  said 'the answer gives the smallest visible change and what to do'
test_match '^- +C3 .* regression +-[78]\.[0-9]% \[.*\] relative to the other cases' text \
  'the row has the change relative to the other cases'
test_match '^\? +all cases .*what the 8 cases have in common; may be the machine' text \
  'the note of the common row explains it'
test_match 'Not paired: the sides did not run in the same rounds; intervals allow for different sessions, allowing 3% between sessions \(virtual machine\); 9 results were judged together, so that few of the claimed changes are false\.' \
  text 'the method has the assumption'
test_empty "$(jq -r 'select(.type == "comparison").overall.rps.ci95 | values' deltas)" \
  'the mean of all cases has no interval, since that would ignore the sessions'

# vkb-load records no rounds if it measures one build.
cp runs rounds
cases() {
  jq -c 'select(.type == "delta" and (.common | not)) |
    [.config.command, (.ratio * 1e6 | round), .verdict]' deltas
}
cases >want
sed 's/,"block":[0-9]*//' rounds >runs
test_status 1 'two sessions without rounds' judge
test_same "$(cat want)" "$(cases)" \
  'the result is the same'
report base:a,base:c,new:b,new:d -.05 | sed 's/,"block":[0-9]*//' >runs
judge >/dev/null
test_same '[2,2]' "$(jq -c 'select(.type == "comparison").sessions' deltas)" \
  'several sessions without rounds are recognized'
sed 's/"session":"."/"session":"s"/' rounds | sed 's/,"block":[0-9]*//' >runs
judge >/dev/null
test_same '[1,1] false' "$(jq -c 'select(.type == "comparison").sessions' deltas) $(
  jq -r 'select(.type == "delta").paired' deltas | sort -u)" \
  'each side of a session without rounds counts as a session of its own'
test_same "$(cat want)" "$(cases)" 'the result is that of two sessions'
test_match 'easured one side after the other, allowing 3% between sessions' text \
  'the report says that they were not interleaved'

report base:a,new:b -.4 >runs
test_status 1 'all cases a third lower' judge
test_match '^all cases regression' /dev/stdin 'the common change is a regression: no session explains it' <<END
$(rows .n)
END
test_same 'regression 7' "$(jq -r 'select(.metric and (.common | not) and
    .config.command != "C3").verdict' deltas | sort | uniq -c | awk '{ print $2, $1 }')" \
  'so is each case: no session explains it'
headline
test_match '^Worse: all cases together \(33\.[0-9]% slower\), C3 \(3[78]\.[0-9]% slower\), C6 .* and 4 more\.' \
  said 'the answer has the common change'
report base:a,new:b 0 false >runs
judge >/dev/null 2>&1
test_same '0.01 default' "$(jq -r 'select(.type == "comparison") | "\(.session_sd) \(.session_from)"' deltas)" \
  'on a machine that is not virtual a session is assumed to differ by 1 %'
test_match 'allowing 1% between sessions \(bare metal\)' text 'the report has this assumption'
report base:a,new:b 0 true 2 >runs
test_that 'of two cases nothing is common' judge
test_same null "$(jq -c 'select(.metric).rest' deltas | sort -u)" \
  'without it there is no change relative to the others'
test_same true "$(jq -s 'map(select(.metric)) | length == 2 and
  all(.ci95[1] / .ci95[0] > 1.2)' deltas)" 'their intervals allow for the session'

# --- a reference that was measured beside each run

# beside HASH HASH: gives the runs of each side the ratios to a reference; the session of
# "new" has half of the speed and takes twice the CPU time
beside() {
  report base:a,new:b -.7 | jq -c --arg base "$1" --arg new "$2" '
    .metrics.rps_ratio = .metrics.rps / (1e5 * (if .subject.label == "new" then -.7 | exp else 1 end)) |
    .metrics.cpu_ratio = 1 / .metrics.rps_ratio |
    .metrics.server_cpu_us_per_req = 1e6 / .metrics.rps | .metrics.p50_latency_ms = 5e6 / .metrics.rps |
    .metrics.p50_latency_ratio = 1 / .metrics.rps_ratio |
    .env.reference_version = "8.0.1" |
    .env.reference_sha256 = (if .subject.label == "new" then $new else $base end)' >runs
}
beside 0123456789abcdef 0123456789abcdef
test_status 1 'a session at half of the speed, with ratios to one reference' judge
test_same 'C3 regression cpu_ratio
C3 regression p50_latency_ratio
C3 regression rps_ratio' "$(rows .metric | grep _ratio | grep -v equivalent | sort)" \
  'only the case whose ratios changed is a regression'
jq -c '.metrics.foreign_cpu_percent = (if .subject.label == "new" then 90 else 0 end)' runs >busy
mv runs calm && mv busy runs
judge
test_same '5 15' "$(jq -r -s 'map(select(.metric == ("cpu_ratio", "rps_ratio"))) | group_by(.metric)[] |
  .[0].ci95 | .[1] / .[0] | log * 10 | round' deltas | xargs)" \
  'where others used 90 % of the CPU in one session only, their intervals are four and twelve times as wide'
mv calm runs
judge
test_same 'cpu_ratio p50_latency_ratio rps_ratio' "$(jq -r 'select(.class == "gate").metric' deltas | sort -u | xargs)" \
  'throughput, CPU time and latencies themselves are not judged'
test_same rps_ratio "$(jq -r 'select(.primary).metric' deltas | sort -u)" \
  'a case is judged first by the ratio of its throughput'
test_match 'Throughput, CPU per request and latencies are compared as ratios to the reference server, version 8\.0\.1 \(SHA-256 0123456789ab\)\.' \
  text 'a sentence names the reference'
test_match 'allowing 1\.5% between sessions \(ratios to a reference\)' text \
  'sessions of ratios are assumed to differ by less'
vkb-compare --baseline base runs >brief
test_match '^-  C3 .* 7\.[0-9]% slower .* worse' brief 'the table has the case'
test_match ' p50 ' brief 'and the column of p50'
echo '{"rules":[{"metric":"p50_latency_ms","class":"info"},{"metric":"rps","margin":"50%"},{"metric":"server_cpu*","margin":"50%"}]}' >policy.json
test_that 'what a policy says of a metric holds for its ratio' vkb-compare --baseline base --policy policy.json runs
test_absent 'had no effect' .err 'each rule has an effect'
test_that 'so does --margin' vkb-compare --baseline base -m p50_latency_ms --margin p50_latency_ms=50% runs
test_match '=  C3' .out 'the case lies within it'
test_status 1 '--metrics with the name of a metric judges its ratio' vkb-compare --baseline base -m p50_latency_ms runs
cp runs whole
jq -c 'if .subject.label == "base" then del(.metrics.p50_latency_ratio) else . end' whole >runs
test_status 1 'a baseline from before there was the ratio' vkb-compare --baseline base -m p50_latency_ms -f jsonl:deltas runs
test_same 'p50_latency_ms gate' "$(jq -r 'select(.metric) | "\(.metric) \(.class)"' deltas | sort -u)" 'the latency itself is judged'
vkb-compare --baseline base runs >text
test_match '^Throughput and CPU per request are compared as ratios to the' text 'the sentence says what is compared'
jq -c '(if .subject.label == "new" and .run.index % 3 != 0 then .039 else .031 end) as $p50 |
  .metrics.p50_latency_ms = $p50 | .metrics.p50_latency_ratio = $p50 / .031' whole >runs
vkb-compare --baseline base -m p50_latency_ms runs >text
test_match '^[?] +C1 .* undecided$' text 'a ratio that changed by one step of the clock is undecided'
mv whole runs
test_match '^Throughput, CPU per request and latencies are compared as ratios to the' brief \
  'the brief report has the sentence, too'
# not_compared WHAT: 'runs' are judged by themselves, also where the ratios are named
not_compared() {
  vkb-compare -v --baseline base --metrics all -f text:text -f jsonl:deltas runs >/dev/null 2>&1
  test_same 'p50_latency_ms rps server_cpu_us_per_req' "$(jq -r 'select(.metric).metric' deltas | sort -u | xargs)" "$1"
}
beside 0123456789abcdef fedcba9876543210
cp runs different
not_compared 'ratios to different references are not compared'
test_match '^warning: the baseline was measured beside a reference server of version 8\.0\.1 \(SHA-256 0123456789ab\), the contender beside one of version 8\.0\.1 \(SHA-256 fedcba987654\): ratios to them are not compared$' \
  text 'a warning says so'
test_absent 'environment differs: reference' text 'no line on the environment repeats it'
jq -c 'del(.env.reference_sha256)' different >runs
not_compared 'ratios to unknown references are not compared'
jq -c 'if .subject.label == "base" and .run.index > 3 then . else .env.reference_sha256 = "fedcba9876543210" end' \
  different >runs
not_compared 'ratios to two references on a side are not compared'
test_match 'beside a reference server of a version that is not the same in all runs, the contender' text \
  'the warning says that a side has two'
for some in '.subject.label == "base" and .run.index < 4' '.subject.label == "base" and .run.index > 3' \
  '.subject.label == "new"'; do
  jq -c "select($some) | if .subject.label == \"new\" then .env.reference_sha256 = \"0123456789abcdef\" else . end" runs | vkb-stats
done >summaries
mv summaries runs
not_compared 'nor are those of two summaries'
jq -c 'if .subject.label == "base" then del(.metrics["rps_ratio", "cpu_ratio", "p50_latency_ratio"]) else . end' different >runs
not_compared 'where one side has a reference, the values themselves are compared'
test_absent 'reference' text 'and there is no word of a reference'
beside 0123456789abcdef 0123456789abcdef
jq -c '.run.session = "s"' runs >same && mv same runs
judge >/dev/null
test_same 'p50_latency_ms rps server_cpu_us_per_req' "$(jq -r 'select(.class == "gate").metric' deltas | sort -u | xargs)" \
  'within one session throughput itself is compared'
test_absent 'reference' text 'and there is no word of a reference'

report base:a,base:b,base:c,base:d,base:e,new:f -.05 >runs
test_status 1 'a baseline with five sessions' judge
test_same '[5,1] null' "$(jq -r 'select(.type == "comparison") | "\(.sessions | tojson) \(.session_sd)"' deltas)" \
  'the differences between sessions are measured'
test_match '^all cases regression' /dev/stdin 'with five sessions a common change of 5 % is found' <<END
$(rows .n)
END
test_match '^C3 regression' /dev/stdin 'the case that changed more is found' <<END
$(rows .n)
END
test_match 'intervals allow for different sessions, whose differences were measured in 5 of them' text 'the method says that the effect of sessions was measured'

# latency FACTOR: multiplies the p99 latency of "new"
latency() {
  jq -c --argjson by "$1" '.metrics.p99_latency_ms = 1e5 / .metrics.rps *
    (if .subject.label == "new" then $by else 1 end)' runs >with && mv with runs
}
for base in base:a base:a,base:b,base:c,base:d,base:e; do
  report $base,new:f 0 true | jq -c 'select(.config.command != "C3")' >runs
  latency 2
  test_status 1 "p99 of all cases doubled, against $base" judge
  test_same 'all cases p99_latency_ms' "$(jq -r 'select(.verdict == "regression" and .common) |
    "\(.config.command) \(.metric)"' deltas)" 'the common change of p99 is a regression'
  test_same 'regression' "$(jq -r 'select(.metric == "p99_latency_ms" and
    (.common | not)).verdict' deltas | sort -u)" 'and no case reads as unclear'
done
report base:a,base:b,base:c,base:d,base:e,new:f -.05 | jq -c 'select(.config.command != "C3")' >runs
test_that '5 % less in all cases is within a margin of 10 %' \
  vkb-compare -v --baseline base --margin 10% -f text:text -f jsonl:deltas runs
test_same '0.1 equivalent' "$(jq -r 'select(.common) | "\(.margin) \(.verdict)"' deltas)" \
  'the common change has this margin, too'
echo '{"rules":[{"metric":"rps","waiver":{"reason":"wanted","expires":"2999-01-01"}}]}' >policy
test_that 'a waiver for all cases covers the common change' \
  vkb-compare -v --baseline base --policy policy -f text:text -f jsonl:deltas runs
test_match 'all cases .* regression, waived until 2999-01-01: wanted' text 'the report has the waiver'

report base:a,new:a -.05 >runs
judge >/dev/null 2>&1
test_same 'null null' "$(jq -r 'select(.type == "comparison") | "\(.sessions) \(.session_sd)"' deltas)" \
  'sides that share a session need no effect of sessions'
report base:a,new:b -.05 >runs
sed 's/"session":"[ab]",//' runs >unnamed
vkb-compare -v --baseline base -f text:text -f jsonl:deltas unnamed
test_same '[1,1] 0.03' "$(jq -r 'select(.type == "comparison") | "\(.sessions) \(.session_sd)"' deltas)" \
  'runs without a session are of one for each side'
test_match 'No sessions recorded: each side counts as one of its own\.' text \
  'the method says that runs have no session'
test_same 1 "$(grep -c 'No sessions recorded' text)" 'the sentence is printed once'
sed 's/,"block":[0-9]*//' runs >without-blocks
vkb-compare --baseline base -f jsonl without-blocks >deltas
test_same '[1,1]' "$(jq -c 'select(.type == "comparison").sessions' deltas)" \
  'runs without a block have a session'

perl -pe 's/"rps":/sprintf q("bytes_per_key":%.2f,"rps":), 50 + rand/e' runs >memory
vkb-compare --baseline base --explain C1 memory >explained
test_same 2 "$(grep -c '^  sessions   1 and 1, none shared, allowing .*% between sessions ' explained)" \
  '--explain has the sessions of both metrics'
test_match 'allowing 3% between sessions \(virtual machine\)$' explained \
  'throughput has the assumption for this machine'
test_match 'allowing 0.2% between sessions \(memory\)$' explained \
  'memory has an assumption of its own'

# --- how much sessions differ: by the policy, the history, or an assumption

# from SOURCE: compares the standard deviation, to six digits, and its source
from() {
  test_same "$1" "$(jq -r 'select(.type == "comparison") |
    "\(.session_sd * 1e6 | round / 1e6) \(.session_from)"' deltas)" "$2"
}
# with HISTORY RUNS SOURCE TEXT: a comparison with this history has the value from
# SOURCE
with() {
  vkb-compare --baseline base --history "$1" -f jsonl:deltas "$2" >/dev/null
  from "$3" "$4"
}
# sessions: prints the standard deviation between the means of sessions, over all
# cases, of the runs on stdin
sessions() {
  jq -rs 'def mean: add / length;
    [group_by(.config.command)[] |
      [group_by(.run.session)[] | map(.metrics.rps | log) | mean] |
      (add / length) as $mean | {squares: (map(. - $mean | . * .) | add), df: (length - 1)}] |
    (map(.squares) | add) / (map(.df) | add) | sqrt * 1e6 | round / 1e6'
}
echo '{"rules":[{"metric":"rps","session":{"sd":"0.5%","df":9}}]}' >policy
test_status 1 'a policy with the standard deviation of sessions' \
  vkb-compare -v --baseline base --policy policy -f text:text -f jsonl:deltas runs
from '0.005 policy' 'its value is used'
test_match '^all cases regression' /dev/stdin 'with it a common change of 5 % is found' <<END
$(rows .n)
END
headline
test_match 'different sessions, which differ by 0.5% according to the policy; vkb-ab and vkb-load --again measure both sides interleaved\.$' \
  said 'the answer has the source of the value'

report old:o1,old:o2,old:o3,old:o4 >history
test_status 1 'a history with four sessions of a build' \
  vkb-compare -v --baseline base --history history -f text:text -f jsonl:deltas runs
from "$(sessions <history) history" 'the value is computed from them'
test_match 'which differ by [0-9.]+% according to the history' text 'the first line has the source'
vkb-compare --baseline base --history history --policy policy -f jsonl:deltas runs >/dev/null
from '0.005 policy' 'the policy comes before the history'
jq -c '.run.session |= {o1: "o1", o2: "o1", o3: "o2", o4: "o2"}[.]' history >two
with two runs '0.03 default' 'two sessions are too few'
jq -c '.subject.label = .run.session' history >builds
with builds runs '0.03 default' 'sessions of different builds do not count'
jq -c '.env.host = "h1"' history >elsewhere
with elsewhere runs '0.03 default' 'sessions of another machine do not count'
jq -c '.env.host = "h1"' runs >here
with elsewhere here "$(sessions <history) history" 'sessions of the same machine count'
vkb-compare --calibrate 4 -f text:text -f policy:policy history
test_same "$(sessions <history) 3" "$(jq -r '.rules[] | select(.session) |
  "\(.session.sd[:-1] | tonumber / 100) \(.session.df)"' policy | sed "s/^[^ ]*/$(sessions <history)/")" \
  'the policy of a calibration has the degrees of freedom of its sessions'
test_same 1 "$(jq -r --argjson want "$(sessions <history)" '.rules[] | select(.session) |
  .session.sd[:-1] | tonumber / 100 - $want | if . >= 0 and . < 1.01e-4 then 1 else . end' policy)" \
  'it has their standard deviation, rounded up'
test_match '^rps: the means of 4 sessions differ by [0-9.]+% \(standard deviation\)\.$' text \
  'the report of the calibration has it, too'
test_status 1 'a comparison with this policy' \
  vkb-compare --baseline base --policy policy -f jsonl:deltas runs
test_same policy "$(jq -r 'select(.type == "comparison").session_from' deltas)" 'its value is used'
vkb-compare --calibrate 4 -f text:text -f policy:policy two
test_same 0 "$(jq '[.rules[] | select(.session)] | length' policy)" \
  'two sessions are too few for a value'
test_match '^How much sessions differ is not known: runs of 3 or more named sessions show it\.$' text \
  'the report says how many sessions are needed'

# --- metrics without noise have no effect of sessions

exact='{"rules":[{"metric":"size_bytes","class":"gate","assume":"exact","margin":"0.5%"}]}'
echo "$exact" >policy
report base:a,new:b >runs
jq -c '.metrics.size_bytes = (if .subject.label == "new" and .config.command == "C2" then 101
  else 100 end)' runs >sizes
test_status 1 'one of eight sizes differs, in another session' \
  vkb-compare -v --baseline base --policy policy -f jsonl:deltas -f text:text sizes
test_same 'regression [1.01,1.01]' "$(jq -r 'select(.metric == "size_bytes" and
  .config.command == "C2") | "\(.verdict) \(.ci95 | tojson)"' deltas)" \
  'it is a regression, without an effect of sessions'
test_same equivalent "$(jq -r 'select(.metric == "size_bytes" and .config.command != "C2").verdict' \
  deltas | sort -u)" 'the other sizes are equivalent'
test_same 'rps' "$(jq -r 'select(.common).metric' deltas)" \
  'only throughput has a common change'
test_same 0 "$(jq -s 'map(select(.metric == "size_bytes" and .rest)) | length' deltas)" \
  'sizes are not compared relative to others'
jq -c '.metrics |= {size_bytes}' sizes >only
vkb-compare -v --baseline base --policy policy -f jsonl:deltas -f text:text only
test_same 'null null' "$(jq -r 'select(.type == "comparison") | "\(.session_sd) \(.session_from)"' deltas)" \
  'without metrics with noise nothing is assumed about sessions'
test_same 0 "$(grep -c 'different sessions' text)" 'the report does not mention sessions then'

# --- sessions of each case

# side LABEL SESSION CASE LEVEL [METRIC [MORE]]: prints six runs of one case and
# session; MORE is further metrics or, after a brace, other members of the run
side() {
  awk -v label="$1" -v session="$2" -v name="$3" -v level="$4" \
    -v metric="${5:-rps}" -v more="${6:-}" 'BEGIN {
      for (k = 1; k <= 6; k++)
        printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"%s\",\"requests\":100},\"run\":{\"session\":\"%s\",\"index\":%d},\"env\":{\"virtual\":true},\"status\":\"ok\",\"metrics\":{\"%s\":%.3f%s}}\n", \
          label, name, session, k, metric, level * (1 + .002 * (k * 5 % 7 - 3)), more }'
}
more=
# five LEVEL...: prints baseline sessions a to e with these levels of C1 to C5, and
# $more
five() {
  for session in a b c d e; do
    n=0
    for level; do
      n=$((n + 1))
      side base $session C$n "$(echo "$session $level" |
        awk '{ print $2 * (1 + .003 * (index("abcde", $1) * 2 % 5 - 2)) }')" rps "$more"
    done
  done
}
judge_all() { vkb-compare -v --baseline base -f text:text -f jsonl:deltas runs >/dev/null; }

{ five 1e5; side new x C1 1e5
  for label in base new; do
    side $label count-$label C1 4600 instructions_per_req | sed 's/4[5-6][0-9.]*}/4600}/'
  done; } >runs
test_that 'sessions of counted runs do not count for other metrics' judge_all
test_same '[5,1] equivalent equivalent' "$(jq -rs '"\(map(.sessions | values)[0] | tojson) \(
  map(.verdict | values) | join(" "))"' deltas)" 'no change is found'
{ i=0; for level in 101000 98000 103000 97000 100000; do
    i=$((i + 1)); side base b$i C$i 100000; side new n$i C$i $level
  done; } >runs
test_that 'five cases, each with a session of its own' judge_all
test_same '[1,1] default' "$(jq -r 'select(.type == "comparison") | "\(.sessions | tojson) \(.session_from)"' deltas)" \
  'these are not five sessions of one case'
{ side base a C1 100000 rps ',"p50_latency_ms":0.111'
  side new b C1 99000 rps ',"p50_latency_ms":0.119'; } >runs
test_that 'a latency that rises by one step of a coarse clock' judge_all
test_same 'sessions inconclusive' "$(jq -r 'select(.metric == "p50_latency_ms") |
  "\(.method) \(.verdict)"' deltas)" 'which a session may do, too'
{ five 1e5 1e5 1e5 1e5 1e5; side new x C1 50000
  for c in 2 3 4 5; do side new x C$c 100000; done; } >runs
test_status 1 'one of five cases with half the throughput' judge_all
test_same 'C1 regression' "$(jq -r 'select(.metric and
  (.verdict | test("regression|improvement"))) | "\(.config.command) \(.verdict)"' deltas)" \
  'the other cases are not improvements, and the common change is not a regression'
test_match '^Worse: C1 \([45][0-9.]+% slower\)\.' text 'the first line names this case'
{ for c in 1 2 3 4 5 6 7 8 9 10; do
    side base a C$c 100000
    side new x C$c "$(test $c -gt 8 && echo 100000 || echo 92000)"
  done; } >runs
test_that 'eight of ten cases that are 8 % lower' judge_all
test_same 0 "$(jq -s 'map(select(.verdict and (.verdict | test("improvement")))) | length' deltas)" \
  'the two others are not improvements'
{ side base a C1 100000; side new x C1 96000
  for label in base new; do
    side $label shared C1 4600 instructions_per_req | sed 's/4[5-6][0-9.]*}/4600}/'
  done; } >runs
test_that 'sides that share a session of counted runs only' judge_all
test_same '[1,1] default' "$(jq -r 'select(.type == "comparison") | "\(.sessions | tojson) \(.session_from)"' deltas)" \
  'they do not share a session of measured runs'
{ side base a C1 100 bytes_per_key; side new x C1 105 bytes_per_key; } >runs
test_status 1 '5 % more memory in another session' judge_all
headline
test_match '^Worse: C1 \(bytes per key .* allowing 0.2% between sessions \(memory\);' said \
  'it is a regression, since sessions differ little in memory'
{ side base a C1 100000 | head -n 1; side new b C1 90000 | head -n 1; } >runs
vkb-compare -v --baseline base -f text:text runs >/dev/null 2>&1
test_same 0 "$(grep -c 'effect of sessions, measured' text)" \
  'one run a side cannot measure the effect of sessions'

# --- other programs on the machine

# busy PERCENT: prints five calm sessions of the baseline, and a contender that is 30 %
# slower
busy() {
  more=',"foreign_cpu_percent":1'
  five 100000
  side new x C1 70000 rps ',"foreign_cpu_percent":'"$1"
}
busy 40 >runs
test_that '30 % less throughput while other programs run' judge_all
headline
test_match '^Undecided: C1 \(sessions differ\)\. Other processes used 1% of the CPU during the baseline and 40% during the contender' said \
  'the answer has the CPU shares of other programs'
test_match 'other processes used 1% of the CPU during the baseline and 40% during the contender: the interval is wider \(1 case\)' text \
  'a warning has them, too'
busy 1 >runs
test_status 1 '30 % less throughput without other programs' judge_all
test_match 'intervals allow for different sessions, whose differences were measured in 5 of them' text 'the effect of sessions was measured'
test_same 0 "$(grep -c 'other programs' text)" 'the report does not mention other programs'

# Others leave a fifth of the CPUs to both sides: who gets it is chance.
{
  side base a C1 100000 rps ',"foreign_cpu_percent":80'
  side base a C2 100000 rps ',"foreign_cpu_percent":80'
  side base a C3 100000 rps ',"foreign_cpu_percent":80'
  side new x C1 48000 rps ',"foreign_cpu_percent":80'
  side new x C2 39000 rps ',"foreign_cpu_percent":80'
  side new x C3 60000 rps ',"foreign_cpu_percent":80'
} >runs
test_that 'half of the throughput while others use most of the CPUs' judge_all
headline
test_match '^Undecided: all 3 cases .*used 80% of the CPU during the baseline and 80% during the contender' said \
  'the shares are named though they are equal'
sed 's/,"foreign_cpu_percent":80//' runs >calm
mv calm runs
test_status 1 'half of the throughput without other programs' judge_all

# --- results of another program: what measured them is not known

mkdir old new
printf 'BenchmarkSort-2 1000 %s ns/op\n' 401 403 402 404 | vkb-parse >old/results.json
printf 'BenchmarkSort-2 1000 %s ns/op\n' 407 406 402 405 | vkb-parse >new/results.json
vkb-compare old/results.json new/results.json -f text:text -f jsonl:deltas
test_match '^Comparing new/results against old/results$' text 'files name their results, which do not'
test_same new/results "$(jq -r 'select(.type == "comparison").contender.label' deltas)" 'the records have the names'
vkb-compare --deltas deltas >again
test_that 'and give the same report' cmp text again
test_match 'allowing 2% between sessions \(perhaps a virtual' text 'no machine is named, so none is assumed to be quiet'
test_match 'vkb-run measures both' text 'the advice is not about servers'
vkb-compare old/results.json <new/results.json >text
test_match '^Comparing stdin against results$' text 'stdin has its name'
vkb-compare /dev/fd/3 /dev/fd/4 3<old/results.json 4<new/results.json >text
test_match '^Comparing contender against baseline$' text 'two pipes are told apart'
odd=$(printf 'new\377results')
cp new/results.json "$odd"
vkb-compare old/results.json "$odd" -f jsonl:deltas -f text:text
test_match '^Comparing new.xffresults against results$' text 'a name that is not UTF-8 is shown'
test_same "$(printf 'new\357\277\275results')" "$(iconv -f utf-8 -t utf-8 deltas |
  jq -r 'select(.type == "comparison").contender.label')" 'and is UTF-8 in the records'
cp new/results.json third.json
vkb-compare old/results.json new/results.json third.json >text
test_match '^Comparing 2 files against results$' text 'several files are one contender'
for v in false '"no"' true; do
  jq -c ".env.virtual = $v" old/results.json >quiet.json
  vkb-compare quiet.json new/results.json >"text.$v"
  jq -c ".env.virtual = $v" new/results.json >calm.json
  vkb-compare quiet.json calm.json >"both.$v"
done
test_match 'allowing 2% between sessions \(perhaps' text.false 'one side alone does not tell'
test_match 'allowing 1% between sessions \(bare' both.false 'both sides are not of a virtual machine'
test_match 'allowing 2% between sessions \(perhaps' 'both."no"' 'what is neither true nor false is not known'
test_match 'allowing 3% between sessions \(virtual' text.true 'one virtual machine is enough'

# --- one session has both sides, one after the other

two() { # MEMBER: 6 runs of each, in one session
  awk -v member="$1" 'BEGIN { for (i = 1; i <= 12; i++) printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"C\"},\"run\":{\"session\":\"s\",\"index\":%d%s},\"env\":{\"virtual\":true},\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n",
    i < 7 ? "old" : "new", i, member ? ",\"block\":" i : "", (i < 7 ? 1000 : 970) + i % 3 }'
}
two block >blocks
two '' >plain
for x in blocks plain; do vkb-compare --baseline old -f jsonl $x | jq -c 'select(.metric) | [.verdict, .method, .ci95]' >$x.out; done
test_match 'inconclusive","sessions' blocks.out 'without a block of both sides they are two sessions'
test_same "$(cat plain.out)" "$(cat blocks.out)" 'as without blocks'

# --- the records give the same report, and a page

report base:a,new:b -.05 >runs
vkb-compare --baseline base -f markdown:direct.md -f jsonl:deltas runs >/dev/null
test_that 'vkb-compare --deltas with the records' vkb-compare --deltas -f markdown:again.md deltas
test_that 'the report is the same' cmp direct.md again.md
test_that 'vkb-report with the records' vkb-report -o page.html deltas runs
test_match 'all cases' page.html 'the page has the common row'
test_match '9 results were judged together, so that few of the claimed changes are false' page.html 'the page has the rule'
{ side base a C1 100000 | head -n 1; side new a C1 90000 | head -n 1; } |
  jq -c ".run.block = 1" >runs
vkb-compare -v --baseline base --on-insufficient ok -f text:text -f jsonl:deltas runs
headline
test_match ' 3 more runs are needed to judge 1 result\.$' said \
  'the report says how many runs are missing to judge a result'
test_match 'Not paired: the sides share only 1 round, too few to pair them' text \
  'the method is the same'
vkb-report -o page.html deltas runs
test_match '3 more runs are needed to judge 1 result\.' page.html 'the page says the same'
test_absent 'would decide' page.html 'the page does not say what would decide'
test_done
