#include "hist.h"
#include "mem.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 32 /* cells; most pages of a wide range are empty */

/*
 * The cells: 2^(half_bits + 1) of 2^unit_bits each, and then 2^half_bits for
 * each further doubling of the range. Only pages that hold counts are stored;
 * page 0 is empty and stands for all others.
 */
struct hist {
	int64_t lowest, highest;
	int digits;
	int unit_bits;
	int half_bits;
	int64_t mask; /* of values in the first, linear part */
	int64_t min, max;
	uint64_t total; /* 'over' included */
	uint64_t over;
	double sum;
	size_t n;
	uint32_t *pages; /* index of each in 'storage' */
	uint64_t (*storage)[PAGE];
	size_t npages, cap; /* of 'storage' */
};

static int
floor_log2(int64_t v)
{
	return 63 - __builtin_clzll((unsigned long long)v);
}

struct hist *
hist_new(int64_t lowest, int64_t highest, int digits)
{
	struct hist *h;
	int64_t span = 2, top;
	size_t buckets = 1;
	int i;

	if (lowest < 1 || highest / 2 < lowest || digits < 1 || digits > 5)
		err_die("invalid histogram range");
	for (i = 0; i < digits; i++)
		span *= 10;
	h = mem_new(sizeof *h);
	h->lowest = lowest;
	h->highest = highest;
	h->digits = digits;
	h->unit_bits = floor_log2(lowest);
	h->half_bits =
	    floor_log2(span - 1); /* the power of 2 >= span, halved */
	if (h->unit_bits + h->half_bits > 60)
		err_die("invalid histogram range");
	h->mask = ((INT64_C(2) << h->half_bits) - 1) << h->unit_bits;
	for (top = INT64_C(2) << (h->half_bits + h->unit_bits); top <= highest;
	     top *= 2) {
		buckets++;
		if (top > INT64_MAX / 2)
			break;
	}
	h->n = (buckets + 1) << h->half_bits;
	h->pages = mem_array(h->n / PAGE + 1, sizeof *h->pages);
	h->storage = mem_array(1, sizeof *h->storage);
	h->cap = 1;
	hist_clear(h);
	return h;
}

void
hist_free(struct hist *h)
{
	if (!h)
		return;
	free(h->pages);
	free(h->storage);
	free(h);
}

void
hist_clear(struct hist *h)
{
	memset(h->pages, 0, (h->n / PAGE + 1) * sizeof *h->pages);
	h->npages = 1;
	h->min = INT64_MAX;
	h->max = 0;
	h->total = h->over = 0;
	h->sum = 0;
}

static uint64_t
get_count(const struct hist *h, size_t cell)
{
	return h->storage[h->pages[cell / PAGE]][cell % PAGE];
}

/* Returns the page, which is added to the storage if it is not there. */
static uint64_t *
get_page(struct hist *h, size_t at)
{
	if (!h->pages[at]) {
		h->storage = mem_grow(
		    h->storage, h->npages, &h->cap, sizeof *h->storage);
		memset(h->storage[h->npages], 0, sizeof *h->storage);
		h->pages[at] = (uint32_t)h->npages++;
	}
	return h->storage[h->pages[at]];
}

static void
add_count(struct hist *h, size_t cell, uint64_t count)
{
	get_page(h, cell / PAGE)[cell % PAGE] += count;
}

/* Returns the first cell from this one on that holds counts, or n. */
static size_t
find_next_cell(const struct hist *h, size_t cell)
{
	for (; cell < h->n; cell++)
		if (!h->pages[cell / PAGE])
			cell |= PAGE - 1; /* the whole page is empty */
		else if (get_count(h, cell))
			return cell;
	return h->n;
}

static size_t
find_cell(const struct hist *h, int64_t v)
{
	int doublings = floor_log2(v | h->mask) - (h->unit_bits + h->half_bits);

	return ((size_t)doublings << h->half_bits) +
	    (size_t)(v >> (doublings + h->unit_bits));
}

