#!/bin/sh
# vkb-flame reads perf.data like perf script: symbols, maps, forks, events.
# sanitize: perf.data.
. "${0%/*}/lib.sh"

# --- a constructed file

# records FILE [EDIT]: writes a file with samples of a process and its child; EDIT breaks it
records() {
  perl -e '
    my ($file, $edit) = @ARGV;
    # IP TID TIME PERIOD CALLCHAIN
    my $type = 1 | 2 | 4 | 32 | 256;
    $type |= 8192 if $edit eq "dwarf";
    my $attr = pack("LLQQQQQ x64", 1, 112, 0, 999, $type, 0, 1 << 18);
    substr($attr, 16, 8) = pack("Q", 999);
    my $ids = pack("QQ", 0, 0);
    sub record { pack("LSS", $_[0], $_[1], 8 + length $_[2]) . $_[2] }
    sub name { my $n = $_[0] . "\0"; $n . "\0" x (-length($n) % 8) }
    # each record that is not a sample ends in pid, tid and time
    sub behind { pack("LLQ", $_[0], $_[0], $_[1]) }
    sub comm { record(3, 0, pack("LL", $_[0], $_[0]) . name($_[1]) .
      behind($_[0], $_[2])) }
    sub map2 { record(10, 2, pack("LLQQQ LLQQ LL", $_[0], $_[0], $_[1], 4096,
      $_[2], 0, 0, 0, 0, 5, 2) . name($_[3]) . behind($_[0], $_[4])) }
    sub forked { record(7, 0, pack("LLLLQ", $_[1], $_[0], $_[1], $_[0], $_[2]) .
      behind($_[1], $_[2])) }
    sub sample { my ($pid, $time, $period, @ip) = @_;
      record(9, 2, pack("QLLQQQ", $ip[0], $pid, $pid, $time, $period,
        scalar @ip) . pack("Q*", @ip)) }
    my $user = ~0 - 511;
    my $data = sample(7, 50, 1, $user, 0x1010)	# before the process has a name
      . comm(8, "first", 100)
      . map2(8, 0x1000, 0, "/no/such/prog", 110)
      . sample(8, 120, 10, $user, 0x1010, 0x1020)
      . forked(8, 9, 130)
      . sample(9, 140, 5, $user, 0x1010)
      . map2(9, 0x1800, 0, "//anon", 150)
      . sample(9, 160, 3, $user, 0x1810)
      . comm(9, "second", 135)	# out of order
      . sample(9, 170, 2, $user, 0x9999)
      . sample(8, 180, 4, $user, 0x1810);
    $data = substr($data, 0, -9) if $edit eq "cut";
    substr($data, 6, 2) = "\0\0" if $edit eq "size";
    substr($data, 6, 2) = "\xf8\xff" if $edit eq "long";
    # process and thread are in the place of the size in a record header
    substr($data, 6, 18) = pack("S Q LL", 0, 0x1010, 56 << 16, 56 << 16)
      if $edit eq "inner";
    my $at = 104 + length($attr) + 16;
    my $head = "PERFILE2" . pack("QQ", 104, length($attr) + 16)
      . pack("QQ", 104, length($attr) + 16) . pack("QQ", $at, length $data)
      . pack("QQ", 0, 0) . "\0" x 32;
    $head = "PERFILE2" . pack("Q", 16) if $edit eq "pipe";
    open my $f, ">", $file or die;
    binmode $f;
    print $f $head . $attr . $ids . $data;' "$1" "${2:-}"
}

records perf.data
test_that 'a constructed file is read' vkb-flame -f folded perf.data
test_same ':7;[unknown] 1
first;[prog] 4
first;[prog];[prog] 10
second;[perf-9.map] 3
second;[prog] 5
second;[unknown] 2' "$(cat .out)" \
  'names, maps and what a child inherits are applied in the order of their times'
test_empty_file .err 'nothing is printed on stderr'
test_same "$(cat .out)" "$(vkb-flame -f folded <perf.data)" \
  'perf.data is read from stdin'
test_same 'first-8/8;[prog <20>];[prog <10>] 10' \
  "$(vkb-flame -f folded --tid --addrs perf.data | grep ' 10$')" \
  '--tid and --addrs work with perf.data'
test_status 2 'perf.data from a pipe is an error' \
  sh -c 'cat perf.data | vkb-flame -f folded'
for edit in cut size long inner pipe dwarf; do
  records "$edit" "$edit"
  test_status 2 "broken: $edit: the file is an error" vkb-flame -f folded "$edit"
  test_match "^vkb-flame: $edit: " .err \
    "broken: $edit: the error names the file"
done
test_match "user stacks .*'perf script -i FILE" .err \
  'the error for user stacks says to use perf script'
for edit in size long inner; do
  test_status 2 "broken: $edit: status 2" vkb-flame -f folded "$edit"
  test_same "$(vkb-flame -f folded perf.data | sed 1d)" "$(cat .out)" \
    "broken: $edit: all other records are read"
  test_match "^vkb-flame: $edit: 1 broken record is ignored" .err \
    "broken: $edit: the broken record is counted"
