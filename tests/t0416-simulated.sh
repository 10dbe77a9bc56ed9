#!/bin/sh
# Simulated reports with a known truth: false alarms, found changes and the coverage of
# intervals are within the goals of tests/bench/verdicts. Only a few of its cells are
# run, with fixed seeds, since all take minutes.
. "${0%/*}/lib.sh"

# cells REPORTS TEXT LINES: runs the cells whose name has TEXT
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
cells 100 '-5% everywhere n=8' 1
cells 200 '-10% in 1 of 24' 1
cells 200 'as told' 3
cells 100 '(the margin)' 6
cells 100 'A/A session sd' 9
cells 100 '-5% in 1 of 10 two sessions' 1
cells 100 'A/A adaptive apart' 1
cells 100 'A/A n=8 rounds, 15% of runs fail' 1
cells 100 'A/A n=10 and 5 apart' 1
# A report says which change a second measurement would show, or how many runs it would
# need for an answer. That has to hold in 4 of 5 second measurements.
cells 200 'visible: rounds n=5' 2
cells 150 'visible: rounds n=12' 1
cells 200 'visible: two sessions' 4
cells 150 'needs: rounds n=5 cv 4%' 2
cells 100 'needs: rounds n=5 cv 2%' 2
cells 100 'needs: apart n=6' 4
test_match '^needs: apart n=6 AR .5 cv 2%, equivalent .* -$' .out \
  'no runs are promised to show equivalence of autocorrelated runs'
cells 60 'turns: apart n=1' 6
test_status 2 'a number of reports below one' "$VKB_BUILD/bench/verdicts" -n 0
test_done
