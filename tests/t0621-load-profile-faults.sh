#!/bin/sh
# vkb-load --profiles without perf: the messages, and the files that are kept.
. "${0%/*}/lib.sh"

test_server 'profiles that fail'
# The load of a profile lasts for seconds; the rate leaves the CPUs to other tests.
printf '[{"commands":["SET"],"requests":[10],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[1],"rate":1000,"cluster_mode":false,"tls_mode":false,"warmup":0}]\n' >c.json

# A PATH with all programs that a session needs except perf.
mkdir bare
for program in env setarch taskset; do
  ln -s "$(command -v "$program")" bare
done
# profile ARGUMENT...: vkb-load without perf
profile() { PATH=$VKB_BIN:$scratch/bare vkb-load -q --server "$server" "$@"; }

mkdir -p old/SET-d16-P1-c1-k10-rate1000
for file in profile.json perf.data stacks.folded flame.svg functions.txt mine; do
  echo '{}' >"old/SET-d16-P1-c1-k10-rate1000/$file"
done
test_status 2 'a profile without perf is exit 2' profile --runs 1 --profiles old --profile c.json
test_match "^vkb-load: vkb-profile exited with 2: vkb-profile: cannot run perf: install it with 'vkb-needs --yes test' or the package linux-perf\$" \
  .err 'the message has the exit status and the error of vkb-profile'
test_match "^vkb-load: SET-d16-P1-c1-k10-rate1000: not profiled: vkb-profile exited with 2: vkb-profile: cannot run perf: " \
  .err 'a message names the case that is not profiled'
test_same '["run","ok",10]' "$(jq -c '[.type, .status, .metrics.requests]' .out)" \
  'the run is ok, and there is no record of a profile'
test_same mine "$(ls old/SET-d16-P1-c1-k10-rate1000)" \
  'only the files of an earlier profile are removed'

test_status 2 'only a profile, without perf, is exit 2' \
  profile --profiles alone --profile-time 500ms c.json
test_match 'SET-d16-P1-c1-k10-rate1000: not profiled: vkb-profile exited with 2: ' .err \
  'the message without runs is the same'
test_empty_file .out 'nothing is printed without runs'

mkdir -p firm/SET-d16-P1-c1-k10-rate1000/perf.data
test_status 2 'a file of a profile that cannot be removed is exit 2' \
  profile --profiles firm --profile-time 500ms c.json
test_match "cannot remove 'firm/SET-d16-P1-c1-k10-rate1000/perf.data': Is a directory" .err \
  'the error names the file that cannot be removed'
test_absent 'cannot remove .*(stacks|flame|functions|json)' .err \
  'missing files give no error'

# Each node has a profile; each failure is reported.
sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":3/' c.json >cluster.json
test_status 2 'profiles of all nodes without perf are exit 2' \
  profile --profiles nodes --profile-nodes --profile-time 500ms cluster.json
test_same 3 "$(grep -c '^vkb-load: vkb-profile exited with 2' .err)" \
  'a message for each node that is not profiled'
test_litter 0 'no temporary file is left'
test_done
