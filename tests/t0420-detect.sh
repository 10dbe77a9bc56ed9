#!/bin/sh
# vkb-detect: where a history changed, the order of the commits, and which changes
# count.
# sanitize: histories.
. "${0%/*}/lib.sh"

# history SEED COMMITS CASES FACTOR: prints runs whose level is multiplied by FACTOR
# from 60 % of the commits on, with a spike at 30 %, all commits in reverse order; and
# their commit records.
history() {
  perl -e 'my ($seed, $n, $cases, $f) = @ARGV; srand $seed;
    sub id { sprintf "%04x%036x", ($_[0] * 40503) % 65536, $_[0] }
    sub at { sprintf "2026-%02d-%02dT08:00:00Z", 1 + $_[0] / 28, 1 + $_[0] % 28 }
    for my $i (reverse 0 .. $n - 1) {
      printf qq({"type":"commit","v":1,"commit":"%s","parents":[%s],"time":"%s"}\n),
        id($i), $i ? "\"" . id($i - 1) . "\"" : "", at($i);
      for my $c (0 .. $cases - 1) { for my $k (1 .. 4) {
        my $x = 1 + .01 * (rand() + rand() + rand() - 1.5);
        $x *= $f if $i >= .6 * $n;
        $x *= .8 if $i == int .3 * $n;
        printf qq({"type":"run","v":1,"subject":{"commit":"%s","time":"%s"},"config":{"command":"SET","data_size":%d},"run":{"session":"s%d","index":%d},"metrics":{"rps":%.2f,"p50_latency_ms":%.5f},"status":"ok"}\n),
          id($i), at($i), 2 ** $c, $i, $k, 1e5 * $x, .4 / $x } } }' "$@"
}

# found [OPTION...] FILE: prints "kind metric index indexes new class" of each change
found() {
  vkb-detect -f jsonl "$@" >records 2>.err
  echo "exit $?"
  jq -r '[.kind, .metric, .index, .indexes[], .new, .class] | @tsv' records |
    tr '\t' ' '
}

history 1 60 3 .94 >h
history 1 60 3 1 >flat

# --- changes that are found, and the exit status

test_that 'without a change the exit status is 0' vkb-detect flat
test_match '^0 regressions that count; 0 changes and 1 spike' .out \
  'the report counts a spike, but no regressions'
test_match '^60 commits in the order of their ancestry' .out \
  'the report says that the order is that of the ancestry'
test_status 1 'with a regression the exit status is 1' vkb-detect h
cp .out first
test_match '^regression at 5d54 |^regression at .*, 37 of 60' .out \
  'the regression has its commit and its place'
test_match 'SET 4B +throughput .* -[56]\.[0-9]% \[.* NEW' .out \
  'the regression has its size and is new'
test_match '^spike at .*, 19 of 60' .out 'the spike has its commit and its place'
test_match 'throughput .*went away' .out 'the text says that the spike went away'
found h >got
test_same 'exit 1' "$(head -n 1 got)" 'with records the exit status is the same'
test_same '6 regression 36 true gate
6 spike 18 false gate' \
  "$(sed 1d got | awk '{ print $1, $3, $6, $7 }' | sort | uniq -c |
    sed 's/^ *//')" 'all six series have the regression and the spike'
test_same 1 "$(jq -r 'select(.kind == "regression").group' records | sort -u | wc -l | tr -d ' ')" \
  'the six regressions are one group'
test_same 6 "$(jq -r 'select(.kind == "regression").key' records | sort -u | wc -l | tr -d ' ')" \
  'the regressions of six series have different keys'
test_same true "$(jq -s 'map(select(.kind == "regression")) |
  all(.ratio > .9 and .ratio < 1.1 and .ci95[0] <= .ratio and .ratio <= .ci95[1]
    and .p <= .01 and .n == [35, 24] and .range[1] and .previous.commit)' records)" \
  'each regression has its size, interval, p and place'
