#!/bin/sh
# vkb-gendata: every transform and query type. The checksums are of files that Python's
# random and csv modules make from the same recipes.
# sanitize: recipes of datasets.
. "${0%/*}/lib.sh"

cat >python.json <<'END'
[{"dataset_generation": {
  "phrase.csv": {"doc_count": 2500, "fields": [{"name": "field1", "size": 200, "transforms": [
    {"type": "proximity_phrase", "term_count": 5}]}]},
  "noise.csv": {"doc_count": 2500, "fields": [{"name": "field1", "size": 2000, "transforms": [
    {"type": "proximity_phrase", "term_count": 25, "combinations": 100}]}]},
  "expansion.csv": {"doc_count": 9000, "fields": [{"name": "field1", "size": 300, "transforms": [
    {"type": "expansion", "expansion_count": 200, "docs_per_expansion": 20}]}]},
  "fuzzy.csv": {"doc_count": 9000, "fields": [{"name": "field1", "size": 50, "transforms": [
    {"type": "fuzzy", "variant_count": 200, "docs_per_variant": 2, "min_word_length": 8,
     "max_word_length": 10, "target_distance": 3}]}]},
  "repeated.csv": {"doc_count": 3, "fields": [{"name": "field1", "size": 150000, "transforms": [
    {"type": "repeated_token", "token": "b", "token_count": 100000}]}]},
  "cyclic.csv": {"doc_count": 3, "fields": [{"name": "field1", "size": 1000000, "transforms": [
    {"type": "cyclic_pattern"}]}]},
  "unique.csv": {"doc_count": 30, "fields": [{"name": "field1", "size": 100000, "transforms": [
    {"type": "unique_tokens", "token_count": 7000}]}]},
  "uuid.csv": {"doc_count": 40, "fields": [{"name": "field1", "size": 250000, "transforms": [
    {"type": "uuid_tokens", "token_count": 9}]}]},
  "progressive.csv": {"doc_count": 800, "fields": [{"name": "field1", "size": 100000, "transforms": [
    {"type": "progressive_prefix", "max_depth": 20, "leaf_count": 30}]}]},
  "set.csv": {"doc_count": 2000, "fields": [{"name": "field1", "size": 25, "transforms": [
    {"type": "random_from_set"}]}]},
  "mix.csv": {"doc_count": 101, "fields": [{"name": "field1", "size": 60, "transforms": [
    {"type": "repeated_token", "token_count": 3},
    {"type": "inject", "term": "a,b", "percentage": 0.25},
    {"type": "repeat", "term": "q\"z", "count": 2}, {"type": "prefix_gen"}]}]},
  "empty.csv": {"doc_count": 3, "fields": [{"name": "field1", "size": 60, "transforms": []}]}},
 "query_generation": {
  "phrases.csv": {"type": "proximity_phrase", "doc_count": 100, "term_count": 5},
  "expansions.csv": {"type": "expansion", "doc_count": 1100},
  "words.csv": {"type": "fuzzy", "doc_count": 100, "min_word_length": 8, "max_word_length": 10,
   "target_distance": 3},
  "tags.csv": {"type": "tag_only", "doc_count": 7, "tags": ["electronics", "books", "clothing"]}}}]
END
test_that 'the recipes of the Python tool are accepted' vkb-gendata -o a python.json
test_empty "$(cat .out .err)" 'nothing is printed on stderr'
test_same '1599043233 1171619 cyclic.csv
103457261 20 empty.csv
213621344 1690768 expansion.csv
1231530921 10007 expansions.csv
3576782040 97340 fuzzy.csv
2206970237 6674 mix.csv
4272140639 3865008 noise.csv
2569361984 177508 phrase.csv
1135493130 7581 phrases.csv
1215357615 1419128 progressive.csv
4187522607 450014 repeated.csv
792316538 42008 set.csv
3854031235 83 tags.csv
2137695801 1031032 unique.csv
3720106249 46488 uuid.csv
3070472432 1098 words.csv' \
  "$(cd a && rm ./*.spec && cksum ./*.csv | sed 's|\./||')" 'the files are equal to those of Python'

