#!/bin/sh
# vkb-comment with a forge that the test starts: one comment, kept up to date, on the
# right request; labels; issues; hostile records.
. "${0%/*}/lib.sh"
test_programs 'comments' curl jq perl
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

start_forge
at=http://127.0.0.1:$(cat port)

state() { # state FILTER: changes the state of the forge
  jq "$1" state >state.2 && mv state.2 state
}
fresh() { # fresh LOGIN: sets 120 comments of other users, one with the marker
  jq -n --arg login "$1" '{
    login: $login, labels: {}, pulls: [], fail: {},
    comments: [range(120) | {id: ., body: "hello",
      user: {login: "somebody"}, author: {username: "somebody"}}],
    issues: [range(3) | {number: ., iid: ., title: "else", state: "open",
      body: "x", description: "x", labels: ["performance-regression"],
      user: {login: "somebody"}, author: {username: "somebody"}}]} |
    .comments[3].body = "<!-- vkb-comment: report -->\nnot ours" |
    .comments[5] += {body: "ours, but no report", user: {login: $login}}' >state
  : >log
}
ours() { jq -r '.comments[] | select((.user // .author | .login // .username) != "somebody" and .id != 5) | .body' state; }
asked() { grep -c "$1" log; }

GITHUB_API_URL=$at/github GITHUB_SERVER_URL=https://forge.example
GITHUB_REPOSITORY=o/r GITHUB_TOKEN=secret-1 GITHUB_RUN_ID=99
GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH=$scratch/event
CI_API_V4_URL=$at/gitlab CI_SERVER_URL=https://forge.example
CI_PROJECT_ID=4 CI_MERGE_REQUEST_PROJECT_ID=5 CI_MERGE_REQUEST_IID=7
CI_PIPELINE_URL=https://forge.example/o/r/-/pipelines/99
VKB_GITLAB_TOKEN=secret-1
export GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_TOKEN
export GITHUB_RUN_ID GITHUB_EVENT_NAME GITHUB_EVENT_PATH CI_API_V4_URL
export CI_SERVER_URL CI_PROJECT_ID CI_MERGE_REQUEST_PROJECT_ID
export CI_MERGE_REQUEST_IID CI_PIPELINE_URL VKB_GITLAB_TOKEN
echo '{"pull_request": {"number": 7}}' >event
# runs LABEL: prints four runs of a build
runs() {
  for rps in 10.1 10.2 10.3 10.4; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"run":{"session":"s","index":1},"metrics":{"rps":%s},"status":"ok"}\n' \
      "$1" $rps
  done
}
for name in well bad; do
  { runs old; runs $name; } >runs.jsonl
  vkb-compare --baseline old -f "jsonl:$name.jsonl" runs.jsonl >compare.out 2>&1
done
for word in regression improvement none trouble; do echo $word >$word.word; done

# --- one comment, on both forges

for on in github gitlab; do
  fresh 'github-actions[bot]'
  test_that "$on: a report is accepted" vkb-comment $on well.jsonl
  test_empty "$(cat .out .err)" "$on: nothing is printed"
  test_same '<!-- vkb-comment: report -->
