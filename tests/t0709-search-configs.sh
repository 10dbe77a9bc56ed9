#!/bin/sh
# The search configurations with few documents: datasets, templates and fields are right,
# as far as a server without the modules can check.
. "${0%/*}/lib.sh"

test_server 'the search configurations'
for name in search search-short module-search module-json module-bloom module-timeseries; do
  jq '.[0] | del(.modules, .config_sets, ."io-threads") | ."benchmark-threads" = 1 |
    (.dataset_generation | select(.))[].doc_count = 4 |
    (.query_generation | select(.))[].doc_count = 3 |
    .test_groups[].scenarios[] |= (del(.setup_commands, .options) | .clients = 2 | .warmup = 0 |
      if .writes then (.writes[], .reads[]) |= (.clients = 1) else . end)' \
    "$top/configs/$name.json" >"$name.json"
  vkb-load --runs 1 --requests 10 -o "$name.out" "$name.json" </dev/null >/dev/null 2>"$name.err"
  test_empty "$(grep -E 'not run|no field|bad row|vkb-gendata:' "$name.err" | head -n 5)" \
    "$name: every case runs"
  jq -c 'select(.type == "run" and (.config.test_phase | startswith("mixed") | not)) | [.config.command, .status, .error // "" ]' "$name.out" >said
  test_empty "$(grep '^."HSET' said | grep -v '"ok",""' | head -n 5)" \
    "$name: all HSET commands succeed"
  test_empty "$(grep -v '^."HSET' said | grep -Eiv 'unknown command|before it failed' | head -n 5)" \
    "$name: other commands fail only because the module is missing"
done
test_same '16 4' "$(for f in search search-short; do
  jq '.[0].test_groups | length' "$top/configs/$f.json"
done | xargs)" 'search.json has 16 groups, search-short.json 4'
test_done
