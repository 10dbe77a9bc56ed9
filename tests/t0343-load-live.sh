#!/bin/sh
# --live: metrics of the run in progress for Prometheus, which no request can stop.
. "${0%/*}/lib.sh"
test_server 'live metrics'
if ! command -v curl >/dev/null; then
  test_skip 'live metrics' curl
  test_done
fi
test_cleanup() { [ -z "${load:-}" ] || kill "$load" 2>/dev/null; }

printf '[{"commands":["SET"],"keyspacelen":[100],"clients":[3],"duration":60,"warmup":0.2,"rate":1000}]\n' >c.json
printf '[{"mix":"\047NOSUCH {key}\047 1","max_errors_percent":100,"keyspacelen":[100],"clients":[3],"duration":60,"rate":1000}]\n' >errors.json

# start OPTION...: vkb-load in the background; $load, and $url where it answers.
start() {
  vkb-load --runs 1 --live 0 "$@" >out 2>err &
  load=$!
  is_announced() { grep -q 'live metrics: http' err || ! kill -0 "$load"; }
  wait_until 20 is_announced
  url=$(sed -n 's/.*live metrics: \(http:.*\)/\1/p' err)
}
# stop: what runs in the background of a script ignores SIGINT, and would go on to
# the end of its minute.
stop() {
  kill -TERM "$load"
  wait "$load"
  test_same 143 $? 'a signal ends the session'
}
# get NAME: lines of a metric
get() { curl -sf --max-time 10 "$url" | grep "^vkb_$1"; }
is_measuring() { get phase | grep -q '"measuring"} 1'; }
has_answers() { get 'latency_seconds_count' | awk '$2 > 0 {ok = 1} END {exit !ok}'; }

start c.json
test_match '^vkb-load: live metrics: http://127\.0\.0\.1:[0-9]+/metrics$' err 'a message has the address, which is on loopback'
test_that 'the run is measured' wait_until 20 is_measuring
test_that 'and has answers' wait_until 20 has_answers
curl -s -D heads "$url" >metrics
test_match '^HTTP/1.1 200 OK' heads 'an answer'
test_match '^Content-Type: text/plain; version=0.0.4; charset=utf-8' heads 'in the format of Prometheus'
test_same "$(wc -c <metrics | tr -d ' ')" "$(tr -d '\r' <heads | sed -n 's/^Content-Length: //p')" 'of the length it says'
for name in runs_planned 'runs_total{status="ok"}' 'run_info{run="SET ' 'phase{phase="measuring"} 1' run_done_ratio \
  'requests_total{case="SET' 'errors_total{case="SET' 'requests_per_second{case="SET' \
  'latency_seconds{case="SET'; do
  test_same 1 "$(grep -cF "vkb_$name" metrics | sed 's/[2-9]/1/')" "the metric $name"
