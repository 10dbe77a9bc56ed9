#!/bin/sh
# vkb-load --order slices: the servers of several builds get their load interleaved. Three
# builds have one pipeline here, which takes half the time of two.
. "${0%/*}/lib.sh"

test_server vkb-load
server=$(command -v valkey-server)
base='"keyspacelen":[100],"data_sizes":[16],"clients":[4],"cluster_mode":false,"tls_mode":false,"warmup":0'
build() { # build LABEL SERVER
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
    "$1" "$2"
}
{ build a "$server"; build b "$server"; build c "$server"; } >builds
printf '[{"commands":["SET","LPOP"],"pipelines":[4],%s,"duration":0.3}]\n' "$base" >c.json

test_that 'three builds in slices' vkb-load --builds builds --order slices \
  --runs 2 c.json
cp .out runs
test_same 12 "$(grep -c '"status":"ok"' runs)" 'there are all runs of all builds'
test_same true "$(jq -s 'map(select(.type == "run")) | [_nwise(3)] |
  all((map(.subject.label) | sort) == ["a", "b", "c"]
    and (map([.run.block, .run.seed, .config]) | unique | length) == 1)' runs)" \
  'the runs of a turn have the same block and seed'
test_same true "$(jq -s 'map(select(.type == "run")) |
  all((.series.rps | length) == .run.slices and .metrics.requests > 0 and
    .metrics.elapsed_s >= 0.3 and .metrics.elapsed_s < 0.7 and
    (.series.at_s[-1] - .metrics.elapsed_s | fabs) < 1e-6)' runs)" \
  'a run has an interval for each slice'
# On a machine so busy that 200 batches take more than .2 s there is one long slice.
test_same true "$(jq -s 'map(select(.type == "run") |
    {n: .run.slices, each: (.metrics.elapsed_s / .run.slices)}) |
  any(.n >= 3) and all(if .n == 1 then .each - 0.3 | fabs < 1e-6
    else .each > 0.017 and .each < 0.181 and (.n - 1) * .each < 0.3 end)' runs)" \
  'a slice has 20 to 200 ms, a tenth of which is not measured'
test_same true "$(jq -s 'map(select(.type == "run").metrics |
  .rps * .elapsed_s / .requests - 1 | fabs) | max < 1e-6' runs)" \
  'what is slow in a few slices only counts: the rate is requests over their time'
test_same true "$(jq -s 'map(select(.type == "run" and .env.remote == null)) |
  all(.metrics.server_cpu_us_per_req > 0 and .metrics.client_busy_percent <= 100
    and .metrics.server_busy_percent <= 100 and (has("samples") | not))' runs)" \
  'the CPU time of a run is that of its own slices'
vkb-compare -b a --on-insufficient ok runs >.out 2>.err
test_absent 'Not paired' .out 'vkb-compare pairs the runs of a turn'

# --- a rate

printf '[{"commands":["SET"],"pipelines":[1],%s,"duration":0.4,"rate":1000},
  {"commands":["SET"],"pipelines":[1],%s,"requests":[500],"rate":1500,"arrivals":"poisson"}]\n' \
  "$base" "$base" >c2.json
test_that 'a rate' vkb-load --builds builds --order slices --runs 1 c2.json
test_same true "$(jq -s 'map(select(.config.duration_s)) |
  length == 3 and all(.run.slices == 3 and
    (.metrics.elapsed_s - .54 | . >= -1e-6 and . < .25) and
    (.metrics.offered_rps - 1000 | fabs) < 10)' .out)" \
  'with a rate a slice has 200 ms, at the rate of the case'
test_same true "$(jq -s 'map(select(.config.requests)) |
  length == 3 and all(.run.slices > 1 and .metrics.requests == 500 and
    (.metrics.offered_rps | . > 900 and . < 1800))' .out)" \
  'with a rate a number of requests is made exactly'

# --- memory

