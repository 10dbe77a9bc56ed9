#!/bin/sh
# vkb-profile --calls: function calls are counted exactly, in all threads of one
# process and in no other process.
# shellcheck disable=SC2016 # expanded by the commands
# sanitize: calls of a profile.
. "${0%/*}/lib.sh"

if ! command -v perf >/dev/null; then
  test_skip 'vkb-profile --calls' perf
  test_done
elif [ "$(id -u)" -ne 0 ] || [ ! -e /sys/bus/event_source/devices/uprobe ]; then
  test_unable 'vkb-profile --calls' 'root, and a kernel that counts uprobes'
  test_done
fi
test_server 'vkb-profile --calls'

# Another process that calls the same functions must not be counted.
perl -e 'alarm 600; while (1) { $x += $_ for 1 .. 1000 }' &
other=$!
test_that 'calls of a command are counted' vkb-profile -o a --calls 'Perl_pp_ad[d]' \
  --calls main --calls Perl_pp_atan2 -- perl -e '$x += $_ for 1 .. 12345'
test_same '{"Perl_pp_add":12345,"main":1,"Perl_pp_atan2":0}' \
  "$(jq -c .calls a/profile.json)" 'the counts are exact, the largest first'
test_same '["profile.json"]' "$(find a -type f | sed 's|.*/|["|; s|$|"]|')" \
  'no stacks are recorded without an option'
kill "$other"

test_that 'calls of a command that forks are counted' vkb-profile -o b --calls Perl_pp_add -- perl -e '
  for (1 .. 2) {
    defined(my $p = fork) or die "no fork";
    if (!$p) { $x += $_ for 1 .. 100; exit } }
  wait; wait; $x += $_ for 1 .. 7'
test_same 7 "$(jq .calls.Perl_pp_add b/profile.json)" 'only calls in the process itself are counted'

test_status 125 'a function that does not exist is exit 125' vkb-profile -o c --calls vkb_none -- perl -e 1
test_match "no function of '.*perl' matches 'vkb_none'" .err 'the error names program and pattern'
test_status 125 'too many functions are exit 125' vkb-profile -o d --calls '*' -- perl -e 1
test_match 'functions match, but at most 200 can be counted' .err 'the error says how many can be counted'
cp "$(command -v perl)" bare
strip -o bare "$(command -v cat)" 2>/dev/null || cp "$(command -v cat)" bare
test_status 125 'a program without names is exit 125' \
  vkb-profile -o e --calls main -- ./bare /dev/null
test_match "'./bare' has no function names|matches 'main'" .err 'the error names the stripped program'
printf '#!/bin/sh\n' >script
chmod +x script
test_status 125 'a script is exit 125' vkb-profile -o f --calls main -- ./script
test_match "'./script' is not a program for this machine" .err 'the error says that a script cannot be counted'

test_that 'calls of a server are counted' vkb-serve -q --io-threads 2 -- sh -c '
  vkb-profile --port "$VKB_PORT" --calls processCommand -d 600s -o g >g.json &
  p=$!
  perl -e "for (1 .. 2000) { print qq{SET k \$_\n} }" >commands
  # Waits until vkb-profile has opened its counters.
  until grep -q "^[^ ]*$" ready 2>/dev/null; do
    ls /proc/$p/fd >/dev/null 2>&1 || exit 1
    readlink /proc/$p/fd/* | grep -q perf_event && echo >ready
    perl -e "select undef, undef, undef, 0.05"
  done
  valkey-cli -p "$VKB_PORT" <commands >/dev/null
  kill -INT $p
  wait $p'
test_same true "$(jq '.calls.processCommand >= 2000 and
  .calls.processCommand < 2200' g.json)" 'all calls are counted, and at most a tenth more'
test_empty "$(ls "$TMPDIR")" 'no temporary file is left'
test_done
