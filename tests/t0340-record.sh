#!/bin/sh
# vkb-record writes the commands of clients to a trace, and the load engine sends them
# again: the same commands in the same order at the same times, on the same data.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

# --- MONITOR as text

cat >text <<'EOF'
OK
1700000000.000100 [0 127.0.0.1:5000] "SET" "key:1" "a\x00b\"q\\\n\xff"
1700000000.000300 [1 [::1]:5001] "get" ""
1700000000.500300 [0 lua] "SET" "x" "y"
1700000001.000300 [0 unix:/a b] "CLIENT" "SETNAME" "hush"
1700000001.000300 [0 unix:/a b] "JSON.SET" "k" "$" "\r\t\a\b"
1700000001.000302 [0 unix:/a b] "BLPOP" "q" "0"
1700000001.000302 [0 unix:/a b] "XREAD" "COUNT" "1" "block" "0" "STREAMS" "s" "$"
1700000001.000302 [0 unix:/a b] "SCRIPT" "FLUSH"
EOF
test_that 'lines of MONITOR become a trace' vkb-record text
cp .out trace
test_match '^vkb-record: 8 commands of 4 connections in 1 s$' .err \
  'a message has the numbers of commands and connections'
vkb-record --monitor trace >again
test_same "$(sed -n '2,3p;6p' text)" "$(sed -n '1,2p;5p' again)" \
  'escapes, times, databases and addresses are kept'
test_same '[0 lua] "script"
[0 unix:/a b] "CLIENT" "SETNAME"
[0 unix:/a b] "BLPOP"
[0 unix:/a b] "XREAD" "BLOCK"
[0 unix:/a b] "SCRIPT" "FLUSH"' "$(sed -n '3,4p;6,8p' again | cut -d' ' -f2-)" \
  'only the names of commands that cannot be sent again are kept'
test_that 'vkb-record --show prints a summary of a trace' vkb-record --show trace
for line in 'duration +1\.000202 s' 'connections +4' 'databases +2' \
  'commands +8, of which 5 are not sent again' \
  'BLPOP +1 +5 +it blocks' 'XREAD BLOCK +1 +10 +it blocks' \
  'SCRIPT FLUSH +1 +11 +it administers the server' 'SCRIPT +1 +6 +a script sent it'; do
  test_match "^$line\$" .out "the summary has: $line"
done
test_same "$(vkb-record -q - <text | vkb-record --monitor)" "$(cat again)" \
  'stdin is read in the same way'
trace_id() { tail -n 1 "$1" | jq -r .id; }
vkb-record -q text >twice
sed '$d' text | vkb-record -q >shorter
trace_id trace >id
test_match '^[0-9a-f]{16}$' id 'a trace has an id'
test_same "$(trace_id trace)" "$(trace_id twice)" 'the same commands are the same trace'
vkb-record -q again >third
test_same "$(trace_id twice)" "$(trace_id third)" \
  'what --monitor prints is the same trace'
test_that 'other commands are another trace' test "$(trace_id trace)" != "$(trace_id shorter)"

# wrong FILE PATTERN WHAT
wrong() {
  test_status 2 "$3" vkb-record "$1"
  test_match "$2" .err "$3: the message"
}
head -c 60 text >torn
wrong torn '^vkb-record: torn: offset 3: .*truncated: the line has no end$' \
  'a torn line of MONITOR'
for line in 'x.1 [0 a] "b"' '1.000001 [0 a]' '1.000001 [0 a] "b' \
  '1.000001 [0 a] "\xq1"' '1.000001 [0 a] ""' '1.000001 [999999999999 a] "b"'; do
  printf '1.000001 [0 a] "GET" "k"\n%s\n' "$line" | sed 's/^x/9/' >torn
  wrong torn '^vkb-record: torn: offset 25: not a line of MONITOR' "refused: $line"
done
test_same '1.000001 [0 a] "GET" "k"' "$(vkb-record -q torn 2>err | vkb-record --monitor)" \
  'commands before the wrong line are recorded'
