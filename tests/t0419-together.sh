#!/bin/sh
# vkb-compare: the answer from the count and the time of a case, the functions that
# account for a change, and counts of builds that were made in different ways.
. "${0%/*}/lib.sh"

SOURCE_DATE_EPOCH=1795000000 # 2026-11-18
export SOURCE_DATE_EPOCH

# measured LABEL COMMAND RPS NOISE SEED: prints eight runs; NOISE is a share
measured() {
  perl -e 'my ($label, $command, $rps, $noise, $seed) = @ARGV; srand $seed;
    for my $k (1 .. 8) {
      my $v = $rps * (1 + $noise * (2 * rand() - 1));
      printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s"},"run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%.2f},"status":"ok"}\n),
        $label, $command, $k, $k, $v }' "$@"
}
# counted LABEL COMMAND COUNT [NAME=SELF ...]: prints two counted runs and the profile
counted() {
  perl -e 'my ($label, $command, $count, @f) = @ARGV;
    my $of = qq("v":1,"subject":{"label":"$label"},"config":{"command":"$command"},"run":{"session":"s","index");
    print qq({"type":"run",$of:$_},"counted":true,"metrics":{"instructions_per_req":$count},"status":"ok"}\n) for 1, 2;
    my $list = join ",", map { my ($n, $v) = split /=/; qq({"name":"$n","object":"s","self":$v,"inclusive":$v,"calls":1}) } @f;
    print qq({"type":"profile",$of:1},"target":{"exe":"s"},"probed":{},"mode":"count","started":"2026-01-01T00:00:00Z","duration_s":1,"requests":10000,"functions":[$list],"edges":[],"status":"ok"}\n) if @f' "$@"
}
# both COMMAND COUNT RPS NOISE: compares with a base of 4700 instructions and 100,000
# req/s
both() {
  measured base "$1" 100000 "$4" 1
  measured new "$1" "$3" "$4" 2
  counted base "$1" 4700 main=4000 setCommand=700
  counted new "$1" "$2" main=4000 "setCommand=$(($2 - 4000))"
}
judge() { vkb-compare -v --baseline base "$@"; }
# headline: keeps the sentences of the report, of which the text breaks the lines
headline() { jq -r 'select(.type == "comparison").headline' deltas >said; }
# says WHAT TEXT: the answer, and the same sentence in all formats
says() {
  judge -f text:text -f markdown:md -f jsonl:deltas -f junit:xml runs
  headline
  test_match "^$2" said "$1: the answer"
}
T='\[[0-9.]+, [0-9.]+\]'

# --- one case

both SET 4855 97000 .002 >runs
says 'both changed' "Worse: SET executes 3\\.3% more instructions per request \\(\\+155 in setCommand\\) and is [23]\\.[0-9]% slower $T\\.$"
sentence=$(sed -n 's/^Worse: \(.*\)\.$/\1/p' said)
test_same "$sentence" "$(jq -r 'select(.metric == "rps").together' deltas)" \
  'the record of the time has the sentence'
test_same "$sentence" "$(jq -r 'select(.metric == "instructions_per_req").together' deltas)" \
  'the record of the count has the sentence'
test_same 2 "$(tr '\n' ' ' <xml | grep -oF "; $sentence" | wc -l | tr -d ' ')" \
  'JUnit has the sentence in both results'
test_same 1 "$(sed 's,\\,,g' md | grep -cF "$sentence")" \
  'Markdown has the sentence once'
vkb-report -o page.html runs deltas
test_same 1 "$(grep -c 'SET executes 3\.3% more instructions per request (+155 in setCommand) and' page.html)" \
  'the page has the sentence once'
test_same "$(sed '/^Judged: /q' text)" "$(vkb-compare -v --deltas deltas | sed '/^Judged: /q')" \
  'the report from the records has the sentence'

