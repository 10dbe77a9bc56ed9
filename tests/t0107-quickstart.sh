#!/bin/sh
# vkb-quickstart: a first start, a second one, and one that is interrupted and resumed.
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
# test_answer WHAT: $status is that of an answer; else what the program said is shown.
test_answer() {
  test_result "$((status > 1))" "$1"
  [ "$status" -le 1 ] || sed 's/^/# /' .err
}
lines() { wc -l <"$1" | tr -d ' '; }
# shellcheck disable=SC2009 # what pgrep cannot print
left_over() { ls -A tmp; ps -eo args | grep -F "$scratch/tmp" | grep -v grep; }

test_that 'the first call' vkb-quickstart --results r small.json
test_match '^vkb-load: 7 runs of each case detect a change of ' .err \
  'a message says which change the runs can show'
test_match 'SET' .out 'the summary is printed'
test_match "saved as the baseline: 'r/base.jsonl'" .err 'a message names the baseline'
test_same 14 "$(lines r/base.jsonl)" 'there are seven runs of two cases'
test_match "the page is 'r/report.html'" .err 'a message names the page'
test_match '<!DOCTYPE html>' r/report.html 'the page is written'
test_that 'a copy of the server is kept' cmp "$(command -v valkey-server)" r/base.jsonl.server
files='asked base.jsonl base.jsonl.server report.html'
test_same "$files" "$(find r -type f | sed 's,r/,,' | sort | xargs)" 'the folder has these files and nothing else'
cp r/base.jsonl first

# The second call: the same server is measured again, interleaved.
vkb-quickstart --runs 4 --results r small.json >second 2>.err
status=$?
test_answer "the second call exits with 0 or 1, not $status"
test_match "'new' and 'baseline' are the same server" .err \
  'a message before the measurement names both sides'
test_match "the page is 'r/report.html'" .err 'a message names the page again'
test_match '^Both sides are the same server, so differences in time are this machine' second \
  'the comparison tells that both sides are the same server'
test_same 1 "$(grep -n '^Both sides are the same server' second | cut -d: -f1)" \
  'this is the first line of the output'
test_same 'baseline new' "$(jq -r 'select(.type == "run").subject.label' r/last.jsonl |
  sort -u | xargs)" 'both sides were measured'
test_same "1 16" "$(jq -r 'select(.type == "run").run.session' r/last.jsonl | sort |
  uniq -c | awk '{ n += $1 } END { print NR, n }')" 'both sides were measured in one session'
test_that 'the baseline is unchanged' cmp first r/base.jsonl
vkb-compare --baseline baseline r/last.jsonl >want
test_same "$(vkb-compare --baseline baseline r/last.jsonl >/dev/null
  echo $?)" "$status" 'the exit status is that of the comparison'
test_same "$(cat want)" "$(cat second)" 'the comparison is printed'
test_match 'class="caution">Both sides are the same server' r/report.html 'the page begins with the same sentence'
test_same 'asked base.jsonl base.jsonl.server last.jsonl report.html' \
  "$(find r -type f | sed 's,r/,,' | sort | xargs)" 'the folder has no other files'

# Another server is measured, and the old one was replaced: its copy is measured.
mkdir other
{ cat "$(command -v valkey-server)" && printf x; } >other/valkey-server
chmod +x other/valkey-server
sed "s,\"server_path\":\"[^\"]*\",\"server_path\":\"$scratch/upgraded\"," first \
  >r/base.jsonl
cp other/valkey-server upgraded
PATH=$scratch/other:$PATH vkb-quickstart --runs 4 --results r small.json >.out 2>.err
status=$?
test_answer "with another server the exit status is 0 or 1, not $status"
test_match "r/base.jsonl.server' is measured again, as 'baseline'" .err \
  'the copy of the old server is measured'
test_match '^Comparing new against baseline$' .out 'the new server is compared with the copy'
test_same 0 "$(grep -c 'same server' .out)" 'the two are not called the same server'

# If neither the server nor its copy is there, the sessions are compared.
mv r/base.jsonl.server gone
PATH=$scratch/other:$PATH vkb-quickstart --runs 4 --results r small.json >.out 2>.err
status=$?
test_answer "with a missing server the exit status is 0 or 1, not $status"
test_match "^vkb-quickstart: the sides are of different sessions, as the old server cannot be measured again: r/base.jsonl: '.*/upgraded' is not the file that was measured" \
  .err 'a message gives the reason'
tr '\n' ' ' <.out >one-line
test_match '[Mm]easured in different sessions' one-line 'the comparison is across sessions'
test_same '8 1' "$(jq -s 'map(select(.type == "run")) | "\(length) \(map(.run.session) |
  unique | length)"' -r r/last.jsonl)" 'only the new server was measured'
