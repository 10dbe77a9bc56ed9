#!/bin/sh
# vkb-load --plan: the cases of a configuration, and properties that every plan has.
. "${0%/*}/lib.sh"

cat >c.json <<'END'
[{"commands":["SET","GET"],"keyspacelen":[100,200],"data_sizes":[16,64],
  "pipelines":[1,10],"clients":[5],"cluster_mode":[false,"yes"],
  "tls_mode":"no","warmup":2,"requests":[1000],"io-threads":[1,4],
  "cluster_nodes":3,
  "cpu_allocation":{"cores_per_server":2,"cores_per_client":3}},
 {"commands":["LPUSH"],"keyspacelen":[100],"data_sizes":[16],"pipelines":[1],
  "clients":[5],"cluster_mode":false,"tls_mode":true,"warmup":0,"duration":3,
  "config_sets":[{},{"search.reader-threads":8,"maxmemory":"1gb"}],
  "custom-server-configs":{"io-threads":6},
  "server_cpu_range":"0","client_cpu_range":"1"}]
END
planned() { vkb-load --plan "$@" </dev/null; }

planned c.json >plan
test_same 66 "$(wc -l <plan | tr -d ' ')" 'there are 2 x 2 x 2 x 2 x 2 x 2 + 2 cases'
test_same 66 "$(jq -r .id plan | sort -u | wc -l | tr -d ' ')" 'no two cases have the same id'
test_same SET-d16-P1-c5-k100 "$(jq -r .id plan | head -n 1)" 'an id is readable'
test_same 66 "$(jq -c .config plan | sort -u | wc -l | tr -d ' ')" \
  'no two cases have the same identity'
vkb-load --plan - <plan >again
test_that 'a plan from stdin is planned unchanged' cmp plan again
vkb-load --plan plan >again
test_that 'a plan from a file is planned unchanged' cmp plan again
jq -s . plan >array.json
vkb-load --plan array.json >again
test_that 'a plan in an array is planned unchanged' cmp plan again
planned c.json c.json >again 2>said
test_that 'a configuration that is given twice gives each case once' cmp plan again
test_match 'duplicate case.* dropped' said 'a warning is printed for each duplicate case'
for i in 1 2 3; do planned --shard $i/3 c.json; done | sort >shards
sort plan >sorted
test_that 'the shards together are the plan' cmp sorted shards
test_same 32 "$(planned --case 'GET*' c.json | wc -l | tr -d ' ')" '--case'
test_same 32 "$(planned --case '*-cluster3*' c.json | wc -l | tr -d ' ')" \
  '--case: clusters'
test_same 34 "$(planned --case '!GET*' c.json | wc -l | tr -d ' ')" \
  '--case with ! before the pattern excludes cases by their ids'
test_same 'SET 1' "$(planned "$tests/../configs/quick.json" --case '!* P10' |
  jq -r 'select(.config.command == "SET") | .config | "\(.command) \(.pipeline)"')" \
  '--case with ! also excludes cases by the names of reports'
test_same 'GET P10 SET P1' "$(planned "$tests/../configs/quick.json" --case 'GET P10' --case 'SET P1' |
  jq -r '.config | "\(.command) P\(.pipeline)"' | sort | xargs)" 'several --case select the cases of each'
test_same 'SET P10' "$(planned "$tests/../configs/quick.json" --case '!* P1' --case 'SET*' |
  jq -r '.config | "\(.command) P\(.pipeline)"' | sort | xargs)" '--case with ! takes cases from those of other --case'
for pattern in '* P10' 'SET*'; do
  test_status 2 "several --case that leave none are an error: $pattern" \
    vkb-load --plan --case '!* P1' --case '!SET*' --case "!$pattern" --case 'SET P10' "$tests/../configs/quick.json"
  test_match "no case is left by '--case'; the 9 cases are: " .err 'the error of several --case says that no case is left'
done
test_status 2 'one of several --case without a match is an error' vkb-load --plan --case X --case 'GET*' c.json
test_match "no case matches 'X'" .err 'the error names the pattern without a match'
test_status 2 '--case that excludes no case is an error' vkb-load --plan --case '!X' c.json
test_match "no case matches 'X'; the 66 cases are: " .err 'the error lists the cases'
test_status 2 '--case that excludes all cases is an error' vkb-load --plan --case '!*' c.json
test_match "no case is left by '--case'; the 66 cases are: " .err \
  'the error says that no case is left'
