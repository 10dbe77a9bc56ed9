#!/bin/sh
# vkb-env: the record of a machine and its sources of noise.
# sanitize: the state of machines.
. "${0%/*}/lib.sh"
. "$tests/machine.sh"

env_of() { # env_of TREE [ARG ...]
  env_tree=$1
  shift
  VKB_ENV_ROOT=$scratch/$env_tree vkb-env "$@"
}

# --- this machine

test_that 'vkb-env writes the record of this machine' vkb-env
test_same '1' "$(wc -l <.out | tr -d ' ')" 'the record is one line'
test_same 'env 1 true true' \
  "$(jq -r '[.type, .v, (.env.kernel | length > 0), (.env.cpus >= 1)] | join(" ")' .out)" \
  'the record has a kernel and CPUs'
test_same "$(uname -r)" "$(jq -r .env.kernel .out)" 'the kernel is that of uname'
test_same "$(uname -m)" "$(jq -r .env.arch .out)" \
  'the architecture is that of uname'
test_empty "$(jq -c '.. | select(. == null)' .out)" 'the record has no null'
vkb-env --check >check 2>&1
status=$?
test_match '^[0-9]+ of [0-9]+ sources of noise found' check '--check: a last line'
test_same "$(sed -n 's/^0 of .*/0/p; s/^[1-9][0-9]* of [0-9]* sources.*/1/p' check)" \
  "$status" '--check: the status says whether there is noise'
test_status 2 'an operand is usage' vkb-env --check x

# --- a complete record, from a tree of files

# host FILE...: prints the id of the host of a tree without these files
host() {
  machine host
  put /sys/class/dmi/id/product_uuid 4c4c4544-0042-4c10-8052-b4c04f4c5a32
  for f; do rm "$tree$f"; done
  env_of host | jq -r .env.host
}
id=/etc/machine-id uuid=/sys/class/dmi/id/product_uuid
test_same 3 "$({ host; host $id; host $id $uuid; } | sort -u | wc -l | tr -d ' ')" \
  'the id of a host is made from its machine-id, else its hardware, else its boot'
test_same "$(host)" "$(host $uuid)" 'with a machine-id the hardware does not change the id'
test_same "$(host $id)" "$(host $id /proc/sys/kernel/random/boot_id)" \
  'with a known hardware a restart does not change the id'

machine quiet
env_of quiet >quiet.json
jq -S '.env | del(.arch, .host)' quiet.json >got
cat >want <<'END'
{
  "aslr": "disabled",
  "c_states": {
    "C1": true,
    "C6": false,
    "POLL": true
  },
  "cgroup_cpuset": "0-3",
  "cgroup_version": 2,
  "clocksource": "tsc",
  "cpu_model": "Some CPU @ 3.00GHz",
  "cpus": 4,
  "energy_preference": "performance",
  "freq_driver": "intel_pstate",
  "freq_max_mhz": 3000,
  "freq_min_mhz": 800,
  "governor": "performance",
  "idle_driver": "intel_idle",
  "idle_states": "partially_disabled",
  "irq_cpus": "0-1",
  "irqbalance": false,
  "isolated_cpus": "2-3",
  "kernel": "6.1.0-test",
  "ksm": false,
  "memory_total_mb": 16000,
  "microcode": "0xd0003a5",
  "mitigations": "off",
  "nmi_watchdog": false,
  "nohz_full_cpus": "2-3",
  "numa_balancing": false,
  "numa_nodes": 2,
  "os": "Some Linux 12",
  "overcommit_memory": 1,
  "perf_event_paranoid": 1,
  "proc_stat_whole": true,
  "rcu_nocbs_cpus": "2-3",
  "sched_autogroup": false,
  "smt": false,
  "sockets": 2,
  "somaxconn": 4096,
  "swap_total_mb": 0,
  "swappiness": 60,
  "thp": "madvise",
  "thp_defrag": "madvise",
  "turbo": false,
  "virtual": false,
  "vulnerabilities": {
    "meltdown": "Mitigation: PTI"
  }
}
END
test_same "$(cat want)" "$(cat got)" 'the record has every setting of a tree'
cat >want <<'END'
{
  "cgroup_throttled": 0,
  "cgroup_throttled_s": 0,
  "cpu_pressure_percent": 1.5,
  "fastest_mhz": 2903,
  "freq_mhz": 2901.5,
  "load_1m": 0.25,
  "memory_available_mb": 11719,
  "memory_pressure_percent": 0,
  "slowest_mhz": 2900,
  "swap_used_mb": 0,
  "temperature_c": 51,
  "thermal_throttles": 0,
  "uptime_s": 86400
}
END
test_same "$(cat want)" "$(jq -S .now quiet.json)" \
  'the record has the state of the machine'
machine online
put "$cpu/online" zero
env_of online | jq -c '[.env.cpus, .env.governor]' >listed
test_same '[null,"performance"]' "$(cat listed)" \
  'a list of CPUs that cannot be read gives no number of CPUs'
