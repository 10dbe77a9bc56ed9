#!/bin/sh
# vkb-parse and vkb-run with what they do not read: each of these tools is named, with an
# option of it, or with a filter that is run here and gives the right numbers.
# sanitize: output of other tools.
. "${0%/*}/lib.sh"

# foreign NAME TOOL [RESULTS] <TEXT: this text is not read, and the message names the tool.
# If it names a filter, that makes these results of the text: lines "CASE METRIC VALUE".
: >told
foreign() {
  cat >"$1"
  test_status 2 "$1: exit status" vkb-parse "$1"
  test_empty_file .out "$1: nothing is read"
  cp .err said
  cat said >>told
  test_match "^vkb-parse: $1: this output of $2 is not read" said "$1: the message names the tool"
  test_that "$1: in three lines" test "$(wc -l <said)" -le 3
  sed -n 's/^\t//p' said >filter
  columns=$(sed -n 's/.* with -c \([^:]*\):$/\1/p' said)
  if [ -s filter ]; then
    sh filter <"$1" >filtered
    vkb-parse ${columns:+-c "$columns"} filtered |
      jq -r '(.config.command // "-") + " " + (.metrics | to_entries[] | "\(.key) \(.value)")' >results
    test_same "${3:-}" "$(cat results)" "$1: the filter gives its results"
  else
    test_empty "${3:-}" "$1: there is an option"
  fi
}

# --- load generators

