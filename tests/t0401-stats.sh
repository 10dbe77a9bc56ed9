#!/bin/sh
# vkb-stats: how runs are grouped, the numbers, and properties that always hold.
# sanitize: run records of every kind.
. "${0%/*}/lib.sh"

a=$tests/data/a.jsonl
b=$tests/data/b.jsonl

# run LABEL COMMAND SESSION BLOCK RPS [REST]: prints one run record
run() {
  printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"%s"},"run":{"session":"%s","index":%s,"block":%s},"env":{"arch":"x86_64"},"metrics":{"rps":%s},"status":"ok"%s}\n' \
    "$1" "$2" "$3" "$4" "$4" "$5" "${6:-}"
}

# --- properties

cat "$a" "$b" | vkb-stats >one
vkb-stats "$a" "$b" >two
test_same "$(cat one)" "$(cat two)" 'cat a b | vkb-stats is vkb-stats a b'
vkb-stats "$b" "$a" >two
test_same "$(cat one)" "$(cat two)" 'the order of two inputs does not matter'
cat "$a" "$b" | perl -e 'use strict; my @l = <STDIN>; srand 3;
  for my $i (reverse 1 .. $#l) { my $j = int rand $i + 1; @l[$i, $j] = @l[$j, $i] }
  print @l' | vkb-stats >two
test_same "$(cat one)" "$(cat two)" 'the order of the lines does not matter'
vkb-stats one >two
test_same "$(cat one)" "$(cat two)" 'summaries of summaries are the same'
sed 's/"type"/"\\u0074ype"/' "$a" "$b" | vkb-stats >two
test_same "$(cat one)" "$(cat two)" 'records read by the fast scanner or as trees give the same'
{
  cat "$a" "$b"
  sed 's/"type"/"\\u0074ype"/' "$a" "$b"
} | vkb-stats | jq -c 'del(.doubled)' >two
test_same "$(jq -c 'del(.doubled)' one)" "$(cat two)" \
  'runs given both as runs and as a summary count once'
test_same 6 "$(wc -l <one | tr -d ' ')" 'three cases of two subjects'
for words in '' --text --join; do
  # shellcheck disable=SC2086 # no word, or one
  test_status 2 "vkb-stats $words: input without a record is an error" vkb-stats $words
  test_same 'vkb-stats: no record in stdin: what writes it failed, or measured nothing' "$(cat .err)" \
    'the error says why'
done

# --- numbers

{
  i=0
  for v in 10 12 11 13 9 11 40; do
    i=$((i + 1))
    run x SET s "$i" "$v"
  done
} >seven
vkb-stats seven >out
test_same '[7,11,15.142857142857142,1,9,40]' \
  "$(jq -c '[.n, (.metrics.rps | .median, .mean, .mad, .min, .max)]' out)" \
  'n, median, mean, MAD, min, max'
test_same '11.04' "$(jq '.metrics.rps.sd * 100 | round / 100' out)" \
  'standard deviation, n - 1'
test_same '[9,40]' "$(jq -c .metrics.rps.ci95 out)" \
  'the interval of seven runs is from the first to the last'
test_same '[[10,12,11,13,9,11,40],[1,2,3,4,5,6,7]]' \
  "$(jq -c '[.metrics.rps.values, .metrics.rps.blocks]' out)" \
  'values and blocks are in the order of the rounds'
test_same '[{"at":6,"index":7,"value":40}]' \
  "$(jq -c '[.metrics.rps.outliers[] | del(.z)]' out)" \
  'an outlier is listed, and still counts'
test_that 'an outlier in a table is accepted' vkb-stats --text seven
test_match '1 outlier: check the machine' .out \
  'a very distant outlier has the advice to check the machine'
sed 's/:40}/:25}/' seven | vkb-stats --text >.out
test_match '1 outlier$' .out 'a less distant outlier has no advice'
test_same '1 0' "$(tail -n 5 seven | vkb-stats | jq '.metrics.rps.outliers | length') $(
  tail -n 4 seven | vkb-stats | jq '.metrics.rps.outliers | length')" \
  'five runs are enough for an outlier, four are too few'
head -n 5 seven | vkb-stats >out
# exp(mean(ln v) -+ t(.975, 4) sd(ln v) / sqrt(5))
test_same '["t",9.11,13.07]' "$(jq -c '.metrics.rps |
  [.ci95_method, (.ci95[] * 100 | round / 100)]' out)" \
  'the interval of five runs is by Student t'
