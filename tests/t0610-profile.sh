#!/bin/sh
# vkb-profile: how the process is chosen, errors, a command, the record.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

if ! command -v perf >/dev/null; then
  test_skip vkb-profile perf
  test_done
fi
test_server vkb-profile
busy='for (1 .. 3000000) { $x += $_ }'

# --- the command line

test_status 2 'no process is an error' vkb-profile -o o
test_match 'give one of --pid, --port, --name, --open or a COMMAND' .err 'the error says what to give'
test_status 2 'two ways to choose the process are an error' vkb-profile -o o --pid 1 --name x
test_status 2 '--pid together with a command is an error' vkb-profile -o o --pid 1 -- true
test_status 2 'a command without -- is an error' vkb-profile -o o true
test_status 2 'a missing -o is an error' vkb-profile --pid 1
test_match 'option -o DIR is required' .err 'the error names the missing option'
test_status 2 'an unknown set of counters is an error' vkb-profile -o o --stat ipx -- true
test_match "'ipx' is not a set .software,.*, and perf does not know such an event: event syntax error" \
  .err 'the error has the set and the message of perf'
test_status 2 'an unknown event among known ones is an error' \
  vkb-profile -o o --stat 'ipc,page-faults,{minor-faults,ipx},tlb' -- true
test_match "'[{]minor-faults,ipx[}]' is not a set" .err 'the error has the group'
test_status 2 'an event with two different modifiers is an error' \
  vkb-profile -o o --stat 'ipc,{minor-faults,page-faults:u}' -- true
test_match "the counts of 'page-faults' and 'page-faults:u' would both be called 'page_faults'" \
  .err 'the error has both events'
mkdir plain
printf '#!/bin/sh\necho "${LC_ALL-none}" >>"%s/said"\nexec "%s" "$@"\n' "$scratch" "$(command -v perf)" >plain/perf
chmod +x plain/perf
test_that 'a language with decimal commas' env PATH="$scratch/plain:$PATH" LC_ALL=de_DE.UTF-8 \
  vkb-profile -o plain/out --stat page-faults -- perl -e "$busy"
test_same C "$(sort -u said)" 'perf is asked to speak plainly'
rm -r plain said
test_status 2 'an empty set of counters is an error' vkb-profile -o o --stat ipc,,tlb -- true
test_status 2 'an unknown mode is an error' vkb-profile -o o -m on -- true
test_same tmp "$(ls)" 'no folder is made'

# --- which process

test_status 2 'a process that does not exist is an error' vkb-profile -o a1 --pid 4194304
test_match 'there is no process 4194304' .err 'the error names the process'
test_status 2 'a program that does not run is an error' vkb-profile -o a2 --name vkb-no-such
test_match "no process is called 'vkb-no-such'" .err 'the error names the program'
test_status 2 'a port without a server is an error' vkb-profile -o a3 --port 1
test_match 'no process listens on TCP port 1' .err 'the error names the port'

cp "$(command -v perl)" vkb-twin
pause='$| = 1; print 1; $SIG{ALRM} = sub { exit }; alarm 600; select undef, undef, undef, 600 while 1'
./vkb-twin -e "$pause" >one &
one=$!
./vkb-twin -e "$pause" >two &
two=$!
wait_until 60 test -s one
wait_until 60 test -s two
test_status 2 'two processes with the same name are an error' vkb-profile -o a4 --name vkb-twin
test_match "2 processes are called 'vkb-twin'; choose one by --pid or --port" \
  .err 'the error asks for --pid or --port'
test_match "^[[:blank:]]+$one  ./vkb-twin -e" .err 'the error lists the first process'
test_match "^[[:blank:]]+$two  ./vkb-twin -e" .err 'the error lists the second process'
kill "$one" "$two"
wait "$one" "$two" 2>/dev/null

cat >twice.pl <<'E2'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;
my $pid = fork;
open F, ">port.$$"; print F $s->sockport; close F;
open F, ">pid.$$"; close F;
alarm 600; select undef, undef, undef, 600 while 1;
E2
perl twice.pl &
parent=$!
two_of_them() { [ "$(find . -name 'pid.*' | wc -l)" -eq 2 ]; }
wait_until 60 two_of_them
test_status 2 'two processes that listen on the port are an error' \
  vkb-profile -o a5 --port "$(cat "port.$parent")"
test_match "2 processes listen on port" .err 'the error says that two processes listen'
for f in pid.*; do
  kill "${f#pid.}"
done
wait "$parent" 2>/dev/null

# --- a command

