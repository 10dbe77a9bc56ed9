#!/bin/sh
# vkb-load checks configurations strictly: every error has the path of the key.
. "${0%/*}/lib.sh"

good='"commands":["SET"],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[10]'

# config MEMBERS...: writes the valid configuration with these members instead of its
# own.
config() {
  printf '[{%s}]' "$good" >base.json
  printf '{%s}' "$1" >over.json
  jq -c -s '[.[0][0] * .[1]] | map(with_entries(select(.value != "GONE")))' \
    base.json over.json >c.json
}

# refused PATTERN WHAT MEMBERS
refused() {
  config "$3"
  test_status 2 "$2" vkb-load --plan c.json
  test_match "^vkb-load: c\\.json: $1" .err "$2: the message"
  test_empty_file .out "$2: no plan"
}

accepted() { # accepted WHAT MEMBERS
  config "$2"
  test_that "$1" vkb-load --plan c.json
  test_empty_file .err "$1: nothing is printed on stderr"
}

p='\$\[0\]'
refused "$p\\.piplines: unknown key, did you mean 'pipelines'\\?$" \
  'an unknown key' '"piplines":[1]'
refused "$p\\.zzzz: unknown key$" 'an unknown key without a similar one' '"zzzz":[1]'
refused "$p: neither 'commands' nor 'mix' nor 'test_groups'" 'no commands' '"commands":"GONE"'
for key in warmup keyspacelen data_sizes pipelines clients cluster_mode \
  tls_mode; do
  accepted "no $key" "\"$key\":\"GONE\""
done
for key in keyspacelen data_sizes pipelines clients requests; do
  for bad in '[]' '[0]' '[-1]' '[1.5]' '[true]' '["1"]' '[null]' '[[1]]' '1' \
    '"1"' '{}' 'true'; do
    config "\"$key\":$bad"
    vkb-load --plan c.json >.out 2>.err </dev/null
    test_same 2 $? "$key: $bad is refused"
    test_match "$p\\.$key(\\[0\\])?: '$key' must be a list of positive integers, not " \
      .err "$key: $bad is shown"
  done
done
refused "$p\\.commands\\[1\\]: 'commands' must be a non-empty list of non-blank strings, not \" \"" \
  'a blank command' '"commands":["SET"," "]'
refused "$p: commands: unknown command 'GETT', did you mean 'GET'" \
  'a wrong command' '"commands":["GETT"]'
refused "$p: commands: unknown command 'set', did you mean 'SET'" \
  'a command in lower case' '"commands":["set"]'
refused "$p: commands: 'HLEN' is not a named test: give its arguments, too, as in 'HLEN key:__rand_int__ [.]{3}'" \
  'a command that is not a test and needs arguments' '"commands":["HLEN"]'
refused "$p: mix: 'SORT' is not a named test: give its arguments" 'such a command in a mix' '"commands":"GONE","mix":"GET 1, sort 2"'
accepted 'a command that is not a test and needs no arguments' '"commands":["INFO"]'
refused "$p: commands: unknown command 'MONITOR'" 'a command whose replies come later' '"commands":["MONITOR"]'
refused "$p: Cannot specify both 'commands' and 'mix'" 'commands and a mix' '"mix":"GET 1"'
refused "$p: 'mix_order' needs a 'mix'" 'an order without a mix' '"mix_order":"turn"'
accepted 'a command with blanks' '"commands":["SET","GETRANGE key:{key} 0 9"],"populate_with":"SET"'
refused "$p\\.populate_with: has no effect on scenarios: give each its own" 'populate_with for all scenarios' \
  '"commands":"GONE","populate_with":"SET","scenarios":[{"test":"get"}]'
refused "$p: Cannot specify both 'replay' and 'populate_with'" 'populate_with for a trace' \
  '"commands":"GONE","keyspacelen":"GONE","data_sizes":"GONE","replay":"x","populate_with":"SET"'
accepted 'a mix instead of commands' '"commands":"GONE","mix":"get 90 SET 10"'
accepted 'a list of mixes' '"commands":"GONE","mix":["GET 9,SET 1","GET 1"],"mix_order":"turn"'
accepted 'a mix in the long form' \
  '"commands":"GONE","mix":[{"command":"GET a:__rand_int__","weight":0.5},{"command":"SET","weight":1}]'
