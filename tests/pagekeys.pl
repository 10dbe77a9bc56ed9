# pagekeys.pl PAGE: prints "PLACE.KEY <tab> RULE <tab> DEFAULT" for each key of
# vkb-config(5) and each of its places, with the rule in the words of errors. A row is
# ".It Ic KEY , KEY Pq KIND [PLACES]", with the default in square brackets in its text.
use strict;
use warnings;

my %places = (C => 'config', S => 'scenario', P => 'part');
# Kinds that only the text of a key explains; the page has a table of the others.
my %words = (any => 'anything', word => '');
my ($section, @keys, $kind, $letters, $text);

sub print_rows {
  print_row($_) for @keys;
  @keys = ();
}

sub print_row {
  my ($key) = @_;
  my ($default, $inner) = $text =~ /\[([^];]+)(?:; in S and P (\S+))?\]/;
  my $rule = $words{$kind =~ s/\+$//r} // die "$key: unknown kind $kind\n";
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
}

while (<>) {
  chomp;
  s/\\\(dq/"/g;
  if (/^\.\\" section: (\S+)/) { print_rows(); $section = $1; next }
  if (/^\.(El|Sh|Ss)/) { print_rows(); next }
  if (/^\.It Li (\S+) Ta (.*)/ && $section eq 'kinds') { $words{$1} = $2; next }
  if (/^\.It Ic (\S+(?: , \S+)*) Pq (\S+)(?: ([CSP]+))?$/) {
    print_rows();
    ($kind, $letters, $text) = ($2, $3 // '', '');
    @keys = split / , /, $1;
    next;
  }
  s/^\.\w+ //;
  $text .= "$_ ";
}
