#!/bin/sh
# vkb-compare: verdicts and exit statuses, pairing, formats, hostile input.
. "${0%/*}/lib.sh"

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl

# runs LABEL COMMAND SESSION VALUE...: prints run records, one block after the other
runs() {
  label=$1 command=$2 session=$3 block=0
  shift 3
  for v; do
    block=$((block + 1))
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s"},"run":{"session":"%s","index":%d,"block":%d},"env":{"kernel":"6.1","virtual":false},"metrics":{"rps":%s},"status":"ok"}\n' \
      "$label" "$command" "$session" "$block" "$block" "$v"
  done
}

# deltas [OPTION...]: compares base and new; prints "verdict ratio method paired" for
# each delta
deltas() {
  vkb-compare -f jsonl "$@" base new >deltas
  echo "exit $?"
  jq -r 'select(.type == "delta") |
    "\(.verdict) \(.ratio // "none") \(.method)"' deltas
}

# --- exit status and properties

test_status 1 'a regression is exit 1' vkb-compare -v "$a" "$b"
test_match 'SET +rps .* -6\.2% \[-6\.7, -5\.7\] +regression$' \
  .out 'the regression is in the report'
test_match '^Paired by round' .out 'interleaved rounds are paired'
for n in 1 2; do
  { cat "$a"; jq -c "select(.config == $(jq .config "$a" | jq -s -c ".[0]"))" "$a" | sed -n "1,${n}p" |
    jq -c ".run.block += 100 | .run.index += 100"; } >lone
  vkb-compare -v lone "$b" >"lone$n"
done
test_match ' 1 run without a partner left out' lone1 'the report counts one run without a partner'
test_match ' 2 runs without a partner left out' lone2 'the report counts two runs without a partner'
vkb-compare -v "$a" "$b" >first
test_status 1 'the same comparison has the same status again' vkb-compare -v "$a" "$b"
vkb-compare -f jsonl "$a" "$b" >runs95
test_same "$(cat first)" "$(cat .out)" 'the same comparison has the same bytes again'
test_same true "$(jq -r 'select(.type == "comparison").overall.rps |
  .ci95[0] < .ratio and .ratio < .ci95[1]' runs95)" \
  'the mean of all cases lies in its interval'
jq -c 'select(.config.command == "SET" or .run.index <= 4)' "$b" >four
vkb-compare -f jsonl "$a" four | jq 'select(.type == "comparison").overall.rps.ci95' >runs95
test_same 2 "$(jq length runs95)" 'four runs a side have a ci95'
jq -c 'select(.config.command == "SET" or .run.index <= 1)' "$b" >one
vkb-compare -f jsonl "$a" one | jq 'select(.type == "comparison").overall.rps.ci95' >runs95
test_same null "$(cat runs95)" 'there is no ci95 if a case has one run'
# Two skewed cases: their geometric mean is far from the ratio of medians.
awk 'BEGIN { for (c = 1; c <= 2; c++) for (i = 0; i < 24; i++)
  printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"C%d\"},\"run\":{\"session\":\"s\",\"index\":%d,\"block\":%d},\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n",
    i % 2 ? "y" : "x", c, i, i < 2 ? 0 : i, (i % 2 && i % 8 > 2 ? 2000 + i : 1000 + c * i) }' >skewed
vkb-compare -f jsonl --baseline x skewed | jq 'select(.type == "comparison").overall.rps |
  .ci95[0] < .ratio and .ratio < .ci95[1]' >runs95
test_same true "$(cat runs95)" 'an interval contains its own estimate even if the medians do not lie in it'
vkb-stats "$b" | vkb-compare -v "$a" >second
test_same "$(cat first)" "$(cat second)" 'summaries on stdin are the same'
vkb-stats "$a" >base.json
vkb-stats "$b" | vkb-compare -v base.json >second
test_same "$(cat first)" "$(cat second)" 'summaries on both sides give the same report'
cat "$a" "$b" | vkb-compare -v --baseline unstable >second
test_same "$(cat first)" "$(cat second)" 'a baseline inside the input gives the same report'
vkb-compare -v --baseline 1f9c "$a" "$b" >second
test_same "$(cat first)" "$(cat second)" 'a baseline named by the start of its commit is found'
for f in text markdown jsonl; do
  test_that "x against x has no regression ($f)" vkb-compare -f $f "$a" "$a"
