# shellcheck shell=sh disable=SC2154
# Sourced by tests of vkb-env: trees like /proc and /sys of machines that are
# quiet, for VKB_ENV_ROOT.

cpu=/sys/devices/system/cpu

# put FILE TEXT: writes a file below $tree, and makes its folders.
put() {
  mkdir -p "$tree${1%/*}"
  printf '%s\n' "$2" >"$tree$1"
}

# machine DIR: makes the files of a server with 4 CPUs and no noise; sets $tree. It
# copies a tree that is made only once.
machine() {
  if [ ! -d "$scratch/.machine" ]; then
    tree=$scratch/.machine
    make_machine
  fi
  tree=$scratch/$1
  mkdir -p "$tree"
  cp -R "$scratch/.machine/." "$tree"
}

make_machine() {
  put /etc/machine-id 0123456789abcdef0123456789abcdef
  put /etc/os-release 'PRETTY_NAME="Some Linux 12"'
  put /proc/sys/kernel/osrelease 6.1.0-test
  put /proc/sys/kernel/random/boot_id 11111111-2222-3333-4444-555555555555
  put /proc/cpuinfo 'processor	: 0
model name	: Some CPU @ 3.00GHz
microcode	: 0xd0003a5
flags		: fpu sse'
  put $cpu/online 0-3
  put $cpu/isolated 2-3
  put $cpu/nohz_full 2-3
  put $cpu/smt/active 0
  put $cpu/smt/control off
  put $cpu/intel_pstate/no_turbo 1
  put $cpu/vulnerabilities/meltdown 'Mitigation: PTI'
  for i in 0 1 2 3; do
    put $cpu/cpu$i/topology/physical_package_id $((i / 2))
    put $cpu/cpu$i/cpufreq/scaling_governor performance
    put $cpu/cpu$i/cpufreq/scaling_driver intel_pstate
    put $cpu/cpu$i/cpufreq/energy_performance_preference performance
    put $cpu/cpu$i/cpufreq/scaling_min_freq 800000
    put $cpu/cpu$i/cpufreq/scaling_max_freq 3000000
    put $cpu/cpu$i/cpufreq/scaling_cur_freq "290${i}000"
    put $cpu/cpu$i/thermal_throttle/core_throttle_count 0
    for j in 0 1 2; do
      put $cpu/cpu$i/cpuidle/state$j/name "$(echo POLL C1 C6 | cut -d ' ' -f $((j + 1)))"
      put $cpu/cpu$i/cpuidle/state$j/latency "$(echo 0 2 170 | cut -d ' ' -f $((j + 1)))"
      put $cpu/cpu$i/cpuidle/state$j/disable $((j / 2))
    done
  done
  put $cpu/cpuidle/current_driver intel_idle
  put /sys/devices/system/node/node0/cpulist 0-1
  put /sys/devices/system/node/node1/cpulist 2-3
  put /sys/devices/system/clocksource/clocksource0/current_clocksource tsc
  put /sys/kernel/mm/transparent_hugepage/enabled 'always [madvise] never'
  put /sys/kernel/mm/transparent_hugepage/defrag 'always defer [madvise] never'
  put /sys/kernel/mm/ksm/run 0
  put /sys/class/hwmon/hwmon0/name coretemp
  put /sys/class/hwmon/hwmon0/temp1_input 51000
  put /sys/class/hwmon/hwmon0/temp2_input 48000
  put /proc/cmdline 'quiet isolcpus=2-3 rcu_nocbs=2-3 mitigations=off'
  put /proc/meminfo 'MemTotal:       16384000 kB
MemAvailable:   12000000 kB
SwapTotal:             0 kB
SwapFree:              0 kB'
  put /proc/loadavg '0.25 0.10 0.05 1/200 4242'
  put /proc/uptime '86400.00 300000.00'
  put /proc/stat 'cpu  100 0 100 9800 0 0 0 0 0 0
cpu0 100 0 100 9800 0 0 0 0 0 0
intr 1'
  put /proc/pressure/memory 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0'
  put /proc/pressure/cpu 'some avg10=1.50 avg60=0.00 avg300=0.00 total=0'
  put /proc/sys/kernel/randomize_va_space 0
  put /proc/sys/kernel/numa_balancing 0
  put /proc/sys/kernel/nmi_watchdog 0
  put /proc/sys/kernel/sched_autogroup_enabled 0
  put /proc/sys/kernel/perf_event_paranoid 1
  put /proc/sys/net/core/somaxconn 4096
  put /proc/sys/vm/swappiness 60
  put /proc/sys/vm/overcommit_memory 1
  put /proc/irq/24/smp_affinity_list 0
  put /proc/irq/25/smp_affinity_list 1
  put /proc/1/comm init
  put /proc/self/cgroup 0::/
  put /proc/self/mountinfo '30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw'
  put /sys/fs/cgroup/cpuset.cpus.effective 0-3
  put /sys/fs/cgroup/cpu.stat 'usage_usec 10
nr_periods 0
nr_throttled 0
throttled_usec 0'
}
