#!/bin/sh
# slow: vkb-quickstart: first time, second time, stopped and gone on.
. "${0%/*}/lib.sh"

mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR
config() { # config REQUESTS
  cat <<END
[{"commands": ["SET", "GET"], "requests": [$1], "keyspacelen": [1000],
  "data_sizes": [16], "pipelines": [10], "clients": [10],
  "cluster_mode": false, "tls_mode": false, "warmup": 0}]
END
}
config 10000 >small.json
lines() { wc -l <"$1" | tr -d ' '; }
# shellcheck disable=SC2009 # what pgrep cannot print
left_over() { ls -A tmp; ps -eo args | grep -F "$scratch/tmp" | grep -v grep; }

test_that 'the first time' vkb-quickstart --results r small.json
test_match '^vkb-load: 6 runs of each case: a change of one of 2 cases' .err \
  'it says what the runs can show'
test_match 'SET' .out 'it prints the summary'
test_match "saved as the baseline: 'r/base.jsonl'" .err 'it says what it keeps'
test_same 12 "$(lines r/base.jsonl)" 'two cases, six runs each'
test_same 2 "$(find r -type f | wc -l | tr -d ' ')" \
  'it and its configuration, nothing else'
cp r/base.jsonl first

vkb-quickstart --runs 4 --results r small.json >second 2>.err
status=$?
test_result "$((status > 1))" "the second time gives 0 or 1, not $status"
test_same 8 "$(lines r/last.jsonl)" 'it measured again'
test_that 'the baseline is unchanged' cmp first r/base.jsonl
vkb-stats r/last.jsonl | vkb-compare r/base.jsonl >want
test_same "$(cat want)" "$(tail -n "$(lines want)" second)" \
  'it prints the comparison'
test_same "$(vkb-stats r/last.jsonl | vkb-compare r/base.jsonl >/dev/null
  echo $?)" "$status" 'its status is that of the comparison'

test_that '--rebase' vkb-quickstart --rebase --runs 4 --results r small.json
test_status 1 'makes another baseline' cmp -s first r/base.jsonl

# Stopped: what it has stays, and nothing else does.
vkb-quickstart --runs 500 --results s small.json >long 2>&1 &
pid=$!
has_two() { [ -e s/part.jsonl ] && [ "$(lines s/part.jsonl)" -ge 2 ]; }
test_that 'a long one begins' wait_until 30 has_two
test_status 2 'a second one meanwhile' \
  vkb-quickstart --runs 500 --results s small.json
test_match "another vkb-quickstart is running in 's'" .err 'says why not'
kill "$pid"
wait "$pid"
test_same 143 "$?" 'SIGTERM stops it'
test_empty "$(left_over)" 'no server and no file is left'
had=$(lines s/part.jsonl)
head -n 2 s/part.jsonl >two
test_that 'it continues after an interruption' vkb-quickstart --runs 3 --results s small.json
test_match 'resuming' .err 'a message says that it resumes'
test_same "$(cat two)" "$(head -n 2 s/base.jsonl)" 'with what it had'
test_result "$(($(lines s/base.jsonl) < had))" 'and lost nothing'
test_empty "$(left_over)" 'nothing is left'

# Another configuration does not go on with it.
cp r/base.jsonl s/part.jsonl
config 5000 >other.json
test_that 'another configuration' \
  vkb-quickstart --rebase --runs 1 --results s other.json
test_same 2 "$(lines s/base.jsonl)" 'begins anew'

# Enough runs for one case that became slower to be seen among all of them.
runs=6
cases=$(vkb-load --plan "$top/configs/quick.json" | wc -l)
side() { # side LABEL RPS: of the first case; the others have 1000, and a bit
  awk -v label="$1" -v first="$2" -v runs="$runs" -v cases="$cases" 'BEGIN {
    for (c = 1; c <= cases; c++)
      for (r = 1; r <= runs; r++) {
        rps = (c == 1 ? first : 1000) + (r * 7 + c * 3 + first) % 11 / 10
        printf "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},", label
        printf "\"config\":{\"command\":\"C%d\"},\"status\":\"ok\",", c
        printf "\"run\":{\"session\":\"%s\",\"index\":%d},", label, r
        printf "\"metrics\":{\"rps\":%.2f,\"p50_latency_ms\":%.6f,", rps, 1000 / rps
        printf "\"p99_latency_ms\":%.6f}}\n", 3000 / rps
      }
  }'
}
side old 1000 >old.jsonl
side new 900 >new.jsonl
test_status 1 "$runs runs of $cases cases show one that is slower" \
  vkb-compare old.jsonl new.jsonl

test_status 2 'a configuration that is not there' vkb-quickstart no.json
test_status 2 'an unknown option' vkb-quickstart --no-such
test_match "^vkb-quickstart: unknown option '--no-such'; usage: " .err 'is named'
test_status 2 'two configurations' vkb-quickstart no.json --runs=3 more.json
test_match "'more.json' is one argument too many" .err 'are one too many'
mkdir bin
for c in sh cat sed awk tr rm dirname readlink; do
  ln -s "$(command -v $c)" bin/$c
done
test_status 2 '--keep-system on an empty machine' env PATH="$scratch/bin" \
  "$top/bin/vkb-quickstart" --keep-system
test_match 'missing: gcc .*valkey-server' .err 'says what is missing'
test_done