test_status 7 'vkb-profile ends with the status of the command' vkb-profile -q -o c1 -- \
  perl -e "$busy; print qq{hello\n}; exit 7"
test_same hello "$(cat .out)" 'the output of the command is unchanged'
test_same perl "$(jq -r .target.command c1/profile.json)" 'the record has the name of the command'
test_empty "$(grep -l 'print qq{hello' c1/*.json c1/*.txt c1/*.svg c1/*.folded)" \
  'no file has the arguments of the command'
test_empty_file .err '-q prints nothing on stderr'
test_same 'flame.svg functions.txt perf.data profile.json stacks.folded' \
  "$(find c1 -type f | sed 's|.*/||' | sort | tr '\n' ' ' | sed 's/ $//')" \
  'the folder has all files of a profile'
test_match '^perl;.*Perl_runops_standard.* [0-9]+$' c1/stacks.folded \
  'the stacks have the functions of the command'
LC_ALL=C perf script --no-inline --force -i c1/perf.data | vkb-flame --all -f folded >by-script
test_that 'vkb-flame accepts perf.data' vkb-flame --all -f folded:by-file c1/perf.data
test_that 'the stacks of perf.data are those of perf script' cmp by-script by-file
test_match '^perl-[0-9]+/[0-9]+;.*Perl_runops_standard' \
  "$(vkb-flame --tid -f folded:ids c1/perf.data; echo ids)" \
  'the stacks of perf.data have process and thread'
test_match 'Perl_runops_standard' c1/functions.txt 'the table has the functions of the command'
test_match '<svg' c1/flame.svg 'the profile has a flame graph'
test_same "$(awk '{ n += $NF } END { print n }' c1/stacks.folded)" \
  "$(jq .sampling.samples c1/profile.json)" 'the stacks have all samples'
test_same 'profile 1 cpu ok samples 999 true' "$(jq -r '[.type, .v, .mode,
  .status, .sampling.unit, .sampling.freq_hz, .duration_s > 0] | join(" ")' \
  c1/profile.json)" 'the record has mode, status and sampling'
test_status 0 'the record passes through a filter' \
  vkb-stats c1/profile.json
test_status 125 'a folder with a profile is exit 125' vkb-profile -o c1 -- perl -e "$busy"
test_match "folder 'c1' already holds a profile" .err 'the error names the folder'
test_status 127 'a command that does not exist is exit 127' vkb-profile -o c2 -- vkb-no-such-command
test_status 126 'a folder as command is exit 126' vkb-profile -o c3 -- "$scratch"
test_status 137 'a command that is killed is exit 137' \
  vkb-profile -q -o c4 -- perl -e "$busy; kill 9, \$\$"
test_status 125 'a folder that cannot be made is exit 125' vkb-profile -o /dev/null/x -- true
test_status 125 'a command that does nothing is exit 125' vkb-profile -o c5 -d 10ms \
  --delay 1s -- perl -e 'select undef, undef, undef, 2'
test_match 'no samples: the process did not run; --mode offcpu' .err 'the error says that the process did not run'
test_that 'a command with a child is accepted' vkb-profile -q -o c6 -- \
  sh -c "perl -e '$busy' & wait"
test_match '^perl;' c6/stacks.folded 'the stacks have the child'

test_that 'only counters are accepted, with a comma at the end' \
  vkb-profile -q --stat software, -o s1 -- perl -e "$busy"
test_same '["profile.json"] true true null' "$(jq -r '[
  (.artifacts | tojson), .counters.task_clock_ms > 0, .counters.page_faults > 0,
  .sampling] | map(tostring) | join(" ")' s1/profile.json |
  sed "s/^{}/[\"$(ls s1)\"]/")" 'the profile has counts and no stacks'
test_that '--stat all is accepted' \
  vkb-profile -q --stat all -o s2 -- perl -e "$busy"
test_same 0 "$(jq '[.counters[], .derived[] | select(. == null or . < 0)] |
  length' s2/profile.json)" 'counters that the machine lacks are left out'
test_that 'sets together with events of perf are accepted, also the same event twice' \
  vkb-profile -q --stat 'minor-faults,software,page-faults,{major-faults,faults}' \
  -o s4 -- perl -e "$busy"
test_same true "$(jq '.counters | .page_faults < 100000 and
  .minor_faults > 0 and .faults == .page_faults and
  .minor_faults + .major_faults == .page_faults' s4/profile.json)" \
  'each event is counted once'
test_that 'stacks together with counters are accepted' \
  vkb-profile -q -m wall --stat ipc -o s3 -- perl -e "$busy"