refused "$p\\.mix: 'mix': invalid mix \"GET\": 'GET' has no weight behind it" \
  'a command without a weight' '"commands":"GONE","mix":"GET"'
refused "$p\\.mix: .*'a:1' behind 'GET' is not a weight: a command with arguments needs quotes" \
  'a template without quotes' '"commands":"GONE","mix":"GET a:1 90"'
refused "$p\\.mix\\[1\\]: .*'GET' comes twice" 'a command twice' \
  '"commands":"GONE","mix":["SET 1","GET 1 get 2"]'
refused "$p\\.mix: .*the weight of 'GET' is not a number from 0.000001 to 1000000000" \
  'a weight of 0' '"commands":"GONE","mix":"GET 0"'
refused "$p\\.mix: .*the quote in 'GET a 5 is not closed" 'an open quote' \
  "\"commands\":\"GONE\",\"mix\":\"'GET a 5\""
refused "$p\\.mix: 'mix': 'GET' has no 'weight'" 'an object without a weight' \
  '"commands":"GONE","mix":[{"command":"GET"}]'
refused "$p\\.mix: 'mix': 'wait' is an unknown key: use 'command' and 'weight'" \
  'an unknown key in an object' '"commands":"GONE","mix":[{"command":"GET","weight":1,"wait":1}]'
refused "$p\\.mix: .* must be commands and weights such as " 'a number as a mix' \
  '"commands":"GONE","mix":5'
refused "$p.mix: 'mix': its element \\[1\\] has no 'command'" 'a mix without a command' \
  '"commands":"GONE","mix":[{"command":"GET","weight":1},{"weight":1}]'
refused "$p: mix: unknown command 'GETT', did you mean 'GET'" 'a wrong command in a mix' \
  '"commands":"GONE","mix":"GETT 1"'
refused "$p: Cannot specify both 'requests' and 'duration'" \
  'requests and duration' '"duration":5'
refused "$p\\.duration: 'duration' must be a positive number, not \\[5\\]" \
  'a list of durations' '"requests":null,"duration":[5]'
refused "$p\\.warmup: .* not true" 'a boolean as warm-up' '"warmup":true'
refused "$p\\.warmup: .* not -1" 'a negative warm-up' '"warmup":-1'
refused "$p\\.cluster_mode: .* not \"maybe\"" 'a cluster mode of maybe' '"cluster_mode":"maybe"'
refused "$p\\.cluster_mode: .* not \\[\\]" 'no mode at all' '"cluster_mode":[]'
refused "$p\\.tls_mode: .* not 42" 'a number as a mode' '"tls_mode":42'
refused "$p\\.io-threads\\[1\\]: .* not 0" 'io-threads 0' '"io-threads":[1,0]'
refused "$p\\.benchmark-threads: .* not \\[2\\]" 'a list of threads' \
  '"benchmark-threads":[2]'
refused "$p\\.port: .* not 65536" 'a large port' '"port":65536'
refused "$p\\.config_sets\\[0\\]\\.a: .* not true" 'a boolean setting' \
  '"config_sets":[{"a":true}]'
refused "$p\\.config_sets\\[1\\]: 'requirepass' is a secret" \
  'a secret to compare' '"config_sets":[{},{"requirepass":"x"}]'
for bad in true '[1]' null '{}'; do
  refused "$p\\.custom-server-configs\\.a: .* not " "a custom setting $bad" \
    "\"custom-server-configs\":{\"a\":$bad}"
done
refused "$p\\.custom-server-configs: .*both 'io-threads'" 'two io-threads' \
  '"io-threads":2,"custom-server-configs":{"io-threads":4}'
refused "$p\\.custom-server-configs: 'a b' is not the name of a server setting" 'a name with a blank' \
  '"custom-server-configs":{"a b":1}'
refused "$p\\.config_sets\\[0\\]: 'port' cannot be changed, since the key 'port' of the configuration sets it" \
  'a port to set later' '"config_sets":[{"port":7000}]'
refused "$p\\.config_sets\\[1\\]: 'DIR' cannot be changed, since vkb-serve sets it" 'a folder to set later' \
  '"config_sets":[{},{"DIR":"x"}]'
