#!/bin/sh
# vkb-load runs scenes: one server for the scenarios of a group, setup and teardown
# commands, what is repeated after a resume, which scenarios fail with which.
. "${0%/*}/lib.sh"

test_server vkb-load
cat >s.json <<'END'
{"keyspacelen": [100], "custom-server-configs": {"hz": 11},
 "config_sets": [{"maxmemory": "77mb"}],
 "test_groups": [{"group": 1, "description": "G", "scenarios": [
  {"id": "a", "type": "write", "test": "set", "requests": 500, "clients": 2,
   "setup_commands": ["SET mark 'a b'", "CONFIG SET maxmemory 55mb"]},
  {"id": "b", "type": "read", "test": "get", "requests": 500, "clients": 2,
   "warmup": 0.05, "setup_commands": ["RENAMENX mark mark1"]},
  {"id": "c", "type": "write", "test": "incr", "requests": 500,
   "setup_commands": ["RENAMENX mark1 mark2"],
   "teardown_commands": ["RENAMENX mark2 mark3"]},
  {"id": "d", "type": "read", "test": "get", "requests": 500,
   "setup_commands": ["RENAMENX mark3 mark4"]},
  {"id": "e", "type": "read", "test": "get", "requests": 500,
   "flush_before": true, "populate_with": "set",
   "setup_commands": ["SET mark5 1 NX GET"]}]}]}
END
brief='[.config.test_id, .run.index, .status]'
test_that 'two runs of a scene are accepted' vkb-load --runs 2 s.json
test_same '["1_a",1,"ok"] ["1_b",1,"ok"] ["1_c",1,"ok"] ["1_d",1,"ok"] ["1_e",1,"ok"] ["1_a",2,"ok"] ["1_b",2,"ok"] ["1_c",2,"ok"] ["1_d",2,"ok"] ["1_e",2,"ok"]' \
  "$(jq -c "$brief" .out | xargs -d '\n')" \
  'the group is run twice on one server'
cp .out whole
test_same 1 "$(jq -c .subject whole | sort -u | wc -l | tr -d ' ')" \
  'all runs of a group are of one subject'
test_same '[1,2,3,4,5,6,7,8,9,10]' "$(jq -s -c 'map(.run.order)' whole)" \
  'the runs of a group are in order'
test_same true "$(jq -s 'all(.[]; .metrics.requests == 500)' whole)" \
  'a warm-up is not counted'
test_same G "$(jq -r .about.group_description whole | sort -u)" 'the runs have the description of the group'

# A session is resumed with the scenarios that prepare the server.
for n in 0 1 2 3 4 7 9; do
  head -n "$n" whole >part
  test_that "resumed after $n runs" vkb-load --runs 2 --resume part s.json
  test_same "$(jq -c "$brief" whole | sort)" "$(jq -c "$brief" part | sort)" \
    "resumed after $n runs: each run is stored once"
done
jq -c 'select(.config.scenario != "c")' whole >part
test_that 'a session without some runs in the middle is resumed' vkb-load --runs 2 --resume part s.json
test_same '["1_c",1,"ok"] ["1_c",2,"ok"]' \
  "$(tail -n 2 part | jq -c "$brief" | xargs -d '\n')" 'only the unfinished scenarios are measured'
test_that '--scenarios with one scenario is accepted' vkb-load --runs 1 --scenarios d s.json
test_same '["1_d",1,"ok"]' "$(jq -c "$brief" .out)" 'scenarios before the chosen one are run without a record'
vkb-load --plan --scenarios d,e s.json </dev/null | sort -r >plan
test_that 'a plan in another order is accepted' sh -c 'vkb-load --runs 1 - <plan'
test_that '--case chooses scenarios of a group' vkb-load --runs 1 --case '1_[de]*' s.json
test_same '["1_d",1,"ok"] ["1_e",1,"ok"]' "$(jq -c "$brief" .out | xargs -d '\n')" \
  'the chosen scenarios are run in the order of the group'
for label in x y; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    $label "$server"
done >builds
test_that 'two builds with a scene are accepted' vkb-load --builds builds --runs 2 s.json
test_same 20 "$(grep -c '"status":"ok"' .out)" 'each build runs the whole group'
test_same true "$(jq -s 'group_by([.config, .run.block]) |
  all(length == 2 and .[0].run.seed == .[1].run.seed)' .out)" 'the runs of both builds are pairs with the same seed'
