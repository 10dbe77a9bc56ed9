#!/bin/sh
# vkb-flame folds the output of perf script like other tools do, and reads
# folded stacks.
# sanitize: folded stacks.
. "${0%/*}/lib.sh"

# fold TEXT [OPTION...]: prints the folded stacks of TEXT, sorted
fold() {
  printf '%b' "$1" >in
  shift
  vkb-flame -f folded "$@" in 2>err | sort
}

event='p 1 [000] 1.5: 10 cycles:\n'

# --- the frames of a sample

test_same 'p;main;work 10' \
  "$(fold "$event\tf1 work+0x1f (/bin/p)\n\tf2 main (/bin/p)\n\n")" \
  'the innermost frame comes last, without its offset'
test_same 'V8_Worker_3;f 7' \
  "$(fold 'V8 Worker 3 24636/25607 [000] 94564.109216: 7 cycles:\n\tf1 f (/x)\n\n')" \
  'a name of a command with blanks and a number'
test_same 'a:b;f 1' "$(fold 'a;b 3 1.0: cycles:\n\tf1 f (/x)\n\n')" \
  'a command name with a semicolon; a sample without a period'
test_same 'p;[libc.so.6] 10' \
  "$(fold "$event\tf1 [unknown] (/usr/lib/libc.so.6)\n\n")" \
  'a frame without a symbol has the name of its module'
test_same 'p;[libc.so.6 <f1>] 10' \
  "$(fold "$event\tf1 [unknown] (/usr/lib/libc.so.6)\n\n" --addrs)" '--addrs adds the address to a frame without a symbol'
test_same 'p;[unknown] 10' "$(fold "$event\tf1 [unknown] ([unknown])\n\n")" \
  '--addrs without a module keeps [unknown]'
test_same 'p;[my prog] 10' "$(fold "$event\tf1 [unknown] (/x/sp ace/my prog (deleted))\n\n")" \
  'a deleted file is called as before'
test_same 'p;main;std::function<void (int)>::operator() 10' \
  "$(fold "$event\tf1 std::function<void (int)>::operator()(int) const+0xc\n\tf2 main\n\n")" \
  'frames without a module, which perf was not asked for'
test_same 'p;main;work 20' \
  "$(fold "$event\tf1 work+0x1 (/x)\n  w.c:4\n\tf2 main+0x2\n  b-b.c:360 (inlined)\n\n$event\tf1 work (/x)\n  ??:0\n\tf2 main (/x)\n\n")" \
  'lines of the source are not taken for frames'
test_empty_file err 'lines of the source are known'
test_same 'p;main 10' \
  "$(fold "s     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1276f48) @ 0]: x [k]_text\nw  39  3126.3: PERF_RECORD_COMM exec: w:39/39\nw  39  3126.4: PERF_RECORD_MMAP2 39/39: [0x56(0x1) @ 0 0 0]: r-xp /x/w\n${event}\tf2 main (/x)\n\n")" \
  'records of processes are not taken for samples'
test_empty_file err 'records of processes are no other events'
for head in 'w    2000000 ' 'w 1176 ' '1176 ' 'w 1.5: 100 cycles: ' '1176 1.5: 100 cycles: ' 'w cycles: '; do
  printf '%s\n\t 1145 hot\n\t 1183 main\n\n' "$head" "$head" >in
  test_status 2 "too few fields of perf script are an error: $head" vkb-flame -f folded in
  test_match "in:[12]: .*perf script. the fields comm, pid, event, ip and sym are needed" .err \
    "$head: the message names the fields"
  test_empty_file .out "$head: the lines are not taken for stacks"
done
printf '%b\t 1145\n\t 1183\n\n' "$event" >in
test_status 2 'frames without a symbol are an error' vkb-flame -f folded in
test_match "in:2: .*perf script. the fields comm, pid, event, ip and sym are needed" .err \
  'the message names the fields, too'
test_same 'a:b 1.5x;f 10' "$(fold 'a:b 1.5x 24636 94564.109216: 10 cycles:\n\tf1 f (/x)\n\n' | tr _ ' ')" \
  'a name of a command with a colon and a blank'
