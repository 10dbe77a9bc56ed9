#!/bin/sh
# vkb-parse: small inputs of each format and the runs they become.
# sanitize: output of other tools.
. "${0%/*}/lib.sh"

# parsed FILTER FILE...: what jq makes of each run, a line each
parsed() {
  filter=$1
  shift
  vkb-parse "$@" 2>err | jq -c "$filter"
}

# --- the names of two files

mkdir a b
printf '"SET","1"\n' | tee old.csv a/x.csv b/x.csv b/.hidden >new.csv
test_same '["old"] ["new.2"]' "$(cp new.csv new.2.csv; parsed '[.subject.ref]' old.csv new.2.csv | xargs -d '\n')" \
  'of two files runs have the name of the file, without suffix'
test_same '["a/x.csv"] ["b/x.csv"]' "$(parsed '[.subject.ref]' a/x.csv b/x.csv | xargs -d '\n')" \
  'files with the same name have their paths'
test_same '[null] [null] [null]' "$(parsed '[.subject.ref]' a/x.csv b/x.csv b/.hidden | xargs -d '\n')" \
  'three files are repetitions'
test_same '[null] [null]' "$(parsed '[.subject.ref]' old.csv - <new.csv | xargs -d '\n')" 'standard input has no name'
test_same '[null]' "$(parsed '[.subject.ref]' old.csv)" 'one file has no name'
test_same '[null,"mine"] [null,"mine"]' "$(parsed '[.subject.ref, .subject.label]' -s subject.label=mine old.csv new.csv |
  xargs -d '\n')" 'a label that is given is the name of all'

# --- valkey-benchmark --csv, all generations

cat >eight.csv <<'END'
"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"SET","100000.00","0.342","0.080","0.335","0.487","0.607","0.791"
"LRANGE_100 (first 100 elements)","43478.26","0.706","0.208","0.599","1.335","1.815","2.583"
"MSET (10 keys)","80000.00","0.453","0.096","0.407","0.743","1.391","1.591"
"SET","90000.00","","0.080","0.335","0.487","0.607","0.791"
END
test_same '["SET",1,100000,0.342,0.791]
["LRANGE_100",1,43478.26,0.706,2.583]
["MSET",1,80000,0.453,1.591]
["SET",2,90000,null,0.791]' \
  "$(parsed '[.config.command, .run.index, .metrics.rps,
    .metrics.avg_latency_ms, .metrics.max_latency_ms]' eight.csv)" \
  'csv: eight columns, names and repetitions; an empty field is left out'
test_empty_file err 'csv: no warning is printed'
printf '"SET","123.45"\n"PING_INLINE","7"\n' >two.csv
test_same '["SET",{"rps":123.45}]
["PING_INLINE",{"rps":7}]' \
  "$(parsed '[.config.command, .metrics]' two.csv)" 'csv: two columns without a header'
printf 'loading dataset, 5 rows\ntest,rps,cpu_seconds\nSET,5,0.5' >talk.csv
test_same '["SET",{"rps":5,"cpu_seconds":0.5}]' \
  "$(parsed '[.config.command, .metrics]' talk.csv)" \
  'csv: text before the header, one more column, no last newline'
{
  printf 'test,rps'
  printf ',c%d' $(seq 63)
  printf '\nSET,5\n'
} >wide.csv
test_status 2 'csv: a header of 65 columns is an error' vkb-parse wide.csv
test_match 'wide.csv:1: more than 64 columns' .err 'csv: the error says how many columns are read'
printf 'test,rps,rps,p50_latency_ms\nSET,5,6,1\n' >twice.csv
test_status 2 'csv: a column that occurs twice is an error' vkb-parse twice.csv
test_match "twice.csv:1: two columns are called 'rps'" .err 'csv: the error names the column that occurs twice'
test_same '{"rps":5,"p50_latency_ms":1}' "$(jq -c .metrics .out)" \
  'csv: the first of two equal columns is read'
cat eight.csv two.csv >both.csv
test_status 2 'csv: a row of another width is an error' vkb-parse both.csv
test_match 'both.csv:6: 2 columns where there should be 8' .err 'csv: the error names the row of another width'
test_same 4 "$(wc -l <.out | tr -d ' ')" 'csv: the other rows are parsed'
printf '"SET","12x"\n"GET","5"\n"MSET","-nan"\n"X","7' >bad.csv
test_status 2 'csv: bad values are errors' vkb-parse --from valkey-csv bad.csv
test_match "bad.csv:1: 'rps' is '12x', which is not a number" .err \
  'csv: the error names the line and the value'
test_match "bad.csv:3: 'rps' is '-nan'" .err 'csv: nan is not a number'
test_match 'bad.csv:4: its quotes are wrong, or the line is cut' .err \
  'csv: the error names the torn line'
test_same '"GET"' "$(jq .config.command .out)" 'csv: the valid rows are parsed'
head -n 1 eight.csv >only.csv
test_status 2 'csv: a header without rows is an error' vkb-parse only.csv
test_match 'only.csv: there are no results' .err 'csv: the error says that there are no results'

# --- what it prints

printf 'SET: rps=0.0 (overall: -nan)\r   \r====== SET ======\n' >new.txt
cat >>new.txt <<'END'
  2000 requests completed in 0.02 seconds
  50 parallel clients
  3 bytes payload
  keep alive: 1
  host configuration "save": 900 1
  host configuration "appendonly": no
  multi-thread: yes
  threads: 2

Latency by percentile distribution:
0.000% <= 0.135 milliseconds (cumulative count 1)
100.000% <= 9.735 milliseconds (cumulative count 2000)

Cumulative distribution of latencies:
0.000% <= 0.103 milliseconds (cumulative count 0)
100.000% <= 9.807 milliseconds (cumulative count 2000)

Summary:
  throughput summary: 83333.34 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.348     0.128     0.335     0.511     0.695     0.735
END
test_same '{"command":"SET","clients":50,"data_size":3,"keep_alive":true,"benchmark_threads":2} {"save":"900 1","appendonly":"no"} {"requests":2000,"elapsed_s":0.02,"rps":83333.34,"avg_latency_ms":0.348,"min_latency_ms":0.128,"p50_latency_ms":0.335,"p95_latency_ms":0.511,"p99_latency_ms":0.695,"max_latency_ms":0.735}' \
  "$(parsed '.config, .env, .metrics' new.txt | tr '\n' ' ' | sed 's/ $//')" \
  'text: configuration, environment and metrics of a report'
cat >old.txt <<'END'
====== MSET (10 keys) ======
  1000 requests completed in 0.50 seconds
  50 parallel clients
  3 bytes payload
  keep alive: 1

40.00% <= 1 milliseconds
96.00% <= 2 milliseconds
99.00% <= 3 milliseconds
99.90% <= 4 milliseconds
100.00% <= 6 milliseconds
2000.00 requests per second

====== PING ======
  1000 requests completed in 0.25 seconds
4000.00 requests per second
END
test_same '["MSET",2000,2,2,3,4,6]
["PING",4000,null,null,null,null,null]' \
  "$(parsed '[.config.command, (.metrics | .rps, .p50_latency_ms,
    .p95_latency_ms, .p99_latency_ms, .p999_latency_ms, .max_latency_ms)]' \
    old.txt)" 'text: an old report has its percentiles'
printf 'SET: rps=1.0 (overall: 1.0)\rSET: 71428.57 requests per second, p50=0.319 msec\nMSET (10 keys): 5 requests per second\n\n' >q.txt
test_same '["SET",{"rps":71428.57,"p50_latency_ms":0.319}]
["MSET",{"rps":5}]' "$(parsed '[.config.command, .metrics]' q.txt)" 'text: the output of -q is read'
{
  printf '====== ======\n  1 requests completed in 1 seconds\n'
  cat new.txt
} >short.txt
test_same "$(vkb-parse new.txt)" "$(vkb-parse short.txt)" \
  'text: a line that only looks like a title is skipped'
sed '/throughput/d' new.txt >cut.txt
test_status 2 'text: a report without its end is an error' vkb-parse cut.txt
test_match "cut.txt:1: the report of 'SET' ends without a throughput" .err \
  'text: the error names the report without its end'
sed '/latency summary/,$d' new.txt >cut.txt
test_status 2 'text: a report without its latencies is an error' vkb-parse cut.txt
test_match "cut.txt:1: the report of 'SET' ends without a latency" .err \
  'text: the error names the report without its latencies'
