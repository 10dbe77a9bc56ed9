#!/bin/sh
# vkb-compare --calibrate: alarms without a change, and margins that follow from them.
. "${0%/*}/lib.sh"

# runs SEED COUNT: prints runs of one build; 'X' has normal noise of 2 %, 'D' also
# has another level every 12 runs, 'C' is constant
runs() {
  perl -e '
    my ($seed, $n) = @ARGV;
    my $state = $seed;
    sub uniform { $state = ($state * 69069 + 1) % 4294967296; $state / 4294967296 }
    sub normal { my $s = -6; $s += uniform() for 1 .. 12; $s }
    for my $i (1 .. $n) {
      for my $c (qw(X D C)) {
        my $z = normal();
        my $v = $c eq "C" ? 100 : 1000 * exp(0.02 * $z + ($c eq "D" ? 0.2 * (int($i / 12) % 2) : 0));
        printf qq({"type":"run","v":1,"env":{"virtual":false},"subject":{"label":"%s"},"config":{"command":"$c"},) .
          qq("run":{"session":"s","block":%d,"order":%d},"metrics":{"rps":%.6f,"memory_mb":7},"status":"ok"}\n),
          $i % 2 ? "a" : "b", ($i + 1) / 2, 3 * $i, $v;
      }
    }' "$1" "$2"
}

# row CASE FILE: prints the alarms when interleaved and apart, "a b"
row() {
  sed -n "s/^$1 .* \([0-9]*\) of [0-9]*, .* \([0-9]*\) of [0-9]*,.*/\1 \2/p" "$2"
}

runs 7 200 >runs.jsonl
test_that 'two hundred runs of one build' \
  vkb-compare --calibrate 10 -f text:text -f policy:policy.json runs.jsonl
test_same 181 "$(sed -n 's/^X .* of \([0-9]*\), .* of .*/\1/p' text)" \
  'all sequences of twenty runs are compared'
test_same 1 "$(row X text | awk '{ print ($1 <= 181 * .1 && $2 <= 181 * .1) }')" \
  'noise gives few alarms, interleaved or apart'
test_same 1 "$(row D text | awk '{ print ($1 <= 181 * .1 && $2 <= 181 * .25) }')" \
  'with 10 a side levels give a limited number of alarms'
vkb-compare --calibrate 6 runs.jsonl >six
test_same 1 "$(row D six | awk '{ print ($1 <= 189 * .05 && $2 >= 189 * .05) }')" \
  'with 6 a side levels give few alarms when interleaved, and more apart'
test_same '0 0' "$(row C text)" 'without noise there is no alarm'
perl -ne 'while (/(\d+) of (\d+)(?: comparisons gave an alarm)?, ([\d.]+)%/g) {
  print sprintf("%.1f", 100 * $1 / $2) eq $3 ? "right\n" : "wrong: $_" }' text six |
  sort | uniq -c | sed 's/^ *//' >got
test_same '16 right' "$(cat got)" \
  'each percentage is the alarms by the comparisons'
test_same 3 "$(jq '.rules | length' policy.json)" 'there is a margin for each case'
test_same '2.00%' "$(jq -r '.rules[] | select(.case.command == "C").margin' policy.json)" \
  'a margin is at least the present one'
cp text once
test_that 'a second calibration' vkb-compare --calibrate 10 -f text:text runs.jsonl
test_same "$(cat once)" "$(cat text)" 'the output is the same'
{ echo '{'; cat runs.jsonl; } >torn.jsonl
test_status 2 'a line that is not JSON is an error' vkb-compare --calibrate 10 torn.jsonl
test_that 'runs on stdin in another order' sh -c \
  'sort -r runs.jsonl | vkb-compare --calibrate 10 >text'
test_same "$(sort once)" "$(sort text)" 'the order of the runs is that of their times'
jq -c --argjson half 300 'input_line_number as $at |
  if $at <= $half then .run.session = "z" | .run.started = "2026-11-01T00:00:00Z"
  else .run.session = "a" | .run.started = "2026-11-02T00:00:00Z" end' \
  runs.jsonl >two-sessions.jsonl
