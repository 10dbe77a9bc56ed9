#!/bin/sh
# What vkb-compare writes: each format is valid for its readers, also with hostile
# names, and several formats can be written at once.
# sanitize: all formats with hostile names.
. "${0%/*}/lib.sh"

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl
all=$(report_formats)
test_that 'there are formats' test "$(echo "$all" | wc -l)" -gt 5

# two LABEL CONFIG VALUE...: prints runs with any configuration
two() {
  label=$1 config=$2
  shift 2
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"env":{"kernel":"%s"},"metrics":{"rps":%s},"status":"ok","run":{"session":"s","index":%d}}\n' \
      "$label" "$config" "${kernel:-6.1}" "$v" "$((index += 1))"
  done
}
failed() { # failed LABEL CONFIG ERROR: prints a failed run
  printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"run":{},"status":"failed","error":"%s"}\n' \
    "$1" "$2" "$3"
}
# each COMMAND...: calls the command with the name of each format.
each() {
  for f in $all; do
    "$@" "$f"
  done
}
page() { test_match "^\\.It Ic $1\$" "$top/man/vkb-compare.1" "$1: vkb-compare(1) describes it"; }
each page

# --- missing results fail in every format, as in the exit status

{
  printf '{"type":"run","v":1,"subject":{"label":"b"},"config":{"command":"S"},"metrics":{"rps":%s,"p99_latency_ms":1},"status":"ok","run":{"session":"s","index":%d}}\n' \
    1 1 1.01 2 1 3 1.01 4
} >base
two c '{"command":"S"}' 1 1.01 1 1.01 >new
test_status 1 'a metric that the contender does not have' vkb-compare -v --ci -f junit:j -f annotations:n \
  -f text:t base new
test_match '<failure type="missing" message="only the baseline has p99 ' j \
  'JUnit has a failure'
test_match '^::error .*[Tt]he contender lacks 1 case or metric' n 'the annotations have an error'
test_match '[Tt]he contender lacks 1 case or metric' t 'the text has it'

# --- subjects with the same label

for o in O2 O3; do
  two c '{"command":"S"}' 1 1.01 1 1.01 |
    sed "s/\"label\":\"c\"/\"label\":\"c\",\"build\":\"$o\"/"
done >twins
test_same 'c [build=O2] c [build=O3]' "$(vkb-compare -v -m rps -f jsonl:d -f text base twins |
  sed -n 's/^Comparing \(.*\) against .*/\1/p' | xargs)" 'builds with one label have different names'

# --- several formats at once, to files, pipes and devices

set --
for f in $all; do set -- "$@" -f "$f:$f.out"; done
test_status 1 'all formats at once' vkb-compare "$@" "$a" "$b"
test_empty "$(cat .out .err)" 'nothing is printed on stdout and stderr'
alone() {
  vkb-compare -f "$1" "$a" "$b" >again
  test_that "$1: the output on stdout is the same" cmp again "$1.out"
}
each alone
test_status 2 'two formats to stdout' vkb-compare -f csv -f junit "$a" "$b"
test_match 'only one output can go to stdout' .err 'the error says that stdout is taken'
test_status 2 'two formats to one file' vkb-compare -f csv:x -f junit:x "$a" "$b"
test_match "only one output can go to 'x'" .err 'the error names the file that is taken'
test_status 2 'two names of one file are an error' \
  vkb-compare -f csv:x -f junit:./x "$a" "$b"
test_match "only one output can go to './x'" .err 'the error has the second name'
ln -s . here
test_status 2 'two names of one file, by a link, are an error' \
  vkb-compare -f csv:x -f "junit:$PWD/here/x" "$a" "$b"
test_status 2 'an unknown format' vkb-compare -f html "$a" "$b"
test_match "'html' is not one of $(echo "$all" | paste -sd , | sed 's/,/, /g')," .err \
  'the error lists the formats'
test_status 2 'a format without the name of its file' vkb-compare -f csv: "$a" "$b"
full() {
  test_status 2 "$1: a full device" vkb-compare -f "$1:/dev/full" "$a" "$b"
  test_match "cannot write '/dev/full'" .err 'the error names the full device'
}
each full
test_that 'a device is not replaced' test -c /dev/full
vkb-compare -f csv:/no/such/x -f jsonl:kept "$a" "$b" 2>.err
test_same '2 10' "$? $(wc -l <kept | tr -d ' ')" \
  'other outputs are written if one cannot be'