printf '[{"commands":["SET","INCR"],"pipelines":[1],%s,"duration":0.1}]\n' "$base" |
  sed 's/"keyspacelen":\[100\]/"keyspacelen":[100000000000]/' >large.json
test_that 'data that do not fit into memory several times' vkb-load --builds builds --order slices \
  --runs 2 large.json
test_match 'not in slices: the values of 3 servers take 4.80TB of memory, and .*B are available; its builds are measured one after the other in each round' \
  .err 'a message has the sizes'
test_same 1 "$(grep -c 'not in slices' .err)" 'the message is printed once'
test_same '1 1 1 2 2 2' "$(jq -r 'select(.status == "ok" and .run.slices == null) |
  .run.block' .out | xargs)" 'the runs of a round are pairs'
test_same 6 "$(jq -r 'select(.run.slices >= 1).config.command' .out | grep -c INCR)" \
  'a command that writes no values of its own is measured in slices'

# Here the size is known only after servers were populated. A control group is the only
# limit that can be set on their memory; only root can make one.
group=/sys/fs/cgroup/memory/vkb-test-$$
if mkdir "$group" 2>.err && echo 80M >"$group/memory.limit_in_bytes"; then
  printf '[{"commands":["GET"],"pipelines":[1],%s,"duration":0.1}]\n' "$base" |
    sed 's/"keyspacelen":\[100\]/"keyspacelen":[300000]/' >large.json
  # shellcheck disable=SC2016 # sh expands them
  test_that 'servers that turn out to be too large' \
    sh -c 'echo $$ >"$0/cgroup.procs"; shift; exec vkb-load "$@"' "$group" - \
    --builds builds --order slices --runs 1 large.json
  test_match 'not in slices: the servers of 2 further builds need another [0-9.]*MB of memory, and [0-9.]*MB are available' \
    .err 'the first builds are measured before'
  test_same 3 "$(jq -r 'select(.status == "ok" and .run.block == 1) |
    .run.order' .out | sort -n | tail -n 1)" 'and their runs are numbered as if that had not been tried'
  rmdir "$group"
fi

# --- a number of requests

printf '[{"commands":["LPUSH","LPOP"],"pipelines":[1,7],%s,"requests":[12001]},
  {"commands":["SET"],"pipelines":[1],%s,"requests":[3]}]\n' "$base" "$base" >c4.json
test_that 'a number of requests' vkb-load --builds builds --order slices \
  --runs 1 c4.json
cp .out made
test_same 15 "$(jq -s 'map(select(.type == "run" and .status == "ok" and
  .metrics.requests == .config.requests and .metrics.errors == 0 and
  .run.slices >= 1)) | length' made)" \
  'each build makes exactly this number'
test_same true "$(jq -s 'map(select(.config.command == "LPOP")) |
  length == 6 and all(.metrics.hit_rate_percent == 100)' made)" \
  'each of these elements is popped once'
test_same true "$(jq -s 'map(select(.config.requests == 12001 and .config.pipeline == 1)) |
  length == 6 and all(.run.slices > 1 and (.series.rps | length) == .run.slices)' made)" \
  'the load alternates between the builds until all requests are made'
printf '[{"commands":["SET"],"pipelines":[1],%s,"requests":[3,100]}]\n' "$base" |
  sed 's/"warmup":0/"warmup":0.1/' >c5.json
test_that 'a small number of requests after a warm-up' vkb-load --builds builds --order slices \
  --runs 1 c5.json
test_same true "$(jq -s 'map(select(.type == "run")) | length == 6 and
  all(.run.slices >= 1 and .metrics.min_latency_ms > 0 and
    .metrics.avg_latency_ms <= .metrics.elapsed_s * 1e3)' .out)" \
  'the first slice, which makes them all, is measured'

# --- scenarios in order, mixed scenarios, clusters