both SET 4545 103500 .002 >runs
says 'less work, and faster' "Better: SET executes 3\\.3% fewer instructions per request \\(-155 in setCommand\\) and is [34]\\.[0-9]% faster $T\\.$"
both SET 5123 100000 .002 >runs
says 'more work, as fast' 'SET executes 9\.0% more instructions per request \(\+423 in setCommand\), but is not slower: throughput is within 2%\.$'
vkb-report -o page.html runs deltas
test_match 'class="lead">SET executes' page.html 'the page says the same'

# Slightly more work of a case that is as fast does not count.
both SET 4746 100000 .002 >slight
cp slight runs
says 'slightly more work, as fast' 'SET executes 0\.98% more instructions per request \(\+46 in setCommand\), but is not slower: throughput is within 2%\.$'
test_status 0 'it does not fail' judge --ci runs
test_same 'different true' "$(jq -r 'select(.metric == "instructions_per_req") | "\(.verdict) \(.outweighed)"' deltas)" \
  'its record says why'
test_that 'the text of each case' vkb-compare --baseline base runs
test_match '^~ +SET .*\+1\.0%, \+46 in setCommand +not slower$' .out 'its row says so'
cp .out brief
test_same "$(cat brief)" "$(vkb-compare --deltas deltas)" 'and the report from the records'
judge --explain SET runs >explained
test_match '^  reason .* below 1%, and the case is not slower$' explained '--explain says why'
{ cat slight && both GET 4746 100000 .002; } >runs
says 'two such cases' 'GET executes 0\.98% more instructions, SET 0\.98% more instructions, without being slower\.$'
jq -c 'select(.counted or .type != "run")' slight >runs
test_status 1 'slightly more work without a time fails' judge runs
test_status 1 'slightly more work fails if counts alone are judged' \
  judge --metrics instructions_per_req slight
both SET 4747 100000 .002 >runs
test_status 1 '1 % more work fails' judge runs
both SET 4746 99000 .3 >runs
test_status 1 'slightly more work fails if the time is undecided' judge runs
both SET 4746 97000 .002 >runs
test_status 1 'slightly more work fails if the case is slower' judge -f jsonl:deltas runs
test_same regression "$(jq -r 'select(.metric == "instructions_per_req").verdict' deltas)" 'also by its work'
both SET 4746 99000 .3 | jq -c 'if .counted or .type != "run" then . else .metrics.server_cpu_us_per_req =
  7 + .01 * (.run.index % 3) end' >runs
test_status 1 'the CPU time of a request is not enough where the time is undecided' judge runs
both SET 4746 100000 .002 | jq -c 'if .counted or .type != "run" then . else .metrics.server_cpu_us_per_req =
  (if .subject.label == "base" then 7 else 7.5 end) + .01 * (.run.index % 3) end' >runs
test_status 1 'slightly more work fails if it takes more CPU time' judge -f jsonl:deltas runs
test_same regression "$(jq -r 'select(.metric == "instructions_per_req").verdict' deltas)" 'also by its work'
test_status 1 'slightly more work fails beyond a margin that was chosen' \
  judge --margin instructions_per_req=0.5% slight
