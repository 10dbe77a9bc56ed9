#!/bin/sh
# push.sh [RUNS]: runs per second of vkb-pgpush (default 100,000 runs) beside
# plain COPY of the same rows into a table with the same indexes, in a PostgreSQL
# server that it starts, or in the empty database that PG* name. Prints a table.
set -eu
if [ -z "${PGHOST:-}" ]; then
  exec 3>&1
  exec pg_virtualenv -t sh "$0" "$@" >&2
fi
[ ! -e /dev/fd/3 ] || exec >&3
cd "${0%/*}/../.."
PATH=$PWD/bin:$PATH
n=${1:-100000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/vkb-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# rate WHAT COMMAND...
rate() {
  what=$1
  shift
  begun=$(date +%s%N)
  "$@" >/dev/null
  printf '%-28s %8d runs/s\n' "$what" \
    $((n * 1000000 / (($(date +%s%N) - begun) / 1000)))
}

head -n 1 tests/data/a.jsonl | awk -v n="$n" '{
  for (i = 1; i <= n; i++) {
    s = $0
    sub(/"index":[0-9]+/, "\"index\":" i, s)
    print s
  } }' >"$dir/runs"
rate 'read and flattened' vkb-pgpush --dry-run "$dir/runs"
rate 'stored' vkb-pgpush -q "$dir/runs"
rate 'there already' vkb-pgpush -q "$dir/runs"
rate 'exported' vkb-pgpush --export
psql -X -q -c "\\copy (SELECT * FROM benchmark_metrics) TO '$dir/rows'" \
  -c "\\copy (SELECT * FROM vkb_runs) TO '$dir/records'" \
  -c 'CREATE TABLE plain_copy (LIKE benchmark_metrics INCLUDING ALL)' \
  -c 'CREATE TABLE plain_runs (LIKE vkb_runs INCLUDING ALL)'
rate 'plain COPY of the rows' \
  psql -X -q -c "\\copy plain_copy FROM '$dir/rows'"
rate 'plain COPY of the records' \
  psql -X -q -c "\\copy plain_runs FROM '$dir/records'"
psql -X -q -c 'TRUNCATE plain_copy, plain_runs'
rate 'plain COPY of both' psql -X -q -1 \
  -c "\\copy plain_copy FROM '$dir/rows'" \
  -c "\\copy plain_runs FROM '$dir/records'"
