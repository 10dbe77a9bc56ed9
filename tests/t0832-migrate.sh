#!/bin/sh
. "${0%/*}/lib.sh"

page=$top/man/vkb-migrate.7

# --- the scripts of the Python tool and their options

cat >had <<'END'
benchmark.py mode commits valkey-path valkey-benchmark-path baseline use-running-server target-ip config results-dir log-level runs module module-path module-commit module-commit-timestamp groups scenarios skip-config-set skip-profiling repository cluster-mode-filter
scripts/setup_datasets.py output-dir config files
utils/compare_benchmark_results.py baseline new output metrics graphs graph-dir
utils/detect_regression.py host port database username password table-name threshold test-type sslmode
utils/push_to_postgres.py results-dir host port database username password table test-type dry-run
utils/postgres_track_commits.py host port database username password repo branch max-commits config-file disable-subset-detection architecture table cluster-mode-filter skip-config-set skip-profiling status list-configs
END
sort_words() { tr ' ' '\n' | sort; }
while read -r script options; do
  test_same "$(printf '%s\n' "$options" | sort_words)" \
    "$(awk -v s=".Ss $script" '
      /^\.S[sh] / { on = $0 == s }
      on && /^\.It Fl -/ { for (i = 2; i <= NF; i++) if ($i ~ /^-/) print substr($i, 2) }
      ' "$page" | sort)" "$script: the page names all of its options"
done <had
for f in benchmark.py valkey_build.py benchmark_build.py module_build.py \
  valkey_server.py valkey_benchmark.py process_metrics.py \
  environment_metadata.py profiler.py cpu_monitor.py per_cpu_monitor.py \
  scripts/setup_datasets.py utils/compare_benchmark_results.py \
  utils/detect_regression.py utils/push_to_postgres.py \
  utils/postgres_track_commits.py utils/cpu_utils.py utils/git_utils.py \
  benchmark-configs.json benchmark-config-arm.json \
  benchmark-config-tag-arm.json benchmark-configs-cluster-tls.json \
  module-test-arm.json fts-benchmarks-arm.json \
  fts-benchmarks-shortened-arm.json metrics.json logs.txt flamegraphs \
  benchmark_metrics benchmark_tags_metrics benchmark_commits \
  valkey_benchmark.yml search_benchmark.yml benchmark_release_tags.yml \
  module-benchmark.yml basic.yml cluster_tls.yml tests.yml check_format.yml \
  sync-dashboards.yml pr-benchmark-template.yml schema.sql; do
  grep -qF "$f" "$page" || echo "$f"
done >lacks
test_empty_file lacks 'the page names its files, tables and workflows'

# --- the options of vkb on the page: `.Ic vkb-load Fl -runs Fl -order'

for p in "$page" "$top/man/vkb-quiet.7"; do
  tr -d '\\&' <"$p" | grep -E '^\.Ic vkb-' | awk '{
    for (i = 3; i <= NF; i++)
      if ($i ~ /^--?[a-z][a-z]/) { sub(/^-*/, "", $i); print $2, $i }
  }'
done | sort -u >ours
test_result "$(($(wc -l <ours) < 30))" 'the page names many options of vkb'
while read -r program option; do
  "$program" --dump-options | cut -f 2 | grep -qx -e "$option" || echo "$program --$option"
done <ours >lacks
test_empty_file lacks 'each of these options exists'
grep -E '^\.Pa [a-z0-9/.-]*( |$)' "$page" | cut -d ' ' -f 2- |
  grep -oE '[.a-z/-]+(\.[a-z]+|/[a-z]+)' | sort -u | while read -r f; do
  case $f in
  benchmark.py | metrics.json | fts-* | module-test-arm.json) continue ;;
  esac
  [ -e "$top/$f" ] || [ -e "$top/configs/$f" ] ||
    [ -e "$top/.github/workflows/$f" ] || echo "$f"
done >lacks
test_empty_file lacks 'the files that the page names exist'

# --- results of the Python tool are read

# stored CONFIG: prints a line of metrics.json for each case, in the order in which
# they are measured.
stored() {
  vkb-load --plan "$top/configs/$1" | jq -c '{type: "run", v: 1, subject: {label: "x"},
    config, run: {}, metrics: {rps: 1}, status: "ok"}' | vkb-parse --flat --from records |
    jq -r '.[] | "\(.command) size=\(.data_size) P\(.pipeline) c=\(.clients) \(.benchmark_mode
      )=\(.duration // .requests) warmup=\(.warmup) io=\(.io_threads
      ) threads=\(.valkey_benchmark_threads) cluster=\(.cluster_mode) tls=\(.tls)"'
}
# keys CONFIG: prints the sizes of its key spaces, which metrics.json lacks
keys() { vkb-load --plan "$top/configs/$1" | jq .config.keyspacelen | sort -u; }
# expected REST COMMAND...: prints a line for each command
expected() {
  expected_rest=$1
  shift
  for c; do
    printf '%s %s\n' "$c" "$expected_rest"
  done
}
test_same "$(expected \
  'size=16 P10 c=50 duration=120 warmup=10 io=1 threads=2 cluster=false tls=false' \
  SET GET RPUSH LPUSH LPOP SADD SPOP HSET 'MGET (10 keys)' \
  'LRANGE_100 (first 100 elements)' ZPOPMIN XADD XRANGE)" "$(stored benchmark-configs.json)" 'benchmark-configs.json: the cases of the Python tool'
