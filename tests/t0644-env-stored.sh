#!/bin/sh
# vkb-pgpush stores env records in a separate table, each once.
# sanitize: stored states.
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

test_that 'a dry run with env records is accepted' vkb-pgpush --dry-run both
test_match '^CREATE TABLE vkb_envs ' .out 'the dry run prints the statement for the table'
runs s1 >alone
test_that 'a dry run without env records is accepted' vkb-pgpush --dry-run alone
test_same 0 "$(grep -c vkb_envs .out)" 'without env records the table is not made'

test_that 'a push with env records is accepted' vkb-pgpush both
test_match ': 4 runs stored, .*; vkb_envs: 2 of 2 env records stored$' .err 'the message counts the env records'
test_same 2 "$(count)" 'each env record is a row'
test_that 'the same records are accepted again' vkb-pgpush both
test_match ': 0 runs stored, .*; vkb_envs: 0 of 2 env records stored$' .err 'the message says that no env record is new'
test_same 2 "$(count)" 'no env record is stored twice'
test_same "$(jq -cS . a)" \
  "$(sql "SELECT record FROM vkb_envs WHERE vkb_session = 's1'" | jq -cS .)" \
  'the env record is stored unchanged'
test_same "$(jq -r '.env.host + " " + (.time[:19] | sub("T"; " "))' a)" \
  "$(sql "SET timezone = 'UTC'" "SELECT host || ' ' || to_char(\"time\", 'YYYY-MM-DD HH24:MI:SS')
    FROM vkb_envs WHERE vkb_session = 's1'")" 'host and time are columns'
test_same '2 performance
2 powersave' "$(sql "SELECT count(*) || ' ' || (e.record->'env'->>'governor')
  FROM benchmark_metrics r JOIN vkb_envs e USING (vkb_session)
  GROUP BY e.record->'env'->>'governor' ORDER BY 1")" 'the session joins the runs with their env record'
test_that 'an env record without a session is accepted' vkb-pgpush bare
test_same '3 4' "$(count) $(sql 'SELECT count(*) FROM benchmark_metrics')" 'an env record without a session is a row'
jq -c '.time = "no time" | .env.host = 7' bare >odd
test_that 'an env record with an invalid time and host is accepted' vkb-pgpush odd
test_same 1 "$(sql "SELECT count(*) FROM vkb_envs WHERE host IS NULL AND \"time\" IS NULL")" \
  'the invalid time and host are not in the columns'
printf '{"type":"env","v":1,"time":"t","env":[]}\n' >bad
test_status 2 'an invalid env record is an error' vkb-pgpush bad a
test_match "bad:1: .*'env' is not of type object" .err 'the error names the line and the key'

# All or nothing, and no more rights than needed.
sql 'CREATE ROLE weak LOGIN' 'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO weak' \
  'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO weak' >/dev/null
jq -c '.session = "s3"' bare >c
PGUSER=weak
export PGUSER
test_that 'select and insert are enough' vkb-pgpush c
PGUSER=postgres
test_same 5 "$(count)" 'the env record is stored'
sql 'REVOKE INSERT ON vkb_envs FROM weak'
{ jq -c '.session = "s4"' bare; runs s4; } >d
PGUSER=weak
test_status 2 'a push without the right to insert env records is an error' vkb-pgpush d
PGUSER=postgres
test_same 4 "$(sql 'SELECT count(*) FROM benchmark_metrics')" 'no run is stored without that right'
test_that 'the runs are exported' vkb-pgpush --export
test_same 4 "$(wc -l <.out | tr -d ' ')" 'the export has only the runs'
test_done
