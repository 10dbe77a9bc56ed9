#!/bin/sh
# vkb-detect: the issue that describes a regression, and its key, which does not change.
# shellcheck disable=SC2016 # what is in backquotes is text
. "${0%/*}/lib.sh"

# history SEED COMMITS CASES AT...: prints runs in the order of their commits, 6 %
# slower from each AT on.
history() {
  perl -e 'my ($seed, $n, $cases, @at) = @ARGV; srand $seed;
    for my $i (0 .. $n - 1) { for my $c (0 .. $cases - 1) { for my $k (1 .. 3) {
      my $x = 1 + .03 * (rand() + rand() + rand() - 1.5);
      $x *= .94 for grep { $i >= $_ } @at;
      printf qq({"type":"run","v":1,"subject":{"commit":"%04x%036x","time":"2026-%02d-%02dT08:00:00Z","repository":"valkey-io/valkey"},"config":{"command":"SET","data_size":%d},"run":{"session":"s%d","index":%d},"metrics":{"rps":%.2f},"status":"ok"}\n),
        ($i * 40503 + $seed) % 65536, $i, 1 + $i / 28, 1 + $i % 28, 2 ** $c, $i, $k, 1e5 * $x } } }' "$@"
}
issue() { vkb-detect -f issue "$@"; }
keys() { sed -n 's/^<!-- vkb-key: \([0-9a-f]\{16\}\) -->$/\1/p' "$@"; }

# --- the text of an issue

history 1 60 3 36 >h
test_status 1 'an issue about a regression' issue h
cp .out text
test_match '^# SET [124]B: [56]\.[0-9]% slower since [0-9a-f]{8}, and 2 more cases$' text \
  'the title names the case, the change and the commit'
grep -v '"data_size":4}' h >two
test_status 1 'a regression of two cases' issue two
test_match '^# SET [12]B: [56]\.[0-9]% slower since [0-9a-f]{8}, and 1 more case$' .out \
  'the title counts the second case'
grep -v '"data_size":[24]}' h >one
test_status 1 'a regression of one case' issue one
test_match '^# SET[^,]*: [56]\.[0-9]% slower since [0-9a-f]{8}$' .out \
  'the title of one case counts no others'
jq -c '.metrics |= {p99_latency_ms: (1e5 / .rps)}' one >p99
test_status 1 'a regression of a percentile' issue p99
test_match '^# SET: p99 6\.[0-9]% higher since [0-9a-f]{8}$' .out 'the title has the label of the metric'
test_match '^The \*\*p99\*\* of \*\*SET\*\* rose from [0-9.]+ to 1\.0' .out 'so has the sentence'
test_match '^[|] SET [|] p99 [|]' .out 'and the table'

# titles TITLE FILE: prints commit records of all commits of a history, and the history
titles() {
  jq -nc --arg title "$1" '[inputs.subject] | unique_by(.time) | to_entries | . as $all | .[] |
    {type: "commit", v: 1, commit: .value.commit, time: .value.time,
      parents: (if .key > 0 then [$all[.key - 1].value.commit] else [] end),
      title: "\($title) (#\(.key))"}' "$2"
  cat "$2"
}
titles 'Embed the key' one >titled
test_status 1 'a history with the titles of its commits' issue titled
test_match '^# SET: [56]\.[0-9]% slower since [0-9a-f]{8} .Embed the key .&#35;&#8203;36..$' .out \
  'the title of an issue has that of the commit, which refers to nothing'
test_match '^It changed at .*[0-9a-f]{8}\].* .Embed the key .&#35;&#8203;36., 2026-02-09.' .out \
  'the text has it, too'
test_same "$(issue one | keys)" "$(keys .out)" 'the key of the issue is the same as without'
vkb-detect titled >.out
test_match '^regression at [0-9a-f]{8} .Embed the key .#36., 2026-02-09., 37 of 60$' .out \
  'the text report has the title of the commit'