# The first case has no run at the commit of the change, 36.
grep -v "\"commit\":\"[0-9a-f]*0024\",\"time.*\"data_size\":1}" h >gap
vkb-detect -f jsonl gap >gaps
test_same 36,37 "$(jq -r 'select(.kind == "regression" and .config.data_size == 1) |
  .indexes | join(",")' gaps | sort -u)" 'a commit without runs is in the range'
cat gaps >>records
test_same true "$(jq -s 'def hex: explode | reduce .[] as $c (0;
    . * 16 + if $c > 96 then $c - 87 else $c - 48 end);
  map(select(.kind == "regression")) |
  all((.previous.commit[-4:] | hex) == .indexes[0] - 1)' records)" \
  'the field previous has the commit before the range'
grep run.,.v h | sed 's/"commit":"[0-9a-f]\{36\}/"commit":"9.0.0-rc1-/' >names
test_status 1 'a history whose commits are not hashes' vkb-detect names
test_match ' their time, 9.0.0-rc1-0000 to 9.0.0-rc1-003b$' .out \
  'commits that are not hashes are shown whole'
history 1 60 3 1.06 >better
test_that 'with an improvement the exit status is 0' vkb-detect better
test_match '^improvement at' .out 'the improvement is shown'

# searched FILE: prints the same history as results of searches, which have a capacity
searched() {
  jq -c 'if .type == "run" then .config.slo = "p99<=1ms" |
    .metrics = {capacity_rps: .metrics.rps} else . end' "$1"
}
searched h >capacity
test_status 1 'a capacity that falls is a regression' vkb-detect capacity
test_match 'SET 4B +capacity .* -[56]\.[0-9]% \[.* NEW' .out 'the text names the capacity'
found capacity >got
test_same '3 regression capacity_rps 36 true gate
3 spike capacity_rps 18 false gate' "$(sed 1d got | awk '{ print $1, $2, $3, $6, $7 }' |
  sort | uniq -c | sed 's/^ *//')" 'capacity_rps is judged like rps'
searched better >capacity
test_that 'a capacity that rises is not a regression' vkb-detect capacity
test_match '^improvement at' .out 'it is an improvement'

# --- metrics that are judged if the load has no rate

# limited CONFIG: prints p99.9, CPU and memory of runs; the last history gets worse by
# 43 %
history 2 30 1 .7 >worse
limited() {
  jq -c --argjson config "$1" 'if .type == "run" then .config += $config |
    .metrics.p50_latency_ms as $x |
    .metrics = {p999_latency_ms: $x, server_cpu_us_per_req: $x, bytes_per_key: $x}
    else . end' worse
}
judged() { found "$@" | grep '^regression.* gate$' | cut -d ' ' -f 2 | tr '\n' ' '; }
limited '{}' >closed
test_same 'bytes_per_key p999_latency_ms server_cpu_us_per_req ' \
  "$(judged closed)" 'p99.9 and CPU are judged'
vkb-stats closed >summaries
{ grep '"commit","v"' closed; cat summaries; } >both
test_same 'bytes_per_key p999_latency_ms server_cpu_us_per_req ' \
  "$(judged both)" 'p99.9 and CPU are judged in summaries too'
limited '{"rate":1000}' >rate
test_same 'bytes_per_key p999_latency_ms ' "$(judged rate)" \
  'CPU is not judged where the load has a rate'
limited '{"duration_s":10}' >timed
test_same 'p999_latency_ms server_cpu_us_per_req ' "$(judged timed)" \
  'memory of runs of a fixed time that write is not judged'
found timed | grep bytes_per_key >got
test_match ' info$' got 'memory that is not judged is shown'

# --- properties

