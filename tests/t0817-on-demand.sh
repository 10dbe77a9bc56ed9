#!/bin/sh
# Requests by a comment or a form: who may make one, that the request is data,
# the answer to a wrong one, and the label that is removed; then the workflow on
# demand, whose steps are run as they are in its file.
. "${0%/*}/lib.sh"
test_server 'a request'
. "$tests/repo.sh"
test_programs 'a request' curl jq perl
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

start_forge
GITHUB_API_URL=http://127.0.0.1:$(cat port)/github GITHUB_SERVER_URL=https://forge.example
GITHUB_REPOSITORY=o/r GITHUB_TOKEN=secret-1 GITHUB_RUN_ID=99
GITHUB_EVENT_NAME=issue_comment GITHUB_EVENT_PATH=$scratch/event
GITHUB_OUTPUT=$scratch/output
export GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_TOKEN GITHUB_RUN_ID
export GITHUB_EVENT_NAME GITHUB_EVENT_PATH GITHUB_OUTPUT

jq -n '{login: "github-actions[bot]", labels: {}, comments: [], issues: [], fail: {},
  reactions: [], may: {ada: "write", root: "admin", eve: "read"}, busy: 0, asked: 0,
  pulls: [], pull: {number: 7, state: "open", mergeable: true,
    merge_commit_sha: "0123456789abcdef0123456789abcdef01234567",
    head: {repo: {full_name: "me/r", pushed_at: "2026-01-01T00:00:00Z"}}}}' >state.first
fresh() { # fresh [FILTER]: resets the state of the forge and the output
  if [ $# -eq 0 ]; then cp state.first state; else jq "$1" state.first >state; fi
  : >log
  : >"$GITHUB_OUTPUT"
}
# comment LOGIN: writes the event of a comment, whose body is on stdin
comment() {
  jq -Rs --arg login "$1" '{issue: {number: 7, pull_request: {}},
    comment: {id: 55, body: ., created_at: "2026-01-02T00:00:00Z",
      html_url: "https://forge.example/o/r/pull/7#issuecomment-55",
      user: {login: $login}}}' >event
}
# asks WORD...: writes the event of a comment by a user who may write
asks() { printf '/benchmark %s' "$*" | comment ada; }
reactions() { jq -r '.reactions[] | "\(.content) to \(.to)"' state; }
posted() { jq -r '.comments[] | .body' state; }
read_it() { vkb-comment --request request github; }

# --- who may ask, and what is handed on

fresh
asks '-t hset -d 16,1024' '-P 1,10'
test_that 'a request of a user who may write is taken' read_it
test_same ' -t hset -d 16,1024 -P 1,10' "$(cat request)" 'the file has the options of the comment'
test_same 'ref=0123456789abcdef0123456789abcdef01234567
base=HEAD^1
head=HEAD' "$(cat output)" 'the steps that follow get the merge and its base'
test_same 'eyes to 55' "$(reactions)" 'the comment gets a reaction'
test_empty "$(posted)" 'no comment is posted'
test_same HSET-d16-P1-c50-k1000000 "$(vkb-load --plan --request request | jq -r .id | head -n 1)" \
  'vkb-load reads the file'
fresh
printf '/benchmark\r\n--tests get\r\n' | comment root
test_that 'lines that end as on GitHub are taken' read_it
test_same GET "$(vkb-load --plan --request request | jq -r .config.command)" 'their options are read'
fresh
printf '/benchmark' | comment ada
test_that 'a request without options is taken' read_it
test_same 'SET GET' "$(vkb-load --plan --request request | jq -r .config.command | xargs)" \
  'without options SET and GET are measured'
for body in '/benchmarks -t set' 'x /benchmark' "$(printf 'x\n/benchmark')" ''; do
  fresh
  printf %s "$body" | comment ada
  test_status 2 "the comment '$body' is not a request" read_it
  test_match "does not begin with the word '/benchmark'" .err "'$body': the message says so"
  test_empty "$(cat output log)" "'$body': the forge is not asked"
