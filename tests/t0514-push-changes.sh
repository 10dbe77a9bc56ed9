#!/bin/sh
# vkb-pgpush stores the change records of vkb-detect: each key once, with the last
# values.
. "${0%/*}/lib.sh"
test_postgres 'change records'

perl "$tests/history.pl" core | grep '"command":"SET"' >runs
vkb-detect --format jsonl:changes runs >/dev/null
n=$(wc -l <changes | tr -d ' ')
test_match '"kind":"regression"' changes 'vkb-detect finds a regression'
count() { sql 'SELECT count(*) FROM vkb_changes'; }

test_that 'a dry run is accepted' vkb-pgpush --dry-run runs changes
test_match '^CREATE TABLE vkb_changes ' .out 'a dry run prints the statement for the table'
test_that 'a push of runs and changes is accepted' vkb-pgpush runs changes
test_match "vkb_changes: $n stored\$" .err 'the message has the number of changes'
test_same "$n" "$(count)" 'each change is a row'
test_same "$(jq -cS . changes | sort)" "$(sql 'SELECT record FROM vkb_changes' | jq -cS . | sort)" \
  'the records are stored unchanged'
test_same "$(jq -r '[.key, (.first_seen[:19] | sub("T"; " "))] | join("|")' changes | sort)" \
  "$(sql "SELECT vkb_key, to_char(\"time\", 'YYYY-MM-DD HH24:MI:SS') FROM vkb_changes" | sort)" \
  'key and time are columns'
test_same 0 "$(sql 'SELECT count(*) FROM vkb_changes c WHERE NOT EXISTS
  (SELECT FROM benchmark_metrics m WHERE m.vkb_case = c.vkb_case)')" 'each change has runs of its case'

# A later result: one change is missing, one has another ratio, one is new.
{
  sed -n '2s/"ratio":[0-9.]*/"ratio":0.5/p' changes
  jq -c 'select(.metric == "rps") | .key = "new"' changes | head -n 1
} >later
sql "UPDATE vkb_changes SET seen_at = '2026-01-01', created_at = '2026-01-01'" >/dev/null
test_that 'a later result is accepted' vkb-pgpush later
test_same "$((n + 1))" "$(count)" 'only the new change is added'
test_same "0.5|f
$(jq -r 'select(.key == "new").ratio' later)|t" "$(sql "SELECT (record->>'ratio')::float8, created_at > '2026-01-02' FROM vkb_changes
  WHERE seen_at > '2026-01-02' ORDER BY vkb_key = 'new'")" 'a known change has the new ratio and keeps its first time'
test_that 'changes of another table are accepted' vkb-pgpush --table other later
test_same "$((n + 3))" "$(count)" 'changes of another table are stored separately'
jq -c 'del(.key, .first_seen)' later >bare
test_that 'changes without a key are accepted' vkb-pgpush bare bare
test_same "$((n + 5))" "$(count)" 'without a key a change is stored once for each different record'
test_that 'the table of runs is exported' vkb-pgpush --export --table core
test_same "$(wc -l <runs)" "$(wc -l <.out)" 'the export has only runs'
test_done
