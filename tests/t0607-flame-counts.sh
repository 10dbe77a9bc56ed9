#!/bin/sh
# vkb-flame with exact counts: files of callgrind and the profiles of
# `vkb-load --count` as stacks, graphs, tables and differences.
# sanitize: counts of callgrind.
. "${0%/*}/lib.sh"

# --- stacks

# get is called by main and put, which account for 300 and 100 of its 400: a quarter
# of the calls below get is shown below put. put also calls itself.
cat >a.out <<'END2'
# callgrind format
version: 1
positions: line
events: Ir D1mr
ob=/bin/x
fn=main
1 10 1
cfn=get
calls=3 1
1 300 6
cfn=put
calls=2 1
1 150 3
fn=put
2 50 1
cfn=get
calls=1 1
2 100 2
cfn=put
calls=1 1
2 50 0
fn=get
3 200 4
cob=/lib/libc.so.6
cfn=malloc
calls=8 1
3 200 4
ob=/lib/libc.so.6
fn=malloc
4 200 4
END2
test_same 'main 10
main;get 150
main;get;malloc 150
main;put 50
main;put;get 50
main;put;get;malloc 50' "$(vkb-flame -f folded a.out)" \
  'the cost of a function is divided among its callers by the costs of their calls'
test_same "$(vkb-flame -f folded a.out)" "$(vkb-flame -f folded <a.out)" \
  'standard input is read, too'
test_same 'main 1
main;get 3
main;get;malloc 3
main;put 1
main;put;get 1
main;put;get;malloc 1' "$(vkb-flame -f folded -e D1mr a.out)" \
  'another event has its own costs'
test_status 2 'an event that was not counted is an error' vkb-flame -e Bi a.out
test_match "a.out: it has no event 'Bi'; its events are: Ir D1mr" .err \
  'the error has the event and the counted events'
vkb-flame a.out >a.svg
test_match '<title>Flame graph \(chains of three or more functions are estimates\)</title>' \
  a.svg 'the title says which chains are estimates'
test_match '>chains of three or more functions are estimates<' a.svg \
  'the graph says which chains are estimates'
test_match '^total 100.00% \(460 instructions\), self 2.17%' a.svg 'a frame has its number of instructions'
test_same '460 instructions

self          calls  function
 200  43.48%      4  get
 200  43.48%      8  malloc
  50  10.87%      3  put
  10   2.17%      0  main' "$(vkb-flame -f table a.out)" 'the table has the numbers of calls'

# Functions that call each other in a circle, which main enters at p and at q; and
# a function that was running when the count began and has no caller.
cat >circle.out <<'END2'
version: 1
events: Ir
fn=main
1 0
cfn=p
calls=1 1
1 75
cfn=q
calls=1 1
1 25
fn=p
2 60
cfn=q
calls=5 1
2 999
fn=q
3 30
cfn=p
calls=5 1
3 999
cfn=leaf
calls=1 1
3 10
fn=leaf
4 10
fn=idle
5 7
END2
test_same 'idle 7
main;p 45
main;p;q 22.5
main;p;q;leaf 7.5
main;q 7.5
main;q;leaf 2.5
main;q;p 15' "$(vkb-flame -f folded circle.out)" \
  'functions in a circle are below the function by which it was entered'

# Names with callers (--separate-callers) and a function without a name.
cat >names.out <<'END2'
version: 1
events: Ir
ob=/usr/bin/x
fn=main
1 1
cfn=f'main
calls=1 1
1 30
cfn=g'main
calls=1 1
1 40
fn=f'main
2 10
cfn=h'f'main
calls=1 1
2 20
fn=g'main
3 10
cfn=h'g'main
calls=1 1
3 30
fn=h'f'main
4 20
fn=h'g'main
4 25
cfn=0x1234
calls=1 1
4 5
fn=0x1234
5 5
END2
test_same 'main 1
main;f 10
main;f;h 20
main;g 10
main;g;h 25
main;g;h;[program] 5' "$(vkb-flame -f folded names.out)" \
  'functions that callgrind separates by callers stay separate'
test_match 'h;\[x <0x1234>\] 5$' "$(vkb-flame --addrs -f folded:addrs names.out; echo addrs)" \
  '--addrs adds the address to a function without a name'

# --- random graphs: no count is lost

