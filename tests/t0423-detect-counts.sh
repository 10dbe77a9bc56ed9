#!/bin/sh
# vkb-detect and vkb-history: each change of a count is reported at once and with its
# commit. Counts that differ between the runs of a commit, or come from another
# compiler, are not regressions.
# sanitize: counted histories.
. "${0%/*}/lib.sh"

# counts VALUE[/VALUE][@COMPILER] ...: prints two counted runs for each of the commits
# c0, c1, ...
counts() {
  perl -e 'my $i = 0; my $before = "";
    for (@ARGV) {
      my ($values, $compiler) = split /@/; my ($x, $y) = split m{/}, $values;
      my $id = sprintf "%040x", 0xabc0000000 + $i;
      my $time = sprintf "2026-01-%02dT08:00:00Z", $i + 1;
      printf qq({"type":"commit","v":1,"commit":"%s","parents":[%s],"time":"%s"}\n),
        $id, $before && qq("$before"), $time;
      my $build = $compiler ? qq(,"build":{"compiler":"$compiler","make":[]}) : "";
      my $k = 0;
      printf qq({"type":"run","v":1,"subject":{"commit":"%s","time":"%s"%s},"config":{"command":"SET"},"run":{"session":"s%d","index":%d},"counted":true,"metrics":{"instructions_per_req":%s},"status":"ok"}\n),
        $id, $time, $build, $i, ++$k, $_ for $x, $y // $x;
      $before = $id; $i++ }' "$@"
}
# found FILE: prints the exit status, and "kind index class new" of each change
found() {
  vkb-detect -f text:text -f jsonl:records "$1" 2>.err
  echo "exit $?"
  jq -r 'select(.type == "change") | "\(.kind) \(.index) \(.class) \(.new)"' records
}

counts 4700 4700.5 4855 4855 4700 >h
test_same 'exit 0 regression 2 gate false improvement 4 gate true' "$(found h | xargs)" \
  'each change beyond the margin is found, and the first one is gone again'
test_same '["exact",null]' "$(jq -c 'select(.kind == "regression") | [.method, .p]' records)" \
  'a change of a count needs no test'
test_match '^regression at 0{8} .2026-01-03., 3 of 5' \
  text 'the text has its commit'
test_match '\+3\.3%' text 'the text has its size'
counts 4700 4855 >h
test_same 'exit 1 regression 1 gate true' "$(found h | xargs)" 'two commits are enough for a change'
counts 4700 4705 4714 >h
test_same 'exit 0' "$(found h | xargs)" 'a change within the margin is not reported'

counts 0 3 >h
test_same 'exit 1 regression 1 gate true' "$(found h | xargs)" 'a rise from 0 is a change'
test_match ' 0\.000 -> 3\.000 instr +up from 0 ' text 'the text says that it is up from 0'
vkb-detect -f issue:md h >text
test_match 'up from 0 since' md 'the title of an issue says so'
test_same 0 "$(grep -c brackets md)" 'an issue without an interval explains none'
vkb-report -o page.html h records
test_match 'up from 0' page.html 'the page says so'

counts 4700 4700/4900 4700 4855/4855 >h
test_same 'exit 1 regression 3 gate true' "$(found h | xargs)" \
  'a commit whose runs differ by more than the change shows none'
counts 4700/4710 1700/1707 1702/1705 >h
test_same 'exit 0 improvement 1 gate true' "$(found h | xargs)" \
  'a change far beyond the spread of the runs is found'
counts 4700 4700/4900 4880 >h
test_same 'exit 1 regression 2 gate true' "$(found h | xargs)" \
  'a commit whose runs differ does not hide the change from the one before it to the next'
counts 4700 4900 4700 4900 >h
test_same 'exit 1 regression 1 gate false improvement 2 gate false regression 3 gate true' "$(found h | xargs)" \
  'a count that rises again to the level that was reverted is a new regression'

# trade ALLOCATIONS: the last commits make 30 allocations instead of 3, and take other
# instructions
trade() {
  counts 4700 4700 "$1" "$1" | jq -c 'if .metrics then
    .metrics.allocations_per_req = (if .run.session[1:] | tonumber < 2 then 3 else 30 end) else . end'
}
trade 1700 >h
test_same 'different 2 gate true exit 0 improvement 2 gate true' "$(found h | sort | xargs)" \
  'more allocations are not a regression of a commit that takes fewer instructions'
test_same 'exit 0' "$(vkb-detect --latest 2 h >text; echo "exit $?")" '--latest agrees'
test_absent 'regression' text 'and counts no regression'
trade 4700 >h
test_same 'exit 1 regression 2 gate true' "$(found h | xargs)" \
  'more allocations are a regression where the instructions are the same'
trade 1700 | sed 's/allocations/syscalls/' >h
test_same 'exit 1 improvement 2 gate true regression 2 gate true' "$(found h | sort | xargs)" \
  'a few instructions less for each do not outweigh more system calls'