static void
get_cell_range(const struct hist *h, size_t cell, int64_t *low, int64_t *high)
{
	size_t half = (size_t)1 << h->half_bits;
	int doublings = 0;

	if (cell >= 2 * half) {
		doublings = (int)(cell >> h->half_bits) - 1;
		cell -= (size_t)doublings << h->half_bits;
	}
	*low = (int64_t)((uint64_t)cell << (doublings + h->unit_bits));
	*high = *low + ((INT64_C(1) << (doublings + h->unit_bits)) - 1);
}

static double
compute_middle(int64_t low, int64_t high)
{
	return (double)low + ((double)high - (double)low) / 2;
}

static double
get_cell_middle(const struct hist *h, size_t cell)
{
	int64_t low, high;

	get_cell_range(h, cell, &low, &high);
	return compute_middle(low, high);
}

static void
extend_bounds(struct hist *h, int64_t low, int64_t high)
{
	if (low < h->min)
		h->min = low;
	if (high > h->max)
		h->max = high;
}

void
hist_add(struct hist *h, int64_t value, uint64_t count)
{
	if (!count)
		return;
	if (value < 0)
		value = 0;
	extend_bounds(h, value, value);
	h->total += count;
	h->sum += (double)value * (double)count;
	if (value > h->highest)
		h->over += count;
	else
		add_count(h, find_cell(h, value), count);
}

static void
add_page(uint64_t *restrict to, const uint64_t *restrict from)
{
	for (size_t i = 0; i < PAGE; i++)
		to[i] += from[i];
}

void
hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->total)
		return;
	if (into->lowest == from->lowest && into->highest == from->highest &&
	    into->digits == from->digits) {
		for (size_t p = 0; p * PAGE < from->n; p++)
			if (from->pages[p])
				add_page(get_page(into, p),
				    from->storage[from->pages[p]]);
	} else {
		for (size_t i = find_next_cell(from, 0); i < from->n;
		     i = find_next_cell(from, i + 1)) {
			int64_t mid = (int64_t)get_cell_middle(from, i);

			if (mid > into->highest)
				into->over += get_count(from, i);
			else
				add_count(into, find_cell(into, mid),
				    get_count(from, i));
		}
	}
	into->over += from->over;
	extend_bounds(into, from->min, from->max);
	into->total += from->total;
	into->sum += from->sum;
}

uint64_t
hist_count(const struct hist *h)
{
	return h->total;
}

uint64_t
hist_over(const struct hist *h)
{
	return h->over;
}

double
hist_mean(const struct hist *h)
{
	return h->total ? h->sum / (double)h->total : NAN;
}

int64_t
hist_min(const struct hist *h)
{
	return h->total ? h->min : 0;
}

int64_t
hist_max(const struct hist *h)
{
	return h->max;
}

/* Returns the rank of a quantile, from 1. */
static uint64_t
compute_rank(const struct hist *h, double q)
{
	double rank = floor(fmin(fmax(q, 0), 1) * (double)h->total + .5);

	return rank < 1 ? 1 : (uint64_t)rank;
}

/* Returns the first cell from this one on at which the sum of counts reaches
 * 'want', or n. *seen is the sum below the cell. */
static size_t
find_cell_of_rank(
    const struct hist *h, size_t cell, uint64_t *seen, uint64_t want)
{
	while (cell < h->n) {
		const uint64_t *v = h->storage[h->pages[cell / PAGE]];
		uint64_t sum = 0;

		for (size_t i = cell % PAGE; i < PAGE; i++)
			sum += v[i];
		if (*seen + sum >= want)
			break;
		*seen += sum;
		cell = (cell | (PAGE - 1)) + 1;
	}
	for (; cell < h->n && *seen + get_count(h, cell) < want; cell++)
		*seen += get_count(h, cell);
	return cell < h->n ? cell : h->n;
}