# graph.pl SEED CIRCLES: prints functions with circles and recursion; the cost of a call
# is consistent without circles. f0 has no caller and reaches all other functions.
cat >graph.pl <<'END2'
my ($seed, $circles) = @ARGV;
srand $seed;
my $n = 12;
my (@self, %calls, @cost);
$self[$_] = 1 + int rand 1000 for 0 .. $n - 1;
for my $i (reverse 0 .. $n - 1) {
  $cost[$i] = $self[$i];
  for (1 .. 3) {
    my $j = $_ == 1 ? $i + 1 : $i + 2 + int rand 5;
    $j = 1 + int rand $n - 1 if $circles && $_ > 1 && rand() < .3;
    next if $j >= $n || exists $calls{"$i $j"};
    my $k = 1 + int rand 9;
    my $c = $j > $i ? int(($cost[$j] // 1) / 5) : 100;
    $calls{"$i $j"} = [$k, $c];
    $cost[$i] += $c if $j != $i;
  }
}
print "version: 1\nevents: Ir\n";
for my $i (0 .. $n - 1) {
  print "fn=f$i\n1 $self[$i]\n";
  for my $j (0 .. $n - 1) {
    my $c = $calls{"$i $j"} or next;
    print "cfn=f$j\ncalls=$c->[0] 1\n1 $c->[1]\n";
  }
}
END2
# selfs_of_file, selfs_of_stacks: print NAME and own COUNT of each function.
selfs_of_file() {
  awk '/^fn=/ { f = substr($0, 4); call = 0 } /^calls=/ { call = 1; next }
    /^[0-9]/ { if (!call) n[f] += $2; call = 0 }
    END { for (g in n) printf "%s %.3f\n", g, n[g] }' "$1" | sort
}
selfs_of_stacks() {
  vkb-flame -f folded "$1" | awk '{ k = split($1, f, ";"); n[f[k]] += $2 }
    END { for (g in n) printf "%s %.3f\n", g, n[g] }' | sort
}
# sums: checks that the causes in a table add up to the difference.
sums() {
  awk 'NR == 1 { sub(/.*, /, ""); want = $1 + 0 } /cause/ { on = 1; next }
    /^$/ { on = 0 } on { sum += $1 }
    END { d = sum - want; if (d < 0) d = -d; print d < 20 ? "same" : "off by " d }'
}
for seed in $(seq 40); do
  perl graph.pl "$seed" $((seed % 2)) >g.out
  perl graph.pl "$((seed + 100))" $((seed % 2)) >h.out
  selfs_of_file g.out >want
  selfs_of_stacks g.out >got
  paste -d ' ' want got | awk -v seed="$seed" '$1 != $3 || ($2 - $4) ^ 2 > .01 {
    print "stacks of " seed ": " $0 }'
  vkb-flame --min-percent 0 -f table -b g.out h.out | sums >sum
  [ "$(cat sum)" = same ] || echo "causes of $seed: $(cat sum)"
done >wrong
test_empty_file wrong \
  'in random graphs each function has its own count, and the causes add up to the difference'

# --- differences

# In b, put calls get once more, and get itself takes 10 more in each call.
cat >b.out <<'END2'
version: 1
events: Ir
fn=main
1 10
cfn=get
calls=3 1
1 330
cfn=put
calls=2 1
1 270
fn=put
2 50
cfn=get
calls=2 1
2 220
cfn=put
calls=1 1
2 50
fn=get
3 300
cfn=malloc
calls=10 1
3 250
fn=malloc
4 250
END2
cat >want <<'END2'
460 -> 610 instructions, +150 (+32.61%)

change  cause (numbers in each call of the first function)
  +100  put calls get: 0.666667 times, not 0.333333
   +50  get itself: 60, not 50

self  after  change  calls  after  function
 200    300    +100      4      5  get
 200    250     +50      8     10  malloc
END2
test_that 'two files are compared' vkb-flame -f table -b a.out b.out
test_same "$(cat want)" "$(cat .out)" \
  'more calls and more instructions per call are separate causes'
vkb-flame -f folded:both -f svg:d.svg -b a.out b.out
test_match '^main;put;get 50 ' both 'the output has both counts of each stack'
test_match '<title>Differential flame graph \(chains of three' d.svg \
  'the title of the difference says which chains are estimates'
test_match '460.0000 -&gt; 610.0000 instructions, \+150.0000, \+32.6%' d.svg \
  'a frame has both counts and the change'
test_absent ', p = |too few samples' d.svg 'the difference of exact counts has no p value'
colours() { grep '</title><rect' | grep -o 'fill="#[0-9a-f]*"' | sort -u | tr -dc 'a-z0-9#' | sed 's/fill//g'; }
test_same '#d4d4d4' "$(vkb-flame -b a.out a.out | colours)" 'equal counts are grey'
# each SELF: prints two functions that only call each other
each() { printf '# callgrind format\nevents: Ir\nfn=a\n1 10\ncfn=b\ncalls=1 1\n1 %d\nfn=b\n1 %d\ncfn=a\ncalls=1 1\n1 10\n' "$1" "$1"; }
each 5 >before.out
each 8 >after.out
test_that 'a circle without a caller is accepted' vkb-flame -f table -b before.out after.out
test_match '^ *\+3  b itself: 8, not 5' .out 'the cause in a circle is what a function executes itself'
vkb-flame -f table -b a.out circle.out >other
cat >want <<'END2'
change  cause (numbers in each call of the first function)
  -300  main calls get: 0 times, not 3
  -150  main calls put: 0 times, not 2
   +51  main calls p: 1 time, not 0
   +49  main calls q: 1 time, not 0
   -10  main itself: 0, not 10
    +7  idle: what calls it was not counted
END2
test_same "$(cat want)" "$(sed -n '/cause/,/^$/p' other | sed '/^$/d')" \
  'a new call or a removed call is the cause of everything below it'

# --- profile records

profile() { # profile CASE SELF: prints a profile record with counts
  jq -nc --arg case "$1" --argjson self "$2" '{type: "profile", v: 1, case: $case,
    target: {}, probed: {}, started: "2026-01-01T00:00:00Z", duration_s: 1,
    status: "ok", mode: "count", requests: 10000, functions: [
      {name: "main", object: "/x", self: 1.5, inclusive: 1, calls: 0},
      {name: "set", object: "/x", self: $self, inclusive: 1, calls: 1}],
    edges: [{from: 0, to: 1, calls: 1, inclusive: $self}]}'
}
{
  echo '{"type":"other","v":1}'
  profile SET-x 4.0625
  profile GET-x 2
} >before.jsonl
{ profile SET-x 5.0625; profile GET-x 2; } >after.jsonl
test_same 'GET-x;main 1.5
GET-x;main;set 2
SET-x;main 1.5
SET-x;main;set 4.0625' "$(vkb-flame -f folded before.jsonl)" \
  'each case has its own frame, other records are ignored'
