#include "sheet.h"
#include "mem.h"
#include "model.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

/* Values that differ by less than this share of the largest are equal: programs
 * print fewer digits. */
#define EQUAL 1e-9

struct sheet {
	struct model_run *v; /* of side 0 and 1 of the first row, and so on */
	size_t n, cap;
	size_t
	    *starts; /* of each side in v; those from 'begun' on are not set */
	size_t begun;
	struct model_row *rows;
	size_t nrows;
	double step;
	bool clock, logs;
};

struct sheet *
sheet_new(size_t rows, bool clock)
{
	struct sheet *s = mem_new(sizeof *s);

	*s = (struct sheet){.nrows = rows, .clock = clock};
	s->starts = mem_array(2 * rows + 1, sizeof *s->starts);
	s->rows = mem_array(rows + 1, sizeof *s->rows);
	return s;
}

void
sheet_take_logs(struct sheet *s)
{
	s->logs = true;
}

void
sheet_free(struct sheet *s)
{
	if (!s)
		return;
	free(s->v);
	free(s->starts);
	free(s->rows);
	free(s);
}

/* Begins the sides up to this one. */
static void
begin_side(struct sheet *s, size_t side)
{
	while (s->begun <= side)
		s->starts[s->begun++] = s->n;
}

void
sheet_add(struct sheet *s, size_t row, int side, double value, uint32_t session,
    double time)
{
	size_t at = 2 * row + (size_t)side;

	begin_side(s, at);
	if (isnan(time))
		time = MODEL_UNORDERED * (double)(at + 1) +
		    (double)(s->n - s->starts[at]);
	s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
	s->v[s->n++] = (struct model_run){value, session, time};
}

static double
find_mean(const struct model_run *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i].y;
	return n ? sum / (double)n : 0;
}

/* The greatest common divisor of a and b, of which 'least' is nothing. */
static double
find_divisor(double a, double b, double least)
{
	while (b > least) {
		double rest = fmod(a, b);

		a = b;
		b = a - rest > least ? rest : 0;
	}
	return a;
}

/* Sets the step of all values. */
static void
find_step(struct sheet *s)
{
	size_t n = s->n, different = 0;
	double *v = mem_array(n + 1, sizeof *v), step = 0, equal;

	for (size_t i = 0; i < n; i++)
		v[i] = s->v[i].y;
	stats_sort(v, n);
	equal = n ? EQUAL * fmax(fabs(v[0]), fabs(v[n - 1])) : 0;
	for (size_t i = 1; i < n; i++)
		if (v[i] - v[i - 1] > equal) {
			different++;
			step = find_divisor(v[i] - v[i - 1], step, equal);
		}
	free(v);
	if (n >= 4 && 2 * (different + 1) <= n &&
	    different >= (s->clock ? 1 : 2))
		s->step = step;
}

static void
make_row(struct sheet *s, size_t row)
{
	struct model_row *r = &s->rows[row];
	const size_t *at = &s->starts[2 * row];
	double mean[2], by;

	r->logs = true;
	for (int j = 0; j < 2; j++) {
		struct model_run *v = s->v + at[j];
		size_t n = at[j + 1] - at[j];

		r->runs[j] = v;
		r->n[j] = n;
		mean[j] = find_mean(v, n);
		for (size_t i = 0; i < n; i++)
			r->logs = r->logs && (s->logs || v[i].y > 0);
		if (n)
			qsort(v, n, sizeof *v, model_compare_runs);
	}
	by = mean[0] != 0 ? fabs(mean[0]) : fabs(mean[1]);
	by = by > 0 ? by : 1;
	for (size_t i = at[0]; i < at[2] && !s->logs; i++)
		s->v[i].y = r->logs ? log(s->v[i].y) : s->v[i].y / by;
	r->step =
	    r->logs ? log1p(s->step / fmin(mean[0], mean[1])) : s->step / by;
	if (!(s->step > 0) || !r->n[0] || !r->n[1])
		r->step = 0;
}

struct model_row *
sheet_rows(struct sheet *s)
{
	if (!s->logs)
		find_step(s);
	begin_side(s, 2 * s->nrows);
	for (size_t i = 0; i < s->nrows; i++)
		make_row(s, i);
	return s->rows;
}

struct model_row *
sheet_take_rows(struct sheet *s)
{
	struct model_row *rows = s->rows;

	for (size_t i = 0; i < s->nrows; i++)
		rows[i].runs[0] = rows[i].runs[1] = NULL;
	s->rows = NULL;
	return rows;
}

double
sheet_step(const struct sheet *s)
{
	return s->step;
}
