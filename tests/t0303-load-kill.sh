#!/bin/sh
# vkb-load: whatever kills it, finished runs are on disk, no server and no file is left,
# and --resume continues.
. "${0%/*}/lib.sh"

test_server vkb-load
VKB_TEST_MARK=$scratch # in the environment of all processes of vkb-load
printf '[{"commands":["SET","GET"],"keyspacelen":[50],"data_sizes":[16],"pipelines":[1],"clients":[2],"cluster_mode":false,"tls_mode":false,"warmup":0,"requests":[200]}]\n' >c.json
sed 's/"requests":\[200\]/"duration":30/' c.json >long.json

ours() { # living processes with this mark
  grep -lzs "^VKB_TEST_MARK=$scratch" /proc/[0-9]*/environ
}
nothing_left() {
  [ -z "$(ours)" ] && [ -z "$(ls tmp)" ]
}
load() { env VKB_TEST_MARK="$VKB_TEST_MARK" vkb-load "$@" </dev/null; }

# --- resume

load --runs 3 --resume r.jsonl c.json 2>.err
test_same 0 $? '--resume with a file that does not exist'
test_same 6 "$(wc -l <r.jsonl | tr -d ' ')" 'all runs are there'
cp r.jsonl whole
load --runs 3 --resume r.jsonl c.json 2>said
test_same 0 $? '--resume with all runs finished'
test_that 'no run is added' cmp whole r.jsonl
test_match '6 of 6 runs are finished already' said 'a message says that all runs are finished'
head -n 4 whole >r.jsonl
sed -n 5p whole | head -c 300 >>r.jsonl
load -o r.jsonl c.json 2>said
test_same 2 $? 'vkb-load -o does not append to a file with a torn record'
test_match "ends in a torn record: '--resume' repairs it" said 'the error names the option that repairs it'
load -q --runs 3 --resume r.jsonl c.json 2>said
test_same 0 $? '--resume with a torn record'
test_absent 'finished already' said 'with -q no message says how many runs are finished'
test_match 'cut off a torn last line of 300 bytes' said 'a message says that the torn record was removed'
key() { jq -c '[.config.command, .run.index, .status]' "$1" | sort; }
test_same "$(key whole)" "$(key r.jsonl)" 'the missing runs are made'
load --runs 4 --resume r.jsonl c.json 2>said
test_same 8 "$(wc -l <r.jsonl | tr -d ' ')" 'with --runs 4 two more runs are made'
load --label x --runs 1 --resume r.jsonl c.json 2>said
test_same 10 "$(wc -l <r.jsonl | tr -d ' ')" 'runs of another subject are made'
sed '2s/"status":"ok"/"status":"failed"/' whole >r.jsonl
load --runs 3 --resume r.jsonl c.json 2>said
test_same 7 "$(wc -l <r.jsonl | tr -d ' ')" 'a failed run is made again'
mkfifo fifo
load --runs 3 --resume fifo c.json 2>said
test_same 2 $? 'a pipe is not resumed'
test_match "'fifo' is not a regular file" said 'the error says that it is not a regular file'
sed '2s/"run"/7/' whole >r.jsonl
cp r.jsonl kept
load --runs 3 --resume r.jsonl c.json 2>said
test_same 2 $? 'a file with a bad line is not resumed'
test_match 'r.jsonl:2: ' said 'the error names the file and the line'
test_that 'the file is not changed' cmp kept r.jsonl

rm -f cut.jsonl
cp c.json "it's c.json"
env VKB_TEST_MARK="$VKB_TEST_MARK" vkb-load --set rate=1000 --runs 3 --duration 1s --label -o -vocut.jsonl "it's c.json" 2>said &
job=$!
wait_until 30 test -s cut.jsonl
kill "$job"
wait "$job"
test_match "^vkb-load: [1-5] of 6 runs kept; continue with: vkb-load --resume cut.jsonl .*--runs 3 --duration 1s --label -o -v 'it'.''s c.json'$" \
  said 'an interrupted session prints the number of its runs, and the command that resumes it'
sed -n 's/.*continue with: //p' said >continue.sh
test_that 'this command succeeds' sh continue.sh
test_same 6 "$(grep -c '"status":"ok"' cut.jsonl)" 'all runs are made'

# A program under test that runs as the same user can write into its results.
for to in o stdout; do
  rm -f cut.jsonl
  if [ $to = o ]; then
    env VKB_TEST_MARK="$VKB_TEST_MARK" vkb-load -q --set rate=1000 --runs 4 --duration 1s -o cut.jsonl c.json 2>said &
  else
    env VKB_TEST_MARK="$VKB_TEST_MARK" vkb-load -q --set rate=1000 --runs 4 --duration 1s c.json 2>said >cut.jsonl &
  fi
  job=$!
  wait_until 30 test -s cut.jsonl
  printf 9 | dd of=cut.jsonl bs=1 seek=40 conv=notrunc status=none
  wait $job
  test_same 2 $? "$to: results that are changed in place end the session"
  test_match "'(cut.jsonl|standard output)' was changed in its bytes 0 to [0-9]+ while runs were appended" said \
    "$to: the message names the file and the bytes"
done
rm -f cut.jsonl

