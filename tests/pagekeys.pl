# pagekeys.pl PAGE: prints "PLACE.KEY <tab> RULE <tab> DEFAULT" for each key of
# vkb-config(5) and each of its places, with the rule in the words of errors. A row is
# ".It Ic KEY Ta KIND [PLACES] Ta", with the default in square brackets in its text.
use strict;
use warnings;

my %places = (C => 'config', S => 'scenario', P => 'part');
my (%words, $section, $key, $kind, $letters, $text);

sub print_row {
  return if !defined $key;
  my ($default, $inner) = $text =~ /\[([^];]+)(?:; in S and P (\S+))?\]/;
  my $rule = $words{$kind =~ s/\+$//r} or die "$key: unknown kind $kind\n";
  ($rule) = $text =~ /(one of [\w., -]*\w)/ if $kind eq 'word';
  my @at = $letters ? split(//, $letters) : ('');
  for (@at) {
    my $place = $places{$_} // $section;
    # Only in a configuration, and of a rate, lists are cases.
    my $list = $kind =~ /\+$/ && ($_ !~ /[SP]/ || $key eq 'rate') ? ', or a list of them' : '';
    my $one = $rule =~ s/^a list of (.*)s$/a $1/r;
    my $inherits = $_ eq 'P' && !defined $inner;
    print "$place.$key\t", $letters =~ /C/ && /[SP]/ ? $one : $rule, $list, "\t",
      $inherits ? '' : /[SP]/ ? $inner // $default // '' : $default // '', "\n";
  }
  $key = undef;
}

while (<>) {
  chomp;
  s/\\\(dq/"/g;
  if (/^\.\\" section: (\S+)/) { print_row(); $section = $1; next }
  if (/^\.(El|Sh|Ss)/) { print_row(); next }
  if (/^\.It Li (\S+) Ta (.*)/ && $section eq 'kinds') { $words{$1} = $2; next }
  if (/^\.It Ic (\S+) Ta (\S+)(?: ([CSP]+))? Ta$/) {
    print_row();
    ($key, $kind, $letters, $text) = ($1, $2, $3 // '', '');
    next;
  }
  s/^\.\w+ //;
  $text .= "$_ ";
}
