#!/bin/sh
# Laws of vkb-compare over random inputs: order, concatenation, swap, a
# measurement against itself, scale, duplicates, and that one failure, one lone
# case or another environment changes nothing else.
. "${0%/*}/lib.sh"

# The generator: run records of subjects a, b and c from a seed. Cases differ in
# noise, size of the change, ties, zeros, number of runs, and in whether the
# runs are interleaved.
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
              . '"env":{"kernel":"1"},"metrics":{%s},"status":"ok"}' . "\n",
              $s, $c, $c * 10, $blocks ? 's' : "s$s", $i,
              $blocks ? ",\"block\":$i" : '', $metrics;
        }
    }
}
E2

only() { grep "\"label\":\"$1\"" all; }
deltas() { # deltas FILE...: the rows of a comparison
  vkb-compare -f jsonl -m all "$@" 2>err | jq -c 'select(.metric)'
}
# To nine digits: logarithms of scaled values are not those of the values.
round='def r: if type == "number" then (. * 1e9 | round / 1e9)
  elif type == "array" or type == "object" then map_values(r) else . end; '
# figures: what does not depend on the unit
figures() {
  jq -c "$round"'[.config, .metric, .n, .ratio, .ci95, .ci90, .p, .p_adjusted,
    .cliff, .verdict, .certain, .needed, .visible, .method] | r'
}
# A median of an even number of ratios is the mean of two, and the other side's
# is that of their reciprocals: the product is 1 or more, and 1 for an odd one
# and for pairs.
inverse() {
  paste -d '\n' "$1" "$2" | jq -c -n 'reduce inputs as $row ([]; . + [$row]) |
    [range(0; length; 2) as $i | .[$i] as $a | .[$i + 1] as $b |
    select($a.ratio and $b.ratio and $a.ratio > 0) | ($a.ratio * $b.ratio) as $x |
    select($x < 1 - 1e-9 or ($x > 1 + 1e-9 and
      ($a.paired or ($a.n[0] * $a.n[1]) % 2 == 1)))]'
}

: >broken
# law WHAT WANT GOT: printed at the end, once for each law, with the seeds
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
  law 'order does not matter' "$(cat plain)" "$(deltas a.jsonl shuffled.jsonl)"

  sed -n 'p;n' b.jsonl >even.jsonl
  sed -n 'n;p' b.jsonl >odd.jsonl
  law 'parts are the whole' "$(cat plain)" \
    "$(deltas a.jsonl even.jsonl odd.jsonl)"
  law 'as is a baseline inside the input' "$(cat plain)" \
    "$(cat b.jsonl a.jsonl | deltas --baseline a)"
  vkb-stats a.jsonl >a.sum
  law 'and a summary' "$(cat plain)" "$(vkb-stats b.jsonl | deltas a.sum)"

  deltas b.jsonl a.jsonl >swapped
  law 'swapped sides: the same tests' \
    "$(jq -c "$round"'[.config, .metric, .p, .p_adjusted, .method, .certain,
      .needed, .n[0], .n[1], .cliff] | r' plain)" \
    "$(jq -c "$round"'[.config, .metric, .p, .p_adjusted, .method, .certain,
      .needed, .n[1], .n[0], if .cliff then (0 - .cliff) else null end] | r' \
      swapped)"
  law 'swapped sides: the other verdict' "$(jq -r .verdict plain)" \
    "$(jq -r '{regression: "improvement", improvement: "regression",
      "likely regression": "likely improvement",
      "likely improvement": "likely regression"}[.verdict]
      // .verdict' swapped)"
  law 'swapped sides: one over the ratio' '[]' "$(inverse plain swapped)"

  for s in a b; do
    vkb-compare -m all --on-insufficient ok -f jsonl $s.jsonl $s.jsonl >self
    law 'a measurement passes against itself' 0 $?
    law 'nothing differs from itself' '' \
      "$(jq -r 'select(.metric).verdict' self | grep -v 'equivalent\|insufficient')"
    law 'by any amount' '' "$(jq -c 'select(.metric and .ratio) | .ratio |
      select(. != 1)' self)"
  done

  # powers of two keep every bit
  for f in 8 0.015625; do
    for s in a b; do
      jq -c ".metrics |= map_values(. * $f)" $s.jsonl >$s.scaled
    done
    law 'the unit does not matter' "$(figures <plain)" \
      "$(deltas a.scaled b.scaled | figures)"
  done

  law 'what stands twice counts once' "$(cat plain)" \
    "$(deltas a.jsonl b.jsonl b.jsonl)"
  sed 's/"label":"b"/"label":"again"/; s/"session":"sb"/"session":"sagain"/' \
    b.jsonl >again.jsonl
  deltas a.jsonl b.jsonl again.jsonl >two
  law 'a subject under two names: one result' \
    "$(jq -c 'select(.contender.label == "b") | .contender = 0' two)" \
    "$(jq -c 'select(.contender.label == "again") | .contender = 0' two)"
  # More tests may ask for another test, but not for other values.
  law 'which is that of one' \
    "$(jq -c '[.config, .metric, .median, .se, .df]' plain)" \
    "$(jq -c 'select(.contender.label == "b") | [.config, .metric, .median, .se, .df]' two)"

  # shellcheck disable=SC2016 # jq
  others='{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"Z"},"run":{},"env":{},"status":"%s"%s}\n'
  {
    cat b.jsonl
    # shellcheck disable=SC2059
    printf "$others" b failed ',"error":"boom"'
  } >failed.jsonl
  law 'one failed case changes nothing else' "$(cat plain)" \
    "$(deltas a.jsonl failed.jsonl)"
  vkb-compare a.jsonl failed.jsonl >/dev/null 2>&1
  law 'but the exit status' 1 "$(($? > 0))"
  {
    cat b.jsonl
    # shellcheck disable=SC2059
    printf "$others" b ok ',"metrics":{"rps":5}'
  } >lone.jsonl
  law 'nor does a case without a partner' "$(cat plain)" \
    "$(deltas a.jsonl lone.jsonl)"
  sed 's/"kernel":"1"/"kernel":"2","governor":"x"/' b.jsonl >sky.jsonl
  law 'nor another environment' "$(cat plain)" "$(deltas a.jsonl sky.jsonl)"

  # wider margins and stricter families: never more alarms
  alarms() { jq -r '.verdict' | grep -c '^regression\|^improvement'; }
  few=$(deltas --margin 30% a.jsonl b.jsonl | alarms)
  some=$(alarms <plain)
  law 'a wider margin, fewer alarms' 1 "$((few <= some))"
  strict=$(deltas --strict a.jsonl b.jsonl | alarms)
  law 'a stricter correction, fewer alarms' 1 "$((strict <= some))"
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
# The inputs are worth it.
sort -u kinds >kind
for k in regression improvement equivalent inconclusive insufficient \
  mwu-exact signed-rank; do
  test_match "^$k\$" kind "the inputs show what is $k"
done
test_done
