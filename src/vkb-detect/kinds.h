/* Values of counted and of measured runs in one series. */
#ifndef KINDS_H
#define KINDS_H

struct branch;
struct branch_values;
struct rows_run;
struct series;

/*
 * Of a metric that is exact in counted runs, keeps the values 'v' of counted or
 * of other runs, as those of the newest point are, counted ones first. Sets
 * 'counted' and 'others'. Returns 0, or -1 after reporting an error.
 */
int kinds_keep_one(const struct branch *, const struct series *,
    const struct rows_run *, double *v, struct branch_values *);

#endif