vkb-detect h >want
sort h | vkb-detect >got
test_same "$(cat want)" "$(cat got)" 'commit records give the order, not the input'
grep commit.,.v h >c
grep run.,.v h >r
test_status 1 'a history in two files is accepted' vkb-detect r c
test_same "$(cat want)" "$(cat .out)" 'a history in two files has the same report'
vkb-stats r | cat - c | vkb-detect >got
test_same "$(cat want)" "$(cat got)" 'summaries have the same report as their runs'
cat h h | vkb-detect >got
test_same "$(cat want)" "$(cat got)" 'runs given twice count once'
found h | cut -d ' ' -f 1-5 >want
perl -pe 's/"rps":([0-9.]+)/sprintf "\"rps\":%.6f", $1 * 3.7/e' h >scaled
found scaled | cut -d ' ' -f 1-5 >got
test_same "$(cat want)" "$(cat got)" 'the unit of a metric does not matter'
cp records scaled.records
found h >want
{ cat h; printf '%s\n' '{"type":"run","v":1,"subject":{"commit":"0000000000000000000000000000000000000000"},"config":{"command":"BAD"},"run":{},"status":"failed","error":"it \u001b[31mbroke"}'; } >failed
found failed >got
test_same "$(cat want)" "$(cat got)" 'a failed case changes no other result'
vkb-detect failed >.out
test_match '^warning: BAD: 1 failed run: it .x1b.31mbroke' .out \
  'a warning names the failed case, its error is escaped'
{ cat h; sed 's/"SET"/"NEW"/' r | head -n 5; } >short
found short >got
test_same "$(cat want)" "$(cat got)" 'a short series does not hide the others'
vkb-detect short >.out
test_match '^warning: .* series (is|are) too short to be examined: at least 10 commits are needed' .out \
  'a warning is printed about the series that is too short'
sed 's/"SET"/"NEW"/' r | head -n 9 >young
test_that 'a history in which all series are too short has no regression' vkb-detect young
test_match "^nothing was examined [(]6 series of 3 cases[)]" .out 'but the report says that nothing was examined'
test_empty_file .err 'once'
test_that 'the same without a report' vkb-detect -f jsonl young
test_match '^vkb-detect: nothing was examined: a series needs 10 commits$' .err 'has a message'

# --- order of the commits

grep run.,.v h | tac >forward
test_status 1 'without commit records' vkb-detect forward
test_match '^60 commits in the order of their time' .out 'without commit records the order is that of the times'
vkb-detect forward >want
sort forward | vkb-detect >got
test_same "$(cat want)" "$(cat got)" 'the order of the input does not matter'
sed '1,12s/,"time":"[^"]*"//' forward >unknown-time
vkb-detect unknown-time >.out
test_match '^60 commits in the order of the input' .out \
  'without all times the order is that of the input'
test_same "$(sed -n 's/.*"index":\([0-9]*\).*/\1/p' scaled.records | sort | uniq -c)" \
  "$(vkb-detect -f jsonl forward | sed -n 's/.*"index":\([0-9]*\).*/\1/p' | sort | uniq -c)" \
  'with commit records the order of the input does not matter'
mid=$(jq -r 'select(.time == "2026-02-03T08:00:00Z").commit' c)
{ cat h
  printf '{"type":"commit","v":1,"commit":"beefbeefbeef0","parents":["%s"]}\n' "$mid"
  sed "1,/\"run\"/!d; /\"run\"/!d; s/\"commit\":\"[0-9a-f]*\"/\"commit\":\"beefbeefbeef0\"/" h
} >side
test_status 1 'a history with a commit of another branch is accepted' vkb-detect side
test_match '^warning: 1 commit left out, not on this line of commits: beefbeef' \
  .out 'a warning names the commit of another branch'
grep -v "$(jq -r 'select(.time == "2026-02-09T08:00:00Z").commit' c)\",\"time\":\"2026-02-09T08:00:00Z\"}," h >gap
vkb-detect gap >.out
test_match '; 1 between them not measured' .out \
  'the report counts the commits that were not measured'
test_match '^regression at .*; at any of [2-9] commits' .out \
  'the regression may be at a commit that was not measured'

# --- changes that count

