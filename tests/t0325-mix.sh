#!/bin/sh
# Mixes: a load that draws its requests from several commands by weight. The results of
# each command are recorded separately, and add up to those of the mix.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"
test_server mixes

cat >single <<'SCRIPT'
. "$tests/wait.sh"
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
calls() { cli info commandstats | tr -d '\r' | sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p"; }
run() { "$ENGINE" -p "$VKB_PORT" --seed 5 "$@"; }
# start OUT OPTION...: starts a load in the background, and returns when the server has
# got requests.
start() {
  out=$1; shift
  cli config resetstat >/dev/null
  run "$@" >"$out" 2>"$out.err" &
  load=$!
  until [ "0$(calls get)" -gt 200 ] || ! kill -0 $load 2>/dev/null; do :; done
}
end() { wait $load; echo $? >"$out.status"; }
kick() { cli client kill type normal skipme yes >/dev/null; }
run --mix 'GET 1' -r 1000 --only-fill
cli config resetstat >/dev/null
run --mix 'GET 90 SET 10' --spec zipf -n 60000 -P 16 -c 7 -T 2 -r 1000 >closed
echo "$(calls get) $(calls set)" >closed.calls
run --mix 'GET 90 SET 10' -n 5000 -P 16 -c 1 -r 1000 >first
run --mix 'GET 90 SET 10' -n 5000 -P 16 -c 1 -r 1000 >second
run --mix 'GET 3 SET 1' --in-order -n 4000 -c 1 -r 1000 >turn
run --mix 'GET 90 SET 10' -w 0.1 -D 0.3 -P 3 -c 3 >warm
run --mix 'GET 9 SET 1' -R 4000 --poisson -D 0.5 -P 4 -c 3 >open
run --mix "GET 9, 'EVAL \"local n=0 for i=1,3000000 do n=n+i end return n\" 0' 1" -c 1 -n 100 -r 1000 >slow
run --mix "'GET a' 1, 'LPUSH key:__rand_int__ x' 3" -n 4000 -P 7 -c 2 -r 1000 >errors
run --mix "GET 2, 'GET none:__rand_int__' 1, 'EXISTS none:__rand_int__' 1, 'BITCOUNT none' 1" \
  -n 5000 -P 20 -c 3 -r 1000 >hits
run --mix "'MULTI; INCR n:{key}; INCR n:{key}; EXEC' 1, 'GET n:{key}' 3" -n 6000 -P 7 -c 3 -r 10 >multi
cli eval 'local n = 0
  for _, k in ipairs(redis.call("keys", "n:*")) do n = n + redis.call("get", k) % 2 end
  return n' 0 >multi.odd
run --mix "GET 1, 'GET none' 1" -d 300000 -r 3 --only-fill
run --mix "GET 1, 'GET none' 1" -n 300 -P 5 -c 2 -r 3 >torn
cli flushall >/dev/null
cli monitor >monitor &
monitor=$!
wait_until 60 grep OK monitor
run --mix "GET 70 SET 20, 'HSET h:{key} a __data__ b __data__' 9.5, 'EXISTS {key}' 0.5" -n 20000 -P 9 -c 1 \
  -r 10 -d 37 >shares
run --mix "SET 1, 'SET e:{key} __data__ EX __int:30:50__' 1, 'EXPIRE h:{key} 900' 1" -n 3000 -r 10 \
  --ttl 1000-2000 --values 21-34 >ttl
cli echo finished >/dev/null
wait_until 60 grep finished monitor
kill $monitor
cli eval 'local bad, all = {}, redis.call("keys", "*")
  for _, k in ipairs(all) do
    local ttl, kind = redis.call("ttl", k), string.sub(k, 1, 2)
    local low, high = 900, 2000
    if kind == "e:" then low, high = 1, 50 elseif kind == "h:" then low, high = 800, 900 end
    local n = kind == "h:" and redis.call("hstrlen", k, "b") or redis.call("strlen", k)
    if ttl < low or ttl > high or n < (kind == "h:" and 37 or 21) or n > (kind == "h:" and 37 or 34) or
      kind == "h:" and redis.call("hlen", k) ~= 2 then
      bad[#bad + 1] = k .. " ttl " .. ttl .. " size " .. n
    end
  end
  bad[#bad + 1] = #all .. " keys"
  return bad' 0 >wrote
start kicked --mix 'GET 9 SET 1' -D 30 -c 5 -P 4; kick; end
start budget --mix 'GET 9 SET 1' -D 1 -c 5 -P 4 --max-lost 100; kick; end
start open.kicked --mix 'GET 9 SET 1' -D 1 -R 4000 -c 5 -P 4 --max-lost 100; kick; end
# One request of 400 breaks all other connections.
kill='CLIENT KILL TYPE normal SKIPME yes'
for how in closed open; do
  rate=; [ $how = closed ] || rate='-R 4000'
  run --mix "'MULTI ; INCR t:{key} ; INCR t:{key} ; EXEC' 200, GET 199, '$kill' 1" -n 4000 $rate -c 7 -P 3 \
    -r 10 --max-lost 1000 >cut.$how 2>cut.$how.err
done
cli eval 'local n = 0
  for _, k in ipairs(redis.call("keys", "t:*")) do n = n + redis.call("get", k) % 2 end
  return n' 0 >cut.odd
start hung --mix 'GET 9 SET 1' -D 2 -c 5 -P 3 --timeout 1
kill -STOP "$VKB_PID"; end; kill -CONT "$VKB_PID"
SCRIPT
ENGINE=$engine
export ENGINE
test_that 'mixes on one server' vkb-serve -q -- sh -u ./single

# of PART NAME FILE: prints a number of one command.
of() { awk -v p="$1" -v n="$2" '/^part / {on = substr($0, 6) == p} on && $1 == n {print $2}' "$3"; }
# sums FILE NAME...: checks that the numbers of the commands add up to those of the mix.
sums() {
  sums_file=$1
  shift
  for name; do
    test_same "$(awk -v n="$name" '/^part / {exit} $1 == n {print $2}' "$sums_file")" \
      "$(awk -v n="$name" '/^part / {on = 1} on && $1 == n {s += $2} END {print s + 0}' "$sums_file")" \
      "$sums_file: $name of the commands add up to that of the whole"
  done
}

for run in closed warm open slow errors hits multi torn hung budget open.kicked; do
  sums $run requests recorded refused lost unanswered
done
for run in closed warm open slow errors hits multi torn hung; do
  sums $run errors_total # lost connections are errors of the mix
done
test_same "$(of GET requests closed) $(of SET requests closed)" "$(cat closed.calls)" \
  'the server got as many requests as were counted'
# Of 60000 requests 10 % are SET: 6 standard deviations are 441.
test_that 'the commands have the shares of their weights' \
  test "$(of SET requests closed)" -gt 5559 -a "$(of SET requests closed)" -lt 6441
test_same "$(of SET requests first)" "$(of SET requests second)" \
  'the same seed draws the same commands'
test_same '3000 1000' "$(of GET requests turn) $(of SET requests turn)" \
  'in turn the shares are exact'
test_that 'the latency of a slow command is in its own histogram' \
  awk -v get="$(of GET p50_ms slow)" -v slow="$(awk '/^part EVAL/ {on = 1} on && $1 == "min_ms" {print $2}' slow)" \
  'BEGIN {exit !(get > 0 && slow > 2 && get < slow)}'
test_same "0 $(of 'LPUSH key:__rand_int__ x' requests errors)" \
  "$(of 'GET a' errors_total errors) $(of 'LPUSH key:__rand_int__ x' refused errors)" \
  'an error is counted for its command'
test_same '100 0 0  ' "$(of GET hit_rate_percent hits) $(of 'GET none:__rand_int__' hit_rate_percent hits) $(
  of 'EXISTS none:__rand_int__' hit_rate_percent hits) $(of 'BITCOUNT none' hit_rate_percent hits) " \
  'each command has its hit rate; a reply of 0 is a miss only for some commands'
# shellcheck disable=SC2016 # $1 and $2 are awk's
test_that 'the hit rate of the mix is that of its reads' awk -v n="$(of GET requests hits)" \
  -v none="$(of 'GET none:__rand_int__' requests hits)" \
  -v exists="$(of 'EXISTS none:__rand_int__' requests hits)" '$1 == "hit_rate_percent" {
    d = $2 - 100 * n / (n + none + exists); exit !(d * d < 1e-6)}' hits
test_same '0 0' "$(value errors_total multi | head -n 1) $(cat multi.odd)" \
  'the commands of a transaction follow each other and have the same key'
test_same '100 0' "$(of GET hit_rate_percent torn) $(of 'GET none' hit_rate_percent torn)" \
  'hits are counted right if replies arrive in pieces'
for how in closed open; do
  test_same '0 0' "$(value refused cut.$how | head -n 1) $(cat cut.odd)" \
    "transactions stay whole when connections break, in $how loop"
  test_that "connections broke in $how loop" test "$(value reconnects cut.$how | head -n 1)" -gt 2
  sums cut.$how requests refused lost unanswered
done
test_same '2 0 0 2' "$(cat kicked.status) $(cat budget.status) $(cat open.kicked.status) $(
  cat hung.status)" 'lost requests fail a mix like other loads'