titles "$(printf 'long %0300d' 0)" one >long
test_status 1 'a history with long titles' issue long
test_match '^# SET: [56]\.[0-9]% slower since [0-9a-f]{8} .long 0+\.\.\..$' .out 'a long title is cut'
test_empty "$(awk 'NR == 1 && length > 162' .out)" 'so that the title of the issue fits'
titles '@@@@@@@@@@@@' one >signs
test_status 1 'a history with titles that grow when they are escaped' issue signs
test_match '^# SET: [56]\.[0-9]% slower since [0-9a-f]{8}$' .out 'the title of the issue has none then'
late=$(jq -rs '[.[].subject.commit] | unique_by(.[4:])[36]' one)
titles 'Embed the key' one | jq -c --arg late "$late" 'select(.subject.commit != $late)' >unsure
test_status 1 'a regression at one of two commits' issue unsure
test_match '^# SET: [56]\.[0-9]% slower since one of 2 commits up to [0-9a-f]{8}$' .out \
  'no commit is named as the cause where another one may be it'
jq -c '(if .subject.time < "2026-02-09" then 4600 else 4755 end) as $count | .counted = true | .metrics |= {instructions_per_req: $count}' \
  one >exact
test_status 1 'a regression of counted instructions' issue exact
test_match '^# SET: 3\.4% more instructions since [0-9a-f]{8}$' .out 'the title of a count says what is more'
test_same "$(keys text)" "$(sed -n 's/^The key of this change is `\(.*\)`;.*/\1/p' text)" \
  'the key is in a comment and in the last line'
test_same 1 "$(keys text | wc -l | tr -d ' ')" 'there is one key'
test_match ' fell from [0-9.]+K to [0-9.]+K req/s: -[56]\.' text \
  'the issue has the change from the old to the new value'
test_match '^The brackets hold the 95 % confidence interval\.$' text 'the issue explains the interval'
test_match 'before and 24 after, probability &#62;99\.9%\.$' text 'the issue has the number of runs and the probability'
test_match '\(https://github.com/valkey-io/valkey/commit/[0-9a-f]{40}\)' text 'the issue links to a commit'
test_match '\(https://github.com/valkey-io/valkey/compare/[0-9a-f]{40}\.\.\.[0-9a-f]{40}\)' \
  text 'the issue lists what changed between the two commits'
test_same 3 "$(grep -c '^| SET [124]B | throughput ' text)" 'the issue has a row for each case'
test_match '^  `vkb-ab -C \. [0-9a-f]{12} [0-9a-f]{12} -- config\.json --runs 10`$' text 'the issue has the next command'
# of_module COMMIT: makes the commits those of a module, and this one with another
# server
of_module() {
  jq -c --arg other "$1" 'if .type != "run" then . else .subject |= (.module_commit = .commit |
    del(.commit) | .build = {module: "make", server: (if .module_commit[:12] == $other
      then "/opt/two" else "/opt/one" end)}) end' h >modules
  issue modules >text.module
}
of_module none
test_match 'on the same machine as before: its server is a program of that machine\.$' text.module \
  'a module with an installed server is measured again where that is'
test_absent '/opt/one|vkb-ab' text.module 'no command has the path of that server'
jq -c 'if .type != "run" then . else .subject |= (.commit = "c" * 40 | .build = {module: "make",
  server_repo: "https://a.b/c.git"}) end' modules >fetched
issue fetched >text.fetched
test_match '`vkb-ab -C \. .* --module-build make --server c{12} --server-repo https://a.b/c.git -- config\.json ' \
  text.fetched 'the command builds commits of a module for their server'
of_module "$(sed -n 's/.*`vkb-ab -C \. \([0-9a-f]*\) .*/\1/p' text.fetched)"
test_absent 'vkb-ab|as before' text.module 'commits with two servers have no build command'
vkb-detect -f jsonl h >records
test_same "$(keys text)" "$(jq -r 'select(.kind == "regression").group' records | sort -u)" \
  'the records have the same keys'