test_that 'a regression before --since does not count' vkb-detect --since 2026-02-20 h
test_match 'known before' .out 'a regression before --since is shown as known'
test_status 1 'a regression after --since counts' vkb-detect --since 2026-02-01 h
sed 's/\("subject":{"commit":"[0-9a-f]*"\),"time":"[^"]*"/\1/' h >untimed
test_same 0 "$(grep -c '"subject".*"time"' untimed)" 'runs without a time'
test_that 'runs without a time have the time of their commit records' \
  vkb-detect --since 2026-02-20 untimed
test_match 'known before' .out '--since applies to the times of commit records'
test_status 1 '--since before the time of the commit record counts it' \
  vkb-detect --since 2026-02-01 untimed
test_status 1 '--since the time of the commit' vkb-detect --since 2026-02-09T08:00:00Z h
test_status 1 '--since its time in another zone' \
  vkb-detect --since 2026-02-09T10:00:00+02:00 h
test_that '--since a second later' vkb-detect --since '2026-02-09 10:00:01+02:00' h
test_status 2 '--since a day that no month has' vkb-detect --since 2026-02-30 h
test_status 1 '--since a commit' vkb-detect --since "$mid" h
test_status 2 '--since of nothing' vkb-detect --since feedfeed h
test_match "'feedfeed' is neither a commit of this history nor a date" .err \
  'the error names the commit of --since that is unknown'
perl -pe 'if (/"run"/ && /"time":"2026-(02-2[0-9]|03)/) {
  s/"rps":([0-9.]+)/sprintf "\"rps\":%.2f", $1 \/ .94/e;
  s/"p50_latency_ms":([0-9.]+)/sprintf "\"p50_latency_ms\":%.5f", $1 * .94/e }' h >back
test_that 'a regression that was reverted does not count' vkb-detect back
test_match ' reverted by 0c190000$' .out 'the text names the commit that reverted a regression'

# levels NAME=COUNT ...: prints runs of commits at these levels of throughput, with noise
levels() {
  perl -e 'my $i = 0; srand 7;
    for (@ARGV) {
      my ($level, $n) = split /=/;
      for (1 .. $n) {
        my $x = 1e5 * $level * (1 + .01 * (rand() - .5));
        printf qq({"type":"run","v":1,"subject":{"commit":"%03x%037x","ref":"unstable","time":"2026-01-%02dT%02d:00:00Z"},"config":{"command":"SET"},"run":{"session":"s%d","index":%d},"metrics":{"rps":%.1f},"status":"ok"}\n),
          $i, 1, 1 + $i / 24, $i % 24, $i, $_, $x * (1 + .02 * (rand() - .5)) for 1 .. 6;
        $i++ } }' "$@"
}
# standing FILE: prints "kind index new", and where it was reverted, of each change
standing() {
  vkb-detect -f text:text -f issue:md -f jsonl:changes "$1" >/dev/null
  echo "exit $?"
  jq -rs 'sort_by(.index)[] | "\(.kind) \(.index) \(.new) \(.reverted.commit[:3] // "-")"' changes
}
levels 1=20 .95=18 1=14 .945=8 >again
test_same 'exit 1 regression 20 false 026 improvement 38 false 034 regression 52 true -' "$(standing again | xargs)" \
  'a regression that was reverted stays closed when another one reaches its level'
test_match '^1 regression that counts; 3 changes' text 'only the new one counts'
test_same 1 "$(grep -c '^# ' md)" 'only the new one has an issue'
test_match '^# SET: 5\.[0-9]% slower since 034' md 'the issue is about the new one'
levels 1=15 .94=15 1=15 .94=15 1=15 .94=15 1=15 >thrice
test_same 'exit 0 true' "$(standing thrice | grep -E 'exit| true' | sed 's/.*\(exit 0\|true\).*/\1/' | xargs)" \
  'of three regressions that were each reverted none counts, and the last improvement stands'
levels 1=20 1.07=20 1=20 >gone
test_same 'exit 1 improvement 20 false 028 regression 40 true -' "$(standing gone | xargs)" \
  'an improvement that was reverted is closed, and what reverted it counts'