test_that 'profiles of cases are compared' vkb-flame -f table -b before.jsonl after.jsonl
test_match '^SET-x: 5.5625 -> 6.5625 instructions per request, \+1.0000 \(\+17.98%\)' \
  .out 'profiles of the same case are compared'
test_match '^\+1.0000  set itself: 5.0625, not 4.0625$' .out 'the cause of a changed case is printed'
test_match '^GET-x: 3.5000 -> 3.5000 instructions per request, \+0.0000' .out \
  'an unchanged case has no cause'
profile SET-x 4 >one.jsonl
vkb-flame -b before.jsonl one.jsonl >.out 2>.err
test_match "the case 'GET-x' is only in the baseline" .err 'a warning names a case that only the baseline has'
vkb-flame -b one.jsonl before.jsonl >.out 2>.err
test_match "the case 'GET-x' is not in the baseline" .err 'a warning names a case that the baseline lacks'

# add_config CONFIG: adds CONFIG to the record on stdin
add_config() { jq -c --argjson config "$1" '.config = $config'; }
{
  profile a 4 | add_config '{"command": "SET", "pipeline": 1, "clients": 50}'
  profile b 5 | add_config '{"command": "SET", "pipeline": 10, "clients": 50}'
} >named.jsonl
profile b 6 | add_config '{"command": "SET", "pipeline": 10, "clients": 50}' >other.jsonl
test_same 'SET P1
SET P10' "$(vkb-flame -f folded named.jsonl | cut -d';' -f1 | sort -u)" \
  'cases with configurations have the same names as in reports'
vkb-flame -f folded -b named.jsonl other.jsonl >.out 2>.err
test_match '^SET P10;main;set 5 6$' .out 'both sides have the same name'
test_match "the case 'SET P1' is only in the baseline" .err 'messages have this name, too'
profile c 4 | add_config '{"command": "EVAL \"a;b\" 0"}' >hostile.jsonl
test_match '^EVAL "a:b" 0;main;set 4$' "$(vkb-flame -f folded hostile.jsonl >.out && echo .out)" \
  'a semicolon in a command becomes a colon'

# --- errors

refuse() { # refuse WHAT MESSAGE ARGUMENT...: the arguments are an error that matches MESSAGE
  what=$1 message=$2
  shift 2
  test_status 2 "$what" vkb-flame "$@"
  test_match "$message" .err "$what: the error has the reason"
  test_empty_file .out "$what: nothing is printed"
}
echo 'a;b 1' >stacks
refuse 'counts together with samples' 'samples and counts cannot be added up or compared' \
  stacks a.out