: >target
ln -s target link
vkb-compare -f csv:link "$a" "$b"
test_same 10 "$(wc -l <target | tr -d ' ')" 'a link is not replaced'
test_that 'the target of the link is written' test -L link
test_same 10 "$(vkb-compare -f csv:/dev/stderr "$a" "$b" 2>&1 >/dev/null |
  wc -l | tr -d ' ')" 'a pipe is written to'

# --- csv

test_same 'contender,baseline,case,metric,unit,better,class,baseline_runs,contender_runs,baseline_median,contender_median,ratio,ci95_low,ci95_high,ci90_low,ci90_high,probability,method,paired,margin,verdict,visible,needed_runs,needed_minutes,waiver,notes' \
  "$(sed 1q csv.out)" 'csv: the columns have not changed'
test_same 25 "$(sed 1d csv.out | tr -dc ',\n' | awk '{ print length }' |
  sort -u)" 'csv: every line has all columns'
test_match '^my-branch \(7be2d904\),unstable \(1f9c0ab2\),SET,rps,req/s,higher,gate,8,8,611939.27,574414.28,0.937[0-9]*,.*,rounds,yes,0.02,regression,,,,,$' \
  csv.out 'csv: numbers are not rounded'

# --- junit

# xml FILE: is it well-formed?
xml() {
  if command -v xmllint >/dev/null; then
    test_that "xml: $1 is well-formed" xmllint --noout "$1"
  else
    test_skip "xml: $1 is well-formed" xmllint
  fi
}
# of XPATH FILE: prints what the path selects
of() { xmllint --xpath "string($1)" "$2" 2>/dev/null; }
xml junit.out
test_same '9 3 0 1' \
  "$(sed -n 's/.*<testsuite .* tests="\([0-9]*\)" failures="\([0-9]*\)" errors="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \3 \4/p' junit.out)" \
  'junit: there is a test case for each judged row'
test_match '<testsuite name="my-branch [^"]* against unstable ' junit.out \
  'junit: the contender comes before the baseline'
test_same 9 "$(grep -c '<testcase ' junit.out)" 'junit: the number of test cases is right'
test_same 3 "$(grep -c '<failure type="regression" message="[+-][0-9.]*% ' junit.out)" \
  'junit: a regression fails'
test_match '<skipped message="-[0-9.]*% .* inconclusive' junit.out \
  'junit: an inconclusive row is skipped'
test_match 'timestamp="2026-03-01T18:40:02"' junit.out \
  'junit: the time is that of the contender'
test_match '<testcase classname="SET" name="SET rps" time="26.667">' junit.out \
  'junit: names and seconds'

# --- which side is which

against='my-branch (7be2d904) against unstable (1f9c0ab2)'
for f in text markdown junit annotations; do
  test_that "$f: the contender comes before the baseline" grep -qF "$against" $f.out
done
test_match '<property name="baseline" value="unstable' junit.out 'junit: the properties have both sides'

# --- more contenders than fit in a comment

two b '{"command":"S"}' 1 1.01 1 1.01 >base
for n in 1 2 3 4 5 6 7 8 9; do two "c$n" '{"command":"S"}' 1 1.01 1 1.02; done >new
vkb-compare -f markdown base new >md
test_same '8 1 more contender left out: too long for one comment.' \
  "$(grep -c '^### c. against b$' md) $(tail -n 1 md)" \
  'markdown: eight contenders are shown, the ninth is counted'
two cx '{"command":"S"}' 1 1.01 1 1.02 >>new
test_same '2 more contenders left out: too long for one comment.' \
  "$(vkb-compare -f markdown base new | tail -n 1)" 'markdown: with two more, both are counted'

# --- annotations

test_empty "$(grep -vE '^::(error|warning|notice) title=[^:,]*::' \
  annotations.out)" 'annotations: all lines are commands'
test_same '3 3' "$(grep -c '^::error' annotations.out) $(grep -c '^::notice' \
  annotations.out)" 'annotations: regressions are errors'

# --- all formats agree about what fails

two x '{"command":"SET"}' 10 11 10 11 >base
two x '{"command":"GET"}' 10 11 10 11 >>base
failed x '{"command":"DEL"}' 'a' >>base
{
  two y '{"command":"SET"}' 5 5.1
  failed y '{"command":"INCR"}' 'it <fell>'
} >new
set -- -f junit:j.out -f annotations:a.out -f csv:c.out
test_status 2 'too few runs, a case of one side, and a failed run' \
  vkb-compare "$@" base new