sed '/threads: 2/r /dev/stdin' new.txt >rate.txt <<'END'

RPS Summary:
  target RPS: 1000.00
  RPS distribution (reqs/sec):
          avg       min       p50       p95       p99       max
      990.000   980.000   990.000   995.000   999.000  1001.000
END
test_same "$(vkb-parse new.txt | jq -c '.config.rate = 1000 | del(.run)')" \
  "$(vkb-parse rate.txt | jq -c 'del(.run)')" 'text: the summary of a rate is not one of latencies'
head -c "$(($(wc -c <new.txt) - 3))" new.txt >torn.txt
test_status 2 'text: a last line that is cut off is an error' vkb-parse torn.txt
test_match 'torn.txt:[0-9]*: torn' .err 'text: the error names the line that is cut off'
test_empty_file .out 'text: a report that is cut off gives no run'
printf 'SET: -nan requests per second\nGET: 5 requests per second\n' >nan.txt
test_status 2 'text: a value that is not a number is an error' vkb-parse nan.txt
test_match "nan.txt:1: 'rps' is '-nan'" .err 'text: the error has the value'

# --- the real valkey-benchmark

if command -v valkey-benchmark >/dev/null 2>&1; then
  test_server 'a real valkey-benchmark'
  cat >bench.sh <<'END'
valkey-benchmark -h "$VKB_HOST" -p "$VKB_PORT" -n 500 -t set,get,mset "$@"
END
  printf '{"type":"spec","v":1,"id":"s"}\n' >spec.jsonl
  for how in --csv -q ''; do
    # shellcheck disable=SC2086 # none or one
    vkb-serve spec.jsonl -- sh bench.sh $how >real.out 2>/dev/null
    test_same 'SET GET MSET' "$(parsed .config.command real.out | tr -d '"' |
      tr '\n' ' ' | sed 's/ $//')" "real: valkey-benchmark $how: a run for each command"
    test_same true "$(parsed '.metrics | .rps > 0 and .p50_latency_ms > 0' \
      real.out | sort -u)" "real: valkey-benchmark $how: rps and p50 are positive"
  done
else
  test_skip 'a real valkey-benchmark' valkey-benchmark
fi

# --- memtier

cat >memtier.json <<'END'
{"configuration":{"server":"localhost","clients":5,"threads":2,"pipeline":1,
  "data_size":32,"requests":100,"test_time":0,"ratio":"1:10"},
 "ALL STATS":{
  "Sets":{"Count":100,"Ops/sec":1000.5,"Hits/sec":0,"Misses/sec":0,
   "Latency":1.5,"Average Latency":1.25,"Min Latency":0.1,"Max Latency":9.5,
   "KB/sec":10,"Percentile Latencies":{"p50.00":1.1,"p99.00":4.5,"p99.90":8}},
  "Gets":{"Count":900,"Ops/sec":9000,"Hits/sec":3000,"Misses/sec":1000,
   "Latency":1,"KB/sec":10},
  "Waits":{"Count":0,"Ops/sec":0,"Latency":0},
  "Totals":{"Count":1000,"Ops/sec":10000.5,"Latency":1.02},
  "Runtime":{"Start time":1441812279474,"Total duration":2500,
   "Time unit":"MILLISECONDS"}}}
END
test_same '["SET",10,1000,1000.5,1.25,1.1,4.5,8,null,10240]
["GET",10,1000,9000,1,null,null,null,75,10240]
["TOTAL",10,1000,10000.5,1.02,null,null,null,null,null]' \
  "$(parsed '[(.config | .command, .clients, .requests), (.metrics | .rps,
    .avg_latency_ms, .p50_latency_ms, .p99_latency_ms, .p999_latency_ms,
    .hit_rate_percent, .bytes_per_s)]' memtier.json)" 'memtier: each section is a run'
jq '."ALL STATS".Sets."Percentile Latencies"."Histogram log format" =
  {"Compressed Histogram": "HISTFAAAACV42pNpmSzMwMDAxgABzFCaEcyZ3M5g/wEicJ5f6KMyEwBk0AWj"}' \
  memtier.json >hist.json
test_same '["latency_us"]' "$(vkb-parse hist.json | head -n 1 | vkb-stats |
  jq -c '.hist | keys')" \
  'memtier: the histogram of the file becomes latency_us'
test_same '"2015-09-09T15:24:39Z" 2.5' \
  "$(parsed '.run.started, .metrics.elapsed_s' memtier.json | sed 2q |
    tr '\n' ' ' | sed 's/ $//')" 'memtier: the start and the duration'
test_same '1 1.02' "$(parsed .metrics.avg_latency_ms memtier.json | sed -n 2,3p | paste -sd' ')" \
  'memtier: without a histogram the mean of all commands is that of the file'
jq '."ALL STATS".Totals."Percentile Latencies"."Histogram log format" =
  ."ALL STATS".Sets."Percentile Latencies"."Histogram log format"' hist.json |
  jq '.configuration += {"data_size":0,"data_size_range":"1:9","rate_limit":50,"tls":"true","random_data":"false",
    "transaction":"true","data_size_pattern":"S","expiry_range":"0:0","key_zipf_exp":1.5,"reconnect_interval":0,"data_size_list":"","multi_key_get":3}' >more.json
test_same true "$(parsed .metrics.avg_latency_ms more.json | tail -n 1 | jq '. > 0 and . != 1.02')" \
  'memtier: the mean of all commands is that of the histogram'
test_same '{"transaction":"true","data_size_range":"1:9","rate_limit":50,"multi_key_get":3,"key_zipf_exp":1.5,"data_size_pattern":"S","tls_mode":true,"command":"SET"}' \
  "$(parsed '.config | del(.clients, .benchmark_threads, .requests, .pipeline, .ratio)' more.json | head -n 1)" \
  'memtier: what is set is configuration'
sed 's/"data_size":32/"transaction":"false","data_size_range":"0:0","data_size_pattern":"R"/' memtier.json >plain.json
test_same '[]' "$(parsed '.config | keys - ["clients","benchmark_threads","requests","pipeline","ratio","command"]' plain.json | head -n 1)" \
  'memtier: what is not set is left out, and so is the pattern without a range'
sed 's/"ALL STATS"/"RUN #1 RESULTS"/; s/}}}$/}},"BEST RUN RESULTS":{"Totals":{"Ops\/sec":9}},"RUN #2 RESULTS":{"Gets":{"Ops\/sec":8}}}/' \
  memtier.json >runs.json
test_same 'SET 1
GET 1
TOTAL 1
GET 2' "$(parsed '[.config.command, .run.index]' runs.json |
  tr -d '[]"' | tr ',' ' ')" 'memtier: each run is read, the best one is not repeated'
printf '{"BEST RUN RESULTS":{"Totals":{"Ops/sec":9}}}' >best.json
test_status 2 'memtier: a file with only the best run is an error' vkb-parse best.json
test_match 'print-all-runs' .err 'memtier: the error asks for --print-all-runs'

# --- Google Benchmark

cat >gbench.json <<'END'
{"context":{"date":"2026-03-02T08:00:00+01:00","host_name":"h","num_cpus":4},
 "benchmarks":[
  {"name":"BM_A/8","run_type":"iteration","repetition_index":0,"iterations":10,
   "real_time":1.5,"cpu_time":1.25,"time_unit":"us","items_per_second":5,
   "hits":NaN,"label":"x"},
  {"name":"BM_A/8","run_type":"iteration","repetition_index":1,"iterations":10,
   "real_time":2,"cpu_time":1,"time_unit":"us"},
  {"name":"BM_A/8_mean","run_type":"aggregate","aggregate_name":"mean",
   "real_time":1.75,"cpu_time":1.1,"time_unit":"us"},
  {"name":"BM_A/8_cv","real_time":0.1,"cpu_time":-Infinity,"time_unit":"us"},
  {"name":"BM_B","error_occurred":true,"error_message":"boom"},
  {"name":"BM_C","real_time":3,"cpu_time":1,"time_unit":"fortnights"}]}
END
test_status 2 'gbench: an unknown unit is an error' vkb-parse gbench.json
test_match "gbench.json:benchmarks\[5\]: 'time_unit' is 'fortnights'" .err \
  'gbench: the error names the unit'
