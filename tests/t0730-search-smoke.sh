#!/bin/sh
# configs/search-smoke.json with a real search module, and searches that
# find nothing.
. "${0%/*}/lib.sh"

module=/usr/lib/redis/modules/redisearch.so
if [ ! -e "$module" ]; then
  test_skip 'searches' "$module"
  test_done
fi
test_server 'searches'

smoke=$top/configs/search-smoke.json
runs() { jq -c 'select(.type == "run") | '"$1" "$2" | xargs -d '\n'; }
test_that 'the smoke test is accepted' vkb-load --runs 1 -o smoke "$smoke"
test_same '["1_a","ok"] ["1_b","ok"] ["1_b_nocontent","ok"] ["1_c","ok"] ["1_d","ok"] ["1_e","ok"] ["1_f_write_w","ok"] ["1_f_read_r","ok"] ["1_f_read_p","ok"] ["2_a","ok"] ["2_b","ok"] ["2_c","ok"] ["2_b","ok"] ["2_c","ok"]' \
  "$(runs '[.config.test_id, .status]' smoke)" 'all scenarios of the smoke test succeed'
test_same true "$(jq -s 'map(select(.type == "run")) | all(.[]; .metrics.errors == 0 and
  .metrics.rps > 0 and .config.modules[0].path == "redisearch.so")' smoke)" 'the smoke test has no errors'
sha=$(sha256sum <"$module" | cut -d' ' -f1)
test_same "$sha" "$(jq -r 'select(.type == "run") | .env.module_sha256' smoke | sort -u)" \
  'the record has the hash of the module'
test_same 'smoke-phrases.csv smoke-queries.csv smoke-text.csv' \
  "$(find datasets -name '*.csv' -printf '%f\n' | sort | xargs)" 'the datasets are made from their recipes'
cp datasets/smoke-text.csv before
test_that 'a finished smoke test is resumed' vkb-load --runs 1 --resume smoke "$smoke"
test_that 'a finished smoke test keeps its datasets' cmp before datasets/smoke-text.csv
test_that 'the runs become metrics.json' vkb-parse --flat smoke
test_same '["1_b_nocontent","read","b_nocontent","text, numbers and tags","search-smoke.json","success"]' \
  "$(jq -c '.[] | select(.test_id == "1_b_nocontent") | [.test_id, .test_phase, .scenario,
    .group_description, .config_name, .status]' .out)" 'metrics.json has the keys that dashboards filter by'
test_that 'a single scenario of a group is accepted' vkb-load --runs 1 --scenarios d "$smoke"
test_same '["1_d","ok"]' "$(runs '[.config.test_id, .status]' .out)" \
  'a single scenario has the data of its load scenario'
test_that 'vkb-stats accepts the smoke test' vkb-stats smoke
test_that '--module with a configuration that has a module is accepted' vkb-load --runs 1 --scenarios d --module "$module" "$smoke"
test_same "[\"$sha\",null]" \
  "$(runs '[.subject.module_sha256, .env.module_sha256]' .out)" 'the hash of --module is in the subject'

# --- searches that find nothing

cat >s.json <<END
{"modules": [{"path": "$module"}], "keyspacelen": [100],
 "test_groups": [{"group": 1, "scenarios": [
  {"id": "a", "type": "write", "command": "HSET d:__rand_int__ t hello",
   "requests": 200, "setup_commands": ["FT.CREATE idx SCHEMA t TEXT"]},
  {"id": "b", "type": "read", "command": "FT.SEARCH idx hello NOCONTENT",
   "requests": 50}]}]}
END
test_status 2 'a search in an index without documents is exit 2' vkb-load --runs 1 s.json
test_same '["1_a","ok",null] ["1_b","failed","index '\''idx'\'' finds nothing: it has indexed no document"]' \
  "$(runs '[.config.test_id, .status, .error]' .out)" 'the error names the index without documents'
sed 's/HSET d:__rand_int__/FT.ADD idx d:__seq__ 1.0 FIELDS/' s.json >add.json
test_that 'a search in an index with documents is accepted' vkb-load --runs 1 add.json
sed 's/SEARCH idx hello/SEARCH idx nowhere/' add.json >none.json
test_that 'a search that finds nothing in an index with documents is accepted' vkb-load --runs 1 none.json
for turn in '2 FT.SEARCH idx hello' 'FT.SEARCH idx hello ; PING'; do
  jq --arg c "$turn" '.test_groups[0].scenarios[1].command = $c' s.json >turn.json
  test_status 2 "searches in turn without documents are exit 2: $turn" vkb-load --runs 1 turn.json
  test_match "index 'idx' finds nothing" .out "the error names the index without documents: $turn"