# arm SIZES: io-threads are the outer loop, then sizes, pipelines, commands.
arm() {
  for io in 1 9; do
    for size in $1; do
      for p in 1 10; do
        expected "size=$size P$p c=1600 duration=180 warmup=30 io=$io threads=90 cluster=false tls=false" SET GET
      done
    done
  done
}
test_same "$(arm '16 128 2048')" "$(stored benchmark-config-arm.json)" \
  'benchmark-config-arm.json: the same'
test_same "$(arm '16 512')" "$(stored benchmark-config-tag-arm.json)" \
  'benchmark-config-tag-arm.json: the same'
test_same "$(expected \
  'size=16 P10 c=50 requests=10000000 warmup=10 io=2 threads=1 cluster=true tls=true' \
  SET 'MSET (10 keys)' INCR LPUSH RPUSH LPOP RPOP SADD HSET ZADD XADD)" "$(stored benchmark-configs-cluster-tls.json)" \
  'benchmark-configs-cluster-tls.json: the same'
test_same '10000000 3000000 3000000 10000000' "$(for f in benchmark-configs benchmark-config-arm \
  benchmark-config-tag-arm benchmark-configs-cluster-tls; do keys $f.json; done | xargs)" \
  'the key spaces have the same sizes'
test_same '0-8 96-191 0-8 96-191 0-1 3' "$(for f in benchmark-config-arm benchmark-config-tag-arm \
  benchmark-configs-cluster-tls; do
  vkb-load --plan "$top/configs/$f.json" |
    jq -r '"\(.server.cpus | if type == "array" then .[0] else . end) \(.client.cpus)"' | sort -u
done | xargs)" 'the CPUs are the same'

# The page has the numbers of cases in the configurations of modules.
counts() {
  vkb-load --plan "$top/configs/$1" | jq -rs \
    '"\(map(.config.group) | unique | length) groups, \(map(.config.test_id) | unique | length) scenarios, \(length) cases"'
}
for f in search search-short search-smoke; do
  test_match "^$f.json: $(counts "$f.json")\$" "$page" "$f.json: the page has its number of cases"
done

cp -R "$top/tests/data/python-tool" results
if test_reference python-tool/metrics 'a folder of results'; then
  for f in "$acceptance"/python-tool/metrics/*.json; do
    mkdir "results/$(basename "$f" .json)"
    cp "$f" "results/$(basename "$f" .json)/metrics.json"
  done
fi
for f in results/*/metrics.json; do
  test_same "$(jq -c '[.[] | select(.status != "failed") | .rps]' "$f")" \
    "$(vkb-parse "$f" |
      jq -sc '[.[] | select(.type == "run" and .status == "ok") | .metrics.rps]')" \
    "$f: each result is a run"
  test_same "$(jq -c '[.[] | [.test_id, .command, .commit, .rps, .p99_latency_ms]]' "$f")" \
    "$(vkb-parse --flat "$f" |
      jq -c '[.[] | [.test_id, .command, .commit, .rps, .p99_latency_ms]]')" \
    "$f: the run becomes the same result"
  test_that "$f: vkb-stats accepts it" vkb-stats "$f"
done
test_that 'vkb-pgpush accepts the whole folder' vkb-pgpush --dry-run results
test_match "^-- benchmark_metrics: $(jq -s 'map(length) | add' \
  results/*/metrics.json) runs" .out 'every result of the folder is stored'

# --- the guide

test_same "$(sed -n '/^static const struct source/,/^$/s/^    {"\([a-z_]*\)".*/\1/p' \
  "$top/src/vkb-env.c" | sort)" \
  "$(sed -n '/^\.Sh WHAT TO SET/,/^\.Sh WHERE/s/^\.It Sy //p' "$top/man/vkb-quiet.7" |
    tr -d '*,' | tr -s ' ' '\n' | sort)" 'vkb-quiet(7) has each source of noise'
test_same "$(sed -n '/^\.Sh WHAT TO SET/,/^\.Sh WHERE/s/^\.It Sy //p' \
  "$top/man/vkb-quiet.7" | tr ',' '\n' | grep '\*' | tr -d '* ' | sort)" \
  "$(sed -n "/setting_table\[\]/,/^};/s/^    {\(.name = \)*\"\([a-z_]*\)\".*/\2/p" \
    "$top/src/vkb-env.c" | sort -u)" 'vkb-quiet(7) says which of them vkb-env can set'
test_done
