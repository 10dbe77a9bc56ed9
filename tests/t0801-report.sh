#!/bin/sh
# vkb-report: the contents of a page, hostile names that must be only
# text, and the plots as separate files.
. "${0%/*}/lib.sh"

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl

# words FILE: prints the text of a page; a tag becomes a blank
words() {
  perl -0777 -pe 's{<(style|script)>.*?</\1>}{}gs; s/\n/ /g' "$1" |
    sed 's/<svg[^>]*aria-hidden[^>]*>//g; s/<[^>]*>/ /g; s/&apos;/'"'"'/g; s/&rarr;/→/g; s/&amp;/\&/g; s/  */ /g'
}
# says TEXT FILE WHAT: checks that the text of the page has TEXT
says() {
  case $(words "$2") in
  *"$1"*) test_result 0 "$3" ;;
  *)
    test_result 1 "$3"
    words "$2" | fold -w 100 | sed 's/^/# /' | head -n 60
    ;;
  esac
}
count() { grep -o -- "$1" "$2" | wc -l; }

# --- a comparison

VKB_CONFIG=set.json
export VKB_CONFIG
test_status 1 'the comparison is exit 1' vkb-compare -f jsonl "$a" "$b"
cp .out changes
test_that 'the page of a comparison is written' vkb-report -o page changes "$a" "$b"
test_match 'title="chance of a change: (&gt;)?[0-9.]+%"' page \
  'the page says how probable a change is'
test_empty "$(cat .out .err)" 'nothing is printed when the output goes to a file'
says "my-branch (7be2d904) against unstable (1f9c0ab2) All results Cases Environment $(vkb-compare "$a" "$b" | grep '^Worse: ')" \
  page 'the page begins with the verdict of vkb-compare'
says "Next: $(vkb-compare "$a" "$b" | sed -n 's/^Next: //p') case" page \
  'the next command and the cases follow'
says 'throughput, req/s -7.3% worse +7.9% better SET 612K → 574K 6.2% slower +6.6% +7.2% worse INCR 686K → 723K 5.4% faster -5.2% ~ better =: no change, ~: undecided All cases:' \
  page 'each case that changed has a row'
# An undecided change of the throughput has its interval.
jq -c '.metrics.rps *= if .run.index % 2 == 1 then .6 else 1 end' "$a" >wild
vkb-compare -f jsonl wild "$b" >undecided
vkb-report undecided >other
vkb-compare wild "$b" | grep -o '[+-][0-9.]*% \[[^]]*, +[^]]*\]' >want
test_that 'the undecided change is printed as in the text of vkb-compare, with its interval' \
  grep -qF ">$(head -n 1 want)</td>" other
jq -c '.metrics.server_cpu_us_per_req = 8 + .run.index / 1000' "$a" >cpu.a
jq -c '.metrics.server_cpu_us_per_req = 9 + .run.index / 1000' "$b" >cpu.b
vkb-compare -f jsonl cpu.a cpu.b | vkb-report >other
test_match '^<tr class="also"><td [^>]*>also CPU per request \+12\.[0-9]% worse</td></tr>' other \
  'a change without a column is below the row'
says 'All cases: 50 clients, ' page 'the page has what all cases have in common'
test_same 9 "$(count '<tr data-kind="[a-z ]*" data-metric="m[0-2]"><th scope="row"><a href="#case' page)" \
  'each result has a row'
test_same 4 "$(count 'class="mark regression"' page)" 'regressions are drawn as regressions'
test_same 3 "$(count '<details class="case"' page)" 'each case has details'
test_same 144 "$(count 'class="dot s[01]" d="[^"]*"><title>run ' page)" \
  'each run has a dot for each gate'
says 'baseline my-branch (7be2d904)' page 'the page says which side is the baseline'
for i in 1 2 3; do
  test_same 1 "$(count "id=\"case-$i\"" page)" "the link to case $i has a target"
