#!/bin/sh
# tests/mutants on a module with one function: it finds a mistake that a test sees, and
# reports a mistake that changes nothing as a survivor.
. "${0%/*}/lib.sh"

mkdir -p tree/src/lib tree/src/preload tree/tests/unit tree/bin
echo 'int vkb_still;' >tree/src/preload/vkb-still.c
cp "$top/Makefile" tree
cp "$top/tests/mutants" "$top/tests/check" tree/tests
cp "$top/tests/unit/tap.h" tree/tests/unit
cat >tree/src/lib/stats.h <<'EOF'
int stats_size(int x);
EOF
cat >tree/src/lib/stats.c <<'EOF'
#include "stats.h"

/* How far x is from zero, and 1 more. */
int
stats_size(int x)
{
	if (x < 0)
		x = -x;
	return x + 1;
}
EOF
cat >tree/tests/unit/stats.c <<'EOF'
#include "stats.h"
#include <stdio.h>

int
main(void)
{
	int good = stats_size(3) == 4 && stats_size(-2) == 3 && stats_size(0) == 1;

	printf("%sok 1 - the size is right\n1..1\n", good ? "" : "not ");
	return !good;
}
EOF
git init -q tree
mutants() { CC=gcc tree/tests/mutants -j 1 "$@"; }

test_status 1 'a share below 90 % gives status 1' mutants -n 100 maths
test_match '^found     src/lib/stats\.c:9 sum, by unit/stats 1$' .out \
  'the unit test finds a sum that became a difference'
test_match '^survived  src/lib/stats\.c:7 compare$' .out \
  'a comparison that does not change the result survives'
test_match '^-.if \(x < 0\)$' .out 'the original line is shown'
test_match '^\+.if \(x <= 0\)$' .out 'the changed line is shown'
test_match '^maths: ([0-9]+) of ([0-9]+) mistakes found \([0-9]+ %\)$' .out \
  'the share of the module is printed'
cp .out first
test_status 1 'the same seed ends with the same status' mutants -n 100 maths
cp .out again
test_that 'the same seed gives the same mistakes' cmp first again
test_that 'the mistakes of one kind and line' mutants -n 100 -k 'stats.c:9' maths
test_absent 'stats\.c:7' .out 'no other line is changed'
printf 'lib/stats.c\tif (x < 0)\tzero is its own negative\n' >tree/tests/mutants.skip
test_that 'a line of the list of exceptions is left out' mutants -n 100 maths
test_absent 'stats\.c:7' .out 'there is no mistake in this line'
printf 'lib/stats.c\tno such line\twhy\n' >tree/tests/mutants.skip
test_status 2 'a line of the list that the source does not have is an error' mutants maths
test_match "no line of src/lib/stats.c holds 'no such line'" .err 'the error names the line'
rm tree/tests/mutants.skip
sed 's/== 4/== 5/' tree/tests/unit/stats.c >bad
cp bad tree/tests/unit/stats.c
test_status 2 'a test that fails without a mistake is an error' mutants maths
test_match '^trouble .*: unit/stats fails without any mistake$' .out 'the test is named'
test_status 2 'an unknown module is refused' mutants nothing
test_match "no module is called 'nothing'; the modules are: .* maths " .err 'the error lists the modules'
test_status 2 'a count of 0 is refused' mutants -n 0 maths
test_done
