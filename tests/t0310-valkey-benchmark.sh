#!/bin/sh
# vkb-load --engine valkey-benchmark: the installed program makes the load. Its options
# are probed, cases that it cannot do are refused, its failures are failed runs, and its
# output is kept. Other versions are scripts that have their --help and call the real
# program.
. "${0%/*}/lib.sh"

test_server '--engine valkey-benchmark'
if ! real=$(command -v valkey-benchmark); then
  test_skip '--engine valkey-benchmark' valkey-benchmark
  test_done
fi
version=$("$real" --version)

# config FILE COMMANDS REST: writes a configuration with one case for each command.
config() {
  printf '[{"commands":[%s],"keyspacelen":[100],"data_sizes":[16],' "$2" >"$1"
  printf '"pipelines":[4],"clients":[4],%s}]\n' "$3" >>"$1"
}
plain='"cluster_mode":false,"tls_mode":false,"warmup":0'
# A run has to last longer than a busy machine takes from its start to the first look at
# its CPU time.
config c.json '"SET","GET"' "$plain,\"requests\":[50000]"
config set.json '"SET"' "$plain,\"requests\":[2000]"
vb() { vkb-load --engine valkey-benchmark "$@"; }

# program NAME: writes a script from stdin that replaces valkey-benchmark, with a --help
# of its own.
program() {
  {
    printf '#!/bin/sh\nreal=%s\n' "$real"
    # shellcheck disable=SC2016 # for the script
    printf 'case ${1-} in --help|--version) exec "$real" "$1" ;; esac\n'
    cat
  } >"$1"
  chmod +x "$1"
}

# --- runs

test_that 'runs' vb -q --runs 2 c.json
test_empty_file .err 'nothing is printed on stderr'
cp .out out
grep '"type":"run"' out >runs
test_same '[["SET",1],["GET",1],["SET",2],["GET",2]]' \
  "$(jq -c -s 'map([.config.command, .run.index])' runs)" \
  'the cases take turns in each round'
test_same true "$(jq -s 'all(.[]; .status == "ok" and .metrics.rps > 0 and
  .metrics.requests == 50000 and .metrics.errors == 0 and
  .metrics.avg_latency_ms > 0 and .metrics.max_latency_ms > 0 and
  .metrics.used_memory_bytes > 0 and .metrics.server_busy_percent > 0 and
  .metrics.client_busy_percent > 0 and .metrics.client_cpu_us_per_req > 0 and
  (.metrics.elapsed_s * .metrics.rps | . > 49999 and . < 50001) and
  (.bound | IN("server","client","neither")))' runs)" 'the figures are there'
test_same true "$(jq -s 'all(.[]; (has("hist") or has("series") or
  (.metrics | has("p999_latency_ms") or has("client_cycles_per_req"))) | not)' \
  runs)" 'metrics that it does not print are absent'
test_same 100 "$(jq 'select(.config.command == "GET").metrics.hit_rate_percent' \
  runs | sort -u)" 'reads find their keys, by the counts of the server'
test_same "[\"valkey-benchmark\",\"batch-first-byte\",\"$version\"]" \
  "$(jq -c '[.config.engine, .config.latency, .env.benchmark_tool_version]' \
    runs | sort -u)" 'the engine, its latency and its version are named'
test_same "$(sha256sum <"$real" | cut -d ' ' -f 1)" \
  "$(jq -r .env.benchmark_tool_sha256 runs | sort -u)" \
  'the hash of valkey-benchmark is recorded'
test_same true "$(jq -s 'all(.[]; .env | has("emulated") | not)' runs)" \
  'no option of valkey-benchmark is emulated'
test_that 'the plan has the engine' vb --plan c.json
test_same '["valkey-benchmark","SET-d16-P4-c4-k100-valkey_benchmark"]' \
  "$(jq -c '[.config.engine, .id]' .out | head -n 1)" 'the id of a case names its engine'
cp .out plan
test_that 'a case of a plan keeps its engine' \
  vkb-load --runs 1 --case 'SET*' plan