printf 'OK\n' >torn
wrong torn '^vkb-record: torn: no client sent a command' 'MONITOR that saw no command'
printf 'hello\n' >torn
wrong torn '^vkb-record: torn: offset 0: neither' 'another file'
n=$(wc -c <trace)
for k in 20 150 $((n - 70)) $((n - 20)) $((n - 1)); do
  head -c "$k" trace >torn
  test_status 2 "a trace of $k of $n bytes" vkb-record --show torn
  test_match '^vkb-record: torn: offset [0-9]+: (truncated|broken)' .err \
    "a trace of $k bytes: the error has the file and the offset"
done
test_status 2 'a file that is not a trace' vkb-record --show text
test_status 2 'a file and a server together' vkb-record --port 1 text

# --- hashes

i=1
while [ $i -le 40 ]; do
  printf '1700000000.%06d [0 a] "SET" "secret:{tag}:%d" "%d"\n' $i $((i % 4)) $i
  printf '1700000000.%06d [0 a] "ZADD" "zecret" "NX" "1.5" "mumble" "2" "grumble"\n' $i
  printf '1700000000.%06d [0 a] "SCAN" "0" "MATCH" "secret:*"\n' $i
  i=$((i + 1))
done >text
vkb-record -q text | vkb-record --monitor | cut -d' ' -f4- >plain
for what in keys values all; do
  vkb-record -q --hash $what text >hashed
  sed 1d hashed | gzip -dc 2>/dev/null >bytes
  vkb-record --monitor hashed | cut -d' ' -f4- >hidden
  case $what in
  keys) none='secret|zecret' ;;
  values) none='mumble|grumble|secret:[*]' ;;
  all) none='secret|zecret|mumble' ;;
  esac
  test_absent "$none" bytes "--hash $what: the trace has no text that was to be replaced"
  test_same "$(perl -pe 's/\\(x..|.)/./g; s/[^" ]/./g' plain)" \
    "$(perl -pe 's/\\(x..|.)/./g; s/[^" ]/./g' hidden)" \
    "--hash $what: all words have their lengths"
  test_same "$(sort -u plain | wc -l)" "$(sort -u hidden | wc -l)" \
    "--hash $what: equal words stay equal, different words stay different"
done
c='([^\\{}]|\\.)' # a character, which may be escaped
test_match "^\"SET\" \"$c{7}\{$c{3}\}$c{2}\" \"[0-9]+\"" hidden \
  'hash tags and numbers are kept as such'
test_match '"NX" "1.5" "[^ ]+" "2" "' hidden 'options and scores are not replaced'
test_absent '"MATCH" "secret' hidden 'a pattern is replaced'

# JSON.SET has no row in the table of commands, so JSON.MGET must not have one.
printf '1.00000%s [0 a] %s\n' 1 '"JSON.SET" "doc:{tag}:1" "$" "7"' 2 '"JSON.MGET" "doc:{tag}:1" "$"' >json
for what in values all; do
  vkb-record -q --hash $what json | vkb-record --monitor | cut -d' ' -f5- >hidden
  test_absent 'doc' hidden "--hash $what: the key of a module is replaced"
  test_same 1 "$(cut -d' ' -f2 hidden | sort -u | wc -l)" "--hash $what: a key is the same for two commands of a module"
done

# --- a real server

test_server 'recording a server'

cat >fill <<'END_FILL'
fill() { valkey-cli -p "$VKB_PORT" "$@" >/dev/null; }
big=$(head -c 20000 /dev/zero | tr '\0' 'x')
fill set text "$big"
for n in 1 1000 100000 10000000000 -5; do fill set "int:$n" $n; done
fill setex dies 100000 later
fill rpush list a b "$big"
fill sadd s x z
fill hset hash:1 f v g w
fill -n 5 set other db
END_FILL

cat >watched <<'END'
. "$tests/wait.sh"
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
watched() { cli client list | grep 'cmd=monitor'; }
END
cat >record <<'END_RECORD'
. ./watched
. ./fill
cli save >/dev/null
cp "$(cli config get dir | tail -n 1)/dump.rdb" base.rdb
vkb-record --port "$VKB_PORT" >live 2>live.err & recorder=$!
wait_until 60 watched
"$ENGINE" -p "$VKB_PORT" -D 1 -c 3 -R 600 --keys 50 \
  -t 'SET {key}:__rand_int__ __data__' -t 'INCR count:__rand_int__' \
  -t 'HSET hash:__rand_int__ field __data__' >load 2>&1
printf '%s\n' 'SELECT 3' MULTI 'SET a b' 'SADD s x y' EXEC 'SET "" empty' \
  'BLPOP list2 0.01' | cli >/dev/null
cli eval 'server.call("SET", KEYS[1], 1)' 1 script >/dev/null
cli -n 5 incr incremented >/dev/null
cli mset slot1 1 slot2 2 >/dev/null
cli echo finished >/dev/null
kill -INT $recorder; wait $recorder; echo $? >live.status
cli debug digest >digest
cli command list | grep -v '|' >commands
while read -r sample; do
  # shellcheck disable=SC2086 # words
  cli command getkeys $sample | xargs
done <samples >server.keys
# The server has sent none of these commands when the recorder gets its signal.
vkb-record --port "$VKB_PORT" >late.live 2>late.err & recorder=$!
wait_until 60 watched
kill -STOP $recorder
value=$(head -c 100000 /dev/zero | tr '\0' x)
i=0
while [ $((i += 1)) -le 80 ]; do echo "SETRANGE late 0 $value"; done | cli >/dev/null
kill -INT $recorder; kill -CONT $recorder; wait $recorder; echo $? >late.status
cli config set requirepass secret >/dev/null
VKB_PASSWORD='' VALKEYCLI_AUTH=secret vkb-record -q --port "$VKB_PORT" \
  --duration 10ms >guarded
echo $? >guarded.status
VKB_PASSWORD=wrong vkb-record --port "$VKB_PORT" --duration 10ms >/dev/null 2>refused
VALKEYCLI_AUTH=secret cli config set requirepass '' >/dev/null
END_RECORD

# Commands whose keys are found in different ways; only keys begin with "key:".
cat >samples <<'EOF'
SET key:1 v EX 10
MSET key:1 v key:2 v
BITOP AND key:1 key:2 key:3
ZADD key:1 NX CH 1 m 2 n
ZUNIONSTORE key:1 2 key:2 key:3 WEIGHTS 1 2 AGGREGATE SUM
ZUNION 2 key:1 key:2 WITHSCORES
SINTERCARD 2 key:1 key:2 LIMIT 5
XREAD COUNT 2 STREAMS key:1 key:2 0 0
XREADGROUP GROUP g c COUNT 1 STREAMS key:1 key:2 > >
XGROUP CREATE key:1 g $ MKSTREAM
OBJECT ENCODING key:1
MEMORY USAGE key:1
SORT key:1 BY nosort LIMIT 0 5 STORE key:2
GEORADIUS key:1 15 37 200 km STORE key:2
LMPOP 2 key:1 key:2 LEFT
COPY key:1 key:2 REPLACE
LCS key:1 key:2 LEN
PFCOUNT key:1 key:2
SMOVE key:1 key:2 m
RENAMENX key:1 key:2
GEOSEARCHSTORE key:1 key:2 FROMLONLAT 1 2 BYRADIUS 3 km ASC
ZRANGESTORE key:1 key:2 0 -1
XADD key:1 NOMKSTREAM MAXLEN ~ 100 * f v
EOF

ENGINE=$engine
export ENGINE
printf '%s\n' '{"id":"a","config":{"enable-debug-command":"yes","save":""}}' >spec
test_that 'a server is recorded' vkb-serve spec -- sh record
test_same 0 "$(cat live.status)" 'a signal ends a recording, and the trace is complete'
vkb-record --monitor late.live | cut -c 1-200 >from.late
test_same '0 80' "$(cat late.status) $(grep -c '"SETRANGE" "late"' from.late)" \
  'what the server has not yet sent when a recording ends is in the trace'
test_absent PING from.late 'the question that ends a recording is not in the trace'
test_same 0 "$(cat guarded.status)" \
  'with an empty VKB_PASSWORD the password is that of VALKEYCLI_AUTH'
test_match ': WRONGPASS ' refused 'of a password that is refused the words of the server are shown'
sed 's/.*/1.000001 [0 a] "&"/' commands | vkb-record -q | vkb-record --show >shown
test_absent 'it is not known' shown 'vkb-record knows all commands of the server'
test_match '^FLUSHALL ' shown 'all commands were tried'
awk 'BEGIN { for (i = 1; i <= 1200; i++) printf "%d.000000 [0 a] \"cmd%d\"\n", i, i
  print "1300.000000 [0 a] \"cmd7\"" }' >many