cat >scene.json <<'END'
{"keyspacelen": [100], "test_groups": [{"group": 1, "description": "G", "scenarios": [
  {"id": "fill", "type": "write", "test": "set", "requests": 500,
   "setup_commands": ["SET mark 1"]},
  {"id": "mix", "type": "mixed", "duration": 0.3, "setup_commands": ["RENAMENX mark mark1"],
   "writes": [{"id": "w", "test": "set"}],
   "reads": [{"id": "r", "test": "get", "clients": 2, "pipeline": 4}]},
  {"id": "last", "type": "read", "test": "get", "requests": 500,
   "setup_commands": ["RENAMENX mark1 mark2"]}]}]}
END
test_that 'scenarios of a group in slices' vkb-load --builds builds --order slices --runs 2 scene.json
cp .out scene
test_same true "$(jq -s 'map(select(.type == "run")) | [_nwise(12)] | length == 2 and
  all(all(.run.slices >= 1) and ([group_by(.config.test_id)[] |
    {n: length, same: (map([.run.block, .run.seed]) | unique | length)}] |
    length == 4 and all(.n == 3 and .same == 1)))' scene)" \
  'all scenarios run in slices, in pairs, on servers with the data of earlier scenarios'
# On a busy machine there may be one slice.
test_same '6 []' "$(jq -sc 'map(select(.config.test_phase // "" | test("mixed"))) |
  group_by([.run.block, .subject.label]) | "\(length) \(map(select(length != 2 or
    .[0].run.slices != .[1].run.slices or
    any(.run.overlap_percent <= 50 or .metrics.requests == 0)) |
    map([.run.slices, .run.overlap_percent, .metrics.requests])))"' scene | jq -r .)" \
  'the parts of a mixed scenario have the same slices'
test_same true "$(jq -s 'map(select(.config.test_phase // "" | test("mixed")).metrics |
  .rps * .elapsed_s / .requests - 1 | fabs) | length > 0 and max < 1e-6' scene)" \
  'each part has its own rate'
jq -c 'select((.run.order // 0) <= 5)' scene >part # the runs of half of the builds of the mixed scenario
test_that 'a session that is resumed between the builds of a scenario' vkb-load --builds builds \
  --order slices --runs 2 --resume part scene.json
test_match 'is not in slices, since some builds have it already' .err 'a message says that it is not run in slices, since some builds have it already'
test_same 24 "$(jq -r 'select(.status == "ok") |
  "\(.subject.label) \(.config.test_id) \(.run.index)"' part | sort -u | grep -c .)" \
  'all runs are there'
test_same 24 "$(grep -c '"status":"ok"' part)" 'no run is there twice'
test_that 'a case that only prepares data' vkb-load --builds builds --order slices \
  --runs 1 --scenarios last scene.json
test_same '1_last 1_last 1_last' \
  "$(jq -r 'select(.run.slices >= 1) | .config.test_id' .out | xargs)" 'such a case is not recorded'
jq '.test_groups[0].scenarios[1].reads[0].requests = 500' scene.json >uneven.json
test_that 'parts that end at different times' vkb-load --builds builds \
  --order slices --runs 1 uneven.json
test_same 12 "$(jq -r 'select(.status == "ok" and .run.slices == null) | .run.block' .out |
  grep -c 1)" 'such parts are run in slices'

{ build a "$server"; build b "$server"; } >builds
printf '[{"commands":["SET","LPOP"],"pipelines":[1,8],%s,"duration":0.15},
  {"commands":["SET"],"pipelines":[2],"sequential":true,%s,"requests":[3000]},
  {"commands":["GET"],"pipelines":[1],%s,"duration":0.3,"rate":1000}]\n' \
  "$base" "$base" "$base" | sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":2/' >cl.json
test_that 'clusters' vkb-load --builds builds --order slices --runs 1 cl.json
test_same '12 []' "$(jq -sc 'map(select(.type == "run")) | "\(length) \(map(select(
  (.run.slices >= 1 and .metrics.requests > 0 and .metrics.errors == 0 and
    (.config.rate == null or .metrics.requests >= 300) and
    (.config.requests == null or .metrics.requests == 3000)) | not) |
    [.config.command, .config.rate, .run.slices, .metrics.requests, .metrics.errors, .error]))"' .out | jq -r .)" \
  'are in slices'

