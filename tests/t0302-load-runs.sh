#!/bin/sh
# vkb-load measures new servers, clusters, TLS, several builds, and servers that it did
# not start. The runs are short, and their results are not judged here.
. "${0%/*}/lib.sh"

test_server vkb-load
base='"keyspacelen":[100],"data_sizes":[16],"pipelines":[4],"clients":[3],"cluster_mode":false,"tls_mode":false,"warmup":0'
printf '[{"commands":["SET","GET"],%s,"requests":[2000]}]\n' "$base" >c.json

# --- a new server for each run

test_that 'two cases are run twice' vkb-load --runs 2 c.json
test_absent 'run [12]/2|req/s' .err 'no progress of each run is printed without a terminal'
test_same 1 "$(grep -cE '^vkb-load: round 1/2 done, [0-9]+ s left$' .err)" 'a line is printed for each round'
cp .out runs
test_same 4 "$(wc -l <runs | tr -d ' ')" '2 cases, 2 runs'
test_same '"ok"' "$(jq -c .status runs | sort -u)" 'all runs are ok'
test_same '[["SET",1],["GET",1],["SET",2],["GET",2]]' \
  "$(jq -c -s 'map([.config.command, .run.index])' runs)" \
  'the cases take turns in each round'
test_same 'true' "$(jq -s 'all(.[]; .metrics.rps > 0 and
  .metrics.requests >= 2000 and .metrics.errors == 0 and
  .metrics.lost == 0 and .metrics.unanswered == 0 and .metrics.reconnects == 0 and
  .metrics.used_memory_bytes > 0 and .metrics.p99_latency_ms > 0 and
  (.hist.latency_ns | startswith("HIST")) and
  (.bound | IN("server","client","neither")))' runs)" 'the figures are there'
test_same true "$(jq -s 'all(.[]; .subject.server_version and
  (.subject.binary_sha256 | length) == 64 and .run.seed > 0 and
  .run.seed < 4294967296 and
  .env.arch and .env.cpus > 0 and .run.block == .run.index)' runs)" \
  'a run has its subject, host, times and machine'
test_same '[1,2,3,4]' "$(jq -c -s 'map(.run.order)' runs)" 'run.order is the order of the runs'
test_same true "$(jq -s 'all(.[]; .metrics | has("bytes_per_key") | not)' runs)" \
  'with 100 keys no bytes per key are given'
jq '.[0].commands = ["SET"] | .[0].keyspacelen = [4000] | .[0].requests = [40000] |
  .[0].data_sizes = [16, 64]' c.json >keys.json
vkb-load --runs 1 keys.json >keyed
test_same true "$(jq -s 'sort_by(.config.data_size) | map(.metrics.bytes_per_key) |
  length == 2 and .[0] > 30 and .[0] < 300 and .[1] - .[0] > 30 and
  .[1] - .[0] < 80' keyed)" 'bytes per key, 48 more where values are so much larger'
# Without /dev/urandom, and with each session as the first process of its PID namespace.
cat >bare.sh <<'END'
mount --bind /dev/null /dev/urandom || exit
exec vkb-load --seed 1 --runs 1 --server false c.json 2>/dev/null
END
if unshare -rmpf true 2>/dev/null; then
  for i in 1 2; do unshare -rmpf sh bare.sh; done | jq -r 'select(.type == "run").run.session' |
    sort -u >names
  test_same 2 "$(wc -l <names | tr -d ' ')" \
    'sessions have different names without /dev/urandom'
else
  test_skip 'sessions without /dev/urandom' unshare
fi
test_same 1 "$(jq -r .run.session runs | sort -u | wc -l | tr -d ' ')" \
  'all runs are of one session'
vkb-load --plan c.json </dev/null | jq -c .config | sort >want
jq -c .config runs | sort -u >got
test_that 'the configurations of the runs are those of the plan' cmp want got
vkb-load --plan c.json </dev/null >plan
test_that 'the cases of a plan are run' vkb-load --runs 1 plan
test_same 2 "$(grep -c '"status":"ok"' .out)" \
  'a plan runs the same cases as its configuration'
