#!/bin/sh
# vkb-load --runs MIN..MAX --until: looks, stops and continues. What decides is a
# number that is exact (requests of a run that makes so many) or never is.
. "${0%/*}/lib.sh"

test_server 'adaptive runs'
base='"keyspacelen":[50],"data_sizes":[16],"pipelines":[1],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0'
printf '[{"commands":["SET","GET"],%s,"requests":[200]}]\n' "$base" >c.json
printf '[{"commands":["SET"],%s,"requests":[200]},{"commands":["PING"],%s,"duration":0.05}]\n' \
  "$base" "$base" >mixed.json

# --- options

test_status 2 'no precision' vkb-load --runs 3..5 c.json
test_match "'3..5' needs '--until'" .err 'is asked for'
test_status 2 'no range' vkb-load --runs 3 --until 1% c.json
test_match "'--until' needs '--runs MIN..MAX'" .err 'is asked for'
test_status 2 'backwards' vkb-load --runs 5..3 --until 1% c.json
test_match "'5..3' is not auto, N or MIN..MAX" .err 'is refused'
test_status 2 'an unknown metric' vkb-load --runs 3..5 --until speed=1% c.json
test_match "no metric is called 'speed'" .err 'is named'
test_that 'a plan' vkb-load --plan --runs 5..30 --until 1% --until \
  p99_latency_ms=5% c.json
test_match '^vkb-load: looks after 5, 7, 10, 15, 21 and 30 runs of each case, until \+-1 %, p99_latency_ms \+-5 %$' \
  .err 'says when it would look'
cp .out looked
vkb-load --plan c.json </dev/null >plan
test_that 'and is the same' cmp plan looked

# --- it stops, it continues

test_that 'precise at once' vkb-load -q --runs 3..8 --until requests=1% c.json
test_empty_file .err 'nothing is printed on stderr'
test_same 6 "$(wc -l <.out | tr -d ' ')" 'ends after the first look'
test_same '{"looks":[3,4,6,8],"until":{"requests":0.01}}' \
  "$(jq -c '.run | {looks, until}' .out | sort -u)" 'the runs say so'
test_that 'never precise' vkb-load --runs 3..5 --until 0.001% --case 'SET*' \
  c.json
test_same 5 "$(wc -l <.out | tr -d ' ')" 'ends at the most'
test_match ': not precise after 5 runs: rps \+-.* %, wanted 0.001 %$' .err \
  'and says what is missing'
test_match '1 of 1 cases are less precise than wanted' .err 'and how many'
test_same '{"rps":0.00001}' "$(jq -c .run.until .out | sort -u |
  sed 's/1e-05/0.00001/')" 'of rps, by default'
test_that 'a rate' vkb-load --rate 5000 --runs 3..4 --until 0.001% \
  --case 'SET*' c.json
test_same '["p50_latency_ms"]' "$(jq -c '.run.until | keys' .out | sort -u)" \
  'of the latency where the rate is fixed'
test_that 'both' vkb-load --runs 3..4 --until requests=5% --until rps=0.001% \
  --until requests=2% --case 'SET*' c.json
test_same '{"requests":0.02,"rps":0.00001}' "$(jq -c .run.until .out | sort -u |
  sed 's/1e-05/0.00001/')" 'the narrower of two counts'
test_same 4 "$(wc -l <.out | tr -d ' ')" 'all have to be met'
test_that 'one that is not' vkb-load -v --runs 3..6 --until requests=0.001% \
  mixed.json
test_same 'PING 6 SET 3' "$(jq -r .config.command .out | sort | uniq -c |
  awk '{ print $2, $1 }' | xargs)" 'does not hold the others'
test_match 'SET.*: look 1 of 3, after 3 runs: requests \+-0 %, wanted 0.001 %: enough' \
  .err '-v says each look'
test_match 'PING run 4/6, \+-.* %: .* req/s' .err \
  'and where it stands'
test_that 'a fixed number' vkb-load --runs 2 --case 'SET*' c.json
test_same 'false false' "$(jq -r '.run | has("looks"), has("until")' .out |
  sort -u | xargs) false" 'looks at nothing'
for how in random sequential; do
  test_that "$how" vkb-load --order $how --runs 3..6 --until requests=0.001% \
    mixed.json
  test_same 'PING 6 SET 3' "$(jq -r .config.command .out | sort | uniq -c |
    awk '{ print $2, $1 }' | xargs)" "$how: stops as well"
done
test_that 'a shard' vkb-load --shard 2/2 --runs 3..6 --until requests=1% c.json
test_same 'GET 3' "$(jq -r .config.command .out | uniq -c |
  awk '{ print $2, $1 }')" 'a shard: stops as well'

if command -v script >/dev/null; then
  script -qc "vkb-load --runs 3..6 --duration 250ms --until requests=0.001% \
    --case 'PING*' mixed.json >tty.runs" screen >/dev/null </dev/null
  tr '\r' '\n' <screen >lines
  test_match 'at most 6 runs of 1 case, about ' lines 'terminal: how many'
  test_match 'PING.*: look 1 of 3, after 3 runs: requests \+-.* %, wanted 0.001 %' \
    lines 'terminal: each look'
  test_match 'looks after 3, 4 and 6 runs of each case, until requests' lines \
    'terminal: when it looks'
  test_match '^.\[KPING run 1/6.*, at most [0-9]+ s left' lines \
    'terminal: how long at most'
  test_match '^.\[KPING run 4/6, \+-[^ ]* %[ ,]' lines \
    'terminal: what is known'
