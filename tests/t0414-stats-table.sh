#!/bin/sh
# vkb-stats with summaries as input: the notes of the table and the values from which on
# they are printed, and the order in which such summaries are merged with new ones.
# sanitize: tables.
. "${0%/*}/lib.sh"

# summary LABEL N RPS [REST]: prints a summary of a SET, with these members of
# metrics.rps and others
summary() {
  printf '{"type":"summary","v":1,"subject":{"label":"%s"},"config":{"command":"SET","pipeline":1,"clients":50},"n":%s,"failed":0,"env":{},"metrics":{"rps":{"n":%s,"median":1000%s}}%s}\n' \
    "$1" "$2" "$2" "$3" "${4:-}"
}
# busy LABEL PERCENT: prints a summary with this foreign_cpu_percent
busy() { summary "$1" 4 "},\"foreign_cpu_percent\":{\"median\":$2"; }

# --- the table

{
  summary a 5 ',"ci95":[1200,1300],"cv_percent":2.345},"p50_latency_ms":{"median":0.5},"p99_latency_ms":{"median":1.25'
  summary b 4 ',"outliers":[{"at":1,"value":3,"z":10}]'
  summary c 4 ',"outliers":[{"at":0,"value":3,"z":5.5},{"at":1,"value":3,"z":10.01}]'
  summary d 4 ',"outliers":[{"at":0,"value":3,"z":99}],"bimodal":true'
  summary e 4 ',"drifting":true,"drift_percent":-2.54,"advice":"add runs: why"' \
    ',"failed":2,"doubled":3,"bound":{"client":1,"server":1},"env_varied":["x"]' | sed 's/"failed":0,//'
  summary f 4 ',"drift_percent":-2.54' ',"bound":{"client":0,"server":1}'
  busy g 10.5
  busy h 10
  summary i 4 ',"precision":{"now":0.05,"wanted":0.015,"runs":1}' \
    ',"steady":{"steady":1,"drifting":2,"none":0,"warmup_s":7.4}'
  summary j 4 ',"precision":{"now":0.05,"wanted":0.02,"runs":12}' \
    ',"steady":{"steady":1,"drifting":1,"none":0,"warmup_s":0}'
  summary k 4 ',"precision":{"now":0.01,"wanted":0.02,"runs":0}' \
    ',"steady":{"steady":1,"drifting":0,"none":0,"warmup_s":1}'
} >table
cat >want <<'EOF2'
case  subject  n    rps  95% interval      cv  p50 ms  p99 ms  notes
SET   a        5  1.00K  [1.20K, 1.30K]  2.3%   0.500   1.250
SET   b        4  1.00K  -                  -       -       -  1 outlier
SET   c        4  1.00K  -                  -       -       -  2 outliers: check the machine
SET   d        4  1.00K  -                  -       -       -  1 outlier, two groups of runs
SET   e        4  1.00K  -                  -       -       -  2 failed, 3 doubled, client-bound, environment varied, drifts -2.5% over a session, add runs: why
SET   f        4  1.00K  -                  -       -       -
SET   g        4  1.00K  -                  -       -       -  machine was busy
SET   h        4  1.00K  -                  -       -       -
SET   i        4  1.00K  -                  -       -       -  2 not steady, warm-up 7 s, 1 more run for 1.5%
SET   j        4  1.00K  -                  -       -       -  1 not steady, 12 more runs for 2%
SET   k        4  1.00K  -                  -       -       -  warm-up 1 s
all cases: 50 clients, pipeline 1
EOF2
summary a 4 '' | sed 's/"rps":{[^}]*}/"p50_latency_ms":{"n":4,"median":2},"p99_latency_ms":{"n":4,"median":5}/' >latency
vkb-stats -t latency >.out
test_same 'case subject n p50 95% interval cv p99 ms notes' "$(sed 1q .out | xargs)" \
  'a latency that is the main value has no second column'
{
  cat latency
  sed 1q table
} | vkb-stats -t >.out
test_same 'case subject n value 95% interval cv p50 ms p99 ms notes' "$(sed 1q .out | xargs)" \
  'it has one where another case has another main value'
