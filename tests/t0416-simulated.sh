#!/bin/sh
# Simulated reports with a known truth: false alarms, found changes and the coverage of
# intervals are within the goals of tests/bench/verdicts. Only a few of its cells are
# run, with fixed seeds, since all take an hour.
. "${0%/*}/lib.sh"

# cells REPORTS TEXT LINES: runs the cells whose name has TEXT
cells() {
  test_that "simulated: $2" "$VKB_BUILD/bench/verdicts" -s 7 -n "$1" -k "$2"
  test_same "$3" "$(grep -c '[0-9-] |' .out)" "cells named $2"
}
cells 60 'A/A n=4 cv 1%' 1
cells 60 'A/A n=7 cv 3% bimodal' 1
cells 60 'A/A rounds sd 6% position 4% n=7' 1
cells 60 'A/A apart AR .6 n=7' 1
cells 60 '-10% in 1 of 10 n=5' 1
cells 40 '-5% everywhere n=8' 1
cells 40 'K=1 sd 1% -50% in 4' 1
# Without the hypothesis that changed cases share one change, the others would improve.
cells 40 'K=1 sd 1% -10% in 7' 1
cells 40 'K=1 sd 3% -10% in 6' 1
cells 40 'K=1 sd 3% -50% in 6' 1
cells 40 'K=8 -10% in 4' 1
cells 40 'A/A session shared 8+2' 2
cells 40 'A/A steps of 8 us cv .2% apart' 1
cells 40 'A/A 20 runs cv 1%, 4 runs cv 4%' 1
cells 40 'A/A apart machine AR 0.6 n=7' 1
cells 60 'A/A two sessions sd 2%, 1 case, one metric' 1
cells 60 'as told in 1 of 24' 1
cells 60 'visible: rounds n=5 cv 3%' 2
cells 60 'needs: rounds n=5 cv 4%, 4% changed' 1
cells 20 'p99.9 calm: stall in' 1
test_status 2 'a number of reports below one' "$VKB_BUILD/bench/verdicts" -n 0

# column N: prints the Nth column of alarms and of changes found
column() {
  awk -F '|' -v i="$1" 'NR == 3 { n = split($1, a, " "); split($2, b, " "); print a[n - 4 + i], b[i] }' .out
}

# The whole program says of the same runs what the code says that is linked here.
for cell in 'stopped when clear, up to 12' 'p99.9 3 times as often in 1 of 10'; do
  test_that "vkb-compare judges: $cell" "$VKB_BUILD/bench/verdicts" -s 7 -n 8 -k "$cell" \
    -p "$VKB_BIN/vkb-compare"
  test_same "$(column 1)" "$(column 4)" 'it gives as many alarms and finds as much'
done
test_status 2 'a program that prints no report' "$VKB_BUILD/bench/verdicts" -n 1 -k "$cell" -p true
test_done
