#!/bin/sh
# vkb-load on a server with data that it did not write: it refuses, or with --flush
# deletes all data, or with --no-flush keeps that data and removes its own.
. "${0%/*}/lib.sh"

test_server 'data of others'
base='"keyspacelen":[200],"data_sizes":[16],"pipelines":[4],"clients":[3],"tls_mode":false,"warmup":0'
printf '[{"commands":["SET","GET"],%s,"cluster_mode":false,"requests":[2000]}]\n' \
  "$base" >c.json
printf '{"type":"spec","v":1,"id":"other","config":{"enable-debug-command":"yes"}}\n' >spec
test_other spec
cli() { valkey-cli -p "$port" "$@"; }
keys() { cli info keyspace | sed -n 's/^\(db[0-9]*:keys=[0-9]*\).*/\1/p' | xargs; }

# --- without --flush and --no-flush

test_that 'an empty server needs no option' vkb-load --port "$port" --runs 1 c.json
cli config set maxclients 2 >/dev/null
test_status 2 'a server that allows fewer connections than clients' \
  vkb-load --port "$port" --runs 1 --case 'SET*' c.json
cli config set maxclients 10000 >/dev/null
test_match "the server answered 'ERR max number of clients reached'.* lost" .err \
  'the error has the answer of the server'
test_empty "$(keys)" 'an empty server is emptied afterwards'
cli -n 3 set theirs 1 >/dev/null
cli -n 3 set other 1 >/dev/null
cli set first 1 >/dev/null
test_status 2 'a server that holds keys is refused' \
  vkb-load --port "$port" --runs 1 -o refused c.json
test_match "the server at 127.0.0.1:$port holds 3 keys \(1 in db0, 2 in db3\), and measuring would delete all of it: --flush allows that, --no-flush " \
  .err 'a refusal names the address, the keys, what would happen and the options'
test_same 'db0:keys=1 db3:keys=2' "$(keys)" 'a refused server keeps its keys'
test_same no "$([ -e refused ] && echo yes || echo no)" 'a refusal leaves no file'
cli del first >/dev/null
test_status 2 'a key in another database counts, too' vkb-load --host localhost \
  --port "$port" --runs 1 c.json
test_match 'holds 2 keys \(2 in db3\)' .err 'the error has the number of keys in that database'
test_status 2 '--flush with --no-flush' vkb-load --port "$port" --flush \
  --no-flush c.json
test_status 2 '--flush without a running server' vkb-load --flush c.json
test_match "are for a running server" .err 'the error says that --flush is for a running server'
test_that '--flush measures' vkb-load --port "$port" --flush --runs 1 c.json
test_empty "$(keys)" '--flush deletes everything'

# Another client writes a key during a session.
cat >slow.json <<END
[{"commands":["SET"],$base,"cluster_mode":false,"duration":0.2}]
END
sed 's/GET/INCR/' c.json >two.json
cat >intruder <<'END'
while read -r line; do
  case $line in *'run 1/3'*) valkey-cli -p "$1" set intruder 1 >/dev/null ;; esac
done
END
mkfifo said
sh intruder "$port" <said &
vkb-load -v --port "$port" --runs 3 slow.json >out 2>said
status=$?
wait $!
if [ "$(cli exists intruder)" = 1 ]; then
  test_same 2 $status 'a key that appears between two runs makes the next run fail'
  test_match 'holds 1 key \(1 in db0\), and measuring would delete' out \
    'the failed run has the reason'
else # the key came during the second run, and was deleted with the others
  test_same 0 $status 'a key that appears during a run is deleted with the others'
fi
cli flushall >/dev/null

# The server is restarted during a run, and loads data of others.
sed 's/0\.2/2/' slow.json >long.json
cli set theirs 1 >/dev/null
cli save >/dev/null
cli flushall >/dev/null
vkb-load --port "$port" --set max_lost=100000 --runs 2 long.json >out 2>err &
load=$!
filled() { [ "$(cli dbsize)" -gt 0 ]; }
wait_until 30 filled
cli debug restart >/dev/null 2>&1
wait "$load"
test_same 2 $? 'a server that is restarted during a run makes the run fail'
test_same 1 "$(cli exists theirs)" 'the loaded data are not deleted'
test_match 'was restarted since it was seen empty, so it is not emptied' err \
  'the message has the reason'
test_match 'holds [0-9]* keys .*--flush allows that' err \
  'a message says what to do about the keys'
cli flushall >/dev/null