vkb-record -q many | vkb-record --show | sed '1,/^command  /d' >shown
test_same '1001 200 2' "$(wc -l <shown) $(sed -n 's/^others  *\([0-9]*\) .*for different reasons$/\1/p' shown) $(
  sed -n 's/^CMD7  *\([0-9]*\) .*/\1/p' shown)" \
  'of more than 1000 commands the rest is summed up, and those that are listed are counted'
sed 's/ /" "/g; s/.*/1.000001 [0 a] "&"/' samples | vkb-record -q --hash keys |
  vkb-record --monitor | cut -d' ' -f4- | tr -d '"' >hidden
test_same "$(cat server.keys)" "$(paste -d' ' samples hidden | awk '{
  n = NF / 2; s = ""
  for (i = 1; i <= n; i++)
    if ($i != $(i + n) && $i ~ /^key:/) s = s (s ? " " : "") $i
  print s }')" 'the keys of commands are those that the server names'
vkb-record --show live >shown
test_match '^BLPOP +1 .*it blocks$' shown 'the live recording has all commands'

cat >replay <<'END_REPLAY'
. ./watched
finished() { vkb-record --monitor again.live | grep finished; }
if [ "$MONITOR" ]; then
  vkb-record --port "$VKB_PORT" >again.live 2>again.err & recorder=$!
  wait_until 60 watched
