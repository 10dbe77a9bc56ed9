#!/bin/sh
# vkb-policy(5): margins, directions, classes, waivers, exact metrics, and policies that
# are refused.
. "${0%/*}/lib.sh"

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl
SOURCE_DATE_EPOCH=1795000000 # 2026-11-18
export SOURCE_DATE_EPOCH

policy() { printf '{"rules":[%s]}\n' "$1" >policy.json; }

# judged FILE...: prints "case metric verdict waived" for each row that is not
# equivalent
judged() {
  vkb-compare --policy policy.json -f jsonl "$@" >out 2>err
  echo "exit $?"
  jq -r 'select(.metric and .verdict != "equivalent") |
    "\(.config.command) \(.metric) \(.verdict) \(.waiver.reason // "-")"' out
}

# --- policies that are refused

# refuse TEXT PATTERN WHAT: such a policy is an error
refuse() {
  printf '%s\n' "$1" >policy.json
  test_status 2 "refused: $3" vkb-compare -v --policy policy.json "$a" "$b"
  test_match "^vkb-compare: policy\\.json: $2" .err "$3: says where"
}
refuse '{"ruels":[]}' "policy\\.ruels: unknown key, did you mean 'rules'" 'a misspelt key'
refuse '[]' 'policy: must be an object' 'an array'
refuse '{}' "policy: lacks 'rules'" 'no rules'
refuse '{"rules":{}}' 'rules: must be an array' 'rules that are an object'
refuse '{"rules":[{"margin":"5%"},1]}' 'rules\[1\]: must be an object' 'a number'
refuse '{"rules":[{"metrc":"rps","margin":"5%"}]}' \
  "rules\\[0\\]\\.metrc: unknown key, did you mean 'metric'" 'a key of a rule'
refuse '{"rules":[{"margin":"+102000000%"}]}' 'rules\[0\]\.margin: ' \
  'a margin of more than a million'
refuse '{"rules":[{"metric":"rps"}]}' 'rules\[0\]: has no effect: it lacks' 'an empty rule'
refuse '{"rules":[{"metric":3,"margin":"5%"}]}' \
  'rules\[0\]\.metric: must be a non-blank string' 'a metric that is a number'
refuse '{"rules":[{"case":[],"margin":"5%"}]}' \
  'rules\[0\]\.case: must be a pattern' 'a case that is an array'
for m in '"5"' 0.05 '"100%"' '"-5"' '"x%"' '"++5%"'; do
  refuse "{\"rules\":[{\"margin\":$m}]}" \
    'rules\[0\]\.margin: must be a percentage' "margin $m"
done
refuse '{"rules":[{"margin":"+5%","better":"higher"}]}' \
  "rules\\[0\\]\\.better: contradicts the sign" 'two directions'
refuse '{"rules":[{"margin":"-5%","better":"lower"}]}' \
  "rules\\[0\\]\\.better: contradicts the sign" 'two directions, the other way'
refuse '{"rules":[{"better":"more"}]}' \
  'rules\[0\]\.better: must be one of "higher", "lower", "neither"' 'a direction'
refuse '{"rules":[{"class":"gates"}]}' \
  'rules\[0\]\.class: must be one of "info", "gate", "primary"' 'a class'
refuse '{"rules":[{"session":{"sd":"2%"}}]}' \
  "rules\\[0\\]\\.session: lacks 'df'" 'sessions without degrees of freedom'
refuse '{"rules":[{"session":{"df":3}}]}' \
  "rules\\[0\\]\\.session: lacks 'sd'" 'sessions without a standard deviation'
for sd in 2 '"2"' '"-1%"' '"100%"'; do
  refuse "{\"rules\":[{\"session\":{\"sd\":$sd,\"df\":3}}]}" \
    'rules\[0\]\.session\.sd: must be a percentage' "sessions that differ by $sd"
done
for df in 0 '"3"' 1e7; do
  refuse "{\"rules\":[{\"session\":{\"sd\":\"2%\",\"df\":$df}}]}" \
    'rules\[0\]\.session\.df: must be degrees of freedom' "$df degrees of freedom"
done
refuse '{"rules":[{"assume":"noise"}]}' \
  'rules\[0\]\.assume: must be "exact"' 'an assumption'
