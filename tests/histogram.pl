#!/usr/bin/perl
# histogram.pl <RECORDS: computes the latencies of runs and summaries again, from
# their own histograms, by a decoder that shares nothing with src/lib/histcodec.c.
# One line for each metric that differs, then "N numbers". A run's percentiles are
# those of the nearest rank; a summary's "whole" are those of the merged runs.
use strict;
use warnings;
use Compress::Zlib;
use JSON::PP;
use MIME::Base64;

my $json = JSON::PP->new->utf8->canonical;
my $checked = 0;

# The cells of a compressed HdrHistogram V2 as [low, high, count], by the format's
# own description: cookie, length, zlib; then cookie, length of the counts,
# normalizing offset, digits, lowest, highest, ratio; then the counts, ZigZag
# LEB128, of which a negative one is a number of empty cells.
sub cells_of {
    my ($text) = @_;
    my $bytes = decode_base64($text);
    my ($cookie, $length) = unpack 'NN', $bytes;
    $cookie == 0x1c849314 or $cookie == 0x1c849304 or die "histogram.pl: cookie $cookie\n";
    my $plain = uncompress(substr $bytes, 8, $length) // die "histogram.pl: not deflated\n";
    my (undef, $size, $offset, $digits, $lowest) = unpack 'NNNNQ>', $plain;
    $offset == 0 or die "histogram.pl: normalized\n";
    my @counts = unpack 'C*', substr $plain, 40, $size;
    my $magnitude = int(log($lowest) / log(2));
    my $sub = 1;
    $sub *= 2 while $sub < 2 * 10**$digits;
    my ($at, @cells) = (0);
    while (@counts) {
        my ($value, $shift) = (0, 0);
        while (1) {
            my $byte = shift @counts;
            $value |= ($shift < 56 ? $byte & 127 : $byte) << $shift;
            last if $shift >= 56 || !($byte & 128);
            $shift += 7;
        }
        $value = ($value >> 1) ^ -($value & 1);
        $value = unpack 'q', pack 'Q', $value;
        if ($value < 0) {
            $at -= $value;
            next;
        }
        # The first bucket has all sub-buckets, each further one the upper half of them.
        my $bucket = $at < $sub ? 0 : int($at / ($sub / 2)) - 1;
        my $index = $at < $sub ? $at : $at % ($sub / 2) + $sub / 2;
        my $width = 2**($bucket + $magnitude);
        push @cells, [$index * $width, ($index + 1) * $width - 1, $value] if $value;
        $at++;
    }
    return @cells;
}

sub percentile {
    my ($q, $max, @cells) = @_;
    my ($total, $seen) = (0, 0);
    $total += $_->[2] for @cells;
    my $rank = int($q * $total + .5) || 1;
    for (@cells) {
        $seen += $_->[2];
        return $_->[1] < $max ? $_->[1] : $max if $seen >= $rank;
    }
    die "histogram.pl: an empty histogram\n";
}

sub check {
    my ($what, $got, $want, $error) = @_;
    $checked++;
    print "$what is $got and not $want\n" if abs($got - $want) > $error;
}

# Metrics of a histogram in ns: percentiles exactly; the extremes must lie in the
# outermost cells, and the mean within what the width of the cells leaves open.
sub check_metrics {
    my ($label, $metrics, @cells) = @_;
    my $max = defined $metrics->{max_latency_ms} ? $metrics->{max_latency_ms} * 1e6 : 9e18;
    for my $name (sort keys %$metrics) {
        my ($digits) = $name =~ /^p(\d+)_latency_ms$/ or next;
        check("$label: $name", $metrics->{$name}, percentile("0.$digits", $max, @cells) / 1e6, .6e-6);
    }
    my ($total, $low, $high) = (0, 0, 0);
    for (@cells) {
        $total += $_->[2];
        $low += $_->[2] * $_->[0];
        $high += $_->[2] * $_->[1];
    }
    check("$label: avg_latency_ms", $metrics->{avg_latency_ms}, ($low + $high) / 2 / $total / 1e6,
        ($high - $low) / 2 / $total / 1e6 + 1e-6) if defined $metrics->{avg_latency_ms};
    for (['min', $cells[0]], ['max', $cells[-1]]) {
        my ($name, $cell) = ("$_->[0]_latency_ms", $_->[1]);
        check("$label: $name", $metrics->{$name}, ($cell->[0] + $cell->[1]) / 2e6,
            ($cell->[1] - $cell->[0]) / 2e6 + 1e-6) if defined $metrics->{$name};
    }
    return $total;
}

my %runs;
for (<STDIN>) {
    my $r = $json->decode($_);
    my $text = $r->{hist} && $r->{hist}{latency_ns} or next;
    my @cells = cells_of($text);
    my $label = join ' ', map { "$_=" . $json->encode([$r->{config}{$_}]) } qw(command pipeline);
    if ($r->{type} eq 'run') {
        my $total = check_metrics("$label: run $r->{run}{index}", $r->{metrics}, @cells);
        # Where a time ends the run, each client has one more pipeline under way.
        my $open = $r->{config}{duration_s} ? ($r->{config}{clients} // 5) * $r->{config}{pipeline} : 0;
        # With a rate those count that were due, whether or not a busy machine sent them.
        my $constant = ($r->{config}{arrivals} // '') eq 'constant' && $r->{config}{rate} =~ /^\d+$/ && $r->{config}{duration_s};
        my $count = $constant ? $r->{config}{rate} * $r->{config}{duration_s} : $r->{metrics}{requests};
        check("$label: run $r->{run}{index}: requests", $count, $total, $open)
          if defined $count && !$r->{metrics}{errors};
        $runs{$label}{ $_->[0] }[0] += $_->[2], $runs{$label}{ $_->[0] }[1] = $_->[1] for @cells;
        next;
    }
    my $merged = $runs{$label} or next;
    my @sum = map { [$_, $merged->{$_}[1], $merged->{$_}[0]] } sort { $a <=> $b } keys %$merged;
    check("$label: cells of the merged histogram", scalar @cells, scalar @sum, 0);
    check("$label: count at $sum[$_][0] ns", $cells[$_][2], $sum[$_][2], 0) for 0 .. $#sum;
    check_metrics("$label: whole", $r->{whole}, @sum);
}
print "$checked numbers\n";
