#!/bin/sh
# vkb-load on a terminal prints a table, and writes the runs to a new file. Otherwise
# the runs go to stdout.
# sanitize: names and errors that hold control characters.
. "${0%/*}/lib.sh"

test_server vkb-load
printf '[{"commands":["SET","GET"],"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],
  "clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[2000]}]\n' >c.json
vkb-load --runs 2 c.json >piped 2>piped.err
test_same '4 run' "$(jq -r .type piped | sort | uniq -c | xargs)" 'in a pipe the runs go to stdout'
test_that 'in a pipe no file is written' test ! -e runs.jsonl
test_absent 'written to' piped.err 'in a pipe no file is named'
if ! command -v script >/dev/null; then
  test_skip 'a terminal' script
  test_done
fi
# shown COMMAND: runs the command on a terminal, whose text is then in the file screen
shown() {
  script -qec "$1" typed >/dev/null </dev/null
  status=$?
  tr '\r' '\n' <typed >screen
  return "$status"
}
# runs_in FILE: prints the number of runs of each session in the file
runs_in() { jq -r 'select(.type == "run").run.session' "$1" | sort | uniq -c | awk '{ print $1 }' | xargs; }

test_that 'vkb-load on a terminal' shown 'vkb-load --runs 2 c.json'
test_same 4 "$(runs_in runs.jsonl)" 'the runs go to runs.jsonl'
test_match "^vkb-load: the runs are written to 'runs.jsonl'$" screen 'a message names the file'
test_match '^SET .* 2 +[0-9.]+[KM]? ' screen 'the terminal shows a table with SET'
test_match '^case +subject .*rps' screen 'the table has titles'
test_absent '"type"' screen 'no records are shown'
vkb-stats --text runs.jsonl >want
test_same "$(cat want)" "$(grep -Fxf want screen)" 'the table is that of vkb-stats --text'
cp runs.jsonl first
test_that 'a second session on a terminal' shown 'vkb-load -q --runs 1 c.json'
test_same 2 "$(runs_in runs-2.jsonl)" 'its runs go to another file'
test_that 'the first file is not changed' cmp first runs.jsonl
test_absent 'written to|left|round' screen 'with -q no file is named and no progress is shown'
test_match '^SET ' screen 'with -q the table is shown'
echo notes >runs-3.jsonl
ln -s elsewhere runs-4.jsonl
test_that 'a session in a folder with other files of these names' shown 'vkb-load -q --runs 1 c.json'
test_same 'notes 2' "$(cat runs-3.jsonl) $(runs_in runs-5.jsonl)" 'the other file is not changed, and the link is not followed'
test_that 'the target of the link is not created' test ! -e elsewhere
test_that 'with -o' shown 'vkb-load --runs 1 -o mine c.json'
test_same 2 "$(runs_in mine)" 'with -o the runs go to the given file'
test_absent '^(SET|GET) +[^r]' screen 'with -o no table is shown'
test_that '--resume' shown 'vkb-load --runs 2 --resume mine c.json'
test_same '2 2' "$(runs_in mine)" 'with --resume the runs are appended to the file'
test_that '--plan' shown 'vkb-load --plan c.json'
test_match '"type":"case"' screen '--plan prints the cases'
test_status 2 'a session that fails before its first run' shown "vkb-load --hdr none/hdr c.json"
test_status 2 'a configuration that does not exist' shown 'vkb-load none.json'
test_same 'runs-2.jsonl runs-3.jsonl runs-4.jsonl runs-5.jsonl runs.jsonl' "$(echo runs*)" \
  'no empty file is left'
test_status 2 'a folder in which no file can be made' shown "cd /proc; vkb-load $scratch/c.json"
test_match "cannot make 'runs.jsonl' in this folder for the runs; name a file with '--output'" screen \
  'the error names --output'
printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"%s"}\n' \
  a "$server" b "$server" >builds
test_that 'two builds on a terminal' shown 'vkb-load --builds builds --runs 2 --duration 500ms c.json'
test_match '^.\[K(SET|GET) in slices run [12]/2 ' screen 'the progress line names cases as reports do'
test_match '^GET +b +2 ' screen 'the table has both builds'
test_litter 5 'no server is left'
test_done
