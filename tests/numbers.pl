#!/usr/bin/perl
# numbers.pl FORMAT RECORDS REPORT: is each number of a report the one of its
# record? RECORDS are the deltas, changes or summaries; REPORT is what a program
# wrote of them as FORMAT. One line for each number that differs, for each row that
# lacks one and for each column that this script does not know; then "N numbers".
# A number for people, such as 91.0K, must be within half of its last digit.
#
# numbers.pl distinct RECORDS: one line for each record of which two fields show
# the same number, so that one would not be missed if it stood for the other.
use strict;
use warnings;
use JSON::PP;

my ($format, $records, $report) = @ARGV;
my $json = JSON::PP->new->utf8;
my $checked = 0;

sub lines_of {
    my ($path) = @_;
    open my $in, '<', $path or die "numbers.pl: cannot read '$path': $!\n";
    return map { chomp; $_ } <$in>;
}

# All numbers of a delta or change, by name.
sub fields_of {
    my ($r) = @_;
    my %f = map { $_ => $r->{$_} } grep { defined $r->{$_} } qw(ratio p probability margin visible);
    ($f{baseline_runs}, $f{contender_runs}) = @{ $r->{n} };
    ($f{baseline_median}, $f{contender_median}) = @{ $r->{median} };
    for my $ci (grep { $r->{$_} } qw(ci95 ci90)) {
        ($f{"${ci}_low"}, $f{"${ci}_high"}) = @{ $r->{$ci} };
    }
    $f{needed_runs} = $r->{needed}{runs} if $r->{needed};
    $f{needed_minutes} = $r->{needed}{minutes} if $r->{needed} && defined $r->{needed}{minutes};
    return %f;
}

sub label_of {
    my ($r) = @_;
    return "$r->{config}{command} $r->{metric}";
}

sub complain { print join(' ', @_), "\n" }

# A number for programs has all digits that the record has, up to the twelfth.
sub check_exact {
    my ($row, $name, $got, $want) = @_;
    $checked++;
    if (!defined $want) {
        complain("$row: $name is '$got', but the record has none") if $got ne '';
        return;
    }
    complain("$row: $name is '$got' and not $want")
      if $got !~ /^[-+]?[\d.]+(?:e[-+]?\d+)?$/ || abs($got - $want) > 1e-11 * abs($want);
}