xml j.out
test_same '0 1 3' "$(grep -c '<failure' j.out) $(grep -c '<error' j.out) $(
  grep -c '<skipped' j.out)" 'junit: such cases are skipped, and the failed run is an error'
test_match '<error type="failed" message="1 of 1 runs failed in the contender: INCR: it &lt;fell&gt;"/>' \
  j.out 'junit: the error has the reason'
test_match '^::error title=.*::1 of 1 runs failed in the contender: INCR: it <fell>$' \
  a.out 'annotations: the failed run is an error'
test_status 1 '--on-insufficient fail' vkb-compare "$@" --on-insufficient fail \
  --on-missing fail base new
test_same '2 3' "$(grep -c '<failure' j.out) $(grep -c '^::error' a.out)" \
  'junit and annotations agree with the status'

# --- --spread: mean, standard deviation and CV of each side

test_status 1 '--spread' vkb-compare --spread -f text:t.out -f markdown:m.out \
  -f csv:c.out "$a" "$b"
perl -MJSON::PP -ne '$r = decode_json($_); next unless $r->{type} eq "run";
  push @{$v{$r->{config}{command}}}, $r->{metrics}{rps};
  END { for (sort keys %v) { my @x = @{$v{$_}}; my $n = @x; my ($m, $q) = (0, 0);
    $m += $_ / $n for @x; $q += ($_ - $m) ** 2 for @x; my $sd = sqrt($q / ($n - 1));
    printf "%s %.3f %.3f %.6f\n", $_, $m, $sd, $sd / $m } }' "$a" >want.a
awk -F , '$4 == "rps" { printf "%s %.3f %.3f %.6f\n", $3, $(NF - 5), $(NF - 4), $(NF - 3) }' \
  c.out | sort >got.a
test_that 'csv has mean, sd and CV of the baseline' cmp want.a got.a
test_same 'contender_mean,contender_sd,contender_cv' \
  "$(head -n 1 c.out | cut -d , -f 30-)" 'csv has mean, sd and CV of the contender after them'
test_same "$(vkb-compare -f csv "$a" "$b")" "$(cut -d , -f -26 c.out)" \
  'the columns before them are the same as without --spread'
test_match 'SET .* rps .* 613K, sd 3.67K, CV 0.6% +575K, sd 3.11K, CV 0.5% +-6.2%' t.out \
  'the text has them in a row for each metric'
test_match '^[|] [^|]* [|] SET [|] rps [|] 8[+]8 [|] 612K [|] 574K [|] 613K, sd 3.67K, CV 0.6% [|] 575K, sd 3.11K, CV 0.5% [|] -6.2%' \
  m.out 'Markdown as well'
test_same 1 "$(awk -F '|' '/^[|] *[|] case [|] metric/ { on = 1 } !/^[|]/ { on = 0 } on { print NF }' m.out | sort -u | wc -l | tr -d ' ')" \
  'all rows of Markdown have as many columns'
test_status 2 '--spread with one run a side' vkb-compare --spread -f csv:c.out -f text:t.out \
  --on-missing ok "$(two a '{"command":"S"}' 5 >one; echo one)" \
  "$(two b '{"command":"S"}' 6 >other; echo other)"
test_same ',5,,,6,,' "$(sed -n 's/.*\(,5,,,6,,\)$/\1/p' c.out)" 'csv: sd and CV are empty'
test_match '1[+]1 +5.000 +6.000 +5.000 +6.000 +[+]20.0%' t.out 'text: only the mean is printed'
vkb-compare --spread -f text:t.out -f jsonl:deltas "$a" "$b"
vkb-compare --deltas --spread -f text:again.out deltas
test_that '--deltas: the text has them as well' cmp t.out again.out

# --- a judged metric that one side does not have

perl -e 'for my $s ("a", "b") { for my $k (1 .. 6) {
  my $more = $s eq "a" ? qq("p50_latency_ms":1) : qq("p99_latency_ms":2);
  printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"run":{"session":"s","index":%d},"metrics":{"rps":%d,%s},"status":"ok"}\n),
    $s, $k, 100 + $k, $more } }' >lacks
vkb-compare --baseline a --on-missing fail -f junit lacks >junit.out
test_match 'name="metrics p50_latency_ms" time="0.000">$' junit.out \
  'junit: a metric that one side does not have is a test case'