done
vkb-report -o b.html "$b" changes "$a"
test_that 'the order of files does not matter' cmp page b.html
cat "$a" changes "$b" | vkb-report >c.html
test_that 'runs and results on stdin give the same page' cmp page c.html
vkb-stats "$a" "$b" | vkb-report - changes >d.html
sed 's/<footer.*footer>//' page >page.body
sed 's/<footer.*footer>//' d.html >d.body
test_that 'summaries give the same page' cmp page.body d.body
jq -c 'select(.type == "delta")' changes | vkb-report >deltas
test_match "class=\"lead\">$(jq -r 'select(.type == "comparison").headline | split(" (")[0]' changes)" deltas \
  'the results without the record of their comparison are summed up'
vkb-report changes >alone
test_same 144 "$(count 'class="dot s[01]" d="[^"]*"><title>run ' alone)" \
  'change records alone give the dots of their runs'
says 'Nothing was compared. 48 runs of 3 cases and 2 subjects.' \
  "$(vkb-report "$a" "$b" >two; echo two)" 'the page of runs says that nothing was compared'
vkb-stats "$a" | jq -c '.n += 70' >increased
test_match '<td class="n">8</td></tr>' "$(vkb-report increased >other; echo other)" 'the number of runs in a row leaves out counted runs'

# --- the security policy of the page

csp() { sed -n 's/.*Content-Security-Policy" content="\([^"]*\)".*/\1/p' page; }
sum_of() { # sum_of TAG
  perl -MDigest::SHA=sha256_base64 -0777 -ne '
    m{<'"$1"'>(.*?)</'"$1"'>}s and print sha256_base64($1), "="' page
}
test_same "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-$(sum_of style)'; script-src 'sha256-$(sum_of script)'" \
  "$(csp)" 'the page allows only its own style and script'
test_empty "$(grep -oE ' (on[a-z]+|style|src)="|url\(|@import|javascript:' page)" \
  'the page has no other style or script'

# --- hostile names

evil='</script><script>alert(1)</script>&quot; "x'"'"' onload=alert(2) ]]> --><b>'
evil=$(printf '%s' "$evil" | jq -Rs .)
for n in 1 2; do
  for i in 1 2 3 4 5; do
    printf '{"type":"run","v":1,"subject":{"label":%s,"commit":%s,"repository":%s},"config":{"command":%s,%s:%s},"run":{"session":%s,"index":%d},"env":{%s:%s},"metrics":{"rps":%d%d,%s:1},"series":{"at_s":[1,2],%s:[1,2]},"status":"ok"}\n' \
      "$evil" "\"$n\"" '"javascript:alert(1)"' "$evil" "$evil" "$n" "$evil" \
      "$i" "$evil" "$evil" "$n" "$i" "$evil" "$evil"
  done
  printf '{"type":"run","v":1,"subject":{"label":%s,"commit":"%d"},"config":{"command":%s},"run":{},"status":"failed","error":%s}\n' \
    "$evil" "$n" "$evil" "$evil"
  printf '{"type":"env","v":1,"time":%s,"env":{%s:%s},"now":{%s:{%s:1}}}\n' \
    "$evil" "$evil" "$evil" "$evil" "$evil"
  printf '{"type":"profile","v":1,"target":{"comm":%s},"probed":{},"started":"","duration_s":1,"artifacts":{"svg":%s},"per_req":{%s:1},"status":"failed","error":%s}\n' \
    "$evil" "$evil" "$evil" "$evil"
done >evil.jsonl
jq -c 'select(.type == "run" and .status == "ok" and .subject.commit == "1")' evil.jsonl >e1
jq -c 'select(.type == "run" and .status == "ok" and .subject.commit == "2") |
  .config = '"$(head -n 1 e1 | jq -c .config)" evil.jsonl >e2
vkb-compare -m all -f jsonl e1 e2 >e3 2>/dev/null
jq -c --argjson e "$evil" 'select(.type == "delta") | .notes = [$e] |
  .waiver = {"rule":$e,"reason":$e,"expires":$e} | .metric = $e' e3 >e4
printf '{"type":"change","v":1,"config":{"command":%s},"metric":%s,"better":"higher","kind":%s,"subject":{"label":%s},"range":[%s,"b"],"index":1,"n":[1,1],"median":[1,1],"ratio":1,"method":"t","class":"gate","margin":0.1}\n' \
  "$evil" "$evil" "$evil" "$evil" "$evil" >e5
test_that 'hostile names are accepted' vkb-report -t '</title><script>' evil.jsonl e2 e3 e4 e5
cp .out evil
test_same '1 1 0' "$(for t in '<script' '</script' '</title><script'; do
  count "$t" evil
done | xargs)" 'the page has only its own script'
test_same '0 0' "$(for t in '<b>' 'href="javascript'; do
  count "$t" evil
done | xargs)" 'hostile names make no tags and no links'
# Every attribute is in quotes, and no hostile name ends them.
test_empty "$(perl -0777 -ne 's{<(style|script)>.*?</\1>}{}gs; s{<!DOCTYPE html>}{};
  s{<(/?)[a-z0-9]+(\s+[a-zA-Z-]+(="[^"<>]*")?)*\s*/?>}{}g; print "$&\n" while /[^\n]*[<>][^\n]*/g' evil | head -n 5)" \
  'each tag of the page is complete'
vkb-report --list evil.jsonl e2 e3 e4 e5 | cut -f 1 >plots
test_same 0 "$(LC_ALL=C tr -d '\012\040-\176' <plots | wc -c)" 'the names of plots are printable'
bad=
while IFS= read -r name; do
  vkb-report --svg "$name" evil.jsonl e2 e3 e4 e5 >plot.svg &&
    xmllint --noout plot.svg && [ "$(count '<script' plot.svg)" -eq 0 ] ||
    bad="$bad $name"
done <plots
test_empty "$bad" 'each plot is valid XML without a script'
test_that 'the page has more than five plots' test "$(wc -l <plots)" -gt 5

# --- the order of the input

vkb-compare -f jsonl "$a" "$b" >deltas.in
for f in "$a" "$b" deltas.in; do tac "$f" >"${f##*/}.back"; done
vkb-report "$a" "$b" deltas.in >page
vkb-report deltas.in.back b.jsonl.back a.jsonl.back >page.back
test_that 'the order of the input does not matter to the page' cmp page page.back
# changed PAGE: prints the cases in the table of changes
changed() { grep -oE '>(SET|INCR|GET)</a>.*(slower|faster)' "$1" | grep -oE '^>[A-Z]*' | tr -d '>' | xargs; }
test_same 'SET INCR' "$(changed page)" 'a case that is worse comes before one that is better'
jq -c 'if .config.command == "SET" and .metric == "p99_latency_ms" then .ratio = 1.5
  elif .config.command == "INCR" and .metric == "rps" then .ratio = .9 | .verdict = "regression"
  else . end' deltas.in | vkb-report "$a" "$b" - >page
test_same 'INCR SET' "$(changed page)" 'the case whose decisive metric changed most comes first'

# --- links

links() { grep -oE '(href|src|action)="[a-z]*:?//[^"]*"' | sort -u | cut -d '"' -f 2; }
id=1f9c0ab27d5e4386b1c2d3e4f5061728394a5b6c
for r in valkey-io/valkey https://github.com/valkey-io/valkey.git https://evil.example/valkey-io/valkey; do
  sed 's|"commit"|"repository":"'"$r"'","commit"|' "$a" | vkb-report >page
  test_match '>unstable' page "the page names the subject of $r"
  test_empty "$(links <page)" "a record that names $r makes no link"
done
test_same "http://here/?c=$id" \
  "$(vkb-report --commit-url 'http://here/?c=' "$a" | links)" '--commit-url makes a link to the commit'
for c in '../x' 'abc"onclick="x' '?x' 'javascript:x'; do
  jq -c --arg c "$c" 'if .subject then .subject.commit = $c else . end' "$a" |
    vkb-report --commit-url http://here/ >page
  test_empty "$(links <page)" "'$c' is not the id of a commit, and has no link"
done
test_status 2 'a --commit-url that is not http is an error' vkb-report --commit-url javascript: "$a"
test_match "'javascript:' does not begin with" .err 'the error names the kind of URL'

# --- many runs

awk 'BEGIN { for (i = 1; i <= 20000; i++)
  printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"x\"},\"config\":{\"command\":\"c%d\"},\"run\":{\"session\":\"s\",\"index\":%d},\"metrics\":{\"rps\":%d,\"p50_latency_ms\":1.%d},\"status\":\"ok\"}\n",
    i % 2, i, 1000 + i % 97, i % 89 }' >many
test_that 'twenty thousand runs are accepted' vkb-report -o many.html many
says '20000 runs of 2 cases' many.html 'twenty thousand runs are counted'
test_that 'the page of twenty thousand runs is below 100 kB' \
  test "$(wc -c <many.html)" -lt 100000
test_same 0 "$(count '<title>run ' many.html)" 'twenty thousand runs are bands, not dots'

awk 'BEGIN { for (c = 1; c <= 300; c++) for (i = 1; i <= 4; i++)
  printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"x\"},\"config\":{\"command\":\"c\",\"n\":%d},\"run\":{\"index\":%d},\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n",
    c, i, 1000 + i }' >wide
vkb-report wide >wide.html
test_same 100 "$(count '<details class="case"' wide.html)" 'a page shows at most 100 cases'
says 'The 100 most notable of 300 cases are shown.' wide.html \
  'the page says that 100 of 300 cases are shown'

# --- a history

for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
  for k in 1 2 3; do
    rps=$((100000 - (i > 9) * 9000 + i * k % 7 * 100))
    printf '{"type":"run","v":1,"subject":{"commit":"c0000%02d","time":"2026-01-%02dT00:00:00Z","repository":"valkey-io/valkey"},"config":{"command":"SET"},"run":{"index":%d},"metrics":{"rps":%d},"status":"ok"}\n' \
      "$i" "$i" "$k" "$rps"
  done
done >history
vkb-detect -f jsonl history >found
test_that 'a history with its changes is accepted' vkb-report history found
cp .out past
says '1 change in the history, 1 for the worse' past 'the page has the number of changes'
test_match '</th><td>throughput</td>' past 'the table of changes has the label of the metric'
test_match 'class="change regression".*<title>regression at c000010: -' past \
  'the plot has the change'
sed 's/"rps":\([0-9]*\)/&,"requests":\1,"p50_latency_ms":1/' history | sed 'p; s/SET/GET/; s/,"p50_latency_ms":1//' | vkb-report >commits.html
test_same '16 p50, ms 32 throughput, req/s' \
  "$(grep -o '<tr><th scope="row">[^<]*' commits.html | sed 's/.*>//' | sort | uniq -c | xargs)" \
  'a case of many commits has the numbers of each commit, of the metrics that have a plot'
for kind in improvement spike; do
  jq -c --arg kind "$kind" '.kind = $kind' found | vkb-report history - >other
  test_match "class=\"change $kind\"" other "the plot has a change of the kind $kind"
done
test_same '6.2 6.2 6.2 6.2' "$(perl -ne '$text{$2} = $1 while /class="tick" x="([0-9.]+)"[^>]*>(c\d+)/g;
  $dot{$2} = $1 while /d="M([0-9.]+) [^>]*><title>(c\d+): /g;
  END { printf "%.1f\n", 2 * ($dot{$_} - $text{$_}) / length for grep { !/01$|16$/ } sort keys %text }' past | xargs)" \
  'names of commits stand below the middle of their points: a letter is 6.2 wide'
vkb-report --svg history-1-rps history found >drawn
test_same 16 "$(vkb-stats history | jq -r '"\(.subject.commit) \(.metrics.rps | [.ci95[0], .median, .ci95[1]] | @tsv)"' |
  sort | perl -e '
  my @runs = map { [(split)[1 .. 3]] } <STDIN>;
  open my $in, "<", "drawn";
  read $in, my $svg, -s $in;
  my ($line, $band) = map { [$svg =~ /class="$_ s0" d="([^"]*)"/ ? $1 =~ /[ML]\S+ ([0-9.]+)/g : ()] } qw(line band);
  my @dot = $svg =~ /class="dot s0" d="M\S+ ([0-9.]+)m/g;
  my ($good, $scale) = (0, ($dot[9] - $dot[0]) / ($runs[9][1] - $runs[0][1]));
  for my $i (0 .. 15) {
      my @wanted = map { $dot[0] + $scale * ($_ - $runs[0][1]) } @{ $runs[$i] }, $runs[$i][1];
      my @drawn  = ($band->[$i], $dot[$i], $band->[-1 - $i], $line->[$i]);
      $good += 4 == grep { abs($wanted[$_] - $drawn[$_]) < .2 } 0 .. 3;
  }
  print $good')" 'the plot has the median of each commit, and its interval, at their heights'
jq -c '.range[0] = "c000008"' found | vkb-report >ranged
test_match '<td>c000008 to c000010</td>' ranged 'the table has the range of commits'
test_same 16 "$(count '<title>c0000[0-9]*: ' past)" 'the plot has a point for each commit'

perl -pe '/c0000(\d\d)/; my $h = $1 % 2 ? "a" : "b"; s/"run":/"env":{"host":"$h","cpus":4},$&/' history >fleet
vkb-detect -f jsonl fleet >found2
test_that 'a history of two machines is accepted' vkb-report fleet found2
test_same 'a b' "$(grep -oE '>[ab]</text>' .out | tr -dc 'ab\n' | xargs)" 'each machine has a line with its name'
test_same '8 8' "$(count '<title>c0000[0-9]*: [0-9]* on a' .out) $(count '<title>c0000[0-9]*: [0-9]* on b' .out)" \
  'the points name the machine'
sed '/"index":3/s/"host":"a"/"host":"c"/' fleet >pooled
test_that 'commits measured by several machines are accepted' vkb-report pooled
test_match ' on several machines together' .out 'commits measured by several machines have a separate line'
sed 's/"host":"a",//' fleet >unknown
test_that 'commits of an unknown machine are accepted' vkb-report unknown
test_same 8 "$(count '<title>c0000[0-9]*: [0-9]* on unknown machine' .out)" 'the points say that the machine is unknown'
perl -pe '/c0000(\d\d)/; my $h = $1 > 8 ? 6 : $1 + 0; s/"run":/"env":{"host":"m$h","cpus":4},$&/' history >many
test_that 'a history of more machines than colours is accepted' vkb-report many
test_same 'm1 m2 m3 m4 m5 other machines' "$(grep -oE '>(m[0-9]|other machines)</text>' .out | sed 's/^>//; s/<.*//' | xargs)" \
  'the other machines share one line'

# --- failed runs and bad lines

{
  cat "$a"
  sed -n 1p "$b" | jq -c '.env.governor = "powersave"'
  printf '{"type":"run","v":1,"subject":{"ref":"unstable","repository":"x"},"config":{"command":"LPUSH"},"run":{},"status":"failed","error":"the server is gone"}\n'
} >mixed
test_that 'failed runs are accepted' vkb-report mixed
cp .out mixed.html
says 'unstable (1f9c0ab2) my-branch (7be2d904) unstable ' mixed.html \
  'subjects have their commits, so that those with one name are distinguished'
{
  sed 's/1f9c0ab2/2f9c0ab2/' "$a"
  vkb-compare --baseline 1f9c0ab2 -f jsonl "$a" "$b"
} >ambiguous
test_that 'one branch at two commits is accepted' vkb-report ambiguous
cp .out ambiguous.html
says 'unstable (1f9c0ab2) baseline unstable (2f9c0ab2) ' ambiguous.html 'each entry of the legend has its commit'
vkb-report "$a" "$b" >both.html
test_match '"tick end"[^>]*>my-branch</text>' both.html 'a plot, which has little room, has the branch alone'
test_absent '"tick end"[^>]*>unstable</text>' ambiguous.html 'unless two sides are of one branch'
says '1 of 1 the server is gone' mixed.html 'the page has the error of a failed run'
says 'governor differs performance powersave' mixed.html \
  'differences between the machines are shown'
{ sed 3d "$a"; echo nonsense; } >wrong
test_status 2 'a bad line is exit 2' vkb-report -o rest wrong
test_match '^vkb-report: wrong:24: ' .err 'the error names the bad line'
says '23 runs of 3 cases' rest 'the page has the other runs'

says 'Some records could not be read' rest 'the page says that records could not be read'

# A failed run may have fewer keys in its subject.
jq -c 'select(.run.index < 3) | .status = "failed" | .error = "it crashed" |
  del(.metrics, .subject.server_version)' "$b" >crashed
jq -c 'select(.run.index >= 3)' "$b" >lived
vkb-report "$a" lived crashed >poor.html
says 'INCR my-branch (7be2d904) 2 of 8 it crashed' poor.html 'failed runs belong to their subject'
says '42 runs of 3 cases and 2 subjects; 6 runs failed.' poor.html 'failed runs are counted'
vkb-stats "$a" lived crashed | vkb-report - >poor2.html
says '42 runs of 3 cases and 2 subjects; 6 runs failed.' poor2.html \
  'failed runs of summaries are counted'
vkb-stats "$a" | vkb-report - "$a" >twice.html
says '24 runs of 3 cases.' twice.html 'runs and their summaries are not counted twice'
says '3 summaries are left out' twice.html 'the page counts the summaries that are left out'
# Two summaries of a case that are not equal are of different runs, as in vkb-compare: the page
# is that of all runs, but for the advice, which needs the runs.
jq -c --arg h "$(cat "$tests/data/fuzz/hist/latency")" '.hist = {latency_ns: $h} |
  .run.session = if .run.index < 4 then "s" else "t" end' "$a" >all
for s in s t; do jq -c "select(.run.session == \"$s\")" all | vkb-stats; done >halves
vkb-report halves >whole.html
says '24 runs of 3 cases.' whole.html 'the runs of several summaries are counted'
vkb-stats all | vkb-report - >joined.html
for h in whole joined; do
  sed 's/<[^>]*>/\n/g' $h.html | grep -vE '^$|^notes$|add runs: |records, by ' >$h.text
done
test_same "$(cat joined.text)" "$(cat whole.text)" 'and their numbers are those of all runs'
# Without values there is nothing to join: a metric is that of more runs.
one='"type":"summary","v":1,"subject":{"label":"a"},"config":{"command":"GET"},"failed":0'
cat >brief <<END
{$one,"n":3,"sessions":["s"],"metrics":{"rps":{"n":3,"median":7125}}}
{$one,"n":2,"sessions":["t"],"metrics":{"rps":{"n":2,"median":1.5,"values":[1,2]}}}
END
for order in cat tac; do
  $order brief | vkb-report - >brief.html
  says 7.12 brief.html "a summary without values that has more runs, $order"
done

# --- the texts of a comparison

jq -c '.status = "failed" | .error = "gone" | del(.metrics)' "$b" >dead
test_status 2 'a side with only failed runs is an error' vkb-compare -f jsonl "$a" dead
cp .out none.jsonl
vkb-report none.jsonl >none.html
says 'Nothing was judged. ' none.html 'the page says that nothing was judged'
says 'runs failed in the contender: SET' none.html 'the page has the warnings of the comparison'
says 'SET my-branch (7be2d904) 8 of 8 gone' none.html 'the page has the error of the failed runs'
comparison() { # comparison KEYS
  printf '{"type":"comparison","v":1,"baseline":{"ref":"a"},"contender":{"ref":"b"},"cases":0,"verdicts":{},"claims":"fdr","rows":0,"overall":{},"failed":[],"one_sided":[{"side":"baseline","metric":"rps","cases":2}],"env":[{"name":"governor","baseline":"powersave","contender":"performance","cases":2}],%s}\n' "$1"
}
comparison '"unmatched":[],"outlook":"the contender lacks 2 cases","next":"vkb-why a b CONFIG K","warnings":[{"kind":"note","text":"only the baseline has rps (2 cases)"}],"canary":[{"case":"K","metric":"rps","against":"baseline","verdict":"regression","ok":false}]' |
  vkb-report >canary.html
says 'Not to be relied on: a canary changed. Nothing was judged. The contender lacks 2 cases. Warning: only the baseline has rps (2 cases) Next: vkb-why a b CONFIG K' \
  canary.html 'the page has all texts of a comparison, the canary first'
test_match '<div class="verdict insufficient">' canary.html 'with a changed canary the verdict is marked as insufficient'
{
  comparison '"unmatched":[]'
  comparison '"unmatched":[]' | sed 's/{"ref":"b"}/{"ref":"c"}/'
  comparison '"unmatched":[]' | sed 's/{"ref":"a"}/{"ref":"x"}/; s/{"ref":"b"}/{"ref":"d"}/'
} | vkb-report >several.html
test_match '<h1>b, c against a, d against x</h1>' several.html 'the title has the baseline of each comparison'
awk 'BEGIN { srand(1)
  for (side = 0; side < 2; side++) for (k = 0; k < 25; k++) for (i = 0; i < 5; i++)
    printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"ref\":\"%s\"},\"config\":{\"command\":\"SET\",\"clients\":%d},\"run\":{\"session\":\"s%d\",\"index\":%d},\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n",
      side ? "b" : "a", k + 1, side, i, 1000 + 900 * rand() }' >noisy