commit_at() { perl -e 'printf "%04x%036x", ($ARGV[0] * 40503 + 1) % 65536, $ARGV[0]' "$1"; }
old=$(commit_at $(($(jq -s 'map(select(.kind == "regression").indexes[0]) | max' records) - 1)))
last=$(commit_at "$(jq -s 'map(select(.kind == "regression").indexes[1]) | min' records)")
from=$(printf %.12s "$old") to=$(printf %.12s "$last")
test_same "vkb-ab -C . $from $to -- config.json --runs 10
git log -p $from..$to" "$(sed -n -e 's/^ *`\(vkb-ab .*\)`$/\1/p' -e 's/.*`\(git log .*\)`$/\1/p' text)" \
  'the commands measure the commit before the change and the last suspect'
test_match "/compare/$old\.\.\.$last\)" text 'the link compares the same commits'
for odd in "$old" "$last"; do
  sed "s/$odd/a label/" h >labelled
  test_status 1 'a label instead of a commit' issue labelled
  test_absent '/compare/|vkb-ab|git log' .out \
    'a label is part of no link and no command'
done
history 1 60 3 >flat
test_that 'a history without a regression' issue flat
test_empty_file .out 'no issue is printed'
test_that 'a regression that was known before' issue --since 2026-02-20 h
test_empty_file .out 'nothing is printed on stdout'

# --- the key

key=$(keys text)
for n in 42 45 50 55 75 100; do
  history 1 "$n" 3 36 >grown
  test_same "$key" "$(issue grown | keys)" "the key is the same when $n commits are known"
done
sort h >sorted
tac h >turned
{ cat h; history 1 60 3 36 | sed 's/"SET"/"GET"/'; } >others
perl -e 'srand 1; print sort { rand() <=> .5 } <>' <h >mixed
grep -v '"data_size":2}' h >fewer
order() { perl -e 'for my $i (0 .. 59) { printf qq({"type":"commit","v":1,"commit":"%04x%036x","parents":[%s]}\n),
  ($i * 40503 + 1) % 65536, $i, $i ? sprintf qq("%04x%036x"), (($i - 1) * 40503 + 1) % 65536, $i - 1 : "" }'; }
order >commits
test_same "$key" "$(issue h commits | keys)" 'the key is the same with the ancestry of the commits'
# part CONDITION: prints the runs of the commits, of which $i is the number, that fulfil it.
part() { jq -c "(.run.session[1:] | tonumber) as \$i | select($1)" h; }
part '$i >= 30' >newer
part '$i < 36 or $i >= 42' >newest
part '$i % 3 != 0 or $i == 36' >gaps
for f in newer newest gaps; do
  test_same "$key" "$(issue $f commits | keys)" "the key is the same before all are measured: $f"
done
for f in sorted turned mixed; do
  test_same "$key" "$(issue $f commits | keys)" "the key is the same with the input $f"
done
test_same "$key" "$(issue others | keys)" 'the key is the same with other cases'
test_same "$key" "$(issue fewer | keys)" 'the key is the same with fewer cases'
history 1 90 3 36 60 >two
test_status 1 'a second regression is found' issue two
test_same 2 "$(keys .out | sort -u | wc -l | tr -d ' ')" 'a second regression has another key'
test_same "$key" "$(keys .out | grep "$key")" 'the first regression keeps its key'
test_same "$(keys .out | head -n 1)" "$(vkb-detect -f issue --since 2026-03-01 two | keys)" \
  'only the second regression is in the issue with --since'
for at in 39 40 41 42 43; do
  history 1 60 3 36 $at >near
  issue near >.out
  test_same '2 2' "$(keys .out | wc -l) $(keys .out | sort -u | wc -l)" \
    "two changes that are near each other have different keys, 36 and $at"
done
kept=0 seeds=0
for seed in 2 3 4 5 6 7 8 9 10 11; do
  history $seed 44 2 36 >early
  history $seed 80 2 36 >late
  [ -z "$(issue early | keys)" ] || {
    seeds=$((seeds + 1))
    [ "$(issue early | keys)" != "$(issue late | keys)" ] || kept=$((kept + 1))
  }
done
test_same "10 10" "$seeds $kept" 'the key does not change if noise moves the change'

# --- one file each in a folder

