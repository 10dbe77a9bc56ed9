#!/bin/sh
# vkb-gendata: existing files, changed files and errors.
# sanitize: sidecars that were edited or torn.
. "${0%/*}/lib.sh"

spec() { # spec ROWS
  printf '{"dataset_generation":{"a.csv":{"doc_count":%s,"fields":[{"name":"f","size":30}]},
    "b.csv":{"doc_count":3,"fields":[{"name":"f","size":30,"transforms":[{"type":"uuid_tokens"}]}]}},
    "query_generation":{"p.csv":{"type":"prefix","doc_count":5,"source":"a.csv"}}}\n' "$1"
}
state() { vkb-gendata -o d --list spec.json 2>/dev/null | awk 'NR > 1 { printf "%s%s", s, $NF; s = " " } END { print "" }'; }
spec 10 >spec.json
test_status 2 '--list with a missing source is exit 2' vkb-gendata -o d --list spec.json
test_same 'missing missing unknown' "$(state)" '--list shows the missing files'
test_status 1 '--list does not create the folder' test -e d
test_that 'all files are made' vkb-gendata -o d spec.json
test_same 'current current current' "$(state)" 'all files are current'
inode() { stat -c %i "d/$1"; }
a=$(inode a.csv) b=$(inode b.csv)
test_that 'the same recipes are accepted again' vkb-gendata -o d spec.json
test_same "$a $b" "$(inode a.csv) $(inode b.csv)" 'nothing is made again'
touch -d '2020-01-01' d/a.csv
test_same 'current current current' "$(state)" 'a different time of a file does not matter'
spec 11 >spec.json
test_same 'stale current current' "$(state)" 'a file of a changed recipe is stale'
test_that 'a file of another recipe is accepted' vkb-gendata -o d spec.json
test_same "12 $b" "$(wc -l <d/a.csv) $(inode b.csv)" \
  'a file of another recipe is made again, the others are kept'
test_same 'current current current' "$(vkb-gendata -o d spec.json && state)" \
  'all files are current after another run'
test_that 'another seed is accepted' vkb-gendata --seed 1 -o d --files b.csv spec.json
test_same 'current stale current' "$(state)" 'a file of another seed is stale'
test_that 'the first seed is accepted again' vkb-gendata -o d spec.json

# An edit that changes neither the size nor the recipe.
perl -pi -e 's/^(.)/$1 eq "x" ? "y" : "x"/e if $. == 3' d/b.csv
cp d/b.csv edited
test_same 'current changed current' "$(state)" '--list shows a file that was edited by hand'
test_status 2 'a file that was edited by hand is not overwritten' vkb-gendata -o d spec.json
test_match "'d/b.csv' was changed since it was made; use --force" .err \
  'the error says to use --force for an edited file'
test_that 'a file that was edited by hand is unchanged' cmp edited d/b.csv
test_that '--force is accepted for an edited file' vkb-gendata -f -o d --files b.csv spec.json
test_same 'current current current' "$(state)" '--force makes the edited file again'
rm d/b.csv.spec
test_same 'current foreign current' "$(state)" 'a file without a sidecar is foreign'
: >d/b.csv.spec
test_same 'current foreign current' "$(state)" 'a file with an incomplete sidecar is foreign'
cp d/b.csv theirs
test_that 'a foreign file is accepted' vkb-gendata -o d spec.json
test_match "'d/b.csv' was not made by this program and is kept" .err \
  'a warning says that the foreign file is kept'
test_that 'the foreign file is unchanged' cmp theirs d/b.csv
test_that '--force is accepted for a foreign file' vkb-gendata -f -o d spec.json

# Queries are stale if the content of their source changes.
printf 'term\r\nzebra\r\n' >d/a.csv
test_same 'changed current stale' "$(state)" 'queries are stale if their terms have changed'

# --- errors

test_status 2 'two recipes of one file are an error' vkb-gendata -o e spec.json "$(spec 9 >other.json; echo other.json)"
test_match "other.json: .*another recipe also makes 'a.csv': spec.json: .*a.csv" .err \
  'the error names both recipes of a file'
cp spec.json same.json
test_that 'the same recipe twice is accepted' vkb-gendata -o e spec.json same.json
printf '{"query_generation":{"q.csv":{"type":"suffix","doc_count":5,"source":"no.csv"},
  "r.csv":{"type":"expansion","doc_count":5}}}\n' >lost.json
test_status 2 'a source without a recipe is an error' vkb-gendata -o f lost.json
test_match "cannot read 'f/no.csv': No such file" .err 'the error names the missing source'
test_that 'the other files are made' test -s f/r.csv
mkdir g g/a.csv
test_status 2 'a folder with the name of a file is an error' vkb-gendata -f -o g spec.json
test_match "'g/a.csv' is a folder" .err 'the error says that there is a folder in the way'
test_same 'a.csv b.csv b.csv.spec' "$(cd g && echo ./* | sed 's|\./||g')" 'a folder in the way leaves no temporary file'
test_status 2 'a folder without --force is an error' vkb-gendata -o g --files a.csv spec.json
test_match "^vkb-gendata: 'g/a.csv' is a folder$" .err 'the error without --force is the same'
: >file
test_status 2 'a file as output folder is an error' vkb-gendata -o file spec.json
test_status 2 'a recipe that is not JSON is an error' vkb-gendata -o h "$0"
test_status 2 'a missing recipe is an error' vkb-gendata -o h nowhere.json
test_that 'a recipe on standard input is accepted' sh -c 'vkb-gendata -o i <spec.json'
test_that 'a recipe on standard input makes the same file' cmp e/b.csv i/b.csv

# A file that does not fit on the disk is removed.
printf '{"dataset_generation":{"big.csv":{"doc_count":100000,"fields":[{"name":"f","size":400}]}}}\n' >big.json
test_status 2 'a full disk is an error' sh -c 'ulimit -f 100; trap "" XFSZ; exec vkb-gendata -o j big.json'
test_match "cannot write 'j/big.csv'" .err 'the error says that the file cannot be written'
test_empty "$(find j -type f)" 'a full disk leaves no file'
test_done
