#!/usr/bin/perl
# reports.pl: writes the records that t0410 reports of, always the same ones, to the
# current folder: NAME holds runs or summaries, of the builds that it mentions below.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->canonical;
my $state;

sub uniform {
    $state = ($state * 1664525 + 1013904223) % 2**32;
    return $state / 2**32;
}

sub normal {
    my $sum = -6;
    $sum += uniform() for 1 .. 12;
    return $sum;
}

# Appends runs to FILE. Of each build: its label, the sessions, how many runs of a
# session, what its metrics are multiplied with, the noise, and what differs.
sub runs {
    my ($file, %of) = @_;
    open my $out, '>>', $file or die "reports.pl: cannot write '$file': $!\n";
    my $of_session = $of{sessions} // { s => 1 };
    for my $session (sort keys %$of_session) {
        for my $command (sort keys %{ $of{cases} }) {
            my ($by, $more) = @{ $of{cases}{$command} };
            for my $k (1 .. $of{n}) {
                my %metrics;
                for my $name (sort keys %{ $of{metrics} }) {
                    my ($usual, $slow) = @{ $of{metrics}{$name} };
                    my $v = $usual * ($by * $of_session->{$session})**$slow *
                      exp(($of{noise} // .01) * normal());
                    $metrics{$name} = sprintf('%.5g', $v) + 0;
                }
                my %run = (session => "$session", index => $k);
                $run{block} = $k if $of{blocks};
                my %rec = (type => 'run', v => 1, status => 'ok', run => \%run,
                    subject => { label => $of{label}, %{ $of{subject} // {} } },
                    config  => { command => $command, clients => 50, data_size => 64, warmup_s => 3,
                        %{ $of{config} // {} }, %{ $more // {} } },
                    env     => { virtual => JSON::PP::true, host => 'alpha', %{ $of{env} // {} } },
                    metrics => { %metrics, %{ $of{fixed} // {} } });
                $rec{bound} = $of{bound} if $of{bound};
                print $out $json->encode(\%rec), "\n";
            }
        }
    }
    close $out or die "reports.pl: cannot write '$file': $!\n";
}

sub failed {
    my ($file, $label, $command, $error) = @_;
    open my $out, '>>', $file or die "reports.pl: cannot write '$file': $!\n";
    print $out $json->encode({ type => 'run', v => 1, status => 'failed', error => $error,
        subject => { label => $label }, run => { session => 's', index => 99 },
        config  => { command => $command, clients => 50, data_size => 64, warmup_s => 3 } }), "\n";
    close $out or die "reports.pl: cannot write '$file': $!\n";
}

# Noise of a few percent, other cases and metrics on each side.
$state = 1;
my %usual = (rps => [100000, 1], p50_latency_ms => [.5, -1], p99_latency_ms => [1.3, -1.5]);
my %more  = (%usual, used_memory_bytes => [2e6, 0], server_cpu_us_per_req => [8, -1]);
runs('mixed.old', blocks => 1, label => 'old', n => 7, metrics => \%more, fixed => { elapsed_s => 10 },
    cases => { SET => [1], GET => [1.2], INCR => [1.1], LPUSH => [.9], LPOP => [1], MSET => [.4] }, bound => 'server');
runs('mixed.old', blocks => 1, label => 'old', n => 4, metrics => { %usual, bytes_per_key => [88, 0] },
    cases => { ZADD => [.7] }, noise => .15);
runs('mixed.new', blocks => 1, label => 'new', n => 9, metrics => \%more, fixed => { elapsed_s => 17 }, bound => 'server',
    cases => { SET => [.9], GET => [1.29], INCR => [1.13], LPUSH => [.902], XADD => [1] },
    env => { kernel => '6.2', host => 'beta' });
runs('mixed.new', blocks => 1, label => 'new', n => 3, metrics => { rps => [100000, 1] },
    cases => { MSET => [.3], ZADD => [.8] }, env => { host => 'beta' }, bound => 'client');
failed('mixed.new', 'new', 'GET',  'the server ended');
failed('mixed.new', 'new', 'LPOP', 'it did not answer');
runs('mixed.new', blocks => 1, label => 'next', n => 6, metrics => \%usual, noise => .001,
    cases => { SET => [1.004], GET => [1.2], INCR => [1.6] }, env => { kernel => '6.1' });

# Rounds: both sides in the same blocks; runs of one side that have no partner.
$state = 2;
runs('rounds', label => 'a', n => 8, metrics => \%usual, blocks => 1, fixed => { elapsed_s => 11 },
    cases => { SET => [1], GET => [1.2], INCR => [1.1], DEL => [1] });
runs('rounds', label => 'b', n => 10, metrics => \%usual, blocks => 1, noise => .02, fixed => { elapsed_s => 12 },
    cases => { SET => [.94], GET => [1.21], INCR => [1.22], DEL => [.985] });

# Sides that share no session; other programs beside the second; memory.
$state = 3;
my @names = map {"C$_"} 1 .. 7;
runs('apart', label => 'a', n => 6, metrics => \%more, sessions => { one => 1, two => 1.01 },
    cases => { map { $_ => [1 + /\d/ * .1] } @names });
runs('apart', label => 'b', n => 6, metrics => \%more, sessions => { three => .95 },
    cases => { map { $_ => [ $_ eq 'C3' ? .9 : $_ eq 'C5' ? 1.2 : 1.1 ] } @names });
$state = 4;
runs('sessions', label => 'a', n => 4, metrics => { rps => [1e5, 1], bytes_per_key => [90, 0] }, noise => .008,
    sessions => { map { ("s$_" => 1 + .004 * (-1)**$_ + $_ / 1000) } 1 .. 6 },
    cases => { map { $_ => [1] } @names });
runs('sessions', label => 'b', n => 4, metrics => { rps => [1e5, 1], bytes_per_key => [93, 0] }, noise => .008,
    sessions => { t1 => .97, t2 => .98 }, cases => { map { $_ => [ $_ eq 'C2' ? .93 : 1 ] } @names });
# The first case has fewer sessions than the others, other programs beside it, or
# the same values in all sessions.
for my $case ([ uneven => 3, 3, 3 ], [ uncalm => 6, 3, 9 ], [ constant => 6, 3, 3 ]) {
    my ($file, $sessions, @percent) = @$case;
    my %sessions = map { ("s$_" => 1 + .004 * (-1)**$_) } 1 .. 6;
    for my $side ([ a => 1, \%sessions, $percent[0] ], [ b => .96, { t1 => 1 }, $percent[1] ]) {
        my ($label, $by, $of, $percent) = @$side;
        my %few = map { $_ => $of->{$_} } grep { ($label eq 'b' || substr($_, 1) <= $sessions) } keys %$of;
        @few{ keys %few } = (1) x keys %few if $file eq 'constant';
        runs($file, label => $label, n => 4, metrics => { rps => [1e5, 1] }, sessions => \%few,
            noise => $file eq 'constant' ? 0 : .01, cases => { C0 => [$by] }, fixed => { foreign_cpu_percent => $percent });
        runs($file, label => $label, n => 4, metrics => { rps => [1e5, 1] }, sessions => $of,
            cases => { map { $_ => [$by] } @names }, fixed => { foreign_cpu_percent => 3 });
    }
}
$state = 5;
for my $side ([ a => 'x', 1, 3.1 ], [ b => 'y', .97, 14.6 ]) {
    my ($label, $session, $by, $percent) = @$side;
    runs('busy', label => $label, n => 6, metrics => { %more, avg_latency_ms => [.6, -1] },
        sessions => { $session => $by }, env => { virtual => JSON::PP::false },
        cases    => { SET => [1], GET => [1.2] }, fixed => { foreign_cpu_percent => $percent });
    runs('busier', label => $label, n => 6, metrics => \%usual, cases => { SET => [1], GET => [$by**3] },
        fixed => { foreign_cpu_percent => $percent });
}

# Nothing changed, in another session, but other programs ran beside three cases; and
# runs of which there is one a side.
for my $side ([ a => 'x', 1 ], [ b => 'y', 1.004 ]) {
    my ($label, $session, $by) = @$side;
    for my $few ([ 2.5, @names[0 .. 2] ], [ 2.5 + 4 * ($label eq 'b'), @names[3 .. 5] ]) {
        my ($percent, @of) = @$few;
        runs('still', label => $label, n => 6, metrics => \%usual, sessions => { $session => $by },
            cases => { map { $_ => [1] } @of }, fixed => { foreign_cpu_percent => $percent });
    }
    runs('single', label => $label, n => 1, metrics => \%usual, cases => { map { $_ => [$by] } @names });
}

# Earlier builds, of one to three sessions each.
$state = 6;
for my $k (1 .. 14) {
    runs('history', label => "h$k", n => 3, metrics => \%usual, noise => .02,
        cases => { SET => [ .97 + $k / 200 ], GET => [1.2] }, env => { kernel => '6.2' },
        sessions => { map { ("h$k-$_" => 1 + .01 * $_) } 1 .. 1 + $k % 3 });
}

# One build, to calibrate with: sessions, drift, and rounds for one of the cases.
$state = 7;
for my $k (1 .. 10) {
    runs('alike', label => 'a', n => 6, metrics => { rps => [1e5, 1], p99_latency_ms => [1, -2] },
        cases => { SET => [ 1 + $k / 300 ], GET => [1] }, sessions => { "s$k" => 1 + .02 * normal() });
    runs('alike', label => 'a', n => 6, metrics => { rps => [1e5, 1] }, blocks => 1, noise => .05,
        cases => { PING => [1] }, sessions => { "s$k" => 1 });
    runs('alike', label => 'b', n => 6, metrics => { rps => [1e5, 1] }, blocks => 1,
        cases => { PING => [1] }, sessions => { "s$k" => 1 });
}

# Counts of work, which have no noise; and sides that are equal or constant.
$state = 8;
for my $side ([ a => 1 ], [ b => 1.033 ]) {
    my ($label, $by) = @$side;
    runs('counted', blocks => 1, label => $label, n => 2, noise => 0, cases => { SET => [$by], GET => [1] },
        metrics => { instructions_per_req => [4711, 1], allocations_per_req => [3.25, -1] });
    runs('counted', blocks => 1, label => $label, n => 5, noise => 0, cases => { INCR => [$by], DEL => [1] }, metrics => \%usual);
    runs('counted', blocks => 1, label => $label, n => 5, cases => { EVAL => [1] }, metrics => { rps => [100, 1] },
        fixed => { instructions_per_req => 100 + 7 * ($label eq 'b') });
    runs('zeros', label => $label, n => 5, cases => { SET => [1] }, metrics => { rps => [0, 1], p50_latency_ms => [1, 1] });
}

# Many cases of long names.
$state = 9;
for my $side ([ a => 1 ], [ b => .8 ]) {
    runs('many', label => $side->[0], n => 4, metrics => \%usual,
        cases => { map { ("COMMAND.WITH.A.LONG.NAME.$_" => [ $_ % 3 ? $side->[1] : 1 ]) } 1 .. 150 });
}
