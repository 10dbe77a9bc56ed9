#!/bin/sh
# Workflows: names of files may look like options.
. "${0%/*}/lib.sh"

cat >workflow <<'END'
set -eu
here=$top/bin
. "$here/vkb-sh-setup"
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
test_done
