#!/bin/sh
# Simulated reports of known truth: false alarms, changes found and the coverage of
# intervals are within the goals of tests/bench/verdicts. A few of its cells, with
# fixed seeds; the whole takes minutes.
# slow: what it runs is tested with the sanitizers elsewhere
. "${0%/*}/lib.sh"

# cells REPORTS TEXT LINES: the cells whose name holds TEXT
cells() {
  test_that "simulated: $2" "$VKB_BUILD/bench/verdicts" -s 7 -n "$1" -k "$2"
  test_same "$3" "$(grep -c '[0-9-] |' .out)" "cells named $2"
}
cells 200 'A/A n=4 cv 1%' 1
cells 200 'A/A n=7 cv 3% bimodal' 1
cells 200 'A/A rounds sd 6% position 4% n=7' 1
cells 100 'A/A apart AR .6 n=7' 1
cells 200 -50% 2
cells 200 '-10% in 1 of 10 n=5' 1
cells 100 '-5% everywhere' 1
cells 200 '-10% in 1 of 24' 1
cells 200 'as told' 3
cells 100 '(the margin)' 2
cells 100 'session sd' 7
cells 100 '-5% in 1 of 10 two sessions' 1
test_status 2 'a number of reports below one' "$VKB_BUILD/bench/verdicts" -n 0
test_done