# The load is not the command of vkb-serve, which ends that with the server.
# shellcheck disable=SC2016 # its shell expands them
vkb-serve -q -- sh -c 'echo "$VKB_PORT $VKB_PID" >at; mv at ready; exec tail -f /dev/null' 2>serve.err &
wait_until 60 test -e ready
read -r port pid <ready
"$engine" -p "$port" --mix 'GET 9 SET 1' -D 30 -c 5 >dead 2>dead.err &
load=$!
counted() { valkey-cli -p "$port" info commandstats | grep -q cmdstat_set; }
wait_until 60 counted
kill -KILL "$pid"
wait "$load"
test_match 'lost the connection to .* 5 lost' dead.err 'a killed server fails a mix'
test_match "lost the connection to '.*' during GET 9 SET 1" kicked.err 'the message names the mix'
test_that 'lost requests are counted for their commands' test "$(of GET lost budget)" -gt 0

# What the server got is compared with the options: chi-squared with 3 and 9 degrees of
# freedom is above 16.3 and 27.9 once in a thousand seeds.
cat >shares.pl <<'END_PERL'
my (%n, %keys, $all);
while (<STDIN>) {
  last if /"SET" "e:/ or /"(?:EX|EXPIRE)"/;
  next unless /^\S+ \[0 \S+\] "(GET|SET|HSET|EXISTS)" "(?:h:)?key:0*?(\d)"/;
  $n{$1}++; $keys{$2}++; $all++;
}
sub chi { my ($n, %share) = @_; my $x = 0;
  $x += (($n->{$_} // 0) - $all * $share{$_}) ** 2 / ($all * $share{$_}) for keys %share; $x }
my $x = chi(\%n, GET => .7, SET => .2, HSET => .095, EXISTS => .005);
my $y = chi(\%keys, map { $_ => .1 } 0 .. 9);
print "# ", join(' ', map { "$_ $n{$_}" } sort keys %n), ", chi-squared $x, of keys $y\n";
print "$all ", ($x < 16.3 ? 1 : 0), ' ', ($y < 27.9 ? 1 : 0), "\n";
END_PERL
perl shares.pl <monitor >shares.got
grep '^#' shares.got
test_same '20000 1 1' "$(grep -v '^#' shares.got)" 'MONITOR shows the requested shares of commands and keys'
test_same '30 keys' "$(xargs <wrote)" 'the written values have the requested sizes, fields and times to live'

cat >threads <<'SCRIPT'
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
cli config get io-threads | xargs >io
"$ENGINE" -p "$VKB_PORT" --mix 'GET 50 SET 45 MSET 5' --verify --values 10-2000 -n 40000 -P 16 -c 20 -T 2 -r 1000 >io.mix
for name in get set mset; do
  cli info commandstats | tr -d '\r' | sed -n "s/^cmdstat_$name:calls=\([0-9]*\),.*/\1/p"
done | xargs >io.calls
SCRIPT
test_that 'a server with I/O threads' vkb-serve -q --config io-threads=3 -- sh -u ./threads
test_same 'io-threads 3' "$(cat io)" 'the server has three I/O threads'
test_same '0 0 0' "$(value errors_total io.mix) $(value wrong io.mix) $(value lost io.mix)" 'it answers all requests of a mix'
test_that 'values that are read are those that were written' test "$(value checked io.mix)" -gt 10000
test_same "$(of SET requests io.mix) $(of MSET requests io.mix)" "$(cut -d' ' -f2- io.calls)" \
  'it counted each write once'

cat >nodes <<'SCRIPT'
ports=
for node in $VKB_NODES; do ports="$ports -p ${node#*:}"; done
run() { "$ENGINE" $ports --cluster --seed 5 "$@"; }
all() { for node in $VKB_NODES; do valkey-cli -p "${node#*:}" "$@"; done; }
run --mix 'GET 8 SET 1 LPUSH 1 SADD 1' --fill -n 20000 -P 5 -c 6 -T 2 -r 3000 --spec zipf >cluster
run --mix "GET 1, 'INCR n:__seq__' 1" -n 4000 -P 5 -c 6 -r 100 >moved
all eval 'local n = 0
  for _, k in ipairs(redis.call("keys", "n:*")) do n = n + redis.call("get", k) end
  return n' 0 | awk '{s += $1} END {print s}' >moved.sum
run --mix "GET 1, 'INCR m:__seq__' 1" -R 3000 -D 0.5 -P 5 -c 6 -r 100 >moved.open
SCRIPT
test_that 'mixes in a cluster' vkb-serve -q --primaries 3 -- sh -u ./nodes
for run in cluster moved moved.open; do
  sums $run requests recorded errors_total refused
done
test_same '0 100' "$(value errors_total cluster | head -n 1) $(of GET hit_rate_percent cluster)" \
  'keys are found on their nodes'
test_same "$(of 'INCR n:__seq__' requests moved) 0" \
  "$(cat moved.sum) $(of GET errors_total moved)" \
  'redirected requests are made once, and counted for their command'
test_that 'redirections are counted for their command' \
  test "$(of 'INCR n:__seq__' errors_total moved)" -gt 0 -a \
  "$(of 'INCR m:__seq__' errors_total moved.open)" -gt 0

# --- records, and programs that read them

build() { printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"ok","server":"valkey-server"}\n' "$1"; }
{ build a; build b; } >builds
set -- -q --mix 'GET 90 SET 10' -c 4 -r 100 -P 8
test_that 'two builds in slices' vkb-load "$@" --builds builds --runs 4 --duration 0.1 -o runs
test_same '[["GET",8],["SET",8],["mix",8]]' "$(jq -cs 'map(select(.type == "run" and .status == "ok"))
  | group_by(.config.command) | map([.[0].config.command, length])' runs)" \
  'there is a record for the mix, and one for each command'
test_same true "$(jq -cs 'map(select(.type == "run")) | [_nwise(3)] | all(
  (map(select(.config.command == "mix"))[0]) as $all | map(select(.config.command != "mix")) |
  (map(.metrics.requests) | add) == $all.metrics.requests and
  ((map(.metrics.rps) | add) / $all.metrics.rps - 1 | fabs) < 1e-9 and
  all(.config.mix == "GET 90, SET 10" and .metrics.p99_latency_ms > 0 and .hist.latency_ns and
    .bound == $all.bound and .subject == $all.subject and .env == $all.env and
    .metrics.foreign_cpu_percent == $all.metrics.foreign_cpu_percent and
    .metrics.steal_percent == $all.metrics.steal_percent and (.metrics | has("client_cpu_us_per_req") | not) and (.run | has("overlap_percent") | not)) and
  $all.metrics.client_cpu_us_per_req > 0)' runs)" 'the rates of the commands add up'
test_that 'vkb-stats with records of a mix' sh -c 'vkb-stats runs | vkb-stats --text'
test_match 'mix.GET 90, SET 10' .out 'the table has the mix'
# Both servers are the same; a few comparisons in a hundred raise a false alarm.
vkb-compare -b a --on-insufficient ok -f jsonl:deltas runs >.out 2>.err
test_same '[true] 0' "$(jq -cs 'map(select(.type == "delta").paired) | unique' deltas) \
$(grep -c 'Not paired' .out)" 'the runs are paired'
test_that 'the session is resumed' vkb-load "$@" --builds builds --runs 4 --duration 0.1 --resume runs
test_same 24 "$(grep -c '"type":"run"' runs)" 'no run is made again'
vkb-load -q --runs 1 --duration 0.2 - >tls <<'END_JSON'
{"mix": "GET 1 SET 1", "keyspacelen": [100], "clients": [3], "rate": 2000, "tls_mode": true}
END_JSON
test_same '["mix","GET","SET"]' "$(jq -cs 'map(select(.status == "ok").config.command)' tls)" \
  'a mix with a rate and TLS'
test_status 2 'a mix fails if one of its commands is refused' vkb-load -q --runs 1 -n 20000 -r 10 \
  --mix "SET 999, 'LPUSH key:__rand_int__ x' 1"
test_match "LPUSH key:__rand_int__ x: [0-9]+ of [0-9]+ requests were refused: WRONGTYPE" .err 'the error names the command'
test_status 2 'a mix fails if a frequent command is refused' vkb-load -q --runs 1 -n 2000 -r 10 \
  --mix "SET 1, 'LPUSH key:__rand_int__ x' 1"
test_match "LPUSH key:__rand_int__ x: [0-9]+ of [0-9]+ requests were refused: WRONGTYPE" .err \
  'the error names the command, not the mix'
test_status 2 'valkey-benchmark has no mixes' vkb-load -q --engine valkey-benchmark --runs 1 "$@" \
  --set latency=batch-first-byte
test_match 'mixes need the engine of vkb-load' .err 'the error says that valkey-benchmark cannot make mixes'
echo '{"mix": "GET 1.5 SET 1", "mix_order": "turn"}' >broken.json
test_status 2 'fractions as weights of a mix in turn' vkb-load -q --runs 1 broken.json
test_match 'not run: weights must be whole numbers for commands in turn' .err 'the error says that weights must be whole numbers'
cat >mixed.json <<'END_JSON'
{"scenarios": [{"id": "m", "type": "mixed", "requests": 9, "writes": [{"test": "set"}], "reads": [{"test": "get"}]}]}
END_JSON
test_status 2 '--mix for a mixed scenario' vkb-load --plan --mix 'GET 1' mixed.json
test_match "mixed.json: .*scenarios.0.: Cannot specify both 'mix' and 'writes' or 'reads'" .err 'the error names the scenario'
# The library that counting needs is built together with all programs.
if command -v valgrind >/dev/null; then
  test_that 'a mix is counted' vkb-load -q --count-only -o counts "$@"
  test_same '[["mix",true]]' "$(jq -cs 'map(select(.type == "run")) |
    group_by(.config.command) | map([.[0].config.command,
      (length == 2 and .[0].metrics.instructions_per_req == .[1].metrics.instructions_per_req)])' counts)" \
    'the mix is one case, and each server needs the same number of instructions'
else
  test_skip 'a mix is counted' valgrind
fi

# --- a configuration on the command line

test_that 'letters of valkey-benchmark' vkb-load --plan -t set,get -P 1,10 -d 256 -c 50 -n 100000 -r 10000
test_same '["SET-d256-P1-c50-k10000","GET-d256-P1-c50-k10000","SET-d256-P10-c50-k10000","GET-d256-P10-c50-k10000"] 100000' \
  "$(jq -cs 'map(.id)' .out) $(jq -s '.[0].config.requests' .out)" 'the options of valkey-benchmark have the same meaning'
test_same '["GET-d3-P1-c50-k1000000",1]' "$(vkb-load --plan -t get | jq -c '[.id, .config.duration_s]')" \
  'one option is enough'
test_same '["SET-d3-P1-c50-k1000000","GET90+SET10-d3-P1-c50-k1000000"]' \
  "$(vkb-load --plan -t set --mix 'get 90, set 10' | jq -cs 'map(.id)')" 'a test and a mix'
long=$(i=0; while [ $((i += 1)) -lt 41 ]; do printf "'HSET a-long-name-%s:{key} f __data__' 1 " "$i"; done)
sizes=$(i=0; while [ $((i += 1)) -lt 32 ]; do printf '%d:1,' "$((i * 10000))"; done)
printf '{"mix":["%s","%s%s"],"values":"%s9:1"}' "$long" "$long" "'PING a' 1" "$sizes" >long.json
test_that 'mixes of 40 and of 41 commands' vkb-load --plan long.json
test_same '[true,2,true]' "$(jq -cs '[all(.id | length < 200), (map(.id) | unique | length),
  (.[0].id | test("_more-"))]' .out)" 'their ids are short, and differ'
test_status 2 'a test under both of its names' vkb-load --plan --mix 'LRANGE 1 lrange_100 2'
test_match "invalid mix .*: 'LRANGE_100' comes twice" .err 'the error says that the test is there twice'
test_status 2 '-t with a FILE' vkb-load --plan -t set mixed.json
test_match "'-t' and '--command' say what to measure, and so does FILE" .err 'the error says to use one of the two'
test_status 2 '-P with a FILE' vkb-load --plan -P 5 mixed.json
test_status 2 'a pipeline of 0' vkb-load --plan -t set -P 1,0
test_match "option '-P': pipelines=1,0: 'pipelines' must be a list of positive integers, not 0" .err 'the error names the option'
test_status 2 'an unknown test' vkb-load --plan -t set,gett
test_match "option '-t': no test is called 'gett', did you mean 'GET'[?] [(]the tests are PING_INLINE," .err 'the error names the unknown test'

# --- the mixes in configs

for file in "$top"/configs/ycsb-?.json "$top"/configs/cache.json "$top"/configs/session.json \
  "$top"/configs/queue.json "$top"/configs/leaderboard.json; do
  jq '.[0].keyspacelen = [500]' "$file" >small.json
  name=$(basename "$file" .json)
  test_that "$name has a plan" vkb-load --plan "$file"
  vkb-load -q --runs 1 --warmup 0 -n 400 small.json >out 2>err
  test_same true "$(jq -s 'map(select(.type == "run")) | length > 1 and
    all(.status == "ok" and .metrics.errors == 0)' out)" "$name runs"
  jq '.[0] += {cluster_mode: true, cluster_nodes: 3}' small.json >clustered.json
  if [ "$name" = ycsb-d ]; then
    test_status 2 "$name in a cluster is refused" vkb-load -q --runs 1 clustered.json
    test_match 'in a cluster __seq__ goes to any node, so the latest keys cannot be found' .err 'the error has the reason'
    continue
  fi
  vkb-load -q --runs 1 --warmup 0 -n 400 clustered.json >out 2>err
  test_same true "$(jq -s 'map(select(.type == "run")) | length > 1 and
    all(.status == "ok" and .metrics.errors == 0)' out)" "$name runs in a cluster, and each key is found at once"
  test_same 100 "$(jq -s 'map(.metrics.hit_rate_percent // 100) | min | if . > 90 then 100 else . end' out)" \
    "$name: in a cluster reads find their keys"
done
test_done
