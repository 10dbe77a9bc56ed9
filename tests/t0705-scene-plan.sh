#!/bin/sh
# vkb-load --plan of scenarios: scenes, their order, filters,
# repeated scenarios, the recipes of datasets.
# sanitize: scenes.
. "${0%/*}/lib.sh"

planned() { vkb-load --plan "$@" </dev/null; }
cat >g.json <<'END'
[{"cluster_mode": false, "tls_mode": false, "config_sets": [{"hz": 10}, {"hz": 20}],
  "dataset_generation": {
    "docs.csv": {"doc_count": 5, "fields": [{"name": "t", "size": 9}]},
    "vec.csv": {"doc_count": 5, "fields": [{"name": "v"}]},
    "other.csv": {"doc_count": 1}},
  "query_generation": {
    "pre.csv": {"type": "prefix", "source": "data/words.csv"},
    "words.csv": {"type": "proximity_phrase"}},
  "test_groups": [
   {"group": 1, "scenarios": [
    {"id": "a", "type": "write", "command": "HSET d:__rand_int__ t __field:t__",
     "dataset": "data/docs.csv", "maxdocs": 5, "flush_before": true,
     "setup_commands": ["FT.CREATE i{iteration}"], "warmup": 3},
    {"id": "b", "type": "read", "command": "FT.SEARCH i __field:w__",
     "dataset": "data/pre.csv", "requests": 9, "warmup_inline": 2,
     "options": {"": "", "NOCONTENT": "_nc"}},
    {"id": "c", "type": "write", "command": "DEL x", "requests": 1},
    {"id": "d", "type": "read", "command": "GET x", "requests": 1,
     "dataset": "vec.npy"},
    {"id": "e", "type": "write", "command": "SET x y", "requests": 1,
     "restart_before": true},
    {"id": "d", "type": "read", "command": "GET x", "requests": 1,
     "dataset": "vec.npy"}]},
   {"group": 2, "iterations": 2, "scenarios": [
    {"id": "a", "command": "SET {iteration} x", "requests": 1,
     "setup_commands": ["DEL {iteration}"], "teardown_commands": ["DEL {iteration}"],
     "populate_with": "set"}]}]}]
END
planned --skip-config-set g.json >plan
test_same '2 1_a:1 1_b:2 1_b_nc:3 1_c:4 1_d:5 1_e:6 1_d:7 2_a:1 2_a:2' \
  "$(jq -r .scene plan | uniq | wc -l | tr -d ' ') $(jq -r \
    '"\(.config.test_id):\(.step)"' plan | xargs)" 'each group is a scene'
planned g.json >both
test_same '4 18' "$(jq -r .scene both | sort -u | wc -l | tr -d ' ') \
$(wc -l <both | tr -d ' ')" 'each config set has its scenes'
test_same '[null,2]' "$(jq -c 'select(.config.test_id == "1_d") |
  .config.occurrence' plan | jq -s -c .)" 'a scenario that occurs twice is two cases'
test_same 9 "$(jq -r .id plan | sort -u | wc -l | tr -d ' ')" 'each case has its own id'
test_same '[3,true,null] [2,null,null]' "$(jq -c 'select(.step < 3 and .config.group == 1) |
  .config | [.warmup_s, .warmup_apart, .warmup_writes_only]' plan | head -n 2 |
  xargs -d '\n')" 'warm-ups of both kinds are in the plan'
test_same '["1 x","DEL 1","DEL 1","set"] ["2 x","DEL 2","DEL 2","set"]' \
  "$(jq -c 'select(.config.group == 2) | .config | [.command[4:],
    .setup_commands[0], .teardown_commands[0], .populate_with]' plan |
  xargs -d '\n')" 'every command of an iteration has its number'

test_same '{"dataset_generation":["docs.csv"]} {"query_generation":["pre.csv","words.csv"]} {"dataset_generation":["vec.csv"]} null' \
  "$(for id in 1_a 1_b 1_d 1_c; do
    jq -c "select(.config.test_id == \"$id\") | .data |
      if . then map_values(keys) else . end" plan | head -n 1
  done | xargs -d '\n')" 'a case has the recipes that it needs'