test_same failure "$(grep -A1 'name="metrics p50_latency_ms"' junit.out | sed -n '2s/^ *<\([a-z]*\) .*/\1/p')" \
  'junit: a metric that the contender does not have fails'
test_same skipped "$(grep -A1 'name="metrics p99_latency_ms"' junit.out | sed -n '2s/^ *<\([a-z]*\) .*/\1/p')" \
  'junit: a metric that the baseline does not have does not fail'

# --- three cases with one run a side: their mean has no interval

perl -e 'for my $s ("a", "b") { for my $c (1 .. 3) {
  printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET","clients":%d},"run":{"session":"s","index":1},"metrics":{"rps":%d},"status":"ok"}\n),
    $s, $c, 100 + $c } }' >single
for f in $all; do
  vkb-compare --baseline a -f "$f" single >single.out 2>/dev/null
  test_absent '\bnan\b' single.out "$f: one run a side has no interval, and no NaN is printed"
done

# --- several contenders

two z '{"command":"SET"}' 10 11 10 11 >>new
vkb-compare "$@" -f text:t.out base new 2>/dev/null
test_same 2 "$(grep -c '<testsuite ' j.out)" 'junit: there is a suite for each contender'
test_match '^ +contender +baseline +rows$' t.out 'text: a table of them comes first'
test_same '? y
= z' "$(sed -n '2,3s/^\(.\)  \([^ ]*\) .*/\1 \2/p' t.out)" 'each in a line'

# --- hostile names

# shellcheck disable=SC2016,SC1003 # backticks that are data
evil='=1+1|<script>x</script> `y` @someone #12 GH-3 !4 ~5 &6 $7 %8 \u202e\u200f\u2066\u2028\u0085 :tada: mailto:x http://evil.example www.evil.example [a](b) ![c](d) **e** &amp; ]]> \"q\" a,b;c {0} %0A::error::x \u001b[31m\r\n::error::y\n# title \\\\'
for l in x y; do
  two "$evil $l" "{\"command\":\"$evil\",\"k\":[\"$evil\"]}" 10 11 10 11
  two "$evil $l" "{\"command\":\"$evil\",\"k\":2}" 10 11 10 11
done >both
sed '1,8!d' both | kernel=$evil sed 's/6\.1/6.0/' >base
{
  sed '1,8d' both | sed '5,8s/"rps":1/"rps":/'
  failed "$evil y" "{\"command\":\"$evil 2\"}" "$evil"
} | sed "s/\"kernel\":\"6.1\"/\"kernel\":\"$(printf '%s' "$evil" |
  sed 's/[\\&]/\\&/g' | tr '/' '!')\"/" >new
set --
for f in $all; do set -- "$@" -f "$f:$f.out"; done
test_status 1 'all formats with hostile names' vkb-compare "$@" base new
vkb-compare -f text base new >text.out
clean() {
  test_that "$1: it is UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null "$1.out"
  test_same 0 "$(tr -d '\n' <"$1.out" | tr -d -c '\000-\037\177' | wc -c |
    tr -d ' ')" "$1: no control characters"
  [ "$1" != jsonl ] || return # records keep the characters
  test_same 0 "$(grep -c "$(printf '\342\200[\217\250-\256]\|\342\201[\246-\251]\|\302\205')" \
    "$1.out")" "$1: nothing is written backwards"
}
each clean
xml junit.out
test_that 'jsonl: each line is JSON' jq . jsonl.out
test_empty "$(grep -vE '^::(error|warning|notice) title=[^:,]*::' \
  annotations.out)" 'annotations: a name adds no command'
