#include "num.h"
#include "str.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
num_int(const char *s, long long *v)
{
	char *end;

	if (!isdigit((unsigned char)s[s[0] == '-']))
		return -1;
	errno = 0;
	*v = strtoll(s, &end, 10);
	return errno || *end ? -1 : 0;
}

/* Parses a decimal real at the front of 's'. Returns the rest, or NULL. */
static const char *
parse_leading_real(const char *s, double *v)
{
	const char *p = s + (*s == '-');
	char *end;

	if (!isdigit((unsigned char)*p) && *p != '.')
		return NULL;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		return NULL;
	*v = strtod(s, &end);
	return end == s || !isfinite(*v) ? NULL : end;
}

int
num_real(const char *s, double *v)
{
	const char *rest = parse_leading_real(s, v);

	return rest && !*rest ? 0 : -1;
}

int
num_percent(const char *s, double *v)
{
	const char *rest = parse_leading_real(s, v);

	if (!rest || strcmp(rest, "%") != 0)
		return -1;
	*v /= 100;
	return 0;
}

int
num_duration(const char *s, double *v)
{
	static const struct {
		const char *unit;
		double s;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60},
	    {"h", 3600}, {"d", 86400}};
	const char *rest = parse_leading_real(s, v);

	for (size_t i = 0; rest && i < sizeof units / sizeof *units; i++)
		if (strcmp(rest, units[i].unit) == 0) {
			*v *= units[i].s;
			return isfinite(*v) ? 0 : -1;
		}
	return -1;
}

int
num_size(const char *s, long long *v)
{
	static const char units[] = "kmg";
	const char *unit;
	long long k = 1;
	char *end;

	if (!isdigit((unsigned char)*s))
		return -1;
	errno = 0;
	*v = strtoll(s, &end, 10);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		k = 1LL << 10 * (unit - units + 1);
		end++;
	}
	if (errno || *end || *v > LLONG_MAX / k)
		return -1;
	*v *= k;
	return 0;
}

char *
num_all(char buf[NUM_BUF], size_t n)
{
	snprintf(buf, NUM_BUF, n == 2 ? "both" : "all %zu", n);
	return buf;
}

char *
num_human(char buf[NUM_BUF], double v)
{
	static const struct {
		double div;
		const char *unit;
	} steps[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "K"}};
	double a = fabs(v), d = 1;
	const char *unit = "";

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (a >= steps[i].div * 0.9995) {
			d = steps[i].div;
			unit = steps[i].unit;
			break;
		}
	a /= d;
	if (a >= 9999.5 || (a > 0 && a < 0.0995 && !*unit)) {
		snprintf(buf, NUM_BUF, "%#.3g%s", v / d, unit);
		return buf;
	}
	snprintf(buf, NUM_BUF, "%.*f%s",
	    a >= 99.95       ? *unit ? 0 : 1
		: a >= 9.995 ? 1
		: *unit      ? 2
			     : 3,
	    v / d, unit);
	return buf;
}

static const struct unit {
	const char *name;
	double seconds;
} times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

static const struct unit *
find_time(const char *unit)
{
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (strcmp(times[i].name, unit) == 0)
			return &times[i];
	return NULL;
}

bool
num_is_time(const char *unit)
{
	return find_time(unit) != NULL;
}

char *
num_amount(char buf[NUM_BUF], double v, const char *unit)
{
	const struct unit *from = find_time(unit), *to = times;

	if (!from || !(fabs(v) > 0))
		return num_human(buf, v);
	v *= from->seconds;
	while (to < times + 3 && fabs(v) < .9995 * to->seconds)
		to++;
	v /= to->seconds;
	snprintf(buf, NUM_BUF, "%.*f %s",
	    fabs(v) >= 99.95       ? 0
		: fabs(v) >= 9.995 ? 1
				   : 2,
	    v, to->name);
	return buf;
}

char *
num_seconds(char buf[NUM_BUF], double s)
{
	long t = s >= 0 && s < 1e9 ? (long)(s + 0.5) : -1;

	if (t < 0)
		snprintf(buf, NUM_BUF, "?");
	else if (s < 9.95)
		snprintf(buf, NUM_BUF, "%.1fs", s);
	else if (t < 60)
		snprintf(buf, NUM_BUF, "%lds", t);
	else if (t < 3600)
		snprintf(buf, NUM_BUF, "%ldm%02lds", t / 60, t % 60);
	else
		snprintf(buf, NUM_BUF, "%ldh%02ldm", t / 3600, t / 60 % 60);
	return buf;
}