done
jq '.test_groups[0].scenarios[1].command =
  "FT.ADD idx e:__seq__ 1.0 FIELDS t hello ; FT.SEARCH idx hello NOCONTENT"' s.json >turn.json
test_that 'a command text that also adds documents is accepted' vkb-load --runs 1 turn.json
sed 's/SEARCH idx/SEARCH other/' add.json >other.json
test_status 2 'an index that does not exist is exit 2' vkb-load --runs 1 other.json
test_match "FT.INFO 'other': Unknown" .err 'the error names the missing index'
jq '.test_groups[0].scenarios[1] = {"id":"m","type":"mixed","duration":0.2,
  "writes":[{"id":"w","command":"HSET e:__rand_int__ t hello"}],
  "reads":[{"id":"r","command":"FT.SEARCH idx hello"}]}' s.json >mixed.json
test_status 2 'a mixed scenario without documents is exit 2' vkb-load --runs 1 mixed.json
test_same '["1_m_write_w","failed",true] ["1_m_read_r","failed",true]' \
  "$(runs 'select(.config.scenario == "m") | [.config.test_id, .status,
    .metrics.rps > 0]' .out)" 'the parts of a mixed scenario fail after they were measured'
jq '.test_groups[0].scenarios[1].writes[0].command = "FT.ADD idx e:__seq__ 1.0 FIELDS t hello" |
  .test_groups[0].scenarios[0].type = "write"' mixed.json >fill.json
test_that 'a mixed scenario that adds documents is accepted' vkb-load --runs 1 fill.json
sed 's/"FT.SEARCH idx hello NOCONTENT"/"FT.SEARCH idx __field:w__", "dataset": "no.csv"/' \
  add.json >nodata.json
test_status 2 'a dataset that does not exist is exit 2' vkb-load --runs 1 nodata.json
test_match "not run: its dataset 'no.csv' cannot be read .*no recipe makes it" .err \
  'the error names the dataset that no recipe makes'
printf '%s' "$(cat nodata.json)" |
  jq '.dataset_generation = {"no.csv": {"doc_count": 3, "fields": [{"name": "w",
    "size": 5, "transforms": [{"type": "nonsense"}]}]}}' >badrecipe.json
test_status 2 'a dataset whose recipe fails is an error' vkb-load --runs 1 badrecipe.json
test_match "not run: its dataset 'no.csv': vkb-gendata exited with 2" .err 'the error has the status of vkb-gendata'

jq '.dataset_generation = {"no.csv": {"doc_count": 3, "fields": [{"name": "w", "size": 5}]}} |
  .test_groups[0].scenarios[1:] = [range(3) as $i | {"id": "w\($i)", "type": "write",
    "command": "SET k __field:w__", "dataset": "here/no.csv", "requests": 3}]' add.json >foreign.json
mkdir here && printf 'w\r\nx\r\n' >here/no.csv
test_that 'a dataset that vkb-gendata did not make is accepted' vkb-load --runs 1 foreign.json
test_same "vkb-gendata: 'here/no.csv' was not made by this program and is kept; use --force to make it again" \
  "$(grep gendata: .err)" 'a dataset that vkb-gendata did not make is kept, with one warning'

# --- a server that vkb-load did not start: each reset removes data and indexes

printf '{"type":"spec","v":1,"id":"x","modules":[{"path":"%s"}]}\n' "$module" >spec
test_other spec
test_that 'a running server is accepted' vkb-load --port "$port" --runs 2 add.json
test_same '["1_a","ok"] ["1_b","ok"] ["1_a","ok"] ["1_b","ok"]' \
  "$(runs '[.config.test_id, .status]' .out)" 'a running server is emptied before each run of the scene'

# --- vkb-bench and the table of a module

test_that 'vkb-bench --module is accepted' vkb-bench --mode client --module search \
  --module-commit abc123 --module-commit-timestamp 2026-01-02T03:04:05Z \
  --groups 1 --scenarios a,b --skip-config-set --skip-profiling --runs 1 \
  --config "$smoke" -- --port "$port"
test_same '["1_a","abc123","2026-01-02T03:04:05Z","search-smoke.json"] ["1_b","abc123","2026-01-02T03:04:05Z","search-smoke.json"]' \
  "$(jq -c '.[] | [.test_id, .module_commit, .module_commit_timestamp, .config_name]' \
    results/search_tests/metrics.json | xargs -d '\n')" 'the results have the commit of the module'
test_that '--dry-run with the search table is accepted' vkb-pgpush --dry-run --table search --test-type fts results/search_tests
test_match 'CREATE TABLE "benchmark_metrics_search"' .out 'the plan creates the search table'
test_match '"module_commit"' .out 'the plan has the commit of the module'
test_done