head -n 2 seven | vkb-stats >out
test_same null "$(jq .metrics.rps.ci95 out)" 'two runs have no interval'
# of 10 and 12: |x - 11| is 1, the quartiles are 10.5 and 11.5, the standard deviation
# is sqrt(2)
test_same '[1,13.478182,9.090909,12.856487]' "$(jq -c '[.metrics.rps |
  .mad, .robust_cv_percent, .iqr_percent, .cv_percent | . * 1e6 | round / 1e6]' out)" \
  'each measure of noise has its own value'
head -n 1 seven | vkb-stats >out
test_same '[1,null,null,null,null,null]' \
  "$(jq -c '[.n, (.metrics.rps | .sd, .cv_percent, .mad, .robust_cv_percent, .iqr_percent)]' out)" \
  'one run has no measure of noise'
{
  run x SET s 1 0
  run x SET s 2 0
} | vkb-stats >out
test_same '[0,0,null]' \
  "$(jq -c '.metrics.rps | [.median, .sd, .cv_percent]' out)" \
  'zeros: no CV'

# --- groups

{
  run x SET s 1 100 | sed 's/"command":"SET"/"a":1,"command":"SET","b":{"c":1,"d":2}/'
  run x SET s 2 100 | sed 's/"command":"SET"/"b":{"d":2,"c":1},"command":"SET","a":1/'
  run x SET s 3 100 | sed 's/"command":"SET"/"a":1,"command":"SET","b":{"c":1,"d":3}/'
} | vkb-stats | jq -c .n >out
test_same '2 1' "$(tr '\n' ' ' <out | sed 's/ $//')" \
  'the order of keys does not matter, a value in a nested object does'
{
  run x SET s2 1 5
  run x SET s1 2 7
  run x SET s1 1 6
} | vkb-stats >out
test_same '[["s1","s2"],[6,7,5],[1,2,1],[0,0,1]]' \
  "$(jq -c '[.sessions, (.metrics.rps | .values, .blocks, .sessions)]' out)" \
  'of two sessions each value has its session'
{
  run x SET s 1 5
  run x SET s 2 5 ',"bound":"client"' | sed 's/x86_64","/&/; s/"arch":"x86_64"/"arch":"arm64","kernel":"6.1"/'
  printf '{"type":"run","v":1,"subject":{"label":"x"},"config":{"command":"SET"},"run":{},"status":"failed","error":"it fell"}\n'
} | vkb-stats >out
test_same '[2,1,["it fell"],["arch"],{"client":1}]' \
  "$(jq -c '[.n, .failed, .errors, .env_varied, .bound]' out)" \
  'failed runs are counted separately, and keys of env that vary are named'
vkb-stats --text out >text
test_match '1 failed, client-bound, environment varied' text \
  'the table shows failed runs and a varying environment'
{
  run x SET s 1 5
  run x SET s 2 6 | sed 's/"rps":6/"rps":6,"extra_ms":3/'
} | vkb-stats >out
test_same '[2,1]' "$(jq -c '[.metrics.rps.n, .metrics.extra_ms.n]' out)" \
  'a metric that some runs do not have has its own n'

for f in "$a" "$b"; do vkb-stats "$f" "$f" | jq -c 'del(.doubled)'; done >twice
for f in "$a" "$b"; do vkb-stats "$f" | jq -c .; done >once
test_same "$(cat once)" "$(cat twice)" 'a run that is there twice counts once'
vkb-stats -t "$a" "$a" >text
test_match '8 doubled$' text 'the table shows the number of duplicate runs'
{
  run x SET s 1 5
  run x SET s 1 5
} | sed 's/"session":"s",//' | vkb-stats >out
test_same '[2,null]' "$(jq -c '[.n, .doubled]' out)" \
  'two runs without a session may be equal'
run x SET s 1 5 ',"x":6800000000000001' |
  sed 's/"arch":"x86_64"/"seed":6800000000000001/' | vkb-stats >out
test_match '"seed":6800000000000001' out 'large whole numbers are exact'

# --- other records and invalid records

printf '{"type":"unheard-of","v":3,"x":[1,{"y":null}]}\n' >other
test_same "$(cat other)" "$(vkb-stats other)" 'records of unknown types are copied'
{
  cat "$a"
  printf '{"type":"run"'
} >torn
test_status 2 'a torn line is an error' vkb-stats torn
test_match '^vkb-stats: torn:25: torn record' .err 'the error names the line of a torn record'
test_same 3 "$(wc -l <.out | tr -d ' ')" 'the rest is summarised'
run x SET s 1 5 ',"hist":{"latency_ns":"nonsense"}' >bad
test_status 2 'a histogram that cannot be read is an error' vkb-stats bad
test_match 'bad:1: histogram .latency_ns. cannot be read' .err \
  'the error names the line of a bad histogram'
