#!/bin/sh
# vkb-comment against a forge of our own: one comment, kept up to date, on the
# right request; labels; issues; nothing of a hostile report does anything.
# slow: a shell script that runs no program of ours
. "${0%/*}/lib.sh"
for tool in curl jq perl; do
  command -v $tool >/dev/null || {
    test_skip 'comments' $tool
    test_done
  }
done
for name in $(env | sed -n 's/^\(\(GITHUB\|CI\|VKB_GITLAB\)_[A-Z_]*\)=.*/\1/p'); do
  unset "$name"
done
unset CI http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

perl "$tests/forge.pl" port state log 2>forge.err &
forge=$!
test_cleanup() { kill "$forge" 2>/dev/null; }
if ! wait_until 60 test -s port; then
  test_result 1 'the forge starts'
  sed 's/^/# /' forge.err
  test_done
fi
at=http://127.0.0.1:$(cat port)

state() { # state FILTER: changes it
  jq "$1" state >state.2 && mv state.2 state
}
fresh() { # fresh LOGIN: 120 comments of others, some with our marker
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
echo 'All is well.' >report.md
for word in regression improvement none trouble; do echo $word >$word.word; done

# --- one comment, on either

for on in github gitlab; do
  fresh 'github-actions[bot]'
  test_that "$on: a report" vkb-comment $on report.md
  test_empty "$(cat .out .err)" "$on: is posted quietly"
  test_same '<!-- vkb-comment: report -->
All is well.' "$(ours | head -n 2)" "$on: with its marker"
  test_same 121 "$(jq '.comments | length' state)" "$on: as a comment"
  run=https://forge.example/o/r/actions/runs/99
  [ $on = github ] || run=$CI_PIPELINE_URL
  test_same "<sub>[the run]($run)</sub>" "$(ours | tail -n 1)" "$on: with its run"
  echo 'All is bad.' >bad.md
  test_that "$on: the next" vkb-comment --verdict regression.word $on bad.md
  test_same 'All is bad.' "$(ours | sed -n 2p)" "$on: takes its place"
  test_same 121 "$(jq '.comments | length' state)" "$on: and there is one"
  test_same 2 "$(asked 'per_page=100&page=2')" "$on: it is found on the second page"
  test_same '["performance-regression"]' "$(jq -c '.labels | keys' state)" "$on: the label"
  test_that "$on: trouble" vkb-comment --verdict trouble.word $on report.md
  test_same '["performance-regression"]' "$(jq -c '.labels | keys' state)" "$on: leaves it"
  test_that "$on: none" vkb-comment --verdict none.word $on report.md
  test_same '{}' "$(jq -c .labels state)" "$on: takes it away"
  test_that "$on: improvement" vkb-comment --verdict improvement.word $on report.md
  test_same '{}' "$(jq -c .labels state)" "$on: and there need be none"
  test_that "$on: another mark" vkb-comment --mark arm64 $on report.md
  test_same 122 "$(jq '.comments | length' state)" "$on: is another comment"
  : >log
  test_that "$on: --dry-run" vkb-comment --dry-run $on report.md
  test_same 'All is well.' "$(sed -n 2p .out)" "$on: prints it"
  test_empty_file log "$on: and asks nothing"
  test_same 'not ours' "$(jq -r '.comments[3].body' state | tail -n 1)" \
    "$on: the comments of others are as they were"
done

# --- which pull request a finished workflow was of

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
test_that 'of a fork' vkb-comment github report.md
test_same 'All is well.' "$(ours | sed -n 2p)" 'is found by its head'
test_same '<sub>[the run](https://forge.example/o/r/actions/runs/5)</sub>' \
  "$(ours | tail -n 1)" 'with the run that measured'
run_of "$nasty" bbb
fresh 'github-actions[bot]'
pull 7 "$nasty" aaa
test_that 'one that has moved on' vkb-comment github report.md
test_match 'no open pull request has bbb as its head' .err 'is said'
test_empty "$(ours)" 'and nothing is posted'
pull 7 "$nasty" bbb '| .pulls[-1].head.repo.full_name = "me/other"'
test_that 'another repository' vkb-comment github report.md
test_empty "$(ours)" 'is another one'
pull 7 "$nasty" bbb
pull 8 "$nasty" bbb
test_status 2 'two of one head' vkb-comment github report.md
test_match 'is not the number of a request' .err 'are not one'
jq '.workflow_run.event = "push"' event >event.2 && mv event.2 event
test_status 2 'a push' vkb-comment github report.md
test_match 'not started by a pull request' .err 'is none'
test_empty "$(find . -name evil)" 'no name is run'
GITHUB_EVENT_NAME=pull_request
echo '{"pull_request": {"number": 7}}' >event

# --- a report of a stranger

cat >evil.md <<'END'
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
printf '\033[31mred\007 \302\233x \342\200\256rtl\342\201\246 \342\200\342\200\256\256 \342\200\001\256 nul\000 cr\r\n' >>evil.md
# shellcheck disable=SC2016 # Markdown
printf '```mermaid\n~~~ {x}\n```\n' >>evil.md
fresh 'github-actions[bot]'
test_that 'a hostile report' vkb-comment github evil.md
ours >posted
plain() { sed "s/$(printf '\342\200\213')/~/g" posted; }
test_same '@~all, &amp;#~64;me, &amp;#~064;me, &amp;#~x40;me, &amp;~commat;me, o/r#~12, ##~13, GH-~14, !~15, ~~bug, %~16, &amp;~17
&lt;img src=https:~//evil.example/x.png>&lt;!-- vkb-comment: arm64 -->
~/merge
   ~/close
!~[pixel]~(https:~//evil.example/x.png) [click]~(https:~//evil.example) [rel]~(/logout)
[ref]~: https:~//evil.example "t"
https:~//evil.example www~.evil.example www~._.evil.example mailto:a@~evil.example
[c](https://forge.example/o/r/commit/abc123) [i]~(https:~//forge.example/o/r/issues/1)
[d]~(https:~//forge.example.evil.example/o/r/commit/abc123)' \
  "$(plain | sed -n '2,10p')" 'is a text and no more'
# Nothing that is taken out brings other bytes together.
lost=$(printf '\357\277\275')
test_same "[31mred ?x ?rtl? $lost?$lost ? nul cr" \
  "$(plain | sed -n 11p)" 'nothing drives a terminal, or turns a line'
# shellcheck disable=SC2016 # Markdown
test_same '```~mermaid
~~~~ {x}
```' "$(plain | sed -n '12,14p')" 'nothing is drawn'

# What our own reports have is not touched.
# shellcheck disable=SC2016 # a name
printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s"},"run":{"session":"s","index":1},"metrics":{"rps":1},"status":"ok"}\n' \
  'a@b #1 https://x.y `z` <i> GH-1 & |' 'S*E_T' >runs
vkb-compare --format markdown runs runs >own.md 2>own.err
test_match '&#64;&#8203;b' own.md 'vkb-compare writes a report'
vkb-comment --dry-run github own.md >own.out
test_same "$(cat own.md)" "$(sed -e 1d -e '/^<sub>/d' own.out)" 'it stays as it is'

i=0
while [ $i -lt 40 ]; do
  i=$((i + 1))
  rps=$((50000 + i * 37 % 11 * 30))
  [ $i -le 30 ] || rps=$((rps - 4000))
  printf '{"type":"run","v":1,"subject":{"commit":"%040d","repository":"o/r"},"config":{"command":"GET <b> @me #1"},"run":{"session":"s","index":1},"metrics":{"rps":%s},"time":"2026-01-%02dT00:00:%02dZ","status":"ok"}\n' \
    $i $rps $((i / 2 + 1)) $i
done >history
mkdir found
test_status 1 'vkb-detect finds a regression' vkb-detect --format issue:found/ history
GITHUB_SERVER_URL=https://github.com vkb-comment --dry-run --issue github found/ >own.out
test_match '\]\(https://github.com/o/r/commit/0+31\)' own.out 'with a link'
test_same "$(cat found/*.md)" "$(sed '/^<sub>/d' own.out)" 'it stays as it is as well'

perl -e 'print "<@!/" x 60000, "\n"' >long.md
fresh 'github-actions[bot]'
test_that 'a long one' vkb-comment github long.md
test_same 'true' "$(jq '.comments[-1].body | length < 65536' state)" 'is cut'
test_match 'This report is cut: all of it is in \[the run\]' state 'a comment that is cut says where all of it is'
ln -s "$scratch/report.md" link.md
for f in link.md none.md .; do
  test_status 2 "$f" vkb-comment github $f
  test_match "'$f' is not a regular file" .err 'is refused'
done

echo 'nonsense' >bad.word
ln -s "$scratch/none.word" link.word
test_status 2 'a verdict that is none' vkb-comment --verdict bad.word github report.md
test_match "'bad.word' holds no verdict" .err 'is refused'
test_status 2 'a verdict elsewhere' vkb-comment --verdict link.word github report.md
test_match "'link.word' is not a regular file" .err 'is refused'

# --- what goes wrong

fresh 'github-actions[bot]'
wrong() { # wrong FILTER PATTERN WHAT [OPTION ...]
  state "$1"
  pattern=$2 what=$3
  shift 3
  test_status 2 "$what" vkb-comment "$@" github report.md
  test_match "$pattern" .err "$what: is said"
  test_empty "$(LC_ALL=C grep -a "$(printf '[\033\007]')" .err)" \
    "$what: harmlessly"
}
wrong '.fail = {"POST /github/repos/o/r/issues/7/comments": 403}' \
  'POST .*comments: the answer is 403: as told' 'no right to comment'
test_same 1 "$(asked '^POST')" 'it is tried once'
: >log
wrong '.fail = {"GET /github/repos/o/r/issues/7/comments": 503}' \
  'GET .*: the answer is 503' 'a forge that is away'
test_same "GET 0" "GET $(asked '^POST')" 'nothing is posted where the old one is not known'
wrong '.fail = {} | .garbage = true' 'the answer cannot be read' 'an answer that is none'
wrong '.garbage = false | .comments[0] = 7' 'the answer cannot be read' 'a list of something'
fresh 'github-actions[bot]'
wrong '.fail = {"POST /github/repos/o/r/issues/7/labels": 404}' \
  'labels: the answer is 404' 'no label' --verdict regression.word
wrong '.fail = {"DELETE /github/repos/o/r/issues/7/labels/performance-regression": 403}' \
  'cannot remove the label .*: the answer is 403' 'no right to a label' --verdict none.word
state '.fail = {}'
GITHUB_TOKEN=secret-2
wrong . 'the answer is 401: Bad credentials' 'a wrong token'
GITHUB_TOKEN=$(printf 'a"\nurl = "http://evil')
wrong . 'the token has characters that no token has' 'a token with a line of curl in it'
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
wrong . 'GITHUB_API_URL is not set' 'no API'
GITHUB_API_URL=http://127.0.0.1:1
wrong . '^vkb-comment: GET .*: curl' 'nobody there'
GITHUB_API_URL=$api
for words in '' github 'svn report.md' 'github report.md report.md' \
  '--mark A/B github report.md' \
  '--nonsense github report.md'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-comment $words" vkb-comment $words
  test_match 'usage: ' .err "vkb-comment $words: is usage"
done

# The token is an argument of nothing, and no .curlrc is read.
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
test_that 'with a .curlrc' env PATH="$VKB_BIN:$top/bin:$scratch/fake:$PATH" \
  REAL="$PATH" SEEN="$scratch/seen" HOME="$scratch/home" vkb-comment github report.md
test_match '^POST$' seen 'curl was seen'
test_same 0 "$(grep -c secret seen)" 'the token is in no argument'

# --- issues

cat >one.md <<'END'
# SET is 5 % slower since abc123
<!-- vkb-key: 0123456789abcdef -->

[abc123](https://forge.example/o/r/commit/abc123) by @me
END
mkdir issues
cp one.md issues
sed 's/cdef/cdee/; s/^# SET/# GET/' one.md >issues/two.md
for on in github gitlab; do
  fresh 'github-actions[bot]'
  text=body opened=open
  [ $on = github ] || text=description opened=opened
  test_that "$on: two issues" vkb-comment --issue $on issues/ none/
  test_same "SET is 5 % slower since abc123 $opened
GET is 5 % slower since abc123 $opened" \
    "$(jq -r '.issues[3:][] | "\(.title) \(.state)"' state)" "$on: are opened"
  test_same '"performance-regression"' \
    "$(jq -c '.issues[3:][].labels | if type == "array" then .[] else . end' state | sort -u)" \
    "$on: with the label"
  test_same '<!-- vkb-key: 0123456789abcdef -->' \
    "$(jq -r ".issues[3].$text" state | head -n 1)" "$on: and the key"
  sed 's/ 5 %/ 7 %/' one.md >more.md
  test_that "$on: when more is known" vkb-comment --issue $on more.md
  test_same 'SET is 7 % slower since abc123' "$(jq -r '.issues[3].title' state)" \
    "$on: it is rewritten"
  test_same 5 "$(jq '.issues | length' state)" "$on: there is no other"
  state '.issues[3].state = "closed"'
  test_that "$on: when it was closed" vkb-comment --issue $on one.md
  test_same '5 closed SET is 7 % slower since abc123' \
    "$(jq -r '.issues | "\(length) \(.[3] | "\(.state) \(.title)")"' state)" \
    "$on: it stays so"
  : >log
  test_that "$on: --dry-run" vkb-comment --dry-run --issue $on one.md
  test_match '^# SET is 5' .out "$on: prints it"
  test_empty_file log "$on: and asks nothing"
done
# However many a hostile run has: a few issues, and one for the rest.
mkdir many
for i in $(seq 112); do
  sed "s/cdef/$(printf %04x "$i")/; s/^# SET/# @me $i/" one.md >"many/$(printf %03d "$i").md"
done
fresh 'github-actions[bot]'
test_that 'many issues' vkb-comment --issue github many/
test_same '14 102 more regressions' "$(jq -r '.issues | "\(length) \(.[13].title)"' state)" \
  'ten are opened, and one that sums up the others'
jq -r '.issues[13].body' state >rest
test_same 102 "$(grep -c '^- ' rest)" 'which lists them'
test_same 0 "$(grep -c '@me' rest)" 'and mentions nobody'
test_same 101 "$(asked '^GET .*issues')" 'and does not ask for each of them'
test_that 'the next run' vkb-comment --issue github many/
test_same '25 92 more regressions' "$(jq -r '.issues | "\(length) \(.[24].title)"' state)" \
  'opens ten more'
ln -s one.md linked.md
test_status 2 'a link' vkb-comment --issue github linked.md
test_match "'linked.md' is not a regular file" .err 'is not read'
test_status 2 'a text without a key' vkb-comment --issue github report.md
test_match "'report.md' is not an issue of vkb-detect" .err 'is none'
test_empty_file forge.err 'the forge has nothing to say'
test_done
