#!/bin/sh
# The examples of vkb-run(1), as they stand but for the number of rounds, with the programs
# themselves: hyperfine, Google Benchmark, go test, pytest-benchmark, and with files of
# criterion.
. "${0%/*}/lib.sh"

mkdir examples
perl "$tests/examples.pl" examples "$top/man/vkb-run.1" >/dev/null
# example FOLDER WORDS: runs in this folder the line of the page that has these words. Its
# records are in 'records', what it prints in 'said'.
example() {
  grep -hF -- "$2" examples/* | sed 's/^vkb run /&-q -n 4 /; s/ | vkb stats/ | tee records&/' >"$1/line"
  test_same 1 "$(wc -l <"$1/line")" "one line of the page has '$2'"
  (cd "$1" && sh line >said 2>err)
  ended=$?
}
# judged FOLDER CASE: the times of both sides are shown, and one is the answer. The
# machine is this one, also where the program names it.
judged() {
  test_that "$1: both sides are compared" test "$ended" -le 1
  test_same '4 new,4 old' "$(jq -r 'select(.type == "run" and .status == "ok").subject.label' "$1/records" | sort | uniq -c | awk '{print $1, $2}' | paste -sd,)" \
    "$1: each process is a run"
  test_same true "$(jq -s 'all(.[] | select(.type == "run"); .env.cpus > 0)' "$1/records")" "$1: the runs have this machine"
  test_match "$2 .* -> " "$1/said" "$1: by the time of the case"
}

mkdir -p hyperfine google go/old go/new pytest/old pytest/new criterion/old criterion/new bin
# the example of hyperfine is a block, which t0106 runs; here the sides differ for sure
if command -v hyperfine >/dev/null; then
  b='hyperfine -N --runs 3 --style none --export-json /dev/stdout -n wait'
  vkb-run -q -n 4 old="$b 'sleep .01'" new="$b 'sleep .05'" >hyperfine/records
  vkb-stats hyperfine/records | vkb-compare --baseline old >hyperfine/said
  ended=$?
  judged hyperfine wait
else
  test_skip 'hyperfine' hyperfine
fi

cat >bm.cc <<'END'
#include <benchmark/benchmark.h>
#include <string>
static void fill(benchmark::State &s) {
  for (auto _ : s) { std::string x(s.range(0), 'x'); benchmark::DoNotOptimize(x.data()); }
}
BENCHMARK(fill)->Arg(100000);
BENCHMARK_MAIN();
END
if c++ -O1 -o google/old bm.cc -lbenchmark -lpthread 2>cc.log; then
  cp google/old google/new
  BENCHMARK_MIN_TIME=.02 example google './old --benchmark_format=json'
  judged google fill/100000
else
  test_skip 'Google Benchmark' libbenchmark
fi

for side in old new; do
  printf 'module fib\ngo 1.18\n' >go/$side/go.mod
  cat >go/$side/fib_test.go <<'END'
package fib
import "testing"
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func BenchmarkFib(b *testing.B) {
	b.Run("n=12", func(b *testing.B) { for i := 0; i < b.N; i++ { fib(12) } })
}
END
done
sed 's/fib(12)/fib(16)/' go/old/fib_test.go >go/new/fib_test.go
if command -v go >/dev/null; then
  GOCACHE=$PWD/gocache GOFLAGS=-benchtime=5ms GO111MODULE=on GOTOOLCHAIN=local example go 'go test -bench .'
  judged go 'Fib'
  test_same true "$(jq -s 'map(select(.type == "run")) | group_by(.subject.label) | map(map(.metrics.ns_per_op) | min) | .[0] > 2 * .[1]' go/records)" \
    'go: the times are of each side'
  test_same 'Fib 12 ns_per_op' "$(jq -r 'select(.type == "run") | "\(.config.command) \(.config.n) \(.metrics | keys[0])"' go/records | sort -u)" \
    'go: name, parameter and unit'
else
  test_skip 'go test' 'golang-go or gccgo-go'
fi

cat >pytest/old/test_it.py <<'END'
import pytest
@pytest.mark.parametrize('n', [100])
def test_sum(benchmark, n):
    benchmark.pedantic(lambda: sum(range(n)), rounds=5, iterations=10)
END
cp pytest/old/test_it.py pytest/new
for pytest in pytest-3 pytest ''; do
  "$pytest" --help 2>/dev/null | grep -q benchmark-json && break
done
if [ "$pytest" ]; then
  ln -s "$(command -v "$pytest")" bin/pytest # Debian's has another name
  PATH=$PWD/bin:$PATH example pytest 'pytest --benchmark-json'
  judged pytest 'test_it.py::test_sum.100.'
else
  test_skip 'pytest-benchmark' python3-pytest-benchmark
fi

# criterion is not built here: in the place of cargo stands what criterion 0.3 has written
cat >bin/cargo <<'END'
#!/bin/sh
case $PWD in */old) ns=100 ;; *) ns=300 ;; esac
echo "fib 20  time: [$ns ns $ns ns $ns ns]"
for d in new base; do
  mkdir -p "target/criterion/fib 20/$d" target/criterion/report
  cat >"target/criterion/fib 20/$d/benchmark.json" <<'JSON'
{"group_id":"fib 20","function_id":null,"value_str":null,"throughput":null,"full_id":"fib 20","directory_name":"fib 20","title":"fib 20"}
JSON
  echo "{\"sampling_mode\":\"Linear\",\"iters\":[1.0,2.0,4.0],\"times\":[$ns.0,$((ns * 2)).0,$((ns * 4)).0]}" >"target/criterion/fib 20/$d/sample.json"
done
END
chmod +x bin/cargo
PATH=$PWD/bin:$PATH example criterion 'cargo bench'
judged criterion 'fib 20'
test_match '^Worse: fib 20 ' criterion/said 'criterion: the slower crate is named'

mkdir files
for side in a b; do
  printf '#!/bin/sh\nprintf "throughput\\n100\\n"\n' >files/$side
  chmod +x files/$side
done
example files '--results out.csv'
test_match '^case  *a  *4  *100.0 ' files/said 'a program that writes a file: the table'
mkdir counted
seq 500 >counted/numbers
example counted '--count old='
test_same 1 "$ended" 'the instructions of two commands: the exit status that the page says'
test_match '^Worse: process ' counted/said 'and the report'
test_done
