#!/bin/sh
# vkb-gendata: the same rows in every format, with any bytes in them.
# sanitize: formats of datasets.
. "${0%/*}/lib.sh"

fields='[{"name": "id1", "size": 40, "transforms": [{"type": "proximity_phrase", "repeats": 1}]},
 {"name": "hard", "size": 60, "transforms": [{"type": "inject", "percentage": 0.5,
   "term": "a,b \"q\" <t> & é\r\n\tz\\"}]}]'
cat >rows.json <<END
{"dataset_generation": {
  "rows.csv": {"doc_count": 6, "fields": $fields},
  "rows.tsv": {"doc_count": 6, "fields": $fields},
  "rows.xml": {"doc_count": 6, "fields": $fields},
  "rows.jsonl": {"doc_count": 6, "fields": $fields},
  "lone.csv": {"doc_count": 4, "fields": [{"name": "f", "size": 9, "transforms": [
    {"type": "inject", "term": "x", "percentage": 0.5}]}]},
  "none.xml": {"doc_count": 0, "fields": $fields}}}
END
test_that 'rows in each format are made' vkb-gendata -o a rows.json

jq -c '[.id1, .hard]' a/rows.jsonl >want
test_same '6 " a,b \"q\" <t> & é\r\n\tz\\"' "$(wc -l <want) $(head -n 1 a/rows.jsonl | jq -c .hard)" \
  'JSON lines: the number of rows and the text'