both SET 4746 104000 .002 >runs
says 'slightly more work, and faster' "Better: SET executes 0\\.98% more instructions per request \\(\\+46 in setCommand\\), but is [34]\\.[0-9]% faster $T\\.$"
test_status 0 'it does not fail either' judge runs
both SET 5123 104000 .002 >runs
says 'more work, faster' "SET executes 9\\.0% more instructions per request \\(\\+423 in setCommand\\), but is [34]\\.[0-9]% faster $T\\.$"
both SET 4277 96000 .002 >runs
says 'less work, slower' "Worse: SET executes 9\\.0% fewer instructions per request \\(-423 in setCommand\\), but is [34]\\.[0-9]% slower $T\\."
both SET 4700 96000 .002 >runs
says 'the same work, slower' "Worse: SET is [34]\\.[0-9]% slower $T with the same instructions per request, so the cause is memory, the kernel, waiting, or the machine\\."
both SET 4700 99000 .3 >runs
says 'the same work, noise' 'No slowdown found, and no change in instructions\. Undecided: SET \(too noisy: runs vary by [0-9]+%\)\.$'
both SET 4855 99000 .3 >runs
says 'more work, noise' 'SET executes 3\.3% more instructions per request \(\+155 in setCommand\); its time is undecided \(too noisy: runs vary by [0-9]+%\)\.$'
# On a busy machine the throughput is undecided, and the CPU time of a request is known.
both SET 4855 99000 .3 | jq -c 'if .counted or .type != "run" then . else .metrics.server_cpu_us_per_req =
  (if .subject.label == "base" then 7 else 7.3 end) + .01 * (.run.index % 3) end' >runs
says 'more work, and the CPU time of it' "Worse: SET executes 3\\.3% more instructions per request \\(\\+155 in setCommand\\) and takes [45]\\.[0-9]% more CPU per request $T\\.$"
both SET 4700 100000 .002 >runs
says 'the same work, the same speed' 'No change: the only case\.$'
test_same 0 "$(grep -c together deltas)" 'no sentence about work is printed'

# --- several cases

{ both SET 4855 97000 .002 && both GET 4700 99000 .3 && both LPUSH 4700 100000 .002; } >runs
says 'three cases' "Worse: SET executes 3\\.3% more instructions .* slower $T\\. Undecided: GET \\(too noisy: runs vary by [0-9]+%\\)\\. No change: 1 case\\.$"
test_match '^\*\*Worse: SET executes 3\.3% more instructions .*\*\* Undecided: GET ' md 'Markdown has the same sentences'
{ both SET 4700 99000 .3 && both GET 4700 99000 .3; } >runs
says 'two unclear cases' 'No slowdown found, and no change in instructions\. Undecided: both cases \(too noisy: runs vary by [0-9]+%\)\.$'
{ both SET 4855 97000 .002 && both GET 4760 97000 .002; } >runs
says 'two cases that are worse' "Worse: GET \\([23]\\.[0-9]% slower\\), SET \\([23]\\.[0-9]% slower\\)\\.$"
test_match '^work and time:$' text 'a list follows the first line'
test_same 'GET SET' "$(sed -n 's/^- \([A-Z]*\) executes .* and is .*/\1/p' text | sort | xargs)" \
  'it has both cases'
test_same 2 "$(grep -c '^- ' md)" 'Markdown has the list'

{ both SET 4855 99000 .3 && both GET 4700 90000 .002; } >runs
says 'a time of one case and a count of another' "Worse: GET is [0-9.]+% slower $T with the same instructions .* SET executes 3\\.3% more instructions"

{ both SET 4700 99000 .3 && both GET 4700 99000 .3; } |
  jq -c 'select((.run.block // 0) < 3)' >runs
says 'too few runs' '^Too few runs: GET, SET\. '

# --- counts that one side does not have

both SET 4855 100000 .002 | jq -c 'select(.type == "run")' >all
jq -c 'select(.counted and .subject.label == "new" | not)' all >runs
test_status 0 'a count that the contender does not have, with runs, does not fail' \
  judge --ci -f text:text -f junit:xml runs
test_match '^warning: only the baseline has instructions per request' text 'a warning names the count'
test_absent 'contender lacks' text 'the first line does not mention it'
test_absent '<failure' xml 'nor does JUnit'
jq -c 'select(.subject.label == "base" or .counted)' all >runs
test_status 1 'a time that the contender does not have fails' judge --ci runs

# --- counts without times, and their functions

