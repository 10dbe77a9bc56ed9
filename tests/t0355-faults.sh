#!/bin/sh
# Each feature of the load while its server is killed, hangs, breaks connections, loads
# its data, sends replies in pieces, invalid replies or absurd lengths, or has an
# expired certificate; and while slots of a cluster are missing or move, with some of
# their keys. Loads that last longer than the fault have a rate: closed loops in which a
# connection is cut or a slot moves are in t0305, t0307 and t0314. Each feature has its own
# server; all are tried at the same time.
# sanitize: servers that answer nonsense, stop or move.
. "${0%/*}/lib.sh"
test_server 'features and faults'

features='keys values mix rate slo reconnect storm tracking verify replay hosts live hdr'
printf '{"type":"spec","v":1,"id":"keys","config":{"enable-debug-command":"yes"}}\n' >spec
test_other spec
for feature in $features; do
  if [ "$feature" != keys ]; then
    sed "s/keys/$feature/" spec >&3
    read -r other <&4
  fi
  printf '%s\n' "$other"
done >others
printf '{"type":"spec","v":1,"id":"nodes","primaries":3}\n' >&3
head -n 1 <&4 | jq -r '[.nodes[].port] | @tsv' >nodes
read -r node_0 node_1 node_2 <nodes
awk 'BEGIN {for (i = 0; i < 12000; i++) printf "%d.%06d [0 a:%d] \"SET\" \"k%d\" \"%d\"\n", 1 + i / 200, i % 200 * 5000, i % 3, i % 50, i}' |
  vkb-record -q >trace

# Each server also has a port with TLS. The certificate "expired" has the same key.
{
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ours -keyout ca.key -out ca.crt
  openssl req -newkey rsa:2048 -nodes -subj /CN=server -keyout key -out request
  echo subjectAltName=IP:127.0.0.1 >names
  set -- x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -extfile names
  openssl "$@" -days 2 -out good
  openssl "$@" -not_before 20200101000000Z -not_after 20200102000000Z -out expired ||
    openssl "$@" -days -1 -out expired
} >openssl.log 2>&1
# shellcheck disable=SC2086 # several
perl -MIO::Socket::INET -e 'my @all = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } @ARGV;
  print $_->sockport, "\n" for @all' $features >ports
jq -r '"\(.nodes[0].port) \(.nodes[0].pid)"' others | paste -d ' ' ports - >all
for feature in $features; do
  read -r tls_port port pid <&5
  echo "$port $pid $tls_port" >"at.$feature"
  valkey-cli -p "$port" config set tls-auth-clients no tls-ca-cert-file "$PWD/ca.crt" tls-key-file "$PWD/key" \
    tls-cert-file "$PWD/good" tls-port "$tls_port" >tls.out
  grep -q OK tls.out || sed 's/^/# /' tls.out
done 5<all

# A proxy. "torn" forwards replies in small pieces; "nonsense" sends some in place of
# replies after 3000 bytes of the load; "absurd" sends the beginning of a reply that is
# too large.
cat >proxy.pl <<'END'
use strict;
use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
my ($mode, $port, $file) = @ARGV;
$SIG{PIPE} = 'IGNORE';
alarm 300; # it ends even if the script was killed before it could stop it
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 50) or die;
open my $f, '>', "$file.new" or die;
print $f $listener->sockport;
close $f;
rename "$file.new", $file;
my $select = IO::Select->new($listener);
my (%to, %is_load, %is_server);
my %say = (nonsense => "?\r\n", absurd => "\$99999999999999\r\n");
my $seen = 0;
while (1) {
  for my $s ($select->can_read) {
    if ($s == $listener) {
      my $c = $listener->accept;
      my $v = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or do { close $c; next };
      setsockopt $_, IPPROTO_TCP, TCP_NODELAY, 1 for $c, $v;
      ($to{$c}, $to{$v}, $is_server{$v}) = ($v, $c, 1);
      $select->add($c, $v);
      next;
    }
    my $peer = $to{$s} or next;
    my $n = sysread $s, my $bytes, 65536;
    if (!$n) {
      $select->remove($s, $peer);
      delete @to{$s, $peer};
      delete @is_load{$s, $peer};
      close $s, close $peer;
      next;
    }
    if (!$is_server{$s}) {
      $is_load{$s} ||= $bytes =~ /[SG]ET\r\n\$\d+\r\n(?:key:|k\d)/;
      $seen += $n if $is_load{$s};
      syswrite $peer, $bytes;
      next;
    }
    $bytes = $say{$mode} if $say{$mode} && $is_load{$peer} && $seen > 3000;
    while (length $bytes) {
      my $piece = $mode eq 'torn' ? 1 + int rand(length($bytes) / 4 + 1) : length $bytes;
      my $sent = syswrite $peer, substr $bytes, 0, $piece;
      last unless $sent;
      substr $bytes, 0, $sent, '';
    }
  }
}
END

