#!/bin/sh
# A run whose requests the server refuses: it is valid up to one in a hundred, and a
# message reports the errors.
# sanitize: configurations that are refused.
. "${0%/*}/lib.sh"

test_server 'requests that are refused'
for n in 1 2; do
  seq 100 | awk -v n="$n" 'BEGIN { print "v" } { print NR <= n ? "x" : $1 }' >"$n.csv"
done

# scenario ID DATASET: prints a scenario that adds each number to a sum; the server
# refuses a letter.
scenario() {
  printf '{"id":"%s","command":"INCRBY sum __field:v__","dataset":"%s.csv",' "$1" "$2"
  printf '"requests":100,"clients":1,"pipeline":1}'
}
# group SCENARIO...: writes a configuration with these scenarios.
group() {
  printf '[{"keyspacelen":[1],"test_groups":[{"group":1,"scenarios":['
  printf '%s' "$1"
  shift
  [ $# -eq 0 ] || printf ',%s' "$@"
  printf ']}]}]\n'
}

group "$(scenario one 1)" >one.json
test_that 'one of a hundred requests is refused' vkb-load --runs 1 one.json
test_same '["ok",100,1,{"ERR":1}]' "$(jq -c '[.status, .metrics.requests, .metrics.errors, .errors]' .out)" \
  'a run with one refused of a hundred is valid, and counts it'
test_match '^vkb-load: 1_one: 1 error in 100 requests, the first: ERR value is not an integer' \
  .err 'the message has the case, the number and the reply'

group "$(scenario two 2)" >two.json
test_status 2 'two of a hundred requests are refused' vkb-load --runs 1 two.json
test_same '["failed",100,2]' "$(jq -c '[.status, .metrics.requests, .metrics.errors]' .out)" \
  'a run with two refused of a hundred is not valid, and keeps its metrics'
test_same '2 of 100 requests were refused: ERR value is not an integer or out of range' \
  "$(jq -r .error .out)" 'the error does not repeat the only command'

jq -c '.[0].max_errors_percent = 2' two.json >allowed.json
test_that 'a configuration allows more errors' vkb-load --runs 1 allowed.json
test_same '["ok",2]' "$(jq -c '[.status, .metrics.errors]' .out)" 'the run is valid, and counts them'
group '{"id":"k","command":"9 SET a b; LPUSH a b; INCR a; 89 PING","clients":1,"pipeline":1,"requests":100}' >kinds.json
test_status 2 'errors of two kinds' vkb-load --runs 1 kinds.json
test_match '2 of 100 requests were refused: WRONGTYPE .* \(WRONGTYPE 1, ERR 1\)' .err \
  'the message has the number of each kind'

# The error names the part of a mixed scenario that failed.
mixed() {
  printf '{"id":"m","type":"mixed","clients":1,"pipeline":1,"writes":[%s,%s]}' \
    "$(scenario a "$1")" "$(scenario b "$2")"
}
group "$(mixed 2 1)" >first.json
test_status 2 'the first part of a mixed scenario fails' vkb-load --runs 1 first.json
test_same 'INCRBY sum __field:v__: 2 of 100 requests were refused: ERR value is not an integer or out of range' \
  "$(jq -r .error .out | sort -u)" 'the error names the part that failed by its command'
group "$(mixed 1 2)" >second.json
test_status 2 'the second part of a mixed scenario fails' vkb-load --runs 1 second.json
test_same 'failed 2' "$(jq -r .status .out | uniq -c | awk '{ print $2, $1 }')" \
  'it is not valid either'
test_match '1 error in 100 requests' .err 'the message about the valid part is printed'

# Cases that no request can be made for are refused before the session.
printf '[{"commands":["SET"],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[10]}]\n' >set.json
test_that 'a plan' vkb-load --plan set.json
jq -c '.config.command = "NOSUCH"' .out >none.jsonl
test_status 2 'a test that does not exist' vkb-load --runs 1 none.jsonl
test_match "ERR unknown command 'NOSUCH'" .err 'the message has the answer of the server'

# A command that the server does not know is refused before anything is filled or measured,
# and once.
unknown="NOSUCH_a-d3-P1-c50-k1000000: the server does not know 'NOSUCH': ERR unknown command 'NOSUCH'"
test_status 2 'an unknown command' vkb-load -q --runs 5 --command 'NOSUCH a' --command PING -n 100
test_same "vkb-load: $unknown
vkb-load: 1 of 6 runs failed" "$(grep -v 'runs are too short\|too few' .err)" 'one message has the command and the answer of the server'
test_same "1 NOSUCH a failed 5 PING ok" "$(jq -r 'select(.type == "run") | .config.command + " " + .status' .out |
  sort | uniq -c | xargs)" 'it is recorded as failed once, and the other command is measured'
