#!/bin/sh
# vkb-profile --calls: functions are counted exactly, in all threads of one
# process and in no other, which is not disturbed.
# shellcheck disable=SC2016 # expanded by the commands
. "${0%/*}/lib.sh"

if ! command -v perf >/dev/null; then
  test_skip 'vkb-profile --calls' perf
  test_done
elif [ "$(id -u)" -ne 0 ] || [ ! -e /sys/bus/event_source/devices/uprobe ]; then
  test_unable 'vkb-profile --calls' 'root, and a kernel that counts uprobes'
  test_done
fi
test_server 'vkb-profile --calls'

# Another process that does the same must not be counted.
perl -e 'alarm 600; while (1) { $x += $_ for 1 .. 1000 }' &
other=$!
test_that 'calls of a command' vkb-profile -o a --calls 'Perl_pp_ad[d]' \
  --calls main --calls Perl_pp_atan2 -- perl -e '$x += $_ for 1 .. 12345'
test_same '{"Perl_pp_add":12345,"main":1,"Perl_pp_atan2":0}' \
  "$(jq -c .calls a/profile.json)" 'exactly, the most called first'
test_same '["profile.json"]' "$(find a -type f | sed 's|.*/|["|; s|$|"]|')" \
  'no stacks are taken unless they are asked for'
kill "$other"

test_that 'a command that forks' vkb-profile -o b --calls Perl_pp_add -- perl -e '
  for (1 .. 2) {
    defined(my $p = fork) or die "no fork";
    if (!$p) { $x += $_ for 1 .. 100; exit } }
  wait; wait; $x += $_ for 1 .. 7'
test_same 7 "$(jq .calls.Perl_pp_add b/profile.json)" 'its own calls alone'

test_status 125 'no such function' vkb-profile -o c --calls vkb_none -- perl -e 1
test_match "no function of '.*perl' matches 'vkb_none'" .err 'the error names program and pattern'
test_status 125 'too many functions' vkb-profile -o d --calls '*' -- perl -e 1
test_match 'functions match, but at most 200 can be counted' .err 'the error says how many can be counted'
cp "$(command -v perl)" bare
strip -o bare "$(command -v cat)" 2>/dev/null || cp "$(command -v cat)" bare
test_status 125 'a program without names' \
  vkb-profile -o e --calls main -- ./bare /dev/null
test_match "'./bare' has no function names|matches 'main'" .err 'the error names the stripped program'
printf '#!/bin/sh\n' >script
chmod +x script
test_status 125 'a script' vkb-profile -o f --calls main -- ./script
test_match "'./script' is not a program for this machine" .err 'the error says that a script cannot be counted'

test_that 'calls of a server' vkb-serve -q --io-threads 2 -- sh -c '
  vkb-profile --port "$VKB_PORT" --calls processCommand -d 600s -o g >g.json &
  p=$!
  perl -e "for (1 .. 2000) { print qq{SET k \$_\n} }" >commands
  # It counts when a call is seen: ask until it does, then for certain.
  until grep -q "^[^ ]*$" ready 2>/dev/null; do
    ls /proc/$p/fd >/dev/null 2>&1 || exit 1
    readlink /proc/$p/fd/* | grep -q perf_event && echo >ready
    perl -e "select undef, undef, undef, 0.05"
  done
  valkey-cli -p "$VKB_PORT" <commands >/dev/null
  kill -INT $p
  wait $p'
test_same true "$(jq '.calls.processCommand >= 2000 and
  .calls.processCommand < 2200' g.json)" 'all, and hardly more'
test_empty "$(ls "$TMPDIR")" 'no temporary file is left'
test_done