summary a 8 '' | sed 's/"rps":{"n":8/"rps":{"n":6/' | vkb-stats -t >.out
test_match '^SET +a +6 ' .out 'the table has the 6 of 8 runs that have a throughput'
test_that 'a table of summaries is written' vkb-stats -t table
test_same "$(cat want)" "$(cat .out)" 'each note is printed at the number that it is about'
{
  sed -n 1p table
  sed -n 2p table | sed 's/"n":4,"failed":0/"n":0,"failed":4/; s/"clients":50/"clients":60,"x":1/'
} | vkb-stats -t >.out
test_match '^SET +a +5 ' .out 'a key of a failed case is not part of other names'
test_match '^SET +b +0 ' .out 'a key that only a failed case has is not part of its name'
test_match '^all cases: pipeline 1$' .out 'a key with another value in a failed case is not common'
test_empty "$(vkb-stats -t </dev/null)" 'a table without summaries is empty'
{
  summary a 4 ''
  summary b 4 ''
} | sed 's/"config":{[^}]*}/"config":{"command":"SET"}/' | vkb-stats -t >.out
test_absent '^all cases' .out 'a case with only a command has no common settings'

# --- summaries that are copied

# run PIPELINE LABEL: prints a run
run() {
  printf '{"type":"run","v":1,"subject":{"label":"%s"},"config":{"command":"SET","pipeline":%s},"run":{"session":"s","index":1},"metrics":{"rps":5},"status":"ok"}\n' "$2" "$1"
}
for p in 64 4096 1 8; do
  run $p a
  run $p b
done >runs
vkb-stats runs >all
test_same '[1,"a"] [1,"b"] [8,"a"] [8,"b"] [64,"a"] [64,"b"] [4096,"a"] [4096,"b"]' \
  "$(jq -c '[.config.pipeline, .subject.label]' all | xargs -d '\n')" \
  'summaries are sorted by their numbers, then by their subjects'
for part in 1p 8p 3,5p 1,8p; do
  sed -n "$part" all >passes
  jq -c --slurpfile made passes 'select([.config, .subject] as $k |
    $made | map([.config, .subject]) | index([$k]) | not)' runs >rest
  cat passes rest >both
  test_that "copied summaries are merged with new ones: lines $part" vkb-stats both
  test_same "$(cat all)" "$(cat .out)" 'the merged summaries are in this order'
  vkb-stats rest passes >.out
  test_same "$(cat all)" "$(cat .out)" 'the order of the input does not matter'
done
# Of the same case and subject one summary is copied and one is new: they are sorted by
# their text.
sed -n 1p all | sed 's/"n":1,/"n":3,/' >high
sed -n 1p all | sed 's/"n":1,/"n":0,/' >low
{
  cat low high
  sed -n 5p runs
} | vkb-stats >.out
test_same '0 1 3' "$(jq .n .out | xargs)" 'summaries with equal keys are sorted by their text'
for i in 1 2; do printf '{"type":"unheard-of","v":%s}\n' $i; done >others
cat others runs >both
test_that 'records of unknown types are accepted' vkb-stats both
test_same "$(cat others all)" "$(cat .out)" 'records of unknown types are copied before the summaries'
test_that 'a table of records of unknown types is printed' vkb-stats -t both
test_absent unheard .out 'the table leaves out records of unknown types'
for f in others all runs; do
  test_status 2 "$f: an output that cannot be written is an error" sh -c "vkb-stats $f >/dev/full"
  test_same 1 "$(grep -c "cannot write a record to '/dev/full': No space left" .err)" \
    'a write error is reported once, and names the file'
done
test_status 2 'a table that cannot be written is an error' sh -c 'vkb-stats -t all >/dev/full'
test_match 'cannot write to stdout: No space left' .err 'the error says that no space is left for the table'
for p in 0% -1% x 1%x ''; do
  test_status 2 "a precision of '$p' is refused" vkb-stats "--precision=$p" runs
  test_match "^vkb-stats: option '--precision': '$p' is not a percentage" .err "the error names the precision '$p'"
done
test_status 2 'a terminal as input is an error' script -qec vkb-stats .typed
tr -d '\r' <.out >screen
test_match '^vkb-stats: no FILE given, and stdin is a terminal$' screen 'the error says that stdin is a terminal'
script -qec 'vkb-stats runs' .typed </dev/null | tr -d '\r' >screen
test_same "$(cat all)" "$(cat screen)" 'a terminal on stdin is ignored if there is a file'
test_that 'vkb-stats runs without TMPDIR' env -u TMPDIR vkb-stats runs
test_same "$(cat all)" "$(cat .out)" 'the summaries are the same without TMPDIR'
test_done