test_that '-o appends' vkb-load -o out --runs 1 --case 'SET*' c.json
test_that '-o appends again' vkb-load -o out --runs 1 --case 'SET*' c.json
test_same 2 "$(wc -l <out | tr -d ' ')" 'the file has both runs'
test_that '-v' vkb-load -v --runs 1 --case 'SET*' c.json
test_match '^vkb-load: SET run 1/1: .* req/s, p50 .* ms, p99' .err \
  '-v prints a line for each run'
test_that '--duration and --warmup are accepted' \
  vkb-load --runs 1 --duration 1s --warmup 100ms \
  --case 'SET*' c.json
test_same true "$(jq '.config.duration_s == 1 and .metrics.elapsed_s > 0.9' \
  .out)" '--duration replaces the requests of the configuration'
test_same true "$(jq '.metrics | def near(a; b): a > .8 * b and a < 1.25 * b;
  (.requests / .elapsed_s / 1e4) as $k |
  near(.client_cpu_us_per_req * $k; .client_busy_percent) and
  near(.server_cpu_us_per_req * $k; .server_busy_percent)' .out)" \
  'the CPU time of all requests is the busy share of a thread'
test_that '--seed' vkb-load --seed 7 --runs 2 --case 'SET*' c.json
jq -c .run.seed .out >seeds
test_that '--seed is accepted a second time' \
  vkb-load --seed 7 --runs 2 --case 'SET*' c.json
test_same "$(cat seeds)" "$(jq -c .run.seed .out)" \
  'the same --seed gives the same seeds of runs'
test_same 2 "$(sort -u seeds | wc -l | tr -d ' ')" \
  'each repetition has its own seed'
sed 's/"keyspacelen":\[100\],"data_sizes":\[16\]/"keyspacelen":[100000],"data_sizes":[5000],"config_sets":[{"maxmemory":"4mb","maxmemory-policy":"noeviction"}]/' \
  c.json >oom.json
test_status 2 'a server that is out of memory is an error' \
  vkb-load --runs 1 --case 'SET*' oom.json
test_match 'of 2000 requests were refused.*OOM command not allowed' .out \
  'refused requests make a run fail'
test_same '["failed",2000,true]' "$(jq -c '[.status, .metrics.requests,
  .errors.OOM > 20]' .out)" 'a failed run keeps its metrics'
test_that 'open loop' vkb-load --set rate=2000 --duration 500ms --runs 1 \
  --case 'SET*' c.json
test_same true "$(jq '(.hist | has("service_ns")) and
  (.metrics.offered_rps - 2000 | fabs) < 20' .out)" 'an open loop offers its rate'

printf '[{"commands":["SET"],%s,"requests":[2000],"config_sets":[{"maxmemory":"77mb"}],"custom-server-configs":{"maxclients":100},"unixsocket":true,"aslr":false,"server_cpu_range":"0","client_cpu_range":"1"}]\n' \
  "$base" >full.json
if [ "$(nproc)" -gt 1 ]; then
  test_that 'many settings in one configuration' vkb-load --runs 1 full.json
  test_same '["ok","0","1","disabled"]' "$(jq -c '[.status, .env.server_cpus,
    .env.client_cpus, .env.aslr]' .out)" 'the pinning is in env'
else
  test_skip 'pinning' 'two CPUs'
fi
sed 's/"server_cpu_range":"0"/"server_cpu_range":"1000"/' full.json >far.json
test_status 2 'CPUs that this machine lacks are an error' vkb-load far.json
test_match 'this machine lacks some of the CPUs "1000"' .err \
  'the error names the CPUs that this machine lacks'
test_that 'CPUs that this machine lacks may be planned' vkb-load --plan far.json

printf '[{"commands":["SET","GET"],%s,"requests":[2000]}]\n' \
  "$base" | sed 's/"tls_mode":false/"tls_mode":true/' >tls.json
test_that 'TLS' vkb-load --runs 1 tls.json
test_same '[true,"ok"]' "$(jq -c '[.config.tls_mode, .status]' .out |
  sort -u)" 'all runs with TLS are ok'