test_same '["BM_A/8",1,{"real_time_ns":1500,"cpu_time_ns":1250,"items_per_s":5},"ok",null]
["BM_A/8",2,{"real_time_ns":2000,"cpu_time_ns":1000},"ok",null]
["BM_B",1,{},"failed","boom"]' \
  "$(jq -c '[.config.command, .run.index, .metrics, .status, .error]' .out)" \
  'gbench: repetitions, units, counters and errors; aggregates are left out'
test_same '"2026-03-02T07:00:00Z" {"host":"h","cpus":4}' \
  "$(jq -c '.run.started, .env' .out | head -n 2 | tr '\n' ' ' |
    sed 's/ $//')" 'gbench: start and machine come from the context'

cat >part.json <<'END'
{"context":{},"benchmarks":[
 {"name":"A","run_name":"A","run_type":"iteration","real_time":1,"time_unit":"ns"},
 {"name":"A_mean","run_name":"A","run_type":"aggregate","aggregate_name":"mean","real_time":1,"time_unit":"ns"},
 {"name":"B_mean","run_name":"B","run_type":"aggregate","aggregate_name":"mean","real_time":2,"time_unit":"ns"},
 {"name":"B_cv","run_name":"B","run_type":"aggregate","aggregate_name":"cv","real_time":2,"time_unit":"ns"}]}
END
test_status 2 'gbench: a benchmark of which there are only aggregates is an error' vkb-parse part.json
test_same "vkb-parse: part.json:benchmarks[2]: 'B' has only aggregates: run it without --benchmark_report_aggregates_only, or ReportAggregatesOnly" \
  "$(cat .err)" 'gbench: the error names it once'
test_same '"A"' "$(jq .config.command .out)" 'gbench: the others are read'

# --- nearly CSV

printf '"SET","5x' >half
test_status 2 'a number followed by a letter is not CSV of valkey-benchmark' \
  vkb-parse half
test_match 'half: unknown format' .err 'the format of such a line is unknown'

# --- hyperfine

cat >hyperfine.json <<'END'
{"results":[{"command":"sleep 1","mean":1,"times":[1.01,0.99,1.5],
 "exit_codes":[0,0,3],"memory_usage_byte":[4096,4097,4098],
 "parameters":{"n":"1","mode":"fast"}}]}
END
test_same '["sleep 1",1,1.01,4096,1,"fast","ok",null]
["sleep 1",2,0.99,4097,1,"fast","ok",null]
["sleep 1",3,1.5,4098,1,"fast","failed","the command exited with 3"]' \
  "$(parsed '[.config.command, .run.index, .metrics.time_s,
    .metrics.memory_bytes, .config.n, .config.mode, .status, .error]' \
    hyperfine.json)" 'hyperfine: each time is a run'

# --- criterion

mkdir -p target/criterion/group/name/new
cd target/criterion/group/name/new || exit 2
printf '{"mean":{"confidence_interval":{},"point_estimate":10.5,"standard_error":1},"median":{"point_estimate":10},"slope":{"point_estimate":9.5},"std_dev":{"point_estimate":1}}' >estimates.json
printf '{"sampling_mode":"Linear","iters":[10,20],"times":[100,300]}' >sample.json
cd "$scratch" || exit 2
c=target/criterion/group/name/new
test_same '["group/name",{"time_ns":9.5,"mean_ns":10.5,"median_ns":10}]' \
  "$(parsed '[.config.command, .metrics]' $c/estimates.json)" \
  'criterion: the estimates; the command is the path'
printf '{"group_id":"g","full_id":"g/f/16"}' >$c/benchmark.json
test_same '["g/f/16",10] ["g/f/16",15]' \
  "$(parsed '[.config.command, .metrics.time_ns]' $c/sample.json |
    tr '\n' ' ' | sed 's/ $//')" 'criterion: each sample is a run; the command is in benchmark.json'
mkdir -p target/criterion/h/base target/criterion/h/new
cp $c/sample.json target/criterion/h/base
cp $c/estimates.json target/criterion/h/new
for dir in target target/criterion; do
  test_same '["g/f/16",10] ["g/f/16",15] ["h",9.5]' \
    "$(parsed '[.config.command, .metrics.time_ns]' $dir | paste -sd' ')" \
    "criterion: the newest samples of each benchmark in $dir, or its estimates"
done

# Root may read all folders, unless it has dropped the right to.
sealed() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --bounding-set=-dac_override,-dac_read_search vkb-parse "$@"
  else
    vkb-parse "$@"
  fi
}
chmod 0 target/criterion/group/name
test_status 2 'criterion: a folder that cannot be read is an error' sealed target
test_same "vkb-parse: cannot read 'target/criterion/group/name': Permission denied" "$(cat .err)" \
  'criterion: the error names the folder'
test_same '"h"' "$(jq .config.command .out)" 'criterion: the other folders are read'
test_status 2 'criterion: a folder that cannot be read is an error if nothing is found' sealed target/criterion/group
test_match "cannot read 'target/criterion/group/name': Permission denied" .err \
  'criterion: the error names the folder in which there may be something'
test_status 2 'a whole folder that cannot be read is an error' sealed target/criterion/group/name
test_same 1 "$(grep -c "cannot read 'target/criterion/group/name':" .err)" 'the error is reported once'
chmod 755 target/criterion/group/name
chmod 644 target/criterion/h/new
test_status 2 'criterion: files that cannot be reached are an error' sealed target
test_match "target/criterion/h/new/sample.json" .err 'criterion: the error names the file'
chmod 755 target/criterion/h/new
mkdir -p target/results/one target/results/data/closed
printf '[{"command":"SET","rps":5}]' >target/results/one/metrics.json
chmod 0 target/results/data/closed
test_status 0 'a closed folder below those of results does not matter' sealed target/results
chmod 755 target/results/data/closed

# --- pytest-benchmark, JMH, github-action-benchmark, Bencher

cat >pytest.json <<'END'
{"machine_info":{"node":"h","machine":"x86_64","python_version":"3.11.2","cpu":{"brand_raw":"C"}},
 "commit_info":{"id":"0123abc","time":"2026-11-02T08:00:00+01:00","dirty":true,"branch":"(unknown)"},
 "benchmarks":[{"group":null,"name":"test_f[10]","fullname":"t.py::test_f[10]","params":{"n":10,"o":{}},
  "stats":{"min":0.4,"max":2,"mean":0.75,"median":0.5,"data":[0.4,0.5,2],"rounds":3}},
  {"group":"g","name":"test_g","fullname":"t.py::test_g","params":null,"stats":{"mean":0.75}}],
 "datetime":"2026-11-28T04:05:33.25","version":"4.0.0"}
END
test_status 2 'pytest: a test without a median is an error' vkb-parse pytest.json
test_match "pytest.json:benchmarks\[1\]: 'stats.median' is missing" .err 'pytest: the error names it'
test_same '{"commit":"0123abc","time":"2026-11-02T07:00:00Z","dirty":true} {"n":10,"command":"t.py::test_f[10]"} "2026-11-28T04:05:33.25Z" {"host":"h","arch":"x86_64","cpu_model":"C","python":"3.11.2"} {"mean_s":0.75,"min_s":0.4,"time_s":0.5}' \
  "$(jq -c '.subject, .config, .run.started, .env, .metrics' .out | xargs -0 | tr '\n' ' ' | sed 's/ *$//')" \
  'pytest: a test is a run'
sed 's/0123abc/unversioned/' pytest.json >bare.json
test_same '{}' "$(parsed .subject bare.json)" 'pytest: a commit that is not one is left out'

cat >jmh.json <<'END'
[{"jmhVersion":"1.37","benchmark":"org.A.f","mode":"thrpt","threads":2,"vmName":"VM","params":{"n":"10"},
  "primaryMetric":{"score":9,"scoreError":"NaN","scoreUnit":"ops/ms","rawData":[[1,2],[1.5,2.5]]},
  "secondaryMetrics":{"gc.alloc.rate":{"score":5,"scoreUnit":"MB/sec"},"errors":{"score":5,"scoreUnit":"ops/s"},"gc.alloc.rate.norm":{"score":16,"scoreUnit":"B/op","rawData":[[14,16],[17,19]]},
   "gc.count":{"score":9,"scoreUnit":"counts"}}},
 {"benchmark":"org.A.g","mode":"avgt","primaryMetric":{"score":2,"scoreUnit":"us/op","rawData":[[1,3]]}},
 {"benchmark":"org.A.h","mode":"sample","primaryMetric":{"score":2,"scoreUnit":"ms/op","rawDataHistogram":[[[[1,2]]]]}},
 {"benchmark":"org.A.i","mode":"avgt","primaryMetric":{"score":2,"scoreUnit":"s/op","rawData":[[1],[null]]}}]