# A scenario has its own rate and seed, or those of the configuration.
cat >rates.json <<'END'
[{"rate": 7, "seed": 3, "test_groups": [{"group": 1, "scenarios": [
  {"id": "a", "command": "SET x y", "requests": 1, "rate": [10, 20], "seed": 5},
  {"id": "b", "command": "SET x y", "requests": 1, "rate": 30, "seed": true},
  {"id": "c", "command": "SET x y", "requests": 1}]}]}]
END
planned rates.json >rates
test_same '["1_a",10,5] ["1_a",20,5] ["1_b",30,3] ["1_c",7,3]' \
  "$(jq -c '[.config.test_id, .config.rate, .client.seed]' rates | xargs -d '\n')" \
  'each rate of a scenario is a case with the seed of the scenario'

before() { jq -c '[.config.test_id, [.before // [] | .[].config.test_id]]' | xargs -d '\n'; }
test_same '["1_b",["1_a"]] ["1_d",["1_c"]] ["1_d",["1_e"]]' \
  "$(planned --skip-config-set --groups 1 --scenarios b,d g.json | before)" \
  'a case lists the scenarios that a filter left out before it, since the last reset'
test_same '["1_b",["1_a"]] ["1_b_nc",[]]' \
  "$(planned --skip-config-set --groups 1 g.json |
    vkb-load --plan --case '1_b*' - | before)" '--case adds the scenarios before a case, too'
planned --skip-config-set --groups 1 --scenarios d g.json >some
vkb-load --plan some >again </dev/null
test_that 'a plan keeps the scenarios before a case' cmp some again
test_same '["1_d",["1_e"]]' "$(planned --case '*again2*' some | before)" \
  'a filtered plan keeps them, too'
test_same 'true 9 true 9' "$(vkb-load --plan --no-flush --requests 9 some |
  jq -r '.before[0].config | "\(.no_flush) \(.requests)"' | xargs)" \
  'options apply to the scenarios before a case, too'
for change in '[{}]' '[1, "x"]' '[.before[0] | .config.command = 5]' \
  '[.before[0] | .config.clients = -5]' \
  '[.before[0] | .config.clients = 1e300]'; do
  jq -c ".before = $change" some >bad
  test_status 2 "a case with before = $change is an error" vkb-load --plan bad
  test_match '^vkb-load: bad:1: ' .err "before = $change: the error has the line"
done
test_same '["1_c",["1_a"]] ["1_d",["1_e"]]' \
  "$(planned --skip-config-set --groups 1 --scenarios c,d g.json |
    vkb-load --plan --case '1_[cd]*' - |
    jq -c 'select(.id == "1_c" or .config.occurrence == 2)' | before)" \
  'a case lists only the scenarios that were left out directly before it'
for i in 1 2 3; do planned --shard $i/3 g.json; done | sort >shards
sort both >want
test_that 'all shards together are the whole plan' cmp want shards
test_same 4 "$(for i in 1 2 3; do
  planned --shard $i/3 g.json | jq -r .scene | sort -u
done | wc -l | tr -d ' ')" 'a scene is in one shard'

edit() { jq "$1" g.json >bad.json; test_status 2 "$2" vkb-load --plan bad.json; }
edit '.[0].test_groups[0].scenarios[0].warmup_inline = 1' 'two kinds of warm-up are an error'
test_match "scenarios.0.: Cannot specify both 'warmup' and 'warmup_inline'" .err \
  'the error names both kinds of warm-up'
planned --skip-config-set --groups 2 g.json | head -n 1 >case
for change in '.config.writes = [{"command": "SET a b", "clients": 0}]' \
  '.config.reads = [{"clients": 1}]' '.config.parallel_clients = 0' \
  '.config.reads = [{"command": "GET a", "duration": -1}]'; do
  jq -c "$change" case >bad
  test_status 2 "a case with $change is an error" vkb-load --plan bad
done

# --duration and --requests also apply to the parts of a mixed scenario.
cat >m.json <<'END'
{"test_groups": [{"group": 3, "scenarios": [{"id": "m", "type": "mixed",
  "duration": 5, "writes": [{"id": "w", "command": "SET a b", "requests": 7}],
  "reads": [{"id": "r", "command": "GET a"}]}]}]}
END
test_same '[1,1,1,null]' "$(planned --duration 1 m.json | jq -c '.config |
  [.duration_s, .writes[0].duration, .reads[0].duration, .writes[0].requests]')" \
  '--duration applies to the parts of a mixed scenario'
test_done