test_same '"valkey-benchmark"' \
  "$(jq 'select(.type == "run").config.engine' .out)" \
  'a case of a plan is run by its engine'
test_that 'vkb-stats reads it' vkb-stats out
test_that 'vkb-compare too' vkb-compare --on-insufficient ok out out

# --- the output of valkey-benchmark

grep '"type":"raw"' out >raws
test_same 4 "$(wc -l <raws | tr -d ' ')" 'the output of each run is kept'
test_same '"raw" "run"' "$(head -n 2 out | jq .type | paste -s -d ' ' -)" \
  'the output of a run precedes its record'
test_same "$(jq -c '[.run.session, .run.order]' runs)" \
  "$(jq -c '[.run.session, .run.order]' raws)" \
  'the raw output names its session and run'
head -n 1 raws | jq -j .text | vkb-parse >parsed
test_same "$(head -n 1 runs | jq -c '.metrics | [.rps, .p50_latency_ms]')" \
  "$(jq -c '.metrics | [.rps, .p50_latency_ms]' parsed)" \
  'vkb-parse reads the same metrics from the output'
test_match "\"source\":\"$real -h 127.0.0.1 -p [0-9]+ -n 50000 -r 100 -d 16" \
  raws 'the source of the output is the command line'

# --- all the tests

named=$(named_tests | sed 's/.*/"&"/' | paste -sd ,)
config all.json "$named" "$plain,\"requests\":[2000]"
test_that 'every test' vb --runs 1 all.json
grep '"type":"run"' .out >all
test_same "$(named_tests)" "$(jq -r 'select(.status == "ok").config.command' all)" \
  'each test is run'
test_empty "$(jq -r 'select(.metrics.hit_rate_percent // 100 | . < 99) |
  .config.command' all)" 'what is read is found'
# These are counted by the server, by the system, or in what valkey-benchmark prints.
counted='errors|hit_rate_percent|cmd_.*|keyspace_.*|(evicted|expired)_keys|.*_(percent|throttles|switches_per_s)'
test_empty "$(jq -r '.metrics // {} | to_entries[] | select(.value == 0).key' all | grep -vxE "$counted")" \
  'a number that valkey-benchmark does not count is absent, and not 0'

# --- all ways to connect to a server

config tls.json '"SET"' '"cluster_mode":false,"tls_mode":true,"warmup":0,"requests":[500]'
test_that 'TLS' vb --runs 1 tls.json
config cluster.json '"SET","GET","MSET"' '"cluster_mode":true,"cluster_nodes":3,"tls_mode":false,"warmup":0,"requests":[500]'
test_status 2 'a cluster' vb --runs 1 cluster.json
test_match 'GET.*not run: in a cluster .* so GET would find nothing' .err \
  'a read that would find no keys is not measured'
test_same '["SET","ok",0] ["MSET","ok",0]' "$(jq -c 'select(.type == "run") |
  [.config.command, .status, .metrics.errors]' .out | paste -s -d ' ' -)" \
  'SET and MSET are run in a cluster'
config unix.json '"SET"' "$plain,\"requests\":[4000],\"unixsocket\":true,\"benchmark-threads\":2,\"client_cpu_range\":\"0\""
test_that 'a unix socket, threads and CPUs are accepted' vb --runs 1 unix.json
test_match '"source":"[^"]* -s [^"]*sock [^"]*--threads 2 ' .out \
  'the command line has the unix socket and the threads'
program cpus <<'END'
taskset -cp $$ >&2
exec "$real" "$@"
END
test_that 'valkey-benchmark starts with given CPUs' \
  vb --valkey-benchmark-path ./cpus --runs 1 unix.json
program mask <<'END'
[ "$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)" = 0 ] ||
  { echo "wrong CPUs" >&2; exit 3; }
exec "$real" "$@"
END
test_that 'valkey-benchmark runs on no other CPUs' \
  vb --valkey-benchmark-path ./mask --runs 1 unix.json
test_that '--seed with valkey-benchmark' vb --seed 5 --runs 1 set.json
test_match '"source":"[^"]*--seed [0-9]+ .*' .out \
  'the seed is passed to valkey-benchmark'