foreign wrk wrk '- rps 1234.5' <<'END'
Running 1s test @ http://127.0.0.1:8080/
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  1234 requests in 1.00s, 1.00MB read
Requests/sec:   1234.50
Transfer/sec:      1.00MB
END
cp filter wrk.filter
test_status 2 'vkb-run of it' vkb-run -q -n 1 'cat wrk'
cp .err said
test_that 'vkb-run: in three lines' test "$(wc -l <said)" -le 3
test_match 'this output of wrk is not read' said 'vkb-run: the message names the tool'
test_that 'vkb-run with the filter' vkb-run -q -n 1 -c rps=rps "cat wrk | $(cat wrk.filter)"
test_same 1234.5 "$(jq 'select(.type == "run").metrics.rps' .out)" 'vkb-run with the filter: the result'
sed 's/  Thread Stats.*/  Thread Stats\n  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    6.67ms\n 1\/(1-Percentile)/' wrk >in
foreign wrk2 wrk '- rps 1234.5' <in
foreign ab ab '- rps 9803.92' <<'END'
This is ApacheBench, Version 2.3 <$Revision: 1 $>
Complete requests:      100
Requests per second:    9803.92 [#/sec] (mean)
Time per request:       0.204 [ms] (mean)
END
foreign ab.csv ab <<'END'
Percentage served,Time in ms
0,0.083
100,1.205
END
foreign hey 'hey or oha' '- rps 810.0445' <<'END'
Summary:
  Total:	1.2345 secs
  Slowest:	0.0523 secs
  Average:	0.0103 secs
  Requests/sec:	810.0445
END
foreign hey.csv hey <<'END'
response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset
0.0021,0.0003,0.0001,0.0000,0.0017,0.0000,200,0.0010
END
foreign oha.json oha 'oha rps 1149.2
oha p50 time_s 0.0087' <<'END'
{"summary":{"successRate":1.0,"total":10.0,"average":0.009,"requestsPerSec":1149.2},
 "latencyPercentiles":{"p50":0.0087,"p99":0.0481}}
END
foreign autocannon autocannon <<'END'
Running 10s test @ http://localhost:3000
Req/Bytes counts sampled once per second.
END
foreign autocannon.json autocannon 'http://localhost:3000 rps 68.5
http://localhost:3000 p50 time_ns 1000000' <<'END'
{"url":"http://localhost:3000","connections":2,"sampleInt":1000,"requests":{"average":68.5,"mean":68.5},"latency":{"average":24.2,"p50":1}}
END
foreign k6 k6 <<'END'
     http_req_duration..............: avg=18.39ms min=1.44ms med=4.14ms  max=487.59ms p(90)=66.25ms
     http_reqs......................: 32408  537.414315/s
END
foreign k6.json k6 'http_reqs rps 537.41
http_req_duration time_ns 4250000' <<'END'
{"metrics":{"vus":{"value":10,"min":10,"max":10},"http_reqs":{"count":32408,"rate":537.41},
 "http_req_duration":{"avg":18.39,"min":1.44,"med":4.25}},"root_group":{}}
END
foreign k6.handle k6 'http_reqs rps 5
http_req_duration time_ns 19000000' <<'END'
{"metrics":{"http_req_duration":{"type":"trend","values":{"avg":19.5,"med":19}},
 "http_reqs":{"type":"counter","values":{"count":10,"rate":5}}}}
END
foreign k6.jsonl k6 <<'END'
{"type":"Metric","data":{"name":"http_reqs","type":"counter"},"metric":"http_reqs"}
{"metric":"http_reqs","type":"Point","data":{"time":"2026-05-05T10:00:00.1Z","value":1}}
END
foreign vegeta vegeta <<'END'
Requests      [total, rate, throughput]         6000, 100.02, 100.01
Latencies     [min, mean, 50, 90, 95, 99, max]  905.822µs, 1.251ms, 1.226ms, 1.407ms, 1.468ms, 1.64ms, 16.559ms
END
foreign vegeta.json vegeta 'throughput rps 101.5
p50 time_ns 2854306' <<'END'
{"latencies":{"total":237119463,"mean":2371194,"50th":2854306,"max":3660505},"requests":100,"throughput":101.5}
END
foreign vegeta.jsonl vegeta <<'END'
{"attack":"","seq":0,"code":200,"timestamp":"2026-01-01T10:00:00Z","latency":1234567}
END
foreign fio fio <<'END'
  read: IOPS=51.2k, BW=200MiB/s (210MB/s)(1024KiB/5msec)
Run status group 0 (all jobs):
   READ: bw=200MiB/s (210MB/s), 200MiB/s-200MiB/s (210MB/s-210MB/s), io=1024KiB (1049kB), run=5-5msec
END
foreign fio.json fio 't read ops_per_s 51200' <<'END'
{"fio version":"fio-3.33","jobs":[{"jobname":"t","error":0,"read":{"bw":204800,"iops":51200.0},"write":{"bw":0,"iops":0}}]}
END
echo '3;fio-3.33;t;0;0;1024;204800;51200;5;0;0;0.000000;0.000000;900' >in
foreign fio.terse fio <in
foreign sysbench sysbench '- ops_per_s 1234.6' <<'END'
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
General statistics:
    total time:                          10.0000s
    total number of events:              12346
END
foreign pgbench pgbench '- ops_per_s 4223.517576' <<'END'
transaction type: <builtin: TPC-B (sort of)>
latency average = 1.894 ms
tps = 4223.517576 (without initial connection time)
END
foreign ycsb YCSB '- ops_per_s 98.911' <<'END'
[OVERALL], RunTime(ms), 10110
[OVERALL], Throughput(ops/sec), 98.911
[READ], AverageLatency(us), 1456.2
END
foreign memtier memtier_benchmark <<'END'
ALL STATS
Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec
Totals      99135.79      1000.00     89123.45         2.01122         1.98300         4.09500         8.83100      4206.46
END
foreign percentiles HdrHistogram <<'END'
       Value   Percentile   TotalCount 1/(1-Percentile)
       0.519     0.000000            1         1.00
END

# --- benchmarks of programs

printf '\033[1mBenchmark 1\033[0m: sort x\n  Time (\033[32mmean\033[0m ± σ):      79.3 ms ±  26.0 ms\n' >in
foreign hyperfine hyperfine <in
echo '| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |' >in
foreign hyperfine.md hyperfine <in
printf 'command,mean,stddev,median,user,system,min,max\nsort x,0.079,0.026,0.09,0.001,0,0.049,0.098\n' >in
foreign hyperfine.csv hyperfine <in
foreign gbench 'Google Benchmark' <<'END'
----------------------------------------------------------------------
Benchmark            Time             CPU   Iterations UserCounters...
fill/1000          300 ns         17.1 ns      1000000
END
foreign gbench.csv 'Google Benchmark' <<'END'
name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message
"fill/1000",1000000,349.48,17.3809,ns,,,,,
END
foreign pytest pytest-benchmark <<'END'
Name (time in ns)          Min       Max      Mean    StdDev    Median      IQR  Outliers  OPS (Mops/s)  Rounds  Iterations
test_sum              451.7002  774.2001  519.8000  142.3238  454.7001  90.3749       1;1        1.9238       5          10
END
foreign jmh JMH <<'END'
# JMH version: 1.37
Iteration   1: 98.765 ns/op
END
printf 'Benchmark               Mode  Cnt   Score   Error  Units\nMyBenchmark.testMethod  avgt    5  98,765 ± 1,234  ns/op\n' >in
foreign jmh.end JMH <in
printf '"Benchmark","Mode","Threads","Samples","Score","Score Error (99,9%%)","Unit"\n"m","avgt",1,5,"98,765","1,234","ns/op"\n' >in
foreign jmh.csv JMH <in
echo 'fib 20                  time:   [26.029 us 26.251 us 26.505 us]' >in
foreign criterion criterion <in
foreign criterion.json cargo-criterion 'fib 20 time_ns 12.5' <<'END'
{"reason":"benchmark-complete","id":"fib 20","unit":"ns","typical":{"estimate":12.5,"lower_bound":10,"upper_bound":15,"unit":"ns"}}
{"reason":"group-complete","group_name":"fib","benchmarks":["fib 20"]}
END
foreign libtest libtest 'identifiers ns_per_op 647
two words ns_per_op 2054.31' <<'END'
running 3 tests
test identifiers ... bench:         647 ns/iter (+/- 27) = 1204 MB/s
test two words   ... bench:       2,054.31 ns/iter (+/- 78.20)
test strings     ... ignored
END
foreign divan divan <<'END'
benches       fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ handshake  106.9 µs      │ 365.8 µs      │ 125.8 µs      │ 129.4 µs      │ 7723    │ 7723
END
foreign benchstat benchstat <<'END'
                      │   sec/op    │   sec/op     vs base                │
Encode/format=json-48   1.718µ ± 1%   1.423µ ± 1%  -17.20% (p=0.000 n=10)
END
printf 'name  old time/op  new time/op  delta\nA-48  1.72µs ± 1%%  1.42µs ± 1%%  -17.20%%\n' >in
foreign benchstat.old benchstat <in
foreign catch Catch2 <<'END'
benchmark name                                  samples       iterations    est run time
Fibonacci 20                                              100       416439   83.2878 ms
END
foreign catch.xml Catch2 'Fibonacci 20 time_ns 2.1' <<'END'
<?xml version="1.0" encoding="UTF-8"?>
    <BenchmarkResults name="Fibonacci 20" samples="100" resamples="100000" iterations="416439">
      <mean value="2.1" lowerBound="2.0" upperBound="2.2" ci="0.95"/>
END
foreign nanobench nanobench <<'END'
|               ns/op |                op/s |    err% |     total | benchmark
|                7.81 |      128,026,315.08 |    0.0% |      0.01 | `some double ops`
END
foreign nanobench.csv nanobench <<'END'
"title";"name";"unit";"batch";"elapsed";"error %"
"benchmark";"some double ops";"op";1;7.81e-09;0.0001
END
foreign nanobench.json nanobench 'double ns_per_op 4' <<'END'
{"results":[{"title":"benchmark","name":"double","unit":"op","batch":2,"median(elapsed)":8e-09}]}
END
foreign dotnet BenchmarkDotNet <<'END'
BenchmarkDotNet v0.13.12, Windows 10
| Method | N    | Mean      | Error    | StdDev   |
| Sha256 | 1000 |  74.79 us | 1.287 us | 1.004 us |
END
printf 'Method,Job,N,Mean,Error\nSha256,DefaultJob,1000,74.79 μs,1.287 μs\n' >in
foreign dotnet.csv BenchmarkDotNet <in
foreign dotnet.json BenchmarkDotNet 'X.Sha256(N: 1000) time_ns 74790.6' <<'END'
{"HostEnvironmentInfo":{"BenchmarkDotNetVersion":"0.13.12"},
 "Benchmarks":[{"FullName":"X.Sha256(N: 1000)","Statistics":{"OriginalValues":[74790.1,74791.1],"Median":74790.6}}]}
END
foreign asv asv <<'END'
· Discovering benchmarks
[  0.00%] · For project commit 04b06e12 <main>:
[ 50.00%] ··· time_keys                                             8.27±0.02μs
END
echo '| Change   | Before [6dcab9a1]    | After [04b06e12]    |   Ratio | Benchmark (Parameter)   |' >in
foreign asv.compare asv <in
foreign asv.json asv 'b.time_keys time_s 8.27e-06' <<'END'
{"commit_hash":"04b06e12","result_columns":["result","params"],
 "results":{"b.time_keys":[[8.27e-06],[]],"b.time_of":[[1,2],[["1","2"]]]},"version":2}
END
printf '\033[46m BENCH \033[49m Summary\n     name         hz     min     max\n   · sum   549,153.71  0.0001  104.04\n' >in
foreign vitest vitest <in
foreign vitest.json vitest 'x.js > sums > sum time_ns 1821' <<'END'
{"files":[{"filepath":"x.js","groups":[{"fullName":"x.js > sums","benchmarks":[{"name":"sum","hz": 549153.7,"mean":0.001821}]}]}]}
END
foreign mitata mitata <<'END'
benchmark                   avg (min … max) p75 / p99    (min … top 1%)
sum                          811.85 ns/iter  45.13 ns
END
foreign mitata.json mitata 'sum time_ns 45.5' <<'END'
{"layout":[],"benchmarks":[{"kind":"static","alias":"sum","runs":[{"name":"sum","stats":{"kind":"fn","avg":811.85,"p50":45.5}}]}],"context":{"now":1}}
END
echo "│ (index) │ Task name │ Latency avg (ns)   │ Latency med (ns) │" >in
foreign tinybench tinybench <in
printf 'sum x 1,249,180 ops/sec ±24.05%% (6 runs sampled)\n' >in
foreign benchmark.js benchmark.js 'sum ops_per_s 1249180' <in

# --- processes

printf '\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:00.10\n\tMaximum resident set size (kbytes): 1792\n' >in
foreign time time <in
printf '\nreal\t0m0.187s\nuser\t0m0.002s\nsys\t0m0.000s\n' >in
foreign bash time <in
foreign perf.stat 'perf stat' <<'END'

 Performance counter stats for 'sort x':

              0.90 msec task-clock                       #    0.005 CPUs utilized
END
echo '0,94,msec,task-clock,944186,100,00,0,008,CPUs utilized' >in
foreign perf.comma 'perf stat with decimal commas' <in
foreign perf.bench 'perf bench' '- time_s 5.76' <<'END'
# Running 'sched/messaging' benchmark:
# 2 groups == 80 processes run

     Total time: 5.760 [sec]
END
foreign perf.simple 'perf bench' "'default' bytes_per_s 26214399999.999996
'movsq' bytes_per_s 37449142857.14286" <<'END'
# function 'default' (Default memcpy() provided by glibc)
26214399999.999996
# function 'movsq' (movsq-based memcpy())
37449142857.142860
END

# --- the table has no tool without a case

sed -n 's/.*this output of \(.*\) is not read.*/\1/p' told | sort -u >named
sed -n '/^static const struct foreign tools/,/^};/s/^    {"\([^"]*\)", {.*/\1/p' "$top/src/vkb-parse/formats.c" |
  sort -u >known
test_same "$(cat known)" "$(cat named)" 'each tool has a case here'

# --- what is read, in other dresses

printf '\377\376B\0e\0n\0' >utf16
test_status 2 'UTF-16' vkb-parse utf16
test_match "the text is UTF-16: 'iconv -f utf-16 -t utf-8'" .err 'UTF-16: the message says what to do'
printf 'BenchmarkA-2\t100\t12.5 ns/op\n' >go
printf '\357\273\277BenchmarkA-2\t100\t12.5 ns/op\r\n' >go.dos
test_same "$(vkb-parse go)" "$(vkb-parse go.dos)" 'a byte order mark and CRLF do not matter'
printf 'BenchmarkA-2\t100\t12,5 ns/op\n' >comma
test_status 2 'a decimal comma' vkb-parse comma
test_match "comma:1: 'ns/op' is '12,5', which is not a number" .err 'a decimal comma is not guessed'
echo '{"type":"run","config":{}}' >unversioned
test_status 2 'an object of another program with a type' vkb-parse unversioned
test_match 'unknown format' .err 'is not a record'
test_status 2 'nor in an array' sh -c 'jq -s . unversioned | vkb-parse'
echo '{"a":{"b":{"value":1},"c":{"count":1}}}' >nearly
test_status 2 'an object that has a value, beside one without' vkb-parse nearly
test_match 'unknown format' .err 'is not of Bencher'
test_done
