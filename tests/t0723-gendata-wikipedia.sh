#!/bin/sh
# vkb-gendata: texts from the dump of a wiki, which is a file or on a server.
. "${0%/*}/lib.sh"

cat >dump.pl <<'END'
# pages with markup, redirects, pages of other namespaces, empty pages
my ($n) = @ARGV; binmode STDOUT; srand 1;
print qq(<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n  <siteinfo>\n    <sitename>Wiki</sitename>\n  </siteinfo>\n);
for my $i (1 .. $n) {
  my ($ns, $redirect, $text) = (0, "");
  my $words = join " ", map { sprintf "w%06x", rand 1 << 24 } 1 .. 20 + $i % 300;
  if ($i % 7 == 3) { $redirect = qq(    <redirect title="Page 1" />\n); $text = "#REDIRECT [[Page 1]]" }
  elsif ($i % 11 == 5) { $ns = 10; $text = "a template" }
  elsif ($i % 13 == 6) { $text = "" }
  elsif ($i == 4) { $text = "{{only a template}}" }
  else { $text = "{{Infobox|a={{b}}|c=[[d]]}}\n'''Page $i''' is a [[thing|n&ouml;ted]] &lt;ref name=&quot;x&quot;&gt;not here&lt;/ref&gt;article of a [[wiki]] &amp;amp; more.&lt;!-- no --&gt;\n\n== History ==\n* $words\n[[File:a.jpg|thumb|a [[b]] c]]\n{| class=x\n|-\n| cell\n|}\n[[Category:Things]]" }
  $text =~ s/&ouml;/\xc3\xb6/;
  print "  <page>\n    <title>Page $i</title>\n    <ns>$ns</ns>\n    <id>$i</id>\n$redirect    <revision>\n      <id>$i</id>\n      <model>wikitext</model>\n",
    length $text ? qq(      <text bytes="5" sha1="x" xml:space="preserve">$text</text>\n) : qq(      <text bytes="0" sha1="x" />\n), "    </revision>\n  </page>\n";
}
print "</mediawiki>\n";
END
perl dump.pl 2400 >dump.xml
bzip2 -k dump.xml
split -b 300000 dump.xml part.
for p in part.*; do bzip2 -c "$p"; done >multi.xml.bz2
gzip -c dump.xml >dump.xml.gz
cat >wiki.json <<'END'
{"dataset_generation": {
  "wiki.csv": {"doc_count": 1500, "fields": [{"name": "begin", "size": 400},
    {"name": "part", "size": 700, "transforms": [{"type": "wikipedia", "offset": 61}]},
    {"name": "behind", "size": 60, "transforms": [{"type": "wikipedia", "offset": 2000}]}]},
  "whole.jsonl": {"doc_count": 100, "fields": [{"name": "text", "size": 100000}]},
  "wiki.xml": {"doc_count": 100, "fields": [{"name": "text", "size": 300, "transforms": [{"type": "wikipedia"},
    {"type": "inject", "term": "needle"}]}]}}}
END
test_that 'a dump is accepted' vkb-gendata -o a --wikipedia dump.xml wiki.json
test_empty "$(cat .out .err)" 'nothing is printed on stderr'
test_that 'a dump in one bzip2 stream is accepted' vkb-gendata -o b --wikipedia dump.xml.bz2 wiki.json
test_that 'a dump in many bzip2 streams is accepted with several threads' vkb-gendata -j 5 -o c --wikipedia multi.xml.bz2 wiki.json
test_that 'a dump in gzip is accepted' vkb-gendata -j 1 -o d --wikipedia dump.xml.gz wiki.json
for f in wiki.csv whole.jsonl wiki.xml; do
  for d in b c d; do
    test_that "$f: the file in $d is the same" cmp "a/$f" "$d/$f"
  done