test_status 2 '--case without a match is an error' vkb-load --plan --case X c.json
test_match "no case matches 'X'; the 66 cases are: [^ ]*, [^ ]*, .*, \.\.\.$" .err \
  'the error lists some of the cases that there are'
test_empty_file .out 'nothing is printed on stdout'
test_status 2 'an empty file is an error' vkb-load --plan /dev/null
test_match "/dev/null: the input is empty: a configuration is expected, or '-t set,get'" .err 'which is named'
test_status 2 'options of a load without a load' vkb-load --plan -P 10 -r 1000
test_match "^vkb-load: say what to load: '-t set,get'" .err 'the message says what is missing'

# The order is that of the Python tool: commands are the innermost loop.
test_same 'SET GET SET GET' \
  "$(jq -r .config.command plan | head -n 4 | xargs)" 'commands vary first'
test_same '1 1 10 10 1 1 10 10' \
  "$(jq -r .config.pipeline plan | head -n 8 | xargs)" 'pipelines vary after commands'

pick() { jq -c "select(.id == \"$1\") | $2" plan; }
test_same '[["0-1"],"2-4"]' \
  "$(pick SET-d16-P1-c5-k100 '[.server.cpus, .client.cpus]')" \
  'cpu_allocation of a single server'
test_same '[["0-1","2-3","4-5"],"6-8"]' \
  "$(pick SET-d16-P1-c5-k100-cluster3 '[.server.cpus, .client.cpus]')" \
  'cpu_allocation of a cluster in the same configuration'
test_same '[3,4,4]' \
  "$(pick SET-d16-P1-c5-k100-cluster3-io4 \
    '[.server.primaries, .server.io_threads, .config.io_threads]')" \
  'the server of a case agrees with its configuration'
test_same '{"warmup_s":2,"requests":1000,"keyspacelen":100,"data_size":16,"pipeline":1,"clients":5,"command":"SET","cluster_mode":false,"tls_mode":false,"io_threads":1,"engine":"native","benchmark_threads":1}' \
  "$(pick SET-d16-P1-c5-k100 .config)" 'every setting of a case is in its record'
test_same '[6,3,true,["0"],"1",null]' \
  "$(jq -c 'select(.config.command == "LPUSH") | [.config.io_threads,
     .config.duration_s, .server.tls, .server.cpus, .client.cpus,
     .config.config_set]' plan | head -n 1)" 'a custom io-threads is not hidden'
test_same LPUSH-d16-P1-c5-k100-tls-io6-reader_threads8_maxmemory1gb \
  "$(jq -r .id plan | tail -n 1)" 'the id of a case has its config set'

jq -c '.[0] + {"modules":[], "custom-server-configs":{}}' c.json >e.json
test_same "$(head -n 64 plan)" "$(planned e.json)" \
  'empty modules and server settings have no effect'
test_same 1 "$(planned --skip-config-set c.json | grep -c LPUSH)" \
  '--skip-config-set leaves out config sets'
test_same 32 "$(planned --cluster-mode false c.json |
  jq -c 'select(.config.command != "LPUSH")' | wc -l | tr -d ' ')" \
  '--cluster-mode false'
test_same 'true' "$(planned --cluster-mode true c.json |
  jq .config.cluster_mode | sort -u)" '--cluster-mode forces the mode'
test_same '[null,0.5,1]' "$(planned --duration 500ms --warmup 1 c.json |
  jq -c '[.config.requests, .config.duration_s, .config.warmup_s]' |
  sort -u)" '--duration and --warmup'
test_same '[7,null]' "$(planned --requests 7 c.json |
  jq -c '[.config.requests, .config.duration_s]' | sort -u)" '--requests'
test_same '[500,"constant"]' "$(planned --set rate=500 c.json |
  jq -c '[.config.rate, .config.arrivals]' | sort -u)" '--rate'