done
test_same '9 equivalent' \
  "$(jq -r 'select(.type == "delta").verdict' .out | sort | uniq -c |
    sed 's/^ *//')" 'all results are equivalent'
vkb-compare -f jsonl "$a" "$b" | jq -c 'select(.metric) | [.config.command, .metric, .ratio]' >there
vkb-compare -f jsonl "$b" "$a" | jq -c 'select(.metric) | [.config.command, .metric, 1 / .ratio]' >back
test_same "$(jq -c '.[2] |= (. * 10000 | round)' there)" \
  "$(jq -c '.[2] |= (. * 10000 | round)' back)" \
  'swapped sides give the reciprocal'
test_same 'improvement regression' \
  "$(vkb-compare -f jsonl "$b" "$a" | jq -r 'select(.metric == "rps" and .config.command != "GET").verdict' | sort -r | tr '\n' ' ' | sed 's/ $//; s/\(r[a-z]*\) \(i[a-z]*\)/\2 \1/')" \
  'swapped sides swap regressions and improvements'
test_that 'a wide margin' vkb-compare -v --margin 12% "$a" "$b"
test_status 1 'a margin for another metric' \
  vkb-compare -v --margin 12% --margin rps=3% "$a" "$b"
test_that '--metrics with names' vkb-compare -v -m avg_latency_ms,rps \
  --margin 12% -f jsonl "$a" "$b"
test_same 'avg_latency_ms rps' \
  "$(jq -r 'select(.metric).metric' .out | sort -u | tr '\n' ' ' | sed 's/ $//')" \
  '--metrics shows those metrics and no others'
test_status 1 '--metrics all' vkb-compare -m all -f jsonl "$a" "$b"
test_same 'gate info' \
  "$(jq -r 'select(.metric).class' .out | sort -u | tr '\n' ' ' | sed 's/ $//')" \
  'all metrics are shown, with their class'
test_same 'p50_latency_ms p99_latency_ms rps' \
  "$(jq -r 'select(.class == "gate").metric' .out | sort -u | tr '\n' ' ' | sed 's/ $//')" \
  'other metrics stay gates'
test_status 1 '--strict: eight rounds show the change among nine tests' \
  vkb-compare -v --strict "$a" "$b"
test_match '9 results were judged together, so that it is unlikely that a claimed change is false' \
  .out 'with --strict the report says that it is unlikely that any change is wrong'

test_status 2 'a metric that no case has is an error' vkb-compare -v -m rps,rsp "$a" "$a"
test_match "no case that is on both sides has 'rsp'" .err \
  'the error names the metric that no case has'
test_status 2 'a margin for a metric that no case has is an error' \
  vkb-compare -v --margin rsp=3% "$a" "$a"
test_match "no metric is called 'rsp'" .err 'the error names the metric of the margin'

# --- verdicts

runs x SET s1 100 101 99 100 102 98 >base
runs y SET s2 90 91 89 90 92 88 >new
test_same 'exit 1
regression 0.899982400893601 sessions' "$(deltas)" 'other sessions are not paired'
runs y SET s1 90 91 89 90 92 88 >new
test_same 'exit 1
regression 0.9 rounds' "$(deltas | sed 's/0\.9[0-9]* /0.9 /; s/0\.89[0-9]* /0.9 /')" \
  'runs of the same session are paired'
runs y SET s1 90 91 89 90 92 >new
test_same 'exit 1
rounds true' "$(deltas | sed 1q; jq -r 'select(.metric) | "\(.method) \(.paired)"' deltas)" \
  'five rounds are paired'
runs y SET s1 90 91 >new
test_same 'runs false' \
  "$(deltas 2>.err >&2; jq -r 'select(.metric) | "\(.method) \(.paired)"' deltas)" \
  'two rounds are too few for pairs'
runs y SET s2 90 91 89 >new
test_same 'exit 2
insufficient 0.900037974230901 sessions' "$(deltas 2>.err)" 'three runs are too few'
test_match 'nothing was judged: each case has fewer than 4 runs on a side' .err \
  'the error says that fewer than 4 runs were not judged'
test_same 'exit 1' "$(deltas --on-insufficient fail | sed 1q)" \
  '--on-insufficient fail: the status is 1'