done
for who in eve mallory 'x/../../ada' 'a?b=c'; do
  fresh
  asks '-t set'
  jq --arg who "$who" '.comment.user.login = $who' event >event.2 && mv event.2 event
  test_status 2 "a comment of $who is refused" read_it
  test_match 'the comment is ignored: .* may not write to .o/r' .err "$who: the message gives the reason"
  test_same '-1 to 55' "$(reactions)" "$who: the comment gets a reaction"
  test_empty "$(posted; cat output)" "$who: nothing is posted or handed on"
done
fresh '.fail = {"GET /github/repos/o/r/collaborators/ada/permission": 500}'
asks '-t set'
test_status 2 'a forge that does not say who may write is an error' read_it
test_empty "$(cat output; reactions)" 'nothing is handed on then'

fresh '.busy = 1'
asks '-t set'
test_that 'a pull request that is not merged yet is waited for' read_it
test_same 2 "$(grep -c '^GET .*pulls/7' log)" 'it is asked for again'
refused() { # refused FILTER PATTERN WHAT
  fresh "$1"
  test_status 2 "$3" read_it
  posted >text
  test_match "^    .*$2" text "$3: the answer gives the reason"
  test_same '### The request cannot be measured' "$(sed -n 2p text)" "$3: the answer has a title"
  test_empty "$(cat output; reactions)" "$3: nothing is handed on"
}
asks '-t set'
refused '.pull.state = "closed"' 'is closed' 'a closed pull request is refused'
refused '.pull.mergeable = false' 'has conflicts' 'a pull request with conflicts is refused'
refused '.pull.head.repo.pushed_at = "2026-01-02T00:00:01Z"' 'newer commits than the request' \
  'a fork that was pushed to after the comment is refused'
refused '.pull.head.repo.pushed_at = "2026-01-02T00:00:00Z"' 'newer commits than the request' \
  'a fork that was pushed to in the same second is refused'
fresh '.pull.head.repo = {full_name: "o/r", pushed_at: "2026-01-02T00:00:01Z"}'
test_that 'a branch of the repository itself is not' read_it
fresh '.pull.merge_commit_sha = "x;touch evil"'
test_status 2 'a commit that is not an id is an error' read_it

# --- hostile requests: each is an error, and the answer has it as code

nasty() { # nasty WHAT: the options are in the file body
  fresh
  { printf '/benchmark '; cat body; } | comment ada
  test_status 2 "$1 is refused" read_it
  posted >text
  test_same '<!-- vkb-comment: request-55 -->' "$(head -n 1 text)" "$1: the answer is marked"
  test_match '^    vkb-load: ' text "$1: the answer has the error of vkb-load"
  test_empty "$(sed -e 1,3d -e '/^<sub>/d' text | grep -v '^    [ -~]*$')" "$1: it is code in ASCII"
  test_empty "$(cat output; reactions)" "$1: nothing is handed on"
}
while IFS='|' read -r what options; do
  printf '%s' "$options" >body
  nasty "$what"
