#!/bin/sh
# vkb-run: interleaved benchmarks of any program, with the real valgrind.
# sanitize: programs that fail, hang and print nonsense.
. "${0%/*}/lib.sh"

# --- what is run, in which order

# bench NAME FACTOR: a benchmark of two cases, each three times, as Go prints them
cat >bench <<'END'
echo "$1" >>turns
cat >/dev/null
awk -v f="$2" -v n="$(wc -l <turns)" 'BEGIN {
  for (i = 0; i < 3; i++) printf "BenchmarkA-2 100 %g ns/op\nBenchmarkB-2 100 %g ns/op\n", f * (100 + n % 3 / 10 + 10 * i), 50 + n % 3 / 10 }'
END
test_that 'two commands are run' vkb-run -n 4 old='sh bench old 1' new='sh bench new 1.3'
cp .out runs.jsonl
test_same 4 "$(grep -c 'round [1-3]/4 done\|^' .err | awk '{print $1 + 1}')" 'a line for each round but the last'
test_same '4 new,4 old' "$(sort turns | uniq -c | awk '{print $1, $2}' | paste -sd,)" 'each command is run in a process of its own, as often as was said'
test_same 'new old new old' "$(sed -n '1p;3p' turns | sort | xargs) $(sed -n '5p;7p' turns | sort | xargs)" \
  'of two rounds each command begins one'
test_same 'new old' "$(sed -n 1,2p turns | sort | paste -sd' ')" 'a round has each command once'
test_same env "$(head -n 1 runs.jsonl | jq -r .type)" 'the machine is described first'
jq -c 'select(.type == "run")' runs.jsonl >only.jsonl
test_same 16 "$(wc -l <only.jsonl)" 'repetitions in one process are one run of each case'
test_same 'new A 1 1,new B 1 1,old A 1 1,old B 1 1' \
  "$(jq -r 'select(.run.index == 1) | "\(.subject.label) \(.config.command) \(.run.index) \(.run.block)"' only.jsonl | sort | paste -sd,)" \
  'a run has its label and its round'
test_same 1 "$(jq -r .run.session only.jsonl | sort -u | wc -l)" 'all runs are of one session'
test_same '110,110,110,110' "$(jq -r 'select(.subject.label == "old" and .config.command == "A") | .metrics.ns_per_op | floor' only.jsonl | paste -sd,)" \
  'the run of a case is the median of its repetitions'
test_same "$(paste -sd' ' turns)" "$(jq -r 'select(.config.command == "A") | "\(.run.order) \(.subject.label)"' only.jsonl | sort -n | cut -d' ' -f2 | paste -sd' ')" \
  'the order of the processes is recorded'
vkb-stats runs.jsonl >stats.jsonl
test_status 1 'the slower one is a regression' vkb-compare --baseline old stats.jsonl
test_match 'A .*% higher .*worse' .out 'the main metric of the format is judged'
test_match 'B.*no change' .out 'the other case has not changed'
test_absent 'vkb load\|vkb-load' .out 'there is no advice about servers'

test_that 'a command alone' vkb-run -q -n 2 'sh bench only 1'
test_empty_file .err 'quiet'
test_same 'sh bench only 1 1' "$(jq -r 'select(.run.index == 1 and .config.command == "A") | "\(.subject.label) \(.run.block)"' .out)" 'its label is the command'
test_same true "$(jq -s 'all(.[] | select(.type == "run"); .env.host and .env.cpus)' .out)" 'a run says on which machine'
test_that '--set' vkb-run -q -n 1 -s config.size=16 'sh bench only 1'
test_same 16 "$(jq -r 'select(.run.index == 1 and .config.command == "A") | .config.size' .out)" 'a key of every run'

# --- what fails