printf '[{"commands":["SET","GET","MSET"],%s,"requests":[2000],"cluster_nodes":3}]\n' \
  "$base" | sed 's/"cluster_mode":false/"cluster_mode":true/' >cluster.json
test_that 'cluster' vkb-load --runs 1 cluster.json
test_same '[true,3,"ok",0]' "$(jq -c '[.config.cluster_mode,
  .config.cluster_nodes, .status, .metrics.errors]' .out | sort -u)" \
  'all runs on a cluster are ok'

odd="$scratch/it's \"odd\""
mkdir "$odd"
test_that 'TLS in a folder with an odd name' env TMPDIR="$odd" vkb-load \
  --runs 1 tls.json
sed 's/"requests"/"unixsocket":true,"requests"/' c.json >unix.json
sed 's/"requests"/"resp3":true,"requests"/' c.json >resp3.json
test_that 'RESP3' vkb-load --runs 1 resp3.json
test_same '["ok",0,true]' \
  "$(jq -c '[.status, .metrics.errors, .config.resp3]' .out | sort -u)" 'all runs with RESP3 are without errors'
test_that 'a unix socket is used in a folder with an odd name' \
  env TMPDIR="$odd" vkb-load --runs 1 unix.json

sed 's/"requests"/"custom-server-configs":{"requirepass":"s3cret"},"requests"/' \
  c.json >auth.json
VKB_PASSWORD=other
export VKB_PASSWORD
test_that 'a server that has a password' vkb-load --runs 1 auth.json
unset VKB_PASSWORD
test_same '{"requirepass":"***"}' "$(jq -c .config.server_config .out |
  sort -u)" 'the password is not in the records'
test_same 0 "$(cat .out .err | grep -c s3cret)" \
  'the password is neither printed nor recorded'

# --- several builds

build() { # build LABEL STATUS SERVER
  printf '{"type":"build","v":1,"subject":{"label":"%s"},"status":"%s","server":"%s"}\n' \
    "$1" "$2" "$3"
}
{ build a ok "$server"; build b ok "$server"; } >builds
test_status 2 'a list of builds without one' vkb-load --builds /dev/null c.json
test_match '/dev/null has no build that can be measured' .err 'the message says so'
test_that 'two builds' vkb-load --builds builds --runs 3 c.json
cp .out runs
test_same 12 "$(wc -l <runs | tr -d ' ')" 'two builds: there are 2 x 2 x 3 runs'
test_same true "$(jq -s '[range(0; length; 2) as $i | .[$i], .[$i + 1]] as $r |
  [range(0; 12; 2)] | all(. as $i | $r[$i].run.block == $r[$i + 1].run.block
    and $r[$i].run.index == $r[$i].run.block
    and $r[$i].config == $r[$i + 1].config
    and $r[$i].run.seed == $r[$i + 1].run.seed
    and $r[$i].subject.label != $r[$i + 1].subject.label)' runs)" \
  'two builds: the runs of a pair follow each other and have one seed'
test_that 'sequential' vkb-load --builds builds --order sequential --runs 2 c.json
test_same 'a a a a b b b b' "$(jq -r .subject.label .out | xargs)" \
  'sequential: the builds run one after the other'
test_same null "$(jq -c .run.block .out | sort -u)" 'sequential: no blocks'
test_that 'random' vkb-load --builds builds --order random --seed 1 --runs 2 c.json
test_same 8 "$(jq -c '[.config, .subject.label, .run.index]' .out | sort -u |
  wc -l | tr -d ' ')" 'random: there are all runs'
test_same true "$(jq -s 'all(.run.block == .run.index)' .out)" 'random: the runs of an index are pairs'

{ build a ok "$server"; build bad ok /bin/false; build c failed x; } >builds
test_status 2 'one of two builds cannot be started' vkb-load --builds builds --runs 1 --case 'SET*' c.json
test_match "build 'c' failed" .err 'the error names the build that failed'
test_same '["a","ok"] ["bad","failed"]' "$(jq -c '[.subject.label, .status]' \
  .out | sort | xargs -0 | tr '\n' ' ' | sed 's/ *$//')" \
  'the builds that work are run'
