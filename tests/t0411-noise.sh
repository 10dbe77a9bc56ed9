#!/bin/sh
# vkb-stats: sources of noise, drift, precision, and trends within runs.
. "${0%/*}/lib.sh"

# make EXPRESSION: prints runs of two hosts a and b with 3 sessions each of 8 runs; the
# Perl expression gives 'metrics and more' of host h (0, 1), session s (0..5) and run i
# (1..8).
make() {
  # shellcheck disable=SC2016 # perl's variables
  perl -e 'use strict;
    srand 5;
    sub normal { sqrt(-2 * log(1 - rand)) * cos(6.283185307179586 * rand) }
    my $more = eval "sub { my (\$s, \$i) = \@_; $ARGV[0] }" or die $@;
    for my $s (0 .. 5) {
      for my $i (1 .. 8) {
        printf qq({"type":"run","v":1,"subject":{"label":"x"},) .
          qq("config":{"command":"SET"},"run":{"session":"s%d","index":%d,) .
          qq("block":%d},) .
          qq("env":{"host":"%s"},"status":"ok",%s}\n),
          $s, $i, $i, $s < 3 ? "a" : "b", $more->($s, $i);
      }
    }' "$1"
}

# --- sources of noise

# shellcheck disable=SC2016
make 'our %of; $of{$s} //= 3000 * normal();
  sprintf qq("metrics":{"rps":%f}), 100000 + $of{$s} + 300 * normal()' >far
vkb-stats far >out
test_same '["machine","session","restart"]' \
  "$(jq -c '[.metrics.rps.split[].source]' out)" \
  'without series the sources are machine, session, restart'
test_same '[2,6,48]' "$(jq -c '[.metrics.rps.split[].n]' out)" \
  'the number of groups of each source is given'
test_same true "$(jq '.metrics.rps.split[2].sd_percent |
  . > 0.2 and . < 0.4' out)" 'from run to run: .3 %'
test_match '"advice":"add a session: the variation between sessions \([0-9.]+ %\)' out \
  'the advice is to add a session'
vkb-stats -p 1% far >out
test_match '"advice":"add a session: [^"]*; [0-9]+ sessions would give a precision of 1 %' \
  out 'the advice has the number of sessions'
vkb-stats far >one
sort -r far | vkb-stats >two
test_same "$(cat one)" "$(cat two)" 'the order of the runs does not matter'
sed 's/"host":"[ab]"/"host":"a"/' far | vkb-stats >out
test_same '["session","restart"]' \
  "$(jq -c '[.metrics.rps.split[].source]' out)" \
  'with one machine there is no variance between machines'
grep '"session":"s0"' far | vkb-stats >out
test_same '[null,null]' "$(jq -c '.metrics.rps | [.split, .advice]' out)" \
  'with one session there is no split of the variance'
sed 's/"session":"s0",//' far | vkb-stats >out
test_same '[null,null]' "$(jq -c '.metrics.rps | [.split, .drift_percent]' out)" \
  'runs without a session have no sources of noise'
make 'sprintf q("metrics":{"rps":7,"errors":0})' | vkb-stats -p 1% >out
test_same '[[0,0,0],0,null,null]' "$(jq -c '.metrics |
  [[.rps.split[].sd_percent], .rps.drift_percent, .rps.advice,
    .errors.split]' out)" 'without noise: no advice; of zeros no percent'
test_same '[{"now":0,"wanted":0.01,"runs":0},{"now":0,"wanted":0.01,"runs":0}]' \
  "$(jq -c '[.metrics[].precision]' out)" 'values without noise need no more runs'

# --- drift

# shellcheck disable=SC2016
make 'sprintf q("metrics":{"rps":%f,"p99_latency_ms":%f}),
  1000 * (1 + $i / 100) + $s, 1 + ($i % 2) / 100' >drift
vkb-stats drift >out
test_same '[6.7,true,null]' "$(jq -c '.metrics |
  [(.rps.drift_percent * 10 | round / 10), .rps.drifting,
    .p99_latency_ms.drifting]' out)" 'up by 1 % a run: 7 steps'
vkb-stats -t out >text
test_match 'drifts \+6\.7% over a session' text 'the table shows the drift over a session'
test_same true "$(sed 's/,"index":[0-9]*,"block":[0-9]*//' drift | vkb-stats |
  jq '.metrics.rps.drift_percent == null')" 'without the order of the runs there is no drift'
test_same null "$(grep -v '"index":[678]' drift | vkb-stats |
  jq .metrics.rps.drift_percent)" 'five runs are too few for a drift'

# --- precision

for i in 1 2 3 4 5 6 7 8; do
  printf '{"type":"run","v":1,"subject":{},"config":{"command":"GET"},"metrics":{"rps":%s},"status":"ok","run":{"session":"s","index":%d}}\n' \
    "$((1000 + 13 * (i * 5 % 8)))" "$((index += 1))"
done >eight
test_same '[0.04352,0.02,true]' "$(vkb-stats --precision 2% eight |
  jq -c '.metrics.rps.precision | [(.now * 1e6 | round / 1e6), .wanted,
    .runs > 4 and .runs < 20]')" 'the number of further runs'
test_same '{"wanted":0.02,"runs":1}' "$(head -n 2 eight | vkb-stats -p 2% |
  jq -c .metrics.rps.precision)" 'two runs have no interval: one more is needed'