test_same 'exit 0' "$(deltas --on-insufficient ok | sed 1q)" \
  '--on-insufficient ok'
runs x GET s1 90 91 89 90 >>base
runs y GET s2 90 91 89 90 >>new
test_same 'exit 0' "$(deltas | sed 1q)" 'cases with too few runs do not matter if others are judged'
runs x SET s1 100 140 80 120 90 >base
runs y SET s2 95 120 99 130 70 >new
test_same inconclusive "$(deltas | sed -n '2s/ .*//p')" 'noise is inconclusive'
test_same null "$(jq 'select(.metric) | .needed' deltas)" \
  'no number of runs is given where another session may explain the change'
test_same true "$(jq 'select(.metric) | .visible > 0.2' deltas)" \
  'an inconclusive result says which change would be visible'
vkb-compare -v base new >text
test_match 'inconclusive, only changes above [0-9]+% could be seen$' text \
  'the text says which changes would be missed, without advice'
test_same 'exit 1' "$(deltas --on-inconclusive fail | sed 1q)" \
  '--on-inconclusive fail'
runs x SET s1 100 100 100 100 >base
runs y SET s2 70 70 70 70 >new
test_same 'exit 1
regression 0.7 sessions' "$(deltas)" 'without any variance -30% is found'
runs y SET s2 0 0 0 0 >new
test_same 'exit 1
regression 0 sessions' "$(deltas)" 'down to zero'
mv new base
runs y SET s2 70 71 70 70 >new
test_same 'exit 0
improvement none rounds' "$(deltas)" 'up from zero: no ratio'
cp base new
test_same 'exit 0
equivalent 1 identical' "$(deltas)" 'zero and zero'
runs x SET s1 0 0 0 0 0 0 >base
test_same 'exit 0
equivalent 1 identical' "$(deltas)" 'zero and zero, of six runs and of four'
runs x SET s1 0 0 0 >base
test_same 'exit 2' "$(deltas 2>.err | sed 1q)" 'three zeros are too few to say that nothing changed'
runs x SET s1 0.031 0.039 0.031 0.039 >base
runs y SET s2 0.039 0.031 0.039 0.031 >new
test_same 'exit 0
inconclusive 1 sessions' "$(deltas)" 'coarse values that are equal by chance'
cp base new
test_same 'exit 0
equivalent 1 identical' "$(deltas)" 'the same measurement'

# --- pairing

two() { # two LABEL CONFIG VALUE...: prints runs with any configuration
  label=$1 config=$2
  shift 2
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"env":{"kernel":"%s"},"metrics":{"rps":%s},"status":"ok","run":{"session":"s","index":%d}}\n' \
      "$label" "$config" "${kernel:-6.1}" "$v" "$((index += 1))"
  done
}
{
  two x '{"command":"GET","pipeline":1}' 10 11 10 11
  two x '{"command":"SET","pipeline":1}' 10 11 10 11
} >base
{
  two y '{"command":"DEL","pipeline":1}' 10 11 10 11
  two y '{"command":"SET","pipeline":1,"keyspacelen":5}' 10 11 10 11
} >new
test_that 'a key that one side does not have' vkb-compare -v base new
test_match "warning: SET: paired by common keys: keyspacelen unknown in the baseline" \
  .out 'a case without this key is paired, with a note'
two x '{"command":"SET","pipeline":1}' 10 11 10 11 >base
two y '{"command":"SET","pipeline":1,"keyspacelen":5}' 10 11 10 11 >new
two y '{"command":"SET","pipeline":1,"keyspacelen":6}' 10 11 10 11 >>new
test_status 2 'if two cases fit, no case is paired' vkb-compare -v base new
{
  two x '{"command":"SET","pipeline":1}' 10 11 10 11
  two x '{"command":"SET","pipeline":1,"keyspacelen":5}' 10 11 10 11
} >base
two y '{"command":"SET","pipeline":1,"keyspacelen":5}' 10 11 10 11 >new
test_same '[1,["baseline"]]' "$(vkb-compare -f jsonl base new |
  jq -c 'select(.cases) | [.cases, [.unmatched[].side]]')" \
  'a case with an exact partner is not paired with another case'
