#!/bin/sh
# vkb-load --profiles: profiles under load, after the measured runs; profiling
# sets, scenarios, every node of a cluster.
. "${0%/*}/lib.sh"

if ! command -v perf >/dev/null; then
  test_skip 'vkb-load --profiles' perf
  test_done
fi
test_server 'vkb-load --profiles'

# config COMMAND DURATION MORE: a case of one command. With a rate, as in all cases but
# that of ten requests, the machine is not fully busy during the profile.
config() {
  printf '[{"commands":["%s"],"duration":%s,"keyspacelen":[1000],"data_sizes":[16],"pipelines":[4],"clients":[3],"tls_mode":false,"warmup":0%s}]\n' "$@"
}
rate=',"cluster_mode":false,"rate":2000'

# --- together with measured runs

config SET 1 "$rate" >set.json
test_that '--runs with --profile is accepted' vkb-load -q --runs 1 --profiles p \
  --profile set.json
cp .out out
test_same 'run profile' "$(jq -r .type out | tr '\n' ' ' | sed 's/ $//')" \
  'the profile follows the runs'
dir=p/$(ls p)
test_match 'processCommand' "$dir/stacks.folded" 'the stacks have the functions of the server'
test_match '<svg' "$dir/flame.svg" 'the profile has a flame graph'
tail -n 1 out >profile
test_same "$dir/flame.svg ok cpu 999" "$(jq -r '[.artifacts.svg, .status, .mode,
  .sampling.freq_hz] | join(" ")' profile)" 'the profile has its record'
test_same "$(sed -n 1p out | jq -c '[.subject, .config, .run.session]')" \
  "$(jq -c '[.subject, .config, .run.session]' profile)" \
  'the record of a profile has the subject of its run'
test_same 'true true' "$(jq -r '[.requests > 0, .per_req.task_clock_ms_per_req > 0]
  | map(tostring) | join(" ")' profile)" 'the profile has the CPU time per request'
test_same 1 "$(vkb-stats out | jq 'select(.type == "summary").n')" \
  'vkb-stats counts only the runs'
test_that '--profile with an existing profile is accepted' \
  vkb-load -q --runs 1 --profiles p --profile set.json
test_same 0 "$(grep -c '"type":"profile"' .out)" \
  'an existing profile is not made again'
test_that 'a case without --profiles is run' \
  vkb-load -q --runs 1 --duration 200ms set.json
test_same 0 "$(grep -c '"type":"profile"' .out)" \
  'a case without --profiles is not profiled'

# --- profiles without runs

config GET 600 "$rate" >get.json
test_that '--profiles without --runs is accepted' \
  vkb-load -q --profiles t --profile-time 1s get.json
test_same '["profile","ok"]' "$(jq -c '[.type, .status]' .out)" \
  '--profiles without --runs makes only a profile'
test_same true "$(jq '.duration_s > 0 and .duration_s < 60' .out)" \
  'a profile lasts for --profile-time'
test_match 'processCommand' "t/$(ls t)/stacks.folded" \
  'the stacks of a profile have the functions of the command'
mkdir -p again && cp -r t/* again/ && rm again/*/profile.json
test_that 'a profile without profile.json is accepted' \
  vkb-load -q --profiles again --profile-time 500ms get.json
test_same 1 "$(grep -c '"type":"profile"' .out)" \
  'a profile without profile.json is made again'
profile=$(find again -name profile.json)
jq -c 'del(.case)' "$profile" >bare && mv bare "$profile"
test_that 'a folder with a profile of another program is accepted' \
  vkb-load -q --profiles again --profile-time 500ms get.json
test_same 1 "$(grep -c '"type":"profile"' .out)" \
  'a profile of another program is made again'
test_that '--profile-freq is accepted' vkb-load -q --profiles rate --profile-freq 99 \
  --profile-time 500ms get.json
test_same 99 "$(jq -r .sampling.freq_hz rate/*/profile.json)" \
  '--profile-freq sets the samples per second'