void
hist_quantiles(const struct hist *h, const double *q, size_t n, int64_t *values)
{
	uint64_t seen = 0; /* below cell i */
	size_t i = 0;
	int64_t low, high;

	for (size_t k = 0; k < n; k++) {
		uint64_t want = h->total ? compute_rank(h, q[k]) : 0;

		i = find_cell_of_rank(h, i, &seen, want);
		values[k] = h->max;
		if (want && i < h->n) {
			get_cell_range(h, i, &low, &high);
			values[k] = high < h->max ? high : h->max;
		}
	}
}

int64_t
hist_quantile(const struct hist *h, double q)
{
	int64_t v;

	hist_quantiles(h, &q, 1, &v);
	return v;
}

int
hist_cell(const struct hist *h, size_t *i, int64_t *low, int64_t *high,
    uint64_t *count)
{
	*i = find_next_cell(h, *i);
	if (*i >= h->n)
		return 0;
	get_cell_range(h, *i, low, high);
	*count = get_count(h, (*i)++);
	return 1;
}

int64_t
hist_lowest(const struct hist *h)
{
	return h->lowest;
}

int64_t
hist_highest(const struct hist *h)
{
	return h->highest;
}

int
hist_digits(const struct hist *h)
{
	return h->digits;
}

size_t
hist_cells(const struct hist *h)
{
	return h->n;
}

uint64_t
hist_get(const struct hist *h, size_t cell)
{
	return get_count(h, cell);
}

void
hist_put(struct hist *h, const struct hist_tally *t, size_t n)
{
	uint64_t *to = NULL;
	size_t at = 0;
	int64_t low, high;

	for (size_t i = 0; i < n; i++) {
		if (!t[i].count)
			continue;
		if (!to || t[i].cell / PAGE != at) {
			at = t[i].cell / PAGE;
			to = get_page(h, at);
		}
		to[t[i].cell % PAGE] += t[i].count;
		get_cell_range(h, t[i].cell, &low, &high);
		extend_bounds(h, low, high);
		h->total += t[i].count;
		h->sum += (double)t[i].count * compute_middle(low, high);
	}
}

const double histdiff_quantiles[] = {.5, .75, .9, .95, .99, .999, .9999, 0};

int
histdiff_shown(uint64_t n, double q)
{
	return (double)n * (1 - q) >= 10 - 1e-9;
}

/* A walk over the cells of a histogram. Values above the range come last, as
 * one cell at the highest value. */
struct walk {
	const struct hist *h;
	size_t i;
	int64_t low, high;
	uint64_t count, below;
	bool over, end;
};

static void
step_walk(struct walk *w)
{
	w->below += w->count;
	if (!w->over && hist_cell(w->h, &w->i, &w->low, &w->high, &w->count))
		return;
	w->end = w->over || !hist_over(w->h);
	w->over = true;
	w->low = w->high = hist_max(w->h);
	w->count = w->end ? 0 : hist_over(w->h);
}

static bool
is_inside_cell(const struct walk *w, int64_t v)
{
	return !w->end && w->low <= v && v < w->high;
}

struct histdiff
histdiff_ks(const struct hist *a, const struct hist *b)
{
	double na = (double)hist_count(a), nb = (double)hist_count(b), diff = 0;
	struct histdiff r = {0};
	struct walk x = {.h = a}, y = {.h = b};
	int64_t last = 0, v;

	if (!(na > 0 && nb > 0))
		return (struct histdiff){.d = NAN, .w1 = NAN};
	step_walk(&x);
	step_walk(&y);
	while (!x.end || !y.end) {
		v = y.end || (!x.end && x.high <= y.high) ? x.high : y.high;
		if (!x.end && x.high == v)
			step_walk(&x);
		if (!y.end && y.high == v)
			step_walk(&y);
		/* Compares only where no cell of the other is cut. */
		if (is_inside_cell(&x, v) || is_inside_cell(&y, v))
			continue;
		r.w1 += diff * ((double)v - (double)last);
		diff = fabs((double)x.below / na - (double)y.below / nb);
		last = v;
		if (diff > r.d) {
			r.d = diff;
			r.at = v;
		}
	}
	return r;
}
