#!/bin/sh
# vkb-load on a terminal: a table is shown, and the runs go to a new file. In a pipe
# they go to stdout.
. "${0%/*}/lib.sh"

test_server vkb-load
printf '[{"commands":["SET","GET"],"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],
  "clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[2000]}]\n' >c.json
vkb-load --runs 2 c.json >piped 2>piped.err
test_same '4 run' "$(jq -r .type piped | sort | uniq -c | xargs)" 'in a pipe the runs go to stdout'
test_that 'and to no file' test ! -e runs.jsonl
test_absent 'written to' piped.err 'so no file is named'
if ! command -v script >/dev/null; then
  test_skip 'a terminal' script
  test_done
fi
# shown COMMAND: runs it on a terminal, whose text is in the file screen
shown() {
  script -qec "$1" typed >/dev/null </dev/null
  status=$?
  tr '\r' '\n' <typed >screen
  return "$status"
}
# runs_in FILE: prints how many runs of which sessions it has
runs_in() { jq -r 'select(.type == "run").run.session' "$1" | sort | uniq -c | awk '{ print $1 }' | xargs; }

test_that 'on a terminal' shown 'vkb-load --runs 2 c.json'
test_same 4 "$(runs_in runs.jsonl)" 'the runs go to runs.jsonl'
test_match "^vkb-load: the runs are written to 'runs.jsonl'$" screen 'which is named'
test_match '^SET .* 2 +[0-9.]+[KM]? ' screen 'the table has SET'
test_match '^case +subject .*rps' screen 'and titles'
test_absent '"type"' screen 'there are no records on it'
vkb-stats --text runs.jsonl >want
test_same "$(cat want)" "$(grep -Fxf want screen)" 'the table is that of vkb-stats'
cp runs.jsonl first
test_that 'once more' shown 'vkb-load -q --runs 1 c.json'
test_same 2 "$(runs_in runs-2.jsonl)" 'the runs go to another file'
test_that 'the first file is not changed' cmp first runs.jsonl
test_absent 'written to|left|round' screen '-q names no file and shows no progress'
test_match '^SET ' screen 'but the table'
echo notes >runs-3.jsonl
ln -s elsewhere runs-4.jsonl
test_that 'files of others' shown 'vkb-load -q --runs 1 c.json'
test_same 'notes 2' "$(cat runs-3.jsonl) $(runs_in runs-5.jsonl)" 'are neither changed nor followed'
test_that 'nothing is where a link points' test ! -e elsewhere
test_that 'with -o' shown 'vkb-load --runs 1 -o mine c.json'
test_same 2 "$(runs_in mine)" 'the runs go to that file'
test_absent '^(SET|GET) +[^r]' screen 'and no table is shown'
test_that '--resume' shown 'vkb-load --runs 2 --resume mine c.json'
test_same '2 2' "$(runs_in mine)" 'is the same'
test_that '--plan' shown 'vkb-load --plan c.json'
test_match '"type":"case"' screen 'prints the cases'
test_status 2 'a session that cannot begin' shown "vkb-load --hdr none/hdr c.json"
test_status 2 'a wrong configuration' shown 'vkb-load none.json'
test_same 'runs-2.jsonl runs-3.jsonl runs-4.jsonl runs-5.jsonl runs.jsonl' "$(echo runs*)" \
  'leave no empty file'
test_status 2 'a folder without files' shown "cd /proc; vkb-load $scratch/c.json"
test_match "cannot make 'runs.jsonl' in this folder for the runs; name a file with '--output'" screen \
  'the message says what to do'
printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
  a "$server" b "$server" >builds
test_that 'two builds' shown 'vkb-load --builds builds --runs 2 --duration 500ms c.json'
test_match '^.\[K(SET|GET) in slices run [12]/2 ' screen 'progress has the names of reports'
test_match '^GET +b +2 ' screen 'the table has both'
test_litter 5 'nothing is left of the servers'
test_done