test_same true "$(jq 'select(.status == "failed") |
  (.error | test("exited with 1")) and (has("metrics") | not)' .out)" \
  'a failed run has an error and no metrics'
{ build a ok "$server"; build a ok "$server"; } >builds
test_status 2 'two builds with one name' vkb-load --builds builds c.json
test_match "two builds are called 'a'" .err \
  'the error names the build that is given twice'
test_status 2 'stdin twice' vkb-load --builds - -
test_status 2 'a server that does not exist' vkb-load --server ./nowhere c.json
test_same "vkb-load: cannot run server './nowhere': No such file or directory" "$(cat .err)" \
  'it is missed before anything is measured'
test_status 2 'no server in PATH' env PATH=/none "$(command -v vkb-load)" c.json
test_match "valkey-server is not in PATH: 'vkb-needs run' installs it" .err 'the message says what to do'
test_that '--label' vkb-load --server "$server" --label mine --runs 1 \
  --case 'SET*' c.json
test_same mine "$(jq -r .subject.label .out)" '--label names the subject'

# --- a server that vkb-load did not start

printf '{"type":"spec","v":1,"id":"other","unixsocket":true,"config":{"maxclients":99}}\n' >spec
test_other spec
socket=$(printf '%s' "$other" | jq -r .nodes[0].unixsocket)
valkey-cli -p "$port" set left over >/dev/null
valkey-cli -p "$port" config set maxmemory 55mb >/dev/null
printf '[{"commands":["SET","GET"],%s,"requests":[2000],"config_sets":[{"maxmemory":"77mb"},{}]}]\n' \
  "$base" >set.json
test_that 'a running server with --flush' vkb-load --port "$port" --flush --runs 2 set.json
test_same 8 "$(grep -c '"status":"ok"' .out)" 'a running server: all runs are ok'
test_same '[null,true]' "$(jq -c '[.env.remote, .metrics.server_cpu_us_per_req > 0]' \
  .out | sort -u)" 'a running server: the CPU time of a server on this host is known'
test_same '57671680' "$(valkey-cli -p "$port" config get maxmemory | tail -n 1)" \
  'a running server: its settings are restored'
test_same 0 "$(valkey-cli -p "$port" exists left)" 'a running server: it was emptied'
test_that '--unixsocket chooses a running server' \
  vkb-load --unixsocket "$socket" --runs 1 c.json
test_same true "$(jq -c .config.unixsocket .out | sort -u)" \
  'runs over a unix socket are recorded as such'
test_status 2 'a case that needs a cluster on a server without one' vkb-load --port "$port" \
  --runs 1 cluster.json
test_match 'needs a cluster, the server is not one' .err 'a running server: the error says that it is not a cluster'
test_status 2 'running: a TLS case on a server without TLS is an error' \
  vkb-load --port "$port" --runs 1 tls.json
test_match 'may not speak TLS' .err 'a running server: the error says that it has no TLS'
sed 's/"requests"/"unixsocket":true,"requests"/' c.json >socket.json
test_status 2 'running: a case over a socket needs one' \
  vkb-load --port "$port" --runs 1 socket.json
test_match 'the case needs a unix socket' .err 'the error says that the case needs a unix socket'
sed 's/"requests"/"client_cpu_range":"0","benchmark-threads":2,"requests"/' c.json >one.json
test_that 'a load with two threads on one CPU' \
  vkb-load --port "$port" --runs 1 one.json
test_same '"ok"' "$(jq -c .status .out | sort -u)" 'the runs are ok'
sed 's/"clients":\[3\]/"clients":[90]/' c.json >many.json
test_that 'more clients than files that may be open' \
  sh -c 'ulimit -Sn 80 && exec vkb-load "$@"' - --port "$port" --runs 1 --case 'SET*' many.json
sed 's/"requests"/"io-threads":[3],"requests"/' c.json >io.json
test_status 2 'running: io-threads cannot be set on a running server' \
  vkb-load --port "$port" --runs 1 io.json