# A number for people is rounded to the digits that it shows.
sub check_shown {
    my ($row, $name, $got, $want) = @_;
    $checked++;
    if (!defined $got || !defined $want || $got !~ /^([-+]?\d+)(?:\.(\d+))?([KMG]?)$/) {
        complain("$row: $name is '" . ($got // '') . "' and not " . ($want // 'absent'));
        return;
    }
    my $unit = { '' => 1, K => 1e3, M => 1e6, G => 1e9 }->{$3};
    my $number = "$1" . (defined $2 ? ".$2" : '');
    my $last = defined $2 ? 10**-length $2 : 1;
    complain("$row: $name is '$got' and not $want")
      if abs($number * $unit - $want) > .5001 * $last * $unit;
}

# ---- numbers for programs

my %text_columns = map { $_ => 1 } qw(contender baseline case metric unit better class
  method paired verdict waiver notes);

sub check_csv {
    my ($all) = @_;
    my ($head, @rows) = lines_of($report);
    my @names = split /,/, $head;
    my %row = map { my @c = split /,/, $_, -1; ("$c[2] $c[3]" => \@c) } @rows;
    for my $r (@$all) {
        my ($label, %f) = (label_of($r), fields_of($r));
        my $cells = $row{$label} or complain("$label: no row") or next;
        for my $i (0 .. $#names) {
            my $name = $names[$i];
            if ($text_columns{$name}) {
                my $want = $r->{$name};
                complain("$label: $name is '$cells->[$i]' and not '$want'")
                  if $name =~ /^(better|class|method|verdict)$/ && $cells->[$i] ne $want;
                complain("$label: $name is '$cells->[$i]'")
                  if $name =~ /^paired$/ && $cells->[$i] ne ($r->{$name} ? 'yes' : 'no');
                next;
            }
            check_exact($label, $name, $cells->[$i], delete $f{$name});
        }
        complain("$label: no column $_") for sort keys %f;
    }
}

# ---- numbers for people

my %shown = (rps => 'throughput', p50_latency_ms => 'p50', p99_latency_ms => 'p99');

# One line about a record, a sentence or a row of a table. The record's fields
# that it shows are compared; the median of the baseline, this median changed by the
# estimate, and the change must be there.
sub check_row {
    my ($row, $line, $r, @also) = @_;
    my %f = fields_of($r);
    $line =~ s/&#(\d+);/chr $1/ge;
    $line =~ s/&gt;/>/g;
    $line =~ s/%25/%/g;
    my $number = qr/[-+]?\d[\d.]*[KMG]?/;
    my ($base, $new) = $line =~ /($number) -> ($number)/;
    ($base, $new) = $line =~ /(?:\|| ) *($number) *(?:\|| ) *($number) *(?:\|| ) *(?:\d+\.\d+x|[-+]\d)/
      if !defined $base;
    check_shown($row, 'baseline median', $base, $f{baseline_median});
    check_shown($row, 'contender', $new,
        $r->{type} eq 'delta' ? $f{baseline_median} * $f{ratio} : $f{contender_median});
    my ($change) = $line =~ /([-+]\d[\d.]*)%/;
    check_shown($row, 'change', $change, 100 * ($f{ratio} - 1));
    if (defined $f{ci95_low}) {
        my ($low, $high) = $line =~ /\[([-+]?[\d.]+)%?, ([-+]?[\d.]+)%?\]/;
        check_shown($row, 'low end', $low, 100 * ($f{ci95_low} - 1));
        check_shown($row, 'high end', $high, 100 * ($f{ci95_high} - 1));
    }
    if (my ($times) = $line =~ /(\d+\.\d+)x/) {
        check_shown($row, 'factor', $times, $f{ratio} < 1 ? 1 / $f{ratio} : $f{ratio});
    }
    if (my ($p) = $line =~ /\| ([\d.]+) \| NEW/) {
        check_shown($row, 'p', $p, $f{p});
    }
    my ($n, $m) = $line =~ /\b(\d+)\+(\d+)\b/;
    if (defined $n || grep { $_ eq 'runs' } @also) {
        check_shown($row, 'runs of the baseline', $n, $f{baseline_runs});
        check_shown($row, 'runs of the contender', $m, $f{contender_runs});
    }
    if (my ($hidden) = $line =~ /(?:up to|below) ([\d.]+) ?%/) {
        check_shown($row, 'visible change', $hidden, 100 * $f{visible});
    }
    if (my ($runs) = $line =~ /needs (\d+) runs/) {
        check_shown($row, 'needed runs', $runs, $f{needed_runs});
    }
    if (my ($minutes, $seconds) = $line =~ /\((\d+)m(\d+)s more\)/) {
        check_shown($row, 'needed time', 60 * $minutes + $seconds, 60 * $f{needed_minutes});
    }
}

sub check_rows {
    my ($all, @also) = @_;
    my @lines = grep { !/^(Worse|Better|overall|#|::notice|.*system-out)|\*\*/ } lines_of($report);
    for my $r (@$all) {
        my ($case, $metric) = ($r->{config}{command}, $r->{metric});
        $metric = $shown{$metric} if $r->{type} eq 'change';
        my @about;
        for my $i (0 .. $#lines) {
            push @about, $lines[$i] . ($format eq 'junit' ? $lines[$i + 1] // '' : '')
              if $lines[$i] =~ /\b$case\b.*\b$metric\b/ && ($format ne 'junit' || $lines[$i] =~ /<testcase/);
        }
        @about = grep {/<(?:failure|skipped|system-out)/} @about if $format eq 'junit';
        next if $format eq 'annotations' && $r->{verdict} ne 'regression';
        next if $format eq 'junit' && $r->{verdict} =~ /^(equivalent|improvement)$/;
        @about = grep { /\D\Q$r->{n}[0]+$r->{n}[1]\E\D/ } @about if $r->{type} eq 'change';
        complain(label_of($r) . ': ' . @about . ' lines') if @about != 1;
        check_row(label_of($r), $_, $r, @also) for @about;
    }
}

# The table of vkb-report's page: the two values and the change stand in data-v as
# well; the second is the median of the baseline, changed by the estimate.
sub check_page {
    my ($all) = @_;
    my $page = join "\n", lines_of($report);
    my %rows;
    my %name = reverse %shown;
    my ($table) = $page =~ m{<table id="rows">(.*?)</table>}s;
    for my $group (split /<tbody>/, $table // '') {
        my ($metric) = $group =~ m{^<tr class="group"><th scope="rowgroup"[^>]*>(?:<[^>]*>)*(\w+)} or next;
        while ($group =~ m{<tr[^>]*>\s*<th scope="row">(.*?)</tr>}gs) {
            my $row = $1;
            my ($case) = $row =~ /^(?:<[^>]*>)*\s*(\w+)/ or next;
            $rows{"$case $name{$metric}"} = $row;
        }
    }
    for my $r (@$all) {
        my ($label, %f) = (label_of($r), fields_of($r));
        my $row = $rows{$label} or complain("$label: no row") or next;
        my @data = $row =~ /data-v="([^"]*)">([^<]*)/g;
        my @want = ($f{baseline_median}, $f{baseline_median} * $f{ratio}, $f{ratio} - 1);
        for my $i (0 .. 2) {
            $checked++;
            complain("$label: data-v is $data[2 * $i] and not $want[$i]")
              if abs($data[2 * $i] - $want[$i]) > 1e-8 * abs($want[$i]) + 1e-9;
        }
        check_shown($label, 'baseline median', $data[1], $f{baseline_median});
        check_shown($label, 'contender value', $data[3], $f{baseline_median} * $f{ratio});
        my ($change, $low, $high) = $data[5] =~ /^(\S+)% \[(\S+), (\S+)\]/;
        check_shown($label, 'change', $change, 100 * ($f{ratio} - 1));
        check_shown($label, 'low end', $low, 100 * ($f{ci95_low} - 1));
        check_shown($label, 'high end', $high, 100 * ($f{ci95_high} - 1));
    }
}

# vkb-stats -t: a table with named columns.
sub check_summaries {
    my ($all) = @_;
    my %rows;
    for (lines_of($report)) {
        $rows{$1} = [$2, $3, $4, $5, $6, $7, $8]
          if /^([A-Z]+) +\w+ +(\d+) +([\d.]+[KMG]?) +\[([\d.]+[KMG]?), ([\d.]+[KMG]?)\] +([\d.]+)% +([\d.]+) +([\d.]+)/;
    }
    for my $r (@$all) {
        my $case = $r->{config}{command};
        my $cells = $rows{$case} or complain("$case: no row") or next;
        my $m = $r->{metrics};
        my @want = ($r->{n}, $m->{rps}{median}, @{ $m->{rps}{ci95} }, $m->{rps}{cv_percent},
            $m->{p50_latency_ms}{median}, $m->{p99_latency_ms}{median});
        my @names = ('n', 'rps', 'low end', 'high end', 'cv', 'p50', 'p99');
        check_shown($case, $names[$_], $cells->[$_], $want[$_]) for 0 .. $#want;
    }
}

# ---- summaries from their values

sub median {
    my @s = sort { $a <=> $b } @_;
    return ($s[$#s / 2] + $s[@s / 2]) / 2;
}

# Type 7 of Hyndman and Fan (1996).
sub quantile {
    my ($q, @x) = @_;
    my @s = sort { $a <=> $b } @x;
    my $h = $q * $#s;
    my $i = int $h;
    return $i == $#s ? $s[$i] : $s[$i] + ($h - $i) * ($s[$i + 1] - $s[$i]);
}

# The narrowest pair of order statistics k and n+1-k that holds the median with
# 95 %, by the binomial distribution.
sub order_interval {
    my @s = sort { $a <=> $b } @_;
    my ($n, $best) = (scalar @s);
    my ($term, $below) = (0.5**$n, 0);
    for my $k (1 .. int(($n + 1) / 2)) {
        $below += $term;
        $term *= ($n - $k + 1) / $k;
        $best = [$s[$k - 1], $s[$n - $k]] if 1 - 2 * $below >= 0.95;
    }
    return $best;
}

sub check_values {
    my ($all) = @_;
    for my $r (@$all) {
        for my $name (sort keys %{ $r->{metrics} }) {
            my $m = $r->{metrics}{$name};
            my @x = @{ $m->{values} };
            my ($n, $sum, $squares, $lag) = (scalar @x, 0, 0, 0);
            $sum += $_ for @x;
            my $mean = $sum / $n;
            $squares += ($_ - $mean)**2 for @x;
            $lag += ($x[$_] - $mean) * ($x[$_ - 1] - $mean) for 1 .. $#x;
            my $middle = median(@x);
            my $mad = median(map { abs($_ - $middle) } @x);
            my $sd = sqrt($squares / ($n - 1));
            my $interval = order_interval(@x);
            my %want = (
                n => $n, median => $middle, mean => $mean, sd => $sd,
                cv_percent => 100 * $sd / $mean, mad => $mad,
                robust_cv_percent => 100 * 1.482602218505602 * $mad / $middle,
                iqr_percent => 100 * (quantile(.75, @x) - quantile(.25, @x)) / $middle,
                lag1 => $squares ? $lag / $squares : undef, min => quantile(0, @x), max => quantile(1, @x),
            );
            my $label = "$r->{config}{command} $name";
            for my $key (grep { defined $want{$_} } sort keys %want) {
                $checked++;
                complain("$label: $key is $m->{$key} and not $want{$key}")
                  if !defined $m->{$key} || abs($m->{$key} - $want{$key}) > 2e-4 * abs $want{$key};
            }
            $checked++;
            complain("$label: ci95 is $m->{ci95}[0], $m->{ci95}[1]")
              if "@{$m->{ci95}}" ne "@$interval";
        }
    }
}

sub check_distinct {
    my ($all) = @_;
    for my $r (@$all) {
        my %f = fields_of($r);
        my %of;
        push @{ $of{ sprintf '%.5g', $f{$_} } }, $_ for keys %f;
        complain(label_of($r) . ': equal:', sort @$_) for grep { @$_ > 1 } values %of;
    }
}

my @all = map { $json->decode($_) } lines_of($records);
my @rows = grep { $_->{type} =~ /^(delta|change|summary)$/ } @all;
@rows or die "numbers.pl: '$records' has no record to compare with\n";
my %checks = (
    csv => \&check_csv,
    text => sub { check_rows(@_, 'runs') }, markdown => sub { check_rows(@_, 'runs') },
    issue => sub { check_rows(@_, 'runs') }, junit => \&check_rows, annotations => \&check_rows,
    page => \&check_page, summaries => \&check_summaries,
    values => \&check_values, distinct => \&check_distinct,
);
$checks{$format} or die "numbers.pl: no format is called '$format'\n";
$checks{$format}->(\@rows);
print "$checked numbers\n";