# --- --no-flush

cli set theirs kept >/dev/null
cli -n 3 set theirs kept >/dev/null
cli rpush mylist a b >/dev/null
cli acl setuser default -flushall -flushdb >/dev/null
printf '[{"commands":[%s],%s,"cluster_mode":false,"requests":[500]}]\n' \
  "$(named_tests | sed 's/.*/"&"/' | paste -sd ,)" "$base" >all.json
test_status 2 'a server that does not allow FLUSHALL' \
  vkb-load --port "$port" --flush --runs 1 c.json
test_match 'FLUSHALL: NOPERM.*; --no-flush measures without emptying' .out \
  'a failed FLUSHALL points to --no-flush'
cli config resetstat >/dev/null
test_that '--no-flush measures every test' \
  vkb-load --port "$port" --no-flush --runs 1 all.json
test_same "$(named_tests)" "$(jq -r 'select(.status == "ok").config.command' .out)" \
  '--no-flush: every run is ok'
test_same '[100,true]' "$(jq -c 'select(.config.command == "GET") |
  [.metrics.hit_rate_percent, .config.no_flush]' .out)" \
  '--no-flush: reads find their keys, and the record has no_flush'
test_match '^GET-.*-no_flush$' "$(jq -r .id .out >/dev/null 2>&1; vkb-load --plan --no-flush c.json | jq -r .id >ids; echo ids)" \
  '--no-flush: it is part of the id of a case'
test_same 'kept kept a b' "$(cli get theirs) $(cli -n 3 get theirs) $(cli lrange mylist 0 -1 | xargs)" \
  '--no-flush: the keys of others are unchanged'
test_same 'db0:keys=2 db3:keys=1' "$(keys)" '--no-flush: no key of vkb-load is left'
test_empty "$(cli info commandstats | grep cmdstat_flush)" \
  '--no-flush: no FLUSHALL is sent'

# begin: starts a long run, and returns when its keys exist.
ours() { [ "$(cli --scan --pattern 'vkb:*' | head -n 1)" ]; }
begin() {
  vkb-load --port "$port" --no-flush --runs 1 --duration 60s --case 'SET*' \
    c.json >cutoff 2>cutoff.err &
  load=$!
  wait_until 30 ours
}
begin
test_same 0 $? 'the keys of vkb-load begin with vkb:'
kill -TERM "$load"
wait "$load"
test_same 143 $? 'a session is interrupted'
test_same 'db0:keys=2 db3:keys=1' "$(keys)" 'its keys are removed'
printf '[{"test_groups":[{"scenarios":[{"id":"bad","command":"LPUSH __prefix__x","requests":10},{"id":"push","command":"LPUSH __prefix__x __data__ ; 2 SET __prefix__k:__rand_int__ v","requests":300,"setup_commands":["SET __prefix__setup 1"],"teardown_commands":["DEL __prefix__setup"],"populate_with":"SET __prefix__p:__rand_int__ v"}]}]}]\n' \
  >scenes.json
test_status 2 'a scenario that fails' \
  vkb-load --port "$port" --no-flush --runs 1 scenes.json
test_same 'db0:keys=2 db3:keys=1' "$(keys)" 'the keys of a failed run are removed'
jq 'del(.[0].test_groups[0].scenarios[0])' scenes.json >good.json
test_that 'commands with __prefix__' \
  vkb-load --port "$port" --no-flush --runs 1 good.json
test_same '["ok",0]' "$(jq -c '[.status, .metrics.errors]' .out)" \
  'runs of commands with __prefix__ are ok'
test_same 'db0:keys=2 db3:keys=1' "$(keys)" 'their keys are removed'

printf '[{"test_groups":[{"scenarios":[{"id":"nul","command":"SET \\"__prefix__a\\\\x00b__rand_int__\\" v","requests":50}]}]}]\n' >nul.json
test_that 'keys with a NUL byte' vkb-load --port "$port" --no-flush --runs 1 nul.json
test_same '["ok",0]' "$(jq -c '[.status, .metrics.errors]' .out)" 'their runs are ok'
test_same 'db0:keys=2 db3:keys=1' "$(keys)" 'their keys are removed'

