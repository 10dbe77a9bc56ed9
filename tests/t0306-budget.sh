#!/bin/sh
# vkb-load --budget: cases end when they are decided, the others when the time is spent;
# resuming. What decides is the numbers of resumed runs, which do not depend on the machine.
. "${0%/*}/lib.sh"

test_server 'a budget'
base='"keyspacelen":[50],"data_sizes":[16],"pipelines":[1],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[200]'
printf '[{"commands":["SET","PING"],%s}]\n' "$base" >c.json
load() { vkb-load "$@" c.json </dev/null; }
build() {
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$1" "$2"
}
made() { # made FILE: prints each case and build with the numbers of its runs
  jq -r '[.config.command, .subject.label // "-", .status] | join(" ")' "$1" | sort | uniq -c |
    awk '{ print $2, $3, $4, $1 }' | xargs
}

# --- the runs that are made in any case

test_status 2 'a budget of no time' load --budget 0
for runs in 3..5 0 1000001 1.5; do
  test_status 2 "--runs $runs" load --runs $runs
  test_match "'$runs' is not auto or N from 1 to 1000000" .err 'the error says which values are valid'
done
test_that 'a budget that is spent at once' load --runs 2 --budget 1ms --label a
test_same 'PING a ok 2 SET a ok 2' "$(made .out)" 'the runs of --runs are made nevertheless'
test_match '^vkb-load: at least 2 runs of each of 2 cases, at most .*s; a case ends when it is decided$' \
  .err 'a message says what will be measured'
test_match '^vkb-load: 2 of 2 cases are undecided after [0-9.]*s: SET \(rps not known yet, margin 2 %, server_cpu_us_per_req not known yet, margin 2 %\), PING \(.*\); .--budget [0-9]+. gives them more$' \
  .err 'a message at the end names the cases that are undecided'
test_that 'a quiet session' load -q --runs 1 --budget 1ms
test_empty_file .err 'with -q nothing is printed'
test_same 'PING - ok 1 SET - ok 1' "$(made .out | sed 's/valkey-server/-/g')" 'one run is enough'
{ build a "$server"; build bad /bin/false; build c "$server"; } >builds
test_status 2 'a build that fails' load --builds builds --runs 3 --budget 1ms --case SET
test_same 'SET a ok 3 SET bad failed 3 SET c ok 3' "$(made .out)" \
  'a build that fails three times is not run again, the others are'
test_match 'bad: failed 3 times in a row, and is not run again' .err 'a message says so'

# --- decided and undecided cases

# judged FILE OF_SET OF_PING: prints the runs with other numbers; "$i" is the run, "$b" 1 for
# the build b.
judged() {
  jq -c '(.run.index) as $i | (if .subject.label == "b" then 1 else 0 end) as $b |
    .metrics = {requests: 100, elapsed_s: 1, rps: (if .config.command == "SET" then '"$2"' else '"$3"' end)}' "$1"
}
load -q --runs 3 --label a -o three
# shellcheck disable=SC2016 # jq's variables
judged three '100 + $i / 100' '100 * $i * $i' >known
cp known r
test_that 'a case that is decided, and one that is not' load -v --label a --runs 3 --budget 200ms --resume r
test_same 'SET a ok 3' "$(made r | grep -o 'SET.*')" 'the case that is decided is not run again'
n=$(made r | sed 's/PING a ok \([0-9]*\).*/\1/')
test_result "$((n < 4))" "the other one continues: $n runs"
test_match '^vkb-load: SET.*: decided, the same after 3 runs$' .err '-v tells which case is decided'
test_match '^vkb-load: PING.*: open after 3 runs: rps \+-[0-9]+ %, margin 2 %$' .err \
  '-v tells what is open'
test_match '^vkb-load: PING run 4: .* req/s' .err 'runs have no last number'
test_match '1 of 2 cases is undecided after .*: PING \(rps .*\); .* gives it more' .err \
  'the case that is open at the end is named'
# shellcheck disable=SC2016 # jq's variables
judged three '100 + $i / 100' 'pow(1000; $i)' |
  jq -c '.metrics.server_cpu_us_per_req = .metrics.rps' >r
test_that 'a case that is out of reach' load -v --label a --runs 3 --budget 60s --resume r
test_match '^PING a ok [4-9] SET a ok 3$' "$(made r >got; echo got)" \
  'a case that the rest of the budget cannot decide ends'
test_match '^vkb-load: PING.*: given up after [4-9] runs: rps' .err '-v tells that it is given up'
test_match '1 of 2 cases is undecided after [0-9.]*s: PING \(rps .*, margin 2 %: given up, as (about [0-9]+ more runs, [0-9hms]+|no number of runs) would decide it\)' \
  .err 'the message at the end says so, and what would decide it'
for how in random interleaved; do
  cp known r
  test_that "the order $how" load -q --label a --order $how --runs 3 --budget 200ms --resume r
  test_match '^PING a ok ([4-9]|[0-9]{2,}) SET a ok 3$' "$(made r >got; echo got)" \
    "$how: only the case that is open continues"
