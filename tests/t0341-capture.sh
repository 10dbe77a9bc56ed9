#!/bin/sh
# vkb-record reads network captures: the commands of each client are put together
# from packets that come twice, late, cut, or not at all.
# sanitize: captured packets.
. "${0%/*}/lib.sh"

# packets [LINK]: a capture of the lines "TIME PORT SEQ FLAGS DATA" to port 6379;
# FLAGS is 2 for SYN, else 16; a number before a colon in DATA cuts the packet.
cat >packets.pl <<'END'
my $link = shift // 'ip';
my %type = (ip => 101, ether => 1, vlan => 1, any => 113, any2 => 276, null => 0, ip6 => 101);
my %head = (ip => '', ip6 => '', ether => "\0" x 12 . "\x08\0",
  vlan => "\0" x 12 . "\x81\0\0\x05\x08\0", any => "\0" x 14 . "\x08\0",
  any2 => "\x08\0" . "\0" x 18, null => "\2\0\0\0");
binmode STDOUT;
print pack('VvvVVVV', 0xa1b2c3d4, 2, 4, 0, 0, 65535, $type{$link});
while (<STDIN>) {
  chomp;
  my ($t, $port, $seq, $flags, $data) = split / /, $_, 5;
  my $cut = $data =~ s/^(\d+):// ? $1 : undef;
  $data = eval qq("$data") // '';
  my $tcp = pack('nnNNCCnnn', $port, 6379, $seq, 0, 0x50, $flags, 9, 0, 0) . $data;
  my $ip = $link eq 'ip6'
    ? pack('NnCC', 0x60000000, 8 + length $tcp, 0, 9) . "\0" x 15 . "\1" . "\0" x 15 . "\1" .
      pack('CCnN', 6, 0, 0, 0)
    : pack('CCnnnCCnNN', 0x45, 0, 20 + length $tcp, 0, 0x4000, 9, 6, 0, 0x7f000001, 0x7f000001);
  my $p = $head{$link} . $ip . $tcp;
  $p .= "\0" x 6 if $link eq 'ether'; # padding
  my $have = defined $cut ? length($p) - length($data) + $cut : length $p;
  print pack('VVVV', int $t, ($t - int $t) * 1e6 + .5, $have, length $p), substr $p, 0, $have;
}
END
packets() { perl packets.pl "$@" >capture; }
# The same as pcapng: a section, an interface, and packets.
cat >next.pl <<'END'
binmode STDIN; binmode STDOUT;
sub block { my ($type, $body) = @_; my $n = 12 + length $body;
  print pack('VV', $type, $n), $body, pack('V', $n) }
read STDIN, my $head, 24;
block(0x0a0d0d0a, pack('VvvVV', 0x1a2b3c4d, 1, 0, 0xffffffff, 0xffffffff));
block(1, pack('vvV', unpack('V', substr $head, 20), 0, 65535));
while (read STDIN, my $h, 16) {
  my ($s, $us, $have, $all) = unpack 'V4', $h;
  read STDIN, my $p, $have;
  my $t = $s * 1000000 + $us;
  block(6, pack('V5', 0, $t >> 32, $t & 0xffffffff, $have, $all) . $p . "\0" x (-$have % 4));
}
END
# got STATUS WHAT: records the capture, whose commands are then in 'seen'.
got() {
  test_status "$1" "$2" vkb-record capture
  vkb-record --monitor .out >seen
}

cat >plain <<'END'
1.5 5000 99 2
1.5 5000 100 16 *2\r\n\$3\r\nGET\r\n\$1\r\na\r\n*2\r\n\$6\r\nSELECT\r\n\$1\r\n3\r\n*3\r\n\$3\r\nS
1.75 5000 152 16 ET\r\n\$1\r\nb\r\n\$4\r\nv\0\r\n\r\n
1.75 5001 7 16 PING\r\n
1.8 5001 13 16 *1\r\n\$4\r\nPING\r\nPING  x\r\n
END
wanted='1.500000 [0 127.0.0.1:5000] "GET" "a"
1.500000 [3 127.0.0.1:5000] "SELECT" "3"
1.750000 [3 127.0.0.1:5000] "SET" "b" "v\x00\r\n"
1.800000 [0 127.0.0.1:5001] "PING"
1.800000 [0 127.0.0.1:5001] "PING" "x"'
for link in ip ether vlan any any2 null; do
  packets $link <plain
  got 0 "packets with the header '$link'"
  test_same "$wanted" "$(cat seen)" "$link: commands, databases and times are those of the packets"