printf 'echo first\necho "cannot open" >&2\nexit 3\n' >fails
test_status 2 'a process that fails' vkb-run -n 2 -o part.jsonl good='sh bench good 1' bad='sh fails'
test_match "'bad' exited with 3" .err 'the message says how'
test_match 'cannot open' .err 'what it printed on stderr is shown'
test_match "'.-resume part.jsonl'" .err 'the message says how to go on'
test_same 4 "$(grep -c '"good"' part.jsonl)" 'the runs of the other are kept'
: >turns
test_that '--resume' vkb-run -q -n 3 --resume part.jsonl good='sh bench good 1' bad='sh bench bad 2'
test_same '3 bad,1 good' "$(sort turns | uniq -c | awk '{print $1, $2}' | paste -sd,)" 'runs what is missing'
test_same 12 "$(grep -c '"type":"run"' part.jsonl)" 'and appends it'
: >turns
test_that '--resume with nothing missing' vkb-run -n 3 --resume part.jsonl good='sh bench good 1' bad='sh bench bad 2'
test_empty_file turns 'runs nothing'
test_match "'part.jsonl' has all of these runs" .err 'a message says so'
test_that '--resume with another measurement' vkb-run -q -n 2 --time --resume part.jsonl good=true bad=true
test_same 4 "$(grep -c '"time_s"' part.jsonl)" 'makes all runs of it'
echo '{"type":"run","v":1,"subject":{},"config":{"command":"x"},"run":{},"metrics":{"time_s":1},"status":"ok"}' >timed
vkb-run -q -n 1 -o timer.jsonl good='cat timed'
test_that '--resume of what has printed a time' vkb-run -q -n 1 --time --resume timer.jsonl good=true
test_same 1 "$(grep -c '"command":"process"' timer.jsonl)" 'measures the time of the process'

# one of two benchmarks of a process fails, until there is a file
cat >half <<'END'
echo x >>turns
status=ok; [ -e good ] || status=failed
for c in A B; do
  printf '{"type":"run","v":1,"subject":{},"config":{"command":"%s"},"run":{},"metrics":{"rps":1},"status":"%s","error":"e"}\n' $c $status
  status=ok
done
END
test_status 2 'a benchmark of a process that fails' vkb-run -q -n 1 -o half.jsonl 'sh half'
test_match "'sh half': a benchmark failed: e" .err 'the message says so'
: >turns
: >good
test_that '--resume after it' vkb-run -q -n 1 --resume half.jsonl 'sh half'
test_same 1 "$(wc -l <turns)" 'runs that process again'
test_that '--resume once more' vkb-run -q -n 1 --resume half.jsonl 'sh half'
test_same 1 "$(wc -l <turns)" 'runs nothing'
for name in one two; do
  printf '{"type":"run","v":1,"subject":{"server":"%s"},"config":{"command":"A"},"run":{},"metrics":{"rps":1},"status":"ok"}\n' $name
done >several
test_status 2 'results of several subjects' vkb-run -n 1 'cat several'
test_match 'prints results of several subjects' .err 'the message says so'
printf '{"type":"env","v":1,"time":"2026-01-01T00:00:00Z","env":{}}\n' >nothing
test_status 2 'records without a result' vkb-run -n 1 'cat nothing'
test_match 'has printed no result' .err 'the message says so'
test_status 2 'two commands that differ in a password alone' vkb-run -n 1 'true --password aaa' 'true --password bbb'
test_absent 'aaa\|bbb' .err 'the message has no password'

test_status 2 'a process killed by a signal' vkb-run -n 1 "kill -9 \$\$"
test_match 'killed by signal 9' .err 'the message names the signal'
test_status 2 'output without results' vkb-run -n 1 'echo hello'
test_match '.-from names a format, --time' .err 'the message says what to do'
test_status 2 'output without results, of all commands' vkb-run -n 5 a='echo hello >>turns' b='echo hello >>turns'
test_match '^vkb-run: no process gave a result: the other rounds are not run$' .err 'ends the session'
test_same 2 "$(grep -c hello turns)" 'after the first round'
test_status 2 'a command that always fails' vkb-run -n 2 --time -o half.jsonl a=true b=false
test_status 2 'and again' vkb-run -n 3 --time --resume half.jsonl a=true b=false
test_same 3 "$(jq -c 'select(.type == "run" and .subject.label == "a" and .status == "ok")' half.jsonl |
  wc -l | tr -d ' ')" 'earlier results of another keep the session going'
