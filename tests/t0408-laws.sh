#!/bin/sh
# Properties of vkb-compare on random inputs: order, concatenation, swapped sides, a
# measurement compared with itself, scale, duplicates; and that one failure, one case
# without a partner or another environment changes nothing else.
. "${0%/*}/lib.sh"

# The generator prints run records of subjects a, b and c from a seed. Cases differ in
# noise, size of the change, ties, zeros, number of runs, and in whether the runs are
# interleaved.
cat >generate.pl <<'E2'
use strict;
use warnings;
my $state = shift @ARGV;

sub uniform {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return $state / 2147483648;
}
sub normal { my $s = -6; $s += uniform() for 1 .. 12; return $s }
sub pick { return $_[int(uniform() * @_)] }

uniform() for 1 .. 10;
my $cases = 2 + int(uniform() * 5);
for my $c (1 .. $cases) {
    my $noise  = pick(0, 0.001, 0.01, 0.05, 0.3);
    my $coarse = pick(0, 0, 0.01, 0.1);
    my $runs   = pick(1, 3, 4, 5, 6, 8, 12);
    my $blocks = pick(0, 1);
    for my $s (qw(a b c)) {
        my $change = pick(1, 1, 1.001, 0.97, 1.04, 0.9, 1.2);
        my $m = $runs + pick(0, 0, 0, 1, -1);
        for my $i (1 .. ($m < 1 ? 1 : $m)) {
            my %v;
            for my $k (qw(rps p50_latency_ms p99_latency_ms memory_mb)) {
                my $base = $k eq 'rps' ? 100000 : 1;
                my $v = $base * $change * exp($noise * normal());
                $v = int($v / $coarse / $base + .5) * $coarse * $base
                  if $coarse;
                $v{$k} = $v < 0 ? 0 : $v;
            }
            my $metrics = join ',', map { sprintf '"%s":%.9g', $_, $v{$_} }
              sort keys %v;
            printf '{"type":"run","v":1,"subject":{"label":"%s"},'
              . '"config":{"command":"C%d","pipeline":%d},'
              . '"run":{"session":"%s","index":%d%s},'
              . '"env":{"kernel":"1","virtual":false},"metrics":{%s},"status":"ok"}' . "\n",
              $s, $c, $c * 10, $blocks ? 's' : "s$s", $i,
              $blocks ? ",\"block\":$i" : '', $metrics;
        }
    }
}
E2

only() { grep "\"label\":\"$1\"" all; }
deltas() { # deltas FILE...: prints the rows of a comparison
  vkb-compare -f jsonl -m all "$@" 2>err | jq -c 'select(.metric)'
}
# Rounded to nine digits, since logarithms of scaled values differ in the last digits.
round='def r: if type == "number" then (. * 1e9 | round / 1e9)
  elif type == "array" or type == "object" then map_values(r) else . end; '
# figures: prints what does not depend on the unit
figures() {
  jq -c "$round"'[.config, .metric, .n, .ratio, .ci95, .ci90, .probability,
    .verdict, .needed, .visible, .method] | r'
}
# inverse PLAIN SWAPPED: prints the pairs of rows whose ratios are not reciprocal; with a 0
# they need not be
inverse() {
  paste -d '\n' "$1" "$2" | jq -c -n 'reduce inputs as $row ([]; . + [$row]) |
    [range(0; length; 2) as $i | .[$i] as $a | .[$i + 1] as $b |
    select($a.ci95 and $b.ci95) | ($a.ratio * $b.ratio) as $x |
    select($x < 1 - 1e-9 or $x > 1 + 1e-9)]'
}

: >broken
# law WHAT WANT GOT: records whether both are equal; each law is printed once at the
# end, with the seeds that break it
law() {
  printf '%s\n' "$1" >>laws
  [ "$2" = "$3" ] || printf '%s: seed %s\n' "$1" "$seed" >>broken
}

