#!/bin/sh
# vkb-history: a folder of JSON lines that is added to, pruned, used as a baseline
# and shown as a static site; several processes at once, kills, bad files and
# hostile names.
. "${0%/*}/lib.sh"
. "$tests/repo.sh"

# runs COMMIT TIME SESSION N RPS [MORE]: prints N runs; MORE are members of the subject
runs() {
  for run in $(seq "$4"); do
    printf '{"type":"run","v":1,"subject":{"commit":"%s","time":"%s"%s},"config":{"command":"SET"},"run":{"session":"%s","index":%d,"started":"%s"},"metrics":{"rps":%d},"status":"ok"}\n' \
      "$1" "$2" "${6-}" "$3" "$run" "$2" $(($5 + run % 3))
  done
}
history() { vkb-history -q "$@"; }
names() { # names DIR: prints the paths of its files
  (cd "$1" && find . -type f | sed 's,^\./,,' | sort | xargs)
}
lines() { cat "$@" | wc -l | tr -d ' '; }
id() { printf '%040x' "$1"; }

# --- add

runs "$(id 1)" 2026-01-01T00:00:00Z s1 4 1000 >one
runs "$(id 2)" 2026-01-02T00:00:00Z s2 4 1000 >two
test_that 'runs of two commits are accepted' vkb-history add h one two
test_match '^vkb-history: 8 records added to 2 files, 0 there already$' .err 'the message has the number of added records'
test_same "$(id 1).jsonl $(id 2).jsonl" "$(names h)" 'each commit has a file'
test_same "$(cat one)" "$(cat "h/$(id 1).jsonl")" 'the records are unchanged'
cksum h/* >was
test_that 'the same runs are accepted again' vkb-history add h two one two
test_match ' 0 records added to 0 files, 12 there already$' .err 'the message says that no record is new'
test_same "$(cat was)" "$(cksum h/*)" 'the files are unchanged'
runs "$(id 1)" 2026-01-01T00:00:00Z s1 6 1000 >further
test_that 'two more runs of a session are accepted' history add h further
test_same "$(cat further)" "$(cat "h/$(id 1).jsonl")" 'only the new runs are added'
test_empty "$(cat .err .out)" 'nothing is printed on stderr'
sed 's/"metrics"/"counted":true,&/' one >counted
test_that 'a case that was counted and measured in one session is accepted' vkb-history add both one counted one
test_match '^vkb-history: 8 records added to 1 file, 4 there already$' .err 'the counted runs are other runs'
sed 's/SET/GET/' one | vkb-history -q add h
test_same 10 "$(lines "h/$(id 1).jsonl")" 'runs of another case are added from standard input'
for i in 1 1.5 1e300 2e300; do
  head -n 1 one | sed "s/\"index\":1,/\"index\":$i,/"
done | history add parts
test_same 4 "$(lines parts/*)" 'numbers of runs that are not whole, or large, are other runs'
head -n 1 one | sed 's/"session":"s1","index":1,//' >none
cat none none one >nones
history add n nones
history add n nones
test_same 6 "$(lines n/*)" 'equal runs without a session are as many as in one file'
sed 's/"ok"/"failed","error":"x"/' one | history add n
test_same 10 "$(lines n/*)" 'failed runs are stored next to equal runs that succeeded'

# Two builds in one session, and the record of its machine.
{
  echo '{"type":"env","v":1,"session":"s9","time":"2026-01-03T00:00:00Z","env":{"arch":"x"}}'
  runs "$(id 3)" 2026-01-03T00:00:00Z s9 2 1000
  runs "$(id 4)" 2026-01-04T00:00:00Z s9 2 1000 ',"dirty":true,"tree":"aa"'
  runs x 2026-01-05T00:00:00Z s8 1 1000
  printf '{"type":"commit","v":1,"commit":"%s","title":"t"}\n' "$(id 3)" "$(id 3)"
  echo '{"type":"env","v":1,"session":"other","time":"2026-01-03T00:00:00Z","env":{}}'
  echo '{"type":"x-note","v":1}'
} >mixed
test_that 'records of many types are accepted' vkb-history add m mixed
test_match '^vkb-history: 2 records without a commit left out: x-note, env$' .err 'a message counts the records without a commit'
test_same "1 1 0" "$(for f in "m/$(id 3).jsonl" m/*-dirty-*.jsonl m/subject-*.jsonl; do
  grep -c '"type":"env"' "$f"
done | xargs)" 'the env record is stored with the runs of its session'
test_same 1 "$(lines m/commits.jsonl)" 'a commit record is stored once'
cksum m/* >was
history add m mixed
test_same "$(cat was)" "$(cksum m/*)" 'all records are stored once'
echo '[{"timestamp":"2026-01-01T00:00:00Z","commit":"0123456789abcdef","command":"SET","rps":5,"cluster_mode":false}]' >metrics.json
test_that 'metrics.json of the Python tool is accepted' history add p metrics.json
test_same '0123456789abcdef.jsonl 5' "$(names p) $(jq .metrics.rps p/*)" 'the result of the Python tool is stored'

# --- bad files

{ cat one; printf '{"type":"run","v":1,"subj'; } >torn
{ echo nonsense; cat two; } >wrong
test_status 2 'a line that is cut off and a line that is not a record are exit 2' vkb-history add b torn wrong none-such
test_match 'torn:5' .err 'the error names the line that is cut off'
test_match 'wrong:1' .err 'the error names the line that is not a record'
test_match 'none-such.*No such file' .err 'the error names the file that does not exist'
test_same 8 "$(lines b/*)" 'all other records are added'
printf x >>"b/$(id 1).jsonl"
cp "b/$(id 1).jsonl" bad
runs "$(id 2)" 2026-01-02T00:00:00Z s3 1 1000 >>further
test_status 2 'a file of the history that is cut off is exit 2' vkb-history add b further
test_match "b/$(id 1).jsonl:5" .err 'the error names the line of the history'
test_match "'b/$(id 1).jsonl' is not changed" .err 'the error says that the file is not changed'
test_same "$(cksum <bad)" "$(cksum <"b/$(id 1).jsonl")" 'the file is unchanged'
test_same 5 "$(lines "b/$(id 2).jsonl")" 'the other file gets its records'
test_status 2 'baseline with that file is exit 2' vkb-history baseline --last 9 b
test_same 5 "$(lines .out)" 'the other records are printed'
test_status 2 'prune with that file is exit 2' vkb-history prune --keep 0 b
test_same "$(id 1).jsonl" "$(names b)" 'the file that cannot be read is kept'

# --- several processes at once, and kills

pids=
for i in 1 2 3 4 5 6 7 8; do
  runs "$(id 7)" 2026-01-02T00:00:00Z "s$i" 25 1000 >"c$i"
  history add c "c$i" &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || echo bad; done >bad
test_empty_file bad 'eight processes at once succeed'
test_same "200 $(cat c? | sort | cksum)" "$(lines c/*) $(sort c/* | cksum)" 'no record of eight processes is lost'
seq 40 | while read -r i; do
  runs "$(id "$i")" 2026-01-02T00:00:00Z "c$i" 100 1000
done >big
cat >killed.pl <<'END'
use Time::HiRes;
my $t = shift; my $pid = fork // die;
if (!$pid) { exec @ARGV or exit 127 }
$SIG{ALRM} = sub { kill 9, $pid };
Time::HiRes::ualarm(1e3 * $t);
waitpid $pid, 0; exit($? >> 8 || $? & 127);
END
for t in 2 5 9 14 20 27 35 44 54; do
  perl killed.pl $t vkb-history -q add k big
done
test_that 'the same records are accepted after kills' history add k big
test_same "$(sort big | cksum)" "$(sort k/* | cksum)" 'each record is stored once after kills'
test_empty "$(find k -name '.*' -type f)" 'no temporary file is left'

# --- prune

for i in 1 2 3 4 5; do
  runs "$(id $i)" "2026-01-0${i}T00:00:00Z" "s$i" 2 1000 \
    ",\"ref\":\"$([ $i -eq 1 ] && echo 8.0.1 || echo unstable)\""
done >five
history add q five
cp -r q all
test_that 'prune --keep 3 is accepted' vkb-history prune --keep 3 q
test_same "$(printf 'removed %s\n' 'unstable (00000000), 2026-01-02, 2 runs' \
  '8.0.1 (00000000), 2026-01-01, 2 runs')" "$(cat .out)" 'prune prints the removed commits'
test_same "$(id 3).jsonl $(id 4).jsonl $(id 5).jsonl" "$(names q)" 'the newest three commits are kept'
cp -r all r
test_that 'prune --except is accepted' vkb-history prune --keep 1 --except '[0-9]*' r
test_same "$(id 1).jsonl $(id 5).jsonl" "$(names r)" 'releases are kept'
runs "$(id 6)" 2020-01-01T00:00:00Z s6 1 1000 |
  sed "s/\"started\":\"[^\"]*\"/\"started\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"/" >now
sed 's/2026/2016/g' five | history add d
history add d now
test_that 'prune --days is accepted' vkb-history prune --days 10 d
test_same "$(id 6).jsonl" "$(names d)" 'an old commit that was measured now is kept'

# --- baseline

days repo 6
in_repo checkout -q -b side HEAD~3
GIT_COMMITTER_DATE=2026-01-09T00:00:00Z in_repo commit -q --allow-empty -m side
for i in 1 2 4 5; do
  runs "$(head_of "unstable~$((6 - i))")" "2026-01-0${i}T00:00:00Z" "s$i" 2 1000
done >some
runs "$(head_of side)" 2026-01-09T00:00:00Z side 2 1000 >>some
history add g some
commits() {
  jq -r .subject.commit .out | uniq | while read -r sha; do
    in_repo show -s --format=%s "$sha"
  done | xargs
}
test_that 'baseline is accepted' vkb-history baseline g
test_same side "$(commits)" 'the baseline is the newest commit'
test_that 'baseline --commit is accepted' vkb-history baseline -C repo --commit unstable g
test_same c5 "$(commits)" 'the baseline of a commit is the newest before it'
test_that 'baseline --last 3 is accepted' vkb-history baseline -C repo --commit unstable --last 3 g
test_same 'c2 c4 c5' "$(commits)" 'the baseline is the newest three commits, in order'
test_that 'baseline for a measured commit is accepted' vkb-history baseline -C repo --commit unstable~2 g
test_same c4 "$(commits)" 'the baseline of a measured commit is this commit'
test_that 'baseline for a branch is accepted' vkb-history baseline -C repo --commit side --last 2 g
test_same 'c2 side' "$(commits)" 'the baseline of a branch is on this branch'
test_that 'baseline without a repository is accepted' vkb-history baseline --commit "$(head_of unstable~2)" --last 2 g
test_same 'c2 c4' "$(commits)" 'without a repository the baseline is the commits before it in time'
test_that 'baseline for an unknown commit is accepted' vkb-history baseline --commit "$(head_of unstable)" g
test_same side "$(commits)" 'the baseline of an unknown commit is the newest commit'
test_match 'the newest commits are taken' .err 'a warning says that only the newest commits are taken'
mkdir empty
test_that 'baseline of an empty history is accepted' vkb-history baseline empty
test_match "no earlier results in 'empty'; a comparison works without them" .err 'a message says that there are no earlier results'
test_empty_file .out 'nothing is printed for an empty history'
test_status 2 'a commit that does not exist is an error' vkb-history baseline -C repo --commit nothing g
test_match "no commit 'nothing' in 'repo'" .err 'the error names the commit'

# --- the site

site() { vkb-history site "$@"; }
# words PAGE: prints the text of a page, one line for each heading and row
words() {
  perl -0pe 's/<head>.*?<\/head>//s; s/<script>.*?<\/script>//gs; s/<defs>.*?<\/defs>//gs;
    s/\s+/ /g; s/<(h1|h2|tr|p)\b/\n$&/g; s/<[^>]*>/ /g; s/ +/ /g; s/ *\n */\n/g; s/$/\n/' "$1"
}
# dead_links DIR: prints links in its pages that have no target
dead_links() {
  find "$1" -name '*.html' -exec perl -MFile::Basename -0ne '
    my $here = dirname($ARGV);
    while (/href="([^"#]*)(?:#([^"]*))?"/g) {
      my ($file, $id) = ($1, $2);
      next if $file =~ /^https:/ || ($id // "") =~ /=/;
      my $to = $file eq "" ? $ARGV : "$here/$file";
      print "$ARGV: $file\n" unless -f $to;
      next unless defined $id && -f $to;
      open my $in, "<", $to or die; local $/;
      print "$ARGV: #$id\n" unless index(<$in>, "id=\"$id\"") >= 0;
    }' {} +
}
for i in $(seq 25); do
  day=$(printf '2026-01-%02dT00:00:00Z' "$i")
  [ "$i" -eq 25 ] || runs "$(id "$i")" "$day" "s$i" 5 $((i > 16 ? 8000 : 10000)) ',"ref":"unstable"'
  printf '{"type":"commit","v":1,"commit":"%s","parents":["%s"],"time":"%s","title":"c%d <b>&amp;"}\n' \
    "$(id "$i")" "$(id $((i - 1)))" "$day" "$i"
done >year
runs "$(id 9)" 2026-01-09T00:00:00Z s99 5 10000 ',"ref":"unstable"' |
  sed 's/"SET"/"SET","data_size":7/' >>year
history add y year
test_that 'site is accepted' site --commit-url https://example.com/c/ y out
test_match '^vkb-history: 25 pages made, 0 unchanged, 0 removed$' .err 'the message has the number of pages'
cp out/index.html index.was
test_status 2 'a history that is not there' site nowhere out
test_that 'the index is the same after that' cmp index.was out/index.html
test_same 24 "$(find out/commit -name '*.html' | wc -l | tr -d ' ')" 'each commit has a page'
test_match '24 commits, 2 cases, 2026-01-01 to 2026-01-24' out/index.html 'the index has the numbers of commits and cases'
words out/index.html >said
test_same 'Open regressions' "$(grep -E '^(Open|Slow|[0-9]+ other|Cases|Commits)' said | head -n 1)" \
  'the index begins with the open regressions'
test_match '^-20.[01]% throughput 1 case SET -20.[01]% throughput 00000000 c17 &lt;b&gt;&amp;amp; 2026-01-17' \
  said 'a regression has its size, its cases and its commit'
test_match '^1 open regression\.$' said 'the index has the number of regressions'
test_absent 'Slow regressions|other changes' said 'empty sections are left out'
test_match '^00000000 c17 &lt;b&gt;&amp;amp; 2026-01-17 regression -20.[01]% in 1 case' said \
  'the row of the commit has the regression'
test_match 'c16 &lt;b&gt;&amp;amp; 2026-01-16 no change' said 'the rows of other commits have no change'
test_match "href=\"https://example.com/c/$(id 24)\">Source" "out/commit/$(id 24).html" \
  'the page of a commit has a link to its source'
test_empty "$(dead_links out)" 'all links have a target'
test_same "History Previous $(id 16) Next $(id 18) Source" "$(sed -n '/<nav aria-label="History">/,/<.nav>/p' \
  "out/commit/$(id 17).html" | sed -n 's,.*href="\([^"]*\)">\([A-Z][a-z]*\)<.*,\2 \1,p' |
  sed 's/\.html$//; s,History .*,History,; s,Source .*,Source,' | xargs)" \
  'the page of a commit has links to the history, the previous and the next commit, and the source'
words "out/commit/$(id 17).html" >said
test_match 'regression -20.[01]% in 1 case' said 'the page of a commit has its change'
test_same "sha256-$(perl -0ne 'print $1 if m{<style>(.*)</style>}s' out/index.html |
  openssl dgst -sha256 -binary | base64)" \
  "$(grep -o "sha256-[^']*" out/index.html | head -n 1)" 'the security policy allows the style of the page'
inodes() { (cd out && find commit -type f -exec stat -c '%n %i %y' {} + | sort); }
inodes >was
test_that 'site is accepted again' site --commit-url https://example.com/c/ y out
test_match ' 0 pages made, 25 unchanged, 0 removed$' .err 'the second time no page is made'
runs "$(id 25)" 2026-01-25T00:00:00Z s25 5 8000 ',"ref":"unstable"' | history add y
test_that 'site with a new commit is accepted' site --commit-url https://example.com/c/ y out
test_match ' 3 pages made, 23 unchanged, 0 removed$' .err \
  'a new commit makes three pages: its own, that of the commit before it, and the index'
others() { grep -v -e "^commit/$(id 25)" -e "^commit/$(id 24)"; }
test_same "$(others <was)" "$(inodes | others)" 'the other pages are not written again'
echo mine >out/commit/mine.html
vkb-history prune --keep 20 y >/dev/null
test_that 'site after prune is accepted' site --commit-url https://example.com/c/ y out
test_match ' 5 removed$' .err 'the pages of pruned commits are removed'
test_same 'mine 20' "$(cat out/commit/mine.html) $(find out/commit -name '0*.html' | wc -l | tr -d ' ')" \
  'no other page is removed'
vkb-history prune --keep 19 y >/dev/null
mkdir "out/commit/$(id 6).html.new"
mv "out/commit/$(id 6).html" was.html
mv "out/commit/$(id 6).html.new" "out/commit/$(id 6).html"
test_status 2 'a page that cannot be removed is an error' \
  site --commit-url https://example.com/c/ y out
test_match "cannot remove 'out/commit/$(id 6).html'" .err 'the error names the page'
rmdir "out/commit/$(id 6).html"
mv was.html "out/commit/$(id 6).html"
test_that 'site is accepted when the page can be removed' site --commit-url https://example.com/c/ y out
test_match ' 1 removed$' .err 'the page that could not be removed is removed'
rm "out/commit/$(id 20).html"
printf x >>"y/$(id 19).jsonl"
test_status 2 'site with a file that is cut off is exit 2' site --commit-url https://example.com/c/ y out
test_match "y/$(id 19).jsonl:6" .err 'the error names the line that is cut off'
test_that 'a missing page is made again' test -s "out/commit/$(id 20).html"
test_that 'the page of the file that is cut off is kept' test -s "out/commit/$(id 19).html"
test_empty "$(find out -name '.?*')" 'no temporary file of site is left'
history site --commit-url https://example.com/c/ all fresh
for t in 5 20 60 120 200; do
  perl killed.pl $t vkb-history -q site --commit-url https://example.com/c/ all stopped
done
test_that 'site after kills is accepted' history site --commit-url https://example.com/c/ all stopped
test_empty "$(diff -r fresh stopped)" 'the site after kills is complete'
# vkb-compare is killed: the next start makes the page.
mkdir programs
for p in vkb-history vkb-report vkb-detect; do
  cp "$VKB_BIN/$p" programs || test_that "$p is copied" false
done
printf '#!/bin/sh\nkill -KILL $$\n' >programs/vkb-compare
chmod +x programs/vkb-compare
test_status 2 'a comparison that is killed is an error' \
  programs/vkb-history site --commit-url https://example.com/c/ all half
test_match '^vkb-history: vkb-compare was killed by signal 9 [(]Killed[)]$' .err \
  'the error names the program and how it ended'
test_match "cannot make the page 'half/" .err 'the error names the page'
printf '#!/bin/sh\necho vkb-compare: several subjects >&2\nexit 2\n' >programs/vkb-compare
test_that 'commits that cannot be compared have a page' \
  programs/vkb-history site --commit-url https://example.com/c/ all alone
test_match '^vkb-history: vkb-compare exited with 2: vkb-compare: several subjects' .err \
  'the message is that of vkb-compare'
test_match "^vkb-history: the page 'alone/commit/[0-9a-f]*.html' has no comparison$" .err 'it names the page'
cp "$VKB_BIN/vkb-compare" programs/vkb-compare
test_that 'the next start makes the missing pages' \
  programs/vkb-history site --commit-url https://example.com/c/ all half
test_empty "$(diff -r fresh half)" 'the pages are those of a start without a kill'
rm half/index.html
printf '#!/bin/sh\nkill -KILL $$\n' >programs/vkb-detect
test_status 2 'a search for changes that is killed is an error' \
  programs/vkb-history site --commit-url https://example.com/c/ all half
test_match '[Tt]he changes could not be found' half/index.html 'the index says so'
cp "$VKB_BIN/vkb-detect" programs/vkb-detect
test_that 'the next start finds the changes' \
  programs/vkb-history site --commit-url https://example.com/c/ all half
test_empty "$(diff -r fresh half)" 'the index is that of a start without a kill'
test_status 2 'a history that does not exist is an error' \
  site --commit-url https://example.com/c/ mistyped half
test_empty "$(diff -r fresh half)" 'the site stays as it is'
test_that 'site of an empty history is accepted' site empty blank
test_match 'No commits yet' blank/index.html 'the site of an empty history says that there are no commits'

# levels NAME RPS ...: makes a history with these levels and its site; the text is in said
levels() {
  levels_name=$1 levels_i=0
  shift
  for rps; do
    levels_i=$((levels_i + 1))
    runs "$(id $levels_i)" "$(date -u -d "2026-01-01 + $levels_i days" +%Y-%m-%dT%H:%M:%SZ)" \
      "s$levels_i" 5 "$rps" ',"ref":"unstable"'
  done | history add "$levels_name"
  test_that "a site of the history $levels_name is made" history site "$levels_name" "$levels_name-site"
  words "$levels_name-site/index.html" >said
}
repeat() { # repeat N TEXT
  yes "$2" | head -n "$1"
}
# shellcheck disable=SC2046 # words
levels spike $(repeat 11 10000) 8000 $(repeat 12 10000)
test_match '^No open regression, 1 spike that went away\.$' said \
  'a level that came back is a spike'
test_match '<path class="mark" d="M[0-9.]* [0-9.]*l-4 -7h8z"/>' spike-site/index.html 'a spike is drawn as an arrow'
# shellcheck disable=SC2046 # words
levels back $(repeat 14 10000) $(repeat 12 8000) $(repeat 14 10000)
test_match '^No open regression, 1 reverted regression, 1 improvement\.$' said \
  'a regression that was reverted is not open'
test_match '^-20.[01]% throughput 1 case regression, reverted SET -20.[01]% throughput unstable .00000000. 2026-01-16 reverted by unstable .00000000. 2026-01-28$' \
  said 'the page names the commits of regression and improvement'
test_same 'same 14.0 improvement 26.0' \
  "$(perl -0777 -ne 'my ($left, $width) = /<svg x="(.*?)".*? width="(.*?)"/;
    printf "%s %.1f ", $1, 40 * ($2 - $left) / $width while /<path class="change (\w+)" d="M(.*?) /g' \
    back-site/index.html | sed 's/ $//')" 'the chart has each change at its place'
test_match '<text class="label same" x="[0-9.]*" y="[0-9.]*">-20.[01]%</text>' \
  back-site/index.html 'the chart has the size of a regression that was reverted'
test_match '<text class="label improvement" x="[0-9.]*" y="[0-9.]*">.2[45].[0-9]%</text>' \
  back-site/index.html 'the chart has the size of an improvement'
test_same 'reverted improvement' "$(grep -oE 'case (regression, reverted|improvement)' said | sed 's/.* //' | xargs)" \
  'a regression comes before an improvement, even if that is newer'
# shellcheck disable=SC2046 # words
levels slow $(repeat 8 10000) $(seq 9980 -20 9000) $(repeat 8 9000)
test_match '^1 slow regression\.$' said 'a slow regression is listed separately'
test_match '^-10.0% throughput -2% every 10 commits, 1 case SET -10.0% throughput from unstable .00000000. 2026-01-09 to unstable .00000000. 2026-02-28$' \
  said 'a slow regression has its rate, its first and its last commit'

# --- the series are those that vkb-detect judges

for i in $(seq 20); do # times that are not in the order of the ancestry
  day=$(printf '2026-01-%02dT00:00:00Z' $((i * 7 % 20 + 1)))
  runs "$(id "$i")" "$day" "s$i" 3 $((i > 10 ? 8000 : 10000))
  printf '{"type":"commit","v":1,"commit":"%s","parents":["%s"],"time":"%s"}\n' \
    "$(id "$i")" "$(id $((i - 1)))" "$day"
done | history add rebased
test_that 'a site of commits that were rebased is made' history site rebased rebased-site
test_match "data-values=\"$(repeat 10 10.0K | xargs) $(repeat 10 8.00K | xargs)\"" \
  rebased-site/index.html 'a chart has the order of vkb-detect'
for i in $(seq 12); do # at the last commit the rate is not reached
  runs "$(id "$i")" "2026-01-$((10 + i))T00:00:00Z" "s$i" 3 1000 |
    sed "s/\"rps\":/\"achieved_percent\":$((i > 11 ? 50 : 100)),\"p99_latency_ms\":$((i > 11 ? 900 : 1)),&/"
done | history add late
test_that 'a site of runs that did not reach their rate is made' history site late late-site
test_match "data-unit=\"ms\" data-values=\"$(repeat 11 1.000 | xargs) -\"" late-site/index.html \
  'a chart has no value that vkb-detect does not judge'

# lined N FROM: prints N commits, slower from FROM on, with their ancestry
lined() {
  for i in $(seq "$1"); do
    day=$(printf '2026-01-%02dT00:00:00Z' "$i")
    runs "$(id "$i")" "$day" "s$i" 3 $((i < $2 ? 10000 : 8000)) ',"ref":"unstable"'
    printf '{"type":"commit","v":1,"commit":"%s","parents":["%s"],"time":"%s"}\n' \
      "$(id "$i")" "$(id $((i - 1)))" "$day"
  done
}
# aside ID DAY REF PARENT: prints runs of a commit that is not on the line
aside() {
  runs "$(id "$1")" "$2T00:00:00Z" "s$1" 3 9000 ",\"ref\":\"$3\""
  printf '{"type":"commit","v":1,"commit":"%s","parents":["%s"],"time":"%sT00:00:00Z"}\n' \
    "$(id "$1")" "$(id "$4")" "$2"
}
{
  lined 20 11
  aside 98 2026-02-01 unstable 5
  aside 99 2026-02-02 8.1 4
} | history add backport
test_that 'a site with a newer commit of another branch is made' history site backport backport-site
test_match "data-values=\"$(repeat 10 10.0K | xargs) $(repeat 10 8.00K | xargs)\"" \
  backport-site/index.html 'the charts are of the branch that is judged'
words backport-site/index.html >said
test_same '1 19 not judged 8.1' "$(grep -c '^unstable .00000000. [-0-9]* regression ' said) $(grep -c ' no change 1 3$' said) $(
  sed -n 's/^[a-z0-9.]* (00000000) 2026-02-0[12] \(.*\) 1 3$/\1/p' said | tac | xargs)" \
  'only what is not judged says so, or has the name of its branch'
