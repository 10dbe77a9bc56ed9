# shellcheck shell=sh
# Sourced by lib.sh, and by scripts that tests write for other programs to run, as
# `. "$tests/wait.sh"`.

# wait_until SECONDS COMMAND...: repeats the command until it succeeds. A busy machine
# gets two minutes, whatever SECONDS is. Looks are counted, because a look at the clock
# is one more process.
wait_until() {
  wait_left=$((20 * ($1 < 120 ? 120 : $1)))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $((wait_left -= 1)) -gt 0 ] || return 1
    nap
  done
}

# Waits a twentieth of a second; only wait_until uses it.
nap() { sleep 0.05; } # between looks