test_same '"batch-first-byte"' "$(planned --set latency=batch-first-byte c.json |
  jq -c .config.latency | sort -u)" '--set latency'

sed 's/"server_cpu_range":"0"/"server_cpu_range":"2"/' c.json >d.json
test_status 2 'two cases that differ only in their CPUs are an error' vkb-load --plan c.json d.json
test_match 'different "server_cpu_range" of the server, which is not part of its identity' .err \
  'the error says that CPUs are not part of the identity'

head -n 1 plan | sed 's/"clients":5/"clients":"5"/' >bad
test_status 2 'a case with a wrong value' vkb-load --plan bad
test_match "bad:1: case .*'config.clients' is not an integer" .err \
  'the error names the line and the wrong value'
head -n 1 plan | sed 's/"requests":1000,//' >bad
test_status 2 'a case without requests and duration' vkb-load --plan bad
for edit in '.config.pipeline = 1e300' '.config.clients = 0.5' \
  '.config.data_size = 0' '.config.keyspacelen = -1' '.client.seed = -1' \
  '.config.warmup_s = -1' '.config.rate = 0' '.client.cpus = "x"' \
  '.client.timeout_s = "1"' '.client.max_lost = -1' '.config.command = 7' '.config.requests = 1e17' \
  '.config.benchmark_threads = true' '.config.duration_s = 5'; do
  head -n 1 plan | jq -c "$edit" >bad
  test_status 2 "a case with $edit" vkb-load --plan bad
  test_match 'bad:1: case ' .err "the line of a case with $edit is named"
done
jq -c '.client.max_lost = 3' plan >lossy
test_that 'a case with max_lost' vkb-load --plan lossy
test_same 3 "$(jq .client.max_lost .out | sort -u)" 'max_lost of the plan is kept'
for edit in '.config.cluster_mode = true' '.config.tls_mode |= not' \
  '.config.io_threads = 7' '.config.config_set = {"hz": 3}' \
  '.config.unixsocket = true' '.server.primaries = 3'; do
  head -n 1 plan | jq -c "$edit" >bad
  test_status 2 "a case in which only one of two equal settings is edited: $edit" vkb-load --plan bad
  test_match "bad:1: case .*'server' does not agree with 'config" .err \
    "$edit: the error names both settings"
done
{ head -n 1 plan; head -n 1 plan; } >bad
test_that 'a case that is given twice is accepted' vkb-load --plan bad
test_same 1 "$(wc -l <.out | tr -d ' ')" 'a case that is given twice is planned once'
{ head -n 1 plan; head -n 1 plan | sed 's/"clients":5/"clients":6/'; } >bad
test_status 2 'two cases of one id' vkb-load --plan bad
test_match "two different cases have the id 'SET-d16-P1-c5-k100'" .err \
  'the error names the id of two different cases'
echo '{"type":"run","v":1,"subject":{},"config":{},"run":{},"env":{},"metrics":{},"status":"ok"}' >bad
test_status 2 'a run instead of a case is an error' vkb-load --plan bad

cat >s.json <<'END'
{"config_sets":[{"x":1}],"profiling_sets":[{"enabled":false},{"enabled":true}],
 "test_groups":[
 {"group":1,"description":"G","scenarios":[
  {"id":"a","type":"ingestion","test":"set","requests":100,"description":"A"},
  {"id":"b","type":"read","command":"FT.SEARCH i __rand_int__",
   "options":{"":"","NOCONTENT":"_nc"},"description":"B","clients":9}]},
 {"group":2,"iterations":2,"scenarios":[
  {"id":"c","command":"HSET k{iteration} f v","dataset":"d{iteration}.csv"},
  {"id":"d","type":"mixed","on_iterations":[2],"duration":5,
   "writes":[{"id":"w","command":"SET a b"}],
   "reads":[{"id":"r","command":"GET a","duration":7},{"id":"n","test":"get"}],
   "options":{"":"","X":"_x"}}]}]}
END
planned --skip-profiling s.json >plan
test_same '1_a 1_b 1_b_nc 2_c 2_c 2_d 2_d_x' \
  "$(jq -r .config.test_id plan | xargs)" 'scenarios: ids in order'