END
test_status 2 'jmh: a time that is not a number is an error' vkb-parse jmh.json
test_match 'jmh.json:\[3\]: a result is not a number' .err 'jmh: the error names the benchmark'
test_same '["org.A.f",1,{"ops_per_s":1500,"gc_alloc_rate_norm_bytes_per_op":15}]
["org.A.f",2,{"ops_per_s":2000,"gc_alloc_rate_norm_bytes_per_op":18}]
["org.A.g",1,{"ns_per_op":1000}]
["org.A.g",2,{"ns_per_op":3000}]
["org.A.h",1,{"ns_per_op":2000000}]
["org.A.i",1,{"ns_per_op":1000000000}]' \
  "$(jq -c '[.config.command, .run.index, .metrics]' .out)" 'jmh: forks, or the iterations of one, are runs'
test_same '{"mode":"thrpt","threads":2,"n":10,"command":"org.A.f"} {"vm":"VM"}' \
  "$(head -n 1 .out | jq -c '.config, .env' | paste -sd' ')" 'jmh: parameters are configuration'

sed 's/\[\[1,2\],\[1.5,2.5\]\]/[[1,2]]/; s/\[\[14,16\],\[17,19\]\]/[[14,16]]/' jmh.json >fork.json
test_same '[1000,14,null] [2000,16,null]' \
  "$(parsed '.metrics | [.ops_per_s, .gc_alloc_rate_norm_bytes_per_op, .gc_count_counts]' fork.json | sed 2q | paste -sd' ')" \
  'jmh: each iteration of one fork has its own secondary results'
sed 's/\[\[1,2\],\[1.5,2.5\]\]/[[1]]/' jmh.json >fork.json
test_same '[1000,16,9]' \
  "$(parsed '.metrics | [.ops_per_s, .gc_alloc_rate_norm_bytes_per_op, .gc_count_counts]' fork.json | sed 1q)" \
  'jmh: the only run has the scores of secondary results'
for raw in '[[]]' '[]' null; do
  printf '[{"benchmark":"b","primaryMetric":{"rawData":%s,"score":5,"scoreError":1,"scorePercentiles":2,"scoreUnit":"ms/op"}}]' \
    "$raw" >empty.json
  test_same '{"ns_per_op":5000000}' "$(parsed .metrics empty.json)" \
    "jmh: with $raw as the times there is one run, with the score"
done

cat >custom.json <<'END'
[{"name":"a","unit":"us/iter","value":5},{"name":"b","unit":"ops/sec","value":7,"range":"1"},
 {"name":"c","unit":"Points","value":1},{"name":"d","unit":"MB/s","value":6},{"name":"e","unit":"ms","value":7},
 {"name":"f","unit":"bytes","value":8},{"name":"g","unit":"s"}]
END
test_status 2 'custom: a unit that does not say what is better is an error' vkb-parse custom.json
test_match "custom.json:\[2\]: the unit 'Points' does not say .*--from smaller-is-better" .err 'custom: the error says what to do'
test_match "custom.json:\[6\]: 'value' is missing, or is not a number" .err 'custom: a missing value is an error'
test_same '["a",null,{"ns_per_op":5000}]
["b",null,{"ops_per_s":7}]
["d","MB/s",{"bigger_is_better":6}]
["e",null,{"time_ns":7000000}]
["f","bytes",{"smaller_is_better":8}]' "$(jq -c '[.config.command, .config.unit, .metrics]' .out)" \
  'custom: the unit decides'
# What does not say it: direction UNIT
for unit in errors/s failures/s faults/sec drops/s ms/s evictions/s 'failed requests/s' \
  ops/thread/s hits/op points/op 'failed ops/op'; do
  printf '[{"name":"a","unit":"%s","value":1}]' "$unit" >unit.json
  test_status 2 "custom: $unit does not say what is better" vkb-parse unit.json
  test_match "the unit '$unit' does not say whether smaller is better" .err "custom: the error names $unit"
done
while read -r unit want; do
  printf '[{"name":"a","unit":"%s","value":1}]' "$unit" >unit.json
  test_same "$want" "$(parsed '.metrics | keys[]' unit.json)" "custom: $unit is $want"
done <<'END'
errors/op "smaller_is_better"
allocs/op "smaller_is_better"
B/op "smaller_is_better"
frames/s "bigger_is_better"
Kops/s "bigger_is_better"
GB/s "bigger_is_better"
queries/s "bigger_is_better"
QPS "ops_per_s"
req/s "rps"
ops/ms "ops_per_s"
END
test_same '["b","ops/sec",{"smaller_is_better":7}] ["c","Points",{"smaller_is_better":1}]' \
  "$(parsed '[.config.command, .config.unit, .metrics]' -f smaller-is-better custom.json | sed -n 2,3p | paste -sd' ')" \
  'custom: --from decides, whatever the unit'
test_same '{"bigger_is_better":5}' "$(parsed .metrics -f bigger-is-better custom.json | head -n 1)" \
  'custom: even a time may be better if it is bigger'
test_status 2 'smaller-is-better: another format is an error' vkb-parse -f smaller-is-better hyperfine.json
test_match 'hyperfine.json: there are no results' .err 'smaller-is-better: the error says so'

cat >bmf.json <<'END'
{"a b":{"latency":{"value":5,"lower_value":4,"upper_value":6},"throughput":{"value":3}},
 "c":{"build-time":{"value":2},"file-size":{"value":8},"my measure":{"value":1}},"d":{"latency":{"value":"5"}}}
END
test_status 2 'bmf: a value that is not a number is an error' vkb-parse bmf.json
test_match "bmf.json:d: 'latency.value' is not a number" .err 'bmf: the error names it'
test_same '["a b",{"time_ns":5,"ops_per_s":3}] ["c",{"build_time_s":2,"file_size_bytes":8,"my_measure":1}]' \
  "$(jq -c '[.config.command, .metrics]' .out | paste -sd' ')" 'bmf: measures have their units'

# Lists in place of objects: their elements have no keys.
while IFS='|' read -r text what; do
  printf '%s' "$text" >list.json
  test_status 2 "a list that should be an object is an error: $what" vkb-parse list.json
  test_match "$what" .err "the error has $what"
done <<'END'
{"a":[{"value":1}]}|unknown format
{"a":{"latency":{"value":1}},"b":[{"value":1}]}|list.json:b: 'b' is not an object
[{"benchmark":"b","primaryMetric":{"score":5,"scoreUnit":"ms/op"},"secondaryMetrics":[{"score":1,"scoreUnit":"B/op"}]}]|'secondaryMetrics' is not an object
[{"benchmark":"b","primaryMetric":{"score":5,"scoreUnit":"ms/op"},"params":[1,"x"]}]|'params' is not an object
{"benchmarks":[{"fullname":"f","stats":{"median":1},"params":[1,"x"]}]}|list.json:benchmarks.0.: 'params' is not an object
{"ALL STATS":[{"Ops/sec":5,"Latency":1}]}|'ALL STATS' is not an object
{"RUN #1 RESULTS":[{"Ops/sec":5}],"RUN #2 RESULTS":{"Totals":{"Ops/sec":3}}}|'RUN #1 RESULTS' is not an object
{"ALL STATS":{"Totals":{"Ops/sec":5,"Percentile Latencies":[1]}}}|list.json:ALL STATS.Totals: 'Percentile Latencies' is not an object
{"metrics":{"a":{"value":1}},"metadata":[1]}|'metadata' is not an object
END

# The main metric of each is judged, in its direction. judged FILE FROM TO FORMAT...
judged() {
  for n in 1 2 3 4 5 6; do
    sed "s|VALUE|$2.0$n|" "$1" | vkb-parse -f "$4" -s subject.label=old
    sed "s|VALUE|$3.0$n|" "$1" | vkb-parse -f "$4" -s subject.label=new
  done | vkb-stats | vkb-compare --baseline old
}
printf '{"benchmarks":[{"fullname":"f","stats":{"median":VALUE}}]}' >pytest.in
printf '[{"benchmark":"f","primaryMetric":{"score":1,"scoreUnit":"ops/s","rawData":[[VALUE]]}}]' >jmh.in
printf '[{"name":"f","unit":"Points","value":VALUE}]' >custom.in
printf '{"f":{"latency":{"value":VALUE}}}' >bmf.in
for f in 'pytest 10 13 pytest' 'jmh 13 10 jmh' 'custom 10 13 smaller-is-better' \
  'custom 13 10 bigger-is-better' 'bmf 10 13 bmf'; do
  # shellcheck disable=SC2086 # words
  set -- $f
  test_status 1 "$4: the main metric is judged" judged "$1.in" "$2" "$3" "$4"
  test_match 'worse' .out "$4: its direction is known"