fi
LD_PRELOAD=${VIRTUAL:-} "$ENGINE" -p "$VKB_PORT" "$@" >replayed 2>replayed.err || cat replayed.err
cli debug digest >digest.again
if [ "$MONITOR" ]; then
  cli echo finished >/dev/null
  wait_until 60 finished
  kill -INT $recorder; wait $recorder
fi
END_REPLAY
jq -c '.rdb = "base.rdb"' spec >fresh

# replayed WHAT OPTION...: checks a replay on a new server
replayed() {
  what=$1
  shift
  test_that "$what" vkb-serve fresh -- sh replay "$@"
  test_same "$(cat digest)" "$(cat digest.again)" "$what: the server has the same data"
  test_same 0 "$(value errors_total replayed)" "$what: no errors"
}
MONITOR=yes VIRTUAL='' VIRTUAL_LOG=$PWD/log
export MONITOR VIRTUAL VIRTUAL_LOG
case ${SANITIZE:-} in
*address*) ;;
*)
  gcc -O2 -shared -fPIC -o virtual.so "$tests/virtual.c"
  VIRTUAL=$PWD/virtual.so
  ;;
esac
replayed 'a replay at recorded times' --replay live -c 20 -P 100
vkb-record --monitor live >from
vkb-record --monitor again.live >to
# The commands of each connection, and the time of each since the first of all.
cat >sequences.pl <<'END_PERL'
my (%of, %times, $first);
while (<STDIN>) {
  my ($t, $from, $what) = /^(\S+) \[\d+ (.*?)\] (.*)$/ or die $_;
  next if $what =~ /^"(SELECT|script|BLPOP|ECHO|COMMAND|CLIENT|CONFIG|DEBUG|INFO|select)"/i;
  $of{$from} .= "$what\n";
  push @{$times{$from}}, $t - ($first //= $t);
}
for (sort { $of{$a} cmp $of{$b} } keys %of) {
  print $of{$_}, "\n";
  print STDERR join("\n", @{$times{$_}}), "\n";
}
END_PERL
perl sequences.pl <from >from.sequences 2>from.times
perl sequences.pl <to >to.sequences 2>to.times
test_that 'each connection sends the same commands in the same order' \
  cmp from.sequences to.sequences
# What was sent and when, with a virtual clock, as lines of MONITOR.
cat >sent.pl <<'END_PERL'
my %rest;
while (<STDIN>) {
  my ($ns, $fd, $hex) = split;
  $rest{$fd} .= pack 'H*', $hex;
  while ($rest{$fd} =~ /^\*(\d+)\r\n/) {
    my ($at, @words) = ($+[0]);
    for (1 .. $1) {
      pos($rest{$fd}) = $at;
      $rest{$fd} =~ /\G\$(\d+)\r\n/gc or last;
      my $from = pos $rest{$fd};
      last if length($rest{$fd}) < $from + $1 + 2;
      push @words, substr $rest{$fd}, $from, $1;
      $at = $from + $1 + 2;
    }
    last if @words < $1;
    substr $rest{$fd}, 0, $at, '';
    s/[\\"]/\\$&/g, s/\n/\\n/g, s/\r/\\r/g, s/\t/\\t/g, s/\a/\\a/g, s/\x08/\\b/g,
      s/[^ -~]/sprintf '\\x%02x', ord $&/ge for @words;
    printf "%.6f [0 %d] %s\n", $ns / 1e9, $fd, join ' ', map { qq("$_") } @words;
  }
}
END_PERL
if [ "$VIRTUAL" ]; then
  perl sent.pl <log | perl sequences.pl >sent.sequences 2>sent.times
  test_that 'the load sends what the server got' cmp to.sequences sent.sequences
  MONITOR=
  for speed in 1 0.5 3; do
    [ $speed = 1 ] || replayed "a replay at speed $speed" --replay live -c 20 -P 100 --speed $speed
    perl sent.pl <log | perl sequences.pl 2>sent.times >sent.sequences
    test_that "speed $speed: each command is sent at its recorded time, within 2 us" sh -c "paste from.times sent.times |
      awk '{ d = \$1 / $speed - \$2; n += d > 2e-6 || d < -2e-6 } END { exit NR < 1000 || n }'"
    test_same 1 "$(value max_ms replayed | awk '{ print ($1 < .002) }')" "speed $speed: latencies count from that time"
  done
fi
VIRTUAL=''
test_match '^omitted BLPOP: 1: it blocks$' replayed 'commands that are not sent are counted'
MONITOR=
# A command, and 100 more two seconds later. None of them can take longer than the time
# from then to the end of the run, however busy the machine is.
{
  echo '1.000001 [0 a] "SET" "late" "0"'
  i=0
  while [ $((i += 1)) -le 100 ]; do echo "3.000001 [0 a] \"SET\" \"late\" \"$i\""; done
} | vkb-record -q >late.trace
test_that 'a trace with late commands' vkb-serve fresh -- sh replay --replay late.trace -c 1 -P 100
# shellcheck disable=SC2016 # for awk
test_that 'latencies begin at the recorded times' \
  awk '{ v[$1] = $2 } END { exit !(v["requests"] == 101 && v["elapsed_s"] >= 2 &&
    v["max_ms"] > 0 && v["p50_ms"] <= 1000 * (v["elapsed_s"] - 2) + 1) }' replayed