for text in '"command":"SET k:__rand_int__ v"' \
  '"command":"SET __prefix__k v ; GET k"' \
  '"test":"set","setup_commands":["FLUSHALL"]' \
  '"test":"set","teardown_commands":["DEL x"]' \
  '"test":"set","populate_with":"SET p:__rand_int__ v"' \
  '"type":"mixed","writes":[{"command":"SET k v"}]' \
  '"command":"SET theirs __prefix__v"' \
  '"test":"set","setup_commands":["DEL __prefix__a theirs"]' \
  '"test":"set","teardown_commands":["unlink __prefix__a __prefix__b theirs"]' \
  '"test":"set","setup_commands":["DEL __prefix__a ; UNLINK __prefix__b"]' \
  '"test":"set","teardown_commands":["DEL __prefix__a ; UNLINK __prefix__b"]' \
  '"test":"set","setup_commands":["2 SET __prefix__a 1"]' \
  '"test":"set","setup_commands":["RENAME __prefix__a theirs"]' \
  '"test":"set","setup_commands":["MSET __prefix__a 1 theirs 2"]' \
  '"test":"set","setup_commands":["SORT __prefix__a STORE theirs"]' \
  '"test":"set","setup_commands":["ZUNIONSTORE __prefix__a 2 __prefix__b theirs"]' \
  '"test":"set","setup_commands":["EVAL __prefix__ 0"]' \
  '"test":"set","setup_commands":["TS.MADD __prefix__a 1 2 other 3 4"]' \
  '"test":"set","setup_commands":["TS.CREATERULE __prefix__a other AGGREGATION avg 9"]' \
  '"test":"set","setup_commands":["FCALL f 1 __prefix__a"]' \
  '"command":"GET __prefix__a ; EVAL \"return 1\" 1 __prefix__a"' \
  '"command":"BLPOP __prefix__a theirs 1"' \
  '"command":"ZUNIONSTORE __prefix__d __int:1:1__ theirs2"' \
  '"command":"ZUNIONSTORE __prefix__d"' \
  '"command":"ZUNIONSTORE __prefix__d 0"' \
  '"command":"ZUNIONSTORE __prefix__d 3 __prefix__a"' \
  '"command":"COPY __prefix__a"' \
  '"command":"EVAL_RO \"return 1\" 2 __prefix__a"' \
  '"command":"EVAL_RO \"__prefix__x\" 0"' \
  '"command":"MEMORY __prefix__"' \
  '"command":"BLPOP __prefix__a"' \
  '"command":"JSON.MGET __prefix__a theirs $"' \
  '"command":"XREAD COUNT 1 STREAMS __prefix__a theirs 0 0"'; do
  printf '[{"test_groups":[{"scenarios":[{"id":"a",%s,"requests":10}]}]}]\n' \
    "$text" >none.json
  test_status 2 "no prefix in $text" \
    vkb-load --port "$port" --no-flush --runs 1 none.json
  test_match 'not run: --no-flush needs a prefix on all keys: put __prefix__ in front of each key' \
    .err "$text: the error says what to do"
  test_empty_file .out "$text: nothing is measured"
done
printf '[{"test_groups":[{"scenarios":[{"id":"a","command":"GET theirs ; EVAL \"return 1\" 1 __prefix__a","requests":10}]}]}]\n' \
  >script.json
test_status 2 'a script' vkb-load --port "$port" --no-flush --runs 1 script.json
test_match 'a script may write any key, so EVAL, EVALSHA and FCALL are refused' \
  .err 'the error says why a script is refused'
sed 's/"requests"/"config_sets":[{"maxmemory":"2mb"}],"requests"/' c.json >set.json
test_status 2 'a config set beside data of others' \
  vkb-load --port "$port" --no-flush --runs 1 set.json
test_match 'its config_set would change a running server' .err \
  'a config set beside data of others is refused'
test_status 2 'another engine' vkb-load --port "$port" --no-flush \
  --engine valkey-benchmark --runs 1 c.json
test_same 'db0:keys=2 db3:keys=1' "$(keys)" 'all of that has changed nothing'

printf '[{"test_groups":[{"scenarios":[{"id":"keys","command":"3 mget __prefix__a __prefix__b ; XREAD STREAMS __prefix__s 0 ; ZUNION 2 __prefix__y __prefix__z ; BLPOP __prefix__l __prefix__m 0.01 ; EVAL_RO \"return 1\" 1 __prefix__a ; PUBLISH __prefix__a b","requests":50,"setup_commands":["MSET __prefix__a 1 __prefix__b 2","BITOP AND __prefix__c __prefix__a __prefix__b","COPY __prefix__a __prefix__d"],"teardown_commands":["DEL __prefix__a __prefix__b"]}]}]}]\n' \
  >keys.json