done

# --- perf stat

cat >perf.csv <<'END'
# started on Mon Mar  2 08:00:00 2026

<not supported>,,cycles,0,100.00,,
0.69,msec,task-clock,690901,100.00,0.281,CPUs utilized
51,,page-faults:u,690901,100.00,73.817,K/sec
<not counted>,,instructions,0,0.00,,
7,,cpu/event=0x3c,umask=1/,690901,100.00,,
,,,,,0.50,insn per cycle
# started on Mon Mar  2 08:00:01 2026

0.70,msec,task-clock,690901,100.00,0.281,CPUs utilized
0.80,msec,task-clock,690901,100.00,0.281,CPUs utilized
END
test_same '[1,{"task_clock_ms":0.69,"page_faults_u":51,"cpu_event_0x3c_umask_1":7}]
[2,{"task_clock_ms":0.7}]
[3,{"task_clock_ms":0.8}]' \
  "$(parsed '[.run.index, .metrics]' perf.csv)" \
  'perf: an event that is not counted is left out; each appended measurement is a run'
printf '0.52;msec;task-clock;1.62%%;518808;100.00;0.410;CPUs utilized\n48;;page-faults;0.69%%;518808;100.00;;\n' >r.csv
test_same '{"task_clock_ms":0.52,"page_faults":48}' \
  "$(parsed .metrics r.csv)" 'perf: output of -r with another separator'
test_match '^case +subject +n +page.faults ' - 'perf: the table has the first of its metrics by name' <<END
$(vkb-parse r.csv | vkb-stats --text)
END
cat >i.csv <<'END'
     0.100000000,10,,cycles,100,100.00,,
     0.100000000,5,,page-faults,100,100.00,,
     0.200000000,20,,cycles,100,100.00,,
     0.200000000,<not counted>,,page-faults,0,0.00,,
END
test_same '{"elapsed_s":0.2,"cycles":30,"page_faults":5} {"at_s":[0.1,0.2],"cycles":[10,20]}' \
  "$(parsed '.metrics, .series' i.csv | tr '\n' ' ' | sed 's/ $//')" \
  'perf: intervals are summed; complete events have a series'
printf 'CPU0,4.42,msec,task-clock,4415341,100.00,,\nCPU1,4.43,msec,task-clock,4429890,100.00,,\nS0-D0-C0,2,1,,cycles,4429890,100.00,,\n' >a.csv
test_same '["CPU0",4.42,null] ["CPU1",4.43,null] ["S0-D0-C0",null,1]' \
  "$(parsed '[.config.counted_on, .metrics.task_clock_ms, .metrics.cycles]' \
    a.csv | tr '\n' ' ' | sed 's/ $//')" 'perf: a run for each CPU or core'
printf '51,,page-faults,690901,100.00,,\nnonsense\n' >wrong.csv
test_status 2 'perf: a line of another format is an error' vkb-parse wrong.csv
test_match "wrong.csv:2: not a line of perf stat: 'nonsense'" .err \
  'perf: the error names the line of another format'

printf '51,,page-faults,690901,100.00,,\n12,5,msec,task-clock,1,100,00,,\n' >comma.csv
test_status 2 'perf: a decimal comma is not taken for an interval' vkb-parse comma.csv
test_match 'comma.csv:2: not a line of perf stat' .err \
  'perf: the error names the line with a decimal comma'
test_same '{"page_faults":51}' "$(jq -c .metrics .out)" \
  'perf: a number with a decimal comma is not parsed'

printf '50;;page-faults;305836480;100,00;166;/sec\n305,84;msec;task-clock;305836480;100,00;0;CPUs utilized\n' >de.csv
test_same '{"page_faults":50,"task_clock_ms":305.84}' "$(parsed .metrics de.csv)" 'perf: decimal commas of -x;'
printf '     0,100000000;10;;cycles;100;100,00;;\n     0,200000000;20;;cycles;100;100,00;;\n' >de.csv
test_same '{"elapsed_s":0.2,"cycles":30} [10,20]' "$(parsed '.metrics, .series.cycles' de.csv | paste -sd' ')" \
  'perf: decimal commas of intervals'
cat >perf.json <<'END'
{"interval" : 0.100000000, "counter-value" : "3.500000", "unit" : "msec", "event" : "task-clock", "event-runtime" : 3528329, "pcnt-running" : 100.00, "metric-value" : 0.035283, "metric-unit" : "CPUs utilized"}
{"interval" : 0.100000000, "counter-value" : "<not counted>", "unit" : "", "event" : "cycles", "event-runtime" : 0}
{"interval" : 0.200000000, "counter-value" : "1.500000", "unit" : "msec", "event" : "task-clock", "event-runtime" : 3528329}
{"metric-value" : 0.5, "metric-unit" : "insn per cycle"}
END
test_same '{"elapsed_s":0.2,"task_clock_ms":5} [3.5,1.5]' "$(parsed '.metrics, .series.task_clock_ms' perf.json | paste -sd' ')" \
  'perf: the lines of -j'
test_same "$(vkb-parse perf.json)" "$(sed 's/\([0-9]\)\.\([0-9]\)/\1,\2/g' perf.json | vkb-parse)" \
  'perf: the lines of -j with decimal commas'
printf '{"cpu" : "0", "counter-value" : "7", "unit" : "", "event" : "cycles"}\n{"cpu" : "1", "counter-value" : "8", "unit" : "", "event" : "cycles"}\n' >cpus.json
test_same '["0",7] ["1",8]' "$(parsed '[.config.counted_on, .metrics.cycles]' cpus.json | paste -sd' ')" 'perf: -A -j: a run for each CPU'

for place in core cache cluster die socket node thread cgroup; do
  sed "s/\"cpu\"/\"$place\"/" cpus.json >places.json
  test_same '["0",1,7] ["1",1,8]' "$(parsed '[.config.counted_on, .run.index, .metrics.cycles]' places.json | paste -sd' ')" \
    "perf: -j: a run for each $place"
done
sed 's/"counter/"cgroup" : "a", &/; p; s/"a"/"b"/; s/: "[78]"/: "9"/' cpus.json >places.json
test_same '["0 a",1,7] ["0 b",1,9] ["1 a",1,8] ["1 b",1,9]' \
  "$(parsed '[.config.counted_on, .run.index, .metrics.cycles]' places.json | paste -sd' ')" \
  'perf: -j: a run for each group of processes on each CPU'

for value in 5 '"1,000,000"' '""' '"x"' null; do
  printf '{"counter-value":%s,"unit":"","event":"cycles","metric-value":"3"}\n' "$value" | cat perf.json - >lost.json
  test_status 2 "perf: -j: a counter of $value is an error" vkb-parse lost.json
  test_match "lost.json:5: not a line of perf stat: '{.counter-value" .err "perf: -j: the error names the line with $value"
done

if perf stat -x, -o real.csv -e task-clock,cycles true 2>err; then
  test_same true "$(parsed '.metrics.task_clock_ms > 0' real.csv)" 'perf: the real output of perf has a task clock'
else
  test_skip 'perf: the real output of perf' 'perf events'
fi

# --- HdrHistogram logs: V1 and V2, two geometries, a tag

cat >own.hlog <<'END'
#[Histogram log format version 1.3]
#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
0.127,1.000,5.0,HISTFAAAACh42pNpmSzMwMDAxgABTBCK+QUQuxnsWMBg/wEi8pxT6CgLEwCGBwcH
Tag=GET,0.127,1.000,2.0,HISTFAAAACR42pNpmSzMwMDAzAABUJr5BRC7GexYwGD/ASJyUE8EAHCEBjs=
1.127,1.000,5.0,HISTQgAAAD142pNpmezIwMCXwgABTBCK+QUQuxnsWMBg/4FhFIyCUTAKRsEoGAWjYBQMD8A5GgSjYBSMgkECGAF/6QXe
Tag=GET,1.127,1.000,5.0,HISTFAAAACh42pNpmSzMwMDAxgABTBCK+QUQuxnsWMBg/wEi8pxT6CgLEwCGBwcH
END
test_same '[null,20,1.003519,5.013503,2,2] ["GET",20,2.000895,5.013503,2,2]' \
  "$(parsed '[.config.tag, (.metrics | .samples, .p50_latency_ms,
    .max_latency_ms, .elapsed_s), (.series.at_s | length)]' own.hlog |
    tr '\n' ' ' | sed 's/ $//')" 'hdr: a run for each tag'
