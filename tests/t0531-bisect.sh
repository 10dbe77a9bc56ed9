#!/bin/sh
# vkb-bisect: sixteen commits of a real server; one makes it slower, and one
# cannot be built. The CPU time of the server is judged, as in t0530.
# slow: what it runs is tested with the sanitizers elsewhere
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
  [ $i -lt 11 ] || loops=$((100000 + i))
  [ $i -ne 8 ] || loops='no number'
  burn "$loops" "commit $i"
  in_repo tag c$i
done
cat >cfg.json <<'END'
[{"commands": ["SET"], "requests": [400], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
bisect() { # bisect DIR ARGUMENT...
  dir=$1
  shift
  vkb-bisect -C repo --results "$dir" "$@" -- --runs 8 cfg.json -- \
    -m server_cpu_us_per_req --margin 60%
}

test_that 'it ends' bisect r c1 c16
test_same "first bad commit: $(head_of c11)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" \
  'with the commit'
test_match '^-  SET .* worse' .out 'and the numbers'
test_match "^Next: vkb-why -C repo $(in_repo rev-parse --short=12 c10) $(in_repo rev-parse --short=12 c11) r/cases.jsonl SET$" .out \
  'and the whole command that shows why'
test_same "$(head_of c8) it cannot be built" \
  "$(sed -n 's/^skip //p' r/verdicts)" 'the one that does not compile is left out'
test_result "$(($(wc -l <r/verdicts) > 6))" 'in few steps'
while read -r verdict id _; do
  n=$(in_repo describe --tags "$id")
  case $verdict in
  good) [ "${n#c}" -lt 11 ] ;;
  bad) [ "${n#c}" -ge 11 ] ;;
  esac || echo "$verdict $n"
done <r/verdicts >wrong
test_empty_file wrong 'and each was judged rightly'
test_same true "$(jq -s 'group_by(.run.block) | all(length == 3)' \
  "$(find r/steps -name runs.jsonl | head -n 1)")" \
  'each beside the good and the bad one'
test_empty "$(in_repo status --porcelain)$(in_repo bisect log 2>/dev/null)" \
  'the repository is not changed'
cp .out first
test_that 'once more' bisect r c1 c16
test_match "resuming in 'r'" .err 'a message says that it resumes'
test_same "$(cat first)" "$(cat .out)" 'with what it knows'
test_status 2 'with other commits' bisect r c1 c12
test_match 'of another command: --anew deletes them' .err 'it does not'
test_status 1 'with --anew' bisect r --anew c11 c16
test_match 'no slowdown of the bad commit is shown' .err 'it does: c16 is no slower than c11'
test_status 1 'the wrong way round' bisect w c16 c1
test_match 'no slowdown of the bad commit is shown' .err 'is nothing to find'
test_match 'swap GOOD and BAD\?' .err 'and it says what it may be'

# --- killed again and again

# killed T: after T tenths of a second, if it still runs. A round that a kill
# cut through is not a pair, so it takes more runs.
cat >killed.pl <<'END'
use Time::HiRes;
my $t = shift; my $pid = fork // die;
if (!$pid) { exec @ARGV or exit 127 }
$SIG{ALRM} = sub { kill 9, $pid };
Time::HiRes::ualarm(1e5 * $t);
waitpid $pid, 0; exit($? >> 8 || $? & 127);
END
killed() {
  perl killed.pl "$1" vkb-bisect -C repo --results k c9 c13 -- --runs 12 \
    cfg.json -- -m server_cpu_us_per_req --margin 60% >.out 2>.err </dev/null
}
kills=0
for t in 1 2 4 3 5 7 11 13 3 17 9 23 15 4 19 31 6000; do
  killed $t && break
  [ $? -eq 9 ] || cat .err
  kills=$((kills + 1))