# What vkb-serve sets is ignored, as the Python tool documents it, and named once.
config '"custom-server-configs":{"bind":"0.0.0.0","hz":20,"daemonize":"yes","pidfile":"x"},"rdb":"d.rdb"'
jq -c '. + [.[0] | .port = 7000 | ."custom-server-configs" = {PORT: 1, bind: 2, dbfilename: "x"}]' c.json >ignored.json
test_that 'settings that vkb-serve sets' vkb-load --plan ignored.json
test_same '[{"hz":20},{"hz":20},"127.0.0.1"] [null,null,"127.0.0.1"]' \
  "$(jq -c '[.config.server_config, .server.config, .server.host // "127.0.0.1"]' .out | xargs -d '\n')" \
  'they are ignored, and do not identify a case'
test_same "$(printf '%s\n' "'bind': \"0.0.0.0\" is ignored, since the key 'bind_ip' of the configuration sets it" \
  "'daemonize': \"yes\" is ignored, since vkb-serve sets it" "'pidfile': \"x\" is ignored, since vkb-serve sets it" \
  "'port': 1 is ignored, since the key 'port' of the configuration sets it" \
  "'dbfilename': \"x\" is ignored, since the key 'rdb' of the configuration sets it")" \
  "$(sed "s/^vkb-load: ignored.json: 'custom-server-configs': //" .err)" 'a message names each, with its value, once'
refused "$p\\.modules\\[0\\]: Missing required key: path" \
  'a module without path' '"modules":[{}]'
refused "$p\\.modules\\[0\\]\\.args: unknown key" 'a wrong key in a module' \
  '"modules":[{"path":"x.so","args":[]}]'

for bad in '' ',' '1,' ',1' '1,,2' '3-1' '-1' 'a' '1-2-3' '+1' '1.5' '9999'; do
  refused "$p\\.server_cpu_range: .*(CPU list|non-blank)" "CPUs '$bad'" \
    "\"server_cpu_range\":\"$bad\""
done
refused "$p\\.server_cpu_range: .* not 3" 'CPUs as a number' \
  '"server_cpu_range":3'
refused "$p: server_cpu_range and client_cpu_range overlap: \"0-3\" and \"3\"" \
  'overlapping CPUs' '"server_cpu_range":"0-3","client_cpu_range":"3"'
refused "$p: Cannot specify both 'cpu_allocation' and 'client_cpu_range'" \
  'two ways to pin' \
  '"client_cpu_range":"3","cpu_allocation":{"cores_per_server":1,"cores_per_client":1}'
refused "$p\\.cpu_allocation: Missing required key: cores_per_client" \
  'half an allocation' '"cpu_allocation":{"cores_per_server":1}'
refused "$p\\.cpu_allocation: servers and clients overlap" \
  'an overlapping allocation' \
  '"cpu_allocation":{"cores_per_server":1,"cores_per_client":1,"servers":["0-1"],"clients":["1"]}'
refused "$p: CPUs are given for 2 nodes, but there are 3" 'too few CPU lists' \
  '"cluster_mode":true,"cluster_nodes":3,"cluster_cpu_ranges":["0","1"]'
refused "$p\\.cluster_ports: ports must be consecutive: 6381 does not" \
  'ports with a gap' '"cluster_ports":[6379,6381]'
refused "$p\\.cluster_ports: ports must be consecutive: 6380 does not follow 6381" \
  'ports in the reverse order' '"cluster_ports":[6381,6380]'
accepted 'consecutive ports' \
  '"cluster_mode":true,"cluster_nodes":3,"cluster_ports":[6379,6380,6381]'
refused "$p: Cannot specify both 'unixsocket' and 'tls_mode'" \
  'TLS on a unix socket' '"unixsocket":true,"tls_mode":[false,true]'
refused "$p: Cannot specify both 'unixsocket' and 'cluster_mode'" \
  'a cluster on unix sockets' '"unixsocket":true,"cluster_mode":"yes"'
refused "$p\\.rate: " 'a rate of 0' '"rate":0'
refused "$p\\.keys: 'keys': invalid distribution \"zipf:0\": zipf:THETA needs a number" \
  'a THETA of 0' '"keys":"zipf:0"'
