#!/bin/sh
# vkb-bisect: sixteen commits of a real server; one makes it slower, and one
# cannot be built. The CPU time of the server is judged, as in t0530.
. "${0%/*}/lib.sh"
test_server 'bisecting'
. "$tests/repo.sh"

# Commit 1 is fast; 11 is slow; 8, in the middle, does not compile.
real_repo
in_repo tag c1
i=1
while [ $i -lt 16 ]; do
  i=$((i + 1))
  loops=$i
  # A hundred times the CPU time of a fast one, beside a margin of a factor of 2.5: a fast
  # run is short, and what a busy machine adds to one of them can be ten times its length.
  [ $i -lt 11 ] || loops=$((4000000 + i))
  [ $i -ne 8 ] || loops='no number'
  burn "$loops" "commit $i"
  in_repo tag c$i
done
cat >cfg.json <<'END'
[{"commands": ["SET"], "requests": [30], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
bisect() { # bisect DIR ARGUMENT...: vkb-bisect with these options for all
  dir=$1
  shift
  vkb-bisect -C repo --results "$dir" "$@" -- --runs 6 cfg.json -- \
    -m server_cpu_us_per_req --margin 60%
}

test_that 'vkb-bisect is exit 0' bisect r c4 c12
test_same "first bad commit: $(head_of c11)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" \
  'the first bad commit is the slow one'
test_match '^-  SET .* worse' .out 'the report has the numbers'
test_match "^Next: vkb-why -C repo $(in_repo rev-parse --short=12 c10) $(in_repo rev-parse --short=12 c11) r/cases.jsonl SET$" .out \
  'the report proposes the vkb-why command'
run_proposed "$(next_of .out)" >next 2>&1
test_same "$(head_of c10) $(head_of c11) SET" "$(jq -r '.subject.commit // .config.command' \
  why-results/builds.jsonl why-results/case.jsonl | xargs)" 'the command builds these commits and finds the case'
test_same "$(head_of c8) it cannot be built" \
  "$(sed -n 's/^skip //p' r/verdicts)" 'the commit that does not compile is skipped'
test_result "$(($(wc -l <r/verdicts) > 5))" 'at most five commits are tested'
while read -r verdict id _; do
  n=$(in_repo describe --tags "$id")
  case $verdict in
  good) [ "${n#c}" -lt 11 ] ;;
  bad) [ "${n#c}" -ge 11 ] ;;
  esac || echo "$verdict $n"
done <r/verdicts >wrong
test_empty_file wrong 'each verdict is right'
test_same true "$(jq -s 'group_by(.run.block) | all(length == 3)' \
  "$(find r/steps -name runs.jsonl | head -n 1)")" \
  'each commit is measured together with the good and the bad one'
test_empty "$(in_repo status --porcelain)$(in_repo bisect log 2>/dev/null)" \
  'the repository is unchanged'
cp .out first
test_that 'the same command is accepted again' bisect r c4 c12
test_match "resuming in 'r'" .err 'a message says that it resumes'
test_same "$(cat first)" "$(cat .out)" 'the second report is the same'
# Commit 10 once more, as if every other run of it had taken a hundred times as long.
mkdir h
cp -r r/bounds r/steps h # they are not measured again
of=h/steps/$(head_of c10)
jq -c 'if .type == "run" and .subject.label == "candidate" and .run.block % 2 == 1
  then .metrics.server_cpu_us_per_req *= 100 else . end' "$of/runs.jsonl" >varying
vkb-stats varying >"$of/summaries.jsonl"
test_status 2 'a search that ends with several commits is exit 2' bisect h c4 c12
test_match "^vkb-bisect: $(head_of c10 | cut -c 1-10): skip: it is not clearly different from either end: " \
  .err 'a commit whose runs vary too much is skipped'
test_same 'commit 10 commit 11' "$(sed -n 's/.* 20[0-9-]* //p' .out | sort | xargs)" \
  'it and the slow one remain'