test_same 'wall us true true' "$(jq -r '[.mode, .sampling.unit,
  .sampling.cpu_s > 0, .counters.task_clock_ms > 0] | map(tostring) |
  join(" ")' s3/profile.json)" 'the record has the samples and the counts'

# --- an archive, opened on a machine without the program

cp "$(command -v perl)" vkb-mine
test_that '--archive is accepted' vkb-profile -q -m cpu --call-graph dwarf --stat software \
  --archive mine.tgz -o r1 -- ./vkb-mine -e "$busy"
test_same 'flame.svg functions.txt perf.data profile.json stacks.folded' \
  "$(find r1 -mindepth 1 | sed 's|.*/||' | sort | tr '\n' ' ' | sed 's/ $//')" \
  'the folder has no copies of the binaries'
test_match 'profile/debug/.*/vkb-mine/[0-9a-f]+/elf$' \
  "$(tar -tzf mine.tgz >list; echo list)" 'the archive has the binary'
rm vkb-mine
test_that '--open is accepted without the program' vkb-profile --open mine.tgz -o r2
test_match 'Perl_runops_standard' r2/stacks.folded 'the stacks of the archive have the names of functions'
test_that 'the stacks are the same' cmp r1/stacks.folded r2/stacks.folded
test_same "$(jq -c '[.counters, .target, .duration_s, .sampling]' r1/profile.json)" \
  "$(jq -c '[.counters, .target, .duration_s, .sampling]' .out r2/profile.json |
    uniq)" 'the record of the archive has the counts'
test_same r2/stacks.folded "$(jq -r .artifacts.folded r2/profile.json)" \
  'the paths of the record are those of the new folder'
test_status 2 '--open into a folder with a profile is an error' vkb-profile --open mine.tgz -o r2
mkdir r7
echo mine >r7/note
test_status 2 '--open into a folder with other files is an error' \
  vkb-profile --open mine.tgz -o r7
test_match "the folder 'r7' is not empty" .err 'the error names the folder'
test_same mine "$(cat r7/*)" 'the other file is kept'
test_status 2 'a file that is not an archive is an error' vkb-profile --open list -o r3
test_match 'cannot be read as an archive' .err 'the error says that this is not an archive'
mkdir -p evil/profile
ln -s ../../out evil/profile/debug
tar -czf evil.tgz -C evil profile
test_status 2 'an archive with a link to the outside is an error' \
  vkb-profile --open evil.tgz -o r4
test_match "the link 'debug' leads outside" .err 'the error names the link'
rm evil/profile/debug

# refused ARCHIVE WHAT PATTERN: the archive is an error and leaves no folder
refused() {
  test_status 2 "$2" vkb-profile --open "$1" -o r8
  test_match "$3" .err "$2: the error has the reason"
  test_that "$2: no folder is left" [ ! -e r8 ]
}
# A link to its own folder, and then a link through it: by the parts of its
# path '..' is inside the profile, but it is the folder above.
mkdir unpacked evil1 evil2
tar -xzf mine.tgz -C unpacked
rm unpacked/profile/stacks.folded
echo mine >victim
for to in profile profile/debug; do
  mkdir -p "evil1/$to" "evil2/$to/a"
  ln -s . "evil1/$to/a"
done
ln -s ../victim evil2/profile/a/stacks.folded
ln -s ../../victim evil2/profile/debug/a/stacks.folded
tar -cf evil.tar -C unpacked profile -C ../evil1 profile/a \
  -C ../evil2 profile/a/stacks.folded
refused evil.tar 'a file that is a link through a link' \
  "'(a|stacks.folded)' is a link"
tar -cf evil.tar -C unpacked profile -C ../evil1 profile/debug/a \
  -C ../evil2 profile/debug/a/stacks.folded
refused evil.tar 'a link through a link' "cannot write 'debug/a/stacks.folded': Cannot extract through symlink"
test_same mine "$(cat victim)" 'the file outside is unchanged'
ln -s perf.data unpacked/profile/stacks.folded
tar -cf evil.tar -C unpacked profile
refused evil.tar 'a link where a file is written' "'stacks.folded' is a link"
rm -r evil1 evil2
mkdir -p "evil1/profile/$(printf 'd/%.0s' $(seq 70))"
: >"evil1/profile/$(printf 'd/%.0s' $(seq 70))f"
tar -cf evil.tar -C evil1 profile
refused evil.tar 'an archive with folders in folders' 'in more than 64 folders'
truncate -s 9G evil1/profile/perf.data
tar -czf evil.tar --sparse -C evil1 profile/perf.data
refused evil.tar 'an archive that is larger than any profile' 'more than 8 GiB'
rm -r evil1
jq -c 'del(.sampling)' unpacked/profile/profile.json >evil/profile/profile.json
tar -czf evil.tgz -C evil profile
refused evil.tgz 'an archive that does not say how its stacks were read' \
  "'mode' needs 'sampling.call_graph'"