test_that 'commands with several keys of ours' \
  vkb-load --port "$port" --no-flush --runs 1 keys.json
test_same 'db0:keys=2 db3:keys=1' "$(keys)" 'their keys are removed too'

# __prefix__ is empty if the server is emptied, or started by vkb-load.
test_that 'commands with __prefix__ on a server that vkb-load starts' \
  vkb-load --runs 1 good.json
test_match '"command":"LPUSH x __data__ ; 2 SET k:__rand_int__ v"' .out \
  'without --no-flush the placeholder is removed'

# --- clusters

printf '{"type":"spec","v":1,"id":"cluster","primaries":3}\n' >&3
read -r other <&4
ports=$(printf '%s' "$other" | jq '.nodes[].port')
port=$(printf '%s' "$other" | jq '.nodes[2].port')
first=$(printf '%s' "$other" | jq '.nodes[0].port')
printf '[{"commands":["SET","GET","LPUSH","HGET","MSET"],%s,"cluster_mode":true,"cluster_nodes":3,"requests":[2000]}]\n' \
  "$base" >cluster.json
total() { for p in $ports; do valkey-cli -p "$p" dbsize; done | xargs; }
valkey-cli -c -p "$first" set theirs 1 >/dev/null
had=$(total)
test_status 2 'a cluster with a key on one node is refused' \
  vkb-load --port "$port" --runs 1 cluster.json
test_match 'the cluster at 127.0.0.1:[0-9]* holds 1 key \(1 in db0\)' .err \
  'the key of one node is counted'
test_that 'a cluster with --no-flush' \
  vkb-load --port "$port" --no-flush --runs 1 cluster.json
test_same '["ok",0]' "$(jq -c '[.status, .metrics.errors]' .out | sort -u)" \
  'a cluster with --no-flush is measured'
test_same "$had" "$(total)" 'only the key of others is left on the nodes'
test_that 'a cluster with --flush' \
  vkb-load --port "$port" --flush --runs 1 cluster.json
test_same '0 0 0' "$(total)" 'every node of the cluster is emptied'

# --- slots that move while keys are removed

id() { valkey-cli -p "$1" cluster myid; }
# import TAG FROM TO: requests that FROM sends on are served by TO, which answers MOVED
# to all others for keys of that slot, until end_import.
import() {
  slot=$(valkey-cli -p "$3" cluster keyslot "$1")
  valkey-cli -p "$3" cluster setslot "$slot" importing "$(id "$2")" >/dev/null
}
end_import() { # FROM TO
  for p in "$2" "$1"; do valkey-cli -p "$p" cluster setslot "$slot" node "$(id "$2")" >/dev/null; done
}
# migrate FROM TO: FROM answers ASK for the keys that it does not have, of those of its
# slots that are in stdin.
migrate() { sed "s/.*/cluster setslot & migrating $(id "$2")/" | valkey-cli -p "$1" --pipe >pipe 2>&1; }
primaries=3
# moving MEMBERS OPTION...: a load of a scenario with these members
moving() {
  printf '[{"test_groups":[{"scenarios":[{"id":"a",%s}]}],"keyspacelen":[200],"tls_mode":false,
    "cluster_mode":true,"cluster_nodes":%s,"max_errors_percent":100}]\n' "$1" "$primaries" >moving.json
  shift
  vkb-load -q --port "$first" --no-flush --runs 1 "$@" moving.json >out 2>err 3>&- 4<&- &
  load=$!
}
# says PATTERN PORT: INFO of the node has such a line, or the load has ended.
says() { gone "$load" || valkey-cli -p "$2" info all | grep -Eq "^$1"; }

# Writes to the first node wait: one that moves a key, and after SCAN has seen that key, UNLINK.
# shellcheck disable=SC2086 # ports
set -- $ports
import b "$1" "$2"
valkey-cli -p "$1" config resetstat >/dev/null
moving '"command":"GET __prefix__{b}","setup_commands":["SET __prefix__{b} 1"],"duration":60'
wait_until 60 says cmdstat_get: "$1"
valkey-cli -p "$1" config resetstat >/dev/null
echo "$slot" | migrate "$1" "$2"
valkey-cli -p "$1" client pause 600000 write >/dev/null
valkey-cli -p "$1" migrate 127.0.0.1 "$2" "$(valkey-cli -p "$1" --scan)" 0 60000 >moved 3>&- 4<&- &
mover=$!
wait_until 60 says blocked_clients:1 "$1"
kill -TERM "$load"
wait_until 60 says blocked_clients:2 "$1"
valkey-cli -p "$1" client unpause >/dev/null
wait_until 60 says errorstat_ASK "$1"
end_import "$1" "$2"
wait "$mover"
wait "$load"
test_same 143 $? 'a key moves while it is removed'
sed 's/^/# /' err
test_same 'OK errorstat_ASK:count=1' "$(cat moved) $(valkey-cli -p "$1" info errorstats | grep -o '.*ASK:count=1')" \
  'UNLINK was answered with ASK'
