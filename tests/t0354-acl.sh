#!/bin/sh
# vkb-load on servers that allow few commands, as managed services do: which commands it
# needs, what works without others, and that it writes nothing that it could not remove.
# vkb-servers(7) has the list.
. "${0%/*}/lib.sh"

test_server 'a server that allows little'
base='"keyspacelen":[200],"data_sizes":[16],"pipelines":[4],"clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[1000]'
printf '[{"commands":["SET","GET"],%s}]\n' "$base" >c.json
printf '{"type":"spec","v":1,"id":"other","config":{}}\n' >spec
test_other spec
cli() { valkey-cli -p "$port" "$@"; }
VKB_PASSWORD=secret
export VKB_PASSWORD
# user NAME RULE ...: makes a user with these rights
user() {
  name=$1
  shift
  test_same OK "$(cli acl setuser "$name" reset on '>secret' '~*' '&*' "$@")" "a user '$name'"
}
# as NAME ARGUMENT ...: runs vkb-load as this user
as() {
  VKB_USER=$1
  export VKB_USER
  shift
  vkb-load -q --port "$port" --runs 1 "$@"
}
keys() { cli info keyspace | sed -n 's/^\(db[0-9]*:keys=[0-9]*\).*/\1/p' | xargs; }
cli set theirs kept >/dev/null

# --- a managed service without CONFIG, FLUSHALL and KEYS

user managed +@all -@admin -@dangerous +info
test_that 'a managed service is measured with --no-flush' as managed --no-flush c.json
cp .out runs
test_same 'ok ok' "$(jq -r .status runs | xargs)" 'all runs are ok'
test_same '2' "$(jq -s 'map(select(.metrics.used_memory_bytes > 0 and .metrics.cmd_get_calls + .metrics.cmd_set_calls > 0)) | length' runs)" \
  'the records have the memory and the counters of the server'
test_same 'db0:keys=1' "$(keys)" 'no key of vkb-load is left'
test_status 2 'a managed service with a key, without --no-flush' as managed c.json
test_match 'holds 1 key .*--no-flush leaves it' .err 'the error suggests --no-flush'
cli del theirs >/dev/null
test_status 2 'an empty managed service, without --no-flush' as managed c.json
test_match 'FLUSHALL: NOPERM.*--no-flush measures without emptying' .out 'the error suggests --no-flush'
cli flushall >/dev/null
cli set theirs kept >/dev/null
printf '[{"commands":["SET"],%s,"custom-server-configs":{"maxmemory-policy":"allkeys-lru"}}]\n' "$base" >set.json
test_status 2 'a case with server settings on a managed service' as managed --no-flush set.json
test_match "maxmemory-policy 'allkeys-lru', the server does not say" .out 'the error says that the setting is unknown'

# --- the smallest set of commands, from the page

rules=$(mandoc -T utf8 -O width=200 "$top/man/vkb-servers.7" 2>/dev/null | sed 's/.\x08//g' |
  sed -n 's/^ *ACL SETUSER bench on >secret //p')
test_match '-@all \+info' "$(echo "$rules" >least; echo least)" 'the page has the rules of a user'
cli acl setuser least reset on '>secret' >/dev/null
# shellcheck disable=SC2086 # rules
test_same OK "$(cli acl setuser least $rules)" 'the server accepts these rules'
test_that 'a load with this user succeeds' as least --no-flush c.json
test_same '["ok",100] ["ok",null]' "$(jq -c '[.status, .metrics.hit_rate_percent]' .out | sort -r | xargs -n 1 | sort | xargs |
  sed 's/\[ok/["ok"/g')" 'reads find what was written'
test_same 'db0:keys=1' "$(keys)" 'no key is left'
# Keys of different sizes are sized by SCAN.
sizes() { as all --flush --command 'HSET h:{key} f v' -r 2000 -n 20000 -P 50; }
user all +@all
test_that 'a load whose keys are sized' sizes
test_same '[true,true]' "$(jq -c '.metrics | [has("bytes_per_key"), has("payload_bytes_per_key")]' .out)" 'it has their payload'
user all +@all -scan
test_that 'the same without scan' sizes
test_same '[true,false]' "$(jq -c '.metrics | [has("bytes_per_key"), has("payload_bytes_per_key")]' .out)" \
  'without scan the payload is not known'
cli set theirs kept >/dev/null
for command in info scan unlink get set; do
  # shellcheck disable=SC2086 # rules
  cli acl setuser less reset on '>secret' $rules "-$command" >/dev/null
  test_status 2 "without $command" as less --no-flush c.json
  cat .out .err >said
  test_match "NOPERM.*'$command'" said "the message names $command"
  case $command in
  info | scan | unlink)
    test_empty_file .out "without $command nothing is measured"
    test_same 'db0:keys=1' "$(keys)" "without $command nothing is written"
    ;;
  *)
    test_same 'db0:keys=1' "$(keys)" "without $command nothing is left"
    ;;
  esac
done
test_match "could not be removed: nothing is measured|answered" said 'the last error says what happened'

# --- Redis

if command -v redis-server >/dev/null; then
  unset VKB_PASSWORD VKB_USER
  test_that 'Redis is started like Valkey' vkb-load -q --runs 1 --server redis-server c.json
  test_same '["ok",7]' "$(jq -c '[.status, (.subject.server_version | split(".")[0] | tonumber)]' .out | sort -u)" \
    'the record has the version of Redis'
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    valkey "$server" redis "$(command -v redis-server)" >servers.jsonl
  vkb-load -q --runs 4 --builds servers.jsonl c.json >both
  test_same 16 "$(grep -c '"status":"ok"' both)" 'Valkey and Redis are measured interleaved'
  vkb-compare --baseline valkey both >text
  test_result "$(($? > 1))" 'vkb-compare compares them'
  test_match '^Comparing redis against valkey$' text 'the report has their names'
else
  test_skip 'Redis' redis-server
fi
test_done