test_same '"2015-09-09T15:24:39Z"' "$(parsed .run.started own.hlog | uniq)" \
  'hdr: the start of the log'
{
  echo '#[GET command HDR latency histogram results]'
  sed -n 1,2p own.hlog
  echo '"StartTimestamp","EndTimestamp","Interval_Max","Interval_Compressed_Histogram"'
  sed -n '4s/0.127,1.000/1441812279.474,1441812281.474/p' own.hlog
} >memtier.hlog
test_same '"GET" 10 5013.503 2 2 ["latency_us"]' \
  "$(parsed '.config.command, (.metrics | .samples, .max_latency_ms, .elapsed_s), .series.at_s[0], (.hist | keys)' \
    memtier.hlog | paste -sd' ')" 'hdr: of memtier the second time is the end, and values are in us'
sed 's/1441812281/1441812270/' memtier.hlog >back.hlog
test_status 2 'hdr: an end before the start is an error' vkb-parse back.hlog
test_match "back.hlog:5: 'EndTimestamp' is '1441812270.474', before the start" .err 'hdr: the error names it'
parsed . own.hlog | vkb-stats | jq -c '.whole' >got
test_same 2 "$(grep -c p50 got)" 'hdr: the histograms are valid'
{
  sed 4q own.hlog
  printf '2,1,x,HISTFAAAA\n3,1,1,HISTFAAAA\n4,1\n'
  printf '5,1,1,HISTFAAA'
} >bad.hlog
test_status 2 'hdr: bad lines are errors' vkb-parse bad.hlog
test_match "bad.hlog:5: 'Interval_Max' is 'x', which is not a number" .err \
  'hdr: the error of a bad value'
test_match 'bad.hlog:6: the histogram cannot be read: ' .err 'hdr: the error of a bad histogram'
test_match 'bad.hlog:7: 2 fields where there should be 4' .err 'hdr: the error of a short line'
test_match 'bad.hlog:8: torn' .err 'hdr: the error of a cut line'
test_same 10 "$(jq .metrics.samples .out)" 'hdr: the other lines are a run'

# --- Go

cat >go.txt <<'END'
goos: linux
cpu: An x86
note: before
BenchmarkEncode/format=json/size=16-8   	  690848	      1726 ns/op	 12.5 MB/s	  16 B/op	 2 allocs/op
BenchmarkEncode/format=json/size=16-8   	  684861	      1723 ns/op
BenchmarkFib/10 5 7 p50-widgets
--- FAIL: BenchmarkBad-8
note:
BenchmarkX 1 x ns/op
BenchmarkLast 1 1 ns/op
PASS
END
test_status 2 'go: a value that is not a number is an error' vkb-parse go.txt
test_match "go.txt:9: 'ns/op' is 'x', which is not a number" .err \
  'go: the error names the value that is not a number'
test_same '{"note":"before","gomaxprocs":8,"format":"json","size":16,"command":"Encode"} {"ns_per_op":1726,"bytes_per_s":12500000,"bytes_per_op":16,"allocs_per_op":2}
{"note":"before","gomaxprocs":8,"format":"json","size":16,"command":"Encode"} {"ns_per_op":1723}
{"note":"before","command":"Fib/10"} {"p50_widgets":7}
{"note":"before","gomaxprocs":8,"command":"Bad"} {}
{"command":"Last"} {"ns_per_op":1}' \
  "$(jq -r '"\(.config) \(.metrics)"' .out)" 'go: names, units and the keys of the file'
test_same '"before" null' "$(vkb-parse -c subject.label=note go.txt 2>err |
  jq -c .subject.label | uniq | tr '\n' ' ' | sed 's/ $//')" \
  'go: --columns moves a key to the subject'
printf 'BenchmarkA 1 5 ns/op\nok  \tx/a\t0.1s\nFAIL\tx/b [build failed]\n' >fail.txt
test_status 2 'go: a package that failed is an error' vkb-parse fail.txt
test_match 'fail.txt:3: go test failed, and may lack benchmarks: x/b .build failed' .err 'go: the error names it'
test_same '"A"' "$(jq .config.command .out)" 'go: the other packages are read'
cat >go.json <<'END'
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"goos: linux\n"}
{"Action":"output","Package":"q","Output":"goos: plan9\n"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":"BenchmarkA-2   \t"}
{"Action":"output","Package":"q","Output":"BenchmarkB-2 1 2 ns/op\n"}
{"Action":"output","Package":"p","Test":"BenchmarkA","Output":"     100\t    416159 ns/op\n"}
{"Action":"output","Package":"p","Output":"{\"a log\n--- FAIL: BenchmarkC\n"}
{"Action":"pass","Package":"p"}
END
test_same '["B","plan9",{"ns_per_op":2},"ok"]
["A","linux",{"ns_per_op":416159},"ok"]
["C","linux",{},"failed"]' "$(parsed '[.config.command, .env.os, .metrics, .status]' go.json)" \
  'go: events of -json; each package has its own text'
test_same "$(vkb-parse go.json)" "$(vkb-parse -f go-bench go.json)" 'go: --from go-bench reads events, too'
cat >cut.json <<'END'
{"Action":"output","Package":"p","Output":"BenchmarkA-8 \t 100\t 20 ns/op\n"}
{"Action":"output","Package":"p","Output":"BenchmarkB-8 \t 100\t 20 ns/op"}
{"Action":"output","Package":"q","Output":"BenchmarkC-8 \t 100\t 20 ns/op\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq"}
{"Action":"output","Package":"r","Output":"PASS"}
END
test_status 2 'go: -json without the last line break is an error' vkb-parse cut.json
test_match "cut.json:5: the output of package 'p' is cut off: 'BenchmarkB-8" .err 'go: the error names the package'
test_match 'cut.json:5: go test failed, and may lack benchmarks: q' .err 'go: the last line without a break is read'
test_same '"A" "C"' "$(jq .config.command .out | paste -sd' ')" 'go: the whole lines are read'
echo x >>go.json
test_status 2 'go: a line that is not an event is an error' vkb-parse go.json
test_match 'go.json:9: not an event' .err 'go: the error names the line'

# --- regression framework

cat >reg.json <<'END'
{"timestamp":"2026-03-02T08:00:00Z",
 "metrics":{"put time":{"name":"put","value":1.5,"unit":"min"},
  "throughput":{"value":2,"unit":"GB/s"},"rps":{"value":7,"unit":"req/s"},
  "hits":{"value":3,"unit":""},"ops":{"value":8,"unit":"ops/sec"},"gone":{"value":null,"unit":"s"},
  "latency_ms":{"value":4,"unit":"ms"},"bad":{"value":"5","unit":"s"}},
 "metadata":{"git_commit":"1234567","build_dir":"/b"}}
END
test_status 2 'regression: a value that is not a number is an error' vkb-parse reg.json
test_match "reg.json: 'metrics.bad.value' is not a number" .err \
  'regression: the error names the value that is not a number'
test_same '{"commit":"1234567"} "2026-03-02T08:00:00Z" {"build_dir":"/b"} {"put_time_s":90,"throughput_bytes_per_s":2000000000,"rps":7,"hits":3,"ops_per_s":8,"latency_ms":4}' \
  "$(jq -c '.subject, .run.started, .env, .metrics' .out | tr '\n' ' ' |
    sed 's/ $//')" 'regression: the keys have the units'

printf '{"metrics":{"a time":{"value":1,"unit":"s"},"a_time":{"value":2,"unit":"s"}}}' >twice.json
test_status 2 'regression: two names with the same key are an error' vkb-parse twice.json
test_match "twice.json: 'a_time': another value has the same key 'a_time_s'" .err \
  'regression: the error names the key of the two names'