two x '{"command":"SET","pipeline":1,"a":2}' 10 11 10 11 >base
two y '{"command":"SET","pipeline":1,"keyspacelen":5}' 10 11 10 11 >new
test_that 'cases without keys of the other side are paired' vkb-compare -v base new
test_match ': paired by common keys: a unknown in the contender; keyspacelen unknown in the baseline$' \
  .out 'the report names the keys that a side does not have'
two x '{"command":"SET"}' 10 11 10 11 | sed 's/"rps":/"p50_latency_ms":1,&/' >base
two y '{"command":"SET"}' 10 11 10 11 >new
test_that 'a metric that one side does not have' vkb-compare -v base new
test_match '^warning: only the baseline has p50 .1 case.$' .out \
  'a warning names the metric that one side does not have'
two x '{"command":"SET","requests":100}' 10 11 10 11 >base
two y '{"command":"SET","duration_s":3}' 10 11 10 11 >new
test_status 2 'cases with requests and with a duration are not paired' vkb-compare -v base new
test_match 'nothing to compare' .err 'the error says that there is nothing to compare'
test_match '^warning: only in the baseline: SET' .out \
  'a warning lists the case of the baseline alone'
test_match '^warning: only in the contender: SET' .out \
  'a warning lists the case of the contender alone'
two x '{"command":"SET"}' 10 11 10 11 >base
{
  kernel=6.2 two y '{"command":"SET"}' 10 11 10 11
  two y '{"command":"GET"}' 10 11 10 11
} >new
test_that 'cases of different environments are paired' vkb-compare -v base new
test_match 'environment differs: kernel: 6.1 -> 6.2 \(1 case\)' .out \
  'a warning is printed about different environments'
jq -c '.env.server_cpus = "1"' base >pinned
vkb-compare -v pinned new >out 2>&1
test_match 'environment differs: server_cpus: 1 -> - \(1 case\)' out \
  'a warning is printed if the server of one side was not pinned'
printf '{"type":"run","v":1,"subject":{"label":"y"},"config":{"command":"INCR"},"run":{},"status":"failed","error":"it fell"}\n' >>new
test_status 2 'a failed case of the contender is trouble' vkb-compare -v base new
test_match 'warning: 1 of 1 runs failed in the contender: INCR: it fell' .out \
  'a warning lists the failed case of the contender'
test_match '^. +SET +rps +4\+4' .out 'the cases that did not fail are compared'
test_same '[1,1,1]' \
  "$(vkb-compare -f jsonl base new 2>/dev/null | jq -c 'select(.type == "comparison") | [(.failed | length), (.unmatched | length), (.env | length)]')" \
  'the records have the failed case, the unmatched one and the environment'
two y '{"command":"SET"}' 5 5.1 5 5.2 >new
printf '{"type":"run","v":1,"subject":{"label":"y"},"config":{"command":"INCR"},"run":{},"status":"failed","error":"it fell"}\n' >>new
test_status 1 'with a regression and a failed case the status is that of the regression' vkb-compare -v base new
two y '{"command":"SET"}' 10 11 10 11 >new
printf '{"type":"run","v":1,"subject":{"label":"y"},"config":{"command":"SET"},"run":{},"status":"failed","error":"it fell"}\n' >>new
test_status 2 'one failed run of the contender is an error' vkb-compare -v base new
test_match '1 run of the contender failed' .err 'the error counts the failed runs of the contender'
test_match '^. +SET +rps +4\+4 .*equivalent' .out 'the runs that did not fail are compared'
test_that 'one failed run of the baseline is not an error' vkb-compare -v new base
test_match 'warning: 1 of 5 runs failed in the baseline: SET: it fell' .out \
  'a warning counts the failed runs of the baseline'
two y '{"command":"SET"}' 10 11 10 11 >new
two x '{"command":"GET"}' 10 11 10 11 >>base
test_that 'a case that the contender does not have' vkb-compare -v base new
test_match '^warning: only in the baseline: GET' .out \
  'a warning names the case that the contender does not have'
test_status 1 '--on-missing fail' vkb-compare -v --on-missing fail base new
test_that 'a case that the baseline does not have does not count as missing' \
  vkb-compare -v --on-missing fail new base
two x '{"command":"SET"}' 10 11 10 11 >base
: >empty
test_status 2 'an empty contender' vkb-compare -v base empty
test_match 'there is no contender' .err 'the error says that there is no contender'
test_status 2 'an empty baseline' vkb-compare -v empty base
test_match 'empty: no runs and no summaries' .err 'the error names the empty baseline'