levels 1=15 .9=15 .81=15 .9=15 >half
test_same 'exit 1 regression 15 true - regression 30 false 02d improvement 45 true -' "$(standing half | xargs)" \
  'of two regressions the one that was reverted is closed'
echo '{"rules":[{"waiver":{"reason":"known","expires":"2026-12-31"}}]}' >policy.json
SOURCE_DATE_EPOCH=1795000000
export SOURCE_DATE_EPOCH
test_that 'a regression that is waived does not count' vkb-detect --policy policy.json h
test_match 'waived until 2026-12-31: known' .out \
  'a regression that is waived is shown with the reason'
test_same true "$(vkb-detect -f jsonl --policy policy.json h | jq -s \
  'map(select(.kind == "regression")) | all(.waiver.reason == "known")')" \
  'the records have the reason of the waiver'
SOURCE_DATE_EPOCH=1800000000
test_status 1 'a waiver that has expired does not apply' vkb-detect --policy policy.json h
echo '{"rules":[{"margin":"8%"}]}' >policy.json
test_that 'a change within the margin of a policy does not count' vkb-detect --policy policy.json h
echo '{"rules":[{"class":"info"}]}' >policy.json
test_that 'a change of class info does not count' vkb-detect -m all --policy policy.json h
echo '{"rules":[{"metric":"rps","assume":"exact"},{"metric":"p50*","class":"info"}]}' >policy.json
head -n 400 h | grep -v '"index":[234]' >few
vkb-detect -f jsonl --policy policy.json few >.out
test_match '"method":"exact"' .out 'a metric without noise needs no history'

test_status 1 '--metrics rps is accepted' vkb-detect --metrics rps h
test_same 'rps' "$(vkb-detect -f jsonl -m rps h | jq -r .metric | sort -u)" \
  '--metrics rps judges rps alone'
test_status 2 '--metrics with a metric that no case has is an error' vkb-detect --metrics qps flat
test_match "option '--metrics': no case has 'qps'" .err \
  'the error names the metric that no case has'

# --- slow changes

# decline SEED COMMITS ALL [HOLD BACK]: prints runs that become slower by ALL
# altogether, with noise of 1 %; then HOLD commits at that level, and BACK commits at
# the first one
decline() {
  perl -e 'my ($seed, $n, $all, $hold, $back) = (@ARGV, 0, 0);
    srand $seed;
    sub noise { my $s = -6; $s += rand for 1 .. 12; $s }
    for my $i (0 .. $n + $hold + $back - 1) {
      my $part = $i < $n ? $i / ($n - 1) : $i < $n + $hold;
      my $x = (1 - $all * $part) * (1 + .01 * noise());
      printf qq({"type":"run","v":1,"subject":{"commit":"c%04d","time":"2026-%02d-01T08:00:00Z"},"config":{"command":"SET"},"run":{"session":"s%d"},"metrics":{"rps":%.2f,"p50_latency_ms":%.5f},"status":"ok"}\n),
        $i, 1 + $i / 20, $i, 1e5 * $x, .4 / $x }' "$@"
}

decline 3 60 .09 >slow
test_status 1 'a decline of 9 % over 60 commits counts as a regression' vkb-detect slow
cp .out slow.txt
test_match '^1 regression that counts; 0 changes, 1 trend and 0 spikes' .out \
  'the headline counts the trend'
test_match '^slow regression from c000[0-9] .2026-01-01., .* to c005[0-9] .2026-03-01., ' \
  .out 'the text says where a trend begins and ends'
test_match 'throughput .* -[89]\.[0-9]% \[.*, -1\.[4-9]% per 10 commits .* NEW' .out \
  'the text has the size and the pace of a trend'
vkb-detect -f jsonl slow >records
test_same 'lower true higher true' "$(jq -sr 'map("\(.better) \(
  .kind == "trend" and .trend.direction == "regression" and .new and
  .indexes[0] == .index and .indexes[1] >= 50 and .n[1] == .trend.points and
  .ci95[0] < .ratio and .ratio < .ci95[1] and .probability > .9 and .method == "slope" and
  .median[1] / .median[0] - .ratio < 1e-9 and
  (.trend.per_point * (.trend.points - 1) + 1 - .ratio | fabs) < 1e-9)") |
  join(" ")' records)" 'the records have the place, size and speed of the trend'
