#!/bin/sh
# The load engine with unusual replies: push messages, a reply that arrives slowly, and
# lengths that are too large.
# sanitize: replies of every kind.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

# --- client tracking on a real server: one stream gets the invalidations of another

if command -v valkey-server >/dev/null; then
  TMPDIR=$scratch/tmp
  export TMPDIR
  mkdir "$TMPDIR"
  cat >tracking <<'END'
"$ENGINE" -p "$VKB_PORT" -3 -c 4 -P 7 -D 1 --max-lost 0 \
  -t 'CLIENT TRACKING ON BCAST' -t 'SET key:__rand_int__ x'
END
  ENGINE=$engine
  export ENGINE
  test_that 'tracked clients under load' vkb-serve -q -- sh -u ./tracking
  cp .out tracked
  # Each of four connections gets invalidations of the keys of the other stream.
  test_result "$(awk '$1 == "pushes" && !n++ {print !($2 > 100)}' tracked)" \
    'push messages are counted'
  test_same '0 0 ' "$(value errors_total tracked | tr '\n' ' ')" 'push messages are not errors'
  test_same '0 0 ' "$(value lost tracked | tr '\n' ' ')" 'push messages do not break connections'
else
  test_skip 'client tracking' valkey-server
fi

# --- what a real server does not send: fake MODE writes its port to ./port

cat >fake.pl <<'END'
use IO::Socket::INET;
my $mode = shift;
my $s = IO::Socket::INET->new(Listen => 9, LocalAddr => '127.0.0.1') or die;
$| = 1;
print $s->sockport, "\n";
my $push = ">2\r\n\$10\r\ninvalidate\r\n*2\r\n_\r\n-ERR\r\n";
my %reply = (
  push => "$push+OK\r\n$push",
  string => "\$99999999999\r\n",
  array => "*4294967296\r\n",
  more => "+OK\r\n+OK\r\n");
my $n = 0;
while (my $c = $s->accept) {
  my $b;
  while (sysread $c, $b, 65536) {
    for ($b =~ /^\*\d+\r\n\$\d+\r\n(\w+)/mg) {
      if ($mode eq 'drip') {
        syswrite $c, "\$100000\r\n" unless $n++;
        # Sends a byte every twentieth of a second until the load closes the
        # connection.
        $SIG{PIPE} = 'IGNORE';
        1 while syswrite($c, 'x') && !select undef, undef, undef, 0.05;
        last;
      }
      next if $mode eq 'mute';
      syswrite $c, $_ eq 'HELLO' ? "$push%1\r\n+proto\r\n:3\r\n$push" : $reply{$mode};
    }
  }
}
END
fake=
test_cleanup() { [ -z "$fake" ] || kill "$fake"; }
fake() {
  test_cleanup
  rm -f port
  perl fake.pl "$1" >port &
  fake=$!
  wait_until 10 test -s port
  port=$(cat port)
}

fake push
for how in '-n 100 -P 1' '-n 100 -P 10' '-n 100 -R 10000 -P 3' ; do
  # shellcheck disable=SC2086 # several words
  test_that "push messages around each reply: $how" "$engine" -p "$port" -3 \
    -t GET -c 1 $how
  # Two with each reply and two with HELLO; the last one may be missing.
  test_same '100 100 0' "$(value requests .out) $(value hit_rate_percent .out) \
$(value errors_total .out)" 'push messages are neither replies, misses nor errors'
  n=$(value pushes .out)
  test_result "$((n < 201 || n > 202))" "push messages are counted ($n)"
done
fake drip
test_status 2 'a reply that arrives slowly' timeout 20 "$engine" -p "$port" -n 10 -c 1 -t GET \
  --timeout 0.5
test_match "no reply from '127.0.0.1:$port' to GET for 0.5 s; 0 lost, 1 unanswered" \
  .err 'the timeout is that of the whole request'
fake mute
test_status 2 'a server that does not answer while it is populated' \
  "$engine" -p "$port" -n 10 -c 1 -t GET --only-fill --timeout 0.5
test_match "no reply from '127.0.0.1:$port' for 0.5 s\$" .err \
  'the timeout is that of populating'
fake string
test_status 2 'a string without end' "$engine" -p "$port" -n 10 -c 1 -t GET
test_match "bad reply from '127.0.0.1:$port' to GET: it announces more than 1073741824 bytes in a string \('\\\$9999999999\.\.\.'\)" \
  .err 'an endless string: the length, command and server are printed'
fake array
test_status 2 'an array without end' "$engine" -p "$port" -n 10 -c 1 -t MGET
test_match "bad reply from '127.0.0.1:$port' to MGET: it announces more than 134217728 elements" \
  .err 'an endless array: the length, command and server are printed'
fake more
test_status 2 'more replies than requests' "$engine" -p "$port" -n 10 -c 1
test_match "bad reply from '127.0.0.1:$port' to SET: more than was asked for" \
  .err 'more replies than requests are refused'
test_done