for i in $(seq 12); do # such ids have a file for each label
  for label in x y; do
    runs "rel-$i" "$(printf '2026-01-%02dT00:00:00Z' "$i")" "s$i$label" 2 10000 ",\"label\":\"$label\""
  done
done | history add labels
test_that 'a site of commits with two labels is made' history site labels labels-site
words labels-site/index.html >said
test_same '24 0' "$(grep -c ' no change 1 2$' said) $(grep -c 'not judged' said)" \
  'each file of a commit that is judged says that it is'
lined 12 99 | sed 's/"SET"/"SET","rate":1000/' >rated
sed -n '1s/"SET","rate":1000/"GET"/; 1s/"ok"/"failed"/p' rated >dead
history add shared rated
history add failing rated dead
test_that 'a site of cases that share a setting is made' history site shared shared-site
test_that 'a site with a case that only fails is made' history site failing failing-site
test_match 'All cases: ' shared-site/index.html 'the index has what all cases share'
test_match '2 cases' failing-site/index.html 'the case that only fails is counted'
test_absent 'All cases: ' failing-site/index.html 'what the cases with values share is not of all cases'

# --- the order of the input and of the page

ordered() {
  perl -e 'srand 3; for my $i (1 .. 20) {
    for my $c (["SET", 1e5, 8, .9], ["GET", 9e4, 8, .8], ["APPEND", 5e4, 14, .85], ["INCR", 7e4, 99, 1]) {
      for my $host (1, 2) {
        my $f = $i >= $c->[2] ? $c->[3] : 1; my $x = 1 + .002 * rand;
        printf qq({"type":"run","v":1,"subject":{"commit":"%040x","time":"2026-01-%02dT00:00:00Z"},"config":{"command":"%s"},"run":{"session":"s%d","index":%d},"env":{"host":"m%d"},"metrics":{"rps":%.1f,"p50_latency_ms":%.4f},"status":"ok"}\n),
          $i, $i, $c->[0], $i, $host, $host, $c->[1] * $f * $x, 50 / $f * $x } } }' >forwards
  tac forwards >backwards
  for way in forwards backwards; do
    mkdir $way.d
    (cd $way.d && history add h ../$way && history site h site)
  done
  test_empty "$(diff -r -x manifest.json forwards.d/site backwards.d/site)" 'the order of the records does not matter to the site'
  words forwards.d/site/index.html >said
  test_same 'APPEND throughput APPEND p50 GET throughput SET throughput GET p50 SET p50' \
    "$(grep -o '[A-Z]* [-+][0-9.]*% [a-z0-9]* on ' said | cut -d ' ' -f 1,3 | xargs)" \
    'the newest change comes first; at one commit the larger one, and throughput before latency'
  test_same 'APPEND GET SET INCR' "$(grep -o '[A-Z]\{3,\} throughput [0-9.]*K req' said | cut -d ' ' -f 1 | xargs)" \
    'cases with a regression come first, in the order of their names'
}
ordered