# --- runs that are given twice

test_status 1 'a contender given twice' vkb-compare -f jsonl "$a" "$b" "$b"
jq -c 'select(.metric)' .out >twice
vkb-compare -f jsonl "$a" "$b" | jq -c 'select(.metric)' >once
test_same "$(cat once)" "$(cat twice)" 'runs that are given twice count once'
test_status 1 'runs that are given twice are judged as text' vkb-compare -v "$a" "$b" "$b"
test_match '^warning: 24 runs given twice in the contender: counted once' .out \
  'a warning counts the runs that are given twice'
vkb-stats "$b" >b.sum
test_status 1 'summaries that are given twice are judged' vkb-compare -f jsonl "$a" b.sum b.sum
test_same "$(cat once)" "$(jq -c 'select(.metric)' .out)" \
  'summaries that are given twice count once'
test_status 1 'summaries that are given twice are judged as text' vkb-compare -v "$a" b.sum b.sum
test_match '^warning: 24 runs given twice in the contender' .out \
  'a warning counts the runs of summaries that are given twice'

# --- summaries of one case from two machines

for k in 6.1 6.2; do kernel=$k two x '{"command":"SET"}' 10 11 10 11 | vkb-stats; done >parts
kernel=6.1 two y '{"command":"SET"}' 10 11 10 11 >new
test_that 'a baseline in two parts' vkb-compare -v parts new
test_match 'environment differs: kernel: varied -> 6\.1 \(1 case\)' .out \
  'a warning says that the environment of the baseline varied, and what that of the contender is'
sed 's/"label":"x"/"label":"y"/' parts >new
vkb-compare -v parts new >.out 2>&1
test_same '1 varied -> varied (1 case)' \
  "$(grep -c 'differs: kernel' .out) $(sed -n 's/.*differs: kernel: //p' .out)" \
  'one warning says that both environments varied'
kernel=6.1 two y '{"command":"SET"}' 10 11 10 11 >new
vkb-compare -v parts new >.out
test_match '^. +SET +rps +8\+4' .out 'the two parts of the baseline are one case'

two x '{"command":"SET"}' 10 11 10 11 >base
two y '{"command":"SET"}' 10 11 10 11 >new
two z '{"command":"SET"}' 5 5 5 5.1 >>new
test_status 1 'several contenders are compared' vkb-compare -v base new
test_same 2 "$(grep -c '^Comparing .* against ' .out)" 'each contender is compared with the baseline'

# --- the baseline

test_status 2 'a name that no subject has' vkb-compare -v --baseline q base new
test_match "no subject matches 'q'; the subjects are: 'x', 'y', 'z'" .err \
  'the error lists the subjects for an unknown name'
test_status 2 'a name that two subjects have' vkb-compare -v --baseline 8.1.0 "$a" "$b"
test_match "several subjects match '8.1.0'" .err 'the error says that two subjects match a name'
sed 's/"subject":{/&"label":"8.1.0",/' "$a" >labelled
cat labelled "$b" >two
test_that 'a label that is also the version of another subject' \
  vkb-compare -v --baseline 8.1.0 --margin 20% two
test_match '^Comparing .* against 8.1.0 ' .out 'a label comes before the version of another subject'
# A branch reports the version of the release that it was cut from. So refs and commits
# come before versions, and labels come before refs.
sed 's/"ref":"unstable"/"ref":"8.1.0"/' "$a" >tagged
cat "$b" tagged >two
test_that 'a ref that is also the version of both subjects' \
  vkb-compare -v --baseline 8.1.0 --margin 20% two
test_match '^Comparing my-branch .* against 8.1.0 ' .out \
  'a ref comes before the version of another subject'
sed 's/"ref":"my-branch"/"ref":"8.1.0"/; s/"subject":{/&"label":"x",/' "$b" >both
cat "$b" tagged both >three
test_status 2 'a ref that two subjects have' vkb-compare -v --baseline 8.1.0 three
test_match "several subjects match '8.1.0'" .err 'a ref of two subjects is an error'
sed 's/"server_version":"8.1.0"/"server_version":"1f9c"/' "$b" >versioned
cat versioned "$a" >two
test_that 'a version that is also the beginning of a commit' \
  vkb-compare -v --baseline 1f9c --margin 20% two
