#!/bin/sh
# Rows of datasets in requests on a real server: every format, each row once.
# sanitize: datasets.
. "${0%/*}/lib.sh"
. "$tests/engine.sh"

awk 'BEGIN {
  print "id,title,body" >"d.csv"
  print "id\ttitle\tbody" >"d.tsv"
  print "<corpus>" >"d.xml"
  for (i = 1; i <= 3000; i++) {
    t = "title " i; b = sprintf("%" (i % 97 + 1) "s&", i)
    printf "%d,\"%s, \"\"q\"\"\n\",%s\n", i, t, b >"d.csv"
    printf "%d\t\"%s, \"\"q\"\"\n\"\t%s\n", i, t, b >"d.tsv"
    x = b; sub("&", "\\&amp;", x)
    printf "<doc><id>%d</id><title>%s, &quot;q&quot;\n</title><body>%s</body></doc>\n", i, t, x >"d.xml"
    printf "{\"body\":\"%s\",\"id\":%d,\"title\":\"%s, \\\"q\\\"\\n\"}\n", b, i, t >"d.jsonl"
  }
  print "</corpus>" >"d.xml"
}'
# Strings and vectors: printf of the shell writes the bytes.
head="{'descr': [('id', '|S4'), ('v', '<f4', (2,))], 'fortran_order': False, 'shape': (3,), }"
{
  # shellcheck disable=SC2059 # the length as an octal escape
  printf "\223NUMPY\1\0\\$(printf %o ${#head})\0%s" "$head"
  printf 'one\0\0\0\200\77\0\0\0\100'
  printf 'two\0\0\0\0\0\0\0\0\0'
  printf 'last\1\2\3\4\5\6\7\10'
} >d.npy

cat >script <<'END'
run() { "$ENGINE" -p "$VKB_PORT" "$@"; }
cli() { valkey-cli -p "$VKB_PORT" "$@"; }
for f in csv tsv xml jsonl; do
  cli flushall >/dev/null
  run -t 'HSET doc:__field:id__ t __field:title__ b __field:body__ n "<__field:title__|__field:id__>"' \
    --dataset d.$f -n 3000 -P 7 -T 2 -c 8 >$f
  cli dbsize >$f.size
  cli eval 'local keys, all = redis.call("keys", "*"), {}
    table.sort(keys)
    for _, k in ipairs(keys) do
      all[#all + 1] = k .. "\1" .. table.concat(redis.call("hgetall", k), "\1")
    end
    return redis.sha1hex(table.concat(all, "\1"))' 0 >$f.digest
  cli --no-raw hgetall doc:7 >$f.one
done
cli flushall >/dev/null
run -t 'HSET v:__field:id__ v __field:v__' --dataset d.npy -n 3 -c 1 >npy
cli --no-raw hget v:one v >npy.one
cli --no-raw hget v:last v >npy.last
cli flushall >/dev/null
run -t 'INCR n:__field:id__' --dataset d.csv --maxdocs 10 -n 1005 -P 3 -c 4 >most
cli --scan | while read -r k; do cli get "$k"; done | sort | uniq -c | xargs >most.got
cli flushall >/dev/null
run -t 'INCR n:__field:id__' -t 'INCR n:__field:id__' --dataset d.csv -n 1500 -P 8 >both
cli dbsize >both.size
run -t 'RPUSH all __field:id__ __field:title__ __field:body__' -t 'RPUSH some __field:body__' \
  --dataset d.csv -n 1 -c 1 >parts
cli --no-raw lindex all 2 >parts.all
cli --no-raw lindex some 0 >parts.some
END
ENGINE=$engine
export ENGINE
test_that 'the script runs on a server' vkb-serve -- sh script

for f in csv tsv xml jsonl; do
  test_same '3000 0 3000' "$(value requests $f) $(value errors_total $f) $(cat $f.size)" "$f: each row is sent once"
  test_match '"title 7, ..q...n"' $f.one "$f: a field as a word"
  test_match '"<title 7, ..q...n.7>"' $f.one "$f: several fields in one word"
  [ $f = csv ] || test_that "$f: the row is that of the CSV file" cmp csv.one $f.one
  [ $f = csv ] || test_that "$f: all rows are those of the CSV file" cmp csv.digest $f.digest
done
test_match '^[0-9a-f]{40}$' csv.digest 'the digest of the rows is a SHA-1'
# shellcheck disable=SC2016 # no expansion
test_same '"\x00\x00\x80?\x00\x00\x00@"' "$(cat npy.one)" 'a vector of NPY is sent as bytes'
test_same '"\x01\x02\x03\x04\x05\x06\a\b"' "$(cat npy.last)" 'a vector of any bytes is unchanged'
test_same '5 100 5 101' "$(cat most.got)" '--maxdocs repeats the first rows'
test_same 3000 "$(cat both.size)" 'two streams share the rows'
test_same "$(cat parts.all)" "$(cat parts.some)" 'a stream that names fewer fields sends these'

# trouble WHAT FILE TEXT PATTERN: the dataset FILE is an error that matches PATTERN
trouble() {
  test_status 2 "$1" "$engine" -p 1 -t "$3" --dataset "$2" -n 1
  test_match "$4" .err "$1: the error has the reason"
}
printf 'id,t\n1,2\n1\n' >short.csv
printf '<c>\n<doc><id>&x;</id></doc></c>' >bad.xml
printf '{"id":1}\n{"id":}\n' >bad.jsonl
: >none.csv
head -c 100 d.npy >cut.npy
: >v.fvecs
t='SET __field:id__ x'
trouble 'a field that the dataset lacks' d.csv 'SET __field:no__ x' "d.csv: no field 'no'; the fields are 'id', 'title', 'body'"
trouble 'a file that does not exist' nowhere.csv "$t" "cannot read 'nowhere.csv'"
trouble 'a short row' short.csv "$t" 'short.csv:3: bad row'
trouble 'an unknown entity' bad.xml "$t" 'bad.xml:2: bad XML'
trouble 'a line that is not JSON' bad.jsonl "$t" 'bad.jsonl:2:7: bad row'
trouble 'an empty file' none.csv "$t" "none.csv: no field 'id'; the file has no fields"
trouble 'a file that is cut off' cut.npy "$t" 'cut.npy: bad NPY file: the file is truncated'
trouble 'a file of vectors without names' v.fvecs "$t" 'v.fvecs: cannot read vectors of this format; convert them to .npy'
test_done