head -n 6 whole >part2
test_that 'a scene with a budget is resumed' vkb-load --runs 3 --budget 1ms --resume part2 s.json
test_same 15 "$(grep -c '"status":"ok"' part2)" 'the least runs of a group are made'
jq -c '.run.index as $i | .metrics = {requests: 500, p50_latency_ms: 1,
  rps: (if .config.scenario == "c" then $i * $i else 1 end)}' part2 >part3
test_that 'a scene with one open case is resumed' vkb-load --runs 3 --budget 200ms --resume part3 s.json
test_same '1_c' "$(tail -n +16 part3 | jq -r .config.test_id | sort -u)" \
  'the scene continues for the case that is open'

# --- failures

edit() { jq "$1" s.json >bad.json; }
edit '.test_groups[0].scenarios[2].setup_commands = ["NOSUCH \"x y\""]'
test_status 2 'a setup command that is refused is exit 2' vkb-load --runs 1 bad.json
test_match "setup command 'NOSUCH .*x y.*': ERR unknown command" .err \
  'the error names the setup command'
test_same '["1_a",1,"ok"] ["1_b",1,"ok"] ["1_c",1,"failed"] ["1_d",1,"failed"] ["1_e",1,"ok"]' \
  "$(jq -c "$brief" .out | xargs -d '\n')" 'later scenarios fail until one resets the server'
test_match '1_c.* before it failed: setup command .NOSUCH' .out \
  'a later scenario names the setup command that failed'
edit '.test_groups[0].scenarios[1].setup_commands = ["SET \"x"]'
test_status 2 'a setup command with an open quote is an error' vkb-load --runs 1 bad.json
edit '.test_groups[0].scenarios[4].teardown_commands = ["NOSUCH"]'
test_status 2 'a teardown command that is refused is exit 2' vkb-load --runs 1 bad.json
test_match "teardown command 'NOSUCH'" .err 'the error names the teardown command'
test_same '["failed",500]' "$(tail -n 1 .out | jq -c '[.status, .metrics.requests]')" \
  'a failed teardown keeps the metrics'
edit '.test_groups[0].scenarios[4] += {"setup_commands": ["NOSUCH1"], "teardown_commands": ["NOSUCH2"]}'
test_status 2 'failed setup and teardown commands are exit 2' vkb-load --runs 1 bad.json
test_match "setup command 'NOSUCH1.*; teardown command 'NOSUCH2" .out \
  'a teardown is sent after a setup that failed'
edit '.test_groups[0].scenarios[1].setup_commands = ["DEBUG SEGFAULT"]'
sed -i 's/"hz": 11/"enable-debug-command": "yes"/' bad.json
test_status 2 'a server that dies is exit 2' vkb-load --runs 1 bad.json
test_same '["1_a",1,"ok"] ["1_b",1,"failed"] ["1_c",1,"failed"] ["1_d",1,"failed"] ["1_e",1,"ok"]' \
  "$(jq -c "$brief" .out | xargs -d '\n')" 'a server that died is replaced at the next reset'
test_same '[null,true,false,false,null]' \
  "$(jq -s -c 'map(if .error then .error | contains("\n") else null end)' .out)" \
  'the end of the log is printed once'
edit '.test_groups[0].scenarios[1] += {"command": "GET __nonsense__"} |
  del(.test_groups[0].scenarios[1].test) | .test_groups[0].scenarios[1].type = "write"'
test_status 2 'a case that cannot be run is exit 2' vkb-load --runs 1 bad.json
test_match "1_c.*: not run: '1_b.*' before it cannot be run" .err \
  'a scenario that cannot be run keeps later ones from running'
test_same '["1_a",1,"ok"] ["1_e",1,"ok"]' "$(jq -c "$brief" .out | xargs -d '\n')" \
  'the other scenarios are run'
test_status 2 'a missing scenario before a chosen one is an error' \
  vkb-load --runs 1 --scenarios d bad.json
test_match "1_d.*: not run: '1_b.*' before it" .err 'the error names the missing scenario before it'

# --- mixed scenarios

cat >m.json <<'END'
{"keyspacelen": [100], "test_groups": [{"group": 2, "scenarios": [
  {"id": "m", "type": "mixed", "duration": 0.3, "warmup": 0.05,
   "warmup_writes_only": true, "writes": [
    {"id": "w", "test": "set", "clients": 3, "pipeline": 4}],
   "reads": [{"id": "r", "test": "get", "clients": 2, "duration": 0.5},
    {"id": "p", "test": "get", "clients": 2, "parallel_clients": 3}]}]}]}