### well against old' "$(ours | head -n 2)" "$on: the comment begins with the marker"
  vkb-compare --deltas -f markdown well.jsonl >well.md
  test_same "$(cat well.md)" "$(ours | sed -e 1d -e '/^<sub>/d')" \
    "$on: the comment is the report of vkb-compare"
  test_same 121 "$(jq '.comments | length' state)" "$on: one comment is posted"
  run=https://forge.example/o/r/actions/runs/99
  [ $on = github ] || run=$CI_PIPELINE_URL
  test_same "<sub>[the run]($run)</sub>" "$(ours | tail -n 1)" "$on: the comment ends with a link to the CI run"
  test_that "$on: --page is accepted" vkb-comment --page https://pages.example/r.html $on well.jsonl
  test_same "<sub>[the page](https://pages.example/r.html) · [the run]($run)</sub>" \
    "$(ours | tail -n 1)" "$on: the comment has a link to the page"
  test_that "$on: the next report is accepted" vkb-comment --verdict regression.word $on bad.jsonl
  test_same '### bad against old' "$(ours | sed -n 2p)" "$on: the next report replaces the comment"
  test_same 121 "$(jq '.comments | length' state)" "$on: no other comment is posted"
  test_same 3 "$(asked 'per_page=100&page=2')" "$on: the comment is found on the second page of comments"
  test_same '["performance-regression"]' "$(jq -c '.labels | keys' state)" "$on: a regression sets the label"
  test_that "$on: the verdict trouble is accepted" vkb-comment --verdict trouble.word $on well.jsonl
  test_same '["performance-regression"]' "$(jq -c '.labels | keys' state)" "$on: the verdict trouble keeps the label"
  test_that "$on: the verdict none is accepted" vkb-comment --verdict none.word $on well.jsonl
  test_same '{}' "$(jq -c .labels state)" "$on: the verdict none removes the label"
  test_that "$on: the verdict improvement is accepted" vkb-comment --verdict improvement.word $on well.jsonl
  test_same '{}' "$(jq -c .labels state)" "$on: a missing label is not an error"
  test_that "$on: --mark is accepted" vkb-comment --mark arm64 $on well.jsonl
  test_same 122 "$(jq '.comments | length' state)" "$on: another mark makes another comment"
  : >log
  test_that "$on: --dry-run is accepted" vkb-comment --dry-run $on well.jsonl
  test_same '### well against old' "$(sed -n 2p .out)" "$on: --dry-run prints the comment"
  test_empty_file log "$on: --dry-run sends no request"
  test_same 'not ours' "$(jq -r '.comments[3].body' state | tail -n 1)" \
    "$on: comments of other users are unchanged"
done

for url in 'javascript:x' 'https://a/ b' 'https://a)[x](https://b' https:// 'https://a<b'; do
  test_status 2 "--page $url is exit 2" vkb-comment --dry-run --page "$url" github well.jsonl
  test_match "option '--page': " .err "--page $url: the error names the option"
done

# --- the pull request of a finished workflow

GITHUB_EVENT_NAME=workflow_run
run_of() { # run_of BRANCH SHA
  jq -n --arg branch "$1" --arg sha "$2" '{workflow_run: {event: "pull_request",
    head_branch: $branch, head_sha: $sha, pull_requests: [],
    html_url: "https://forge.example/o/r/actions/runs/5",
    head_repository: {full_name: "me/r", owner: {login: "me"}}}}' >event
}
pull() { # pull NUMBER BRANCH SHA [FILTER]
  jq --argjson n "$1" --arg branch "$2" --arg sha "$3" '.pulls += [{number: $n,
    state: "open", head: {label: "me:\($branch)", sha: $sha,
      repo: {full_name: "me/r"}}, base: {repo: {full_name: "o/r"}}}]
    '"${4:-}" state >state.2 && mv state.2 state
}
# shellcheck disable=SC2016 # a name
nasty='a&state=closed#"x; $(touch evil)'
fresh 'github-actions[bot]'
pull 7 "$nasty" aaa
run_of "$nasty" aaa
test_that 'the workflow of a fork is accepted' vkb-comment github well.jsonl
test_same '### well against old' "$(ours | sed -n 2p)" 'the pull request is found by its head'
test_same '<sub>[the run](https://forge.example/o/r/actions/runs/5)</sub>' \
  "$(ours | tail -n 1)" 'the comment has a link to the run that measured'