{
  counted base SET 4700 main=4000 a=100 b=200 c=300 d=90 e.constprop.0=10
  counted new SET 5000 main=4000 a=310 b=250 c=336 d=94 "e=10"
} >runs
says 'counts alone' 'SET executes 6\.4% more instructions per request \(\+210 in a, \+50 in b, \+36 in c\)\.$'
{
  counted base SET 4700 main=4000 a=100 b=200 c=300 d=100
  counted new SET 5000 main=4000 a=310 b=250 c=326 d=84 f=30
} >runs
says 'four functions' 'SET executes 6\.4% more .* \(\+210 in a, \+50 in b, \+30 in f, \+10 in others\)\.$'
# Where incr calls look every second time, and look calls find, which makes a system call.
{
  counted base INCR 1100 main=1000 incr=100 |
    jq -c 'if .counted then .metrics.syscalls_per_req = .3 else
      .functions[0].syscalls = .3 | .edges = [{from: 0, to: 1, calls: 1, inclusive: 100}] end'
  counted new INCR 1225 main=1000 incr=100 look=25 find=100 |
    jq -c 'if .counted then .metrics.syscalls_per_req = .8 else
      .functions[0].syscalls = .3 | .functions[2].calls = .5 |
      .functions[3] += {calls: .5, syscalls: .5} |
      .edges = [[0, 1, 1], [1, 2, .5], [2, 3, .5] |
        {from: .[0], to: .[1], calls: .[2], inclusive: 1}] end'
} >runs
judge -f text:text -f jsonl:deltas runs
test_match '^-  INCR  instructions_per_req .* exact: \+125 as incr calls look 0\.5 times instead of 0$' \
  text 'the call that causes the work is named'
test_match '^-  INCR  syscalls_per_req .* exact: find 0 -> 0\.5$' text 'the system calls are named'
test_same "$(sed '/^Judged: /q' text)" "$(vkb-compare -v --deltas deltas | sed '/^Judged: /q')" 'the records have the system calls'
# Where get calls z, which calls m; m calls fast, or slow, which takes as much.
edges() { # edges FROM,TO,CALLS ...: adds the calls of functions by their numbers
  printf '[%s]\n' "$@" | jq -s -c 'map({from: .[0], to: .[1], calls: .[2], inclusive: 1})' >calls
  jq -c --slurpfile calls calls 'if .edges then .edges = $calls[0] else . end'
}
{
  counted base GET 1230 main=1000 get=100 z=60 m=40 fast=30 | edges 0,1,1 0,2,1 2,3,1 3,4,1
  counted new GET 1360 main=1000 get=100 z=120 m=80 slow=60 |
    edges 0,1,1 0,2,1 1,2,1 2,3,2 3,4,2
} >folded
says_cause() { # says_cause WHAT CAUSES FILE: the count changes by these causes
  judge -f text:text "$3"
  test_match "^-  GET  *instructions_per_req .* exact: $2\$" text "$1"
}
says_cause 'causes that cancel each other are not named after one that explains the change' \
  '\+130 as get calls z 1 time instead of 0' folded
{
  counted base GET 1300 main=1000 get=100 z=60 m=40 fast=1 leaf=99 |
    edges 0,1,1 0,2,1 2,3,1 3,4,1 4,5,1
  counted new GET 1500 main=1000 get=100 z=120 m=80 slow=2 leaf=198 |
    edges 0,1,1 0,2,1 1,2,1 2,3,2 3,4,2 4,5,2
} >folded
says_cause 'the cause that leads to the change is named, though others that cancel are larger together' \
  '\+200 as get calls z 1 time instead of 0' folded
sed '/profile/s/"self":100,/"self":-1,/' runs >bad
test_status 1 'the counts are compared though a profile has wrong functions' judge bad
test_match "^vkb-compare: bad:3: 'functions' is not a list of functions with name, object, self and calls" \
  .err 'an error names the line of the profile'
{
  counted base SET 4700 main=4699.7 f=0.1 f.part.0=0.2
  counted new SET 4700 main=4699.7 f=0.3
} >runs
judge runs >text
test_match '^=  SET .* exact$' text 'functions whose change rounds to 0 are not named'
{
  counted base SET 4700 0x1234=4700
  counted new SET 5000 0x1244=5000
} >runs
says 'servers without symbols' 'SET executes 6\.4% more instructions per request \(\+300\)\.$'
sed 's/instructions_per_req/allocations_per_req/' runs >calls
judge calls >text
test_match '^More work: SET \(6\.4% more allocations\)\.$' text \
  'another count names no functions'