test_same null "$(vkb-stats eight | jq .metrics.rps.precision)" \
  'without -p there is no precision'
vkb-stats -tp 2% eight >text
test_match '[0-9]+ more runs for 2%' text 'the table shows how many more runs are needed'
for bad in 1 0% -1% x% % ''; do
  test_status 2 "a precision of '$bad' is an error" vkb-stats -p "$bad" eight
done
test_match "^vkb-stats: option '--precision': '' is not a percentage" .err \
  'the error names the bad precision'

# --- trends within runs

# shellcheck disable=SC2016
make 'my $n = $s == 5 ? 12 : 60;
  my @v = map { 1000 + normal() - 300 * exp(-$_ / 4) -
    ($s == 4 ? 2 * $_ : 0) } 1 .. $n;
  sprintf q("metrics":{"rps":1000},"series":{"at_s":[%s],"rps":[%s]}),
    join(",", 1 .. $n), join(",", @v)' >course
vkb-stats course >out
test_same '{"steady":32,"drifting":8,"none":8}' \
  "$(jq -c '.steady | {steady, drifting, none}' out)" \
  'runs are steady, drifting, or too short'
test_same true "$(jq '.steady.warmup_s >= 10 and .steady.warmup_s <= 30' out)" \
  'the median warm-up in seconds'
test_same true "$(jq '.steady.kinds.warmup >= 30' out)" 'most runs warm up'
grep '"session":"s[0-3]"' course | vkb-stats >one
test_match '"source":"within","sd_percent":0\.0' one \
  'the noise within runs is that after the warm-up'
vkb-stats -t out >text
test_match '8 not steady, warm-up [0-9]+ s' text 'the table counts the runs that are not steady'
sed 's/"rps":\[[^]]*\]/"rps":"fast"/' course >bad
sed 's/"rps":\[[0-9.]*,/"rps":[null,/' course >>bad
vkb-stats bad | jq -c .steady >out
test_same null "$(cat out)" 'a series that is not a list of numbers has no verdict'

# --- autocorrelated runs

# side LABEL SEED: prints 20 runs of a machine that wanders, in a session of their own
side() {
  perl -e 'my ($label, $state) = @ARGV;
    sub uniform { $state = ($state * 69069 + 1) % 4294967296; $state / 4294967296 }
    my $e = 0;
    for my $i (1 .. 20) {
      my $z = -6; $z += uniform() for 1 .. 12;
      $e = .9 * $e + $z;
      printf qq({"type":"run","v":1,"subject":{"label":"$label"},"config":{"command":"SET"},"run":{"session":"$label","block":%d},"env":{"virtual":false},"metrics":{"rps":%.3f},"status":"ok"}\n),
        $i, 1e5 * exp(.02 * $e) }' "$1" "$2"
}
side a 7 >a.jsonl
side b 11 >b.jsonl
sed 's/"session":"[ab]","block":[0-9]*//' a.jsonl >a0
sed 's/"session":"[ab]","block":[0-9]*//' b.jsonl >b0
vkb-compare -f jsonl a0 b0 >without
test_same true "$(jq -s 'map(select(.metric))[0] | .method == "sessions" and .verdict == "inconclusive"' without)" \
  'runs without a session are of one for each side, which may differ'
vkb-compare -f jsonl a.jsonl b.jsonl >with
test_same true "$(jq -s '.[0] | .probability < .5 and .verdict == "inconclusive"' with)" \
  'autocorrelated runs in a known order are inconclusive'
test_same true "$(jq -s '.[1].metrics.rps.serial | . > .6 and . <= .95' with)" \
  'the autocorrelation is estimated'
test_same true "$(jq -s '(.[0].ci95 | .[1] - .[0]) < (.[2].ci95 | .[1] - .[0]) / 2' without with)" \
  'the interval is wider'
vkb-compare --explain SET a.jsonl b.jsonl >explained
test_match '^  noise .*; neighbouring runs resemble each other \(0\.[0-9]*\)$' explained \
  'the explanation says that runs are autocorrelated'
# Both sides in one session, one after the other: more runs add little information.
sed 's/"session":"b","block":/"session":"a","block":1/' b.jsonl >b2
vkb-compare -f text -f jsonl:with2 a.jsonl b2 | tr '\n' ' ' >text2
test_match 'Neighbouring runs resemble each other, so more runs add little information; vkb-ab measures both sides interleaved' \
  text2 'the answer suggests to interleave the runs'
test_same true "$(jq -s '.[1].metrics.rps.serial > 0' with2)" \
  'they are autocorrelated in one session, too'
mkdir -p other
sort -r a.jsonl >other/a.jsonl
vkb-stats b.jsonl >b1
test_same "$(cat with)" "$(cd other && vkb-compare -f jsonl a.jsonl ../b1)" 'the order of the lines does not matter'
test_same "$(jq -c '[(.probability * 1e6 | round)?, (.metrics.rps.serial * 1e6 | round)?]' with)" \
  "$(vkb-compare -f jsonl b.jsonl a.jsonl | jq -c '[(.probability * 1e6 | round)?, (.metrics.rps.serial * 1e6 | round)?]')" \
  'swapped sides have the same autocorrelation'
test_same 'null null' "$(vkb-stats a0 | jq -r '.metrics.rps.lag1') $(sed 's/"session":"a",//' a.jsonl | vkb-stats | jq -r '.metrics.rps.lag1')" \
  'without the order of the runs there is no autocorrelation'
test_done