vkb-detect -f issue slow >issue.md
test_match '^# SET: .*% slower, gradually since c000' issue.md 'the issue calls it a trend'
test_match 'It began at c000. .* and went on to c005' issue.md \
  'the issue has the begin and the end of the trend'
vkb-detect -f markdown slow >slow.md
test_match '^\*\*slow regression from c000' slow.md 'Markdown has the trend'
test_status 1 'a trend that continues counts with --since' vkb-detect --since c0040 slow
decline 4 60 .09 90 90 >over
test_that 'a trend that was reverted does not count' vkb-detect over
test_match ' reverted by c01(4[89]|5[0-2])$' .out 'the text names the commit that reverted a trend'
decline 3 60 -.09 >faster
test_that 'with a slow improvement the exit status is 0' vkb-detect faster
test_match '^slow improvement from' .out 'a slow improvement is shown'
decline 5 60 .012 >little
test_that 'with a trend within the margin the exit status is 0' vkb-detect little
test_match '^0 regressions that count; 0 changes and 0 spikes' .out \
  'a trend within the margin is not reported'
grep -v '"c002[0-4]"' slow >holes
test_status 1 'a trend with commits that were not measured' vkb-detect holes
test_match '^slow regression from c000' .out 'a trend continues over missing commits'

# --- the newest commit against earlier ones, of a machine that is not virtual

sed -i 's/"status":"ok"/"env":{"virtual":false},&/' h

test_that 'the newest commit without a change is accepted' vkb-detect --latest 3 h
test_match 'equivalent|inconclusive' .out 'the newest commit has a verdict'
newest=$(jq -r 'select(.time == "2026-03-04T08:00:00Z").commit' c)
perl -pe "if (/\"run\"/ && /$newest/) {
  s/\"rps\":([0-9.]+)/sprintf '\"rps\":%.2f', \$1 * .9/e }" h >slow
test_status 1 'a newest commit that is slower is a regression' vkb-detect --latest 3 slow
test_match '^regression at .*60 of 60' .out 'the newest commit is named as the regression'
test_match ' throughput .* 12\+4 ' .out 'the newest commit is judged by its runs'
test_match 'the newest commit is compared with up to 3 before it' .out \
  'the report says that there may be fewer than 3 commits before'
test_same sessions "$(vkb-detect --latest 3 -f jsonl slow | jq -r .method | sort -u)" \
  'with a session for each commit the error includes the effect of sessions'
{
  cat slow
  jq -c --arg newest "$newest" 'select(.commit == $newest) | .parents = [.commit] | .commit = "feedfeed"' slow
} >beyond
test_that 'a regression before --since does not count with --latest either' \
  vkb-detect --latest 3 --since feedfeed beyond
sed 's/"session":"[^"]*"/"session":"s"/' slow >together
test_same runs "$(vkb-detect --latest 3 -f jsonl together | jq -r .method | sort -u)" \
  'commits of one session are judged by their runs alone'
sed 's/"session":"[^"]*",//' slow >unnamed
test_same sessions "$(vkb-detect --latest 3 -f jsonl unnamed | jq -r .method | sort -u)" \
  'without names of sessions each commit is one'
perl -pe "if (/\"run\"/ && /$newest/) {
  s/\"rps\":([0-9.]+)/sprintf '\"rps\":%.2f', \$1 * .94/e }" h >bit
test_status 1 '6 % less is a regression on a machine that is not virtual' vkb-detect --latest 3 bit
sed 's/"virtual":false/"virtual":true/' bit >bit-virtual
test_that '6 % less on a virtual machine may come from the session' vkb-detect --latest 3 bit-virtual
sed 's/"env":{"virtual":false},//' bit >bit-untold
test_that '6 % less of a machine that is not known may, too' vkb-detect --latest 3 bit-untold
vkb-stats bit-virtual >bit-summaries
test_that '6 % less in summaries from a virtual machine may come from the session' vkb-detect --latest 3 bit-summaries
test_status 1 'four runs against four are judged among six tests' \
  vkb-detect --latest 1 together
