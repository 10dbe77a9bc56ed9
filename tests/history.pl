#!/usr/bin/perl
# history.pl core|module: the runs of forty commits, three of each case, and of
# core the machines they were on. From the 31st on SET and FT.SEARCH are slower,
# and the last one is slower still.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->canonical;
my ($no, $yes) = (JSON::PP::false, JSON::PP::true);
my $module = shift eq 'module';
srand 7;

sub at {
  my ($day, $hour) = @_;
  return sprintf '2026-%02d-%02dT%02d:00:00Z', 1 + int($day / 28), 1 + $day % 28, $hour;
}

sub put { print $json->encode({v => 1, @_}), "\n" }

my @cases;
if ($module) {
  for my $scenario ('a', 'b') {
    push @cases, {command => 'FT.SEARCH', data_size => 100, pipeline => 1,
      clients => 10, requests => 100, io_threads => 4, cluster_mode => $_,
      tls_mode => $no, group => 1, scenario => $scenario,
      test_id => "1_$scenario", test_phase => 'read',
      config_set => {'search.x' => 8}} for $no, $yes;
  }
} else {
  for my $command ('GET', "it's", 'SET') {
    push @cases, {command => $command, data_size => $_, pipeline => 10,
      clients => 50, duration_s => 10, warmup_s => 2, io_threads => 1,
      cluster_mode => $no, tls_mode => $no} for 16, 512;
  }
}
for my $c (0 .. 39) {
  my $sha = sprintf '%04x%036x', 7 * $c + 1, 0;
  put(type => 'env', session => "s$c", time => at($c, 9),
    env => {host => $c % 2 ? 'one' : 'two', kernel => $c < 20 ? '6.1' : '6.8',
      governor => 'performance', cpus => 8, smt => $no},
    now => {load_1m => $c / 10, busy_percent => 1.5, steal_percent => 0,
      cpu_pressure_percent => 0, temperature_c => 50 + $c % 3,
      thermal_throttles => 0, memory_available_mb => 1000, swap_used_mb => 0})
    if !$module;
  for my $case (@cases) {
    for my $k (1 .. 3) {
      my $rps = 100000 + int 500 * rand;
      $rps *= .9 if $c >= 30 && $case->{command} =~ /SET|FT/;
      $rps *= .9 if $c >= 39 && $case->{command} =~ /SET|FT/;
      my %subject = (commit => $sha, time => at($c, 8), repository => 'valkey-io/valkey');
      @subject{'module_commit', 'module_time'} = ($sha, at($c, 8)) if $module;
      put(type => 'run', subject => \%subject, config => $case,
        run => {session => "s$c", index => $k, started => at($c, 10)},
        env => {arch => 'x86_64'},
        $module ? (about => {config_name => 'fts', group_description => "it's, all"}) : (),
        metrics => {rps => int $rps, cpu_avg_percent => 50 + $k,
          $module ? () : (stored_bytes_per_key => $case->{data_size} + 60.5 - $c / 4,
            memory_overhead_ratio => 2 - $c / 100),
          map { ("${_}_latency_ms", int(1e6 / $rps * 100) / 1000) } qw(avg min p50 p95 p99 max)},
        status => 'ok');
    }
  }
}
put(type => 'run', subject => {commit => 'f' x 40, time => at(39, 8), module_commit => 'f' x 40, module_time => at(39, 8)},
  config => {%{$cases[0]}}, run => {session => 's39', index => 9, started => at(39, 10)},
  env => {arch => 'x86_64'}, metrics => {}, status => 'failed', error => 'it broke',
  $module ? (about => {config_name => 'fts', group_description => "it's, all"}) : ());
