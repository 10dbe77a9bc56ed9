#!/bin/sh
# Workflows: a file whose name looks like an option is a file.
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
  'files that begin with - get ./ in front'
test_same 'a/-rf ./x' "$(shown --results a/-rf --policy ./x)" \
  'other files stay as they are'
test_same 'none -1d' "$(shown --since -1d)" 'an option that names no file keeps its -'

touch keep
printf '[{"commands":["NO_SUCH"]}]\n' >bad.json
test_status 2 'vkb-bench --results-dir -rf' \
  vkb-bench --config bad.json --results-dir -rf
test_that 'its folder is called so' test -d ./-rf/.vkb-bench
test_that 'nothing else is touched' test -e keep
test_done