cat >csv.pl <<'END'
# a strict reader of RFC 4180 that prints JSON strings
my ($d) = @ARGV; local $/; my $s = <STDIN>; my $e = $d eq "," ? "\r\n" : "\n"; my $first = 1;
sub js { my $x = shift; $x =~ s/([\\"])/\\$1/g; $x =~ s/\r/\\r/g; $x =~ s/\n/\\n/g; $x =~ s/\t/\\t/g; qq("$x") }
while (length $s) { my @f;
  while (1) {
    my $v;
    if ($s =~ s/^"((?:[^"]|"")*)"//) { ($v = $1) =~ s/""/"/g } else { $s =~ s/^([^"\r\n\Q$d\E]*)//; $v = $1 }
    push @f, $v;
    last unless $s =~ s/^\Q$d\E//;
  }
  $s =~ s/^$e// or die "no end of line at: " . substr($s, 0, 20);
  print "[" . join(",", map { js($_) } @f) . "]\n" unless $first; $first = 0;
}
END
test_same "$(cat want)" "$(perl csv.pl , <a/rows.csv)" 'CSV: the rows are those of JSON lines'
test_same "$(cat want)" "$(perl csv.pl "$(printf '\t')" <a/rows.tsv)" 'TSV: the rows are those of JSON lines'
test_same 'f|" x"|" x"|""|""' "$(tr -d '\r' <a/lone.csv | sed 's/^ x$/" x"/' | tr '\n' '|' | sed 's/|$//')" \
  'CSV: a lone empty field is quoted, not an empty line'
test_that 'XML: the files are valid' xmllint --noout a/rows.xml a/none.xml
test_same 6 "$(xmllint --xpath 'count(/corpus/doc)' a/rows.xml)" 'XML: each row is a document'
test_same "$(head -n 1 a/rows.jsonl | jq -j .hard | od -c)" \
  "$(xmllint --xpath 'string(/corpus/doc[1]/hard)' a/rows.xml | perl -pe 'chomp if eof' | od -c)" 'XML: the text is unchanged'
test_same '000001 000006' "$(xmllint --xpath 'concat(/corpus/doc[1]/id," ",/corpus/doc[6]/id)' a/rows.xml)" 'XML: the documents are numbered'

# --- NPY and vectors

cat >vectors.json <<'END'
{"dataset_generation": {
  "hybrid.csv": {"doc_count": 300, "fields": [
    {"name": "title", "size": 12, "transforms": [{"type": "proximity_phrase", "repeats": 100}]},
    {"name": "price", "size": 9, "transforms": [{"type": "numeric_range", "min": 10, "max": 1000}]},
    {"name": "tag", "size": 6, "transforms": [{"type": "tag_list", "tags": ["ab", "cd"]}]},
    {"name": "embedding", "transforms": [{"type": "vector", "dimensions": 24}]}]},
  "plain.fvecs": {"doc_count": 300, "fields": [{"name": "v", "transforms": [{"type": "vector", "dimensions": 24}]}]}},
 "query_generation": {
  "queries.csv": {"type": "vector", "doc_count": 7, "dimensions": 24},
  "queries.fvecs": {"type": "vector", "doc_count": 7, "dimensions": 24}}}
END
test_that 'vectors are made' vkb-gendata -o v vectors.json
test_same 'hybrid.npy plain.fvecs queries.csv queries.fvecs queries.npy' \
  "$(cd v && rm ./*.spec && echo ./* | sed 's|\./||g')" 'vectors have the right files'
cat >npy.pl <<'END'
# prints the header, then each row by the template
my ($t, $size) = @ARGV; binmode STDIN; local $/; my $s = <STDIN>;
my ($magic, $major, $minor, $n) = unpack "a6CCv", $s;
die "magic" unless $magic eq "\x93NUMPY" && $major == 1 && $minor == 0 && (10 + $n) % 64 == 0;
my $head = substr $s, 10, $n; $head =~ s/ *\n$//; print "$head\n"; $s = substr $s, 10 + $n;
die "size" if length($s) % $size;
while (length $s) { my @v = unpack $t, substr $s, 0, $size, "";
  my @text = grep { !/^-?[\d.]+(e-?\d+)?$/ || /\.\d\d$/ && length == length sprintf "%.2f", $_ } splice @v, 0, $size > 100 && $t =~ /a9/ ? 3 : 1;
  s/\0+$// for @text; my $q = 0; $q += $_ * $_ for @v; printf "%s %.4f %d\n", "@text", $q, scalar @v }
END
perl npy.pl 'Z12a9a6f<24' 123 <v/hybrid.npy >hybrid
test_same "{'descr': [('title', '|S12'), ('price', '|S9'), ('tag', '|S6'), ('embedding', '<f4', (24,))], 'fortran_order': False, 'shape': (300,), }" \
  "$(head -n 1 hybrid)" 'NPY: the header'
test_same 300 "$(tail -n +2 hybrid | grep -Ec '^phrase[0-2] [0-9]+\.[0-9][0-9] (ab|cd) 1\.0000 24$')" \
  'NPY: a row has a label, a number, one tag and a vector of length 1'
perl npy.pl 'a20f<24' 116 <v/queries.npy >queries
test_same "phrase0 1.0000 24|phrase6 1.0000 24|7" \
  "$(sed -n '2p;8p' queries | tr '\n' '|')$(tail -n +2 queries | wc -l)" 'NPY: the queries have terms and vectors'
test_same 'search_term phrase0' "$(head -n 2 v/queries.csv | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')" \
  'NPY: the terms of the queries are a CSV file'
test_same '300 24 24' "$(perl -e 'binmode STDIN; local $/; $s = <STDIN>; print length($s) / 100, " ", unpack("V", $s), " ", unpack("V", substr $s, 29900)' <v/plain.fvecs)" \
  'fvecs: a row has a dimension and floats'
test_same 300 "$(perl -e 'binmode STDIN; local $/; $s = <STDIN>; my %s; $s{$_}++ for unpack "(a100)*", $s; print scalar keys %s' <v/plain.fvecs)" \
  'fvecs: all vectors are different'
cat >wide.json <<'END'
{"dataset_generation": {"wide.npy": {"doc_count": 2, "generate_fields": {
  "count": 3000, "prefix": "a_name_of_a_column_", "size": 5, "transforms": [
  {"type": "numeric_range", "min": 1, "max": 9}]}}}}
END
test_that 'NPY: 3000 fields are made' vkb-gendata -o wide wide.json
test_same '2 0 10 30000' "$(perl -e 'binmode STDIN; local $/; $s = <STDIN>; my ($major, $n) = unpack "x6CxV", $s;
  print join " ", $major, (12 + $n) % 64, ord substr($s, 11 + $n, 1), length($s) - 12 - $n' <wide/wide.npy)" \
  'NPY: a header of more than 64 KiB has version 2.0'
test_that '--files accepts the name of the file' vkb-gendata -o w --files hybrid.npy vectors.json
test_that 'a file chosen by its name is the same' cmp v/hybrid.npy w/hybrid.npy
test_that '--files accepts the key of the recipe' vkb-gendata -o x --files queries.csv vectors.json
test_same 'queries.csv queries.npy' "$(cd x && rm ./*.spec && echo ./* | sed 's|\./||g')" \
  'a file chosen by its key is made with its companion'

# --- neighbours

for metric in l2 ip cosine; do
  cat <<END
{"dataset_generation": {
  "base.fvecs": {"doc_count": 700, "fields": [{"name": "v", "transforms": [{"type": "vector", "dimensions": 21}]}]}},
 "query_generation": {
  "q.fvecs": {"type": "vector", "doc_count": 6, "dimensions": 21},
  "$metric.ivecs": {"type": "neighbours", "source": "base.fvecs", "queries": "q.fvecs", "k": 9, "metric": "$metric"}}}
END
done | jq -s . >near.json
test_that 'files of neighbours are made' vkb-gendata -o n near.json
cat >near.pl <<'END'
# finds the neighbours by brute force
my $metric = shift; local $/;
sub vecs { open my $f, "<:raw", shift or die; my $s = <$f>; my @v; push @v, [unpack "f<21", substr $_, 4] for unpack "(a88)*", $s; @v }
sub dot { my ($x, $y) = @_; my $s = 0; $s += $x->[$_] * $y->[$_] for 0 .. 20; $s }
my @b = vecs("n/base.fvecs"); my @q = vecs("n/q.fvecs");
for my $q (@q) {
  my @d = map { my $d = dot($q, $_);
    $metric eq "ip" ? -$d : $metric eq "cosine" ? -$d / sqrt(dot($q, $q) * dot($_, $_)) : dot($q, $q) + dot($_, $_) - 2 * $d } @b;
  print join(" ", 9, (sort { $d[$a] <=> $d[$b] } 0 .. $#b)[0 .. 8]), "\n" }
END
for metric in l2 ip cosine; do
  test_same "$(perl near.pl "$metric")" "$(perl -e 'binmode STDIN; local $/; print join(" ", unpack "V10", $_), "\n" for unpack "(a40)*", <STDIN>' <"n/$metric.ivecs")" \
    "neighbours: $metric, the same as by brute force"
done
test_that 'neighbours: one thread is accepted' vkb-gendata -j 1 -o n1 --files l2.ivecs near.json
test_that 'neighbours: one thread finds the same as many' cmp n/l2.ivecs n1/l2.ivecs
test_that 'neighbours: seven threads are accepted' vkb-gendata -j 7 -o n7 --files l2.ivecs near.json
test_that 'neighbours: seven threads find the same as one' cmp n/l2.ivecs n7/l2.ivecs
test_same current "$(vkb-gendata -o n --list --files l2.ivecs near.json | awk 'NR > 1 { print $NF }')" \
  'neighbours: the file is current'
test_same stale "$(sed 's/"doc_count": 700/"doc_count": 701/' near.json | vkb-gendata -o n --list --files l2.ivecs | awk 'NR > 1 { print $NF }')" \
  'neighbours: the file is stale if its base changed'
sed 's/"base.fvecs"/"no.fvecs"/' near.json | jq '[.[0]]' | sed 's/"source": "no/"source": "absent/' >bad.json
test_status 2 'neighbours: a source without a recipe is an error' vkb-gendata -o n bad.json
test_match "l2.ivecs.*source: no recipe makes 'absent.fvecs'" .err 'neighbours: the error names the missing source'
sed 's/"k": 9/"k": 701/' near.json >bad.json
test_status 2 'neighbours: more neighbours than rows are an error' vkb-gendata -o n bad.json
test_match "701 neighbours are wanted, but 'base.fvecs' has 700 rows" .err 'neighbours: the error has both numbers'
jq '.[0].query_generation["q.fvecs"].dimensions = 20 | [.[0]]' near.json >bad.json
test_status 2 'neighbours: different dimensions are an error' vkb-gendata -o n bad.json
test_match "'base.fvecs' has 21 dimensions, 'q.fvecs' has 20" .err 'neighbours: the error has both dimensions'
test_done
