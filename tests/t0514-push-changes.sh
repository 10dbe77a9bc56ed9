#!/bin/sh
# vkb-pgpush keeps the change records of vkb-detect, each once, as it is now.
. "${0%/*}/lib.sh"
test_postgres 'change records'

perl "$tests/history.pl" core | grep '"command":"SET"' >runs
vkb-detect --format jsonl:changes runs >/dev/null
n=$(wc -l <changes | tr -d ' ')
test_match '"kind":"regression"' changes 'there are some'
count() { sql 'SELECT count(*) FROM vkb_changes'; }

test_that 'dry run' vkb-pgpush --dry-run runs changes
test_match '^CREATE TABLE vkb_changes ' .out 'says the table'
test_that 'a push' vkb-pgpush runs changes
test_match "vkb_changes: $n stored\$" .err 'counts'
test_same "$n" "$(count)" 'each is a row'
test_same "$(jq -cS . changes | sort)" "$(sql 'SELECT record FROM vkb_changes' | jq -cS . | sort)" \
  'the records are whole'
test_same "$(jq -r '[.key, (.first_seen[:19] | sub("T"; " "))] | join("|")' changes | sort)" \
  "$(sql "SELECT vkb_key, to_char(\"time\", 'YYYY-MM-DD HH24:MI:SS') FROM vkb_changes" | sort)" \
  'key and time are columns'
test_same 0 "$(sql 'SELECT count(*) FROM vkb_changes c WHERE NOT EXISTS
  (SELECT FROM benchmark_metrics m WHERE m.vkb_case = c.vkb_case)')" 'they lead to runs'

# Looked at again: one is gone, one is another, one is new.
{
  sed -n '2s/"ratio":[0-9.]*/"ratio":0.5/p' changes
  jq -c 'select(.metric == "rps") | .key = "new"' changes | head -n 1
} >later
sql "UPDATE vkb_changes SET seen_at = '2026-01-01', created_at = '2026-01-01'" >/dev/null
test_that 'a later one' vkb-pgpush later
test_same "$((n + 1))" "$(count)" 'nothing is doubled'
test_same "0.5|f
$(jq -r 'select(.key == "new").ratio' later)|t" "$(sql "SELECT (record->>'ratio')::float8, created_at > '2026-01-02' FROM vkb_changes
  WHERE seen_at > '2026-01-02' ORDER BY vkb_key = 'new'")" 'those that were seen are known'
test_that 'of another table' vkb-pgpush --table other later
test_same "$((n + 3))" "$(count)" 'they are others'
jq -c 'del(.key, .first_seen)' later >bare
test_that 'without a key' vkb-pgpush bare bare
test_same "$((n + 5))" "$(count)" 'the whole is the key'
test_that 'what is not a table of runs stays' vkb-pgpush --export --table core
test_same "$(wc -l <runs)" "$(wc -l <.out)" 'an export has the runs alone'
test_done