done
# The same by the rules of the Python tool: the first text of each page that is not empty,
# unless it begins with #REDIRECT, from an offset on, filled up with a blank and its begin.
cat >python.pl <<'END'
use open ':std', ':utf8'; local $/; my ($rows, @offset) = (0, 0, 61, 2000);
my (@size, %xml) = (400, 700, 60); @xml{qw(lt gt amp quot)} = qw(< > & ");
print "begin,part,behind\r\n";
for (<STDIN> =~ m|<page>(.*?)</page>|gs) {
  my ($text) = m|<text[^>/]*(?:"/?[^>/]*)*>(.+?)</text>|s; next if !defined $text || $text =~ /^#REDIRECT/;
  $text =~ s/&(\w+);/$xml{$1}/g; my @row;
  for my $i (0 .. 2) {
    my $s = $offset[$i] < length $text ? substr $text, $offset[$i], $size[$i] : substr $text, 0, $size[$i];
    $s .= ' ' . substr $text, 0, $size[$i] - length $s
      if $offset[$i] < length $text && length $s < $size[$i];
    $s = substr $s, 0, $size[$i]; $s = '"' . $s =~ s/"/""/gr . '"' if $s =~ /[",\r\n]/; push @row, $s;
  }
  print join(',', @row), "\r\n"; last if ++$rows == 1500;
}
END
perl python.pl <dump.xml >want
test_that 'the texts are those of the Python tool, with their markup' cmp want a/wiki.csv
test_match '^a template' want 'pages of all namespaces are articles'
test_absent 'REDIRECT' want 'redirects are not'
# Queries of the begins and ends of the words of that dump, by the rules of that tool: a
# first row that begins with "term" is one, and stop words and empty rows are left out.
mkdir terms
{
  echo terminal
  tr -cs "A-Za-z0-9'&" '\n' <dump.xml | sort -u | head -n 3000
} | sed 's/$/\r/' >terms/search_terms.csv
echo '{"query_generation": {"q_prefix.csv": {"type": "prefix", "doc_count": 2000},
  "q_suffix.csv": {"type": "suffix", "doc_count": 2000}}}' >queries.json
test_that 'queries of the words of a dump are accepted' \
  vkb-gendata -o terms --files q_prefix.csv,q_suffix.csv queries.json
perl -e 'my %stop = map { $_ => 1 } qw(a an and are as at be but by for if in into is it no not of on or such that
    the their then there these they this to was will with);
  open my $f, "<", "terms/search_terms.csv"; my @terms = grep { length && !$stop{lc $_} } map { s/^\s+|\s+$//gr } <$f>;
  for my $which ("prefix", "suffix") { open my $to, ">", "want_$which"; print $to "term\r\n";
    print $to ($which eq "prefix" ? substr $_, 0, 3 : length > 3 ? substr $_, -3 : $_), "\r\n" for @terms[0 .. 1999] }'
test_that 'q_prefix.csv has the bytes of the Python tool' cmp want_prefix terms/q_prefix.csv
test_that 'q_suffix.csv has the bytes of the Python tool' cmp want_suffix terms/q_suffix.csv
printf '<mediawiki><page><ns>0</ns><revision><text xml:space="preserve" /></revision><revision><text></text><text bytes="1">&#x41;&#66;&lt;\r\nx\ry&amp;lt;&apos;</text></revision></page></mediawiki>' >small.xml
echo '{"dataset_generation": {"one.jsonl": {"doc_count": 1, "fields": [{"name": "text", "size": 15}]}}}' >one.json
test_that 'a small dump is accepted' vkb-gendata -o a --wikipedia small.xml one.json
test_same '{"text":"AB<\nx\ny&lt;'"'"' AB"}' "$(cat a/one.jsonl)" \
  'entities and line ends are those of XML, and the first text that is not empty counts'
test_that 'the XML file is valid' xmllint --noout a/wiki.xml
test_same 100 "$(grep -c ' needle</text>' a/wiki.xml)" 'one in 15 texts has the injected word'
test_same 'current current current' "$(vkb-gendata --list -o a --wikipedia dump.xml wiki.json |
  awk 'NR > 1 { printf "%s%s", s, $NF; s = " " } END { print "" }')" 'all files are current'
test_same 'stale stale stale' "$(vkb-gendata --list -o a wiki.json |
  awk 'NR > 1 { printf "%s%s", s, $NF; s = " " } END { print "" }')" 'without the dump all files are stale'

# --- errors

sed 's/1500/4000/' wiki.json >many.json
test_status 2 'fewer articles than rows are an error' vkb-gendata -o e --files wiki.csv --wikipedia dump.xml many.json
test_match "the dump has 1[0-9]* articles, but 'e/wiki.csv' has 4000 rows: lower" .err \
  'the error has the number of articles and of rows'
test_empty "$(ls -A e)" 'no file is left'
test_status 2 'a missing dump' vkb-gendata -o f --wikipedia no.xml wiki.json
test_match "cannot read 'no.xml'" .err 'the error names the missing dump'
for f in multi.xml.bz2 dump.xml.bz2 dump.xml.gz; do
  head -c 200000 "$f" >"cut.${f#*.}"
  test_status 2 "a dump that is cut off is an error: $f" vkb-gendata -o g --files wiki.csv --wikipedia "cut.${f#*.}" wiki.json
  test_match "'cut.${f#*.}'" .err "the error names cut.${f#*.}"
