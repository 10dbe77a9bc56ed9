#!/usr/bin/perl
# planted.pl [COMMITS]: the runs of a branch, by default 60 commits, of 24 cases,
# and its commit records. Planted are, for 60 commits: SET is 8 % slower from the
# 22nd to the 33rd; HSET, LPUSH and SADD are 7 % slower from the 41st on; INCR loses
# 9 % little by little from the 12th to the 52nd; GET is 6 % faster from the 47th on;
# MSET without a pipeline is 30 % slower at the 28th alone.
use strict;
use warnings;
use JSON::PP;
use POSIX qw(strftime);

my $json = JSON::PP->new->canonical;
my $commits = shift // 60;
my $scale = $commits / 60;
my @titles = ('Avoid a copy of the reply', 'Fix a leak in <script>alert(1)</script>',
  'Embed the key in the dict entry', 'Revert "Prefetch the hash table"',
  'Add a test of RESTORE', 'Refactor the event loop, part II: timers & files');
srand 11;

# A normal deviate.
sub noise { return sqrt(-2 * log(1 - rand)) * cos(6.283185 * rand) }

sub put { print $json->encode({v => 1, @_}), "\n" }

# The factor of the throughput of a case at a commit, counted from 1.
sub factor {
  my ($case, $c) = @_;
  my ($command, $at) = ($case->{command}, sub { $c >= $_[0] * $scale });
  return .92 if $command eq 'SET' && $at->(22) && !$at->(33);
  return .93 if $command =~ /^(HSET|LPUSH|SADD)$/ && $at->(41);
  return 1 - .09 * ($c < 12 * $scale ? 0 : $c > 52 * $scale ? 1 : ($c / $scale - 12) / 40)
    if $command eq 'INCR';
  return 1.06 if $command eq 'GET' && $at->(47);
  return .7 if $command eq 'MSET' && $case->{pipeline} == 1 && $c == int 28 * $scale;
  return 1;
}

my @cases;
for my $command (qw(GET SET HSET LPUSH SADD INCR MSET ZADD)) {
  push @cases, {command => $command, data_size => $_->[0], pipeline => $_->[1], clients => 50,
    duration_s => 10} for [16, 1], [16, 10], [256, 10];
}
for my $c (1 .. $commits) {
  my $sha = sprintf '%08x%032x', $c * 2654435761 % 2**32, $c;
  my $before = sprintf '%08x%032x', ($c - 1) * 2654435761 % 2**32, $c - 1;
  my $time = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(1767225600 + $c * 86400 * 1.6));
  put(type => 'commit', commit => $sha, $c > 1 ? (parents => [$before]) : (parents => []),
    time => $time, title => $titles[$c % @titles] . " (#$c)");
  for my $case (@cases) {
    my $level = 1e5 * (1 + length $case->{command}) * ($case->{pipeline} > 1 ? 2 : .4) *
      factor($case, $c) * (1 + .006 * noise());
    for my $k (1 .. 5) {
      my $rps = $level * (1 + .004 * noise());
      my $ms = 50 * $case->{pipeline} * 1000 / $rps;
      put(type => 'run', subject => {commit => $sha, time => $time, ref => 'unstable',
          repository => 'valkey-io/valkey', server_version => '255.255.255'},
        config => $case, run => {session => "s$c", index => $k, started => $time},
        metrics => {rps => int $rps, p50_latency_ms => sprintf('%.3f', $ms) + 0,
          p99_latency_ms => sprintf('%.3f', $ms * 2.1 * (1 + .02 * noise())) + 0},
        status => 'ok');
    }
  }
}