# --- counted functions

profile() { # profile COMMIT CASE SELF: prints a profile record with counts
  jq -nc --arg commit "$1" --arg case "$2" --argjson self "$3" '{type: "profile", v: 1, case: $case,
    subject: {commit: $commit, time: "2026-01-01T00:00:00Z"}, config: {command: $case[:3]},
    target: {}, probed: {}, started: "2026-01-01T00:00:00Z", duration_s: 1,
    status: "ok", mode: "count", requests: 10000, functions: [
      {name: "main", object: "/x", self: 1.5, inclusive: 1, calls: 0},
      {name: "set<b>", object: "/x", self: $self, inclusive: 1, calls: 1}],
    edges: [{from: 0, to: 1, calls: 1, inclusive: $self}]}'
}
for i in 1 2 3; do
  runs "$(id $i)" "2026-01-0${i}T00:00:00Z" "s$i" 5 10000
done >counted
{
  profile "$(id 2)" SET-x 4
  profile "$(id 2)" SET-x 5
  profile "$(id 3)" SET-x 6
  profile "$(id 3)" GET-x 6
} >>counted
history add counts counted
test_that 'a site with counted functions is accepted' site counts counted-site
test_match '^vkb-history: 6 pages made' .err 'each commit with profiles has a page for them'
test_empty "$(dead_links counted-site)" 'all links of a site with counted functions have a target'
test_match "href=\"$(id 3)-profile.html\">Profile<" "counted-site/commit/$(id 3).html" \
  'the page of a commit has a link to the profiles'