refused "$p\\.keys\\[1\\]: 'keys': invalid distribution \"zip\": use uniform, " \
  'an unknown distribution in a list' '"keys":["zipf","zip"]'
refused "$p\\.keys:.* a distribution such as " 'a number as keys' '"keys":1'
refused "$p\\.values: 'values': invalid text \"9-8\": use bytes such as 1024, a range " \
  'a range that ends before it begins' '"data_sizes":"GONE","values":"9-8"'
refused "$p\\.values\\[1\\]: 'values': invalid text \"9 ramdom\": behind the sizes comes constant, " \
  'unknown contents in a list' '"data_sizes":"GONE","values":["9","9 ramdom"]'
refused "$p\\.values:.* sizes such as " 'a number as values' '"data_sizes":"GONE","values":9'
refused "$p: Cannot specify both 'values' and 'data_sizes'" 'values and sizes' '"values":"9"'
accepted 'values instead of sizes' '"data_sizes":"GONE","values":"9-10 random"'
refused "$p\\.ttl: 'ttl': invalid text \"1m\": use seconds such as 60, or a range " \
  'a duration as ttl' '"ttl":"1m"'
refused "$p\\.ttl:.* seconds such as " 'a number as ttl' '"ttl":60'
refused "$p: Cannot specify both 'keys' and 'sequential'" 'keys in order and by zipf' \
  '"keys":"zipf","sequential":true'
refused "$p\\.rate:.* a ramp such as " 'a rate that is true' '"rate":true'
refused "$p\\.rate\\[1\\]: 'rate': invalid rate \"5-5\": a ramp needs two different rates" \
  'a ramp that does not change, in a list' '"rate":[5,"5-5"]'
refused "$p\\.slo: 'slo': invalid limit \"p99<1ms\": use p50, .* or max, and <= and a time" \
  'a limit without <=' '"slo":"p99<1ms"'
refused "$p\\.slo:.* a limit of the latency such as " 'a number as a limit' '"slo":1'
refused "$p: Cannot specify both 'slo' and 'rate'" 'a limit and a rate' '"slo":"p99<=1ms","rate":5'
refused "$p: Cannot specify both 'slo' and 'requests'" 'a limit and a number of requests' \
  '"slo":"p99<=1ms","requests":[5]'
accepted 'keys with sequential: false' '"keys":"zipf","sequential":false'
refused "$p\\.arrivals: 'arrivals' must be one of constant, poisson, not \"x\"" \
  'a wrong choice' '"arrivals":"x"'
refused "$p\\.arrivals: 'arrivals' must be one of constant, poisson, not" \
  'all choices as one' '"arrivals":"constant|poisson"'

g='"commands":"GONE","data_sizes":"GONE","pipelines":"GONE","clients":"GONE","requests":"GONE","test_groups"'
refused "$p\\.test_groups: .* not \\[\\]" 'no groups' "$g:[]"
refused "$p\\.test_groups\\[0\\]: Missing required key: scenarios" \
  'a group without scenarios' "$g:[{\"group\":1}]"
refused "$p\\.test_groups\\[0\\]\\.scenarios\\[0\\]: Missing required key: command" \
  'a scenario without a command' "$g:[{\"scenarios\":[{\"id\":\"a\"}]}]"
refused "$p\\.test_groups\\[0\\]\\.scenarios\\[0\\]\\.pipelin: unknown key, did you mean 'pipeline'" \
  'an unknown key in a scenario' \
  "$g:[{\"scenarios\":[{\"command\":\"PING\",\"pipelin\":1}]}]"
refused "$p\\.test_groups\\[0\\]\\.scenarios\\[0\\]: a mixed scenario needs" \
  'a mixed scenario without reads and writes' "$g:[{\"scenarios\":[{\"type\":\"mixed\"}]}]"
refused "$p\\.test_groups\\[0\\]\\.scenarios\\[0\\]: Cannot specify both 'warmup' and 'warmup_inline'" \
  'a scenario that is warmed up twice' \
  "$g:[{\"scenarios\":[{\"command\":\"PING\",\"warmup\":1,\"warmup_inline\":1}]}]"