# A replay of an hour at 10,000 times the speed takes less than half a second.
printf '%s [0 a] "SET" "late" "0"\n' 1.000001 3601.000001 | vkb-record -q >hour.trace
test_that 'a trace of an hour at 10,000 times the speed' vkb-serve fresh -- sh replay --replay hour.trace -c 1 --speed 10000
# shellcheck disable=SC2016 # for awk
test_that 'it does not take an hour' \
  awk '{ v[$1] = $2 } END { exit !(v["requests"] == 2 && v["elapsed_s"] >= .36 && v["elapsed_s"] < 1800) }' replayed
sed '/ lua] /d; s/\[\([0-9]*\) [^]]*\]/[\1 a]/' from | vkb-record -q >single.trace
replayed 'a closed replay of one connection' --replay single.trace --speed 0
replayed 'a fast replay by two threads' --replay live -c 20 -T 2 -P 100 --speed 4

# Two connections with transactions, and one without, are replayed by one client.
for line in 'a "MULTI"' 'b "MULTI"' 'c "INCR" "c"' 'a "SET" "a" "1"' 'b "SET" "b" "1"' \
  'a "EXEC"' 'c "INCR" "c"' 'b "EXEC"' 'c "MULTI"' 'a "INCR" "a"'; do
  echo "1.000001 [0 $line" | sed 's/ "/] "/'