done >broken
test_result "$((kills < 5))" "killed $kills times"
test_empty_file broken 'it resumes after each failure'
test_same "$(head -n 1 first)" "$(head -n 1 .out)" 'it ends with the same commit'
test_empty "$(cut -d ' ' -f 2 k/verdicts | sort | uniq -d)" \
  'nothing was judged twice'
test_litter 10 'nothing is left'

# --- merges, and what cannot be narrowed down

in_repo checkout -q -b trunk c9
in_repo merge -q --no-ff -m merge c10
in_repo merge -q --no-ff -m 'merge slow' c12
in_repo tag merged
in_repo checkout -q -b side c10
echo 1 >repo/file
commit side
in_repo checkout -q trunk
in_repo merge -q --no-ff -m 'merge side' side
test_that 'with first parents' bisect m --first-parent c9 trunk
test_match '^first bad commit: .* merge slow$' .out 'it is the merge'
test_that 'without' bisect n c9 merged
test_match '^first bad commit: .* commit 11$' .out 'it is one of the side branch'
in_repo checkout -q -b around c7
burn 'no number' 'broken'
burn 200000 'very slow'
in_repo tag around
in_repo checkout -q trunk
test_status 2 'a good one beside' bisect a c5 around
test_match '^first bad commit, one of:$' .out 'one that does not compile'
test_same "broken very slow" "$(sed -n 's/.* 20[0-9-]* //p' .out | sort | xargs)" \
  'leaves two'
test_match 'cannot narrow it down further: 1 skipped as it cannot be built$' \
  .err 'and says why'

# Half as slow is within the margin on both sides.
in_repo checkout -q -b steps c1
burn 100000 'good'
in_repo tag good
burn 190000 'half'
burn 361000 'bad'
test_status 2 'a commit between both' bisect h good steps
test_same "bad half" "$(sed -n 's/.* 20[0-9-]* //p' .out | sort | xargs)" \
  'is not judged'
test_match ': 1 skipped as it is not clearly different from either end: the change is too small or the machine too noisy$' .err \
  'the reason is printed'
in_repo checkout -q trunk

# --- what is wrong

test_status 2 'no commit' bisect e nothing c2
test_match "no commit 'nothing' in 'repo'" .err 'is named'
test_status 2 'the same in a clone, which is not named' sh -c 'cd repo &&
  exec vkb-bisect --results ../unnamed c1 nothing -- ../cfg.json'
test_match "no commit 'nothing' in '$PWD/repo'" .err 'its commits are meant'
test_status 2 'one that is hostile' bisect e c1 "$(printf 'a\n\033[31mb')"
test_match "no commit 'a\\?\\?\\[31mb' in 'repo'" .err 'is named in one line'
test_status 2 'an attack' bisect e c1 "'; touch evil; '"
test_empty "$(find . -name evil)" 'the hostile name is not run as a command'
test_status 2 'no repository' vkb-bisect -C nowhere --results e c1 c2 -- cfg.json
test_status 2 'no configuration' vkb-bisect -C repo --results e c1 c2
test_match "'--' and a configuration are missing; usage:" .err 'the error says what is missing'
test_status 2 'no BAD' vkb-bisect -C repo --results e c1 -- cfg.json
test_match 'GOOD, BAD and what to measure are missing; usage:' .err 'the error says what is missing'
test_status 2 'an option' vkb-bisect --nonsense c1 c2 -- cfg.json
test_match "unknown option '--nonsense'" .err 'is named'
test_status 2 'a late option' vkb-bisect -C repo c1 c2 --metric=instructions_per_req -- cfg.json
test_match "option '--metric' must come before the operands" .err 'the error says where it belongs'
test_status 2 'a wrong one of vkb-compare' vkb-bisect -C repo --results e c1 c2 \
  -- cfg.json -- --nonsense
test_match "^vkb-compare: unknown option '--nonsense'" .err 'is named'
test_empty "$(find e -name runs.jsonl)" 'before anything was measured'
test_empty "$(in_repo bisect log 2>/dev/null)" 'no bisect was left in the repository'
test_litter 10 'no server is left'
test_done
