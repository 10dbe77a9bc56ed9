#!/bin/sh
# Every number that vkb-compare, vkb-stats, vkb-detect and vkb-report print, in every
# format, is that of the record; tests/numbers.pl reads the reports.
# sanitize: numbers of every size.
. "${0%/*}/lib.sh"

numbers() { perl "$tests/numbers.pl" "$@"; }

# runs LABEL COUNT ELAPSED_S (COMMAND SEED SPREAD RPS P50 P99)...: prints runs whose
# metrics vary by SPREAD; all but the first have a block of their own, so the sides are not paired.
runs() {
  perl -e 'my ($label, $n, $elapsed, @cases) = @ARGV;
    while (my ($command, $s, $spread, $rps, $p50, $p99) = splice @cases, 0, 6) {
      my $vary = sub { $s = ($s * 1103515245 + 12345) % 2**31;
        $_[0] * (1 + $spread * ($s / 2**31 - .5)) };
      printf q({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s","warmup_s":2},) .
        q("run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%.2f,"p50_latency_ms":%.5f,) .
        q("p99_latency_ms":%.5f,"elapsed_s":%s},"status":"ok"}) . "\n", $label, $command,
        $_, $_ == 1 ? 0 : 1000 * ord($label) + ++$block, $vary->($rps), $vary->($p50), $vary->($p99), $elapsed for 1 .. $n;
    }' "$@"
}

runs one 7 10 SET 1 .02 100000 .5 1.2 GET 2 .1 120000 .4 1.3 \
  INCR 1 .05 110000 .42 1.38 LPUSH 7 .02 98000 .44 1.45 >base
runs two 9 17 SET 3 .03 91000 .55 1.25 GET 30 .15 124000 .38 1.33 \
  INCR 6 .1 112000 .4 1.31 LPUSH 8 .02 98100 .4404 1.451 >new

# --- the record itself

compare() { vkb-compare --margin p99_latency_ms=3.1% "$@" base new; }
compare -f jsonl >deltas
test_same 12 "$(jq -r 'select(.type == "delta").metric' deltas | wc -l | tr -d ' ')" \
  'there is a delta for each metric of each case'
test_same '0 numbers' "$(numbers distinct deltas)" \
  'all fields of a delta have different values, so that a mix-up is seen'
test_same 'equivalent improvement inconclusive likely improvement regression' \
  "$(jq -r 'select(.type == "delta").verdict' deltas | sort -u | xargs)" \
  'the rows have all verdicts that formats treat differently'
for side in base new; do
  jq -c 'if .type == "run" then .run += {session: "s", block: .run.index} else . end' $side >paired.$side
done
vkb-compare --margin p99_latency_ms=3.1% -f jsonl paired.base paired.new >paired
test_same true "$(jq -s 'map(select(.needed)) | length > 0 and
  all((.needed.minutes - (.needed.runs - 7) * (10 + 2 + 17 + 2) / 60) | fabs < 1e-9)' paired)" \
  'the needed minutes are those of the missing runs of both sides, with their warm-up'

# --- vkb-compare: each format

for f in $(report_formats | grep -vx jsonl); do
  compare -v -f "$f" >report
  numbers "$f" deltas report >said
  test_same "$(tail -n 1 said)" "$(cat said)" "$f: each number is that of its delta"
  # Each format has at least so many numbers for 12 rows, so that something was read.
  case $f in
  text | markdown) least=80 ;;
  annotations) least=12 ;;
  junit) least=30 ;;
  *) least=90 ;;
  esac
  test_that "$f: at least $least numbers were read" test "$(sed -n 's/ numbers$//p' said)" -ge $least
done

test_same 12 "$(compare -f junit | grep -c '<testcase .* time="51.000"')" \
  'junit: the time of 9 runs of 17 s is divided among the 3 rows of a case'

test_same "$(compare -f junit | sed -n 's/.*<testsuite .* time="\([0-9.]*\)".*/\1/p')" \
  "$(compare -f junit | sed -n 's/.*<testcase .* time="\([0-9.]*\)".*/\1/p' |
    awk '{ s += $1 } END { printf "%.3f\n", s }')" \
  'junit: the time of a suite is the sum of its cases'

# Pairs that change in opposite directions: sorted separately the sides would be equal.
perl -e 'for my $s (0, 1) { for my $c (1 .. 3) { for my $k (1 .. 8) {
  printf qq({"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET","clients":%d},"run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%d},"status":"ok"}\n),
    $s ? "b" : "a", $c, 2 * $k + $s, $k, $s ? 900 - 100 * $k : 100 * $k } } }' >crossed