test_same "$(jq -r 'select(.type == "run").run.seed' .out)" \
  "$(sed -n 's/.*--seed \([0-9]*\) .*/\1/p' .out)" \
  'the seed in the record is the one that was passed'

# --- a password is not visible

config pass.json '"SET"' "$plain,\"requests\":[500],\"custom-server-configs\":{\"requirepass\":\"geheim\"}"
test_status 2 'a password' vb --runs 1 pass.json
test_match "not run: $version takes a password as an argument only" .err \
  'a password is refused if valkey-benchmark has only -a'
program auth <<'END'
[ "$VALKEYCLI_AUTH" = geheim ] || { echo "no password" >&2; exit 3; }
[ -z "${GITHUB_TOKEN+set}" ] || { echo "a token is seen" >&2; exit 3; }
case "$*" in *geheim*) echo "all users see it" >&2; exit 3 ;; esac
exec "$real" -a "$VALKEYCLI_AUTH" "$@"
END
sed 's/^case.*/case ${1-} in --help) "$real" --help; echo " VALKEYCLI_AUTH is read"; exit;; --version) echo new; exit;; esac/' \
  auth >auth2
chmod +x auth2
test_that 'a password is passed in the environment if it is read' \
  env GITHUB_TOKEN=x vkb-load --engine valkey-benchmark \
  --valkey-benchmark-path ./auth2 --runs 1 pass.json
test_same '"ok"' "$(jq 'select(.type == "run").status' .out)" \
  'the server accepts the password of the environment'
test_same 0 "$(grep -c geheim .out)" 'no record has the password'

# --- commands of a configuration

cat >own.json <<'END'
[{"test_groups":[{"group":1,"scenarios":[
 {"id":"w","type":"write","requests":400,"clients":2,
  "command":"HSET doc:__rand_int__ title 'a  b' n \"it's\""},
 {"id":"r","type":"read","requests":400,"command":"HGET doc:__rand_int__ n"},
 {"id":"p","type":"write","requests":400,"command":"SET a __rand_9th__"},
 {"id":"q","type":"write","requests":400,"command":"SET a 'b"},
 {"id":"s","type":"write","requests":400,"command":"MULTI ';' EXEC"}]},{"group":1,"scenarios":[
 {"id":"e","type":"write","requests":400,"command":"SET a"}]},{"group":2,"scenarios":[
 {"id":"m","type":"mixed","duration":1,"writes":[{"command":"SET a b"}]},
 {"id":"n","type":"write","requests":400,"command":"SET a b","parallel_clients":2}]}]}]
END
test_status 2 'commands' vb --runs 1 own.json
test_match '1_r-.*not run: it reads what another scenario wrote' .err \
  'a read of what another scenario wrote is refused'
test_match "1_p-.*not run: $version does not know '__rand_9th__'" .err \
  'a placeholder that it does not know is refused'
test_match '2_m-.*not run: mixed scenarios need' .err 'a mixed scenario is refused'
test_match '2_n-.*not run: clients in parallel need' .err 'parallel clients are refused'
test_match '1_q-.*not run: its command: a quote is not closed' .err 'an open quote is refused'
test_match '1_s-.*not run: it is a sequence of commands' .err 'a sequence of commands is refused'
test_same "[\"HSET doc:__rand_int__ title 'a  b' n \\\"it's\\\"\",\"ok\"]" \
  "$(jq -c 'select(.config.scenario == "w") | [.config.command, .status]' .out)" \
  'scenarios with quotes and blanks are run'
test_match "\"status\":\"failed\",\"error\":\"$version exited with 1: .*wrong number of arguments" \
  .out 'a command that the server refuses fails with its message'

# --- what version 8.0.1 cannot do