sed 's/"SET"/"\\u0053ET"/; s/^\({"type":"run"\)\(.*\),"status":"ok"}/\1,"status":"ok"\2}/' slow >escaped
vkb-detect --latest 3 slow >want
cat slow escaped | vkb-detect --latest 3 >got
test_same "$(cat want)" "$(cat got)" 'a run that is written in two ways counts once'
vkb-detect --latest 3 escaped >got
test_same "$(cat want)" "$(cat got)" 'a run that is written in two ways gives the same report'
sed 's/"session":"[^"]*",//' slow | cat - slow | vkb-detect --latest 3 >.out
test_match ' throughput .* 24\+8 ' .out 'runs without a session may be equal'
grep '"index":1' slow | vkb-detect --latest 1 >.out 2>.err
test_same 2 $? 'too few runs are an error'
test_match 'nothing was judged' .err 'the error says that nothing was judged'
vkb-detect --latest 1 c >.out 2>.err
test_same 2 $? 'commits without runs are an error'
perl -pe "print and s/\"time\"/\"dirty\":true,\"tree\":\"7ee\",\"time\"/, s/\"rps\":/\"rps\":1/
  if /\"run\"/ && /$newest/" h >dirty
test_that 'a work tree with changes' vkb-detect --latest 3 dirty
test_match '^61 commits in the order of their ancestry, .* to [0-9a-f]{8}\+dirty$' .out \
  'a work tree with changes comes after its commit'
test_match '^improvement at [0-9a-f]{8}\+dirty .2026-.*, 61 of 61$' .out \
  'a work tree with changes is judged separately'

# newest LEVELS NEWEST: prints a run of each of 12 cases and sessions for each level; C0
# ends with NEWEST, the others with the last level
newest() {
  awk -v levels="$1" -v newest="$2" 'BEGIN {
    n = split(levels, v, ",")
    for (i = 1; i <= n; i++) for (c = 0; c < 12; c++) for (k = 0; k < 4; k++)
      printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"c%03d000\"},\"config\":{\"command\":\"C%d\"},\"run\":{\"session\":\"s%d\",\"index\":%d},\"metrics\":{\"rps\":%.2f},\"status\":\"ok\"}\n", \
        i, c, i, k, (i == n && c == 0 ? newest : v[i]) * (1 + .001 * (k * 5 % 7 - 3)) }'
}
newest 100000,98000,102500,99000,101000,97000 97000 >runs
test_that 'a newest commit within the differences of the five before' vkb-detect --latest 5 runs
test_match '^12 inconclusive; the newest commit' .out \
  'the comparison includes the differences between commits'
newest 100000,98000,102500,99000,101000,100000 89000 | grep '"C0"' >runs
test_that 'with a likely regression the exit status is 0' vkb-detect --latest 5 runs
test_match '^1 likely regression; the newest' .out 'the first line counts the likely regression'
test_match '^likely regression at c006000' .out 'the report lists it'
test_same 'likely regression' "$(vkb-detect --latest 5 -f jsonl runs | jq -r .kind)" 'its record is a likely regression'
newest 100000,98000,102500,99000,101000,100000 50000 >runs
test_status 1 'half the throughput is a regression' vkb-detect --latest 5 runs
test_same sessions "$(vkb-detect --latest 5 -f jsonl runs | jq -r .method)" 'it is judged by the sessions'

