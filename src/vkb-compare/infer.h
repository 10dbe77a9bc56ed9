/*
 * Tests of rows by what all rows of a report say together.
 *
 * The rank tests need so many runs that their smallest p, corrected for the
 * tests of its family, is well below the level. With fewer runs the test
 * is Student's t on logarithms, whose variance is moderated: shrunk towards
 * that of the rows of the same metric (moderate.h). Runs that follow each other
 * are autocorrelated, as estimated from all rows (serial.h): that of
 * unpaired runs is allowed for.
 */
#ifndef INFER_H
#define INFER_H

struct comparison;
struct moderate;
struct rules;
struct verdict_facts;

/*
 * Sets the error of one row, and takes the t test in place of the rank test if
 * runs are autocorrelated, or p_min is above 'least'. The levels are those of
 * verdict_measure_looked.
 */
void infer_facts(struct verdict_facts *, const struct moderate *prior,
    double least, double level05, double level10);

/* Tests all rows; the families of the comparison are set. */
void infer_rows(struct comparison *, const struct rules *);

#endif