done <<'END'
a command of a shell|-t $(touch evil)
a backquote|-t `touch evil`
a semicolon|-t set; touch evil
a pipe|-t set | touch evil > evil
an open quote|-t 'set
Markdown|![x](https://evil.example) @all <script>alert(1)</script> /merge ```
a pipeline above the limit|-P 100000
a request that takes hours|--duration 300 --runs 100
END
# t0357 tries every option of vkb-load.
for option in '-o evil' '--server /bin/sh' '--help' '-- /etc/passwd'; do
  printf '%s' "-t set $option" >body
  nasty "the option $option"
done
printf -- '-t set\000get' >body
nasty 'a NUL'
printf -- '-t \033[31mred\007' >body
nasty 'a control character'
printf -- '-t \360\237\230\200 \342\200\256' >body
nasty 'a text in another script'
perl -e 'print "-t ", "set,get," x 5000' >body
nasty 'a text of 40,000 bytes'
perl -e 'print "\x27 \x22 \\ " x 999' >body
nasty 'many quotes'
perl -e 'srand 7; print join "", map { chr(32 + rand 95) } 1 .. 300' >body
nasty 'characters by chance'
printf -- '-t gett' >body
nasty 'an unknown test'
test_match "did you mean 'GET'" text 'the answer says what may be meant'
test_match '\[the request\]\(https://forge.example/o/r/pull/7#issuecomment-55\)' text \
  'and has a link to the request'
test_empty "$(find . -name evil)" 'no text of a comment is executed, or names a file'

# --- a form

GITHUB_EVENT_NAME=workflow_dispatch
form() { jq -n "{inputs: ({base: \"8.0.1\", head: \"a/b\", issue: \"7\", tests: \"\"} + $1)}" >event; }
fresh
form '{"populate_with": "SET key:{key} \u0027a b\u0027 \"c\"", command: "GET key:{key}",
  "cluster-mode": "true", "io-threads": "1", runs: "", pipeline: null}'
test_that 'a form is taken' read_it
test_same "SET key:{key} 'a b' \"c\" true" "$(vkb-load --plan --request request |
  jq -r '.config | "\(.populate_with) \(.cluster_mode)"')" 'the inputs are the options, unchanged'
test_same 'ref=
base=8.0.1
head=a/b' "$(cat output)" 'the versions are handed on'
test_empty_file log 'the forge is not asked'
form '{"options": "--mix \u0027GET 3 SET 1\u0027 -c 7", "data-size": "9"}'
test_that 'a form with options is taken' read_it
test_same 'GET3+SET1-d9-P1-c7-k1000000' "$(vkb-load --plan --request request | jq -r .id)" \
  'the options are added to the inputs'
fresh
form '{"options": "--server /bin/sh"}'
test_status 2 'an option that a request may not have is an error in a form' read_it
test_empty_file output 'its commits are not handed on'
fresh
form '{}'
read_it >.out 2>.err
form '{"tests": "set\n--server /bin/sh"}'
test_status 2 'a line end in an input is an error' read_it
test_same 3 "$(wc -l <output | tr -d ' ')" 'nothing is added to the output'
for edit in '{base: ""}' '{head: ""}' '{base: "--repo=x"}' '{head: "x\nref=evil"}' '{issue: "7/x"}' \
  '{pr: "7;x"}' '{server: "/bin/sh"}' '{runs: "1000000"}'; do
  fresh
  form "$edit"
  test_status 2 "a form with $edit is an error" read_it
  test_empty "$(cat output; posted; reactions)" "$edit: nothing is handed on or posted"
done
fresh
form '{pr: "7", base: "", head: ""}'
test_that 'a form for a pull request is taken' read_it
test_same 'ref=0123456789abcdef0123456789abcdef01234567' "$(head -n 1 output)" \
  'it measures the merge of the pull request'
fresh '.pull.state = "closed"'
test_status 2 'a form for a closed one is an error' read_it
test_match 'the pull request is closed' .err 'the message gives the reason'
GITHUB_EVENT_NAME=push
test_status 2 'another event has no request' read_it
test_match "'push' is not an event with a request" .err 'the error names the event'
for words in '--request r gitlab' '--request r github deltas' '--remove-label gitlab' '--request'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-comment $words is wrong usage" vkb-comment $words
done

# --- the label

