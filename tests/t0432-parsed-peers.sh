#!/bin/sh
# The results that other tools print for their own files, and those of vkb-compare after
# vkb-parse. Where they differ, a comment gives the reason.
# sanitize: parsed files.
. "${0%/*}/lib.sh"

# deltas BASELINE-OPTIONS FILE...: prints command, metric, medians, verdict and n of each
deltas() {
  vkb-compare --on-insufficient ok -f jsonl "$@" 2>err |
    jq -c 'select(.metric) | [.config.command + (.config.format // ""),
      .median, .verdict, .n]'
}

# --- benchstat: medians, and the p of the U test

# Values with ties: the exact test of benchstat assumes values without ties and prints
# p=0.000 for samples that 6 of 126 arrangements would give.
for v in 2 1 3 5; do
  echo "BenchmarkTied 1 $v ns/op"
done >tied.old
for v in 1 1 1 1 1; do
  echo "BenchmarkTied 1 $v ns/op"
done >tied.new
vkb-parse -s subject.label=old tied.old >base
vkb-parse -s subject.label=new tied.new >new
test_same '["Tied",[2.5,1],"inconclusive",[4,5]]' "$(deltas -m ns_per_op base new)" \
  'ties: values of 1 to 5 ns leave it undecided'

if test_reference benchstat 'files of benchstat'; then
  dir=$acceptance/benchstat
  vkb-parse -s subject.label=old "$dir/old.txt" >base
  vkb-parse -s subject.label=new "$dir/new.txt" >new
  test_that 'two files of Go are compared by one pipe' \
    sh -c "vkb-parse '$dir/old.txt' '$dir/new.txt' | vkb-compare --baseline old"
  test_match '^Comparing new against old$' .out 'the sides are the names of the files'
  # csvOldNew.stdout: 1.7180 and 1.4225 us, p=0.000; 3.0655 and 3.0700, p=0.446
  test_same '["Encodegob",[3065.5,3070],"inconclusive",[10,10]]
["Encodejson",[1718,1422.5],"improvement",[10,10]]' "$(deltas -m ns_per_op base new)" \
    'benchstat: old and new'
  sides() {
    vkb-parse -c subject.label=note "$dir/$1" >sides
    shift
    deltas "$@" -b before sides
  }
  # all values are equal: benchstat prints p=1.000; vkb-compare has no noise to judge by
  test_same '["A",[100,100],"equivalent",[6,6]]' \
    "$(sides issue19565.txt -m ns_per_op)" 'benchstat: cases that only one side has are left out'
  test_same '["FloatSub/100",[115,78.8],"improvement",[5,5]]' \
    "$(sides issue19634.txt -m ns_per_op)" 'benchstat: five runs a side'
  test_same '["X",[100,101],"insufficient",[1,1]]' \
    "$(sides smallSample.txt -m ns_per_op)" 'benchstat: one run a side'
  cat >exact.json <<'END'
{"rules": [{"metric": "text_bytes", "assume": "exact", "margin": "+2%",
  "class": "gate"}]}
END
  sides units.txt --policy exact.json >got
  test_same '["Size",[100,105]]' "$(grep Size got | jq -c '.[:2]')" \
    'benchstat: units'
  test_status 1 'benchstat: assume=exact, +5.00% with one run' \
    vkb-compare --policy exact.json -b before sides
fi

# --- Google Benchmark's compare.py

if test_reference gbench 'files of Google Benchmark'; then
  dir=$acceptance/gbench
  for pair in test1_run1/test1_run2 test3_run0/test3_run1; do
    vkb-parse -s subject.label=old "$dir/${pair%/*}.json" >base
    vkb-parse -s subject.label=new "$dir/${pair#*/}.json" >new
    vkb-compare --on-insufficient ok -m real_time_ns,cpu_time_ns -f jsonl \
      base new 2>err | jq -s -c . >deltas
    # Samples of one run: the change of compare.py is that of the first values.
    jq -r --arg p "$pair" --slurpfile d deltas '.[$p][] |
      select(.n == 1 and (.name | test("OVERALL|medium") | not)) as $e |
      [["real_time_ns", $e.first_time_change],
       ["cpu_time_ns", $e.first_cpu_change]][] as $w |
      ($d[0][] | select(.config.command == $e.name and .metric == $w[0]) |
        .median[1] / .median[0] - 1) as $g |
      if ($g - $w[1] | fabs) < 1e-9 then "good" else "\($e.name) \($g)" end' \
      "$dir/expect.json" >got
    test_same good "$(sort -u got)" "gbench: $pair: changes"
  done
  # The U tests of so few values have p of 0.667, 1, 0.2 and 0.767.
  test_same '["BM_Two","real_time_ns","insufficient"]
["BM_Two","cpu_time_ns","insufficient"]
["short","real_time_ns","insufficient"]
["short","cpu_time_ns","insufficient"]' \
    "$(jq -c '.[] | select(.config.command == "BM_Two" or
      .config.command == "short") | [.config.command, .metric, .verdict]' deltas)" \
    'gbench: no verdict by so few runs'
fi
test_done