# --- transforms that the Python tool lacks

cat >own.json <<'END'
{"dataset_generation": {
  "hybrid.csv": {"doc_count": 4000, "fields": [
    {"name": "price", "size": 7, "transforms": [{"type": "numeric_range", "min": -10, "max": 1000}]},
    {"name": "share", "size": 30, "transforms": [{"type": "numeric_range", "min": 0.25, "max": 0.5}]},
    {"name": "tags", "size": 30, "transforms": [{"type": "tag_list", "tags": ["x", "y", "z"]}]},
    {"name": "label", "size": 30, "transforms": [{"type": "phrase_label", "repeats": 500}]}]},
  "text.csv": {"doc_count": 300, "fields": [
    {"name": "title", "size": 40},
    {"name": "body", "size": 3000, "transforms": [{"type": "wikipedia", "words": 100}]},
    {"name": "stems", "size": 3000, "transforms": [{"type": "stemmable_words", "token_count": 50}]}]},
  "many.csv": {"doc_count": 200, "generate_fields": {"count": 20, "prefix": "f", "size": 25,
    "transforms": [{"type": "random_from_set", "token_set": ["red", "blue"], "token_count": 8}]}},
  "wiki.csv": {"doc_count": 20, "generate_fields": {"count": 50, "size": 400}},
  "marked.csv": {"doc_count": 200, "generate_fields": {"count": 2, "size": 90, "transforms": [
    {"type": "wikipedia"}, {"type": "inject", "term": "needle", "percentage": 0.25}, {"type": "repeat", "term": "hay"}]}},
  "both.csv": {"doc_count": 20, "generate_fields": {"count": 2, "size": 40,
    "transforms": [{"type": "fuzzy", "docs_per_variant": 1}]}},
  "ids.csv": {"doc_count": 20, "generate_fields": {"count": 3, "size": 150,
    "transforms": [{"type": "uuid_tokens", "token_count": 1}]}}},
 "query_generation": {
  "search_terms.csv": {"type": "words", "doc_count": 50},
  "pairs.csv": {"type": "words", "doc_count": 50, "term_count": 2},
  "begins.csv": {"type": "prefix", "doc_count": 10},
  "ends.csv": {"type": "suffix", "doc_count": 100, "source": "own_terms.csv"}}}
END
mkdir b
printf 'term,x\r\nthe,1\r\nharbour,2\r\nox,3\r\n"a ""z""",4\r\nna\303\257vet\303\251,5\r\n' >b/own_terms.csv
test_that 'other transforms and queries are accepted' vkb-gendata -o b own.json
test_empty "$(cat .out .err)" 'nothing is printed on stderr'
body() { tail -n +2 "b/$1" | tr -d '\r'; }
column() { body "$1" | cut -d , -f "$2"; }
distinct() { sort -u | wc -l; }

test_same '4000 0 0' "$(column hybrid.csv 1 | awk '
  { n++; if ($1 < -10 || $1 > 1000) out++; if (length($1) > 7) long++ }
  END { print n, out + 0, long + 0 }')" 'numeric_range: the numbers are in the range and the size'
test_same '1' "$(column hybrid.csv 1 | awk '{ s += $1; q += $1 * $1 }
  END { m = s / NR; d = sqrt(q / NR - m * m)
    print (m > 470 && m < 520 && d > 280 && d < 303) }')" 'numeric_range: the numbers are uniform'
test_same '1' "$(column hybrid.csv 2 | awk '$1 < .25 || $1 > .5 { bad++ }
  END { print bad + 0 == 0 }')" 'numeric_range: fractions are in the range'
test_same 'x x|y x|z y y|x y|z z z|x z|y' \
  "$(column hybrid.csv 3 | sort -u | tr '\n' ' ' | sed 's/ $//')" 'tag_list: one or two different tags'
