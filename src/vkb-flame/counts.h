/* Tables of exact counts: of one profile, or of the difference of two. */
#ifndef COUNTS_H
#define COUNTS_H

struct callgraphs;
struct str;

/*
 * Writes for each case what it counts. With 'before' (or NULL) the differences:
 * the totals, what causes their difference (see causes.h), and the functions
 * that execute more or less, or are called more or less often. Parts below
 * 'min_share' of the total are added up in one line.
 */
void counts_write(struct str *, const struct callgraphs *before,
    const struct callgraphs *, double min_share);

#endif
