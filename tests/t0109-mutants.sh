#!/bin/sh
# slow: tests/mutants on a tree of one function: it finds a mistake that a test
# sees, and reports one that changes nothing as a survivor.
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
test_match '^found     src/lib/stats\.c:9 sum, by unit/stats$' .out \
  'a sum that became a difference is found by the unit test'
test_match '^survived  src/lib/stats\.c:7 compare$' .out \
  'a comparison that holds for 0 as well changes nothing and survives'
test_match '^-.if \(x < 0\)$' .out 'the original line is shown'
test_match '^\+.if \(x <= 0\)$' .out 'and as it became'
test_match '^maths: ([0-9]+) of ([0-9]+) mistakes found \([0-9]+ %\)$' .out \
  'the share of the module is printed'
cp .out first
test_status 1 'the same seed is tried again' mutants -n 100 maths
cp .out again
test_that 'the same seed gives the same mistakes' cmp first again
test_that 'only the mistakes of one kind and line' mutants -n 100 -k 'stats.c:9' maths
test_absent 'stats\.c:7' .out 'no other line is changed'
printf 'lib/stats.c\tif (x < 0)\tzero is its own negative\n' >tree/tests/mutants.skip
test_that 'a line with a reason is left out' mutants -n 100 maths
test_absent 'stats\.c:7' .out 'no mistake is planted in it'
printf 'lib/stats.c\tno such line\twhy\n' >tree/tests/mutants.skip
test_status 2 'a line of the list that is not there is trouble' mutants maths
test_match "no line of src/lib/stats.c holds 'no such line'" .err 'it is named'
rm tree/tests/mutants.skip
sed 's/== 4/== 5/' tree/tests/unit/stats.c >bad
cp bad tree/tests/unit/stats.c
test_status 2 'a test that fails without a mistake is trouble' mutants maths
test_match 'unit/stats fails without any mistake' .err 'it is named'
test_status 2 'an unknown module is refused' mutants nothing
test_match "no module is called 'nothing'; the modules are: maths" .err 'those there are are listed'
test_status 2 'a count of 0 is refused' mutants -n 0 maths
test_done
