#!/bin/sh
# vkb-pr: a pull request whose server is really slower, and one that changes
# nothing; the files for CI, and hostile names in them.
# The CPU time of the server is judged, as in t0530.
. "${0%/*}/lib.sh"
test_server 'a pull request'
. "$tests/repo.sh"

real_repo
in_repo tag base
burn 600000 slow
cat >cfg.json <<'EOF'
[{"commands": ["SET"], "requests": [400], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
EOF
judged='-m server_cpu_us_per_req --margin 60%'
pr() { # pr DIR OPTION... BASE HEAD
  dir=$1
  shift
  # shellcheck disable=SC2086 # words
  vkb-pr --results "$dir" -C repo "$@" -- --runs 6 cfg.json -- $judged
}
lines() { cat "$@" 2>/dev/null | wc -l | tr -d ' '; }
all='asked cases.jsonl deltas.jsonl junit.xml report.html report.md runs.jsonl summaries.jsonl verdict'
files() { find "$1" -type f | sed "s,^$1/,," | sort | xargs; }

# --- a slower change

test_status 1 'a slower change is exit 1' pr r base main
test_match '^-  SET .* worse' .out 'the slower change is reported as worse'
test_absent 'the page is' .err 'no message names the page of vkb-ab, whose folder is removed'
test_same regression "$(cat r/verdict)" 'the verdict is a regression'
test_same "$all" "$(files r)" 'the folder has all files'
test_match '^### head .* against base ' r/report.md 'the comment names both'
test_match '🔴 \| SET \| server_cpu_us_per_req .* regression' r/report.md 'the comment has the regression'
test_same 'head base 12' "$(jq -r '[.contender.label, .baseline.label] | join(" ")' \
  r/deltas.jsonl | head -n 1) $(grep -c '"type":"run"' r/runs.jsonl)" 'the delta records and runs are stored'
test_same 1 "$(xmllint --xpath 'count(//failure)' r/junit.xml)" 'the test report has the regression'
test_match 'CPU per request' r/report.html 'the page has the regression'
test_empty "$(grep -n '^::' .out)" 'outside an action there is no annotation'

# The runs are judged again with a history, in an action of GitHub.
cp r/runs.jsonl history.jsonl
: >none.jsonl
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$scratch/summary
export GITHUB_ACTIONS GITHUB_STEP_SUMMARY
echo before >summary
mkdir -p again/ab again/history
mv r/runs.jsonl again/ab/runs.jsonl
cp r/asked again/asked
test_status 1 'the same command after a kill before the reports is exit 1' pr again --baseline none.jsonl base main
test_match '^::error .*server_cpu_us_per_req' .out 'an action of GitHub gets an annotation'
test_same "before$(printf '\n.')$(sed 's,-- r/cases,-- again/cases,' r/report.md)" "$(head -n 1 summary; printf .; tail -n +2 summary)" \
  'the comment is the summary of the job'
test_same "$(cat history.jsonl)" "$(cat again/runs.jsonl)" 'nothing is measured again'
test_that 'the pages of an older history are removed' test ! -e again/history
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY

# A report that cannot be written is an error, not a verdict.
for name in junit.xml report.md; do
  rm -rf stuck
  mkdir -p "stuck/$name/x" stuck/ab
  cp history.jsonl stuck/ab/runs.jsonl
  cp r/asked stuck/asked
  test_status 2 "$name is a folder" pr stuck base main
  test_match "$name" .err 'the error names the report'
done

# --- a faster change and no change

test_that 'a faster change is exit 0' pr f main base
test_same improvement "$(cat f/verdict)" 'the verdict is an improvement'
test_that 'the same commit with a history is exit 0' pr n --commit-url https://example.com/ \
  --baseline history.jsonl base base
test_same none "$(cat n/verdict)" 'equal builds have the verdict none'
test_same "$(echo "$all" history/index.html | xargs -n 1 | sort)" \
  "$(files n | xargs -n 1 | grep -v '^history/[cm]')" 'the folder has the history'
test_match '<svg class="plot"' n/history/index.html 'the history has a chart of the case'
test_match '^<title>.*base' "n/history/commit/$(in_repo rev-parse base).html" \
  'the commit that was measured is in the history'
test_same 18 "$(sed -n "s/.*commit.$(head_of base)[.]html.*>\([0-9]*\)<.td><.tr>.*/\1/p" n/history/index.html)" \
  'the history has 6 old and 12 new runs of the commit'
test_match "https://example.com/$(head_of base)" n/report.html 'the page has a link to the commit'
test_match "https://example.com/$(head_of base)" "n/history/commit/$(head_of base).html" \
  'the page of the commit in the history has the link, too'

# --- hostile names

# shellcheck disable=SC2016 # as it is
evil='x`|<script>alert(1)</script>|@everyone|$(touch>evil)'
in_repo branch "$evil" base
cat >"cfg;touch evil;.json" <<'EOF'
{"keyspacelen": [100], "test_groups": [{"group": 1,
  "description": "<script>alert(1)</script>|@you\n::error::x", "scenarios": [
  {"id": "a", "type": "write", "requests": 300, "clients": 4, "description": "`@you`",
   "command": "SET k '|`<script>alert(1)</script>` @you\n::error::x \u001b[31m'"}]}]}
EOF
plain() { # plain FILE: checks for control characters and commands of actions
  test_empty "$(grep -a '^::error::x' "$1")$(LC_ALL=C grep -a \
    "$(printf '[\001-\010\013-\037\177]')" "$1")" "$1 has no control characters and no command"
}
inert() { # inert FILE: checks HTML or XML for hostile markup, too
  plain "$1"
  test_empty "$(grep -aoE '.{9}<script>alert.{9}' "$1")" "$1 has no hostile markup"
}
GITHUB_ACTIONS=true vkb-pr --results "it's" -C repo base "$evil" -- --runs 4 \
  "cfg;touch evil;.json" -- -m rps --margin 95% >said 2>err
test_same 0 $? 'hostile names are accepted'
cat err
plain said
plain "it's/report.md"
test_empty "$(grep -aE '<script>alert|(^|[^\\])@(you|everyone)' "it's/report.md")" \
  'the comment has no hostile markup and no mention'
inert "it's/junit.xml"
inert "it's/report.html"
test_empty "$(find . -name evil)" 'no hostile name is run as a command'
test_result "$(($(wc -c <"it's/report.md") > 65000))" 'the comment is shorter than the limit of a forge'

# --- commits that cannot be built or measured

burn 'no number' 'does not build <script>alert(1)</script>'
test_status 2 'a commit that does not build is exit 2' pr b base main
test_same "$(printf 'trouble\nasked cases.jsonl error.txt report.md verdict')" "$(cat b/verdict; files b | sed 's,ab/[^ ]* *,,g')" \
  'the verdict is trouble'
test_match '^### Nothing was measured$' b/report.md 'the comment says that nothing was measured'
test_match '^    vkb-build: .*main' b/report.md 'the comment has the error of the build'
test_match '^     .*error' b/report.md 'a tab before the output of make is a blank'
test_empty "$(tail -n +3 b/report.md | grep -v '^    ')" 'the error is code in the comment'
in_repo reset -q --hard HEAD~1
test_status 1 'the next pull request is exit 1' pr b base main
test_same "$all" "$(files b)" 'the files of the failed one are removed'
printf '#!/bin/sh\ncase $* in *-v*) exec valkey-server "$@" ;; esac\necho "no way" >&2; exit 3\n' \
  >repo/src/server.sh
commit 'does not start'
test_status 2 'a server that does not start is exit 2' pr s base main
test_same trouble "$(cat s/verdict)" 'the verdict for that server is trouble'
test_match 'head' s/report.md 'the comment names the head'
test_status 2 'another command in the same folder is an error' pr s base base
test_match 'of another command that was not finished: --anew deletes them' .err 'the error names --anew'
in_repo reset -q --hard HEAD~1

# --- a kill during the measurement

sed 's/"requests": \[400\]/"duration": 1, "rate": 500/' cfg.json >long.json
# shellcheck disable=SC2086 # words
long() { exec vkb-pr --results k -C repo base main -- --runs 6 long.json -- $judged; }
has_two() { [ "$(lines k/ab/part.jsonl)" -ge 2 ]; }
(long) >k.out 2>&1 &
pid=$!
test_that 'the measurement has begun' wait_until 60 has_two
kill -9 "$pid"
wait "$pid" 2>/dev/null
test_litter 60 'a kill leaves no server' k/ab
grep '"type":"run"' k/ab/part.jsonl | head -n 2 >two
(long) >k.out 2>&1
test_same '1 regression' "$? $(cat k/verdict)" 'the same command resumes and finds the regression'
test_same "$(cat two)" "$(grep '"type":"run"' k/runs.jsonl | head -n 2)" 'the first runs are kept'
test_same "12 $all" "$(grep -c '"type":"run"' k/runs.jsonl) $(files k)" 'the other runs are added and all files are written'

# --- errors

for words in '' 'base -- cfg.json' '--nonsense base main -- cfg.json'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-pr $words is an error" vkb-pr -C repo --results e $words
  test_match 'usage: ' .err 'the error shows the usage'
done
test_status 2 'a commit that does not exist in this clone is an error' sh -c 'cd repo &&
  exec vkb-pr --results ../n base nothing -- ../cfg.json'
test_match "taking the commits from this clone, '$PWD/repo'" .err 'a message names the clone'
test_match "'nothing'" n/error.txt 'the error file names the commit'
test_status 2 'an option after the commits is an error' vkb-pr -C repo base main --anew -- cfg.json
test_match "option '--anew' must come before the operands" .err 'the error says where it belongs'
test_status 2 'a history that does not exist is an error' pr e --baseline none base main
test_match "cannot read 'none'" .err 'the error names the history'
test_status 2 'an unknown option of vkb-compare is an error' vkb-pr -C repo --results e base main \
  -- cfg.json -- --nonsense
test_match "^vkb-compare: unknown option '--nonsense'" .err 'the error is that of vkb-compare'
test_status 2 'a configuration that does not exist is an error' vkb-pr -C repo --results e base main -- none.json
test_match "none.json" .err 'the error names the configuration'
test_status 1 'no folder is made before that error' test -e e
test_status 2 'a hostile commit name is exit 2' pr x base "--help;touch evil"
test_same 'trouble' "$(cat x/verdict)" 'the verdict for a hostile name is trouble'
test_empty "$(find . -name evil)" 'the hostile name is not run as a command'
test_done
