#!/bin/sh
# The queries of the Python tool's dashboards, with values for macros and variables: on
# the tables of vkb-pgpush they give the numbers of the files. Runs are exported
# unchanged.
. "${0%/*}/lib.sh"
test_postgres 'vkb-pgpush and dashboards'

fresh() { sql 'DROP SCHEMA public CASCADE' 'CREATE SCHEMA public' 2>.sql; }
rows() { sql "SELECT count(*) FROM ${1:-benchmark_metrics}"; }

# answer WHAT SQL JQ: the rows a|b|c of the query equal what jq -r prints for
# results.json
answer() {
  test_that "$1: the query runs" sql "$2"
  sort .out >answer
  test_same "$(jq -r "$3" results.json | sort)" "$(cat answer)" "$1: the numbers are those of the files"
  test_match . answer "$1: the query has rows"
}
# A mean, rounded as the database rounds it.
jq_mean='def mean: (add / length * 1000 | round) / 1000;'

# results/TAG/metrics.json: repetitions have different metrics.
mkdir results
perl -MJSON::PP -e 'srand 3; my $json = JSON::PP->new->canonical->pretty;
for my $c (0 .. 3) { my $tag = ("7.2.4", "8.0.1", "8.1.0", "unstable\"--")[$c]; my @all;
  for my $cmd ("SET", "GET", "LRANGE_100 (first 100 elements)") {
  for my $io (1, 9) { for my $p (1, 10) { for my $d (16, 512) { for my $k (1 .. 3) {
    push @all, { timestamp => sprintf("2026-03-%02dT08:00:00+01:00", $c + 1),
      commit => $tag, repository => "valkey-io/valkey", command => $cmd,
      data_size => $d, pipeline => $p, clients => 1600, io_threads => $io,
      duration => 180, benchmark_mode => "duration", warmup => 30,
      valkey_benchmark_threads => 90, architecture => $c % 2 ? "x86_64" : "aarch64",
      cluster_mode => JSON::PP::false, tls => JSON::PP::false,
      rps => int(1e8 * (1 + rand)) / 1000,
      map { ("${_}_latency_ms", int(1000 * rand) / 1000) } qw(avg min p50 p95 p99 max) } } } } } }
  mkdir "results/$tag"; open my $f, ">", "results/$tag/metrics.json" or die;
  print $f $json->encode(\@all) }'