lacks() { ! "$real" --help | grep -q -- "^ $1 "; }
if lacks --duration && lacks --warmup; then
  config time.json '"SET","LPOP"' "$plain,\"duration\":0.5"
  test_that 'a duration' vb --warmup 300ms --runs 2 time.json
  grep '"type":"run"' .out >runs
  test_same '["duration, warmup",0.5,0.3]' "$(jq -c \
    '[.env.emulated, .config.duration_s, .config.warmup_s]' runs | sort -u)" \
    'a duration is emulated by a number of requests, a warm-up by another process'
  test_same '2' "$(jq -c '[.config.command, .metrics.requests]' runs |
    sort -u | wc -l | tr -d ' ')" 'all repetitions have the same number of requests'
  test_same true "$(jq -s 'all(.[]; .metrics.elapsed_s > 0.1)' runs)" \
    'runs of an emulated duration take some time'
  test_same 4 "$(grep -c '"type":"raw"' .out)" 'the output of the warm-up is dropped'
fi
if lacks --sequential; then
  config seq.json '"SET"' "$plain,\"requests\":[500],\"sequential\":true"
  test_status 2 'keys in sequence' vb --runs 1 seq.json
  test_match "not run: $version has no '--sequential'" .err \
    'keys in sequence are refused by the name of the option'
  test_empty_file .out 'nothing is measured'
fi
config resp3.json '"SET"' "$plain,\"requests\":[500],\"resp3\":true"
if lacks -3; then
  test_status 2 'RESP3' vb --runs 1 resp3.json
  test_match "not run: $version has no '-3'" .err \
    'RESP3 is refused by the name of the option'
else
  test_that 'RESP3' vb --runs 1 resp3.json
  test_match '"source":"[^"]* -3 ' .out 'RESP3 is passed as -3'
fi
test_status 2 'losses' vb --set max_lost=1 --runs 1 set.json
test_match "not run: valkey-benchmark does not count.*'max_lost'" .err \
  'max_lost is refused'
test_status 2 'a rate' vb --set rate=100 --runs 1 set.json
test_match "not run: rates need the engine" .err \
  '--rate is refused'
test_status 2 'popular keys' vb --set keys=zipf --runs 1 set.json
test_match 'not run: distributions of keys need the engine of vkb-load' .err \
  'keys are refused'
test_status 2 'varying values' vb --set values=1-9 --runs 1 set.json
test_match 'not run: values that differ need the engine of vkb-load' .err \
  'values are refused'
test_status 2 'times to live' vb --set ttl=9 --runs 1 set.json
test_match 'not run: times to live need the engine of vkb-load' .err \
  'ttl is refused'
test_status 2 'the latency of each request' vb --set latency=request set.json
test_match 'not run: the latency of valkey-benchmark is batch' .err \
  'the latency of each request is refused'
config many.json '"LPOP"' "$plain,\"requests\":[20000000]"
test_status 2 'more pops than are seeded' vb --runs 1 many.json
test_match 'not run: LPOP needs more elements than can be seeded' .err \
  'more pops than are seeded are refused'
config much.json '"SET"' "$plain,\"requests\":[3000000000]"
test_status 2 'more requests than an int holds' vb --runs 1 much.json
test_match 'not run: .* to 2147483647' .err \
  'more requests than an int holds are refused'

# --- newer and older versions, recognized by their --help

# What 9.0 adds according to its documentation. The script does what these options ask
# for with those of the real program.
cat >new <<END
#!/bin/sh
real=$real
END
cat >>new <<'END'
case ${1-} in
--version) echo 'valkey-benchmark 9.0.0' && exit ;;
--help)
  "$real" --help
  cat <<'HELP'
 --duration <seconds> Run benchmark for specified number of seconds
                    (mutually exclusive with -n).
 --warmup <seconds> Run benchmark for specified warmup period before recording
 --sequential       Modifies the -r argument to replace the string __rand_int__
                    with 12 digit numbers sequentially instead of randomly.
 --rps <requests>   Limit requests per second (default 0, no limit)
    __rand_1st__    Like __rand_int__ but multiple occurrences will have the
    __data__        Data of size specified by -d
HELP
  exit
  ;;
esac
for word; do
  shift
  case $word in
  --duration) set -- "$@" -n && continue ;;
  --warmup) skip=1 && continue ;;
  --sequential) continue ;;
  esac
  [ -z "${skip-}" ] || { skip= && continue; }
  set -- "$@" "$word"