test_same 'phrase0 phrase7 8' "$(column hybrid.csv 4 | awk 'NR == 1 { a = $1 }
  !s[$1]++ { n++ } END { print a, $1, n }')" 'phrase_label: each label is repeated'
test_same 300 "$(body text.csv | distinct)" 'wikipedia: every row has other text'
test_empty "$(body text.csv | sed 's/.*,//' | tr ' ' '\n' | grep -Ev '(s|ed|ing)$')" 'stemmable_words: all words have endings'
test_same 50 "$(body text.csv | sed 's/.*,//' | awk 'NR == 1 { print NF }')" 'stemmable_words: the text has token_count words'
test_same 'f1,f2' "$(head -n 1 b/many.csv | cut -d , -f 1,2)" 'generate_fields: the names of the fields'
test_same "blue red" "$(body many.csv | tr -s "," " " | tr " " "\n" | grep -E "^(red|blue)$" | sort -u | tr "\n" " " | sed "s/ $//")" \
  'random_from_set: all words are from the set'
test_same 0 "$(body many.csv | awk -F , '{ for (i = 2; i <= NF; i++) if ($i != $1) next; n++ } END { print n + 0 }')" \
  'random_from_set: fields differ'
test_same 1000 "$(perl -ne 'next if $. == 1; s/\r?\n//;
  push @c, /"([^"]*)"|([^,]+)/g; END { my %s; $s{$_}++ for grep { defined } @c; print scalar keys %s }' b/wiki.csv)" \
  'wikipedia: all fields have different texts'
test_same '200 50 150 0' "$(body marked.csv | awk '{ gsub(/"/, "") } / needle hay .* needle hay $/ { a++ }
  !/needle/ && / hay .* hay $/ { b++ } length($0) > 2 * 90 + 1 { long++ } END { print NR, a, b, long + 0 }')" \
  'inject, repeat: the added words are not cut off'
test_same 20 "$(body both.csv | awk -F , '$1 != $2' | wc -l)" 'fuzzy: fields differ'
test_same 20 "$(body ids.csv | awk -F , '$1 != $2 && $2 != $3 && length($3) == 128' | wc -l)" \
  'uuid_tokens: fields differ'

printf 'term\r\nerm\r\nour\r\nox\r\n"""z"""\r\net\303\251\r\n' >want
test_that 'suffix: three characters, no stop words' cmp want b/ends.csv
test_same 'term' "$(head -n 1 b/begins.csv | tr -d '\r')" 'prefix: the header'
test_same "$(tr -d '\r' <b/search_terms.csv | head -n 10 | cut -c 1-3)" "$(body begins.csv)" \
  'prefix: the first three characters, also of a heading that begins with "term"'
mkdir heading
printf 'search_term\n  harbour \nox\nThe\n' >heading/search_terms.csv
echo '{"query_generation": {"begins.csv": {"type": "prefix", "doc_count": 9}}}' >heading.json
vkb-gendata -q -o heading --files begins.csv heading.json
test_same 'term har ox' "$(tr -d '\r' <heading/begins.csv | xargs)" \
  'another first row is a heading, and blanks around a term are dropped'
test_same 'term1,term2 50' "$(head -n 1 b/pairs.csv | tr -d '\r') $(body pairs.csv | awk -F , 'NF == 2' | wc -l)" \
  'words: two words per row'
words=$(body search_terms.csv | distinct)
test_same 50 "$words" 'words: all words are different'
missing=0
for w in $(body search_terms.csv); do
  grep -qi -- "$w" b/wiki.csv || missing=$((missing + 1))
done
test_same 0 "$missing" 'words: the text has all of them'

# --- seeds, threads