test_match '^Comparing my-branch .* against unstable ' .out \
  'a commit comes before the version of another subject'
sed 's/"ref":"unstable","commit":"[0-9a-f]*"/"commit":"9.0.0-rc1"/' "$a" >named
cat named "$b" >two
test_status 2 'the start of a commit that is not a hash is an error' \
  vkb-compare -v --baseline 9.0.0-rc two
test_match "no subject matches '9.0.0-rc'; the subjects are: .*'9.0.0-rc1'" \
  .err 'the error shows the whole commit that is not a hash'
test_that 'the whole of a commit that is not a hash names its subject' \
  vkb-compare -v --baseline 9.0.0-rc1 --margin 20% two
test_match '^Comparing my-branch .* against 9.0.0-rc1$' .out 'a commit that is not a hash is shown without a version'

test_status 2 'three characters of a commit are too few' vkb-compare -v --baseline 1f9 "$a" "$b"
test_match "no subject matches '1f9'" .err 'the error names the start that is too short'
sed 's/"subject":{/&"module_commit":"abcd01230123012301230123012301230123abcd",/' "$a" >module
cat module "$b" >two
test_that 'the start of the commit of a module names its subject' \
  vkb-compare -v --baseline abcd0123 --margin 20% two
{
  cat "$a"
  printf '{"type":"run"\n'
} >torn
test_status 2 'a baseline file with a line that cannot be read is an error' \
  vkb-compare -v --margin 20% torn "$b"
test_match '^vkb-compare: torn:[0-9]+: ' .err 'the error names the line of the baseline'

# --- --check-sides, before a measurement

built() { # built SUBJECT [STATUS]: prints a build record
  printf '{"type":"build","v":1,"subject":%s,"status":"%s","server":"s","version":"8.0.1"}\n' \
    "$1" "${2:-ok}"
}
commit=1f9c0ab27d5e4386b1c2d3e4f5061728394a5b6c
{
  built "{\"ref\":\"8.0.1\",\"commit\":\"$commit\"}"
  built '{"ref":"my-branch"}'
  built '{"ref":"broken"}' failed
} >builds
test_that '--check-sides accepts builds' vkb-compare -v --check-sides --baseline 8.0.1 builds
test_empty "$(cat .out .err)" '--check-sides prints nothing'
test_that '--check-sides finds a build by its commit' \
  vkb-compare -v --check-sides --baseline 1f9c builds
test_status 2 '--check-sides: two builds that match the baseline are an error' \
  sh -c 'grep -v failed builds | sed "s/\"ref\"/\"title\"/" |
    vkb-compare -v --check-sides --baseline 8.0.1'
test_match "several subjects match '8.0.1'; the subjects are: " .err \
  'the error lists the subjects of the builds'
test_status 2 '--check-sides: a failed build is not a side' \
  vkb-compare -v --check-sides --baseline broken builds
test_match "no subject matches 'broken'" .err \
  'the error says that no subject matches the failed build'
head -n 1 builds >one
test_status 2 '--check-sides: one build alone is an error' \
  vkb-compare -v --check-sides --baseline 8.0.1 one
test_match 'there is no contender' .err 'the error says that one build has no contender'
test_status 2 '--check-sides: a missing policy is an error' \
  vkb-compare -v --check-sides --baseline 8.0.1 --policy no-such builds
test_status 2 '--check-sides: an invalid margin is an error' \
  vkb-compare -v --check-sides --baseline 8.0.1 --margin 2x builds
test_status 2 '--check-sides: an invalid format is an error' \
  vkb-compare --check-sides --baseline 8.0.1 -f html builds
test_that '--check-sides writes no report' \
  vkb-compare --check-sides --baseline 8.0.1 -f markdown:check.md builds
test_that '--check-sides does not create the file of a report' test ! -e check.md
test_status 2 'builds without --check-sides are an error' \
  vkb-compare -v --baseline 8.0.1 builds