vkb-compare --calibrate 10 two-sessions.jsonl >text
test_same "$(cat once)" "$(cat text)" 'runs of a resumed session are in the order of their times'
{
  tail -n 300 two-sessions.jsonl
  head -n 300 two-sessions.jsonl
} | vkb-compare --calibrate 10 >text
test_same "$(cat once)" "$(cat text)" 'sessions are in the order of their first runs'
jq -c --argjson last 300 'if input_line_number == $last
  then .run.started = "2026-11-03T00:00:00Z" else . end' two-sessions.jsonl |
  sort -r | vkb-compare --calibrate 10 >text
test_same "$(sort once)" "$(sort text)" \
  'a session begins with the first of its runs, even if a later run is read first'
jq -c --argjson one 150 'if .run.session == "a" then .run.started = "2026-10-01T00:00:00Z"
  elif input_line_number == $one then del(.run.started) else . end' \
  two-sessions.jsonl | vkb-compare --calibrate 10 >text
test_same "$(cat once)" "$(cat text)" \
  'sessions are in the order of the input if a run has no time'
jq -c '.run.block -= 1' runs.jsonl | vkb-compare --calibrate 10 >text
test_same "$(cat once)" "$(cat text)" 'blocks may be counted from 0'
vkb-compare --calibrate 10 runs.jsonl runs.jsonl >text
test_same "$(cat once)" "$(cat text)" 'runs that are there twice count once'

# What is assumed of sessions is that of the machine, or what the policy says.
vkb-compare --calibrate 6 runs.jsonl >bare
jq -c '.env.virtual = true' runs.jsonl | vkb-compare --calibrate 6 >text
test_same 1 "$(echo "$(row D bare) $(row D text)" | awk '{ print ($3 == $1 && $4 < $2) }')" \
  'on a virtual machine fewer of those that are apart give an alarm'
printf '{"rules":[{"session":{"sd":"3%%","df":3}}]}' >sessions.json
vkb-compare --calibrate 6 --policy sessions.json runs.jsonl >policy
test_same "$(cat text)" "$(cat policy)" 'as with a policy that says so much of sessions'

# Ratios to a reference server, which is one or another.
calibrated() { sed -n 's/^X  *\([a-z_]*\) .* of [0-9]*,.*/\1/p' text | sort | xargs; }
jq -c '.metrics.rps_ratio = .metrics.rps / 1000 | .env.reference_sha256 = "0123456789abcdef"' \
  runs.jsonl >one.jsonl
test_that 'runs beside a reference' sh -c 'vkb-compare --calibrate 10 one.jsonl >text'
test_same 'rps rps_ratio' "$(calibrated)" 'ratios to one reference are calibrated, too'
test_absent 'reference' .err 'and there is no word of several'
jq -c 'if .run.block > 50 then .env.reference_sha256 = "fedcba9876543210" else . end' one.jsonl >two.jsonl
test_that 'runs beside two references' sh -c 'vkb-compare --calibrate 10 two.jsonl >text'
test_same rps "$(calibrated)" 'ratios to several references are not'
test_match '^vkb-compare: the runs were measured beside several reference servers: ratios to them are not calibrated$' \
  .err 'a message says so'

# Memory is exact in runs that were counted; those to calibrate with were measured.
jq -c '.metrics.bytes_per_key = 50 + .metrics.rps / 1000' runs.jsonl >memory.jsonl
test_that 'runs that measured memory' sh -c 'vkb-compare --calibrate 10 memory.jsonl >text'
test_same 'bytes_per_key rps' "$(calibrated)" 'memory is calibrated, too'

# With the margins of the calibration there are few alarms.
test_that 'a calibration with its own policy' \
  vkb-compare --calibrate 10 --policy policy.json -f text:text runs.jsonl
test_same 1 "$(sed -n 's/^interleaved: \([0-9]*\) of \([0-9]*\) .*/\1 \2/p' text |
  awk '{ print ($1 / $2 < .05) }')" 'interleaved: below 5 %'