else
  test_skip 'progress' script
fi

# --- several builds

build() {
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$1" "$2"
}
{ build a "$server"; build b "$server"; } >builds
test_that 'two builds' vkb-load --builds builds --runs 3..6 \
  --until requests=0.001% mixed.json
test_same '["PING","a",6] ["PING","b",6] ["SET","a",3] ["SET","b",3]' \
  "$(jq -s -c 'group_by(.config.command, .subject.label)[] |
    [.[0].config.command, .[0].subject.label, length]' .out | xargs -0 |
  tr '\n' ' ' | sed 's/ *$//')" 'have the same number'
test_same true "$(jq -s 'group_by(.config.command, .run.block) |
  all(length == 2 and .[0].run.block == .[0].run.index and
    .[0].run.seed == .[1].run.seed)' .out)" 'in blocks'
{ build a "$server"; build bad /bin/false; build c "$server"; } >builds
test_status 2 'a build that fails' vkb-load --builds builds --runs 3..5 \
  --until requests=1% --case 'SET*' c.json
test_same 'a ok 3 bad failed 3 c ok 3' "$(jq -r \
  '[.subject.label, .status] | join(" ")' .out | sort | uniq -c |
  awk '{ print $2, $3, $1 }' | xargs)" 'is tried three times, the others go on'
test_match 'bad: failed 3 times in a row, and is not run again' .err 'a warning says that the case is not run again'
test_status 2 'nothing but failures' vkb-load --server /bin/false --runs 3..9 \
  --until 1% --case 'SET*' c.json
test_same 3 "$(wc -l <.out | tr -d ' ')" 'end'

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
test_same 0 $left 'it decides as if it had not been interrupted'
cp whole r
want --resume r 2>said
test_that 'the whole is whole' cmp whole r
test_match '9 runs are finished already' said 'a message says that all runs are finished'
test_match 'PING.*: not precise after 6 runs: ' said 'a message names the precision that was reached'

killed() { # killed USEC COMMAND...: SIGKILL after so many microseconds
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
test_same "$(key whole)" "$(key k)" 'killed five times: complete'
test_litter 10 'nothing is left'

for other in '--runs 3..7 --until requests=0.001%' \
  '--runs 3..6 --until requests=1%' '--runs 6'; do
  cp whole r
  # shellcheck disable=SC2086 # several words
  test_status 2 "going on with $other" load $other --resume r mixed.json
  test_match "'r': run 1 of SET.* was made with another '--runs MIN..MAX' or" \
    .err 'is refused'
  test_that 'and nothing is written' cmp whole r
done
load --runs 3 -o fixed mixed.json
test_status 2 'looking on at a fixed number' want --resume fixed
test_match "'fixed': run 1 of SET" .err 'is refused too'

# The comparison judges by what the looks left of alpha: of two, the first
# after 6 of 8 runs, .05 ln(1 + (e - 1) 6/8) = .0414.
{ build a "$server"; build b "$server"; } >builds
load --builds builds --runs 6..8 --until requests=1% --case 'SET*' -o looked \
  c.json
for of in 'cat looked' 'vkb-stats looked'; do
  $of >in.jsonl
  vkb-compare --baseline a --margin 99% -f jsonl in.jsonl >out </dev/null
  test_same '[true,0.0414]' "$(jq -c 'select(.metric == "rps") |
    [.paired, (.level * 10000 | round / 10000)]' out)" \
    "$of: compared at its level"
done
load --builds builds --runs 6 --case 'SET*' -o fixed6 c.json
test_that 'a fixed number' vkb-compare --baseline a --margin 99% -f jsonl fixed6
test_same null "$(jq -c 'select(.metric == "rps") | .level' .out)" \
  'has all of alpha'

# Blocks are pairs within the session that measured them.
{ build a "$server"; build b "$server"; } >builds
load --builds builds --runs 14 --case 'SET*' -o pairs c.json
head -n 13 pairs >r # six blocks and a half
load --builds builds --runs 14 --case 'SET*' --resume r c.json 2>said
test_same '28 2' "$(wc -l <r | tr -d ' ') $(jq -r .run.session r | sort -u |
  wc -l | tr -d ' ')" 'two sessions make one set'
test_that 'it is compared' vkb-compare --baseline a --margin 99% -f jsonl r
test_same '[true,[13,13]]' "$(jq -c 'select(.metric == "rps") |
  [.paired, .n]' .out)" 'in pairs, without the block that was cut in two'
vkb-stats r >summaries
test_that 'and as summaries' vkb-compare --baseline a --margin 99% -f jsonl \
  summaries
test_same '[true,[13,13]]' "$(jq -c 'select(.metric == "rps") |
  [.paired, .n]' .out)" 'as well'
test_done
