#include "hist.h"
#include "mem.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 32 /* cells: most of a wide range hold nothing */

/*
 * The cells: 2^(half_bits + 1) of 2^unit_bits each, and then 2^half_bits for
 * each further doubling of the range. Only pages that hold counts have room;
 * page 0 stands for all others and is empty.
 */
struct hist {
	int64_t lowest, highest;
	int digits;
	int unit_bits;
	int half_bits;
	int64_t mask; /* of the values in the first, linear part */
	int64_t min, max;
	uint64_t total; /* 'over' included */
	uint64_t over;
	double sum;
	size_t n;
	uint32_t *pages; /* where each is in 'room' */
	uint64_t (*room)[PAGE];
	size_t npages, cap; /* in 'room' */
};

static int
log2_floor(int64_t v)
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
		err_die("a histogram cannot have such a range");
	for (i = 0; i < digits; i++)
		span *= 10;
	h = mem_new(sizeof *h);
	h->lowest = lowest;
	h->highest = highest;
	h->digits = digits;
	h->unit_bits = log2_floor(lowest);
	h->half_bits =
	    log2_floor(span - 1); /* the power of 2 >= span, halved */
	if (h->unit_bits + h->half_bits > 60)
		err_die("a histogram cannot have such a range");
	h->mask = ((INT64_C(2) << h->half_bits) - 1) << h->unit_bits;
	for (top = INT64_C(2) << (h->half_bits + h->unit_bits); top <= highest;
	     top *= 2) {
		buckets++;
		if (top > INT64_MAX / 2)
			break;
	}
	h->n = (buckets + 1) << h->half_bits;
	h->pages = mem_array(h->n / PAGE + 1, sizeof *h->pages);
	h->room = mem_array(1, sizeof *h->room);
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
	free(h->room);
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
get(const struct hist *h, size_t cell)
{
	return h->room[h->pages[cell / PAGE]][cell % PAGE];
}

/* The page, which gets room where it has none. */
static uint64_t *
page(struct hist *h, size_t at)
{
	if (!h->pages[at]) {
		h->room =
		    mem_grow(h->room, h->npages, &h->cap, sizeof *h->room);
		memset(h->room[h->npages], 0, sizeof *h->room);
		h->pages[at] = (uint32_t)h->npages++;
	}
	return h->room[h->pages[at]];
}

static void
add(struct hist *h, size_t cell, uint64_t count)
{
	page(h, cell / PAGE)[cell % PAGE] += count;
}

/* The first cell from this one on that holds counts, or n. */
static size_t
next(const struct hist *h, size_t cell)
{
	for (; cell < h->n; cell++)
		if (!h->pages[cell / PAGE])
			cell |= PAGE - 1; /* none in all of it */
		else if (get(h, cell))
			return cell;
	return h->n;
}

static size_t
cell_of(const struct hist *h, int64_t v)
{
	int doublings = log2_floor(v | h->mask) - (h->unit_bits + h->half_bits);

	return ((size_t)doublings << h->half_bits) +
	    (size_t)(v >> (doublings + h->unit_bits));
}

static void
cell_range(const struct hist *h, size_t cell, int64_t *low, int64_t *high)
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
middle(int64_t low, int64_t high)
{
	return (double)low + ((double)high - (double)low) / 2;
}

static double
cell_middle(const struct hist *h, size_t cell)
{
	int64_t low, high;

	cell_range(h, cell, &low, &high);
	return middle(low, high);
}

static void
bounds(struct hist *h, int64_t low, int64_t high)
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
	bounds(h, value, value);
	h->total += count;
	h->sum += (double)value * (double)count;
	if (value > h->highest)
		h->over += count;
	else
		add(h, cell_of(h, value), count);
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
				add_page(
				    page(into, p), from->room[from->pages[p]]);
	} else {
		for (size_t i = next(from, 0); i < from->n;
		     i = next(from, i + 1)) {
			int64_t mid = (int64_t)cell_middle(from, i);

			if (mid > into->highest)
				into->over += get(from, i);
			else
				add(into, cell_of(into, mid), get(from, i));
		}
	}
	into->over += from->over;
	bounds(into, from->min, from->max);
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

/* The rank of a quantile, from 1. */
static uint64_t
rank_of(const struct hist *h, double q)
{
	double rank = floor(fmin(fmax(q, 0), 1) * (double)h->total + .5);

	return rank < 1 ? 1 : (uint64_t)rank;
}

/*
 * The first cell from this one on at which 'want' are reached, or n; *seen are
 * those below it.
 */
static size_t
reach(const struct hist *h, size_t cell, uint64_t *seen, uint64_t want)
{
	while (cell < h->n) {
		const uint64_t *v = h->room[h->pages[cell / PAGE]];
		uint64_t sum = 0;

		for (size_t i = cell % PAGE; i < PAGE; i++)
			sum += v[i];
		if (*seen + sum >= want)
			break;
		*seen += sum;
		cell = (cell | (PAGE - 1)) + 1;
	}
	for (; cell < h->n && *seen + get(h, cell) < want; cell++)
		*seen += get(h, cell);
	return cell < h->n ? cell : h->n;
}

void
hist_quantiles(const struct hist *h, const double *q, size_t n, int64_t *values)
{
	uint64_t seen = 0; /* below cell i */
	size_t i = 0;
	int64_t low, high;

	for (size_t k = 0; k < n; k++) {
		uint64_t want = h->total ? rank_of(h, q[k]) : 0;

		i = reach(h, i, &seen, want);
		values[k] = h->max;
		if (want && i < h->n) {
			cell_range(h, i, &low, &high);
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
	*i = next(h, *i);
	if (*i >= h->n)
		return 0;
	cell_range(h, *i, low, high);
	*count = get(h, (*i)++);
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
	return get(h, cell);
}

size_t
hist_bytes(const struct hist *h)
{
	return sizeof *h + (h->n / PAGE + 1) * sizeof *h->pages +
	    h->cap * sizeof *h->room;
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
			to = page(h, at);
		}
		to[t[i].cell % PAGE] += t[i].count;
		cell_range(h, t[i].cell, &low, &high);
		bounds(h, low, high);
		h->total += t[i].count;
		h->sum += (double)t[i].count * middle(low, high);
	}
}
