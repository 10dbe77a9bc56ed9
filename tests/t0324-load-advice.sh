#!/bin/sh
# vkb-load prints how many runs it makes and what they can show, and warns if they can
# show nothing because they are too few or too short. Without requests and duration a
# run lasts a second.
. "${0%/*}/lib.sh"

test_server 'vkb-load tells what runs can show'
base='"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],"clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0'
config() { printf '[{"commands":[%s],%s%s}]\n' "$1" "$base" "${2:-}"; }
config '"SET","GET"' >c.json
config '"SET"' >one.json

# --- the default duration

config '"SET","GET"' ',"duration":1' >second.json
vkb-load --plan c.json >plan
test_same '[1,1]' "$(jq -c -s 'map(.config.duration_s)' plan)" \
  'without requests and duration a run lasts a second'
test_same '["SET-d16-P4-c3-k100","GET-d16-P4-c3-k100"]' \
  "$(jq -c -s 'map(.id)' plan)" 'this duration is not part of the id'
vkb-load --plan second.json >same
test_that 'it is the same case as with "duration": 1' cmp plan same
vkb-load --plan --requests 50 c.json >fifty
test_same '[50,null]' "$(jq -c -s '[.[0].config | .requests, .duration_s]' fifty)" \
  '--requests replaces the default duration'

# --- what the runs show

# said OPTION...: prints the messages of vkb-load about short runs of c.json, without
# others
said() {
  vkb-load --requests 60 "$@" >out 2>err || cat err
  sed -n 's/^vkb-load: //p' err | grep -v 'requests took\|runs of less than\|^round \|^SET run '
}
show='(power 80%, noise 3%)'
test_same "7 runs of each case detect a change of 9.9% $show" \
  "$(said c.json)" 'by default there are seven runs of two cases, and a message says what they can show'
test_same 14 "$(wc -l <out | tr -d ' ')" 'there are seven runs of each case'
test_same "7 runs of each case detect a change of 9.3% $show" \
  "$(said --runs auto one.json)" '--runs auto is the default; with one case the change is smaller'
test_same "7 runs of each case detect a change of 9.9% $show" \
  "$(said --shard 1/2 c.json)" 'the cases of other shards count, too'
test_same 7 "$(wc -l <out | tr -d ' ')" 'only the cases of this shard are run'
test_empty "$(said -q one.json)" '-q prints no such message'
test_same 7 "$(wc -l <out | tr -d ' ')" 'with -q the same number of runs is made'
for label in old new; do
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"valkey-server"}\n' $label
done >builds
test_same "7 runs of each case and build detect a change of 9.3% $show" \
  "$(said --builds builds one.json)" 'with two builds the message is about their comparison'
test_same 14 "$(wc -l <out | tr -d ' ')" 'each build has seven runs'
test_same "5 runs of each case detect a change of 14% $show" \
  "$(said -v --runs 5 one.json | grep -v '^[0-9]*/5\|^5 runs of 1 case\|^measures ')" \
  'with -v the message is printed for a given number of runs'
test_empty "$(said --runs 4 one.json)" 'without -v no message is printed for a given number of runs'
vkb-load --runs 8 --requests 60 one.json >eight 2>err
test_that '--runs auto resumes a session with eight runs' vkb-load --requests 60 --resume eight one.json
test_same 8 "$(wc -l <eight | tr -d ' ')" 'no run is added to eight'

enough="at least 4 are needed, and '--runs auto' makes 7"
test_same "2 runs of each case are too few to show any change of speed: $enough" \
  "$(said --runs 2 one.json)" 'a message says that two runs show nothing'
test_same 2 "$(wc -l <out | tr -d ' ')" 'two runs are made'
test_empty "$(said --runs 1 one.json)" 'a single run is not for a comparison'
test_match '^1 run of each case and build is too few' - 'unless there are two builds' <<END
$(said --runs 1 --builds builds one.json)
END
test_empty "$(vkb-load -q --runs 2 --requests 60 one.json 2>&1 >/dev/null)" \
  'with -q there is no such message'
test_same "3 runs of each case and build are too few to show any change of speed: $enough" \
  "$(said --runs 3 --builds builds one.json)" 'a message says that three runs show nothing'
said --runs 2 --budget 1ms one.json >budget
test_absent 'detect a change|too few' err 'with a budget there is no such message'
test_status 2 'a number of runs that is a word' vkb-load --runs many one.json
test_match "'many' is not auto or N from 1 to" .err 'the error lists the valid values'

# --- runs that are too short

# warned OPTION...: prints the warnings about these runs
warned() {
  vkb-load --runs 4 "$@" >out 2>err || cat err
  sed -n 's/^vkb-load: //p' err | grep -v '^round '
}
why='runs are too short for precise results'
warned --requests 60 c.json >got
test_same 2 "$(wc -l <got | tr -d ' ')" 'two lines warn about short runs of two cases'
test_match "^SET-d16-P4-c3-k100: its 60 requests took 0\\.[0-9]* s: $why; use '--duration 1s' or '--requests [1-9]0*'\$" \
  got 'the first line has the time of a case, and what to do'
test_match '^2 of 2 cases had runs of less than 0\.5 s$' got 'the second line has the number of such cases'
test_same 1 "$(warned --requests 60 one.json | wc -l | tr -d ' ')" 'one line warns about one case'
test_same "2 of 2 cases run for less than 0.5 s, SET-d16-P4-c3-k100 for 0.2 s: $why; use '--duration 1s'" \
  "$(warned --duration 200ms c.json)" 'a short duration is warned about before the runs'
test_empty "$(warned --set rate=20 --requests 14 --case 'SET*' c.json)" \
  'few requests at a low rate are not too short'
test_empty "$(warned --duration 500ms one.json)" 'half a second is not too short'
printf '[{"test_groups":[{"group":1,"scenarios":[{"id":"a","type":"mixed",
  "writes":[{"command":"SET k v","duration":0.2}],"reads":[{"command":"GET k"}]}]}],
  "keyspacelen":[100],"cluster_mode":false,"tls_mode":false,"duration":2}]\n' >mixed.json
test_same 1 "$(warned mixed.json | grep -c '^1 of 1 case runs for less than 0.5 s, .* for 0.2 s')" \
  'the warning about writers and readers uses the shortest duration'
test_done
