#!/bin/sh
# vkb-why begins with counts: how many more instructions each function executes for a
# request, and what causes them, exactly.
. "${0%/*}/lib.sh"
test_programs 'counts of vkb-why' perf valgrind
test_server 'counts of vkb-why'
. "$tests/repo.sh"

exact_repo
in_repo tag base
burn '40 2' 'more work'
printf '[{"commands":["SET"],"requests":[400],"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"rate":4000,"clients":[4],"cluster_mode":false,"tls_mode":false,"warmup":0}]\n' >cfg.json
LD_PRELOAD=$scratch/burn.so
export LD_PRELOAD
why() {
  vkb-why -C repo --results r --rounds 1 --time 1s "$@" cfg.json
}
test_that 'vkb-why with more work is accepted' why base main
cp .out out
test_match '^Counted, exactly. Counts are not time: ' out 'the counts are printed with a warning'
test_match '^SET: [0-9.]+ -> [0-9.]+ instructions per request, \+[0-9.]+ \(\+[0-9.]+%\)$' \
  out 'the totals of both sides are printed'
# There are two functions read: the one of the library calls the one of libc.
test_match '^\+[0-9.]+  read calls burn_memory: 1 time, not 0$' out \
  'the caller that allocates more is named'
test_match '^\+[0-9.]+  read calls burn_loops: 0.5 times, not 0$' out 'the caller that executes more is named'
test_match '^ +0.0000 +[0-9.]+ +\+[0-9.]+ +0.0000 +2.0[0-9]*  burn_memory$' out \
  'a function has counts and calls of both sides'
# "+155.00" of the first line, and the sum of the two lists.
test_same 'same same' "$(awk '
  /instructions per request/ { want = $(NF - 1) + 0 }
  /cause/ { list = 1; next }
  /^ *self  / { list = 2; next }
  /^$/ { list = 0 }
  list { for (i = 1; i <= NF; i++) if ($i ~ /^[+-]/) { sum[list] += $i; break } }
  function verdict(v) {
    return (v / want - 1) ^ 2 < 1e-6 ? "same" : v " of " want
  }
  END { print verdict(sum[1]), verdict(sum[2]) }' out)" 'causes and functions add up to the difference within 0.1 %'
test_match 'chains of three or more functions are estimates' r/exact.svg \
  'the graph says which chains are estimates'
test_match 'burn_memory' r/exact.svg 'the graph has the function'
test_match '^Measured, in samples of time:$' out 'the times follow the counts'
test_match 'task_clock_ms_per_req' out 'the times have the counters'
test_same 4 "$(jq -c 'select(.type == "run")' r/exact.jsonl | wc -l | tr -d ' ')" \
  'each build is counted on two servers'
touch stamp
test_that 'the same command is accepted again' why base main
test_empty "$(find r/exact.jsonl -newer stamp)" 'nothing is counted again'
sed 1,3d out >want
sed 1,3d .out >got
test_same "$(sed '/^Measured/q' want)" "$(sed '/^Measured/q' got)" 'the counts are the same'

# --- without valgrind