vkb-compare --baseline a -f jsonl noisy | vkb-report >noisy.html
says '5 more cases are undecided: all results .' noisy.html 'cases that are undecided and not shown are counted'
comparison '"unmatched":[{"side":"baseline","config":{"command":"GET","pipeline":10,"tls_mode":false},"n":3}]' |
  vkb-report >lost.html
says 'GET a 3 baseline' lost.html 'a case of one side has its short name'
says 'governor powersave performance 2' canary.html 'differences of the environment are shown'
for side in cases type nothing contender; do
  comparison '"unmatched":[{"side":"'$side'","config":{"command":"Q"},"n":3}]' >odd
  test_that "a case of the side '$side' is accepted" vkb-report odd
done

# --- numbers that cannot be drawn

printf '{"type":"shift","v":1,"config":{},"baseline":{},"contender":{},"hist":"x_us","quantiles":[{"percentile":50,"ratio":2,"ci95":[1,3]},{"percentile":100,"ratio":2,"ci95":[1,3]}]}\n' >edge
printf '{"type":"change","v":1,"config":{},"metric":"rps","better":"higher","kind":"spike","subject":{},"index":0,"n":[],"median":[],"ci95":[],"method":"t","class":"gate","margin":0}\n' >>edge
test_that 'percentile 100 and an empty interval are accepted' vkb-report edge
test_empty "$(grep -oE '.{20}[^a-z](nan|inf)[^a-z]' .out)" \
  'numbers that are not finite are left out'

