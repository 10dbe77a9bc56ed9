# examples.pl OUT FILE...: writes each example of manual pages, in any section, and each
# fenced block of README.md to OUT/PAGE.N, and prints a line for each: PAGE.N, its kind,
# its folder and its first line, separated by tabs. An example is a literal block, or a
# line of .Dl; lines that follow each other are run in the same folder.
use strict;
use warnings;

my $out = shift;

sub text_of { # what a reader sees of a line of mdoc
  my ($s) = @_;
  $s =~ s/\\\(aq/'/g;
  $s =~ s/\\\(dq/"/g;
  $s =~ s/\\-/-/g;
  $s =~ s/\\&//g;
  $s =~ s/\\e/\\/g;
  return $s;
}

for my $path (@ARGV) {
  my ($page) = $path =~ m{([^/]+)$};
  my ($n, $folder, $kind, @lines) = (0, 0, '');
  my $flush = sub {
    my ($how) = @_;
    return if !@lines;
    my $name = "$page." . ++$n;
    open my $f, '>', "$out/$name" or die "$out/$name: $!";
    print $f @lines;
    print join "\t", $name, $how, "$page-" . ($folder || $n), $lines[0];
    @lines = ();
  };
  open my $in, '<', $path or die "$path: $!";
  while (<$in>) {
    if ($page =~ /\.md$/) {
      if (/^```/) { $flush->('block'); $kind = $kind ? '' : 'block'; next }
      push @lines, $_ if $kind;
    } elsif ($kind) {
      if (/^\.Ed/) { $flush->('block'); $kind = ''; next }
      push @lines, text_of($_);
    } elsif (/^\.Dl (.*\n)/) {
      $folder ||= $n + 1;
      push @lines, text_of($1);
      $flush->('line');
    } else {
      $folder = 0;
      $kind = 'block' if /^\.Bd .*-literal/;
    }
  }
}