test_that '--check-sides accepts runs' vkb-compare -v --check-sides "$a" "$b"
test_empty "$(cat .out .err)" '--check-sides does not compare runs'
test_status 2 'a baseline file with two subjects' vkb-compare -v new base
test_match 'new: several subjects' .err 'the error names the file with several subjects'
test_status 2 'a baseline without a contender is an error' vkb-compare -v --baseline x base
test_match 'there is no contender' .err 'the error says that a baseline has no contender'
test_status 2 'a missing baseline file is an error' vkb-compare -v no-such base
test_status 2 'a bad margin' vkb-compare -v --margin 2x "$a" "$b"
test_status 2 'a bad format' vkb-compare -f html "$a" "$b"
test_status 2 'two formats to stdout' vkb-compare -f text -f jsonl "$a" "$b"
test_status 1 'several formats' \
  vkb-compare -f markdown:c.md -f jsonl:d.jsonl "$a" "$b"
test_match '^### my-branch' c.md 'Markdown is written into its file'
test_same 10 "$(wc -l <d.jsonl | tr -d ' ')" 'JSONL is written into its file'
test_status 2 'a file that cannot be written' \
  vkb-compare -f markdown:/no/such/folder "$a" "$b"

# --- statements of the reports are true

# each_value LABEL CONFIG KEY VALUE...: prints a run for each value
each_value() {
  label=$1 config=$2 metric=$3
  shift 3
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"metrics":{"%s":%s},"status":"ok","run":{"session":"s","index":%d}}\n' \
      "$label" "$config" "$metric" "$v" "$((index += 1))"
  done
}
{
  each_value a '{"command":"SET"}' t_ms 10 10.1 10.2 10.1
  each_value b '{"command":"SET"}' t_ms 10.1 10.2 10.1 10
} >timed
vkb-compare -v --baseline a -m t_ms --margin t_ms=+10% timed >text
test_match 'Margins: t_ms \+10%\.' text 'a margin with a sign is printed as it was given'
vkb-compare -v --baseline a -m t_ms --margin t_ms=-10% timed >text
test_match 'Margins: t_ms -10%\.' text 'a negative margin is printed as it was given'
vkb-compare -v --baseline a -m t_ms --margin t_ms=10% timed >text
test_match 'Margins: t_ms 10%\.' text 'a margin without a sign is printed as it was given'
{
  each_value a '{"command":"SET","scenario":"a"}' rps 100 101 102 103
  each_value b '{"command":"SET","scenario":"a"}' rps 100 101 102 103
  printf '{"type":"run","v":1,"subject":{"label":"b"},"config":{"command":"SET","scenario":"b"},"run":{},"metrics":{},"status":"failed","error":"it fell"}\n'
} >partly
vkb-compare -v --baseline a partly >text 2>&1
test_match 'warning: 1 of 1 runs failed in the contender: SET' text \
  'a case of another scenario failed'
test_absent 'scenario=a' text 'a key with another value in a failed case is not common to all cases'
vkb-stats --text partly >text
test_absent 'all cases: .*scenario=a' text \
  'vkb-stats does not print that key as common to all cases either'
grep -v failed partly >wholly
vkb-compare -v --baseline a wholly >text
test_match '^All cases: scenario a, ' text 'without the failed case the key is common to all cases'

# --- with one run a side there is no interval

{
  each_value a '{"command":"SET"}' rps 100
  each_value a '{"command":"GET"}' rps 100
  each_value a '{"command":"INCR"}' rps 100
  each_value b '{"command":"SET"}' rps 105
  each_value b '{"command":"GET"}' rps 105
  each_value b '{"command":"INCR"}' rps 100
} >single
echo '{"rules":[{"metric":"rps","assume":"exact"}]}' >exact.json
for policy in '' '--policy exact.json'; do
  # shellcheck disable=SC2086 # words
  vkb-compare -v --baseline a --on-insufficient ok $policy -f text:text \
    -f markdown:md -f jsonl:j -f csv:csv single
  vkb-report -o html single j
  test_same 3 "$(jq -c 'select(.metric)' j | wc -l | tr -d ' ')" \
    "one run a side${policy:+, assumed exact}: each format has the rows"
  test_absent 'ci9' j 'with one run a side records have no interval'
  test_same ',,,' "$(sed 1d csv | cut -d , -f 13-16 | sort -u)" \
    'with one run a side CSV has no interval'
  test_absent '\[[+-][0-9]' text 'with one run a side the text has no interval'
  test_absent '\[[+-][0-9]' md 'with one run a side Markdown has no interval'
  test_absent '%, [+-]?[0-9.]+%\]' html 'with one run a side the page has no interval'