mkdir bare
for folder in /usr/bin /bin "$top"/bin; do
  ln -sf "$folder"/* bare
done
rm bare/valgrind
unset LD_PRELOAD
test_that 'vkb-why without valgrind is accepted' \
  env PATH="$PWD/bare" "$(command -v vkb-why)" -C repo --results b --rounds 1 --time 1s \
  base main cfg.json
test_match "the functions are not counted: valgrind is not in PATH, 'vkb-needs run' installs it" \
  .err 'a message names the command that installs valgrind'
test_absent 'Counted|Measured' .out 'without valgrind only times are printed'
test_match 'task_clock_ms_per_req' .out 'without valgrind the times have the counters'
test_same 1 "$(grep -c valgrind .err)" 'valgrind is named once'
rm bare/perf
test_status 2 'vkb-why without valgrind and perf is an error' \
  env PATH="$PWD/bare" "$(command -v vkb-why)" -C repo --results n base main cfg.json
test_match '^vkb-why: neither valgrind, .* nor perf, ' .err 'one message names both'
test_same 'n/asked n/case.jsonl' "$(echo n/*)" 'nothing is built'
test_same '*' "$(cat n/.gitignore)" 'the folder is hidden from git'
ln -sf "$(command -v valgrind)" bare
LD_PRELOAD=$scratch/burn.so
test_that 'vkb-why without perf is accepted' \
  env PATH="$PWD/bare" "$(command -v vkb-why)" -C repo --results r --rounds 1 --time 1s base main cfg.json
export LD_PRELOAD
cp .out .bare
cp .err .bare.err
vkb-ab --no-page -C repo base mine=main -- --count-only cfg.json >ab.out 2>&1
test_that 'vkb-why begins with the builds of vkb-ab' env PATH="$PWD/bare" "$(command -v vkb-why)" --results w
test_match "^vkb-why: beginning with the builds of 'ab-results', base and mine\$" .err 'a message has their labels'
test_match '^[+][0-9.]+  read calls burn_loops: 0.5 times, not 0$' .out 'the counts are printed'
test_same "$(jq -r 'select(.type == "run") | .run.session' ab-results/runs.jsonl | sort -u)" \
  "$(jq -r 'select(.type == "run") | .run.session' w/exact.jsonl | sort -u)" 'they are those of vkb-ab'
short() { git -C repo rev-parse --short=12 "$1"; }
test_that 'the command that vkb-ab proposes' env PATH="$PWD/bare" "$(command -v vkb-why)" --results c -C repo \
  "$(short base)" "$(short main)" ab-results/cases.jsonl SET
test_match "^vkb-why: beginning with the builds of 'ab-results', base and mine\$" .err 'begins with its builds, too'
test_same "$(jq -r 'select(.type == "run") | .run.session' ab-results/runs.jsonl | sort -u)" \
  "$(jq -r 'select(.type == "run") | .run.session' c/exact.jsonl | sort -u)" 'and with what it has counted'
test_that 'the same with the sides swapped' env PATH="$PWD/bare" "$(command -v vkb-why)" --results d -C repo \
  "$(short main)" "$(short base)" ab-results/cases.jsonl SET
test_absent 'beginning with' .err 'builds both'
digit=$(git -C repo rev-parse base | cut -c 1)
git -C repo branch "$digit" main
test_that 'a branch whose name is the first digit of the base' env PATH="$PWD/bare" "$(command -v vkb-why)" \
  --results d --anew -C repo "$digit" "$(short main)" ab-results/cases.jsonl SET
test_absent 'beginning with' .err 'is not the base'
vkb-ab --no-page --anew -C repo base=main mine=base -- --count-only cfg.json >ab.out 2>&1
test_that 'vkb-why after another vkb-ab' env PATH="$PWD/bare" "$(command -v vkb-why)" --results w
test_match "'ab-results' has other builds than 'w': these begin again" .err 'a message says that it begins again'
test_same "$(jq -r 'select(.type == "run") | .run.session' ab-results/runs.jsonl | sort -u)" \
  "$(jq -r 'select(.type == "run") | .run.session' w/exact.jsonl | sort -u)" 'the counts are those of the newer vkb-ab'
old=$(jq -r 'select(.subject.label == "baseline") | .server' r/builds.jsonl)
new=$(jq -r 'select(.subject.label == "contender") | .server' r/builds.jsonl)
test_that 'vkb-why of servers that are built' \
  env PATH="$PWD/bare" "$(command -v vkb-why)" --results p "old=$old" "new=$new" cfg.json
test_match '^[+][0-9.]+  read calls burn_loops: 0.5 times, not 0$' .out 'their functions are counted'
test_match 'old -&gt; new, SET' p/exact.svg 'the graph has their labels'
test_status 2 'without a FILE' env PATH="$PWD/bare" "$(command -v vkb-why)" --results q "old=$old" "new=$new"
test_match '^  SET-d16-P10-' .err 'the cases of vkb-ab are named'
test_status 2 'a CASE without a FILE' env PATH="$PWD/bare" "$(command -v vkb-why)" --results q "old=$old" "new=$new" 'GET*'
test_same 'GET-d16-P1- GET-d16-P10-' "$(grep -o '^  GET-d16-P1*0*-' .err | xargs)" 'those that match are named'
test_absent 'SET' .err 'and no others'
test_status 2 'a commit and a server' vkb-why -C repo base "new=$new" cfg.json
test_match "give two commits or two servers; .vkb ab. compares" .err 'the message says what to do'
test_status 2 'options of a build with servers' vkb-why "old=$old" "new=$new" cfg.json -- --tls
test_match 'options of vkb-build exclude servers that are built' .err 'the message says so'
test_status 2 'what is neither' vkb-why base new=nothing cfg.json
test_match "'new=nothing' is neither a commit nor NAME=PATH of a server" .err 'the message names it'
rm ab-results/runs.jsonl
run_proposed 'vkb-why --results x' >none 2>none.err
test_match '^vkb-why: the functions are not counted' none.err 'builds of vkb-ab that were not measured are accepted'
(mkdir empty && cd empty && vkb-why) >.out 2>.err
test_match "'ab-results' of vkb-ab is not here" .err 'without commits and without builds of vkb-ab the error says so'
mv .bare .out
mv .bare.err .err
unset LD_PRELOAD
test_same "$(sed '/^Measured/,$d' out | sed '$d')" "$(cat .out)" 'without perf only counts are printed'
test_same 1 "$(grep -c 'perf' .err)" 'perf is named once'
test_litter 10 'no server and no file is left'
test_done
