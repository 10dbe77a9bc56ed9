#!/bin/sh
# vkb-pr: a pull request whose server is really slower, and one that changes
# nothing; what it leaves for CI, and that no name of others does harm there.
# The CPU time of the server is judged, as in t0530.
# slow: what it runs is tested with the sanitizers elsewhere
. "${0%/*}/lib.sh"
test_server 'a pull request'
. "$tests/repo.sh"

real_repo
in_repo tag base
burn 100000 slow
cat >cfg.json <<'EOF'
[{"commands": ["SET"], "requests": [1500], "keyspacelen": [100],
  "data_sizes": [16], "pipelines": [1], "clients": [4],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
EOF
judged='-m server_cpu_us_per_req --margin 60%'
pr() { # pr DIR OPTION... BASE HEAD
  dir=$1
  shift
  # shellcheck disable=SC2086 # words
  vkb-pr --results "$dir" -C repo "$@" -- --runs 8 cfg.json -- $judged
}
lines() { cat "$@" 2>/dev/null | wc -l | tr -d ' '; }
all='asked cases.jsonl deltas.jsonl junit.xml metrics.txt report.html report.md runs.jsonl summaries.jsonl verdict'
files() { find "$1" -type f | sed "s,^$1/,," | sort | xargs; }

# --- a slower change

test_status 1 'a slower change' pr r base main
test_match '^-  SET .* worse' .out 'is found'
test_same regression "$(cat r/verdict)" 'the verdict is a regression'
test_same "$all" "$(files r)" 'all is there'
test_match '^### head .* against base ' r/report.md 'the comment names both'
test_match '🔴 \| SET \| server_cpu_us_per_req .* regression' r/report.md 'and it'
test_same 'head base 16' "$(jq -r '[.contender.label, .baseline.label] | join(" ")' \
  r/deltas.jsonl | head -n 1) $(grep -c '"type":"run"' r/runs.jsonl)" 'and the records'
test_match 'vkb_regression\{.*\} 1$' r/metrics.txt 'the metrics'
test_same 1 "$(xmllint --xpath 'count(//failure)' r/junit.xml)" 'and the test report'
test_match 'CPU per request' r/report.html 'there is a page'
test_empty "$(grep -n '^::' .out)" 'and no annotation, but'

# What was measured is judged again with a history, in an action of GitHub.
cp r/runs.jsonl history.jsonl
: >none.jsonl
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$scratch/summary
export GITHUB_ACTIONS GITHUB_STEP_SUMMARY
echo before >summary
mkdir -p again/ab again/history
mv r/runs.jsonl again/ab/runs.jsonl
cp r/asked again/asked
test_status 1 'killed before the reports' pr again --baseline none.jsonl base main
test_match '^::error .*server_cpu_us_per_req' .out 'in an action of GitHub'
test_same "before$(printf '\n.')$(sed 's,-- r/cases,-- again/cases,' r/report.md)" "$(head -n 1 summary; printf .; tail -n +2 summary)" \
  'the comment is the summary of the job'
test_same "$(cat history.jsonl)" "$(cat again/runs.jsonl)" 'nothing was measured again'
test_that 'the pages of an older history are removed' test ! -e again/history
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY

# A report that cannot be written is trouble, not a regression or its absence.
for name in junit.xml metrics.txt report.md; do
  rm -rf stuck
  mkdir -p "stuck/$name/x" stuck/ab
  cp history.jsonl stuck/ab/runs.jsonl
  cp r/asked stuck/asked
  test_status 2 "$name is a folder" pr stuck base main
  test_match "$name" .err 'is named'
done

# --- one that is faster, and one that changes nothing

test_that 'a faster one' pr f main base
test_same improvement "$(cat f/verdict)" 'is an improvement'
test_that 'the same commit, and a history' pr n --commit-url https://example.com/ \
  --baseline history.jsonl base base
test_same none "$(cat n/verdict)" 'equal builds have the verdict none'
test_same "$(echo "$all" history/index.html | xargs -n 1 | sort)" \
  "$(files n | xargs -n 1 | grep -v '^history/[cm]')" 'and the history is there'
test_match 'class="spark"' n/history/index.html 'the history has a chart of the case'
test_match '^<title>.*base' "n/history/commit/$(in_repo rev-parse base).html" \
  'the commit that was measured is in the history'
test_same 24 "$(sed -n "s/.*commit.$(head_of base)[.]html.*>\([0-9]*\)<.td><.tr>.*/\1/p" n/history/index.html)" \
  'with the 16 new runs beside 8 older ones'
test_match "https://example.com/$(head_of base)" n/report.html 'with links'
test_match "https://example.com/$(head_of base)" "n/history/commit/$(head_of base).html" \
  'the page of the commit in the history has the link as well'

# --- names that are attacks

# shellcheck disable=SC2016 # as it is
evil='x`|<script>alert(1)</script>|@everyone|$(touch>evil)'
in_repo branch "$evil" base
cat >"cfg;touch evil;.json" <<'EOF'
{"keyspacelen": [100], "test_groups": [{"group": 1,
  "description": "<script>alert(1)</script>|@you\n::error::x", "scenarios": [
  {"id": "a", "type": "write", "requests": 300, "clients": 4, "description": "`@you`",
   "command": "SET k '|`<script>alert(1)</script>` @you\n::error::x \u001b[31m'"}]}]}
EOF
plain() { # plain FILE: it drives no terminal, and commands no action
  test_empty "$(grep -a '^::error::x' "$1")$(LC_ALL=C grep -a \
    "$(printf '[\001-\010\013-\037\177]')" "$1")" "nothing is done by $1"
}
inert() { # inert FILE: HTML or XML
  plain "$1"
  test_empty "$(grep -aoE '.{9}<script>alert.{9}' "$1")" "nothing is markup in $1"
}
GITHUB_ACTIONS=true vkb-pr --results "it's" -C repo base "$evil" -- --runs 4 \
  "cfg;touch evil;.json" -- -m rps --margin 95% >said 2>err
test_same 0 $? 'names that are attacks are names'
cat err
plain said
plain "it's/metrics.txt"
plain "it's/report.md"
test_empty "$(grep -aE '<script>alert|(^|[^\\])@(you|everyone)' "it's/report.md")" \
  'nothing of it means anything in the comment'
inert "it's/junit.xml"
inert "it's/report.html"
test_empty "$(find . -name evil)" 'and no command'
test_result "$(($(wc -c <"it's/report.md") > 65000))" 'the comment fits'

# --- what cannot be built or measured

burn 'no number' 'does not build <script>alert(1)</script>'
test_status 2 'a commit that does not build' pr b base main
test_same "$(printf 'trouble\nasked cases.jsonl error.txt report.md verdict')" "$(cat b/verdict; files b | sed 's,ab/[^ ]* *,,g')" \
  'is trouble'
test_match '^### Nothing was measured$' b/report.md 'the comment says so'
test_match '^    vkb-build: .*main' b/report.md 'and why'
test_match '^     .*error' b/report.md 'a tab before the output of make is a blank'
test_empty "$(tail -n +3 b/report.md | grep -v '^    ')" 'in code alone'
in_repo reset -q --hard HEAD~1
test_status 1 'the next one' pr b base main
test_same "$all" "$(files b)" 'leaves nothing of it'
printf '#!/bin/sh\ncase $* in *-v*) exec valkey-server "$@" ;; esac\necho "no way" >&2; exit 3\n' \
  >repo/src/server.sh
commit 'does not start'
test_status 2 'a server that does not start' pr s base main
test_same trouble "$(cat s/verdict)" 'is trouble'
test_match 'head' s/report.md 'and a comment'
test_status 2 'another command' pr s base base
test_match 'of another command that was not finished: --anew deletes them' .err 'is refused'
in_repo reset -q --hard HEAD~1

# --- killed while it measures

sed 's/"requests": \[1500\]/"duration": 1/' cfg.json >long.json
# shellcheck disable=SC2086 # words
long() { exec vkb-pr --results k -C repo base main -- --runs 4 long.json -- $judged; }
has_two() { [ "$(lines k/ab/part.jsonl)" -ge 2 ]; }
(long) >k.out 2>&1 &
pid=$!
test_that 'it measures' wait_until 60 has_two
kill -9 "$pid"
wait "$pid" 2>/dev/null
ended() { flock -n k/ab true && no_litter; }
test_that 'killed, it leaves no server' wait_until 60 ended
grep '"type":"run"' k/ab/part.jsonl | head -n 2 >two
(long) >k.out 2>&1
test_same '1 regression' "$? $(cat k/verdict)" 'the same command resumes and finds the regression'
test_same "$(cat two)" "$(grep '"type":"run"' k/runs.jsonl | head -n 2)" 'with what it had'
test_same "8 $all" "$(grep -c '"type":"run"' k/runs.jsonl) $(files k)" 'to the end'

# --- what is wrong

for words in '' 'base -- cfg.json' 'base main' 'base main --' \
  '--nonsense base main -- cfg.json'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-pr $words" vkb-pr -C repo --results e $words
  test_match 'usage: ' .err 'the error shows the usage'
done
test_status 2 'a commit that is not in the clone' sh -c 'cd repo &&
  exec vkb-pr --results ../n base nothing -- ../cfg.json'
test_match "taking the commits from this clone, '$PWD/repo'" .err 'in a clone its commits are meant'
test_match "'nothing'" n/error.txt 'the error names the commit that is not in it'
test_status 2 'a late option' vkb-pr -C repo base main --anew -- cfg.json
test_match "option '--anew' must come before the operands" .err 'the error says where it belongs'
test_status 2 'no history' pr e --baseline none base main
test_match "cannot read 'none'" .err 'the error names the history'
test_status 2 'a wrong option of vkb-compare' vkb-pr -C repo --results e base main \
  -- cfg.json -- --nonsense
test_match "^vkb-compare: unknown option '--nonsense'" .err 'is named'
test_status 2 'a wrong configuration' vkb-pr -C repo --results e base main -- none.json
test_match "none.json" .err 'is named'
test_status 1 'before anything is made' test -e e
test_status 2 'a ref that is an attack' pr x base "--help;touch evil"
test_same 'trouble' "$(cat x/verdict)" 'the verdict is trouble'
test_empty "$(find . -name evil)" 'and nothing was run'
test_done