refuse '{"rules":[{"margin":"1%"},{"margin":"1%"},{"waiver":{"reason":"r","expires":"2026-02-29"}}]}' \
  'rules\[2\]\.waiver\.expires: must be a day' 'a day that does not exist'
refuse '{"rules":[{"waiver":{"expires":"2026-12-31"}}]}' \
  "rules\\[0\\]\\.waiver: lacks 'reason'" 'no reason'
refuse '{"rules":[{"waiver":{"reason":" ","expires":"2026-12-31"}}]}' \
  'rules\[0\]\.waiver\.reason: must be a non-blank' 'a blank reason'
refuse '{"rules":[{"waiver":{"reason":"r"}}]}' \
  "rules\\[0\\]\\.waiver: lacks 'expires'" 'no end'
refuse '{"rules":[{"waiver":{"reason":"r","expires":"2026-12-31","limit":"0%"}}]}' \
  'rules\[0\]\.waiver\.limit: must be a percentage' 'no limit'
refuse '{"rules":[}' '*' 'no JSON'
test_match '^vkb-compare: policy\.json:1:11: not JSON' .err \
  'an error of JSON has its line and column'
printf '{"rules": [{"metric": "rps",\n "metric": "p50"}]}' >policy.json
test_status 2 'a key that is there twice is an error' vkb-compare -v --policy policy.json "$a" "$b"
test_match '^vkb-compare: policy\.json:2:2: not JSON: duplicate key' .err \
  'the error has the place of the second key'
perl -e 'print "{", (map qq("k$_":1,\n ), 1 .. 40), qq("\\u006b7":1}\n)' >policy.json
test_status 2 'a key that is there twice with escapes is an error' \
  vkb-compare -v --policy policy.json "$a" "$b"
test_match '^vkb-compare: policy\.json:41:2: not JSON: duplicate key' .err \
  'the error has the place of the escaped key'
test_status 2 'a missing policy is an error' vkb-compare -v --policy no-such "$a" "$b"
refuse '{"rules":[{"margin":"x"},{"class":"x"}]}' 'rules\[1\]' 'two problems'
test_same 2 "$(wc -l <.err | tr -d ' ')" 'two mistakes are two errors'
SOURCE_DATE_EPOCH=today test_status 2 'a SOURCE_DATE_EPOCH that is not a number is an error' \
  vkb-compare -v "$a" "$b"
test_match "SOURCE_DATE_EPOCH: 'today'" .err 'the error names SOURCE_DATE_EPOCH and its value'

# --- margins, classes, directions

policy ''
test_same "$(vkb-compare -f jsonl "$a" "$b" | jq -c 'select(.metric)')" \
  "$(vkb-compare --policy policy.json -f jsonl "$a" "$b" | jq -c 'select(.metric)')" \
  'a policy without rules changes nothing'
policy '{"margin":"15%"}'
test_same 'exit 0' "$(judged "$a" "$b")" 'a margin for all metrics'
test_same '"policy"' "$(jq '.margin_from // empty' out | sort -u)" \
  'the records say that the margin is from the policy'
test_same 'option policy' "$(vkb-compare -v --policy policy.json --margin rps=3% \
  -f jsonl "$a" "$b" | jq -r '.margin_from // empty' | sort -u | xargs)" \
  '--margin replaces the policy'
policy '{"case":"SET*","margin":"15%"}, {"metric":"p[59]?_*","margin":"15%"}'
test_same 0 "$(judged "$a" "$b" | grep -c 'SET')" 'a rule with a pattern of cases'
policy '{"case":{"command":"SET"},"class":"info"}'
test_same 'exit 0' "$(judged "$a" "$b" | sed 1q)" 'a regression of class info does not fail'
test_same 'info' "$(jq -r 'select(.config.command == "SET").class' out | sort -u)" \
  'metrics of class info are shown'
policy '{"metric":"avg_latency_ms","class":"gate"}'
judged "$a" "$b" >/dev/null
test_same 'gate' \
  "$(jq -r 'select(.metric == "avg_latency_ms").class' out | sort -u)" \
  'a metric becomes a gate by a rule'