config "$g:[{\"scenarios\":[{\"command\":\"PING\",\"warmup\":0,\"warmup_inline\":1},{\"command\":\"PING\",\"warmup\":0.5,\"warmup_inline\":0}]}]"
test_that 'a warm-up of no seconds, and one of half a second, are accepted' \
  vkb-load --plan c.json
refused "$p\\.scenarios\\[0\\]\\.test: .* not 1" 'a scenario outside of a group' \
  '"commands":"GONE","scenarios":[{"test":1}]'
refused "$p: scenario 'a': unknown test 'gett', did you mean 'GET'" \
  'a wrong test' "$g:[{\"scenarios\":[{\"id\":\"a\",\"test\":\"gett\"}]}]"

config '"commands":"GONE","scenarios":[{"test":"get"}]'
test_that 'lists of commands beside scenarios are a warning' vkb-load --plan c.json
test_match "$p\\.clients: has no effect on scenarios" .err 'clients beside scenarios are named'
test_same 4 "$(wc -l <.err | tr -d ' ')" 'each list beside scenarios has its line'
config '"commands":"GONE","scenarios":[{"test":"get"}],"keys":"zipf:0.99"'
test_status 2 'a key that the Python tool does not have is an error' vkb-load --plan c.json
test_that '--lenient ignores it' vkb-load --plan --lenient c.json
refused "$p\\.setup_commands: unknown key, it goes into a scenario" \
  'a key of a scenario outside of one' '"setup_commands":["PING"]'

printf '[{%s,"a\\nvkb-load: done\\u001b[31m":1}]\n' "$good" >c.json
test_status 2 'a key with control characters is an error' vkb-load --plan c.json
test_same 1 "$(wc -l <.err | tr -d ' ')" 'the error about a hostile key is one line'
test_match "\\[.a.x0avkb-load: done.x1b\\[31m.\\]: unknown key" .err \
  'the control characters of a key are escaped'

accepted 'x- keys' '"x-note":{"any":1}'
accepted 'words for modes' '"cluster_mode":"YES","tls_mode":["no","True"]'
accepted 'null for requests' '"requests":null,"duration":5'
accepted 'keys of the Python tool that have no effect' \
  '"monitoring":{"cpu_enabled":true},"test_name":"x","socket_timeout":5,"dataset_generation":{"a":{}}'
accepted 'empty lists where none is needed' \
  '"modules":[],"x-more":[]'
accepted 'a module without arguments' \
  '"modules":[{"path":"x.so","startup_args":[]}]'
accepted 'blanks in CPU lists' '"server_cpu_range":" 0 , 2-3 "'

config '"piplines":[1],"warmup":-1,"clients":5'
test_status 2 'three mistakes in one configuration are an error' vkb-load --plan c.json
test_same 3 "$(wc -l <.err | tr -d ' ')" 'each of three errors has its line'
config '"piplines":[1]'
test_that '--lenient accepts an unknown key' vkb-load --plan --lenient c.json
test_match 'ignored: unknown key, did you mean' .err '--lenient prints a warning for an unknown key'

# profiling and monitoring in profiling_sets and in a scenario. inside KEY VALUE PATH
# MESSAGE
inside() {
  printf '[{%s,"%s":%s}]' "$good" "$1" "$2" >c.json
  test_status 2 "$1: $2" vkb-load --plan c.json
  test_same "vkb-load: c.json: $3: $4" "$(cat .err)" "$1: $2: the error"
}
set='"enabled":true'
inside profiling_sets "[{$set,\"smpling_freq\":9}]" '$[0].profiling_sets[0].smpling_freq' \
  "unknown key, did you mean 'sampling_freq'?"
inside profiling_sets "[{},{$set,\"mode\":\"walltime\"}]" '$[0].profiling_sets[1].mode' \
  "'mode' must be one of cpu, wall, wall-time, offcpu, not \"walltime\""
inside profiling_sets "[{$set,\"delays\":5}]" '$[0].profiling_sets[0].delays' \
  "'delays' must be an object, not 5"
inside profiling_sets "[{$set,\"delays\":{\"wrte\":{}}}]" '$[0].profiling_sets[0].delays.wrte' \
  "unknown key, did you mean 'write'?"
inside profiling_sets "[{$set,\"delays\":{\"write\":{\"dely\":1}}}]" \
  '$[0].profiling_sets[0].delays.write.dely' "unknown key, did you mean 'delay'?"