tail -n 1 edge >spike
vkb-report -o spike.html spike
test_match '0 changes in the history, 0 for the worse; 1 spike that went away' \
  spike.html 'a spike does not count as a change'
sed 's/"kind":"spike"/"kind":"trend","trend":{"direction":"regression","points":40}/' \
  spike >trend
vkb-report -o trend.html trend
test_match '1 change in the history, 1 for the worse' trend.html \
  'a trend for the worse counts as a change for the worse'
test_match 'badge regression">slow regression<' trend.html \
  'a trend is called a slow regression'
vkb-compare -f jsonl "$tests/data/a.jsonl" "$tests/data/b.jsonl" >deltas
jq -c 'select(.metric) | .verdict = "inconclusive" | .n = [5, 5] | .reason = "too noisy: runs vary by 51%" |
  .needed = {runs: 5083}' deltas | head -n 1 >noisy
vkb-report -o noisy.html noisy
test_match '; too noisy: runs vary by 51%<' \
  noisy.html 'a row has the reason'
test_absent '5083|any number of runs' noisy.html \
  'a row that no number of runs would decide has no such number'

# --- scaling

for p in 1 8 64; do
  for i in 1 2 3 4; do
    printf '{"type":"run","v":1,"subject":{"label":"x"},"config":{"command":"SET","pipeline":%d},"run":{"index":%d},"metrics":{"rps":%d},"status":"ok"}\n' \
      "$p" "$i" $((p * 1000 + i))
  done