done
packets <plain
perl next.pl <capture >next
mv next capture
got 0 'a capture as pcapng'
test_same "$wanted" "$(cat seen)" 'pcapng: the same'
packets ip6 <plain
got 0 'packets of IPv6, with hop-by-hop options'
test_same "$wanted" "$(sed 's/\[::1\]/127.0.0.1/' seen)" 'IPv6: the same'
vkb-record --show .out >shown
test_match '^source +capture$' shown 'the trace names its source'
packets <plain
test_same "$(vkb-record -q <capture | vkb-record --monitor)" "$wanted" 'stdin is read as a file is'
test_status 2 'another port' vkb-record --port 7000 capture
test_match 'capture: nothing was sent to port 7000: .--port. says which' .err 'the message names --port'
sed 's/^/1700000000.000001 [0 a] "/; s/$/"/' plain | head -n 1 >text
test_status 2 '--port with another file' vkb-record --port 7000 text
test_match "'--port' with a FILE is for a network capture" .err 'the message says so'

# Twice, in another order, with an overlap; then a new connection of that port.
packets <<'END'
1 5000 4294967290 2
1 5000 4294967290 2
2 5000 4294967291 16 *2\r\n\$3\r\nGET
2 5000 4294967291 16 *2\r\n\$3\r\nGET
4 5000 11 16 \nbb\r\n
3 5000 6 16 \r\n\$2\r\nbb\r\n
3 5000 15 16
5 5000 16 16 *1\r\n\$4\r\nPI
6 5000 700 2
7 5000 701 16 *1\r\n\$4\r\nINFO\r\n
END
got 0 'packets that come twice and in another order'
test_same '3.000000 [0 127.0.0.1:5000] "GET" "bb"
7.000000 [0 127.0.0.1:5000] "INFO"' "$(cat seen)" 'give each command once'
vkb-record --show .out >shown
test_match '^connections +2$' shown 'a port that is used again is another connection'
packets <<'END'
1 5000 99 2
2 5000 100 16 *2\r\n\$3\r\nGET\r\n\$1\r\na\r\n
3 5000 126 16 end of what was lost\r\n
4 5000 147 16 *2\r\n\$3\r\nGET\r\n\$1\r\nb\r\n
END
got 2 'packets that are missing'
test_match 'capture: packets are missing in 1 place; what was sent there is not in the trace' .err \
  'the message says how often'
test_same '"GET" "a"
"GET" "b"' "$(cut -d' ' -f4- seen)" 'what comes before and behind is recorded'
packets <<'END'
1 5000 99 2
2 5000 100 16 17:*2\r\n\$3\r\nGET\r\n\$9\r\naaaaaaaaa\r\n
3 5000 128 16 *2\r\n\$3\r\nGET\r\n\$1\r\nb\r\n
END
got 2 'packets that were cut'
test_same '"GET" "b"' "$(cut -d' ' -f4- seen)" 'are missing'
packets <<'END'
2 5000 100 16 end of a value\r\n
3 5000 116 16 *2\r\n\$3\r\nGET\r\n\$1\r\nb\r\n
END
got 0 'a connection that began before the capture'
test_same '"GET" "b"' "$(cut -d' ' -f4- seen)" 'is recorded from a command on'
packets <<'END'
2 5000 100 16 *1\r\n\$4\r\nINFO\r\n*2\r\n\$3\r\nGET\r\n\$9\r\naaaa
2 5001 100 16 *2\r\n\$3\r\nGE
2 5002 100 16 *1\r\n\$4\r\nECHO\r\n
END
got 2 'a capture that ends within commands'
test_match 'capture: truncated: it ends within 2 commands, not in the trace' .err \
  'the message says how many'
