/*
 * Families of tests, whose p correct each other, and the level of each: the
 * chance of a false alarm that the tests of a family have together.
 */
#ifndef FAMILY_H
#define FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#define FAMILY_ALPHA .05 /* of a report */

/* The primary metric of each case decides first; the other judged metrics do
 * not dilute it. */
enum test_family {
	FAMILY_PRIMARY,
	FAMILY_OTHER,
	FAMILY_COMMON, /* what all cases of another session have in common, in
			* a primary metric */
	FAMILY_SHOWN,
	FAMILIES
};

/*
 * Returns the level of a family; both: there are tests in FAMILY_PRIMARY and in
 * FAMILY_OTHER; common: there are tests in FAMILY_COMMON. FAMILY_SHOWN does not
 * fail, and has a level of its own.
 */
double family_level(enum test_family, bool both, bool common);

/* Returns the largest p_min with which a rank test may still decide: the
 * smallest p that it can give has to pass as one of 'tests', with half of the
 * level. */
double family_rank_limit(double level, size_t tests);

/*
 * Returns the level that p of one more significant result has to be below, with
 * 'found' of 'tests' significant by Benjamini and Hochberg, or 'strict', Holm.
 */
double family_next_level(double level, size_t tests, size_t found, bool strict);

#endif
