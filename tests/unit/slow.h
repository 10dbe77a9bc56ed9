/* Numbers computed the slow and obvious way, for tests. */
#ifndef SLOW_H
#define SLOW_H

#include <stdlib.h>
#include <string.h>

static int
rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of at most 1000 values. */
static double
median_of(const double *v, size_t n)
{
	double s[1000];

	memcpy(s, v, n * sizeof *s);
	qsort(s, n, sizeof *s, rising);
	return (s[(n - 1) / 2] + s[n / 2]) / 2;
}

#endif