# load FEATURE PORT TIME OPTION...: runs a load with this feature, for a time or a number
# of requests; its exit status is in the file status. $allowed is the percentage of errors
# that it may have; $is makes it one for a server with TLS, or for a cluster.
load() {
  load_of=$1 load_port=$2 load_time=$3
  shift 3
  # shellcheck disable=SC2086 # words
  set -- -q --no-lock --runs 1 --port "$load_port" -c 4 --warmup 0 \
    --set "max_errors_percent=$allowed" $is "$@"
  # a search has many trials
  [ "$load_of" != slo ] || [ "$load_time" = 60s ] || load_time=100ms
  # Where no fault has to come before the end, requests are counted: a busy machine may
  # answer none in a second.
  case $load_time:$load_of in
  *s:*) set -- --duration "$load_time" "$@" ;;
  *:rate | *:replay) set -- --duration 3s "$@" ;;
  *) set -- -n "$load_time" "$@" ;;
  esac
  # A closed loop would take all CPUs until the fault is over: where the load lasts longer than
  # it, 500 requests in a second are enough. A search and a replay have no rate.
  case $load_time:$load_of in
  60s:* | *[!s]:* | *:rate | *:slo | *:replay) ;;
  *) set -- --set rate=500 "$@" ;;
  esac
  # a replay sends its whole trace, or fails
  [ "$load_of" = replay ] || set -- -r 500 --set "max_lost=$lost" "$@"
  case $load_of in
  keys) set -- --command "$write" --set keys=zipf "$@" ;;
  values) set -- --command "$write" --set 'values=64-1024 random' "$@" ;;
  mix) set -- --mix "'$read' 50 '$write' 50" "$@" ;;
  rate) set -- --command "$write" --set rate=500-1500 --set arrivals=poisson "$@" ;;
  slo) set -- --command "$write" --set 'slo=p50<=50ms' "$@" ;;
  reconnect) set -- --command "$write" --set reconnect=3 "$@" ;;
  storm) set -- --command "$write" --set storm=50ms "$@" ;;
  tracking) set -- --mix "'$read' 50 '$write' 50" --set tracking=on "$@" ;;
  verify) set -- --mix "'$read' 50 '$write' 50" --set verify=true "$@" ;;
  replay) set -- --replay ../trace "$@" ;;
  *) set -- --command "$write" "$@" ;;
  esac
  case $load_of in
  live) set -- --live 0 "$@" ;;
  hdr) set -- --hdr log.hlog "$@" ;;
  hosts)
    { nice vkb-load "$@" --client 2/2 >run.2 2>err.2; echo $? >status.2; } &
    set -- "$@" --client 1/2
    ;;
  esac
  nice vkb-load "$@" >run 2>err # the fault should come before the end
  echo $? >status
  wait
}
# begun PORT FEATURE: waits until the load of the feature has begun, or has ended. One
# process a feature: with a new one for each look, looking took most of the CPUs.
cat >begun.pl <<'END'
use strict;
use IO::Socket::INET;
my ($port, $command) = @ARGV;
my $s = IO::Socket::INET->new("127.0.0.1:$port") or die "no connection to port $port\n";
alarm 120;
print $s "CONFIG RESETSTAT\r\n";
<$s>;
until (-e 'status') {
  print $s "INFO commandstats\r\n";
  my $bytes = substr(<$s>, 1) + 2; # a bulk string and its end
  read($s, my $stats, $bytes) == $bytes or die "port $port answers nothing\n";
  exit 0 if $stats =~ /^cmdstat_$command:calls=(\d+)/m && $1 > 60;
  select undef, undef, undef, .05;
}
END
begun() {
  case $2 in mix | tracking | verify) begun_of='get' ;; *) begun_of='set' ;; esac
  perl ../begun.pl "$1" $begun_of
}
# cut PORT: closes the connections of a load, but none by which vkb-load prepares or
# ends a run.
cut() {
  valkey-cli -p "$1" client list |
    sed -n 's/^id=\([0-9]*\) .* cmd=[gs]et .*/client kill id \1/p' | valkey-cli -p "$1" >/dev/null
}
# A replay fails with the first request that it loses.
cut_or_ended() { [ -e status ] || { cut "$1"; false; }; }
# hurt FAULT FEATURE PORT PID: causes the fault during the load.
hurt() {
  case $1 in
  cut)
    begun "$3" "$2"
    cut "$3"
    [ "$2" != replay ] || wait_until 60 cut_or_ended "$3"
    ;;
  loading)
    begun "$3" "$2"
    valkey-cli -p "$3" config set key-load-delay 500 loading-process-events-interval-bytes 1024 >/dev/null
    valkey-cli -p "$3" debug reload >/dev/null
    ;;
  hung) begun "$3" "$2"; kill -STOP "$4" ;;
  killed) begun "$3" "$2"; kill -KILL "$4" ;;
  expired)
    begun "$3" "$2"
    valkey-cli -p "$3" config set tls-cert-file "$scratch/expired" >/dev/null
    cut "$3"
    ;;
  esac
}
# try FAULT FEATURE TIME OPTION...: runs a load with a fault in its own folder.
try() {
  try_fault=$1 try_feature=$2
  shift 2
  read -r try_port try_pid try_tls <"at.$try_feature"
  mkdir "$try_fault.$try_feature"
  cd "$try_fault.$try_feature" || exit
  try_at=$try_port try_proxy=
  case $try_fault in
  expired)
    try_at=$try_tls
    set -- "$@" --tls --cacert ../ca.crt
    ;;
  torn | nonsense | absurd)
    perl ../proxy.pl "$try_fault" "$try_port" proxy & try_proxy=$!
    wait_until 30 test -e proxy
    try_at=$(cat proxy)
    ;;
  esac
  load "$try_feature" "$try_at" "$@" &
  try_load=$!
  hurt "$try_fault" "$try_feature" "$try_port" "$try_pid"
  wait $try_load
  [ -z "$try_proxy" ] || kill $try_proxy
  [ "$try_fault" != hung ] || kill -CONT "$try_pid"
}
# try_all FAULT TIME OPTION...: tries all features at the same time.
try_all() {
  all_fault=$1 all_jobs=
  shift
  for feature in $features; do
    try "$all_fault" "$feature" "$@" 3>&- 4<&- &
    all_jobs="$all_jobs $!"
  done
  # shellcheck disable=SC2086 # several
  wait $all_jobs
}
# ends FAULT STATUS RECORD [PATTERN]: checks how the loads of all features ended.
ends() {
  # The error of a run that lost nothing else, but ended while the data were loaded.
  jq -r 'select(.type == "run" or .type == "part") | "\(input_filename) \(.status)" +
    if .error // "" | startswith("FLUSHALL: LOADING") then ", not emptied" else "" end' "$1".*/run | sort -u >records
  for feature in $features; do
    cd "$1.$feature" || exit
    ends_got=$(sed -n "s,^$1.$feature/run ,,p" ../records)
    ends_status=none
    read -r ends_status <status
    [ ! -e status.2 ] || ends_status=$(sort -u status status.2)
    ends_got="$ends_status $ends_got"
    # a busy machine may have no capacity, or answer nothing in the short time of a
    # trial: a search that reports this is right, too
    [ "$2.$feature" != 0.slo ] || ! grep -qE 'no capacity was found: p50<=50ms|in a closed loop no request was answered' err ||
      ends_got='0 ok'
    # so is a load that says that it could not empty a server that loads
    case "$1 $ends_got" in 'loading '*'2 failed, not emptied') ends_got='0 ok' ;; esac
    case $1.$feature in
    cut.replay) test_same '2 failed' "$ends_got" "$1, $feature: the load fails, since its commands have an order" ;;
    *) test_same "$2 $3" "$ends_got" "$1, $feature: the load ends with $2, its record is $3" ;;
    esac
    [ "$2 $3" = "$ends_got" ] || sed 's/^/# /' err
    [ -z "${4:-}" ] || test_match "$4" err "$1, $feature: the error has the reason"
    cd ..
  done
}