test_match 'needs io-threads 3, the server has 1' .err 'a running server: the error has both numbers of io-threads'
sed 's/"config_sets":.*]/"custom-server-configs":{"maxmemory":"54mb"}}]/' \
  set.json >own.json
test_status 2 'running: maxmemory cannot be set on a running server' \
  vkb-load --port "$port" --runs 1 own.json
test_match "the case has maxmemory '54mb', the server '57671680'" .err \
  'running: setting of a start'
sed 's/54mb/55mb/' own.json >own2.json
test_that 'running: maxmemory is accepted if the server has it' \
  vkb-load --port "$port" --runs 1 own2.json
# All units of memory, for settings that a server reports in several ways.
units='maxmemory 3gb
repl-backlog-size 70000k
client-query-buffer-limit 2g
proto-max-bulk-len 3m
active-defrag-ignore-bytes 90kb
auto-aof-rewrite-min-size 5000B
maxmemory-clients 5mb
stream-node-max-bytes 4096'
echo "$units" | while read -r name value; do
  valkey-cli -p "$port" config set "$name" "$value"
done >set.said
test_same 8 "$(grep -c OK set.said)" 'the server accepts all units of memory'
sed "s/{\"maxmemory\":\"54mb\"}/$(echo "$units" |
  jq -Rnc '[inputs / " " | {(.[0]): (.[1] | tonumber? // .)}] | add')/" own.json >units.json
test_that 'settings agree whatever the unit' \
  vkb-load --port "$port" --runs 1 units.json
valkey-cli -p "$port" config set proto-max-bulk-len 3mb >/dev/null
test_status 2 'running: a different size of a setting is an error' \
  vkb-load --port "$port" --runs 1 units.json
test_match "has proto-max-bulk-len '3m', the server '3145728'" .err \
  'the error has the two sizes: 3m are not 3145728'
valkey-cli -p "$port" config set maxmemory 55mb >/dev/null
sed 's/maxmemory/no-such/' set.json >no.json
test_status 2 'running: a setting that the server does not know is an error' \
  vkb-load --port "$port" --runs 1 no.json
test_match "no setting 'no-such'" .err 'a running server: the error names the unknown setting'
sed 's/77mb/much/' set.json >much.json
test_status 2 'running: a value that the server refuses is an error' \
  vkb-load --port "$port" --runs 1 much.json
test_match "^vkb-load: CONFIG SET: ERR .*'maxmemory'" .err \
  'the error has the answer of the server'
test_same 'failed failed ok ok' "$(jq -r .status .out | sort | xargs)" \
  'with a setting that was refused nothing is measured'
# A proxy that loses the answer to a request with 77mb.
cat >lossy.pl <<'END'
use strict;
use IO::Select;
use IO::Socket::INET;
my ($port, $file) = @ARGV;
alarm 120;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 9) or die;
open my $f, '>', "$file.new" or die;
print $f $listener->sockport;
close $f;
rename "$file.new", $file;
my $select = IO::Select->new($listener);
my %to;
while (1) {
  for my $s ($select->can_read) {
    if ($s == $listener) {
      my $c = $listener->accept;
      my $v = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die;
      @to{$c, $v} = ($v, $c);
      $select->add($c, $v);
      next;
    }
    my $peer = $to{$s} or next;
    my $n = sysread $s, my $bytes, 65536;
    syswrite $peer, $bytes if $n;
    next if $n && $bytes !~ /77mb/;
    sysread $peer, $bytes, 65536 if $n;
    $select->remove($s, $peer);
    delete @to{$s, $peer};
    close $s, close $peer;
  }
}
END
perl lossy.pl "$port" lossy 3>&- 4<&- &
lossy=$!
wait_until 30 test -e lossy
test_status 2 'running: the answer to CONFIG SET is lost' \
  vkb-load --port "$(cat lossy)" --runs 1 set.json
kill "$lossy"
test_match '"error":"CONFIG: ' .out 'the run fails'
test_same 'maxmemory 57671680' "$(valkey-cli -p "$port" config get maxmemory | xargs)" \
  'the setting, which was changed, is restored'