done

# --- recordings of perf

HOME=$scratch # perf stores copies of programs there
export HOME
cat >prog.cc <<'END'
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
namespace ns {
template <class T> __attribute__((noinline)) long
work(T n, const std::string &s)
{
	volatile long v = 0;
	for (T i = 0; i < n; i++)
		v += i * s.size();
	return v;
}
} // namespace ns
namespace {
__attribute__((noinline)) long
hidden(int n)
{
	long v = 0;
	for (int i = 0; i < n; i++)
		v += ns::work<int>(1000000, "abc");
	return v;
}
} // namespace
extern "C" __attribute__((noinline)) void
in_child(int n)
{
	hidden(n);
}
int
main()
{
	for (int i = 0; i < 200; i++)
		free(calloc(1, 1 << 20));
	if (fork() == 0) {
		in_child(40);
		_exit(0);
	}
	long v = hidden(40);
	wait(nullptr);
	return v == 1;
}
END
# Without a procedure linkage table: in perf 6.1 the symbol before that table
# overlaps it, so that an address in the table can have either name.
test_that 'a C++ program is built' g++ -O1 -g -fno-omit-frame-pointer \
  -fno-optimize-sibling-calls -fno-plt -o prog prog.cc

# same FILE WHAT: vkb-flame prints the same for FILE as for the output of perf script
same() {
  perf script --no-inline -i "$1" 2>script.err |
    vkb-flame -f folded --all >by-script 2>/dev/null
  test_that "$2: perf.data is read" vkb-flame -f folded --all "$1"
  cp .out by-data
  test_that "$2: the stacks are those of perf script" cmp by-script by-data
  cmp -s by-script by-data ||
    diff by-script by-data | head -n 20 | sed 's/^/# /'
}

record() { perf record -q "$@"; }
if ! perf record -q -e cpu-clock -g -o try.data true >try.out 2>&1; then
  sed 's/^/# /' try.out
  test_skip 'recordings of perf' 'perf record'
  test_done
fi

test_that 'perf records call chains' record -e cpu-clock -F 999 -g -o chains.data ./prog
same chains.data 'call chains'
test_match '^prog;.*;main;\(anonymous namespace\)::hidden;ns::work<int>' by-data \
  'names of C++ are demangled'
test_match ';in_child;' by-data 'the stacks of the child are read'
test_that 'a recording without call chains is accepted' \
  record -e cpu-clock -F 999 -o flat.data ./prog
same flat.data 'no call chains'
test_that 'perf records two events' record -e cpu-clock -e page-faults -F 999 -g \
  -o two.data ./prog
same two.data 'two events'
test_same "$(perf script --no-inline -i two.data 2>/dev/null |
  vkb-flame -e page-faults -f folded 2>/dev/null)" \
  "$(vkb-flame -e page-faults -f folded two.data)" \
  'the second of two events is read'

# --- debug files

# own_names FILE: prints the parts of the stacks that are in the program
own_names() { sed -n 's/.*;\(main;.*work<int>\).*/\1/p' "$1" | sort -u; }

cat >hide.sh <<'END'
mount --bind "$1" /usr/lib/debug && shift && exec "$@"
END
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
dir=debug/.build-id/$(printf %.2s "$id")
mkdir -p "$dir"
vkb-flame -f folded chains.data >before
if [ -d /usr/lib/debug ] && unshare -rm sh hide.sh debug true 2>/dev/null; then
  objcopy --only-keep-debug --strip-all prog "$dir/${id#??}.debug"
  test_that 'a debug file without symbols is accepted' \
    unshare -rm sh hide.sh debug vkb-flame -f folded chains.data
  test_same "$(own_names before)" "$(own_names .out)" \
    'the symbols of the program itself are used'
  objcopy --only-keep-debug prog "$dir/${id#??}.debug"
  strip -o stripped prog
  cp prog whole && cp stripped prog
  rm -rf "$HOME/.debug"
  test_that 'a stripped program is accepted' \
    unshare -rm sh hide.sh debug vkb-flame -f folded chains.data
  test_same "$(own_names before)" "$(own_names .out)" \
    'the symbols of a stripped program are read from the debug file'
  cp whole prog
  perf buildid-cache --add prog
else
  test_unable 'debug files' 'the right to mount a folder on /usr/lib/debug'
fi

# --- another build

vkb-flame -f folded chains.data >before
test_that 'the program is built again' g++ -O2 -o prog prog.cc
test_same "$(cat before)" "$(vkb-flame -f folded chains.data 2>err)" \
  'the symbols that perf kept of the old program are used'
test_empty_file err 'nothing is printed on stderr'
rm -rf "$HOME/.debug"
test_that 'a program that was built again is accepted' \
  vkb-flame -f folded chains.data
test_match "prog' is not the recorded file" .err \
  'a warning says that the program is not the recorded file'
test_match '^prog;.*;\[prog\]' .out \
  'a program that was built again has no wrong symbols'
test_done