done
# so many seconds become as many requests
while [ "${1-}" != -n ]; do set -- "$@" "$1" && shift; done
n=$2 && shift 2
[ "$n" -gt 99 ] || n=3000
exec "$real" -n "$n" "$@"
END
chmod +x new
config new.json '"SET"' "$plain,\"duration\":2,\"sequential\":true"
sed -i 's/"warmup":0/"warmup":1/' new.json
test_status 2 'a newer valkey-benchmark' vb --valkey-benchmark-path ./new --runs 1 new.json
test_match '"source":"./new [^"]*--duration 2 .*--warmup 1 --sequential ' .out \
  'a newer valkey-benchmark gets its own options'
test_match 'served only 3[0-9]{3} of [0-9]{5,} requests' .out \
  'the counts of the servers check those of valkey-benchmark'
test_same false "$(jq 'select(.type == "run").env | has("emulated")' .out)" \
  'no option of a newer valkey-benchmark is emulated'
config frac.json '"SET"' "$plain,\"duration\":0.4"
test_that 'a duration with a fraction' \
  vb --valkey-benchmark-path ./new --runs 1 frac.json
test_same '"duration"' "$(jq 'select(.type == "run").env.emulated' .out)" \
  'a fraction of a second is emulated, not passed as a duration'

# Redis 5: its real help text; its CSV has two columns without a header; it has no
# --version and no --seed, and ignores errors.
cat >old <<END
#!/bin/sh
real=$real
END
cat >>old <<'END'
case ${1-} in
--version) echo 'Unrecognized option or bad number of args' >&2 && exit 1 ;;
--help)
  cat <<'HELP'
Usage: redis-benchmark [-h <host>] [-p <port>] [-c <clients>] [-n <requests>] [-k <boolean>]

 -h <hostname>      Server hostname (default 127.0.0.1)
 -p <port>          Server port (default 6379)
 -s <socket>        Server socket (overrides host and port)
 -a <password>      Password for Redis Auth
 -c <clients>       Number of parallel connections (default 50)
 -n <requests>      Total number of requests (default 100000)
 -d <size>          Data size of SET/GET value in bytes (default 3)
 --dbnum <db>       SELECT the specified db number (default 0)
 -k <boolean>       1=keep alive 0=reconnect (default 1)
 -r <keyspacelen>   Use random keys for SET/GET/INCR, random values for SADD
  Using this option the benchmark will expand the string __rand_int__
  inside an argument with a 12 digits number in the specified range
  from 0 to keyspacelen-1.
 -P <numreq>        Pipeline <numreq> requests. Default 1 (no pipeline).
 -e                 If server replies with errors, show them on stdout.
 -q                 Quiet. Just show query/sec values
 --csv              Output in CSV format
 -t <tests>         Only run the comma separated list of tests. The test
HELP
  exit
  ;;
esac
case $* in *--seed*) exit 9 ;; esac
"$real" "$@" | sed -n '2s/^\("[^"]*","[^"]*"\).*/\1/p'
END
chmod +x old
test_that 'an older valkey-benchmark' vb --valkey-benchmark-path ./old --runs 1 set.json
test_same '[true,false,false,false,null]' "$(jq -c 'select(.type == "run") |
  [.metrics.rps > 0, (.metrics | has("p50_latency_ms")), (.run | has("seed")),
  (.env | has("emulated")), .env.benchmark_tool_version]' .out)" \
  'an old valkey-benchmark gives a throughput and nothing else'
for f in tls cluster unix; do
  test_status 2 "$f with it" vb --valkey-benchmark-path ./old --runs 1 $f.json
  test_empty_file .out "$f is refused"
done
test_match "not run: ./old has no '--threads'" .err 'a missing option is named'

# --- which program is used

mkdir -p bin2
ln -s "$real" bin2/valkey-benchmark
test_that 'a path with a folder is used' \
  vb --valkey-benchmark-path bin2/valkey-benchmark \
  --runs 1 set.json
