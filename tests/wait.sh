# shellcheck shell=sh
# Sourced by lib.sh, and by scripts that tests write for other programs to run, as
# `. "$tests/wait.sh"`.

# wait_until SECONDS COMMAND...: repeats the command until it succeeds. A busy machine
# gets two minutes, whatever SECONDS is. Every twentieth look is one at the clock, too,
# which is one more process.
wait_until() {
  wait_end=$(($(date +%s) + ($1 < 120 ? 120 : $1))) wait_looks=0
  shift
  until "$@" >/dev/null 2>&1; do
    wait_looks=$((wait_looks + 1))
    [ $((wait_looks % 20)) -gt 0 ] || [ "$(date +%s)" -lt "$wait_end" ] || return 1
    nap $wait_looks
  done
}

# nap LOOKS: waits a twentieth of a second between two looks, and thrice as long after the
# first second: what takes so long comes as well a moment later, and each look takes CPU
# time of other tests. Only wait_until uses it.
nap() {
  nap_time=0.05
  [ "$1" -lt 20 ] || nap_time=0.15
  sleep $nap_time # between looks
}
