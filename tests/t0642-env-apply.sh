#!/bin/sh
# vkb-env --apply and --restore: all or nothing, and back again however it ends.
. "${0%/*}/lib.sh"
. "$tests/machine.sh"

aslr=/proc/sys/kernel/randomize_va_space
thp=/sys/kernel/mm/transparent_hugepage/enabled
ksm=/sys/kernel/mm/ksm/run
governor=/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor

# A machine with noise; $before is all that it says.
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

# --- plain

noisy
test_that 'apply' env_ --apply
test_same 'vkb-env: set: smt, governor, turbo, idle, aslr, ksm, numa_balancing, nmi_watchdog' \
  "$(cat .err)" 'a line names each setting and its value'
test_same '0 0 performance 1 1 0 0 off' \
  "$(says $aslr) $(says $ksm) $(says $governor) $(
    says /sys/devices/system/cpu/cpu1/cpuidle/state2/disable) $(
    says /sys/devices/system/cpu/intel_pstate/no_turbo) $(
    says /proc/sys/kernel/nmi_watchdog) $(
    says /proc/sys/kernel/numa_balancing) $(
    says /sys/devices/system/cpu/smt/control)" 'all is set'
test_that 'no noise is left' vkb-env --check
test_same 8 "$(jq '.changes | length' state)" 'what was is kept'
test_status 2 'a second one' env_ --apply
test_match "settings of an earlier --apply are in effect; undo them with 'vkb-env --restore'" .err 'is refused'
test_that 'restore' env_ --restore
test_result "$(restored; echo $?)" 'all settings have their old values'
test_that 'restore again' env_ --restore
test_empty "$(cat .err .out)" 'does nothing'
test_that 'some' env_ --apply -q aslr ksm
test_empty_file .err '-q prints no message'
test_same '0 0 powersave' "$(says $aslr) $(says $ksm) $(says $governor)" 'are set alone'
rm -rf "$tree/sys/kernel/mm/ksm"
test_that 'what went away' env_ --restore
test_same '2' "$(says $aslr)" 'does not hold the rest'
machine quiet
VKB_ENV_ROOT=$tree
test_that 'nothing to do' env_ --apply
test_match 'all settings have the wanted values' .err 'a message says that nothing is left to set'
test_result "$([ ! -e state ]; echo $?)" 'and leaves no file'

# "always [madvise] never" is what the kernel shows, but not what it takes.
noisy
put $thp always
test_that 'huge pages' env_ --apply thp
test_same madvise "$(says $thp)" 'are set to madvise'
test_that 'and back' env_ --restore
test_result "$([ "$(says $thp)" = always ]; echo $?)" 'to always'

# --- what cannot be set

noisy
test_status 2 'no such setting' env_ --apply aslr nonsense
test_match "unknown setting 'nonsense'" .err 'the error names the unknown setting'
rm "$tree$ksm"
test_status 2 'one that is not here' env_ --apply ksm
test_match "this machine has no setting 'ksm'" .err 'the error names the setting that the machine lacks'
ln -s /proc/version "$tree$ksm" # takes nothing, even of root
before=$(all)
test_status 2 'one that cannot be written' env_ --apply
test_match 'cannot set ksm: ' .err 'is named'
test_result "$(restored; echo $?)" 'nothing is half set'
test_that 'the others' env_ --apply aslr governor
test_that 'can be' env_ --restore
test_status 2 'no place for the state' vkb-env --apply --state "$scratch/no/state" aslr
test_result "$(restored; echo $?)" 'nothing is set without it'

# --- what others did meanwhile

noisy
test_that 'apply' env_ --apply
put $governor schedutil
test_status 2 'another one has set it since' env_ --restore
test_match "cpu2/cpufreq/scaling_governor' has been set to 'schedutil' since and is kept; it was 'powersave'" \
  .err 'the error says why'