done >text
vkb-record -q text >shared.trace
test_that 'a replay of several transactions by one client' vkb-serve fresh -- \
  sh replay --replay shared.trace -c 1 --speed 0 -P 20
test_same '9 0' "$(value requests replayed) $(value errors_total replayed)" \
  'their commands are not mixed; one without an end is not sent'
# A client that went away in its transaction keeps nothing back.
{
  printf '1.000001 [0 gone] "%s"\n' MULTI 'SET" "g" "1'
  printf '1.000002 [0 stays] "INCR" "%s"\n' n n n
} | vkb-record -q >broken.trace
test_that 'a replay of a transaction without an end' vkb-serve fresh -- \
  sh -c '. ./watched; sh replay --replay broken.trace -c 1 --speed 0; cli mget n g >n'
test_same '3  3 0' "$(xargs <n)  $(value requests replayed) $(value errors_total replayed)" \
  'the commands of other connections are executed'
# A RESET in a transaction ends it; elsewhere it is not sent.
{
  printf '1.000001 [0 a] "%s"\n' RESET MULTI 'SET" "r" "1' RESET 'INCR" "m' RESET 'INCR" "m'
} | vkb-record -q >reset.trace
test_that 'a replay of a transaction that a RESET ends' vkb-serve fresh -- \
  sh -c '. ./watched; sh replay --replay reset.trace -c 1 --speed 0; cli mget m r >m'
test_same '2  5 0' "$(xargs <m)  $(value requests replayed) $(value errors_total replayed)" \
  'what follows is executed, and the transaction is not'

# --- vkb-load

test_that 'a case replays a trace' vkb-load --replay live --set replay_speed=closed \
  --runs 1 -q -o runs.jsonl
test_match 'commands? of the trace (was|were) not sent: .*BLPOP 1 \(it blocks\)' .err \
  'a message lists the commands that are not sent'
test_same 'REPLAY live closed ok 1' "$(jq -r 'select(.config.command == "REPLAY") | "\(.config.command) \(.config.replay) \(.config.replay_speed) \(.status) \(.omitted.BLPOP)"' runs.jsonl)" \
  'the record has the trace and the commands that are not sent'
jq -s -c 'map(select(.config.command == "REPLAY"))[0] as $all |
  map(select(.config.command != "REPLAY")) |
  [($all.metrics.requests == (map(.metrics.requests) | add)),
   ($all.metrics.max_latency_ms == (map(.metrics.max_latency_ms) | max)),
   all(.status == "ok" and .config.replay == "live" and .metrics.p99_latency_ms > 0 and
     .metrics.server_cpu_us_per_req == null and .run.session == $all.run.session and
     .subject == $all.subject and (.subject | has("binary_sha256")) and .env == $all.env and
     .metrics.foreign_cpu_percent == $all.metrics.foreign_cpu_percent),
   (map(.config.command) | sort | join(" "))]' runs.jsonl >each
test_match '^\[true,true,true,"[^"]*EVAL EXEC HSET INCR [^"]*MSET MULTI [^"]*SADD SELECT SET"\]$' each \
  'each command has a record, and the numbers of requests add up'
for way in '--replay live --set replay_speed=20' '--replay live --set replay_speed=closed -c 1'; do
  # shellcheck disable=SC2086 # options
  vkb-load $way --runs 1 -q >out 2>/dev/null
  test_same true "$(jq -s 'map(select(.config.command == "REPLAY"))[0].metrics.requests ==
    (map(select(.config.command != "REPLAY").metrics.requests) | add)' out)" \
    "$way: the same"
done
test_that 'a replay of the first commands' vkb-load --replay live --set replay_speed=closed \
  --requests 100 --runs 1 -q