test_same 5 "$(jq .metrics.rps.median .out)" 'a run with a bad histogram is counted'
run x SET s 1 '"a"' | sed 's/"rps"/"x\\nvkb-stats: all is well"/' >bad
test_status 2 'a message about a name with a line break is one line' vkb-stats bad
test_same 0 "$(grep -c '^vkb-stats: all is well' .err)" \
  'no line begins within a name'
printf '[{"command":"SET","rps":"fast"}]\n' >bad
test_status 2 'a metric of the flat form that is not a number is an error' vkb-stats bad
test_match "bad:element 1: .*'metrics.rps' is not of type number" .err \
  'the error names the metric of the flat form'
test_status 2 'a file that does not exist is an error' vkb-stats no-such-file

# --- arrays

vkb-stats "$a" >want
jq -s . "$a" | vkb-stats >got
test_same "$(cat want)" "$(cat got)" 'an array over many lines is read as its elements'
jq -sc . "$a" | vkb-stats >got
test_same "$(cat want)" "$(cat got)" 'an array in one line is read as its elements'
{
  printf ' \n[ '
  perl -pe 's/^/ \n\t, / if $. > 1' "$a"
  printf '\n ] \n'
} | vkb-stats >got
test_same "$(cat want)" "$(cat got)" 'white space in an array does not matter'
test_empty "$(echo '[ ]' | vkb-stats)" 'an empty array gives no summary'
printf '[{"type":"a","s":"]}\\"]"}\n,[1,{"b":[]}],"],",{"type":"b","x":[{}]}]' >array
test_status 2 'elements that are not objects are errors' vkb-stats array
test_same '{"type":"a","s":"]}\"]"}
{"type":"b","x":[{}]}' "$(cat .out)" 'brackets in strings do not end an element'
test_same 'vkb-stats: array:element 2: not an object
vkb-stats: array:element 3: not an object' "$(cat .err)" \
  'the error names each element that is not an object'
bad_array() { # bad_array TEXT WHY WHAT: an array with a mistake
  printf '[{"type":"a"}%b' "$1" >array
  test_status 2 "$3" vkb-stats array
  test_same '{"type":"a"}' "$(cat .out)" "$3: elements before it count"
  test_match "^vkb-stats: array:$2" .err 'the line is named'
}
bad_array '\n' '2: .*ends too early' 'an array that does not end'
bad_array ',\n{"type":"a","x":[' '2: .*ends too early' 'an array cut short'
bad_array ',\n' '2: .*ends too early' 'an array cut between elements'
bad_array ',]' '1: .*not JSON' 'an array with a comma too many'
bad_array '\n {}]' '2: .*not JSON' 'an array with a comma too few'
bad_array ']\n[]' '2: .*unexpected text' 'two arrays'
bad_array ',\n{"x":1,\n"x":2}]' '3: .*duplicate key' 'a key that is there twice'

# --- files of the Python tool

if test_reference python-tool 'metrics.json of the Python tool'; then
  dir=$acceptance/python-tool/compare
  for d in "$dir"/*/; do
    vkb-stats "$d/baseline.json" |
      jq -r '.config as $c | .metrics.rps | "\(.n) \(.mean) \($c.command) \($c.pipeline) \($c.io_threads) \($c.data_size) \($c.cluster_mode) \($c.tls_mode) \($c.clients)"' |
      sort >got
    jq -r '.[] | select(.rps) | [.command, .pipeline, .io_threads, .data_size, .cluster_mode, .tls, .clients, .rps] | @json' \
      "$d/baseline.json" | jq -sr 'group_by(.[0:7])[] | "\(length) \(map(.[7]) | add / length) \(.[0][0]) \(.[0][1]) \(.[0][2]) \(.[0][3]) \(.[0][4]) \(.[0][5]) \(.[0][6])"' |
      sort >want
    # Means to nine digits.
    for f in got want; do
      perl -pe 's/^(\d+) (\S+)/sprintf "%s %.9g", $1, $2/e' "$f" >"$f.9"
    done
    test_same "$(cat want.9)" "$(cat got.9)" \
      "groups and means of $(basename "$d")"
  done
  for f in "$acceptance"/python-tool/metrics/*.json; do
    test_that "$(basename "$f") is read" vkb-stats "$f"
    test_same "$(jq length "$f")" "$(jq -s 'map(.n + .failed) | add' .out)" \
      'every result is part of a summary'
  done
fi

mkdir folder
for tool in vkb-stats vkb-detect 'vkb-compare one'; do
  # shellcheck disable=SC2086 # a program and its baseline
  test_status 2 "$tool: a folder for a file" $tool folder
  test_match "cannot read 'folder': Is a directory" .err "$tool: says why"
done

test_done
