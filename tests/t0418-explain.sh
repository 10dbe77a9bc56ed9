#!/bin/sh
# vkb-compare --explain: the steps from the runs to the verdict, with the numbers of the
# records.
# sanitize: explanations.
. "${0%/*}/lib.sh"
a=$tests/data/a.jsonl
b=$tests/data/b.jsonl

test_status 1 '--explain does not change the exit status' \
  vkb-compare --explain 'SET*' -f text -f jsonl:deltas "$a" "$b"
cp .out text
test_same 3 "$(grep -c '^SET ' text)" 'there is a part for each judged metric'
test_same 30 "$(grep -c . text)" 'each part has ten lines'
delta() {
  jq -r 'select(.metric == "rps" and .config.command == "SET") | '"$1" deltas
}
# line WORD: prints the line of one metric that begins with this word
line() { sed -n '/^SET.* rps/,/^$/s/^  '"$1"' *//p' text | sed -n "${2:-1}p"; }
test_same "$(delta '.n[0]') runs:" "$(line baseline | cut -d ' ' -f 1,2)" \
  'the number of runs of the baseline'
test_same "$(delta '.se * 1e5 | round / 1e3')" \
  "$(line change | sed 's/.*error \([0-9.]*\)%.*/\1/')" 'the standard error is that of the record'
test_same "$(delta '.df * 10 | round / 10')" \
  "$(line change | sed 's/.*, \([0-9.]*\) degrees.*/\1/')" 'the degrees of freedom are those of the record'
test_same "$(delta '[.ratio, .ci95[], .ci90[]] | map((. - 1) * 1e4 | round / 100) | map(tostring) | join(" ")')" \
  "$(line change | sed 's/;.*//' | grep -o '[-+][0-9.]*\|to [-+][0-9.]*' | sed 's/to //; s/+//; s/0$//' | paste -sd ' ' -)" \
  'the change and both intervals are those of the record'
test_same "$(delta '.probability * 1000 | round / 10 | if . > 99.9 then ">99.9" else tostring end')" "$(line chance | sed 's/% .*//')" 'the probability is that of the record'
test_match '^  margin     2% \(table\)$' text 'the margin has its source'
test_match '^  verdict    regression$' text 'the last line is the verdict'
test_status 2 'a case that does not exist' vkb-compare --explain NONE "$a" "$a"
test_match "no compared case matches 'NONE'; the cases are: '" .err \
  'the error lists the cases'
test_done
