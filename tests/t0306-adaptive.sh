#!/bin/sh
# vkb-load --runs MIN..MAX --until: sequential looks, stopping and resuming. The metric
# is one that is precise at once (requests of a run with a number of requests) or never.
. "${0%/*}/lib.sh"

test_server 'adaptive runs'
base='"keyspacelen":[50],"data_sizes":[16],"pipelines":[1],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0'
printf '[{"commands":["SET","GET"],%s,"requests":[200]}]\n' "$base" >c.json
printf '[{"commands":["SET"],%s,"requests":[200]},{"commands":["PING"],%s,"duration":0.05}]\n' \
  "$base" "$base" >mixed.json

# --- options

test_status 2 '--runs MIN..MAX without --until' vkb-load --runs 3..5 c.json
test_match "'3..5' needs '--until'" .err 'the error asks for --until'
test_status 2 '--until without --runs MIN..MAX' vkb-load --runs 3 --until 1% c.json
test_match "'--until' needs '--runs MIN..MAX'" .err 'the error asks for --runs MIN..MAX'
test_status 2 'a range that ends before it begins' vkb-load --runs 5..3 --until 1% c.json
test_match "'5..3' is not auto, N or MIN..MAX" .err 'the error says which values are valid'
test_status 2 'an unknown metric' vkb-load --runs 3..5 --until speed=1% c.json
test_match "no metric is called 'speed'" .err 'the error names the unknown metric'
test_that 'a plan with --until' vkb-load --plan --runs 5..30 --until 1% --until \
  p99_latency_ms=5% c.json
test_match '^vkb-load: looks after 5, 7, 10, 15, 21 and 30 runs of each case, until \+-1 %, p99_latency_ms \+-5 %$' \
  .err 'a message has the looks and the conditions'
cp .out looked
vkb-load --plan c.json </dev/null >plan
test_that 'the plan is that without --until' cmp plan looked

# --- stopping and continuing

test_that 'a metric that is precise at once' vkb-load -q --runs 3..8 --until requests=1% c.json
test_empty_file .err 'nothing is printed on stderr'
test_same 6 "$(wc -l <.out | tr -d ' ')" 'the session ends after the first look'
test_same '{"looks":[3,4,6,8],"until":{"requests":0.01}}' \
  "$(jq -c '.run | {looks, until}' .out | sort -u)" 'the runs record looks and conditions'
test_that 'a metric that is never precise' vkb-load --runs 3..5 --until 0.001% --case 'SET*' \
  c.json
test_same 5 "$(wc -l <.out | tr -d ' ')" 'the session ends after the largest number of runs'
test_match ': not precise after 5 runs: rps \+-.* %, wanted 0.001 %$' .err \
  'a message has the precision that was reached'
test_match '1 of 1 cases are less precise than wanted' .err 'a message has the number of such cases'
test_same '{"rps":0.00001}' "$(jq -c .run.until .out | sort -u |
  sed 's/1e-05/0.00001/')" '--until without a metric is for rps'
test_that '--until with a rate' vkb-load --rate 5000 --runs 3..4 --until 0.001% \
  --case 'SET*' c.json
test_same '["p50_latency_ms"]' "$(jq -c '.run.until | keys' .out | sort -u)" \
  'with a rate --until without a metric is for the median latency'
test_that 'several conditions' vkb-load --runs 3..4 --until requests=5% --until rps=0.001% \
  --until requests=2% --case 'SET*' c.json
test_same '{"requests":0.02,"rps":0.00001}' "$(jq -c .run.until .out | sort -u |
  sed 's/1e-05/0.00001/')" 'of two conditions on one metric the narrower one is used'
test_same 4 "$(wc -l <.out | tr -d ' ')" 'the session continues until all conditions are met'
test_that 'one case that is never precise enough' vkb-load -v --runs 3..6 --until requests=0.001% \
  mixed.json
test_same 'PING 6 SET 3' "$(jq -r .config.command .out | sort | uniq -c |
  awk '{ print $2, $1 }' | xargs)" 'other cases stop meanwhile'
test_match 'SET.*: look 1 of 3, after 3 runs: requests \+-0 %, wanted 0.001 %: enough' \
  .err '-v prints each look'
test_match 'PING run 4/6, \+-.* %: .* req/s' .err \
  '-v prints the precision of each run'
test_that 'a fixed number of runs' vkb-load --runs 2 --case 'SET*' c.json
test_same 'false false' "$(jq -r '.run | has("looks"), has("until")' .out |
  sort -u | xargs) false" 'a fixed number of runs records no looks'
for how in random sequential; do
  test_that "$how" vkb-load --order $how --runs 3..6 --until requests=0.001% \
    mixed.json
  test_same 'PING 6 SET 3' "$(jq -r .config.command .out | sort | uniq -c |
    awk '{ print $2, $1 }' | xargs)" "$how: cases that are precise enough stop"
done
test_that 'a shard with --until' vkb-load --shard 2/2 --runs 3..6 --until requests=1% c.json
test_same 'GET 3' "$(jq -r .config.command .out | uniq -c |
  awk '{ print $2, $1 }')" 'a shard stops when it is precise enough'