mkdir found
test_status 1 'issues in a folder' vkb-detect -f issue:found/ two
test_same "$(issue two | keys | sort)" "$(printf '%s\n' found/*.md | sed 's/.*\///; s/\.md$//')" 'each issue is a file'
for f in found/*.md; do
  test_same "${f##*/}" "$(keys "$f").md" 'the file of an issue is named by its key'
  test_match '^# SET' "$f" 'the file of an issue begins with its title'
done
test_status 2 'a folder that does not exist is an error' vkb-detect -f issue:nowhere/ two
test_match "nowhere/" .err 'the error names the folder that does not exist'

# --- hostile texts

evil='<b>|@all `x` #1 [a](http://x) ![](http://y) www.x.y GH-1 -->'
sed "s/\"SET\"/\"$(printf %s "$evil" | sed 's/[&/|]/\\&/g')\\\\u001b[31m\\\\n# x\"/" h >hostile
test_status 1 'a hostile name of a case' issue hostile
test_empty "$(grep -F -e '<b>' -e '@all' -e '](http://' -e '`x`' -e ' #1' -e 'www.x' .out)" \
  'a hostile name is escaped in Markdown and HTML'
test_empty "$(tr -d '[:print:]\n' <.out)" 'control characters of a hostile name are escaped'
test_same 1 "$(grep -c '^# ' .out)" 'a hostile name does not make a second title'
test_empty "$(awk 'NR == 1 && length > 258' .out)" 'the title is at most 258 characters long'
test_same 1 "$(keys .out | wc -l | tr -d ' ')" 'a hostile name does not make a second key'
long=$(printf '%0100d' 0) owner=$(printf %.39s "$long")
sed "s|valkey-io/valkey|$owner/$long|" h >other
issue other >.out
test_match "\\(https://github.com/$owner/$long/commit/" .out 'a name of 39 and 100 characters has links'
for repository in "0$owner/x" "x/0$long" 'https://github.com/a/b' 'a/b/c' 'a/..' '../b' '-a/b' 'a b/c' \
  'a/b](http://x)' 'evil.com/x' '/b' 'a/' 'javascript:x/y'; do
  sed "s|valkey-io/valkey|$repository|" h >other
  issue other >.out
  test_empty "$(grep -F -e '](' .out)" "no link is made to '$repository'"
done
sed 's/"commit":"/&refs\/x](y) /' h >other
issue other >.out
test_empty "$(grep -F -e '](' -e '`vkb-build' .out)" \
  'a commit that is not a hash has no link and no command'
sed 's/"commit":/"label":/' h >other
test_status 1 'subjects without commits' issue other
test_same "$(keys .out)" "$(history 1 70 3 36 | sed 's/"commit":/"label":/' | issue | keys)" \
  'the key is that of the subjects'

# --- an issue is not longer than GitHub allows

for i in 1 2 3 4 5 6 7 8; do
  sed "s/\"SET\"/\"$(printf '%060d' $i | tr 0 '<')\"/" h
done >wide
perl -ne 'for my $c (1 .. 40) { my $l = $_; $l =~ s/"data_size":/"x":$c,$&/; print $l }' wide >wider
test_status 1 'an issue about 320 cases' issue wider
test_empty "$(test "$(wc -c <.out)" -le 65000 || wc -c <.out)" \
  'an issue with 320 cases is at most 65000 bytes long'
test_match '^[0-9]+ more series$' .out 'the issue counts the series that were left out'
test_match '^The key of this change' .out 'an issue that was shortened has its last line'
{
  grep '"data_size":1}' h | sed "s/\"SET\"/\"$(printf '%060d' 1 | tr 0 '<')\"/" |
    perl -ne 'for my $c (1 .. 150) { my $l = $_; $l =~ s/"data_size":/"x":$c,$&/; print $l }'
  history 1 60 1 12 48 | sed 's/"SET"/"GET"/'
} >both
test_status 1 'a long issue between two others' issue both
test_same 2 "$(grep -c '^| GET ' .out)" 'an issue after a long one has its table'
test_done