test_match '<!DOCTYPE html>' r/report.html 'the page is written'
test_status 2 'a file that is not a configuration is not reported as a missing server' \
  vkb-quickstart --results r first
test_same 0 "$(grep -c 'of different sessions' .err)" 'the message does not mention sessions'
cp first r/base.jsonl

test_that '--rebase' vkb-quickstart --rebase --runs 4 --results r small.json
test_status 1 '--rebase replaces the baseline' cmp -s first r/base.jsonl
test_that '--rebase keeps a copy of the server' cmp "$(command -v valkey-server)" r/base.jsonl.server

# After an interruption the runs are kept, and nothing else is left.
vkb-quickstart --runs 500 --results s small.json >long 2>&1 &
pid=$!
has_two() { [ -e s/part.jsonl ] && [ "$(lines s/part.jsonl)" -ge 2 ]; }
test_that 'a long call begins' wait_until 30 has_two
test_status 2 'a second call at the same time' \
  vkb-quickstart --runs 500 --results s small.json
test_match "another vkb-quickstart is running in 's'" .err 'the message says that another one is running'
kill "$pid"
wait "$pid"
test_same 143 "$?" 'SIGTERM stops it'
test_empty "$(left_over)" 'no server and no file is left'
had=$(lines s/part.jsonl)
head -n 2 s/part.jsonl >two
test_that 'it resumes after an interruption' vkb-quickstart --runs 3 --results s small.json
test_match 'resuming' .err 'a message says that it resumes'
test_same "$(cat two)" "$(head -n 2 s/base.jsonl)" 'the runs that were kept are used'
test_result "$(($(lines s/base.jsonl) < had))" 'no run is lost'
test_empty "$(left_over)" 'no server and no file is left'

# The second call is resumed in the same way, with both servers.
vkb-quickstart --runs 500 --results s small.json >long 2>&1 &
pid=$!
test_that 'a long comparison begins' wait_until 30 has_two
kill "$pid"
wait "$pid"
test_same 143 "$?" 'SIGTERM stops the comparison'
head -n 2 s/part.jsonl >two
vkb-quickstart --runs 3 --results s small.json >.out 2>.err
test_match 'resuming' .err 'a message says that the comparison resumes'
test_same "$(cat two)" "$(head -n 2 s/last.jsonl)" 'the runs that were kept are used in the comparison'
test_match '^Comparing new against baseline$' .out 'both servers are compared'
cp s/last.jsonl s/part.jsonl
cp s/last.jsonl both
mv s/base.jsonl.server moved
sed 's,"server_path":"[^"]*","server_path":"/nowhere",' s/base.jsonl >lost
cp lost s/base.jsonl
vkb-quickstart --runs 1 --results s small.json >.out 2>.err
test_match "other servers is in 's/other.jsonl'" .err   'without the old server a new measurement begins'
test_that 'the runs of both servers are kept' cmp both s/other.jsonl
rm s/other.jsonl

# With another configuration the session is not resumed.
cp r/base.jsonl s/part.jsonl
config 5000 >other.json
test_that 'another configuration' \
  vkb-quickstart --rebase --runs 1 --results s other.json
test_same 2 "$(lines s/base.jsonl)" 'a new session begins'

# Nor is it with another server.
cp s/base.jsonl s/part.jsonl
test_that 'another server' env PATH="$scratch/other:$PATH" \
  vkb-quickstart --rebase --runs 1 --results s other.json
test_same "$(sha256sum <other/valkey-server | cut -c 1-64)" \
  "$(jq -r .subject.binary_sha256 s/base.jsonl | sort -u)" 'all runs of a baseline are of one server'

# With so many runs a case that became slower is seen among all cases.
runs=6
cases=$(vkb-load --plan "$top/configs/quick.json" | wc -l)
side() { # side LABEL RPS: runs with this rps of the first case; the others have about 1000
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

test_status 2 'a configuration that does not exist' vkb-quickstart no.json
test_status 2 'an unknown option' vkb-quickstart --no-such
test_match "^vkb-quickstart: unknown option '--no-such'" .err 'the message names the unknown option'
test_status 2 'two configurations' vkb-quickstart no.json --runs=3 more.json
test_match "'more.json' is one argument too many" .err 'the message names the second configuration'
mkdir bin
for c in sh cat sed awk tr rm dirname readlink; do
  ln -s "$(command -v $c)" bin/$c
done
test_status 2 '--keep-system on an empty machine' env PATH="$scratch/bin" \
  "$top/bin/vkb-quickstart" --keep-system
test_same 'gcc valkey-server' "$(grep -x 'gcc\|valkey-server' .err | xargs)" 'stderr lists what is missing'
test_empty_file .out 'stdout is left to the summary'
test_done