# Without interleaved runs the margins are for both ways.
jq -c 'del(.run.block)' runs.jsonl >apart.jsonl
vkb-compare --calibrate 6 -f policy:policy.json apart.jsonl
vkb-compare --calibrate 6 --policy policy.json apart.jsonl >text
for c in X D C; do
  test_same 1 "$(row $c text | awk '{ print ($1 / 189 < .05 && $2 / 189 < .05) }')" \
    "$c: below 5 % of alarms both ways"
done
test_same true "$(jq '[.rules[] | select(.case.command == "D").margin[:-1] | tonumber] | .[0] > 5' policy.json)" \
  'levels need a wide margin'
jq -c '.run.session = "s\(.run.order)" | .run.block = 1' runs.jsonl |
  vkb-compare --calibrate 6 -f policy:sessions.json
test_same "$(jq -c .rules policy.json)" "$(jq -c '.rules | map(select(.margin))' sessions.json)" \
  'runs of several sessions are not interleaved, even with the same block'
jq -c '.run.block = .run.order' runs.jsonl |
  vkb-compare --calibrate 6 -f policy:blocks.json
test_same "$(cat policy.json)" "$(cat blocks.json)" \
  'runs with a block each are not interleaved'
vkb-compare --calibrate 6 -f policy:blocks.json runs.jsonl
test_same true "$(jq -s '[.[] | .rules[] | select(.case.command == "D").margin[:-1] | tonumber] |
  .[0] > .[1]' policy.json blocks.json)" 'two runs in each block are interleaved'
jq -c '.run.block = 0' runs.jsonl | vkb-compare --calibrate 6 -f policy:zero.json
test_same "$(cat blocks.json)" "$(cat zero.json)" 'runs with a block 0 are interleaved'
jq -r '.rules[] | .margin[:-1] | tonumber' policy.json >margins
printf '{"rules":[{"margin":"99%%"}]}' >wide.json
vkb-compare --calibrate 6 --policy wide.json apart.jsonl >text
test_same 2 "$(grep -c ': 0 of 567 comparisons' text)" 'with a margin of 99 % there is no alarm'

# --- the noise computed again