test_status 2 'no output' vkb-run -n 1 true
test_status 2 'no such program' vkb-run -n 1 no-such-program
test_match 'exited with 127' .err 'the message has the status of the shell'
test_status 2 'a process that hangs' vkb-run -n 1 --timeout 100ms 'tail -f /dev/null & wait'
test_match "has not ended after 0.1 s" .err 'the message names the limit'
printf 'x\033[31m\n' >hostile
test_status 2 'hostile output' vkb-run -n 1 'cat hostile >&2; exit 1'
test_absent "$(printf '\033')" .err 'control characters are escaped'
test_status 2 'no command' vkb-run
for words in 'sleep 0.1' 'go test -bench .' 'sort no-such-file' 'sort -- -n'; do
  # shellcheck disable=SC2086 # the words of a command
  test_status 2 "a command without quotes: $words" vkb-run $words
  test_match "a command is one argument, with its own in quotes: vkb run 'go test" .err \
    "$words: the message says how it is written"
done
test_that 'programs without arguments' vkb-run -n 1 --time true echo x=nothing-here\;:
test_status 2 'a name without a command' vkb-run old=
test_status 2 'two commands of one name' vkb-run a=true a=false
test_match "two commands are called 'a'" .err 'the message names it'
test_status 2 '--time and --from' vkb-run --time -f go-bench true

# --- kills

cat >slow <<'END'
echo $$ >pid.new && mv pid.new pid
exec tail -f /dev/null
END
for signal in INT TERM KILL; do
  rm -f pid killed.jsonl
  setsid vkb-run -n 3 -o killed.jsonl fast='sh bench fast 1' slow='sh slow' 2>killed &
  us=$!
  wait_until 60 test -s pid
  kill -$signal $us
  wait $us 2>/dev/null
  child=$(cat pid)
  wait_until 60 sh -c "! kill -0 $child 2>/dev/null"
  test_result $? "SIG$signal ends the process that runs"
  test_that "SIG$signal leaves whole records" vkb-stats --text killed.jsonl
done

# --- files that processes write

cat >csv <<'END'
printf 'cmd;tps\nGET;%s\n' "$1" >out.csv
END
test_that '--results' vkb-run -q -n 1 --results out.csv -c config.command=cmd,tps=tps a='sh csv 100' b='sh csv 200'
test_same '100 200' "$(jq -r 'select(.type == "run") | .metrics.tps' .out | sort -n | paste -sd' ')" 'the file of each process is read'
test_status 2 'a file that another process wrote' \
  vkb-run -q -n 2 --results out.csv -c config.command=cmd,tps=tps a='sh csv 100' b=true
test_match "has not written 'out.csv'" .err 'the message says so'
test_same 'a a' "$(jq -r 'select(.type == "run") | .subject.label' .out | xargs)" 'the process that has not has no run'
test_status 2 'no file' vkb-run -q -n 1 --results none.csv -c tps=tps true
test_match "cannot read 'none.csv'" .err 'the message names it'

# --- the time of a process

test_that '--time' vkb-run -q -n 2 --time a='echo noise' b='sleep .2'
test_same true "$(jq -s '[.[] | select(.type == "run" and .subject.label == "b") | .metrics.time_s >= .2] | all and length == 2' .out)" 'the time of a process is measured'

test_same 'time' "$(vkb-stats --text .out | sed -n '1s/.* n  *\([a-z]*\) .*/\1/p')" 'the table of vkb-stats shows it'
test_match '^process +b +2 +[0-9.]+ (m?s) ' - 'with its unit' <<END
$(vkb-stats --text .out)
END

# --- the instructions of a process

TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$TMPDIR"
cat >steps.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv) { volatile int s = 0; for (int i = atoi(argv[argc - 1]); i > 0; i--) s += i; }
END
cc -O0 -o steps steps.c
test_that '--count' vkb-run -q --count old='./steps 100000; true' new='./steps 101000; true'
test_same '4 true' "$(jq -s '[.[] | select(.type == "run" and .counted).metrics.process_instructions] | length, all(. > 500000)' .out | xargs)" \
  'counts each command twice, with the processes that it begins'