for seed in 1 2 3 4 5 6; do
  perl generate.pl $seed >all
  for s in a b c; do only $s >$s.jsonl; done
  deltas a.jsonl b.jsonl >plain
  jq -r '.verdict, .method' plain >>kinds

  perl -e 'my @l = <>; my $s = '$seed'; for my $i (reverse 1 .. $#l) {
    $s = ($s * 69069 + 1) % 4294967296; my $k = $s % ($i + 1);
    @l[$i, $k] = @l[$k, $i] } print @l' b.jsonl >shuffled.jsonl
  law 'the order of the lines does not matter' "$(cat plain)" "$(deltas a.jsonl shuffled.jsonl)"

  sed -n 'p;n' b.jsonl >even.jsonl
  sed -n 'n;p' b.jsonl >odd.jsonl
  law 'a file in two parts gives the same' "$(cat plain)" \
    "$(deltas a.jsonl even.jsonl odd.jsonl)"
  law 'a baseline inside the input gives the same' "$(cat plain)" \
    "$(cat b.jsonl a.jsonl | deltas --baseline a)"
  vkb-stats a.jsonl >a.sum
  law 'a summary gives the same' "$(cat plain)" "$(vkb-stats b.jsonl | deltas a.sum)"

  deltas b.jsonl a.jsonl >swapped
  # A row with a 0 has no logarithms, and is compared with its baseline.
  law 'swapped sides have the same probability, to a percent' '' \
    "$(paste -d '\n' plain swapped | jq -c -n 'def all: [.config, .metric, .method, .n[0] + .n[1]];
      [inputs] | [range(0; length; 2) as $i | [.[$i], .[$i + 1]] |
      select((map(all) | unique | length > 1) or
        ((.[0].probability // 0) - (.[1].probability // 0) | fabs > .01))] | .[]')"
  law 'swapped sides have the opposite verdicts' "$(jq -r .verdict plain)" \
    "$(jq -r '{regression: "improvement", improvement: "regression",
      "likely regression": "likely improvement",
      "likely improvement": "likely regression"}[.verdict]
      // .verdict' swapped)"
  law 'swapped sides have the reciprocal ratio' '[]' "$(inverse plain swapped)"

  for s in a b; do
    vkb-compare -m all --on-insufficient ok -f jsonl $s.jsonl $s.jsonl >self
    law 'a measurement compared with itself passes' 0 $?
    law 'a measurement does not differ from itself' '' \
      "$(jq -r 'select(.metric).verdict' self | grep -v 'equivalent\|insufficient')"
    law 'the ratio of a measurement to itself is 1' '' "$(jq -c 'select(.metric and .ratio) | .ratio |
      select(. != 1)' self)"
  done

  # Powers of two do not change the digits.
  for f in 8 0.015625; do
    for s in a b; do
      jq -c ".metrics |= map_values(. * $f)" $s.jsonl >$s.scaled
    done
    law 'the unit does not matter' "$(figures <plain)" \
      "$(deltas a.scaled b.scaled | figures)"
  done

  law 'runs that are there twice count once' "$(cat plain)" \
    "$(deltas a.jsonl b.jsonl b.jsonl)"
  sed 's/"label":"b"/"label":"again"/; s/"session":"sb"/"session":"sagain"/' \
    b.jsonl >again.jsonl
  deltas a.jsonl b.jsonl again.jsonl >two
  law 'a subject under two names has the same results' \
    "$(jq -c 'select(.contender.label == "b") | .contender = 0' two)" \
    "$(jq -c 'select(.contender.label == "again") | .contender = 0' two)"
  law 'medians and errors are those of one comparison' \
    "$(jq -c '[.config, .metric, .median, .se, .df]' plain)" \
    "$(jq -c 'select(.contender.label == "b") | [.config, .metric, .median, .se, .df]' two)"

  # shellcheck disable=SC2016 # jq
  others='{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"Z"},"run":{},"env":{},"status":"%s"%s}\n'
  {
    cat b.jsonl
    # shellcheck disable=SC2059
    printf "$others" b failed ',"error":"boom"'
  } >failed.jsonl
  law 'one failed case changes no other result' "$(cat plain)" \
    "$(deltas a.jsonl failed.jsonl)"
  vkb-compare a.jsonl failed.jsonl >/dev/null 2>&1
  law 'one failed case changes the exit status' 1 "$(($? > 0))"
  {
    cat b.jsonl
    # shellcheck disable=SC2059
    printf "$others" b ok ',"metrics":{"rps":5}'
  } >lone.jsonl
  law 'a case without a partner changes no other result' "$(cat plain)" \
    "$(deltas a.jsonl lone.jsonl)"
  sed 's/"kernel":"1"/"kernel":"2","governor":"x"/' b.jsonl >sky.jsonl
  law 'another environment changes no result' "$(cat plain)" "$(deltas a.jsonl sky.jsonl)"

  # With wider margins and --strict there are never more alarms.
  alarms() { jq -r '.verdict' | grep -c '^regression\|^improvement'; }
  few=$(deltas --margin 30% a.jsonl b.jsonl | alarms)
  some=$(alarms <plain)
  law 'with a wider margin there are not more alarms' 1 "$((few <= some))"
  strict=$(deltas --strict a.jsonl b.jsonl | alarms)
  law 'with --strict there are not more alarms' 1 "$((strict <= some))"
done
sort laws | uniq -c >count
while read -r n what; do
  if grep -F "$what: seed" broken >where; then
    test_result 1 "$what"
    sed 's/^/# /' where
  else
    test_result 0 "$what ($n times)"
  fi
done <count
# The inputs have all kinds of results.
sort -u kinds >kind
for k in regression improvement equivalent inconclusive insufficient rounds runs \
  sessions; do
  test_match "^$k\$" kind "some results are $k"
done
test_done