test_same 100 "$(jq 'select(.config.command == "REPLAY").metrics.requests' .out)" 'as many requests as requested are sent'
vkb-load --plan --replay live >case.jsonl
test_that 'a planned case can be replayed' vkb-load --runs 1 -q \
  --duration 200ms case.jsonl
vkb-record -q text >live2
sed "s,$(pwd)/live,$(pwd)/live2,g" case.jsonl >other.jsonl
test_status 2 'a case with another trace' vkb-load --plan other.jsonl
test_match 'not the trace of the case' .err 'the error says that the trace is another one'

# refused PATTERN OPTION...
refused() {
  refused_pattern=$1
  shift
  test_status 2 "refused: $*" vkb-load "$@"
  test_match "$refused_pattern" .err "refused: $*: the error has the reason"
}
printf '%s\n' '[{"commands":["SET"],"requests":[10],"keyspacelen":[9],"data_sizes":[16],"pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"warmup":0}]' >set.json
refused "'replay_speed' needs a 'replay'" --set replay_speed=2 --plan set.json
test_same REPLAY-P1-c1-live-x2 "$(vkb-load --replay live --set replay_speed=2 --plan \
  set.json | jq -r .id)" '--replay replaces the commands of a configuration'
refused "both 'replay' and 'rate'" --replay live --set rate=5
refused "excludes '--no-flush'" --replay live --no-flush --port 1
refused "excludes '--order slices'" --replay live --order slices
refused "excludes '--client'" --replay live --client 1/2
refused "both 'replay' and 'max_lost'" --replay live --set max_lost=1
refused "excludes '--count'" --replay live --count
refused "'replay_speed' must be a number from" --replay live --set replay_speed=0
refused 'No such file' --replay nothing
# configured MEMBERS PATTERN: a configuration with these members is refused.
configured() {
  printf '{"replay":"live","pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,%s}' \
    "$1" >c.json
  refused "$2" --plan c.json
}
for speed in 0 0.0000009 1000001 '"fast"' true; do
  configured "\"replay_speed\":$speed" \
    "\\.replay_speed: 'replay_speed' must be a number from 0.000001 to 1000000 or \"closed\", not"
done
for key in commands data_sizes keyspacelen keys sequential rate count max_lost; do
  configured "\"$key\":1" "Cannot specify both 'replay' and '$key'"
done
for speed in 0.000001 1000000 '"closed"'; do
  printf '{"replay":"live","pipelines":[1],"clients":[1],"cluster_mode":false,"tls_mode":false,"replay_speed":%s}' \
    "$speed" >c.json
  test_that "replay_speed: $speed passes" vkb-load --plan c.json
done
head -c 300 live >torn.trace
refused 'torn.trace: offset 300: truncated' --replay torn.trace
printf '%s\n' '1.000001 [0 a] "SET" "k" "v"' '1000000001.000001 [0 a] "SET" "k" "w"' |
  vkb-record -q >far.trace
test_that 'a replay in which a command is due after millions of years' vkb-load --replay far.trace \
  --set replay_speed=0.000001 --duration 300ms --runs 1 -q
test_same 1 "$(jq 'select(.config.command == "REPLAY").metrics.requests' .out)" 'this command is not sent'
printf '%s\n' '1.000001 [0 a] "SET" "k" "v"' '9999999999.000001 [0 a] "SET" "k" "w"' >text
wrong text 'a command comes more than 140 years after the first' 'times with a gap that is too long'
test_same '"SET" "k" "v"' "$(vkb-record -q text 2>/dev/null | vkb-record --monitor | cut -d' ' -f4-)" \
  'the trace has the commands before'
refused 'all its commands came at one time: replay it' --replay shared.trace

# --- servers that are killed, and clusters

# The load is not the command of vkb-serve, which ends that with the server.
# shellcheck disable=SC2016 # its shell expands them
vkb-serve fresh -- sh -c 'echo "$VKB_PORT $VKB_PID" >at; mv at ready; exec tail -f /dev/null' \
  >/dev/null 2>&1 &