test_that 'one thread is accepted' vkb-gendata -j 1 --files hybrid.csv,text.csv,many.csv -o one own.json
test_that 'nine threads are accepted' vkb-gendata -j 9 --files hybrid.csv,text.csv,many.csv -o nine own.json
for f in hybrid.csv text.csv many.csv; do
  test_that "$f: one thread makes the same file" cmp "b/$f" "one/$f"
  test_that "$f: nine threads make the same file" cmp "b/$f" "nine/$f"
done
test_that 'another seed is accepted' vkb-gendata --seed 5 -o five own.json --files hybrid.csv,ids.csv
test_status 1 'another seed makes other rows' cmp -s b/hybrid.csv five/hybrid.csv
test_status 1 'another seed makes other UUIDs, too' cmp -s b/ids.csv five/ids.csv

# --- errors

for bad in \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":5,"transforms":[{"type":"repeated_tokn"}]}]}}|\[.a.csv.\].fields\[0\].transforms\[0\].type: unknown transform .repeated_tokn., did you mean .repeated_token.' \
  '{"a.csv":{"doc_count":"x","fields":[{"name":"f","size":5}]}}|doc_count: "x" is not a whole number' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":0}]}}|size: 0 is not a whole number' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f"}]}}|fields\[0\]: lacks .size.' \
  '{"a.csv":{"doc_count":1}}|lacks .fields. and .generate_fields.' \
  '{"a.csv":{"fields":[{"name":"f","size":5}]}}|lacks .doc_count.' \
  '{"a.txt":{"doc_count":1,"fields":[{"name":"f","size":5}]}}|does not end in .csv' \
  '{"../a.csv":{"doc_count":1,"fields":[{"name":"f","size":5}]}}|is not a plain file name' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":5},{"name":"f","size":5}]}}|two fields are called .f.' \
  '{"a.xml":{"doc_count":1,"fields":[{"name":"f g","size":5}]}}|not a valid name of an XML element' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":3,"transforms":[{"type":"numeric_range","max":10000}]}]}}|do not fit in 3 characters' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":3,"transforms":[{"type":"inject","terms":"x"}]}]}}|unknown key .terms. .there are term, percentage' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":3,"transforms":[{"type":"fuzzy","min_word_length":7}]}]}}|.min_word_length. 7 is above .max_word_length. 6' \
  '{"a.csv":{"doc_count":1,"fields":[{"name":"f","size":3,"transforms":[{"type":"tag_list","tags":[]}]}]}}|tags: \[\] is not a list of strings' \
  '{"a.jsonl":{"doc_count":1,"fields":[{"name":"f","transforms":[{"type":"vector"}]}]}}|vectors need a .npy'; do
  printf '[{"dataset_generation":%s}]\n' "${bad%%|*}" >bad.json
  test_status 2 "an error: ${bad#*|}" vkb-gendata -o c bad.json
  test_match "^vkb-gendata: bad.json: .\\[0\\].dataset_generation.*${bad#*|}" .err 'the error has the place and the reason'
done
printf '[{"query_generation":{"q.csv":{"type":"zz","doc_count":3}}}]\n' >bad.json
test_status 2 'an unknown query type is an error' vkb-gendata -o c bad.json
test_match 'there are proximity_phrase, prefix, suffix' .err 'the error lists the query types'
test_status 1 'no file is made' test -e c
test_status 2 'an empty --files is an error' vkb-gendata -o c --files '' own.json
test_status 2 'an empty name in --files is an error' vkb-gendata -o c --files text.csv, own.json
test_status 2 'an unknown name in --files is an error' vkb-gendata -o c --files text.cvs own.json
test_match "no file 'text.cvs' .*there are hybrid.csv, text.csv" .err 'the error lists the files'
test_status 2 'a seed out of range is an error' vkb-gendata --seed 99999999999999999999 own.json
test_match "'99999999999999999999' is not" .err 'the error shows the number as typed'
test_that 'a configuration without datasets is accepted' vkb-gendata -o c "$top/configs/quick.json"
test_status 1 'without datasets no file is made' test -e c
test_done