# timed COUNT RPS: twelve commits, of which the last three execute COUNT instructions
# at RPS requests/s, with four measured runs each
timed() {
  counts 4700 4700 4700 4700 4700 4700 4700 4700 4700 "$1" "$1" "$1" | jq -c --argjson rps "$2" 'if .type != "run" then . else .,
    (select(.run.index == 1) | del(.counted) | (.run.session[1:] | tonumber) as $k |
      .metrics = {rps: (if $k < 9 then 100000 else $rps end)} |
      range(4) as $i | .metrics.rps += 20 * ($i - 1) + 30 * ($k % 3) | .run.index = 3 + $i) end'
}
# newest: prints the commits of timed up to the first that changed
newest() { jq -c 'if .type == "run" then select(.run.session | test("^s1[01]") | not) else
  select(.time < "2026-01-11") end' h >upto && vkb-detect --latest 9 "$@" upto >text; }
timed 4746 100000 >h
test_same 'different 9 gate true exit 0' "$(found h | sort | xargs)" \
  'slightly more instructions of a history that is not slower do not count'
test_match '\+1\.0% .*not slower' text 'and the text says so'
test_status 0 'nor with --latest' newest
test_match '\+1\.0% .*not slower' text 'and the text says so'
timed 4747 100000 >h
test_same 'exit 1 regression 9 gate true' "$(found h | sort | xargs)" '1 % more instructions are one'
test_status 1 'also with --latest' newest
timed 4746 96000 >h
found h >kinds
test_match '^exit 1$' kinds 'slightly more instructions are one of a slower history'
test_absent '^different' kinds 'and remain one'
test_status 1 'also with --latest, by its work alone' newest -m instructions_per_req
timed 4746 100000 | jq -c 'if .metrics.rps then .metrics.rps *= 1 + .2 * (.run.index % 2) else . end' >h
test_same 'exit 1 regression 9 gate true' "$(found h | sort | xargs)" 'and of one of which the time is unclear'
# on HOST NOISE: the runs of timed 4746 100000 on this machine, whose measured ones vary
on() {
  timed 4746 100000 | jq -c --arg host "$1" --argjson noise "$2" 'if .type != "run" then . else .env.host = $host |
    .run.session += $host | if .metrics.rps then .metrics.rps *= 1 + $noise * (.run.index % 2) else . end end'
}
{ on a 0 && on b 0; } >h
test_match '^exit 0$' "$(found h >kinds; echo kinds)" 'two machines may show that it is not slower'
{ on a 0 && on b .2; } >h
test_match '^exit 1$' "$(found h >kinds; echo kinds)" 'one that shows it is not enough if another does not'
timed 4746 100000 >h
echo '{"rules": [{"metric": "instructions_per_req", "margin": "0.5%"}]}' >policy.json
test_status 1 'a margin of the policy is kept' vkb-detect --policy policy.json h
test_status 1 'also with --latest' newest --policy policy.json
test_same 'exit 1 regression 9 gate true' \
  "$(timed 4746 100000 | jq -c 'select(.counted or .type == "commit")' >h; found h | sort | xargs)" \
  'and of counts alone'

counts '4700@gcc 12' '4700@gcc 12' '4855@gcc 13' '4855@gcc 13' >h
test_same 'exit 0 regression 2 info true' "$(found h | xargs)" \
  'a change at another compiler is not a regression'
test_match 'built with another compiler or other flags' text 'a note names the compiler'
counts '4700@gcc 12' '4700@gcc 12' '4855@gcc 13' >h
test_that 'with --latest such a change is not a regression' vkb-detect --latest 2 h
test_match 'built with another compiler or other flags' .out 'and the note is there'
counts '4700@gcc 12' '4855@gcc 12' >h
test_same 'exit 1 regression 1 gate true' "$(found h | xargs)" \
  'a change with the same compiler is a regression'

# --- bytes per key, of counted and of measured runs

# sizes KIND=VALUE ...: prints the same with this metric; "m" is measured, "c" is
# counted
sizes() {
  kinds=$(printf '%s\n' "$@" | sed 's/=.*//' | jq -R . | jq -s -c .)
  # shellcheck disable=SC2046 # words
  counts $(printf '%s\n' "$@" | sed 's/.*=//') | jq -c --argjson kinds "$kinds" '
    if .type == "run" then .metrics.bytes_per_key = .metrics.instructions_per_req |
      .metrics.instructions_per_req = 9 |
      if $kinds[.run.session[1:] | tonumber] == "m" then
        del(.counted, .metrics.instructions_per_req) else . end else . end'
}
sizes c=50 c=50 c=50.5 c=50.5 >h
test_same 'exit 1 regression 2 gate true' "$(found h | xargs)" \
  'half a byte more in counted runs is a change'
test_same exact "$(jq -r 'select(.type == "change").method' records)" 'it needs no test'
sizes m=50 m=50 m=50.5 m=50.5 >h
test_same 'exit 0' "$(found h | xargs)" 'half a byte more in measured runs is not a change'
sizes m=50 m=50 c=42 c=42 >h
test_same 'exit 0' "$(found h | xargs)" 'measured and counted runs are not compared'
test_match '4 values of bytes_per_key left out: counted and measured runs have other keys' \
  text 'a warning says that they have other keys'
sizes m=50 c=42 c=43 c=42 m=50 m=50 >h
test_same 'exit 0' "$(found h | xargs)" 'the kind of runs of the newest commit is used'
test_match '6 values of bytes_per_key' text 'the values of the other kind are left out'
sizes c=42 c=43 >h
test_same 'exit 1
regression 1 gate true' "$(vkb-detect --latest 1 -f jsonl:records h >/dev/null; echo "exit $?"
    jq -r 'select(.type == "change") | "\(.kind) \(.index) \(.class) \(.new)"' records)" \
  '--latest reports such a change, too'

# --- vkb-history

counts 4700 4855 4855 >h
test_that 'vkb-history archives such runs' vkb-history add archive h
test_that 'vkb-history writes their pages' vkb-history site archive site
perl -0pe 's/<[^>]*>/ /g; s/\s+/ /g' site/index.html >words
test_match 'Open regressions .* \+3\.3% instructions per request 1 case SET \+3\.3% instructions per request [^ ].* 2026-01-02' words \
  'the index has the change with its commit'
sed 's/<[^>]*>/ /g' site/commit/*abc0000001.html >words
test_match 'SET executes 3.3% more instructions per request' words 'the page of the commit has the change'
test_done