inside profiling_sets "[{$set,\"delays\":{\"read\":{\"duration\":0}}}]" \
  '$[0].profiling_sets[0].delays.read.duration' "'duration' must be a positive number, not 0"
inside profiling_sets "[{$set,\"delays\":{\"read\":{\"delay\":-1}}}]" \
  '$[0].profiling_sets[0].delays.read.delay' "'delay' must be a number >= 0, not -1"
inside profiling_sets "[{$set,\"sampling_freq\":0}]" '$[0].profiling_sets[0].sampling_freq' \
  "'sampling_freq' must be a positive integer, not 0"
inside profiling_sets '[{"enabled":3}]' '$[0].profiling_sets[0].enabled' \
  "'enabled' must be true or false, not 3"
inside profiling_sets "[{$set,\"delays\":{\"write\":{},\"ingestion\":{}}}]" \
  '$[0].profiling_sets[0].delays' \
  "Cannot specify both 'ingestion' and 'write', which mean the same"
inside monitoring '{"cpu_enable":true}' '$[0].monitoring.cpu_enable' \
  "unknown key, did you mean 'cpu_enabled'?"
inside monitoring '{"cpu_enabled":7}' '$[0].monitoring.cpu_enabled' \
  "'cpu_enabled' must be true or false, not 7"
printf '[{"test_groups":[{"scenarios":[{"id":"a","test":"set","profiling":{"mod":"cpu"}}]}]}]' >c.json
test_status 2 "a scenario's profiling" vkb-load --plan c.json
test_match 'scenarios\[0\]\.profiling\.mod: unknown key, did you mean .mode.' .err \
  "a scenario's profiling is checked"
printf '[{%s,"profiling_sets":[{"enabled":"yes","delays":{"ingestion":{"delay":2},"search":{"duration":3}}}]}]' \
  "$good" >c.json
test_that 'delays with older names' vkb-load --plan c.json
test_same '{"enabled":true,"delays":{"write":{"delay":2},"read":{"duration":3}}}' \
  "$(jq -c '.config.profiling | {enabled, delays: {write: .delays.write, read: .delays.read}}' .out | sort -u)" \
  'the older names ingestion and search mean write and read'
test_same '["read","write"]' "$(jq -c '.config.profiling.delays | keys' .out | sort -u)" \
  'the older names are not in the plan'

test_status 2 'a missing configuration is an error' vkb-load --plan nowhere.json
test_match "cannot read 'nowhere.json'" .err 'the error names the missing configuration'
echo '[{' >broken.json
test_status 2 'a configuration that is not JSON is an error' vkb-load --plan broken.json
test_match 'broken\.json:[0-9]+:[0-9]+: not JSON' .err 'an error of JSON has its line and column'
echo '[]' >c.json
test_status 2 'an empty list of configurations is an error' vkb-load --plan c.json
test_match 'No configurations found' .err 'the error is that no configurations were found'
echo '[3]' >c.json
test_status 2 'a number instead of a configuration is an error' vkb-load --plan c.json
echo '"x"' >c.json
test_status 2 'a string instead of a configuration is an error' vkb-load --plan c.json
printf '{%s}' "$good" >c.json
test_that 'a configuration that is not in an array is accepted' vkb-load --plan c.json

# vkb-config(5) lists the same keys as the table in the source.
"$VKB_BUILD/unit/config" --keys | sort >table
perl "$tests/pagekeys.pl" "$top/man/vkb-config.5" | cut -f 1,2 | tr '\t' ' ' | sort >page
test_that 'the table of keys is read' test "$(wc -l <table)" -gt 100
test_empty "$(comm -3 table page)" 'vkb-config(5) lists exactly the keys that are accepted'
# Words for true and false, as the Python tool accepts them, for each key.
printf '[{"commands":["SET"],"requests":[10],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[1],"cluster_mode":"no","tls_mode":"0","warmup":0,"resp3":"yes","sequential":"1"}]\n' >words.json
test_same '[true,true,false,false]' "$(vkb-load --plan words.json |
  jq -c '.config | [.resp3, .sequential, .cluster_mode, .tls_mode]')" \
  'a word for true or false is accepted for each key that is one'
test_done