/* 10^-4 .. 10^14: these magnitudes are written without an exponent. */
static const double powers_of_ten[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2,
    1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};

/*
 * Returns a 10^p rounded to the nearest whole number (half to even). The result
 * is exact: a 10^p = m 5^p / 2^s, and m 5^p is below 2^100. *back: the result
 * reads back as a, because its error is below half the step to a's neighbour.
 * 1e-4 <= a < 1e14, p 0..20.
 */
static uint64_t
scale_exactly(double a, int p, bool *back)
{
	int e;
	uint64_t m = (uint64_t)(frexp(a, &e) * 0x1p53), five = 1, left, d;
	bool up, narrow;
	int s = 53 - e - p;
	unsigned __int128 x;

	for (int i = 0; i < p; i++)
		five *= 5;
	x = (unsigned __int128)m * five;
	d = (uint64_t)(x >> s);
	left = (uint64_t)x & ((UINT64_C(1) << s) - 1);
	up = left > UINT64_C(1) << (s - 1) ||
	    (left == UINT64_C(1) << (s - 1) && d & 1);
	if (up)
		left = (UINT64_C(1) << s) - left;
	/* Below a power of two the neighbour is nearer. */
	narrow = m == UINT64_C(1) << 52 && !up;
	*back = (narrow ? 4 : 2) * left < five;
	return d + up;
}

/* Finds 15 or 17 digits of a as *d / 10^*p. False if a is out of range. */
static bool
find_shortest_digits(double a, uint64_t *d, int *p)
{
	size_t i = 4;
	bool back;

	if (!(a >= powers_of_ten[0] && a < 1e14))
		return false;
	if (a < 1)
		i = 0;
	while (a >= powers_of_ten[i + 1])
		i++;
	*p = 18 - (int)i;
	*d = scale_exactly(a, *p, &back);
	if (!back) {
		*p += 2;
		*d = scale_exactly(a, *p, &back);
	}
	return true;
}

/* Writes n, 0 <= n < 100, before 'end' and returns its start. */
static char *
write_two_digits(char *end, uint64_t n)
{
	static const char all[] =
	    "00010203040506070809101112131415161718192021222324"
	    "25262728293031323334353637383940414243444546474849"
	    "50515253545556575859606162636465666768697071727374"
	    "75767778798081828384858687888990919293949596979899";

	memcpy(end - 2, all + 2 * n, 2);
	return end - 2;
}

/* Adds d / 10^p. */
static void
append_decimal(struct str *b, bool minus, uint64_t d, int p)
{
	char buf[40], *end = buf + sizeof buf, *s = end;

	for (; p >= 4 && d % 10000 == 0; p -= 4)
		d /= 10000;
	for (; p > 0 && d % 10 == 0; p--)
		d /= 10;
	if (p > 0) {
		for (; p >= 2; p -= 2, d /= 100)
			s = write_two_digits(s, d % 100);
		if (p > 0) {
			*--s = (char)('0' + d % 10);
			d /= 10;
		}
		*--s = '.';
	}
	for (; d >= 100; d /= 100)
		s = write_two_digits(s, d % 100);
	if (d >= 10)
		s = write_two_digits(s, d);
	else
		*--s = (char)('0' + d);
	if (minus)
		*--s = '-';
	str_addn(b, s, (size_t)(end - s));
}

void
num_append(struct str *b, double v)
{
	double a = fabs(v);
	uint64_t d = 0;
	char buf[40];
	int p = 0;

	if (a < 0x1p53 && a == (double)(int64_t)a) {
		append_decimal(b, v < 0, (uint64_t)a, 0); /* -0 is 0 */
		return;
	}
	if (a < 1e9)
		d = (uint64_t)(a * 1e3 + .5);
	if (a < 1e9 && (double)(int64_t)d / 1e3 == a)
		p = 3; /* the most frequent case: up to 3 decimals */
	else if (!find_shortest_digits(a, &d, &p)) {
		snprintf(buf, sizeof buf, "%.15g", v);
		if (strtod(buf, NULL) != v)
			snprintf(buf, sizeof buf, "%.17g", v);
		str_add(b, buf);
		return;
	}
	append_decimal(b, v < 0, d, p);
}

const char *
num_plural(double n)
{
	return n == 1 ? "" : "s";
}

void
num_write_count(struct str *s, double v)
{
	if (fabs(v) < 10)
		str_printf(s, "%.3g", v);
	else
		str_printf(s, fabs(v - round(v)) < .05 ? "%.0f" : "%.1f", v);
}