run_of "$nasty" bbb
fresh 'github-actions[bot]'
pull 7 "$nasty" aaa
test_that 'a pull request with a newer head is accepted' vkb-comment github well.jsonl
test_match 'no open pull request has bbb as its head' .err 'a message says that no pull request has this head'
test_empty "$(ours)" 'nothing is posted for an older head'
pull 7 "$nasty" bbb '| .pulls[-1].head.repo.full_name = "me/other"'
test_that 'a pull request of another repository is accepted' vkb-comment github well.jsonl
test_empty "$(ours)" 'nothing is posted to another repository'
pull 7 "$nasty" bbb
pull 8 "$nasty" bbb
test_status 2 'two pull requests with the same head are an error' vkb-comment github well.jsonl
test_match 'is not the number of a request' .err 'the error says that the number is missing'
jq '.workflow_run.event = "push"' event >event.2 && mv event.2 event
test_status 2 'a workflow of a push is an error' vkb-comment github well.jsonl
test_match 'not started by a pull request' .err 'the error says that no pull request started it'
test_empty "$(find . -name evil)" 'no hostile name is run as a command'
GITHUB_EVENT_NAME=pull_request
echo '{"pull_request": {"number": 7}}' >event

# --- hostile records; t0415 has more tests of vkb-compare with them

cat >evil.txt <<'END'
@all, &#64;me, &#064;me, &#x40;me, &commat;me, o/r#12, ##13, GH-14, !15, ~bug, %16, &17
<img src=https://evil.example/x.png><!-- vkb-comment: arm64 -->
/merge
   /close