done >scale
test_same 'scaling-1-rps	throughput by pipeline: SET' \
  "$(vkb-report --list scale | grep scaling)" 'cases of several pipelines have a curve'
test_same 3 "$(vkb-report --svg scaling-1-rps scale | grep -o '<title>x, pipeline [0-9]*: [0-9.]*' | wc -l)" \
  'a curve has a title for each point'

# --- latency by rate

for side in x y; do
  for rate in 1000 8000; do
    for i in 1 2 3 4; do
      printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"GET","rate":%d},"run":{"index":%d},"metrics":{"rps":%d,"p50_latency_ms":0.%d,"p99_latency_ms":1.%d},"status":"ok"}\n' \
        $side $rate $i $((rate - 5)) $i $i
    done
  done
done >sweep
test_same 'scaling-1-rps scaling-1-p50_latency_ms scaling-1-p99_latency_ms' \
  "$(vkb-report --list sweep | grep scaling | cut -f 1 | xargs)" 'cases of several rates have curves of p50 and p99'
vkb-report --svg scaling-1-p99_latency_ms sweep >sweep.svg
test_same 'x, rate 995: x, rate 7995: y, rate 995: y, rate 7995: ' \
  "$(grep -o '<title>[xy], rate [0-9]*: ' sweep.svg | sed 's/<title>//' | tr -d '\n')" \
  'the curves are drawn over the achieved rate, one for each build'