refuse 'counts compared with samples' 'samples and counts cannot be' -b stacks a.out
refuse 'samples compared with counts' 'samples and counts cannot be' -b a.out stacks
refuse 'counts of a run compared with counts per request' \
  "'instructions' and 'instructions per request' cannot be" -b a.out one.jsonl
refuse 'two files of callgrind' 'b.out: a second profile without a case; join files of' \
  a.out b.out
cat before.jsonl before.jsonl >twice.jsonl
refuse 'two profiles of a case' "twice.jsonl:5: a second profile of the case 'SET-x'" \
  twice.jsonl
jq -c 'del(.edges)' one.jsonl >old.jsonl
refuse 'a profile of an old vkb-load' 'old.jsonl:1: the profile does not say which' \
  -b one.jsonl old.jsonl
for edge in '{"from":0,"to":2,"calls":1,"inclusive":1}' '{"from":0.5,"to":1,"calls":1,"inclusive":1}' \
  '{"from":0,"to":1,"calls":-1,"inclusive":1}' '{"from":0,"to":1,"calls":1}' '7'; do
  jq -c ".edges = [$edge]" one.jsonl >edge.jsonl
  refuse "the edge $edge" "edge.jsonl:1: 'edges' is not a list of calls" \
    -b one.jsonl edge.jsonl
done
jq -c '.functions[0].self = "1"' one.jsonl >function.jsonl
refuse 'a function without its count' "function.jsonl:1: 'functions' is not a list" \
  -b one.jsonl function.jsonl
tr -d '\n' <one.jsonl >torn.jsonl
refuse 'a record that is cut off' 'torn.jsonl:1: the last line has no newline' -b one.jsonl torn.jsonl
echo '{"type":"other","v":1}' >none.jsonl
test_status 2 'records without counts are an error' vkb-flame none.jsonl
test_match "none.jsonl: there is no profile of counts; 'vkb-load --count' writes them" \
  .err 'the error names the program that writes counts'
sed '3q' a.out >cut.out
test_status 2 'a file of callgrind that is cut off is an error' vkb-flame cut.out
test_match "cut.out: not a callgrind profile: it has no 'events:'" .err 'the error names the file of callgrind'
printf '# callgrind format\nevents: Ir\nfn=f\n1 0\n' >zero.out
test_that 'a file of callgrind with zeros is accepted' vkb-flame -f table zero.out
test_match '^ +0 +0.00% +0  f$' .out 'a function without instructions has a share of 0'
{ cat a.out; echo 'nonsense here'; } >bad.out
test_status 2 'an unknown line is an error' vkb-flame bad.out
test_match 'bad.out:31: not a callgrind profile: this line is unknown' .err \
  'the error has the number of the unknown line'

# --- more ways from function to function than can be shown

# Each function calls two that both call the next one, 18 times; then a chain.
perl -e 'print "# callgrind format\nevents: Ir\n"; my ($d, $n) = (18, 2000);
  for my $i (0 .. $d - 1) {
    print "fn=f$i\n1 1\n";
    print "cfn=$_$i\ncalls=1 1\n1 ", 1e9 / 2, "\n" for "a", "b";
    print "fn=$_$i\n1 1\ncfn=f@{[$i + 1]}\ncalls=1 1\n1 ", 1e9 / 2, "\n" for "a", "b";
  }
  for my $i ($d .. $d + $n) {
    print "fn=f$i\n1 ", $i < $d + $n ? 1 : 1e9, "\n";
    print "cfn=f@{[$i + 1]}\ncalls=1 1\n1 ", 1e9, "\n" if $i < $d + $n;
  }' >diamonds.out
test_that 'a graph with many paths is accepted' vkb-flame -f folded diamonds.out
test_match '^vkb-flame: [1-9][0-9.]*% of the counts are in calls that are shown as one frame each: there are too many ways from function to function$' \
  .err 'a warning has the share that is not split up'
test_same 1 "$(awk '{ n += $NF } END { print (n >= 1e9 && n < 1.00001e9) }' .out)" \
  'the stacks have the whole cost'
test_same 1 "$(awk 'END { print (NR < 2000000) }' .out)" 'the number of stacks is bounded'
test_that 'a usual graph is accepted' vkb-flame -f folded a.out
test_empty_file .err 'a usual graph gives no warning'
test_done
