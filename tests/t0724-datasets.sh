#!/bin/sh
. "${0%/*}/lib.sh"

# --- the recipe makes the same files

names=$(jq -r '(.dataset_generation, .query_generation) | keys[]' "$top/datasets/recipe.json")
test_that 'the recipe is accepted' vkb-gendata -q -o again \
  --files "$(echo "$names" | xargs | tr ' ' ,)" "$top/datasets/recipe.json"
for name in $names; do
  cmp "again/$name" "$top/datasets/$name"
done >differs 2>&1
test_empty_file differs 'the recipe makes the files in datasets'
printf '%s\n' README.md recipe.json "$names" | LC_ALL=C sort >want
sed -n 's|^!/datasets/||p' "$top/.gitignore" | LC_ALL=C sort >kept
test_that 'git keeps these files and no others' cmp want kept
make -s -pn -C "$top" 2>/dev/null | sed -n 's/^DATASETS = //p' >listed
test_same 1 "$(wc -l <listed | tr -d ' ')" 'the Makefile has a list of the files'
test_that 'the files are small' [ "$(cd "$top/datasets" && xargs cat <"$scratch/want" | wc -c)" -lt 300000 ]
test_match 'under the licence' "$top/datasets/README.md" 'the README names the licence'
test_same '8 4' "$(jq '.dataset_generation["mixed_match.csv"].fields[0].transforms[0].token_set[]' \
  "$top/datasets/recipe.json" | tr -d '"' | while read -r word; do
  grep -qiw "$word" "$top/datasets/field_text.csv" && echo found || echo none
done | sort | uniq -c | awk '{ print $1 }' | xargs)" 'mixed matches: eight words are in the texts, four are not'

# --- a clone in which configurations are run

if [ -e "$top/.git" ]; then
  git -C "$top" ls-files >files
else
  (cd "$top" && find . -type f ! -path './build/*' ! -path './lib/*' ! -path './results/*' -printf '%P\n') >files
fi
mkdir clone
tar -C "$top" -cf - -T files | tar -C clone -xf -
git init -q clone
git -C clone add -A
git -C clone -c user.name=x -c user.email=x@example.org commit -qm tree
test_server 'runs in a clone'
cd clone && mkdir results || exit 2
# The folders where programs write by default.
sed -nE 's/.*(^|[ ;])results=([a-z][a-z-]*)( .*|$)/\2/p' bin/vkb-* | sort -u | sed 's,$,/,' >../folders
test_that 'the workflows have folders of results' test "$(wc -l <../folders)" -ge 5
for name in runs.jsonl runs-2.jsonl runs.jsonl.logs $(cat ../folders); do
  git check-ignore -q "$name" || echo "$name"
done >../lacks
test_empty_file ../lacks 'git ignores the files that are written by default'
module=/usr/lib/redis/modules/redisearch.so

# run CONFIG OPTION...: one short run of its first case, or of the chosen cases. A
# configuration of a machine with many CPUs is not pinned here.
run() {
  config=$1
  shift
  jq 'map(del(.server_cpu_range, .client_cpu_range, .cpu_allocation) |
    (.keyspacelen | arrays) = [1000] | (.clients | arrays) |= map([., 50] | min) |
    if ."benchmark-threads" then ."benchmark-threads" = 1 else . end)' \
    "configs/$config.json" >"../$config.json" 2>"../$config.err"
  [ $# -gt 0 ] || set -- --case \
    "$(vkb-load --plan "../$config.json" </dev/null 2>/dev/null | head -n 1 | jq -r .id)"
  timeout 300 vkb-load -q --runs 1 --requests 200 --warmup 0 -o "results/$config.jsonl" \
    "$@" "../$config.json" </dev/null >/dev/null 2>"../$config.err"
  test_same '0 ok' "$? $(jq -r .status "results/$config.jsonl" | sort -u | xargs)" \
    "$config: a case runs"
  test_empty "$(git status --porcelain)" "$config: the clone stays clean"
}
for config in configs/*.json; do
  config=$(basename "$config" .json)
  case $config in
  search | search-short | search-smoke | module-*) ;;
  commands) ;; # only counted; t0632 sends each command
  *) run "$config" ;;
  esac
done
if [ -e "$module" ]; then
  run search --module "$module" --skip-config-set --groups 10 --scenarios a
  run search-short --module "$module" --skip-config-set --groups 2 --scenarios a
  run search-smoke --module "$module" --scenarios a
  run module-search --module "$module" --scenarios a
  # The files that the configurations of the Python tool name; this module
  # indexes only documents of FT.ADD.
  cat >../theirs.json <<'END'
[{"test_groups": [{"group": 1, "scenarios": [
  {"id": "a", "type": "write", "flush_before": true, "sequential": true, "clients": 4,
   "maxdocs": 200, "dataset": "datasets/search_terms.csv",
   "setup_commands": ["FT.CREATE idx SCHEMA title TEXT"],
   "command": "FT.ADD idx doc:__seq__ 1.0 FIELDS title \"__field:term__\""},
  {"id": "b", "type": "read", "clients": 4, "requests": 200,
   "dataset": "datasets/search_terms.csv", "command": "FT.SEARCH idx \"__field:term__\""},
  {"id": "c", "type": "read", "clients": 4, "requests": 200,
   "dataset": "datasets/proximity_phrases.csv",
   "command": "FT.SEARCH idx '\"__field:term1__ __field:term2__\"'"},
  {"id": "d", "type": "read", "clients": 4, "requests": 200,
   "dataset": "datasets/mixed_match.csv", "command": "FT.SEARCH idx \"__field:term__\""}]}],
  "cluster_mode": false, "tls_mode": false}]
END
  test_that "scenarios that name the files of the Python tool are accepted" vkb-load -q --runs 1 \
    --module "$module" -o results/theirs.jsonl ../theirs.json
  test_same '1_a ok 1_b ok 1_c ok 1_d ok' "$(jq -r '[.config.test_id, .status] | join(" ")' \
    results/theirs.jsonl | xargs)" 'these scenarios run in an unchanged clone'
  test_empty "$(git status --porcelain)" 'the clone stays clean after these scenarios'
else
  test_skip 'searches' "$module"
fi
test_that 'the recipe is accepted in the clone' vkb-gendata -q --files search_terms.csv \
  datasets/recipe.json
test_empty "$(git status --porcelain)" 'existing files are unchanged'
cd ..
test_done
