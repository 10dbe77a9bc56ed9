#!/bin/sh
# vkb-compare --deltas: the report of delta records is that of the comparison that wrote
# them; hostile records are escaped or an error.
# sanitize: delta records.
. "${0%/*}/lib.sh"

# same NAME FILE ...: two reports of the comparison equal those of its records
same() {
  name=$1
  shift
  vkb-compare -f markdown:direct.md -f text:direct.txt -f jsonl:deltas "$@" \
    >/dev/null 2>&1
  test_that "$name: the records can be reported" \
    vkb-compare --deltas -f markdown:again.md -f text:again.txt deltas
  test_that "$name: the Markdown is the same" cmp direct.md again.md
  # The records do not have the file of the baseline, which a command of the report
  # names.
  sed -i 's/--again [^ ]* CONFIG/--again BASE CONFIG/' direct.txt
  test_that "$name: the text is the same" cmp direct.txt again.txt
}
# runs LABEL CONFIG ENV VALUE...: prints run records
runs() {
  label=$1 config=$2 env=$3
  shift 3
  for v; do
    printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":%s,"run":{"session":"%s","index":1},"env":{"kernel":"%s"},"metrics":{"rps":%s,"p99_latency_ms":1},"status":"ok"}\n' \
      "$label" "$config" "$label" "$env" "$v"
  done
}
same 'two builds' "$tests/data/a.jsonl" "$tests/data/b.jsonl"
{
  runs a '{"command":"SET","clients":50}' 6.0 10 11 10 11
  runs a '{"command":"GET","clients":50}' 6.0 10 11 10 11
  runs a '{"command":"DEL","clients":50}' 6.0 10 11 10 11
} >base
{
  runs b '{"command":"SET","clients":50}' 6.1 8 8.1 8 8.1
  runs b '{"command":"GET","clients":50}' 6.1 10 11
  runs b '{"command":"INCR","clients":9}' 6.1 10 11 10 11
  printf '{"type":"run","v":1,"subject":{"label":"b"},"config":{"command":"GET","clients":50},"run":{"session":"b","index":3},"status":"failed","error":"it <fell>"}\n'
  printf '{"type":"run","v":1,"subject":{"label":"b"},"config":{"command":"LPOP"},"run":{"session":"b","index":3},"status":"failed","error":"@me"}\n'
  runs c '{"command":"SET","clients":50}' 6.2 12 12.1 12 12.1
} >new
same 'missing cases and runs, and two contenders' base new
cat >policy.json <<'END'
{"rules": [{"metric": "rps", "case": "SET*", "waiver":
  {"reason": "it is [known](https://evil.example)", "expires": "2999-01-01"}},
  {"metric": "no_such", "class": "gate"}]}
END
same 'a waiver and a rule without effect' --policy policy.json base new
same 'a canary that changed' --canary SET base new
# The histograms of t0407.
old=HISTFAAAADR42pNpmSzMwMAAwiDADKUdgJj3h3sEg/0HiMBBvwW9bH/5Gz6y/OW/MYvxL/8JRgAHLQ2H
moved=HISTFAAAADR42pNpmSzMwMAAwiDADKUdgJj3h3sEg/0HiMBBvwW9bH/5Gz6yrJa4MYvxL/8JRgAEkw0+
shifted() {
  printf '{"type":"summary","v":1,"subject":{"label":"%s"},"config":{"command":"SET"},"n":6,"failed":0,"sessions":["s"],"metrics":{"rps":{"n":6,"median":%s,"values":[%s,%s1,%s2,%s3,%s4,%s5],"blocks":[1,2,3,4,5,6],"sessions":[0,0,0,0,0,0]}},"hist":{"latency_ns":"%s"},"quantiles":{"latency_ns":{"50":[1e6,1e6,1e6,1e6,1e6,1e6],"95":[4e6,4.1e6,4.2e6,4.3e6,4.4e6,4.5e6]}}}\n' \
    "$1" "$2" "$2" "$2" "$2" "$2" "$2" "$2" "$3"
}
shifted x 10.0 "$old" >before
shifted y 9.0 "$moved" >after
same 'a shift of the latencies' before after
test_match 'How the latencies moved' again.md 'the shift is in the report of the records'
cp deltas shifts

# --- hostile records: texts stay texts

# shellcheck disable=SC2016,SC1003 # backticks that are data
evil='=1|<script>x</script><!-- vkb-comment: arm64 --> `y` ```mermaid @all &#64;me &commat;me o/r#12 GH-3 !4 ~5 &6 $7 %8 \u202e\u2066\u0085 :tada: mailto:x http://evil.example www.evil.example [a](https://evil.example) ![c](//e) **e** \u001b[31m\r\n/merge\n   /close\n# title\n[ref]: https://evil.example \\'
printf '"%s"' "$evil" >evil.json
vkb-compare -f jsonl:deltas base new 2>/dev/null >/dev/null
jq -c --slurpfile e evil.json 'def evil: $e[0];
  .baseline = {label: evil} | .contender = {label: evil}
  | if .type == "delta" then .config = {command: evil, (evil): evil}
      | .metric = evil | .notes = [evil, evil]
      | .waiver = {rule: evil, reason: evil, expires: evil}
    elif .type == "comparison" then .headline = evil | .method = evil
      | .warnings = (["failed", "unmatched", "environment", "note", evil] |
          map({kind: ., text: evil}))
      | .overall = {(evil): {cases: 3, ratio: 1, ci95: [0, 2]}}
      | .unmatched = [{side: evil, config: {command: evil, k: evil}, n: 1}]
    else . end' deltas >hostile
jq -c --slurpfile e evil.json 'if .type == "shift" then .hist = $e[0] else . end' \
  shifts >>hostile