vkb-compare --baseline a -f jsonl crossed >crossed.deltas
test_same '[true,true]' "$(jq -c 'select(.type == "comparison").overall.rps.ci95 |
  [.[0] < 0.8, .[1] > 1.25]' crossed.deltas)" \
  'the interval of the mean keeps the pairs together'

# overall_of: prints what the text says about all cases, for each metric
overall_of() {
  jq -r 'select(.type == "comparison").overall | to_entries[] |
    [.key, .value.ratio, .value.ci95[], .value.cases] | @tsv' deltas |
    sed 's/^rps/throughput/; s/_latency_ms//' | perl -lane 'printf "%s: %.3fx [%.3f, %.3f] %d cases\n", @F'
}
compare -v -f text | perl -0777 -ne 'while (/overall (\S+: \S+x \[.*?\]).*?(\d+ cases)/gs) {
  print "$1 $2\n" }' >got
test_same "$(overall_of)" "$(cat got)" 'text: the geometric means are those of the record'
compare -f markdown |
  perl -ne 'print "$1 $2\n" if /^Overall (\S+: \S+x \[.*?\]).*?(\d+ cases)/' >got
test_same "$(overall_of)" "$(cat got)" 'markdown: the geometric means are those of the record'
test_same "$(jq -r 'select(.type == "comparison").overall | map(.ratio)[]' deltas)" \
  "$(jq -s 'map(select(.type == "delta")) | group_by(.metric)[] |
    map(.ratio | log) | add / length | exp' deltas |
    sort >means; jq -r 'select(.type == "comparison").overall | map(.ratio)[]' deltas |
    while read -r r; do
      awk -v r="$r" '(r - $1) ^ 2 < 1e-18 { print r; exit }' means
    done)" 'each is the geometric mean of the ratios of its deltas'

# --- vkb-report

vkb-report base new deltas >page
numbers page deltas page >said
test_same '96 numbers' "$(cat said)" 'vkb-report: each number of the page is that of its delta'

# --- vkb-stats

vkb-stats base new >summaries
vkb-stats base | numbers values /dev/stdin >said
test_same '188 numbers' "$(cat said)" 'vkb-stats: each number of a summary follows from its values'
jq -c 'select(.subject.label == "one")' summaries >one
vkb-stats -t base >table
numbers summaries one table >said
test_same '28 numbers' "$(cat said)" 'vkb-stats -t: each number is that of the summary'

# --- vkb-detect

perl -e 'srand 1;
  for my $i (0 .. 59) { for my $k (1 .. 4) {
    my $x = 1 + .01 * (rand() + rand() + rand() - 1.5);
    $x *= .94 if $i >= 36;
    $x *= .8 if $i == 18;
    printf qq({"type":"run","v":1,"subject":{"commit":"%040x","time":"2026-%02d-%02dT08:00:00Z"},"config":{"command":"SET"},"run":{"session":"s%d","index":%d},"metrics":{"rps":%.2f,"p50_latency_ms":%.5f},"status":"ok"}\n),
      $i + 4096, 1 + $i / 28, 1 + $i % 28, $i, $k, 1e5 * $x, .4 / $x**2 } }' >history
vkb-detect -f jsonl history >all
test_same 4 "$(wc -l <all | tr -d ' ')" 'vkb-detect finds a change and a spike of two metrics'
jq -c 'select(.kind == "regression")' all >changes
for f in text markdown issue; do
  vkb-detect -f "$f" history >report
  case $f in issue) of=changes ;; *) of=all ;; esac
  numbers "$f" $of report >said
  test_same "$(tail -n 1 said)" "$(cat said)" "vkb-detect -f $f: each number is that of its record"
  test_that "vkb-detect -f $f: at least 14 numbers were read" \
    test "$(sed -n 's/ numbers$//p' said)" -ge 14
done
test_same true "$(jq -s --slurpfile runs history '
  def median: sort | if length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  ($runs | group_by(.subject.commit) | map(map(.metrics) | {
    rps: (map(.rps) | median), p50_latency_ms: (map(.p50_latency_ms) | median)})) as $points |
  map(. as $c | $points[.index:] | map(.[$c.metric]) | median as $after |
    ($c.median[1] - $after) | fabs < 1e-9 * $after) | all' changes)" \
  'the level after a change is the median of its points'
test_done
