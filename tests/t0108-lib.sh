#!/bin/sh
# The functions of tests/lib.sh fail when they should.
. "${0%/*}/lib.sh"

# check_fails WHAT CHECK...: runs the check in a script of its own, which prints "not
# ok". check_passes: it prints "ok".
run_check() {
  (
    test_n=0
    shift
    "$@"
  ) >got 2>&1
  grep -m 1 -oE "^(not ok|ok)" got
}
check_fails() { test_same "not ok" "$(run_check "$@")" "$1"; }
check_passes() { test_same ok "$(run_check "$@")" "$1"; }

echo 'one line' >full
: >empty
check_passes 'test_same: equal texts pass' test_same a a t
check_fails 'test_same: two texts that differ fail' test_same a b t
check_fails 'test_same: two empty texts fail' test_same '' '' t
check_fails 'test_same: an empty result fails' test_same a '' t
check_fails 'test_same: a result that should be empty fails' test_same '' a t
check_passes 'test_empty: an empty text passes' test_empty '' t
check_fails 'test_empty: any other text fails' test_empty a t
check_passes 'test_empty_file: an empty file passes' test_empty_file empty t
check_fails 'test_empty_file: a file with a line fails' test_empty_file full t
check_fails 'test_empty_file: a missing file fails' test_empty_file none t
check_passes 'test_match: a line that matches passes' test_match '^one' full t
check_fails 'test_match: no line that matches fails' test_match two full t
check_fails 'test_match: a missing file fails' test_match one none t
check_passes 'test_absent: no line that matches passes' test_absent two full t
check_fails 'test_absent: a line that matches fails' test_absent '^one' full t
check_fails 'test_absent: a missing file fails' test_absent two none t
check_fails 'test_status: another status fails' test_status 1 t true
check_passes 'test_status: the wanted status passes' test_status 1 t false
test_done