test_that 'hostile texts in all places' vkb-compare --deltas -f markdown:out.md hostile
test_that 'the Markdown is UTF-8' iconv -f UTF-8 -t UTF-8 -o /dev/null out.md
test_same 0 "$(tr -d '\n' <out.md | tr -d -c '\000-\037\177' | wc -c | tr -d ' ')" \
  'the Markdown has no control characters'
test_absent "$(printf '\342\200[\217\250-\256]|\342\201[\246-\251]|\302\205')" out.md \
  'the Markdown has no direction marks'
test_match 'script' out.md 'the hostile text is shown'
# shellcheck disable=SC2016 # data
for bad in '<script' '<!--' '`' '@all' '@me' '&#64;me' '&commat;' 'r#12' 'GH-3' \
  '!4' '~5' '&6' '$7' '%8' ':tada:' 'mailto:x' '://' 'www.' '](' '![' '**e'; do
  test_same 0 "$(grep -cF -- "$bad" out.md)" "the Markdown has no raw $bad"
done
test_absent '^ *(/|# |\[)' out.md 'no line starts with a command, a heading or a reference'
test_same '6 10' "$(grep '^|.*=1' out.md | tr -cd '|\n' | awk '{ print length }' | sort -nu | xargs)" \
  'a row has as many cells as the header'
test_same "$(grep -c '<details>' out.md)" "$(grep -c '^</details>' out.md)" \
  'each folded part is closed'

# --- numbers of any size, and many records

jq -c 'if .type == "delta" then .ratio = 1e308 | .median = [-1e308, 1e308]
    | .ci95 = [-1e308, 1e308] | .visible = 1e308 | .n = [1000000000, 0]
    | .needed = {runs: 1000000000, minutes: 1e308} | del(.waiver)
  elif .type == "shift" then .ks = {d: 1e308, at: 1e308, w1: -1e308}
    | .quantiles |= map(.baseline = 1e308 | .ratio = -1e308 | .ci95 = [1e308, 1e308])
  else .overall |= map_values(.ratio = 1e308 | .cases = 1000000000) end' shifts >huge
test_that 'numbers of the largest size that JSON has' vkb-compare --deltas -f markdown -f text:huge.txt huge
test_absent '\bnan\b' .out 'no number is NaN'
long=$(perl -e 'print "\@<" x 2000')
jq -c --arg long "$long" 'if .type == "delta" then range(200) as $i | .
    | .metric = $long + "\($i)" | .config.command = $long
  else .warnings = [range(200) | {kind: "failed", text: $long}]
    | .headline = $long | .method = $long end' deltas >lengthy
test_that 'many long names' vkb-compare --deltas -f markdown lengthy
size=$(wc -c <.out)
test_same 1 "$((size <= 65000))" "the report of many long names fits in a comment ($size)"
test_match 'left out: too long for one comment' .out 'the report counts what it leaves out'

# --- records that are not valid

# refused WHAT PATTERN: the records in the file bad are an error, and no report is
# written
refused() {
  test_status 2 "$1: status 2" vkb-compare --deltas -f markdown bad
  test_match "$2" .err "$1: the message says what is wrong"
  test_empty_file .out "$1: no report"
}
# wrong TYPE FILTER PATTERN: records of this type with this change are refused
wrong() {
  jq -c "if .type == \"$1\" then $2 else . end" deltas shifts >bad
  refused "a $1 with $2" "$3"
}
cp "$tests/data/a.jsonl" bad
refused 'runs' 'not a record of vkb-compare --format jsonl'
: >bad
refused 'no records' 'do not end with a comparison record'
sed '$d' deltas >bad
refused 'no comparison record at the end' 'do not end with a comparison'
head -c 2000 deltas >bad
refused 'a record that is cut off' '^vkb-compare: bad:'
echo '### Markdown' >bad
refused 'Markdown' '^vkb-compare: bad:1: '
wrong delta 'del(.config)' "'config'"
wrong delta '.config = 7' "'config'"
wrong delta '.n = [1]' "'n' is not two counts"
wrong delta '.n = [-1, 2]' "'n' is not two counts"
wrong delta '.n = [1e300, 2]' "'n' is not two counts"
wrong delta '.n = [{}, 2]' "'n' is not two counts"
wrong delta '.median = ["1", 2]' "'median' is not two numbers"
wrong delta '.ci95 = []' "'ci95' is not two numbers"
wrong delta '.verdict = "<b>"' "'verdict' is unknown"
wrong delta '.needed = {runs: -1}' "'needed' has no count"
wrong delta '.needed = {runs: 1e18}' "'needed' has no count"
wrong delta '.waiver = {rule: "r"}' "'waiver' lacks its reason or date"
wrong delta '.v = 2' 'version'
wrong comparison '.verdicts.regression = -1' 'not a count'
wrong comparison '.verdicts.waived = "x"' 'not a count'
wrong comparison '.cases = 1e300' 'not a count'
wrong comparison 'del(.headline)' 'of an older vkb-compare'
wrong comparison '.unmatched = [7]' 'has no config'
wrong comparison '.overall = {rps: {cases: -1}}' "'overall' has an invalid result"
wrong comparison '.overall = {rps: {cases: 1, ci95: [1]}}' "'overall' has an invalid result"
wrong comparison '.overall = {rps: {cases: 1, ci95: [1, "2"]}}' "'overall' has an invalid result"
wrong shift '.quantiles[0].ci95 = [1]' "'ci95' is not two numbers"
wrong shift '.quantiles = [range(100) | {percentile: .}]' "'quantiles' has too many"
test_status 2 'a format that needs the runs' vkb-compare --deltas -f csv deltas
test_match "'csv' is not one of text, markdown" .err 'the message lists the formats'
test_status 2 'a file that does not exist' vkb-compare --deltas no-such
test_done