test_absent 'Profile<' "counted-site/commit/$(id 1).html" 'the page of a commit without profiles has no such link'
words "counted-site/commit/$(id 3)-profile.html" >said
test_match 'Profile of 00000000 against 00000000' said 'a profile is compared with that of the commit before it'
test_match '5.0000 -&gt; 6.0000 instructions per request' said 'the last of several profiles of a case is shown'
test_absent 'set<b>' "counted-site/commit/$(id 3)-profile.html" 'names of functions are escaped'

# --- sampled stacks

sampled() { # sampled COMMIT FILE: prints a profile record of the case SET-x
  jq -nc --arg commit "$1" --arg file "$2" '{type: "profile", v: 1, case: "SET-x",
    subject: {commit: $commit, time: "2026-01-01T00:00:00Z"}, config: {command: "SET"},
    target: {}, probed: {}, started: "2026-01-01T00:00:00Z", duration_s: 1,
    status: "ok", mode: "cpu", artifacts: {folded: $file}}'
}
printf '%s\n' 'main;read 20' 'main;set<b> 30' 'no stack' 'main;rare 1' >one.folded
printf '%s\n' 'main;read 20' 'main;set<b> 60' >two.folded
perl -e 'print "main;f$_;", "x" x 500, " ", 1 + $_ % 7, "\n" for 1 .. 2000' >large.folded
echo 'secret;value 1' >secret.conf
ln -s secret.conf link.folded
for i in 1 2 3; do
  runs "$(id $i)" "2026-01-0${i}T00:00:00Z" "s$i" 5 10000