test_status 2 '--server and a running server' vkb-load --port 1 --server x c.json
test_status 2 'a port without a listener is an error' \
  vkb-load --port 1 --runs 1 c.json
test_match 'cannot reach the server at 127.0.0.1:1' .err \
  'the error names the server that cannot be reached'
test_status 2 'an unknown host is an error' \
  vkb-load --host no-host.invalid --runs 1 c.json
test_match 'at no-host.invalid:6379: unknown host name' .err \
  'the error says that the host name is unknown'

printf '{"type":"spec","v":1,"id":"cluster","primaries":3}\n' >&3
read -r other <&4
port=$(printf '%s' "$other" | jq '.nodes[1].port')
test_that 'a running cluster' vkb-load --port "$port" --runs 1 cluster.json
test_same '["ok",0]' "$(jq -c '[.status, .metrics.errors]' .out | sort -u)" \
  'running cluster: ok'
test_same 3 "$(for i in 0 1 2; do
  valkey-cli -p "$(printf '%s' "$other" | jq ".nodes[$i].port")" \
    info commandstats
done | grep -c '^cmdstat_set:calls=')" 'running cluster: each node is loaded'
sed 's/"cluster_nodes":3/"cluster_nodes":2/' cluster.json >two.json
test_status 2 'a case that needs a cluster of another size' vkb-load --port "$port" --runs 1 two.json
test_match 'needs 2 primaries, the cluster has 3' .err \
  'the error names the size wanted and the size found'
sed 's/"cluster_nodes":3/"cluster_nodes":1/' cluster.json >one.json
test_status 2 'a case that needs one primary, on a cluster' vkb-load --port "$port" --runs 1 one.json
test_match 'needs 1 primary, the cluster has 3: write "cluster_nodes": 3' .err \
  'the error names one primary, and what to write'
test_that 'commands of the command line fit a running cluster' \
  vkb-load -p "$port" -t set -n 2000 --runs 1
test_same 'true 3 ok' "$(jq -r '"\(.config.cluster_mode) \(.config.cluster_nodes) \(.status)"' .out)" \
  'its mode and size are in the record'

printf '{"type":"spec","v":1,"id":"tls","tls":true,"io_threads":2}\n' >&3
read -r other <&4
port=$(printf '%s' "$other" | jq .nodes[0].port)
tls() { printf '%s' "$other" | jq -r ".tls.$1"; }
jq -c '.[]."io-threads" = 2' tls.json >tls2.json
test_that 'a running server with TLS' vkb-load --port "$port" --tls \
  --cacert "$(tls cacert)" --cert "$(tls cert)" --key "$(tls key)" \
  --runs 1 tls2.json
test_that 'commands of the command line fit a server with TLS and io-threads' \
  vkb-load -p "$port" --tls --cacert "$(tls cacert)" --cert "$(tls cert)" \
  --key "$(tls key)" -t set -n 2000 --runs 1
test_same 'true 2 ok' "$(jq -r '"\(.config.tls_mode) \(.config.io_threads) \(.status)"' .out)" \
  'TLS and io_threads are in the record'
test_status 2 'a plain connection to a TLS port' vkb-load --port "$port" --runs 1 c.json
printf '{"type":"spec","v":1,"id":"auth","config":{"requirepass":"s3cret"}}\n' >&3
read -r other <&4
port=$(printf '%s' "$other" | jq .nodes[0].port)
test_status 2 'without password' vkb-load --port "$port" --runs 1 c.json
test_match 'the server needs a password: set VKB_PASSWORD' .err \
  'without a password VKB_PASSWORD is named'
VKB_PASSWORD=wrong
export VKB_PASSWORD
test_status 2 'a wrong password' vkb-load --port "$port" \
  --runs 1 c.json
test_match 'refuses the user or the password: WRONGPASS' .err \
  'the error says that the server refuses the password'
VKB_PASSWORD=s3cret
test_that 'the password is read from VKB_PASSWORD' \
  vkb-load --port "$port" --runs 1 c.json