for side in x y; do
  for i in 1 2; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"GET","slo":"p99<=2ms"},"run":{"index":%d},"metrics":{"capacity_rps":%d},"capacity":{"ci95":[7000,9000],"trials":{"offered_rps":[9900,4000,8000],"rps":[9000,4000,8000],"p50_latency_ms":[9.5,0.2,0.5],"p99_latency_ms":[20,0.4,1.9],"limited_latency_ms":[20,0.4,1.9],"held":[false,true,true]}},"status":"ok"}\n' \
      $side $i $((8000 + i))
  done
done >searches
test_same 'runs-1-capacity_rps curve-1-p99_latency_ms curve-1-p50_latency_ms' \
  "$(vkb-report --list searches | cut -f 1 | xargs)" 'a search has a plot of its capacities and curves of its trials'
vkb-report --svg curve-1-p99_latency_ms searches >curve.svg
test_same 12 "$(grep -o '<title>[xy], [0-9]* req/s: ' curve.svg | wc -l)" 'each trial of each build is a dot'
test_same 4 "$(grep -o 'req/s: 20 ms, did not hold' curve.svg | wc -l)" 'the dot says whether the limit was kept'
test_same 2 "$(grep -o 'class="line s[01]" d="M[0-9. L]*"' curve.svg | sort -u | wc -l)" 'each build has a line'
test_match 'class="limit ' curve.svg 'the limit is drawn as a line'
vkb-report --svg curve-1-p50_latency_ms searches >curve50.svg
test_absent 'class="limit ' curve50.svg 'a percentile without a limit has no line for it'
says 'p99 by rate, of every trial' "$(vkb-report searches >searches.html; echo searches.html)" 'the page has the curve'

# --- latencies, with histograms of vkb-load

hists() { # hists LABEL FACTOR
  jq -c --arg l "$1" '.subject.label = $l' "$tests/data/hist.jsonl"
}
hists x >hx
hists y >hy
vkb-compare -m all -f jsonl hx hy >hc
vkb-report hc hx hy >latency.html
test_same 'latency-1-latency_ns series-1-rps shift-1-latency_ns' \
  "$(vkb-report --list hc hx hy | grep -E '^(latency|series-1-rps|shift)' | cut -f 1 | xargs)" \
  'the list has plots of percentiles, of runs over time and of the shift'
says 'percentile baseline contender ratio 95% interval 50 ' latency.html \
  'the percentiles are in a table'
says 'of all requests x y p50, ms ' latency.html \
  'the percentiles of all requests are in a table'
test_same 2 "$(vkb-report --svg latency-1-latency_ns hx hy | count 'class="line s[01]" d="M[0-9. L]*"' -)" \
  'each subject has a curve'
sed 3q hx | vkb-stats >some
sed 1,3d hx | vkb-stats >others
vkb-report --svg latency-1-latency_ns hx >band
for order in 'some others' 'others some'; do
  test_that "summaries of one subject have the band and the curve of all its runs: $order" \
    sh -c "vkb-report --svg latency-1-latency_ns $order | cmp - band"
done
test_same "$(($(wc -l <hx) * 2))" \
  "$(vkb-report --svg series-1-rps hx hy | count 'class="thin s[01]" d="M[0-9. L]*"' -)" \
  'each run has a line'

# --- profiles

printf '%s\n' 'all;main;read 20' 'all;idle 40' >stacks
vkb-flame -t 'Where it was' stacks >flame.svg
profile() { # profile PATH
  printf '{"type":"profile","v":1,"case":"GET","mode":"cpu","target":{"comm":"valkey-server"},"probed":{},"started":"2026-01-01T00:00:00Z","duration_s":1,"artifacts":{"svg":"%s"},"per_req":{"cycles_per_req":1234},"status":"ok"}\n' "$1"
}
profile flame.svg | vkb-report >flames
test_same 1 "$(count '<iframe id="flame-1" sandbox="allow-scripts" loading="lazy" height="[0-9]*" title="cpu of GET" srcdoc="&lt;' flames)" \
  'a flame graph is in a sandbox'
says 'cycles_per_req 1234' flames 'the page has the counts for each request'
for only in per_req artifacts error; do
  profile flame.svg | jq -c --arg only $only '.error = "perf is missing" |
    delpaths([["per_req"], ["artifacts"], ["error"]] - [[$only]])' | vkb-report >other
  test_match '<h3>cpu of GET</h3>' other "a profile with no more than $only is shown"
done
perl -0777 -ne '/srcdoc="([^"]*)"/ and print $1' flames |
  sed 's/&quot;/"/g; s/&lt;/</g; s/&amp;/\&/g' >again.svg
test_that 'the graph on the page is that of the file' cmp flame.svg again.svg
mkfifo pipe.svg
echo text >text.svg
for f in pipe.svg text.svg none.svg .; do
  profile $f | vkb-report >other
  test_same 0 "$(count '<iframe' other)" "no graph is shown for $f"
  test_match "<p class=\"quiet\">$f is not shown: " other "the page says that $f is not shown"
done

# --- plots

vkb-report --list changes "$a" "$b" | cut -f 1 >plots
test_same 'comparison runs-1-rps runs-1-p50_latency_ms runs-1-p99_latency_ms' \
  "$(head -n 4 plots | xargs)" '--list prints the names of the plots'