# meets FAULT ERROR [OTHERS]: the loads of all features have this error, and no others but
# the redirections of slots that move.
meets() {
  test_same "$2" "$(jq -r '.errors // {} | keys[]' "$1".*/run | sort -u | grep -vxE "${3:-none}")" \
    "$1: the errors are those of the fault"
}

# What a reply holds matters with the sanitizers, and what is freed with a connection; the
# rest is tried without them. In CI each is tried once.
hostile=yes others=yes
[ -z "${SANITIZE:-}" ] || others=
[ -z "${VKB_TEST_SANITIZE:-}" ] || [ -z "$others" ] || hostile=

write=SET read=GET lost=0 allowed=0 is=
if [ "$hostile" ]; then
  try_all torn 500 --flush
  ends torn 0 ok
  try_all nonsense 60s --flush
  ends nonsense 2 failed 'bad reply from|another part|part [12] of 2'
  try_all absurd 60s --flush
  ends absurd 2 failed 'announces more than|another part|part [12] of 2'
  lost=100000
  try_all cut 2s --flush
  ends cut 0 ok
fi
if [ "$others" ]; then
  lost=100000 is='--set tls_mode=true'
  try_all expired 60s --flush --timeout 20s
  is=
  ends expired 2 failed "certificate expired on|part [12] of 2|lost the connection|within 1 s|timed out"
  cat expired.*/err >expired.err
  test_match 'certificate expired on' expired.err 'expired: the error names the day'
  # What is sent again counts as an error, and more than 1 % on a busy machine.
  lost=0 allowed=100
  try_all loading 5s --flush
  ends loading 0 ok
  meets loading LOADING
  allowed=0
  try_all hung 60s --flush --timeout 8s
  ends hung 2 failed 'no reply from|cannot connect|part [12] of 2|timed out'
