#!/bin/sh
# Each part of 'make lint'.
. "${0%/*}/lib.sh"

part() { # part NAME TOOL
  if command -v "$2" >/dev/null 2>&1; then
    test_that "lint: $1" sh "$tests/lint" "$1"
  else
    test_skip "lint: $1" "$2"
  fi
}
part format clang-format
part cppcheck cppcheck
part tidy clang-tidy
part shell shellcheck
part man mandoc
part text git
part words git
test_done