test_same '0 0 0' "$(total)" 'the key is removed where it is then'

# All slots are on their way, so a node answers ASK for any of its keys that is not there,
# also when a load tries at first whether it could remove keys.
seq 0 16383 | migrate "$1" "$2"
seq 0 16383 | migrate "$2" "$3"
seq 0 16383 | migrate "$3" "$1"
import a "$3" "$1"
moving '"command":"SET __prefix__{a}:__rand_int__ v","requests":2000'
wait_until 60 says 'cmdstat_unlink.*rejected_calls=[0-9]{2}' "$1"
end_import "$3" "$1"
wait "$load"
test_same 0 $? 'keys in a slot that moves'
sed 's/^/# /' err
test_same '0 0 0' "$(total)" 'are removed when it has moved'
import c "$2" "$3"
moving '"command":"SET __prefix__{c}:__rand_int__ v","requests":100' --timeout 2s
wait "$load"
test_same 2 $? 'a slot never stops to move'
test_match '^vkb-load: keys of the load are in slots of the cluster that move$' err 'the message says so'
pattern=$(sed -n "s/^vkb-load: keys '\(vkb:[0-9a-f]\{12\}:\*\)' may be left on the server$/\1/p" err)
test_same "$(total)" "0 0 $(valkey-cli -p "$3" --scan --pattern "$pattern" | wc -l)" \
  'and names the pattern of the keys that are left'

# The third node has no slots when the load starts, and gets the key while it runs.
set_slots() { for p in $ports; do sed "s/.*/cluster setslot & $1/" slots | valkey-cli -p "$p" --pipe >pipe 2>&1; done; }
valkey-cli -p "$3" flushall >/dev/null
seq 0 16383 >slots
set_slots stable
for p in $ports; do valkey-cli -p "$p" config set cluster-allow-replica-migration no >/dev/null; done
seq 10922 16383 >slots
valkey-cli -p "$1" cluster bumpepoch >/dev/null
set_slots "node $(id "$1")"
primaries=2
valkey-cli -p "$2" config resetstat >/dev/null
moving '"command":"GET __prefix__{b}","setup_commands":["SET __prefix__{b} 1"],"duration":60'
wait_until 60 says cmdstat_get: "$2"
valkey-cli -p "$2" cluster keyslot b >slots
import b "$2" "$3"
migrate "$2" "$3" <slots
test_same OK "$(valkey-cli -p "$2" migrate 127.0.0.1 "$3" "$(valkey-cli -p "$2" --scan)" 0 60000)" \
  'a key moves to a node that had no slots'
end_import "$2" "$3"
kill -TERM "$load"
wait "$load"
test_same '143 0 0 0' "$? $(total)" 'the key is removed there'

# A slot moves from the third node to the second one while the first one is filled, whose
# writes wait. The first one has two slots, so that UNLINK of one key, by which each node is
# tried before, does not wait there.
give() { # give NODE: the slots in the file
  valkey-cli -p "$1" cluster bumpepoch >/dev/null
  set_slots "node $(id "$1")"
}
seq 2 10000 >slots
give "$2"
seq 10001 16383 >slots
give "$3"
printf '[{"commands":["GET"],%s,"keyspacelen":[65536],"cluster_mode":true,"cluster_nodes":3,"requests":[1000]}]\n' \
  "${base#*,}" >fill.json
valkey-cli -p "$1" client pause 600000 write >/dev/null
vkb-load -q --port "$first" --no-flush --runs 1 fill.json >out 2>err 3>&- 4<&- &
load=$!
wait_until 60 says 'blocked_clients:[1-9]' "$1"
echo 16383 >slots
give "$2"
valkey-cli -p "$1" client unpause >/dev/null
wait "$load"
test_same '2 0 0 0' "$? $(total)" 'a load whose keys cannot all have been set fails, and removes them'
test_match 'slots of the cluster moved while it was filled: run again when they stay$' err 'the message says why'
test_done