leaks() { # leaks TAKEN KEPT: adds the calls of the allocator to counted runs
  jq -c --argjson taken "$1" --argjson kept "$2" 'if .counted then
    .metrics += {allocations_per_req: $taken, unfreed_allocations_per_req: $kept} else . end'
}
{
  counted base EXPIRE 9500 main=9490 expireCommand=10 | leaks 7 .99
  counted new EXPIRE 9510 main=9490 expireCommand=20 | leaks 7.03 1.01
} >leak
judge leak >text
test_match '^More work: EXPIRE \(2\.0% more unfreed allocations\)\.$' text \
  'a leak decides, and not the calls that take the memory'
test_status 1 'a leak is a regression' vkb-compare --baseline base leak
test_match '^- +EXPIRE .* = +\+10 in expireCommand +more work$' .out 'the function is named that takes it'
for of in '0 1' '1 0' '0 0'; do
  { counted base SET "${of% *}" && counted new SET "${of#* }"; } >work
  sed 's/instructions_per_req/allocations_per_req/' work >"calls${of% *}${of#* }"
done
says_calls() { # says_calls FILE STATUS LINE ROW: checks a comparison of allocations
  test_same "$2" "$(judge -f text:text -f jsonl:deltas "$1" && echo 0 || echo $?)" "$1: the exit status"
  test_match "$3" text "$1: the first line"
  test_match "$4" text "$1: the row"
  test_same "$(sed '/^Judged: /q' text)" "$(vkb-compare -v --deltas deltas | sed '/^Judged: /q')" "$1: the same from the records"
  judge --explain SET "$1" >explained
  test_absent nan explained "$1: the explanation has a number"
}
says_calls calls01 1 '^More work: SET \(allocations per request up from 0\)\.$' \
  '^-.* 0\.000 +1\.000  up from 0 +regression +exact$'
says_calls calls10 0 '^Less work: SET \(.*\)\.$' \
  ' down to 0 +improvement +exact$'
says_calls calls00 0 '^No change' '^=.* 0 as before +equivalent +exact$'
{ counted base SET 0 && counted new SET 1; } >work
judge work >text
test_match '^SET executes 1 more instruction per request \(from 0 to 1\)\.$' text \
  'a rise from 0 is more work'
judge -f jsonl:deltas calls01 >text
vkb-report -o page.html calls01 deltas
test_match '>up from 0<' page.html 'the page has the change in words'
{ counted base SET 0 && counted new SET 3; } | sed 's/instructions/allocations/' >three
judge three >text
test_match '^More work: SET \(allocations per request up from 0\)\.$' text \
  'a rise from 0 has no percentage'
{ counted base SET 64 && counted new SET 72; } |
  jq -c '.metrics.bytes_per_key = .metrics.instructions_per_req | .metrics.instructions_per_req = 9' >keys
judge keys >text
test_match '^Worse: SET \(12\.5% more bytes per key\)\.$' text \
  'memory per key is exact, too, and is not called work'
jq -c 'select(.type == "run" and .run.index == 1)' keys >one
test_status 1 'one server of each build is enough' judge one
vkb-stats runs >summaries
test_same "$(judge runs | sed -n 1p)" "$(judge summaries | sed -n 1p)" \
  'vkb-stats keeps the functions'

# --- two servers that execute a little more or less, and more allocations