test_same '"INFO" "ECHO"' "$(cut -d' ' -f4- seen | xargs -d '\n')" \
  'the commands before are recorded'
# shellcheck disable=SC2016 # for perl
for bad in '*2\r\n\$3\r\nGET\r\n\$x\r\n' '*9999999999\r\n' '*1\r\n\$4\r\nPINGPONG' '*-1\r\n'; do
  packets <<END
1 5000 99 2
2 5000 100 16 *1\r\n\\\$4\r\nINFO\r\n$(printf '%s' "$bad" | sed 's/\\\$/\\\\\\$/g')
3 5000 160 16 *1\r\n\\\$4\r\nECHO\r\n
END
  got 2 "not a command: $bad"
  test_match 'capture: 1 place where a client sent no command' .err "$bad: the message"
  test_same '"INFO" "ECHO"' "$(cut -d' ' -f4- seen | xargs -d '\n')" "$bad: what comes before and behind is recorded"
done
packets <<'END'
1 5000 99 2
2 5000 100 16 \x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03
END
got 2 'a connection with TLS'
test_match 'capture: no command was sent to port 6379: a connection with TLS cannot be read' .err \
  'the message says so'
packets <plain
size=$(wc -c <capture)
for n in 3 20 30 60 $((size - 1)); do
  packets <plain
  head -c "$n" capture >torn
  test_status 2 "a capture of $n of $size bytes" vkb-record torn
  test_match '^vkb-record: torn: ' .err "$n bytes: the file is named"
done

# --- a real capture, beside MONITOR

test_server 'a capture of a server'
if ! command -v tcpdump >/dev/null; then
  test_skip 'a capture of a server' tcpdump
  test_done
fi
. "$tests/engine.sh"
ENGINE=$engine
export ENGINE
cat >run <<'END'
. "$tests/wait.sh"
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
watched() { cli client list | grep 'cmd=monitor'; }
finished() {
  { vkb-record -q --port "$VKB_PORT" "$1" | vkb-record --monitor || :; vkb-record --monitor "$1"; } | grep finished
}
tcpdump -i lo -s 0 -B 65536 -U -w real tcp port "$VKB_PORT" >tcpdump.err 2>&1 & dump=$!
until grep -q listening tcpdump.err; do kill -0 $dump || exit 0; done
vkb-record -q --port "$VKB_PORT" >live & recorder=$!
wait_until 60 watched
"$ENGINE" -p "$VKB_PORT" -n 3000 -c 5 -P 7 -d 3000 -r 50 -t SET >/dev/null
"$ENGINE" -p "$VKB_PORT" -n 30 -c 2 -d 300000 -t 'HSET h:__rand_int__ f __data__' >/dev/null
printf '%s\n' 'SELECT 3' 'SET a b' 'LPUSH l 1 2 3' | cli >/dev/null
cli echo finished >/dev/null
for file in live real; do wait_until 60 finished $file; done
kill -INT $recorder $dump
wait
vkb-record --port "$VKB_PORT" real >real.trace 2>real.err
echo $? >real.status
END
vkb-serve -- sh -u ./run >/dev/null 2>&1 || true
if ! grep -q listening tcpdump.err; then
  test_unable 'a capture of a server' "$(tail -n 1 tcpdump.err)"
  test_done
fi
sed 's/^/# /' real.err
test_same 0 "$(cat real.status)" 'a capture of tcpdump is recorded'
# The commands of each connection in their order.
commands() {
  vkb-record --monitor "$1" | grep -E '"(SET|HSET|LPUSH|SELECT|echo|ECHO)"' |
    sed 's/^[0-9.]* //' | sort -s -t' ' -k2,2
}
commands live >from.monitor
commands real.trace >from.capture
test_same 3034 "$(wc -l <from.capture | tr -d ' ')" 'it has all commands'
test_that 'they are those that MONITOR shows' cmp from.monitor from.capture
test_done