GITHUB_EVENT_NAME=workflow_run
run_of() { # run_of TITLE
  jq -n --arg title "$1" '{workflow_run: {event: "pull_request", head_branch: "x", head_sha: "old",
    display_title: $title, html_url: "https://forge.example/o/r/actions/runs/5",
    head_repository: {full_name: "me/r", owner: {login: "me"}}}}' >event
}
labels='[{name: "run-benchmark"}, {name: "run-cluster-benchmark"}, {name: "bug"}]'
with_labels=".labels = {\"run-benchmark\": 1, \"run-cluster-benchmark\": 1, bug: 1} |
  .pulls = [{number: 7, state: \"closed\", labels: $labels, head: {label: \"me:x\", sha: \"new\",
    repo: {full_name: \"me/r\"}}, base: {repo: {full_name: \"o/r\"}}}]"
left() { jq -r '.labels | keys | join(" ")' state; }
fresh "$with_labels"
run_of 'run-benchmark: a title: with colons'
test_that 'the label of a measurement is removed' vkb-comment --remove-label github
test_same 'bug run-cluster-benchmark' "$(left)" 'the label is removed from a closed request with newer commits, too; other labels are kept'
test_that 'a label that is gone is not an error' vkb-comment --remove-label github
run_of 'run-cluster-benchmark: x'
test_that 'the other label of a measurement is removed' vkb-comment --remove-label github
test_same bug "$(left)" 'only labels that vkb did not set are left'
for title in 'bug: x' 'fix: run-benchmark' 'run-benchmarks: x' ''; do
  fresh "$with_labels"
  run_of "$title"
  test_that "a workflow with the title '$title' is not an error" vkb-comment --remove-label github
  test_same 'bug run-benchmark run-cluster-benchmark' "$(left)" "'$title' removes no label"
done
fresh "$with_labels | .pulls[0].head.repo.full_name = \"me/other\""
run_of 'run-benchmark: x'
test_that 'a request of another repository is not an error' vkb-comment --remove-label github
test_same 'bug run-benchmark run-cluster-benchmark' "$(left)" 'a request of another repository keeps its labels'

{ for name in old new; do
  for rps in 10.1 10.2 10.3 10.4; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"run":{"session":"s","index":1},"metrics":{"rps":%s},"status":"ok"}\n' \
      "$name" $rps
  done
done; } >runs.jsonl
vkb-compare --baseline old -f jsonl:deltas.jsonl runs.jsonl >compare.out 2>&1
echo regression >word
fresh "$with_labels | .pulls[0].head.sha = \"old\" | .pulls[0].state = \"open\""
for title in run-benchmark run-cluster-benchmark; do
  run_of "$title: x"
  test_that "a report after $title is posted" vkb-comment --verdict word github deltas.jsonl
done
test_same 'report cluster' "$(posted | sed -n 's/^<!-- vkb-comment: \(.*\) -->/\1/p' | xargs)" \
  'the reports of both labels are two comments'
test_match '^cluster-performance-regression$' "$(jq -r '.labels | keys[]' state >keys; echo keys)" \
  'a regression of a cluster has its own label'

# --- the workflow, run as its file has it

real_repo
in_repo tag base
burn 100000 slow
in_repo checkout -q -b theirs base
in_repo commit -q --allow-empty -m theirs
in_repo merge -q --no-ff -m merge main
flow=$top/.github/workflows/on-demand.yml
# commands JOB: prints the commands of a job without those that install and build
commands() {
  awk -v job="  $1:" '/^  [a-z]+:$/ { on = $0 == job }
    on && / run: / { sub(/.*run: /, ""); print }' "$flow" | grep -v '^make -s\|vkb-needs'
}
# given KEY: prints the input that the workflow gives to the action
given() {
  sed -n '/uses: \.\/vkb/,/upload-artifact/p' "$flow" | sed -n "s/^ *$1: //p" |
    sed "s,\${{ needs.read.outputs.\([a-z]*\) }},$(output "$1"),; s/\${{ inputs.build }}//"
}
output() { sed -n "s/^$1=//p" "$GITHUB_OUTPUT"; }
job() { # job NAME: runs its commands
  commands "$1" >steps
  (cd work && while read -r line; do
    bash -eo pipefail -c "$line" </dev/null || exit
  done <../steps)
}
action() { # the steps of the action that measure
  for n in 3 4 5; do
    command=$(sed -n 's/^ *- run: //p' "$top/action.yml" | sed -n "${n}p" | sed "s/^'//; s/'\$//")
    (cd work && env -u GITHUB_TOKEN GITHUB_ACTION_PATH="$top" RUNNER_TEMP="$scratch/temp" \
      GITHUB_OUTPUT="$scratch/action.output" HISTORY='' DIR="$(given path)" BASE="$(given base)" \
      HEAD="$(given head)" BUILD="$(given build)" LOAD="$(given load)" COMPARE='' \
      RESULTS="$(given results)" bash -eo pipefail -c "$command" </dev/null) || return
  done
}
test_same '1 1 1' "$(for name in read measure report; do commands $name | wc -l; done | xargs)" \
  'each job of the workflow has one command, besides those that install'
workflow() { # workflow: runs its jobs with the event
  rm -rf work temp
  mkdir work temp
  ln -s "$top" work/vkb
  job read || return
  git clone -q repo work/server 2>git.err
  ref=$(output ref)
  [ -z "$ref" ] || git -C work/server checkout -q "$ref" 2>>git.err || return
  GITHUB_TOKEN='' job measure || return
  action
  measured=$?
  mv work/pr-results work/report
  job report || return
  return $measured
}
merge=$(head_of theirs)
fresh ".pull.merge_commit_sha = \"$merge\""
GITHUB_EVENT_NAME=issue_comment
asks "--command 'HGET h:{key} f' --set 'populate_with=HSET h:{key} f __data__' -d 20,40" \
  '-r 50 -c 4 --duration 0.1 --runs 6 --set io-threads=1'
workflow >out 2>err
test_match '^[01]$' "$(echo $? >code; echo code)" 'a comment is measured'
sed 's/^/# /' err | tail -n 5
posted >text
test_same '<!-- vkb-comment: request-55 -->' "$(head -n 1 text)" 'the report is posted'
test_match '^### head ' text 'it compares the merge with its base'
test_match 'HGET h:.*20B' text 'with the command and the sizes of the comment'
test_same '1 eyes to 55' "$(posted | grep -c 'vkb-comment') $(reactions)" 'there is one comment and a reaction'
test_same '12 12' "$(jq -rs 'map(select(.type == "run" and .status == "ok" and .metrics.keyspace_hits > 0 and
  .metrics.keyspace_misses == 0).subject.label) | group_by(.) | map(length | tostring) | join(" ")' work/report/runs.jsonl)" \
  'both builds have been measured, and each read has found its key'

