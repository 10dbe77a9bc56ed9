#!/bin/sh
# The comment on a pull request, as GitHub renders it: a sentence, a row for each of the
# worst ten cases, the others folded, how it was measured, and the command that repeats
# it.
. "${0%/*}/lib.sh"

# suite CASES WORSE BETTER NOISY [NAME]: prints eight rounds of two commits; the first
# cases are slower by 5 % and more, the next ones faster, the next ones vary by 30 %
suite() {
  perl -e 'my ($cases, $worse, $better, $noisy, $name) = @ARGV;
    srand 1;
    for my $c (1 .. $cases) {
      my $by = $c <= $worse ? .95 - $c / 10000 : $c <= $worse + $better ? 1.06 : 1;
      my $noise = $c > $worse + $better && $c <= $worse + $better + $noisy ? .3 : .001;
      for my $k (1 .. 8) { for my $side ("base", "head") {
        my $v = ($side eq "head" ? $by : 1) * (1 + $noise * (rand() - .5));
        printf qq({"type":"run","v":1,"subject":{"label":"%s","commit":"%s"},"config":{"command":"%s%d","clients":50,"tls_mode":false},"run":{"session":"s","index":%d,"block":%d},"metrics":{"rps":%.6g,"p50_latency_ms":%.6g,"p99_latency_ms":%.6g},"status":"ok"}\n),
          $side, join("", ($side eq "base" ? "a" : "b") x 40), $name, $c, $k, $k, 100000 * $v, .5 / $v, 2 / $v;
      } } }' "$1" "$2" "$3" "$4" "${5:-C}"
}
comment() { vkb-compare --baseline base -f markdown:comment.md -f jsonl:deltas "$@"; }
# seen FILE: renders the comment; page.html has all of it, seen.html what is not folded
seen() {
  { echo '<html>' && cmark-gfm -e table --unsafe "$1" && echo '</html>'; } >page.html
  perl -0pe 's,<details>.*?</details>,<p>folded</p>,gs' page.html >seen.html
}
rows() { grep -c '^<tr>$' "$1"; }

suite 8 2 1 3 >runs
test_status 1 'a slower change' comment runs
test_match '^\*\*Worse: C2 \(5\.[0-9]% slower\), C1 \(5\.[0-9]% slower\)\.\*\* Better: C3 \(6\.0% faster\)\. Undecided: C4 \(.*runs vary by [0-9.]+%\), .* No change: 2 cases\.$' \
  comment.md 'the first sentence has the worst cases, and the others follow by their answer'
test_same "$(vkb-compare --baseline base runs | tr '\n' ' ' | grep -o 'Worse: .* 2 cases\.')" \
  "$(sed -n 's/\*\*//g; s/\\//g; /^Worse: /p' comment.md)" 'the sentences are those of the text'
test_match '^\| answer \| case \| throughput \| change \| p50 \| p99 \|$' comment.md 'the table has a column for each metric that people ask for'
test_match '^\| 🔴 worse \| C2 \| 100K .*9[45]\.[0-9]K \| 5\.[0-9]% slower \| [+]5\.[0-9]% \| [+]5\.[0-9]% \|$' comment.md \
  'a case is one row, and its symbol has a word'
test_match '^Measured: 8 runs each, interleaved; 50 clients$' comment.md 'one line says how it was measured'
test_match '^    vkb-ab -C \. base=a{12} head=b{12} -- cases\.jsonl --runs 8$' comment.md 'the comment has a command that repeats the measurement'
VKB_CONFIG=set.json vkb-compare --deltas -f markdown deltas >again.md
test_same "$(cat comment.md)" "$(cat again.md)" 'the comment from the records is the same, and names no file of the job'
test_match '^To reproduce:$' comment.md 'a line says what the command is for'
suite 4 0 1 0 >runs
comment runs
test_match '^\*\*Better: C1 \(6\.[0-9]% faster\)\.\*\* No change: 3 cases\.$' comment.md 'a faster case'
suite 4 0 0 1 >runs
comment runs
test_match '^\*\*No slowdown found\.\*\* Undecided: C1 \(.*runs vary by [0-9.]*%\)\. No change: 3 cases\.$' comment.md 'an undecided case is named, with the reason'
suite 4 0 0 4 >runs
comment runs
test_match '^\*\*No slowdown found\.\*\* Undecided: C1 \(.*\), C2 \(.*\), C3 .*, C4 \(.*\)\.$' comment.md 'all cases are undecided'
suite 4 0 0 0 >runs
comment runs
test_match '^\*\*No change: all 4 cases\.\*\*$' comment.md 'no change'
for c in A B; do
  for s in base head; do
    for k in 1 2; do
      printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s"},"run":{"session":"s","index":%d},"counted":true,"metrics":{"instructions_per_req":%d},"status":"ok"}\n' \
        $s $c $k "$([ $s = base ] && echo 4700 || echo 4855)"
    done
  done
done >counted
comment counted
test_match '^\*\*A executes 3\.3% more instructions, B 3\.3% more instructions\.\*\*$' comment.md \
  'cases that do more work have its size'
sed 's/"commit":"[ab]*"/"binary_sha256":"0"/' runs >same
comment same
test_match '^\*\*Both sides are the same server, .* differs by up to [0-9.]*%\.\*\*$' comment.md \
  'the first sentence names the same server'
test_same 3 "$(grep -n '^\*\*Both' comment.md | cut -d: -f1)" 'this sentence follows the title'
test_absent 'vkb-ab' comment.md 'there is no command to measure again'

if ! command -v cmark-gfm >/dev/null; then
  test_skip 'rendered comments' cmark-gfm
  test_done
fi

# --- a thousand cases

for name in C A.VERY.LONG.NAME.OF.A.COMMAND.WITH.MORE.THAN.SIXTY.CHARACTERS.IN.IT; do
  suite 1000 20 5 40 $name >runs
  test_status 1 "a thousand cases ($name)" comment runs
  test_same 1 "$(wc -m <comment.md | awk '{ print ($1 < 65536) }')" "the comment has less than 65536 characters ($name)"
  test_same 1 "$(wc -c <comment.md | awk '{ print ($1 < 65536) }')" "the comment has less than 65536 bytes ($name)"
  seen comment.md
  test_same 11 "$(rows seen.html)" "ten cases are not folded ($name)"
  test_that "folded parts are closed ($name)" xmllint --noout page.html
  test_same '11 folded' "$(rows seen.html) $(grep -o folded seen.html | sort -u)" "the other cases are folded ($name)"
done
test_match '>[0-9]+ more cases left out: too long for one comment' page.html 'cases that do not fit are counted'
test_match 'Worse: .* and 16 more\.\*\* Better: .* and 1 more\. .*Undecided: .* and 3[56] more.* No change: 935 cases\.' comment.md 'the sentence counts all cases'

# --- names do not become markup

# shellcheck disable=SC2016 # Markdown
suite 12 12 0 0 'a|b <img src=x> [x](https://e.example) `c` *d* @me #1 :bug: ' >runs
test_status 1 'hostile names' comment runs
seen comment.md
test_that 'the page is well formed' xmllint --noout page.html
test_absent '<img|<a |<em>d' page.html 'no name becomes markup'
test_same '1 11' "$(perl -0ne 'my %n; while (/<tr>(.*?)<\/tr>/gs) { my $r = $1; $n{() = $r =~ /<t[dh]/g}++ }
  print scalar(keys %n)' seen.html) $(rows seen.html)" 'each row has all columns'
test_done