test_same 'comparison runs-1-avg_latency_ms runs-1-p95_latency_ms' \
  "$(vkb-report --metrics avg_latency_ms,p95_latency_ms --list changes "$a" "$b" | cut -f 1 | head -n 3 | xargs)" \
  '--metrics chooses the metrics whose runs are drawn'
test_same 6 "$(vkb-report --metrics latency --list changes "$a" "$b" | grep -c '^runs-1-.*_latency_ms')" \
  '--metrics latency draws all latencies of a case'
test_status 2 'an unknown metric' vkb-report --metrics rps,p96_latency_ms "$a"
test_match "option '--metrics': no case has 'p96_latency_ms'" .err 'the message names the unknown metric'
while read -r name; do
  vkb-report --svg "$name" changes "$a" "$b" >"$name.svg"
  xmllint --noout "$name.svg" || echo "$name"
done <plots >bad 2>&1
test_empty_file bad 'each plot is valid XML'
test_same 'throughput p50 p99' "$(grep -o 'class="title" x="12" y="[0-9.]*">[a-z0-9]*<' comparison.svg |
  sed 's/.*>\(.*\)</\1/' | xargs)" 'the comparison has one scale for each metric'
test_same 0 "$(perl -0777 -ne '/tick" x="(\d+)".*?tick mid" x="(\d+)".*?tick end" x="(\d+)"/s and
  print $1 + $3 - 2 * $2' comparison.svg)" 'the 0 is in the middle of its scale'
test_match '>SET</text>' comparison.svg 'the comparison has the names of cases'
# The middle of the scale is at 520.
test_same 'improvement right regression left' \
  "$(grep -oE 'class="mark (regression|improvement)" d="M[0-9.]*' comparison.svg | tr -d '"M' |
    awk '{ print $2, substr($3, 3) < 520 ? "left" : "right" }' | sort -u | xargs)" \
  'worse is on the left for throughput and for latency'
awk 'BEGIN { for (i = 0; i < 60; i++) for (k = 1; k <= 4; k++) for (s = 0; s < 2; s++)
  printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"C%d\"},\"run\":{\"session\":\"s\",\"index\":%d,\"block\":%d},\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n",
    s ? "b" : "a", i, 2 * k + s, k, 100000 * (s && i == 7 ? .5 : 1 - s * i % 3 / 100) + k * (99 + s) }' >far
vkb-compare --baseline a -f jsonl far | vkb-report --svg comparison >far.svg
test_same 1 "$(count '<path class="mark regression" d="M420.0 [0-9.]*l7 5v-10z"/>' far.svg)" \
  'a change far beyond the others is an arrow at the end of the scale'

# The medians rise, but the pairs fall.
awk 'BEGIN { split("10 20 30 40 50", x); split("9 19 33 36 45", y); for (k = 1; k <= 5; k++) for (s = 0; s < 2; s++)
  printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"config\":{\"command\":\"C\"},\"run\":{\"session\":\"s\",\"index\":%d,\"block\":%d},\"metrics\":{\"rps\":%d},\"status\":\"ok\"}\n",
    s ? "b" : "a", 2 * k + s, k, s ? y[k] : x[k] }' >against
vkb-compare --baseline a -f jsonl against >apart
test_same '[30,33]' "$(jq -c 'select(.metric).median' apart)" 'the medians rise'
vkb-report -o apart.html apart against
says 'C 30.0 28.4 -5.3% [' apart.html 'the values next to a change agree with it'

# --- two sides with the same subject

for f in "$a" "$b"; do
  jq -c 'select(.config.command == "SET") | .subject = {ref: "unstable", commit: "abc"}' "$f" >"twin.${f##*/}"
done

# placed NUMBER AXIS FILE BEFORE: NUMBER dots of a plot rise on the AXIS, x or y, with the
# number that is in their titles after BEFORE.
placed() {
  test_same "$1 dots, 0 out of order" "$(perl -0777 -ne 'BEGIN { our ($axis, $before) = splice @ARGV, 0, 2 }
    my @dots;
    while (/class="dot[^"]*" d="M([0-9.]+) ([0-9.]+)[^>]*><title>([^<]*)/g) {
      my ($x, $y, $title) = ($1, $2, $3);
      push @dots, [$1, $axis eq "x" ? $x : -$y] if $title =~ /$before([-+0-9.e]+)/;
    }
    @dots = sort { $a->[0] <=> $b->[0] } @dots;
    my $wrong = grep { my ($v, $w) = @dots[$_ - 1, $_];
      abs($v->[0] - $w->[0]) < 1e-9 ? abs($v->[1] - $w->[1]) > .1 : $v->[1] > $w->[1] } 1 .. $#dots;
    printf "%d dots, %d out of order", scalar @dots, $wrong' "$2" "$4" "$3")" "$3: $2 is the number after '$4'"
}
vkb-report --svg scaling-1-rps scale >scale.svg
vkb-report --svg shift-1-latency_ns hc hx hy >shift.svg
placed 16 x runs-1-rps.svg 'run \d+: '
placed 6 x values-p99_latency_ms.svg '^[a-z-]*[^:]*: '
placed 16 y drawn ': '
placed 6 x shift.svg '^p'
placed 6 y shift.svg ': '
placed 3 x scale.svg 'pipeline '
placed 3 y scale.svg ': '
placed 12 x curve.svg ', '
placed 12 y curve.svg 'req.s: '
vkb-compare -f jsonl twin.a.jsonl twin.b.jsonl >twins
vkb-report -o twins.html twin.a.jsonl twin.b.jsonl twins
says 'unstable (abc) (contender) against unstable (abc) ' twins.html 'equal subjects have two names'
test_same '24 24' "$(count 'class="dot s0" d="[^"]*"><title>run ' twins.html) $(count 'class="dot s1" d="[^"]*"><title>run ' twins.html)" \
  'the runs of equal subjects are two series'