GITHUB_EVENT_NAME=workflow_dispatch
fresh
form '{base: "base", head: "main", tests: "", "cluster-mode": "true",
  options: "--mix \u0027GET 3 SET 1\u0027 -c 2 -r 50 --duration 0.1 --runs 6 --set benchmark-threads=2"}'
workflow >out 2>err
test_match '^[01]$' "$(echo $? >code; echo code)" 'two versions are compared'
sed 's/^/# /' err | tail -n 5
posted >text
test_same '<!-- vkb-comment: run-99 -->' "$(head -n 1 text)" 'the comparison is posted on the issue'
test_match 'GET 3, SET 1' text 'with the mix of the form'
test_same 'true 2' "$(jq -rs 'map(select(.type == "run").config | "\(.cluster_mode) \(.benchmark_threads)") |
  unique[]' work/report/runs.jsonl)" 'on a cluster, with two threads'

# A server that does not build is reported, too.
in_repo checkout -q main
burn 'no number' broken
form '{base: "base", head: "main", tests: "set", runs: "2", duration: "0.1"}'
fresh
workflow >out 2>err
test_same 2 $? 'a version that does not build fails the workflow'
posted >text
test_match '^### Nothing was compared$' text 'the comment says that nothing was compared'
test_match '^    Nothing was measured' text 'the comment gives the reason'
form '{issue: ""}'
test_that 'a form without an issue is accepted' vkb-comment github deltas.jsonl
test_match 'no issue was named: nothing is posted' .err 'nothing is posted, and a message says so'
test_empty_file forge.err 'the forge reports no error'
test_done