for f in /bin/true /dev/null /nowhere nowhere .; do
  test_status 2 "$f as valkey-benchmark is an error" \
    vb --valkey-benchmark-path "$f" --runs 1 set.json
done
test_match "no program|cannot start|no valkey-benchmark" .err \
  'a valkey-benchmark that cannot be started is an error'
test_status 2 '--valkey-benchmark-path without its engine' \
  vkb-load --valkey-benchmark-path "$real" --runs 1 set.json
test_match "'--valkey-benchmark-path': no case has the engine" .err \
  '--valkey-benchmark-path without its engine is an error'
test_status 2 'an unknown engine is an error' vkb-load --engine memtier set.json
vkb-load --plan set.json </dev/null | sed 's/"native"/"mine"/' >mine
test_status 2 'a case of another engine' vkb-load --runs 1 mine
test_match "not run: there is no engine 'mine'" .err \
  'a case of an unknown engine is not run'
mkdir only
for f in vkb-load vkb-serve; do ln -s "$(command -v $f)" only/$f; done
printf '{"type":"build","v":1,"subject":{"label":"a"},"status":"ok","server":"%s","benchmark":"%s"}\n' \
  "$server" "$real" >builds
test_that 'a build has its own valkey-benchmark if PATH has none' \
  env PATH="$PWD/only" \
  vkb-load --engine valkey-benchmark --builds builds --runs 1 set.json

# --- a failure is a failed run, and other runs are made

# once NAME: the first call runs the script on stdin, others run the real program.
once() {
  { printf '[ -e ok ] && exec "%s" "$@"\n>ok\n' "$real" && cat; } >body
  program "$1" <body
  rm -f ok body
}
failing() {
  once bad
  test_status 2 "$1" vb --valkey-benchmark-path ./bad --runs 2 set.json
  test_match "$2" .out "$1: the record has the reason"
  test_same 'failed ok' "$(jq -r 'select(.type == "run").status' .out |
    paste -s -d ' ' -)" "$1: the others go on"
}
failing crash 'was killed by signal 11 .*one\|two' <<'END'
echo one >&2; echo two >&2; kill -SEGV $$
END
failing status "$version exited with 7: no .*good" <<'END'
printf 'no \033[31mgood\n'; exit 7
END
failing silence 'printed 0 results of .SET. where' </dev/null
failing nothing "$version exited with 4 and printed nothing" <<'END'
exit 4
END
failing garbage 'an invalid result: |printed 0 results' <<'END'
head -c 5000 /dev/urandom
END
failing 'no number' "an invalid result: 'rps' is 'fast', which is not a number" <<'END'
printf '"test","rps"\n"SET","fast"\n'
END
failing 'no requests' 'the servers served only 0 of 2000 requests' <<'END'
printf '"test","rps"\n"SET","123.00"\n'
END
failing 'a flood' 'printed more than 1048576 bytes' <<'END'
exec yes
END
failing 'a server that ends' 'cannot read what the server at 127.0.0.1:[0-9]+ counts: INFO: ' <<'END'
at=$(printf '%s\n' "$@" | grep -A 1 -x -e -p | tail -n 1)
valkey-cli -p "$at" shutdown nosave
printf '"test","rps"\n"SET","123.00"\n'
END
failing 'zero' 'printed a result without a throughput' <<'END'
printf '"test","rps"\n"SET","0.00"\n'
END
once hang <<'END'
exec tail -f /dev/null
END
test_status 2 'a valkey-benchmark that hangs is an error' \
  vb --valkey-benchmark-path ./hang --runs 2 \
  --timeout 500ms set.json
test_match "'./hang' sent nothing for 0.5 s" .out \
  'a valkey-benchmark that hangs is ended after --timeout'
test_same 'failed ok' "$(jq -r 'select(.type == "run").status' .out |
  paste -s -d ' ' -)" 'other runs are made after a program that hangs'
once spin <<'END'
while :; do :; done
END
test_status 2 'a valkey-benchmark that only spins is an error' \
  vb --valkey-benchmark-path ./spin --runs 1 --timeout 500ms set.json