done
test_absent 'spread of the runs' text 'the text does not say that a single run varies'
vkb-stats single >summary
test_absent 'ci95' summary 'summaries have no interval then'

# --- colours

if command -v script >/dev/null 2>&1; then
  script -qec "vkb-compare -v $a $b" /dev/null >terminal </dev/null
  test_match "$(printf '\033')\[31m-6\.2%" terminal 'a regression is red on a terminal'
  NO_COLOR=1 script -qec "vkb-compare -v $a $b" /dev/null >terminal </dev/null
  test_empty "$(tr -cd '\033' <terminal)" 'NO_COLOR turns colours off'
else
  test_skip 'colours on a terminal' script
fi
vkb-compare -v "$a" "$b" >file
test_empty "$(tr -cd '\033' <file)" 'a file gets no colours'

# --- hostile names

# shellcheck disable=SC2016 # backticks that are data
evil='<script>x</script> | `y` @someone #12 GH-3 \u202e\u2066\u2028 :tada: mailto:x http://evil.example www.evil.example [a](b) ![c](d) **e** &amp; \u001b[31m \n# title'
for l in x y; do
  two "$evil $l" "{\"command\":\"$evil\",\"k\":[\"$evil\"]}" 10 11 10 11
done >both
sed '1,4!d' both >base
sed '1,4d' both >new
test_that 'hostile text in markdown' vkb-compare -f markdown base new
for bad in '<script' '`' '@someone' ' #12' 'GH-3' '://' ':tada:' 'mailto:x' 'www.' '](' '\*\*e' '&amp;'; do
  if grep -qF -- "$bad" .out; then
    test_result 1 "markdown holds no raw $bad"
  else
    test_result 0 "Markdown has no raw $bad"
  fi
done
test_empty "$(sed -n '/^|/{/| *$/!p;}' .out)" 'rows are not broken'
# five bars are four cells, nine are eight; all other bars are escaped
test_same '5 10' "$(grep '^| [^|]* | &#' .out | tr -cd '|\n' | awk '{ print length }' |
  sort -nu | xargs)" 'rows have as many cells as there are columns'
turned=$(printf '\342\200[\250-\256]\|\342\201[\246-\251]')
test_same 0 "$(grep -c "$turned" .out)" 'Markdown has no characters that change the direction'
test_that 'hostile text in text' vkb-compare -v base new
test_same 0 "$(grep -c "$turned" .out)" 'text has no characters that change the direction'
test_empty "$(tr -cd '\033' <.out)" 'no name controls the terminal'

# --- long reports

perl -e 'for my $c (1 .. 1000) { for my $i (1 .. 5) {
  printf qq({"type":"run","v":1,"subject":{"label":"$ARGV[0]"},"config":{"command":"SET","a_rather_long_key":%d},"run":{},"env":{},"metrics":{"rps":%g},"status":"ok"}\n), $c, $ARGV[1] + $i / 10 } }' x 100 >base
sed 's/"x"/"y"/; s/"rps":100/"rps":50/' base >new
test_status 1 'a thousand cases' vkb-compare -f markdown base new
size=$(wc -c <.out)
test_same 1 "$((size <= 65000 && size > 30000))" "it fits in one comment ($size)"
test_match 'rows left out: too long' .out 'the comment counts the rows that were left out'
test_same "$(grep -c '^<details>' .out)" "$(grep -c '^</details>' .out)" 'each folded part is closed'
test_that 'a thousand equivalent cases' vkb-compare base base
test_match '^\(1000 cases: no change\)' .out 'a thousand equal cases are counted'
test_same 1 "$(($(wc -l <.out) < 10))" 'a thousand equal cases are not listed'
sed 's/"command":"SET"/&,"more":1/' new >other
test_status 1 'a thousand cases with the same note' vkb-compare -v base other
test_same 1 "$(grep -c 'and 999 more: paired by common keys: more unknown' .out)" \
  'the note is printed once'
sed 's/"command":"SET"/"command":"GET"/' base >other
test_status 2 'two thousand cases without a partner' vkb-compare -v base other
test_match '^warning: 1980 more cases failed or on one side only' .out \
  'cases without a partner are counted after the first 20'

test_done