done >sampled.runs
{
  sampled "$(id 1)" large.folded
  sampled "$(id 2)" one.folded
  sampled "$(id 3)" two.folded
  sampled "$(id 3)" secret.conf | jq -c '.case = "GET-x"'
  sampled "$(id 3)" link.folded | jq -c '.case = "GET-y"'
} >>sampled.runs
history add samples sampled.runs
test_same 'main;set<b> 30|main;read 20|main;rare 1|' \
  "$(jq -r 'select(.type == "profile").stacks' "samples/$(id 2).jsonl" | tr '\n' '|' | sed 's/||$/|/')" \
  'a profile is stored with its stacks, the most frequent first'
jq -r 'select(.type == "profile").stacks' "samples/$(id 1).jsonl" >kept
test_same '1 6' "$(wc -c <kept | awk '{ print ($1 > 250000 && $1 < 263000) }') $(grep . kept | sed 's/.* //' | sort -u | head -n 1)" \
  'the rare stacks of a large file are left out'
test_empty "$(grep -l 'secret;value' samples/*.jsonl)" 'files with another name and links are not read'
rm ./*.folded
test_that 'the same records are accepted again' vkb-history add samples sampled.runs
test_match '^vkb-history: 0 records added' .err 'profiles whose files are gone are not added again'
test_that 'a site with sampled stacks is accepted' site samples sampled-site
test_empty "$(dead_links sampled-site)" 'the links of a site with sampled stacks lead to pages'
words "sampled-site/commit/$(id 3)-profile.html" >said
test_match 'Profile of 00000000 against 00000000' said 'a sampled profile is compared with that of the commit before it'
test_match 'SET-x' said 'the first frame is the case'
test_absent 'set<b>' "sampled-site/commit/$(id 3)-profile.html" 'names of sampled functions are escaped'

# --- hostile names

evil='<script>alert(1)</script>'
# shellcheck disable=SC2016 # as it is
{
  for label in '../../evil' "$evil" '\u0000' '\u001b[31m' "x\\\" onclick=\\\"alert(1)" \
    '$(touch evil)' 'javascript:alert(1)'; do
    printf '{"type":"run","v":1,"subject":{"label":"%s","commit":"%s","ref":"%s"},"config":{"command":"%s"},"run":{},"metrics":{"rps":1},"status":"ok"}\n' \
      "$label" "$label" "$label" "$label"
  done
  printf '{"type":"run","v":1,"subject":{"commit":"%s","ref":"%s","server_version":"%s"},"config":{"command":"%s"},"run":{"started":"%s"},"metrics":{"rps":1},"status":"ok"}\n' \
    "$(id 1)" "$evil" "$evil" "$evil" "$evil"
  printf '{"type":"commit","v":1,"commit":"%s","title":"%s"}\n' "$(id 1)" "$evil" ../../evil x
} >attack
vkb-history add a attack >.out 2>err
vkb-history site a attacked >>.out 2>>err
test_empty "$(grep -rlF --exclude '*.txt' "$evil" attacked)" 'no hostile name is markup'
test_empty "$(grep -rl --exclude '*.txt' ' onclick="alert' attacked)" 'no hostile name ends an attribute'
test_empty "$(grep -rliE '(href|src)="?javascript' attacked)" 'no hostile name is a link'
test_empty "$(LC_ALL=C grep -rla "$(printf '[\001-\010\013-\037\177]')" err .out attacked)" 'no control character is printed'
test_empty "$(find . .. -maxdepth 1 -name 'evil*')" 'no hostile name is a file or run as a command'
test_empty "$(names a | tr ' ' '\n' | grep -vE '^(commits|subject-[0-9a-f]{16}|0*1)\.jsonl$')" \
  'the files have only names that vkb-history chose'
history prune --keep 0 a >.out
test_empty "$(LC_ALL=C grep -a "$(printf '[\001-\010\013-\037\177]')" .out)" 'prune prints no control character'
cp one "h/$(printf 'a\n\033b').jsonl"
test_that 'a file with a foreign name is accepted' vkb-history baseline h
test_match 'is ignored for its name: add it with vkb-history add' .err 'a file with a foreign name is skipped with a message'

# --- errors

for words in '' add 'nothing d' 'site d' 'site d o x' 'baseline d x' 'prune d' \
  'add --keep 1 d one' 'prune --keep 1 --commit x d' 'baseline -C repo d' \
  'site --commit-url javascript:x d o' 'site h h' 'site --last 2 d o' 'prune --keep x d'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-history $words is an error" vkb-history $words
done
for op in 'prune --keep 1' baseline; do
  # shellcheck disable=SC2086 # words
  test_status 2 "$op of a folder that does not exist is an error" vkb-history $op none-such
  test_match "none-such.*No such file" .err 'the error names the folder'
done
to_full() { "$@" >/dev/full; }
test_status 2 'a full disk is an error' to_full vkb-history baseline q
test_match 'No space left' .err 'the error says that the disk is full'
test_done