done
head -c 100000 dump.xml >cut.xml
test_status 2 'a dump that ends within a page is an error' \
  vkb-gendata -o g --files wiki.csv --wikipedia cut.xml wiki.json
test_match "'cut.xml' ends within a page" .err 'the error says that the dump ends within a page'
echo '<html/>' >other.xml
test_status 2 'a file that is not a dump is an error' vkb-gendata -o g --files wiki.csv --wikipedia other.xml wiki.json
test_match "'other.xml' has no pages" .err 'the error says that the file has no pages'
for bad in '&bogus;' '&#0;' '<b>'; do
  printf '<mediawiki>\n<page><text>%s</text></page></mediawiki>' "$bad" >invalid.xml
  test_status 2 "a dump that is not valid XML is an error: $bad" \
    vkb-gendata -o g --files one.jsonl --wikipedia invalid.xml one.json
  test_match "'invalid.xml' is not valid XML, on line 2" .err "the error has the line of $bad"
done
perl -e 'open F, "+<:raw", "bad.xml.bz2"; seek F, -s F > 900000 ? 600000 : 100000, 0; print F "x" x 300' \
  "$(cp multi.xml.bz2 bad.xml.bz2)"
test_status 2 'a corrupt dump is an error' vkb-gendata -o g --files wiki.csv --wikipedia bad.xml.bz2 wiki.json
test_empty "$(ls -A g)" 'no file of a bad dump is left'

# --- a dump from a server that supports ranges and can break off