wait_until 60 test -e ready
read -r port pid <ready
{
  "$ENGINE" -p "$port" --replay live -c 20 --speed 0.05 >died 2>died.err
  echo $? >died.status
} &
load=$!
counted() { valkey-cli -p "$port" info commandstats | grep -q cmdstat_incr; }
wait_until 60 counted
kill -KILL "$pid"
wait "$load"
test_same 2 "$(cat died.status)" 'a server that is killed during a replay fails it'
test_match 'lost the connection .* during REPLAY' died.err 'the error says that the connection is lost'

cat >cluster <<'END_CLUSTER'
ports=$(echo "$VKB_NODES" | tr ', ' '\n\n' | sed -n 's/.*://p')
# shellcheck disable=SC2086 # ports
"$ENGINE" --cluster $(printf -- '-p %s ' $ports) "$@" >clustered 2>&1 || cat clustered
for port in $ports; do valkey-cli -p "$port" --scan; done | sort >cluster.keys
END_CLUSTER
printf '{"id":"c","primaries":3,"config":{"cluster-allow-replica-migration":"no"}}\n' >cluster.spec
for how in '--speed 0' '--speed 3 -P 50'; do
  # shellcheck disable=SC2086 # options
  test_that "a replay on a cluster: $how" vkb-serve cluster.spec -- \
    sh cluster --replay live -c 10 $how
  test_same 0 "$(value errors_total clustered)" "$how: without errors"
  perl -ne 'print "$1\n" if
    /\[0 [^\]]*\] "(?:SET|INCR|HSET|eval" ".*" "1)" "(.*?)"/' from |
    sort -u >wanted.keys
  test_that "$how: all keys of database 0 are there" diff wanted.keys cluster.keys
  test_match '^omitted MSET: 1: its keys are in several slots$' clustered \
    "$how: commands whose keys are in several slots are counted"
  test_match '^omitted .*: a cluster has no such database$' clustered \
    "$how: commands in other databases are counted"
done

# All slots of a node move to another one during a transaction: the map of slots then
# has fewer nodes.
key=$(perl -e 'my @t = map { my $c = $_ << 8; $c = $c & 0x8000 ? $c << 1 ^ 0x1021 : $c << 1 for 1 .. 8;
    $c & 0xffff } 0 .. 255;
  for my $k ("a" .. "zz") { my $c = 0;
    $c = ($c << 8 & 0xffff) ^ $t[($c >> 8 ^ ord) & 255] for split //, $k;
    if (($c & 16383) > 12000) { print $k; last } }')
{
  echo "1.000001 [0 a] \"MULTI\""
  i=100000
  while [ $i -lt 600000 ]; do
    echo "$((i / 100000)).${i#?}0 [0 b] \"GET\" \"$key\""
    [ $((i % 50000)) -ne 0 ] || echo "$((i / 100000)).${i#?}0 [0 a] \"SET\" \"$key\" \"$i\""
    i=$((i + 500))
  done
  echo '6.000001 [0 a] "EXEC"'
} | vkb-record -q >moved.trace
cat >move <<'END_MOVE'
set -- $(echo "$VKB_NODES" | tr ', ' '\n\n' | sed -n 's/.*://p')
"$ENGINE" --cluster -p "$1" -p "$2" -p "$3" --replay moved.trace -c 2 -P 50 >moved 2>&1 & load=$!
until valkey-cli -p "$3" info commandstats | grep -q cmdstat_get: || ! kill -0 $load; do :; done
valkey-cli -p "$1" cluster bumpepoch >/dev/null
to=$(valkey-cli -p "$1" cluster myid)
for port; do
  seq 10923 16383 | sed "s/.*/cluster setslot & node $to/" | valkey-cli -p "$port" --pipe >/dev/null
done
wait $load
echo $? >moved.status
END_MOVE
test_that 'a node loses its slots during a transaction' vkb-serve cluster.spec -- sh move
test_same 0 "$(cat moved.status)" 'the replay sends the whole trace'
test_same 1012 "$(awk '/^part / { exit } $1 == "requests" { n += $2 }
  $1 == "omitted" { n += $5 } END { print n }' moved)" 'all of it was answered or is counted'
test_done