test_same 14 "$(planned s.json | wc -l | tr -d ' ')" 'scenarios: profiling sets'
test_same 7 "$(jq -r .id plan | sort -u | wc -l | tr -d ' ')" \
  'scenarios: ids differ'
test_same '["write",1,"a","SET",100]' "$(jq -c 'select(.config.scenario=="a")|
  .config | [.test_phase, .group, .scenario, .command, .requests]' plan)" \
  'scenarios: a named test'
test_same 'FT.SEARCH i __rand_int__ NOCONTENT' \
  "$(jq -r 'select(.config.scenario=="b_nc") | .config.command' plan)" \
  'scenarios: an option'
test_same 'B + NOCONTENT' "$(jq -r 'select(.config.scenario=="b_nc") |
  .about.scenario_description' plan)" 'scenarios: its description'
test_same 'HSET k1 f v d1.csv HSET k2 f v d2.csv' \
  "$(jq -r 'select(.config.scenario=="c")|.config.command,.config.dataset' \
    plan | xargs)" 'scenarios: iterations'
test_same '["SET a b",5,"GET a X",7,"GET"]' \
  "$(jq -c 'select(.config.scenario=="d_x") | .config | [.writes[0].command,
    .writes[0].duration, .reads[0].command, .reads[0].duration,
    .reads[1].command]' plan)" \
  'scenarios: mixed: options are added to reads, durations are inherited'
test_same 3 "$(planned --groups 1 --skip-profiling s.json | wc -l |
  tr -d ' ')" '--groups'
test_same b_nc "$(planned --scenarios b_nc --skip-profiling s.json |
  jq -r .config.scenario)" '--scenarios: the expanded id'
vkb-load --plan plan >again
test_that 'scenarios: a plan is planned unchanged' cmp plan again
test_same "$(planned --groups 2 --skip-profiling s.json)" "$(planned --groups 2 plan)" \
  '--groups selects from cases, too'
test_same "$(planned --groups 1 --scenarios b,b_nc --skip-profiling s.json)" \
  "$(planned --groups 1 --scenarios b,b_nc plan)" '--scenarios selects from cases, too'
planned s.json >profiled
test_same "$(jq -c .config,.server plan)" "$(planned --skip-profiling profiled 2>/dev/null |
  jq -c .config,.server)" '--skip-profiling changes cases, too'
test_same "$(planned --skip-profiling --skip-config-set s.json | jq -c .config,.server)" \
  "$(planned --skip-config-set plan | jq -c .config,.server)" '--skip-config-set changes cases, too'
test_status 2 'cases cannot get another cluster mode' vkb-load --plan --cluster-mode true plan
test_match "plan:1: case '1_a.*' has another cluster mode: .*--plan" .err 'the error says what to do'
for list in '1,3' '3,1'; do
  test_status 2 "--groups $list without a group 3 is an error" vkb-load --plan --groups "$list" s.json
  test_match "'--groups': no case has the group '3'" .err "--groups $list: the error names it"
done
test_status 2 'an unknown scenario is an error' vkb-load --plan --scenarios 'a, bb' plan
test_match "'--scenarios': no case has the scenario 'bb'" .err 'the error names the scenario'
jq 'del(.test_groups[0].scenarios[1].command) | .test_groups[0].scenarios[1].test = "get"' \
  s.json >bad
test_status 2 'scenarios: options without a command' vkb-load --plan bad
test_match "scenario 'b': 'options' need a 'command'.* as in 'GET key" .err \
  'the error says to write the options after the command'

for f in "$top"/configs/*.json; do
  test_that "configs/${f##*/}" vkb-load --plan "$f"
  [ -s .out ] || test_result 1 "${f##*/} has cases"
done

test_status 2 'a profiled scenario without --profiles is an error' \
  vkb-load --groups 1 --scenarios b s.json
test_match "not run: its config.profiling needs '--profiles DIR'" .err \
  'the error says that --profiles DIR is needed'
printf '[{"commands":["LRANGE","LRANGE_100"],"keyspacelen":[9],"data_sizes":[3],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[9]}]\n' >lrange.json
test_that 'two names of one command' vkb-load --plan lrange.json
test_same '["LRANGE_100"]' "$(jq -s -c 'map(.config.command)' .out)" \
  'both names of LRANGE_100 give one case'