spread() { # spread LABEL RPS ALLOCATIONS COUNT COUNT: prints runs, with counts that differ
  measured "$1" SUNION "$2" .002 3
  for k in "$4" "$5"; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SUNION"},"run":{"session":"s","index":1},"counted":true,"metrics":{"instructions_per_req":%s,"allocations_per_req":%s},"status":"ok"}\n' "$1" "$k" "$3"
  done
}
{ spread base 100000 30 17000 17068 && spread new 165000 35 6300 6325; } >runs
test_status 0 'fewer instructions and less time outweigh more allocations' judge -f text:text -f jsonl:deltas runs
test_same 'allocations_per_req different instructions_per_req improvement rps improvement' \
  "$(jq -r 'select(.metric) | "\(.metric) \(.verdict)"' deltas | sort | xargs)" \
  'counts that differ by less than they changed are judged'
test_match '^~ .*allocations.* exact, outweighed by less work or time$' text 'a note says what outweighs allocations'
test_that 'the same by the text of each case' vkb-compare --baseline base runs
test_match '^\+ +SUNION .* better$' .out 'the case is better'
test_match '^ +also allocations per request 30\.0 -> 35\.0, \+16\.7% different' .out \
  'counts without a column have their values'
{ spread base 100000 30 17000 17068 && spread new 100000 35 17010 17050; } >runs
test_status 1 'more allocations alone are a regression' judge runs
calls() { sed 's/allocations/syscalls/' >runs; } # reads the runs with system calls instead
{ spread base 100000 3 17000 17068 && spread new 165000 8 16900 16910; } | calls
test_status 0 'less time outweighs more system calls' judge runs
test_match 'syscalls_per_req .* different' .out 'and they are different'
{ spread base 100000 3 17000 17068 && spread new 100000 8 6300 6325; } | calls
test_status 1 'a few instructions less for each do not' judge runs
{ spread base 100000 3 720000 720068 && spread new 100000 8 208000 208068; } | calls
test_status 0 'many instructions less for each do' judge runs
{ spread base 100000 3 720000 720068 && spread new 100000 8 670000 670068; } | calls
test_status 1 'exactly 10,000 instructions less for each do not' judge runs
# The throughput is the same, and half of the requests take less time.
{ spread base 100000 3 17000 17068 && spread new 165000 8 16900 16910; } | calls
jq -c 'if .counted then . else
  .metrics = {rps: (90000 + .run.index), p50_latency_ms: (1e5 / .metrics.rps)} end' runs >p50
test_status 1 'less time of which the case is not judged does not outweigh system calls' judge p50
echo '{"rules":[{"metric":"p50_latency_ms","class":"primary"}]}' >policy.json
test_status 0 'less time in the primary metric of a policy does' judge --policy policy.json p50
likely() { # likely ALLOCATIONS: prints runs whose time is likely shorter
  measured base SUNION 100000 .04 3
  measured new SUNION 104400 .04 5
  { spread base 1 3 16990 17010 && spread new 1 "$1" 16990 17010; } | grep counted
}
likely 8 >runs
test_status 0 'time that is likely less outweighs more allocations' judge -f text:text -f jsonl:deltas runs
test_same 'likely improvement' "$(jq -r 'select(.metric == "rps").verdict' deltas)" 'and it is likely'
likely 8 | calls
test_status 1 'time that is likely less does not outweigh system calls' judge runs
{ spread base 100000 30 17000 17068 && spread new 100000 30 17000 17200; } >runs
test_status 0 'counts that differ by more than they changed are not a regression' judge runs
test_match '^\? .*instructions_per_req .* inconclusive' .out 'and neither are they equal'

# --- a policy

both SET 4855 97000 .002 >runs
policy() { printf '{"rules":[%s]}\n' "$1" >policy.json; }
verdicts() {
  judge --policy policy.json -f text:text -f jsonl:deltas "$@" runs
  echo $?
  jq -r 'select(.metric) | "\(.metric) \(.verdict)\(if .waiver then " waived" else "" end)"' deltas
}
policy '{"metric":"instructions_per_req","margin":"5%"}'
test_same '1 rps regression instructions_per_req equivalent' "$(verdicts | xargs)" \
  'a policy sets the margin of a count'