# The shell that waits for a child executes more when it is interrupted.
vkb-run -q --count old='exec ./steps 100000' new='exec ./steps 101000' | vkb-stats >counts
test_status 1 'one more turn of a hundred is seen' vkb-compare --baseline old counts
test_match '^Worse: process \(0\.[0-9]+% more instructions\)\.$' .out 'the report says how many'
test_that 'a command is equal to itself' sh -c 'vkb-run -q --count a="./steps 9 2>/dev/null" b="./steps 9 2>/dev/null" | vkb-stats | vkb-compare --baseline a'
cat >begins.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* turns 100000 times, and: f, a child turns argv[2] times; c, it does so as another program, without its descriptors; e, that program takes its place */
int main(int argc, char **argv) {
  volatile int s = 0;
  for (int i = 100000; i > 0; i--) s += i;
  if (*argv[1] == 'f' && !fork()) {
    for (int i = atoi(argv[2]); i > 0; i--) s += i;
    _exit(0);
  }
  if (*argv[1] == 'c')
    for (int i = 3; i < 1024; i++) close(i);
  if (*argv[1] == 'e' || (*argv[1] == 'c' && !fork())) execl("./steps", "./steps", argv[2], (char *)0);
  while (wait(0) > 0) ;
}
END
cc -O0 -o begins begins.c
set --
for n in 100000 900000; do
  set -- "$@" s_$n="exec ./steps $n" f_$n="exec ./begins f $n" c_$n="exec ./begins c $n" e_$n="exec ./begins e $n"
done
test_that '--count of programs that begin others' vkb-run -q -n 1 --count n='exec ./begins n' "$@"
test_empty_file .err 'nothing is left out'
jq -s 'map(select(.type == "run") | {(.subject.label): .metrics.process_instructions}) | add' .out >begun
more=$(jq '.s_900000 - .s_100000' begun)
test_same true "$(jq "(.f_900000 - .f_100000) / $more | . > .99 and . < 1.01" begun)" 'a child without a program of its own is counted'
test_same true "$(jq "(.f_100000 - .n) / ($more / 8) | . > .99 and . < 1.1" begun)" 'its parent is not counted again'
test_same true "$(jq "(.c_900000 - .c_100000) / $more | . > .99 and . < 1.01" begun)" 'a child that has closed its descriptors is counted'
test_same true "$(jq ".e_900000 / .s_900000 | . > .99 and . < 1.01" begun)" 'a program that takes the place of another is counted alone'
rm -f pid
test_status 2 'a process that still runs at the end' vkb-run -q -n 1 --count late='sh -c "echo 1 >pid; while :; do :; done" & until [ -s pid ]; do :; done'
test_match "'late': 1 of its processes were killed, or still ran at its end: they cannot be counted" .err 'the message says why'
test_absent '"type":"run"' .out 'nothing is written where a process is missing'
test_status 2 'a process that begins at the end, before or after valgrind has a file of it' \
  vkb-run -q -n 8 --count late='./steps 999999999 & exit 0'
test_absent '"type":"run"' .out 'no count lacks it'
for signal in TERM KILL; do
  rm -f pid
  setsid vkb-run -q --count 'sh slow' >killed.out 2>killed &
  us=$!
  wait_until 60 test -s pid
  test_same 1 "$(litter | grep -c 'vkb-counts[^/]*$')" 'valgrind writes to a folder'
  kill -$signal $us
  wait $us 2>/dev/null
  test_litter 10 "SIG$signal leaves no file"
done
cat >tmpdir <<'END'
case $TMPDIR in */vkb-counts.*/.tmp) : >"$TMPDIR/rest" ;; *) exit 1 ;; esac
END
test_that 'what valgrind leaves when it is killed is removed' vkb-run -q --count 'sh tmpdir'
test_status 2 'a process that fails while it is counted' vkb-run --count './steps 1; exit 4'
test_match 'exited with 4' .err 'the message says how'
test_status 2 '--count and --time' vkb-run --count --time true
test_match 'in a second session' .err 'the message says why'
test_litter 0 'no file is left'
mkdir none && for c in sh vkb-run; do ln -s "$(command -v $c)" none/$c; done
test_status 2 '--count without valgrind' env PATH="$PWD/none" vkb-run --count true
test_match "valgrind is not in PATH: 'vkb-needs run' installs it" .err 'the message says what to do'

# --- other programs that measure

lock=$scratch/lock
perl -MPOSIX -MFcntl=:flock -e 'open F, ">>", $ARGV[0] or die; flock F, LOCK_EX; open G, ">", "held"; close G; pause' "$lock" &
holder=$!
wait_until 60 test -e held
: >turns
VKB_LOCK=$lock vkb-run -n 1 'sh bench locked 1' >locked.out 2>locked &
us=$!
wait_until 60 grep -q 'waiting for' locked
test_empty_file turns 'nothing runs beside another measurement'
kill $holder
wait $us
test_result $? 'it runs when the other has ended'
test_same locked "$(cat turns)" 'then the command is run'
test_done