echo '{"type":"run","v":1}' >evil/profile/profile.json
tar -czf evil.tgz -C evil profile
refused evil.tgz 'an archive of something else' "record 'run' lacks"
mv evil/profile/profile.json evil/profile/note
tar -czf evil.tgz -C evil profile
refused evil.tgz 'an archive without a record' "cannot read 'r8/profile.json'"
cp r1/profile.json evil/profile
echo mine >evil/profile/perf.data
tar -czf evil.tgz -C evil profile
test_status 2 'samples that perf cannot read' vkb-profile --open evil.tgz -o r9
test_match "^vkb-profile: 'perf script' exited with [0-9]+: .*format" .err \
  'are an error with the reason that perf gives'
for words in '--open mine.tgz -o r9 --stat ipc' '--open mine.tgz -o r9 --freq 9' '--as-runs r1/profile.json -o r9' \
  '--as-runs r1/profile.json --duration 3s'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "$words" vkb-profile $words
  test_match "option '--(stat|freq|output|duration)' cannot be combined with '--(open|as-runs)', which profiles nothing" .err \
    "$words: the error names the option"
done
head -c 100000 mine.tgz >cut.tgz
test_status 2 'an archive that is cut off is an error' vkb-profile --open cut.tgz -o r6

# --- processes whose names look like what perf prints behind them

cat >named.c <<'END'
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
volatile unsigned long s;
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!fork()) {
      prctl(PR_SET_NAME, argv[i]);
      for (unsigned long k = 0; k < 100000000; k++) s += k;
      _exit(0);
    }
  while (wait(0) > 0) ;
}
END
cc -O1 -o named named.c
set -- 'a b' 'job 7' 12 '3/4 x' 'k/0:1H [x]' ' lead' 'w: 1 2.5:' 'job 7 1.5: x' 'x 12 [000] q' '7 1.234567: x' 'a(c)'
printf '%s\n' "$@" | sed 's/^ //; s/ /_/g' | sort >names
test_that 'processes with such names are profiled' vkb-profile -q -o named.dir -- ./named "$@"
test_same "$(cat names)" "$(sed 's/;.*//; s/^_//' named.dir/stacks.folded | sort -u | grep -vx 'named\|perf-exec')" \
  'vkb-profile finds their names'
test_same "$(cat names)" "$(vkb-flame -f folded named.dir/perf.data | sed 's/;.*//' | sort -u | grep -vx 'named\|perf-exec')" \
  'vkb-flame finds their names'
perf script -i named.dir/perf.data -F comm,pid,event,ip,sym,dso 2>/dev/null >untimed
test_that 'a profile of perf script without times is read' sh -c 'vkb-flame -f folded untimed | grep -q "^x_12_\[000\]_q;"'
perf script -i named.dir/perf.data -F comm,time,event,ip,sym,dso 2>/dev/null >pidless
test_status 2 'without pids it is not' vkb-flame -f folded pidless
test_match 'of .perf script. the fields comm, pid, event, ip and sym are needed' .err 'the message names the fields'

# --- ordinary users

if [ "$(id -u)" -eq 0 ]; then
  paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
  mkdir -m 777 theirs
  chmod 755 "$scratch"
  as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
  if [ "$paranoid" -ge 3 ]; then
    test_status 125 'a user without the right to profile is exit 125' \
      as_nobody vkb-profile -o theirs/a -- perl -e "$busy"
  else
    test_that 'a user with the right to profile is accepted' \
      as_nobody vkb-profile -q -o theirs/a -- perl -e "$busy"
    test_match 'Perl_runops_standard' theirs/a/stacks.folded 'the user gets the stacks'
  fi
  if [ "$paranoid" -ge 2 ]; then
    test_status 125 'offcpu without the right to profile the kernel is exit 125' \
      as_nobody vkb-profile -q -m offcpu -o theirs/b -- perl -e "$busy"
    test_match "kernel.perf_event_paranoid is $paranoid.*sudo sysctl" .err \
      'the error names the setting'
  fi
  test_status 2 "the process of another user is an error" \
    as_nobody vkb-profile -o theirs/c --pid $$
  test_match "belongs to user 0 or may not be traced" .err 'the error says whose process it is'
fi
test_empty "$(ls "$TMPDIR")" 'no temporary file is left'
test_done