test_same '{"a_time_s":1}' "$(jq -c .metrics .out)" 'regression: the first of two names is read'
printf '{"context":{},"benchmarks":[{"name":"B","run_type":"iteration","real_time":1,"time_unit":"ns","a b":1,"a_b":2}]}' >twice.json
test_status 2 'gbench: two counters with the same key are an error' vkb-parse twice.json
test_match "twice.json:benchmarks.0.: 'a_b': another value has the same key 'a_b'" .err \
  'gbench: the error names the key of the two counters'
printf 'BenchmarkX 100 12 ns/op 13 ns/op\n' >twice.txt
test_status 2 'go: a unit that occurs twice is an error' vkb-parse twice.txt
test_match "twice.txt:1: 'ns/op': another value has the same key 'ns_per_op'" .err \
  'go: the error names the unit that is there twice'
printf '\377\nBenchmarkX 100 12 ns/op\n' >bytes.txt
test_status 2 'go: a first line that is not UTF-8 is an error' vkb-parse -f go-bench bytes.txt
test_same 12 "$(jq .metrics.ns_per_op .out)" 'go: the line after one that is not UTF-8 is parsed'
printf '1,,a-b,100,100.00,,\n2,,a_b,100,100.00,,\n' >twice.csv
test_status 2 'perf stat: two events with the same key are an error' vkb-parse twice.csv
test_match "twice.csv:2: 'a_b': another value has the same key 'a_b'" .err \
  'perf stat: the error names the key of the two events'
test_same 1 "$(jq .metrics.a_b .out)" 'perf stat: the first of two events is read'

# --- any CSV

printf 'cmd\tthroughput\tnote\tthreads\nSET\t1000\t"a\tb"\t2\nGET\t\tx\t2\nGET\t9\tx\n' >any.tsv
test_status 2 'columns: a row without a metric and a short row are errors' \
  vkb-parse -c 'config.command=cmd,rps=throughput' \
  -c 'config.benchmark_threads=threads' any.tsv
test_match 'any.tsv:3: the run has no metrics' .err 'columns: the error names the row without a metric'
test_match 'any.tsv:4: 3 columns where there should be 4' .err 'columns: the error names the short row'
test_same '{"command":"SET","benchmark_threads":2} {"rps":1000}' \
  "$(jq -c '.config, .metrics' .out | tr '\n' ' ' | sed 's/ $//')" \
  'columns: the map renames the columns'
test_status 2 'columns: a missing column is an error' vkb-parse -c rps=x any.tsv
test_match "any.tsv:1: no column is called 'x'" .err 'columns: the error names the missing column'
printf 'x,y,x\n1,2,3\n' >xyx.csv
test_status 2 'columns: a name of two columns is an error' vkb-parse -c rps=x xyx.csv
test_match "xyx.csv:1: two columns are called 'x'" .err \
  'columns: the error names the name of two columns'
test_that 'columns: a name of two columns does not matter elsewhere' vkb-parse -c rps=y xyx.csv
printf 'name,v\r\n"a ""b"",\r\nc",5\r\n,6\r\n' >quoted.csv
test_same '"a \"b\",\r\nc" 5 null 6' \
  "$(vkb-parse -c config.command=name,v_ms=v quoted.csv |
    jq -c '.config.command, .metrics.v_ms' | tr '\n' ' ' | sed 's/ $//')" \
  'columns: quotes, commas and line breaks in a field'
test_status 2 'columns: the format without a map is an error' vkb-parse --from columns any.tsv
test_status 2 'columns: a format with names of its own is an error' \
  vkb-parse --from memtier -c rps=x memtier.json
test_match "does not apply to the format 'memtier'" .err \
  'columns: the error names the format with its own names'
printf 'a,b\n1,"x\n\377\n2,3\n' >mixed.csv
test_status 2 'columns: a field that is not UTF-8 is an error' vkb-parse -c v_s=a mixed.csv
test_same '{"v_s":2}' "$(jq -c .metrics .out)" \
  'columns: the row after a field that is not UTF-8 is parsed'
for map in rps =x rps= x.y=z; do
  test_status 2 "columns: '$map' is an invalid map" vkb-parse -c "$map" any.tsv
done

# --- the flat form

cat >metrics.json <<'END'
[{"timestamp":"2026-03-02T08:00:00+01:00","commit":"HEAD","repository":null,
  "command":"MSET (10 keys)","data_size":16,"pipeline":1,"clients":5,
  "rps":125233.0,"p50_latency_ms":0.598,"cluster_mode":false,"tls":false,
  "requests":1000,"benchmark_mode":"requests","io_threads":1,"warmup":2,
  "architecture":"x86_64","env_os":"Debian","env_numa_nodes":"1"},
 {"command":"FT.SEARCH i (a)","rps":1,"status":"success","test_id":"1_a",
  "test_phase":"read","group":1,"scenario":"a","group_description":"d",
  "scenario_description":"e","config_set":{},"config_name":"c.json",
  "module_commit":"m","module_commit_timestamp":"2026-03-01T08:00:00Z","dataset":null,
  "memory_mb":5,"duration":3,"benchmark_mode":"duration"},
 {"test_id":"1_b","test_phase":"read","group":1,"scenario":"b",
  "status":"failed","error":"boom","command":"LRANGE",
  "timestamp":"2026-03-02T08:00:00+01:00","config_set":{"a":1}}]
END
plain='walk(if type == "number" then . + 0 else . end)'
round() {
  vkb-parse "$1" >round.jsonl && vkb-parse --flat round.jsonl >round.json
  # Some versions of jq keep how a number is written.
  test_same "$(jq -S "$plain" "$1")" "$(jq -S "$plain" round.json)" "flat: $2"
}
round metrics.json 'nothing is lost by reading and writing'
test_same "$(jq -c '.[0] | keys_unsorted' metrics.json)" \
  "$(jq -c '.[0] | keys_unsorted' round.json)" 'flat: the keys are in the same order'
test_same "$(vkb-parse --flat metrics.json)" "$(cat round.json)" \
  'flat: one command does both steps'
vkb-parse -s config.command=GET metrics.json | vkb-parse --flat >set.json
test_same '"GET"' "$(jq -c '.[].command' set.json | uniq)" \
  'flat: the value that was set replaces the value that was read'
printf '{"type":"run","v":1,"subject":{"label":"mine"},"config":{"command":"LRANGE_100","duration_s":5,"keyspacelen":9},"run":{"started":"2026-01-01T00:00:00Z"},"env":{"os":"x"},"metrics":{"rps":5,"requests":7},"status":"ok"}\n' >ours.jsonl
test_same '[{"timestamp":"2026-01-01T00:00:00Z","commit":"mine","repository":null,"command":"LRANGE_100 (first 100 elements)","rps":5,"duration":5,"benchmark_mode":"duration","env_os":"x"}]' \
  "$(vkb-parse --flat ours.jsonl | jq -c .)" 'flat: a run of vkb-load has only the keys of the Python tool'
sed 's/"keyspacelen":9/"keyspacelen":8/' ours.jsonl | cat ours.jsonl - >keys.jsonl
test_that 'flat: cases that differ by a missing key are accepted' vkb-parse --flat keys.jsonl
test_match "warning: cases that differ only by 'keyspacelen' are one case" .err \
  'flat: a warning names the key that is missing'
test_that 'flat: runs of one case are accepted' vkb-parse --flat ours.jsonl ours.jsonl
test_empty "$(cat .err)" 'flat: runs of one case give no warning'
test_that 'flat: --whole adds the records' vkb-parse --flat --whole keys.jsonl
test_empty "$(cat .err)" 'flat: with their records the cases stay two and give no warning'
test_same '[]' "$(vkb-parse --flat --from records </dev/null)" 'flat: an empty input gives an empty array'
test_same '"2026-03-02T07:00:00Z"' "$(vkb-parse metrics.json | jq .subject.time | head -n 1)" \
  'the time in a record is UTC'
vkb-parse -s subject.time=2026-01-01T00:00:00Z metrics.json | vkb-parse --flat >set.json
test_same '"2026-01-01T00:00:00Z"' "$(jq -c '.[].timestamp' set.json | uniq)" \
  'flat: the time that was set replaces the time that was read'
for t in 2026-11-01T01:02:03.25+02:30 '2026-11-01 01:02:03' 2026-12-31T23:30:00-0100 \
  2026-11-01T01:02:03Z 2026-13-01T00:00:00Z 2026-02-29T01:02:03Z yesterday; do
  printf '{"timestamp":"%s","metrics":{"a":{"value":1,"unit":"s"}}}' "$t" >time.json
  vkb-parse time.json 2>>times.err | jq -r '.run.started // "none"'