test_same 'p;a::f 10' "$(fold "$event\tf1 a::f(int, char (*)()) (/x)\n\n")" \
  'arguments of a function are left out'
test_same 'p;(anonymous namespace)::f 10' \
  "$(fold "$event\tf1 (anonymous namespace)::f(int) (/x)\n\n" |
    sed 's/^p 10$/left out/')" \
    'an anonymous namespace is not taken for an argument'
test_same 'p;call<void (int)>;s::operator<< <f ()>;f(a)::{lambda(int)#1}::operator() 10' \
  "$(fold "$event\tf1 f(a)::{lambda(int)#1}::operator()(int) const (/x)
\tf2 s::operator<< <f ()>(long) (/x)\n\tf3 call<void (int)>(void (int)) (/x)\n\n")" \
  'arguments of templates and names of lambdas are kept'
test_same 'p;net/http.(*Client).Do 10' \
  "$(fold "$event\tf1 net/http.(*Client).Do (/x)\n\n")" "the receiver of a Go method is kept"
test_same 'p;f 10' "$(fold "$event\tf1 f (/memfd:jit (deleted))\n\n")" \
  'a frame of a deleted module'
test_same 'p;f (g 10' "$(fold "$event\tf1 f (g (/x)\n\n" | sed 's/f  10/f (g 10/')" \
  'a name with an unclosed parenthesis'
test_same 'p;outer;inner_[i] 10' "$(fold "$event\tf1 outer->inner (/x)\n\n")" \
  'an inlined function has _[i]'
test_same 'p;s::operator-> 10' \
  "$(fold "$event\tf1 s::operator->() (/x)\n\n")" 'operator-> is one name'
test_same 'p;gc::Box<T>::new::{{closure}} 10' \
  "$(fold "$event\tf1 gc::Box\$LT\$T\$GT\$::new::\$u7b\$\$u7b\$closure\$u7d\$\$u7d\$::ha2ed0674a1c3dc9f+0x1 (/x)\n\n")" \
  'a mangled name of Rust'
test_same 'java;org/a/B:.c 10' \
  "$(fold 'java 1 1.5: 10 cycles:\n\tf1 Lorg/a/B;.c(I)V (/tmp/perf-1.map)\n\n')" \
  'the signature of a Java method is left out'
marked="$event\tf1 k ([kernel.kallsyms])\n\tf2 j (/tmp/perf-12.map)\n\tf3 u (/x)\n\n"
test_same 'p;u;j;k_[k] 10' "$(fold "$marked" --kernel)" '--kernel marks kernel frames'
test_same 'p;u;j_[j];k 10' "$(fold "$marked" --jit)" '--jit marks frames of compiled code'
test_same 'p;u;j_[j];k_[k] 10' "$(fold "$marked" --all)" '--all marks both'
two='p 1/2 1.5: 3 cycles:\n\tf1 f (/x)\n\np 1/3 1.6: 4 cycles:\n\tf1 f (/x)\n\n'
test_same 'p;f 7' "$(fold "$two")" 'samples of all threads are added up'
test_same 'p-1;f 7' "$(fold "$two" --pid)" '--pid adds the process id to the name'
test_same 'p-1/2;f 3
p-1/3;f 4' "$(fold "$two" --tid)" '--tid adds process and thread id to the name'
test_same 'p-?/9;f 4' "$(fold 'p 9 1.6: 4 cycles:\n\tf1 f (/x)\n\n' --tid)" \
  'an unknown process id is shown as ?'

# --- events

mixed="$event\tf1 f (/x)\n\np 1 1.6: 9 faults:u:\n\tf1 g (/x)\n\n"
test_same 'p;f 10' "$(fold "$mixed")" 'the first event is counted'
test_match "1 samples of other events than 'cycles'" err \
  'a warning counts the samples of other events'
printf 'p 1 1.6: 9 cpu-clock:u:\n\tf1 g (/x)\n\n' >clock
printf 'p 1 1.6: 9 cycles:\n\tf1 g (/x)\n\np 1 1.7: 9 cpu-clock:\n\tf1 f (/x)\n\n' >both
test_status 2 'profiles of different events are not compared' vkb-flame -b both --table clock
test_match "^vkb-flame: clock: there is no sample of 'cycles', but 1 of other events" .err 'the error names the events'
test_that 'one event of both is compared' vkb-flame -b both --table -e cpu-clock clock
test_that 'the event of the first profile is that of all' vkb-flame -b clock -f folded both
test_same 'p;f 0 9,p;g 9 0' "$(sort .out | paste -sd ,)" 'samples of others are left out'
test_same 'p;g 9' "$(fold "$mixed" --event faults)" '--event chooses the event'
test_empty_file err '--event prints nothing about other events'
test_same 'false;[unknown] 1
false;_start 2' "$(fold '  false 3 15.4: 1 cycles:u:  ff [unknown] ([unknown])
  false 3 15.5: 2 cycles:  7f _start+0x4 (/ld.so)\n')" \
  'samples without a call chain'
test_same 'p 10' "$(fold "$event\n$event\n" | sed 's/20/10/')" 'a sample without frames has the command only'
test_same 'p;f 10' "$(fold "$event\n\tf1 f (/x)\n\n")" 'a blank line before the frames is ignored'
test_same 'p;f 10' "$(fold "# cmdline : perf\n#\n$event\tf1 f (/x)\r\n\r\n")" \
  'comments are ignored; lines may end in CR LF'
test_empty "$(fold '# cmdline : perf\n\n')" 'comments alone have no stacks'

# --- perf.data, which perf script reads (tests/t0610-profile.sh has a real one)

printf 'PERFILE2 and no more' >broken.data
mkdir no-perf
test_status 2 'without perf a perf.data is an error' \
  env PATH="$scratch/no-perf" "$(command -v vkb-flame)" broken.data
test_match 'broken.data: perf reads this file, and is not in PATH: .* the package linux-perf' \
  .err 'the error names the package of perf'
test_status 2 'perf.data on stdin is an error' sh -c 'vkb-flame <broken.data'
test_match "stdin is a perf.data: give its name, or pipe the output of 'perf script'" \
  .err 'the error says what to do instead'
if command -v perf >/dev/null; then
  test_status 2 'a broken perf.data is an error' vkb-flame -f folded broken.data
  test_match "^vkb-flame: broken.data: 'perf script' exited with [1-9][0-9]*:$" .err \
    'the error says how perf ended'
  test_match '^[[:space:]].*incompatible file format' .err 'the error has the message of perf'
else
  test_skip 'a broken perf.data' perf
fi

# --- bad input

printf '%b' "$event\tf1 f (/x)\n\n$event\tf1 g (/x" >in
test_status 2 'a file that is cut off is an error' vkb-flame -f folded in
test_same 'p;f 10' "$(cat .out)" 'the complete samples of a cut file are folded'
test_match 'in:5: the last line has no newline' .err 'the error names the incomplete line'
printf '%b' "$event\tf1 f (/x)\n\tf2 g (\n\n" >in
test_status 2 'a line that ends in an open parenthesis is an error' vkb-flame -f folded in
test_match 'in:3: neither an event nor a frame' .err \
  'the error names the line that ends in an open parenthesis'
test_same 'p;f 10' "$(cat .out)" \
  'the lines before and after a bad line are folded'
echo 'hello' >in
test_status 2 'an unknown text is an error' vkb-flame in
test_match "in:1: neither output of 'perf script' nor folded" .err \
  'the error names the two formats of input'

# --- folded stacks

printf 'a;b 1\na;c 2\na;b 3\n# a comment\n\nd e;f 1.5\n' >stacks
test_same 'a;b 4
a;c 2
d e;f 1.5' "$(vkb-flame -f folded stacks)" 'folded stacks are added up'
test_same 'b;a 4
c;a 2
f;d e 1.5' "$(vkb-flame -r -f folded stacks)" '--reverse reverses the stacks'
test_same "$(vkb-flame -f folded stacks stacks)" \
  "$(cat stacks stacks | vkb-flame -f folded)" 'several files are added up'
test_that 'several formats are accepted' vkb-flame -f folded:one -f svg:two stacks
test_same "$(vkb-flame -f folded stacks)" "$(cat one)" 'one output is folded'
test_match '^<svg' two 'the other output is a graph'

awk 'BEGIN { for (i = 10000; i < 90000; i++) print "a;b" i % 97 ";c" i, i }' |
  sort >many
test_that '80,000 stacks are accepted' vkb-flame -f folded many
sort .out >got
test_that 'each of many stacks is in the output' cmp many got
test_same "$(awk '{ s += $NF } END { printf "%.0f", s }' many)" \
  "$(vkb-flame -r -f folded many | awk '{ s += $NF } END { printf "%.0f", s }')" \
  'the weights of reversed stacks have the same sum'

# Sums of multiples of 1/2 are exact in any order.
awk 'BEGIN { srand(3)
  for (i = 0; i < 9000; i++) {
    printf "p"
    for (k = int(rand() * 9); k > 0; k--) printf ";f%d", rand() * 4
    print " " int(rand() * 9) / 2 } }' >any
sort any >in-order
vkb-flame any >any.svg
for way in 'sort any' 'sort -r any' 'sed -n p any any'; do
  $way | awk -v twice="$way" '{ if (twice ~ /any any/) $NF /= 2; print }' |
    vkb-flame >this.svg
  test_that "the graph does not depend on the order: $way" cmp any.svg this.svg
done
split -l 4000 any part.
vkb-flame part.a? >this.svg
test_that 'the graph does not depend on the split into files' \
  cmp any.svg this.svg
test_same "$(vkb-flame -r -f folded in-order)" "$(vkb-flame -r -f folded any)" \
  'a reversed graph does not depend on the order'

# More frames than are sorted at once.
awk 'BEGIN { for (k = 0; k < 100000; k++) s = s "a;"
  for (i = 100; i < 200; i++) print s "b" i, i }' >deep
