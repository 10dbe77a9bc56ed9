#!/bin/sh
# vkb-why names a function that a commit made slow; errors are reported
# before anything is built; an interrupted vkb-why resumes.
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

# --- errors before a build

test_status 2 'no argument is an error' vkb-why
test_match 'give two commits or servers, a file' .err 'the error says what to give'
test_status 2 'an unknown option is an error' vkb-why --nonsense a b cfg.json
test_status 2 '--rounds 0 is an error' vkb-why --rounds 0 base main cfg.json
test_status 2 'an invalid time is an error' vkb-why -C repo --time soon base main cfg.json
test_match "'--profile-time'" .err 'the error names the option of the time'
test_status 2 'a configuration that does not exist is an error' vkb-why -C repo base main none.json
test_absent rounds .err 'five rounds are enough'
test_status 2 'four rounds are an error' \
  vkb-why --rounds 4 -C repo base main none.json
test_match 'fewer than 5 rounds show only a large change .* .--rounds 5.$' .err \
  'the error has the least number of rounds'
test_status 2 'a case that does not exist is an error' sh -c 'cd repo && exec vkb-why base main ../cfg.json "LPOP*"'
test_match "taking the commits from this clone, '$PWD/repo'" .err 'a message says that the commits are those of this clone'
test_match "LPOP" .err 'the error names the case'
test_status 2 'a configuration with several cases is an error' vkb-why -C repo base main cfg.json
test_match 'name one of these cases:' .err 'the error asks for one, and has their names'
test_match '^  SET-' .err 'the error lists the first case'
test_match '^  GET-' .err 'the error lists the second case'
test_same 0 "$(find . -name builds.jsonl | wc -l | tr -d ' ')" 'nothing is built before these errors'

# --- the cause

why() {
  vkb-why -C repo --results r --rounds 2 --time 2s "$@" cfg.json 'SET*'
}
test_that 'vkb-why accepts a slower commit' why base main
cp .out out
test_match '(^|[^a-z_])read([^a-z_]|$)' r/time.txt 'the table has the function'
test_absent 'not significant|too few samples' out 'only functions that changed are printed'
test_match '^[0-9]+ functions? did not change significantly: r/time.txt$' out 'the output names the file with the other functions'
test_match 'task_clock_ms_per_req' out 'the output has the CPU time per request'
test_match '^Counters of perf during the profiles' out 'the counters have a title'
test_match 'the functions are not counted: vkb-load ended with status [12]; their times follow' .err \
  'a message says that the functions are not counted'
test_match '<svg' r/diff.svg 'a differential flame graph is made'
test_match 'read' r/diff.svg 'the flame graph has the function'
test_same 4 "$(find r -name perf.data | wc -l | tr -d ' ')" 'each commit is profiled twice'
test_same 'baseline contender' "$(jq -r .subject.label r/counts.jsonl | sort -u |
  xargs)" 'both commits are counted'

# Existing profiles are not made again.
rm -r r/round-2/*@contender
touch stamp
test_that 'the same command is accepted after an interruption' why base main
test_same 1 "$(find r -name perf.data -newer stamp | wc -l | tr -d ' ')" \
  'only the missing profile is made'
for file in r/round-*/*/profile.json; do
  jq -c 'del(.per_req, .derived)' "$file" >bare && mv bare "$file"
done
test_that 'profiles without requests are accepted' why base main
test_match '(^|[^a-z_])read([^a-z_]|$)' r/time.txt 'the functions are listed without requests'
test_match 'there is no table of counters' .err 'a message says that the table of counters is left out'
test_status 2 'another command in the same folder is an error' why main base
test_match 'of another command: --anew deletes them' .err 'the error names --anew'
test_litter 0 'no temporary file is left'
test_done