mkdir gone
load --set rate=1000 --runs 3 --duration 1s -o gone/r.jsonl c.json 2>said &
job=$!
wait_until 30 test -s gone/r.jsonl
rm -r gone
wait $job
test_same 2 $? 'a file whose folder is removed ends the session'
test_match "'gone/r.jsonl' was removed while runs were appended to it: they are lost" \
  said 'the message says that the runs are lost'

load --runs 1 c.json >&- 2>said
test_same 2 $? 'with stdout closed there is an error'
test_match 'stdout is closed' said 'the error says that stdout is closed'
rm -f r.jsonl
load --runs 1 --resume r.jsonl c.json >&- 2>&- <&-
test_same 0 $? 'with stdin, stdout and stderr closed, runs are written to a file'
test_same '"ok"' "$(jq -c .status r.jsonl | sort -u)" 'all runs of this file are ok'
load --duration 100ms --set rate=1234.7 --runs 1 --resume f.jsonl c.json
load --duration 100ms --set rate=1234.7 --runs 1 --resume f.jsonl c.json 2>said
test_match '2 of 2 runs are finished' said 'runs with fractions in their configuration are found again'
load --plan -o x.jsonl c.json 2>said
test_same 2 $? '--plan and -o exclude each other'
load --runs 1 c.json >/dev/full 2>said
test_same 2 $? 'a full disk'
wait_until 10 nothing_left
test_result $? 'a full disk: nothing is left'

# --- signals

running() { [ -n "$(ls tmp)" ] && [ "$(ours | wc -l)" -gt 2 ]; }
for sig in INT TERM; do
  rm -f s.jsonl
  load --runs 2 -o s.jsonl c.json
  # The shell ignores SIGINT in background jobs; perl resets that.
  perl -e '$SIG{INT} = "DEFAULT"; $ENV{VKB_TEST_MARK} = shift; exec @ARGV' \
    "$scratch" vkb-load --runs 1 -o s.jsonl --hdr s.hlog --logs s.logs long.json 2>first &
  pid=$!
  wait_until 10 running
  [ "$sig" = TERM ] || {
    load --resume s.jsonl c.json 2>said
    test_same 2 $? 'a second session with the same file, which it would resume'
    test_match "another program writes to 's.jsonl'" said 'the second session is refused'
    load --hdr s.hlog c.json 2>said
    test_same 2 $? 'a second session with the same log of HdrHistogram'
    test_match "another program writes to 's.hlog'" said 'the second log is refused'
    load --logs s.logs c.json 2>said
    test_same 2 $? 'a second session with the same folder of logs'
    test_match "another vkb-load writes its logs to 's.logs'" said 'the second folder is refused'
  }
  kill -s "$sig" "$pid"
  wait "$pid"
  got=$?
  test_same "$((128 + $(kill -l "$sig" 2>/dev/null | grep -x '[0-9]*' ||
    case $sig in INT) echo 2 ;; TERM) echo 15 ;; esac)))" "$got" \
    "SIG$sig ends vkb-load with this signal"
  wait_until 10 nothing_left
  test_result $? "SIG$sig: no process and no file is left"
  test_same 4 "$(jq -c .status s.jsonl | wc -l | tr -d ' ')" \
    "SIG$sig: finished runs are in the file"
done

# --- kill -9 at any moment

# killed USEC COMMAND...: sends SIGKILL to the command after so many microseconds.
killed() {
  perl -e '
    my $t = shift; my $pid = fork // die;
    if (!$pid) { exec @ARGV or exit 127 }
    select undef, undef, undef, $t / 1e6;
    kill 9, $pid; waitpid $pid, 0' "$@"
}
: >k.jsonl
left=0 bad=0 i=0
while [ $i -lt 20 ]; do
  i=$((i + 1))
  killed "$(awk -v s="$i$$" 'BEGIN { srand(s); print int(rand() * 180000) }')" \
    env VKB_TEST_MARK="$VKB_TEST_MARK" vkb-load -q --runs 20 \
    --resume k.jsonl c.json 2>>said
  wait_until 10 nothing_left || left=$((left + 1))
  # all lines but the last one are whole
  sed '$d' k.jsonl | jq -c .status >/dev/null 2>&1 || bad=$((bad + 1))
done
test_same 0 $left 'killed 20 times: no server and no temporary file is left'
test_same 0 $bad 'killed 20 times: all lines but the last one are whole'
load --runs 20 --resume k.jsonl c.json 2>said
test_same 0 $? '--resume after that'
test_same 40 "$(jq -c '[.config.command, .run.index, .status]' k.jsonl |
  grep -c ok)" 'all runs are ok'
test_same 40 "$(jq -c '[.config.command, .run.index]' k.jsonl | sort -u |
  wc -l | tr -d ' ')" 'no run is there twice'
test_that 'no process and no file is left' nothing_left

make_leaver
printf '#!/bin/sh\n%s/leave %s/left\nexec valkey-server "$@"\n' "$scratch" "$scratch" >leaving
chmod +x leaving
vkb-load -q --server "$PWD/leaving" --runs 1 -o l.jsonl long.json 2>said &
job=$!
wait_until 20 test -s left
kill -9 $job
wait $job 2>/dev/null
test_that "a daemon of a server ends when vkb-load is killed" wait_until 20 gone "$(cat left)"
test_done