done >stamps
test_same '2026-10-31T22:32:03.25Z 2026-11-01T01:02:03Z 2027-01-01T00:30:00Z 2026-11-01T01:02:03Z none none none' \
  "$(tr '\n' ' ' <stamps | sed 's/ $//')" 'times are converted to UTC'
test_same '2026-11-28T00:00:00Z 2026-11-28T04:05:00Z null' \
  "$(printf 'd,v\n2026-11-28,1\n2026-11-28 04:05,2\n28.11.2026,3\n' | vkb-parse -c run.started=d,rps=v 2>err |
    jq -r .run.started | paste -sd' ')" 'a day or a minute is its beginning'
test_match "stdin:4: 'started' is not a valid time: '28.11.2026'" err 'days of other orders are errors'
test_same "vkb-parse: time.json: 'started' is not a valid time: '2026-13-01T00:00:00Z'
vkb-parse: time.json: 'started' is not a valid time: '2026-02-29T01:02:03Z'
vkb-parse: time.json: 'started' is not a valid time: 'yesterday'" "$(cat times.err)" \
  'the error names each time that is invalid'
test_status 2 'a time on 30 February is an error' vkb-parse -s subject.time=2026-02-30T08:00:00Z ours.jsonl
test_same null "$(jq .subject.time .out)" 'a time on 30 February does not become one in March'
for key in subject.time subject.module_time; do
  test_status 2 "an invalid $key is an error" vkb-parse -s "$key=yesterday" ours.jsonl
  test_same "vkb-parse: ours.jsonl:1: '${key#*.}' is not a valid time: 'yesterday'" \
    "$(cat .err)" "an invalid $key: the error names the key"
  test_same false "$(jq "has(\"${key#*.}\")" <<end
$(jq .subject .out)
end
)" "an invalid $key is left out of the run"
done

mkdir cut
head -c 40 metrics.json >cut/metrics.json
test_status 2 'a folder of results that cannot be read is an error' vkb-parse cut
test_match '^vkb-parse: cut/metrics.json:.* bad JSON: ' .err 'the error names the file'
jq -c '.[]' metrics.json >metrics.jsonl
test_same "$(vkb-parse metrics.json)" "$(vkb-parse metrics.jsonl)" \
  'flat: one object per line is read, too'
test_same "$(cat ours.jsonl)" "$(jq -s . ours.jsonl | vkb-parse |
  jq -c 'del(.run.index)')" 'records: an array of records is read, too'

# --- detection, raw, set

printf 'hello, world\n' >unknown
test_status 2 'an unknown format is an error' vkb-parse unknown
test_match "^vkb-parse: unknown: unknown format: the input begins with 'hello, world'$" .err \
  'the error has the beginning of the input'
test_match "'vkb help parse' lists the formats; any CSV is read with --columns" .err 'and says what is read'
printf 'a\377b\302\233c\342\200\256d\n' >unseen
test_status 2 'an unknown format with bytes that are not text is an error' vkb-parse unseen
test_match "begins with 'a.xffb.x9bc.u202ed'" .err \
  'bytes that are not text are escaped in the error'
printf '{"a":1}' >unknown.json
test_status 2 'JSON of an unknown format is an error' vkb-parse unknown.json
test_match "begins with '{\"a\":1}'" .err 'the error has the beginning of the JSON'
printf '{"ALL STATS":{},"results":[{"command":"x","mean":1}]}' >two.json
test_status 2 'JSON that may be of two formats is an error' vkb-parse two.json
test_match 'the format may be memtier or hyperfine; choose with --from' .err \
  'the error names the two formats that it may be'
test_status 2 'an input of another format than --from is an error' \
  vkb-parse --from gbench memtier.json
test_match "not in the format 'gbench'" .err 'the error names the format of --from'
test_status 2 'an unknown name of a format is an error' vkb-parse --from nonsense two.csv
test_match "option '--from': 'nonsense' is not one of auto, records" .err \
  'the error lists the names of the formats'
sed 's/.* auto, //; s/, /\n/g' .err | sort >names
test_that 'it lists the formats' test "$(wc -l <names)" -gt 10
test_empty "$(grep -oE '^\.(It )?Cm .*' "$top/man/vkb-parse.1" | tr ' ' '\n' | sort | comm -13 - names)" \
  'vkb-parse(1) describes each of them'
: >empty
test_status 2 'an empty file is an error' vkb-parse empty
test_match 'empty: the input is empty' .err 'the error says that the input is empty'
printf '{"benchmarks":[\n{"name":"x",\n' >cut.json
test_status 2 'JSON that is cut short is an error' vkb-parse cut.json
test_match 'cut.json:3: bad JSON: it ends too early' .err \
  'the error has the line where JSON is cut short'
{
  jq . memtier.json
  jq -c . memtier.json
} >joined.json
vkb-parse memtier.json >alone
test_same "$(jq -c '.run.index = 1' alone alone | sort)" \
  "$(vkb-parse joined.json | jq -c '.run.index = 1' | sort)" \
  'JSON of several files, joined by cat, is read as they are'
test_same 2 "$(vkb-parse joined.json | jq -s 'map(.run.index) | max')" \
  'the runs of a case are numbered through'
printf ']' >>joined.json
test_status 2 'what follows is not JSON' vkb-parse joined.json
test_match "^vkb-parse: joined.json:$(($(jq . memtier.json | wc -l) + 2)): bad JSON" .err \
  'the line is that of the input'
vkb-parse --raw two.csv >raw.jsonl
test_same 'raw run run' "$(jq -r .type raw.jsonl | tr '\n' ' ' | sed 's/ $//')" \
  'raw: the input stands before its runs'
test_same "$(cat two.csv)" "$(jq -r 'select(.type == "raw") |
  select(.format == "valkey-csv" and .source == "two.csv") | .text' raw.jsonl)" \
  'raw: the text of the input is unchanged'
printf '"SET","5"\n\377\n' >bytes.csv
vkb-parse --raw bytes.csv >raw.jsonl 2>err
test_same "$(base64 <bytes.csv)" "$(jq -r 'select(.base64).base64' raw.jsonl)" \
  'raw: bytes that are not UTF-8 are stored as base64'
test_match 'bytes.csv:2: the line is not UTF-8' err \
  'raw: the error names the line that is not UTF-8'
test_same '{"label":"7"} {"command":"SET","data_size":16,"tls_mode":true,"x":"5"} {"session":"3"}' \
  "$(vkb-parse -s subject.label=7 -s config.data_size=16 \
    -s config.tls_mode=true -s 'config.x="5"' -s run.session=3 two.csv |
    head -n 1 | jq -c '.subject, .config, .run | del(.index)' | tr '\n' ' ' |
    sed 's/ $//')" 'set: values are numbers, booleans and texts'
for set in label=x subject.=x subject.label= metrics.rps=5; do
  test_status 2 "set: '$set' is an error" vkb-parse -s "$set" two.csv
done

# --- results of other tools

if test_reference gbench 'Google Benchmark files'; then
  test_same '["BM_One",10] ["BM_Two",9] ["BM_Two",8] ["short",8] ["short",8] ["medium",8] ["medium",9]' \
    "$(parsed '[.config.command, .metrics.real_time_ns]' \
      "$acceptance/gbench/test3_run0.json" | tr '\n' ' ' | sed 's/ $//')" \
    'gbench: repetitions are runs, aggregates are not'
fi
if test_reference hdr 'an HdrHistogram log'; then
  test_same '48761 0.344063 1434.451967 1753.219071 1803.550719 62' \
    "$(parsed '(.metrics | .samples, .p50_latency_ms, .p99_latency_ms,
      .p999_latency_ms, .max_latency_ms), (.series.at_s | length)' \
      "$acceptance"/hdr/*.hlog | tr '\n' ' ' | sed 's/ $//')" \
    'hdr: counts and percentiles are those of the log'
fi
if test_reference python-tool 'files of the Python tool'; then
  for f in "$acceptance"/python-tool/metrics/*.json \
    "$acceptance"/python-tool/compare/*/*e*.json; do
    case $f in
    */numbers.json) continue ;;
    esac
    round "$f" "${f#"$acceptance"/python-tool/}"
  done
fi
test_done
