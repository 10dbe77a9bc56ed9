#!/bin/sh
# vkb-run with the real hyperfine, Google Benchmark and pytest-benchmark, and with files of
# criterion.
. "${0%/*}/lib.sh"

# judged FILE CASE WHAT: the times of both sides are shown, and one is the answer. The
# machine is this one, also where the program names it.
judged() {
  test_same true "$(jq -s 'all(.[] | select(.type == "run"); .env.cpus > 0)' .out)" "$3: the runs have this machine"
  vkb-stats <.out >"$1"
  vkb-compare --baseline old "$1" >said 2>err || [ $? -eq 1 ]
  test_result $? "$3: both sides are compared"
  test_match "$2 .* -> " said "$3: by the time of the case"
}
if command -v hyperfine >/dev/null; then
  b='hyperfine -N --runs 3 --style none --export-json /dev/stdout -n wait'
  test_that 'hyperfine' vkb-run -q -n 4 old="$b 'sleep .01'" new="$b 'sleep .05'"
  judged hyper.jsonl wait hyperfine
else
  test_skip 'hyperfine' hyperfine
fi
# criterion, whose results are files below the folder of the crate
cat >cargo <<'END'
echo 'fib 20  time: [99 ns 100 ns 101 ns]'
mkdir -p target/criterion/fib/new && cd target/criterion/fib/new
echo "{\"iters\":[1,2,4],\"times\":[$1,$(($1 * 2)),$(($1 * 4))]}" >sample.json
echo '{"full_id":"fib 20"}' >benchmark.json
END
mkdir old new
for side in old new; do
  printf "cd %s && sh ../cargo 100 >&2 && vkb parse target/criterion\n" $side >$side.cmd
done
test_that 'criterion' vkb-run -q -n 4 old="$(cat old.cmd)" new="$(sed 's/100/300/' new.cmd)"
judged criterion.jsonl 'fib 20' criterion
test_match '^Worse: fib 20 ' said 'criterion: the slower crate is named'
cat >bm.cc <<'END'
#include <benchmark/benchmark.h>
#include <string>
static void fill(benchmark::State &s) {
  for (auto _ : s) { std::string x(s.range(0), 'x'); benchmark::DoNotOptimize(x.data()); }
}
BENCHMARK(fill)->Arg(100000);
BENCHMARK_MAIN();
END
if c++ -O1 -o bm bm.cc -lbenchmark -lpthread 2>cc.log; then
  m='./bm --benchmark_format=json --benchmark_min_time=.02'
  test_that 'Google Benchmark' vkb-run -q -n 4 old="$m" new="$m"
  judged google.jsonl fill/100000 'Google Benchmark'
else
  test_skip 'Google Benchmark' libbenchmark
fi
cat >test_it.py <<'END'
import pytest
@pytest.mark.parametrize('n', [100])
def test_sum(benchmark, n):
    benchmark.pedantic(lambda: sum(range(n)), rounds=5, iterations=10)
END
for pytest in pytest-3 pytest ''; do
  "$pytest" --help 2>/dev/null | grep -q benchmark-json && break
done
if [ "$pytest" ]; then
  t="$pytest -q -p no:cacheprovider --benchmark-json=out.json test_it.py"
  test_that 'pytest-benchmark' vkb-run -q -n 4 --results out.json old="$t" new="$t"
  judged pytest.jsonl 'test_it.py::test_sum.100.' pytest-benchmark
else
  test_skip 'pytest-benchmark' python3-pytest-benchmark
fi
test_done
