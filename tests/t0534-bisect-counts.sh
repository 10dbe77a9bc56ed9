#!/bin/sh
# vkb-bisect --metric: eight commits of a real server; one executes more instructions
# for each request and another one allocates more; both are found by counts,
# although the machine is busy, and each commit is counted once.
. "${0%/*}/lib.sh"
if ! command -v valgrind >/dev/null; then
  test_skip 'vkb-bisect --metric' valgrind
  test_done
fi
test_server 'bisecting by counts'
. "$tests/repo.sh"

# Fifty requests are one read: 3 allocates once more for each, 4 does not compile, 6 has a loop; the others change
# nothing or almost nothing.
exact_repo
in_repo tag c1
i=1
for numbers in '50 0' '50 50' 'no number' '100 50' '2000 50' '2050 50' '2050 50 '; do
  i=$((i + 1))
  burn "$numbers" "commit $i"
  in_repo tag c$i
done
cat >cfg.json <<'END'
[{"commands": ["SET"], "requests": [1000], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [50], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
LD_PRELOAD=$scratch/burn.so
export LD_PRELOAD
bisect() { # bisect DIR METRIC ARGUMENT...: vkb-bisect --metric with results in DIR
  dir=$1 metric=$2
  shift 2
  vkb-bisect -C repo --results "$dir" --metric "$metric" "$@" -- cfg.json
}
# knows DIR OTHER...: copies the counts of the OTHERs to DIR; a count has all
# metrics, so it can be used by other searches.
knows() {
  mkdir -p "$1/counts"
  knowing=$1
  shift
  for other; do
    cp -r "$other"/counts/* "$knowing/counts"
  done
}

test_that 'instructions are bisected' bisect r instructions_per_req c4~1 c8
test_same "first bad commit: $(head_of c6)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" \
  'the commit with the loop is found'
test_match '^-  SET  [0-9.]*K -> [0-9.]*K  *[0-9.]*% higher  *[+][0-9]+ in burn_loops  *more work$' .out \
  'the report has the instructions'
test_match '^vkb-bisect: [0-9a-f]*: bad: SET executes [0-9.]*% more instructions per request \(\+[0-9]+ in burn_loops\)' \
  .err 'the message for a bad commit has the instructions'
test_match '^vkb-bisect: [0-9a-f]*: good: against it the bad commit is worse: SET executes ' \
  .err 'the message for a good commit has them, too'
for runs in r/counts/*/runs.jsonl; do
  jq -s 'map(select(.type == "run")) | length == 2 and all(.counted)' "$runs"
done | sort -u >all
test_same true "$(cat all)" 'each commit was counted on two servers, and not measured'
test_empty "$(find r -name part.jsonl)" 'nothing is measured in addition'
test_result "$(($(wc -l <r/verdicts) > 4))" 'at most four commits are tested'
cp .out first
touch stamp
test_that 'the same command continues' bisect r instructions_per_req c4~1 c8
test_same "$(cat first)" "$(cat .out)" 'the second report is the same'
test_empty "$(find r/counts -name runs.jsonl -newer stamp)" 'no commit is counted again'

knows a r
test_that 'allocations are bisected' bisect a allocations_per_req c1 c8
test_same "first bad commit: $(head_of c3)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" \
  'the commit that allocates once more is found'
test_match '^-  SET  4[.]001 -> 5[.]001 .* more work$' .out 'the report has one more allocation'
test_match '^More work: SET [(]25[.]0% more allocations[)][.]$' .out 'the report has the size of the change'

knows n r a
test_status 1 'two equal commits are exit 1' bisect n instructions_per_req c7 c8
test_match 'the bad commit is not worse: instructions_per_req is within its margin' .err \
  'two equal commits are within the margin'
knows w r a
test_status 1 'GOOD and BAD in the wrong order are exit 1' bisect w instructions_per_req c8 c1
test_match "^Comparing $(in_repo rev-parse c1 | cut -c 1-10) against " w/bounds-report \
  'the report of both ends compares the bad commit with the good one'
test_match 'the good commit is worse than the bad one: swap GOOD and BAD\?' .err \
  'the message asks whether GOOD and BAD are swapped'

# --- servers that disagree: judged where the change is beyond what they differ by

in_repo checkout -q -b trunk c1
for loops in '0 0 3000' '0 0 1' '3000 0 45000'; do
  burn "$loops" "loose $loops"
done
burn '3000 0' 'slow'
in_repo tag slow
knows l a
test_that 'commits whose two servers disagree are bisected' bisect l instructions_per_req c1 slow
test_match 'its instructions are not exact: ' .err 'a message says that the instructions of a commit are not exact'
test_same "bad $(head_of slow~1) good $(head_of slow~2)" \
  "$(cut -d ' ' -f 1,2 l/verdicts | sort | xargs)" \
  'they are judged where the change is beyond what their servers differ by'
test_same "first bad commit: $(head_of slow~1)" "$(head -n 1 .out | cut -d ' ' -f 1-4)" \
  'the commit is found'
knows b l
test_that 'so are GOOD and BAD' bisect b instructions_per_req slow~2 slow~1
in_repo checkout -q slow~3
burn '3000 0' 'slow at once'
knows e l
test_status 2 'a commit whose two servers differ by more than the change is exit 2' \
  bisect e instructions_per_req c1 HEAD
test_same "$(head_of HEAD~1) servers of one commit differ by more than the change" \
  "$(sed -n 's/^skip //p' e/verdicts)" 'it is skipped'
test_same 'loose 0 0 3000 slow at once' "$(sed -n 's/.* 20[0-9-]* //p' .out | sort | xargs)" \
  'two commits remain'
test_match 'cannot narrow it down further: 1 skipped as servers of one commit differ by more than the change$' \
  .err 'the message has the reason'
knows u e
test_status 2 'a BAD whose servers differ by more than the change is an error' \
  bisect u instructions_per_req c1 slow~3
test_match 'cannot tell whether the bad commit is worse: servers of one commit differ by more than the change$' \
  .err 'the error has the same reason'

# --- merges, and searches that end with several commits

in_repo checkout -q -b merges c3
in_repo merge -q --no-ff -m merge c5
in_repo merge -q --no-ff -m 'merge slow' c7
in_repo tag merged
knows g r
test_that '--first-parent is accepted' bisect g instructions_per_req --first-parent c3 merged
test_match '^first bad commit: .* merge slow$' .out 'with --first-parent the first bad commit is the merge'
knows s g
test_that 'a history with merges is accepted' bisect s instructions_per_req c3 merged
test_match '^first bad commit: .* commit 6$' .out 'without --first-parent the first bad commit is on the side branch'
in_repo checkout -q -b around c5
burn 'no number' 'broken'
burn '2100 50' 'very slow'
knows o r
test_status 2 'a search that ends with several commits is exit 2' bisect o instructions_per_req c5 around
test_match '^first bad commit, one of:$' .out 'the report says that one of them is the first bad commit'
test_same "broken very slow" "$(sed -n 's/.* 20[0-9-]* //p' .out | sort | xargs)" \
  'the commit that does not compile and the bad one remain'
test_match 'cannot narrow it down further: 1 skipped as it cannot be built$' \
  .err 'the message has the reason'

# Twice 40 % more beside a margin of 40 % less speed, which is 67 % more. Commit 6 shows
# what a loop takes.
instructions() { # instructions NAME: of a request of the commit
  jq -s 'map(select(.type == "run").metrics.instructions_per_req) | min' \
    r/counts/"$(head_of "$1")"/runs.jsonl
}
half=$(awk "BEGIN { print int(.4 * $(instructions c5) * 1900 / ($(instructions c6) - $(instructions c5))) }")
in_repo checkout -q -b halves c5
burn "$((100 + half)) 50" 'half'
burn "$((100 + half * 24 / 10)) 50" 'bad'
knows h r
test_status 2 'a commit between good and bad is exit 2' vkb-bisect -C repo --results h \
  --metric instructions_per_req c5 halves -- cfg.json -- --margin 40%
test_same "bad half" "$(sed -n 's/.* 20[0-9-]* //p' .out | sort | xargs)" \
  'the commit in the middle is one of two that remain'
test_match ': 1 skipped as it is within the margin of both$' .err 'the message has the reason'
in_repo checkout -q trunk

# --- errors

# vkb-load writes one complete run and ends with 2, as on a full disk.
mkdir broken
ln -s "$top/lib" lib
cp "$top"/bin/vkb-bisect broken
for program in build compare stats; do
  ln -s "$(command -v vkb-$program)" broken
done
cat >broken/vkb-load <<END
#!/bin/sh
case \$* in *--plan* | *--dump-options*) exec $(command -v vkb-load) "\$@" ;; esac
$(command -v vkb-load) "\$@" >all || exit
sed '/"type":"run"/q' all
exit 2
END
chmod +x broken/vkb-load
cp -r r half
rm half/verdicts && : >half/verdicts
rm -r half/counts/"$(head_of c6)"
test_status 2 'a count that is not finished is an error' broken/vkb-bisect -C repo --results half \
  --metric instructions_per_req c4~1 c8 -- cfg.json
test_match "could not count $(head_of c6 | cut -c 1-10): vkb-load ended with status [12]" .err 'the error names the commit that is not counted'
test_absent 'its runs fail' half/verdicts 'the commit has no verdict'

test_status 2 'a metric that is not counted is an error' bisect m rps c7 c8
test_match "option '--metric': 'rps' is not counted; counted are instructions_per_req," .err \
  'the error lists the counted metrics'
test_status 2 'an empty name of a metric is an error' \
  vkb-bisect -C repo --results m --metric= c7 c8 -- cfg.json
test_match "option '--metric' has no name of a metric" .err 'the error says that the name is missing'
test_status 2 'an unknown metric is an error' bisect m instruction_per_req c7 c8
test_that 'nothing is built for an unknown metric' test ! -e m
test_status 2 '--metric together with -m is an error' \
  vkb-bisect -C repo --results m --metric instructions_per_req c1 c2 -- cfg.json -- -vm rps
test_match "'--metric' names the metric: leave out '-m'" .err 'the error says what to leave out'
unset LD_PRELOAD
mkdir bare
for program in sh env readlink dirname git setpriv sed mkdir flock vkb-load cat awk grep tr cut rm mv; do
  ln -s "$(command -v $program)" bare
done
bisect_program=$(command -v vkb-bisect)
test_status 2 'a machine without valgrind is an error' env PATH="$PWD/bare" "$bisect_program" \
  --metric instructions_per_req -C repo c1 c2 -- cfg.json
test_match "valgrind, which counts, is not in PATH: 'vkb-needs run' installs it" .err \
  'the error names the command that installs valgrind'
test_litter 10 'no server is left'
test_done
