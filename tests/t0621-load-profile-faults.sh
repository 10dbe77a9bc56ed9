#!/bin/sh
# vkb-load --profiles where no profile can be made: the messages, and what is kept.
. "${0%/*}/lib.sh"

test_server 'profiles that fail'
# The load of a profile lasts for seconds: with a rate it leaves the CPUs to others.
printf '[{"commands":["SET"],"requests":[10],"keyspacelen":[10],"data_sizes":[16],"pipelines":[1],"clients":[1],"rate":1000,"cluster_mode":false,"tls_mode":false,"warmup":0}]\n' >c.json

# A PATH with all that a session needs, but without perf.
mkdir bare
for program in env setarch taskset; do
  ln -s "$(command -v "$program")" bare
done
# profile ARGUMENT...: a session that cannot run perf.
profile() { PATH=$VKB_BIN:$scratch/bare vkb-load -q --server "$server" "$@"; }

mkdir -p old/SET-d16-P1-c1-k10-rate1000
for file in profile.json perf.data stacks.folded flame.svg functions.txt mine; do
  echo '{}' >"old/SET-d16-P1-c1-k10-rate1000/$file"
done
test_status 2 'a profile without perf' profile --runs 1 --profiles old --profile c.json
test_match "^vkb-load: vkb-profile exited with 2: vkb-profile: cannot start 'perf': No such file or directory\$" \
  .err 'the message has the exit status and the error of vkb-profile'
test_match "^	vkb-profile: cannot run perf: install it with " .err 'with all its lines'
test_match "^vkb-load: SET-d16-P1-c1-k10-rate1000: not profiled: vkb-profile exited with 2: vkb-profile: cannot start 'perf'" \
  .err 'the case that is not profiled is named'
test_same '["run","ok",10]' "$(jq -c '[.type, .status, .metrics.requests]' .out)" \
  'the run beside the profile is good, and no profile has a record'
test_same mine "$(ls old/SET-d16-P1-c1-k10-rate1000)" \
  'the files of an earlier profile are removed, and no others'

test_status 2 'a profile alone, without perf' \
  profile --profiles alone --profile-time 500ms c.json
test_match 'SET-d16-P1-c1-k10-rate1000: not profiled: vkb-profile exited with 2: ' .err \
  'a profile alone is an error as well'
test_empty_file .out 'and has no record'

mkdir -p firm/SET-d16-P1-c1-k10-rate1000/perf.data
test_status 2 'a file of a profile that cannot be removed' \
  profile --profiles firm --profile-time 500ms c.json
test_match "cannot remove 'firm/SET-d16-P1-c1-k10-rate1000/perf.data': Is a directory" .err \
  'a file that cannot be removed is named'
test_absent 'cannot remove .*(stacks|flame|functions|json)' .err \
  'files that are not there need not be removed'

# Each node has its profile; each that fails is reported.
sed 's/"cluster_mode":false/"cluster_mode":true,"cluster_nodes":3/' c.json >cluster.json
test_status 2 'the nodes of a cluster without perf' \
  profile --profiles nodes --profile-nodes --profile-time 500ms cluster.json
test_same 3 "$(grep -c '^vkb-load: vkb-profile exited with 2' .err)" \
  'a message for each node that is not profiled'
test_litter 0 'no temporary file is left'
test_done