fi
lost=0
if [ "$hostile" ]; then
  try_all killed 60s --flush
  ends killed 2 failed 'lost the connection|cannot connect|closed|part [12] of 2|refused'
fi

# --- a cluster, with all features except replays (for those see t0340)

features=${features% replay*}${features#*replay}
busy() { # most of their connections are open, or they have ended
  [ "$(valkey-cli -p "$node_0" client list | grep -cE 'cmd=m?(get|set) ')" -ge \
    $((5 * $(echo "$todo" | wc -w) / 2)) ] || no_load
}
no_load() {
  for feature in $todo; do
    [ -e "$fault.$feature/status" ] || return 1
  done
}
is_up() { valkey-cli -p "$node_0" cluster info | grep -q cluster_state:ok; }
says() { # says ERROR TIMES: node 0 has sent this error as often
  no_load || valkey-cli -p "$node_0" info errorstats | tr -d '\r' | awk -F= -v e="errorstat_$1:count" -v n="$2" \
    '$1 == e && $2 >= n {found = 1} END {exit !found}'
}
# hurt_cluster FAULT: causes the fault
hurt_cluster() {
  wait_until 60 busy
  case $1 in
  down)
    valkey-cli -p "$node_0" cluster delslots 0 >/dev/null
    wait_until 60 says CLUSTERDOWN 100
    valkey-cli -p "$node_0" cluster addslots 0 >/dev/null
    ;;
  tryagain) # slots migrate to another node: first one of two keys of a request is there, then both
    from=$(valkey-cli -p "$node_0" cluster myid) to=$(valkey-cli -p "$node_1" cluster myid)
    valkey-cli -p "$node_0" --scan | sed -n 's/.*\({.*}\)a:.*/\1/p' | sort -u | head -n 60 >tags
    sed 's/^/cluster keyslot /' tags | valkey-cli -p "$node_0" | sed 's/.*/cluster setslot &/' >slots
    sed "s/\$/ importing $from/" slots | valkey-cli -p "$node_1" >/dev/null
    sed "s/\$/ migrating $to/" slots | valkey-cli -p "$node_0" >/dev/null
    for half in '}a:' '}b:'; do
      valkey-cli -p "$node_0" --scan | grep -F -f tags | grep "$half" |
        sed "s/.*/migrate 127.0.0.1 $node_1 & 0 5000/" | valkey-cli -p "$node_0" >/dev/null
      wait_until 60 says TRYAGAIN 300
    done
    for i in "$node_1" "$node_0"; do sed "s/\$/ node $to/" slots | valkey-cli -p "$i" >/dev/null; done
    ;;
  moved)
    valkey-cli --cluster reshard "127.0.0.1:$node_0" --cluster-yes --cluster-slots 800 --cluster-pipeline 100 \
      --cluster-from "$(valkey-cli -p "$node_0" cluster myid)" \
      --cluster-to "$(valkey-cli -p "$node_1" cluster myid)" >reshard.out 2>&1
    ;;
  esac
}
# has_met FEATURE: a search counts no errors, and a part may begin after the fault. A load
# that begins while slots move is refused, one that ends while the cluster is down fails.
has_met() {
  ! grep -qE 'slots of the cluster (that )?move|UNLINK: CLUSTERDOWN' "$fault.$1"/err* || return 1
  case " $met slo hosts " in *" $1 "*) ;; *) return 1 ;; esac
}
allowed=100 is='--set cluster_mode=true --set cluster_nodes=3'
for fault in ${others:+down} ${hostile:+moved} ${others:+tryagain}; do
  time=3
  if [ "$fault" = tryagain ]; then
    time=5
    write='MSET __prefix__{tag}a:__rand_1st__ __data__ __prefix__{tag}b:__rand_1st__ __data__'
    read='MGET __prefix__{tag}a:__rand_1st__ __prefix__{tag}b:__rand_1st__'
  fi
  # Those that a busy machine did not run during the fault are tried again, for longer.
  todo=$features tries=0
  while [ "$todo" ] && [ $((tries += 1)) -le 9 ]; do
    wait_until 60 is_up
    for i in "$node_0" "$node_1" "$node_2"; do valkey-cli -p "$i" config resetstat >/dev/null; done
    jobs=
    for feature in $todo; do
      rm -rf "$fault.$feature"
      mkdir "$fault.$feature"
      (cd "$fault.$feature" && load "$feature" "$node_0" "$((time * tries))s" --no-flush) 3>&- 4<&- &
      jobs="$jobs $!"
    done
    hurt_cluster "$fault"
    # shellcheck disable=SC2086 # several
    wait $jobs
    again=
    met=$(jq -r 'select(.metrics.errors > 0) | " \(input_filename | split("/")[0] | split(".")[1]) "' "$fault".*/run)
    for feature in $todo; do
      has_met "$feature" || again="$again $feature"
    done
    todo=$again
  done
  ends "$fault" 0 ok
  case $fault in
  down) meets down CLUSTERDOWN ;;
  moved) meets moved MOVED ASK ;;
  tryagain) meets tryagain TRYAGAIN 'ASK|MOVED' ;;
  esac
  test_empty "$todo" "$fault: all loads have met the fault"
done

end_other
test_litter 20 'no server and no file is left'
test_done