![pixel](https://evil.example/x.png) [click](https://evil.example) [rel](/logout)
[ref]: https://evil.example "t"
https://evil.example www.evil.example www._.evil.example mailto:a@evil.example
[c](https://forge.example/o/r/commit/abc123) [i](https://forge.example/o/r/issues/1)
[d](https://forge.example.evil.example/o/r/commit/abc123)
END
# shellcheck disable=SC2016 # Markdown
printf '\033[31mred\007 \302\233x \342\200\256rtl\342\201\246 cr\r\n```mermaid\n~~~ {x}\n```\n' >>evil.txt
# inert FILE WHAT: checks that FILE, also with decoded entities, has no
# hostile markup
inert() {
  test_absent '<img|<!-- vkb-comment: arm64|\]\((http|/)|^ *\[ref\]:|^ */(merge|close)|^ *(```|~~~)' "$1" \
    "$2: there is no hostile markup"
  test_absent '://|www\.|mailto:a@|GH-[0-9]|[@#!~%][a-z0-9]|&[a-z]' "$1" \
    "$2: there is no link, mention or reference"
  test_same 0 "$(tr -d '\n' <"$1" | LC_ALL=C tr -d -c '\000-\037\177' | wc -c | tr -d ' ')" \
    "$2: there are no control characters"
  test_absent "$(printf '\342\200[\217\250-\256]|\342\201[\246-\251]|\302\233')" "$1" \
    "$2: there are no direction marks"
}
# Each line is a text, and all lines together are one.
jq -Rs 'split("\n") + [.]' evil.txt >evil.json
jq -c --slurpfile e evil.json '$e[0][] as $e | .baseline = {label: $e} | .contender = {label: $e}
  | if .type == "delta" then .config = {command: $e, ($e): $e} | .metric = $e | .notes = [$e]
      | .waiver = {rule: $e, reason: $e, expires: $e}
    else .headline = $e | .method = $e | .warnings = [{kind: $e, text: $e}] end' \
  well.jsonl | jq -sc 'group_by(.baseline)[][]' >evil.jsonl
fresh 'github-actions[bot]'
test_that 'hostile records are accepted' vkb-comment github evil.jsonl
ours | sed -e 1d -e '/^<sub>.the run/d' >posted
test_match 'evil' posted 'the comment has the hostile texts'
sed 's/<[a-z/]*>//g; s/&#[0-9]*;/ /g' posted >text
inert text 'a hostile comment'

# A file without delta records is not posted.
cp evil.txt evil.md
test_status 2 'a file of Markdown is an error' vkb-comment github evil.md
test_match '^vkb-compare: evil.md:1:' .err 'the error names the file and its line'
test_same 121 "$(jq '.comments | length' state)" 'no other comment is posted'

# --- the text of an error, if there are no records

fresh 'github-actions[bot]'
test_that '--error without records is accepted' \
  vkb-comment --verdict trouble.word --error evil.txt github missing.jsonl
ours | sed -e 1d -e '/^<sub>/d' >posted
test_same '### Nothing was compared' "$(head -n 1 posted)" 'its title says that nothing was compared'
tail -n +3 posted >code
test_match '^    @all, ' code 'the comment has the error'
test_absent '^.{0,3}[^ ]' code 'each line of the error is code'
test_absent '[^ -~]' code 'the error is ASCII'
perl -e 'print "<@!/" x 60000, "\n" x 100' >long.txt
test_that 'a long error is accepted' vkb-comment --error long.txt github missing.jsonl
test_same true "$(jq '.comments[-1].body | length < 65536' state)" 'a long error is cut'
test_that '--error with records is accepted' vkb-comment --error evil.txt github well.jsonl
test_same '### well against old' "$(ours | sed -n 2p)" 'with records the error is not posted'
ln -s "$scratch/evil.txt" link.txt
test_status 2 'a symbolic link as error is exit 2' vkb-comment --error link.txt github missing.jsonl
test_match "'link.txt' is not a regular file" .err 'the message names the symbolic link'

ln -s "$scratch/well.jsonl" link.jsonl
for f in link.jsonl none.jsonl .; do
  test_status 2 "$f is an error" vkb-comment github $f
  test_match "'$f' is not a regular file" .err "the message names $f"
done

echo 'nonsense' >bad.word
ln -s "$scratch/none.word" link.word
test_status 2 'an unknown verdict is an error' vkb-comment --verdict bad.word github well.jsonl
test_match "'bad.word' is not a verdict of vkb-pr: regression" .err 'the error lists the verdicts'
test_status 2 'a symbolic link as verdict is an error' vkb-comment --verdict link.word github well.jsonl
test_match "'link.word' is not a regular file" .err 'the error names the symbolic link'

# --- errors of the forge

fresh 'github-actions[bot]'
wrong() { # wrong FILTER PATTERN WHAT [OPTION ...]: with this state the error matches PATTERN
  state "$1"
  pattern=$2 what=$3
  shift 3
  test_status 2 "$what" vkb-comment "$@" github well.jsonl
  test_match "$pattern" .err "$what: the error has the reason"
  test_empty "$(LC_ALL=C grep -a "$(printf '[\033\007]')" .err)" \
    "$what: no control character is printed"
}
wrong '.fail = {"POST /github/repos/o/r/issues/7/comments": 503}' \
  'POST .*comments: the answer is 503: as told' 'a forge that may have the comment'
test_same 1 "$(asked '^POST')" 'the request is sent once'
: >log
wrong '.fail = {"GET /github/repos/o/r/issues/7/comments": 503}' \
  'GET .*: the answer is 503' 'a forge that is unavailable'
test_same "GET 0" "GET $(asked '^POST')" 'nothing is posted if the old comment is unknown'
wrong '.fail = {} | .garbage = true' 'the answer cannot be read' 'an answer that is not JSON'
wrong '.garbage = false | .comments[0] = 7' 'the answer cannot be read' 'a list with an invalid comment'
fresh 'github-actions[bot]'
wrong '.fail = {"POST /github/repos/o/r/issues/7/labels": 404}' \
  'labels: the answer is 404' 'a label that does not exist' --verdict regression.word
wrong '.fail = {"DELETE /github/repos/o/r/issues/7/labels/performance-regression": 403}' \
  'cannot remove the label .*: the answer is 403' 'a missing right to remove a label' --verdict none.word
state '.fail = {}'
GITHUB_TOKEN=secret-2
wrong . 'the answer is 401: Bad credentials' 'a wrong token'
GITHUB_TOKEN=$(printf 'a"\nurl = "http://evil')
wrong . 'the token may have only letters, digits' 'a token with a line for curl'
GITHUB_TOKEN=
wrong . 'no token' 'no token'
GITHUB_TOKEN=secret-1
GITHUB_EVENT_NAME=push
wrong . "'push' is not an event of a pull request" 'another event'
GITHUB_EVENT_NAME=pull_request
echo '{}' >event
wrong . 'is not the number of a request' 'an event without a number'
echo '{"pull_request": {"number": 7}}' >event
api=$GITHUB_API_URL
GITHUB_API_URL=
wrong . 'GITHUB_API_URL is not set' 'a missing GITHUB_API_URL'
GITHUB_API_URL=http://127.0.0.1:1
wrong . '^vkb-comment: GET .*: curl' 'a port without a server'
GITHUB_API_URL=$api
for words in '' github 'svn well.jsonl' 'github well.jsonl well.jsonl' \
  '--mark A/B github well.jsonl' \
  '--nonsense github well.jsonl'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-comment $words is an error" vkb-comment $words
  test_match 'usage: ' .err "vkb-comment $words: the error shows the usage"
done

# The token is never an argument, and no .curlrc is read.
mkdir fake home
cat >fake/curl <<'END'
#!/bin/sh
printf '%s\n' "$@" >>"$SEEN"
PATH=$REAL
exec curl "$@"
END
chmod +x fake/curl
echo 'url = "http://127.0.0.1:1/"' >home/.curlrc
fresh 'github-actions[bot]'
test_that 'a report with a .curlrc is accepted' env PATH="$VKB_BIN:$top/bin:$scratch/fake:$PATH" \
  REAL="$PATH" SEEN="$scratch/seen" HOME="$scratch/home" vkb-comment github well.jsonl
test_match '^POST$' seen 'curl was started'
test_same 0 "$(grep -c secret seen)" 'the token is in no argument'

# --- issues

# history CASE: prints forty commits; the case is slower since the 31st
# history CASE [COMMITS]: slower from commit 31 to 40
history() {
  i=0
  while [ $i -lt "${2:-40}" ]; do
    i=$((i + 1))
    rps=$((50000 + i * 37 % 11 * 30))
    [ $i -le 30 ] || [ $i -gt 40 ] || rps=$((rps - 4000))
    printf '{"type":"run","v":1,"subject":{"commit":"%040d","repository":"o/r"},"config":{"command":"%s"},"run":{"session":"s","index":1},"metrics":{"rps":%s},"time":"2026-01-%02dT00:00:%02dZ","status":"ok"}\n' \
      $i "$1" $rps $((i / 2 + 1)) $i
  done
}
history SET >one.jsonl
history SET 60 >reverted.jsonl
test_status 1 'vkb-detect finds a regression' vkb-detect -f issue:found.md one.jsonl
for on in github gitlab; do
  fresh 'github-actions[bot]'
  text=body opened=open
  [ $on = github ] || text=description opened=opened
  test_that "$on: a regression with --issue is accepted" vkb-comment --issue $on one.jsonl
  test_match "^SET: 8.0% slower since .* $opened\$" \
    "$(jq -r '.issues[3:][] | "\(.title) \(.state)"' state >titles; echo titles)" \
    "$on: an issue is opened"
  test_same '["performance-regression"]' \
    "$(jq -c '[.issues[3:][].labels | if type == "array" then .[] else . end]' state)" \
    "$on: the issue has the label"
  jq -r ".issues[3].$text" state >posted
  test_match '^<!-- vkb-key: [0-9a-f]{16} -->$' "$(head -n 1 posted >key; echo key)" \
    "$on: the issue begins with the key of vkb-detect"
  test_same "$(sed 1d found.md)" "$(sed '/^<sub>/d' posted)" "$on: the text is that of vkb-detect"
  others=$(jq -c '.issues[:3]' state)
  state ".issues[3].title = \"old\""
  test_that "$on: the same regression is accepted again" vkb-comment --issue $on one.jsonl
  test_match '^SET: 8.0% slower since' "$(jq -r '.issues[3].title' state >title; echo title)" \
    "$on: the issue is rewritten"
  test_same 4 "$(jq '.issues | length' state)" "$on: no other issue is opened"
  test_that "$on: --dry-run with a regression that was reverted is accepted" \
    vkb-comment --dry-run --issue $on reverted.jsonl
  test_same $opened "$(jq -r '.issues[3].state' state)" "$on: --dry-run closes no issue"
  test_that "$on: a regression that was reverted is accepted" vkb-comment --issue $on reverted.jsonl
  test_same '4 closed' "$(jq -r '.issues | "\(length) \(.[3].state)"' state)" \
    "$on: the issue of a regression that was reverted is closed"
  test_same "$others" "$(jq -c '.issues[:3]' state)" "$on: no other issue is closed"
  state '.issues[3].title = "old"'
  test_that "$on: the same regression after it was closed" vkb-comment --issue $on one.jsonl
  test_same '4 closed old' \
    "$(jq -r '.issues | "\(length) \(.[3] | "\(.state) \(.title)")"' state)" \
    "$on: a closed issue is not changed"
  : >log
  test_that "$on: --dry-run with --issue is accepted" vkb-comment --dry-run --issue $on one.jsonl
  test_match '^# SET: 8.0% slower since' .out "$on: --dry-run prints the issue"
  test_empty_file log "$on: --dry-run sends no request"
done
history 'GET <b> @me #1 [a](https://evil.example)' >evil.jsonl
vkb-comment --dry-run --issue github evil.jsonl >issue.out
sed '2d; s,^<sub>.*,,; s,(https://github.com/o/r/[^)]*),,g; s/<[a-z/]*>//g; s/&#[0-9]*;/ /g; s/[0-9]%//g' issue.out >text
test_match 'GET .* b' text 'an issue names a hostile case'
inert text 'an issue with a hostile case'
fresh 'github-actions[bot]'
test_that 'an issue about a hostile case is accepted' vkb-comment --issue github evil.jsonl
jq -r '.issues[3].title' state >title
test_match '^GET <b> @.{1,3}me #.{1,3}1 .*: 8\.0% slower since' title \
  'its title is plain text without mentions and references'
test_absent '&#|@me|#1' title 'it has no entities'
echo '{"rules": [{"metric": "rps", "class": "info"}]}' >policy.json
fresh 'github-actions[bot]'
test_that '--policy is accepted' vkb-comment --issue github --policy policy.json one.jsonl
test_same 3 "$(jq '.issues | length' state)" '--policy is passed to vkb-detect'
test_status 2 'a missing history is an error' vkb-comment --issue github none.jsonl
test_match "^vkb-detect: .*'none.jsonl'" .err 'the error of vkb-detect names the file'
mkdir silent
printf '#!/bin/sh\nexit 1\n' >silent/vkb-detect
chmod +x silent/vkb-detect
ln -s "$top/lib" lib
cp "$top/bin/vkb-comment" silent
chmod +x silent/*
test_status 2 'a vkb-detect that ends with 1 without an issue is an error' silent/vkb-comment --issue github one.jsonl
test_match 'there is no issue: vkb-detect ended with status 1' .err 'the error says that there is no issue'

# A hostile run with many regressions opens a few issues, and one for the others. The
# limit is a fifth of ours: each issue takes ten processes.
sed 's/^most_new=10$/most_new=2/' "$top/bin/vkb-comment" >silent/vkb-comment
cat >silent/vkb-detect <<'END'
#!/bin/sh
for i in $(seq 32); do
  printf '# title %s\n<!-- vkb-key: %016x -->\n\ntext\n' "$i" "$i" >"${2#issue:}$(printf %03d "$i").md"
done
exit 1
END
fresh 'github-actions[bot]'
test_that 'many issues are accepted' silent/vkb-comment --issue github many.jsonl
test_same '6 30 more regressions' "$(jq -r '.issues | "\(length) \(.[5].title)"' state)" \
  'a few issues are opened, and one lists the others'
jq -r '.issues[5].body' state >rest
test_same 30 "$(grep -c '^- ' rest)" 'the last issue lists all others'
test_same 1 "$(asked '^GET .*issues')" 'the list of issues is read once'
test_that 'the next start is accepted' silent/vkb-comment --issue github many.jsonl
test_same '9 28 more regressions' "$(jq -r '.issues | "\(length) \(.[8].title)"' state)" \
  'the next start opens a few more'
test_empty_file forge.err 'the forge reports no error'
test_done
