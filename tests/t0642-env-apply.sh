#!/bin/sh
# vkb-env --apply and --restore: all settings or none, and all are restored at any end.
. "${0%/*}/lib.sh"
. "$tests/machine.sh"

aslr=/proc/sys/kernel/randomize_va_space
thp=/sys/kernel/mm/transparent_hugepage/enabled
ksm=/sys/kernel/mm/ksm/run
governor=/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor

# Makes a tree with noise; $before has the contents of all its files.
noisy() {
  rm -rf "$scratch/m" "$scratch/state"
  machine m
  put $aslr 2
  put $ksm 1
  put $governor powersave
  put /sys/devices/system/cpu/cpu1/cpuidle/state2/disable 0
  put /sys/devices/system/cpu/intel_pstate/no_turbo 0
  put /proc/sys/kernel/nmi_watchdog 1
  put /proc/sys/kernel/numa_balancing 1
  put /sys/devices/system/cpu/smt/control on
  VKB_ENV_ROOT=$tree
  export VKB_ENV_ROOT
  before=$(all)
}
all() { (cd "$tree" && find . -type f | sort | xargs grep -H '' 2>/dev/null); }
says() { cat "$tree$1"; }
env_() { vkb-env --state "$scratch/state" "$@"; }
restored() { [ ! -e "$scratch/state" ] && [ "$(all)" = "$before" ]; }

# --- apply and restore

noisy
test_that '--apply is accepted' env_ --apply
test_same 'vkb-env: set: smt, governor, turbo, idle, aslr, ksm, numa_balancing, nmi_watchdog' \
  "$(cat .err)" 'a message names each setting'
test_same '0 0 performance 1 1 0 0 off' \
  "$(says $aslr) $(says $ksm) $(says $governor) $(
    says /sys/devices/system/cpu/cpu1/cpuidle/state2/disable) $(
    says /sys/devices/system/cpu/intel_pstate/no_turbo) $(
    says /proc/sys/kernel/nmi_watchdog) $(
    says /proc/sys/kernel/numa_balancing) $(
    says /sys/devices/system/cpu/smt/control)" 'all settings have the wanted values'
test_that 'no noise is left' vkb-env --check
test_same 8 "$(jq '.changes | length' state)" 'the old values are stored'
test_status 2 'a second --apply is an error' env_ --apply
test_match "settings of an earlier --apply are in effect; undo them with 'vkb-env --restore'" .err 'the error names --restore'
test_that '--restore is accepted' env_ --restore
test_result "$(restored; echo $?)" 'all settings have their old values'
test_that '--restore can be repeated' env_ --restore
test_empty "$(cat .err .out)" 'a second --restore prints nothing'
test_that '--apply with names of settings is accepted' env_ --apply -q aslr ksm
test_empty_file .err '-q prints no message'
test_same '0 0 powersave' "$(says $aslr) $(says $ksm) $(says $governor)" 'only the named settings are changed'
rm -rf "$tree/sys/kernel/mm/ksm"
test_that '--restore is accepted if a setting no longer exists' env_ --restore
test_same '2' "$(says $aslr)" 'the other settings are restored'
machine quiet
VKB_ENV_ROOT=$tree
test_that '--apply on a quiet machine is accepted' env_ --apply
test_match 'all settings have the wanted values' .err 'a message says that nothing is left to set'
test_that 'no state file is made' test ! -e state

# The kernel shows "always [madvise] never", but accepts only one word.
noisy
put $thp always
test_that '--apply thp is accepted' env_ --apply thp
test_same madvise "$(says $thp)" 'huge pages are set to madvise'
test_that '--restore of thp is accepted' env_ --restore
test_that 'huge pages are set to always again' test "$(says $thp)" = always

# --- settings that cannot be changed

noisy
test_status 2 'an unknown setting is an error' env_ --apply aslr nonsense
test_match "unknown setting 'nonsense'" .err 'the error names the unknown setting'
rm "$tree$ksm"
test_status 2 'a setting that this machine lacks is an error' env_ --apply ksm
test_match "this machine has no setting 'ksm'" .err 'the error names the setting that the machine lacks'
ln -s /proc/version "$tree$ksm" # cannot be written, even by root
before=$(all)
test_status 2 'a setting that cannot be written is an error' env_ --apply
test_match 'cannot set ksm: ' .err 'the error names the setting that cannot be written'
test_result "$(restored; echo $?)" 'no setting is changed after that error'
test_that '--apply with other settings is accepted' env_ --apply aslr governor
test_that '--restore of the other settings is accepted' env_ --restore
ln -sf /proc/self/coredump_filter "$tree$ksm" # is set to 00000000, whatever is written
test_status 2 'a setting that does not keep its value is an error' env_ --apply aslr ksm
test_absent 'are restored' .err 'no message says that it is restored'
test_same 2 "$(says $aslr)" 'the settings before it are restored'
rm "$tree$ksm"
test_status 2 'a state file that cannot be made is an error' vkb-env --apply --state "$scratch/no/state" aslr
test_result "$(restored; echo $?)" 'without a state file no setting is changed'

# --- changes by other programs