if command -v script >/dev/null; then
  script -qc "vkb-load --runs 3..6 --duration 250ms --until requests=0.001% \
    --case 'PING*' mixed.json >tty.runs" screen >/dev/null </dev/null
  tr '\r' '\n' <screen >lines
  test_match 'at most 6 runs of 1 case, about ' lines 'terminal: the number of runs and the time are printed as limits'
  test_match 'PING.*: look 1 of 3, after 3 runs: requests \+-.* %, wanted 0.001 %' \
    lines 'terminal: each look is printed'
  test_match 'looks after 3, 4 and 6 runs of each case, until requests' lines \
    'terminal: the looks are printed first'
  test_match '^.\[KPING run 1/6.*, at most [0-9]+ s left' lines \
    'terminal: the time that is left is a limit'
  test_match '^.\[KPING run 4/6, \+-[^ ]* %[ ,]' lines \
    'terminal: the precision is printed'
else
  test_skip 'progress' script
fi

# --- several builds

build() {
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$1" "$2"
}
{ build a "$server"; build b "$server"; } >builds
test_that 'two builds with --until' vkb-load --builds builds --runs 3..6 \
  --until requests=0.001% mixed.json
test_same '["PING","a",6] ["PING","b",6] ["SET","a",3] ["SET","b",3]' \
  "$(jq -s -c 'group_by(.config.command, .subject.label)[] |
    [.[0].config.command, .[0].subject.label, length]' .out | xargs -0 |
  tr '\n' ' ' | sed 's/ *$//')" 'both builds have the same number of runs'
test_same true "$(jq -s 'group_by(.config.command, .run.block) |
  all(length == 2 and .[0].run.block == .[0].run.index and
    .[0].run.seed == .[1].run.seed)' .out)" 'the runs of a block are one of each build'
{ build a "$server"; build bad /bin/false; build c "$server"; } >builds
test_status 2 'a build that fails' vkb-load --builds builds --runs 3..5 \
  --until requests=1% --case 'SET*' c.json
test_same 'a ok 3 bad failed 3 c ok 3' "$(jq -r \
  '[.subject.label, .status] | join(" ")' .out | sort | uniq -c |
  awk '{ print $2, $3, $1 }' | xargs)" 'a build that fails three times is not run again, other builds are'
test_match 'bad: failed 3 times in a row, and is not run again' .err 'a warning says that the case is not run again'
test_status 2 'a build that always fails' vkb-load --server /bin/false --runs 3..9 \
  --until 1% --case 'SET*' c.json
test_same 3 "$(wc -l <.out | tr -d ' ')" 'after three failures the session ends'

# --- interruptions

load() { vkb-load "$@" </dev/null; }
key() {
  jq -c '[.config.command, .subject.label, .run.index, .status]' "$1" | sort
}
want() { load --runs 3..6 --until requests=0.001% "$@" mixed.json; }
want -o whole 2>said
left=0
for n in 1 3 5 7; do
  head -n $n whole >r
  sed -n $((n + 1))p whole | head -c 100 >>r
  want --resume r 2>said || left=$((left + 1))
  [ "$(key r)" = "$(key whole)" ] || left=$((left + 1))
done
test_same 0 $left 'after interruptions the session stops after the same runs'
cp whole r
want --resume r 2>said
test_that 'a complete session is not changed' cmp whole r
test_match '9 runs are finished already' said 'a message says that all runs are finished'
test_match 'PING.*: not precise after 6 runs: ' said 'a message has the precision that was reached'

killed() { # killed USEC COMMAND...: sends SIGKILL after so many microseconds
  perl -e '
    my $t = shift; my $pid = fork // die;
    if (!$pid) { exec @ARGV or exit 127 }
    select undef, undef, undef, $t / 1e6;
    kill 9, $pid; waitpid $pid, 0' "$@"
}
: >k
for usec in 150000 200000 250000 300000 350000; do
  killed $usec vkb-load --runs 3..6 --until requests=0.001% --resume k \
    mixed.json 2>>said </dev/null
done
want --resume k 2>said
test_same "$(key whole)" "$(key k)" 'killed five times: the session is complete'
test_litter 10 'no server and no file is left'

for other in '--runs 3..7 --until requests=0.001%' \
  '--runs 3..6 --until requests=1%' '--runs 6'; do
  cp whole r
  # shellcheck disable=SC2086 # several words
  test_status 2 "resuming with $other" load $other --resume r mixed.json
  test_match "'r': run 1 of SET.* was made with another '--runs MIN..MAX' or" \
    .err 'the error says that the runs have another rule'
  test_that 'the file is not changed' cmp whole r
done
load --runs 3 -o fixed mixed.json
test_status 2 'resuming runs of a fixed number with --until' want --resume fixed
test_match "'fixed': run 1 of SET" .err 'the error names the run'

# A pair has runs of one block in one session.
{ build a "$server"; build b "$server"; } >builds
load --builds builds --runs 14 --case 'SET*' -o pairs c.json
head -n 13 pairs >r # six blocks and half of the seventh
load --builds builds --runs 14 --case 'SET*' --resume r c.json 2>said
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