test_that 'an existing profile is accepted again' \
  vkb-load --profiles again --profile-time 500ms get.json
test_match '^vkb-load: GET-.*: is profiled already$' .err \
  'the message says that the case is profiled already'

begun() { [ -n "$(find cut -name perf.data 2>/dev/null)" ]; }
vkb-load --profiles cut --profile-time 600s -o cut.out get.json 2>cut.err &
pid=$!
wait_until 60 begun
kill -TERM $pid
wait $pid
test_same 143 $? 'an interrupted profile ends with 143'
test_same 0 "$(wc -l <cut.out | tr -d ' ')" \
  'an interrupted profile has no record'
test_match '^vkb-load: what is finished is kept; continue with: vkb-load --resume cut.out --profiles cut --profile-time 600s get.json$' \
  cut.err 'a message says how to continue'
test_that 'an interrupted profile is accepted again' \
  vkb-load -q --profiles cut --profile-time 500ms get.json
test_same 1 "$(grep -c '"type":"profile"' .out)" \
  'an interrupted profile is made again'

mkdir -p d/e/_.
touch d/mine d/e/_./mine d/e/_./perf.data
vkb-load --plan get.json | jq -c '.id = ".."' >dots.jsonl
test_that 'a case with the id .. is accepted' \
  vkb-load -q --profiles d/e --profile-time 500ms dots.jsonl
test_same 'd/e/_./mine d/mine' "$(find d -name mine | sort | xargs)" \
  'the files in other folders are kept'
test_match '^valkey-server;' d/e/_./stacks.folded \
  'a case with dots in its id has a folder of its own'
# A closed loop, in which the server waits for most of the time.
printf '[{"commands":["BLPOP none 0.001"],"requests":[10],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[9],"cluster_mode":false,"tls_mode":false,"warmup":0,
  "custom-server-configs":{"hz":"100"}}]\n' >short.json
test_that 'a case of ten requests is profiled' \
  vkb-load -q --runs 1 --profiles s --profile short.json
test_same 'run profile' "$(jq -r .type .out | tr '\n' ' ' | sed 's/ $//')" \
  'a case of ten requests has its run and its profile'
test_same '[10,true]' "$(jq -c -s '[.[0].metrics.requests, .[1].duration_s > 2]' \
  .out)" 'only the load of the profile is longer'
config SET 0.3 "$rate" >brief.json
test_that 'a case of 0.3 s is profiled' \
  vkb-load -q --runs 1 --profiles s --profile brief.json
test_same '[0.3,true]' "$(jq -c -s '[.[0].config.duration_s,
  .[1].duration_s > 1]' .out)" 'the profile of 0.3 s has enough samples'

# --- profiling sets

config SET 2 "$rate"',"config_sets":[{},{"maxmemory-policy":"allkeys-lru"}],"profiling_sets":[{"enabled":false},{"enabled":true,"mode":"wall-time","sampling_freq":500,"delays":{"write":{"delay":0.2,"duration":1},"read":{"delay":9,"duration":9}}}]' >sets.json
test_that 'profiling sets together with config sets are accepted' vkb-load -q --runs 1 --profiles c sets.json
test_same 'run run profile profile' \
  "$(jq -r .type .out | tr '\n' ' ' | sed 's/ $//')" \
  'each set is run and profiled'
test_same '["wall",500,0.2,null]
["wall",500,0.2,{"maxmemory-policy":"allkeys-lru"}]' \
  "$(jq -c 'select(.type == "profile") | [.mode, .sampling.freq_hz, .delay_s,
    .config.config_set]' .out)" 'each profile has its mode, frequency and delay'
test_same 2 "$(find c -name flame.svg | wc -l | tr -d ' ')" 'each profile has a flame graph'
test_status 2 'profiling sets without --profiles are exit 2' vkb-load -q --runs 1 --duration 100ms sets.json
test_match 'not run: its config.profiling needs .--profiles DIR.' .err \
  'a profiled case without --profiles is not run'
test_same 2 "$(grep -c '"type":"run"' .out)" \
  'cases that are not profiled are run'