headline
test_match '^Worse: SET executes 3\.3% more instructions .* and is [23]\.[0-9]% slower' said \
  'with the margin of a policy the count is within it'
policy '{"metric":"instructions_per_req","case":{"command":"SET"},"waiver":{"reason":"new checks","expires":"2026-12-31","limit":"4%"}},
  {"metric":"rps","margin":"10%"}'
test_same '0 rps equivalent instructions_per_req regression waived' "$(verdicts | xargs)" \
  'a waiver covers a count'
test_match '^Waived: SET executes 3\.3% more instructions' text 'the first line has the waiver'
jq -c 'select(.metric == null or .waiver)' deltas >waived
vkb-report -o page.html runs waived
test_match 'class="lead">Waived: SET' page.html 'the page has the waiver, too'
sed -i 's/4%/3%/' policy.json
test_same '1 rps equivalent instructions_per_req regression' "$(verdicts | xargs)" \
  'a larger change exceeds the waiver'
policy '{"metric":"*_per_req","class":"info"},{"metric":"rps","margin":"10%"}'
test_same '0 rps equivalent instructions_per_req regression' "$(verdicts --metrics rps,instructions_per_req | xargs)" \
  'a class info in a policy excludes the count from the gates'

# --- a baseline from another day and machine

jq -c '.run.session = "old" | .env.host = "there" | select(.subject.label == "base")' runs >base
jq -c 'select(.subject.label == "new")' runs >new
build() { # build COMPILER FLAGS FILE: writes a build record
  jq -c --arg c "$1" --arg f "$2" '.subject.build = {compiler: $c, make: ["CFLAGS=" + $f]}' "$3"
}
count() {
  jq -r 'select(.metric == "instructions_per_req") |
    "\(.verdict) \(.class) \(.ratio * 10000 | round)"' deltas
}
weeks() { # weeks COMPILER FLAGS: prints counted runs of both builds
  build 'gcc 12' -O2 base >old.jsonl
  build "$1" "$2" new >new.jsonl
  vkb-compare -v -f text:text -f jsonl:deltas old.jsonl new.jsonl
  echo $?
}
test_same '1 regression gate 10330' "$({ weeks 'gcc 12' -O2 && count; } | xargs)" \
  'counts of the same compiler and flags are compared exactly'
test_absent 'made in different ways' text 'no warning about builds is printed'
test_same '0 regression info 10330' "$({ weeks 'gcc 13' -O2 && count; } | xargs)" \
  'counts of another compiler are not judged'
test_match '^warning: the builds were made in different ways, which changes counts, so they are not judged: compiler: gcc 12 -> gcc 13$' \
  text 'a warning has both compilers'
test_absent 'more instructions' text 'no sentence about work is printed'
weeks 'gcc 12' '-O3 -g' >.status
test_match 'not judged: make: CFLAGS=-O2 -> CFLAGS=-O3 -g$' text 'a warning has the other flags'
build 'gcc 12' -O2 base >old.jsonl
vkb-compare -v old.jsonl new >text
test_match 'which changes counts: compiler and flags of the contender are not known' text \
  'a warning says that the flags are unknown'
test_match '^SET executes|^Worse' text 'then the count is judged'
for flags in -O2 -O3; do
  build 'gcc 12' $flags new | jq -c --arg l $flags \
    '.subject += {label: $l, commit: "5d54a1b2c3d4e5f60718293a4b5c6d7e8f901234"}' >commit$flags
done
jq -c 'select(.metrics) | .metrics |= with_entries(.value *= 1.1)' commit-O3 >slower
test_status 1 'builds of one commit with other flags are compared' \
  vkb-compare --metrics instructions_per_req commit-O2 slower
test_done