END
test_that 'a mixed scenario is accepted' vkb-load --runs 2 m.json
test_same '["2_m_write_w","mixed_write",3,0.3,null] ["2_m_read_r","mixed_read",2,0.3,null] ["2_m_read_p","mixed_read",2,0.3,3]' \
  "$(head -n 3 .out | jq -c '.config | [.test_id, .test_phase, .clients, .duration_s,
    .parallel_clients]' | xargs -d '\n')" 'each part of a mixed scenario has a record'
test_same true "$(jq -s 'all(.[]; .status == "ok" and .run.overlap_percent > 99 and .run.overlap_percent <= 100 and
  .metrics.rps > 0 and (.config | has("writes") or has("reads") | not))' .out)" \
  'the parts of a mixed scenario run at the same time'
cp .out whole
head -n 2 whole >part
test_that 'a mixed scenario with a missing part is resumed' vkb-load --runs 2 --resume part m.json
test_same 2 "$(jq -c 'select(.config.test_id == "2_m_read_p")' part | wc -l | tr -d ' ')" \
  'a mixed scenario with a missing part is measured again'
cp whole part
test_that 'a complete mixed scenario is accepted' vkb-load --runs 2 --resume part m.json
test_that 'a complete mixed scenario is unchanged' cmp whole part
test_that 'a mixed scenario with a budget is accepted' vkb-load --runs 1 --budget 1ms m.json
jq '.test_groups[0].scenarios[0] |= (.duration = 1 | del(.warmup, .reads[0].duration) | .rate = 1100)' \
  m.json >rate.json
test_that 'a mixed scenario with a rate is accepted' vkb-load --runs 1 -o rated rate.json
test_same '[300,200,600]' "$(jq -s -c 'map(.config.rate | round)' rated)" \
  'the parts of a mixed scenario share its rate'
test_same '[300,200,600]' "$(jq -s -c 'map(.metrics.offered_rps | round)' rated)" \
  'the parts of a rate add up to the rate'
# On a busy machine some requests may not be sent until the end; never more are sent.
n=$(jq -s 'map(.metrics.requests) | add' rated)
test_result "$((n < 990 || n > 1100))" "1100 requests in a second ($n)"
jq '.test_groups[0].scenarios[0].populate_with = "set" |
  ."custom-server-configs" = {"maxmemory":"1mb","maxmemory-policy":"noeviction"}' m.json >bad.json
test_status 2 'a populate_with that is refused is exit 2' vkb-load --runs 1 bad.json
test_match '"error":"the server cannot be filled by .*: 100 of 100 requests were refused: OOM' .out \
  'the error has the reply to populate_with'
jq '.test_groups[0].scenarios[0].reads[0] = {"id": "r", "command": "LLEN key:__rand_int__"}' \
  m.json >bad.json
test_status 2 'a part that fails is exit 2' vkb-load --runs 1 bad.json
test_same true "$(jq -s 'length == 3 and all(.[]; .status == "failed" and .metrics.rps > 0 and
  (.error | startswith("LLEN key:__rand_int__: ")))' .out)" \
  'each part of a mixed scenario fails, with metrics'
cat >own.json <<'END'
{"test_groups": [{"group": 3, "scenarios": [
  {"id": "m", "type": "mixed", "duration": 0.1, "writes": [
    {"id": "w", "command": "INCR n", "requests": 1, "warmup": 0.05, "seed": 7}],
   "reads": [{"id": "r", "command": "GET n"}], "teardown_commands": [
    "EVAL \"return server.call('get', 'n') ~= '1' or server.error_reply('cold')\" 0"]}]}]}
END
test_that 'a warm-up of one part is accepted' vkb-load --runs 1 own.json
test_same '[0.05,true] [0,false] true' "$(jq -c '[.config.warmup_s, .run.seed == 7]' .out |
  xargs -d '\n') $(jq -s '.[0].metrics.requests == 1' .out)" \
  'each part has its own warm-up and seed'
test_status 2 '--warmup 0s leaves out the warm-up of a part' vkb-load --runs 1 --warmup 0s own.json
test_match 'cold' .err 'a warning says that the part was cold'
jq '.test_groups[0].scenarios[0].reads[0].warmup = -1' own.json >bad.json
test_status 2 'a negative warm-up is an error' vkb-load --plan bad.json
test_litter 0 'no server and no file is left'
test_done
