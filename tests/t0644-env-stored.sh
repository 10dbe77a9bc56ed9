#!/bin/sh
# vkb-pgpush keeps env records in a table of their own, each once.
. "${0%/*}/lib.sh"
. "$tests/machine.sh"
test_postgres 'env records'

machine m
VKB_ENV_ROOT=$tree vkb-env >bare
jq -c '.session = "s1"' bare >a
jq -c '.session = "s2" | .env.governor = "powersave"' bare >b
runs() { # runs SESSION
  for i in 1 2; do
    printf '{"type":"run","v":1,"subject":{"commit":"c"},"config":{"command":"SET"},"run":{"session":"%s","index":%d},"env":{"governor":"x"},"metrics":{"rps":100%d},"status":"ok"}\n' "$1" $i $i
  done
}
{ cat a; runs s1; cat b; runs s2; } >both
count() { sql 'SELECT count(*) FROM vkb_envs'; }

test_that 'dry run' vkb-pgpush --dry-run both
test_match '^CREATE TABLE vkb_envs ' .out 'says the table'
runs s1 >alone
test_that 'of runs alone' vkb-pgpush --dry-run alone
test_same 0 "$(grep -c vkb_envs .out)" 'the table of environments is not made'

test_that 'a push' vkb-pgpush both
test_match ': 4 runs stored, .*; vkb_envs: 2 of 2 env records stored$' .err 'counts'
test_same 2 "$(count)" 'each is a row'
test_that 'the same again' vkb-pgpush both
test_match ': 0 runs stored, .*; vkb_envs: 0 of 2 env records stored$' .err 'changes nothing'
test_same 2 "$(count)" 'nothing is doubled'
test_same "$(jq -cS . a)" \
  "$(sql "SELECT record FROM vkb_envs WHERE vkb_session = 's1'" | jq -cS .)" \
  'the record is whole'
test_same "$(jq -r '.env.host + " " + (.time[:19] | sub("T"; " "))' a)" \
  "$(sql "SET timezone = 'UTC'" "SELECT host || ' ' || to_char(\"time\", 'YYYY-MM-DD HH24:MI:SS')
    FROM vkb_envs WHERE vkb_session = 's1'")" 'host and time are columns'
test_same '2 performance
2 powersave' "$(sql "SELECT count(*) || ' ' || (e.record->'env'->>'governor')
  FROM benchmark_metrics r JOIN vkb_envs e USING (vkb_session)
  GROUP BY e.record->'env'->>'governor' ORDER BY 1")" 'runs lead to it'
test_that 'one without a session or runs' vkb-pgpush bare
test_same '3 4' "$(count) $(sql 'SELECT count(*) FROM benchmark_metrics')" 'is a row as well'
jq -c '.time = "no time" | .env.host = 7' bare >odd
test_that 'one with an odd time and host' vkb-pgpush odd
test_same 1 "$(sql "SELECT count(*) FROM vkb_envs WHERE host IS NULL AND \"time\" IS NULL")" \
  'has none'
printf '{"type":"env","v":1,"time":"t","env":[]}\n' >bad
test_status 2 'a bad one' vkb-pgpush bad a
test_match "bad:1: .*'env' is not of type object" .err 'is named'

# All or nothing, and no more rights than needed.
sql 'CREATE ROLE weak LOGIN' 'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO weak' \
  'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO weak' >/dev/null
jq -c '.session = "s3"' bare >c
PGUSER=weak
export PGUSER
test_that 'select and insert are enough' vkb-pgpush c
PGUSER=postgres
test_same 5 "$(count)" 'it is stored'
sql 'REVOKE INSERT ON vkb_envs FROM weak'
{ jq -c '.session = "s4"' bare; runs s4; } >d
PGUSER=weak
test_status 2 'without the right' vkb-pgpush d
PGUSER=postgres
test_same 4 "$(sql 'SELECT count(*) FROM benchmark_metrics')" 'nothing is stored'
test_that 'export has the runs' vkb-pgpush --export
test_same 4 "$(wc -l <.out | tr -d ' ')" 'alone'
test_done