machine swap
put /proc/meminfo 'MemTotal: 16384000 kB
SwapTotal: 2048000 kB
SwapFree: 1024000 kB'
test_same '[2000,1000]' \
  "$(env_of swap | jq -c '[.env.swap_total_mb, .now.swap_used_mb]')" \
  'the size of the swap and its used part are in megabytes'
machine limited
put /sys/fs/cgroup/memory.max 1099511627776
put /sys/fs/cgroup/cpu.max '150000 100000'
test_same '[1048576,1.5]' \
  "$(env_of limited | jq -c '[.env.cgroup_memory_mb, .env.cgroup_cpus]')" \
  'the limits of a control group are in megabytes of 1048576 bytes and CPUs'
for disabled in 0 1; do
  machine idle
  for i in 0 1 2 3; do
    for j in 1 2; do
      put "$cpu/cpu$i/cpuidle/state$j/disable" $disabled
    done
  done
  env_of idle | jq -r .env.idle_states
done >states
test_same 'all_enabled all_disabled' "$(paste -sd ' ' states)" \
  'idle states are reported as all enabled or all (except the first) disabled'
mkdir -p "$scratch/empty/proc"
env_of empty >empty.json
test_same '["arch"] []' \
  "$(jq -c '.env, .now | keys' empty.json | paste -sd ' ')" \
  'values that cannot be read are left out'

# --- each source of noise

test_that 'a quiet machine has no noise' env_of quiet --check
test_same '0 of 21 sources of noise found; unknown here: steal, busy' \
  "$(cat .out)" 'the summary lists the sources that cannot be read'
test_that 'an empty tree is accepted by --check' env_of empty --check
test_match '; unknown here: governor, turbo, smt, idle, .*memory, proc_stat$' .out \
  'the summary of an empty tree lists all sources as unknown'

# noisy SOURCE FILE TEXT WHY: a tree with that FILE has only this source of noise
noisy() {
  rm -rf "$scratch/noisy"
  machine noisy
  [ "$2" = - ] || put "$2" "$3"
  [ "$1" != cgroup ] || put /sys/fs/cgroup/cpu.max '150000 100000'
  test_status 1 "$1: noise is found" env_of noisy --check
  test_same "$1" "$(sed -n 's/^\([a-z_]*\): .*/\1/p' .out)" "$1: no other noise is found"
  test_match "^$1: .*$4" .out "$1: the reason is printed"
  test_match '^    costs: [a-z0-9]' .out "$1: the cost is printed"
  test_match '^    fix:   [a-z"]' .out "$1: the remedy is printed"
}
noisy governor /sys/devices/system/cpu/cpu2/cpufreq/scaling_governor powersave \
  'performance,powersave'
noisy turbo /sys/devices/system/cpu/intel_pstate/no_turbo 0 'turbo is on'
noisy smt /sys/devices/system/cpu/smt/active 1 'SMT is on'
noisy idle /sys/devices/system/cpu/cpu1/cpuidle/state2/disable 0 \
  '1 states, such as /sys/.*cpu1/cpuidle/state2'
noisy aslr /proc/sys/kernel/randomize_va_space 2 'ASLR'
noisy thp /sys/kernel/mm/transparent_hugepage/enabled '[always] madvise never' \
  'always'
noisy ksm /sys/kernel/mm/ksm/run 1 KSM
noisy numa_balancing /proc/sys/kernel/numa_balancing 1 NUMA
noisy nmi_watchdog /proc/sys/kernel/nmi_watchdog 1 NMI
noisy swap /proc/meminfo 'MemTotal: 16384000 kB
MemAvailable: 12000000 kB
SwapTotal: 2048000 kB
SwapFree: 1024000 kB' '2000 MB, 1000 MB of it'
noisy clocksource \
  /sys/devices/system/clocksource/clocksource0/current_clocksource hpet hpet
noisy isolation /sys/devices/system/cpu/isolated '' 'no CPU is kept free'
noisy interrupts /proc/7/comm irqbalance irqbalance
noisy virtual /proc/cpuinfo 'model name : x
flags : fpu hypervisor sse' 'virtual machine'
noisy pressure /proc/pressure/memory 'some avg10=12.50 avg60=0.00 total=0' \
  '12.5 %'
noisy limit /sys/fs/cgroup/cpu.max '150000 100000' 'allows 1.5 CPUs'
noisy heat /sys/class/hwmon/hwmon0/temp2_input 91000 '91 degrees'
noisy memory /proc/meminfo 'MemTotal: 16384000 kB
MemAvailable: 1000000 kB
SwapTotal: 0 kB
SwapFree: 0 kB' '977 of 16000 MB'
noisy proc_stat /proc/self/mountinfo \
  '50 20 0:40 /proc/stat /proc/stat rw - fuse.lxcfs lxcfs rw' lxcfs

# --- control characters in files

machine evil
put /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor "$(printf 'x\033[31m\302\233y')"
env_of evil --check >.out
test_same 0 "$(LC_ALL=C grep -c "$(printf '\033\\|\302\233')" .out)" \
  'control characters of a file are escaped'
test_done
