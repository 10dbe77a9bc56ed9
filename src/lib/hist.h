/*
 * HDR histogram (Gil Tene's High Dynamic Range layout): counts of int64 values
 * with a relative error below 10^-digits over the whole range, constant time to
 * add, exact to merge. Maths only; histcodec.h has the HdrHistogram V2 text.
 *
 * vkb keeps latencies in ns: HIST_LATENCY gives 64 ns .. 60 s, 3 digits.
 */
#ifndef HIST_H
#define HIST_H

#include <stddef.h>
#include <stdint.h>

struct hist;

/* lowest >= 1, highest >= 2 * lowest, digits 1..5. hist_free frees it. */
struct hist *hist_new(int64_t lowest, int64_t highest, int digits);
#define HIST_LATENCY() hist_new(64, INT64_C(60000000000), 3)
void hist_free(struct hist *);
void hist_clear(struct hist *);

/* Counts a value above the range in hist_over, and one below zero as 0. */
void hist_add(struct hist *, int64_t value, uint64_t count);

/* Exact if both have one layout, otherwise by the middle of each cell. */
void hist_merge(struct hist *into, const struct hist *from);

uint64_t hist_count(const struct hist *); /* hist_over included */
uint64_t hist_over(const struct hist *);
double hist_mean(const struct hist *); /* NAN when empty */
int64_t hist_min(const struct hist *); /* exact values; 0 when empty */
int64_t hist_max(const struct hist *);

/*
 * Returns the value of the nearest rank of q (0..1): the rank is q * count,
 * rounded, at least 1, as in HdrHistogram_c and so valkey-benchmark. The value
 * is the highest of its cell, never above hist_max. Returns 0 when empty.
 */
int64_t hist_quantile(const struct hist *, double q);

/* The same for n rising q. */
void hist_quantiles(
    const struct hist *, const double *q, size_t n, int64_t *values);

/* Gets the next cell that holds counts; *i starts at 0. Returns 0 at the end.
 * Values above the range are in no cell. */
int hist_cell(const struct hist *, size_t *i, int64_t *low, int64_t *high,
    uint64_t *count);

/* The layout and the raw counts, for the codec. */
int64_t hist_lowest(const struct hist *);
int64_t hist_highest(const struct hist *);
int hist_digits(const struct hist *);
size_t hist_cells(const struct hist *);
uint64_t hist_get(const struct hist *, size_t cell);

struct hist_tally {
	uint64_t cell, count;
};

/* Adds counts to cells, in any order: each as the middle of its cell; min and
 * max may become the bounds of a cell. */
void hist_put(struct hist *, const struct hist_tally *, size_t n);

struct histdiff {
	double d;   /* largest |F1 - F2|, at the tops of the cells; 0..1 */
	int64_t at; /* the value with that difference */
	double w1;  /* Wasserstein-1, in the unit of the values */
};

/*
 * Compares two histograms; layouts may differ. They are compared where a cell
 * of either ends and no cell of the other is cut; counts lie at the top of
 * their cells. All is NAN if one is empty.
 */
struct histdiff histdiff_ks(const struct hist *, const struct hist *);

/* Quantiles for people: .5 .75 .9 .95 .99 .999 .9999; 0 ends them. */
extern const double histdiff_quantiles[];

/* Returns 1 if n counts are enough for the quantile: n (1 - q) >= 10. */
int histdiff_shown(uint64_t n, double q);

#endif