noisy
test_that '--apply is accepted before another change' env_ --apply
put $governor schedutil
test_status 2 '--restore after another change is exit 2' env_ --restore
test_match "cpu2/cpufreq/scaling_governor' has been set to 'schedutil' since and is kept; it was 'powersave'" \
  .err 'the error has the three values'
test_same 'schedutil 2' "$(says $governor) $(says $aslr)" 'the value of the other program is kept, and the other settings are restored'
test_that 'the state file is removed after that' test ! -e state

# --- the state file

noisy
test_that '--apply is accepted before a boot' env_ --apply
put /proc/sys/kernel/random/boot_id another
test_that '--restore after a boot is accepted' env_ --restore
test_same '0 gone' "$(says $aslr) $([ -e state ] || echo gone)" 'after a boot nothing is restored'
noisy
for bad in '{' '[]' '{"changes":[{"path":"/etc/os-release","old":"x","new":"y"}]}' \
  '{"changes":[{"path":"/sys/devices/system/cpu/../../../etc/passwd","old":"x","new":"y"}]}' \
  '{"changes":[{"path":"'$aslr'","old":"7"}]}'; do
  printf '%s\n' "$bad" >state
  cp state want
  env_ --restore >.out 2>.err
  status=$?
  [ "$bad" = '[]' ] || test_same 2 "$status" "a bad state file: $bad"
  [ "$bad" = '[]' ] || test_same "$(cat want)" "$(cat state)" "a bad state file is kept: $bad"
  test_that "no setting is changed: $bad" test "$(all)" = "$before"
done
rm -f state
test_that '--apply of one setting is accepted' env_ --apply aslr
sed 's/"pid":0/"pid":4194303/' state >s && mv s state
test_that '--apply after a process that was killed is accepted' env_ --apply ksm
test_match 'process 4194303 ended without restoring' .err 'a message says that its settings are restored'
test_same '2 0' "$(says $aslr) $(says $ksm)" 'the old settings are restored and the new ones are set'
sed "s/\"pid\":0/\"pid\":$$/" state >s && mv s state
test_status 2 '--apply while another process has settings is an error' env_ --apply aslr
test_match "process $$ has applied settings" .err 'the error names the other process'
test_that '--restore is accepted while that process lives' env_ --restore

# --- settings while a command runs

noisy
test_status 3 '--apply COMMAND ends with the status of the command' env_ --apply aslr governor -- \
  sh -c "grep -h '' $tree$aslr $tree$governor $tree$ksm; exit 3"
test_same '0 performance 1' "$(xargs <.out)" 'the command runs with the settings'
test_result "$(restored; echo $?)" 'all settings have their old values after the command'
test_status 127 'a command that does not exist is exit 127' env_ --apply -q -- ./no-such-command
test_match 'no-such-command' .err 'the error names the command'
test_result "$(restored; echo $?)" 'all settings have their old values after exit 127'
test_status 143 'a command that is killed is exit 143' env_ --apply -q -- sh -c 'kill -TERM $$'
test_result "$(restored; echo $?)" 'all settings have their old values after exit 143'
test_status 125 'an unknown setting with a command is exit 125' env_ --apply nonsense -- touch ran
test_that 'the command does not run after exit 125' test ! -e ran
test_same in "$(echo in | env_ --apply -q -- cat)" 'the command has stdin and stdout'

begun() { [ -e "$scratch/begun" ]; }
start() { # start: starts --apply with a command that waits; sets $pid
  rm -f begun
  vkb-env --state "$scratch/state" --apply -q -- \
    sh -c "touch $scratch/begun; echo \$\$ >$scratch/child; exec cat $scratch/fifo" &
  pid=$!
  wait_until 60 begun
  test_same 0 "$(says $aslr)" 'the command runs with the settings'
}
mkfifo fifo
start
kill -TERM $pid
wait $pid
test_same 143 $? 'SIGTERM ends vkb-env'
test_result "$(restored; echo $?)" 'all settings have their old values after SIGTERM'
test_that 'the command has ended after SIGTERM' wait_until 60 gone "$(cat child)"
start
kill -KILL $pid
wait $pid
test_that 'all settings have their old values soon after SIGKILL' wait_until 60 restored
test_that 'the command has ended after SIGKILL' wait_until 60 gone "$(cat child)"

# Of two that begin at the same time the second finds the state file of the first.
noisy
for k in 1 2 3 4 5 6 7 8 9 10; do
  vkb-env --state "$scratch/state" --apply aslr ksm 2>one &
  one=$!
  vkb-env --state "$scratch/state" --apply aslr ksm 2>two &
  wait $one
  one=$?
  wait $!
  echo "$one $? $(cat one two | grep -c 'set: aslr') $(says $aslr)"
  vkb-env --state "$scratch/state" --restore && restored || echo "round $k: not restored"
done | sed 's/^2 0/0 2/' | sort -u >rounds
test_same '0 2 1 0' "$(cat rounds)" 'of two --apply at once one sets all, and --restore undoes it'

# --- wrong command lines

for words in '--apply --restore' '--check --compare a b' '--compare' \
  '--compare a b c' '--restore x' '--check -- true' '--check --state x' '--apply --'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "vkb-env $words is an error" vkb-env $words
done
test_done
