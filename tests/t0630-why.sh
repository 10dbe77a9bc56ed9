#!/bin/sh
# vkb-why: a function that a commit made slow is named; what is wrong is reported
# before anything is built; after an interruption it continues.
# slow: what it runs is tested with the sanitizers elsewhere
. "${0%/*}/lib.sh"
if ! command -v perf >/dev/null; then
  test_skip vkb-why perf
  test_done
fi
test_server vkb-why
. "$tests/repo.sh"

real_repo
in_repo tag base
burn 20000 slow
printf '[{"commands":["SET","GET"],"requests":[1500],"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],"clients":[4],"rate":4000,"cluster_mode":false,"tls_mode":false,"warmup":0}]\n' >cfg.json

# --- refused before building

test_status 2 'nothing' vkb-why
test_match 'give two commits, a file' .err 'the error says what to give'
test_status 2 'an unknown option' vkb-why --nonsense a b cfg.json
test_status 2 'no rounds' vkb-why --rounds 0 base main cfg.json
test_status 2 'a bad time' vkb-why -C repo --time soon base main cfg.json
test_match "'--profile-time'" .err 'it is named'
test_status 2 'a file that is not there' vkb-why -C repo base main none.json
test_absent rounds .err 'five rounds are enough'
test_status 2 'fewer rounds than show something' \
  vkb-why --rounds 4 -C repo base main none.json
test_match '4 rounds are too few .*: 5 are needed .--rounds 5.$' .err \
  'too few rounds are an error before anything is built'
test_status 2 'no such case' sh -c 'cd repo && exec vkb-why base main ../cfg.json "LPOP*"'
test_match "taking the commits from this clone, '$PWD/repo'" .err 'in a clone its commits are meant'
test_match "LPOP" .err 'it is named'
test_status 2 'several cases' vkb-why -C repo base main cfg.json
test_match 'several cases match' .err 'the error says that several cases match'
test_match '^  SET-' .err 'one is named'
test_match '^  GET-' .err 'the other is named'
test_same 0 "$(find . -name builds.jsonl | wc -l | tr -d ' ')" 'nothing was built'

# --- the cause

why() {
  vkb-why -C repo --results r --rounds 2 --time 2s "$@" cfg.json 'SET*'
}
test_that 'vkb-why' why base main
cp .out out
test_match '(^|[^a-z_])read([^a-z_]|$)' r/time.txt 'the function is in the table'
test_absent 'not significant|too few samples' out 'only what changed is printed'
test_match '^[0-9]+ functions? did not change significantly: r/time.txt$' out 'and where the rest is'
test_match 'task_clock_ms_per_req' out 'and what a request costs'
test_match '^Counters of perf during the profiles' out 'under a title of its own'
test_match 'the functions are not counted, see above; their times follow' .err \
  'a server that cannot be counted is measured all the same'
test_match '<svg' r/diff.svg 'the differential flame graph'
test_match 'read' r/diff.svg 'has it too'
test_same 4 "$(find r -name perf.data | wc -l | tr -d ' ')" 'each was profiled twice'
test_same 'baseline contender' "$(jq -r .subject.label r/counts.jsonl | sort -u |
  xargs)" 'both were counted'

# What is there is not made again.
rm -r r/round-2/*@contender
touch stamp
test_that 'after an interruption' why base main
test_same 1 "$(find r -name perf.data -newer stamp | wc -l | tr -d ' ')" \
  'only what was missing is profiled'
for file in r/round-*/*/profile.json; do
  jq -c 'del(.per_req, .derived)' "$file" >bare && mv bare "$file"
done
test_that 'where no requests were counted' why base main
test_match '(^|[^a-z_])read([^a-z_]|$)' r/time.txt 'the functions are listed nevertheless'
test_match 'there is no table of counters' .err 'and why there is no more'
test_status 2 'another command in its place' why main base
test_match 'of another command: --anew deletes them' .err 'is refused'
test_litter 0 'no temporary file is left'
test_done