test_status 2 'a plot that does not exist is an error' vkb-report --svg runs-9-rps changes
test_match "no plot 'runs-9-rps'" .err 'the error names the plot that does not exist'
test_that '--graph-dir is accepted' vkb-report --graph-dir deep/graphs changes "$a" "$b"
test_match "wrote $(wc -l <plots | tr -d ' ') plots to 'deep/graphs'" .err \
  'the message says how many plots were written'
test_empty_file .out '--graph-dir writes no page'
while read -r name; do
  cmp "$name.svg" "deep/graphs/$name.svg"
done <plots >bad 2>&1
test_empty_file bad 'the files are the plots of --svg'
test_same "$(wc -l <plots | tr -d ' ')" "$(find deep/graphs -type f | wc -l | tr -d ' ')" \
  'each plot has one file, and there is no other file'
test_that '--graph-dir with an existing folder is accepted' vkb-report --graph-dir deep/graphs changes "$a" "$b"
test_same "$(wc -l <plots | tr -d ' ')" "$(find deep/graphs -type f | wc -l | tr -d ' ')" \
  '--graph-dir replaces the files'
for i in $(seq 70); do
  printf '{"type":"run","v":1,"subject":{"label":"x"},"config":{"command":"C%d"},"run":{},"metrics":{"rps":%d},"status":"ok"}\n' "$i" "$i"
done >many
vkb-report --svg values-rps many >many.svg
test_match ', 60 of 70<' many.svg 'a plot of more cases than it shows says so'
printf '{"type":"run","v":1,"subject":{"label":"<script>x"},"config":{"command":"../../<b>%d"},"run":{},"metrics":{"rps":0,"a/../../b<i>":%d},"status":"ok"}\n' 1 1 2 2 >odd
test_that 'zeros, single runs and hostile names are accepted' vkb-report --graph-dir odd-graphs odd
test_empty "$(grep -lE '<script|<b>|<i>|nan|inf' odd-graphs/*.svg)" 'the plots have no hostile markup and no invalid numbers'
test_empty "$(find odd-graphs -mindepth 2)" 'all files are in the folder'
for i in 1 2 3 4 5; do
  printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"run":{"index":%d},"metrics":{"x/y":%d,"x_y":%d},"status":"ok"}\n' \
    a $i 1$i 1$i b $i 9$i 8$i
done >alike
vkb-compare -m x/y,x_y -f jsonl --baseline a alike >>alike.d
cat alike.d >>alike
test_that 'metrics whose names differ only in a slash are accepted' vkb-report --graph-dir alike-graphs alike
test_same "$(vkb-report --list alike | wc -l | tr -d ' ')" "$(find alike-graphs -name '*.svg' | wc -l | tr -d ' ')" \
  'each of these metrics has its own files'
printf '{"type":"run","v":1,"subject":{"label":"a"},"config":{"command":"SET"},"run":{"index":%d},"metrics":{"größe":1},"status":"ok"}\n' 1 |
  vkb-report -m all --graph-dir named-graphs 2>.err
test_that 'the file of a plot keeps letters that are not ASCII' test -e named-graphs/runs-1-größe.svg
test_status 2 '--graph-dir together with -o is an error' vkb-report --graph-dir deep -o x "$a"
test_status 2 '--graph-dir with the name of a file is an error' vkb-report --graph-dir plots "$a"
test_same 'values-rps values-p50_latency_ms values-p99_latency_ms' \
  "$(grep ^values plots | xargs)" 'the gates of all cases have plots'
test_same "$(vkb-stats "$a" "$b" | jq -r '.metrics.rps | "\(.median) \(.ci95[0]) \(.ci95[1])"' |
  awk '{ printf "%.6g [%.6g, %.6g]\n", $1, $2, $3 }' | sort)" \
  "$(grep -o '<title>[^:<]*: [^<]*' values-rps.svg | sed 's/.*: //' | sort)" \
  'a plot of all cases has the median and the interval of each side'
two_cases() { # two_cases A B: prints runs of two cases with these values
  printf '{"type":"run","v":1,"subject":{"label":"x"},"config":{"command":"%s"},"run":{},"metrics":{"rps":%s},"status":"ok"}\n' \
    S "$1" S "$1" G "$2" G "$2"
}
two_cases 1 1e6 | vkb-report --svg values-rps - >far.svg
two_cases 0 1e6 | vkb-report --svg values-rps - >zero.svg
test_same '2 2' "$(grep -o '<path class="dot s0" d="M[0-9.]*[^>]*><title>' far.svg | wc -l | tr -d ' ') $(
  grep -o '<path class="dot s0" d="M[0-9.]*[^>]*><title>' zero.svg | wc -l | tr -d ' ')" \
  'values that are far apart and 0 are drawn'
test_match '>100[kK]<' far.svg 'values that are far apart have a scale of powers of ten'
test_status 2 '--svg together with --list is an error' vkb-report --svg runs-1-rps --list "$a"
if command -v rsvg-convert >/dev/null; then
  rsvg-convert --zoom=2 comparison.svg >plot.png
  test_same '89504e470d0a1a0a' "$(head -c 8 plot.png | od -An -tx1 | tr -d ' ')" \
    'rsvg-convert makes a PNG of a plot'
else
  test_skip 'a PNG of a plot' rsvg-convert
fi

test_status 2 'empty input is an error' vkb-report -o nothing /dev/null
test_same 'vkb-report: no record in /dev/null: what writes it failed, or measured nothing' \
  "$(cat .err)" 'the error says what is missing'
printf '%s\n' '{"type":"commit","v":1,"commit":"a","title":"t"}' >commits
test_status 2 'records that are not drawn are an error' vkb-report -o nothing commits
test_match '^vkb-report: no record can be drawn: give runs of vkb-load, or ' .err \
  'the error says what is drawn'
test_that 'no page of nothing is written' test ! -e nothing
vkb-report changes "$a" /dev/null >other
test_match 'against unstable' other 'an empty file beside others is accepted, as vkb-detect that finds nothing leaves it'
test_done