test_same 0 "$(grep -c '%0A' annotations.out)" 'annotations: a name adds no line break'
test_same 0 "$(grep -cE '^(::|##)' text.out)" 'text: no line is a command of a CI system'
cat >csv.pl <<'END'
# CSV by RFC 4180: all lines have the same number of cells, and no text is a formula.
use strict;
my ($n, $text) = (0, join "", <>);
while ($text =~ /\G((?:"(?:[^"]|"")*"|[^",\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\n]*))*)\n/gc) {
  my ($cells, $line) = (0, $1);
  while ($line =~ /\G(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/g) {
    my $cell = defined $1 ? $1 : $2;
    $cells++;
    die "formula: $cell\n" if $cell =~ /^[=+\-@\t\r]/ && $cell !~ /^-?[\d.e+-]+$/;
    last if $3 eq "";
  }
  die "$cells cells: $line\n" unless $cells == 26;
  $n++;
}
die "trailing: " . substr($text, pos($text) // 0) unless (pos($text) // 0) == length $text;
print "$n\n";
END
test_same 3 "$(perl csv.pl csv.out)" 'csv: a reader finds three lines without formulas'
# shellcheck disable=SC2016 # data
for bad in '<script' '`' '@someone' ' #12' 'GH-3' '://' ':tada:' 'mailto:x' \
  'www.' '](' '**e' '&amp;' '!4' '~5' '$7' '%8'; do
  test_same 0 "$(grep -cF -- "$bad" markdown.out)" "markdown: no raw $bad"
done
test_empty "$(sed -n '/^|/{/| *$/!p;}' markdown.out)" 'markdown: rows are not broken'
test_same '5 10' "$(grep '^| [^|]* | =1' markdown.out | tr -cd '|\n' |
  awk '{ print length }' | sort -nu | xargs)" 'markdown: rows have as many cells as there are columns'

# --- a long report of hostile names, and of many contenders

perl -e 'my $at = "\@" x 300;
for my $who (0 .. 9) { for my $c (1 .. 300) { for my $i (1 .. 4) {
  printf qq({"type":"run","v":1,"subject":{"label":"%s%d"},"config":{"command":"SET","k":"%s%d","all":"%s"},"run":{},"env":{"%s":"%s%d"},"metrics":{"rps":%g},"status":"ok"}\n),
    $at, $who, $at, $c, $at, $at, $at, $who, 100 / (1 + $who) + $i / 10 } } }' >many
for who in 0 5 9; do
  sed "s/@@[0-$who]\"}/other\"}/" many | grep -v '"other"' >few
  test_status 1 'markdown of hostile names' vkb-compare -f markdown \
    --baseline "$(perl -e 'print "@" x 300')0" many few
  size=$(wc -c <.out)
  test_same 1 "$((size <= 65000 && size > 20000))" "it fits in a comment ($size)"
  test_same "$(grep -c '^<details>' .out)" "$(grep -c '^</details>' .out)" \
    'folded parts are closed'
done

# --- shifts of latencies

# Half of the requests take 1 ms, four tenths take 2 ms; the others take 4 and 8 ms in
# the baseline, and 6 and 12 ms in the contender.
old=HISTFAAAADR42pNpmSzMwMAAwiDADKUdgJj3h3sEg/0HiMBBvwW9bH/5Gz6y/OW/MYvxL/8JRgAHLQ2H
moved=HISTFAAAADR42pNpmSzMwMAAwiDADKUdgJj3h3sEg/0HiMBBvwW9bH/5Gz6yrJa4MYvxL/8JRgAEkw0+
# moved LABEL RPS HIST P95: prints a summary of six rounds
moved() {
  printf '{"type":"summary","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"n":6,"failed":0,"sessions":["s"],"metrics":{"rps":{"n":6,"median":%s,"values":[%s,%s1,%s2,%s3,%s4,%s5],"blocks":[1,2,3,4,5,6],"sessions":[0,0,0,0,0,0]}},"hist":{"latency_ns":"%s"},"quantiles":{"latency_ns":{"50":[1e6,1e6,1e6,1e6,1e6,1e6],"95":[%s]}}}\n' \
    "$1" "$2" "$2" "$2" "$2" "$2" "$2" "$2" "$3" "$4"
}
moved x 10.0 "$old" 4.0e6,4.1e6,4.2e6,4.3e6,4.4e6,4.5e6 >base
moved y 9.0 "$moved" 6.0e6,6.15e6,6.3e6,6.45e6,6.6e6,6.75e6 >new
test_status 1 'a shift' vkb-compare -f jsonl base new
jq -c 'select(.type == "shift")' .out >shifts
test_same '["latency_ns",[50,95],[1,1.5],[1.5,1.5]]' \
  "$(jq -c '[.hist, [.quantiles[].percentile], [.quantiles[].ratio * 1e6 | round / 1e6], (.quantiles[1].ci95 | map(. * 1e6 | round / 1e6))]' shifts)" \
  'each percentile has its ratio, with the interval over runs'
test_same '[true,true,true]' \
  "$(jq -c '[(.quantiles[1].baseline - 4e6 | fabs < 4e3), (.quantiles[1].contender - 6e6 | fabs < 6e3), (.quantiles[0].baseline - 1e6 | fabs < 1e3)]' shifts)" \
  'the values are those of the merged histograms'
test_same '[true,true,true]' \
  "$(jq -c '.ks | [(.d - 0.099 | fabs < 1e-9), (.at - 4e6 | fabs < 4e3), (.w1 - 202000 | fabs < 2000)]' shifts)" \
  'the record has the largest difference and the mean difference'
test_same 'delta shift comparison' \
  "$(jq -r .type .out | tr '\n' ' ' | sed 's/ $//')" 'the shift record comes after the deltas'
vkb-compare base new >text
test_same 0 "$(grep -c '^shift of' text)" 'the text has no shift by default'
vkb-compare --shift base new >text
test_match '^shift of SET, latency_ns in ms:$' text 'with --shift the text has it'
test_match '^ +95 +4\.0[0-9]* +6\.0[0-9]* +1\.50x \[1\.50, 1\.50\]$' text 'the text has a line for each percentile'
test_match '^The shares below a latency differ by up to 9\.9%, at 4\.0[0-9]* ms .KS.; on average they are 0\.20[0-9]* ms apart' \
  text 'the text has a sentence about it'
# The intervals know of sessions what the policy says.
for f in base new; do
  jq -c --arg f $f '.sessions = [$f] | .env.virtual = false | .metrics.p50_latency_ms = .metrics.rps' $f >apart.$f
done
for sd in 1 30; do
  printf '{"rules":[{"session":{"sd":"%s%%","df":3}}]}' $sd >sd.json
  vkb-compare -f jsonl --policy sd.json apart.base apart.new |
    jq -c 'select(.type == "shift") | .quantiles[1].ci95' >wide.$sd
done
test_same true "$(jq -s '.[1][1] / .[1][0] > 2 * .[0][1] / .[0][0]' wide.1 wide.30)" \
  'the shift of two sessions is less certain the more they differ'
vkb-compare -f markdown base new >.out
test_match '^<details><summary>How the latencies moved</summary>' .out \
  'markdown: the shift is folded'
test_match '^\| 95 \| 4\.0[0-9]* \| 6\.0[0-9]* \| 1\.50x \[1\.50, 1\.50\] \|$' .out \
  'markdown: there is a line for each percentile'
vkb-compare -f markdown base base >.out
test_same 0 "$(grep -c 'How the latencies moved' .out)" \
  'markdown: there is no shift of cases without a change'
sed 's/"hist":{[^}]*},//' new >bare
test_same 0 "$(vkb-compare -f jsonl base bare | grep -c '"shift"')" \
  'without histograms there is no shift'
sed 's/"95":[^]]*\]/"99":[1,2]/; s/"50":[^]]*\],//' new >bare
test_same 0 "$(vkb-compare -f jsonl base bare | grep -c '"shift"')" \
  'without percentiles on both sides there is no shift'
sed 's/"HIST[^"]*"/"HISTxx"/' new | sed 's/9\.0/10.0/g' >bad
test_status 2 'a histogram that cannot be read' vkb-compare -f jsonl base bad
test_match "histogram 'latency_ns' cannot be read" .err 'the error names the histogram'
test_same 'delta comparison' "$(jq -r .type .out | tr '\n' ' ' |
  sed 's/ $//')" 'the other records are written'
test_that 'a format without histograms ignores an invalid one' vkb-compare base bad

# --- on a terminal

# wide COLUMNS: prints the length of the longest line
wide() {
  COLUMNS=$1 script -qec "stty cols $1; vkb-compare -v $a $b" /dev/null \
    </dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >terminal
  sed -n '/^ *case  /,/^overall/p' terminal | awk '
    length > max { max = length } END { print (max <= '"$1"') }'
}
if command -v script >/dev/null 2>&1; then
  test_same 1 "$(wide 80)" 'on a terminal of 80 columns the rows fit'
  test_match '^- +SET +rps +.*-6\.2%.* regression' terminal 'the rows have the change and the verdict'
  test_match 'columns left out: the terminal has 80' terminal 'the text says which columns are left out'
  test_same 1 "$(wide 140)" 'and in 140'
  test_match '612K +574K +-6\.2% \[-6\.7, -5\.7\] +regression$' \
    terminal 'on a terminal of 140 columns the rows have all columns'
else
  test_skip 'widths' script
fi
test_done