# one LABEL METRIC VALUE...: prints run records of one case
one() {
  label=$1 metric=$2
  shift 2
  block=0
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"X"},"metrics":{"%s":%s},"status":"ok","run":{"session":"s","index":%d,"block":%d}}\n' \
      "$label" "$metric" "$v" "$((index += 1))" "$block"
    block=$index
  done
}
one x load 100 101 99 100 >base
one y load 109 110 108 109 >new
policy '{"metric":"load","margin":"+10%","class":"gate"}'
test_same 'exit 0' "$(judged base new | sed 1q)" '+10%: 9% more passes'
one y load 112 113 111 112 >new
test_same 'exit 1
X load regression -' "$(judged base new)" '12% more does not'
test_same 'exit 0
X load improvement -' "$(judged new base)" 'less is better'
policy '{"metric":"load","margin":"-10%","class":"gate"}'
test_same 'exit 0
X load improvement -' "$(judged base new)" '-10%: more is better'
one y load 89 88 90 89 >new
test_same 'exit 1
X load regression -' "$(judged base new)" '11% less is not'
test_status 1 '--margin with a sign' \
  vkb-compare -v -m load --margin load=-10% base new
one x load 100 101 99 100 >base
one y load 180 182 179 181 >new
policy '{"metric":"load","margin":"+100%","class":"gate"}'
test_same 'exit 0' "$(judged base new | sed 1q)" '+100%: less than twice as much is not a regression'

# --- waivers

policy '{"case":{"command":"SET"},"waiver":{"reason":"known","expires":"2026-11-18"}}'
test_same 'exit 0
SET rps regression known' "$(judged "$a" "$b" | grep 'exit\|SET rps')" \
  'a waived regression does not fail'
test_same true "$(jq 'select(.type == "comparison") | .verdicts.waived > 0 and (.verdicts | has("regression") | not)' out)" \
  'waived regressions are counted separately'
vkb-compare -v --policy policy.json "$a" "$b" >text
test_match 'SET +rps .*regression, waived until 2026-11-18: known' text \
  'the row of a waived regression has the day and the reason'
test_match ', 3 waived' text \
  'the head of the report counts the waived regressions'
policy '{"waiver":{"reason":"known","expires":"2026-11-18"}}'
grep '"command":"SET"' "$a" >base
grep '"command":"SET"' "$b" >new
vkb-compare -v --policy policy.json -m rps -f text:text -f jsonl:out base new
test_match '^Waived: SET [(]6.2% slower[)]' text \
  'a report of waived regressions alone begins with them'
test_match '^1 waived .1 result of 1 case' text \
  'a report of waived regressions alone counts them'
vkb-report -o html base new out
test_match 'class="lead">Waived: ' html 'the page of waived regressions alone begins with them'
test_absent '[Nn]othing was judged' text 'the text does not say that nothing was judged'
test_absent '[Nn]othing was judged' html 'the page does not say that nothing was judged'
grep '"command":"[SG]ET"' "$a" >base
cat new >both
grep '"command":"GET"' "$a" | sed 's/"ref":"unstable","commit":"[^"]*"/"ref":"my-branch","commit":"'"$(jq -r .subject.commit new | sed 1q)"'"/' >>both
vkb-compare -v --policy policy.json -m rps base both >text 2>err
test_match '^Waived: SET ' text 'an unchanged case does not hide a waived regression'
policy '{"case":{"command":"SET"},"waiver":{"reason":"known","expires":"2026-11-18"}}'
test_same 'exit 1' "$(SOURCE_DATE_EPOCH=1795100000 judged "$a" "$b" | sed 1q)" \
  'on the next day the waiver has expired'
test_same '["policy.json: rules[0]","expired","known","2026-11-18"]' \
  "$(jq -c 'select(.waivers).waivers[] | [.rule, .what, .reason, .expires]' out)" \
  'an expired waiver is listed with its rule'
policy '{"case":"SET","metric":"rps","waiver":{"reason":"known","expires":"2026-12-31","limit":"6%"}}'
test_same 'SET rps regression -' "$(judged "$a" "$b" | grep 'SET rps')" \
  'a regression beyond the limit of its waiver fails'
test_same exceeded "$(jq -r 'select(.waivers).waivers[].what' out)" \
  'a waiver whose limit is exceeded is listed'
vkb-compare -v --policy policy.json "$a" "$b" >text
test_match '^warning: policy\.json: rules\[0\]: the regression exceeds its waiver: known' text \
  'a warning is printed if the regression exceeds its waiver'
policy '{"case":"SET","metric":"rps","waiver":{"reason":"known","expires":"2026-12-31","limit":"7%"}}'
test_same 'SET rps regression known' "$(judged "$a" "$b" | grep 'SET rps')" \
  'a regression within the limit does not fail'