# counts AT N [CHANGE]: prints N commits of two counted runs each, with 200 instructions
# more from commit AT on
counts() {
  awk -v at="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) for (k = 1; k <= 2; k++)
    printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"c%03d000\"},\"config\":{\"command\":\"SET\"},\"run\":{\"session\":\"s%d\",\"index\":%d},\"metrics\":{\"instructions_per_req\":%d},\"status\":\"ok\",\"counted\":true}\n", \
      i, i, k, 4600 + (i >= at) * 200 }'
}
counts 4 5 >runs
test_status 1 'a change of a count needs no long history' vkb-detect runs
test_match '^regression at c004000.*, 5 of 5' .out 'each change of a count beyond the margin is reported'
test_status 1 'a change of a count is found with --latest, too' vkb-detect --latest 4 runs
counts 28 30 >runs
test_status 1 'a change of a count two commits before the end' vkb-detect runs
test_match '^regression at c028000.*, 29 of 30' .out 'it is a change, not a spike'

# --- a published series

if test_reference series-tigerbeetle.json 'tigerbeetle'; then
  jq -c 'to_entries[] | {type: "run", v: 1, subject: {label: "c\(.key)"},
    config: {command: "X"}, run: {}, metrics: {rps: .value}, status: "ok"}' \
    "$acceptance/series-tigerbeetle.json" >tigerbeetle
  test_same '15 61 71 95 131 192 ' "$(vkb-detect -f jsonl tigerbeetle |
    jq 'select(.kind != "spike").index' | tr '\n' ' ')" 'the drift of the series is not reported'
fi
if test_reference series-mongodb-small.json 'MongoDB'; then
  jq -c '.series | to_entries[] | {type: "run", v: 1, subject: {label: "c\(.key)"},
    config: {command: "X"}, run: {}, metrics: {rps: .value}, status: "ok"}' \
    "$acceptance/series-mongodb-small.json" >mongodb
  test_same '25 64 114 173 198 237 287 ' "$(vkb-detect -f jsonl mongodb |
    jq 'select(.kind != "spike").index' | tr '\n' ' ')" \
    'all changes but the ends of two levels of six points are reported'
fi

# --- formats

test_status 1 'several formats at once' vkb-detect -f text -f jsonl:j -f markdown:m h
test_same "$(cat first)" "$(cat .out)" 'the text is the same'
test_same 12 "$(wc -l <j | tr -d ' ')" 'the file of records has a line for each record'
test_match '^\*\*regression at' m 'the file of Markdown has the headline'
test_match '^[|]---[|]---[|]--:[|]---[|]--:[|]--:[|]---[|]$' m 'the values are aligned to the right in Markdown'
rows() { # rows FILE: prints the numbers of its tables of changes
  sed -n 's/&#62;/>/g; s/[][|]//g; / -> [0-9]/p' "$1" | tr -s ' ' | sed 's/^ //; s/ $//'
}
test_same "$(rows .out)" "$(rows m)" 'text and Markdown have the same tables'
sed 's/"SET"/"SET","clients":50/' h >clients
test_status 1 'cases that share a setting' vkb-detect clients
test_match '^all cases: 50 clients$' .out 'the report has what all cases share'
{ cat clients; sed -n '2s/"config":{[^}]*}/"config":{"command":"GET"}/; 2s/"ok"/"failed"/p' clients; } >dead
test_status 1 'a case that only fails' vkb-detect dead
test_match '^warning: GET: 1 failed run' .out 'a warning names the case'
test_absent '^all cases: ' .out 'what the cases with values share is not of all cases'
jq -c 'if .metrics.rps then .metrics.p50_latency_ms = 1e5 / .metrics.rps else . end' h >both
vkb-detect both >.out
test_same 'throughput p50' "$(sed -n '/^regression/,/^$/p' .out | grep -oE ' (throughput|p50) ' | uniq | head -n 2 | xargs)" \
  'the rows of throughput are the first'
sed 's/"SET"/"<b>|@x\\u001b"/' h >evil
vkb-detect -f markdown evil >.out
test_empty "$(grep -F -e '<b>' -e '|@' .out)" 'foreign text is harmless in Markdown'
vkb-detect evil >.out
test_empty "$(tr -d '[:print:]\n' <.out)" 'foreign text is harmless on a terminal'
test_done