perl -MJSON::PP -e '
  my %v;
  while (<>) { my $r = decode_json($_); push @{ $v{ $r->{config}{command} } }, $r->{metrics}{rps} }
  sub median { my @s = sort { $a <=> $b } @_; ($s[$#s / 2] + $s[@s / 2]) / 2 }
  sub mean { my $s = 0; $s += $_ for @_; $s / @_ }
  for my $c (qw(X D)) {
    my @v = @{ $v{$c} };
    my ($mean, $median) = (mean(@v), median(@v));
    my ($own, $next) = (0, 0);
    $own += ($_ - $mean)**2 for @v;
    $next += ($v[$_ - 1] - $mean) * ($v[$_] - $mean) for 1 .. $#v;
    printf "%s rps %d %.1f%% %.1f%% %.2f 2.0%%\n", $c, scalar @v,
      100 * sqrt($own / $#v) / $mean, 148.26 * median(map { abs $_ - $median } @v) / $median,
      $next / $own;
  }' apart.jsonl >want
test_that 'a calibration with four a side' vkb-compare --calibrate 4 -f text:text -f policy:policy.json apart.jsonl
for c in X D; do
  test_same "$(sed -n "/^$c /p" want)" \
    "$(sed -n "s/^\($c\) *rps */\1 rps /p" text | tr -s ' ' | tr -d ',' |
      cut -d ' ' -f 1-7)" \
    "$c: noise and autocorrelation are those computed"
done

# --- each comparison is that of vkb-compare with these runs

# Runs are autocorrelated, and every other six of them are 3 to 4 % higher. The machine of
# a quarter of them is virtual.
perl -e 'srand 9; my $x = 0; for my $i (0 .. 239) {
  $x = .5 * $x + .007 * (rand() + rand() + rand() - 1.5);
  printf qq({"type":"run","v":1,"subject":{"label":"a"},"config":{"command":"D"},"run":{"session":"s","block":%d,"order":%d},"env":{"virtual":%s},"metrics":{"rps":%f},"status":"ok"}\n),
    $i, $i, $i / 12 % 4 == 3 ? "true" : "false", 1000 * exp($x + ($i / 6 % 2) * (.12 + $i / 4000)) }' >walk.jsonl
# judged LABELS: prints "alarm margin" of a comparison of the window, labelled by jq
judged() {
  jq -c "$1" window.jsonl >sides.jsonl
  for margin in 2% 0%; do
    vkb-compare --baseline a --margin $margin -f jsonl sides.jsonl | jq -c 'select(.metric)'
  done | jq -s -r 'map(.verdict | test("^(regression|improvement)$")) as [$alarm, $change] |
    "\(if $alarm then 1 else 0 end) \(if $change then
      1 - (.[0].ratio | [., 1 / .] | min) else 0 end * 100)"' |
    awk '{ printf "%d %.1f\n", $1, $2 }'
}
for s in 0 12 24 36 48 60 72 84 96 108 120 132 144 156 168 180 192 204 216 228; do
  sed -n "$((s + 1)),$((s + 12))p" walk.jsonl >window.jsonl
  vkb-compare --calibrate 6 window.jsonl | sed -n \
    's/^D .* \([0-9]*\) of 1, [0-9.]*% *\([0-9.]*\)% *\([0-9]*\) of 1, [0-9.]*% *\([0-9.]*\)%.*/\1 \2\n\3 \4/p' >&3
  judged '.subject.label = (if input_line_number % 2 == 1 then "a" else "b" end) |
    .run.block = ((input_line_number + 1) / 2 | floor)'
  judged '.subject.label = (if input_line_number > 6 then "b" else "a" end)'
done >want 3>got
test_same "$(cat want)" "$(cat got)" 'alarms and margins are those of the comparisons'
test_same '0 1' "$(cut -c 1 got | sort -u | xargs)" 'some comparisons are alarms, others are not'

# --- too few runs, no runs, and other input

runs 7 9 >few.jsonl
test_that 'too few runs' vkb-compare --calibrate 10 -f text:text \
  -f policy:policy.json few.jsonl
test_match '^X +rps +9 .*too few runs' text 'too few runs are reported'
test_same '{"rules":[]}' "$(jq -c . policy.json)" 'the policy has no margins then'
for n in 1 2; do
  runs 7 $n >few.jsonl
  test_that "$n of each" vkb-compare --calibrate 4 few.jsonl
done
runs 7 8 | sed 's/"rps":[0-9.]*/"rps":0/' >zero.jsonl
test_that 'runs with the value 0' vkb-compare --calibrate 4 zero.jsonl
test_match '^X +rps .*0 of 1, 0.0%' .out 'zeros are equal'
vkb-stats runs.jsonl >sum.jsonl
test_status 2 'a calibration of summaries' vkb-compare --calibrate 4 sum.jsonl
test_match 'sum.jsonl:1: a summary does not have the order' .err 'the error says that summaries have no order'
: >none
test_status 2 'an input without runs' vkb-compare --calibrate 4 none
test_status 2 'an unknown format is an error' \
  vkb-compare --calibrate 4 -f markdown runs.jsonl
test_status 2 'too few runs a side' vkb-compare --calibrate 3 runs.jsonl
test_status 2 'a policy without --calibrate' \
  vkb-compare -f policy runs.jsonl runs.jsonl

# --- a real machine on a bad day: builds that did not take turns cannot be compared

if test_reference aa-rounds-calm.jsonl 'rounds of a real machine'; then
  jq -c 'select(.side != "B") | {type: "run", v: 1, subject: {label: .side},
    config: {command: "SET"}, run: {session: "s", block: .round},
    metrics: {rps: .value}, status: "ok"}' \
    "$acceptance/aa-rounds-calm.jsonl" >aa.jsonl
  for n in 4 6 10; do
    vkb-compare --calibrate $n -f text:text -f policy:p$n.json aa.jsonl
    test_same 0 "$(row SET text | cut -d ' ' -f 1)" "$n a side: no alarm when interleaved"
    test_same 2.00% "$(jq -r '.rules[].margin' p$n.json)" 'the margin is the default'
  done
  test_same 1 "$(row SET text | awk '{ print ($2 > 0) }')" 'comparisons apart are alarms, though nothing changed'
fi
test_done