policy '{"case":"SET","waiver":{"reason":"known","expires":"2026-12-31"}},{"case":"NONE","margin":"3%"}'
test_that 'a waiver without a regression is accepted' vkb-compare -v --policy policy.json "$a" "$a"
test_match '^warning: policy\.json: rules\[0\]: there is nothing to waive: known' .out \
  'a warning is printed if there is nothing to waive'
test_match '^warning: policy\.json: rules\[1\] matches nothing here' .out \
  'a warning is printed if a rule matches nothing'
# shellcheck disable=SC2016 # backticks that are data
policy '{"case":"SET","waiver":{"reason":"a|b `c` <d> @e \u001b[31m","expires":"2026-12-31"}}'
for f in text markdown; do
  vkb-compare --policy policy.json -f $f "$a" "$b" >hostile
  test_empty "$(tr -cd '\033' <hostile)" "the control characters of a reason are escaped ($f)"
done
# shellcheck disable=SC2016
test_empty "$(grep -F -e '<d>' -e '`c`' -e ' @e' hostile)" \
  'the reason of a waiver is escaped in Markdown'

one x p99_latency_ms 1 1.01 0.99 1 >base
one y p99_latency_ms 1.1 1.111 1.089 1.1 >new
policy '{"waiver":{"reason":"known","expires":"2026-12-31","limit":"10%"}}'
test_same 'exit 0
X p99_latency_ms regression known' "$(judged base new)" 'the limit itself is covered'
policy '{"class":"info"}'
test_status 2 'a comparison of info metrics only is an error' \
  vkb-compare -v --policy policy.json -m all base new
test_match 'nothing was judged: no gate metric is on both sides' .err \
  'the error says that there was no gate metric'

# --- exact metrics

one x size_bytes 1000 >base
one y size_bytes 1021 >new
policy '{"metric":"size_bytes","assume":"exact","class":"gate"}'
test_same 'exit 1
X size_bytes regression -' "$(judged base new)" 'one run a side is enough'
one y size_bytes 1019 >new
test_same 'exit 0' "$(judged base new)" 'one run a side within the margin is equivalent'
one y size_bytes 1030 1031 1032 >new
vkb-compare -v --policy policy.json base new >text
test_match 'regression.* assumed exact, but judged by the spread' text 'runs that vary have a note'
one y size_bytes 1010 1030 >new
test_same 'exit 0
X size_bytes inconclusive -' "$(judged base new)" 'runs that vary around the margin show no change'
one x size_bytes 0 >base
test_same 'exit 1
X size_bytes regression -' "$(judged base new)" 'a rise from zero is a regression'
one y size_bytes 0 >new
test_same 'exit 0' "$(judged base new)" 'zero on both sides is equivalent'


# --- the primary metric of a case

primary() {
  vkb-compare --policy policy.json -f jsonl:out "$a" "$b" >/dev/null 2>err
  jq -r 'select(.primary) | "\(.config.command) \(.metric)"' out | sort
}
policy '{"case":"SET*","metric":"p50_latency_ms","class":"primary"}'
want=$(primary | sed 's/SET rps/SET p50_latency_ms/')
test_same "$(vkb-compare -f jsonl "$a" "$b" | jq -r 'select(.primary) |
  "\(.config.command) \(.metric)"' | sed 's/SET rps/SET p50_latency_ms/' | sort)" "$want" \
  'the policy names the primary metric of a case'
test_match '^SET p50_latency_ms$' /dev/stdin 'SET is judged by this metric' <<END
$want
END
policy '{"case":"SET*","metric":"p50_latency_ms","class":"primary"},
  {"metric":"p50_latency_ms","class":"gate"}'
test_match '^SET rps$' /dev/stdin 'a later rule replaces the class' <<END
$(primary)
END
policy '{"metric":"avg_latency_ms","class":"primary"}'
primary >names
test_same 'avg_latency_ms' "$(cut -d ' ' -f 2 names | sort -u)" \
  'a metric of class info becomes primary by a policy'
policy '{"metric":"p[59]?_*","class":"primary"}'
primary >names
test_same 'p50_latency_ms p95_latency_ms p99_latency_ms' "$(sed -n 's/^SET //p' names | sort | paste -sd ' ' -)" 'a case may have several primary metrics'
test_done