test_match "'./spin' sent nothing for 0.5 s" .out \
  'a valkey-benchmark that only spins is ended after --timeout'
program full <<'END'
at=$(printf '%s\n' "$@" | grep -A 1 -x -e -p | tail -n 1)
{
  echo config set maxclients 1
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo set a b
    sleep .1
  done
  echo config set maxclients 10000
} | valkey-cli -p "$at" >said
exec "$real" "$@"
END
test_that 'a load that uses all connections is measured' \
  vb --valkey-benchmark-path ./full --runs 1 --timeout 500ms set.json
test_match '^OK' said 'the server had no more connections'
program spawn <<'END'
tail -f /dev/null & echo $! >child
exec tail -f /dev/null
END
test_status 2 'a valkey-benchmark whose child hangs is an error' \
  vb --valkey-benchmark-path ./spawn --runs 1 --timeout 500ms set.json
test_that 'the child of valkey-benchmark is ended as well' \
  wait_until 10 gone "$(cat child)"

# --- the program does not outlive vkb-load

program slow <<'END'
echo $$ >pid
exec tail -f /dev/null
END
for sig in TERM KILL; do
  rm -f pid
  vkb-load --engine valkey-benchmark --valkey-benchmark-path ./slow --runs 1 \
    set.json >k 2>k.err &
  load=$!
  test_that "$sig: it runs" wait_until 20 test -s pid
  kill -$sig "$load"
  wait "$load" 2>/dev/null
  test_that "$sig: the program has ended" wait_until 10 gone "$(cat pid)"
  test_litter 10 "$sig: no file is left"
  test_empty_file k "$sig: no run is written"
done

# --- sessions work as with the native engine

# shellcheck disable=SC2016 # for that shell
test_that 'builds are interleaved' sh -c 'for l in old new; do
  printf "{\"type\":\"build\",\"v\":1,\"subject\":{\"label\":\"%s\"},\"status\":\"ok\",\"server\":\"%s\"}\n" \
    $l '"$server"'; done >two
  vkb-load --engine valkey-benchmark --builds two --runs 2 set.json >ab'
test_same '[1,1,2,2]' \
  "$(jq -c -s 'map(select(.type == "run").run.block)' ab)" \
  'the builds take turns in blocks'
vb --runs 1 --resume res set.json 2>.err
test_that 'a session is resumed' vb --runs 3 --resume res set.json
test_match '1 of 3 runs are finished already' .err \
  'the runs that are finished are not repeated'
test_same 3 "$(grep -c '"status":"ok"' res)" \
  'a resumed session has all its runs'
test_that 'a budget is accepted' vb --runs 3 --budget 1ms set.json
test_same 3 "$(grep -c '"status":"ok"' .out)" 'the least runs are made'
test_match 'SET \([a-z_]+ \+-.* %, margin 2 %' .err 'the case is undecided'

# --- a profile has enough time, whatever the case has

if command -v perf >/dev/null; then
  test_that 'a case with requests is profiled' \
    vkb-load -q --engine valkey-benchmark --profiles p --profile-time 1s set.json
  test_same 'profile ok' "$(jq -r '[.type, .status] | join(" ")' .out)" \
    'the profile of a case with requests has its record'
  test_same true "$(jq '.requests > 2000' .out)" \
    'the load makes as many requests as the profile needs'
else
  test_skip 'a case with requests is profiled' perf
fi

# --- a server that vkb-load did not start

# shellcheck disable=SC2016 # for that shell
test_status 0 'a running server' vkb-serve --unixsocket -- sh -c '
  vkb-load --engine valkey-benchmark --host $VKB_HOST --port $VKB_PORT \
    --runs 1 --case "SET*" '"$scratch"'/c.json'
test_same '"ok"' "$(jq 'select(.type == "run").status' .out)" \
  'the run on the running server is ok'
test_status 2 'a password for a running server is refused' env VKB_PASSWORD=x \
  vkb-load --engine valkey-benchmark --port 1 --runs 1 set.json
test_litter 0 'no server, socket or folder is left'

test_done