test_same 0 "$(cat .out .err | grep -c s3cret)" 'the password is not printed'
unset VKB_PASSWORD
for name in VALKEYCLI_AUTH REDISCLI_AUTH; do
  test_that "the password is read from $name" \
    env "$name=s3cret" vkb-load --port "$port" --runs 1 c.json
done
test_that 'VALKEYCLI_AUTH wins over REDISCLI_AUTH' env VALKEYCLI_AUTH=s3cret \
  REDISCLI_AUTH=wrong vkb-load --port "$port" --runs 1 c.json
test_that 'VKB_PASSWORD wins over both' env VKB_PASSWORD=s3cret \
  VALKEYCLI_AUTH=wrong REDISCLI_AUTH=wrong vkb-load --port "$port" --runs 1 c.json
test_status 2 'VKB_PASSWORD wins over a good VALKEYCLI_AUTH' env \
  VKB_PASSWORD=wrong VALKEYCLI_AUTH=s3cret vkb-load --port "$port" --runs 1 c.json

# A server that does not know AUTH says with which words it came.
printf '{"type":"spec","v":1,"id":"noauth","config":{"rename-command":"AUTH nothing"}}\n' >&3
read -r other <&4
test_status 2 'a server without AUTH' env VKB_PASSWORD=s3cret \
  vkb-load --port "$(printf '%s' "$other" | jq .nodes[0].port)" --flush --runs 1 c.json
test_match "unknown command 'AUTH'" .err 'the error says so'
test_absent 's3cret' .err 'without the password'

valkey-cli --no-auth-warning -a s3cret -p "$port" info server >about
pid=$(sed -n 's/^process_id:\([0-9]*\).*/\1/p' about)
kill -STOP "$pid"
test_status 2 'a running server that hangs is an error' \
  timeout 20 vkb-load --port "$port" \
  --timeout 500ms --runs 1 c.json
kill -CONT "$pid"
test_match 'timed out' .err 'vkb-load ends when a server has hung for --timeout'

# --- a server that is killed

# begin OPTION...: begins a long run; $victim is its server.
begin() {
  vkb-load --runs 1 --duration 30 --case 'SET*' "$@" c.json >dead 2>dead.err &
  load=$!
  wait_until 10 find_victim "$load"
}
connected() { # three clients and a control connection
  [ "$(find "/proc/$load/fd" -lname 'socket:*' | wc -l)" -ge 4 ]
}
begin
wait_until 10 connected
kill -9 "$victim"
wait "$load"
test_same 2 $? 'a server that is killed'
test_same failed "$(jq -r .status dead)" 'a server that dies makes its run fail'
test_match 'killed by signal 9' dead \
  'a failed run records the signal that killed the server'
begin --timeout 1
wait_until 10 connected
kill -STOP "$victim"
wait "$load"
test_same 2 $? 'a server that hangs'
test_match '"status":"failed","error":"no reply from ' dead \
  'a server that hangs makes its run fail'
test_same 'true true' "$(jq -r '[.metrics.unanswered > 0,
  .metrics.max_latency_ms >= 1000] | join(" ")' dead)" 'what it owed is counted'
wait_until 10 gone "$victim"
test_result $? 'a server that hangs is stopped'

# --- a terminal

if command -v script >/dev/null; then
  script -qc "vkb-load --set rate=1000 --runs 2 --duration 2s --case 'SET*' c.json >tty.runs" \
    screen >/dev/null </dev/null
  test_same 2 "$(grep -c '"status":"ok"' tty.runs)" 'terminal: the runs'
  tr '\r' '\n' <screen >lines
  test_match '^.\[KSET run 1/2 .* req/s p99 [0-9.]* ms, [0-9]+ s left' lines 'terminal: progress'
  test_absent 'round' lines 'terminal: rounds are not printed'
  test_match '2 runs of 1 case, about 5' lines 'terminal: the expected time is printed'
  script -qc "vkb-load -q --runs 1 --case 'SET*' c.json >tty.runs" screen \
    >/dev/null </dev/null
  test_same 0 "$(grep -c 'left' screen)" 'terminal: -q'
else
  test_skip 'progress' script
fi
test_done
