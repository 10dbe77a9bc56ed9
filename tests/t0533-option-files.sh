#!/bin/sh
# Workflows and files: names that look like options, files that can be read only once,
# and folders of workflows that were killed.
. "${0%/*}/lib.sh"

cat >workflow <<'END'
set -eu
here=$top/bin
. "$here/../lib/vkb/vkb-sh-setup"
results=none policy='' since='' operands=''
options='
--results DIR  the folder of the results
--policy FILE  the rules
--since REF    the first commit
-C DIR         the repository'
parse_options "$@"
printf '%s\n' "$results" "$policy" "$since"
succeed
END
shown() { top=$top sh workflow "$@" | xargs; }
test_same './-rf ./--all' "$(shown --results -rf --policy=--all)" \
  'a name that begins with - gets ./ before it'
test_same 'a/-rf ./x' "$(shown --results a/-rf --policy ./x)" \
  'other names of files are unchanged'
test_same 'none -1d' "$(shown --since -1d)" 'the value of an option that is not a file is unchanged'

touch keep
printf '[{"commands":["NO_SUCH"]}]\n' >bad.json
test_status 2 'vkb-bench with --results-dir -rf has status 2 for a bad command' \
  vkb-bench --config bad.json --results-dir -rf
test_that 'the folder of results is named -rf' test -d ./-rf/.vkb-bench
test_that 'the other files are kept' test -e keep

# --- files that can be read only once

# twice PROGRAM: gives a pipe twice to the program.
printf '{"type":"run","v":1,"status":"ok","subject":{"label":"a"},"config":{"test":"GET"},"run":{"index":1},"metrics":{"rps":1}}\n' >run.jsonl
mkfifo once
twice() {
  case $1 in
  vkb-parse) printf '"test","rps"\n"GET","1000.00"\n' >once & ;;
  *) cat run.jsonl >once & ;;
  esac
  timeout 100 "$1" once once
}
for program in vkb-compare vkb-stats vkb-parse vkb-redact vkb-flame vkb-detect vkb-report; do
  test_status 2 "$program refuses a pipe that is given twice" twice $program
  test_match "'once' is given twice and can be read only once" .err "$program says why"
  wait
done
test_status 2 'stdin is not read twice' sh -c 'cat run.jsonl | vkb-stats - -'
test_match "'stdin' is given twice" .err 'the error says so'
test_same 2 "$(vkb-redact run.jsonl run.jsonl | wc -l)" 'a regular file may be given twice'
for file in once /dev/stdin; do
  while read -r words; do
    # shellcheck disable=SC2086 # words
    test_status 2 "${words%% *} refuses the configuration $file" timeout 100 $words "$file"
    test_match "'$file' can be read only once, and ${words%% *} reads it several times" .err \
      'the error says why'
  done <<'END'
vkb-ab a b --
vkb-pr --repo x a b --
vkb-bisect a b --
vkb-continuous -C .
vkb-why a b
vkb-bench --config
vkb-quickstart
END
done
test_status 2 'vkb-ab refuses stdin' vkb-ab a b -- -
test_match "'-' can be read only once" .err 'the error says why'
# --- folders of workflows that were killed

TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$TMPDIR"
cat >scratch.sh <<'END'
set -eu
here=$top/bin
. "$here/../lib/vkb/vkb-sh-setup"
make_scratch
echo text >"$tmp/file"
echo "$tmp" >"$1"
[ "$2" = end ] || read -r _ <"$2"
succeed
END
export top
mkfifo killed runs wait_killed wait_runs
exec 5<>wait_killed 6<>wait_runs
sh scratch.sh killed wait_killed 5>&- 6>&- &
dead=$!
read -r first <killed
sh scratch.sh runs wait_runs 5>&- 6>&- &
read -r second <runs
test_that 'a workflow has a folder of its own' test -f "$first/file" -a -f "$second/file"
kill -9 "$dead"
wait "$dead" 2>/dev/null
test_that 'a killed workflow leaves its folder' test -d "$first"
ln -s "$scratch/home" "$TMPDIR/vkb-scratch.link"
mkdir "$scratch/home"
touch "$scratch/home/kept"
test_that 'a workflow makes its folder' sh scratch.sh ended end
test_that 'it removes the folder of the killed one' test ! -e "$first" -a -e ended
test_that 'it leaves that of one that runs' test -f "$second/file"
test_that 'it follows no link' test -e "$scratch/home/kept"
echo >&6
wait
test_same "$TMPDIR/vkb-scratch.link" "$(litter)" 'no other folder is left at the end'
test_same 'lib/vkb/vkb-sh-setup' "$(cd "$top" && grep -lIw mktemp bin/* lib/vkb/* | xargs)" \
  'all workflows make their folders so'
test_done