# --- values and times to live

cat >mixed.json <<'END'
[{"keyspacelen": [100], "test_groups": [{"group": 1, "scenarios": [
  {"id": "m", "type": "mixed", "requests": 9, "values": "8:1,4:1", "ttl": "5-5",
   "writes": [{"test": "set", "values": "10 constant"}, {"test": "set", "data_size": 7},
     {"test": "set", "values": "4-6 random", "ttl": "1-9"}],
   "reads": [{"test": "get"}]}]}]}]
END
test_same '[6,"4:50,8:50","5",[10,null,null],[7,null,null],[5,"4-6 random","1-9"],[null,null,null]]' \
  "$(planned mixed.json | jq -c '.config | [.data_size, .values, .ttl] +
    [(.writes[], .reads[]) | [.data_size, .values, .ttl]]')" 'values of the parts'
test_same '[16,"16 random","3",[null,null,null]]' "$(planned --set 'values=16 random' --set ttl=3 mixed.json |
  jq -c '.config | [.data_size, .values, .ttl] +
    ([(.writes[], .reads[]) | [.data_size, .values, .ttl]] | unique)')" \
  'values and ttl of --set are for all parts'
vkb-load --plan mixed.json >plan
jq -c '.config.values = "x"' plan >bad
test_status 2 'a plan with an invalid value' vkb-load --plan bad
test_match "'config.values' is not sizes such as" .err 'invalid values in a plan are refused'
jq -c '.config.writes[2].ttl = "x"' plan >bad
test_status 2 'a plan with an invalid value in a part' vkb-load --plan bad
test_match "'ttl' in 'config.writes' is missing or invalid" .err 'invalid values of a part are refused'

# --- distributions of keys

jq -c '.[0].commands = ["GET"] | .[0].keys = ["uniform", "zipf", "zipf:.990",
  "hot:10%:90%", "sequential"]' lrange.json >keys.json
test_that 'distributions of keys' vkb-load --plan keys.json
test_same '["GET-d3-P1-c1-k9",null,null] ["GET-d3-P1-c1-k9-zipf:0.99","zipf:0.99",null] ["GET-d3-P1-c1-k9-hot:10_:90_","hot:10%:90%",null] ["GET-d3-P1-c1-k9-n9-w0-T1-seq",null,true]' \
  "$(jq -c '[.id, .config.keys, .config.sequential]' .out | sed 's/k9-n9-w0-T1",/k9",/' | xargs -d '\n')" \
  'the default is not part of the id, and equal distributions are one case'
test_same '["zipf:1.2",null]' "$(planned --set keys=zipf:1.2 keys.json |
  jq -c '[.config.keys, .config.sequential]' | sort -u)" '--set keys replaces all'
test_same '[null,null]' "$(planned --set keys=uniform keys.json |
  jq -c '[.config.keys, .config.sequential]' | sort -u)" '--set keys=uniform'
test_status 2 '--set keys with nonsense' vkb-load --set keys=zipf:x --plan keys.json
test_match "^vkb-load: option '--set': keys=zipf:x: .*distribution .zipf:x.: zipf:THETA" .err \
  'the error has the invalid distribution'
cat >mixed.json <<'END'
[{"keyspacelen": [100], "test_groups": [{"group": 1, "scenarios": [
  {"id": "m", "type": "mixed", "requests": 9, "keys": "zipf",
   "writes": [{"test": "set", "keys": "uniform"}, {"test": "set", "sequential": true}],
   "reads": [{"test": "get"}, {"test": "get", "keys": "latest"}]}]}]}]
END
test_same '["zipf:0.99","uniform",null,null,"latest:0.99"]' "$(planned mixed.json | jq -c '.config |
  [.keys, .writes[].keys, .reads[].keys]')" 'keys of the parts'
test_same '["hot:5%:95%",null,null,null,null]' "$(planned --set keys=hot:5%:95% mixed.json | jq -c '.config |
  [.keys, .writes[].keys, .reads[].keys]')" '--set keys is for all parts'
