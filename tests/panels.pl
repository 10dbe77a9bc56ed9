#!/usr/bin/perl
# panels.pl DASHBOARD FOLDER [NAME=VALUE ...]: does with the queries of a
# dashboard what Grafana does, its variables asked of the database that PG* name,
# and writes each to FOLDER/N.sql; stdout says "N format title", annotations and
# panels alike. A variable has all its values, or the first, or those that are
# given (split at |). "from" and "to" are the range of time.
use strict;
use warnings;
use JSON::PP;

my ($file, $folder, @given) = @ARGV;
my %given = map { my ($k, $v) = split /=/, $_, 2; $k => [split /\|/, $v, -1] } @given;
my ($from, $to) = map { $given{$_} ? $given{$_}[0] : '' } qw(from to);
$from ||= '2000-01-01T00:00:00Z';
$to ||= '2100-01-01T00:00:00Z';

open my $f, '<', $file or die "$file: $!\n";
my $dash = decode_json(do { local $/; <$f> });
my %value;

sub quote { my $s = shift; $s =~ s/'/''/g; "'$s'" }

sub expand {
  my ($sql, $where) = @_;
  $sql =~ s/\$__timeFilter\(([^)]*)\)/$1 BETWEEN '$from' AND '$to'/g;
  $sql =~ s/\$__timeFrom\(\)/'$from'/g;
  $sql =~ s/\$__timeTo\(\)/'$to'/g;
  $sql =~ s{\$\{(\w+):(\w+)\}}{
    my ($name, $how) = ($1, $2);
    my $v = $value{$name} or die "$where: no variable '$name'\n";
    $how eq 'sqlstring' ? join ',', map { quote($_) } @$v
      : $how eq 'raw' && @$v == 1 ? $v->[0]
      : die "$where: '$name' as '$how'\n";
  }ge;
  die "$where: not expanded: $1\n" if $sql =~ /(\$(?:__|\{|[a-z])\S*)/;
  return $sql;
}

sub rows {
  my ($sql) = @_;
  open my $psql, '-|', 'psql', '-X', '-q', '-A', '-t', '-R', "\x1e", '-v',
    'ON_ERROR_STOP=1', '-c', $sql or die "psql: $!\n";
  my $all = do { local $/; <$psql> } // '';
  close $psql or die "psql refused: $sql\n";
  $all =~ s/\n\z//;
  utf8::decode($all);
  return split /\x1e/, $all;
}

for my $v (@{$dash->{templating}{list}}) {
  my $name = $v->{name};
  my @all = $v->{type} eq 'query' ? rows(expand($v->{query}, "variable $name"))
    : $v->{type} eq 'custom' ? split /,/, $v->{query}
    : ($v->{current}{value} // '');
  my $set = $v->{current}{value} // "\0";
  my @now = $given{$name} ? @{$given{$name}}
    : $v->{multi} ? @all
    : (grep({ $_ eq $set } @all), @all)[0] // ();
  die "variable $name: there is none\n" if !@now && $v->{type} ne 'datasource';
  $value{$name} = \@now;
  print STDERR "$name: @now\n" if $ENV{PANELS_VERBOSE};
}

my $n = 0;
binmode STDOUT, ':utf8';

sub put {
  my ($sql, $format, $title) = @_;
  $n++;
  open my $o, '>:utf8', "$folder/$n.sql" or die "$folder: $!\n";
  print $o expand($sql, $title), "\n";
  close $o or die "$folder: $!\n";
  print "$n $format $title\n";
}

for my $a (grep { $_->{target}{rawSql} } @{$dash->{annotations}{list}}) {
  put($a->{target}{rawSql}, $a->{target}{format}, $a->{name});
}
# A row that is repeated has one value in each copy: here the first.
my %all = %value;
for my $p (map { ($_, @{$_->{panels} // []}) } @{$dash->{panels}}) {
  if ($p->{type} eq 'row') {
    %value = %all;
    $value{$p->{repeat}} = [$all{$p->{repeat}}[0]] if $p->{repeat};
  }
  put($_->{rawSql}, $_->{format}, $p->{title}) for @{$p->{targets} // []};
}