done
test_same '0.5 0.95 0.99 0.999' "$(sed -n 's/.*quantile="\([^"]*\)".*/\1/p' metrics | xargs)" 'four percentiles'
# A strict reader of the text format, version 0.0.4: prints what is wrong.
cat >format.pl <<'END'
local $/;
my $text = <STDIN>;
print "the last line has no end\n" if $text !~ /\n\z/;
my ($group, %help, %type, %seen, %series);
for (split /\n/, $text) {
  if (/^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/) {
    my ($what, $name, $rest) = ($1, $2, $3);
    print "the group $name comes twice\n" if ($group // '') ne $name and $seen{$name}++;
    $group = $name;
    print "$what of $name comes twice\n" if ($what eq 'HELP' ? \%help : \%type)->{$name};
    print "$what of $name comes behind its samples\n" if $series{$name};
    print "HELP of $name: a backslash without n or backslash\n" if $what eq 'HELP' and $rest =~ /\\(?![\\n])/;
    print "TYPE of $name: $rest\n" if $what eq 'TYPE' and $rest !~ /^(counter|gauge|summary|histogram|untyped)$/;
    ($what eq 'HELP' ? \%help : \%type)->{$name} = $rest;
    next;
  }
  unless (/^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\"n])*",?)*)\})? (\S+)$/) {
    print "not a line of the format: $_\n";
    next;
  }
  my ($name, $labels, $value) = ($1, $2 // '', $3);
  (my $base = $name) =~ s/_(sum|count)$//;
  $base = $name unless ($type{$base} // '') eq 'summary';
  my %labels = $labels =~ /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
  my @names = $labels =~ /([a-zA-Z_][a-zA-Z0-9_]*)="/g;
  print "$name: a label comes twice\n" if keys %labels != @names and $labels !~ /=\\"/;
  print "$name is not in the group $group\n" if $base ne ($group // '');
  print "$name has no HELP and TYPE\n" unless $help{$base} and $type{$base};
  print "$name: not a number: $value\n"
    if $value !~ /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/ and $value !~ /^([-+]?Inf|NaN)$/;
  print "$name: a counter that goes down or is not whole\n" if $type{$base} eq 'counter' and $value !~ /^\d+$/;
  print "$name: a counter that does not end in _total\n" if $type{$base} eq 'counter' and $name !~ /_total$/;
  print "$name: quantile\n" if $type{$base} eq 'summary' and $name eq $base and ($labels{quantile} // '') !~ /^(0|1|0\.\d+)$/;
  print "the series $name\{$labels\} comes twice\n" if $series{"$name\{" . join(',', map { "$_=$labels{$_}" } sort keys %labels) . '}'}++;
  $series{$base}++;
}
END
test_empty "$(perl format.pl <metrics)" 'they are what the text format asks for'
for bad in 's/^# TYPE vkb_phase.*//' 's/"ok"/"o\\k"/' 's/vkb_runs_planned \([0-9]\)/vkb_runs_planned x\1/' \
  's/^\(vkb_run_done_ratio .*\)/\1\n\1/' 's/^# HELP vkb_phase.*/&\n&/' 's/quantile="0.5"/quantile="p50"/' \
  's/^\(vkb_requests_total{.*\) [0-9]*$/\1 -1/'; do
  sed "$bad" metrics >broken
  test_match . "$(perl format.pl <broken >found; echo found)" "and the reader of it finds a mistake: $bad"
done
printf '%s' "$(cat metrics)" | perl format.pl >found
test_match 'the last line has no end' found 'and a last line that is cut'
if command -v promtool >/dev/null; then
  test_that 'promtool finds no fault' sh -c 'promtool check metrics <metrics'
fi
first=$(get requests_total | awk '{print $2}')
goes_on() { [ "$(get requests_total | awk '{print $2}')" -gt "$first" ]; }
test_that 'requests grow' wait_until 20 goes_on

# --- what clients should not send

code() { curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$@"; }
test_same 404 "$(code "${url%/metrics}/other")" 'another path'
test_same 404 "$(code "${url}x")" 'a longer path'
test_same 200 "$(code "$url?a=b")" 'a query is ignored'
test_same 405 "$(code -X POST -d x "$url")" 'only GET and HEAD'
test_same 405 "$(code -X DELETE "$url")" 'nothing can be changed'
test_same 200 "$(code -I "$url")" 'HEAD'
test_same 0 "$(curl -s -I "$url" | sed '1,/^.$/d' | wc -c | tr -d ' ')" 'has no body'
port=${url##*:}
port=${port%%/*}
cat >hostile.pl <<'END'
use IO::Socket::INET;
my $port = shift;
sub ask { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die "connect: $!\n" }
my $s = ask(); # longer than any request
print $s "GET /metrics HTTP/1.1\r\nX: ", "a" x 10000;
my $line = <$s> // 'closed';
print $line;
for my $bytes ("\0" x 100 . "\r\n\r\n", "\xff\xfe\r\n\r\n", "\r\n\r\n", "GET", "GET \r\n\r\n", "GET /metrics\n\n",
  "GET /metricsGET /metrics\r\n\r\n", "%s%n%s%n\r\n\r\n") {
  $s = ask(); print $s $bytes; shutdown $s, 1; my @answer = <$s>; }
my @slow = map { my $x = ask(); print $x "GET /me"; $x } 1 .. 40; # they never end
for my $x (1 .. 10) { $s = ask(); print $s "GET /metrics HTTP/1.1\r\n\r\n"; close $s } # and never read
$s = ask();
print $s "GET /metrics HTTP/1.1\r\n\r\n";
print scalar <$s>;
my $eof = 0;
for my $x (@slow) { local $SIG{ALRM} = sub { die "not dropped\n" }; alarm 60; sysread $x, my $b, 1; $eof++; alarm 0 }
print "$eof dropped\n";
END
perl hostile.pl "$port" >hostile 2>&1
test_match '^HTTP/1.1 431' hostile 'a request without an end is refused'
test_same 1 "$(grep -c '^HTTP/1.1 200' hostile)" 'one that is right is answered beside 40 that never end'
test_match '^40 dropped' hostile 'which are dropped'
test_that 'after all that it answers' is_measuring
start2_err=$(vkb-load --runs 1 --live "$port" c.json 2>&1 >/dev/null)
test_same 2 $? 'a port that is taken ends the session'
printf '%s\n' "$start2_err" >taken
test_match "cannot serve live metrics on '$port': Address already in use" taken 'and the message has the address'
stop
test_status 7 'the port is closed after the end' curl -s "$url"

# --- what goes wrong in the load is seen

start errors.json
errors_grow() { get errors_total | awk '$2 > 0 {ok = 1} END {exit !ok}'; }
test_that 'errors are counted' wait_until 20 errors_grow
stop
for bad in x 70000 1.2.3.4.5:1 '[::1' ''; do
  test_status 2 "--live '$bad' is refused" vkb-load --runs 1 --live "$bad" c.json
  test_match "cannot serve live metrics on '" .err 'and the message names it'
done
test_status 2 'no metrics without runs' vkb-load --plan --live 0 c.json
test_litter 20 'nothing is left'
test_done