done
# shellcheck disable=SC2016 # jq's variables
judged three 100 '10 + $i / 1000' >known
cp known r
test_that 'a session that is decided' load --label a --runs 3 --budget 99h --resume r
test_same 'vkb-load: 6 runs are finished already' "$(cat .err)" 'no message names undecided cases'
test_that 'when all is decided, no run is made' cmp known r

{ build a "$server"; build b "$server"; } >builds
test_status 2 'builds one after the other cannot end when they are decided' \
  vkb-load -q --order sequential --budget 1m --builds builds c.json
test_match "'--budget' cannot be combined with '--order sequential'" .err 'the error says why'
load -q --builds builds --runs 3 -o both
# shellcheck disable=SC2016 # jq's variables
judged both '100 + 10 * $b + $i / 100' '100 * ($b + $i) * $i' >r
test_that 'two builds' load -v --builds builds --runs 3 --budget 200ms --resume r
test_match '^PING a ok ([4-9]|[0-9]{2,}) PING b ok \1 SET a ok 3 SET b ok 3$' "$(made r >got; echo got)" \
  'both builds of the case that is open have more runs'
test_same true "$(jq -s 'map(select(.run.index > 3)) | group_by(.run.block) |
  all(length == 2 and .[0].run.seed == .[1].run.seed)' r)" 'these are rounds'
test_match '^vkb-load: SET.*: decided, changed after 3 runs$' .err 'a change of 10 % decides'
# How many runs are missing is asked of one plan.
load -q --builds builds --case PING --duration 50ms --runs 7 -o seven
# shellcheck disable=SC2016 # jq's variables
judged seven 100 '100 + 3 * ((7 * $i + 5 * $b) % 11) + 9 * $b' |
  jq -c '.metrics.server_cpu_us_per_req = .metrics.rps' >r
load --builds builds --case PING --duration 50ms --runs 7 --budget 1ms --resume r 2>.err
jq -c 'if .subject.label == "b" then .subject.binary_sha256 = "b" else . end' r >other
vkb-compare -b a -f jsonl other >.out
more=$(sed -n 's/.*about \([0-9]*\) more runs.*/\1/p' .err)
test_same true "$(jq -s --argjson more "${more:-0}" 'map(select(.type == "delta" and
  (.metric | IN("rps", "server_cpu_us_per_req"))).needed.runs) | max |
  if . > 20 and (. / ($more + 7) - 1 | fabs < .1) then true else [., $more] end' .out)" \
  'vkb-compare names as many runs as vkb-load'

if command -v script >/dev/null; then
  script -qc "vkb-load --runs 2 --budget 1s --case SET --duration 250ms c.json >tty.runs" screen \
    >/dev/null </dev/null
  tr '\r' '\n' <screen >lines
  test_match '^.\[KSET run 1.*, at most [0-9]+ s left' lines \
    'terminal: the time that is left is a limit'
else
  test_skip 'progress' script
fi

# --- interruptions

killed() { # killed USEC COMMAND...: sends SIGKILL after so many microseconds
  perl -e '
    my $t = shift; my $pid = fork // die;
    if (!$pid) { exec @ARGV or exit 127 }
    select undef, undef, undef, $t / 1e6;
    kill 9, $pid; waitpid $pid, 0' "$@"
}
: >k
for usec in 150000 250000 350000; do
  killed $usec vkb-load --label a --runs 4 --budget 1ms --resume k c.json 2>>said </dev/null
done
load --label a --runs 4 --budget 1ms --resume k 2>said
test_match '^PING a ok ([4-9]|[0-9]{2,}) SET a ok \1$' "$(made k >got; echo got)" \
  'killed three times: the session is complete'
test_litter 10 'no server and no file is left'
test_that 'another number of runs, without a budget' load --label a --runs 30 --resume k
test_same 'PING a ok 30 SET a ok 30' "$(made k)" 'finished runs are taken whatever the options were'

# A pair has runs of one block in one session.
load --builds builds --runs 14 --case 'SET*' -o pairs 2>said
head -n 13 pairs >r # six blocks and half of the seventh
load --builds builds --runs 14 --case 'SET*' --resume r 2>said
test_same '28 2' "$(wc -l <r | tr -d ' ') $(jq -r .run.session r | sort -u |
  wc -l | tr -d ' ')" 'a resumed session has 28 runs in two sessions'
test_that 'vkb-compare with both sessions' vkb-compare --baseline a --margin 99% -f jsonl r
test_same '[true,[13,13]]' "$(jq -c 'select(.metric == "rps") |
  [.paired, .n]' .out)" 'the runs are paired, except those of the block that was interrupted'
vkb-stats r >summaries
test_that 'vkb-compare with their summaries' vkb-compare --baseline a --margin 99% -f jsonl \
  summaries
test_same '[true,[13,13]]' "$(jq -c 'select(.metric == "rps") |
  [.paired, .n]' .out)" 'the summaries are paired in the same way'
test_done