jq -s add results/*/metrics.json >results.json
n=$(jq length results.json)

# --- throughput per tag, and performance per command

# Pushed as a folder, as run records, and in pieces that are then pushed again.
for way in tree records pieces; do
  fresh
  case $way in
  tree) vkb-pgpush -q --table tag results && vkb-pgpush -q results ;;
  records)
    vkb-parse results/*/metrics.json >records
    vkb-pgpush -q --table tag records && vkb-pgpush -q <records
    ;;
  pieces)
    split -n r/5 records piece.
    for f in piece.* records; do
      vkb-pgpush -q --table tag "$f" && vkb-pgpush -q - <"$f"
    done
    ;;
  esac
  test_same "$n $n" "$(rows) $(rows benchmark_tags_metrics)" "$way: all rows are stored"
  for cmd in SET GET; do
    answer "$way: throughput of $cmd per tag for each io-threads and pipeline" \
      "SELECT commit,
        round(AVG(CASE WHEN io_threads = 1 AND pipeline = 1 THEN rps END), 3)::float8,
        round(AVG(CASE WHEN io_threads = 1 AND pipeline = 10 THEN rps END), 3)::float8,
        round(AVG(CASE WHEN io_threads = 9 AND pipeline = 1 THEN rps END), 3)::float8,
        round(AVG(CASE WHEN io_threads = 9 AND pipeline = 10 THEN rps END), 3)::float8
        FROM benchmark_tags_metrics WHERE command = '$cmd' AND data_size = 512
        GROUP BY commit ORDER BY commit" \
      "$jq_mean map(select(.command == \"$cmd\" and .data_size == 512)) |
        group_by(.commit)[] | . as \$g | [\$g[0].commit] +
        ([[1, 1], [1, 10], [9, 1], [9, 10]] | map(. as \$k | \$g |
          map(select(.io_threads == \$k[0] and .pipeline == \$k[1]).rps) | mean)) |
        map(tostring) | join(\"|\")"
    for io in 1 9; do
      for p in 1 10; do
        answer "$way: throughput of $cmd over time, pipeline $p, $io io threads" \
          "SELECT EXTRACT(EPOCH FROM \"timestamp\")::bigint AS \"time\",
            concat(data_size, ' Bytes, ', io_threads, ' IO-Threads, ', pipeline,
              ' Pipelining, ', architecture) AS metric,
            round(AVG(rps), 3)::float8 AS value
            FROM benchmark_metrics
            WHERE \"timestamp\" BETWEEN '2026-03-01T12:00:00Z' AND '2026-03-09T00:00:00.000Z'
            AND command = '$cmd' AND pipeline = $p AND io_threads = $io
            GROUP BY \"timestamp\", command, data_size, pipeline, clients, requests,
              duration, benchmark_mode, io_threads, valkey_benchmark_threads,
              warmup, cluster_mode, tls, architecture
            ORDER BY 1, 2" \
          "$jq_mean map(select(.command == \"$cmd\" and .pipeline == $p and
            .io_threads == $io and .timestamp > \"2026-03-01T13\")) |
            group_by([.timestamp, .data_size])[] | [(.[0].timestamp | sub(\"[+]01:00\"; \"Z\") |
              fromdateiso8601 - 3600), \"\(.[0].data_size) Bytes, \(.[0].io_threads) IO-Threads, \(.[0].pipeline) Pipelining, \(.[0].architecture)\",
              (map(.rps) | mean)] | map(tostring) | join(\"|\")"
      done
    done
  done
  answer "$way: the commit of each point" \
    "SELECT DISTINCT EXTRACT(EPOCH FROM \"timestamp\")::bigint AS \"time\", commit
      FROM benchmark_metrics WHERE command = 'SET' ORDER BY 1" \
    'group_by(.timestamp)[] | "\(.[0].timestamp | sub("[+]01:00"; "Z") | fromdateiso8601 - 3600)|\(.[0].commit)"'
done

# --- a module: the variables, graphs and tables of its dashboard

perl -MJSON::PP -e 'srand 5; my @all;
for my $c (0 .. 4) { for my $mode (JSON::PP::false, JSON::PP::true) {
 for my $set ({}, {"search.reader-threads" => 8}) { for my $s ("a", "b_nocontent") {
  for my $phase ($s eq "a" ? "read" : ("mixed_read", "mixed_write")) { for my $k (1, 2) {
  push @all, { timestamp => "2026-03-01T08:00:00+00:00", commit => "core",
    command => "FT.SEARCH idx \"\@t:__field:term__\"", data_size => 100, pipeline => 1,
    clients => 10, requests => 1000, benchmark_mode => "requests", io_threads => 4,
    warmup => 0, architecture => "aarch64", cluster_mode => $mode, tls => JSON::PP::false,
    status => "success", group => 1, scenario => $s, test_id => "1_$s", test_phase => $phase,
    group_description => "text search, 16 groups", scenario_description => "one term",
    config_set => $set, config_name => "fts-benchmarks-arm", dataset => "datasets/a.csv",
    module_commit => sprintf("%040x", $c), repository => undef,
    module_commit_timestamp => sprintf("2026-02-%02dT10:00:00+00:00", $c + 1),
    rps => int(1e6 * (1 + rand) * ($c == 4 ? .9 : 1)) / 100,
    map { ("${_}_latency_ms", 2 * int(500 * rand) / 1000) } qw(avg min p50 p95 p99 max) } } } } } }
 push @all, { test_id => "1_x", test_phase => "read", group => 1, scenario => "x",
    status => "failed", error => "boom", command => "FT.SEARCH", config_set => {},
    timestamp => sprintf("2026-02-%02dT10:00:00+00:00", $c + 1) } }
 print JSON::PP->new->canonical->encode(\@all)' >all.json
jq 'map(select(.status == "success"))' all.json >results.json
fresh
vkb-pgpush -q --table search --test-type fts all.json
test_same "$(jq length all.json)" "$(rows benchmark_metrics_search)" 'module: all rows are stored'
test_same benchmark_metrics_search "$(sql "SELECT table_name FROM information_schema.tables
  WHERE table_schema = 'public' AND table_name LIKE 'benchmark_metrics_%'")" 'module: the query for table_name finds the table'
for v in config_name architecture io_threads group_description scenario cluster_mode config_set::text; do
  answer "module: the variable $v" "SELECT DISTINCT $v FROM benchmark_metrics_search
    WHERE ${v%::*} IS NOT NULL AND status = 'success' ORDER BY 1" \
    "map(.[\"${v%::*}\"]) | unique[] | if . == {} then \"{}\" elif type == \"object\" then \"{\\\"search.reader-threads\\\": 8}\"
      elif type == \"boolean\" then tostring[0:1] else . end"
done
for m in rps p99_latency_ms p95_latency_ms p50_latency_ms min_latency_ms max_latency_ms; do
  answer "module: $m over the module's commits" \
    "SELECT EXTRACT(EPOCH FROM module_commit_timestamp)::bigint AS \"time\",
      concat(scenario, ' ', test_phase, ' cluster=', cluster_mode) AS metric,
      round(AVG($m), 3)::float8 FROM benchmark_metrics_search
      WHERE module_commit_timestamp BETWEEN '2026-02-02T00:00:00Z' AND '2026-03-01T00:00:00Z'
      AND config_name = 'fts-benchmarks-arm' AND architecture = 'aarch64'
      AND io_threads::text = '4' AND group_description = 'text search, 16 groups'
      AND config_set = '{\"search.reader-threads\": 8}'::jsonb
      AND config_set::text IN ('{\"search.reader-threads\": 8}')
      AND scenario IN ('a', 'b_nocontent') AND cluster_mode::text IN ('true', 'false')
      GROUP BY module_commit_timestamp, scenario, test_phase, cluster_mode ORDER BY 1" \
    "$jq_mean map(select(.config_set != {} and .module_commit_timestamp > \"2026-02-02\")) |
      group_by([.module_commit_timestamp, .scenario, .test_phase, .cluster_mode])[] |
      [(.[0].module_commit_timestamp | sub(\"[+]00:00\"; \"Z\") | fromdateiso8601),
        \"\(.[0].scenario) \(.[0].test_phase) cluster=\(.[0].cluster_mode | tostring[0:1])\",
        (map(.$m) | mean)] | map(tostring) | join(\"|\")"
done
answer 'module: the latest commit compared with the previous one' \
  "WITH pushes AS (SELECT scenario, test_phase, cluster_mode, config_set, module_commit,
      AVG(rps) AS rps, AVG(p99_latency_ms) AS p99,
      RANK() OVER (PARTITION BY scenario, test_phase, cluster_mode, config_set
        ORDER BY module_commit_timestamp DESC) AS at
      FROM benchmark_metrics_search WHERE status = 'success'
      GROUP BY scenario, test_phase, cluster_mode, config_set, module_commit, module_commit_timestamp)
    SELECT l.scenario, l.test_phase, l.cluster_mode, l.config_set <> '{}'::jsonb,
      round(l.rps / p.rps, 3)::float8
    FROM pushes l JOIN pushes p USING (scenario, test_phase, cluster_mode, config_set)
    WHERE l.at = 1 AND p.at = 2 AND (l.rps / p.rps < 0.99 OR l.p99 / p.p99 > 1.01)" \
  "$jq_mean group_by([.scenario, .test_phase, .cluster_mode, .config_set])[] |
    (map(select(.module_commit | endswith(\"4\")))) as \$l | (map(select(.module_commit | endswith(\"3\")))) as \$p |
    def of(k): map(.[k]) | add / length;
    (\$l | of(\"rps\")) / (\$p | of(\"rps\")) | . as \$r |
    select(\$r < 0.99 or (\$l | of(\"p99_latency_ms\")) / (\$p | of(\"p99_latency_ms\")) > 1.01) |
    [\$l[0].scenario, \$l[0].test_phase, (\$l[0].cluster_mode | tostring[0:1]),
      (\$l[0].config_set != {} | tostring[0:1]), ([\$r] | mean | tostring)] | join(\"|\")"
test_same "$(jq -r 'map(select(.status == "failed")) | length' all.json) boom" \
  "$(sql "SELECT count(*) || ' ' || min(error) FROM benchmark_metrics_search WHERE status = 'failed'")" \
  'module: failed scenarios are stored with the error'
test_that 'module: the query for the last rows runs' sql 'SELECT * FROM benchmark_metrics_search
  ORDER BY module_commit_timestamp DESC NULLS LAST LIMIT 50'
test_same 50 "$(wc -l <.out)" 'module: the query for the last rows has 50 rows'

# --- the runs of vkb-load have all that these filters need

if server=$(command -v valkey-server); then
  cat >fts-small.json <<'END'
[{"keyspacelen": [10], "io-threads": [1], "config_sets": [{}, {"maxmemory-policy": "allkeys-lru"}],
  "test_groups": [{"group": 7, "description": "small, \"all\" of it", "scenarios": [
    {"id": "a", "type": "write", "test": "set", "requests": 100, "description": "one value"}]}]}]
END
  vkb-load -q --runs 2 --server "$server" fts-small.json >ours
  jq -c '.subject += {commit: "core", module_commit: "m", module_time: "2026-02-03T10:00:00Z"}' ours >ours.new
  fresh
  test_that 'vkb-load: the push is accepted' vkb-pgpush --table search ours.new
  test_same 'a (write, cluster=false)|4
{"maxmemory-policy": "allkeys-lru"}
{}' "$(sql "SELECT scenario || ' (' || test_phase || ', cluster=' || coalesce(cluster_mode::text, 'N/A') || ')', count(rps)
      FROM benchmark_metrics_search WHERE config_name = 'fts-small.json' AND architecture = '$(uname -m)'
      AND group_description = 'small, \"all\" of it' AND scenario_description = 'one value'
      AND \"group\" = 7 AND io_threads = 1 AND status = 'success' AND module_commit_timestamp > '2026-02-03'
      GROUP BY scenario, test_phase, cluster_mode" \
    'SELECT DISTINCT config_set::text FROM benchmark_metrics_search ORDER BY 1')" 'vkb-load: each filter finds its runs'
else
  test_skip 'vkb-load and dashboards' valkey-server
fi

# --- random runs are exported unchanged, through two tables and in another order

# any SEED N: prints random runs; some are equal
any() {
  perl -MJSON::PP -e 'my ($seed, $n) = @ARGV; srand $seed;
  my $json = JSON::PP->new->canonical->utf8; my @had;
  sub one { $_[rand @_] }
  sub text { one("", "a", "SET", "x" x int(rand 400), "\x{f6}\x{2192}\x{1f600}", "a\tb\nc\\\"", "\\N", "\\.", "--", "{}", "null", "2026-01-01", "1", "\x{1}\x{7f}") }
  sub num { one(0, -1, 1.5, int(rand 1e15), rand, 1e300 * rand, -1e-300, 9007199254740991, 40000, 3e9) }
  sub val { my $d = shift; my $k = int rand($d > 2 ? 4 : 6);
    $k == 0 ? text() : $k == 1 ? num() : $k == 2 ? JSON::PP::true : $k == 3 ? num() :
    $k == 4 ? [map { val($d + 1) } 1 .. rand 3] : { map { (key() => val($d + 1)) } 1 .. rand 3 } }
  sub key { one("k" . int(rand 9), "rps", "id", "commit", "Key One", "\x{e9}" x int(1 + rand 40), "a\"b", "vkb_case", "timestamp", "env_x", "x" x 70 . int(rand 2), "a\nb") }
  for my $i (1 .. $n) {
    if (@had && rand() < .1) { print one(@had); next }
    my $r = { type => "run", v => 1, subject => {}, config => { command => text() . "C" },
      metrics => {}, status => "ok" };
    $r->{subject}{one("commit", "ref", "label")} = text() if rand() < .9;
    $r->{subject}{time} = one("2026-03-01T08:00:00Z", "2026-03-01T08:00:00.123456789+02:00",
      "2026-02-28", "1999-12-31 23:59") if rand() < .7;
    $r->{config}{key()} = val(0) for 1 .. rand 5;
    $r->{run} = { session => "s" . int(rand 3) . "x" x (rand() < .1 ? 300 : 0), index => $i } if rand() < .8;
    $r->{run}{started} = "2026-04-01T00:00:00Z" if rand() < .3 && $r->{run};
    $r->{env}{key()} = val(0) for 1 .. rand 3;
    $r->{metrics}{one("rps", "p99_latency_ms", "cpu", "odd name")} = 0 + num() for 0 .. rand 3;
    if (rand() < .1) { $r->{status} = "failed"; $r->{error} = text(); delete $r->{metrics} }
    $r->{run} ||= { index => 1 } if rand() < .5;
    my $line = $json->encode($r) . "\n"; push @had, $line; print $line }' "$1" "$2" >raw
  # vkb-pgpush reports what cannot be stored; the comparison leaves it out.
  vkb-parse raw >any 2>.parse
}
for seed in 1 2 3 4 5; do
  any $seed 200
  fresh
  vkb-pgpush any 2>err
  status=$?
  sed -n 's/^vkb-pgpush: any:\([0-9]*\): .*/\1d/p' err >bad
  test_same "$([ -s bad ] && echo 2 || echo 0)" $status "seed $seed: the push has the right exit status"
  sed -f bad any | sort -u >good
  vkb-pgpush --export >first
  sort -u first >got
  test_same "$(rows)" "$(wc -l <first)" "seed $seed: each row is exported"
  test_empty "$(comm -3 good got | head -n 3)" "seed $seed: the exported runs are those that were accepted"
  test_same y "$([ "$(wc -l <got)" -gt 100 ] && echo y)" "seed $seed: most runs are accepted"
  vkb-pgpush -q --table other first
  vkb-pgpush --export --table other >second
  test_same "$(cksum <first)" "$(cksum <second)" "seed $seed: the export of another table is the same"
  vkb-pgpush first any 2>err
  test_match ' 0 runs stored' err "seed $seed: no exported run is new"
  perl -e 'srand shift; my @l = <>; print splice @l, rand @l, 1 while @l' $seed first >shuffled
  vkb-pgpush -q --table third shuffled
  vkb-pgpush --export --table third | sort >mixed
  test_same "$(sort first | cksum)" "$(cksum <mixed)" "seed $seed: pushed in another order, the runs are the same"
done

# --- rows of the Python tool are exported and pushed to another table

fresh
sql 'CREATE TABLE benchmark_metrics (id SERIAL PRIMARY KEY,
  created_at TIMESTAMPTZ DEFAULT NOW(), command TEXT NOT NULL,
  commit VARCHAR(255) NOT NULL, rps DECIMAL(15,6), "timestamp" TIMESTAMPTZ NOT NULL,
  config_set JSONB, cluster_mode BOOLEAN, io_threads INTEGER, odd VARCHAR(50))' \
  "INSERT INTO benchmark_metrics (command, commit, rps, \"timestamp\", config_set, cluster_mode, odd)
    SELECT 'SET', 'c' || i % 3, i + .25, '2026-03-01Z'::timestamptz + i % 3 * interval '1 day',
    '{\"a\": 1}', i % 2 = 0, 'x''\"' FROM generate_series(1, 20) i"
vkb-pgpush --export >first
test_same '20 215' "$(jq -s -r '"\(length) \(map(.metrics.rps) | add)"' first)" 'rows of the Python tool are exported'
vkb-pgpush -q --table other first
vkb-pgpush --export --table other >second
test_same "$(cksum <first)" "$(cksum <second)" 'the export of a table with the exported rows is the same'
vkb-pgpush -q any 2>/dev/null
vkb-pgpush --export >first
vkb-pgpush -q --table both first
vkb-pgpush --export --table both >second
test_same "$(cksum <first)" "$(cksum <second)" 'the export with runs of vkb-pgpush in the table is the same'
test_same "$(vkb-stats --text first 2>&1)" "$(vkb-stats --text second 2>&1)" 'vkb-stats prints the same for both exports'

test_done
