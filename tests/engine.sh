# Sourced by the tests of the load engine: the program that drives it, and its report.
# shellcheck shell=sh disable=SC2034,SC2154 # for the script; of lib.sh
engine=$VKB_BUILD/bench/engine
if [ ! -x "$engine" ]; then
  test_result 1 "$engine is there: 'make bench' builds it"
  test_done
fi

# value NAME FILE: prints a number of the engine's report about the whole load.
value() { awk -v n="$1" '/^part / {exit} $1 == n {print $2}' "$2"; }