cat >server.pl <<'END'
use IO::Socket::INET; use strict; $SIG{PIPE} = "IGNORE"; $| = 1;
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die; print $s->sockport, "\n"; close STDOUT;
open my $log, ">>", "log"; $log->autoflush(1); my $broken = 0;
while (my $c = $s->accept) {
  my ($line, %h) = scalar <$c>; while (my $l = <$c>) { last if $l =~ /^\r?$/; $h{lc $1} = $2 if $l =~ /^([^:]+): (.*?)\r?$/ }
  my ($path) = $line =~ m|^GET /(\S+)|; my $break = $path =~ s|^break/||; my $changed = -e "changed";
  print $log "$path ", $h{range} || "-", " ", $h{"if-range"} || "-", "\n";
  if (!-f $path) { print $c "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; close $c; next }
  open my $f, "<:raw", $path; local $/; my $d = <$f>; my ($from, $tag) = (0, $changed ? '"two"' : '"one"');
  if (($h{range} || "") =~ /bytes=(\d+)-/ && ($h{"if-range"} || "") eq $tag) { $from = $1 }
  my $n = length($d) - $from;
  if ($n <= 0) { print $c "HTTP/1.1 416 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; close $c; next }
  print $c $from ? "HTTP/1.1 206 Partial\r\nContent-Range: bytes $from-" . (length($d) - 1) . "/" . length($d) . "\r\n" : "HTTP/1.1 200 OK\r\n",
    "ETag: $tag\r\nContent-Length: $n\r\nConnection: close\r\n\r\n";
  $n = int($n / 2) if $break && -e "breaking"; print $c substr $d, $from, $n; close $c }
END
mkdir site && cp multi.xml.bz2 site/xxwiki-latest-pages-articles.xml.bz2
cp multi.xml.bz2 site/plain.xml.bz2
sum=$(sha1sum <multi.xml.bz2 | cut -d ' ' -f 1)
printf '%s  %s\n' 0000000000000000000000000000000000000000 xxwiki-20260101-pages-meta.xml.bz2 \
  "$sum" xxwiki-20260101-pages-articles.xml.bz2 >site/xxwiki-latest-sha1sums.txt
mkfifo said
perl server.pl >said &
server_pid=$!
test_cleanup() { kill "$server_pid" 2>/dev/null; wait "$server_pid" 2>/dev/null; }
read -r port <said
url=http://127.0.0.1:$port
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
name=xxwiki-latest-pages-articles.xml.bz2

test_that 'a dump is fetched from a server' vkb-gendata -o h --wikipedia "$url/site/$name" wiki.json
test_empty_file .err 'no warning is printed if the checksum is right'
test_that 'a dump of a server gives the same bytes' cmp a/wiki.csv h/wiki.csv
test_same "$name" "$(cd h && echo xxwiki*)" 'the dump is kept, and no other file'
: >log
test_that 'a dump of a server is used again' vkb-gendata -f -o h --wikipedia "$url/site/$name" wiki.json
test_empty_file log 'a dump of a server is not fetched again'
test_that 'a dump without a published checksum is accepted' vkb-gendata -o i --files wiki.csv --wikipedia "$url/site/plain.xml.bz2" wiki.json
test_match "plain.xml.bz2' is not checked" .err 'a warning says that the dump is not checked'
test_that '--sha1 is accepted' vkb-gendata -o j --sha1 "$sum" --files wiki.csv --wikipedia "$url/site/plain.xml.bz2" wiki.json
test_empty_file .err 'no warning is printed with --sha1'
test_status 2 'another checksum than that of the dump is an error' \
  vkb-gendata -o k --sha1 "$(echo "$sum" | tr 0-9a-f 1-9a-f0)" --wikipedia "$url/site/plain.xml.bz2" wiki.json
test_match "has the SHA-1 $sum, not" .err 'the error has the checksum of the dump'
test_empty "$(ls -A k)" 'no file with a wrong checksum is left'
test_status 2 'an invalid checksum is an error' vkb-gendata --sha1 12 -o k wiki.json
test_match "option '--sha1': '12' is not 40" .err 'the error says that a checksum has 40 digits'

: >breaking
: >log
test_status 2 'a transfer that breaks off each time is an error' \
  vkb-gendata -o l --files wiki.csv --wikipedia "$url/break/site/$name" wiki.json
test_match 'broke off 8 times; run the command again' .err 'the error has the number of attempts'
test_same 8 "$(grep -c pages-articles log)" 'a transfer is continued 7 times'
test_same "$name.part $name.part.id" "$(cd l && echo ./* | sed 's|\./||g')" 'the partial file is kept'
part=$(stat -c %s "l/$name.part")
rm breaking
: >log
test_that 'the next start is accepted' vkb-gendata -o l --files wiki.csv --wikipedia "$url/break/site/$name" wiki.json
test_match "^site/$name bytes=$part- \"one\"$" log 'the next run continues the transfer'
test_that 'a continued dump is complete' cmp "l/$name" "site/$name"
test_same "wiki.csv wiki.csv.spec $name" "$(cd l && echo ./* | sed 's|\./||g' | tr ' ' '\n' | sort | paste -s -d ' ' -)" 'the partial file is removed'

mkdir m
printf 'other bytes' >"m/$name.part"
printf '"one"' >"m/$name.part.id"
: >changed
test_that 'a dump that has changed since the partial file is accepted' vkb-gendata -o m --files wiki.csv --wikipedia "$url/site/$name" wiki.json
test_that 'a dump that has changed is fetched from its start' cmp "m/$name" "site/$name"
cp "site/$name" "n.part"
mkdir n && mv n.part "n/$name.part" && printf '"two"' >"n/$name.part.id"
test_that 'a complete partial file is accepted' vkb-gendata -o n --files wiki.csv --wikipedia "$url/site/$name" wiki.json
test_that 'a complete partial file becomes the dump' cmp "n/$name" "site/$name"

test_status 2 'a dump that the server does not have is an error' \
  vkb-gendata -o o --wikipedia "$url/site/none.bz2" wiki.json
test_match "cannot fetch '$url/site/none.bz2': .*404" .err 'the error has the status of the server'
test_empty "$(ls -A o)" 'no empty partial file is left'
kill "$server_pid"
wait "$server_pid" 2>/dev/null
test_status 2 'a server that does not answer is an error' vkb-gendata -o o --wikipedia "$url/site/$name" wiki.json
test_match "cannot fetch '$url" .err 'the error names the URL that does not answer'
test_empty "$(ls -A o)" 'no partial file of that server is left'
mkdir p
printf 'other bytes' >"p/$name.part"
printf '"one"' >"p/$name.part.id"
test_that 'a dump of a file URL, with the part of another dump' \
  vkb-gendata -o p --files wiki.csv --wikipedia "file://$PWD/site/$name" wiki.json
test_that 'a dump of a file URL is copied from its start' cmp "p/$name" "site/$name"
truncate -s 8T huge.bz2
test_status 2 'a disk that is too small is an error' vkb-gendata -o o --wikipedia "file://$PWD/huge.bz2" wiki.json
test_match 'needs 8.*B, but the disk of .* has only' .err 'the error has the size needed and the space left'
test_empty "$(ls -A o)" 'a disk that is too small gets no file'
rm huge.bz2
test_done