test_status 2 'other commits in the same folder are an error' bisect r c1 c12
test_match 'of another command: --anew deletes them' .err 'the error names --anew'
test_status 1 '--anew with a search without a slowdown is exit 1' bisect r --anew c11 c16
test_match 'no slowdown of the bad commit is shown' .err 'the error says that no slowdown is shown'
test_status 1 'GOOD and BAD in the wrong order are exit 1' bisect w c16 c1
test_match 'no slowdown of the bad commit is shown' .err 'in the wrong order no slowdown is shown'
test_match 'swap GOOD and BAD\?' .err 'the message asks whether GOOD and BAD are swapped'

test_that 'a search without a number of runs is accepted' vkb-bisect -C repo --results until c10 c11 -- \
  cfg.json -- -m server_cpu_us_per_req --margin 60%
test_match 'at least [0-9]+ runs of 1 case, at most .*; a case ends when it is decided$' .err \
  'it measures until each case is decided'

# --- kills

# killed T: kills vkb-bisect after T tenths of a second if it still runs. A block that a kill
# interrupts is not a pair, so more runs are needed.
cat >killed.pl <<'END'
use Time::HiRes;
my $t = shift; my $pid = fork // die;
if (!$pid) { exec @ARGV or exit 127 }
$SIG{ALRM} = sub { kill 9, $pid };
Time::HiRes::ualarm(1e5 * $t);
waitpid $pid, 0; exit($? >> 8 || $? & 127);
END
killed() {
  perl killed.pl "$1" vkb-bisect -C repo --results k c10 c12 -- --runs 10 \
    cfg.json -- -m server_cpu_us_per_req --margin 60% >.out 2>.err </dev/null
}
kills=0
for t in 1 2 4 7 3 13 5 17 23 6000; do
  killed $t && break
  [ $? -eq 9 ] || cat .err
  kills=$((kills + 1))
done >broken
test_result "$((kills < 5))" "killed $kills times"
test_empty_file broken 'each start after a kill resumes'
test_same "$(head -n 1 first)" "$(head -n 1 .out)" 'the first bad commit is the same after kills'
test_empty "$(cut -d ' ' -f 2 k/verdicts | sort | uniq -d)" \
  'no commit is judged twice'
test_litter 10 'no server and no file is left'

# --- errors

test_status 2 'a commit that does not exist is an error' bisect e nothing c2
test_match "no commit 'nothing' in 'repo'" .err 'the error names the commit'
test_status 2 'a commit that does not exist in this clone is an error' sh -c 'cd repo &&
  exec vkb-bisect --results ../unnamed c1 nothing -- ../cfg.json'
test_match "no commit 'nothing' in '$PWD/repo'" .err 'the error names the clone'
test_status 2 'a commit name with control characters is an error' bisect e c1 "$(printf 'a\n\033[31mb')"
test_match "no commit 'a\\?\\?\\[31mb' in 'repo'" .err 'the error has the name on one line'
test_status 2 'a hostile commit name is an error' bisect e c1 "'; touch evil; '"
test_empty "$(find . -name evil)" 'the hostile name is not run as a command'
test_status 2 'a repository that does not exist is an error' vkb-bisect -C nowhere --results e c1 c2 -- cfg.json
test_status 2 'a search for a commit that does not exist, without a configuration' vkb-bisect -C repo --results usual c1 nothing
test_same "$(vkb-load --plan "$top/configs/quick.json")" "$(cat usual/cases.jsonl)" 'would measure the usual cases'
test_status 2 'a search without BAD is an error' vkb-bisect -C repo --results e c1 -- cfg.json
test_match 'GOOD and BAD are missing$' .err 'the error says what is missing'
test_status 2 'an unknown option is an error' vkb-bisect --nonsense c1 c2 -- cfg.json
test_match "unknown option '--nonsense'" .err 'the error names the option'
test_status 2 'an option after the commits is an error' vkb-bisect -C repo c1 c2 --metric=instructions_per_req -- cfg.json
test_match "option '--metric' must come before the operands" .err 'the error says where it belongs'
test_status 2 'an unknown option of vkb-compare is an error' vkb-bisect -C repo --results e c1 c2 \
  -- cfg.json -- --nonsense
test_match "^vkb-compare: unknown option '--nonsense'" .err 'the error is that of vkb-compare'
test_empty "$(find e -name runs.jsonl)" 'nothing is measured before that error'
test_empty "$(in_repo bisect log 2>/dev/null)" 'the repository has no bisection'
test_litter 10 'no server is left'
test_done