for bad in '"sampling_freq":"fast"' '"sampling_freq":0' \
  '"delays":{"write":{"delay":-1}}' '"delays":{"write":{"delay":"1s"}}' \
  '"delays":{"read":{"duration":0}}'; do
  config SET 1 ",\"cluster_mode\":false,\"profiling_sets\":[{\"enabled\":true,$bad}]" >bad.json
  test_status 2 "$bad is an error" vkb-load -q --profiles bad bad.json
  test_match 'c?bad\.json: \$\[0\]\.profiling_sets\[0\]\.' .err \
    "$bad: the error names the profiling set"
  test_that "$bad: no folder is made" test ! -e bad
done

# Read scenarios have the delays of reading and may change them.
cat >groups.json <<'E2'
[{"cluster_mode":false,"tls_mode":false,"keyspacelen":[1000],
  "profiling_sets":[{"enabled":true,"delays":{
    "write":{"delay":0,"duration":600},"read":{"delay":0.1,"duration":600}}}],
  "test_groups":[{"group":1,"scenarios":[
    {"id":"fill","type":"write","command":"SET key:__rand_int__ __data__",
     "requests":15000,"rate":2500,"clients":2},
    {"id":"look","type":"read","command":"GET key:__rand_int__",
     "duration":2,"rate":2000,"clients":2,
     "profiling":{"sampling_freq":200,"delays":{"read":{"duration":0.5}}}},
    {"id":"not","type":"read","command":"GET key:__rand_int__",
     "duration":1,"rate":2000,"clients":2,"profiling":{"enabled":false}}]}]}]
E2
test_that 'scenarios with profiling sets are accepted' vkb-load -q --runs 1 --profiles g groups.json
test_same '["fill",999,null]
["look",200,0.1]' "$(jq -c 'select(.type == "profile") | [.config.scenario,
  .sampling.freq_hz, .delay_s]' .out)" \
  'each profiled scenario has its own settings'
test_same '"not"' "$(jq -c 'select(.type == "run").config.scenario' .out)" \
  'a scenario that is not profiled is measured'

# A scenario that is too short to be profiled still fills the server.
jq 'del(.[0].test_groups[0].scenarios[2]) |
  .[0].test_groups[0].scenarios[0].requests = 10' groups.json >brief.json
test_status 2 'a scenario that is too short to be profiled is exit 2' \
  vkb-load -q --profiles b brief.json
test_match '_fill-.*profiled: not profiled: ' .err \
  'the message says that the short scenario is not profiled'
test_same '"look"' "$(jq -c 'select(.type == "profile").config.scenario' .out)" \
  'the scenarios after the short one are profiled'

# --- every node of a cluster

config SET 2 ',"cluster_mode":true,"cluster_nodes":3,"rate":3000' >cluster.json
test_that '--profile-nodes is accepted' vkb-load -q --profiles n --profile-nodes \
  --profile-time 3s cluster.json
test_same 3 "$(grep -c '"type":"profile"' .out)" 'each node has a record'
test_same 3 "$(jq -r .target.pid .out | sort -u | wc -l | tr -d ' ')" \
  'the three profiles are of different servers'
test_same 2 "$(find n -name '*-node[23]' | wc -l | tr -d ' ')" \
  'the second and third server have folders'

rm -r n/*-node3
test_that 'a cluster without the profile of one node is profiled' \
  vkb-load -q --profiles n --profile-nodes --profile-time 3s cluster.json
test_same 3 "$(grep -c '"type":"profile"' .out)" \
  'the profiles are made again if that of a further node is missing'
test_that 'a cluster with all its profiles is accepted' \
  vkb-load -q --profiles n --profile-nodes --profile-time 3s cluster.json
test_same 0 "$(grep -c '"type":"profile"' .out)" \
  'the profiles of all nodes are not made again'

test_status 2 '--profile without --profiles is an error' vkb-load --profile set.json
test_match "need '--profiles'" .err \
  'the error says that --profile needs --profiles'
test_litter 0 'no temporary file is left'
test_done