test_same 'schedutil 2' "$(says $governor) $(says $aslr)" 'and stays, the rest is restored'
test_result "$([ ! -e state ]; echo $?)" 'once'

# --- the state file

noisy
test_that 'apply' env_ --apply
put /proc/sys/kernel/random/boot_id another
test_that 'after a boot' env_ --restore
test_same '0 gone' "$(says $aslr) $([ -e state ] || echo gone)" 'there is nothing to restore'
noisy
for bad in '{' '[]' '{"changes":[{"path":"/etc/os-release","old":"x","new":"y"}]}' \
  '{"changes":[{"path":"/sys/devices/system/cpu/../../../etc/passwd","old":"x","new":"y"}]}' \
  '{"changes":[{"path":"'$aslr'","old":"7"}]}'; do
  printf '%s\n' "$bad" >state
  cp state want
  env_ --restore >.out 2>.err
  status=$?
  [ "$bad" = '[]' ] || test_same 2 "$status" "a bad state file: $bad"
  [ "$bad" = '[]' ] || test_same "$(cat want)" "$(cat state)" 'is left'
  test_result "$([ "$(all)" = "$before" ]; echo $?)" 'and nothing is written'
done
rm -f state
test_that 'apply' env_ --apply aslr
sed 's/"pid":0/"pid":4194303/' state >s && mv s state
test_that 'what a dead process left' env_ --apply ksm
test_match 'process 4194303 ended without restoring' .err 'is restored first'
test_same '2 0' "$(says $aslr) $(says $ksm)" 'and then set anew'
sed "s/\"pid\":0/\"pid\":$$/" state >s && mv s state
test_status 2 'of one that lives' env_ --apply aslr
test_match "process $$ has applied settings" .err 'nothing is taken'
test_that 'restore' env_ --restore

# --- for the time of a command

noisy
test_status 3 'a command' env_ --apply aslr governor -- \
  sh -c "grep -h '' $tree$aslr $tree$governor $tree$ksm; exit 3"
test_same '0 performance 1' "$(xargs <.out)" 'runs with the settings'
test_result "$(restored; echo $?)" 'and all settings have their old values'
test_status 127 'one that is not there' env_ --apply -q -- ./no-such-command
test_match 'no-such-command' .err 'is named'
test_result "$(restored; echo $?)" 'and all settings have their old values'
test_status 143 'one that is killed' env_ --apply -q -- sh -c 'kill -TERM $$'
test_result "$(restored; echo $?)" 'and all settings have their old values'
test_status 125 'settings that cannot be' env_ --apply nonsense -- touch ran
test_result "$([ ! -e ran ]; echo $?)" 'are trouble, nothing is run'
test_same in "$(echo in | env_ --apply -q -- cat)" 'it has stdin and stdout'

begun() { [ -e "$scratch/begun" ]; }
start() { # start: an --apply that waits, its process in $pid
  rm -f begun
  vkb-env --state "$scratch/state" --apply -q -- \
    sh -c "touch $scratch/begun; echo \$\$ >$scratch/child; exec cat $scratch/fifo" &
  pid=$!
  wait_until 60 begun
  test_same 0 "$(says $aslr)" 'it runs, with the settings'
}
mkfifo fifo
start
kill -TERM $pid
wait $pid
test_same 143 $? 'SIGTERM ends it'
test_result "$(restored; echo $?)" 'and all settings have their old values'
test_that 'the command is gone' wait_until 60 gone "$(cat child)"
start
kill -KILL $pid
wait $pid
test_that 'SIGKILL: all settings soon have their old values' wait_until 60 restored
test_that 'the command is gone' wait_until 60 gone "$(cat child)"

# --- wrong command lines

for words in '--apply --restore' '--check --compare a b' '--compare' \
  '--compare a b c' '--restore x' '--check -- true' '--check --state x' '--apply --'; do
  # shellcheck disable=SC2086 # words
  test_status 2 "usage: $words" vkb-env $words
done
test_done