test_status 2 'an unknown command in turns until all is decided' vkb-load -q --budget 60s --command 'NOSUCH a'
test_same "vkb-load: $unknown" "$(grep NOSUCH .err)" 'is not tried again'
test_status 2 'an unknown command in a mix' vkb-load -q --runs 5 -r 1000000 --mix 'GET 9, "NOSUCH a" 1'
test_same '3 failed' "$(jq -r 'select(.type == "run").status' .out | sort | uniq -c | xargs)" \
  'fails the mix and each of its commands once'
test_same true "$(jq -s 'all(.[]; .metrics == null)' .out)" 'before it is measured'
test_status 2 'an unknown command in a sequence' vkb-load -q --runs 2 --command 'MULTI; NOSUCH a; EXEC'
test_match "the server does not know 'NOSUCH'" .err 'is found'
printf '#!/bin/sh\nexec valkey-server "$@" --rename-command GET ""\n' >noget
chmod +x noget
test_status 2 'a named test that the server does not have' vkb-load -q --server ./noget --runs 5 -t get,set -n 100 -r 100
test_same "5 GET failed 5 SET ok" "$(jq -r 'select(.type == "run") | .config.command + " " + .status' .out |
  sort | uniq -c | xargs)" 'fails in each run: the server is not asked about a usual command'
jq -c '.[0].test_groups[0].scenarios[0].command = "NOSUCH a" | .[0].max_errors_percent = 100' two.json >all.json
test_that 'a configuration that allows all errors has its unknown command measured' vkb-load -q --runs 1 all.json
test_same 100 "$(jq '.metrics.errors' .out)" 'and its errors counted'
jq -c '.[0].max_errors_percent = 60 | .[0].test_groups[0].scenarios[0].command = "PING ; NOSUCH a"' all.json >half.json
test_that 'and so has one that allows as many as it causes' vkb-load -q --runs 1 half.json
printf 'op,id\nINCR,1\nDECR,2\n' >ops.csv
group '{"id":"f","command":"__field:op__ k","dataset":"ops.csv","requests":10}' >ops.json
test_that 'a command whose name is a field is sent' vkb-load -q --runs 1 ops.json
{ seq 199 | sed 's/.*/1700000000.000001 [0 127.0.0.1:5] "PING"/'
  echo '1700000000.000002 [0 127.0.0.1:5] "NOSUCH" "a"'; } >monitor
vkb-record -q monitor >trace
test_that 'a trace may have a command of another server' vkb-load -q --runs 1 --replay trace
test_match 'command of the trace was not sent: NOSUCH 1 ' .err 'which is counted'
test_same '199 PING ok' "$(jq -r 'select(.config.command == "PING") | "\(.metrics.requests) PING \(.status)"' .out)" \
  'and the others are sent'
group '{"id":"f","command":"SET k __field:v__","requests":10}' >field.json
test_status 2 'a field without a dataset' vkb-load --runs 1 field.json
test_match "1_f: not run: 'SET k __field:v__' uses a field, but the case has no dataset" .err \
  'the message names the command with the field'
group "$(scenario gone none)" >gone.json
test_status 2 'a dataset that does not exist' vkb-load --runs 1 gone.json
test_match 'none.csv' .err 'the message names the dataset'
test_litter 10 'no server and no file is left'
test_done