vkb-load --plan mixed.json >plan
jq -c '.config.keys = "zipf:x"' plan >bad
test_status 2 'a plan with an invalid distribution' vkb-load --plan bad
test_match "'config.keys' is not a distribution" .err 'an invalid distribution in a plan is refused'
jq -c '.config.reads[1].keys = "late"' plan >bad
test_status 2 'a plan with an invalid distribution in a part' vkb-load --plan bad
test_match "'keys' in 'config.reads' is missing or invalid" .err 'an invalid distribution of a part is refused'

# --- options that cannot be combined

# conflict PATTERN OPTION...: these options are refused, and the error matches the
# pattern.
conflict() {
  pattern=$1
  shift
  test_status 2 "$* is refused" vkb-load "$@" c.json
  test_match "^vkb-load: .*$pattern" .err "$*: the error says why"
}
conflict "'--duration' and '--requests' exclude each other" --duration 1s --requests 9
for option in '--output x' '--resume x' '--logs x'; do
  # shellcheck disable=SC2086 # two words
  conflict "'--plan' prints to stdout and runs nothing" --plan $option
done
conflict "'--output' and '--resume' exclude each other" -o x --resume x
for option in '--server x' '--label x'; do
  # shellcheck disable=SC2086
  conflict "'--builds' names the servers" --builds x $option
done
for option in '--builds x' '--again x' '--server x' '--module x'; do
  # shellcheck disable=SC2086
  conflict 'cannot be combined with a running server' --port 1 $option
done
for option in --count --count-only; do
  conflict "'--count' and '--count-only' cannot be combined with a running server" --port 1 $option
done
conflict "'--flush' and '--no-flush' exclude each other" --port 1 --flush --no-flush
for option in --flush --no-flush; do
  conflict 'are for a running server' $option
done
for option in '--host x' '--port 1' --tls; do
  # shellcheck disable=SC2086
  conflict "'--unixsocket' excludes '--host', '--port' and '--tls'" --unixsocket x $option
done
for option in --cacert --cert --key; do
  conflict "'--cacert', '--cert' and '--key' need '--tls'" --port 1 $option x
done
for option in --profile '--profile-time 1s' --profile-nodes '--profile-freq 99'; do
  # shellcheck disable=SC2086
  conflict "need '--profiles'" $option
done
for option in --cert --key; do
  conflict "'--cert' and '--key' go together" --port 1 --tls $option x
done
conflict 'stdin can be only one of builds, runs and cases' --builds - -
test_that '--plan with --flush is accepted' vkb-load --plan --flush c.json
test_that 'commands that were refused wrote no file' test ! -e x

# --- more cases than the limit

jq -nc '[range(1; 3000)] as $n | [{commands: ["SET"], keyspacelen: $n, data_sizes: $n,
  clients: $n, pipelines: [1], cluster_mode: false, tls_mode: false, warmup: 0,
  requests: [1]}]' >huge.json
test_status 2 'three lists of 2,999 values' timeout 60 vkb-load --plan huge.json
test_match '^vkb-load: huge\.json: \$\[0\]: more than 100000 cases, which is the limit' .err \
  'three lists of 2,999 values are too many cases'
test_same '1 0' "$(wc -l <.err | tr -d ' ') $(wc -c <.out | tr -d ' ')" \
  'too many cases are one error and no plan'
printf '[{"test_groups":[{"iterations":1000000,"scenarios":[{"id":"a","test":"set","requests":10}]}]}]' \
  >iterations.json
test_status 2 'a million iterations' timeout 60 vkb-load --plan iterations.json
test_match 'more than 100000 cases' .err 'a million iterations are too many cases'
jq -c '.[0].test_groups[0].iterations = 20000' iterations.json >many.json
test_that '20,000 iterations are planned at once' timeout 60 vkb-load --plan many.json
test_same 20000 "$(wc -l <.out | tr -d ' ')" '20,000 iterations give 20,000 cases'
sed -n 's/.*Pq //; s/^All configurations together may have up to \([0-9]*\) cases.*/\1/p' \
  "$top/man/vkb-config.5" >limit
test_same 100000 "$(cat limit)" 'vkb-config(5) has this limit'
test_done