# --- failures

{ build a "$server"; build bad /bin/false; build b "$server"; } >builds
test_status 2 'a build whose server does not start' vkb-load --builds builds \
  --order slices --runs 1 --case 'SET*' c.json
test_same 'a ok
b ok
bad failed' "$(jq -r '.subject.label + " " + .status' .out | sort)" \
  'the other builds are measured'
test_match 'run 1 failed' .err 'a message reports the failure'

printf '#!/bin/sh\nexec %s "$@" --rename-command SET ""\n' "$server" >noset
chmod +x noset
{ build a "$server"; build bad "$scratch/noset"; } >builds
test_status 2 'a build that refuses the commands' vkb-load --builds builds \
  --order slices --runs 1 --case 'SET*' c.json
test_same 'a ok null
bad failed null' "$(jq -r '.subject.label + " " + .status + " \(.run.block)"' .out |
  sort)" 'the other build is measured alone, without a pair'
test_match 'failed in slices: .*unknown command .*; each build is measured alone' \
  .err 'a message says that builds are measured alone'

# --- a case with long batches

printf '[{"commands":["LRANGE_600"],"pipelines":[100],"keyspacelen":[10],"data_sizes":[16],"clients":[4],"cluster_mode":false,"tls_mode":false,"warmup":0,"duration":0.5}]\n' >c3.json
{ build a "$server"; build b "$server"; } >builds
test_that 'a slow case' vkb-load --builds builds --order slices --runs 1 c3.json
test_same '1 1' "$(jq -r 'select(.type == "run") | .run.slices' .out | xargs)" \
  'each build gets all of its time at once'

# --- a server that is killed

cp "$server" second
{ build a "$server"; build b "$PWD/second"; } >builds
printf '[{"commands":["SET"],"pipelines":[1],%s,"duration":5,"rate":1000}]\n' "$base" >five.json
vkb-load --builds builds --order slices --runs 1 five.json >dead 2>.err </dev/null &
pid=$!
loaded() { # the clients of both builds are connected
  [ "$(find "/proc/$pid/fd" -lname 'socket:*' | wc -l)" -ge 9 ]
}
wait_until 20 loaded
kill -9 "$(ps -eo pid=,comm= | awk '$2 == "second" {print $1}')"
wait "$pid"
test_same 2 $? 'a server that is killed'
test_match 'killed by signal 9' .err 'the message has the signal'
test_same 2 "$(jq .run.order dead | sort -u | wc -l)" 'no two runs have one place in the session'
test_same 'a ok
b failed' "$(jq -r '.subject.label + " " + .status' dead | sort)" \
  'its run has failed, and only the other build is measured alone'

# --- a signal

{ build a "$server"; build b "$server"; } >builds
printf '[{"commands":["SET"],"pipelines":[1],%s,"duration":60,"rate":1000}]\n' "$base" >long.json
rm -rf tmp/vkb-logs.* # from the failed runs above
env VKB_TEST_MARK="$scratch" vkb-load --builds builds --order slices --runs 1 \
  long.json >.out 2>.err </dev/null &
pid=$!
ours() {
  grep -lzs "^VKB_TEST_MARK=$scratch" /proc/[0-9]*/environ
}
both_run() { # vkb-load has two servers among its descendants
  [ "$(descendants "$pid" valkey-server | wc -l)" -eq 2 ]
}
nothing_left() {
  [ -z "$(ours)" ] && [ -z "$(ls tmp)" ]
}
wait_until 20 both_run
test_result $? 'the servers run at the same time'
kill -s TERM "$pid"
wait "$pid"
test_same 143 $? 'a signal ends the session'
wait_until 10 nothing_left
test_result $? 'no server and no file is left'

test_done