vkb-flame -f folded deep >got
test_that 'stacks of 100,000 frames are unchanged' cmp deep got

# --- the reference inputs

# The Perl scripts lose a last sample without a blank line after it.
whole() {
  awk -v RS= -v ORS='\n\n' '
    held { print held }
    { held = $0 }
    END { if (blank) print held }' blank="$(tail -c 2 "$1" | tr -dc '\n' |
    awk 'END { print (NR > 1) }')" "$1"
}
# Demangles names of Rust: the Perl script leaves them mangled.
# shellcheck disable=SC2016 # "$" is part of the names
rust() {
  sed -E ':a; s/::h[0-9a-f]{16}(;| )/\1/; ta
    s/\$u7b\$/{/g; s/\$u7d\$/}/g; s/\$LT\$/</g; s/\$GT\$/>/g; s/\.\./::/g
    s/\$RF\$/\&/g; s/\$u27\$//g; s/\$u20\$/ /g; s/\$C\$/,/g; s/\$BP\$/*/g
    s/\$u5b\$/[/g; s/\$u5d\$/]/g; s/\$LP\$/(/g; s/\$RP\$/)/g; s/(^|;)_</\1</g' "$1" | vkb-flame -f folded
}

if test_reference flamegraph 'reference inputs'; then
  for want in "$acceptance"/flamegraph/*-collapsed-*.txt; do
    base=${want%-collapsed-*}
    option=${want##*-collapsed-}
    option=${option%.txt}
    [ "$option" != default ] || option=
    whole "$base.txt" >in
    case $want in
    *rust*) rust "$want" ;;
    *) cat "$want" ;;
    esac | sort >expected
    test_that "${base##*/} ${option:-without an option}" \
      vkb-flame -f folded ${option:+--$option} in
    sort .out >got
    test_that 'the output is that of the Perl script' cmp expected got
  done
  for want in "$acceptance"/inferno/*-collapsed.txt; do
    sort "$want" >expected
    vkb-flame -f folded "${want%-collapsed.txt}.txt" | sort >got
    test_that "${want##*/}: the output is that of inferno" cmp expected got
  done
fi
test_done
