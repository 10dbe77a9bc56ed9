#include "sheet.h"
#include "mem.h"
#include "model.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

/* Values that differ by less than this share of the largest are equal: programs
 * print fewer digits. */
#define EQUAL 1e-9

struct side {
	struct model_run *v;
	size_t n, cap;
};

struct sheet {
	struct side (*sides)[2];
	struct model_row *rows;
	size_t n;
	double step;
	bool clock, logs;
};

struct sheet *
sheet_new(size_t rows, bool clock)
{
	struct sheet *s = mem_new(sizeof *s);

	*s = (struct sheet){.n = rows, .clock = clock};
	s->sides = mem_array(rows + 1, sizeof *s->sides);
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
	for (size_t i = 0; i < 2 * s->n; i++)
		free(s->sides[i / 2][i % 2].v);
	free(s->sides);
	free(s->rows);
	free(s);
}

void
sheet_add(struct sheet *s, size_t row, int side, double value, uint32_t session,
    double time)
{
	struct side *of = &s->sides[row][side];

	if (isnan(time))
		time = MODEL_UNORDERED * (double)(2 * row + (size_t)side + 1) +
		    (double)of->n;
	of->v = mem_grow(of->v, of->n, &of->cap, sizeof *of->v);
	of->v[of->n++] = (struct model_run){value, session, time};
}

static double
find_mean(const struct side *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i].y;
	return s->n ? sum / (double)s->n : 0;
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
	size_t n = 0, different = 0;
	double *v, step = 0, equal;

	for (size_t i = 0; i < 2 * s->n; i++)
		n += s->sides[i / 2][i % 2].n;
	v = mem_array(n + 1, sizeof *v);
	n = 0;
	for (size_t i = 0; i < 2 * s->n; i++)
		for (size_t k = 0; k < s->sides[i / 2][i % 2].n; k++)
			v[n++] = s->sides[i / 2][i % 2].v[k].y;
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
	double mean[2], by;

	r->logs = true;
	for (int j = 0; j < 2; j++) {
		struct side *of = &s->sides[row][j];

		r->runs[j] = of->v;
		r->n[j] = of->n;
		mean[j] = find_mean(of);
		for (size_t i = 0; i < of->n; i++)
			r->logs = r->logs && (s->logs || of->v[i].y > 0);
		if (of->n)
			qsort(of->v, of->n, sizeof *of->v, model_compare_runs);
	}
	by = mean[0] != 0 ? fabs(mean[0]) : fabs(mean[1]);
	by = by > 0 ? by : 1;
	for (size_t i = 0; i < r->n[0] + r->n[1]; i++) {
		double *y = i < r->n[0] ? &s->sides[row][0].v[i].y
					: &s->sides[row][1].v[i - r->n[0]].y;

		if (!s->logs)
			*y = r->logs ? log(*y) : *y / by;
	}
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
	for (size_t i = 0; i < s->n; i++)
		make_row(s, i);
	return s->rows;
}

double
sheet_step(const struct sheet *s)
{
	return s->step;
}
